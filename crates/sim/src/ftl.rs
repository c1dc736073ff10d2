//! The seam between a simulated device and its mapping (flash translation layer).
//!
//! [`SimTarget`](crate::SimTarget) owns the clock, the content, the noise and the queue; a mapping owns everything
//! from the link inwards: it is asked "this work reaches you at this time: when is it done?" and keeps
//! its own timelines (one for a card's controller, one per die for a drive). A mapping never sees the
//! host's clock, never reads the truth and draws chance only from the generator it was made with.
//!
//! A new mapping implements [`Ftl`], gets a variant in [`Device`] and one in
//! [`Mapping`](crate::model::Mapping) (`[mapping] kind = "…"`).

use crate::au_log::{AuLog, SavedCard};
use crate::model::{Mapping, Model};
use crate::page_map::{PageMap, SavedDrive};
use flashscope_device::Wear;
use flashscope_units::{Bytes, Instant};
use serde::{Deserialize, Serialize};

/// A range of the device in whole logical blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) start: Bytes,
    pub(crate) length: Bytes,
}

impl Extent {
    pub(crate) fn new(start: Bytes, length: Bytes) -> Extent {
        Extent { start, length }
    }

    /// First byte behind the range.
    pub(crate) fn end(self) -> Bytes {
        self.start + self.length
    }

    /// The same range, shifted by this much.
    pub(crate) fn shifted(self, by: Bytes) -> Extent {
        Extent { start: self.start + by, length: self.length }
    }
}

/// One piece of work: at most the link's `max_request` long, never empty, always inside the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    Read(Extent),
    Write {
        extent: Extent,
        durable: bool,
    },
    Flush,
    Discard(Extent),
    /// Into the controller's memory, and no further.
    Fetch(Extent),
    /// Out of the controller's memory.
    Destage(Extent),
}

impl Work {
    /// The same work, shifted by this much.
    pub(crate) fn shifted(self, by: Bytes) -> Work {
        match self {
            Work::Read(extent) => Work::Read(extent.shifted(by)),
            Work::Write { extent, durable } => Work::Write { extent: extent.shifted(by), durable },
            Work::Flush => Work::Flush,
            Work::Discard(extent) => Work::Discard(extent.shifted(by)),
            Work::Fetch(extent) => Work::Fetch(extent.shifted(by)),
            Work::Destage(extent) => Work::Destage(extent.shifted(by)),
        }
    }
}

/// How much of a range the mapping finds data for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    All,
    None,
    Part,
}

/// A mapping with its flash and its link, on virtual time.
pub(crate) trait Ftl {
    /// Takes `work` at `now` (never earlier than the `now` of the call before) and says when it is done, link time
    /// included; never earlier than `now`. Work that is still under way inside (other requests of the
    /// queue, a collection) delays it as far as it needs the same parts.
    fn serve(&mut self, now: Instant, work: Work) -> Instant;

    /// Nothing is outstanding from `from` to `until`: background work may use the time. The next `serve` comes at
    /// `until` at the earliest.
    fn idle(&mut self, from: Instant, until: Instant);

    /// Whether the mapping finds data in the range; a blank range reads as the erased byte.
    fn presence(&self, extent: Extent) -> Presence;

    /// Whether a power cut at `now` (never earlier than the times before) would lose data of the range, as they are in
    /// memory only.
    fn in_memory(&mut self, now: Instant, extent: Extent) -> bool;

    /// Erases and bytes programmed since it was made.
    fn wear(&self) -> Wear;

    /// Whether a read or write of the range fails at `now`, as the flash is worn out. Never, for a device that does not age.
    fn fails(&self, now: Instant, extent: Extent, write: bool) -> bool;

    /// How the flash stands, for the truth of the state. Costs a look at the whole map.
    fn inside(&self) -> Inside;

    /// What the registers of health are worked out from. Costs nothing, so that they can follow every request.
    fn use_of_life(&self) -> UseOfLife;

    /// Checks what the last step touched: says which invariant is broken (docs/devices.md lists them). Called after
    /// every step in debug and test builds.
    fn check(&self) -> Result<(), String>;

    /// Checks everything.
    fn check_all(&self) -> Result<(), String>;
}

/// How a mapping's flash stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Inside {
    /// Bytes that have a place in the flash, what is hidden from the host included.
    pub(crate) mapped: Bytes,
    /// The same in what one entry of the map stands for.
    pub(crate) pages: u64,
    /// Stretches of these whose places follow each other as their addresses do.
    pub(crate) runs: u64,
    /// What was written and is not valid any more.
    pub(crate) invalid: Invalid,
    /// Erases of the unit that was erased most often.
    pub(crate) most_erases: u32,
}

