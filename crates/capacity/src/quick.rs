//! The quick test: blocks all over the device, the region at its start behind them, and rounds that narrow the true size down.

use crate::hands::{GoOn, Hands};
use crate::plan::Plan;
use flashscope_device::{DeviceError, Known, Target, WriteGrant};
use flashscope_infer::capacity::{Control, Next, next, shape};
use flashscope_model::StopReason;
use flashscope_model::capacity::{Found, Place, Quick, Round};
use flashscope_model::run::Cost;
use flashscope_units::Bytes;

/// Whoever watches a test.
pub trait Watch {
    /// So many bytes of so many were moved.
    fn progress(&mut self, moved: Bytes, most: Bytes);

    /// Whether to stop.
    fn stop(&mut self) -> bool;
}

/// What came of a test.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome<S> {
    /// What it saw.
    pub seen: S,
    /// What it cost.
    pub cost: Cost,
    /// How it ended.
    pub stop: StopReason,
}

/// Parts of the region, in eighths, that push what a round has written out of a cache: most devices have none, or a small one.
const PUSHES: [(u64, u64); 3] = [(0, 1), (1, 3), (3, 8)];

/// Generations that a test uses at most: blocks, region, and for each round its blocks and what pushes them out.
pub(crate) const GENERATIONS: u32 = 16;

/// Tests a device by a plan. Its tags bear this generation and some behind it.
pub fn quick<T: Target + ?Sized>(
    plan: &Plan,
    generation: u32,
    (target, grant): (&mut T, &mut WriteGrant),
    watch: &mut dyn Watch,
) -> Outcome<Quick> {
    let known = Known { first: generation, last: generation.saturating_add(GENERATIONS - 1) };
    let mut seen =
        Quick { claimed: plan.claimed, block: plan.block, gap: plan.gap, region: plan.region, ..Quick::default() };
    let hands = Hands { target, grant, block: plan.block, cost: Cost::default() };
    let mut test = Test { plan, known, hands, moved: Bytes::ZERO, watch };
    let stop = match test.all(&mut seen) {
        Ok(Some(())) => StopReason::Complete,
        Ok(None) => StopReason::Interrupted,
        Err(error @ (DeviceError::Invalid(_) | DeviceError::System(_))) => StopReason::InternalError(error.to_string()),
        Err(error) => StopReason::DeviceLost(error.to_string()),
    };
    seen.written = test.hands.cost.written;
    Outcome { seen, cost: test.hands.cost, stop }
}

struct Test<'a, T: ?Sized> {
    plan: &'a Plan,
    known: Known,
    hands: Hands<'a, T>,
    moved: Bytes,
    watch: &'a mut dyn Watch,
}

