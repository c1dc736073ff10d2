//! The device behind the file: the model that says when a request is done and what is where, the bytes, and the journal.
//!
//! One caller at a time, in order of arrival. A request gets its place in the device's queue at once: when the queue is
//! full, the request's time in the device begins when the first one in it is done, which is known.

use crate::gate::{Gate, Promised};
use crate::journal::{Journal, Operation, Record};
use crate::payload::Payload;
use crate::ranges::Ranges;
use flashscope_device::{Completion, DeviceError, Fill, Outcome, Request, Target, Wear, WriteGrant};
use flashscope_sim::{Counters, SimTarget, Source};
use flashscope_units::{Bytes, Instant, Nanos};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// After this time a request that the device never answers is given up, as kernels do with cards.
const GIVEN_UP: Nanos = Nanos::secs(30);
/// What stands for bytes that nobody wrote.
const GARBAGE: Fill = Fill::Tagged { generation: u32::MAX };

/// Why a request fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestError {
    /// The device says so.
    Failed,
    /// The device is gone.
    Gone,
    /// It makes no sense: outside the device.
    Invalid,
    /// No room for the bytes under the backing file.
    NoRoom,
}

/// What came of a request: known at once, to be told when it is due.
#[derive(Clone, Debug)]
pub(crate) struct Promise {
    /// When the device has it done, in virtual time.
    pub(crate) due: Instant,
    pub(crate) result: Result<(), RequestError>,
    /// What a read found.
    pub(crate) found: Vec<(u64, Origin)>,
    /// How often the power had gone when it was taken.
    pub(crate) cuts: usize,
}

impl Promise {
    /// What of it a power cut may take back.
    pub(crate) fn promised(&self) -> Promised {
        Promised { due: self.due, cuts: self.cuts }
    }
}

/// Where the bytes of a run come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The same byte throughout.
    Byte(u8),
    /// Made by a rule for this address: what the device held at its start, or garbage.
    Made(Fill, u64),
    /// In the payload, of this generation and for this address.
    Kept(u32, u64),
}

/// The device behind the file.
#[derive(Debug)]
pub(crate) struct Disk {
    model: Mutex<Model>,
    payload: Mutex<Payload>,
    /// What may be said of requests that were under way when the power went.
    pub(crate) gate: Gate,
    /// Bytes that it was made with.
    capacity: u64,
    /// Bytes that it says it has: fewer after a power cut that made it shrink.
    size: AtomicU64,
    pub(crate) block: u64,
}

#[derive(Debug)]
struct Model {
    target: SimTarget,
    grant: WriteGrant,
    journal: Option<Journal>,
    /// What was discarded through the kernel: reads as zero, whatever the flash erases to.
    zeroed: Ranges,
    /// Whether a flush that finds nothing written since the last one is passed over.
    once: bool,
    /// Whether something was written since the last flush.
    unflushed: bool,
    /// When the device took the last request.
    begun: Instant,
    /// How often the power was cut.
    cuts: usize,
    /// When each request in the queue is done.
    queue: BinaryHeap<Reverse<Instant>>,
    depth: usize,
    completions: Vec<Completion>,
    /// What the device was when it was opened.
    before: Wear,
}

impl Disk {
    /// A device that keeps nothing when it ends.
    pub(crate) fn new(target: SimTarget, payload: Payload) -> Disk {
        let (capacity, block) = (target.facts().capacity, target.facts().logical_block);
        let grant = WriteGrant::simulated(target.facts(), Bytes(u64::MAX)).expect("a simulated device grants freely");
        let depth = target.capabilities().queue_depth.max(1) as usize;
        // Something may have been done to it before, which took its time.
        let begun = target.now();
        let model = Model {
            target,
            grant,
            journal: None,
            zeroed: Ranges::default(),
            once: false,
            unflushed: true,
            begun,
            cuts: 0,
            queue: BinaryHeap::new(),
            depth,
            completions: Vec::new(),
            before: Wear::default(),
        };
        Disk {
            model: Mutex::new(model),
            payload: Mutex::new(payload),
            gate: Gate::default(),
            capacity: capacity.get(),
            size: AtomicU64::new(capacity.get()),
            block: block.get(),
        }
    }

