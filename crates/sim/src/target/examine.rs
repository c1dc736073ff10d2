//! What a read that asked for it is told of what stands there.

use super::{SimTarget, Source};
use crate::fault::{Place, Placement};
use flashscope_device::{Fill, Holds, Known, Outcome, Request, Stretch, stretch};
use flashscope_model::Direction;
use flashscope_units::Bytes;

impl SimTarget {
    /// What a read found on a device without faults, where every address is its own place.
    pub(super) fn examined_here(&self, request: &Request, outcome: &Outcome) -> Vec<Stretch> {
        if request.known().is_none() {
            return Vec::new();
        }
        let (start, length) = (request.offset(), request.length());
        self.examined(request, outcome, &self.resolve(start, length, Direction::Read))
    }

    /// What the range of a read that went well holds, as far as the request asks; its parts live at `placements`.
    pub(super) fn examined(&self, request: &Request, outcome: &Outcome, placements: &[Placement]) -> Vec<Stretch> {
        let (Some(known), false) = (request.known(), matches!(outcome, Outcome::Failed(_))) else { return Vec::new() };
        let (mut at, mut list) = (request.offset(), Vec::new());
        for (length, source) in self.held_at(placements) {
            stretch::append(&mut list, Stretch { length, holds: told(source, at, known) });
            at += length;
        }
        list
    }

    /// What is held at the placements, as runs in order.
    pub(super) fn held_at(&self, placements: &[Placement]) -> Vec<(Bytes, Source)> {
        let mut runs = Vec::new();
        for &Placement { start, length, place } in placements {
            match place {
                Place::Medium(at) => runs.extend(self.runs(at, length, start)),
                Place::Zeros => runs.push((length, Source::Erased(0))),
                Place::Garbage | Place::Nowhere => runs.push((length, Source::Garbage)),
            }
        }
        runs
    }
}

/// What one who knows these generations can tell of it.
fn told(source: Source, at: Bytes, known: Known) -> Holds {
    let (fill, addressed) = match source {
        Source::Erased(byte) => return Holds::Uniform(byte),
        Source::Garbage => return Holds::Foreign,
        Source::Written(fill) => (fill, at),
        Source::Misplaced(fill, addressed) => (fill, addressed),
    };
    match fill {
        Fill::Byte(byte) => Holds::Uniform(byte),
        Fill::Tagged { generation } if known.has(generation) => Holds::Tagged { generation, addressed },
        Fill::Tagged { .. } => Holds::Foreign,
    }
}
