//! Parameters of an AU-log card. See docs/devices.md for what each does to a measurement.

use crate::range::{BLOCK, BLOCK_OR_NONE, Inner, OPERATION, PART, PAUSE, SHARE, ranges};
use crate::text;
use flashscope_units::{Bytes, Nanos};
use serde::Deserialize;

/// Blocks of a card: 8 TiB in sub-units of 4 MiB. Each takes some 20 bytes of memory.
const MOST_BLOCKS: u64 = 1 << 21;
/// Copying one unit. Seconds on the slowest card known; of the longest, as many as a request may cost still fit a clock.
const LONGEST_MERGE: Nanos = Nanos::secs(3600);

/// `[mapping] kind = "au-log"`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AuLogParams {
    /// Allocation unit: mapped and reclaimed as one.
    #[serde(deserialize_with = "text::bytes")]
    pub(crate) unit: Bytes,
    /// Flash in front of the host's first byte, which the controller keeps to itself: the host's units begin this much
    /// earlier than at multiples of their size. None where absent.
    #[serde(default, deserialize_with = "text::bytes")]
    pub(crate) hidden: Bytes,
    /// Part of a unit that can be merged alone while the unit is open (erase block); at most the unit.
    #[serde(deserialize_with = "text::bytes")]
    pub(crate) sub_unit: Bytes,
    /// Effective page: sensed and programmed at once (all planes together).
    #[serde(deserialize_with = "text::bytes")]
    pub(crate) page: Bytes,
    /// Page of one plane where the planes are not sensed at once; equal to `page` where they are.
    #[serde(deserialize_with = "text::bytes")]
    pub(crate) page_inner: Bytes,
    /// Writes are cut at multiples of this and each part is handled on its own; the unit where they are not cut.
    #[serde(deserialize_with = "text::bytes")]
    pub(crate) stripe: Bytes,
    /// Units that can be half-written sequentially without being copied; 0: the logs for any order take these writes too.
    pub(crate) logs_in_order: u32,
    /// Units that have a log for writes in any order; 0: every write out of order merges.
    pub(crate) logs_random: u32,
    /// What one log for writes in any order takes.
    #[serde(deserialize_with = "text::bytes")]
    pub(crate) random_log: Bytes,
    /// A write out of order that is at least this long is taken for the start of a stream: the log moves there.
    #[serde(deserialize_with = "text::bytes")]
    pub(crate) stream: Bytes,
    /// Spare units beside those that the logs need.
    pub(crate) spare_units: u32,
    pub(crate) read: ReadTiming,
    pub(crate) program: ProgramTiming,
    pub(crate) merge: MergeTiming,
    pub(crate) small: SmallPath,
    pub(crate) housekeeping: Housekeeping,
    #[serde(default)]
    pub(crate) areas: Vec<Area>,
}

ranges!(AuLogParams {
    unit: BLOCK,
    hidden: BLOCK_OR_NONE,
    sub_unit: BLOCK,
    page: BLOCK,
    page_inner: BLOCK,
    stripe: BLOCK,
    logs_in_order: 0..=4096,
    logs_random: 0..=4096,
    random_log: BLOCK,
    stream: PART,
    spare_units: 0..=65_536,
    read: Inner,
    program: Inner,
    merge: Inner,
    small: Inner,
    housekeeping: Inner,
    areas: Inner,
});

/// Reading.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadTiming {
    /// What the error correction decodes at once.
    #[serde(deserialize_with = "text::bytes")]
    pub(crate) chunk: Bytes,
    /// Decoding one chunk; goes on behind the transfer of the piece before it.
    #[serde(deserialize_with = "text::nanos")]
    pub(crate) decode: Nanos,
    /// Sensing a page; every page of a read pays it.
    #[serde(deserialize_with = "text::nanos")]
    pub(crate) sense: Nanos,
    /// Going on to another inner page of the same page.
    #[serde(deserialize_with = "text::nanos")]
    pub(crate) inner_edge: Nanos,
    /// Going on into another sub-unit of the same unit.
    pub(crate) sub_unit_edge: Edge,
    /// Going on into another unit.
    pub(crate) unit_edge: Edge,
    /// A read that starts in another unit than the last one was in.
    #[serde(deserialize_with = "text::nanos")]
    pub(crate) unit_switch: Nanos,
    /// Added where part of the data is in the small-write log.
    #[serde(deserialize_with = "text::nanos")]
    pub(crate) small_lookup: Nanos,
}

ranges!(ReadTiming {
    chunk: BLOCK,
    decode: OPERATION,
    sense: OPERATION,
    inner_edge: OPERATION,
    sub_unit_edge: Inner,
    unit_edge: Inner,
    unit_switch: OPERATION,
    small_lookup: OPERATION,
});

