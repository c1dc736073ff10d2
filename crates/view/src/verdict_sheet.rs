//! What a page of a qualification shows: the sheet that answers, every requirement, ratios beside their limits, and
//! runs.

use crate::comparison::{Bar, counted, ratio, spread};
use crate::qualification::{limit, result};
use flashscope_model::comparison::{Better, Verdict};
use flashscope_model::qualification::{
    Access, Answer, Bound, Limit, Part, QualificationRecord, Requirement, Role, Row, RowResult, RunDone, RunOutcome,
    Weight,
};
use flashscope_units::{Bytes, Nanos};

/// Rows that the sheet tells one by one: more do not fit a page beside the rest.
const DECIDING: usize = 10;
/// Requirements that the sheet names as not shown.
const OPEN: usize = 8;

/// How good a result is for the candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Met.
    Good,
    /// Not shown.
    Fair,
    /// Missed.
    Poor,
}

/// How good the verdict is for the candidate; of one side alone nothing is shown.
pub fn tone(record: &QualificationRecord) -> Tone {
    match record.verdict.as_ref().map(|verdict| verdict.answer) {
        Some(Answer::MayReplace) => Tone::Good,
        Some(Answer::MayNot) => Tone::Poor,
        Some(Answer::NotShown) | None => Tone::Fair,
    }
}

/// One requirement in words.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// What it asks.
    pub title: String,
    /// What it must come to.
    pub limit: String,
    /// Where the reference lies; empty where it has no such figure.
    pub reference: String,
    /// Where the candidate lies.
    pub candidate: String,
    /// Candidate over reference, or over the limit, with its interval; empty where there is none.
    pub ratio: String,
    /// What it comes to.
    pub result: String,
    /// How good that is.
    pub tone: Tone,
    /// Why, in a clause.
    pub reason: String,
    /// Whether the verdict depends on it.
    pub must: bool,
}

fn line(requirement: &Requirement, row: &Row) -> Line {
    let centre = |centre: Option<_>| centre.map_or_else(String::new, |centre| spread(&centre, &row.unit));
    Line {
        title: requirement.title.clone(),
        limit: limit(requirement.limit),
        reference: centre(row.reference),
        candidate: centre(row.candidate),
        ratio: row.ratio.map_or_else(String::new, |found| match found.interval {
            Some((low, high)) => {
                let said = |value| ratio(value, found.interval);
                format!("{} ({} to {})", said(found.value), said(low), said(high))
            }
            None => ratio(found.value, None),
        }),
        result: result(row),
        tone: match row.result {
            RowResult::Pass => Tone::Good,
            RowResult::Fail => Tone::Poor,
            RowResult::Unsupported(_) | RowResult::Undecided(_) => Tone::Fair,
        },
        reason: row.reason.clone(),
        must: requirement.weight == Weight::Must,
    }
}

/// Every requirement, those that decide the verdict first.
pub fn lines(record: &QualificationRecord) -> Vec<Line> {
    let of = |weight| record.results().filter(move |(requirement, _)| requirement.weight == weight);
    of(Weight::Must).chain(of(Weight::Should)).map(|(requirement, row)| line(requirement, row)).collect()
}

/// The rows that decide, and how many more there are. Where all are met those come first that lie nearest to their
/// limit.
pub fn deciding(record: &QualificationRecord) -> (Vec<Line>, usize) {
    let Some(verdict) = &record.verdict else { return (Vec::new(), 0) };
    let mut rows: Vec<&Row> = verdict.deciding.iter().filter_map(|at| record.rows.get(*at)).collect();
    let of = |row: &Row| record.plan.requirements.get(row.requirement);
    rows.sort_by(|one, other| {
        let reach = |row: &Row| of(row).map_or(f64::INFINITY, |requirement| headroom(requirement, row));
        reach(one).total_cmp(&reach(other))
    });
    let more = rows.len().saturating_sub(DECIDING);
    let lines = rows.iter().take(DECIDING).filter_map(|row| Some(line(of(row)?, row)));
    (lines.collect(), more)
}

