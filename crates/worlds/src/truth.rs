//! What a perfect observer would report of a world. **Only scoring may read it.**
//!
//! A figure that the mechanism has no meaning for is named in [`Truth::not_judged`]: how many units FAST keeps open at random is
//! such a one, as each further unit makes the shared log blocks a little dearer and none is the last.

use crate::card::{CardPlan, Keeps, Route};
use crate::drive::DrivePlan;
use crate::flash::transfer;
use crate::measured::{self, Stretches};
use crate::world::{Inside, World};
use flashscope_model::Finding;
use flashscope_model::finding::{MappingKind, SlcKind};
use flashscope_units::{Bytes, Nanos};

/// One figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact<T> {
    /// The value; absent where there is no such thing.
    pub value: Option<T>,
    /// Values that are as right: the device looks the same.
    pub aliases: Vec<T>,
    /// Whoever says "at least this" said all there is to say.
    pub at_least: Option<T>,
    /// Whether it shows at all.
    pub shows: bool,
}

/// Sequential rate over random rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Penalty {
    /// Size of the writes.
    pub block: Bytes,
    /// Over the first writes.
    pub at_first: f64,
    /// In the long run.
    pub long: f64,
}

/// Units at the start that are faster.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Area {
    /// Its end; it begins with the device.
    pub end: Bytes,
    /// Rate of the longest requests over that elsewhere.
    pub long: f64,
    /// The same for writes of 32 KiB.
    pub middle: f64,
    /// The same for writes of 4 KiB.
    pub small: f64,
}

/// What a discard does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Discarded {
    /// What it reads as.
    pub byte: u8,
    /// From which size on.
    pub grain: Bytes,
}

/// What only a drive has.
#[derive(Clone, Debug, PartialEq)]
pub struct Inner {
    /// Data that one row of pages holds.
    pub stripe: Fact<Bytes>,
    /// Dies.
    pub parallel_units: Fact<u32>,
    /// Channels.
    pub channels: Fact<u32>,
    /// Bits per cell.
    pub bits_per_cell: Fact<u32>,
    /// Data that the fast cells take.
    pub slc_cache: Fact<Bytes>,
    /// Whether their size depends on what the device holds.
    pub slc_kind: Fact<SlcKind>,
    /// Physical over host capacity.
    pub physical_over_user: Fact<f64>,
    /// How much the part of the map in memory stands for.
    pub map_reach: Fact<Bytes>,
}

/// All of it; the names are those of the findings.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "each is documented with the finding of its name")]
pub struct Truth {
    pub mapping: Fact<MappingKind>,
    pub capacity: Bytes,
    pub allocation_unit: Fact<Bytes>,
    pub boundary_offset: Fact<Bytes>,
    pub page: Fact<Bytes>,
    pub page_inner: Fact<Bytes>,
    pub open_units_linear: Fact<u32>,
    pub open_units_random: Fact<u32>,
    pub penalties: Vec<Penalty>,
    pub small_write_path: Fact<Bytes>,
    pub fast_area: Option<Area>,
    /// Time and spacing of the waits of long sequential writes.
    pub stalls: Fact<(Nanos, Bytes)>,
    pub read_buffer: Fact<Bytes>,
    pub discard: Option<Discarded>,
    pub inner: Option<Inner>,
    /// Figures that have no meaning here.
    pub not_judged: Vec<Finding>,
}

impl<T> Fact<T> {
    fn known(value: T) -> Fact<T> {
        Fact { value: Some(value), aliases: Vec::new(), at_least: None, shows: true }
    }

    fn hidden(value: Option<T>) -> Fact<T> {
        Fact { value, aliases: Vec::new(), at_least: None, shows: false }
    }

    fn or(self, aliases: Vec<T>) -> Fact<T> {
        Fact { aliases, ..self }
    }

    fn enough(self, least: T) -> Fact<T> {
        Fact { at_least: Some(least), ..self }
    }
}

pub(crate) fn of(world: &World) -> Truth {
    let discard = world.discard_grain.map(|grain| Discarded { byte: world.erased_byte, grain: Bytes(grain) });
    let truth = match &world.inside {
        Inside::Card(plan) => of_card(world, plan),
        Inside::Drive(plan) => of_drive(world, plan),
    };
    Truth { discard, ..truth }
}

/// Nobody tries more units than this.
const MOST_UNITS: u32 = 64;

