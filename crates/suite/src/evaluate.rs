//! From results to figures and verdicts.

use crate::bounds;
use crate::definition::{Definition, FigureRule, LimitRule};
use crate::rounds::{runs_of, window};
use crate::schedule::{Schedule, span};
use flashscope_model::bench::{BenchPhase, BenchRecord, CacheVerdict, Evidence};
use flashscope_model::preset::{Figure, Judged, LimitVerdict, PresetRun, Rounds, Statistic, Unit};
use flashscope_model::{DeviceState, StopReason};
use flashscope_stats::interval::median_interval;
use flashscope_stats::location::median;
use flashscope_units::{ByteRate, Iops, Nanos};

/// Least confidence of an interval that a verdict may rest on: then 95 % of all such runs lie on the verdict's side.
const CONFIDENCE: f64 = 0.90;

/// What was run, and what came of it.
#[derive(Clone, Copy, Debug)]
pub struct Ran<'a> {
    /// The jobs as they were scheduled.
    pub schedule: &'a Schedule,
    /// The record so far; its `preset` is not looked at.
    pub record: &'a BenchRecord,
}

/// Takes the figures of a definition, and holds them against its limits.
pub fn evaluate(definition: &Definition, ran: Ran<'_>) -> PresetRun {
    let Ran { schedule, record } = ran;
    let repeated = &record.phases[schedule.prepare.min(record.phases.len())..];
    let rounds = definition.rounds.as_ref().map(|rule| rule.look(&definition.followed(), repeated, span(repeated)).1);
    let figure = |rule: &FigureRule| figure(rule, &record.phases, rounds.as_ref(), &record.envelope.stop);
    let ran = |rule: &&FigureRule| !schedule.left_out.iter().any(|(job, _)| *job == rule.take.job);
    let mut preset = PresetRun {
        name: definition.header.name.clone(),
        title: definition.header.title.clone(),
        source: definition.header.source.clone(),
        changed: schedule.changed.clone(),
        left_out: schedule.left_out.clone(),
        notes: definition.header.notes.clone(),
        figures: definition.figures.iter().filter(ran).map(figure).collect(),
        rounds,
        bounds: bounds::of(record),
        played: None,
        definition: definition.text.clone(),
    };
    preset.notes.extend(standing(definition, &preset, record));
    preset
}

/// What the result may be called, and what it may not.
fn standing(definition: &Definition, preset: &PresetRun, record: &BenchRecord) -> Option<String> {
    let standard = definition.rounds.as_ref()?.standard.as_ref()?;
    let mut lacks = Vec::new();
    if !preset.changed.is_empty() {
        lacks.push("it was changed or shortened");
    }
    if !preset.left_out.is_empty() {
        lacks.push("a part of it was left out");
    }
    if record.envelope.stop != StopReason::Complete {
        lacks.push("it was cut short");
    }
    if preset.rounds.as_ref().is_none_or(|rounds| rounds.steady_at.is_none()) {
        lacks.push("it did not become steady");
    }
    let made = record.envelope.state.as_ref().and_then(|state| Some((&state.name, state.made.as_ref()?)));
    let purged = made.filter(|(name, made)| *name == DeviceState::Clean.word() && made.reached);
    // A simulated device is new unless its model or whoever typed it says otherwise.
    let new =
        record.envelope.virtual_time && record.envelope.state.is_none() && !record.envelope.target.contains("state=");
    if purged.is_none() && !new {
        lacks.push("nothing here saw to it that the device was purged before (--state clean does)");
    }
    Some(if lacks.is_empty() {
        match purged {
            Some((_, made)) => format!("follows {standard}; {}", made.why),
            None => format!("follows {standard}; the simulated device was new, which stands for the purge"),
        }
    } else {
        format!("NOT a result by {standard}: {}", lacks.join(", "))
    })
}

