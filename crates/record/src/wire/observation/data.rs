//! The figures of one run, by experiment.

mod discard;

pub(super) use discard::DiscardTrial;

use super::memory::{Ahead, BlockRun, Burst, Reread};
use super::patterns::Pattern;
use super::rows::{
    AlignRow, Candidate, FatRow, IntervalRow, OpenUnitsRow, ProgramRow, ScatterPlace, SurveyPlace, UnitTimes, each,
};
use crate::RecordError;
use crate::wire::drive::{Fan, Range, Stretch};
use crate::wire::printed::{nanos, ns};
use crate::wire::{Direction, Order, Purpose};
use flashscope_model::{self as model, observation as seen, plan};
use flashscope_units::{Bytes, Nanos};
#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The figures of one run, by experiment.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Data {
    /// One block read again and again: link and command time.
    Floor {
        /// Block size.
        block_bytes: u64,
        /// Where it lies.
        at_bytes: u64,
        /// Service times in the order of issue.
        service_time_ns: Vec<u64>,
    },
    /// Reads at random places.
    Survey {
        /// Size of each read.
        block_bytes: u64,
        /// The places.
        places: Vec<SurveyPlace>,
    },
    /// Accesses around boundaries, by alignment (flashbench `-a`).
    Align {
        /// Reads or writes.
        direction: Direction,
        /// Block size; null where a log does not tell.
        block_bytes: Option<u64>,
        /// Size of one access as a multiple of the block.
        access_blocks: u32,
        /// One entry per alignment, as measured.
        rows: Vec<AlignRow>,
    },
    /// Contrasts at random multiples of candidate sizes.
    Boundaries {
        /// Size of each read.
        block_bytes: u64,
        /// Shift of the grid.
        offset_bytes: u64,
        /// How long the device was left alone before each read.
        #[serde(default)]
        rest_ns: u64,
        /// The candidates, smallest first.
        candidates: Vec<Candidate>,
    },
    /// Writes to several units in turn (flashbench `-O`).
    OpenUnits {
        /// Order of the offsets within each unit.
        order: Order,
        /// Number of units; null where unknown.
        count: Option<u32>,
        /// Assumed unit; null where unknown.
        unit_bytes: Option<u64>,
        /// Where the units start; empty where unknown.
        units_at_bytes: Vec<u64>,
        /// One entry per block size.
        rows: Vec<OpenUnitsRow>,
    },
    /// Throughput of each of the first units (flashbench `-f`).
    Fat {
        /// Order of the offsets within a unit; null where unknown.
        order: Option<Order>,
        /// Assumed unit; null where unknown.
        unit_bytes: Option<u64>,
        /// Where unit 0 starts; null where unknown.
        offset_bytes: Option<u64>,
        /// One entry per block size.
        rows: Vec<FatRow>,
    },
    /// Units at the start against units from elsewhere.
    FastArea {
        /// Assumed unit.
        unit_bytes: u64,
        /// How much of each was used, from its start; null where all of it was.
        #[serde(default)]
        reach_bytes: Option<u64>,
        /// Reads or writes.
        direction: Direction,
        /// Order within each unit.
        order: Order,
        /// Block size.
        block_bytes: u64,
        /// Units at the start.
        suspects: Vec<UnitTimes>,
        /// Units from elsewhere.
        controls: Vec<UnitTimes>,
    },
    /// Read time by position (flashbench `-s`).
    Scatter {
        /// Bytes read at each position; null where unknown.
        length_bytes: Option<u64>,
        /// The positions.
        places: Vec<ScatterPlace>,
    },
    /// Read time by size (flashbench `-i`).
    Interval {
        /// One entry per size.
        rows: Vec<IntervalRow>,
    },
    /// Writes of different content, and reads (flashbench `-p`).
    Program {
        /// Start of the region; null where unknown.
        offset_bytes: Option<u64>,
        /// Length of the region; null where unknown.
        region_bytes: Option<u64>,
        /// One entry per block size.
        rows: Vec<ProgramRow>,
    },
    /// Requests of one kind over one region.
    Throughput {
        /// Reads or writes.
        direction: Direction,
        /// Order of the blocks.
        order: Order,
        /// Block size.
        block_bytes: u64,
        /// Start of the region.
        start_bytes: u64,
        /// Length of the region.
        length_bytes: u64,
        /// What the figure is for.
        purpose: Purpose,
        /// Service times in the order of issue.
        service_time_ns: Vec<u64>,
    },
    /// Bursts of writes into an empty write buffer.
    Buffer {
        /// Size of each write.
        block_bytes: u64,
        /// Start of the region that was written.
        start_bytes: u64,
        /// Its length.
        length_bytes: u64,
        /// Rest before each burst.
        rest_ns: u64,
        /// The bursts, in the order in which they were done.
        bursts: Vec<Burst>,
    },
    /// Re-reads, and runs of blocks in both orders.
    ReadCache {
        /// Block size.
        block_bytes: u64,
        /// Blocks read again after so many other bytes.
        spans: Vec<Reread>,
        /// Runs in order, each behind a jump.
        rising: Vec<BlockRun>,
        /// Runs in descending order.
        falling: Vec<BlockRun>,
        /// Reads so far behind the end of a run in order, after a rest.
        ahead: Vec<Ahead>,
    },
    /// Long writes in order after rests.
    SlcCache {
        /// Size of each write.
        block_bytes: u64,
        /// The bursts.
        bursts: Vec<Stretch>,
    },
    /// Reads handed over together.
    Parallel {
        /// Size of each read.
        block_bytes: u64,
        /// The sets of reads.
        fans: Vec<Fan>,
    },
    /// Random reads within ranges of different length.
    MapReach {
        /// Size of each read.
        block_bytes: u64,
        /// Start of all ranges.
        start_bytes: u64,
        /// The ranges in the order in which they were read.
        ranges: Vec<Range>,
    },
    /// Writes in order, then at random over the same span.
    Gc {
        /// Size of each write.
        block_bytes: u64,
        /// Start of what was overwritten.
        start_bytes: u64,
        /// Its length.
        length_bytes: u64,
        /// Writes of a window.
        window: u32,
        /// Time of each window of the writes in order.
        in_order_window_time_ns: Vec<u64>,
        /// Time of each window of the writes at random.
        random_window_time_ns: Vec<u64>,
        /// Service times of the last writes at random, in the order of issue.
        last_service_time_ns: Vec<u64>,
    },
    /// Reads, writes and flushes as applications mix them.
    Patterns {
        /// The patterns, in the order in which they were done.
        patterns: Vec<Pattern>,
    },
    /// Reads across every step of some stretches.
    Slide {
        /// Size of each read; half of it lies before the place, half behind.
        block_bytes: u64,
        /// Distance of neighbouring places of one stretch.
        step_bytes: u64,
        /// Whether each round went from the last place of a stretch to its first; otherwise in a random order.
        #[serde(default)]
        descending: bool,
        /// The places in rising order.
        places: Vec<ScatterPlace>,
    },
    /// Reads of evenly spaced pages.
    Cells {
        /// Size of each read.
        block_bytes: u64,
        /// The places.
        places: Vec<ScatterPlace>,
    },
    /// Discards of several sizes, what is read behind them, and what later writes take.
    Discard {
        /// Size of each read.
        block_bytes: u64,
        /// Size of each random write.
        rewrite_block_bytes: u64,
        /// Whether the device has discard; where not, nothing was tried.
        supported: bool,
        /// Each discard, in the order of issue.
        trials: Vec<DiscardTrial>,
        /// Random writes to a span that was discarded, in the order of issue.
        behind_service_time_ns: Vec<u64>,
        /// The same to one that was not.
        control_service_time_ns: Vec<u64>,
    },
}

