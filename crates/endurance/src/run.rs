//! Passes one after the other, and what was written last read again.

use crate::journal::{Journal, KeptPass, Registers};
use crate::plan::Plan;
use flashscope_capacity::{Filling, FullPlan, Keep, full};
use flashscope_device::{DeviceError, ExecuteExt, Fill, Known, Outcome, Request, Target, WriteGrant};
use flashscope_infer::endurance::life_used;
use flashscope_model::endurance::{EndKind, Milestone, Pass};
use flashscope_model::{Health, StopReason};
use flashscope_units::{Bytes, Nanos};

/// Places that are written or read to see whether a device still takes such requests.
const PLACES: u64 = 16;
/// Size of these.
const PLACE: Bytes = Bytes::kib(4);

/// Whoever watches the passes, keeps how far they are, and knows the device from outside.
pub trait Watch {
    /// How far it is.
    fn progress(&mut self, progress: Progress);

    /// Whether to stop.
    fn stop(&mut self) -> bool;

    /// Whether it is time to keep it.
    fn is_due(&mut self) -> bool;

    /// Keeps it.
    fn keep(&mut self, journal: &Journal);

    /// What the host sees of the device now.
    fn look(&mut self, target: &dyn Target) -> Look;

    /// Now, on a clock that goes on while this program does not run.
    fn clock(&mut self, target: &dyn Target) -> Nanos;

    /// Lets time pass until that moment of this clock, or until it is to stop.
    fn wait(&mut self, target: &mut dyn Target, until: Nanos);
}

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Number of the pass, from 1; `None`: what was written last is read again.
    pub pass: Option<u32>,
    /// Bytes moved of the pass.
    pub moved: Bytes,
    /// Bytes that the pass moves.
    pub most: Bytes,
    /// Passes at most, as far as that is known.
    pub passes: Option<u32>,
}

/// What the host sees of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Look {
    /// Registers that tell of wear.
    pub health: Option<Health>,
    /// Its size; `None` where it cannot be seen now.
    pub capacity: Option<Bytes>,
}

/// Carries the passes on to their end, or as far as they get. What they came to is in the journal.
pub fn endure(
    plan: &Plan,
    journal: &mut Journal,
    (target, grant): (&mut dyn Target, &mut WriteGrant),
    watch: &mut dyn Watch,
) -> StopReason {
    if journal.is_new() {
        journal.before = Registers::of(watch.look(target).health);
    }
    journal.sessions += 1;
    watch.keep(journal);
    let from = target.now();
    let mut work = Work { plan, journal, target, grant, watch };
    let stop = match work.all() {
        Ok(stop) => stop,
        Err(error) => StopReason::InternalError(error.to_string()),
    };
    let spent = target.now().since(from);
    journal.spend(spent);
    watch.keep(journal);
    stop
}

struct Work<'a> {
    plan: &'a Plan,
    journal: &'a mut Journal,
    target: &'a mut dyn Target,
    grant: &'a mut WriteGrant,
    watch: &'a mut dyn Watch,
}

