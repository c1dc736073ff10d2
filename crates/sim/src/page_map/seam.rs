//! The drive behind the seam, and its start state.

use super::{LinkTiming, NONE, PageMap, PageMapParams};
use crate::ageing::Ageing;
use crate::ftl::Extent;
use crate::ftl::{Ftl, Inside, Presence, UseOfLife, Work};
use crate::model::{Link, Model};
use flashscope_device::Wear;
use flashscope_units::{Bytes, Instant};

impl PageMapParams {
    /// Says what does not fit together.
    pub(crate) fn validate(&self, capacity: Bytes) -> Result<(), String> {
        super::Geometry::new(self, capacity).map(|_| ())
    }
}

impl PageMap {
    /// The drive of a model, in its start state.
    pub(crate) fn of_model(params: &PageMapParams, model: &Model, seed: u64) -> Result<PageMap, String> {
        let mut drive = PageMap::new(params.clone(), LinkTiming::from(&model.link), model.device.capacity, seed)?;
        let blocks = drive.geometry.dies * params.nand.planes;
        drive.ageing =
            model.ageing.as_ref().map(|ageing| Box::new(Ageing::new(ageing, drive.geometry.superblocks, blocks, seed)));
        drive.fill_units(model.written_until().get().div_ceil(drive.geometry.unit) as u32);
        Ok(drive)
    }
}

impl From<&Link> for LinkTiming {
    fn from(link: &Link) -> LinkTiming {
        LinkTiming {
            command: link.command,
            bytes_per_s: link.bytes_per_s,
            flush: link.flush,
            durable_write: link.durable_write,
        }
    }
}

impl Ftl for PageMap {
    fn serve(&mut self, now: Instant, work: Work) -> Instant {
        match work {
            Work::Read(Extent { start, length }) => self.read(now, start, length),
            Work::Write { extent, durable } => self.write(now, extent.start, extent.length, durable),
            Work::Flush => self.flush(now),
            Work::Discard(Extent { start, length }) => self.discard(now, start, length),
            Work::Fetch(Extent { start, length }) => self.fetch(now, start, length),
            // A drive has a write buffer of its own, and a model with another one in front of it is refused.
            Work::Destage(Extent { start, length }) => self.write(now, start, length, false),
        }
    }

    fn idle(&mut self, from: Instant, until: Instant) {
        PageMap::idle(self, from, until);
    }

    fn presence(&self, extent: Extent) -> Presence {
        match self.mapped_bytes(extent.start, extent.length) {
            Bytes::ZERO => Presence::None,
            mapped if mapped == extent.length => Presence::All,
            _ => Presence::Part,
        }
    }

    fn in_memory(&mut self, now: Instant, extent: Extent) -> bool {
        if !self.params.buffer.volatile {
            return false;
        }
        self.begin(now);
        let (first, units) = self.units_touching(extent.start, extent.length);
        (first..first + units).any(|unit| {
            let physical = self.forward.get(unit);
            physical != NONE && self.is_in_memory(physical, now)
        })
    }

    fn wear(&self) -> Wear {
        PageMap::wear(self)
    }

    fn inside(&self) -> Inside {
        self.flash_now()
    }

    fn use_of_life(&self) -> UseOfLife {
        let bad = u64::from(self.superblocks.bad());
        let (reserve_left, reserve) = self.ageing.as_ref().map_or((0, 0), |ageing| ageing.reserve());
        let spare = self.geometry.superblocks - self.geometry.superblocks_for_data() - self.params.least_spare();
        let bad_when_new = self.params.nand.bad_blocks;
        UseOfLife {
            erases: self.superblocks.erases(),
            units: u64::from(self.geometry.superblocks) - bad,
            replaced: self.ageing.as_ref().map_or(0, |ageing| u64::from(ageing.entries())),
            spare_left: u64::from(spare).saturating_sub(bad) + reserve_left,
            spare_when_new: u64::from(spare - bad_when_new) + reserve,
        }
    }

    fn fails(&self, now: Instant, extent: Extent, write: bool) -> bool {
        if write { self.read_only } else { self.cannot_read(now, extent) }
    }

    fn check(&self) -> Result<(), String> {
        PageMap::check(self)
    }

    fn check_all(&self) -> Result<(), String> {
        PageMap::check_all(self)
    }
}