impl Data {
    pub(super) fn from_model(data: &model::Data) -> Data {
        match data {
            model::Data::Floor(floor) => Data::Floor {
                block_bytes: floor.block.get(),
                at_bytes: floor.at.get(),
                service_time_ns: ns(&floor.times),
            },
            model::Data::Survey(survey) => Data::Survey {
                block_bytes: survey.block.get(),
                places: survey.places.iter().map(SurveyPlace::from_model).collect(),
            },
            model::Data::Align(align) => Data::Align {
                direction: align.direction.into(),
                block_bytes: align.block.map(Bytes::get),
                access_blocks: align.access,
                rows: align.rows.iter().map(AlignRow::from_model).collect(),
            },
            model::Data::Boundaries(boundaries) => Data::Boundaries {
                block_bytes: boundaries.block.get(),
                offset_bytes: boundaries.offset.get(),
                rest_ns: boundaries.rest.get(),
                candidates: boundaries.candidates.iter().map(Candidate::from_model).collect(),
            },
            model::Data::OpenUnits(open) => Data::OpenUnits {
                order: open.order.into(),
                count: open.count,
                unit_bytes: open.unit.map(Bytes::get),
                units_at_bytes: open.units.iter().map(|unit| unit.get()).collect(),
                rows: open.rows.iter().map(OpenUnitsRow::from_model).collect(),
            },
            model::Data::Fat(fat) => Data::Fat {
                order: fat.order.map(Order::from),
                unit_bytes: fat.unit.map(Bytes::get),
                offset_bytes: fat.offset.map(Bytes::get),
                rows: fat.rows.iter().map(FatRow::from_model).collect(),
            },
            model::Data::FastArea(area) => Data::FastArea {
                unit_bytes: area.unit.get(),
                reach_bytes: Some(area.reach.get()).filter(|reach| *reach < area.unit.get()),
                direction: area.direction.into(),
                order: area.order.into(),
                block_bytes: area.block.get(),
                suspects: area.suspects.iter().map(UnitTimes::from_model).collect(),
                controls: area.controls.iter().map(UnitTimes::from_model).collect(),
            },
            model::Data::Scatter(scatter) => Data::Scatter {
                length_bytes: scatter.length.map(Bytes::get),
                places: scatter.places.iter().map(ScatterPlace::from_model).collect(),
            },
            model::Data::Interval(interval) => {
                Data::Interval { rows: interval.rows.iter().map(IntervalRow::from_model).collect() }
            }
            model::Data::Program(program) => Data::Program {
                offset_bytes: program.offset.map(Bytes::get),
                region_bytes: program.region.map(Bytes::get),
                rows: program.rows.iter().map(ProgramRow::from_model).collect(),
            },
            model::Data::Throughput(throughput) => Data::Throughput {
                direction: throughput.direction.into(),
                order: throughput.order.into(),
                block_bytes: throughput.block.get(),
                start_bytes: throughput.start.get(),
                length_bytes: throughput.length.get(),
                purpose: throughput.purpose.into(),
                service_time_ns: ns(&throughput.times),
            },
            model::Data::Buffer(buffer) => Data::Buffer {
                block_bytes: buffer.block.get(),
                start_bytes: buffer.start.get(),
                length_bytes: buffer.length.get(),
                rest_ns: buffer.rest.get(),
                bursts: buffer.bursts.iter().map(Burst::from_model).collect(),
            },
            model::Data::ReadCache(cache) => Data::ReadCache {
                block_bytes: cache.block.get(),
                spans: cache.spans.iter().map(Reread::from_model).collect(),
                rising: cache.rising.iter().map(|run| BlockRun { service_time_ns: ns(run) }).collect(),
                falling: cache.falling.iter().map(|run| BlockRun { service_time_ns: ns(run) }).collect(),
                ahead: cache.ahead.iter().map(Ahead::from_model).collect(),
            },
            model::Data::SlcCache(data) => Data::SlcCache {
                block_bytes: data.block.get(),
                bursts: data.bursts.iter().map(Stretch::from_model).collect(),
            },
            model::Data::Parallel(data) => {
                Data::Parallel { block_bytes: data.block.get(), fans: data.fans.iter().map(Fan::from_model).collect() }
            }
            model::Data::MapReach(data) => Data::MapReach {
                block_bytes: data.block.get(),
                start_bytes: data.start.get(),
                ranges: data.ranges.iter().map(Range::from_model).collect(),
            },
            model::Data::Overwrite(data) => Data::Gc {
                block_bytes: data.block.get(),
                start_bytes: data.span.start.get(),
                length_bytes: data.span.length.get(),
                window: data.window,
                in_order_window_time_ns: ns(&data.in_order),
                random_window_time_ns: ns(&data.random),
                last_service_time_ns: ns(&data.last),
            },
            model::Data::Patterns(data) => {
                Data::Patterns { patterns: data.patterns.iter().map(Pattern::from_model).collect() }
            }
            model::Data::Slide(data) => Data::Slide {
                block_bytes: data.block.get(),
                step_bytes: data.step.get(),
                descending: data.descending,
                places: data.places.iter().map(ScatterPlace::from_model).collect(),
            },
            model::Data::Cells(data) => Data::Cells {
                block_bytes: data.block.get(),
                places: data.places.iter().map(ScatterPlace::from_model).collect(),
            },
            model::Data::Discard(data) => Data::Discard {
                block_bytes: data.block.get(),
                rewrite_block_bytes: data.rewrite_block.get(),
                supported: data.supported,
                trials: data.trials.iter().map(DiscardTrial::from_model).collect(),
                behind_service_time_ns: ns(&data.behind),
                control_service_time_ns: ns(&data.control),
            },
        }
    }

