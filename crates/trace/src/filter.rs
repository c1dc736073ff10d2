//! What-if filters: changes to a driver, done to the requests of a trace before a device is given them.
//!
//! In the order in which a driver would do them: neighbours are merged, ranges aligned, and what is too large is split.

use crate::{Op, Traced};
use flashscope_units::{Bytes, Nanos};
use std::collections::VecDeque;

/// Which changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Filters {
    /// Reads and writes begin and end at multiples of this: what lies around them is moved as well.
    pub align: Option<Bytes>,
    /// No request crosses a multiple of this.
    pub split: Option<Bytes>,
    /// A request that goes on where the one before ended becomes part of it, where that was issued no longer ago than
    /// this.
    pub merge: Option<Nanos>,
    /// No request is larger.
    pub max_request: Option<Bytes>,
}

impl Filters {
    /// Each in words.
    pub fn words(&self) -> Vec<String> {
        let said = [
            self.merge.map(|within| format!("neighbours within {within} merged")),
            self.align.map(|unit| format!("ranges widened to multiples of {unit}")),
            self.split.map(|unit| format!("split at multiples of {unit}")),
            self.max_request.map(|most| format!("requests of at most {most}")),
        ];
        said.into_iter().flatten().collect()
    }

    /// The largest request that a merge may make.
    fn most(&self) -> u32 {
        self.max_request.map_or(u32::MAX, |most| most.get().min(u64::from(u32::MAX)) as u32)
    }
}

/// The requests of a trace with changes.
pub struct Filtered<I> {
    from: I,
    filters: Filters,
    /// What may still be merged with.
    held: Option<Traced>,
    ready: VecDeque<Traced>,
}

impl<I> Filtered<I> {
    /// Around the requests of a trace, in the order of issue.
    pub fn new(from: I, filters: Filters) -> Filtered<I> {
        Filtered { from, filters, held: None, ready: VecDeque::new() }
    }

    fn take(&mut self, request: Traced) {
        let Some(within) = self.filters.merge else { return self.put(request) };
        let Some(held) = &mut self.held else {
            self.held = Some(request);
            return;
        };
        let alike = held.moves_data() && (held.op, held.flags) == (request.op, request.flags);
        let near = held.end() == request.offset.get() && request.issued.since(held.issued) <= within;
        let length = held.length.checked_add(request.length).filter(|length| *length <= self.filters.most());
        match length {
            Some(length) if alike && near => {
                held.length = length;
                held.completed = held.completed.zip(request.completed).map(|(one, other)| one.max(other));
            }
            _ => {
                let held = self.held.replace(request);
                held.into_iter().for_each(|held| self.put(held));
            }
        }
    }

    fn put(&mut self, mut request: Traced) {
        if !request.moves_data() {
            return self.ready.push_back(request);
        }
        if let Some(unit) = self.filters.align {
            let (start, end) = (request.offset.align_down(unit), Bytes(request.end()).align_up(unit));
            request.offset = start;
            request.length = (end - start).get().min(u64::from(u32::MAX)) as u32;
        }
        let mut at = request.offset.get();
        let end = request.end();
        loop {
            let edge = self.filters.split.map_or(end, |unit| (at / unit.get() + 1) * unit.get());
            let next = end.min(edge).min(at.saturating_add(u64::from(self.filters.most())));
            self.ready.push_back(Traced { offset: Bytes(at), length: (next - at) as u32, ..request });
            at = next;
            if at >= end {
                return;
            }
        }
    }
}

impl<E, I: Iterator<Item = Result<Traced, E>>> Iterator for Filtered<I> {
    type Item = Result<Traced, E>;

    #[inline]
    fn next(&mut self) -> Option<Result<Traced, E>> {
        loop {
            if let Some(ready) = self.ready.pop_front() {
                return Some(Ok(ready));
            }
            match self.from.next() {
                Some(Ok(request)) => self.take(request),
                Some(Err(error)) => return Some(Err(error)),
                None => {
                    let held = self.held.take()?;
                    self.put(held);
                }
            }
        }
    }
}

/// What is done with addresses that a device does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addresses {
    /// Nothing: such a request is refused.
    Refuse,
    /// All addresses are multiplied, so that the end of the traced device becomes the end of this one.
    Scale {
        /// Where the traced device ends.
        from: Bytes,
    },
    /// They begin anew at the device's end.
    Wrap,
}