fn of_card(world: &World, plan: &CardPlan) -> Truth {
    let logs = || Fact::known(plan.logs as u32).enough((plan.logs as u32).min(MOST_UNITS));
    let first = Bytes((plan.unit - plan.hidden % plan.unit) % plan.unit);
    let reads_show_units = plan.maps_at_hand.is_some() && plan.times.map > Nanos::ZERO;
    let mapping = Fact::known(MappingKind::UnitLog);
    Truth {
        mapping: if plan.route == Route::Own { mapping } else { mapping.or(vec![MappingKind::Other]) },
        capacity: Bytes(plan.capacity),
        allocation_unit: Fact::known(Bytes(plan.unit)),
        boundary_offset: if reads_show_units { Fact::known(first) } else { Fact::hidden(Some(first)) },
        page: Fact::known(Bytes(plan.page)).or(if hides_pages(plan) { vec![Bytes(plan.codeword)] } else { Vec::new() }),
        page_inner: Fact::hidden(None).or(vec![Bytes(plan.codeword)]),
        open_units_linear: logs(),
        open_units_random: logs(),
        penalties: measured::penalties(&world.open_quiet(), card_stretches(plan, first)),
        small_write_path: match plan.route {
            Route::BySize(most) => Fact::known(Bytes(most)),
            Route::Own | Route::ByOrder => Fact::hidden(None),
        },
        fast_area: fast_area(world, plan, first),
        // A full log block becomes the unit, and what was the unit before is erased.
        stalls: Fact::known((plan.times.erase, Bytes(plan.unit))),
        read_buffer: match plan.keeps {
            Keeps::Nothing => Fact { value: None, ..Fact::known(Bytes::ZERO) },
            Keeps::Page => Fact::known(Bytes(plan.page)),
            Keeps::Unit => Fact::known(Bytes(plan.unit)),
        },
        discard: None,
        inner: None,
        not_judged: not_judged(plan),
    }
}

/// Whether the edge of a page costs no more than that of any codeword, even between two sectors: the next page is sensed while
/// the sector before it is on its way.
fn hides_pages(plan: &CardPlan) -> bool {
    plan.times.sense <= plan.times.codeword + transfer(512, plan.times.wire)
}

/// Shared log blocks have no number of units at which they end. A page that is kept, and of which an aligned read leaves a part,
/// is data read ahead to whoever goes on, and none to whoever defines that as reading more than was asked for.
fn not_judged(plan: &CardPlan) -> Vec<Finding> {
    let leaves_a_part = plan.keeps != Keeps::Nothing && !plan.hidden.is_multiple_of(plan.page);
    let all = [(plan.route == Route::ByOrder, Finding::OpenUnitsRandom), (leaves_a_part, Finding::ReadAhead)];
    all.into_iter().filter(|(is, _)| *is).map(|(_, finding)| finding).collect()
}

/// Behind the fast units, and behind the middle where nothing else was written.
fn card_stretches(plan: &CardPlan, first: Bytes) -> Stretches {
    let units = (plan.capacity - first.get()) / plan.unit;
    let before = (plan.logs + plan.shared + 1) as u64;
    let skipped = (plan.fast_units + 1).min(units.saturating_sub(before + 3));
    Stretches { first: first.get() + skipped * plan.unit, length: plan.unit, before }
}

/// Program time is what differs, as far as the wire lets it show.
fn fast_area(world: &World, plan: &CardPlan, first: Bytes) -> Option<Area> {
    let end = (plan.fast_units * plan.unit).checked_sub(plan.hidden).filter(|end| *end > 0)?;
    debug_assert!(first.get() <= end);
    let time = |length: u64, fast: f64| {
        let pages = length.div_ceil(plan.page).max(1);
        let wire = transfer(length, plan.times.wire).as_f64();
        let page = transfer(length.min(plan.page), plan.times.wire).as_f64();
        let program = plan.times.program.as_f64() * fast;
        // What a short write leaves of its page comes along.
        let rest = if length < plan.page { plan.times.sense.as_f64() * fast } else { 0.0 };
        let flash = (program + rest) * pages as f64 + page;
        plan.times.command.as_f64() + flash.max(wire + program)
    };
    let ratio = |length: u64| time(length, 1.0) / time(length, plan.times.fast);
    let [long, middle, small] = [world.max_request, 32 << 10, 4 << 10].map(ratio);
    Some(Area { end: Bytes(end), long, middle, small })
}

