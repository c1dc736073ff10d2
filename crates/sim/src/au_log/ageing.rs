//! What use does to a card: its blocks go bad, and worn blocks take other times.

use super::{AuLog, PageRun};
use crate::ageing::Ageing;
use crate::ftl::Extent;
use flashscope_units::{Instant, Nanos};

impl AuLog {
    /// What the controller's tables add to a request.
    pub(super) fn search(&self) -> Nanos {
        self.flash.ageing.as_ref().map_or(Nanos::ZERO, |ageing| ageing.search())
    }

    /// How many times the time of a new block a program takes of the block that a run was just put into.
    pub(super) fn worn_program(&self, run: PageRun) -> f64 {
        let Some((ageing, block)) = self.flash.ageing.as_deref().zip(self.block_written(run.sub)) else { return 1.0 };
        ageing.program(block, 0..self.planes(), self.flash.erases(block))
    }

    /// The same of a sense of what lies in a sub-unit's block.
    pub(super) fn worn_sense(&self, sub: u32) -> f64 {
        let Some((ageing, block)) = self.flash.ageing.as_deref().zip(self.flash.data_block(sub)) else { return 1.0 };
        ageing.sense(block, 0..self.planes(), self.flash.erases(block))
    }

    /// Whether some of a range cannot be read any more.
    pub(super) fn cannot_read(&self, now: Instant, extent: Extent) -> bool {
        let unreadable = |ageing: &Ageing, run: PageRun| {
            self.flash.data_block(run.sub).is_some_and(|block| {
                let erases = self.flash.erases(block);
                (run.from..run.from + run.count).any(|page| ageing.is_unreadable(block, page, erases, now))
            })
        };
        self.flash.ageing.as_deref().is_some_and(|ageing| self.page_runs(extent).any(|run| unreadable(ageing, run)))
    }

    /// Blocks that one page lies in: one of each plane.
    fn planes(&self) -> u32 {
        (self.params.page / self.params.page_inner) as u32
    }

    /// The block that a sub-unit's last write went to.
    fn block_written(&self, sub: u32) -> Option<u32> {
        let unit = self.unit_of_sub(sub);
        let random = || self.random.iter().find(|log| log.unit == unit)?.blocks.last().copied();
        self.log_of(sub).map(|log| log.block).or_else(random).or_else(|| self.flash.data_block(sub))
    }
}
