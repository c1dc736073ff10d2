//! Where an address of the device really lives.

use super::params::{Beyond, Damage, FakeKind, FaultParams};
use super::places::{Pick, Places};
use flashscope_model::Direction;
use flashscope_units::Bytes;

/// A stretch of the device and where it really lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Start on the device as the host sees it.
    pub start: Bytes,
    /// Its length.
    pub length: Bytes,
    /// Where its bytes are, or what comes in their place.
    pub place: Place,
}

/// Where bytes really live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// From this address of the medium on.
    Medium(Bytes),
    /// Nowhere: what is written is gone. Only writes are placed so.
    Nowhere,
    /// Nowhere: zeros are read. Only reads are placed so.
    Zeros,
    /// Bytes that nobody wrote are read. Only reads are placed so.
    Garbage,
}

/// From the device's addresses to the medium's.
#[derive(Clone, Debug)]
pub(crate) struct AddressMap {
    /// Bytes of the medium.
    medium: Bytes,
    /// Addresses begin anew here; absent where they never do.
    period: Option<Bytes>,
    beyond: Beyond,
    damaged: Places,
    damage: Damage,
    pick: Pick,
}

impl AddressMap {
    pub(crate) fn new(params: &FaultParams, claimed: Bytes, pick: Pick) -> AddressMap {
        let medium = params.medium(claimed);
        let period = match params.fake {
            FakeKind::WrapAround => Some(params.wrap.unwrap_or(medium)),
            FakeKind::Chain => params.wrap,
            FakeKind::Genuine | FakeKind::Limbo | FakeKind::Damaged => None,
        };
        let FaultParams { beyond, damage, .. } = *params;
        AddressMap { medium, period, beyond, damaged: params.damaged.clone(), damage, pick }
    }

    /// The range in order, cut where its place changes.
    pub(crate) fn resolve(&self, start: Bytes, length: Bytes, direction: Direction) -> Vec<Placement> {
        let end = start + length;
        let mut placements = Vec::with_capacity(1);
        let mut at = start;
        while at < end {
            let within = self.period.map_or(at, |period| at % period);
            let turn = self.period.map(|period| at - within + period);
            // Up to the edge of what is there, and from there to where addresses begin anew.
            let stretch = if within < self.medium { Some(at - within + self.medium) } else { None };
            let stop = [Some(end), turn, stretch].into_iter().flatten().min().unwrap_or(end);
            if within < self.medium {
                self.on_medium(at, within, stop - at, direction, &mut placements);
            } else {
                placements.push(Placement { start: at, length: stop - at, place: self.nothing(direction) });
            }
            at = stop;
        }
        placements
    }

    fn on_medium(&self, start: Bytes, at: Bytes, length: Bytes, direction: Direction, into: &mut Vec<Placement>) {
        for (from, length, damaged) in self.damaged.cut(self.pick, at, length) {
            let place = match (damaged, self.damage, direction) {
                (true, Damage::Garbage, Direction::Read) => Place::Garbage,
                (true, Damage::Lose, Direction::Write) => Place::Nowhere,
                _ => Place::Medium(from),
            };
            into.push(Placement { start: start + (from - at), length, place });
        }
    }

    fn nothing(&self, direction: Direction) -> Place {
        match (direction, self.beyond) {
            (Direction::Write, _) => Place::Nowhere,
            (Direction::Read, Beyond::Zeros) => Place::Zeros,
            (Direction::Read, Beyond::Garbage) => Place::Garbage,
        }
    }
}
