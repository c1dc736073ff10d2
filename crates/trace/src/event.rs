//! What the kernel says of a request as it goes by, and how such events become requests.

use crate::{Flags, Op, Traced};
use flashscope_units::{Bytes, Instant};
use std::collections::{BTreeSet, HashMap, VecDeque};

/// Bytes of a sector of the kernel, whatever the device's own are.
pub const SECTOR: u64 = 512;

/// What happened to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It came to the queue.
    Queue,
    /// The device was given it.
    Issue,
    /// It went back to the queue.
    Requeue,
    /// The device was done with it.
    Complete,
}

/// The kernel's letters or bits of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// What it moves; `None` where it is a flush alone, or nothing that a trace keeps.
    pub op: Option<Op>,
    /// Whether the cache is flushed, before what it moves.
    pub flush: bool,
    /// The rest.
    pub flags: Flags,
}

impl Asked {
    /// The letters that the kernel's events and `blkparse` have for it: `F` in front for a flush, then `R`, `W`, `D` or
    /// `N`, then `F` for force unit access, `A` ahead, `S` sync and `M` metadata. `None` where it is none of these.
    pub fn of_letters(letters: &[u8]) -> Option<Asked> {
        let (flush, letters) = match letters.split_first() {
            Some((b'F', rest)) => (true, rest),
            _ => (false, letters),
        };
        let (op, letters) = match letters.split_first() {
            None => (None, letters),
            Some((b'R', rest)) => (Some(Op::Read), rest),
            Some((b'W', rest)) => (Some(Op::Write), rest),
            Some((b'D', rest)) => (Some(Op::Discard), rest.strip_prefix(b"E").unwrap_or(rest)),
            Some((b'F' | b'N' | b'S' | b'M', rest)) => (None, rest),
            Some(_) => return None,
        };
        let mut flags = Flags::NONE;
        for letter in letters {
            flags = flags.with(match letter {
                b'F' => Flags::FUA,
                b'A' => Flags::AHEAD,
                b'S' => Flags::SYNC,
                b'M' => Flags::META,
                // Bits of later kernels, which change nothing of what was asked.
                b'A'..=b'Z' => Flags::NONE,
                _ => return None,
            });
        }
        Some(Asked { op, flush, flags })
    }
}

/// One event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// On the kernel's clock.
    pub at: Instant,
    /// What happened.
    pub step: Step,
    /// To what.
    pub asked: Asked,
    /// Where, in [`SECTOR`]s.
    pub sector: u64,
    /// How much.
    pub length: u32,
    /// Who asked.
    pub process: u32,
    /// The device: its numbers, the major one in the upper half.
    pub device: u64,
    /// Whether it failed.
    pub failed: bool,
}

/// Puts events in order of time together to requests. Where nothing was ever issued (a device without a queue of its own), a
/// request begins when it came to the queue.
#[derive(Debug, Default)]
pub struct Pairing {
    issued: Open,
    queued: Open,
    /// Ends of requests whose begin is not in the trace.
    unmatched: u64,
    devices: BTreeSet<u64>,
}

/// Requests that began one way.
#[derive(Debug, Default)]
struct Open {
    requests: Vec<Traced>,
    /// Those without an end, by what and where.
    waiting: HashMap<(Op, u64), VecDeque<usize>>,
}

/// What came of events.
#[derive(Debug, Default)]
pub struct Paired {
    /// In order of issue, on the kernel's clock.
    pub requests: Vec<Traced>,
    /// Requests whose end is missing.
    pub endless: u64,
    /// Ends whose request is missing.
    pub unmatched: u64,
    /// Whether times are those of the queue.
    pub queued: bool,
    /// All devices that were seen.
    pub devices: BTreeSet<u64>,
}

impl Pairing {
    /// Takes the next event.
    pub fn add(&mut self, event: &Event) {
        self.devices.insert(event.device);
        let began = match event.step {
            Step::Issue => &mut self.issued,
            Step::Queue if self.issued.requests.is_empty() => &mut self.queued,
            Step::Queue => return,
            Step::Requeue => return parts(event).for_each(|(op, _)| self.issued.take_back(op, event.sector)),
            Step::Complete => {
                let mut matched = true;
                for (op, at) in parts(event) {
                    let issued = self.issued.end(op, at, event);
                    let queued = self.queued.end(op, at, event);
                    // The kernel reports the end of a flush for itself, and once more for the request that asked for it.
                    matched &= issued || queued || op == Op::Flush;
                }
                self.unmatched += u64::from(!matched);
                return;
            }
        };
        for (op, at) in parts(event) {
            began.begin(op, at, event);
        }
    }

    /// All requests.
    pub fn finish(self) -> Paired {
        let queued = self.issued.requests.is_empty();
        let Open { requests, .. } = if queued { self.queued } else { self.issued };
        // One that was taken back is marked by a length that no request has.
        let mut requests: Vec<Traced> = requests.into_iter().filter(|request| request.length != TAKEN_BACK).collect();
        requests.sort_by_key(|request| request.issued);
        let endless = requests.iter().filter(|request| request.completed.is_none()).count() as u64;
        Paired { requests, endless, unmatched: self.unmatched, queued, devices: self.devices }
    }
}

