//! The model in the making: a model file whose lines are filled in one after the other.
//!
//! The catalogue's card that shows nothing is the form: what is not filled in stays as it is there, so that a twin
//! shows only what was measured. Every line that was filled in says where its figure comes from.

use crate::FitError;
use flashscope_sim::SimTarget;
use flashscope_units::Bytes;
use std::collections::{BTreeMap, BTreeSet};

/// The model that the lines are taken from.
const FORM: &str = "sd-flat";
/// The form of a drive that maps by page. Only sizes, counts and times that nobody measures stay as they are here.
const DRIVE: &str = include_str!("drive.toml");
/// Where the lines of the special area go: before the section behind the mapping.
const BEHIND_AREAS: &str = "[state]";
/// Where the sections of the memory go: before the mapping behind it.
const BEHIND_MEMORY: &str = "[mapping]";
/// The sections of the memory and their keys; each stands where the first of its keys was filled in.
const MEMORY: [(&str, &[&str]); 3] = [
    ("write_buffer", &["size", "entries", "flush", "window", "flushed_by_read", "volatile"]),
    ("read_buffer", &["size", "line"]),
    ("read_ahead", &["window", "trigger", "step"]),
];
/// The section of what the registers say.
const CLAIMS: &str = "device.claims.";

/// A value as a model file spells it.
#[derive(Clone, Debug, PartialEq)]
enum Value {
    Size(Bytes),
    /// Nanoseconds.
    Time(f64),
    /// Nanoseconds, in a list of one: times by page type, where types are not told apart.
    Times(f64),
    Count(u64),
    Share(f64),
    Flag(bool),
    Text(String),
}

/// Where a parameter comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A conclusion of the inference.
    Found(String),
    /// Fitted to figures of the measurement.
    Fitted(String),
    /// Not in the measurement: a default, and why this one.
    Default(String),
}

/// One parameter and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its path in the model file.
    pub path: String,
    /// Its value as the file spells it.
    pub value: String,
    /// Where it comes from.
    pub origin: Origin,
}

/// A model in the making.
#[derive(Clone, Debug)]
pub(crate) struct Card {
    form: String,
    values: BTreeMap<String, Value>,
    origins: BTreeMap<String, Origin>,
    /// Start and end of the special area, counted from the first byte of the flash.
    area: Option<(Bytes, Bytes)>,
    /// What a reader of the file must know first.
    caution: Option<String>,
    /// Sections (with a final stop) and keys of the form that this device does not have.
    without: BTreeSet<&'static str>,
}

impl Card {
    pub(crate) fn new() -> Result<Card, FitError> {
        let form = flashscope_sim::show(FORM, false, |_| Err("no files".to_owned())).map_err(FitError::model)?;
        Ok(Card::of(form))
    }

    /// A drive that maps by page.
    pub(crate) fn drive() -> Card {
        Card::of(DRIVE.to_owned())
    }

    fn of(form: String) -> Card {
        let (values, origins) = (BTreeMap::new(), BTreeMap::new());
        Card { form, values, origins, area: None, caution: None, without: BTreeSet::new() }
    }

    /// Whether it is a drive's.
    pub(crate) fn is_drive(&self) -> bool {
        self.form == DRIVE
    }

