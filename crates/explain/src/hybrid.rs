//! Hybrids: the model of A with some groups of parameters exchanged for those of B.

use crate::groups::{self, FAMILY, GROUPS, KIND, MAPPING};
use flashscope_model::explanation::Change;
use flashscope_sim::{SimError, SimTarget};
use flashscope_units::{ByteRate, Bytes, Nanos};
use std::collections::BTreeMap;
use toml::{Table, Value};

/// A set of groups, a bit each.
pub(crate) type Set = u64;

/// The device of a model file.
pub(crate) fn open(model: &str, seed: u64) -> Result<SimTarget, SimError> {
    flashscope_sim::open_with("hybrid.toml", seed, |_| Ok(model.to_owned()))
}

/// Two models, and what they differ in.
#[derive(Clone, Debug)]
pub(crate) struct Pair {
    a: Table,
    b: Table,
    /// Whether they map in different ways.
    families: bool,
}

impl Pair {
    /// Of two model files; each must have been opened before, so that it is known to be one.
    pub(crate) fn new(a: &str, b: &str) -> Pair {
        let table = |text: &str| text.parse::<Table>().unwrap_or_default();
        let (a, b) = (table(a), table(b));
        let families = look(&a, KIND) != look(&b, KIND);
        Pair { a, b, families }
    }

    /// The parameters that are exchanged with a group.
    fn paths(&self, group: usize) -> Vec<&'static str> {
        match (self.families, group) {
            (true, FAMILY) => vec![MAPPING],
            (true, _) => GROUPS[group].paths.iter().copied().filter(|path| !groups::covers(MAPPING, path)).collect(),
            (false, _) => GROUPS[group].paths.to_vec(),
        }
    }

    /// The groups in which they differ.
    pub(crate) fn differing(&self) -> Set {
        (0..GROUPS.len()).filter(|group| !self.changes(*group).is_empty()).fold(0, |set, group| set | 1 << group)
    }

    /// The parameters of a group in which they differ.
    pub(crate) fn changes(&self, group: usize) -> Vec<Change> {
        let mut changes = Vec::new();
        for path in self.paths(group) {
            if self.families && group == FAMILY {
                let kind = |table| look(table, KIND).map(|kind| shown(KIND, kind));
                changes.push(Change { path: KIND.to_owned(), a: kind(&self.a), b: kind(&self.b) });
                continue;
            }
            let (mut left, mut right) = (BTreeMap::new(), BTreeMap::new());
            look(&self.a, path).into_iter().for_each(|value| flatten(path, value, &mut left));
            look(&self.b, path).into_iter().for_each(|value| flatten(path, value, &mut right));
            let mut all: Vec<&String> = left.keys().chain(right.keys()).collect();
            all.sort();
            all.dedup();
            for key in all {
                let (a, b) = (left.get(key), right.get(key));
                if a != b {
                    changes.push(Change { path: key.clone(), a: a.cloned(), b: b.cloned() });
                }
            }
        }
        changes
    }

    /// A with the groups of this set as B has them, as a model file.
    pub(crate) fn hybrid(&self, set: Set) -> String {
        let mut table = self.a.clone();
        for group in (0..GROUPS.len()).filter(|group| set >> group & 1 == 1) {
            for path in self.paths(group) {
                put(&mut table, path, look(&self.b, path));
            }
        }
        toml::to_string(&table).unwrap_or_default()
    }
}

/// The model file `a` with these groups, by their names, as `b` has them. It need not be a model.
pub fn exchanged(a: &str, b: &str, groups: &[&str]) -> String {
    let chosen = GROUPS.iter().enumerate().filter(|(_, group)| groups.contains(&group.name));
    Pair::new(a, b).hybrid(chosen.fold(0, |set, (at, _)| set | 1 << at))
}

/// What stands at a path.
fn look<'t>(table: &'t Table, path: &str) -> Option<&'t Value> {
    let (section, rest) = match path.split_once('.') {
        Some((section, rest)) => (section, Some(rest)),
        None => (path, None),
    };
    match (table.get(section)?, rest) {
        (value, None) => Some(value),
        (Value::Table(inner), Some(rest)) => look(inner, rest),
        _ => None,
    }
}

/// Brings a path to a value, or to nothing.
fn put(table: &mut Table, path: &str, value: Option<&Value>) {
    match path.split_once('.') {
        None => match value {
            Some(value) => {
                table.insert(path.to_owned(), value.clone());
            }
            None => {
                table.remove(path);
            }
        },
        Some((section, rest)) => {
            if value.is_none() && !table.contains_key(section) {
                return;
            }
            let inner = table.entry(section.to_owned()).or_insert_with(|| Value::Table(Table::new()));
            if let Value::Table(inner) = inner {
                put(inner, rest, value);
            }
        }
    }
}

/// Every value below a path, as people read it.
fn flatten(path: &str, value: &Value, into: &mut BTreeMap<String, String>) {
    match value {
        Value::Table(table) => {
            table.iter().for_each(|(key, value)| flatten(&format!("{path}.{key}"), value, into));
        }
        Value::Array(items) if items.iter().any(Value::is_table) => {
            items.iter().enumerate().for_each(|(at, value)| flatten(&format!("{path}.{at}"), value, into));
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| shown(path, item)).collect();
            into.insert(path.to_owned(), items.join(", "));
        }
        value => {
            into.insert(path.to_owned(), shown(path, value));
        }
    }
}

/// One value; two that mean the same look the same.
fn shown(path: &str, value: &Value) -> String {
    match value {
        Value::String(text) => match (text.parse::<Bytes>(), text.parse::<Nanos>()) {
            (Ok(bytes), _) => bytes.to_string(),
            (_, Ok(time)) => time.to_string(),
            _ => text.clone(),
        },
        Value::Float(rate) if path.ends_with("bytes_per_s") => ByteRate(*rate).to_string(),
        Value::Integer(rate) if path.ends_with("bytes_per_s") => ByteRate(*rate as f64).to_string(),
        Value::Float(number) => number.to_string(),
        value => value.to_string(),
    }
}
