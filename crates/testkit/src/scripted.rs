//! A target whose service times a test writes down.

use crate::content::Contents;
use flashscope_device::{
    Capabilities, Completion, Content, DeviceError, Foresight, Op, Outcome, Request, Target, Wear,
};
use flashscope_model::{Claims, DeviceFacts, DeviceKind, run::PathTaken};
use flashscope_units::{Bytes, Instant, Nanos};

/// What the scripted target has served so far, for a script that depends on it.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// Every request served, oldest first.
    pub served: Vec<Request>,
    /// The last read.
    pub last_read: Option<Request>,
    /// The last write.
    pub last_write: Option<Request>,
}

type Script = Box<dyn FnMut(&Request, &History) -> Nanos>;

/// A device on a virtual clock that serves one request after the other, each in the time that a
/// script says. It remembers what was written, so that reads can be verified and blank areas told.
pub struct ScriptedTarget {
    facts: DeviceFacts,
    script: Script,
    now: Instant,
    idle_from: Instant,
    finished: Vec<Completion>,
    history: History,
    contents: Contents,
}

impl ScriptedTarget {
    /// A device of `capacity` with 512-byte blocks; `script` tells the service time of each request.
    pub fn new(capacity: Bytes, script: impl FnMut(&Request, &History) -> Nanos + 'static) -> ScriptedTarget {
        let facts = DeviceFacts {
            name: "scripted".into(),
            kind: DeviceKind::SdCard,
            simulated: true,
            capacity,
            logical_block: Bytes::SECTOR,
            physical_block: None,
            max_request: None,
            queue_depth: Some(32),
            claims: Claims::default(),
            identity: None,
        };
        ScriptedTarget {
            facts,
            script: Box::new(script),
            now: Instant::ORIGIN,
            idle_from: Instant::ORIGIN,
            finished: Vec::new(),
            history: History::default(),
            contents: Contents::blank(0),
        }
    }

    /// A device that takes the same time for every request.
    pub fn steady(capacity: Bytes, time: Nanos) -> ScriptedTarget {
        ScriptedTarget::new(capacity, move |_, _| time)
    }

    /// The same with another logical block.
    pub fn with_logical_block(mut self, block: Bytes) -> ScriptedTarget {
        self.facts.logical_block = block;
        self
    }

    /// The same where never-written areas answer `byte` (0x00 otherwise).
    pub fn with_blank(mut self, byte: u8) -> ScriptedTarget {
        self.contents = Contents::blank(byte);
        self
    }

    /// Everything served so far.
    pub fn history(&self) -> &History {
        &self.history
    }

    fn check(&self, request: &Request) -> Result<(), DeviceError> {
        let unit = self.facts.logical_block;
        let end = request.offset().get().checked_add(request.length().get());
        let inside = end.is_some_and(|end| end <= self.facts.capacity.get());
        let aligned = request.offset().is_multiple_of(unit) && request.length().is_multiple_of(unit);
        let ranged = request.op() == Op::Flush || request.length() > Bytes::ZERO;
        if inside && aligned && ranged {
            return Ok(());
        }
        Err(DeviceError::Invalid(format!("{:?} of {} at {}", request.op(), request.length(), request.offset().get())))
    }

    fn serve(&mut self, request: &Request) {
        let time = (self.script)(request, &self.history);
        let issued = self.now.max(self.idle_from);
        let completed = issued + time;
        self.idle_from = completed;
        let (outcome, content) = self.effect(request);
        self.finished.push(Completion {
            id: request.id(),
            issued: self.now,
            completed,
            outcome,
            content,
            stretches: Vec::new(),
        });
        match request.op() {
            Op::Read => self.history.last_read = Some(*request),
            Op::Write { .. } => self.history.last_write = Some(*request),
            Op::Flush | Op::Discard => {}
        }
        self.history.served.push(*request);
    }

    fn effect(&mut self, request: &Request) -> (Outcome, Content) {
        let (start, end) = (request.offset().get(), (request.offset() + request.length()).get());
        match (request.op(), request.fill()) {
            (Op::Read, Some(fill)) if !self.contents.holds(start, end, fill) => {
                (Outcome::Mismatch, self.contents.content(start, end))
            }
            (Op::Read, _) => (Outcome::Success, self.contents.content(start, end)),
            (Op::Write { .. }, Some(fill)) => {
                self.contents.write(start, end, fill);
                (Outcome::Success, Content::Unknown)
            }
            (Op::Discard, _) => {
                self.contents.erase(start, end);
                (Outcome::Success, Content::Unknown)
            }
            (Op::Write { .. } | Op::Flush, _) => (Outcome::Success, Content::Unknown),
        }
    }
}