    /// Leaves these sections or keys of the form away, or brings them back.
    pub(crate) fn leave_out(&mut self, paths: &[&'static str], out: bool) {
        for path in paths {
            let _ = if out { self.without.insert(path) } else { self.without.remove(path) };
        }
    }

    pub(crate) fn set_size(&mut self, path: &str, size: Bytes, origin: Origin) {
        self.set(path, Value::Size(size), origin);
    }

    /// `ns` below 0 counts as 0: no part of a request takes less than no time.
    pub(crate) fn set_time(&mut self, path: &str, ns: f64, origin: Origin) {
        self.set(path, Value::Time(ns.max(0.0)), origin);
    }

    /// A time that the file has as a list.
    pub(crate) fn set_times(&mut self, path: &str, ns: f64, origin: Origin) {
        self.set(path, Value::Times(ns.max(0.0)), origin);
    }

    pub(crate) fn set_count(&mut self, path: &str, count: u64, origin: Origin) {
        self.set(path, Value::Count(count), origin);
    }

    pub(crate) fn set_share(&mut self, path: &str, share: f64, origin: Origin) {
        self.set(path, Value::Share(share), origin);
    }

    pub(crate) fn set_text(&mut self, path: &str, text: &str, origin: Origin) {
        self.set(path, Value::Text(text.to_owned()), origin);
    }

    pub(crate) fn set_flag(&mut self, path: &str, flag: bool, origin: Origin) {
        self.set(path, Value::Flag(flag), origin);
    }

    fn set(&mut self, path: &str, value: Value, origin: Origin) {
        self.values.insert(path.to_owned(), value);
        self.origins.insert(path.to_owned(), origin);
    }

    pub(crate) fn set_area(&mut self, start: Bytes, end: Bytes) {
        self.area = Some((start, end));
    }

    pub(crate) fn area(&self) -> Option<(Bytes, Bytes)> {
        self.area
    }

    /// A remark at the head of the file.
    pub(crate) fn set_caution(&mut self, caution: &str) {
        self.caution = Some(caution.to_owned());
    }

    /// A time in nanoseconds, or a rate or share; 0 where it was not filled in.
    pub(crate) fn number(&self, path: &str) -> f64 {
        match self.values.get(path) {
            Some(Value::Time(number) | Value::Times(number) | Value::Share(number)) => *number,
            Some(Value::Count(count)) => *count as f64,
            _ => 0.0,
        }
    }

    /// Changes a time, rate or share that was filled in before.
    pub(crate) fn change(&mut self, path: &str, to: f64) {
        if let Some(Value::Time(number) | Value::Times(number) | Value::Share(number)) = self.values.get_mut(path) {
            *number = to;
        }
    }

    /// The same where the value may be new, or comes from elsewhere now; what is a list stays one.
    pub(crate) fn replace(&mut self, path: &str, to: f64, origin: Origin) {
        match self.values.get(path) {
            Some(Value::Times(_)) => self.set_times(path, to, origin),
            Some(Value::Share(_)) => self.set_share(path, to, origin),
            _ => self.set_time(path, to, origin),
        }
    }

    /// A changed copy.
    pub(crate) fn with(&self, change: impl FnOnce(&mut Card)) -> Card {
        let mut changed = self.clone();
        change(&mut changed);
        changed
    }

    pub(crate) fn origin(&self, path: &str) -> Option<&Origin> {
        self.origins.get(path)
    }

    pub(crate) fn flag(&self, path: &str) -> Option<bool> {
        match self.values.get(path) {
            Some(Value::Flag(flag)) => Some(*flag),
            _ => None,
        }
    }

    pub(crate) fn is_text(&self, path: &str, text: &str) -> bool {
        matches!(self.values.get(path), Some(Value::Text(is)) if is == text)
    }

    pub(crate) fn size(&self, path: &str) -> Option<Bytes> {
        match self.values.get(path) {
            Some(Value::Size(size)) => Some(*size),
            _ => None,
        }
    }

    /// Every parameter that was filled in, in the order of the file.
    pub(crate) fn parameters(&self) -> Vec<Parameter> {
        let parameter = |(path, origin): (&String, &Origin)| {
            let value = spell(self.values.get(path)?);
            Some(Parameter { path: path.clone(), value: value.trim_matches('"').to_owned(), origin: origin.clone() })
        };
        self.origins.iter().filter_map(parameter).collect()
    }

    /// The model file; with `remarks` every line that was filled in says where it comes from.
    pub(crate) fn text(&self, remarks: bool) -> String {
        let mut text = String::new();
        let mut section = String::new();
        if let Some(caution) = self.caution.as_ref().filter(|_| remarks) {
            text.push_str(&format!("# {caution}\n"));
        }
        for line in self.form.lines() {
            if let Some(name) = line.trim().strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                section = format!("{}.", name.trim_matches(['[', ']']));
            }
            if line.trim() == BEHIND_AREAS {
                text.push_str(&self.area_lines(remarks));
            }
            if line.trim() == BEHIND_MEMORY {
                text.push_str(&self.memory_lines(remarks));
            }
            if self.without.contains(section.as_str()) {
                continue;
            }
            if let Some(line) = self.line(&section, line, remarks) {
                text.push_str(&line);
                text.push('\n');
            }
        }
        text
    }

