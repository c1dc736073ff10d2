//! The part of a fleet: how often answers were right, and every one of them.

use crate::RecordError;
use crate::mirror::{Mirror, mirror, mirror_tuple, part, words};
use flashscope_model::fleet as model;
#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

part! {
    /// Many simulated devices inspected and scored.
    FleetPart of model::FleetRecord as [Fleet] {
        /// How many were asked for.
        devices_asked: u32 = asked,
        /// Number of the first one.
        first_device: u32 = first,
        /// Seed of the fleet.
        seed: u64 = seed,
        /// Which devices were drawn.
        generator: String = generator,
        /// Noise around all of them; null: each drew its own.
        noise: Option<String> = noise,
        /// Runs that did not come to their end.
        runs_cut_short: u32 = cut_short,
        /// Devices without a result.
        devices_without_result: Vec<WithoutResult> = failures,
        /// What a device took of the processor, in seconds.
        processor_time_s: Percentiles = work_s,
        /// The devices that took the most of it, the one that took most first.
        slowest: Vec<Slow> = slowest,
        /// Every parameter that is scored.
        parameters: Vec<Scoring> = parameters,
        /// Confidence over all parameters.
        calibration: Calibration = calibration,
        /// That of `infer` on logs of the by-hand procedure.
        log_calibration: Calibration = log_calibration,
        /// Stated 95 % intervals and how many hold the truth.
        interval_coverage: Coverage = coverage,
        /// What devices cost; that of the whole fleet is in the envelope's `cost`.
        cost_of_a_device: FleetCost = costs,
        /// Answers that are wrong, surest first, then those that are missing.
        worst: Vec<WorstCase> = worst,
        /// Device by device.
        devices: Vec<FleetDevice> = devices,
    }
}

mirror_tuple! {
    /// A device without a result.
    WithoutResult of (u32, String) {
        /// Its number.
        device: u32,
        /// Why there is none.
        why: String,
    }
}

mirror! {
    /// The middle and the upper end of a figure over the devices.
    Percentiles of model::Percentiles {
        /// Median.
        p50: f64 = p50,
        /// 95th percentile.
        p95: f64 = p95,
        /// Sum over all devices.
        total: f64 = total,
    }

    /// A device that took long.
    Slow of model::Slow {
        /// Its number.
        device: u32 = index,
        /// What it is.
        title: String = title,
        /// Processor time.
        processor_time_s: f64 = work_s,
        /// The command that does it again.
        replay: String = replay,
    }

    /// One parameter over all devices.
    Scoring of model::Scoring {
        /// Its name under `geometry`, as far as it stands there.
        parameter: String = parameter,
        /// Its name for people.
        name: String = words,
        /// Answers of `inspect`.
        inspect: Row = inspect,
        /// Those of a naive reader of the by-hand procedure; null where nobody worked by hand.
        naive: Option<Row> = naive,
        /// Those of `infer` on the log of that procedure; null likewise.
        log: Option<Row> = log,
        /// Confidence of `inspect`; null where nobody counted.
        calibration: Option<Calibration> = calibration,
    }

    /// Confidence against truth.
    Calibration of model::Calibration {
        /// |share right − mean confidence| over the bins, weighted by claims; null without claims.
        expected_calibration_error: Option<f64> = expected_error,
        /// Mean natural logarithm of the probability given to what is true; null without claims.
        log_score: Option<f64> = log_score,
        /// Claims by confidence.
        bins: Vec<Bin> = bins,
    }

    /// Intervals and how many of them hold the truth.
    Coverage of model::Coverage {
        /// Intervals looked at.
        intervals: u32 = intervals,
        /// Those that hold the truth.
        hold: u32 = hold,
    }

    /// What a device costs, by the middle and the upper end.
    FleetCost of model::FleetCost {
        /// All that `inspect` did.
        inspect: CostSummary = inspect,
        /// Its geometry alone.
        geometry: CostSummary = geometry,
        /// The by-hand procedure; null where it was not done.
        by_hand: Option<CostSummary> = by_hand,
    }

    /// What the devices cost.
    CostSummary of model::CostSummary {
        /// Written by the host.
        written_bytes: Percentiles = written_bytes,
        /// Erases inside the device.
        erases: Percentiles = erases,
        /// Programmed inside the device.
        programmed_bytes: Percentiles = programmed_bytes,
        /// Read by the host.
        read_bytes: Percentiles = read_bytes,
        /// Device time.
        device_time_s: Percentiles = time_s,
    }

    /// An answer that is wrong, or missing where it can be told.
    WorstCase of model::WorstCase {
        /// Number of the device.
        device: u32 = index,
        /// What it is.
        title: String = title,
        /// The answer.
        finding: Scored = finding,
        /// The command that does it again.
        replay: String = replay,
    }

    /// One answer held against the truth.
    Scored of model::Scored {
        /// The parameter.
        parameter: String = parameter,
        /// How it stands.
        verdict: FleetVerdict = verdict,
        /// Whether a noise-free run with ten times the budget found it.
        can_be_told: bool = can_be_told,
        /// Whether the device's truth says that it shows.
        declared: bool = declared,
        /// Of whatever was claimed; null where nothing was.
        confidence: Option<f64> = confidence,
        /// What was said.
        said: String = said,
        /// What is true.
        truth: String = truth,
        /// The finding's evidence, or why it is none.
        because: String = because,
    }

    /// What came of one device.
    FleetDevice of model::Device {
        /// Its number.
        device: u32 = index,
        /// Seed of its run.
        seed: u64 = seed,
        /// What it is.
        title: String = title,
        /// Why there is no result; null where there is one.
        failure: Option<String> = failure,
        /// Whether the run came to its end.
        complete: bool = complete,
        /// Processor time.
        processor_time_s: f64 = work_s,
        /// Every finding.
        findings: Vec<Scored> = findings,
        /// Readings of the by-hand procedure.
        naive: Vec<Scored> = naive,
        /// What `infer` makes of its log.
        log: Vec<Scored> = log,
        /// All that `inspect` did.
        cost: DeviceCost = cost,
        /// What of it served the geometry.
        geometry_cost: DeviceCost = geometry_cost,
        /// The by-hand procedure; null where it was not done.
        by_hand_cost: Option<DeviceCost> = by_hand_cost,
    }

    /// What some experiments cost a simulated device.
    DeviceCost of model::DeviceCost {
        /// Written by the host.
        written_bytes: u64 = written,
        /// Erases inside the device.
        erases: u64 = erases,
        /// Programmed inside the device, copies included.
        programmed_bytes: u64 = programmed,
        /// Read by the host.
        read_bytes: u64 = read,
        /// Device time.
        device_time_ns: u64 = time,
    }
}

