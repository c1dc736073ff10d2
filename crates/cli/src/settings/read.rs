//! A settings file's text, understood or refused, with the line.

use super::known::is_consent;
use super::{Entry, KNOWN, Kind};
use crate::near;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// What is wrong with a settings file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wrong {
    /// In which line, where it is in one.
    pub(super) line: Option<usize>,
    /// What, and what to do about it.
    pub(super) why: String,
}

/// The table of commands of the product: its names are the user's own.
const COMMANDS: &str = "qualify.external";

/// Commands of the product: each its name and its words.
pub(super) type Commands = Vec<(String, String)>;

/// What a settings file says, in its order, and the commands that it names.
pub(super) fn all(text: &str) -> Result<(Vec<Entry>, Commands), Wrong> {
    let line_of = |at: usize| text[..at].matches('\n').count() + 1;
    let table = DeTable::parse(text).map_err(|error| Wrong {
        line: error.span().map(|span| line_of(span.start)),
        why: format!("{}\nhint: a setting is a line like seed = 7; docs/settings.md has an example", error.message()),
    })?;
    let (mut entries, mut named) = (Vec::new(), Vec::new());
    collect(table.get_ref(), "", &line_of, &mut (&mut entries, &mut named))?;
    entries.sort_by_key(|entry| entry.line);
    Ok((entries, named))
}

/// The commands of [`COMMANDS`].
fn commands(table: &DeTable<'_>, line_of: &impl Fn(usize) -> usize, named: &mut Commands) -> Result<(), Wrong> {
    for (key, value) in table {
        let wrong = |why: &str| Wrong {
            line: Some(line_of(key.span().start)),
            why: format!("{COMMANDS}.{}{why}\nhint: {COMMANDS}.ota = \"/opt/lab/ota.sh --fast\"", key.get_ref()),
        };
        let DeValue::String(text) = value.get_ref() else { return Err(wrong(" is a text with a command")) };
        if shlex::split(text).is_none_or(|words| words.is_empty()) {
            return Err(wrong(" is no command: it is empty, or a quote has no pair"));
        }
        named.push((key.get_ref().to_string(), text.to_string()));
    }
    Ok(())
}

fn collect(
    table: &DeTable<'_>,
    before: &str,
    line_of: &impl Fn(usize) -> usize,
    found: &mut (&mut Vec<Entry>, &mut Commands),
) -> Result<(), Wrong> {
    for (key, value) in table {
        let name = format!("{before}{}", key.get_ref());
        let line = line_of(key.span().start);
        let inner = format!("{name}.");
        match value.get_ref() {
            DeValue::Table(table) if name == COMMANDS => {
                commands(table, line_of, found.1)?;
                continue;
            }
            DeValue::Table(table) if COMMANDS.starts_with(&inner) => {
                collect(table, &inner, line_of, found)?;
                continue;
            }
            _ => {}
        }
        if let DeValue::Table(table) = value.get_ref()
            && KNOWN.iter().any(|setting| setting.name.starts_with(&inner))
        {
            collect(table, &inner, line_of, found)?;
            continue;
        }
        let entry = entry(&name, value, line).map_err(|why| Wrong { line: Some(line), why })?;
        found.0.push(entry);
    }
    Ok(())
}

fn entry(name: &str, value: &Spanned<DeValue<'_>>, line: usize) -> Result<Entry, String> {
    if is_consent(name) {
        return Err(format!(
            "'{name}' cannot be a setting, as consent holds for one run and one target\nhint: give it on the command line"
        ));
    }
    let setting = KNOWN.iter().find(|setting| setting.name == name).ok_or_else(|| {
        let names = KNOWN.iter().map(|setting| setting.name);
        format!("there is no setting '{name}'\n{}", near::hint(&name.replace('-', "_"), names))
    })?;
    let text = match (setting.kind, value.get_ref()) {
        (Kind::Flag, DeValue::Boolean(flag)) => flag.to_string(),
        (Kind::Number(_), DeValue::Integer(number)) => match u64::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => number.to_string(),
            Err(_) => number.as_str().to_owned(),
        },
        (Kind::Flag | Kind::Number(_), other) => return Err(unlike(name, setting.kind, other)),
        (_, DeValue::String(text)) => text.clone().into_owned(),
        (kind, other) => return Err(unlike(name, kind, other)),
    };
    setting.kind.check(&text).map_err(|why| format!("'{text}' cannot be {name}{}{why}", separator(&why)))?;
    Ok(Entry { setting, text, line })
}

