//! From text to sections of options: job files and command lines, comments, variables, included files.

use super::options::{self, Kind};
use super::{FioError, Place, World};
use crate::plan::MOST_JOBS;

/// An option as it was said.
#[derive(Clone, Debug)]
pub(super) struct Said {
    /// The name in fio's main spelling.
    pub(super) name: &'static str,
    /// What follows the `=`; `None` for a bare option.
    pub(super) value: Option<String>,
    pub(super) at: Place,
}

/// A job with all that holds for it: what `[global]` said before it, then its own.
#[derive(Clone, Debug)]
pub(super) struct Section {
    pub(super) name: String,
    pub(super) said: Vec<Said>,
    pub(super) at: Place,
}

/// Everything that was read.
#[derive(Clone, Debug, Default)]
pub(super) struct Parsed {
    pub(super) jobs: Vec<Section>,
    /// Jobs to run; empty: all.
    pub(super) sections: Vec<String>,
    /// Options of the program itself that change no result.
    pub(super) switches: Vec<String>,
    /// Whether it stands on a command line that named no job.
    pub(super) nameless: bool,
    /// Whether nothing may be written (`--readonly`).
    pub(super) read_only: Option<Place>,
    global: Vec<Said>,
}

/// Files may include each other as deep as fio lets them.
const DEEPEST: usize = 16;

pub(super) fn read_file(parsed: &mut Parsed, name: &str, text: &str, world: &World<'_>) -> Result<(), FioError> {
    let before = parsed.jobs.len();
    let mut current = None;
    read_lines(parsed, &mut current, name, text, world, 0)?;
    if parsed.jobs.len() == before && parsed.global.is_empty() {
        let at = Place { file: Some(name.to_owned()), line: 1 };
        return Err(FioError { at, what: "there is no [job] in it".to_owned(), hint: None });
    }
    Ok(())
}

#[derive(Clone, Copy)]
enum Current {
    Global,
    Job,
}

fn read_lines(
    parsed: &mut Parsed,
    current: &mut Option<Current>,
    file: &str,
    text: &str,
    world: &World<'_>,
    depth: usize,
) -> Result<(), FioError> {
    for (index, line) in text.lines().enumerate() {
        let at = Place { file: Some(file.to_owned()), line: index + 1 };
        let fail = |what: String, hint: Option<String>| FioError { at: at.clone(), what, hint };
        // A comment begins wherever one of these stands.
        let line = line.split([';', '#']).next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        if let Some(rest) = line.strip_prefix('[') {
            let Some(name) = rest.strip_suffix(']').map(str::trim).filter(|name| !name.is_empty()) else {
                return Err(fail(format!("'{line}' is no [section]"), None));
            };
            *current = Some(begin(parsed, name, &at)?);
        } else if let Some(path) = line.strip_prefix("include").filter(|rest| rest.starts_with(char::is_whitespace)) {
            if depth == DEEPEST {
                return Err(fail(format!("files include each other more than {DEEPEST} deep"), None));
            }
            let path = beside(file, path.trim());
            let text = (world.file)(&path).map_err(|why| fail(format!("cannot include {path}: {why}"), None))?;
            read_lines(parsed, current, &path, &text, world, depth + 1)?;
        } else {
            let Some(current) = *current else {
                let hint = "every option belongs to a [job] or to [global]".to_owned();
                return Err(fail(format!("'{line}' stands before any [section]"), Some(hint)));
            };
            let (name, value) = match line.split_once('=') {
                Some((name, value)) => (name.trim(), Some(value.trim())),
                None => (line, None),
            };
            let said = said(name, value, &at, world)?;
            say(parsed, current, said);
        }
    }
    Ok(())
}

fn begin(parsed: &mut Parsed, name: &str, at: &Place) -> Result<Current, FioError> {
    // fio looks at these six letters only.
    if name.get(..6).is_some_and(|start| start.eq_ignore_ascii_case("global")) {
        return Ok(Current::Global);
    }
    if parsed.jobs.len() == MOST_JOBS {
        let hint = "numjobs makes several workers of one job".to_owned();
        return Err(FioError { at: at.clone(), what: format!("more than {MOST_JOBS} jobs"), hint: Some(hint) });
    }
    parsed.jobs.push(Section { name: name.to_owned(), said: parsed.global.clone(), at: at.clone() });
    Ok(Current::Job)
}

fn say(parsed: &mut Parsed, current: Current, said: Said) {
    match (current, parsed.jobs.last_mut()) {
        (Current::Job, Some(job)) => job.said.push(said),
        _ => parsed.global.push(said),
    }
}