words! {
    /// How an answer stands against the truth.
    FleetVerdict mirrors model::Verdict {
        /// The value or an alias of it, or a bound that holds.
        Exact,
        /// One step beside it.
        OneStep,
        /// Neither.
        Wrong,
        /// No answer.
        Silent,
        /// There is no truth to hold it against.
        Unscored,
    }
}

/// Answers of one reader to one question.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Row {
    /// Devices with a verdict.
    pub devices: u32,
    /// Those of which it can be told.
    pub can_be_told: u32,
    /// Exact, of those that can be told.
    pub exact: u32,
    /// The same as a share of them; null where there are none.
    pub exact_ratio: Option<f64>,
    /// Exact where the reference did not find it.
    pub exact_beyond_reference: u32,
    /// One step beside.
    pub one_step: u32,
    /// Wrong by more.
    pub wrong: u32,
    /// One step beside or wrong, and claimed with 0.99 or more.
    pub wrong_or_one_step_at_confidence_99: u32,
    /// No answer where it can be told.
    pub missed: u32,
    /// No answer where it cannot be told.
    pub rightly_silent: u32,
    /// There is no truth to hold it against.
    pub unscored: u32,
    /// Claims of something that is not there.
    pub false_alarms: u32,
    /// The device's truth says that it shows, and not even the reference found it.
    pub declared_but_not_found_by_reference: u32,
}

/// Claims of about the same confidence.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Bin {
    /// From this confidence …
    pub low: f64,
    /// … to below this one.
    pub high: f64,
    /// How many claims.
    pub claims: u32,
    /// How many of them are true.
    pub right: u32,
    /// Mean confidence; null without claims.
    pub mean_confidence: Option<f64>,
    /// Share that is true; null without claims.
    pub right_ratio: Option<f64>,
}

impl Mirror<model::Row> for Row {
    fn from_model(row: &model::Row) -> Self {
        Row {
            devices: row.devices,
            can_be_told: row.told,
            exact: row.exact,
            exact_ratio: row.share_exact(),
            exact_beyond_reference: row.exact_beyond,
            one_step: row.one_step,
            wrong: row.wrong,
            wrong_or_one_step_at_confidence_99: row.wrong_sure,
            missed: row.missed,
            rightly_silent: row.silent,
            unscored: row.unscored,
            false_alarms: row.false_alarms,
            declared_but_not_found_by_reference: row.unfound,
        }
    }

    fn into_model(self) -> Result<model::Row, RecordError> {
        Ok(model::Row {
            devices: self.devices,
            told: self.can_be_told,
            exact: self.exact,
            exact_beyond: self.exact_beyond_reference,
            one_step: self.one_step,
            wrong: self.wrong,
            wrong_sure: self.wrong_or_one_step_at_confidence_99,
            missed: self.missed,
            silent: self.rightly_silent,
            unscored: self.unscored,
            false_alarms: self.false_alarms,
            unfound: self.declared_but_not_found_by_reference,
        })
    }
}

impl Mirror<model::Bin> for Bin {
    fn from_model(bin: &model::Bin) -> Self {
        let (mean_confidence, right_ratio) = (bin.stated, bin.share_right());
        Bin { low: bin.low, high: bin.high, claims: bin.claims, right: bin.right, mean_confidence, right_ratio }
    }

    fn into_model(self) -> Result<model::Bin, RecordError> {
        let Bin { low, high, claims, right, mean_confidence: stated, .. } = self;
        Ok(model::Bin { low, high, claims, right, stated })
    }
}
