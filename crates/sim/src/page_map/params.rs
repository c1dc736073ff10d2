//! What a model file says of a page-mapped drive, and the geometry that follows from it.

use crate::range::{BLOCK, Inner, OPERATION, PART, PAUSE, RATE, SHARE, Section, Within, join, ranges};
use crate::text;
use flashscope_units::{Bytes, Nanos};
use serde::{Deserialize, Deserializer, de::Error};

/// `[mapping] kind = "page-map"`. Every parameter is written out; what a drive does not have is left out as a whole.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageMapParams {
    /// What one entry of the map stands for: 4 KiB in most drives, at most a flash page.
    #[serde(deserialize_with = "text::bytes")]
    pub unit: Bytes,
    /// Controller time per request; requests take turns in it, so it caps the rate of small ones.
    #[serde(deserialize_with = "text::nanos")]
    pub processing: Nanos,
    /// Controller time per row of flash that a read needs, taken in turns as well: what makes two rows dearer than one.
    #[serde(deserialize_with = "text::nanos")]
    pub issue: Nanos,
    /// Whether data go both ways over the link at once (NVMe) or take turns (SATA).
    pub full_duplex: bool,
    /// The flash.
    pub nand: Nand,
    /// How space is won back.
    pub collection: Collection,
    /// The part of the flash that is written with one bit per cell first.
    pub slc: SlcCache,
    /// Memory in front of the flash.
    pub buffer: WriteBuffer,
    /// A map of which only a part is in memory; absent where all of it is.
    pub map_cache: Option<MapCacheParams>,
}

ranges!(PageMapParams {
    unit: BLOCK,
    processing: OPERATION,
    issue: OPERATION,
    full_duplex,
    nand: Inner,
    collection: Inner,
    slc: Inner,
    buffer: Inner,
    map_cache: Inner,
});

/// The flash: dies behind channels. A *superblock* is one block of every plane of every die; it is written, collected
/// and erased as one.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nand {
    /// Channels, each moving data for one die at a time.
    pub channels: u32,
    /// Dies on each channel, each doing one thing at a time.
    pub dies_per_channel: u32,
    /// Planes of a die; all of them are programmed and erased together, and read together where the data allow.
    pub planes: u32,
    /// Flash page.
    #[serde(deserialize_with = "text::bytes")]
    pub page: Bytes,
    /// Pages of a block at full bits per cell.
    pub pages_per_block: u32,
    /// Blocks of a plane: the number of superblocks.
    pub blocks_per_plane: u32,
    /// Superblocks that are bad from the start, drawn from the seed.
    pub bad_blocks: u32,
    /// Erases that a superblock stands before it goes bad; absent where wear is only counted.
    pub endurance: Option<u32>,
    /// Bits per cell.
    pub bits_per_cell: u32,
    /// Speed of a channel in bytes per second.
    pub bus_bytes_per_s: f64,
    /// tR by page type, in the order in which the types follow each other in a block.
    #[serde(deserialize_with = "nanos_list")]
    pub read: Vec<Nanos>,
    /// Added to tR where pages of several planes are read together.
    #[serde(deserialize_with = "text::nanos")]
    pub multi_plane_read: Nanos,
    /// tPROG by page type.
    #[serde(deserialize_with = "nanos_list")]
    pub program: Vec<Nanos>,
    /// tBERS.
    #[serde(deserialize_with = "text::nanos")]
    pub erase: Nanos,
    /// tR with one bit per cell.
    #[serde(deserialize_with = "text::nanos")]
    pub slc_read: Nanos,
    /// tPROG with one bit per cell.
    #[serde(deserialize_with = "text::nanos")]
    pub slc_program: Nanos,
}

ranges!(Nand {
    channels: 1..=256,
    dies_per_channel: 1..=256,
    planes: 1..=64,
    page: BLOCK,
    pages_per_block: 1..=65_536,
    blocks_per_plane: 1..=1 << 20,
    bad_blocks: 0..=1 << 20,
    endurance: 1..=u32::MAX,
    bits_per_cell: 1..=8,
    bus_bytes_per_s: RATE,
    read: OPERATION,
    multi_plane_read: OPERATION,
    program: OPERATION,
    erase: OPERATION,
    slc_read: OPERATION,
    slc_program: OPERATION,
});

/// How space is won back.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Collection {
    /// Which superblock is taken.
    pub policy: Policy,
    /// At this many free superblocks host writes start to pay for collection.
    pub foreground_below: u32,
    /// Idle time is used until this many are free.
    pub background_to: u32,
    /// Length of idleness after which background work starts.
    #[serde(deserialize_with = "text::nanos")]
    pub background_after: Nanos,
    /// Idle time is not spent on superblocks with a greater share of valid pages than this.
    pub background_valid_ratio: f64,
}

