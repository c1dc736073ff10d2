//! The runs of one pair, in the order of the plan's schedule, as the judge sees them.

use super::functional::Shown;
use super::pair::Pair;
use super::plan::plan;
use super::readers::{self, Read};
use super::work::{MEASURED, Worker};
use super::{Case, Outcome, Setting};
use crate::DrawError;
use crate::differences::Surroundings;
use flashscope_model::comparison::Better;
use flashscope_model::qualification::{Access, Answer, FigureValue, Part, Role, RowResult, RunDone, RunOutcome};
use flashscope_qualify::judge;
use flashscope_qualify::schedule::{self, Way};
use flashscope_stats::Rng;
use flashscope_units::{Bytes, Nanos};

/// What both sides do, and what a host adds to it.
struct Bench {
    workers: [[Worker; 2]; MEASURED.len()],
    surroundings: [Surroundings; MEASURED.len()],
}

impl Bench {
    fn open(pair: &Pair, scatter: f64, rng: &mut Rng) -> Result<Bench, DrawError> {
        let gone = || DrawError::new("a device that served its long runs cannot be opened");
        let mut workers = Vec::new();
        for measured in MEASURED {
            let [a, b] = &pair.texts;
            // What is true holds for any seed: runs do not repeat the long ones.
            let open = |text: &str, seed| Worker::open(text, seed, measured).ok_or_else(gone);
            workers.push([open(a, rng.next_u64())?, open(b, rng.next_u64())?]);
        }
        let workers = workers.try_into().map_err(|_| gone())?;
        Ok(Bench { workers, surroundings: std::array::from_fn(|_| Surroundings::draw(scatter, rng)) })
    }

    /// The figure of one run as it is measured, in the unit of records; `None` where a request failed.
    fn run(&mut self, at: usize, side: usize, begins: bool) -> Option<f64> {
        if begins {
            self.surroundings[at].session();
        }
        let shift = self.surroundings[at].shift();
        let figure = self.workers[at][side].run()?;
        Some(match MEASURED[at].better {
            Better::Higher => figure * shift.exp(),
            Better::Lower => figure / shift.exp() * 1e9,
        })
    }
}

/// Qualifies the candidate of a pair, as the command would.
pub(super) fn qualified(pair: &Pair, case: Case, setting: Setting, rng: &mut Rng) -> Result<Outcome, DrawError> {
    let tested = pair.functional.tested(&pair.texts[1], pair.seed)?;
    let plan = plan(pair.limit, setting.most_blocks, &pair.functional)?;
    let mut bench = Bench::open(pair, setting.scatter, rng)?;
    let parts = [part(Role::Reference), part(Role::Candidate)];
    let (seed, mut runs) = (rng.next_u64(), Vec::new());
    while let Some(next) = schedule::next(&plan, &parts, &runs, &Way::Turns, seed) {
        let name = &plan.workloads[next.workload].name;
        let outcome = match MEASURED.iter().position(|measured| measured.name == *name) {
            Some(at) => measured(&mut bench, at, next.part, next.place == 0),
            None => answered(name, &tested),
        };
        runs.push(RunDone {
            part: next.part,
            workload: name.clone(),
            session: format!("{}", next.block.unwrap_or_default()),
            block: next.block,
            place: next.place,
            outcome,
            replayed: false,
            record: None,
            took: Nanos::ZERO,
            written: Bytes::ZERO,
        });
    }
    let judged = judge(&plan.facts(seed), &parts, &runs);
    let beyond = |row: usize| match pair.distances.get(row) {
        Some(distance) => *distance < 0.0,
        // What is asked once stands behind what is measured.
        None => !pair.functional.is_sound(),
    };
    let failed = || judged.rows.iter().enumerate().filter(|(_, row)| row.result == RowResult::Fail).map(|(at, _)| at);
    Ok(Outcome {
        case,
        may_replace: pair.may_replace(),
        nearest: pair.nearest(),
        answer: judged.verdict.answer,
        blocks: MEASURED.map(|measured| blocks(measured.name, &runs)),
        falsely_failed: failed().filter(|row| !beyond(*row)).count() as u32,
        failed: failed().count() as u32,
        names_moved: match (judged.verdict.answer, pair.moved) {
            (Answer::MayNot, Some(moved)) => Some(judged.verdict.deciding.contains(&moved)),
            _ => None,
        },
        withheld: judged.controls.iter().any(|one| one.control.fails()),
        readers: readers(&runs, pair.limit),
    })
}

fn measured(bench: &mut Bench, at: usize, side: usize, begins: bool) -> RunOutcome {
    let unit = match MEASURED[at].better {
        Better::Higher => "IOPS",
        Better::Lower => "ns",
    };
    match bench.run(at, side, begins) {
        Some(value) => RunOutcome::Done {
            figures: vec![FigureValue { name: MEASURED[at].figure.to_owned(), unit: unit.to_owned(), value }],
            answers: Vec::new(),
        },
        None => RunOutcome::Failed { why: "a request failed".to_owned() },
    }
}

fn answered(name: &str, tested: &[(&'static str, &'static str, Shown)]) -> RunOutcome {
    let answers = tested.iter().filter(|(own, ..)| *own == name).map(|(_, question, shown)| {
        let answer = match shown {
            Shown::Holds => Some(true),
            Shown::Breaks => Some(false),
            Shown::Open => None,
        };
        ((*question).to_owned(), answer)
    });
    RunOutcome::Done { figures: Vec::new(), answers: answers.collect() }
}

fn part(role: Role) -> Part {
    Part {
        role,
        label: role.word().to_owned(),
        target: format!("sim:{}", role.word()),
        identity: None,
        device: None,
        capacity: None,
        access: Access::Simulated,
        host: None,
        bus_capability: None,
    }
}

/// Blocks that a workload took.
fn blocks(workload: &str, runs: &[RunDone]) -> u32 {
    runs.iter().filter(|run| run.workload == workload).filter_map(|run| run.block).max().map_or(0, |last| last + 1)
}

/// What others would have said of the first runs.
fn readers(runs: &[RunDone], limit: f64) -> Read {
    let of = |measured: &super::work::Measured, side: usize| -> Vec<f64> {
        let own = runs.iter().filter(|run| run.workload == measured.name && run.part == side);
        own.filter_map(|run| match &run.outcome {
            RunOutcome::Done { figures, .. } => figures.first().map(|figure| figure.value),
            _ => None,
        })
        .take(readers::RUNS)
        .collect()
    };
    let sides: Vec<(Better, [Vec<f64>; 2])> =
        MEASURED.iter().map(|measured| (measured.better, [of(measured, 0), of(measured, 1)])).collect();
    readers::read(&sides, limit)
}
