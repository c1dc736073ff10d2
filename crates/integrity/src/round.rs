//! One cut: requests are issued and noted, the power goes, the device comes back and is looked at.

use crate::journal::{Done, Flush, Journal, Write};
use crate::judge::Map;
use crate::ledger::{Entry, Ledger};
use crate::look::{Found, look};
use crate::sequence::{Draft, Sequence, Step};
use flashscope_device::{Completion, DeviceError, Known, PowerSwitch, Request, WriteGrant};
use flashscope_model::integrity::Moment;
use flashscope_units::{Bytes, Instant, Nanos};

/// A device at work, and what it is known by.
pub(crate) struct Host<'a, T> {
    pub(crate) target: &'a mut T,
    pub(crate) grant: &'a mut WriteGrant,
    pub(crate) region: (Bytes, Bytes),
    pub(crate) sector: Bytes,
    /// The generations of this run.
    pub(crate) known: Known,
    pub(crate) journal: Journal,
    pub(crate) pace: Pace,
    /// Keeps the same outside the device, as it comes.
    ledger: &'a mut dyn Ledger,
    turn: u32,
    /// What each request is, by its number.
    issued: Vec<Issued>,
    done: Vec<Completion>,
}

/// What a request is in the journal.
#[derive(Clone, Copy, Debug)]
enum Issued {
    Write(usize),
    Flush(usize),
    Read,
}

/// How long requests usually take.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pace {
    writes: Vec<Nanos>,
    /// Flushes that had something to cover.
    flushes: Vec<Nanos>,
    /// Flushes that had nothing to do.
    idle_flushes: Vec<Nanos>,
}

/// Times that are kept of each kind of request.
const KEPT: usize = 512;
/// A request that takes as many times as long as others shows that the device is busy inside.
const BUSY: u64 = 3;
/// Most single writes that are issued in wait of that.
const MOST_IN_WAIT: usize = 40;
/// Idle after a flush, at most: longer than what is acknowledged may take to become safe.
const LONGEST_IDLE: Nanos = Nanos::secs(3);
/// Most bytes that are written while a real device still answers though its power is being cut.
pub(crate) const MOST_AFTER: Bytes = Bytes::mib(16);
/// Between two looks whether the power has gone, where nothing is written meanwhile.
const BETWEEN_LOOKS: Nanos = Nanos::millis(5);

impl Pace {
    fn note(list: &mut Vec<Nanos>, time: Nanos) {
        if list.len() < KEPT {
            list.push(time);
        }
    }

    pub(crate) fn note_write(&mut self, time: Nanos) {
        Pace::note(&mut self.writes, time);
    }

    /// A flush that covered so much.
    pub(crate) fn note_flush(&mut self, covers: Bytes, time: Nanos) {
        let list = if covers == Bytes::ZERO { &mut self.idle_flushes } else { &mut self.flushes };
        Pace::note(list, time);
    }

    /// The middle of what writes take; a millisecond where none is known.
    fn write(&self) -> Nanos {
        median(&self.writes).unwrap_or(Nanos::millis(1))
    }

    fn flush(&self) -> Nanos {
        median(&self.flushes).unwrap_or(Nanos::millis(1))
    }

    /// The middle of what flushes take that had something to cover, and of those that had nothing to do.
    pub(crate) fn flush_times(&self) -> Option<(Nanos, Nanos)> {
        median(&self.flushes).zip(median(&self.idle_flushes))
    }
}

fn median(times: &[Nanos]) -> Option<Nanos> {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied()
}