/// Sums over the units that were written to their end: their number, the invalid share of each, and its square.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Invalid {
    pub(crate) units: u64,
    pub(crate) pages: u64,
    pub(crate) invalid_pages: u64,
    pub(crate) shares: f64,
    pub(crate) squares: f64,
}

impl Invalid {
    /// One unit of so many pages.
    pub(crate) fn add(&mut self, invalid: u32, pages: u32) {
        let share = f64::from(invalid) / f64::from(pages);
        self.units += 1;
        self.pages += u64::from(pages);
        self.invalid_pages += u64::from(invalid);
        self.shares += share;
        self.squares += share * share;
    }
}

/// What was used up of a device's life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct UseOfLife {
    /// Erases of all units.
    pub(crate) erases: u64,
    /// Units in use.
    pub(crate) units: u64,
    /// Bad blocks in the table of the controller.
    pub(crate) replaced: u64,
    /// Units and blocks beside those that the data and the work in progress need.
    pub(crate) spare_left: u64,
    /// The same when the device was new.
    pub(crate) spare_when_new: u64,
}

/// What a device did beside programming and erasing; absent where its mapping does no such thing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Log blocks that took the place of an older block: switched, completed or merged.
    pub merges: Option<u64>,
    /// Superblocks won back by collection.
    pub collections: Option<u64>,
}

/// A mapping that was switched off.
#[derive(Serialize, Deserialize)]
pub(crate) enum Saved {
    Card(SavedCard),
    Drive(SavedDrive),
}

/// The mappings that there are. An enum and not a box: one match per request, no allocation.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "there is one per target, and it is never moved")]
pub(crate) enum Device {
    AuLog(AuLog),
    PageMap(PageMap),
}

impl Device {
    /// A device in the model's start state; `seed` feeds every chance in it.
    pub(crate) fn new(model: &Model, seed: u64) -> Device {
        match &model.mapping {
            Mapping::AuLog(params) => Device::AuLog(AuLog::new(params, model, seed)),
            Mapping::PageMap(params) => match PageMap::of_model(params, model, seed) {
                Ok(device) => Device::PageMap(device),
                Err(why) => unreachable!("a model that was not validated: {why}"),
            },
        }
    }

    /// What there is to save of the mapping, which is switched off for it: time begins anew.
    pub(crate) fn switch_off(&mut self) -> Saved {
        match self {
            Device::AuLog(device) => {
                device.switch_off();
                Saved::Card(device.saved())
            }
            Device::PageMap(device) => {
                device.switch_off();
                Saved::Drive(device.saved())
            }
        }
    }

    /// Puts a new device into a saved state; says what does not fit.
    pub(crate) fn restore(&mut self, saved: Saved) -> Result<(), String> {
        match (self, saved) {
            (Device::AuLog(device), Saved::Card(saved)) => device.restore(saved),
            (Device::PageMap(device), Saved::Drive(saved)) => device.restore(saved),
            _ => Err("it is mapped otherwise".to_owned()),
        }
    }

    /// What the mapping counts.
    pub(crate) fn counters(&self) -> Counters {
        match self {
            Device::AuLog(device) => device.counters(),
            Device::PageMap(device) => {
                Counters { merges: None, collections: Some(device.counters().collected_superblocks) }
            }
        }
    }

    /// Bytes of memory that the mapping's state takes.
    pub(crate) fn state_bytes(&self) -> usize {
        match self {
            Device::AuLog(device) => device.state_bytes(),
            Device::PageMap(device) => device.state_bytes(),
        }
    }

    fn inner(&self) -> &dyn Ftl {
        match self {
            Device::AuLog(device) => device,
            Device::PageMap(device) => device,
        }
    }

    fn inner_mut(&mut self) -> &mut dyn Ftl {
        match self {
            Device::AuLog(device) => device,
            Device::PageMap(device) => device,
        }
    }
}

impl Ftl for Device {
    fn serve(&mut self, now: Instant, work: Work) -> Instant {
        self.inner_mut().serve(now, work)
    }

    fn idle(&mut self, from: Instant, until: Instant) {
        self.inner_mut().idle(from, until);
    }

    fn presence(&self, extent: Extent) -> Presence {
        self.inner().presence(extent)
    }

    fn in_memory(&mut self, now: Instant, extent: Extent) -> bool {
        self.inner_mut().in_memory(now, extent)
    }

    fn wear(&self) -> Wear {
        self.inner().wear()
    }

    fn fails(&self, now: Instant, extent: Extent, write: bool) -> bool {
        self.inner().fails(now, extent, write)
    }

    fn inside(&self) -> Inside {
        self.inner().inside()
    }

    fn use_of_life(&self) -> UseOfLife {
        self.inner().use_of_life()
    }

    fn check(&self) -> Result<(), String> {
        self.inner().check()
    }

    fn check_all(&self) -> Result<(), String> {
        self.inner().check_all()
    }
}
