//! What is wrong with a device: its size is a lie, some of its sectors are slow, fail or hang, it goes away or is reset, its
//! flush lies, and power cuts lose, tear, misplace or reorder what was not safe.
//!
//! A device without a `[fault]` section has none of this, and asks nothing here. With one, `target/faulty.rs` takes every
//! request by way of [`Faults`]: `size` says where its addresses live, `places` which sectors are bad, `power` what is on
//! the medium for good. `params` and `defaults.toml` are what a model file says; docs/faults.md explains it.

mod params;
mod places;
mod power;
mod size;

pub use params::FakeKind;
pub(crate) use params::{CacheName, Fails, FaultParams, SECTION, defaults, path_of};
pub(crate) use power::{CutParams, PowerLog, Written};
pub use power::{MediumBytes, MediumChange, PowerCut, Recovery};
pub(crate) use size::AddressMap;
pub use size::{Place, Placement};

use crate::chance::Chance;
use crate::content::Contents;
use crate::model::{Link, Mapping, Model};
use flashscope_model::Direction;
use flashscope_units::{Bytes, Instant, Nanos};
use places::{Pick, Places};

/// The volatile memory between the host and the flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cache {
    /// A write is safe when it is answered.
    None,
    /// The mapping knows what it has in memory.
    Mapping,
    /// A number of bytes, written out in order.
    Size(Bytes),
}

impl Cache {
    pub(crate) fn of(params: &FaultParams, model: &Model) -> Cache {
        match (params.write_cache, &model.mapping) {
            (CacheName::Mapping, Mapping::PageMap(drive)) if drive.buffer.volatile => Cache::Mapping,
            (CacheName::Mapping, _) if model.write_buffer.as_ref().is_some_and(|buffer| buffer.volatile) => {
                Cache::Mapping
            }
            (CacheName::None | CacheName::Mapping, _) => Cache::None,
            (CacheName::Size(Bytes::ZERO), _) => Cache::None,
            (CacheName::Size(size), _) => Cache::Size(size),
        }
    }
}

/// The faults of one device, and what they have done so far.
#[derive(Clone, Debug)]
pub(crate) struct Faults {
    params: FaultParams,
    pub(crate) map: AddressMap,
    pub(crate) log: PowerLog,
    pub(crate) link: Link,
    slow: Bad,
    failing: Bad,
    hanging: Bad,
    chance: Chance,
    /// Requests taken.
    taken: u64,
    /// Nothing is begun before: a reset is under way, or the device starts up.
    pub(crate) ready_from: Instant,
    /// When it goes away next, as far as that is known, and why.
    pub(crate) ends: Option<(Instant, Why)>,
    /// Why it is gone.
    pub(crate) gone: Option<Why>,
    /// Requests that were under way when it went.
    pub(crate) cut_off: usize,
    /// When requests that hang were issued.
    pub(crate) hung: Vec<Instant>,
    pub(crate) last_cut: Option<PowerCut>,
}

/// Why a device is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    Vanished,
    PowerCut,
    Dead,
}

impl Why {
    pub(crate) fn words(self) -> &'static str {
        match self {
            Why::Vanished => "it vanished from the bus",
            Why::PowerCut => "its power was cut",
            Why::Dead => "it does not start up any more",
        }
    }
}

/// Bad places, and which grains of a share they are.
#[derive(Clone, Debug)]
struct Bad(Places, Pick);

impl Bad {
    fn touched(&self, placements: &[Placement]) -> bool {
        !self.0.is_none()
            && placements.iter().any(|one| match one.place {
                Place::Medium(at) => self.0.touch(self.1, at, one.length),
                Place::Nowhere | Place::Zeros | Place::Garbage => false,
            })
    }
}

/// What the bad places make of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Good { late_by: Nanos },
    Fails { late_by: Nanos },
    Hangs,
}

impl Faults {
    /// The faults of a device that holds `contents`, all of it on the medium.
    pub(crate) fn new(params: &FaultParams, model: &Model, contents: &Contents, seed: u64) -> Faults {
        let medium = params.medium(model.device.capacity);
        let pick = |purpose: &str| Pick { seed: Chance::new(seed, purpose).word(), grain: params.grain };
        let bad = |places: &Places, purpose| Bad(places.clone(), pick(purpose));
        let cut = CutParams {
            cache: Cache::of(params, model),
            drain_after: params.drain_after,
            late_loss: params.late_loss,
            torn: params.torn,
            shorn: params.shorn,
            reordered: params.reordered,
            lost: params.lost,
            misdirected: params.misdirected,
            neighbours: params.neighbours,
            rollback: params.rollback,
            rollback_by: params.rollback_by,
            block: model.device.logical_block,
        };
        let mut faults = Faults {
            map: AddressMap::new(params, model.device.capacity, pick("damaged")),
            log: PowerLog::new(cut, contents, medium, seed),
            link: model.link.clone(),
            slow: bad(&params.slow, "slow"),
            failing: bad(&params.failing, "failing"),
            hanging: bad(&params.hanging, "hanging"),
            chance: Chance::new(seed, "fault"),
            taken: 0,
            ready_from: Instant::ORIGIN,
            ends: None,
            gone: None,
            cut_off: 0,
            hung: Vec::new(),
            last_cut: None,
            params: params.clone(),
        };
        faults.plan_end(Instant::ORIGIN);
        faults
    }

