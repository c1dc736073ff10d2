//! How often `inspect` is right on devices that it has never seen, beside what it is to reach (docs/fleet.md has the rules).
//! All in virtual time. `scripts/prove geometry [--quick] [-- --devices N --seed S]`; exit code 1 where a target is missed.
//! `--before PROGRAM --before-source DIR` puts an earlier version beside it: its `flashscope` and its checkout. The two
//! find the fleet in turns.
//!
//! Of few devices a share says little: one wrong answer of twenty is 95 %, whatever the true share. A target of a share counts
//! as missed in the quick part only where so many failures would come up once in a thousand fleets that just meet it.
#![allow(clippy::print_stdout, clippy::print_stderr, missing_docs)]

mod beside;
#[path = "../program/mod.rs"]
mod program;
#[path = "../silent/mod.rs"]
mod silent;

use beside::Before;
use flashscope_fleet::worth::{Predicted, limited};
use flashscope_fleet::{
    ANSWERED, BIN_OFF, CALIBRATION, COST_SHARE, COVERAGE, FULL_BIN, Fleet, Generator, Limits, MaxWrite, Noise,
    Parameter, Plan, Summary, beyond_chance, rejected,
};
use flashscope_infer::Want;
use flashscope_model::Finding;
use flashscope_model::fleet::{CostSummary, Percentiles};
use flashscope_testkit::{Targets, may_be_chance};
use flashscope_units::Nanos;
use std::error::Error;
use std::io::{self, Stdout};
use std::process::ExitCode;

