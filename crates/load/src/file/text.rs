//! Every word of a job, once: field of a job file, option of the command line, and the help of both.

use serde::Deserialize;
use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

/// One option of the command line that says a word of a job.
pub struct JobOption {
    /// The field of a job file that it says.
    pub field: &'static str,
    /// `--size`, without the dashes.
    pub option: &'static str,
    /// Another name for it.
    pub alias: Option<&'static str>,
    /// What stands for its value in a help text; a flag has none.
    pub value: Option<&'static str>,
    /// The heading that it stands under.
    pub heading: &'static str,
    /// What it is for; may begin with a space.
    pub help: &'static str,
    /// Puts what was typed (`true` for a flag) into its field, or says what is wrong with it.
    pub set: fn(&mut JobText, &str) -> Result<(), String>,
}

/// Declares the fields of [`JobText`]: `field: type`, and behind `=>` the option that says the same, its other name, what
/// stands for its value, and its heading. The text above is the help of both.
macro_rules! job_text {
    ($( $(#[doc = $help:literal])+ $field:ident: $kind:ty
        $(=> $option:literal $(| $alias:literal)? $(<$value:literal>)? in $heading:literal)?; )*) => {
        /// A job as somebody wrote it. Sizes and times are texts with their unit (`4KiB`, `10s`); see `docs/bench.md`.
        #[derive(Clone, Debug, Default, PartialEq, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct JobText {
            $( $(#[doc = $help])+ pub $field: Option<$kind>, )*
        }

        impl JobText {
            const OF_FIELDS: &[Option<JobOption>] = &[$(
                job_text!(@option ($($help),+) $field: $kind $(=> $option $(| $alias)? $(<$value>)? in $heading)?),
            )*];

            /// Every option of the command line, in the order in which they are listed.
            pub fn options() -> impl Iterator<Item = &'static JobOption> {
                JobText::OF_FIELDS.iter().flatten()
            }

            /// What this says, and where it says nothing, what `other` says.
            pub fn over(&self, other: &JobText) -> JobText {
                JobText { $( $field: self.$field.clone().or_else(|| other.$field.clone()), )* }
            }
        }
    };
    (@option ($($help:literal),+) $field:ident: $kind:ty) => { None };
    (@option ($($help:literal),+) $field:ident: $kind:ty
        => $option:literal $(| $alias:literal)? $(<$value:literal>)? in $heading:literal) => {
        Some(JobOption {
            field: stringify!($field),
            option: $option,
            alias: job_text!(@maybe $($alias)?),
            value: job_text!(@maybe $($value)?),
            heading: $heading,
            help: concat!($($help),+),
            set: |job, text| {
                job.$field = Some(text.parse::<$kind>().map_err(|error| error.to_string())?);
                Ok(())
            },
        })
    };
    (@maybe) => { None };
    (@maybe $given:literal) => { Some($given) };
}

job_text! {
    /// What people call it.
    name: String;
    /// The block device, file or directory that it runs on, where that is not the one of the command line.
    target: String;
    /// Block devices or files that are used as if they lay end to end.
    targets: Vec<String>;
    /// Runs beside the job before it rather than after it.
    beside: bool;
    /// Rest before it.
    pause: String;
    /// read, write, rw, randread, randwrite or randrw [default: randread]
    rw: String => "rw" | "readwrite" <"RW"> in "Load";
    /// Percentage of reads of a mixed job [default: 50]
    reads: f64 => "reads" | "rwmixread" <"PERCENT"> in "Load";
    /// sequential, backward, strided:SIZE, skipping:SIZE, random, once, zipf:THETA, pareto:H, zones:REQUESTS%/SPAN%,…
    /// or hot:SPAN%/REQUESTS% [default: as --rw says]
    pattern: String => "pattern" <"PATTERN"> in "Load";
    /// Request size, or several with weights (4k:3,64k:1) [default: 4k]
    bs: Text => "bs" | "block" <"SIZE"> in "Load";
    /// Size of writes, where it differs
    write_bs: Text => "write-bs" <"SIZE"> in "Load";
    /// Offsets are multiples of this [default: the smallest request]
    align: Text => "align" <"SIZE"> in "Load";
    /// Where the span begins
    offset: Text => "offset" <"SIZE"> in "Load";
    /// Length of the span, and of a file that is made [default: all there is; 1 GiB]
    span: Text => "size" | "span" <"SIZE"> in "Load";
    /// Make this number of files in the directory, of --size together, and use them as if they lay end to end
    files: u32 => "files" <"N"> in "Load";
    /// Requests outstanding per worker [default: 1]
    iodepth: u32 => "iodepth" | "queue-depth" <"N"> in "Load";
    /// Submit in batches of N, as soon as there is room [default: two at a time, as long as there is room]
    batch: u32 => "batch" <"N"> in "Load";
    /// Wait for this number of completions at once; they are then seen late [default: 1]
    reap: u32 => "reap" <"N"> in "Load";
    /// Workers side by side [default: 1]
    jobs: u32 => "jobs" | "numjobs" <"N"> in "Load";
    /// Each worker has a part of the span of its own
    parts: bool => "parts" in "Load";
    /// Each worker uses as much as --size, beginning this far after the one before
    shift: Text => "shift" <"SIZE"> in "Load";
    /// Requests per second and worker, whether the device keeps up or not (open loop)
    rate: f64 => "rate" <"N"> in "Load";
    /// Spacing of an open loop: even or poisson [default: even]
    spacing: String => "spacing" <"SPACING"> in "Load";
    /// Rest after every --think-every requests
    think: String => "think" <"TIME"> in "Load";
    /// See --think [default: 1]
    think_every: u32 => "think-every" <"N"> in "Load";
    /// End after this number of bytes per worker [default without any end: once through the span; 10 s if random and without a size]
    bytes: Text => "bytes" <"SIZE"> in "End";
    /// End after this number of requests per worker
    count: u64 => "count" <"N"> in "End";
    /// End after this time (10s; a bare 10 is seconds, as to fio)
    runtime: Text => "runtime" <"TIME"> in "End";
    /// End when throughput is steady over five rounds of this length
    steady: String => "steady" <"TIME"> in "End";
    /// But after this number of rounds at the latest [default: 25]
    steady_rounds: u32 => "steady-rounds" <"N"> in "End";
    /// Time at the start that is not counted (a bare number is seconds)
    warm_up: Text => "warm-up" | "ramp-time" <"TIME"> in "End";
    /// Requests per worker at the start that are not counted
    warm_up_count: u64 => "warm-up-count" <"N"> in "End";
    /// direct, cached, fdatasync, dsync or writethrough [default: direct]
    mode: String => "mode" <"MODE"> in "I/O path";
    /// auto, sync, uring, aio, mmap, whole (a file per request) or null [default: auto]
    engine: String => "engine" | "ioengine" <"ENGINE"> in "I/O path";
    /// Keep workers to these processors (0,2-3)
    processors: String => "processors" <"LIST"> in "I/O path";
    /// Poll for completions (devices with polled queues)
    polled: bool => "polled" in "I/O path";
    /// Flush after every N writes of a worker
    flush_every: u64 => "flush-every" <"N"> in "I/O path";
    /// Flush at the end, inside the timing
    flush_at_end: bool => "flush-at-end" in "I/O path";
    /// incompressible, compressible:SHARE%, zeros, byte:N, urandom or tagged:GENERATION
    payload: String => "payload" <"PAYLOAD"> in "I/O path";
    /// Check reads of what was written, and read everything back at the end
    verify: bool => "verify" in "I/O path";
    /// Check that reads find what an earlier run wrote with --payload tagged:GENERATION
    verify_generation: u32 => "verify-generation" <"GENERATION"> in "I/O path";
    /// All jobs beside it end when one of its workers is done.
    ends_all: bool;
    /// Requests per worker that are kept one by one.
    trace: u64;
    /// Seed of every random choice.
    seed: u64;
}

/// The help of an option, which is the list of its words.
pub(super) fn words_of(option: &str) -> &'static str {
    JobText::options().find(|known| known.option == option).map_or("", |known| known.help.trim())
}

/// A text, or a bare number.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Text {
    /// A number: of bytes, or of seconds as to fio.
    Number(u64),
    /// A text with its unit.
    Text(String),
}

impl FromStr for Text {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Text, Infallible> {
        Ok(text.into())
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Text {
        Text::Text(text.to_owned())
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Text::Number(number) => write!(f, "{number}"),
            Text::Text(text) => write!(f, "{text}"),
        }
    }
}