fn figure(rule: &FigureRule, phases: &[BenchPhase], rounds: Option<&Rounds>, stop: &StopReason) -> Figure {
    let runs = runs_of(phases, &rule.take.job);
    let values: Vec<f64> = runs.iter().filter_map(|job| rule.take.of(job)).collect();
    let counted = match rounds {
        // Of a run in rounds only the steady window counts; without one the last, which nothing can be judged by.
        Some(rounds) => window(rounds, &values).unwrap_or_default(),
        None => values.clone(),
    };
    let value = match rule.statistic {
        Statistic::Median => median(&counted),
        Statistic::Mean => (!counted.is_empty()).then(|| counted.iter().sum::<f64>() / counted.len() as f64),
        Statistic::Smallest => counted.iter().copied().reduce(f64::min),
        Statistic::Largest => counted.iter().copied().reduce(f64::max),
    };
    let interval = if rule.statistic == Statistic::Median { interval(&counted) } else { None };
    let unit = rule.take.measure.unit();
    let evidence = evidence_of(rule, phases);
    let mut figure = Figure {
        name: rule.name.clone(),
        unit,
        values,
        statistic: rule.statistic,
        value,
        interval,
        whose: evidence.iter().map(|evidence| evidence.verdict).max_by_key(|verdict| gravity(*verdict)),
        device_share: median(&evidence.iter().filter_map(|evidence| evidence.device_share).collect::<Vec<_>>()),
        limits: Vec::new(),
    };
    let unsteady = rounds.is_some_and(|rounds| rounds.steady_at.is_none());
    let doubt = doubt(rule, phases, &evidence, stop)
        .or_else(|| unsteady.then(|| "it did not become steady; this is of the last rounds".to_owned()));
    figure.limits = rule.limits.iter().map(|limit| judged(limit, rule, &figure, doubt.as_deref())).collect();
    figure
}

/// By order statistics at 95 or 90 %; of fewer than five runs from the smallest to the largest, at what that is worth.
pub(crate) fn interval(values: &[f64]) -> Option<(f64, f64, f64)> {
    let exact = median_interval(values, 0.95).or_else(|_| median_interval(values, CONFIDENCE)).ok();
    if let Some(interval) = exact {
        return Some((interval.low, interval.high, interval.confidence));
    }
    let (low, high) = (values.iter().copied().reduce(f64::min)?, values.iter().copied().reduce(f64::max)?);
    (values.len() > 1).then(|| (low, high, 1.0 - 0.5f64.powi(values.len() as i32 - 1)))
}

/// The evidence around every run of the figure's job.
fn evidence_of<'a>(rule: &FigureRule, phases: &'a [BenchPhase]) -> Vec<&'a Evidence> {
    let runs = phases.iter().flat_map(|phase| &phase.runs);
    let mine = runs.filter(|run| run.jobs.iter().any(|job| job.name == rule.take.job));
    mine.map(|run| &run.evidence).collect()
}

/// How far a result is from being the device's.
fn gravity(verdict: CacheVerdict) -> u8 {
    match verdict {
        CacheVerdict::Device => 0,
        CacheVerdict::Unknown => 1,
        CacheVerdict::Mixed => 2,
        CacheVerdict::Cache => 3,
    }
}

/// Why nothing can be said about a limit, whatever the figure.
fn doubt(rule: &FigureRule, phases: &[BenchPhase], evidence: &[&Evidence], stop: &StopReason) -> Option<String> {
    let seen = |verdict| evidence.iter().find(|evidence| evidence.verdict == verdict);
    let whose = [
        (CacheVerdict::Cache, "this is memory's figure, not a device's"),
        (CacheVerdict::Mixed, "this is partly the page cache's figure"),
        (CacheVerdict::Unknown, "unknown whether this is a figure of the device or a cache"),
    ];
    if let Some((evidence, said)) = whose.iter().find_map(|(verdict, said)| Some((seen(*verdict)?, said))) {
        return Some(format!("{said}: {}", evidence.why));
    }
    let failed: u64 = runs_of(phases, &rule.take.job).iter().map(|job| job.failed + job.mismatched).sum();
    if failed > 0 {
        return Some(format!("{failed} requests failed or found other bytes"));
    }
    match stop {
        StopReason::Complete => None,
        _ => Some("the run was cut short".to_owned()),
    }
}

fn judged(limit: &LimitRule, rule: &FigureRule, figure: &Figure, doubt: Option<&str>) -> Judged {
    let (verdict, why) = verdict(limit, figure, rule.take.bound_of(), doubt);
    Judged { name: limit.name.clone(), limit: limit.limit, at_least: limit.at_least, verdict, why }
}

