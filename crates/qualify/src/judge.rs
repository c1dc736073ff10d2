//! From runs to a result per requirement.
//!
//! "May replace" says that *all* requirements of weight `must` are met. To say so falsely, a requirement that is not met must
//! have been found met, so that a chance of α for each keeps the chance of the whole at α, however many there are and however
//! they depend on each other (the intersection-union test: Berger, "Multiparameter hypothesis testing and acceptance sampling",
//! Technometrics 24, 1982). "May not" says that *one* is not met, and a further requirement is a further chance to say so
//! falsely: there Holm's method keeps it at α over all.

use crate::{verdict, words};
use flashscope_experiment::limit::{self, Centres, Held, Of};
use flashscope_model::comparison::{Better, Centre, Counts, Doubt, Level, Metric, Reading, Readings};
use flashscope_model::qualification::{
    Bound, FigureUnit, Lacking, Limit, Part, PlanFacts, Requirement, Role, Row, RowResult, RunDone, RunOutcome,
    Verdict, Weight, WorkloadControl,
};
use flashscope_stats::test::holm;

/// Runs of one block: each side twice.
pub(crate) const RUNS_OF_A_BLOCK: usize = 4;

/// What the runs come to.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// One result per requirement, in the order of the plan.
    pub rows: Vec<Row>,
    /// The reference against itself, per workload that has blocks.
    pub controls: Vec<WorkloadControl>,
    /// The verdict.
    pub verdict: Verdict,
}

/// Judges the runs that were done. The same runs give the same verdict; those that came in order of time may be judged at any
/// time, and what is decided stays so, unless the reference turns out to differ from itself.
pub fn judge(plan: &PlanFacts, parts: &[Part], runs: &[RunDone]) -> Judged {
    let controls = controls(plan, parts, runs);
    let found: Vec<Found> =
        plan.requirements.iter().map(|requirement| find(requirement, parts, runs, &controls)).collect();
    let adjusted = adjusted(plan, &found);
    let rows: Vec<Row> = found
        .into_iter()
        .zip(adjusted)
        .enumerate()
        .map(|(at, (found, p_fail))| row(at, &plan.requirements[at], found, p_fail, runs))
        .collect();
    let verdict = verdict::of(plan, parts, &rows);
    Judged { rows, controls, verdict }
}

/// What was found out about one requirement, before others are looked at.
struct Found {
    told: Told,
    centres: Centres,
    unit: String,
}

enum Told {
    /// Decided by something else than chance.
    Settled(RowResult, String),
    /// Decided by figures that scatter.
    Held(Held),
    /// Those of a workload whose reference differs from itself.
    Withheld(Held),
}

impl Told {
    fn open(doubt: Doubt, why: impl Into<String>) -> Told {
        Told::Settled(RowResult::Undecided(doubt), why.into())
    }
}

/// The p value against "the limit is met" of each requirement, adjusted over those of its weight. Those without one take part
/// as if nothing spoke against them, so that a figure that comes in late changes nothing of what was decided.
fn adjusted(plan: &PlanFacts, found: &[Found]) -> Vec<Option<f64>> {
    let mut all = vec![None; found.len()];
    for weight in [Weight::Must, Weight::Should] {
        let of_weight = (0..found.len()).filter(|at| {
            let requirement = &plan.requirements[*at];
            requirement.weight == weight && requirement.limit != Limit::Holds
        });
        let members: Vec<usize> = of_weight.collect();
        let value = |at: &usize| match &found[*at].told {
            Told::Held(held) => held.p_missed,
            Told::Settled(..) | Told::Withheld(_) => 1.0,
        };
        let values: Vec<f64> = members.iter().map(value).collect();
        // A p value is refused only where it is none, and then nothing is shown.
        let values = holm(&values).unwrap_or_else(|_| vec![1.0; values.len()]);
        for (at, p) in members.into_iter().zip(values) {
            all[at] = matches!(found[at].told, Told::Held(_)).then_some(p);
        }
    }
    all
}

