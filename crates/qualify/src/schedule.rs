//! Which run to do next. It follows from the plan, the parts and the runs that are done, and from nothing else, so that a
//! qualification that was interrupted goes on where it was.

use crate::judge::{Judged, RUNS_OF_A_BLOCK, judge};
use crate::plan::{Plan, Workload};
use crate::task::Counted;
use flashscope_experiment::{Block, Design};
use flashscope_model::comparison::{Doubt, Level};
use flashscope_model::qualification::{Access, Limit, Part, Role, RowResult, RunDone, RunOutcome};
use flashscope_stats::rng::stream;

/// How the sides are measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Way {
    /// Both on one host, taking turns.
    Turns,
    /// One part by itself, in this session; the other side is measured elsewhere.
    Alone {
        /// Names the power-up and mount that is under way.
        session: String,
    },
}

/// A run that is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Next {
    /// An index into [`Plan::workloads`].
    pub workload: usize,
    /// An index into the parts.
    pub part: usize,
    /// See [`RunDone::block`].
    pub block: Option<u32>,
    /// See [`RunDone::place`].
    pub place: u32,
    /// Seed of this run.
    pub seed: u64,
}

/// The next run; `None` where nothing is left to find out, or the plan allows no more.
pub fn next(plan: &Plan, parts: &[Part], runs: &[RunDone], way: &Way, seed: u64) -> Option<Next> {
    let judged = judge(&plan.facts(seed), parts, runs);
    let open = plan.workloads.iter().enumerate().filter_map(|(at, workload)| {
        let own: Vec<&RunDone> = runs.iter().filter(|run| run.workload == workload.name).collect();
        let next = of_workload(plan, workload, at, parts, &own, way, &judged, seed)?;
        let begun = next.block.is_some() && next.place > 0;
        let rounds = own.len() / if next.block.is_some() { RUNS_OF_A_BLOCK } else { 1 };
        Some(((!begun, group(plan, at, parts), rounds, at), next))
    });
    open.min_by_key(|(order, _)| *order).map(|(_, next)| next)
}

/// What is done before what: a block that was begun is finished first. Real parts are then measured state by state, in the order of
/// the plan, as another state costs writes and time; within a state, and on simulated parts, the workload with the fewest
/// rounds comes first, so that time that runs out does so for all.
fn group(plan: &Plan, at: usize, parts: &[Part]) -> usize {
    if parts.iter().all(|part| part.access == Access::Simulated) {
        return 0;
    }
    let state = plan.workloads[at].state;
    plan.workloads.iter().position(|workload| workload.state == state).unwrap_or(at)
}

/// The most runs that a part may have to do, per workload, in the order of the plan.
pub fn most_runs(plan: &Plan, parts: &[Part], way: &Way) -> Vec<u32> {
    let of = |workload: &Workload| match (workload.task.counted(), way) {
        (Counted::Once, _) => wanted(plan, workload, parts).len() as u32,
        (Counted::Repeated, Way::Alone { .. }) => plan.runs * plan.sessions,
        (Counted::Repeated, Way::Turns) if is_relative(plan, workload) => plan.blocks * RUNS_OF_A_BLOCK as u32,
        (Counted::Repeated, Way::Turns) => plan.blocks,
    };
    plan.workloads.iter().map(of).collect()
}

