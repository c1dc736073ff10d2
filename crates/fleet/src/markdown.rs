//! Fleets as a page of the documents: what was reached beside what was asked for.

use crate::score::Parameter;
use crate::summary::{Reader, Summary};
use crate::{Fleet, Noise};
use flashscope_model::Finding;
use flashscope_model::fleet::{Calibration, CostSummary, Percentiles, Row};
use flashscope_units::{Bytes, Nanos};
use std::time::Duration;

/// What a parameter must reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    /// Exact answers, of those that can be told.
    pub exact_share: f64,
    /// Wrong answers with a confidence of 0.99 or more, of all devices.
    pub wrong_sure_share: f64,
    /// Claims of something that is not there, of all devices.
    pub false_alarm_share: Option<f64>,
}

/// Expected calibration error at most, on the generator `wide`.
pub const CALIBRATION: f64 = 0.02;

/// Fewest claims of a bin that is judged: no such bin is off by more than [`BIN_OFF`].
pub const FULL_BIN: u32 = 100;
/// How far a full bin may be off, on the generator `adversarial`.
pub const BIN_OFF: f64 = 0.05;

/// Share of what can be told that is answered at the least.
pub const ANSWERED: f64 = 0.95;

/// Nominal 95 % intervals cover between these shares.
pub const COVERAGE: [f64; 2] = [0.93, 0.97];

/// Share of the cost of the by-hand procedure that the geometry may take.
pub const COST_SHARE: f64 = 0.2;

/// A fleet with what it came to.
pub struct Sailed<'a> {
    /// The fleet.
    pub fleet: &'a Fleet,
    /// Counted up.
    pub summary: &'a Summary,
    /// Wall time of the run, and the cores it had.
    pub took: (Duration, usize),
}

impl Parameter {
    /// What it must reach; nothing is asked of those without.
    pub fn target(self) -> Option<Target> {
        use Finding as F;
        let Parameter::Of(finding) = self else { return None };
        let (exact, wrong) = match finding {
            F::AllocationUnit => (0.99, 0.003),
            F::Page => (0.98, 0.005),
            F::OpenUnitsLinear | F::OpenUnitsRandom | F::RandomOrderPenalty | F::FastArea => (0.97, 0.005),
            F::WriteBuffer | F::SlcCache | F::Mapping | F::Stripe => (0.95, 0.01),
            _ => return None,
        };
        let alarms = (finding == F::FastArea).then_some(0.01);
        Some(Target { exact_share: exact, wrong_sure_share: wrong, false_alarm_share: alarms })
    }
}

