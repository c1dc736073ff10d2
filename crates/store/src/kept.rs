//! What is asked of a history, and what it answers.

use flashscope_model::Kind;
use flashscope_model::comparison::Metric;

/// One record as it stands in a list: what it is, not what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its number, never given again.
    pub id: i64,
    /// When it was measured, or, where the record does not say, when it was kept; RFC 3339 in UTC.
    pub at: String,
    /// Whether `at` is the time of the measurement.
    pub measured: bool,
    /// Its kind, in the word of records.
    pub kind: String,
    /// What was typed.
    pub command: String,
    /// What was asked about, as typed.
    pub target: String,
    /// What people call the device.
    pub device: String,
    /// The very part: what the device says of itself, else what was typed.
    pub part: String,
    /// Version of the program that made it.
    pub version: String,
    /// Bytes of the record.
    pub bytes: i64,
}

/// What came of adding one record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// It is kept under this number.
    New(i64),
    /// The same bytes were there already, under this number.
    Already(i64),
}

impl Kept {
    /// Its number, either way.
    pub fn id(self) -> i64 {
        match self {
            Kept::New(id) | Kept::Already(id) => id,
        }
    }
}

/// Which records are meant; the default is all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Of this part: its target as typed, its device's name or its identity.
    pub target: Option<String>,
    /// Of this kind.
    pub kind: Option<Kind>,
    /// Not before this time, in seconds since 1970.
    pub since: Option<i64>,
    /// Before this time, in seconds since 1970.
    pub before: Option<i64>,
    /// Not these, which are the newest of them.
    pub skip: u32,
    /// The newest of the others, at most this number.
    pub limit: Option<u32>,
}

impl Filter {
    /// The word of the kind.
    pub(crate) fn kind_word(&self) -> Option<&'static str> {
        self.kind.map(Kind::word)
    }
}

/// A figure that records have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    /// What it is.
    pub metric: Metric,
    /// Records that have it.
    pub records: i64,
}

/// One figure of one part over time, measured in the same way each time.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// What it is.
    pub metric: Metric,
    /// The very part.
    pub part: String,
    /// What people call the device.
    pub device: String,
    /// The settings that are the same for all points, one a line.
    pub setup: String,
    /// In the order of time.
    pub points: Vec<Point>,
}

/// One record's value.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Number of the record.
    pub record: i64,
    /// Its time, RFC 3339 in UTC.
    pub at: String,
    /// The median of its runs, in the unit of the figure.
    pub value: f64,
    /// Standard deviation of its runs, in that unit; `None` of one run.
    pub spread: Option<f64>,
}

/// One figure of one record, with what is known of the record: a row of an export.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The record.
    pub entry: Entry,
    /// Its time in seconds since 1970.
    pub seconds: i64,
    /// The settings that decide what its figures mean, one a line.
    pub setup: String,
    /// The figure.
    pub metric: Metric,
    /// The median of its runs.
    pub value: f64,
    /// How many runs there were.
    pub runs: i64,
    /// Their standard deviation; `None` of one run.
    pub spread: Option<f64>,
    /// The first 32 hexadecimal digits of the record's SHA-256: the same wherever it is kept.
    pub key: String,
}

/// One record with its text: a row of the table of records in a dataset.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Body {
    /// What is known of it.
    pub(crate) entry: Entry,
    /// Its time in seconds since 1970.
    pub(crate) seconds: i64,
    /// The settings that decide what its figures mean, one a line.
    pub(crate) setup: String,
    /// As in [`Row`].
    pub(crate) key: String,
    /// Its bytes as they came in.
    pub(crate) text: String,
}