impl Foresight for ScriptedTarget {
    fn next_completion(&self) -> Option<Instant> {
        self.finished.iter().map(|completion| completion.completed).min()
    }
}

impl Target for ScriptedTarget {
    fn facts(&self) -> &DeviceFacts {
        &self.facts
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { write: true, flush: true, discard: true, queue_depth: 32, granularity: self.facts.logical_block }
    }

    fn path(&self) -> PathTaken {
        PathTaken {
            engine: "scripted".into(),
            flags: Vec::new(),
            queue_depth: 1,
            fallbacks: Vec::new(),
            in_use: Vec::new(),
        }
    }

    fn now(&self) -> Instant {
        self.now
    }

    fn submit(&mut self, batch: &[Request]) -> Result<(), DeviceError> {
        batch.iter().try_for_each(|request| self.check(request))?;
        for request in batch {
            self.serve(request);
        }
        Ok(())
    }

    fn reap(&mut self, min: usize, into: &mut Vec<Completion>) -> Result<(), DeviceError> {
        // Served in order, so the completion times rise.
        if let Some(last) = self.finished.get(..min.min(self.finished.len())).and_then(<[_]>::last) {
            self.now = self.now.max(last.completed);
        }
        let due = self.finished.partition_point(|completion| completion.completed <= self.now);
        into.extend(self.finished.drain(..due));
        Ok(())
    }

    fn wait_until(&mut self, at: Instant) {
        self.now = self.now.max(at);
    }

    fn wear(&self) -> Option<Wear> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_device::{ExecuteExt, Fill, WriteGrant};

    #[test]
    fn the_script_sees_the_history() {
        let mut target = ScriptedTarget::new(Bytes::mib(1), |request, history| {
            let same = history.last_read.is_some_and(|last| last.offset() == request.offset());
            if same { Nanos(1) } else { Nanos(100) }
        });
        let mut read = |at| target.execute(Request::read(0, Bytes(at), Bytes(512))).unwrap().service_time();
        assert_eq!([read(0), read(0), read(512), read(0)], [Nanos(100), Nanos(1), Nanos(100), Nanos(100)]);
        assert_eq!(target.now(), Instant(301));
    }

    #[test]
    fn requests_queue_behind_each_other() {
        let mut target = ScriptedTarget::steady(Bytes::mib(1), Nanos(10));
        let batch = [Request::read(1, Bytes(0), Bytes(512)), Request::read(2, Bytes(512), Bytes(512))];
        target.submit(&batch).unwrap();
        let mut done = Vec::new();
        target.reap(1, &mut done).unwrap();
        assert_eq!((done.len(), target.now()), (1, Instant(10)));
        target.reap(1, &mut done).unwrap();
        assert_eq!(done[1].service_time(), Nanos(20));
    }

    #[test]
    fn invalid_requests_are_refused_whole() {
        let mut target = ScriptedTarget::steady(Bytes::mib(1), Nanos(10)).with_logical_block(Bytes(4096));
        for (at, length) in [(512, 4096), (0, 512), (1 << 20, 4096), (0, 0)] {
            let batch = [Request::read(0, Bytes(0), Bytes(4096)), Request::read(1, Bytes(at), Bytes(length))];
            assert!(matches!(target.submit(&batch), Err(DeviceError::Invalid(_))), "{at} {length}");
        }
        assert!(target.history().served.is_empty());
    }

    #[test]
    fn reads_find_what_was_written() {
        let mut target = ScriptedTarget::steady(Bytes::mib(1), Nanos(10)).with_blank(0xff);
        let mut grant = WriteGrant::simulated(target.facts(), Bytes(4096)).unwrap();
        let fill = Fill::Tagged { generation: 3 };
        let blank = target.execute(Request::read(0, Bytes(0), Bytes(4096))).unwrap();
        assert_eq!(blank.content, Content::Uniform(0xff));
        let write = Request::write(&mut grant, 0, Bytes(0), Bytes(4096), fill, true).unwrap();
        target.execute(write).unwrap();
        assert!(target.execute(Request::verify(0, Bytes(0), Bytes(4096), fill)).unwrap().outcome.is_done());
        let other = target.execute(Request::verify(0, Bytes(0), Bytes(4096), Fill::Byte(0))).unwrap();
        assert_eq!(other.outcome, Outcome::Mismatch);
    }
}