/// Stands for a request that went back to the queue: whole sectors never have such a length.
const TAKEN_BACK: u32 = u32::MAX;

/// What an event is about: a flush before what it moves, each with its place.
fn parts(event: &Event) -> impl Iterator<Item = (Op, u64)> + use<> {
    let Event { asked, sector, .. } = *event;
    let flush = asked.flush.then_some((Op::Flush, 0));
    flush.into_iter().chain(asked.op.map(|op| (op, sector)))
}

impl Open {
    fn begin(&mut self, op: Op, sector: u64, event: &Event) {
        let moves = op != Op::Flush;
        self.waiting.entry((op, sector)).or_default().push_back(self.requests.len());
        self.requests.push(Traced {
            issued: event.at,
            completed: None,
            offset: Bytes(if moves { sector * SECTOR } else { 0 }),
            length: if moves { event.length } else { 0 },
            process: Some(event.process),
            op,
            flags: if moves { event.asked.flags } else { Flags::NONE },
        });
    }

    fn end(&mut self, op: Op, sector: u64, event: &Event) -> bool {
        let Some(index) = self.waiting.get_mut(&(op, sector)).and_then(VecDeque::pop_front) else { return false };
        let request = &mut self.requests[index];
        request.completed = Some(event.at.max(request.issued));
        if event.failed {
            request.flags = request.flags.with(Flags::FAILED);
        }
        true
    }

    fn take_back(&mut self, op: Op, sector: u64) {
        if let Some(index) = self.waiting.get_mut(&(op, sector)).and_then(VecDeque::pop_back) {
            self.requests[index].length = TAKEN_BACK;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_those_of_the_kernel() {
        let check = |letters: &str, op: Option<Op>, flush: bool, flags: Flags| {
            assert_eq!(Asked::of_letters(letters.as_bytes()), Some(Asked { op, flush, flags }), "{letters}");
        };
        check("R", Some(Op::Read), false, Flags::NONE);
        check("RA", Some(Op::Read), false, Flags::AHEAD);
        check("WFSM", Some(Op::Write), false, Flags::FUA.with(Flags::SYNC).with(Flags::META));
        check("FWFS", Some(Op::Write), true, Flags::FUA.with(Flags::SYNC));
        check("FF", None, true, Flags::NONE);
        check("FN", None, true, Flags::NONE);
        check("DE", Some(Op::Discard), false, Flags::NONE);
        check("N", None, false, Flags::NONE);
        assert_eq!(Asked::of_letters(b"W+"), None);
    }

    fn event(at: u64, step: Step, letters: &str, sector: u64) -> Event {
        let asked = Asked::of_letters(letters.as_bytes()).unwrap();
        Event { at: Instant(at), step, asked, sector, length: 4096, process: 7, device: 1, failed: false }
    }

    fn paired(events: &[Event]) -> Paired {
        let mut pairing = Pairing::default();
        events.iter().for_each(|event| pairing.add(event));
        pairing.finish()
    }

    #[test]
    fn an_end_belongs_to_the_first_request_of_its_place() {
        let events = [
            event(1, Step::Queue, "W", 8),
            event(2, Step::Issue, "W", 8),
            event(3, Step::Issue, "W", 8),
            event(4, Step::Issue, "R", 8),
            event(5, Step::Complete, "W", 8),
            event(9, Step::Complete, "W", 8),
            event(10, Step::Complete, "R", 100),
        ];
        let found = paired(&events);
        let times: Vec<_> = found.requests.iter().map(|one| (one.issued.0, one.completed.map(|at| at.0))).collect();
        assert_eq!(times, [(2, Some(5)), (3, Some(9)), (4, None)]);
        assert_eq!((found.endless, found.unmatched, found.queued), (1, 1, false));
    }

    #[test]
    fn what_went_back_to_the_queue_was_not_issued() {
        let events = [
            event(1, Step::Issue, "R", 8),
            event(2, Step::Requeue, "R", 8),
            event(3, Step::Issue, "R", 8),
            event(5, Step::Complete, "R", 8),
        ];
        let found = paired(&events);
        assert_eq!(found.requests.len(), 1);
        assert_eq!((found.requests[0].issued, found.requests[0].completed), (Instant(3), Some(Instant(5))));
    }

    #[test]
    fn a_write_behind_a_flush_is_both() {
        let found = paired(&[event(1, Step::Queue, "FWFS", 8), event(4, Step::Complete, "FWFS", 8)]);
        let ops: Vec<_> = found.requests.iter().map(|one| (one.op, one.length, one.completed)).collect();
        assert_eq!(ops, [(Op::Flush, 0, Some(Instant(4))), (Op::Write, 4096, Some(Instant(4)))]);
        assert!(found.queued);
    }
}