/// What the quick part looks at: what every card has. Of the rest too few devices have it in a small fleet.
const OF_ALL: [Parameter; 6] = [
    Parameter::Of(Finding::AllocationUnit),
    Parameter::Of(Finding::Page),
    Parameter::Of(Finding::OpenUnitsLinear),
    Parameter::Of(Finding::OpenUnitsRandom),
    Parameter::Of(Finding::RandomOrderPenalty),
    Parameter::Of(Finding::FastArea),
];

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let words: Vec<String> = std::env::args().collect();
    let after = |name: &str| words.iter().skip_while(|word| *word != name).nth(1);
    let quick = words.iter().any(|word| word == "--quick");
    let devices = after("--devices").map_or(Ok(if quick { 12 } else { 1000 }), |text| text.parse())?;
    let seed: u64 = after("--seed").map_or(Ok(12_001), |text| text.parse())?;
    let before = Before { program: after("--before").cloned(), source: after("--before-source").cloned() };
    let mut targets = Targets::begin(io::stdout())?;
    // What experiments are worth can be looked at alone.
    if after("--part").is_some_and(|part| part == "worth") {
        worth(&mut targets, devices, seed, quick)?;
        return Ok(if targets.end()? { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    let fleets: &[Generator] = if quick { &[Generator::Wide] } else { &[Generator::Wide, Generator::Adversarial] };
    for (number, generator) in (0..).zip(fleets) {
        let limits =
            Limits { max_write: MaxWrite::Usual, max_time: None, by_hand: !quick, most_work: Nanos::secs(120) };
        let (seed, generator) = (seed + number, *generator);
        let noise = Some(Noise::Field);
        let plan = Plan { devices, first: 0, seed, generator, noise, limits };
        let (fleet, earlier) = before.fleets(plan)?;
        judge(&mut targets, &fleet, quick)?;
        if !quick {
            before.judge(&mut targets, &fleet, earlier)?;
        }
    }
    if !quick {
        before.source(&mut targets)?;
    }
    let (devices, seed) = if quick { (2, seed) } else { ((devices / 10).max(1), seed) };
    worth(&mut targets, devices, seed, quick)?;
    Ok(if targets.end()? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn judge(targets: &mut Targets<Stdout>, fleet: &Fleet, quick: bool) -> io::Result<()> {
    let (summary, name) = (Summary::of(fleet), fleet.plan.generator.name());
    targets.at_most(&format!("{name}: devices without a result"), 0.0, summary.failures.len() as f64, "")?;
    for (parameter, row) in summary.inspect.iter().filter(|(parameter, _)| !quick || OF_ALL.contains(parameter)) {
        let of = |what: &str| format!("{name}: {}: {what}", parameter.words());
        share(targets, &of("answered"), ANSWERED, (row.told - row.missed, row.told), quick)?;
        let Some(target) = parameter.target() else { continue };
        share(targets, &of("exact"), target.exact_share, (row.exact, row.told), quick)?;
        let not = |count: u32| (row.devices - count, row.devices);
        share(targets, &of("not sure and wrong"), 1.0 - target.wrong_sure_share, not(row.wrong_sure), quick)?;
        if let Some(most) = target.false_alarm_share {
            share(targets, &of("no false alarm"), 1.0 - most, not(row.false_alarms), quick)?;
        }
    }
    if !quick {
        calibration(targets, fleet.plan.generator, &summary)?;
        let found = summary.coverage;
        let shares = 100.0 * f64::from(found.hold) / f64::from(found.intervals);
        let [low, high] = COVERAGE.map(|share| 100.0 * share);
        let wanted = format!("{low:.0} to {high:.0} %");
        let met = (low..=high).contains(&shares);
        targets.row(&format!("{name}: 95 % intervals hold"), &wanted, &format!("{shares:.1} %"), met)?;
        costs(targets, name, &summary)?;
    }
    Ok(())
}

/// Calibration error that may be left beside chance, of answers of `inspect`.
const BEYOND_CHANCE: f64 = 0.01;
/// The same of answers read from logs.
const OF_LOGS: f64 = 0.03;

/// `good` of `all` are to be `least`, 0 to 1.
fn share(
    targets: &mut Targets<Stdout>,
    target: &str,
    least: f64,
    (good, all): (u32, u32),
    quick: bool,
) -> io::Result<()> {
    if all == 0 {
        return targets.left_out(target, "no such device");
    }
    let amiss = all - good;
    let met = if quick { may_be_chance(amiss, all, 1.0 - least) } else { f64::from(good) >= least * f64::from(all) };
    let found = format!("{:.1} % ({good} of {all})", 100.0 * f64::from(good) / f64::from(all));
    targets.row(target, &format!("≥ {:.1} %", 100.0 * least), &found, met)
}

fn calibration(targets: &mut Targets<Stdout>, generator: Generator, summary: &Summary) -> io::Result<()> {
    let (found, name) = (&summary.calibration, generator.name());
    for (of, found, most) in [("", found, BEYOND_CHANCE), (" of logs", &summary.log_calibration, OF_LOGS)] {
        let error = beyond_chance(found).unwrap_or(f64::NAN);
        targets.at_most(&format!("{name}: calibration error{of} beyond chance"), most, error, "")?;
        let off = rejected(found).len() as f64;
        targets.at_most(&format!("{name}: bins{of} rejected by the exact binomial test"), 0.0, off, "")?;
    }
    if generator == Generator::Wide {
        let error = found.expected_error.unwrap_or(f64::NAN);
        return targets.at_most(&format!("{name}: expected calibration error"), CALIBRATION, error, "");
    }
    let full = found.bins.iter().filter(|bin| bin.claims >= FULL_BIN);
    let off = full.filter_map(|bin| Some((bin.share_right()? - bin.stated?).abs())).fold(0.0, f64::max);
    targets.at_most(&format!("{name}: worst bin of {FULL_BIN} claims and more, off by"), BIN_OFF, off, "")
}

fn costs(targets: &mut Targets<Stdout>, name: &str, summary: &Summary) -> io::Result<()> {
    let Some(by_hand) = &summary.by_hand_cost else { return Ok(()) };
    type Figure = (&'static str, fn(&CostSummary) -> Percentiles);
    let figures: [Figure; 3] =
        [("written", |cost| cost.written_bytes), ("erases", |cost| cost.erases), ("device time", |cost| cost.time_s)];
    for (what, pick) in figures {
        let share = pick(&summary.geometry_cost).total / pick(by_hand).total;
        targets.at_most(&format!("{name}: geometry beside by hand, {what}"), 100.0 * COST_SHARE, 100.0 * share, "%")?;
    }
    Ok(())
}

/// What the time of an inspection is to be, in minutes: of all of it, and of how the device is built alone.
const MINUTES: [(Want, f64, f64); 2] = [(Want::All, 5.0, 25.0), (Want::Geometry, 2.5, 25.0)];

/// The limit of time under which runs are compared.
const LIMIT: Nanos = Nanos::secs(120);

/// Predicted times are to lie within this factor of the real ones for half of all experiments.
const PREDICTED_WITHIN: f64 = 2.0;

/// Device time, and what a run comes to in a limited one. A fleet of two devices says nothing of percentiles: in the quick part
/// it is looked at whether a limit is kept.
fn worth(targets: &mut Targets<Stdout>, devices: u32, seed: u64, quick: bool) -> Result<(), Box<dyn Error>> {
    for (want, p50, p95) in MINUTES.into_iter().filter(|(want, ..)| !quick || *want == Want::Geometry) {
        let found = limited(seed, devices, want, LIMIT)?;
        let of = |what: &str| format!("wide: --want {want}: {what}");
        if !quick {
            for (share, most) in [(0.5, p50), (0.95, p95)] {
                let name = of(&format!("device time, p{:.0}", 100.0 * share));
                targets.at_most(&name, most, quantile(&found.seconds, share) / 60.0, "min")?;
            }
            let right = |count: u32| 100.0 * f64::from(count) / f64::from(found.in_any_time.max(1));
            let (by_worth, in_order) = (right(found.by_worth), right(found.in_order));
            let name = of(&format!(
                "right within {LIMIT} beside all that is right in the end; in the fixed order {in_order:.1} %"
            ));
            targets.at_least(&name, in_order, by_worth, "%")?;
            let [wrong, in_order] = found.wrong.map(f64::from);
            targets.at_most(
                &of(&format!("wrong within {LIMIT}; in the fixed order {in_order}")),
                in_order,
                wrong,
                "",
            )?;
            let real: Vec<&Predicted> =
                found.predicted.iter().filter(|one| one.real > 0.0 && one.expected > 0.0).collect();
            let off = |one: &&Predicted| (one.real / one.expected).ln().abs().exp();
            let factors: Vec<f64> = real.iter().map(off).collect();
            let name = of("predicted time of an experiment, median factor beside the real one");
            targets.at_most(&name, PREDICTED_WITHIN, quantile(&factors, 0.5), "")?;
        }
        let longest = quantile(&found.limited_seconds, 1.0);
        targets.at_most(&of(&format!("longest run of {LIMIT}")), 1.1 * LIMIT.as_secs_f64(), longest, "s")?;
    }
    Ok(())
}

fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = (sorted.len().saturating_sub(1) as f64 * share).round() as usize;
    sorted.get(at).copied().unwrap_or(f64::NAN)
}