/// The place of a request on a device of a size, in whole blocks of it; `None` where it has none.
pub fn placed(mut request: Traced, addresses: Addresses, capacity: Bytes, block: Bytes) -> Option<Traced> {
    if request.op == Op::Flush {
        return Some(request);
    }
    let wanted = match addresses {
        Addresses::Refuse => request.offset,
        Addresses::Scale { from } => {
            let scaled = u128::from(request.offset.get()) * u128::from(capacity.get()) / u128::from(from.get().max(1));
            Bytes(u64::try_from(scaled).ok()?)
        }
        Addresses::Wrap => Bytes(request.offset.get() % capacity.get().max(1)),
    };
    let (start, length) = match addresses {
        // A request is widened to the blocks that it touches, as the kernel would.
        Addresses::Refuse => {
            let start = wanted.align_down(block);
            (start, Bytes(wanted.get() + u64::from(request.length)).align_up(block) - start)
        }
        _ => {
            let length = Bytes(u64::from(request.length)).align_up(block);
            // What would reach beyond the end lies in front of it.
            let last = capacity.checked_sub(length)?.align_down(block);
            (wanted.align_down(block).min(last), length)
        }
    };
    if start.get().checked_add(length.get())? > capacity.get() {
        return None;
    }
    request.offset = start;
    request.length = u32::try_from(length.get()).ok()?;
    Some(request)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Flags;
    use flashscope_units::Instant;

    fn write(at: u64, offset: u64, length: u32) -> Traced {
        let (op, flags) = (Op::Write, Flags::NONE);
        let (issued, completed) = (Instant(at), Some(Instant(at + 100)));
        Traced { issued, completed, offset: Bytes(offset), length, process: None, op, flags }
    }

    fn ranges(requests: &[Traced], filters: Filters) -> Vec<(u64, u32)> {
        let from = requests.iter().map(|request| Ok::<_, ()>(*request));
        Filtered::new(from, filters).map(|one| one.unwrap()).map(|one| (one.offset.get(), one.length)).collect()
    }

    #[test]
    fn each_filter_does_what_a_driver_would() {
        let requests = [write(0, 4096, 4096), write(10, 8192, 12288), write(5000, 20480, 4096)];
        let check = |filters: Filters, expected: &[(u64, u32)]| {
            assert_eq!(ranges(&requests, filters), expected, "{filters:?}");
        };
        let none = Filters::default();
        let (k4, k8) = (4096u32, 8192u32);
        check(none, &[(4096, k4), (8192, 12288), (20480, k4)]);
        check(Filters { merge: Some(Nanos(1000)), ..none }, &[(4096, 16384), (20480, k4)]);
        let most = Some(Bytes(8192));
        check(
            Filters { merge: Some(Nanos(1000)), max_request: most, ..none },
            &[(4096, k4), (8192, k8), (16384, k4), (20480, k4)],
        );
        check(Filters { align: most, ..none }, &[(0, k8), (8192, 16384), (16384, k8)]);
        check(Filters { split: most, ..none }, &[(4096, k4), (8192, k8), (16384, k4), (20480, k4)]);
    }

    #[test]
    fn addresses_are_refused_scaled_or_wrapped() {
        let check = |addresses, offset, length, expected: Option<(u64, u32)>| {
            let found = placed(write(0, offset, length), addresses, Bytes::mib(1), Bytes(4096));
            assert_eq!(found.map(|one| (one.offset.get(), one.length)), expected, "{addresses:?} {offset}");
        };
        let mib = Bytes::mib(1).get();
        check(Addresses::Refuse, 512, 512, Some((0, 4096)));
        check(Addresses::Refuse, mib - 4096, 4096, Some((mib - 4096, 4096)));
        check(Addresses::Refuse, mib, 512, None);
        check(Addresses::Wrap, 3 * mib + 8192, 4096, Some((8192, 4096)));
        check(Addresses::Wrap, 2 * mib - 4096, 8192, Some((mib - 8192, 8192)));
        check(Addresses::Wrap, 0, 2 * mib as u32, None);
        check(Addresses::Scale { from: Bytes::mib(4) }, 2 * mib, 4096, Some((mib / 2, 4096)));
    }
}