ranges!(Collection {
    policy,
    // One superblock to write to, and one to collect into.
    foreground_below: 2..=1 << 20,
    background_to: 0..=1 << 20,
    background_after: PAUSE,
    background_valid_ratio: SHARE,
});

/// Which superblock is collected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// The one with the fewest valid pages.
    Greedy,
    /// The one that was filled first.
    Fifo,
    /// The one with the greatest (1 − u) / 2u × age, u being its valid share (Kawaguchi et al., USENIX 1995).
    CostBenefit,
}

/// The part of the flash that is written with one bit per cell first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlcCache {
    /// There is none.
    None,
    /// Superblocks that are never used otherwise.
    Static {
        /// How many.
        superblocks: u32,
    },
    /// Free superblocks, as long as enough of them are left.
    Dynamic {
        /// Most superblocks at once.
        max_superblocks: u32,
        /// Number that stays free for writing at full bits per cell.
        keep_free: u32,
    },
}

impl<'de> Deserialize<'de> for SlcCache {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<SlcCache, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct None {}
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Static {
            superblocks: u32,
        }
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Dynamic {
            max_superblocks: u32,
            keep_free: u32,
        }
        let (kind, rest) = text::kind_and_rest(from)?;
        match kind.as_str() {
            "none" => text::section(rest).map(|None {}| SlcCache::None),
            "static" => text::section(rest).map(|Static { superblocks }| SlcCache::Static { superblocks }),
            "dynamic" => text::section(rest)
                .map(|Dynamic { max_superblocks, keep_free }| SlcCache::Dynamic { max_superblocks, keep_free }),
            other => Err(D::Error::unknown_variant(other, &["none", "static", "dynamic"])),
        }
    }
}

impl Section for SlcCache {
    fn check(&self, key: &str) -> Result<(), String> {
        let counts = match *self {
            SlcCache::None => vec![],
            SlcCache::Static { superblocks } => vec![("superblocks", superblocks)],
            SlcCache::Dynamic { max_superblocks, keep_free } => {
                vec![("max_superblocks", max_superblocks), ("keep_free", keep_free)]
            }
        };
        counts.iter().try_for_each(|(name, count)| count.within(&(0..=1 << 20), &join(key, name)))
    }
}

/// Memory in front of the flash.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WriteBuffer {
    /// Bytes that are held until they are programmed.
    #[serde(deserialize_with = "text::bytes")]
    pub size: Bytes,
    /// Whether a power cut loses it: then a flush waits for the flash.
    pub volatile: bool,
    /// Length of idleness after which an unfinished row is programmed, its rest left empty.
    #[serde(deserialize_with = "text::nanos")]
    pub write_out_after: Nanos,
}

ranges!(WriteBuffer { size: PART, volatile, write_out_after: PAUSE });

/// A map of which only a part is in memory. A miss reads a page of the map from flash, and a changed page that has
/// to leave is programmed first. Map pages live in an area of their own whose collection is not modelled, and
/// the changes that collection makes to the map are not charged.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MapCacheParams {
    /// How much of the device the part in memory stands for.
    #[serde(deserialize_with = "text::bytes")]
    pub reach: Bytes,
    /// A page of the map.
    #[serde(deserialize_with = "text::bytes")]
    pub page: Bytes,
}

ranges!(MapCacheParams { reach: PART, page: BLOCK });

/// Times of the link, per request.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkTiming {
    /// From the host's call to the controller and back.
    pub command: Nanos,
    /// Bytes per second on the wire.
    pub bytes_per_s: f64,
    /// A flush with nothing to make durable.
    pub flush: Nanos,
    /// Added to a write that must be durable when it completes.
    pub durable_write: Nanos,
}

/// A list of times, each with its unit.
fn nanos_list<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Nanos>, D::Error> {
    let one = |text: &String| text.parse::<Nanos>().map_err(|error| D::Error::custom(error.to_string()));
    Vec::<String>::deserialize(from)?.iter().map(one).collect()
}

/// Sizes in map units, worked out once.
///
/// A physical address is `superblock << shift | slot`. Consecutive slots fill a page, then the same page of the other planes
/// (together a *row* of one die), then the next die, channels taking turns, then the next page number.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Geometry {
    pub(super) unit: u64,
    /// Map units of the user capacity.
    pub(super) units: u32,
    pub(super) page_units: u32,
    pub(super) row_units: u32,
    pub(super) dies: u32,
    pub(super) channels: u32,
    pub(super) superblocks: u32,
    /// Slots of a superblock at full bits per cell, and at one.
    pub(super) slots: u32,
    pub(super) slc_slots: u32,
    pub(super) shift: u32,
}