/// A map lookup on the way, partly hidden by what is on the wire meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Edge {
    #[serde(deserialize_with = "text::nanos")]
    pub(crate) time: Nanos,
    /// Share of the transfer before the edge that hides it, 0…1.
    pub(crate) hidden: f64,
}

ranges!(Edge { time: OPERATION, hidden: SHARE });

impl Edge {
    /// What remains visible after a transfer.
    pub(crate) fn visible(&self, transferred: Nanos) -> Nanos {
        self.time.saturating_sub(Nanos((transferred.as_f64() * self.hidden).round() as u64))
    }
}

/// Programming.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProgramTiming {
    /// One page, mean over the page types, next to each other in one command.
    #[serde(deserialize_with = "text::nanos")]
    pub(crate) page: Nanos,
    /// Blocks differ: a unit is at most this share faster or slower than the mean.
    pub(crate) spread: f64,
}

// A unit that took no time at all, or twice as long, would be none of the same flash.
ranges!(ProgramTiming { page: OPERATION, spread: 0.0..=0.99 });

/// Copying inside.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MergeTiming {
    /// Reading and programming one page.
    #[serde(deserialize_with = "text::nanos")]
    pub(crate) copy: Nanos,
    /// Once per full merge: erase and new map.
    #[serde(deserialize_with = "text::nanos")]
    pub(crate) fixed: Nanos,
}

ranges!(MergeTiming { copy: OPERATION, fixed: OPERATION });

/// The log for small writes, mapped by page.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SmallPath {
    /// Longest write that it takes; 0 where there is none. A write that covers part of two pages is not taken.
    #[serde(deserialize_with = "text::bytes")]
    pub(crate) limit: Bytes,
    /// Pages that it holds. A write that fills it is done, and behind it a collection makes room.
    pub(crate) pages: u32,
    /// A collection writes this number of the pages that were not written for longest to their places, on average; at least
    /// one, and at most twice as many less one.
    pub(crate) batch: u32,
    /// Shortest collection. How long one takes depends on how many copies their units need, and is drawn.
    #[serde(deserialize_with = "text::nanos")]
    pub(crate) collect_shortest: Nanos,
    /// Longest collection.
    #[serde(deserialize_with = "text::nanos")]
    pub(crate) collect_longest: Nanos,
    /// Programming one entry.
    #[serde(deserialize_with = "text::nanos")]
    pub(crate) program: Nanos,
    /// A request that takes this path may have to wait for the controller, for up to this long.
    #[serde(deserialize_with = "text::nanos")]
    pub(crate) wait: Nanos,
    /// Probability that it has to.
    pub(crate) wait_chance: f64,
    /// A write that goes on where the last one ended reads the page's earlier pieces back: the time of each.
    #[serde(deserialize_with = "text::nanos")]
    pub(crate) gather: Nanos,
    /// Pieces shorter than this are not gathered.
    #[serde(deserialize_with = "text::bytes")]
    pub(crate) gather_from: Bytes,
}

ranges!(SmallPath {
    limit: BLOCK_OR_NONE,
    pages: 0..=1 << 20,
    batch: 0..=1 << 20,
    collect_shortest: OPERATION,
    collect_longest: OPERATION,
    program: OPERATION,
    wait: OPERATION,
    wait_chance: SHARE,
    gather: OPERATION,
    gather_from: BLOCK_OR_NONE,
});

/// What the controller does beside what it is asked for.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Housekeeping {
    /// Moves that earlier use left owing.
    pub(crate) owed: u32,
    /// Probability that opening a unit adds one to what is owed (wear levelling, refresh).
    pub(crate) refill: f64,
    /// Probability that opening a unit has to wait for one that is owed.
    pub(crate) chance: f64,
    /// Shortest wait.
    #[serde(deserialize_with = "text::nanos")]
    pub(crate) shortest: Nanos,
    /// Longest wait.
    #[serde(deserialize_with = "text::nanos")]
    pub(crate) longest: Nanos,
    /// At most this number of small writes, to any few units, came before and left the logs as they are; their number is
    /// drawn.
    pub(crate) earlier_writes: u32,
    /// After this time without work the card tidies up in the background: open logs are merged, blocks erased ahead; 0 s:
    /// never.
    #[serde(deserialize_with = "text::nanos")]
    pub(crate) idle_after: Nanos,
}

ranges!(Housekeeping {
    owed: 0..=1 << 20,
    refill: SHARE,
    chance: SHARE,
    shortest: OPERATION,
    longest: OPERATION,
    earlier_writes: 0..=100_000,
    idle_after: PAUSE,
});