impl<T: Target + ?Sized> Test<'_, T> {
    /// `None` where it was told to stop.
    fn all(&mut self, seen: &mut Quick) -> Result<Option<()>, DeviceError> {
        if self.first_pass(seen)?.is_none() {
            return Ok(None);
        }
        let mut generation = self.known.first + 2;
        while let Some(next) = next(seen) {
            match next {
                Next::Check(places) => {
                    let Some(found) = self.read(&places, self.known.first + 1)? else { return Ok(None) };
                    seen.checks = paired(&places, &found);
                }
                Next::Round(places, controls) => {
                    let period = shape(seen).period;
                    match self.round(&places, &controls, period, generation)? {
                        Ended::Told(round) => seen.rounds.push(round),
                        Ended::Untold => return Ok(Some(())),
                        Ended::Stopped => return Ok(None),
                    }
                    generation += 2;
                }
            }
        }
        Ok(Some(()))
    }

    /// Blocks first and the region behind them, so that the region pushes the blocks out of a cache.
    fn first_pass(&mut self, seen: &mut Quick) -> Result<Option<()>, DeviceError> {
        let (blocks, region) = (self.known.first, self.known.first + 1);
        let places = &self.plan.places;
        let Some(failed) = self.with(|hands, go_on| hands.write(places, blocks, go_on))? else { return Ok(None) };
        let Some(failed_stretches) = self.push(&[(Bytes::ZERO, self.plan.region)], region)? else { return Ok(None) };
        let Some(mut found) = self.read(places, blocks)? else { return Ok(None) };
        for (place, found) in places.iter().zip(&mut found) {
            if failed.binary_search(place).is_ok() {
                *found = Found::WriteFailed;
            }
        }
        seen.places = paired(places, &found);
        let (length, known) = (self.plan.region, self.known);
        let read = |hands: &mut Hands<'_, T>, go_on: GoOn<'_>| {
            hands.read_region(length, &failed_stretches, region, known, go_on)
        };
        let Some(holds) = self.with(read)? else { return Ok(None) };
        seen.region_holds = holds;
        Ok(Some(()))
    }

    fn round(
        &mut self,
        places: &[Bytes],
        controls: &[Control],
        period: Option<Bytes>,
        generation: u32,
    ) -> Result<Ended, DeviceError> {
        let watched: Vec<Bytes> = controls.iter().map(|control| control.at).collect();
        let then: Vec<Bytes> = controls.iter().filter_map(|control| control.then).collect();
        let all = [places, &watched, &then].concat();
        if self.hands.grant.left() < self.plan.block * all.len() as u64 {
            return Ok(Ended::Untold);
        }
        let Some(failed) = self.with(|hands, go_on| hands.write(&all, generation, go_on))? else {
            return Ok(Ended::Stopped);
        };
        self.hands.flush()?;
        let Some(mut shown) = self.read(&watched, generation)? else { return Ok(Ended::Stopped) };
        let mut pushed = Bytes::ZERO;
        // More and more, for as long as a cache answers: what comes from it tells nothing of the flash.
        for (from, to) in PUSHES {
            if !shown.iter().any(|found| Control::shows_a_cache(*found)) {
                break;
            }
            let part = |share: u64| (self.plan.region / 8 * share).align_down(self.plan.block);
            let stretches = beside(&all, period, self.plan.block, part(from), part(to));
            let length = stretches.iter().map(|(_, length)| *length).sum();
            if self.hands.grant.left() < length {
                return Ok(Ended::Untold);
            }
            if self.push(&stretches, generation + 1)?.is_none() {
                return Ok(Ended::Stopped);
            }
            pushed += length;
            let Some(again) = self.read(&watched, generation)? else { return Ok(Ended::Stopped) };
            shown = again;
        }
        if shown.iter().any(|found| Control::shows_a_cache(*found)) {
            return Ok(Ended::Untold);
        }
        let Some(mut found) = self.read(places, generation)? else { return Ok(Ended::Stopped) };
        for (place, found) in places.iter().zip(&mut found) {
            if failed.binary_search(place).is_ok() {
                *found = Found::WriteFailed;
            }
        }
        Ok(Ended::Told(Round { places: paired(places, &found), controls: paired(&watched, &shown), pushed }))
    }

    /// Writes stretches, and flushes. Gives the addresses of requests that failed.
    fn push(&mut self, stretches: &[(Bytes, Bytes)], generation: u32) -> Result<Option<Vec<Bytes>>, DeviceError> {
        let failed = self.with(|hands, go_on| hands.write_stretches(stretches, generation, go_on))?;
        self.hands.flush()?;
        Ok(failed)
    }

    fn read(&mut self, places: &[Bytes], generation: u32) -> Result<Option<Vec<Found>>, DeviceError> {
        let known = self.known;
        self.with(|hands, go_on| hands.read(places, generation, known, go_on))
    }

    /// Does something with the target while whoever watches is told how far it is.
    fn with<R>(&mut self, act: impl FnOnce(&mut Hands<'_, T>, GoOn<'_>) -> R) -> R {
        let Test { plan, hands, moved, watch, .. } = self;
        // Blocks and region are written and read; rounds are short beside them.
        let most = plan.first_pass() * 2;
        let mut go_on = |bytes: Bytes| {
            *moved += bytes;
            watch.progress((*moved).min(most), most);
            !watch.stop()
        };
        act(hands, &mut go_on)
    }
}

/// How a round ended.
enum Ended {
    Told(Round),
    /// The budget does not cover it, or a cache answers.
    Untold,
    Stopped,
}

/// What lies between two addresses beside these places and those that are the same, where addresses begin anew: what is
/// written there leaves them as they are.
fn beside(places: &[Bytes], period: Option<Bytes>, block: Bytes, from: Bytes, to: Bytes) -> Vec<(Bytes, Bytes)> {
    let within = |at: Bytes| period.map_or(at, |period| at % period);
    let turns = |at: Bytes| {
        let step = period.map_or(u64::MAX, Bytes::get);
        (0..).map_while(move |turn: u64| at.get().checked_add(step.checked_mul(turn)?)).map(Bytes)
    };
    let mut left_out: Vec<Bytes> =
        places.iter().flat_map(|at| turns(within(*at)).take_while(|at| *at < to)).filter(|at| *at >= from).collect();
    left_out.sort_unstable();
    left_out.dedup();
    let starts = [from].into_iter().chain(left_out.iter().map(|at| *at + block));
    let ends = left_out.iter().copied().chain([to]);
    starts.zip(ends).filter(|(start, end)| start < end).map(|(start, end)| (start, end - start)).collect()
}

fn paired(places: &[Bytes], found: &[Found]) -> Vec<Place> {
    places.iter().zip(found).map(|(at, found)| Place { at: *at, found: *found }).collect()
}