/// A path beside the file that includes it.
fn beside(file: &str, path: &str) -> String {
    match (path.starts_with('/'), file.rsplit_once('/')) {
        (false, Some((folder, _))) => format!("{folder}/{path}"),
        _ => path.to_owned(),
    }
}

/// The command line: one dash or two, `name=value` or `name value`, `name` beginning a job; a word without a dash is a job
/// file. What stands before the first `name` holds for all jobs that follow.
pub(super) fn read_words(parsed: &mut Parsed, words: &[String], world: &World<'_>) -> Result<(), FioError> {
    let at = Place { file: None, line: 1 };
    let fail = |what: String, hint: &str| FioError { at: at.clone(), what, hint: Some(hint.to_owned()) };
    let (mut current, before) = (Current::Global, parsed.jobs.len());
    let mut words = words.iter().map(String::as_str);
    if words.clone().next() == Some("fio") {
        words.next();
    }
    while let Some(word) = words.next() {
        let Some(option) = word.strip_prefix("--").or_else(|| word.strip_prefix('-')).filter(|name| !name.is_empty())
        else {
            let text = (world.file)(word)
                .map_err(|why| fail(format!("cannot read {word}: {why}"), "words without a dash are job files"))?;
            read_file(parsed, word, &text, world)?;
            continue;
        };
        let (name, value) = match option.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (option, None),
        };
        if let Some(instead) = options::programs_own(name) {
            return Err(fail(format!("fio's own {name} is not taken"), instead));
        }
        // What is refused is refused with a value or without.
        let needs_value = options::find(name).is_some_and(|known| matches!(known.1, Kind::Value | Kind::Ignored));
        let (switch, switch_takes) = match options::switch(name) {
            Some(takes) => (true, takes),
            None => (false, false),
        };
        let value = match value {
            None if (needs_value && !switch) || switch_takes => {
                let next = words.next();
                Some(next.ok_or_else(|| fail(format!("{name} needs a value"), "write it as NAME=VALUE"))?)
            }
            value => value,
        };
        match (name, value) {
            ("name", Some(value)) => current = begin(parsed, value, &at)?,
            ("section", Some(value)) => parsed.sections.push(value.to_owned()),
            ("readonly", _) => parsed.read_only = Some(at.clone()),
            _ if switch => parsed.switches.push(name.to_owned()),
            _ => {
                let said = said(name, value, &at, world)?;
                say(parsed, current, said);
            }
        }
    }
    if parsed.jobs.len() == before && !parsed.global.is_empty() {
        parsed.nameless = true;
        parsed.jobs.push(Section { name: "fio".to_owned(), said: parsed.global.clone(), at });
    }
    Ok(())
}

fn said(name: &str, value: Option<&str>, at: &Place, world: &World<'_>) -> Result<Said, FioError> {
    let fail = |what: String, hint: Option<String>| FioError { at: at.clone(), what, hint };
    let Some((known, kind)) = options::find(name) else {
        let near = options::nearest(name).map(|near| format!("did you mean {near}?"));
        return Err(fail(format!("there is no option '{name}'"), near));
    };
    let value = value
        .map(|value| substituted(value, world))
        .transpose()
        .map_err(|what| fail(format!("{known}: {what}"), Some("set it, or write the value itself".to_owned())))?;
    match kind {
        // Switched off it says what holds here anyway.
        Kind::Refused(_) if matches!(value.as_deref(), Some("0" | "none" | "off")) => {}
        Kind::Refused(why) => {
            return Err(fail(
                format!("{known} is not supported: {why}"),
                Some("leave it away, or use fio for this job".to_owned()),
            ));
        }
        Kind::Value | Kind::Ignored if value.as_ref().is_none_or(String::is_empty) => {
            return Err(fail(format!("{known} needs a value"), None));
        }
        Kind::Value | Kind::Flag | Kind::Ignored => {}
    }
    Ok(Said { name: known, value, at: at.clone() })
}

/// Puts in the values of `${NAME}`.
fn substituted(value: &str, world: &World<'_>) -> Result<String, String> {
    let (mut out, mut rest) = (String::new(), value);
    while let Some(start) = rest.find("${") {
        let Some(end) = rest[start..].find('}').map(|end| start + end) else { break };
        let name = &rest[start + 2..end];
        let found = (world.variable)(name).ok_or_else(|| format!("the environment variable {name} is not set"))?;
        out.push_str(&rest[..start]);
        out.push_str(&found);
        rest = &rest[end + 1..];
    }
    out.push_str(rest);
    match ["$pagesize", "$mb_memory", "$ncpus"].iter().find(|word| out.contains(*word)) {
        Some(word) => Err(format!("{word} is not put in here")),
        None => Ok(out),
    }
}
