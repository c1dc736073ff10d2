//! Reading a target like `sd-4mib,capacity=4GiB,noise=field`: a model and changes to its parameters.

use crate::ageing;
use crate::catalogue;
use crate::error::SimError;
use crate::fault;
use crate::model::Model;
use crate::text;
use crate::truth;
use toml::{Table, Value};

/// Short names for parameters that are often changed.
const SHORT: [(&str, &str); 4] = [
    ("capacity", "device.capacity"),
    ("noise", "noise.level"),
    ("state", "state.start"),
    // What findings call open units.
    ("mapping.open", "mapping.logs_in_order"),
];

type Defaults = fn() -> Table;

/// Sections that a model file may leave out, and may hold in part: the defaults of their keys.
const OPTIONAL: [(&str, Defaults); 2] = [(fault::SECTION, fault::defaults), (ageing::SECTION, ageing::defaults)];

/// A target taken apart.
#[derive(Clone, Debug)]
pub(crate) struct Spec {
    /// Name of the model, or path of its file.
    pub(crate) name: String,
    pub(crate) model: Model,
    /// The model's text with the changes in it.
    pub(crate) table: Table,
    /// `seed=`, where it was given.
    pub(crate) seed: Option<u64>,
    /// The file of `state=FILE`.
    pub(crate) state_file: Option<String>,
}

/// Reads a target; `read` is asked for the text of a model file where the name looks like a path.
pub(crate) fn parse(spec: &str, read: impl Fn(&str) -> Result<String, String>) -> Result<Spec, SimError> {
    let spec = spec.strip_prefix("sim:").unwrap_or(spec);
    let mut parts = spec.split(',');
    let name = parts.next().unwrap_or_default().trim().to_owned();
    let file = model_text(&name, read)?;
    let bad_file = |why: String| SimError::BadFile { model: name.clone(), why };
    let mut table: Table = file.parse().map_err(|error: toml::de::Error| bad_file(one_line(error.message())))?;
    complete(&mut table);
    let (mut seed, mut state_file) = (None, None);
    let mut changed = Vec::new();
    for part in parts.map(str::trim).filter(|part| !part.is_empty()) {
        let Some((key, value)) = part.split_once('=') else { return Err(SimError::NotAPair(part.to_owned())) };
        let (key, value) = (key.trim(), value.trim());
        if key == "seed" {
            seed = Some(number(key, value)?);
        } else if key == "state" && (value.contains('/') || value.contains('.')) {
            state_file = Some(value.to_owned());
        } else {
            change(&mut table, key, value)?;
            changed.push((key, value));
        }
    }
    let model: Model = match table.clone().try_into() {
        Ok(model) => model,
        Err(error) => {
            let (path, what) = text::blame(&error);
            let why = if path.is_empty() { what } else { format!("{path}: {what}") };
            return Err(blame(&file, &changed, bad_file(why)));
        }
    };
    match model.validate() {
        Ok(()) => Ok(Spec { name, model, table, seed, state_file }),
        Err(why) => Err(bad_file(why)),
    }
}

/// The model file with the changes in it, as a user would write it; with the truth behind it where asked for.
///
/// # Errors
/// As for opening the device.
pub fn show(spec: &str, with_truth: bool, read: impl Fn(&str) -> Result<String, String>) -> Result<String, SimError> {
    let spec = parse(spec, read)?;
    let mut text = match catalogue::find(&spec.name) {
        // As it stands in the catalogue, comments and all, where nothing was changed.
        Some(text) if text.parse::<Table>().as_ref() == Ok(&spec.table) => text.to_owned(),
        _ => toml::to_string_pretty(&spec.table)
            .map_err(|error| SimError::BadFile { model: spec.name.clone(), why: error.to_string() })?,
    };
    let short: Vec<String> = SHORT.iter().map(|(short, path)| format!("{short} is {path}")).collect();
    text.push_str(&format!("\n# Short names behind sim:MODEL, for what is often changed: {}\n", short.join(", ")));
    if with_truth {
        text.push_str("\n# What is true of it, for scoring:\n");
        for line in truth::of_model(&spec.model).to_string().lines() {
            text.push_str(&format!("#   {line}\n"));
        }
    }
    Ok(text)
}

fn model_text(name: &str, read: impl Fn(&str) -> Result<String, String>) -> Result<String, SimError> {
    if let Some(text) = catalogue::find(name) {
        return Ok(text.to_owned());
    }
    if name.ends_with(".toml") || name.contains('/') {
        return read(name).map_err(|why| SimError::Unreadable { path: name.to_owned(), why });
    }
    let known: Vec<&str> = catalogue::catalogue().iter().map(|entry| entry.name).collect();
    let hint = match nearest(name, known.iter().copied()) {
        near if near.is_empty() => format!("the models are {}; a path to a model file does as well", known.join(", ")),
        near => format!("did you mean {}? All models: {}", near.join(" or "), known.join(", ")),
    };
    Err(SimError::UnknownModel { name: name.to_owned(), hint })
}

