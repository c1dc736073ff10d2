//! From the words of the command line to sides: which label, and what each word names.

use crate::error::Failure;
use crate::input;
use anyhow::anyhow;
use flashscope_model::AnyRecord;
use std::io::Read;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// One side: everything that bears one label.
pub(super) struct Side {
    /// Its name; of a table its own labels are the sides.
    pub(super) label: String,
    /// Whether the label was typed.
    pub(super) named: bool,
    pub(super) items: Vec<Item>,
}

/// One word of the command line.
pub(super) struct Item {
    /// Without its label.
    pub(super) typed: String,
    pub(super) form: Form,
}

/// What a word names.
pub(super) enum Form {
    /// A record, read.
    Record(Box<AnyRecord>),
    /// The text of a table.
    Table(String),
    /// A device, a directory or a simulated device.
    Target,
}

impl Item {
    /// The file that it names.
    pub(super) fn path(&self) -> Option<&Path> {
        (self.typed != "-" && !self.typed.starts_with("sim:")).then(|| Path::new(&self.typed))
    }
}

/// The sides in the order in which their labels come first.
pub(super) fn parse(words: &[String]) -> Result<Vec<Side>, Failure> {
    let mut sides: Vec<Side> = Vec::new();
    for word in words {
        let (label, typed) = split(word);
        let item = Item { typed: typed.to_owned(), form: form(typed)? };
        let Some(label) = label else {
            let label = unused(&name_of(&item), &sides);
            sides.push(Side { label, named: false, items: vec![item] });
            continue;
        };
        match sides.iter_mut().find(|side| side.named && side.label == label) {
            Some(side) if matches!(item.form, Form::Target) || matches!(side.items[0].form, Form::Target) => {
                return Err(Failure::Cannot(anyhow!(
                    "the side '{label}' has several targets\nhint: give each a label of its own; a statement on a model needs records of several parts"
                )));
            }
            Some(side) => side.items.push(item),
            None => sides.push(Side { label: label.to_owned(), named: true, items: vec![item] }),
        }
    }
    Ok(sides)
}

/// `LABEL=…`; the parameters of a simulated device and paths hold such signs as well.
fn split(word: &str) -> (Option<&str>, &str) {
    match word.split_once('=') {
        Some((label, rest)) if !label.is_empty() && !rest.is_empty() && !label.contains(['/', ':', ',', '.']) => {
            (Some(label), rest)
        }
        _ => (None, word),
    }
}

/// What a side without a label is called.
fn name_of(item: &Item) -> String {
    match &item.form {
        Form::Record(_) => Path::new(&item.typed)
            .file_stem()
            .map_or_else(|| item.typed.clone(), |stem| stem.to_string_lossy().into_owned()),
        Form::Table(_) | Form::Target => item.typed.clone(),
    }
}

/// The name, with a number where a side has it already.
fn unused(name: &str, sides: &[Side]) -> String {
    let free = |name: &String| sides.iter().all(|side| side.label != *name);
    let numbered = (2..).map(|number| format!("{name} ({number})"));
    std::iter::once(name.to_owned()).chain(numbered).find(free).unwrap_or_default()
}

const HINT: &str = "a side is a record (.json), a table (.csv), a block device, a directory or sim:MODEL";

fn form(typed: &str) -> Result<Form, Failure> {
    if typed.starts_with("sim:") {
        return Ok(Form::Target);
    }
    if typed == "-" {
        let mut text = String::new();
        std::io::stdin()
            .read_to_string(&mut text)
            .map_err(|error| anyhow!("stdin: {}\nhint: {HINT}", input::said(&error)))?;
        return of_text(typed, text);
    }
    let path = Path::new(typed);
    let there = std::fs::metadata(path)
        .map_err(|error| anyhow!("cannot read {typed}: {}\nhint: {HINT}", input::said(&error)))?;
    if there.is_dir() || there.file_type().is_block_device() {
        return Ok(Form::Target);
    }
    of_text(typed, input::text(path, HINT)?)
}

fn of_text(typed: &str, text: String) -> Result<Form, Failure> {
    match text.trim_start_matches('\u{feff}').trim_start().chars().next() {
        None => Err(Failure::Cannot(anyhow!("{typed} is empty\nhint: {HINT}"))),
        Some('{' | '[') => {
            let record = flashscope_record::read(&text).map_err(|error| anyhow!("{typed}: {error}"))?;
            Ok(Form::Record(Box::new(record)))
        }
        Some(_) => Ok(Form::Table(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_what_stands_before_a_sign_that_belongs_to_nothing_else() {
        assert_eq!(split("old=a.json"), (Some("old"), "a.json"));
        assert_eq!(split("old=sim:sd-4mib,noise=field"), (Some("old"), "sim:sd-4mib,noise=field"));
        for word in ["sim:sd-4mib,noise=field", "./a=b.json", "a.json", "/dev/disk/by-id/x=y", "=a", "a="] {
            assert_eq!(split(word), (None, word));
        }
    }
}