/// The page; `command` made it.
pub fn markdown(command: &str, fleets: &[Sailed<'_>]) -> String {
    let mut out = String::from("# What the fleets came to\n\n");
    out.push_str("Written by\n\n```\n");
    out.push_str(command);
    out.push_str(
        "\n```\n\nThe rules of scoring stand in [fleet](fleet.md). *Told*: found by a noise-free run with ten times the \
         budget. *Answered* and *exact* are shares of these, everything else of all devices. *Sure*: wrong or one step beside with a \
         confidence of 0.99 or more. Targets stand in brackets; **bold** is a target that is not met.\n",
    );
    for sailed in fleets {
        out.push_str(&section(sailed));
    }
    out
}

fn section(sailed: &Sailed<'_>) -> String {
    let (plan, summary) = (&sailed.fleet.plan, sailed.summary);
    let (took, cores) = sailed.took;
    let mut out = format!(
        "\n## {}: {} devices, seed {}, noise {}\n\nRun time {:.0} s on {cores} cores.",
        plan.generator.name(),
        sailed.fleet.devices.len(),
        plan.seed,
        plan.noise.map_or("drawn", Noise::name),
        took.as_secs_f64()
    );
    out.push_str(&format!(
        " Devices without a result: {}; runs that did not come to their end: {}.\n",
        summary.failures.len(),
        summary.cut_short
    ));
    out.push_str(&answers(summary));
    out.push_str(&confidence(summary));
    out.push_str(&logs(summary));
    out.push_str(&intervals(summary));
    out.push_str(&costs(summary));
    out
}

fn answers(summary: &Summary) -> String {
    let mut out = String::from(
        "\n| parameter | told | answered | exact | beside | wrong | sure | missed | silent | not found | calibration error | naive exact | log exact | log beside or wrong | log sure |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for (parameter, row) in &summary.inspect {
        let target = parameter.target();
        let (naive, log) = (summary.row(Reader::Naive, *parameter), summary.row(Reader::Log, *parameter));
        let by = summary.calibration_by.iter().find(|(one, _)| one == parameter);
        let error = by.and_then(|(_, calibration)| calibration.expected_error);
        let sure = row.share(row.wrong_sure);
        let answered = (row.told > 0).then(|| 1.0 - f64::from(row.missed) / f64::from(row.told));
        out.push_str(&format!(
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n",
            parameter.words(),
            row.told,
            held(answered, Some(ANSWERED), |share, least| share >= least, "≥"),
            held(row.share_exact(), target.map(|target| target.exact_share), |share, least| share >= least, "≥"),
            row.one_step,
            row.wrong,
            held(sure, target.map(|target| target.wrong_sure_share), |share, most| share <= most, "≤"),
            row.missed,
            row.silent,
            row.unfound,
            error.map_or("–".to_owned(), |error| format!("{error:.3}")),
            percent(naive.share_exact()),
            percent(log.share_exact()),
            log.one_step + log.wrong,
            log.wrong_sure,
        ));
    }
    out.push_str(&alarms(summary));
    let unscored: u32 = summary.inspect.iter().map(|(_, row)| row.unscored).sum();
    out.push_str(&format!(
        "\n{unscored} answers stand in no column, as no truth is known for what they say (penalties at a block size \
         without one).\n"
    ));
    out
}

fn alarms(summary: &Summary) -> String {
    let mut out = String::new();
    for (parameter, row) in &summary.inspect {
        let Some(most) = parameter.target().and_then(|target| target.false_alarm_share) else { continue };
        let share: Option<f64> = Row::share(row, row.false_alarms);
        let share = held(share, Some(most), |share, most| share <= most, "≤");
        out.push_str(&format!(
            "\nFalse alarms, {}: {share} ({} of {}).\n",
            parameter.words(),
            row.false_alarms,
            row.devices
        ));
    }
    out
}

/// What `infer` made of the by-hand tables as pasted logs; nothing where nobody worked by hand.
fn logs(summary: &Summary) -> String {
    let calibration: &Calibration = &summary.log_calibration;
    let Some(error) = calibration.expected_error else { return String::new() };
    let answers: u32 = calibration.bins.iter().map(|bin| bin.claims).sum();
    let sure: u32 = summary.log.iter().map(|(_, row)| row.wrong_sure).sum();
    format!(
        "\nLogs of the by-hand procedure, read by `infer` (columns *log*): {answers} answers, calibration error \
         {error:.3}, {sure} of them sure and wrong.\n"
    )
}

fn confidence(summary: &Summary) -> String {
    let calibration: &Calibration = &summary.calibration;
    let mut out = String::from("\n| confidence | claims | mean stated | right | off by |\n|---|---|---|---|---|\n");
    for bin in calibration.bins.iter().filter(|bin| bin.claims > 0) {
        let off = bin.share_right().zip(bin.stated).map(|(right, stated)| right - stated);
        let words = off.map_or("–".to_owned(), |off| format!("{off:+.3}"));
        let full = bin.claims >= FULL_BIN && off.is_some_and(|off| off.abs() > BIN_OFF);
        out.push_str(&format!(
            "| {} to {} | {} | {} | {} | {} |\n",
            bin.low,
            bin.high,
            bin.claims,
            percent(bin.stated),
            percent(bin.share_right()),
            if full { format!("**{words}**") } else { words },
        ));
    }
    let figure = |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{value:.4}"));
    let error = figure(calibration.expected_error);
    let missed = calibration.expected_error.is_some_and(|error| error > CALIBRATION);
    out.push_str(&format!(
        "\nExpected calibration error {} (≤ {CALIBRATION} asked of `wide`; of `adversarial` that no bin of {FULL_BIN} claims or more is \
         off by more than {BIN_OFF}); mean log score {}.\n",
        if missed { format!("**{error}**") } else { error },
        figure(calibration.log_score)
    ));
    out
}

fn intervals(summary: &Summary) -> String {
    let coverage = summary.coverage;
    let share = (coverage.intervals > 0).then(|| f64::from(coverage.hold) / f64::from(coverage.intervals));
    let words = percent(share);
    let [low, high] = COVERAGE;
    let met = share.is_none_or(|share| (low..=high).contains(&share));
    format!(
        "\nNominal 95 % intervals hold the truth in {} of {} cases (93 to 97 %).\n",
        if met { words } else { format!("**{words}**") },
        coverage.intervals
    )
}

fn costs(summary: &Summary) -> String {
    let mut out = String::from(
        "\n| cost of a device | inspect p50 | p95 | geometry p50 | p95 | by hand p50 | p95 | geometry of by hand, all devices |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    let bytes = |figure: f64| Bytes(figure as u64).to_string();
    let count = |figure: f64| format!("{figure:.0}");
    let time = |figure: f64| Nanos((figure * 1e9) as u64).to_string();
    type Line<'a> = (&'a str, fn(&CostSummary) -> Percentiles, &'a dyn Fn(f64) -> String, bool);
    let lines: [Line<'_>; 5] = [
        ("written by the host", |cost| cost.written_bytes, &bytes, true),
        ("erases inside", |cost| cost.erases, &count, true),
        ("programmed inside", |cost| cost.programmed_bytes, &bytes, false),
        ("read by the host", |cost| cost.read_bytes, &bytes, false),
        ("device time", |cost| cost.time_s, &time, true),
    ];
    for (name, pick, words, asked) in lines {
        let pair = |cost: Option<&CostSummary>| {
            cost.map(pick)
                .map_or("– | –".to_owned(), |figure| format!("{} | {}", words(figure.p50), words(figure.p95)))
        };
        let geometry = pick(&summary.geometry_cost);
        let by_hand = summary.by_hand_cost.as_ref().map(pick);
        let share = by_hand.filter(|cost| cost.total > 0.0).map(|cost| geometry.total / cost.total);
        let share = held(share, asked.then_some(COST_SHARE), |share, most| share <= most, "≤");
        let (all, geometry) = (pair(Some(&summary.cost)), pair(Some(&summary.geometry_cost)));
        out.push_str(&format!("| {name} | {all} | {geometry} | {} | {share} |\n", pair(summary.by_hand_cost.as_ref())));
    }
    out
}

/// A share beside its target, bold where the target is missed.
fn held(share: Option<f64>, target: Option<f64>, met: fn(f64, f64) -> bool, sign: &str) -> String {
    let words = percent(share);
    match (share, target) {
        (_, None) => words,
        (None, Some(target)) => format!("{words} ({sign} {})", percent(Some(target))),
        (Some(share), Some(target)) => {
            let words = if met(share, target) { words } else { format!("**{words}**") };
            format!("{words} ({sign} {})", percent(Some(target)))
        }
    }
}

fn percent(share: Option<f64>) -> String {
    share.map_or("–".to_owned(), |share| format!("{:.1} %", share * 100.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_misses_its_target_is_bold() {
        let least = |share: f64, least: f64| share >= least;
        assert_eq!(held(Some(0.98), Some(0.97), least, "≥"), "98.0 % (≥ 97.0 %)");
        assert_eq!(held(Some(0.96), Some(0.97), least, "≥"), "**96.0 %** (≥ 97.0 %)");
        assert_eq!(held(None, Some(0.97), least, "≥"), "– (≥ 97.0 %)");
        assert_eq!(held(Some(0.5), None, least, "≥"), "50.0 %");
    }
}
