//! Records and figures as a dataset: Parquet files below a folder for each day and model, as DuckDB, pandas and Spark ask for them.
//!
//! ```text
//! DIR/.flashscope-dataset                               says whose folder it is, and is locked by who writes
//! DIR/figures/day=2026-03-01/model=SD08G/KEY.parquet    a row per record and figure
//! DIR/records/day=2026-03-01/model=SD08G/KEY.parquet    a row per record, with its text
//! ```
//!
//! A record is known by the first 128 bits of its SHA-256 wherever it came from, so that many hosts may add to one dataset and
//! nothing is in it twice. A file is named by the records in it and never changed. Figures go into their place before records do: a
//! file of figures without its file of records is what a kill has left, and goes with the next export.

mod place;
mod read;
mod write;

pub use place::Dataset;
pub use read::{Imported, import};
pub use write::Exported;

/// The first 128 bits of a record's SHA-256.
pub(crate) type Key = [u8; 16];

/// In hexadecimal digits.
pub(crate) fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The key of these digits.
pub(crate) fn key_of(digits: &str) -> Option<Key> {
    let byte = |at: usize| u8::from_str_radix(digits.get(2 * at..2 * at + 2)?, 16).ok();
    let mut key = Key::default();
    for (at, place) in key.iter_mut().enumerate() {
        *place = byte(at)?;
    }
    (digits.len() == 32).then_some(key)
}

/// How far something long is: what is done, of how much.
pub(crate) type Progress<'a> = &'a mut dyn FnMut(u64, u64);
