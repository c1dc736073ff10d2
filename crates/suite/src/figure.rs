//! One figure taken from one run of a job.

use flashscope_model::bench::{JobRun, Moved, Times};
use flashscope_model::preset::Unit;
use flashscope_units::{Bytes, Nanos};

/// What is taken, of which job, and by what it is multiplied.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Take {
    pub(crate) job: String,
    pub(crate) measure: Measure,
    pub(crate) times: f64,
}

/// What is taken of a job's results.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Measure {
    which: Which,
    what: What,
}

/// Of which requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Which {
    Reads,
    Writes,
    All,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum What {
    Bytes,
    Requests,
    MeanTime,
    LongestTime,
    TimeAt(f64),
    /// The rate of the slowest stretch of so many bytes.
    SlowestStretch(Bytes),
}

const WORDS: &str =
    "bytes/s, requests/s, mean time, longest, p50, p90, p95, p99, p99.9, p99.99, p99.999 or slowest unit";

impl Measure {
    /// `read bytes/s`, `write requests/s`, `write mean time`, `write longest`, `read p99`; `write slowest unit` with a `unit`.
    pub(crate) fn parse(text: &str, unit: Option<Bytes>) -> Result<Measure, String> {
        let unknown = || {
            format!(
                "'{text}' cannot be taken of a job\nhint: read, write or all, and then {WORDS} (the last of one direction)"
            )
        };
        let (direction, what) = text.split_once(' ').ok_or_else(unknown)?;
        let which = match direction {
            "read" => Which::Reads,
            "write" => Which::Writes,
            "all" => Which::All,
            _ => return Err(unknown()),
        };
        let what = match what {
            "bytes/s" => What::Bytes,
            "requests/s" => What::Requests,
            "mean time" => What::MeanTime,
            "longest" => What::LongestTime,
            "slowest unit" if which == Which::Writes => {
                let unit = unit.filter(|unit| *unit >= Bytes::mib(1)).ok_or("needs a unit of 1 MiB or more")?;
                return Ok(Measure { which, what: What::SlowestStretch(unit) });
            }
            what if which != Which::All => What::TimeAt(percentile(what).ok_or_else(unknown)?),
            _ => return Err(unknown()),
        };
        if unit.is_some() {
            return Err("only 'write slowest unit' has a unit".to_owned());
        }
        Ok(Measure { which, what })
    }

    /// The same by whole units of this size, where it goes by units.
    pub(crate) fn in_units_of(self, unit: Bytes) -> Measure {
        match self.what {
            What::SlowestStretch(_) => Measure { what: What::SlowestStretch(unit), ..self },
            _ => self,
        }
    }

    /// The unit of what it takes.
    pub(crate) fn unit(self) -> Unit {
        match self.what {
            What::Bytes | What::SlowestStretch(_) => Unit::BytesPerSecond,
            What::Requests => Unit::PerSecond,
            What::MeanTime | What::LongestTime | What::TimeAt(_) => Unit::Nanoseconds,
        }
    }

    /// Takes it; `None` where there is no such thing (no requests, too few for a percentile).
    pub(crate) fn of(self, job: &JobRun) -> Option<f64> {
        let (read, write) = (job.read.as_ref(), job.write.as_ref());
        let wanted = match self.which {
            Which::Reads => [read, None],
            Which::Writes => [None, write],
            Which::All => [read, write],
        };
        let moved: Vec<&Moved> = wanted.into_iter().flatten().filter(|moved| moved.requests > 0).collect();
        if moved.is_empty() {
            return None;
        }
        match self.what {
            What::Bytes => Some(moved.iter().map(|moved| moved.bytes_per_s).sum()).filter(|rate| *rate > 0.0),
            What::Requests => Some(moved.iter().map(|moved| moved.requests_per_s).sum()).filter(|rate| *rate > 0.0),
            What::MeanTime => {
                let sum: f64 = moved.iter().map(|moved| times(moved).mean * moved.requests as f64).sum();
                Some(sum / moved.iter().map(|moved| moved.requests as f64).sum::<f64>())
            }
            What::LongestTime => moved.iter().map(|moved| times(moved).max.as_f64()).reduce(f64::max),
            What::TimeAt(of) => {
                let percentiles = &times(moved[0]).percentiles;
                percentiles.iter().find(|(other, _)| *other == of).map(|(_, time)| time.as_f64())
            }
            What::SlowestStretch(unit) => slowest(job, unit),
        }
    }
}

impl Take {
    /// Several of the longest in a row are at most so many times the longest: then the figure is a bound, not a measurement.
    pub(crate) fn bound_of(&self) -> Option<f64> {
        (self.measure.what == What::LongestTime && self.times > 1.0).then_some(self.times)
    }
}

/// What users see: the time from when a request was due, where it was due at a time of its own.
fn times(moved: &Moved) -> &Times {
    moved.response.as_ref().unwrap_or(&moved.service)
}

fn percentile(text: &str) -> Option<f64> {
    let known = [0.5, 0.9, 0.95, 0.99, 0.999, 0.9999, 0.99999];
    let names = ["p50", "p90", "p95", "p99", "p99.9", "p99.99", "p99.999"];
    names.iter().position(|name| *name == text).map(|at| known[at])
}

/// The rate of the slowest whole `unit` of a job with one worker. Stretches are whole multiples of what the curve resolves.
fn slowest(job: &JobRun, unit: Bytes) -> Option<f64> {
    let [curve] = &job.written[..] else { return None };
    let steps = (unit.get().div_ceil(curve.step.get())).max(1) as usize;
    let ends = curve.times.iter().skip(steps - 1).step_by(steps);
    let mut began = Nanos::ZERO;
    let mut longest = Nanos::ZERO;
    for end in ends {
        longest = longest.max(end.saturating_sub(began));
        began = *end;
    }
    let bytes = (curve.step * steps as u64).as_f64();
    (longest > Nanos::ZERO).then(|| bytes / longest.as_secs_f64())
}
