//! A map of which only a part is in memory: which pages of it are, and what it costs to bring in another.

use super::params::{Geometry, MapCacheParams};
use super::{NONE, PageMap, scatter};
use flashscope_units::Instant;

/// Pages of the part of the mapping table in memory, replaced by the clock rule (second chance).
#[derive(Clone, Debug)]
pub(super) struct MapCache {
    /// Map units that a page of the map covers.
    units_per_page: u32,
    /// Size of a page of the map, in map units.
    page_units: u32,
    /// Where each page of the map is in memory, or nowhere.
    place: Vec<u32>,
    slots: Vec<Slot>,
    capacity: usize,
    hand: usize,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    page: u32,
    used: bool,
    changed: bool,
}

/// What a lookup found.
enum Lookup {
    Hit,
    /// The page must be read, and the page that leaves be programmed first.
    Miss {
        leaves: Option<u32>,
    },
}

impl MapCache {
    pub(super) fn new(params: &MapCacheParams, geometry: &Geometry) -> MapCache {
        // Four bytes per entry.
        let units_per_page = (params.page.get() / 4).max(1) as u32;
        let pages = geometry.units.div_ceil(units_per_page);
        let reach = params.reach.get() / geometry.unit / u64::from(units_per_page);
        MapCache {
            units_per_page,
            page_units: params.page.get().div_ceil(geometry.unit) as u32,
            place: vec![NONE; pages as usize],
            slots: Vec::new(),
            capacity: reach.max(1) as usize,
            hand: 0,
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.place.capacity() * size_of::<u32>() + self.slots.capacity() * size_of::<Slot>()
    }

    fn look_up(&mut self, page: u32, change: bool) -> Lookup {
        let place = self.place[page as usize];
        if place != NONE {
            let slot = &mut self.slots[place as usize];
            slot.used = true;
            slot.changed |= change;
            return Lookup::Hit;
        }
        let new = Slot { page, used: true, changed: change };
        if self.slots.len() < self.capacity {
            self.place[page as usize] = self.slots.len() as u32;
            self.slots.push(new);
            return Lookup::Miss { leaves: None };
        }
        while self.slots[self.hand].used {
            self.slots[self.hand].used = false;
            self.hand = (self.hand + 1) % self.capacity;
        }
        let old = std::mem::replace(&mut self.slots[self.hand], new);
        self.place[old.page as usize] = NONE;
        self.place[page as usize] = self.hand as u32;
        self.hand = (self.hand + 1) % self.capacity;
        Lookup::Miss { leaves: old.changed.then_some(old.page) }
    }
}

impl PageMap {
    /// Brings the entries of a range into memory; says when they are there.
    pub(super) fn look_up(&mut self, first: u32, units: u32, at: Instant, change: bool) -> Instant {
        let Some(mut cache) = self.map_cache.take() else { return at };
        let nand = &self.params.nand;
        let die = |page: u32| (scatter(0, u64::from(page)) % u64::from(self.geometry.dies)) as u32;
        let mut ready = at;
        for page in first / cache.units_per_page..=(first + units - 1) / cache.units_per_page {
            let Lookup::Miss { leaves } = cache.look_up(page, change) else { continue };
            if let Some(old) = leaves {
                self.flash.program_aside(die(old), at, nand.slc_program, cache.page_units);
                self.counters.map_units += u64::from(cache.page_units);
            }
            ready = ready.max(self.flash.read(die(page), at, nand.slc_read, cache.page_units));
        }
        self.map_cache = Some(cache);
        ready
    }
}
