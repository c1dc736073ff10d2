//! A device's state in a file, so that an aged device is made once: `sim:MODEL,state=FILE` starts from it.
//!
//! The file: [`MAGIC`], the length of what follows, a checksum of it, and then model, seed, content and flash as postcard has
//! them. It is for the version that wrote it and for no other. Nothing here opens a file.

use crate::SimTarget;
use crate::content::{Contents, Held};
use crate::error::SimError;
use crate::ftl::Saved;
use crate::spec::Spec;
use flashscope_device::Fill;
use flashscope_stats::rng::mix;
use flashscope_units::Bytes;
use serde::{Deserialize, Serialize};
use std::io::{self, Write};
use toml::{Table, Value};

/// What such a file begins with; the figure is the version of the format.
const MAGIC: &[u8; 24] = b"flashscope sim state 1\r\n";
/// Magic, length and checksum.
const HEAD: usize = MAGIC.len() + 16;

/// No file that is larger is a state: a scattered terabyte takes less.
pub const LARGEST_STATE: u64 = 4 << 30;

#[derive(Serialize, Deserialize)]
struct Snapshot {
    /// The model's text, without its start and its noise.
    model: String,
    seed: u64,
    written: u64,
    contents: Vec<(u64, Content)>,
    flash: Saved,
}

/// What a run of the device holds.
#[derive(Serialize, Deserialize)]
enum Content {
    Erased,
    Tagged(u32),
    Byte(u8),
}

impl SimTarget {
    /// Writes the device's state out, as it would be found after it was switched off in good order. The device itself goes on
    /// as it is.
    ///
    /// # Errors
    /// [`io::ErrorKind::Unsupported`] for a device with faults, else what `into` says.
    pub fn save(&self, mut into: impl Write) -> io::Result<()> {
        if self.has_faults() {
            let why =
                "the state of a device with faults cannot be saved\nhint: leave the [fault] section and its keys out";
            return Err(io::Error::new(io::ErrorKind::Unsupported, why));
        }
        let contents = self.contents().all().into_iter().map(|(length, held)| Some((length, Content::of(held)?)));
        let Some(contents) = contents.collect::<Option<Vec<_>>>() else {
            return Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "only a device with faults holds what nobody wrote",
            ));
        };
        let snapshot = Snapshot {
            model: self.model_text().to_owned(),
            seed: self.seed(),
            written: self.written().get(),
            contents,
            flash: self.switched_off(),
        };
        let body = postcard::to_allocvec(&snapshot).map_err(io::Error::other)?;
        into.write_all(MAGIC)?;
        into.write_all(&(body.len() as u64).to_le_bytes())?;
        into.write_all(&checksum(&body).to_le_bytes())?;
        into.write_all(&body)
    }
}

impl Content {
    fn of(held: Held) -> Option<Content> {
        match held {
            Held::Erased => Some(Content::Erased),
            Held::Written(Fill::Tagged { generation }) => Some(Content::Tagged(generation)),
            Held::Written(Fill::Byte(byte)) => Some(Content::Byte(byte)),
            Held::Shifted(..) | Held::Garbage => None,
        }
    }

    fn held(self) -> Held {
        match self {
            Content::Erased => Held::Erased,
            Content::Tagged(generation) => Held::Written(Fill::Tagged { generation }),
            Content::Byte(byte) => Held::Written(Fill::Byte(byte)),
        }
    }
}

/// The device of `spec` as the bytes of a file have it; `seed` feeds what is around it, its inside is that of the file.
pub(crate) fn load(spec: &Spec, seed: u64, path: &str, bytes: &[u8]) -> Result<SimTarget, SimError> {
    let bad = |why: String| SimError::BadState { path: path.to_owned(), why };
    let (head, body) = bytes.split_at_checked(HEAD).ok_or_else(|| bad("it is too short for one".to_owned()))?;
    if head[..MAGIC.len()] != MAGIC[..] {
        return Err(bad("it was not written as one by this version of flashscope".to_owned()));
    }
    let number = |at: usize| head[at..at + 8].iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
    if number(MAGIC.len()) != body.len() as u64 || number(MAGIC.len() + 8) != checksum(body) {
        return Err(bad("it is damaged: length or checksum are not what they were".to_owned()));
    }
    let snapshot: Snapshot = postcard::from_bytes(body).map_err(|error| bad(format!("it is damaged: {error}")))?;
    if let Some(difference) = difference(&snapshot.model, &model_text(&spec.table)) {
        return Err(bad(format!("it is of another model: {difference}")));
    }
    if spec.model.fault.is_some() {
        return Err(bad("a device with faults cannot start from one".to_owned()));
    }
    let mut target = SimTarget::new(spec, snapshot.seed);
    let capacity = target.real_capacity();
    let mut contents = Contents::new(capacity, spec.model.state.erased_byte, Held::Erased);
    let mut at = Bytes::ZERO;
    for (length, content) in snapshot.contents {
        if length > (capacity - at).get() {
            return Err(bad("its content is longer than the device".to_owned()));
        }
        contents.set(at, Bytes(length), content.held());
        at += Bytes(length);
    }
    target.switch_on(contents, Bytes(snapshot.written), snapshot.flash, seed, spec).map_err(bad)?;
    Ok(target)
}

/// The model as text, without what may differ from one start to the next.
pub(crate) fn model_text(table: &Table) -> String {
    let mut table = table.clone();
    for section in ["title", "noise", "state"] {
        table.remove(section);
    }
    table.to_string()
}

/// The first line in which two models differ.
fn difference(saved: &str, asked: &str) -> Option<String> {
    if saved == asked {
        return None;
    }
    let (saved, asked) = (flat(saved), flat(asked));
    let (key, value) =
        saved.iter().find(|line| !asked.contains(line)).or_else(|| asked.iter().find(|l| !saved.contains(l)))?;
    Some(format!("{key} = {value} is in one of them only"))
}

/// Keys by their paths, with their values.
fn flat(text: &str) -> Vec<(String, String)> {
    fn walk(path: &str, value: &Value, into: &mut Vec<(String, String)>) {
        match value {
            Value::Table(table) => {
                let join = |key: &String| if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                table.iter().for_each(|(key, value)| walk(&join(key), value, into));
            }
            other => into.push((path.to_owned(), other.to_string())),
        }
    }
    let mut lines = Vec::new();
    if let Ok(table) = text.parse::<Table>() {
        walk("", &Value::Table(table), &mut lines);
    }
    lines
}

/// Against damage by chance, not by intent.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.chunks(8).fold(bytes.len() as u64, |sum, word| {
        let word = word.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        mix(sum ^ word)
    })
}
