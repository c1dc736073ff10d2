//! What came of a fleet: how often the answers about devices whose inside is known were right, and what they cost.

use crate::envelope::Envelope;
use flashscope_units::{Bytes, Nanos};

/// Everything about one run of `fleet`.
#[derive(Clone, Debug, PartialEq)]
pub struct FleetRecord {
    /// Who, when, and how it ended.
    pub envelope: Envelope,
    /// How many devices were asked for.
    pub asked: u32,
    /// Number of the first one.
    pub first: u32,
    /// Seed of the fleet.
    pub seed: u64,
    /// Which devices were drawn.
    pub generator: String,
    /// Noise around all of them; `None`: each drew its own.
    pub noise: Option<String>,
    /// Runs that did not come to their end.
    pub cut_short: u32,
    /// Devices without a result, each its number and why.
    pub failures: Vec<(u32, String)>,
    /// Processor time that a device took, in seconds.
    pub work_s: Percentiles,
    /// The devices that took the most of it, the one that took most first.
    pub slowest: Vec<Slow>,
    /// Every parameter that is scored, in the order of the tables.
    pub parameters: Vec<Scoring>,
    /// Confidence over all parameters.
    pub calibration: Calibration,
    /// That of `infer` on logs of the by-hand procedure.
    pub log_calibration: Calibration,
    /// Intervals over all devices.
    pub coverage: Coverage,
    /// What a device costs.
    pub costs: FleetCost,
    /// Answers that are wrong, surest first, then those that are missing.
    pub worst: Vec<WorstCase>,
    /// Device by device.
    pub devices: Vec<Device>,
}

/// One parameter over all devices.
#[derive(Clone, Debug, PartialEq)]
pub struct Scoring {
    /// Its name in records.
    pub parameter: String,
    /// Its name for people.
    pub words: String,
    /// Answers of `inspect`.
    pub inspect: Row,
    /// Those of a naive reader of the by-hand procedure; `None` where nobody worked by hand.
    pub naive: Option<Row>,
    /// Those of `infer` on the log of that procedure.
    pub log: Option<Row>,
    /// Confidence of `inspect`; `None` where nobody counted.
    pub calibration: Option<Calibration>,
}

/// Answers of one reader to one question.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// Devices with a verdict.
    pub devices: u32,
    /// Those of which it can be told.
    pub told: u32,
    /// Exact, of those that can be told.
    pub exact: u32,
    /// Exact where the reference did not find it.
    pub exact_beyond: u32,
    /// One step beside.
    pub one_step: u32,
    /// Wrong by more.
    pub wrong: u32,
    /// Of those one step beside or wrong: claimed with 0.99 or more.
    pub wrong_sure: u32,
    /// No answer where it can be told.
    pub missed: u32,
    /// No answer where it cannot be told.
    pub silent: u32,
    /// There is no truth to hold it against.
    pub unscored: u32,
    /// Claims of something that is not there.
    pub false_alarms: u32,
    /// The device's truth says that it shows, and not even the reference found it.
    pub unfound: u32,
}

impl Row {
    /// Exact answers of all that can be told, 0…1.
    pub fn share_exact(&self) -> Option<f64> {
        (self.told > 0).then(|| f64::from(self.exact) / f64::from(self.told))
    }

    /// Of all devices, 0…1.
    pub fn share(&self, count: u32) -> Option<f64> {
        (self.devices > 0).then(|| f64::from(count) / f64::from(self.devices))
    }
}

/// The middle and the upper end of a figure over the devices.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Percentiles {
    /// Median.
    pub p50: f64,
    /// 95th percentile.
    pub p95: f64,
    /// Sum over all devices.
    pub total: f64,
}

/// What the devices cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CostSummary {
    /// Bytes written by the host.
    pub written_bytes: Percentiles,
    /// Erases inside the device.
    pub erases: Percentiles,
    /// Bytes programmed inside the device.
    pub programmed_bytes: Percentiles,
    /// Bytes read by the host.
    pub read_bytes: Percentiles,
    /// Device time in seconds.
    pub time_s: Percentiles,
}