    /// A line of the form, filled in; none for what the form's device claims and the measured one does not.
    fn line(&self, section: &str, line: &str, remarks: bool) -> Option<String> {
        let Some((key, _)) = line.split_once(" = ") else { return Some(line.to_owned()) };
        let path = format!("{section}{key}");
        if self.without.contains(path.as_str()) {
            return None;
        }
        let edge = self.values.get(&format!("{path}.time")).zip(self.values.get(&format!("{path}.hidden")));
        let (value, path) = match (self.values.get(&path), edge) {
            (Some(value), _) => (spell(value), path),
            (None, Some((time, hidden))) => {
                (format!("{{ time = {}, hidden = {} }}", spell(time), spell(hidden)), format!("{path}.time"))
            }
            _ => return (section != CLAIMS).then(|| line.to_owned()),
        };
        Some(format!("{key} = {value}{}", self.remark(&path, remarks)))
    }

    fn remark(&self, path: &str, wanted: bool) -> String {
        match self.origins.get(path).filter(|_| wanted) {
            Some(Origin::Found(why)) => format!(" # found: {why}"),
            Some(Origin::Fitted(why)) => format!(" # fitted: {why}"),
            Some(Origin::Default(why)) => format!(" # default: {why}"),
            None => String::new(),
        }
    }

    fn memory_lines(&self, remarks: bool) -> String {
        let mut text = String::new();
        for (section, keys) in MEMORY {
            let lines = keys.iter().filter_map(|key| {
                let path = format!("{section}.{key}");
                Some(format!("{key} = {}{}\n", spell(self.values.get(&path)?), self.remark(&path, remarks)))
            });
            let lines: String = lines.collect();
            if !lines.is_empty() {
                text.push_str(&format!("[{section}]\n{lines}\n"));
            }
        }
        text
    }

    fn area_lines(&self, remarks: bool) -> String {
        let Some((start, end)) = self.area else { return String::new() };
        let mut text = format!("[[mapping.areas]]\nstart = {}\nend = {}\n", spell_size(start), spell_size(end));
        for key in ["program", "sense", "small_program", "erase"] {
            let path = format!("mapping.areas.0.{key}");
            let value = self.values.get(&path).map_or_else(|| "\"0us\"".to_owned(), spell);
            text.push_str(&format!("{key} = {value}{}\n", self.remark(&path, remarks)));
        }
        let path = "mapping.areas.0.page_mapped";
        let by_page = self.flag(path).unwrap_or(false);
        text + &format!("page_mapped = {by_page}{}\n\n", self.remark(path, remarks))
    }

    /// A device of this model.
    pub(crate) fn open(&self, seed: u64) -> Result<SimTarget, FitError> {
        open(&self.text(false), seed)
    }
}

/// A device of a model file's text.
pub(crate) fn open(text: &str, seed: u64) -> Result<SimTarget, FitError> {
    flashscope_sim::open_with("twin.toml", seed, |_| Ok(text.to_owned())).map_err(FitError::model)
}