fn row(at: usize, requirement: &Requirement, found: Found, p_fail: Option<f64>, runs: &[RunDone]) -> Row {
    let alpha = 1.0 - requirement.confidence;
    let (held, result, reason) = match found.told {
        Told::Settled(result, reason) => (None, result, reason),
        Told::Withheld(held) => {
            let why = "the reference differs from itself in these blocks: the host or the order of runs is at work";
            (Some(held), RowResult::Undecided(Doubt::Withheld), why.to_owned())
        }
        Told::Held(held) => {
            let result = match () {
                () if held.p_met <= alpha => RowResult::Pass,
                () if p_fail.is_some_and(|p| p <= alpha) => RowResult::Fail,
                () => RowResult::Undecided(Doubt::Open { more: held.more }),
            };
            let reason = compared(requirement, &held, &found.centres, &found.unit, result);
            (Some(held), result, reason)
        }
    };
    let own = runs.iter().filter(|run| run.workload == requirement.workload);
    let used = matches!(result, RowResult::Pass | RowResult::Fail | RowResult::Undecided(_));
    Row {
        requirement: at,
        result,
        reason,
        reference: found.centres.baseline,
        candidate: found.centres.other,
        unit: found.unit,
        ratio: held.as_ref().map(|held| held.ratio),
        level: held.as_ref().map(|held| held.level),
        p_pass: held.as_ref().map(|held| held.p_met),
        p_fail,
        replayed: used && own.clone().any(|run| run.replayed),
    }
}

/// `4.1 % below the reference (limit: at least 0.95 × the reference)`.
fn compared(requirement: &Requirement, held: &Held, centres: &Centres, unit: &str, result: RowResult) -> String {
    let distance = held.ratio.value - 1.0;
    let side = if distance < 0.0 { "below" } else { "above" };
    let limit = words::limit(requirement.limit);
    let what = match requirement.limit {
        Limit::Reference { .. } => format!("{} {side} the reference, limit {limit}", words::percent(distance)),
        _ => {
            let value = centres.other.map_or_else(String::new, |centre| words::amount(centre.value, unit));
            format!("{value}, limit {limit}")
        }
    };
    match result {
        RowResult::Undecided(Doubt::Open { more: Some(more) }) => {
            format!("{what}; {more} more {} would probably do", repetitions(held.level, more))
        }
        RowResult::Undecided(_) => format!("{what}; too near to the limit to tell"),
        _ => what,
    }
}

fn repetitions(level: Level, count: u32) -> &'static str {
    match (level, count) {
        (Level::Run, 1) => "run",
        (Level::Run, _) => "runs",
        (Level::Block, 1) => "block",
        (Level::Block, _) => "blocks",
        (Level::Session, 1) => "session",
        (Level::Session, _) => "sessions",
        (Level::Part, 1) => "part",
        (Level::Part, _) => "parts",
    }
}

fn find(requirement: &Requirement, parts: &[Part], runs: &[RunDone], controls: &[WorkloadControl]) -> Found {
    let own: Vec<&RunDone> = runs.iter().filter(|run| run.workload == requirement.workload).collect();
    let of = |role| own.iter().copied().filter(|run| parts[run.part].role == role).collect::<Vec<&RunDone>>();
    let (references, candidates) = (of(Role::Reference), of(Role::Candidate));
    let settled = |told| Found { told, centres: Centres::default(), unit: String::new() };
    if let Some(told) = cannot(requirement, &references, &candidates) {
        return settled(told);
    }
    if requirement.limit == Limit::Holds {
        return settled(answered(&requirement.figure, &references, &candidates));
    }
    let readings = match readings(&requirement.figure, parts, &own) {
        Ok(readings) => readings,
        Err(why) => return settled(Told::open(Doubt::Missing, why)),
    };
    let unit = readings.metrics[0].unit.clone();
    if let Limit::Value { unit: limit, .. } = requirement.limit
        && limit.word() != unit
    {
        let why = format!("'{}' is in {unit}, and its limit in {}", requirement.figure, limit.word());
        return settled(Told::open(Doubt::Missing, why));
    }
    let mut centres = limit::centres(&readings, 0, 1, requirement.confidence);
    if words::is_fact(&unit) {
        let (told, centres) = facts(requirement, &readings);
        return Found { told, centres, unit };
    }
    let told = match limit::hold(&readings, 0, 1, as_limit(requirement.limit), requirement.confidence) {
        Ok(held) => {
            // A control speaks for sides that took turns.
            let differs = controls.iter().any(|one| one.workload == requirement.workload && one.control.fails());
            let relative = matches!(requirement.limit, Limit::Reference { .. });
            if differs && relative && held.level == Level::Block { Told::Withheld(held) } else { Told::Held(held) }
        }
        Err(doubt) => Told::open(doubt, doubtful(doubt, &readings, &requirement.figure)),
    };
    if !matches!(requirement.limit, Limit::Reference { .. }) && references.is_empty() {
        centres.baseline = None;
    }
    Found { told, centres, unit }
}