/// What the devices cost, by whom.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FleetCost {
    /// All that `inspect` did.
    pub inspect: CostSummary,
    /// Its geometry alone.
    pub geometry: CostSummary,
    /// The by-hand procedure; `None` where it was not done.
    pub by_hand: Option<CostSummary>,
}

/// Claims of about the same confidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bin {
    /// From this confidence …
    pub low: f64,
    /// … to below this one (the last bin holds 1).
    pub high: f64,
    /// How many claims.
    pub claims: u32,
    /// How many of them are true.
    pub right: u32,
    /// Mean confidence; `None` without claims.
    pub stated: Option<f64>,
}

impl Bin {
    /// Share of the claims that are true.
    pub fn share_right(&self) -> Option<f64> {
        (self.claims > 0).then(|| f64::from(self.right) / f64::from(self.claims))
    }
}

/// Confidence against truth.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// Claims by confidence.
    pub bins: Vec<Bin>,
    /// Expected calibration error: |share right − mean confidence| over the bins, weighted by claims.
    pub expected_error: Option<f64>,
    /// Mean natural logarithm of the probability given to what is true; 0 is perfect.
    pub log_score: Option<f64>,
}

/// Intervals and how many of them hold the truth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Intervals looked at.
    pub intervals: u32,
    /// Those that hold the truth.
    pub hold: u32,
}

/// A device that took long.
#[derive(Clone, Debug, PartialEq)]
pub struct Slow {
    /// Number of the device.
    pub index: u32,
    /// What it is.
    pub title: String,
    /// Processor time in seconds.
    pub work_s: f64,
    /// The command that does it again.
    pub replay: String,
}

/// An answer that is wrong, or missing where it can be told.
#[derive(Clone, Debug, PartialEq)]
pub struct WorstCase {
    /// Number of the device.
    pub index: u32,
    /// What it is.
    pub title: String,
    /// The answer.
    pub finding: Scored,
    /// The command that does it again.
    pub replay: String,
}

/// One answer held against the truth.
#[derive(Clone, Debug, PartialEq)]
pub struct Scored {
    /// The parameter, as records name it.
    pub parameter: String,
    /// How it stands.
    pub verdict: Verdict,
    /// Whether a noise-free run with ten times the budget found it.
    pub can_be_told: bool,
    /// Whether the device's truth says that it shows.
    pub declared: bool,
    /// Of whatever was claimed.
    pub confidence: Option<f64>,
    /// What was said.
    pub said: String,
    /// What is true.
    pub truth: String,
    /// The finding's evidence, or why it is none.
    pub because: String,
}

/// A finding held against the truth of its device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// The value or an alias of it, or a bound that holds and reaches as far as one need look.
    Exact,
    /// One step beside it: twice or half a size, one more or less of a count, one unit of an extent, the square of the
    /// tolerance of a ratio.
    OneStep,
    /// Neither.
    Wrong,
    /// No answer, or a bound that holds and says too little.
    Silent,
    /// There is no truth to hold it against.
    Unscored,
}

/// What came of one device.
#[derive(Clone, Debug, PartialEq)]
pub struct Device {
    /// Its number.
    pub index: u32,
    /// Seed of its run.
    pub seed: u64,
    /// What it is.
    pub title: String,
    /// Why there is no result, where there is none.
    pub failure: Option<String>,
    /// Whether the run came to its end.
    pub complete: bool,
    /// Processor time in seconds.
    pub work_s: f64,
    /// Every finding.
    pub findings: Vec<Scored>,
    /// Readings of the by-hand procedure.
    pub naive: Vec<Scored>,
    /// What `infer` makes of its log.
    pub log: Vec<Scored>,
    /// All that `inspect` did.
    pub cost: DeviceCost,
    /// What of it served the geometry.
    pub geometry_cost: DeviceCost,
    /// The by-hand procedure.
    pub by_hand_cost: Option<DeviceCost>,
}

/// What some experiments cost a simulated device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceCost {
    /// Bytes read by the host.
    pub read: Bytes,
    /// Bytes written by the host.
    pub written: Bytes,
    /// Erases inside the device.
    pub erases: u64,
    /// Bytes programmed inside the device, copies included.
    pub programmed: Bytes,
    /// Device time.
    pub time: Nanos,
}
