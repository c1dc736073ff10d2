//! A fleet as a readable table.

use flashscope_model::fleet::{Calibration, CostSummary, FleetRecord, Percentiles, Row, Scoring, Verdict, WorstCase};
use flashscope_units::{Bytes, Nanos};

/// Wrong and missing answers that are written out.
const CASES: usize = 12;

/// The whole result.
pub fn text(fleet: &FleetRecord) -> String {
    let mut out = heading(fleet);
    out.push_str(&answers(fleet));
    out.push_str(&confidence(&fleet.calibration));
    out.push_str(&intervals(fleet));
    out.push_str(&costs(fleet));
    out.push_str(&cases(fleet));
    out
}

/// What was run, and what of it came to no result.
pub(super) fn heading(fleet: &FleetRecord) -> String {
    let noise = fleet.noise.as_deref().unwrap_or("drawn");
    let mut out = format!(
        "{} devices of the generator {}, seed {}, noise {noise}\n",
        fleet.devices.len(),
        fleet.generator,
        fleet.seed
    );
    if fleet.devices.len() < fleet.asked as usize {
        out.push_str(&format!("stopped early: {} were asked for\n", fleet.asked));
    }
    if fleet.cut_short > 0 {
        out.push_str(&format!("{} runs did not come to their end\n", fleet.cut_short));
    }
    if !fleet.failures.is_empty() {
        out.push_str(&format!("{} devices without a result, in none of the figures below:\n", fleet.failures.len()));
    }
    for (index, why) in fleet.failures.iter().take(CASES) {
        out.push_str(&format!("no result for device {index}: {why}\n"));
    }
    if let Some(slowest) = fleet.slowest.first() {
        let seconds = |seconds: f64| Nanos((seconds * 1e9) as u64);
        out.push_str(&format!(
            "processor time of a device: median {}, p95 {}, most {} (device {}), all {}\n",
            seconds(fleet.work_s.p50),
            seconds(fleet.work_s.p95),
            seconds(slowest.work_s),
            slowest.index,
            seconds(fleet.work_s.total)
        ));
    }
    out
}

fn answers(fleet: &FleetRecord) -> String {
    let mut out = String::from(
        "\nAnswers: inspect, a naive reader of flashbench's tables, and infer on a log of these same tables\n",
    );
    out.push_str(&format!(
        "{:<31}{:>6} │{:>8}{:>7}{:>7}{:>7}{:>8}{:>7}{:>7} │{:>8}{:>7}{:>7}{:>8} │{:>8}{:>7}{:>7}{:>7}\n",
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
    for Scoring { words, inspect: row, naive, log, .. } in &fleet.parameters {
        let (naive, log) = (naive.unwrap_or_default(), log.unwrap_or_default());
        out.push_str(&format!(
            "{:<31}{:>6} │{:>8}{:>7}{:>7}{:>7}{:>8}{:>7}{:>7} │{:>8}{:>7}{:>7}{:>8} │{:>8}{:>7}{:>7}{:>7}\n",
            words,
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
    out.push_str(&remarks(fleet));
    out
}

/// False alarms, and answers that have no truth.
pub(super) fn remarks(fleet: &FleetRecord) -> String {
    let mut out = String::new();
    for Scoring { parameter, words, inspect, .. } in &fleet.parameters {
        // "None" is an answer to few questions; only these can raise a false alarm.
        if inspect.false_alarms > 0 || NONE_IS_AN_ANSWER.contains(&parameter.as_str()) {
            let Row { false_alarms, devices, .. } = inspect;
            out.push_str(&format!("false alarms, {words}: {false_alarms} of {devices} devices\n"));
        }
    }
    for Scoring { words, inspect, .. } in fleet.parameters.iter().filter(|scoring| scoring.inspect.unscored > 0) {
        out.push_str(&format!("without a truth to hold them against, {words}: {} answers\n", inspect.unscored));
    }
    out
}

/// Of these a device may have none.
const NONE_IS_AN_ANSWER: [&str; 4] = ["fast_area", "write_buffer", "read_buffer", "read_ahead"];

pub(super) fn confidence(calibration: &Calibration) -> String {
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

pub(super) fn intervals(fleet: &FleetRecord) -> String {
    let coverage = fleet.coverage;
    if coverage.intervals == 0 {
        return String::new();
    }
    let share = f64::from(coverage.hold) / f64::from(coverage.intervals);
    let share = percent(Some(share));
    format!("\nIntervals of median read times, nominal 95 %: {share} of {} hold the truth\n", coverage.intervals)
}

fn costs(fleet: &FleetRecord) -> String {
    let mut out = String::from("\nCost per device (p50, p95)\n");
    for [name, inspect, geometry, hand, ratio] in [COST_HEADS.map(str::to_owned)].into_iter().chain(cost_rows(fleet)) {
        out.push_str(&format!("{name:<20}{inspect:>22}{geometry:>22}{hand:>22}{ratio:>10}\n"));
    }
    out.push_str("ratio: geometry over by hand, summed over the fleet\n");
    out
}

/// What the columns of [`cost_rows`] hold.
pub(super) const COST_HEADS: [&str; 5] = ["", "inspect", "its geometry", "by hand", "ratio"];

/// Median and 95th percentile of each cost.
pub(super) fn cost_rows(fleet: &FleetRecord) -> [[String; 5]; 5] {
    let hand = fleet.costs.by_hand;
    let row = |name: &str, pick: fn(&CostSummary) -> Percentiles, show: fn(f64) -> String| {
        let both = |cost: &CostSummary| format!("{}, {}", show(pick(cost).p50), show(pick(cost).p95));
        let ratio = hand.map(|hand| pick(&fleet.costs.geometry).total / pick(&hand).total);
        [
            name.to_owned(),
            both(&fleet.costs.inspect),
            both(&fleet.costs.geometry),
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

fn cases(fleet: &FleetRecord) -> String {
    let mut out = String::new();
    let bad = fleet.worst.len();
    if bad == 0 {
        return out;
    }
    out.push_str(&format!("\nWorst cases ({} of {bad})\n", bad.min(CASES)));
    for case in fleet.worst.iter().take(CASES) {
        out.push_str(&one_case(fleet, case));
    }
    out
}

fn one_case(fleet: &FleetRecord, case: &WorstCase) -> String {
    let judged = &case.finding;
    let what = how(judged.verdict);
    let sure = judged.confidence.map_or(String::new(), |stated| format!(" with {}", percent(Some(stated))));
    format!(
        "  {} {what}{sure}: said {}, true is {}\n    {}\n    {}\n    {}\n",
        words_of(fleet, &judged.parameter),
        judged.said,
        judged.truth,
        case.title,
        judged.because,
        case.replay,
    )
}

/// A parameter's name for people.
pub(super) fn words_of<'f>(fleet: &'f FleetRecord, parameter: &'f str) -> &'f str {
    let found = fleet.parameters.iter().find(|scoring| scoring.parameter == parameter);
    found.map_or(parameter, |scoring| &scoring.words)
}

/// How a bad case is bad.
pub(super) fn how(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::OneStep => "one step beside",
        Verdict::Silent => "missed",
        _ => "wrong",
    }
}

pub(super) fn percent(share: Option<f64>) -> String {
    share.map_or("–".to_owned(), |share| format!("{:.1} %", share * 100.0))
}