/// `of`: the figure is a bound, so many times one that was measured.
fn verdict(rule: &LimitRule, figure: &Figure, of: Option<f64>, doubt: Option<&str>) -> (LimitVerdict, String) {
    let Some(value) = figure.value else { return (LimitVerdict::CannotTell, "nothing was measured".to_owned()) };
    if let Some(doubt) = doubt {
        return (LimitVerdict::CannotTell, doubt.to_owned());
    }
    let holds = |value: f64| if rule.at_least { value >= rule.limit } else { value <= rule.limit };
    let count = figure.values.len();
    let extreme = match figure.statistic {
        Statistic::Largest => Some("largest"),
        Statistic::Smallest => Some("smallest"),
        Statistic::Median | Statistic::Mean => None,
    };
    if let Some(times) = of.filter(|times| !rule.at_least && !holds(value) && holds(value / times)) {
        let one = shown(value / times, figure.unit);
        let said = format!("the longest of all took {one}; {times} in a row took between that and {times} times that");
        return (LimitVerdict::CannotTell, said);
    }
    if let Some(word) = extreme {
        let verdict = if holds(value) { LimitVerdict::Met } else { LimitVerdict::Missed };
        return (verdict, format!("the {word} of {count} runs; a longer test may find a worse one"));
    }
    match figure.interval {
        Some((low, high, confidence)) if confidence >= CONFIDENCE => {
            let said = format!(
                "{:.1} % interval {} to {} of {count} runs",
                confidence * 100.0,
                shown(low, figure.unit),
                shown(high, figure.unit)
            );
            match (holds(low), holds(high)) {
                (true, true) => (LimitVerdict::Met, said),
                (false, false) => (LimitVerdict::Missed, said),
                _ => (LimitVerdict::CannotTell, format!("the limit lies within the {said}")),
            }
        }
        _ => (LimitVerdict::CannotTell, format!("{count} runs are too few to tell; five and more can be")),
    }
}