fn doubtful(doubt: Doubt, readings: &Readings, figure: &str) -> String {
    let has = |side| readings.rows.iter().any(|row| row.side == side);
    match doubt {
        Doubt::TooFew => "too few runs".to_owned(),
        Doubt::NotPositive => format!("'{figure}' is not above zero in every run"),
        Doubt::NoScatter => "the runs do not scatter, and lie as near to the limit as figures are rounded".to_owned(),
        _ if !has(0) => format!("the reference has no '{figure}'"),
        _ if !has(1) => format!("the candidate has no '{figure}'"),
        _ => format!("no run has '{figure}'"),
    }
}

/// What keeps a requirement from being tried.
fn cannot(requirement: &Requirement, references: &[&RunDone], candidates: &[&RunDone]) -> Option<Told> {
    let lacking = |runs: &[&RunDone]| match runs.first().map(|run| &run.outcome) {
        Some(RunOutcome::Unsupported { by, why }) => Some((*by, why.clone())),
        _ => None,
    };
    let failing = |runs: &[&RunDone]| {
        let all = !runs.is_empty() && runs.iter().all(|run| matches!(run.outcome, RunOutcome::Failed { .. }));
        match runs.last().map(|run| &run.outcome) {
            Some(RunOutcome::Failed { why }) if all => Some(why.clone()),
            _ => None,
        }
    };
    let relative = matches!(requirement.limit, Limit::Reference { .. });
    match (lacking(references), lacking(candidates)) {
        // What the part in use can do, its replacement must be able to do.
        (None, Some((Lacking::Part, why))) if references.iter().any(|run| is_done(run)) => {
            return Some(Told::Settled(
                RowResult::Fail,
                format!("the reference can do it, and the candidate cannot: {why}"),
            ));
        }
        (_, Some((by, why))) => return Some(Told::Settled(RowResult::Unsupported(by), format!("candidate: {why}"))),
        (Some((by, why)), None) if relative => {
            return Some(Told::Settled(RowResult::Unsupported(by), format!("reference: {why}")));
        }
        _ => {}
    }
    if candidates.is_empty() {
        return Some(Told::open(Doubt::Missing, "no run of the candidate"));
    }
    if let Some(why) = failing(candidates) {
        return Some(Told::open(Doubt::Missing, format!("every run of the candidate failed: {why}")));
    }
    if relative && references.is_empty() {
        return Some(Told::open(Doubt::Missing, "no run of the reference"));
    }
    failing(references)
        .filter(|_| relative)
        .map(|why| Told::open(Doubt::Missing, format!("every run of the reference failed: {why}")))
}

fn is_done(run: &RunDone) -> bool {
    matches!(run.outcome, RunOutcome::Done { .. })
}

/// A question that records answer with yes or no. It must be yes of every part.
fn answered(question: &str, references: &[&RunDone], candidates: &[&RunDone]) -> Told {
    let all = |runs: &[&RunDone]| -> Vec<Option<bool>> {
        let of = |run: &&RunDone| match &run.outcome {
            RunOutcome::Done { answers, .. } => {
                answers.iter().find(|(asked, _)| asked == question).map(|(_, answer)| *answer)
            }
            _ => None,
        };
        runs.iter().filter_map(of).collect()
    };
    let ours = all(references);
    let of_reference = match () {
        () if ours.contains(&Some(false)) => "; the reference does not either",
        () if !ours.is_empty() && ours.iter().all(|answer| *answer == Some(true)) => "; the reference does",
        () => "",
    };
    let theirs = all(candidates);
    match () {
        () if theirs.is_empty() => Told::open(Doubt::Missing, format!("no record answers '{question}'")),
        () if theirs.contains(&Some(false)) => Told::Settled(RowResult::Fail, format!("{question}: no{of_reference}")),
        () if theirs.contains(&None) => Told::open(Doubt::Missing, format!("{question}: the record cannot tell")),
        () => Told::Settled(RowResult::Pass, format!("{question}: yes")),
    }
}

