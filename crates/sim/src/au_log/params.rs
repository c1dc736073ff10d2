//! Parameters of an AU-log card. See docs/devices.md for what each does to a measurement.

use crate::text;
use flashscope_units::{Bytes, Nanos};
use serde::Deserialize;

/// `[mapping] kind = "au-log"`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AuLogParams {
    /// Allocation unit: mapped and reclaimed as one.
    #[serde(deserialize_with = "text::bytes")]
    pub(crate) unit: Bytes,
    /// Flash in front of the host's first byte, which the controller keeps to itself: the host's units begin so much
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
    /// Units that can be half-written in order without being copied; 0: the logs for any order take these writes too.
    pub(crate) logs_in_order: u32,
    /// Units that have a log for writes in any order; 0: every write out of order merges.
    pub(crate) logs_random: u32,
    /// What one log for writes in any order takes.
    #[serde(deserialize_with = "text::bytes")]
    pub(crate) random_log: Bytes,
    /// A write out of order that is at least so long is taken for the start of a stream: the log moves there.
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

/// A map lookup on the way, partly hidden by what is on the wire meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Edge {
    #[serde(deserialize_with = "text::nanos")]
    pub(crate) time: Nanos,
    /// Share of the transfer before the edge that hides it, 0…1.
    pub(crate) hidden: f64,
}

impl Edge {
    /// What remains visible after so much transfer.
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

/// The log for small writes, mapped by page.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SmallPath {
    /// Longest write that it takes; 0 where there is none. A write that covers part of two pages is not taken.
    #[serde(deserialize_with = "text::bytes")]
    pub(crate) limit: Bytes,
    /// Pages that it holds. A write that fills it is done, and behind it a collection makes room.
    pub(crate) pages: u32,
    /// A collection writes so many of the pages that were not written for longest to their places, on average; at least
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
    /// At most so many small writes, to any few units, came before and left the logs as they are; their number is
    /// drawn.
    pub(crate) earlier_writes: u32,
    /// After so long without work the card tidies up in the background: open logs are merged, blocks erased ahead; 0 s:
    /// never.
    #[serde(deserialize_with = "text::nanos")]
    pub(crate) idle_after: Nanos,
}

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

impl AuLogParams {
    /// Says what does not fit together.
    pub(crate) fn validate(&self) -> Result<(), String> {
        let multiple = |what: &str, size: Bytes, unit: Bytes| {
            if size > Bytes::ZERO && size.is_multiple_of(unit) {
                Ok(())
            } else {
                Err(format!("mapping: {what} ({size}) must be a multiple of {unit}"))
            }
        };
        multiple("read.chunk", self.read.chunk, Bytes::SECTOR)?;
        multiple("page_inner", self.page_inner, self.read.chunk)?;
        multiple("page", self.page, self.page_inner)?;
        multiple("sub_unit", self.sub_unit, self.page)?;
        multiple("unit", self.unit, self.sub_unit)?;
        multiple("stripe", self.stripe, self.page)?;
        if !self.hidden.is_multiple_of(Bytes::SECTOR) {
            return Err(format!("mapping: hidden ({}) must be whole sectors", self.hidden));
        }
        multiple("random_log", self.random_log, self.page)?;
        if self.logs_in_order == 0 && self.logs_random == 0 {
            return Err("mapping: logs_in_order and logs_random must not both be 0".to_owned());
        }
        if self.small.limit > Bytes::ZERO && self.small.pages == 0 {
            return Err("mapping: small.pages must be at least 1 where small.limit is not 0".to_owned());
        }
        let keeping = &self.housekeeping;
        if !(0.0..1.0).contains(&self.program.spread) {
            return Err("mapping: program.spread is a share below 1".to_owned());
        }
        if ![keeping.chance, keeping.refill, self.small.wait_chance].iter().all(|share| (0.0..=1.0).contains(share)) {
            return Err("mapping: housekeeping.chance and .refill and small.wait_chance lie between 0 and 1".to_owned());
        }
        if self.small.collect_shortest > self.small.collect_longest {
            return Err("mapping: small.collect_shortest must not be above small.collect_longest".to_owned());
        }
        if keeping.shortest > keeping.longest {
            return Err("mapping: housekeeping.shortest must not be above housekeeping.longest".to_owned());
        }
        for area in &self.areas {
            if area.start >= area.end || !area.start.is_multiple_of(self.unit) || !area.end.is_multiple_of(self.unit) {
                return Err(format!("mapping: an area ({} to {}) must be whole units", area.start, area.end));
            }
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