/// A figure with its unit, as people read it.
fn shown(value: f64, unit: Unit) -> String {
    match unit {
        Unit::BytesPerSecond => ByteRate(value).to_string(),
        // Three digits and no fewer: 5.07 must not lie outside an interval of 5 to 5.
        Unit::PerSecond if value >= 99.5 => format!("{value:.0} IOPS"),
        Unit::PerSecond => Iops(value).to_string(),
        Unit::TransactionsPerSecond => format!("{value:.0} TPS"),
        Unit::Nanoseconds => Nanos(value as u64).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made;
    use crate::{Ground, Wish};

    const TEXT: &str = r#"
        [preset]
        name = "mine"
        title = "mine"
        source = "me"
        [[job]]
        name = "w"
        rw = "randwrite"
        [[figure]]
        name = "writes"
        job = "w"
        of = "write requests/s"
        limit = [{ name = "floor", at_least = 500 }]
        [[figure]]
        name = "slowest"
        job = "w"
        of = "write requests/s"
        statistic = "smallest"
        limit = [{ name = "floor", at_least = 500 }]
    "#;

    fn preset(rates: &[f64], whose: CacheVerdict, change: impl FnOnce(&mut BenchRecord)) -> PresetRun {
        let definition = Definition::parse(TEXT).unwrap();
        let schedule = definition.schedule(Ground::new(true), &Wish::default()).unwrap();
        let mut record = made::record(vec![made::phase("w", rates, whose)]);
        change(&mut record);
        evaluate(&definition, Ran { schedule: &schedule, record: &record })
    }

    #[test]
    fn verdicts_need_the_whole_interval_on_one_side() {
        use LimitVerdict::{CannotTell, Met, Missed};
        let check = |rates: &[f64], verdict, words: &str| {
            let preset = preset(rates, CacheVerdict::Device, |_| {});
            let limit = &preset.figures[0].limits[0];
            assert_eq!(limit.verdict, verdict, "{rates:?}: {}", limit.why);
            assert!(limit.why.contains(words), "{}", limit.why);
        };
        check(&[510.0, 520.0, 530.0, 540.0, 550.0], Met, "93.8 % interval 510 IOPS to 550 IOPS of 5 runs");
        check(&[410.0, 420.0, 430.0, 440.0, 450.0], Missed, "93.8 % interval");
        check(&[490.0, 520.0, 530.0, 540.0, 550.0], CannotTell, "the limit lies within");
        check(&[5000.0, 5000.0, 5000.0], CannotTell, "3 runs are too few");
        check(&[], CannotTell, "nothing was measured");
    }

    #[test]
    fn only_a_purge_that_was_seen_makes_a_result_the_standards() {
        let rounds = "[rounds]\nat_most = 5\ntrack = [\"writes\"]\nstandard = \"SNIA PTS\"\n";
        let definition = Definition::parse(&format!("{TEXT}\n{rounds}")).unwrap();
        let schedule = definition.schedule(Ground::new(true), &Wish::default()).unwrap();
        let check = |virtual_time: bool, target: &str, state: Option<(&str, bool)>, follows: bool| {
            let mut record = made::record(vec![made::phase("w", &[100.0; 5], CacheVerdict::Device)]);
            record.envelope.virtual_time = virtual_time;
            record.envelope.target = target.to_owned();
            record.envelope.state = state.map(|(name, reached)| made::state(name, reached));
            let notes = evaluate(&definition, Ran { schedule: &schedule, record: &record }).notes;
            let label = notes.iter().find(|note| note.contains("PTS")).unwrap();
            assert_eq!(label.starts_with("follows SNIA PTS"), follows, "{state:?}: {label}");
        };
        check(false, "/dev/x", None, false);
        check(false, "/dev/x", Some(("clean", true)), true);
        check(false, "/dev/x", Some(("clean", false)), false);
        check(false, "/dev/x", Some(("dirty", true)), false);
        check(true, "sim:x", None, true);
        check(true, "sim:x,state=filled", None, false);
        check(true, "sim:x", Some(("dirty", true)), false);
    }

    #[test]
    fn a_bound_may_keep_a_limit_but_does_not_miss_it_by_itself() {
        use LimitVerdict::{CannotTell, Met, Missed};
        // The longest write of every made-up run takes 100 µs, so that three of them take from 100 to 300 µs.
        let check = |limit: &str, verdict| {
            let text = format!(
                "[preset]\nname = \"m\"\ntitle = \"m\"\nsource = \"me\"\n[[job]]\nname = \"w\"\nrw = \"randwrite\"\n\
                 [[figure]]\nname = \"three\"\njob = \"w\"\nof = \"write longest\"\ntimes = 3\nstatistic = \"largest\"\n\
                 limit = [{{ name = \"l\", at_most = \"{limit}\" }}]\n"
            );
            let definition = Definition::parse(&text).unwrap();
            let schedule = definition.schedule(Ground::new(true), &Wish::default()).unwrap();
            let record = made::record(vec![made::phase("w", &[500.0], CacheVerdict::Device)]);
            let preset = evaluate(&definition, Ran { schedule: &schedule, record: &record });
            let limit = &preset.figures[0].limits[0];
            assert_eq!(limit.verdict, verdict, "{}", limit.why);
        };
        check("300us", Met);
        check("200us", CannotTell);
        check("90us", Missed);
    }

    #[test]
    fn rounds_that_never_become_steady_give_figures_that_nothing_is_judged_by() {
        let rounds = "[rounds]\nat_most = 6\ntrack = [\"writes\"]\n";
        let definition = Definition::parse(&format!("{TEXT}\n{rounds}")).unwrap();
        let schedule = definition.schedule(Ground::new(true), &Wish::default()).unwrap();
        let seen = |rates: &[f64]| {
            let record = made::record(vec![made::phase("w", rates, CacheVerdict::Device)]);
            let preset = evaluate(&definition, Ran { schedule: &schedule, record: &record });
            (preset.rounds.unwrap().steady_at, preset.figures[1].value, preset.figures[1].limits[0].clone())
        };
        let (steady, value, limit) = seen(&[900.0, 6400.0, 3200.0, 1600.0, 800.0, 600.0]);
        assert_eq!((steady, value, limit.verdict), (None, Some(600.0), LimitVerdict::CannotTell));
        assert!(limit.why.contains("did not become steady"), "{}", limit.why);
        let (steady, value, limit) = seen(&[900.0, 600.0, 601.0, 602.0, 603.0, 604.0]);
        assert_eq!((steady, value, limit.verdict), (Some(6), Some(600.0), LimitVerdict::Met));
    }

    #[test]
    fn every_run_is_kept_and_the_best_is_no_figure() {
        let rates = [100.0, 900.0, 510.0, 520.0, 530.0];
        let preset = preset(&rates, CacheVerdict::Device, |_| {});
        assert_eq!((&preset.figures[0].values[..], preset.figures[0].value), (&rates[..], Some(520.0)));
        assert_eq!(preset.figures[1].value, Some(100.0));
        assert_eq!(preset.figures[1].limits[0].verdict, LimitVerdict::Missed);
    }

    #[test]
    fn what_is_not_the_devices_or_not_whole_is_not_judged() {
        let good = [600.0; 6];
        let check = |preset: PresetRun, words: &str| {
            let limit = &preset.figures[0].limits[0];
            assert_eq!(limit.verdict, LimitVerdict::CannotTell);
            assert!(limit.why.contains(words), "{}", limit.why);
        };
        check(preset(&good, CacheVerdict::Cache, |_| {}), "memory's");
        check(preset(&good, CacheVerdict::Mixed, |_| {}), "page cache's");
        check(preset(&good, CacheVerdict::Unknown, |_| {}), "unknown whether");
        check(
            preset(&good, CacheVerdict::Device, |record| record.envelope.stop = StopReason::Interrupted),
            "cut short",
        );
        let failing = |record: &mut BenchRecord| record.phases[0].runs[3].jobs[0].failed = 2;
        check(preset(&good, CacheVerdict::Device, failing), "2 requests failed");
        let sound = preset(&good, CacheVerdict::Device, |_| {});
        assert_eq!(sound.figures[0].limits[0].verdict, LimitVerdict::Met);
    }
}