/// How far a figure lies within its limit, as a logarithm; what has no ratio has all the room there is.
fn headroom(requirement: &Requirement, row: &Row) -> f64 {
    let Some(found) = row.ratio else { return f64::INFINITY };
    match requirement.limit {
        Limit::Reference { bound: Bound::AtLeast, ratio } => (found.value / ratio).ln(),
        Limit::Reference { bound: Bound::AtMost, ratio } => (ratio / found.value).ln(),
        Limit::Value { bound: Bound::AtLeast, .. } => found.value.ln(),
        Limit::Value { bound: Bound::AtMost, .. } => -found.value.ln(),
        Limit::Holds => f64::INFINITY,
    }
}

/// What was not shown and why: requirements that are undecided or could not be tried, those that must be met first,
/// then what a short form leaves out; and how many more there are.
pub fn not_shown(record: &QualificationRecord) -> (Vec<(String, String)>, usize) {
    let open = lines(record).into_iter().filter(|line| line.tone == Tone::Fair);
    let mut all: Vec<(String, String)> = open
        .map(|line| {
            let what = if line.must { line.title } else { format!("{} (should)", line.title) };
            (what, format!("{}: {}", line.result, line.reason))
        })
        .collect();
    if record.plan.quick {
        let left_out = |what: &String| (what.clone(), "the short form of the plan does not decide it".to_owned());
        all.extend(record.plan.cannot_decide.iter().map(left_out));
    }
    let more = all.len().saturating_sub(OPEN);
    all.truncate(OPEN);
    (all, more)
}

/// Requirements that should be met and are not: beside the verdict.
pub fn beside(record: &QualificationRecord) -> Vec<Line> {
    lines(record).into_iter().filter(|line| !line.must && line.tone == Tone::Poor).collect()
}

/// The parts of one side, each as names and what stands for them.
pub fn parts(record: &QualificationRecord, role: Role) -> Vec<Vec<(&'static str, String)>> {
    record.parts_of(role).map(part).collect()
}

fn part(part: &Part) -> Vec<(&'static str, String)> {
    let access = match part.access {
        Access::Simulated => "simulated, on virtual time",
        Access::Raw => "as a block device",
        Access::Files => "through files of a mounted file system",
    };
    let board = part.host.as_ref().map(|host| {
        let board = host.board.clone().unwrap_or_else(|| host.name.clone());
        format!("{board}, Linux {} ({})", host.kernel, host.architecture)
    });
    let mode = part.host.as_ref().and_then(|host| host.bus_mode.clone());
    let bus = match (mode, &part.bus_capability) {
        (Some(mode), Some(able)) => Some(format!("{mode} (host: {able})")),
        (mode, able) => mode.or_else(|| able.as_ref().map(|able| format!("host: {able}"))),
    };
    let named = part.device.clone().unwrap_or_else(|| part.target.clone());
    let rows = [
        ("part", Some(named)),
        ("called here", Some(part.label.clone())),
        ("identity", Some(part.identity.clone().unwrap_or_else(|| "not told by the part".to_owned()))),
        ("capacity", part.capacity.map(|capacity| capacity.to_string())),
        ("board", board),
        ("bus", bus),
        ("reached", Some(access.to_owned())),
    ];
    rows.into_iter().filter_map(|(name, said)| Some((name, said?))).collect()
}

/// What it took of time and of the parts' lives.
pub fn cost(record: &QualificationRecord) -> Vec<(String, String)> {
    let took: Nanos = record.runs.iter().map(|run| run.took).sum();
    let mut all = vec![("time".to_owned(), format!("{took}, {}", counted(record.runs.len(), "run")))];
    for (at, part) in record.parts.iter().enumerate() {
        let written: Bytes = record.runs.iter().filter(|run| run.part == at).map(|run| run.written).sum();
        let share = part.capacity.filter(|capacity| capacity.get() > 0).map_or_else(String::new, |capacity| {
            format!(", {} times its capacity", number(written.as_f64() / capacity.as_f64()))
        });
        all.push((format!("written to {}", part.label), format!("{written}{share}")));
    }
    all
}

fn number(value: f64) -> String {
    if value >= 9.95 { format!("{value:.0}") } else { format!("{value:.2}") }
}

/// Ratios that are held against the same limit.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// The limit in words.
    pub title: String,
    /// Which side of `at` is good.
    pub bound: Bound,
    /// The limit as a ratio.
    pub at: f64,
    /// The ratios.
    pub bars: Vec<Bar>,
}

