//! A simulated device as a target: the clock, the queue, the content and the noise around a mapping.

mod ahead;
mod examine;
mod faulty;
mod open;
mod state;

pub use ahead::Source;
pub use open::{Files, open, open_from, open_with};

use crate::ageing::AgeingParams;
use crate::content::{Contents, Held};
use crate::discard::{DiscardParams, Effect};
use crate::fault::{Faults, Place, Placement};
use crate::ftl::{Extent, Ftl, Presence, Work};
use crate::memory::Controller;
use crate::model::{KindName, Model};
use crate::noise::NoiseSource;
use crate::snapshot;
use crate::spec::Spec;
use flashscope_device::{
    Capabilities, Completion, Content, DeviceError, Fill, Foresight, Op, Outcome, Request, Target, Wear,
};
use flashscope_model::{Claims, DeviceFacts, DeviceKind, run::PathTaken};
use flashscope_units::{Bytes, Instant, Nanos};

/// What a device that starts `filled` holds.
const FIRST_FILL: Fill = Fill::Tagged { generation: 0 };

/// No device is simulated for longer: a fifth of what a clock of 64 bits can tell, so that no request overflows it.
const LAST_MOMENT: Instant = Instant(100 * 365 * 24 * 3600 * 1_000_000_000);

/// Where the invariants are looked at now and then: after each of the first requests, so that a test of some steps finds the very one
/// that breaks something …
const FIRST_AUDITS: u64 = 256;
/// … and later after one of so many, a prime number, so that no pattern of requests hides from it. A look costs more than most requests:
/// looking after each took two thirds of the time of tests that inspect simulated devices, and up to nine tenths. What a request
/// breaks in counts of the whole device is still broken at the next look.
const AUDIT_EVERY: u64 = 61;

/// After which requests the invariants are looked at.
#[derive(Clone, Copy, Debug)]
enum Audit {
    Never,
    Sparse,
    Always,
}

/// A simulated device on virtual time. The same model and seed give the same times, bit for bit.
#[derive(Clone, Debug)]
pub struct SimTarget {
    facts: DeviceFacts,
    capabilities: Capabilities,
    max_request: Bytes,
    discard: Option<DiscardParams>,
    device: Controller,
    contents: Contents,
    noise: NoiseSource,
    now: Instant,
    /// When the device is done with all that it was given.
    settled: Instant,
    outstanding: Vec<Completion>,
    audit: Audit,
    /// Requests so far.
    requests: u64,
    /// What use does to it; absent where the model does not say.
    ageing: Option<AgeingParams>,
    /// What the host wrote in all the device's life.
    written: Bytes,
    /// What the device is, and what its inside follows from: what its state is saved with.
    model_text: String,
    seed: u64,
    /// Absent where nothing is wrong with the device.
    faults: Option<Box<Faults>>,
}

impl SimTarget {
    pub(crate) fn new(spec: &Spec, seed: u64) -> SimTarget {
        let (model, seed) = (&spec.model, spec.seed.unwrap_or(seed));
        let medium = model.genuine();
        let mut contents = Contents::new(medium.device.capacity, model.state.erased_byte, Held::Erased);
        contents.set(Bytes::ZERO, medium.written_until(), Held::Written(FIRST_FILL));
        let faults = model.fault.as_ref().map(|fault| Box::new(Faults::new(fault, model, &contents, seed)));
        let mut target = SimTarget {
            facts: facts(model),
            capabilities: Capabilities {
                write: true,
                flush: true,
                discard: model.discard.as_ref().is_none_or(|discard| discard.effect != Effect::Absent),
                queue_depth: model.link.queue_depth,
                granularity: model.device.logical_block,
            },
            max_request: model.link.max_request,
            discard: model.discard.clone(),
            device: Controller::new(&medium, seed),
            contents,
            noise: NoiseSource::new(&model.noise, seed),
            now: Instant::ORIGIN,
            settled: Instant::ORIGIN,
            outstanding: Vec::new(),
            audit: if cfg!(debug_assertions) { Audit::Sparse } else { Audit::Never },
            requests: 0,
            ageing: model.ageing.clone(),
            written: medium.written_until(),
            model_text: snapshot::model_text(&spec.table),
            seed,
            faults,
        };
        target.read_registers();
        target
    }

    /// Checks the invariants after every request, or after none; debug builds check by themselves after each of the first
    /// requests, and then now and then. A broken one is a [`DeviceError::System`].
    pub fn check_always(&mut self, checked: bool) {
        self.audit = if checked { Audit::Always } else { Audit::Never };
    }

    /// Bytes of memory that the device's state takes, content and queue left out.
    pub fn state_bytes(&self) -> usize {
        self.device.state_bytes()
    }