fn spell(value: &Value) -> String {
    match value {
        Value::Size(size) => spell_size(*size),
        Value::Time(ns) => spell_time(*ns),
        Value::Times(ns) => format!("[{}]", spell_time(*ns)),
        Value::Count(count) => count.to_string(),
        Value::Share(share) => format!("{share:?}"),
        Value::Flag(flag) => flag.to_string(),
        Value::Text(text) => toml::Value::String(text.clone()).to_string(),
    }
}

fn spell_size(size: Bytes) -> String {
    match size {
        _ if size > Bytes::ZERO && size.is_multiple_of(Bytes::mib(1)) => format!("\"{}MiB\"", size / Bytes::mib(1)),
        _ if size > Bytes::ZERO && size.is_multiple_of(Bytes::kib(1)) => format!("\"{}KiB\"", size / Bytes::kib(1)),
        _ => format!("\"{}\"", size.get()),
    }
}

/// Four digits say more than any fit knows.
fn spell_time(ns: f64) -> String {
    let rounded = |value: f64, digits: i32| {
        let scale = 10f64.powi(digits - 1 - value.abs().max(1e-9).log10().floor() as i32);
        (value * scale).round() / scale
    };
    match ns {
        ns if ns >= 1e6 => format!("\"{}ms\"", rounded(ns / 1e6, 4)),
        ns if ns >= 1.0 => format!("\"{}us\"", (rounded(ns / 1e3, 4) * 1e3).round() / 1e3),
        _ => "\"0us\"".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_any_characters_is_still_toml() {
        let name = "\u{1b}[2J\"\\\n\u{9b}";
        let table: toml::Table = format!("product = {}", spell(&Value::Text(name.to_owned()))).parse().expect("TOML");
        assert_eq!(table["product"].as_str(), Some(name));
    }

    #[test]
    fn what_is_filled_in_is_in_the_file_and_the_file_opens() {
        let mut card = Card::new().expect("the form is in the catalogue");
        let origin = || Origin::Default("a test".to_owned());
        card.set_size("mapping.unit", Bytes::mib(8), origin());
        card.set_size("mapping.sub_unit", Bytes::mib(8), origin());
        card.set_time("mapping.read.unit_edge.time", 123_456.0, origin());
        card.set_share("mapping.read.unit_edge.hidden", 0.25, origin());
        card.set_area(Bytes::ZERO, Bytes::mib(8));
        card.set_time("mapping.areas.0.program", 1_234_567.0, origin());
        let text = card.text(true);
        assert!(text.contains("unit = \"8MiB\" # default: a test"), "{text}");
        assert!(text.contains("unit_edge = { time = \"123.5us\", hidden = 0.25 } # default: a test"), "{text}");
        assert!(text.contains("program = \"1.235ms\" # default: a test"), "{text}");
        open(&text, 1).expect("the file is a model");
        card.open(1).expect("without the remarks as well");
    }

    #[test]
    fn sections_of_the_memory_stand_where_they_were_filled_in() {
        let mut card = Card::new().expect("the form is in the catalogue");
        assert!(!card.text(true).contains("_buffer]") && !card.text(true).contains("read_ahead"));
        let origin = || Origin::Default("a test".to_owned());
        card.set_size("read_buffer.size", Bytes::kib(64), origin());
        card.set_size("read_buffer.line", Bytes::kib(16), origin());
        card.set_size("mapping.hidden", Bytes::kib(1632), origin());
        let text = card.text(true);
        assert!(text.contains("[read_buffer]\nsize = \"64KiB\" # default: a test\nline = "), "{text}");
        assert!(text.contains("hidden = \"1632KiB\" # default: a test"), "{text}");
        open(&text, 1).expect("the file is a model");
    }

    #[test]
    fn times_are_spelt_shortly() {
        let spelt = [(0.2, "\"0us\""), (74.0, "\"0.074us\""), (1_500.0, "\"1.5us\""), (20_686_000.0, "\"20.69ms\"")];
        for (ns, text) in spelt {
            assert_eq!(spell_time(ns), text);
        }
    }
}