    pub(super) fn into_model(self, field: &str) -> Result<model::Data, RecordError> {
        Ok(match self {
            Data::Floor { block_bytes, at_bytes, service_time_ns } => model::Data::Floor(seen::FloorData {
                block: Bytes(block_bytes),
                at: Bytes(at_bytes),
                times: nanos(service_time_ns),
            }),
            Data::Survey { block_bytes, places } => model::Data::Survey(seen::SurveyData {
                block: Bytes(block_bytes),
                places: places.into_iter().map(SurveyPlace::into_model).collect(),
            }),
            Data::Align { direction, block_bytes, access_blocks, rows } => model::Data::Align(seen::AlignData {
                direction: direction.into(),
                block: block_bytes.map(Bytes),
                access: access_blocks,
                rows: each(rows, |row| row.into_model(field))?,
            }),
            Data::Boundaries { block_bytes, offset_bytes, rest_ns, candidates } => {
                let boundaries = seen::BoundariesData {
                    block: Bytes(block_bytes),
                    offset: Bytes(offset_bytes),
                    rest: Nanos(rest_ns),
                    candidates: candidates.into_iter().map(Candidate::into_model).collect(),
                };
                model::Data::Boundaries(boundaries.into())
            }
            Data::OpenUnits { order, count, unit_bytes, units_at_bytes, rows } => {
                model::Data::OpenUnits(seen::OpenUnitsData {
                    order: order.into(),
                    count,
                    unit: unit_bytes.map(Bytes),
                    units: units_at_bytes.into_iter().map(Bytes).collect(),
                    rows: each(rows, |row| row.into_model(field))?,
                })
            }
            Data::Fat { order, unit_bytes, offset_bytes, rows } => model::Data::Fat(seen::FatData {
                order: order.map(Into::into),
                unit: unit_bytes.map(Bytes),
                offset: offset_bytes.map(Bytes),
                rows: each(rows, |row| row.into_model(field))?,
            }),
            Data::FastArea { unit_bytes, reach_bytes, direction, order, block_bytes, suspects, controls } => {
                model::Data::FastArea(seen::FastAreaData {
                    unit: Bytes(unit_bytes),
                    reach: Bytes(reach_bytes.unwrap_or(unit_bytes)),
                    direction: direction.into(),
                    order: order.into(),
                    block: Bytes(block_bytes),
                    suspects: suspects.into_iter().map(UnitTimes::into_model).collect(),
                    controls: controls.into_iter().map(UnitTimes::into_model).collect(),
                })
            }
            Data::Scatter { length_bytes, places } => model::Data::Scatter(seen::ScatterData {
                length: length_bytes.map(Bytes),
                places: places.into_iter().map(ScatterPlace::into_model).collect(),
            }),
            Data::Interval { rows } => {
                model::Data::Interval(seen::IntervalData { rows: each(rows, |row| row.into_model(field))? })
            }
            Data::Program { offset_bytes, region_bytes, rows } => model::Data::Program(seen::ProgramData {
                offset: offset_bytes.map(Bytes),
                region: region_bytes.map(Bytes),
                rows: each(rows, |row| row.into_model(field))?,
            }),
            Data::Throughput { direction, order, block_bytes, start_bytes, length_bytes, purpose, service_time_ns } => {
                model::Data::Throughput(seen::ThroughputData {
                    direction: direction.into(),
                    order: order.into(),
                    block: Bytes(block_bytes),
                    start: Bytes(start_bytes),
                    length: Bytes(length_bytes),
                    purpose: purpose.into(),
                    times: nanos(service_time_ns),
                })
            }
            Data::Buffer { block_bytes, start_bytes, length_bytes, rest_ns, bursts } => {
                model::Data::Buffer(seen::BufferData {
                    block: Bytes(block_bytes),
                    start: Bytes(start_bytes),
                    length: Bytes(length_bytes),
                    rest: Nanos(rest_ns),
                    bursts: bursts.into_iter().map(Burst::into_model).collect(),
                })
            }
            Data::ReadCache { block_bytes, spans, rising, falling, ahead } => {
                model::Data::ReadCache(seen::ReadCacheData {
                    block: Bytes(block_bytes),
                    spans: spans.into_iter().map(Reread::into_model).collect(),
                    rising: rising.into_iter().map(|run| nanos(run.service_time_ns)).collect(),
                    falling: falling.into_iter().map(|run| nanos(run.service_time_ns)).collect(),
                    ahead: ahead.into_iter().map(Ahead::into_model).collect(),
                })
            }
            Data::SlcCache { block_bytes, bursts } => model::Data::SlcCache(seen::SlcCacheData {
                block: Bytes(block_bytes),
                bursts: bursts.into_iter().map(Stretch::into_model).collect(),
            }),
            Data::Parallel { block_bytes, fans } => model::Data::Parallel(seen::ParallelData {
                block: Bytes(block_bytes),
                fans: fans.into_iter().map(Fan::into_model).collect(),
            }),
            Data::MapReach { block_bytes, start_bytes, ranges } => model::Data::MapReach(seen::MapReachData {
                block: Bytes(block_bytes),
                start: Bytes(start_bytes),
                ranges: ranges.into_iter().map(Range::into_model).collect(),
            }),
            Data::Gc {
                block_bytes,
                start_bytes,
                length_bytes,
                window,
                in_order_window_time_ns,
                random_window_time_ns,
                last_service_time_ns,
            } => model::Data::Overwrite(seen::OverwriteData {
                block: Bytes(block_bytes),
                span: plan::Span { start: Bytes(start_bytes), length: Bytes(length_bytes) },
                window,
                in_order: nanos(in_order_window_time_ns),
                random: nanos(random_window_time_ns),
                last: nanos(last_service_time_ns),
            }),
            Data::Patterns { patterns } => {
                let patterns = patterns.into_iter().map(Pattern::into_model).collect();
                model::Data::Patterns(seen::PatternsData { patterns }.into())
            }
            Data::Slide { block_bytes, step_bytes, descending, places } => {
                let places = places.into_iter().map(ScatterPlace::into_model).collect();
                let slide = seen::SlideData { block: Bytes(block_bytes), step: Bytes(step_bytes), descending, places };
                model::Data::Slide(slide.into())
            }
            Data::Cells { block_bytes, places } => model::Data::Cells(seen::CellsData {
                block: Bytes(block_bytes),
                places: places.into_iter().map(ScatterPlace::into_model).collect(),
            }),
            Data::Discard {
                block_bytes,
                rewrite_block_bytes,
                supported,
                trials,
                behind_service_time_ns,
                control_service_time_ns,
            } => model::Data::Discard(model::discard::DiscardData {
                block: Bytes(block_bytes),
                rewrite_block: Bytes(rewrite_block_bytes),
                supported,
                trials: trials.into_iter().map(DiscardTrial::into_model).collect(),
                behind: nanos(behind_service_time_ns),
                control: nanos(control_service_time_ns),
            }),
        })
    }
}