/// Sets one parameter to the value, read as the type that it has in the file.
fn change(table: &mut Table, key: &str, value: &str) -> Result<(), SimError> {
    let fault_path = fault::path_of(key);
    let path = fault_path.as_deref().or_else(|| SHORT.iter().find(|(short, _)| *short == key).map(|(_, path)| *path));
    let path = path.unwrap_or(key);
    make_room(table, path);
    let Some(place) = lookup(table, path) else {
        let mut keys: Vec<String> = Vec::new();
        all_keys("", &Value::Table(table.clone()), &mut keys);
        keys.extend(["seed".to_owned()].into_iter().chain(SHORT.iter().map(|(short, _)| (*short).to_owned())));
        keys.extend(fault::defaults().keys().cloned());
        let hint = match nearest(key, keys.iter().map(String::as_str)) {
            near if near.is_empty() => {
                "`flashscope sim show MODEL` prints every parameter; a key is its path, like mapping.logs_in_order"
                    .to_owned()
            }
            near => format!("did you mean {}?", near.join(" or ")),
        };
        return Err(SimError::UnknownKey { key: key.to_owned(), hint });
    };
    *place = match place {
        Value::String(_) => Value::String(value.to_owned()),
        Value::Integer(_) => Value::Integer(number(key, value)?),
        Value::Float(_) => Value::Float(number(key, value)?),
        Value::Boolean(_) => Value::Boolean(number(key, value)?),
        _ => {
            let why = "it is a section: name one parameter in it".to_owned();
            return Err(SimError::BadValue { key: key.to_owned(), value: value.to_owned(), why });
        }
    };
    Ok(())
}

/// Gives a model's table the whole section that `path` is in, where it may be left out and was.
fn make_room(table: &mut Table, path: &str) {
    for (section, defaults) in OPTIONAL {
        if path.strip_prefix(section).is_some_and(|rest| rest.starts_with('.')) {
            table.entry(section).or_insert_with(|| Value::Table(defaults()));
        }
    }
}

/// Fills in the keys that such sections leave out.
fn complete(table: &mut Table) {
    for (section, defaults) in OPTIONAL {
        if let Some(Value::Table(section)) = table.get_mut(section) {
            for (key, value) in defaults() {
                section.entry(key).or_insert(value);
            }
        }
    }
}

fn lookup<'t>(table: &'t mut Table, path: &str) -> Option<&'t mut Value> {
    let mut steps = path.split('.');
    let mut place = table.get_mut(steps.next()?)?;
    for step in steps {
        place = match place {
            Value::Table(inner) => inner.get_mut(step)?,
            Value::Array(items) => items.get_mut(step.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }
    Some(place)
}

fn all_keys(prefix: &str, value: &Value, into: &mut Vec<String>) {
    let mut inner = |key: &str, value: &Value| {
        let path = if prefix.is_empty() { key.to_owned() } else { format!("{prefix}.{key}") };
        all_keys(&path, value, into);
    };
    match value {
        Value::Table(table) => table.iter().for_each(|(key, value)| inner(key, value)),
        Value::Array(items) => items.iter().enumerate().for_each(|(i, value)| inner(&i.to_string(), value)),
        _ => into.push(prefix.to_owned()),
    }
}

fn number<T: std::str::FromStr>(key: &str, value: &str) -> Result<T, SimError> {
    let kind = if std::any::type_name::<T>() == "bool" { "true or false" } else { "a number" };
    let why = format!("it must be {kind}");
    value.parse().map_err(|_| SimError::BadValue { key: key.to_owned(), value: value.to_owned(), why })
}

/// A model that was valid before the changes is not to blame: names the change that spoils it.
fn blame(text: &str, changed: &[(&str, &str)], otherwise: SimError) -> SimError {
    for (key, value) in changed {
        let Ok(mut table) = text.parse::<Table>() else { return otherwise };
        complete(&mut table);
        if change(&mut table, key, value).is_err() {
            return otherwise;
        }
        if let Err(error) = table.try_into::<Model>() {
            let (_, why) = text::blame(&error);
            return SimError::BadValue { key: (*key).to_owned(), value: (*value).to_owned(), why };
        }
    }
    otherwise
}

fn one_line(text: &str) -> String {
    text.lines().collect::<Vec<_>>().join("; ")
}

/// Names that share the last part of their path with `name`, or are a few letters away from it; at most three.
fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let last = |path: &'a str| path.rsplit('.').next().unwrap_or(path);
    let allowed = name.chars().count() / 3 + 1;
    let mut near: Vec<(usize, &str)> = known
        .map(|candidate| (distance(name, candidate).min(distance(name, last(candidate))), candidate))
        .filter(|(distance, candidate)| {
            *distance <= allowed || (name.len() > 2 && candidate.contains(name)) || name.contains(candidate)
        })
        .collect();
    near.sort();
    near.into_iter().take(3).map(|(_, candidate)| candidate).collect()
}

/// Levenshtein's distance: letters to insert, remove or change.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, right) in b.iter().enumerate() {
            let change = diagonal + usize::from(left != *right);
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[b.len()]
}