impl Work<'_> {
    fn all(&mut self) -> Result<StopReason, flashscope_capacity::PlanError> {
        while !self.journal.is_written() {
            if self.journal.filling.is_none()
                && let Some(end) = self.end_by_plan()
            {
                self.end(end, None);
                break;
            }
            match self.pass()? {
                StopReason::Complete => {}
                stop => return Ok(stop),
            }
        }
        self.again()
    }

    /// Which limit is reached, if one is.
    fn end_by_plan(&self) -> Option<EndKind> {
        let (plan, passes, written) = (self.plan, self.journal.passes(), self.journal.written());
        let last = || self.journal.all_passes(plan).last().copied();
        let reached = |until: &Milestone| last().is_some_and(|pass: Pass| until.is_reached(pass.bad(), plan.claimed));
        if plan.until.as_ref().is_some_and(reached) {
            return Some(EndKind::Until);
        }
        if plan.most_passes.is_some_and(|most| passes >= most) {
            return Some(EndKind::Passes);
        }
        if let Some(limit) = plan.limit {
            let now = last().and_then(|pass| pass.registers);
            let by_registers = spent(self.journal.before.health(), now);
            // A hair above the limit is rounding.
            let with_another = limit.share_of(written + plan.claimed) * (1.0 - 1e-9);
            if with_another > limit.share || by_registers.is_some_and(|share| share >= limit.share) {
                return Some(EndKind::Life);
            }
        }
        (self.grant.left() < plan.claimed).then_some(EndKind::Budget)
    }

    fn end(&mut self, kind: EndKind, why: Option<String>) {
        let now = self.watch.clock(self.target);
        self.journal.ended = Some((kind.word().to_owned(), why, now.get()));
        self.watch.keep(self.journal);
    }

    /// A pass from where it is to its end.
    fn pass(&mut self) -> Result<StopReason, flashscope_capacity::PlanError> {
        let number = self.journal.passes() + 1;
        let order = self.plan.pass(number)?;
        let new = || Filling::new(&order, self.journal.subject(), self.journal.generation(number));
        let mut filling = self.journal.filling.clone().unwrap_or_else(new);
        let most = filling.writes_left(&order).min(self.grant.left());
        let Some(mut grant) = self.grant.split(most) else { return Ok(StopReason::BudgetSpent) };
        let passes = self.plan.passes_at_most();
        let mut keep =
            Keeping { journal: self.journal, watch: self.watch, passes, number: Some(number), order: &order };
        let stop = full(&order, &mut filling, (self.target, &mut grant), &mut keep);
        self.grant.give_back(grant);
        if stop == StopReason::Interrupted || matches!(stop, StopReason::InternalError(_)) {
            return Ok(stop);
        }
        if let StopReason::DeviceLost(_) = stop {
            return Ok(stop);
        }
        let look = self.watch.look(self.target);
        self.journal.passes.push(KeptPass::of(&filling, self.plan, number, look.health));
        self.journal.filling = None;
        let has_unwritten = filling.unwritten(&order) > Bytes::ZERO;
        self.journal.last = Some(filling).filter(Filling::is_over);
        match look.capacity {
            Some(now) if now < self.plan.claimed => {
                self.end(EndKind::Shrunk, Some(format!("{now} are left of {}", self.plan.claimed)));
            }
            _ if has_unwritten || stop == StopReason::Failing => return Ok(self.look_whether_it_is_dead(number)),
            _ => self.watch.keep(self.journal),
        }
        Ok(StopReason::Complete)
    }

    /// After requests that failed: whether the device still takes writes, and can be read.
    fn look_whether_it_is_dead(&mut self, number: u32) -> StopReason {
        let generation = self.journal.generation(number);
        let (fill, known) = (Fill::Tagged { generation }, Known::one(generation));
        // What stands there is written once more, so that nothing changes.
        let writes = self.takes(|grant, at, length| Request::write(grant, 0, at, length, fill, false).ok());
        let reads = self.takes(|_, at, length| Some(Request::examine(0, at, length, known)));
        match (writes, reads) {
            (Ok(true), Ok(true)) => self.watch.keep(self.journal),
            (Ok(false), Ok(true)) => self.end(EndKind::ReadOnly, None),
            (Ok(_), Ok(false)) => self.end(EndKind::Failing, None),
            (Err(error), _) | (_, Err(error)) => return StopReason::DeviceLost(error.to_string()),
        }
        StopReason::Complete
    }

    /// Whether any of a few places all over the device takes such a request.
    fn takes(
        &mut self,
        request: impl Fn(&mut WriteGrant, Bytes, Bytes) -> Option<Request>,
    ) -> Result<bool, DeviceError> {
        let length = PLACE.max(self.plan.block);
        for place in 0..PLACES {
            let at = (self.plan.claimed / PLACES * place).align_down(length);
            let Some(request) = request(self.grant, at, length) else { continue };
            if !matches!(self.target.execute(request)?.outcome, Outcome::Failed(_)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reads what was written last once more, after the time that was asked for.
    fn again(&mut self) -> Result<StopReason, flashscope_capacity::PlanError> {
        let (Some(after), Some(end)) = (self.plan.reread_after, self.journal.end()) else {
            return Ok(StopReason::Complete);
        };
        let is_there = !end.kind.is_death() || end.kind == EndKind::ReadOnly;
        if !is_there || self.journal.last.is_none() {
            return Ok(StopReason::Complete);
        }
        let number = self.journal.passes();
        let order = self.plan.pass(number)?;
        let mut again = match self.journal.again.clone() {
            Some(again) => again,
            None => {
                let written_at = Nanos(self.journal.ended.as_ref().map_or(0, |(_, _, at)| *at));
                if self.watch.clock(self.target) < written_at + after {
                    self.watch.keep(self.journal);
                    self.watch.wait(self.target, written_at + after);
                }
                if self.watch.stop() {
                    return Ok(StopReason::Interrupted);
                }
                self.journal.kept_for_ns = self.watch.clock(self.target).saturating_sub(written_at).get();
                Filling::reading(&order, self.journal.subject(), self.journal.generation(number))
            }
        };
        let mut keep = Keeping { journal: self.journal, watch: self.watch, passes: None, number: None, order: &order };
        Ok(match full(&order, &mut again, (self.target, self.grant), &mut keep) {
            // A device that cannot be read any more is an answer.
            StopReason::Failing => StopReason::Complete,
            stop => stop,
        })
    }
}

/// Share of the rated life that the registers say was spent between two looks.
fn spent(before: Option<Health>, now: Option<Health>) -> Option<f64> {
    let (before, now) = (life_used(&before?)?, life_used(&now?)?);
    Some(now - before)
}

/// Hands on what a full test says, as a part of the whole.
struct Keeping<'a> {
    journal: &'a mut Journal,
    watch: &'a mut dyn Watch,
    passes: Option<u32>,
    /// The pass that is under way; `None`: the data of the last one are read again.
    number: Option<u32>,
    order: &'a FullPlan,
}

impl flashscope_capacity::Watch for Keeping<'_> {
    fn progress(&mut self, moved: Bytes, most: Bytes) {
        // Of what is read again all counts, of which half was done by the pass.
        let (moved, most) = match self.number {
            Some(_) => (moved, most),
            None => (moved.saturating_sub(self.order.claimed), self.order.claimed),
        };
        self.watch.progress(Progress { pass: self.number, moved, most, passes: self.passes });
    }

    fn stop(&mut self) -> bool {
        self.watch.stop()
    }
}

impl Keep for Keeping<'_> {
    fn is_due(&mut self) -> bool {
        self.watch.is_due()
    }

    fn keep(&mut self, filling: &Filling) {
        let place = if self.number.is_some() { &mut self.journal.filling } else { &mut self.journal.again };
        *place = Some(filling.clone());
        self.watch.keep(self.journal);
    }
}
