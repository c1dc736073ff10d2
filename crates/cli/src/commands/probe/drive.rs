//! The plans of the probes of a controller's inside.

use crate::args::{ProbeCells, ProbeGc, ProbeMapReach, ProbeParallel, ProbeSlcCache};
use flashscope_model::plan::{self, Span, Stretch};
use flashscope_model::{DeviceFacts, Experiment};
use flashscope_units::Bytes;

pub(super) fn slc_cache(args: &ProbeSlcCache) -> Experiment {
    let start = |index: u32| args.offset + args.size * u64::from(index);
    let burst = |index| Stretch { idle: args.idle, span: Span { start: start(index), length: args.size } };
    let bursts = (0..args.bursts).map(burst).collect();
    Experiment::SlcCache(plan::SlcCache { block: args.block, bursts })
}

pub(super) fn parallel(args: &ProbeParallel, facts: &DeviceFacts) -> Experiment {
    if let Some((chunk, units)) = args.chunk.zip(args.units) {
        let all = Span { start: Bytes::ZERO, length: facts.capacity };
        let plan = flashscope_infer::channels_plan(args.block.unwrap_or(chunk), chunk, units, args.count, all);
        return Experiment::Parallel(plan);
    }
    let plan = flashscope_infer::parallel_plan(facts, args.reads, args.count, None);
    Experiment::Parallel(plan::Parallel { block: args.block.unwrap_or(plan.block), ..plan })
}

pub(super) fn map_reach(args: &ProbeMapReach, facts: &DeviceFacts) -> Experiment {
    let room = facts.capacity.saturating_sub(args.offset);
    let largest = args.largest.unwrap_or(room);
    Experiment::MapReach(flashscope_infer::map_reach_plan(args.block, args.offset, largest, args.count))
}

pub(super) fn gc(args: &ProbeGc, facts: &DeviceFacts) -> Experiment {
    let length = args.size.unwrap_or(facts.capacity.saturating_sub(args.offset).align_down(facts.logical_block));
    let span = Span { start: args.offset, length };
    Experiment::Overwrite(flashscope_infer::overwrite_plan(args.block, span, args.times))
}

pub(super) fn cells(args: &ProbeCells) -> Experiment {
    Experiment::Cells(plan::Cells {
        block: args.block,
        start: args.offset,
        step: args.step,
        places: args.places,
        repeats: args.count,
    })
}
