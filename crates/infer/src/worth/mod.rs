//! The choice where time is short: what is expected to settle most of what is wanted for a share of what is left.
//!
//! For each question whose answer is wanted, the chain of open questions that it leans on, itself included, is weighed: the
//! findings that the chain is expected to settle ([`table`]), against the share of the time and of the bytes left that it is
//! expected to take. The best chain's first experiment is next, in a smaller form where the whole one does not fit; one that
//! fits in no form is passed over for what does. The order in which questions lean on each other stays a constraint.

mod smaller;
pub mod table;

use crate::ahead::Left;
use crate::choose::{SUBJECTS, Subject};
use crate::situation::Situation;
use crate::{Choice, Want};
use flashscope_model::plan::Budget;
use flashscope_model::{Experiment, ExperimentName};
use flashscope_units::Nanos;
use table::Expected;

/// What a run is for, and what an experiment is expected to take on its device.
#[derive(Clone, Copy)]
pub struct Aim<'a> {
    /// The findings that are wanted.
    pub want: Want,
    /// Device time of an experiment, as far as can be told from what the device has shown.
    pub time_of: &'a dyn Fn(&Experiment) -> Nanos,
}

/// A question on which experiments were cut off so often is left: what they take is not as expected.
const MOST_CUT_OFF: usize = 2;

/// A question of which experiments were done, and that is expected to settle fewer findings than this, holds nobody up.
const HOLDS_UP: f64 = 0.15;

/// An open question as far as it can be gone on with.
struct Open<'s> {
    subject: &'s Subject,
    choice: Choice,
    /// Its experiments so far.
    done: u32,
    /// What those to come are expected to bring.
    expected: Expected,
    /// Share of the time and of the bytes left that they are expected to take, together.
    cost: f64,
}

/// The experiment to do next where so much time is left; `None` where nothing wanted fits any more.
pub(crate) fn next(now: &Situation, budget: Budget, left: Nanos, aim: &Aim) -> Option<Choice> {
    let open: Vec<Open> = SUBJECTS
        .iter()
        .filter(|subject| aim.want.needs(subject))
        .filter_map(|subject| Open::of(subject, now, budget, left, aim))
        .collect();
    let chains = open.iter().filter(|one| aim.want.asks(one.subject)).map(|one| chain(one, &open));
    let best = chains.max_by(|one, other| worth(one).total_cmp(&worth(other)))?;
    best.first().map(|first| first.choice.clone())
}

/// Experiments of a question so far, where it takes several.
fn done(now: &Situation, subject: &Subject) -> u32 {
    match (subject.left)(now) {
        Left::One => 0,
        Left::Usually(_, done) => done,
    }
}

/// About how long it takes to settle a question that is open, whose next experiment is this one.
pub(crate) fn time_to_settle(now: &Situation, subject: &Subject, next: &Experiment, aim: &Aim) -> Nanos {
    let left = table::shipped().expected(subject.key, done(now, subject), aim.want).left;
    Nanos(((aim.time_of)(next).as_f64() * left) as u64)
}

impl<'s> Open<'s> {
    /// `None` where it is settled, or its next experiment fits in no form.
    fn of(subject: &'s Subject, now: &Situation, budget: Budget, left: Nanos, aim: &Aim) -> Option<Open<'s>> {
        let Choice { experiment, why } = (subject.choice)(now)?;
        if cut_off(now, experiment.name()) >= MOST_CUT_OFF {
            return None;
        }
        let whole = (aim.time_of)(&experiment);
        let experiment = smaller::within(experiment, left, aim.time_of)?;
        let written = experiment.bytes_written();
        if written > budget.write {
            return None;
        }
        let done = done(now, subject);
        let expected = table::shipped().expected(subject.key, done, aim.want);
        let time = whole.as_f64() * expected.left / left.as_f64().max(1.0);
        let bytes = written.as_f64() * expected.left / budget.write.as_f64().max(1.0);
        Some(Open { subject, choice: Choice { experiment, why }, done, expected, cost: time + bytes })
    }

    /// Whether what leans on it has to wait.
    fn holds_up(&self) -> bool {
        self.done == 0 || self.expected.settled >= HOLDS_UP
    }
}

/// Experiments of this kind that ended before their end.
fn cut_off(now: &Situation, name: ExperimentName) -> usize {
    now.observations.runs.iter().filter(|run| !run.complete && run.data.name() == name).count()
}

/// The open questions that one leans on, directly or not, in the order of the plan, and itself behind them.
fn chain<'o, 's>(one: &'o Open<'s>, open: &'o [Open<'s>]) -> Vec<&'o Open<'s>> {
    let mut keys = vec![one.subject.key];
    let mut at = 0;
    while let Some(key) = keys.get(at).copied() {
        let after = SUBJECTS.iter().find(|subject| subject.key == key).map_or(&[][..], |subject| subject.after);
        keys.extend(after.iter().filter(|key| !keys.contains(key)).copied().collect::<Vec<_>>());
        at += 1;
    }
    let of_it = |other: &&Open| other.subject.key == one.subject.key || other.holds_up();
    open.iter().filter(|other| keys.contains(&other.subject.key)).filter(of_it).collect()
}

/// Findings that a chain is expected to settle, for a share of what is left. What takes more than is left settles no more than
/// its part.
fn worth(chain: &[&Open]) -> f64 {
    let cost: f64 = chain.iter().map(|one| one.cost).sum();
    let settled: f64 = chain.iter().map(|one| one.expected.settled).sum();
    settled * (1.0 / cost.max(1.0)) / cost.max(1e-6)
}
