//! A device of another world as a target: clock, queue, content and surroundings.

use crate::around::{Around, Surroundings};
use crate::card::Card;
use crate::content::Contents;
use crate::drive::Drive;
use crate::flash::Controller;
use crate::world::{Inside, World};
use flashscope_device::{Capabilities, Completion, Content, DeviceError, Fill, Op, Outcome, Request, Target, Wear};
use flashscope_model::{DeviceFacts, run::PathTaken};
use flashscope_units::{Bytes, Instant, Nanos};

/// What was written before the start.
const EARLIER: Fill = Fill::Tagged { generation: 0 };

/// A device on virtual time. The same world gives the same times, bit for bit.
#[derive(Clone, Debug)]
pub struct WorldTarget {
    facts: DeviceFacts,
    capabilities: Capabilities,
    max_request: u64,
    discard_grain: Option<u64>,
    flush: Nanos,
    inside: Mapped,
    contents: Contents,
    around: Around,
    now: Instant,
    /// When the device is done with all that it was given.
    settled: Instant,
    outstanding: Vec<Completion>,
}

/// The two families of mappings.
#[derive(Clone, Debug)]
enum Mapped {
    Card(Box<Card>),
    Drive(Box<Drive>),
}

impl Mapped {
    fn controller(&mut self) -> &mut dyn Controller {
        match self {
            Mapped::Card(card) => card.as_mut(),
            Mapped::Drive(drive) => drive.as_mut(),
        }
    }

    fn as_controller(&self) -> &dyn Controller {
        match self {
            Mapped::Card(card) => card.as_ref(),
            Mapped::Drive(drive) => drive.as_ref(),
        }
    }
}

impl WorldTarget {
    /// Opened as it was drawn, or without any noise.
    pub(crate) fn new(world: &World, surroundings: Option<&Surroundings>) -> WorldTarget {
        let shape = surroundings.map(|around| around.flash_shape);
        let inside = match &world.inside {
            Inside::Card(plan) => Mapped::Card(Box::new(Card::new(plan.clone(), world.seed, shape))),
            Inside::Drive(plan) => Mapped::Drive(Box::new(Drive::new(plan.clone(), world.seed, shape))),
        };
        let mut contents = Contents::new(world.erased_byte);
        let written = world.written();
        if written > 0 {
            contents.write(0, written, Some(EARLIER));
        }
        WorldTarget {
            facts: world.facts.clone(),
            capabilities: Capabilities {
                write: true,
                flush: true,
                discard: world.discard_grain.is_some(),
                queue_depth: world.facts.queue_depth.unwrap_or(1),
                granularity: world.facts.logical_block,
            },
            max_request: world.max_request,
            discard_grain: world.discard_grain,
            flush: world.flush,
            inside,
            contents,
            around: Around::new(surroundings.cloned(), world.seed),
            now: Instant::ORIGIN,
            settled: Instant::ORIGIN,
            outstanding: Vec::new(),
        }
    }

    /// Checks what must always be true of the inside.
    ///
    /// # Errors
    /// What is not.
    pub fn check(&self) -> Result<(), String> {
        self.inside.as_controller().check()
    }

    fn validate(&self, request: &Request) -> Result<(), DeviceError> {
        let invalid = |why: String| Err(DeviceError::Invalid(why));
        let unit = self.capabilities.granularity;
        match request.op() {
            Op::Flush => return Ok(()),
            Op::Discard if !self.capabilities.discard => return invalid("this device has no discard".to_owned()),
            Op::Discard | Op::Read | Op::Write { .. } => {}
        }
        let (offset, length) = (request.offset(), request.length());
        if length == Bytes::ZERO || !offset.is_multiple_of(unit) || !length.is_multiple_of(unit) {
            return invalid(format!("{length} at {offset} is not whole blocks of {unit}"));
        }
        match offset.get().checked_add(length.get()) {
            Some(end) if end <= self.facts.capacity.get() => Ok(()),
            _ => invalid(format!("{length} at {offset} lies outside the device of {}", self.facts.capacity)),
        }
    }

    fn take(&mut self, request: &Request) {
        let issued = self.now;
        let (start, end) = (request.offset().get(), (request.offset() + request.length()).get());
        let (mut outcome, mut content) = (Outcome::Success, Content::Unknown);
        let done = match request.op() {
            Op::Flush => issued.max(self.settled) + self.flush,
            Op::Read => {
                if request.fill().is_some_and(|fill| !self.contents.matches(start, end, fill)) {
                    outcome = Outcome::Mismatch;
                }
                content = self.contents.look(start, end);
                self.in_parts(issued, start, end, false)
            }
            Op::Write { .. } => {
                self.contents.write(start, end, request.fill());
                self.in_parts(issued, start, end, true)
            }
            Op::Discard => {
                let grain = self.discard_grain.unwrap_or(1);
                let (from, to) = (start.next_multiple_of(grain), end / grain * grain);
                if from < to {
                    self.contents.erase(from, to);
                    self.inside.controller().forget(from, to);
                }
                issued + self.flush
            }
        };
        let completed = self.around.seen(done);
        self.settled = self.settled.max(completed);
        self.outstanding.push(Completion {
            id: request.id(),
            issued,
            completed,
            outcome,
            content,
            stretches: Vec::new(),
        });
    }

    /// In pieces that the link takes.
    fn in_parts(&mut self, now: Instant, start: u64, end: u64, write: bool) -> Instant {
        let (mut at, mut done) = (start, now);
        while at < end {
            let length = self.max_request.min(end - at);
            let controller = self.inside.controller();
            let part = if write { controller.write(now, at, length) } else { controller.read(now, at, length) };
            done = done.max(part);
            at += length;
        }
        done
    }
}

impl Target for WorldTarget {
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
        self.now
    }

    fn submit(&mut self, batch: &[Request]) -> Result<(), DeviceError> {
        batch.iter().try_for_each(|request| self.validate(request))?;
        batch.iter().for_each(|request| self.take(request));
        Ok(())
    }

    fn reap(&mut self, min: usize, into: &mut Vec<Completion>) -> Result<(), DeviceError> {
        self.outstanding.sort_by_key(|completion| completion.completed);
        if let Some(last) = min.min(self.outstanding.len()).checked_sub(1) {
            self.now = self.now.max(self.outstanding[last].completed);
        }
        let done = self.outstanding.partition_point(|completion| completion.completed <= self.now);
        into.extend(self.outstanding.drain(..done));
        Ok(())
    }

    fn wait_until(&mut self, at: Instant) {
        let from = self.now.max(self.settled);
        if at > from {
            self.inside.controller().rest(from, at);
        }
        self.now = self.now.max(at);
    }

    fn wear(&self) -> Option<Wear> {
        Some(self.inside.as_controller().wear())
    }
}
