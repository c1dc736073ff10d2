//! Targets around targets.

use flashscope_device::{Completion, Content, DeviceError, Fill, Foresight, Op, Outcome, Request, Target, forward};
use flashscope_units::{Bytes, Instant};
use std::ops::Range;

/// Fails every request that touches one of some ranges; the time it takes stays the inner target's.
pub struct Failing<T> {
    inner: T,
    ranges: Vec<Range<u64>>,
    reason: String,
    failing: Vec<u64>,
}

impl<T: Target> Failing<T> {
    /// Fails requests that touch any of `ranges` (in bytes) for `reason`.
    pub fn new(inner: T, ranges: impl IntoIterator<Item = Range<u64>>, reason: &str) -> Failing<T> {
        Failing { inner, ranges: ranges.into_iter().collect(), reason: reason.into(), failing: Vec::new() }
    }

    /// The wrapped target.
    pub fn inner(&self) -> &T {
        &self.inner
    }

    fn touches(&self, request: &Request) -> bool {
        let (start, end) = (request.offset().get(), (request.offset() + request.length()).get());
        self.ranges.iter().any(|range| range.start < end && start < range.end)
    }
}

impl<T: Foresight> Foresight for Failing<T> {
    fn next_completion(&self) -> Option<Instant> {
        self.inner.next_completion()
    }
}

impl<T: Target> Target for Failing<T> {
    forward!(inner: facts, capabilities, path, now, wait_until, wear);

    fn submit(&mut self, batch: &[Request]) -> Result<(), DeviceError> {
        self.inner.submit(batch)?;
        let failing: Vec<u64> = batch.iter().filter(|request| self.touches(request)).map(Request::id).collect();
        self.failing.extend(failing);
        Ok(())
    }

    fn reap(&mut self, min: usize, into: &mut Vec<Completion>) -> Result<(), DeviceError> {
        let before = into.len();
        self.inner.reap(min, into)?;
        for completion in &mut into[before..] {
            if let Some(index) = self.failing.iter().position(|&id| id == completion.id) {
                self.failing.swap_remove(index);
                completion.outcome = Outcome::Failed(self.reason.clone());
                completion.content = Content::Unknown;
            }
        }
        Ok(())
    }
}

/// Serves some requests and is gone (or hangs) from then on.
pub struct Vanishing<T> {
    inner: T,
    left: u64,
    error: DeviceError,
}

impl<T: Target> Vanishing<T> {
    /// Gone after `requests` requests.
    pub fn after(inner: T, requests: u64) -> Vanishing<T> {
        Vanishing { inner, left: requests, error: DeviceError::Vanished("unplugged by the test".into()) }
    }

    /// Answers with `error` after `requests` requests.
    pub fn with_error(inner: T, requests: u64, error: DeviceError) -> Vanishing<T> {
        Vanishing { inner, left: requests, error }
    }

    /// The wrapped target.
    pub fn inner(&self) -> &T {
        &self.inner
    }
}

impl<T: Foresight> Foresight for Vanishing<T> {
    fn next_completion(&self) -> Option<Instant> {
        self.inner.next_completion()
    }
}

impl<T: Target> Target for Vanishing<T> {
    forward!(inner: facts, capabilities, path, now, reap, wait_until, wear);

    fn submit(&mut self, batch: &[Request]) -> Result<(), DeviceError> {
        if (batch.len() as u64) > self.left {
            self.left = 0;
            return Err(self.error.clone());
        }
        self.left -= batch.len() as u64;
        self.inner.submit(batch)
    }
}

/// One request that went by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// What it did.
    pub op: Op,
    /// Where.
    pub offset: Bytes,
    /// How much.
    pub length: Bytes,
    /// What it carried or expected.
    pub fill: Option<Fill>,
}

/// Remembers every request that the inner target accepted.
pub struct Recording<T> {
    inner: T,
    log: Vec<Recorded>,
}

impl<T: Target> Recording<T> {
    /// Remembers what goes to `inner`.
    pub fn new(inner: T) -> Recording<T> {
        Recording { inner, log: Vec::new() }
    }

    /// The requests, oldest first.
    pub fn log(&self) -> &[Recorded] {
        &self.log
    }

    /// The requests as (offset, length) in bytes, oldest first.
    pub fn ranges(&self) -> Vec<(u64, u64)> {
        self.log.iter().map(|request| (request.offset.get(), request.length.get())).collect()
    }

    /// Bytes that were asked to be read.
    pub fn read(&self) -> Bytes {
        self.log.iter().filter(|request| request.op == Op::Read).map(|request| request.length).sum()
    }

    /// Bytes that were asked to be written.
    pub fn written(&self) -> Bytes {
        self.log.iter().filter(|request| matches!(request.op, Op::Write { .. })).map(|request| request.length).sum()
    }

    /// The wrapped target.
    pub fn inner(&self) -> &T {
        &self.inner
    }
}

impl<T: Target> Target for Recording<T> {
    forward!(inner: facts, capabilities, path, now, reap, wait_until, wear);

    fn submit(&mut self, batch: &[Request]) -> Result<(), DeviceError> {
        self.inner.submit(batch)?;
        self.log.extend(batch.iter().map(|request| Recorded {
            op: request.op(),
            offset: request.offset(),
            length: request.length(),
            fill: request.fill(),
        }));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ScriptedTarget;
    use flashscope_device::ExecuteExt;
    use flashscope_units::Nanos;

    fn steady() -> ScriptedTarget {
        ScriptedTarget::steady(Bytes::mib(1), Nanos(10))
    }

    #[test]
    fn failing_fails_what_it_touches() {
        let mut target = Failing::new(steady(), Some(1000..1024), "EIO: input/output error");
        let mut done = |at| target.execute(Request::read(9, Bytes(at), Bytes(512))).unwrap().outcome.is_done();
        assert_eq!([done(0), done(512), done(1024), done(512)], [true, false, true, false]);
    }

    #[test]
    fn vanishing_serves_exactly_so_many() {
        let mut target = Vanishing::after(steady(), 2);
        let mut read = || target.execute(Request::read(0, Bytes(0), Bytes(512)));
        assert!(read().is_ok() && read().is_ok());
        assert!(matches!(read(), Err(DeviceError::Vanished(_))));
        assert!(matches!(read(), Err(DeviceError::Vanished(_))));
    }

    #[test]
    fn recording_keeps_order_and_bytes() {
        let mut target = Recording::new(steady());
        target.execute(Request::read(0, Bytes(512), Bytes(1024))).unwrap();
        target.execute(Request::read(0, Bytes(0), Bytes(512))).unwrap();
        assert!(target.execute(Request::read(0, Bytes(1), Bytes(512))).is_err());
        assert_eq!(target.ranges(), [(512, 1024), (0, 512)]);
        assert_eq!((target.read(), target.written()), (Bytes(1536), Bytes::ZERO));
    }
}
