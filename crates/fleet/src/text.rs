//! A fleet as a readable table.

use crate::Fleet;
use crate::Parameter;
use crate::calibration::Calibration;
use crate::score::Verdict;
use crate::summary::{CostSummary, Percentiles, Reader, Row, Summary, WorstCase};
use flashscope_model::Finding;
use flashscope_units::{Bytes, Nanos};

/// Wrong and missing answers that are written out.
const CASES: usize = 12;

/// The whole result.
pub fn text(fleet: &Fleet, summary: &Summary) -> String {
    let mut out = heading(fleet, summary);
    out.push_str(&answers(summary));
    out.push_str(&confidence(&summary.calibration));
    out.push_str(&intervals(summary));
    out.push_str(&costs(summary));
    out.push_str(&cases(fleet, summary));
    out
}

/// What was run, and what of it came to no result.
pub(crate) fn heading(fleet: &Fleet, summary: &Summary) -> String {
    let plan = &fleet.plan;
    let noise = plan.noise.map_or("drawn", crate::Noise::name);
    let mut out = format!(
        "{} devices of the generator {}, seed {}, noise {noise}\n",
        fleet.devices.len(),
        plan.generator.name(),
        plan.seed
    );
    if fleet.devices.len() < plan.devices as usize {
        out.push_str(&format!("stopped early: {} were asked for\n", plan.devices));
    }
    if summary.cut_short > 0 {
        out.push_str(&format!("{} runs did not come to their end\n", summary.cut_short));
    }
    if !summary.failures.is_empty() {
        out.push_str(&format!("{} devices without a result, in none of the figures below:\n", summary.failures.len()));
    }
    for (index, why) in summary.failures.iter().take(CASES) {
        out.push_str(&format!("no result for device {index}: {why}\n"));
    }
    if let Some(slowest) = summary.slowest.first() {
        let seconds = |seconds: f64| Nanos((seconds * 1e9) as u64);
        out.push_str(&format!(
            "processor time of a device: median {}, p95 {}, most {} (device {}), all {}\n",
            seconds(summary.work_s.p50),
            seconds(summary.work_s.p95),
            slowest.work,
            slowest.index,
            seconds(summary.work_s.total)
        ));
    }
    out
}

fn answers(summary: &Summary) -> String {
    let mut out = String::from(
        "\nAnswers: inspect, a naive reader of flashbench's tables, and infer on a log of these same tables\n",
    );
    out.push_str(&format!(
        "{:<22}{:>6} │{:>8}{:>7}{:>7}{:>7}{:>8}{:>7}{:>7} │{:>8}{:>7}{:>7}{:>8} │{:>8}{:>7}{:>7}{:>7}\n",
        "",
        "told",
        "exact",
        "beside",
        "wrong",
        "sure",
        "missed",
        "silent",
        "unfnd",
        "exact",
        "beside",
        "wrong",
        "missed",
        "exact",
        "beside",
        "wrong",
        "sure"
    ));
    for (parameter, row) in &summary.inspect {
        let (naive, log) = (summary.row(Reader::Naive, *parameter), summary.row(Reader::Log, *parameter));
        out.push_str(&format!(
            "{:<22}{:>6} │{:>8}{:>7}{:>7}{:>7}{:>8}{:>7}{:>7} │{:>8}{:>7}{:>7}{:>8} │{:>8}{:>7}{:>7}{:>7}\n",
            parameter.words(),
            row.told,
            percent(row.share_exact()),
            row.one_step,
            row.wrong,
            row.wrong_sure,
            row.missed,
            row.silent,
            row.unfound,
            percent(naive.share_exact()),
            naive.one_step,
            naive.wrong,
            naive.missed,
            percent(log.share_exact()),
            log.one_step,
            log.wrong,
            log.wrong_sure,
        ));
    }
    out.push_str(
        "told: found by a noise-free run with ten times the budget; exact: share of these; beside: one step off; sure:\n\
         wrong or beside with confidence of 0.99 or more; missed: no answer though it can be told; silent: rightly no\n\
         answer; unfnd: said to show by the device's truth, but the noise-free run does not find it either\n",
    );
    out.push_str(&remarks(summary));
    out
}

/// False alarms, and answers that have no truth.
pub(crate) fn remarks(summary: &Summary) -> String {
    let mut out = String::new();
    for finding in [Finding::FastArea, Finding::WriteBuffer, Finding::ReadBuffer, Finding::ReadAhead] {
        let parameter = Parameter::Of(finding);
        let alarms: Row = summary.row(Reader::Inspect, parameter);
        let words = parameter.words();
        out.push_str(&format!("false alarms, {words}: {} of {} devices\n", alarms.false_alarms, alarms.devices));
    }
    for (parameter, row) in summary.inspect.iter().filter(|(_, row)| row.unscored > 0) {
        let words = parameter.words();
        out.push_str(&format!("without a truth to hold them against, {words}: {} answers\n", row.unscored));
    }
    out
}