    /// Counts a request; says whether the device vanishes instead of taking it.
    pub(crate) fn count(&mut self) -> bool {
        let vanishes = self.params.vanish_after == Some(self.taken);
        self.taken += u64::from(!vanishes);
        vanishes
    }

    /// The pause of a reset that comes before the request that was counted last, if one does.
    pub(crate) fn reset(&mut self, now: Instant) -> Option<Nanos> {
        let by_number = self.params.reset_after.is_some_and(|after| self.taken == after + 1);
        let by_time = self.params.reset_at.is_some_and(|at| at <= now);
        if by_time {
            self.params.reset_at = None;
        }
        (by_number || by_time).then_some(self.params.reset_pause)
    }

    /// Whether the power goes while the request that was counted last is under way: then after what share of it.
    pub(crate) fn cut_within(&mut self) -> Option<f64> {
        let cut = self.params.power_cut_after.is_some_and(|after| self.taken == after + 1);
        cut.then(|| self.chance.unit())
    }

    /// What bad places make of a request. A flush touches none.
    pub(crate) fn judge(&self, placements: &[Placement], direction: Direction) -> Verdict {
        if self.hanging.touched(placements) {
            return Verdict::Hangs;
        }
        let late_by = if self.slow.touched(placements) { self.params.slow_by } else { Nanos::ZERO };
        let concerned = match self.params.fails {
            Fails::Both => true,
            Fails::Reads => direction == Direction::Read,
            Fails::Writes => direction == Direction::Write,
        };
        if concerned && self.failing.touched(placements) {
            return Verdict::Fails { late_by };
        }
        Verdict::Good { late_by }
    }

    /// Whether flushes and durable writes are answered without having been done.
    pub(crate) fn lies(&self) -> bool {
        self.params.lying_flush
    }

    pub(crate) fn hang_timeout(&self) -> Nanos {
        self.params.hang_timeout
    }

    /// From power on to the first request, after the last cut.
    pub(crate) fn start_up(&self) -> Nanos {
        match self.recovery() {
            Recovery::Slow => self.params.slow_start_by,
            _ => self.params.start_up,
        }
    }

    /// How the device comes back after the power cut that comes now.
    pub(crate) fn draw_recovery(&mut self) -> Recovery {
        let FaultParams { dead, shrink, slow_start, .. } = self.params;
        for (share, recovery) in [(dead, Recovery::Dead), (shrink, Recovery::Shrunk), (slow_start, Recovery::Slow)] {
            if self.chance.happens(share) {
                return recovery;
            }
        }
        Recovery::Usual
    }

    /// How the device comes back after the last power cut; as usual where it went away otherwise.
    pub(crate) fn recovery(&self) -> Recovery {
        let cut = self.last_cut.filter(|_| self.gone != Some(Why::Vanished));
        cut.map_or(Recovery::Usual, |cut| cut.recovery)
    }

    /// What the device says it has when it has shrunk.
    pub(crate) fn shrunk_to(&self) -> Bytes {
        self.params.shrunk_to
    }

    /// The device goes away at `at`, unless it does before.
    pub(crate) fn end_at(&mut self, at: Instant, why: Why) {
        if self.ends.is_none_or(|(other, _)| at < other) {
            self.ends = Some((at, why));
        }
    }

    /// Looks for the next end that the clock brings, `now` or later. A moment that has passed does not come again.
    pub(crate) fn plan_end(&mut self, now: Instant) {
        self.ends = None;
        for (at, why) in [(self.params.vanish_at, Why::Vanished), (self.params.power_cut_at, Why::PowerCut)] {
            if let Some(at) = at.filter(|&at| at > now || now == Instant::ORIGIN) {
                self.end_at(at, why);
            }
        }
    }

    /// It vanished; it does so once.
    pub(crate) fn forget_number(&mut self) {
        self.params.vanish_after = None;
    }
}