/// Sizes: each part's is what it is. Every candidate is held against the limit, of several references the strictest counts.
fn facts(requirement: &Requirement, readings: &Readings) -> (Told, Centres) {
    let values = |side| readings.rows.iter().filter(move |row| row.side == side).map(|row| row.value);
    let (wanted, bound) = match requirement.limit {
        Limit::Value { bound, value, .. } => (Some(value), bound),
        Limit::Reference { bound, ratio } => {
            let strictest = match bound {
                Bound::AtLeast => values(0).reduce(f64::max),
                Bound::AtMost => values(0).reduce(f64::min),
            };
            (strictest.map(|value| value * ratio), bound)
        }
        Limit::Holds => (None, Bound::AtLeast),
    };
    let worst = match bound {
        Bound::AtLeast => values(1).reduce(f64::min),
        Bound::AtMost => values(1).reduce(f64::max),
    };
    let centre = |value: Option<f64>, side| {
        value.map(|value| Centre {
            value,
            interval: None,
            counts: Counts { runs: values(side).count() as u32, ..Counts::default() },
        })
    };
    let centres = Centres { baseline: centre(values(0).reduce(f64::max), 0), other: centre(worst, 1) };
    let (Some(wanted), Some(worst)) = (wanted, worst) else {
        return (Told::open(Doubt::Missing, doubtful(Doubt::Missing, readings, &requirement.figure)), centres);
    };
    let met = match bound {
        Bound::AtLeast => worst >= wanted,
        Bound::AtMost => worst <= wanted,
    };
    let unit = FigureUnit::Bytes.word();
    let reason = format!("{}, limit {}", words::amount(worst, unit), words::limit(requirement.limit));
    (Told::Settled(if met { RowResult::Pass } else { RowResult::Fail }, reason), centres)
}

fn as_limit(limit: Limit) -> limit::Limit {
    let wanted = |bound| match bound {
        Bound::AtLeast => Better::Higher,
        Bound::AtMost => Better::Lower,
    };
    match limit {
        Limit::Value { bound, value, .. } => limit::Limit { wanted: wanted(bound), of: Of::Unit(value) },
        Limit::Reference { bound, ratio } => limit::Limit { wanted: wanted(bound), of: Of::Baseline(ratio) },
        // Nobody holds a figure against it: `answered` has told before.
        Limit::Holds => limit::Limit { wanted: Better::Higher, of: Of::Unit(1.0) },
    }
}

/// One figure of one workload, the reference as side 0. A block that lacks a run counts for nothing.
fn readings(figure: &str, parts: &[Part], runs: &[&RunDone]) -> Result<Readings, String> {
    let mut readings = Readings {
        sides: [Role::Reference, Role::Candidate].map(|role| role.word().to_owned()).to_vec(),
        ..Readings::default()
    };
    let several = |role| parts.iter().filter(|part| part.role == role).count() > 1;
    for run in runs.iter().filter(|run| counts(run, runs)) {
        let RunOutcome::Done { figures, .. } = &run.outcome else { continue };
        let Some(found) = figures.iter().find(|one| one.name == figure) else { continue };
        match readings.metrics.first() {
            None => readings.metrics.push(Metric {
                name: figure.to_owned(),
                unit: found.unit.clone(),
                better: Better::Higher,
            }),
            Some(metric) if metric.unit != found.unit => {
                return Err(format!("'{figure}' is in {} in one run and in {} in another", metric.unit, found.unit));
            }
            Some(_) => {}
        }
        let part = &parts[run.part];
        readings.rows.push(Reading {
            side: usize::from(part.role == Role::Candidate),
            metric: 0,
            part: if several(part.role) { part.label.clone() } else { String::new() },
            session: run.session.clone(),
            block: run.block,
            value: found.value,
        });
    }
    match readings.metrics.is_empty() {
        true => Err(format!("no run that counts has '{figure}'")),
        false => Ok(readings),
    }
}

/// Whether a run belongs to a whole block, or to none.
fn counts(run: &RunDone, all: &[&RunDone]) -> bool {
    run.block.is_none() || all.iter().filter(|other| other.block == run.block).count() >= RUNS_OF_A_BLOCK
}

/// The reference against itself, over all figures of each workload that requirements ask for. The chance of withholding
/// results for nothing is shared out over the workloads.
fn controls(plan: &PlanFacts, parts: &[Part], runs: &[RunDone]) -> Vec<WorkloadControl> {
    let mut found: Vec<WorkloadControl> = Vec::new();
    for requirement in &plan.requirements {
        if found.iter().any(|other| other.workload == requirement.workload) {
            continue;
        }
        let own: Vec<&RunDone> = runs.iter().filter(|run| run.workload == requirement.workload).collect();
        let asked = plan.requirements.iter().filter(|other| other.workload == requirement.workload);
        let mut all = Readings::default();
        for figure in asked.map(|other| &other.figure) {
            if let Ok(one) = readings(figure, parts, &own) {
                let metric = all.metrics.len();
                all.metrics.extend(one.metrics);
                all.rows.extend(one.rows.into_iter().map(|row| Reading { metric, ..row }));
            }
        }
        if let Some(control) = limit::itself(&all) {
            found.push(WorkloadControl { workload: requirement.workload.clone(), control });
        }
    }
    let share = found.len().max(1) as f64;
    found.iter_mut().for_each(|one| one.control.level /= share);
    found
}