fn of_drive(world: &World, plan: &DrivePlan) -> Truth {
    let no_limit = || Fact { shows: true, ..Fact::hidden(None).enough(u32::MAX) };
    let superblock = Bytes(plan.superblock() as u64 * plan.page);
    let first = Bytes((plan.page - plan.hidden % plan.page) % plan.page);
    // Where the next row begins on the die that the last one ended on, its edge costs what that of a page does.
    let row = Bytes(plan.dies() as u64 * plan.page);
    let middle = (plan.capacity / 2).next_multiple_of(4 << 20) + first.get();
    Truth {
        mapping: Fact::known(MappingKind::Page),
        capacity: Bytes(plan.capacity),
        allocation_unit: Fact::hidden(Some(superblock)),
        boundary_offset: Fact::hidden(Some(first)),
        page: Fact::hidden(Some(Bytes(plan.page))).or(if plan.rotates {
            vec![Bytes(plan.codeword), row]
        } else {
            vec![Bytes(plan.codeword)]
        }),
        page_inner: Fact::hidden(None).or(if plan.rotates {
            vec![Bytes(plan.codeword), Bytes(plan.page)]
        } else {
            vec![Bytes(plan.codeword)]
        }),
        open_units_linear: no_limit(),
        open_units_random: no_limit(),
        penalties: measured::penalties(&world.open_quiet(), Stretches { first: middle, length: 4 << 20, before: 0 }),
        small_write_path: Fact::hidden(None),
        fast_area: None,
        stalls: Fact::hidden(None),
        read_buffer: Fact { value: None, ..Fact::known(Bytes::ZERO) },
        discard: None,
        inner: Some(inner(world, plan)),
        // Many places at once find less of the map in memory: where that begins is no number of units.
        not_judged: plan.cached_map.iter().flat_map(|_| [Finding::OpenUnitsLinear, Finding::OpenUnitsRandom]).collect(),
    }
}

/// Most that need be written in search of a cache of fast cells, and the share of a device.
const SEARCHED: (u64, u64) = (512 << 20, 20);
/// Most that need be read in search of the reach of a map.
const SEARCHED_REACH: u64 = 16 << 30;

fn inner(world: &World, plan: &DrivePlan) -> Inner {
    let deep = world.facts.queue_depth.is_some_and(|depth| depth >= 4);
    let dies = plan.dies() as u32;
    let row = Bytes(u64::from(dies) * plan.page);
    let reads_show = deep && dies > 1;
    let stripe_shows = reads_show && !plan.rotates && plan.aged <= 0.0;
    let of = |value: u32| if reads_show { Fact::known(value) } else { Fact::hidden(Some(value)) };
    let superblock = (plan.superblock() as u64) * plan.page;
    let physical = plan.superblocks() as f64 * plan.superblock() as f64 / plan.pages() as f64;
    let reserved = 4.0 * plan.superblock() as f64 / plan.pages() as f64;
    let slc = plan.fast.as_ref().map(|fast| fast.superblocks as u64 * (superblock / fast.bits as u64));
    let reach = plan.cached_map.as_ref().map(|map| map.entries as u64 * plan.page);
    Inner {
        stripe: match stripe_shows {
            true => Fact::known(row),
            // Rows whose channels rotate repeat after as many rows as there are channels.
            false => Fact::hidden(Some(row)).or(vec![row * plan.channels as u64]),
        },
        parallel_units: of(dies),
        channels: Fact { shows: false, ..of(plan.channels as u32) },
        bits_per_cell: Fact::hidden(Some(plan.fast.as_ref().map_or(3, |fast| fast.bits as u32))),
        slc_cache: slc.map_or(Fact::hidden(None), |room| {
            Fact::known(Bytes(room)).enough(Bytes(room.min(SEARCHED.0).min(plan.capacity / SEARCHED.1)))
        }),
        slc_kind: slc.map_or(Fact::hidden(None), |_| Fact::known(SlcKind::Static)),
        physical_over_user: Fact::known(physical).or(vec![physical - reserved]),
        map_reach: reach
            .map_or(Fact::hidden(None), |reach| Fact::known(Bytes(reach)).enough(Bytes(reach.min(SEARCHED_REACH)))),
    }
}
