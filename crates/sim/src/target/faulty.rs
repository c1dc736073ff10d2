//! The way that requests take where something is wrong with the device ([`crate::fault`]).

use super::SimTarget;
use crate::content::Held;
use crate::fault::{Faults, MediumChange, Place, Placement, PowerCut, Recovery, Verdict, Why, Written};
use crate::ftl::{Ftl, Work};
use flashscope_device::{Completion, Content, DeviceError, Fill, Op, Outcome, PowerSwitch, Request, Restored};
use flashscope_model::Direction;
use flashscope_units::{Bytes, Instant, Nanos};

impl SimTarget {
    /// Whether the model has a `[fault]` section. Without one every address is its own place, every request is answered
    /// and the device never goes away.
    pub fn has_faults(&self) -> bool {
        self.faults.is_some()
    }

    /// Where a range inside the device really lives, for one who keeps the bytes himself: stretches in order, that
    /// cover it. What is read may come from elsewhere than what is written goes to.
    pub fn resolve(&self, start: Bytes, length: Bytes, direction: Direction) -> Vec<Placement> {
        match &self.faults {
            Some(faults) => faults.map.resolve(start, length, direction),
            None => vec![Placement { start, length, place: Place::Medium(start) }],
        }
    }

    /// Why the device does not answer any more, if it does not.
    pub fn gone(&self) -> Option<&'static str> {
        self.faults.as_ref()?.gone.map(Why::words)
    }

    /// Cuts the power now. What the device answers from then on is [`DeviceError::Vanished`], until
    /// [`power_on`](SimTarget::power_on).
    ///
    /// # Errors
    /// [`DeviceError::Invalid`] where the model has no `[fault]` section: nobody kept track of what is safe.
    pub fn cut_power(&mut self) -> Result<(), DeviceError> {
        let now = self.now;
        match &mut self.faults {
            Some(faults) => faults.end_at(now, Why::PowerCut),
            None => return Err(DeviceError::Invalid("a device without faults was to lose its power".to_owned())),
        }
        self.pass(now);
        Ok(())
    }

    /// Brings a device back that lost its power or vanished: after it has started up, with exactly what was on the medium. A
    /// device that is there is left alone.
    pub fn power_on(&mut self) {
        let Some(mut faults) = self.faults.take() else { return };
        if faults.gone.is_some() {
            (faults.cut_off, faults.ready_from) = (0, self.now);
            faults.hung.clear();
            self.outstanding.clear();
            // The mapping goes on from all writes, also those that are gone: while the power is off it closes what it has open, so
            // that nothing of that is left in memory and none of its time counts as starting up.
            self.settled = self.device.serve(self.now, Work::Flush).max(self.now);
            self.now = self.settled + faults.start_up();
            match faults.recovery() {
                Recovery::Dead => faults.gone = Some(Why::Dead),
                Recovery::Shrunk => self.facts.capacity = faults.shrunk_to(),
                Recovery::Usual | Recovery::Slow => {}
            }
        }
        if faults.gone.is_some_and(|why| why != Why::Dead) {
            faults.gone = None;
            self.settled = self.now;
            faults.plan_end(self.now);
        }
        self.faults = Some(faults);
    }

    /// What the last power cut found.
    pub fn last_power_cut(&self) -> Option<PowerCut> {
        self.faults.as_ref()?.last_cut
    }

    /// What came to stand on the medium since the last call, in order, for one who keeps the bytes himself and must
    /// know what is left of them after a power cut. The first call begins the list; it grows until it is taken.
    pub fn medium_changes(&mut self) -> Vec<MediumChange> {
        let now = self.now;
        self.faults.as_mut().map_or_else(Vec::new, |faults| {
            if faults.gone.is_none() {
                faults.log.settle(now);
            }
            faults.log.take_changes()
        })
    }

    pub(super) fn submit_faulty(&mut self, batch: &[Request]) -> Result<(), DeviceError> {
        for request in batch {
            self.pass(self.now);
            // Out of the target while it is at work, so that both can be changed.
            let Some(mut faults) = self.faults.take() else { return Ok(()) };
            let taken = self.take_faulty(request, &mut faults);
            self.faults = Some(faults);
            self.pass(self.now);
            taken?;
            self.audit(request)?;
        }
        Ok(())
    }

    fn take_faulty(&mut self, request: &Request, faults: &mut Faults) -> Result<(), DeviceError> {
        let issued = self.now;
        if let Some(why) = faults.gone {
            return Err(DeviceError::Vanished(why.words().to_owned()));
        }
        if faults.count() {
            faults.forget_number();
            faults.end_at(issued, Why::Vanished);
            return Err(DeviceError::Vanished(Why::Vanished.words().to_owned()));
        }
        faults.log.settle(issued);
        if let Some(pause) = faults.reset(issued) {
            faults.ready_from = issued.max(faults.ready_from) + pause;
        }
        let direction = if request.op() == Op::Read { Direction::Read } else { Direction::Write };
        let placements = faults.map.resolve(request.offset(), request.length(), direction);
        let verdict = match self.is_worn_out_for(request.op(), &placements) {
            true => Verdict::Fails { late_by: Nanos::ZERO },
            false => faults.judge(&placements, direction),
        };
        let ((outcome, content), done) = match verdict {
            Verdict::Hangs => {
                faults.hung.push(issued);
                if faults.cut_within().is_some() {
                    faults.end_at(issued, Why::PowerCut);
                }
                return Ok(());
            }
            Verdict::Good { late_by } => {
                let (found, done) = self.work(request, &placements, faults);
                (found, done + late_by)
            }
            Verdict::Fails { late_by } => {
                let done = self.fail(request, &placements, faults);
                ((Outcome::Failed(EIO.to_owned()), Content::Unknown), done + late_by)
            }
        };
        let completed = done + self.noise.delay(issued, done.since(issued));
        if !matches!(outcome, Outcome::Failed(_)) {
            self.change(request, &placements, faults, issued, completed);
        }
        self.settled = self.settled.max(completed);
        let stretches = self.examined(request, &outcome, &placements);
        self.complete(Completion { id: request.id(), issued, completed, outcome, content, stretches }, faults);
        Ok(())
    }

    /// When a request that fails is answered: a read after the flash was tried, a write before anything is programmed.
    fn fail(&mut self, request: &Request, placements: &[Placement], faults: &mut Faults) -> Instant {
        match request.op() {
            Op::Read => self.work(request, placements, faults).1,
            _ => {
                let start = self.now.max(faults.ready_from);
                start + faults.link.command + faults.link.transfer(request.length())
            }
        }
    }

    /// What a read finds, and when the work is done. Changes no content.
    fn work(
        &mut self,
        request: &Request,
        placements: &[Placement],
        faults: &mut Faults,
    ) -> ((Outcome, Content), Instant) {
        let start = self.now.max(faults.ready_from);
        if request.op() == Op::Flush {
            let done = if faults.lies() { start + faults.link.command } else { self.serve_flush(start) };
            return ((Outcome::Success, Content::Unknown), done);
        }
        let mut seen = Seen::default();
        let mut done = start;
        for placement in placements {
            let Placement { start: addressed, length, place } = *placement;
            if request.op() == Op::Read {
                let found = match place {
                    Place::Medium(at) => self.look(at, length, request.fill(), addressed),
                    Place::Zeros => (verified(request.fill(), Some(0)), Content::Uniform(0)),
                    Place::Garbage | Place::Nowhere => (verified(request.fill(), None), Content::Varied),
                };
                seen.add(found);
            }
            done = done.max(match place {
                Place::Medium(at) => {
                    if let Op::Write { .. } = request.op() {
                        faults.log.before_write(start, at, length, &mut self.device);
                    }
                    let done = self.serve(start, kept_word(request.op(), faults), at, length);
                    if let Op::Write { .. } = request.op() {
                        self.note_written(length);
                    }
                    done
                }
                // No flash is touched: the command and the data are all.
                Place::Nowhere | Place::Zeros | Place::Garbage => {
                    start + faults.link.command + faults.link.transfer(length)
                }
            });
        }
        (seen.whole(), done)
    }

    fn serve_flush(&mut self, at: Instant) -> Instant {
        self.serve(at, Op::Flush, Bytes::ZERO, Bytes::ZERO)
    }

    /// What a request that went well does to the content, and to the medium.
    fn change(
        &mut self,
        request: &Request,
        placements: &[Placement],
        faults: &mut Faults,
        issued: Instant,
        completed: Instant,
    ) {
        if request.op() == Op::Flush && !faults.lies() {
            faults.log.flush(issued, completed);
        }
        for placement in placements {
            let Placement { start: addressed, length, place: Place::Medium(at) } = *placement else { continue };
            match (request.op(), request.fill()) {
                (Op::Write { durable }, Some(fill)) => {
                    let held = Held::brought(fill, addressed, at);
                    self.contents.set(at, length, held);
                    let durable = durable && !faults.lies();
                    faults.log.write(Written {
                        request: request.id(),
                        at,
                        length,
                        addressed,
                        held,
                        issued,
                        completed,
                        durable,
                    });
                }
                (Op::Discard, _) => {
                    let (at, length) = self.discarded(at, length);
                    self.contents.set(at, length, Held::Erased);
                    faults.log.discard(at, length, issued, completed);
                }
                _ => {}
            }
        }
    }

    /// Hands out the completion, unless the device goes away before it.
    fn complete(&mut self, completion: Completion, faults: &mut Faults) {
        if let Some(share) = faults.cut_within() {
            let time = completion.service_time().as_f64() * share;
            faults.end_at(completion.issued + Nanos(time as u64), Why::PowerCut);
        }
        self.outstanding.push(completion);
        if let Some((end, _)) = faults.ends {
            let before = self.outstanding.len();
            self.outstanding.retain(|one| one.completed <= end);
            faults.cut_off += before - self.outstanding.len();
        }
    }

    /// Time has come to `now`: the device may be gone by then.
    fn pass(&mut self, now: Instant) {
        let Some(faults) = &mut self.faults else { return };
        let Some((end, why)) = faults.ends.filter(|&(end, _)| end <= now) else { return };
        let (left, mut cut) = faults.log.cut(end, &mut self.device);
        self.contents = left;
        if why == Why::PowerCut {
            cut.recovery = faults.draw_recovery();
        }
        faults.last_cut = Some(cut);
        faults.gone = Some(why);
        faults.ends = None;
        let before = self.outstanding.len();
        self.outstanding.retain(|one| one.completed <= end);
        faults.cut_off += before - self.outstanding.len();
    }

    /// `missing` completions that were waited for have not come: says why, if they never will.
    pub(super) fn miss(&mut self, missing: usize) -> Result<(), DeviceError> {
        self.pass(self.now);
        let Some(faults) = &mut self.faults else { return Ok(()) };
        if missing == 0 || (faults.cut_off == 0 && faults.hung.is_empty()) {
            return Ok(());
        }
        if faults.cut_off > 0 {
            let end = faults.ends.map_or(self.now, |(end, _)| end.max(self.now));
            let why = faults.gone.or(faults.ends.map(|(_, why)| why)).unwrap_or(Why::Vanished);
            faults.cut_off = 0;
            self.now = end;
            self.pass(end);
            return Err(DeviceError::Vanished(why.words().to_owned()));
        }
        let timeout = faults.hang_timeout();
        let given_up = faults.hung.drain(..).map(|issued| issued + timeout).max();
        self.now = self.now.max(given_up.unwrap_or(self.now));
        self.settled = self.settled.max(self.now);
        self.pass(self.now);
        Err(DeviceError::Hung(format!("no completion within {timeout}")))
    }

    /// Nothing is outstanding from `from` to `at`, and the device may go away in between.
    pub(super) fn wait_faulty(&mut self, from: Instant, at: Instant) {
        let Some(faults) = &self.faults else { return };
        let until = faults.ends.map_or(at, |(end, _)| end.min(at));
        if faults.gone.is_none() && until > from {
            self.device.idle(from, until);
        }
        self.pass(at);
    }
}