#[expect(clippy::too_many_arguments, reason = "each is what the choice depends on, and it is called in one place")]
fn of_workload(
    plan: &Plan,
    workload: &Workload,
    at: usize,
    parts: &[Part],
    own: &[&RunDone],
    way: &Way,
    judged: &Judged,
    seed: u64,
) -> Option<Next> {
    let seed = |number: u64| stream(stream(seed, at as u64), number);
    let next = |part, block, place, number: usize| Next { workload: at, part, block, place, seed: seed(number as u64) };
    if workload.task.counted() == Counted::Once {
        let part = wanted(plan, workload, parts).into_iter().find(|part| !own.iter().any(|run| run.part == *part))?;
        return Some(next(part, None, 0, part));
    }
    // What a part cannot do once it cannot do again; each part is asked, so that it is known whose lack it is.
    let lacks = own.iter().any(|run| matches!(run.outcome, RunOutcome::Unsupported { .. }));
    let asked = (0..parts.len()).all(|part| own.iter().any(|run| run.part == part));
    if lacks && (asked || !is_relative(plan, workload)) {
        return None;
    }
    match way {
        Way::Alone { session } => {
            let part = 0;
            let sessions: Vec<&str> = own.iter().map(|run| run.session.as_str()).collect();
            let here = sessions.iter().filter(|other| **other == session).count() as u32;
            let others = distinct(&sessions, session);
            (here < plan.runs && others < plan.sessions).then(|| next(part, None, own.len() as u32, own.len()))
        }
        Way::Turns if is_relative(plan, workload) => {
            if !is_open(plan, workload, parts, own, judged) && own.len().is_multiple_of(RUNS_OF_A_BLOCK) {
                return None;
            }
            let (block, place) = (own.len() / RUNS_OF_A_BLOCK, own.len() % RUNS_OF_A_BLOCK);
            let number = u32::try_from(block).ok().filter(|block| *block < plan.blocks)?;
            let slots = nth(seed(u64::MAX), number);
            let role = if slots[place].side == 0 { Role::Reference } else { Role::Candidate };
            Some(next(turn_of(parts, role, block)?, Some(number), place as u32, own.len()))
        }
        Way::Turns => {
            if !is_open(plan, workload, parts, own, judged) || own.len() as u32 >= plan.blocks {
                return None;
            }
            Some(next(turn_of(parts, Role::Candidate, own.len())?, None, own.len() as u32, own.len()))
        }
    }
}

/// Sessions other than this one.
fn distinct(sessions: &[&str], but: &str) -> u32 {
    let mut seen: Vec<&str> = sessions.iter().copied().filter(|session| *session != but).collect();
    seen.sort_unstable();
    seen.dedup();
    seen.len() as u32
}

/// The block of this number.
fn nth(seed: u64, number: u32) -> Block {
    let mut design = Design::new(2, seed);
    let mut block = design.next();
    for _ in 0..number {
        block = design.next();
    }
    block
}

/// Parts of one role take their turns block by block.
fn turn_of(parts: &[Part], role: Role, block: usize) -> Option<usize> {
    let own: Vec<usize> = (0..parts.len()).filter(|at| parts[*at].role == role).collect();
    (!own.is_empty()).then(|| own[block % own.len()])
}

/// The parts that a workload is run on once. What only answers yes or no is asked of the candidate; registers are read on both,
/// which costs nothing and tells whether the part in use does better.
fn wanted(plan: &Plan, workload: &Workload, parts: &[Part]) -> Vec<usize> {
    let of_all = is_relative(plan, workload) || workload.task == crate::Task::Registers;
    (0..parts.len()).filter(|at| of_all || parts[*at].role == Role::Candidate || alone(parts)).collect()
}

/// Whether there is one side only: whether it is the candidate is not known to it before it is judged.
fn alone(parts: &[Part]) -> bool {
    parts.iter().all(|part| part.role == parts[0].role)
}

fn is_relative(plan: &Plan, workload: &Workload) -> bool {
    let own = plan.requirements.iter().filter(|requirement| requirement.workload == workload.name);
    own.into_iter().any(|requirement| matches!(requirement.limit, Limit::Reference { .. }))
}

/// Whether another block could decide something.
fn is_open(plan: &Plan, workload: &Workload, parts: &[Part], own: &[&RunDone], judged: &Judged) -> bool {
    let rows = judged.rows.iter().filter(|row| plan.requirements[row.requirement].workload == workload.name);
    rows.into_iter().any(|row| match row.result {
        // Over parts the number of runs is fixed before, so that nothing is decided early.
        _ if row.level == Some(Level::Part) || of_models(parts) => true,
        // What a whole block did not bring another will not bring either.
        RowResult::Undecided(Doubt::Missing | Doubt::NotPositive) => own.len() < RUNS_OF_A_BLOCK,
        RowResult::Undecided(Doubt::NoScatter) => false,
        RowResult::Undecided(_) => true,
        RowResult::Pass | RowResult::Fail | RowResult::Unsupported(_) => false,
    })
}

/// Whether there are enough parts of each side for a statement on their models.
fn of_models(parts: &[Part]) -> bool {
    const PARTS_OF_A_MODEL: usize = 3;
    let count = |role| parts.iter().filter(|part| part.role == role).count();
    count(Role::Reference).min(count(Role::Candidate)) >= PARTS_OF_A_MODEL
}