    /// Does once more what a journal says was done.
    pub(crate) fn repeat(&self, record: Record) -> Result<(), String> {
        let (start, length) = (record.start.checked_mul(self.block), record.blocks.checked_mul(self.block));
        let (Some(start), Some(length)) = (start, length) else {
            return Err("a request lies outside the device".to_owned());
        };
        if start.checked_add(length).is_none_or(|end| end > self.capacity) {
            return Err("a request lies outside the device".to_owned());
        }
        let fill = match record.operation {
            Operation::Write { .. } => Some(self.payload().written_before(start, length)),
            _ => None,
        };
        let mut model = self.model();
        model.begun = Instant(record.at_ns);
        model.target.wait_until(Instant(record.at_ns));
        match record.operation {
            Operation::PowerOn => {
                model.target.power_on();
                self.resize(&model);
                return Ok(());
            }
            Operation::PowerCut => return model.target.cut_power().map_err(|error| error.to_string()),
            _ => {}
        }
        match model.submit(record.operation, start, length, fill) {
            Ok(_) | Err(DeviceError::Vanished(_) | DeviceError::Hung(_)) => Ok(()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// From now on what is done is written down.
    pub(crate) fn keep(&self, journal: Journal) {
        let mut model = self.model();
        model.journal = Some(journal);
        // Wear is told since the start of the emulation.
        model.before = model.target.wear().unwrap_or_default();
    }

    /// Switches a device on again that lost its power or went away by `now`; says why it was gone, if it was. `None`: after
    /// whatever was under way.
    ///
    /// # Errors
    /// Of the state file.
    pub(crate) fn power_on(&self, now: Option<Instant>) -> io::Result<Option<&'static str>> {
        let mut model = self.model();
        let begun = now.unwrap_or(model.begun + GIVEN_UP).max(model.begun);
        let Some(why) = model.gone_by(begun) else { return Ok(None) };
        if let Some(journal) = &mut model.journal {
            journal.add(Record { at_ns: begun.0, operation: Operation::PowerOn, start: 0, blocks: 0 })?;
        }
        model.begun = begun;
        model.queue.clear();
        model.target.wait_until(begun);
        model.target.power_on();
        model.unflushed = true;
        self.resize(&model);
        // One that does not start up any more says so.
        Ok(Some(model.target.gone().unwrap_or(why)))
    }

    /// Cuts the device's power by `now`, or as soon as it has taken what it was asked before; `None`: after whatever was under
    /// way. What was not done then is not acknowledged any more. Says whether it can lose its power: without faults nobody keeps
    /// track of what is safe.
    ///
    /// # Errors
    /// Of the state file; the power stays on.
    pub(crate) fn cut_power(&self, now: Option<Instant>) -> io::Result<bool> {
        let mut model = self.model();
        if !model.target.has_faults() {
            return Ok(false);
        }
        let wanted = now.unwrap_or(model.begun).max(model.begun);
        if model.gone_by(wanted).is_some() {
            return Ok(true);
        }
        // Nothing can be taken meanwhile, and what is acknowledged from here on was done before.
        let at = self.gate.cut(wanted);
        model.cuts += 1;
        if let Some(journal) = &mut model.journal {
            journal.add(Record { at_ns: at.0, operation: Operation::PowerCut, start: 0, blocks: 0 })?;
        }
        model.begun = at;
        model.queue.clear();
        model.target.wait_until(at);
        model.target.cut_power().map(|()| true).map_err(|error| io::Error::other(error.to_string()))
    }

    /// Bytes that the device says it has.
    pub(crate) fn size(&self) -> u64 {
        self.size.load(Ordering::Relaxed)
    }

    fn resize(&self, model: &Model) {
        self.size.store(model.target.facts().capacity.get().min(self.capacity), Ordering::Relaxed);
    }

    /// When the device took the last request.
    pub(crate) fn begun(&self) -> Instant {
        self.model().begun
    }

    /// Takes a read that arrived at `now` (device time; `None`: whenever the device is free). The range is cut at the device's end
    /// by the caller.
    pub(crate) fn read(&self, now: Option<Instant>, offset: u64, length: u64) -> Promise {
        let (start, end) = self.blocks(offset, offset + length);
        let mut model = self.model();
        let mut promise = model.take(now, Operation::Read, (start, end - start), self.block, None);
        if promise.result.is_ok() {
            promise.found = model.found(offset, length);
        }
        promise
    }

    /// The bytes of a read, from what it found.
    ///
    /// # Errors
    /// Of the backing file.
    pub(crate) fn bytes(&self, found: &[(u64, Origin)], into: &mut [u8]) -> io::Result<()> {
        let mut at = 0;
        for &(length, origin) in found {
            let part = &mut into[at..at + length as usize];
            match origin {
                Origin::Byte(byte) => part.fill(byte),
                Origin::Made(fill, address) => make(fill, address, part),
                Origin::Kept(generation, address) => self.payload().read(generation, address, part)?,
            }
            at += length as usize;
        }
        Ok(())
    }

    /// Takes a write.
    pub(crate) fn write(&self, now: Option<Instant>, offset: u64, bytes: &[u8], durable: bool) -> Promise {
        let operation = Operation::Write { durable };
        let (start, end) = self.blocks(offset, offset + bytes.len() as u64);
        if end > self.size() {
            // What a block device says to a write behind its end.
            return self.refused(RequestError::NoRoom);
        }
        let whole = (start, end) == (offset, offset + bytes.len() as u64);
        let kept = if whole { self.payload().write(offset, bytes) } else { self.write_part(start, end, offset, bytes) };
        match kept {
            Ok(fill) => {
                let promise = self.model().take(now, operation, (start, end - start), self.block, Some(fill));
                if promise.result == Err(RequestError::NoRoom) {
                    self.payload().take_back();
                }
                promise
            }
            Err(error) => self.refused(if full(&error) { RequestError::NoRoom } else { RequestError::Failed }),
        }
    }

    /// From now on a flush on which another follows at once counts once. A loop device has no FUA: for a synchronous write
    /// Linux sends the write, a flush in place of FUA, and the flush that it also sends to devices that have FUA.
    pub(crate) fn flush_once(&self) {
        self.model().once = true;
    }

    /// Takes a flush.
    pub(crate) fn flush(&self, now: Option<Instant>) -> Promise {
        let mut model = self.model();
        if model.once && !std::mem::take(&mut model.unflushed) {
            let due = now.unwrap_or(model.begun);
            let result = if model.target.gone().is_some() { Err(RequestError::Gone) } else { Ok(()) };
            return Promise { due, result, found: Vec::new(), cuts: model.cuts };
        }
        model.take(now, Operation::Flush, (0, 0), self.block, None)
    }

    /// Takes a discard. The device is told of whole blocks; the rest is written over, since a hole must read as zero.
    pub(crate) fn discard(&self, now: Option<Instant>, offset: u64, length: u64) -> Promise {
        let end = offset.saturating_add(length).min(self.size());
        let (first, last) = (offset.next_multiple_of(self.block), end / self.block * self.block);
        if first > last {
            return self.write(now, offset, &vec![0; end.saturating_sub(offset) as usize], false);
        }
        for (from, to) in [(offset, first), (last, end)].into_iter().filter(|(from, to)| from < to) {
            let edge = self.write(now, from, &vec![0; (to - from) as usize], false);
            if edge.result.is_err() || first == last {
                return edge;
            }
        }
        let promise = self.model().take(now, Operation::Discard, (first, last - first), self.block, None);
        if promise.result.is_ok() {
            self.payload().forget(first, last - first);
        }
        promise
    }

    /// How long the backing file must be.
    pub(crate) fn kept_bytes(&self) -> u64 {
        match &*self.payload() {
            Payload::Versions(versions) => versions.length(),
            Payload::Memory(_) | Payload::File(_) => self.capacity,
        }
    }

    /// What the model did to its flash since the emulation began.
    pub(crate) fn wear(&self) -> (Wear, Counters) {
        let model = self.model();
        let wear = model.target.wear().unwrap_or_default();
        let since =
            Wear { erases: wear.erases - model.before.erases, programmed: wear.programmed - model.before.programmed };
        (since, model.target.counters())
    }

    /// Keeps what waits, durably.
    ///
    /// # Errors
    /// Of the files.
    pub(crate) fn close(&self) -> io::Result<()> {
        self.payload().sync()?;
        self.model().journal.as_mut().map_or(Ok(()), Journal::close)
    }

    /// The whole blocks around a range.
    fn blocks(&self, start: u64, end: u64) -> (u64, u64) {
        (start / self.block * self.block, end.next_multiple_of(self.block))
    }

    /// A write that does not cover its blocks: the rest of them keeps what it was.
    fn write_part(&self, start: u64, end: u64, offset: u64, bytes: &[u8]) -> io::Result<Fill> {
        let mut whole = vec![0; (end - start) as usize];
        let found = self.model().found(start, end - start);
        self.bytes(&found, &mut whole)?;
        let at = (offset - start) as usize;
        whole[at..at + bytes.len()].copy_from_slice(bytes);
        self.payload().write(start, &whole)
    }

    fn refused(&self, error: RequestError) -> Promise {
        let model = self.model();
        Promise { due: model.begun, result: Err(error), found: Vec::new(), cuts: model.cuts }
    }

    fn model(&self) -> MutexGuard<'_, Model> {
        self.model.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn payload(&self) -> MutexGuard<'_, Payload> {
        self.payload.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Model {
    /// Gives a request its place in the queue and in the journal, and to the device.
    /// What the journal has no room for is not done.
    fn take(
        &mut self,
        now: Option<Instant>,
        operation: Operation,
        (start, length): (u64, u64),
        block: u64,
        fill: Option<Fill>,
    ) -> Promise {
        let begins = self.begins(now.unwrap_or(self.begun));
        let cuts = self.cuts;
        let refused = |due, error| Promise { due, result: Err(error), found: Vec::new(), cuts };
        let record = Record { at_ns: begins.0, operation, start: start / block, blocks: length / block };
        if let Some(Err(error)) = self.journal.as_mut().map(|journal| journal.add(record)) {
            debug_assert!(full(&error) || error.raw_os_error().is_some(), "{error}");
            return refused(begins, RequestError::NoRoom);
        }
        self.begun = begins;
        self.target.wait_until(begins);
        match self.submit(operation, start, length, fill) {
            Ok((due, outcome)) => {
                self.queue.push(Reverse(due));
                if now.is_none() {
                    self.begun = due;
                }
                let result = match outcome {
                    Outcome::Success => Ok(()),
                    // A mismatch is what a reader expects against; here it asked for what is there.
                    Outcome::Mismatch => Ok(()),
                    Outcome::Failed(_) => Err(RequestError::Failed),
                };
                Promise { due, result, found: Vec::new(), cuts }
            }
            Err(DeviceError::Invalid(_)) => refused(begins, RequestError::Invalid),
            Err(DeviceError::Vanished(_)) => refused(begins, RequestError::Gone),
            Err(DeviceError::Hung(_)) => refused(begins + GIVEN_UP, RequestError::Failed),
            Err(DeviceError::System(_)) => refused(begins, RequestError::Failed),
        }
    }

    /// When a request that arrives at `now` finds room in the queue; never before an earlier one did.
    fn begins(&mut self, now: Instant) -> Instant {
        let mut begins = now.max(self.begun);
        while let Some(Reverse(done)) = self.queue.peek().copied() {
            if done > begins && self.queue.len() < self.depth {
                break;
            }
            begins = begins.max(done);
            self.queue.pop();
        }
        begins
    }

    /// Says when the request is done, and how it went.
    fn submit(
        &mut self,
        operation: Operation,
        start: u64,
        length: u64,
        fill: Option<Fill>,
    ) -> Result<(Instant, Outcome), DeviceError> {
        let (offset, bytes) = (Bytes(start), Bytes(length));
        let outside = |error: flashscope_device::GrantError| DeviceError::Invalid(error.to_string());
        let request = match operation {
            Operation::Read => Request::read(0, offset, bytes),
            Operation::Write { durable } => {
                let fill = fill.ok_or_else(|| DeviceError::Invalid("a write of nothing".to_owned()))?;
                Request::write(&mut self.grant, 0, offset, bytes, fill, durable).map_err(outside)?
            }
            Operation::Flush | Operation::PowerOn | Operation::PowerCut => Request::flush(0),
            Operation::Discard => Request::discard(&mut self.grant, 0, offset, bytes).map_err(outside)?,
        };
        self.target.submit(&[request])?;
        self.completions.clear();
        self.target.take_ahead(&mut self.completions);
        let Some(done) = self.completions.pop() else {
            // The device went away while it was at it, or it hangs there.
            return Err(match self.gone_by(self.begun + GIVEN_UP) {
                Some(why) => DeviceError::Vanished(why.to_owned()),
                None => DeviceError::Hung("no answer".to_owned()),
            });
        };
        self.unflushed |= matches!(operation, Operation::Write { .. } | Operation::Discard);
        match operation {
            Operation::Write { .. } => self.zeroed.remove(start..start + length),
            Operation::Discard if done.outcome.is_done() => self.zeroed.insert(start..start + length),
            _ => {}
        }
        Ok((done.completed, done.outcome))
    }

    /// Why the device will be gone at a time to come, if nothing more is asked of it.
    fn gone_by(&self, at: Instant) -> Option<&'static str> {
        if !self.target.has_faults() {
            return None;
        }
        // In a copy, since a device that is left alone until then is not one that is asked something before.
        let mut later = self.target.clone();
        later.wait_until(at);
        later.gone()
    }

    fn found(&self, offset: u64, length: u64) -> Vec<(u64, Origin)> {
        let mut found = Vec::with_capacity(1);
        let mut at = offset;
        for (length, source) in self.target.held(Bytes(offset), Bytes(length)) {
            let end = at + length.get();
            match source {
                Source::Written(fill) => found.push((length.get(), origin(fill, at))),
                Source::Misplaced(fill, address) => found.push((length.get(), origin(fill, address.get()))),
                Source::Garbage => found.push((length.get(), Origin::Made(GARBAGE, at))),
                Source::Erased(byte) => {
                    for zero in self.zeroed.within(at..end) {
                        found.push((zero.start - at, Origin::Byte(byte)));
                        found.push((zero.end - zero.start, Origin::Byte(0)));
                        at = zero.end;
                    }
                    found.push((end - at, Origin::Byte(byte)));
                }
            }
            at = end;
        }
        found.retain(|(length, _)| *length > 0);
        found
    }
}

fn origin(fill: Fill, address: u64) -> Origin {
    match fill {
        SimTarget::FIRST_FILL => Origin::Made(fill, address),
        Fill::Byte(byte) => Origin::Byte(byte),
        Fill::Tagged { generation } => Origin::Kept(generation, address),
    }
}

/// Bytes that follow a rule, which makes eight at a time.
fn make(fill: Fill, address: u64, into: &mut [u8]) {
    let (start, end) = (address / 8 * 8, (address + into.len() as u64).next_multiple_of(8));
    if (start, end) == (address, address + into.len() as u64) {
        return flashscope_host::payload::fill(fill, address, into);
    }
    let mut whole = vec![0; (end - start) as usize];
    flashscope_host::payload::fill(fill, start, &mut whole);
    let at = (address - start) as usize;
    into.copy_from_slice(&whole[at..at + into.len()]);
}

fn full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge)
}
