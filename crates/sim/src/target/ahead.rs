//! For one who keeps the deadlines himself: an emulator answers in real time, so it must know a completion before it
//! is due, and what a read finds where, as it holds the bytes.

use super::SimTarget;
use crate::content::Held;
use crate::ftl::Counters;
use flashscope_device::{Completion, Fill};
use flashscope_model::Direction;
use flashscope_units::Bytes;

/// What a run of the device holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Nothing: it reads as this byte.
    Erased(u8),
    /// What a write brought that carried this; [`SimTarget::FIRST_FILL`] where the device started filled.
    Written(Fill),
    /// What a write brought that carried this and was addressed to another place: the address of the first byte. Only a
    /// device with faults holds such.
    Misplaced(Fill, Bytes),
    /// Bytes that nobody wrote. Only a device with faults holds such.
    Garbage,
}

impl SimTarget {
    /// What a device that starts `filled` holds.
    pub const FIRST_FILL: Fill = super::FIRST_FILL;

    /// Hands over all outstanding completions, whenever they are due, and lets no time pass: the clock goes on by
    /// [`wait_until`](flashscope_device::Target::wait_until) only.
    pub fn take_ahead(&mut self, into: &mut Vec<Completion>) {
        self.outstanding.sort_by_key(|completion| completion.completed);
        into.append(&mut self.outstanding);
    }

    /// What a range inside the device holds, as runs in order. After a read of it, what that read found.
    pub fn held(&self, start: Bytes, length: Bytes) -> Vec<(Bytes, Source)> {
        self.held_at(&self.resolve(start, length, Direction::Read))
    }

    /// What is held from `start` on, as one sees it who reads it from `addressed` on.
    pub(super) fn runs(&self, start: Bytes, length: Bytes, addressed: Bytes) -> impl Iterator<Item = (Bytes, Source)> {
        let mut at = start;
        self.contents.runs(start, length).map(move |(length, held)| {
            let source = self.source(held, at, addressed + (at - start));
            at += length;
            (length, source)
        })
    }

    /// What is held at `at`, as one sees it who reads it at `addressed`.
    fn source(&self, held: Held, at: Bytes, addressed: Bytes) -> Source {
        match held.moved(at, addressed) {
            Held::Erased => Source::Erased(self.contents.erased_byte()),
            Held::Written(fill) => Source::Written(fill),
            Held::Shifted(fill, shift) => Source::Misplaced(fill, Bytes(addressed.get().wrapping_add(shift))),
            Held::Garbage => Source::Garbage,
        }
    }

    /// What the device did beside programming and erasing.
    pub fn counters(&self) -> Counters {
        self.device.counters()
    }
}

#[cfg(test)]
mod tests {
    use super::Source;
    use flashscope_device::{Fill, Request, Target, WriteGrant};
    use flashscope_units::{Bytes, Instant};

    const CARD: &str = "sd-4mib,capacity=64MiB,noise=none";

    #[test]
    fn a_completion_is_known_before_it_is_due() {
        let mut ahead = crate::open(CARD, 1).unwrap();
        let mut waits = ahead.clone();
        let read = [Request::read(7, Bytes::ZERO, Bytes::kib(16))];
        let (mut early, mut late) = (Vec::new(), Vec::new());
        ahead.submit(&read).unwrap();
        ahead.take_ahead(&mut early);
        waits.submit(&read).unwrap();
        waits.reap(1, &mut late).unwrap();
        assert_eq!(early, late);
        assert_eq!(ahead.now(), Instant::ORIGIN);
        assert_eq!(waits.now(), late[0].completed);
        // What was taken is not given again.
        ahead.wait_until(waits.now());
        ahead.reap(1, &mut early).unwrap();
        assert_eq!(early.len(), 1);
    }

    #[test]
    fn a_range_holds_what_was_done_to_it() {
        let mut card = crate::open(&format!("{CARD},state=blank"), 1).unwrap();
        let mut grant = WriteGrant::simulated(card.facts(), Bytes::gib(1)).unwrap();
        let fill = Fill::Tagged { generation: 3 };
        let write = Request::write(&mut grant, 0, Bytes::kib(32), Bytes::kib(16), fill, false).unwrap();
        card.submit(&[write]).unwrap();
        let erased = Source::Erased(255);
        let runs = card.held(Bytes::kib(16), Bytes::kib(64));
        assert_eq!(runs, [(Bytes::kib(16), erased), (Bytes::kib(16), Source::Written(fill)), (Bytes::kib(32), erased)]);
        assert_eq!(card.held(Bytes::kib(40), Bytes::kib(4)), [(Bytes::kib(4), Source::Written(fill))]);
    }
}