    /// Checks every invariant of the whole device: read your writes, one valid copy of each page, blocks conserved.
    pub fn check(&self) -> Result<(), String> {
        self.device.check_all()
    }

    /// What of a range a discard takes effect on; of no length where it does on nothing.
    fn discarded(&self, start: Bytes, length: Bytes) -> (Bytes, Bytes) {
        self.discard.as_ref().map_or((start, length), |discard| discard.effective(start, length))
    }

    fn validate(&self, request: &Request) -> Result<(), DeviceError> {
        match request.op() {
            Op::Flush => return Ok(()),
            Op::Discard if !self.capabilities.discard => {
                return Err(DeviceError::Invalid("this target has no discard".to_owned()));
            }
            Op::Discard | Op::Read | Op::Write { .. } => {}
        }
        let (offset, length, unit) = (request.offset(), request.length(), self.capabilities.granularity);
        let invalid = |why: String| Err(DeviceError::Invalid(why));
        if length == Bytes::ZERO {
            return invalid("a request of no length".to_owned());
        }
        if !offset.is_multiple_of(unit) || !length.is_multiple_of(unit) {
            return invalid(format!("{length} at {offset} is not aligned to the logical block of {unit}"));
        }
        match offset.get().checked_add(length.get()) {
            Some(end) if end <= self.facts.capacity.get() => Ok(()),
            _ => invalid(format!("{length} at {offset} lies outside the device of {}", self.facts.capacity)),
        }
    }

    fn take(&mut self, request: &Request) -> Result<(), DeviceError> {
        let issued = self.now;
        let whole =
            Placement { start: request.offset(), length: request.length(), place: Place::Medium(request.offset()) };
        if self.is_worn_out_for(request.op(), &[whole]) {
            // The command, and a look at the tables or the flash, are all.
            let done = self.serve(issued, Op::Read, request.offset(), self.capabilities.granularity);
            let outcome = Outcome::Failed(faulty::EIO.to_owned());
            self.settled = self.settled.max(done);
            self.outstanding.push(Completion {
                id: request.id(),
                issued,
                completed: done,
                outcome,
                content: Content::Unknown,
                stretches: Vec::new(),
            });
            return Ok(());
        }
        let (outcome, content) = self.effect(request);
        let done = self.serve(issued, request.op(), request.offset(), request.length());
        if let Op::Write { .. } = request.op() {
            self.note_written(request.length());
        }
        let completed = done + self.noise.delay(issued, done - issued);
        self.settled = self.settled.max(completed);
        let stretches = self.examined_here(request, &outcome);
        self.outstanding.push(Completion { id: request.id(), issued, completed, outcome, content, stretches });
        self.audit(request)
    }

    fn audit(&mut self, request: &Request) -> Result<(), DeviceError> {
        self.requests += 1;
        let is_due = match self.audit {
            Audit::Never => false,
            Audit::Sparse => self.requests <= FIRST_AUDITS || self.requests.is_multiple_of(AUDIT_EVERY),
            Audit::Always => true,
        };
        if is_due {
            self.device.check().map_err(|broken| {
                DeviceError::System(format!("the simulated device is broken after {request:?}: {broken}"))
            })?;
        }
        Ok(())
    }

    /// Hands the request to the mapping in pieces that the link takes.
    fn serve(&mut self, now: Instant, op: Op, start: Bytes, length: Bytes) -> Instant {
        let end = start + length;
        let mut done = now;
        match op {
            Op::Flush => return self.device.serve(now, Work::Flush),
            // A discard is a command with a range and no data: it is not split.
            Op::Discard => {
                let (start, length) = self.discarded(start, length);
                let time = self.discard.as_ref().map_or(Nanos::ZERO, |discard| discard.time);
                return self.device.serve(now, Work::Discard(Extent::new(start, length))) + time;
            }
            Op::Read | Op::Write { .. } => {}
        }
        let mut at = start;
        while at < end {
            let extent = Extent::new(at, self.max_request.min(end - at));
            let work = match op {
                Op::Write { durable } => Work::Write { extent, durable },
                _ => Work::Read(extent),
            };
            done = done.max(self.device.serve(now, work));
            at = extent.end();
        }
        done
    }

    /// What the request does to the content, and what a read finds.
    fn effect(&mut self, request: &Request) -> (Outcome, Content) {
        let (start, length) = (request.offset(), request.length());
        match request.op() {
            Op::Read => self.look(start, length, request.fill(), start),
            Op::Write { .. } => {
                if let Some(fill) = request.fill() {
                    self.contents.set(start, length, Held::Written(fill));
                }
                (Outcome::Success, Content::Unknown)
            }
            Op::Discard => {
                let (start, length) = self.discarded(start, length);
                self.contents.set(start, length, Held::Erased);
                (Outcome::Success, Content::Unknown)
            }
            Op::Flush => (Outcome::Success, Content::Unknown),
        }
    }

