//! A cache in front of a device that answers by address from what was written last, wherever that lives behind it: what
//! hides a fake from whoever reads too soon.

use flashscope_device::{
    Completion, DeviceError, Fill, Holds, Known, Op, Outcome, Request, Stretch, Target, forward, stretch,
};
use flashscope_units::Bytes;
use std::collections::VecDeque;

/// A device behind such a cache; one of size 0 changes nothing.
pub(super) struct Cached<T> {
    inner: T,
    size: Bytes,
    /// What was written last, oldest first.
    held: VecDeque<(Bytes, Bytes, Fill)>,
    bytes: Bytes,
    /// Reads under way that touch what is held.
    reads: Vec<(u64, Bytes, Bytes, Known)>,
}

impl<T: Target> Cached<T> {
    pub(super) fn new(inner: T, size: Bytes) -> Cached<T> {
        Cached { inner, size, held: VecDeque::new(), bytes: Bytes::ZERO, reads: Vec::new() }
    }

    fn write(&mut self, request: &Request) {
        let Some(fill) = request.fill() else { return };
        self.held.push_back((request.offset(), request.length(), fill));
        self.bytes += request.length();
        while self.bytes > self.size {
            let over = self.bytes - self.size;
            let Some((start, length, _)) = self.held.front_mut() else { return };
            let gone = over.min(*length);
            (*start, *length) = (*start + gone, *length - gone);
            self.bytes -= gone;
            if *length == Bytes::ZERO {
                self.held.pop_front();
            }
        }
    }

    fn touches(&self, start: Bytes, length: Bytes) -> bool {
        self.held.iter().any(|(at, held, _)| *at < start + length && start < *at + *held)
    }

    /// What a read finds: what is held over what came from behind.
    fn over(&self, start: Bytes, behind: &[Stretch], known: Known) -> Vec<Stretch> {
        let mut list: Vec<(Bytes, Stretch)> = Vec::new();
        let mut at = start;
        for stretch in behind {
            list.push((at, *stretch));
            at += stretch.length;
        }
        for (from, length, fill) in &self.held {
            let holds = |at: Bytes| match fill {
                Fill::Byte(byte) => Holds::Uniform(*byte),
                Fill::Tagged { generation } if known.has(*generation) => {
                    Holds::Tagged { generation: *generation, addressed: at }
                }
                Fill::Tagged { .. } => Holds::Foreign,
            };
            list = list.into_iter().flat_map(|(at, one)| laid_over(at, one, *from, *from + *length, &holds)).collect();
        }
        let mut told = Vec::new();
        list.into_iter().for_each(|(_, one)| stretch::append(&mut told, one));
        told
    }
}

/// A stretch with what is held between two addresses laid over it.
fn laid_over(at: Bytes, one: Stretch, from: Bytes, to: Bytes, holds: &dyn Fn(Bytes) -> Holds) -> Vec<(Bytes, Stretch)> {
    let end = at + one.length;
    let (from, to) = (from.max(at), to.min(end));
    if from >= to {
        return vec![(at, one)];
    }
    let moved = |to: Bytes| match one.holds {
        Holds::Tagged { generation, addressed } => Holds::Tagged { generation, addressed: addressed + (to - at) },
        other => other,
    };
    let parts = [
        (at, Stretch { length: from - at, holds: one.holds }),
        (from, Stretch { length: to - from, holds: holds(from) }),
        (to, Stretch { length: end - to, holds: moved(to) }),
    ];
    parts.into_iter().filter(|(_, part)| part.length > Bytes::ZERO).collect()
}

impl<T: Target> Target for Cached<T> {
    forward!(inner: facts, capabilities, path, now, wait_until, wear);

    fn submit(&mut self, batch: &[Request]) -> Result<(), DeviceError> {
        for request in batch {
            self.inner.submit(std::slice::from_ref(request))?;
            match request.op() {
                Op::Write { .. } if self.size > Bytes::ZERO => self.write(request),
                Op::Read => {
                    let (start, length) = (request.offset(), request.length());
                    let known = request.known().filter(|_| self.touches(start, length));
                    self.reads.extend(known.map(|known| (request.id(), start, length, known)));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn reap(&mut self, min: usize, into: &mut Vec<Completion>) -> Result<(), DeviceError> {
        let from = into.len();
        self.inner.reap(min, into)?;
        for done in into.iter_mut().skip(from) {
            let Some(at) = self.reads.iter().position(|(id, ..)| *id == done.id) else { continue };
            let (_, start, _, known) = self.reads.swap_remove(at);
            if !matches!(done.outcome, Outcome::Failed(_)) {
                done.stretches = self.over(start, &done.stretches, known);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_device::{ExecuteExt, WriteGrant};

    const KNOWN: Known = Known { first: 1, last: 9 };

    #[test]
    fn what_was_written_last_is_read_until_it_is_pushed_out() {
        let inner = flashscope_sim::open("sd-4mib,capacity=64MiB,fake=limbo,real_capacity=4MiB", 1).unwrap();
        let mut target = Cached::new(inner, Bytes::kib(64));
        let mut grant = WriteGrant::simulated(target.facts(), Bytes::mib(1)).unwrap();
        let mut write = |target: &mut Cached<SimTarget>, at: Bytes, length: Bytes| {
            let fill = Fill::Tagged { generation: 5 };
            target.execute(Request::write(&mut grant, 0, at, length, fill, false).unwrap()).unwrap();
        };
        let lost = Bytes::mib(32);
        let read = |target: &mut Cached<SimTarget>| {
            let request = Request::examine(7, lost - Bytes(512), Bytes(1024), KNOWN);
            target.execute(request).unwrap().stretches
        };
        write(&mut target, lost, Bytes(512));
        let tagged = Stretch { length: Bytes(512), holds: Holds::Tagged { generation: 5, addressed: lost } };
        assert_eq!(read(&mut target)[1], tagged);
        write(&mut target, Bytes::ZERO, Bytes::kib(63));
        assert_eq!(read(&mut target)[1], tagged);
        write(&mut target, Bytes::mib(1), Bytes::kib(1));
        assert_eq!(read(&mut target), [Stretch { length: Bytes(1024), holds: Holds::Uniform(0) }]);
    }

    use flashscope_sim::SimTarget;
}