/// Units at the start that are built or handled otherwise.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Area {
    #[serde(deserialize_with = "text::bytes")]
    pub(crate) start: Bytes,
    #[serde(deserialize_with = "text::bytes")]
    pub(crate) end: Bytes,
    /// Programming one page here.
    #[serde(deserialize_with = "text::nanos")]
    pub(crate) program: Nanos,
    /// Sensing a page here.
    #[serde(deserialize_with = "text::nanos")]
    pub(crate) sense: Nanos,
    /// Programming one entry of the small-write log here.
    #[serde(deserialize_with = "text::nanos")]
    pub(crate) small_program: Nanos,
    /// Erasing fresh blocks for a unit here, paid by the write that begins it unless they were erased while idle.
    #[serde(deserialize_with = "text::nanos")]
    pub(crate) erase: Nanos,
    /// Mapped by page: writes out of order cost no merge.
    pub(crate) page_mapped: bool,
}

ranges!(Area {
    start: PART,
    end: PART,
    program: OPERATION,
    sense: OPERATION,
    small_program: OPERATION,
    erase: OPERATION,
    page_mapped,
});

impl AuLogParams {
    /// Says what does not fit together on a card of this capacity.
    pub(crate) fn validate(&self, capacity: Bytes) -> Result<(), String> {
        let sector = ("a sector", Bytes::SECTOR);
        let chunk = ("mapping.read.chunk", self.read.chunk);
        let inner = ("mapping.page_inner", self.page_inner);
        let page = ("mapping.page", self.page);
        let sub_unit = ("mapping.sub_unit", self.sub_unit);
        for ((what, size), (of, part)) in [
            (chunk, sector),
            (inner, chunk),
            (page, inner),
            (sub_unit, page),
            (("mapping.unit", self.unit), sub_unit),
            (("mapping.stripe", self.stripe), page),
            (("mapping.hidden", self.hidden), sector),
            (("mapping.random_log", self.random_log), page),
        ] {
            if !size.is_multiple_of(part) {
                return Err(format!("{what} ({size}) must be a multiple of {of} ({part})"));
            }
        }
        self.validate_state(capacity)?;
        if self.logs_in_order == 0 && self.logs_random == 0 {
            return Err("mapping.logs_in_order and mapping.logs_random must not both be 0".to_owned());
        }
        if self.small.limit > Bytes::ZERO && self.small.pages == 0 {
            return Err("mapping.small.pages must be at least 1 where mapping.small.limit is not 0".to_owned());
        }
        let keeping = &self.housekeeping;
        if self.small.collect_shortest > self.small.collect_longest {
            return Err("mapping.small.collect_shortest must not be above mapping.small.collect_longest".to_owned());
        }
        if keeping.shortest > keeping.longest {
            return Err("mapping.housekeeping.shortest must not be above mapping.housekeeping.longest".to_owned());
        }
        for (number, area) in self.areas.iter().enumerate() {
            if area.start >= area.end || !area.start.is_multiple_of(self.unit) || !area.end.is_multiple_of(self.unit) {
                let Area { start, end, .. } = area;
                return Err(format!("mapping.areas.{number}.start to .end ({start} to {end}) must be whole units"));
            }
        }
        Ok(())
    }

    /// What is kept of every block, and what one merge takes, must stay within what can be simulated.
    fn validate_state(&self, capacity: Bytes) -> Result<(), String> {
        let subs = (self.hidden + capacity).get().div_ceil(self.sub_unit.get());
        let logs = u64::from(self.logs_random) * self.random_log.get().div_ceil(self.sub_unit.get());
        let spare = u64::from(self.spare_units) * (self.unit / self.sub_unit);
        let blocks = subs + logs + spare;
        if blocks > MOST_BLOCKS {
            return Err(format!(
                "{blocks} blocks are more than the {MOST_BLOCKS} that are simulated: use a larger mapping.sub_unit or a \
                 smaller device.capacity"
            ));
        }
        let merge = self.merge.copy.as_secs_f64() * (self.unit / self.page) as f64 + self.merge.fixed.as_secs_f64();
        if merge > LONGEST_MERGE.as_secs_f64() {
            return Err(format!(
                "mapping.merge.copy and mapping.merge.fixed: a unit would take more than {LONGEST_MERGE}"
            ));
        }
        Ok(())
    }

    /// The special area that a unit lies in.
    pub(crate) fn area_of(&self, unit: u32) -> Option<&Area> {
        self.area_index(unit).map(|(_, area)| area)
    }

    /// The same, with its place in the list.
    pub(crate) fn area_index(&self, unit: u32) -> Option<(usize, &Area)> {
        let at = self.unit * u64::from(unit);
        self.areas.iter().enumerate().find(|(_, area)| (area.start..area.end).contains(&at))
    }
}