impl<'a, T: PowerSwitch> Host<'a, T> {
    pub(crate) fn new(
        target: &'a mut T,
        grant: &'a mut WriteGrant,
        region: (Bytes, Bytes),
        generation: u32,
        ledger: &'a mut dyn Ledger,
    ) -> Host<'a, T> {
        let sector = target.capabilities().granularity;
        let (journal, pace) = (Journal::default(), Pace::default());
        let known = Known { first: generation, last: generation };
        Host {
            target,
            grant,
            region,
            sector,
            known,
            journal,
            pace,
            ledger,
            turn: 0,
            issued: Vec::new(),
            done: Vec::new(),
        }
    }

    /// Does what comes before a cut, and cuts. Says when the power went.
    pub(crate) fn until_cut(&mut self, sequence: &mut Sequence, moment: Moment) -> Result<Instant, DeviceError> {
        for step in sequence.body() {
            self.step(&step)?;
        }
        match moment {
            Moment::Writing => {
                let writes = sequence.group();
                let time = self.pace.write() * writes.len() as u64;
                self.submit_writes(&writes)?;
                self.wait(sequence.part(time));
            }
            Moment::Flushing => {
                self.writes(&sequence.group())?;
                self.submit_flush()?;
                self.wait(sequence.part(self.pace.flush()));
            }
            Moment::AfterFlush => {
                self.writes(&sequence.group())?;
                self.flush()?;
                self.wait(sequence.part(LONGEST_IDLE));
            }
            Moment::AfterWrites => {
                self.writes(&sequence.group())?;
                self.wait(sequence.pause(Nanos::millis(1), Nanos::secs(1)));
            }
            Moment::Busy => self.until_busy(sequence)?,
        }
        self.cut(sequence, moment)
    }

    fn until_busy(&mut self, sequence: &mut Sequence) -> Result<(), DeviceError> {
        let usual = self.pace.write();
        for _ in 0..MOST_IN_WAIT {
            self.submit_writes(&[sequence.write()])?;
            self.wait(usual * BUSY);
            self.reap(0)?;
            if self.outstanding() > 0 {
                return Ok(());
            }
        }
        self.submit_writes(&[sequence.write()])?;
        self.wait(sequence.part(usual));
        Ok(())
    }

    /// Cuts the power. While a real device still answers, and the moment is not one of idleness, it goes on with what it was at:
    /// when the power goes is not known before a request fails.
    fn cut(&mut self, sequence: &mut Sequence, moment: Moment) -> Result<Instant, DeviceError> {
        self.reap(0)?;
        self.ledger.secure().map_err(DeviceError::System)?;
        self.target.cut_power()?;
        let _ = self.reap(0);
        let is_idle = matches!(moment, Moment::AfterFlush | Moment::AfterWrites);
        let (mut after, mut failed_at) = (Bytes::ZERO, None);
        while !self.target.has_lost_power()? {
            if is_idle || failed_at.is_some() || after >= MOST_AFTER {
                self.wait(BETWEEN_LOOKS);
                continue;
            }
            let writes = sequence.group();
            after += writes.iter().map(|write| write.length).sum::<Bytes>();
            if !self.goes_on(&writes, moment) {
                failed_at = Some(self.target.now());
            }
        }
        self.issued.clear();
        Ok(failed_at.unwrap_or(self.target.now()))
    }

    /// Whether the device has done these writes, and where it is to lose its power in a flush, a flush.
    fn goes_on(&mut self, writes: &[Draft], moment: Moment) -> bool {
        let open = self.unacknowledged();
        let flush = |host: &mut Self| if moment == Moment::Flushing { host.submit_flush() } else { Ok(()) };
        let went = self.submit_writes(writes).and_then(|()| flush(self)).and_then(|()| self.reap(self.outstanding()));
        // A device that is gone may answer every request with an error.
        went.is_ok() && self.unacknowledged() == open
    }

    pub(crate) fn step(&mut self, step: &Step) -> Result<(), DeviceError> {
        match step {
            Step::Writes(writes) => self.writes(writes),
            Step::Flush => self.flush(),
            Step::Pause(time) => {
                self.wait(*time);
                Ok(())
            }
        }
    }

    pub(crate) fn wait(&mut self, time: Nanos) {
        let until = self.target.now() + time;
        self.target.wait_until(until);
    }

    pub(crate) fn writes(&mut self, writes: &[Draft]) -> Result<(), DeviceError> {
        self.submit_writes(writes)?;
        self.reap(self.outstanding())
    }

    pub(crate) fn flush(&mut self) -> Result<(), DeviceError> {
        self.submit_flush()?;
        self.reap(self.outstanding())
    }

    fn submit_writes(&mut self, writes: &[Draft]) -> Result<(), DeviceError> {
        let depth = self.target.capabilities().queue_depth.max(1) as usize;
        for batch in writes.chunks(depth) {
            // Room for what is submitted now.
            self.reap((self.outstanding() + batch.len()).saturating_sub(depth))?;
            let mut requests = Vec::with_capacity(batch.len());
            for draft in batch {
                self.known.last += 1;
                let generation = self.known.last;
                let fill = flashscope_device::Fill::Tagged { generation };
                let id = self.issued.len() as u64;
                let request = Request::write(self.grant, id, draft.at, draft.length, fill, draft.durable)
                    .map_err(|error| DeviceError::Invalid(error.to_string()))?;
                self.issued.push(Issued::Write(self.journal.writes.len()));
                let Draft { at, length, durable } = *draft;
                let turn = self.next_turn();
                let write = Write { at, length, generation, turn, done: None, durable };
                self.note(Entry::Write(write))?;
                self.journal.writes.push(write);
                requests.push(request);
            }
            self.target.submit(&requests)?;
        }
        Ok(())
    }

    fn note(&mut self, entry: Entry) -> Result<(), DeviceError> {
        self.ledger.note(&entry).map_err(DeviceError::System)
    }

    /// Begins the ledger of a cut anew: what stands there before its first write.
    pub(crate) fn begin_cut(&mut self, number: u32, before: &Map) -> Result<(), DeviceError> {
        self.ledger.begin(number, before).map_err(DeviceError::System)
    }

    fn unacknowledged(&self) -> usize {
        let writes = self.journal.writes.iter().filter(|write| write.done.is_none()).count();
        writes + self.journal.flushes.iter().filter(|flush| flush.done.is_none()).count()
    }

    fn next_turn(&mut self) -> u32 {
        self.turn += 1;
        self.turn
    }

    fn submit_flush(&mut self) -> Result<(), DeviceError> {
        if !self.target.capabilities().flush {
            return Ok(());
        }
        let id = self.issued.len() as u64;
        self.issued.push(Issued::Flush(self.journal.flushes.len()));
        let since = self.journal.flushes.iter().rev().find_map(|flush| flush.done.and(Some(flush.turn)));
        let fresh = |write: &&Write| write.done.is_some_and(|done| since.is_none_or(|since| done.turn > since));
        let covers = self.journal.writes.iter().filter(fresh).map(|write| write.length).sum();
        let turn = self.next_turn();
        self.note(Entry::Flush { turn })?;
        self.journal.flushes.push(Flush { turn, done: None, covers });
        self.target.submit(&[Request::flush(id)])
    }

    /// Requests that were issued and did not come back.
    fn outstanding(&self) -> usize {
        self.issued.iter().filter(|issued| !matches!(issued, Issued::Read)).count()
    }

    fn reap(&mut self, min: usize) -> Result<(), DeviceError> {
        let went = self.target.reap(min, &mut self.done);
        for done in std::mem::take(&mut self.done) {
            let Some(slot) = self.issued.get_mut(done.id as usize) else { continue };
            let issued = std::mem::replace(slot, Issued::Read);
            let turn = self.next_turn();
            let acknowledged = done.outcome.is_done().then_some(Done { turn, at: done.completed });
            let of = match issued {
                Issued::Write(index) => Some(self.journal.writes[index].turn),
                Issued::Flush(index) => Some(self.journal.flushes[index].turn),
                Issued::Read => None,
            };
            if let (Some(of), Some(done)) = (of, acknowledged) {
                self.note(Entry::Done { of, done })?;
            }
            match issued {
                Issued::Write(index) => {
                    self.journal.writes[index].done = acknowledged;
                    self.pace.note_write(done.service_time());
                }
                Issued::Flush(index) => {
                    let flush = &mut self.journal.flushes[index];
                    flush.done = acknowledged;
                    let covers = flush.covers;
                    self.pace.note_flush(covers, done.service_time());
                }
                Issued::Read => {}
            }
        }
        if self.outstanding() == 0 {
            self.issued.clear();
        }
        went
    }

    /// Looks at a range.
    pub(crate) fn look(&mut self, start: Bytes, length: Bytes) -> Result<Found, DeviceError> {
        look(self.target, self.known, start, length)
    }

    /// Flushes with nothing to do, for comparison.
    pub(crate) fn flush_idly(&mut self, times: usize) -> Result<(), DeviceError> {
        for _ in 0..times {
            self.flush()?;
        }
        Ok(())
    }
}