/// Ratios by their limits, in the order of the plan. The verdict of a bar stands for its result: better for pass, worse
/// for fail.
pub fn charts(record: &QualificationRecord) -> Vec<Chart> {
    let mut charts: Vec<Chart> = Vec::new();
    for (requirement, row) in record.results() {
        let (bound, at, title) = match requirement.limit {
            Limit::Reference { bound, ratio } => (bound, ratio, limit(requirement.limit)),
            Limit::Value { bound: Bound::AtLeast, .. } => {
                (Bound::AtLeast, 1.0, "at least a value of its own".to_owned())
            }
            Limit::Value { bound: Bound::AtMost, .. } => (Bound::AtMost, 1.0, "at most a value of its own".to_owned()),
            Limit::Holds => continue,
        };
        let Some(found) = row.ratio else { continue };
        let verdict = match row.result {
            RowResult::Pass => Verdict::Better,
            RowResult::Fail => Verdict::Worse,
            RowResult::Undecided(doubt) => Verdict::CannotTell(doubt),
            RowResult::Unsupported(_) => continue,
        };
        let bar = Bar { label: requirement.title.clone(), ratio: found.value, interval: found.interval, verdict };
        match charts.iter_mut().find(|chart| chart.title == title) {
            Some(chart) => chart.bars.push(bar),
            None => charts.push(Chart { title, bound, at, bars: vec![bar] }),
        }
    }
    charts
}

/// The runs of one figure in order of time: per side the number of each run among all of its workload, from 1, and its
/// value.
#[derive(Clone, Debug, PartialEq)]
pub struct Course {
    /// The requirement.
    pub title: String,
    /// Unit of the values.
    pub unit: String,
    /// Whether more or less is better.
    pub better: Better,
    /// The reference's runs, and the candidate's.
    pub sides: [Vec<(f64, f64)>; 2],
}

/// The runs of every figure that scatters.
pub fn courses(record: &QualificationRecord) -> Vec<Course> {
    let measured = record.plan.requirements.iter().filter_map(|requirement| {
        let better = match requirement.limit {
            Limit::Value { bound: Bound::AtLeast, .. } | Limit::Reference { bound: Bound::AtLeast, .. } => {
                Better::Higher
            }
            Limit::Value { .. } | Limit::Reference { .. } => Better::Lower,
            Limit::Holds => return None,
        };
        Some((requirement, better))
    });
    let course = |(requirement, better): (&Requirement, Better)| {
        let own = record.runs.iter().filter(|run| run.workload == requirement.workload);
        let mut course =
            Course { title: requirement.title.clone(), unit: String::new(), better, sides: Default::default() };
        for (number, run) in (1u32..).zip(own) {
            let RunOutcome::Done { figures, .. } = &run.outcome else { continue };
            let Some(figure) = figures.iter().find(|figure| figure.name == requirement.figure) else { continue };
            course.unit.clone_from(&figure.unit);
            let side = usize::from(record.parts.get(run.part).is_some_and(|part| part.role == Role::Candidate));
            course.sides[side].push((f64::from(number), figure.value));
        }
        // One run each is no course.
        (course.sides.iter().map(Vec::len).sum::<usize>() > 2).then_some(course)
    };
    measured.filter_map(course).collect()
}

/// What each workload did on the way, a sentence each: the command, the state before it, and how often.
pub fn path(record: &QualificationRecord) -> Vec<(String, String)> {
    let mut seen: Vec<(String, String)> = Vec::new();
    for requirement in &record.plan.requirements {
        if seen.iter().any(|(name, _)| *name == requirement.workload) {
            continue;
        }
        let own: Vec<&RunDone> = record.runs.iter().filter(|run| run.workload == requirement.workload).collect();
        let state =
            requirement.state.as_ref().map_or_else(String::new, |state| format!(", each from the state {state}"));
        let blocks = own.iter().filter_map(|run| run.block).max().map_or_else(String::new, |last| {
            format!(" in {} of {} at most", counted(last as usize + 1, "block"), record.plan.most_blocks)
        });
        let replayed = match own.iter().any(|run| run.replayed) {
            true => "; its trace was replayed in virtual time",
            false => "",
        };
        let what = format!("{}: {}{blocks}{state}{replayed}", requirement.work.word(), counted(own.len(), "run"));
        seen.push((requirement.workload.clone(), what));
    }
    seen
}
