//! One step of reads or writes, carried out from wherever it was stopped.

use crate::recipe::{MOST_ROUNDS, Recipe, SEQUENTIAL, Step};
use flashscope_device::{
    Completion, DeviceError, ExecuteExt, Fill, GrantError, Op, Outcome, Request, Target, WriteGrant,
};
use flashscope_load::pattern::Permutation;
use flashscope_model::StopReason;
use flashscope_stats::rng::stream;
use flashscope_stats::steady::{WINDOW, steady_state};
use flashscope_units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};

/// Requests that are handed over together, …
const BATCH: usize = 32;
/// … and bytes: little enough that Ctrl-C is heard soon.
const BATCH_BYTES: Bytes = Bytes::mib(4);
/// Failed requests in a row after which the device is given up.
const HOPELESS: u64 = 100;
/// Parts of a step whose rates are kept.
const PARTS: u64 = 10;
/// Parts of the random writes of `dirty`: each a tenth of the capacity.
const SPREAD_PARTS: u64 = 12;
/// A rate below this share of the best one shows that collection copies.
const SLOWED: f64 = 0.8;
/// What random writes are tagged with: the same as the pass below them, so that everything reads back in one way.
const UNDER: Fill = Fill::Tagged { generation: 1 };

/// How far a step is, and what was seen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Position {
    /// Number of the next request.
    pub(crate) next: u64,
    pub(crate) written: u64,
    pub(crate) read: u64,
    pub(crate) time_ns: u64,
    pub(crate) failed: u64,
    pub(crate) mismatched: u64,
    /// What the first failure was.
    pub(crate) first_failure: Option<String>,
    /// Bytes per second of each part, or round.
    pub(crate) rates: Vec<f64>,
    /// Bytes and time of the part that is under way.
    part: (u64, u64),
}

/// How a step ended.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum End {
    /// All of it was done.
    Done,
    /// It ended early, as the device shows what it was for.
    Shown(String),
    /// It was done, and did not show what it was for.
    Missed(String),
    /// It was cut short.
    Cut(StopReason),
}

/// What a step is done with.
pub(crate) struct Hands<'a, T> {
    pub(crate) recipe: &'a Recipe,
    pub(crate) target: &'a mut T,
    pub(crate) grant: &'a mut WriteGrant,
}

impl<T: Target> Hands<'_, T> {
    /// Carries a step on to its end. After every batch `look` may say that it is to stop.
    ///
    /// # Errors
    /// Where the target cannot go on; the position is that of the last batch that came back.
    pub(crate) fn carry_out(
        &mut self,
        step: &Step,
        at: &mut Position,
        look: &mut dyn FnMut(&Position, &mut T) -> bool,
    ) -> Result<End, DeviceError> {
        let walk = Walk::new(step, self.recipe);
        let (mut batch, mut done) = (Vec::with_capacity(BATCH), Vec::with_capacity(BATCH));
        let mut in_a_row = 0;
        loop {
            if let Some(end) = walk.ended(at) {
                self.settle(step)?;
                return Ok(end);
            }
            batch.clear();
            if let Err(GrantError::BudgetSpent { .. }) = walk.fill(at, self.grant, &mut batch)
                && batch.is_empty()
            {
                return Ok(End::Cut(StopReason::BudgetSpent));
            }
            let from = self.target.now();
            self.target.submit(&batch)?;
            done.clear();
            while done.len() < batch.len() {
                let before = done.len();
                self.target.reap(batch.len() - before, &mut done)?;
                if done.len() == before {
                    return Err(DeviceError::Hung("requests were lost".to_owned()));
                }
            }
            at.next += batch.len() as u64;
            in_a_row = at.count(&batch, &done, self.target.now().since(from), in_a_row);
            walk.end_of_part(at);
            if in_a_row >= HOPELESS {
                return Ok(End::Cut(StopReason::Failing));
            }
            if look(at, self.target) {
                return Ok(End::Cut(StopReason::Interrupted));
            }
        }
    }

    /// What was written is on the medium before the next step begins.
    fn settle(&mut self, step: &Step) -> Result<(), DeviceError> {
        if !matches!(step, Step::Check { .. }) && self.target.capabilities().flush {
            self.target.execute(Request::flush(0))?;
        }
        Ok(())
    }
}

impl Position {
    /// Takes down what came of a batch. Gives how many requests in a row have failed by now, of which there were `in_a_row`.
    fn count(&mut self, batch: &[Request], done: &[Completion], took: Nanos, mut in_a_row: u64) -> u64 {
        let before = self.written + self.read;
        for completion in done {
            let request = &batch[completion.id as usize];
            let is_read = request.op() == Op::Read;
            in_a_row = if let Outcome::Failed(why) = &completion.outcome {
                self.failed += 1;
                self.first_failure.get_or_insert_with(|| format!("{why}, at {}", request.offset().get()));
                in_a_row + 1
            } else {
                *(if is_read { &mut self.read } else { &mut self.written }) += request.length().get();
                0
            };
            self.mismatched += u64::from(completion.outcome == Outcome::Mismatch);
        }
        self.time_ns += took.get();
        self.part = (self.part.0 + self.written + self.read - before, self.part.1 + took.get());
        in_a_row
    }
}

/// Which requests a step consists of. Each follows from its number.
struct Walk<'a> {
    step: &'a Step,
    recipe: &'a Recipe,
    order: Permutation,
    /// Requests in all; `None` where bytes decide.
    count: Option<u64>,
    /// Bytes of a part.
    part: u64,
    seed: u64,
}