impl PowerSwitch for SimTarget {
    fn cut_power(&mut self) -> Result<(), DeviceError> {
        SimTarget::cut_power(self)
    }

    fn has_lost_power(&mut self) -> Result<bool, DeviceError> {
        Ok(self.gone().is_some())
    }

    fn restore_power(&mut self) -> Result<Restored, DeviceError> {
        let took = self.faults.as_ref().map_or(Nanos::ZERO, |faults| faults.start_up());
        self.power_on();
        match self.gone() {
            Some(why) => Err(DeviceError::Vanished(why.to_owned())),
            None => Ok(Restored { took, grant: None }),
        }
    }
}

/// What the kernel says of a sector that cannot be read or written.
pub(super) const EIO: &str = "EIO: input/output error";

/// A device that lies does not let a durable write wait for the flash.
fn kept_word(op: Op, faults: &Faults) -> Op {
    match op {
        Op::Write { durable } => Op::Write { durable: durable && !faults.lies() },
        other => other,
    }
}

/// What a verification says of a place that gives this byte, or bytes that nobody wrote.
fn verified(expected: Option<Fill>, found: Option<u8>) -> Outcome {
    match expected {
        None => Outcome::Success,
        Some(Fill::Byte(byte)) if Some(byte) == found => Outcome::Success,
        Some(_) => Outcome::Mismatch,
    }
}

/// What a read finds over several places.
#[derive(Default)]
struct Seen {
    mismatch: bool,
    content: Option<Content>,
}

impl Seen {
    fn add(&mut self, (outcome, content): (Outcome, Content)) {
        self.mismatch |= outcome == Outcome::Mismatch;
        self.content = Some(match self.content {
            Some(earlier) if earlier != content => Content::Varied,
            _ => content,
        });
    }

    fn whole(self) -> (Outcome, Content) {
        let outcome = if self.mismatch { Outcome::Mismatch } else { Outcome::Success };
        (outcome, self.content.unwrap_or(Content::Unknown))
    }
}