/// A reason follows in the same line, a hint in the next.
fn separator(why: &str) -> &'static str {
    if why.starts_with("hint: ") { "\n" } else { ": " }
}

fn unlike(name: &str, kind: Kind, value: &DeValue<'_>) -> String {
    let what = match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a number",
        DeValue::Float(_) => "a fraction",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    };
    format!("{name} is {}, not {what}\nhint: docs/settings.md has an example", kind.looks())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(text: &str) -> Result<Vec<Entry>, Wrong> {
        all(text).map(|(entries, _)| entries)
    }

    #[test]
    fn commands_have_names_of_their_own() {
        let (entries, named) = all("seed = 2\n[qualify.external]\nota = 'sh ota.sh'\n").unwrap();
        assert_eq!((entries.len(), named), (1, vec![("ota".to_owned(), "sh ota.sh".to_owned())]));
        for (text, line, why) in [
            ("[qualify.external]\nota = 3", 2, "is a text with a command"),
            ("[qualify.external]\nota = \"it's\"", 2, "a quote has no pair"),
            ("[qualify]\nexternl = 'x'", 2, "there is no setting 'qualify.externl'"),
        ] {
            let wrong = all(text).expect_err(text);
            assert!(wrong.line == Some(line) && wrong.why.contains(why), "{text}: {wrong:?}");
        }
    }

    #[test]
    fn settings_have_their_lines() {
        let said = entries("# mine\nseed = 1_000\n\n[bench]\nmode = \"dsync\"\n[inspect]\nmax_time = '1h'\n").unwrap();
        let said: Vec<_> = said.iter().map(|entry| (entry.setting.name, entry.text.as_str(), entry.line)).collect();
        assert_eq!(said, [("seed", "1000", 2), ("bench.mode", "dsync", 5), ("inspect.max_time", "1h", 7)]);
        assert_eq!(entries(""), Ok(Vec::new()));
        assert_eq!(entries("seed = 0x10").unwrap()[0].text, "16");
    }

    #[test]
    fn what_no_setting_says_is_refused_with_its_line() {
        let check = |text: &str, line: usize, expect: &str| {
            let wrong = entries(text).expect_err(text);
            assert_eq!(wrong.line, Some(line), "{text}");
            assert!(wrong.why.contains(expect), "{text}: {}", wrong.why);
        };
        check("sed = 1", 1, "there is no setting 'sed'\nhint: did you mean seed?");
        check("\nmax-write = '1G'", 2, "did you mean max_write?");
        check("[bench]\nmod = 'direct'", 2, "did you mean bench.mode?");
        check("[banch]\nmode = 'direct'", 1, "there is no setting 'banch'");
        check("bench = 1", 1, "there is no setting 'bench'");
        check("allow_write = true", 1, "consent holds for one run");
        check("[bench]\nforce = true", 2, "consent holds for one run");
        check("[inspect]\ndestroy-data = ['x']", 2, "consent holds for one run");
        check("seed = 'x'", 1, "seed is a number from 0 to 9223372036854775807, not a text");
        check("seed = -1", 1, "'-1' cannot be seed\nhint: a number from 0");
        check("seed = 99999999999999999999", 1, "cannot be seed");
        check("seed = 1.5", 1, "not a fraction");
        check("quiet = 'yes'", 1, "quiet is true or false, not a text");
        check("color = 'sometimes'", 1, "'sometimes' cannot be color\nhint: one of auto, always, never");
        check("color = true", 1, "color is one of \"auto\", \"always\", \"never\", not true or false");
        check("max_write = 100", 1, "max_write is a size with its unit");
        check("max_write = '4KX'", 1, "cannot be max_write: ");
        check("[inspect]\nmax_time = '10'", 2, "cannot be inspect.max_time: ");
        check("[bench]\nrandom_time = '0s'", 2, "hint: from 10.0 ms to 240 h");
        check("[bench]\nengine = 'fast'", 2, "cannot be bench.engine: ");
        check("seed = 1\nseed = 2", 2, "duplicate key");
        check("seed 1", 1, "hint: a setting is a line like");
        check("[[bench]]\nmode = 'direct'", 1, "there is no setting 'bench'");
    }
}