impl<'a> Walk<'a> {
    fn new(step: &'a Step, recipe: &'a Recipe) -> Walk<'a> {
        let blocks = |length: Bytes, size: Bytes| length.get().div_ceil(size.get());
        let (count, part) = match step {
            Step::Purge { .. } => (Some(0), 1),
            Step::Sequential { length, .. } => (Some(blocks(*length, SEQUENTIAL)), length.get().div_ceil(PARTS)),
            Step::Shuffled { length, size, .. } => (Some(blocks(*length, *size)), length.get().div_ceil(PARTS)),
            Step::Check { length, size, one_of, .. } => (Some(blocks(*length, *size).div_ceil(*one_of)), u64::MAX),
            Step::Spread { bytes, .. } => (None, bytes.get().div_ceil(SPREAD_PARTS)),
            Step::Rounds { bytes, .. } => (None, bytes.get()),
        };
        let of_step = match step {
            Step::Shuffled { generation, .. } => u64::from(*generation),
            _ => 0,
        };
        let seed = stream(recipe.seed, of_step);
        Walk { step, recipe, order: Permutation::new(count.unwrap_or(1), seed), count, part: part.max(1), seed }
    }

    /// The next requests, as far as a batch and the part that is under way go.
    fn fill(&self, at: &Position, grant: &mut WriteGrant, batch: &mut Vec<Request>) -> Result<(), GrantError> {
        let mut bytes = Bytes::ZERO;
        while batch.len() < BATCH && bytes < BATCH_BYTES && at.part.0 + bytes.get() < self.part {
            let number = at.next + batch.len() as u64;
            if self.count.is_some_and(|count| number >= count) {
                break;
            }
            let id = batch.len() as u64;
            let request = self.request(id, number, grant)?;
            bytes += request.length();
            batch.push(request);
        }
        Ok(())
    }

    fn request(&self, id: u64, number: u64, grant: &mut WriteGrant) -> Result<Request, GrantError> {
        let block = |number: u64, size: Bytes, length: Bytes| (size * number, size.min(length - size * number));
        let tagged = |generation: &u32| Fill::Tagged { generation: *generation };
        match self.step {
            Step::Sequential { length, generation } => {
                let (at, length) = block(number, SEQUENTIAL, *length);
                Request::write(grant, id, at, length, tagged(generation), false)
            }
            Step::Shuffled { length, size, generation } => {
                let (at, length) = block(self.order.at(number), *size, *length);
                Request::write(grant, id, at, length, tagged(generation), false)
            }
            Step::Check { length, size, one_of, generation } => {
                let (at, length) = block(number * one_of, *size, *length);
                Ok(Request::verify(id, at, length, tagged(generation)))
            }
            Step::Spread { mix, .. } | Step::Rounds { mix, .. } => {
                let (at, length) = mix.write(self.seed, number, self.recipe.capacity);
                Request::write(grant, id, at, length, UNDER, false)
            }
            Step::Purge { .. } => Ok(Request::flush(id)),
        }
    }

    /// Closes the part that is under way where it is full.
    fn end_of_part(&self, at: &mut Position) {
        let (bytes, time) = at.part;
        if bytes >= self.part && time > 0 {
            at.rates.push(bytes as f64 / (time as f64 / 1e9));
            at.part = (0, 0);
        }
    }

    /// How the step has ended, where it has.
    fn ended(&self, at: &Position) -> Option<End> {
        match self.step {
            Step::Spread { bytes, .. } => match shows_dirt(&at.rates) {
                Some(why) => Some(End::Shown(why)),
                None => (at.written >= bytes.get()).then_some(End::Done),
            },
            Step::Rounds { .. } => {
                let seen = steady_state(&at.rates).ok()?;
                let why = format!(
                    "after {} rounds, the last {WINDOW} within {:.1} %, rise or fall {:.1} %",
                    at.rates.len(),
                    seen.range_ratio * 100.0,
                    seen.slope_ratio.abs() * 100.0
                );
                match () {
                    () if seen.is_steady => Some(End::Shown(format!("steady {why} (at most 20 % and 10 %)"))),
                    () if at.rates.len() >= MOST_ROUNDS as usize => Some(End::Missed(format!("not steady {why}"))),
                    () => None,
                }
            }
            _ => self.count.filter(|count| at.next >= *count).map(|_| End::Done),
        }
    }
}

/// Whether random writes have come down to a steady, lower rate, by parts of a tenth of the capacity each.
fn shows_dirt(rates: &[f64]) -> Option<String> {
    let seen = steady_state(rates).ok().filter(|seen| seen.is_steady)?;
    let best = rates.iter().copied().fold(0.0, f64::max);
    let slowed = rates.len() > WINDOW && seen.mean < SLOWED * best;
    slowed.then(|| {
        format!(
            "random writes came down to {:.0} % of their best rate and stay within {:.1} % over half the capacity",
            seen.mean / best * 100.0,
            seen.range_ratio * 100.0
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dirt_shows_by_a_rate_that_fell_and_stays() {
        let check = |rates: &[f64], shown: bool| assert_eq!(shows_dirt(rates).is_some(), shown, "{rates:?}");
        check(&[100.0, 50.0, 51.0, 49.0, 50.0, 50.0], true);
        check(&[100.0, 50.0, 51.0, 49.0, 50.0], false);
        check(&[50.0, 50.0, 51.0, 49.0, 50.0, 50.0], false);
        check(&[100.0, 80.0, 65.0, 50.0, 40.0, 30.0], false);
    }
}
