//! One cut: requests are issued and noted, the power goes, the device comes back and is looked at.

use crate::journal::{Done, Flush, Journal, Write};
use crate::judge::Map;
use crate::sequence::{Draft, Sequence, Step};
use flashscope_device::{
    Completion, DeviceError, Holds, Known, Outcome, PowerSwitch, Request, Stretch, WriteGrant, stretch,
};
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
    pub(crate) idle_flushes: Vec<Nanos>,
}

/// Times that are kept of each kind of request.
const KEPT: usize = 512;
/// A request that takes as many times as long as others shows that the device is busy inside.
const BUSY: u64 = 3;
/// Most single writes that are issued in wait of that.
const MOST_IN_WAIT: usize = 40;
/// Idle after a flush, at most: longer than what is acknowledged may take to become safe.
const LONGEST_IDLE: Nanos = Nanos::secs(3);
/// What is read at once when the device is looked at.
const LOOK: Bytes = Bytes::mib(1);
/// Most bytes that are written while a real device still answers though its power is being cut.
const MOST_AFTER: Bytes = Bytes::mib(64);

impl Pace {
    fn note(list: &mut Vec<Nanos>, time: Nanos) {
        if list.len() < KEPT {
            list.push(time);
        }
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

/// What stands on the range after a cut.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) map: Map,
    pub(crate) unreadable: Vec<(Bytes, Bytes)>,
}

impl<'a, T: PowerSwitch> Host<'a, T> {
    pub(crate) fn new(
        target: &'a mut T,
        grant: &'a mut WriteGrant,
        region: (Bytes, Bytes),
        generation: u32,
    ) -> Host<'a, T> {
        let sector = target.capabilities().granularity;
        let (journal, pace) = (Journal::default(), Pace::default());
        let known = Known { first: generation, last: generation };
        Host { target, grant, region, sector, known, journal, pace, turn: 0, issued: Vec::new(), done: Vec::new() }
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
        self.cut(sequence)
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

    /// Cuts the power, and goes on writing for as long as the device answers.
    fn cut(&mut self, sequence: &mut Sequence) -> Result<Instant, DeviceError> {
        self.reap(0)?;
        self.target.cut_power()?;
        let _ = self.reap(0);
        let mut after = Bytes::ZERO;
        while after < MOST_AFTER {
            let writes = sequence.group();
            after += writes.iter().map(|write| write.length).sum::<Bytes>();
            let failed = self.unacknowledged();
            if self.submit_writes(&writes).is_err() || self.reap(self.outstanding()).is_err() {
                break;
            }
            // A device that is gone may answer every request with an error.
            if self.unacknowledged() > failed {
                break;
            }
        }
        self.issued.clear();
        Ok(self.target.now())
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
                self.journal.writes.push(Write { at, length, generation, turn, done: None, durable });
                requests.push(request);
            }
            self.target.submit(&requests)?;
        }
        Ok(())
    }

    fn unacknowledged(&self) -> usize {
        self.journal.writes.iter().filter(|write| write.done.is_none()).count()
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
            match issued {
                Issued::Write(index) => {
                    self.journal.writes[index].done = acknowledged;
                    Pace::note(&mut self.pace.writes, done.service_time());
                }
                Issued::Flush(index) => {
                    let flush = &mut self.journal.flushes[index];
                    flush.done = acknowledged;
                    let list = match flush.covers {
                        Bytes::ZERO => &mut self.pace.idle_flushes,
                        _ => &mut self.pace.flushes,
                    };
                    Pace::note(list, done.service_time());
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
        let (mut list, mut unreadable) = (Vec::new(), Vec::new());
        let end = start + length;
        let mut at = start;
        while at < end {
            let part = LOOK.min(end - at);
            self.look_into(at, part, &mut list, &mut unreadable)?;
            at += part;
        }
        Ok(Found { map: Map::new(start, list), unreadable })
    }

    /// Where a part cannot be read, its halves are tried, down to single sectors.
    fn look_into(
        &mut self,
        at: Bytes,
        length: Bytes,
        list: &mut Vec<Stretch>,
        unreadable: &mut Vec<(Bytes, Bytes)>,
    ) -> Result<(), DeviceError> {
        let done = self.read(at, length)?;
        if !matches!(done.outcome, Outcome::Failed(_)) {
            done.stretches.into_iter().for_each(|one| stretch::append(list, one));
            return Ok(());
        }
        if length <= self.sector {
            unreadable.push((at, at + length));
            stretch::append(list, Stretch { length, holds: Holds::Foreign });
            return Ok(());
        }
        let half = (length / 2).align_up(self.sector);
        self.look_into(at, half, list, unreadable)?;
        self.look_into(at + half, length - half, list, unreadable)
    }

    fn read(&mut self, at: Bytes, length: Bytes) -> Result<Completion, DeviceError> {
        self.target.submit(&[Request::examine(u64::MAX, at, length, self.known)])?;
        let mut done = Vec::with_capacity(1);
        self.target.reap(1, &mut done)?;
        done.pop().ok_or_else(|| DeviceError::Hung("a read was not answered".to_owned()))
    }

    /// Flushes with nothing to do, for comparison.
    pub(crate) fn flush_idly(&mut self, times: usize) -> Result<(), DeviceError> {
        for _ in 0..times {
            self.flush()?;
        }
        Ok(())
    }
}