impl Geometry {
    pub(super) fn new(params: &PageMapParams, capacity: Bytes) -> Result<Geometry, String> {
        params.check("mapping")?;
        let nand = &params.nand;
        let unit = params.unit.get();
        if !nand.page.is_multiple_of(params.unit) {
            return Err(format!(
                "mapping.nand.page ({}) must be a multiple of mapping.unit ({})",
                nand.page, params.unit
            ));
        }
        let lists = [("read", nand.read.len()), ("program", nand.program.len())];
        if let Some((name, _)) = lists.iter().find(|(_, length)| *length == 0) {
            return Err(format!("mapping.nand.{name} names no time"));
        }
        if nand.pages_per_block < nand.bits_per_cell {
            return Err("mapping.nand.pages_per_block must not be below mapping.nand.bits_per_cell".to_owned());
        }
        let page_units = (nand.page.get() / unit) as u32;
        let dies = nand.channels * nand.dies_per_channel;
        let row_units = page_units * nand.planes;
        let stripe = u64::from(row_units) * u64::from(dies);
        let slots = stripe * u64::from(nand.pages_per_block);
        let units = capacity.get().div_ceil(unit);
        let too_large = || "more map units than 32 bits can number: use a larger mapping.unit".to_owned();
        let slots = u32::try_from(slots).map_err(|_| too_large())?;
        let shift = slots.next_power_of_two().trailing_zeros();
        if u64::from(nand.blocks_per_plane) << shift >= u64::from(u32::MAX) || units >= u64::from(u32::MAX) {
            return Err(too_large());
        }
        let geometry = Geometry {
            unit,
            units: units as u32,
            page_units,
            row_units,
            dies,
            channels: nand.channels,
            superblocks: nand.blocks_per_plane,
            slots,
            slc_slots: stripe as u32 * (nand.pages_per_block / nand.bits_per_cell),
            shift,
        };
        geometry.check_spare(params)?;
        Ok(geometry)
    }

    /// Collection must always be able to go on: besides the data there must be room for the superblocks being written and
    /// for the free ones that collection and the cache insist on.
    fn check_spare(&self, params: &PageMapParams) -> Result<(), String> {
        let needed = self.superblocks_for_data() + params.least_spare();
        if let SlcCache::Dynamic { keep_free, .. } = params.slc
            && keep_free < params.collection.foreground_below
        {
            return Err("mapping.slc.keep_free must not be below mapping.collection.foreground_below".to_owned());
        }
        let usable = self.superblocks.saturating_sub(params.nand.bad_blocks);
        if usable < needed {
            return Err(format!(
                "{usable} superblocks (mapping.nand.blocks_per_plane less mapping.nand.bad_blocks) are usable, but {needed} are \
                 needed for the data and to collect in"
            ));
        }
        Ok(())
    }

    /// Superblocks that the user capacity fills.
    pub(super) fn superblocks_for_data(&self) -> u32 {
        self.units.div_ceil(self.slots)
    }

    pub(super) fn address(&self, superblock: u32, slot: u32) -> u32 {
        superblock << self.shift | slot
    }

    pub(super) fn superblock(&self, address: u32) -> u32 {
        address >> self.shift
    }

    pub(super) fn slot(&self, address: u32) -> u32 {
        address & ((1 << self.shift) - 1)
    }

    /// Row of a slot, counted through the superblock.
    pub(super) fn row(&self, slot: u32) -> u32 {
        slot / self.row_units
    }

    /// The die that holds a row.
    pub(super) fn die(&self, row: u32) -> u32 {
        row % self.dies
    }

    /// Bytes of a number of map units.
    pub(super) fn bytes(&self, units: u32) -> Bytes {
        Bytes(u64::from(units) * self.unit)
    }
}

impl PageMapParams {
    /// Superblocks beside the data without which collection could not go on: free ones, those being written to, the one being
    /// collected, and those set aside.
    pub(super) fn least_spare(&self) -> u32 {
        let set_aside = match self.slc {
            SlcCache::Static { superblocks } => superblocks,
            SlcCache::Dynamic { .. } => 1,
            SlcCache::None => 0,
        };
        self.collection.foreground_below + 3 + set_aside
    }

    /// tR of a row's pages, and tPROG, by the place of the row in its superblock.
    pub(super) fn times(&self, geometry: &Geometry, row: u32, slc: bool) -> (Nanos, Nanos) {
        if slc {
            return (self.nand.slc_read, self.nand.slc_program);
        }
        let page = (row / geometry.dies) as usize;
        (self.nand.read[page % self.nand.read.len()], self.nand.program[page % self.nand.program.len()])
    }
}

impl LinkTiming {
    /// Time on the wire.
    pub(super) fn transfer(&self, length: u64) -> Nanos {
        Nanos((length as f64 / self.bytes_per_s * 1e9 + 0.5) as u64)
    }
}