    /// What a read finds that was addressed to `addressed`, where that lies at `start`. A place that the mapping does not
    /// find reads as erased, whatever was written there.
    fn look(&mut self, start: Bytes, length: Bytes, expected: Option<Fill>, addressed: Bytes) -> (Outcome, Content) {
        let found = match self.device.presence(Extent::new(start, length)) {
            Presence::All => &self.contents,
            Presence::None | Presence::Part => {
                self.lose_what_is_not_there(start, length);
                &self.contents
            }
        };
        let right = expected.is_none_or(|fill| found.matches(start, length, fill, addressed));
        (if right { Outcome::Success } else { Outcome::Mismatch }, found.content(start, length))
    }

    fn lose_what_is_not_there(&mut self, start: Bytes, length: Bytes) {
        let (unit, end) = (self.capabilities.granularity, start + length);
        let mut at = start;
        while at < end {
            if self.device.presence(Extent::new(at, unit)) == Presence::None {
                self.contents.set(at, unit, Held::Erased);
            }
            at += unit;
        }
    }
}

impl Target for SimTarget {
    fn facts(&self) -> &DeviceFacts {
        &self.facts
    }

    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    fn path(&self) -> PathTaken {
        PathTaken {
            engine: "virtual time".to_owned(),
            flags: Vec::new(),
            queue_depth: self.capabilities.queue_depth,
            fallbacks: Vec::new(),
            in_use: Vec::new(),
        }
    }

    fn now(&self) -> Instant {
        self.noise.read_clock(self.now)
    }

    fn submit(&mut self, batch: &[Request]) -> Result<(), DeviceError> {
        batch.iter().try_for_each(|request| self.validate(request))?;
        if self.now.max(self.settled) > LAST_MOMENT {
            return Err(DeviceError::System("the simulated device's clock is past a hundred years".to_owned()));
        }
        if self.faults.is_some() {
            return self.submit_faulty(batch);
        }
        batch.iter().try_for_each(|request| self.take(request))
    }

    fn reap(&mut self, min: usize, into: &mut Vec<Completion>) -> Result<(), DeviceError> {
        let before = into.len();
        self.reap_done(min, into);
        if self.faults.is_some() { self.miss(min.saturating_sub(into.len() - before)) } else { Ok(()) }
    }

    fn wait_until(&mut self, at: Instant) {
        if at > self.now {
            let from = self.now.max(self.settled);
            if self.faults.is_some() {
                self.wait_faulty(from, at);
            } else if at > from {
                self.device.idle(from, at);
            }
            self.now = at;
        }
    }

    fn wear(&self) -> Option<Wear> {
        Some(self.device.wear())
    }
}

impl Foresight for SimTarget {
    fn next_completion(&self) -> Option<Instant> {
        self.outstanding.iter().map(|completion| completion.completed).min()
    }
}

impl SimTarget {
    fn reap_done(&mut self, min: usize, into: &mut Vec<Completion>) {
        // Stable, so that requests done at the same time come in the order of issue.
        self.outstanding.sort_by_key(|completion| completion.completed);
        let needed = min.min(self.outstanding.len());
        if needed > 0 {
            self.now = self.now.max(self.outstanding[needed - 1].completed);
        }
        let done = self.outstanding.partition_point(|completion| completion.completed <= self.now);
        for mut completion in self.outstanding.drain(..done) {
            completion.issued = self.noise.read_clock(completion.issued);
            completion.completed = self.noise.read_clock(completion.completed);
            into.push(completion);
        }
    }
}

/// What a host would see: claims are what the registers say, and nothing of the inside shows.
fn facts(model: &Model) -> DeviceFacts {
    let device = &model.device;
    DeviceFacts {
        name: device.product.clone(),
        kind: match device.kind {
            KindName::SdCard => DeviceKind::SdCard,
            KindName::Emmc => DeviceKind::Emmc,
            KindName::Ufs => DeviceKind::Ufs,
            KindName::Usb => DeviceKind::Usb,
            KindName::Nvme => DeviceKind::Nvme,
            KindName::Scsi => DeviceKind::Scsi,
        },
        simulated: true,
        capacity: device.capacity,
        logical_block: device.logical_block,
        physical_block: device.claims.physical_block,
        max_request: Some(model.link.max_request),
        queue_depth: Some(model.link.queue_depth),
        claims: Claims {
            allocation_unit: device.claims.allocation_unit,
            preferred_erase: device.claims.preferred_erase,
            erase: device.claims.erase,
            speed_class: device.claims.speed_class.clone(),
            health: None,
            other: device.claims.other.clone(),
        },
        identity: None,
    }
}