pub(crate) fn confidence(calibration: &Calibration) -> String {
    let mut out = String::from("\nConfidence\n");
    for bin in calibration.bins.iter().filter(|bin| bin.claims > 0) {
        out.push_str(&format!(
            "  {:<14}{:>7} claims   stated {:>6}   right {:>6}\n",
            format!("{} to {}", bin.low, bin.high),
            bin.claims,
            percent(bin.stated),
            percent(bin.share_right()),
        ));
    }
    let figure = |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{value:.4}"));
    out.push_str(&format!(
        "  expected calibration error {}, mean log score {}\n",
        figure(calibration.expected_error),
        figure(calibration.log_score)
    ));
    out
}

pub(crate) fn intervals(summary: &Summary) -> String {
    let coverage = summary.coverage;
    if coverage.intervals == 0 {
        return String::new();
    }
    let share = f64::from(coverage.hold) / f64::from(coverage.intervals);
    let share = percent(Some(share));
    format!("\nIntervals of median read times, nominal 95 %: {share} of {} hold the truth\n", coverage.intervals)
}

fn costs(summary: &Summary) -> String {
    let mut out = String::from("\nCost per device (p50, p95)\n");
    for [name, inspect, geometry, hand, ratio] in [COST_HEADS.map(str::to_owned)].into_iter().chain(cost_rows(summary))
    {
        out.push_str(&format!("{name:<20}{inspect:>22}{geometry:>22}{hand:>22}{ratio:>10}\n"));
    }
    out.push_str("ratio: geometry over by hand, summed over the fleet\n");
    out
}

/// What the columns of [`cost_rows`] hold.
pub(crate) const COST_HEADS: [&str; 5] = ["", "inspect", "its geometry", "by hand", "ratio"];

/// Median and 95th percentile of each cost.
pub(crate) fn cost_rows(summary: &Summary) -> [[String; 5]; 5] {
    let hand = summary.by_hand_cost;
    let row = |name: &str, pick: fn(&CostSummary) -> Percentiles, show: fn(f64) -> String| {
        let both = |cost: &CostSummary| format!("{}, {}", show(pick(cost).p50), show(pick(cost).p95));
        let ratio = hand.map(|hand| pick(&summary.geometry_cost).total / pick(&hand).total);
        [
            name.to_owned(),
            both(&summary.cost),
            both(&summary.geometry_cost),
            hand.as_ref().map_or("–".to_owned(), both),
            ratio.map_or("–".to_owned(), |ratio| format!("{ratio:.2}")),
        ]
    };
    let bytes = |value: f64| Bytes(value as u64).to_string();
    [
        row("written by the host", |cost| cost.written_bytes, bytes),
        row("erases inside", |cost| cost.erases, |value| format!("{value:.0}")),
        row("programmed inside", |cost| cost.programmed_bytes, bytes),
        row("read by the host", |cost| cost.read_bytes, bytes),
        row("device time", |cost| cost.time_s, |value| Nanos((value * 1e9) as u64).to_string()),
    ]
}

fn cases(fleet: &Fleet, summary: &Summary) -> String {
    let mut out = String::new();
    let bad = summary.worst.len();
    if bad == 0 {
        return out;
    }
    out.push_str(&format!("\nWorst cases ({} of {bad})\n", bad.min(CASES)));
    for case in summary.worst.iter().take(CASES) {
        out.push_str(&one_case(fleet, case));
    }
    out
}

fn one_case(fleet: &Fleet, case: &WorstCase) -> String {
    let judged = &case.scored.judged;
    let what = how(judged.verdict);
    let sure = judged.claim.map_or(String::new(), |(stated, _)| format!(" with {}", percent(Some(stated))));
    format!(
        "  {} {what}{sure}: said {}, true is {}\n    {}\n    {}\n    {}\n",
        judged.parameter.words(),
        judged.said,
        judged.truth,
        case.title,
        judged.because,
        fleet.plan.replay_command(case.index, case.seed),
    )
}

/// How a bad case is bad.
pub(crate) fn how(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::OneStep => "one step beside",
        Verdict::Silent => "missed",
        _ => "wrong",
    }
}

pub(crate) fn percent(share: Option<f64>) -> String {
    share.map_or("–".to_owned(), |share| format!("{:.1} %", share * 100.0))
}
