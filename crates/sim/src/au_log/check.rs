//! The audit: every page has one valid copy, pages and blocks are conserved, erases add up.

use super::AuLog;

impl AuLog {
    /// Audits the sub-units that the last request moved pages of, and the numbers that must hold anyway.
    pub(super) fn check_touched(&self) -> Result<(), String> {
        self.check_limits()?;
        self.touched.iter().try_for_each(|&sub| self.check_sub_unit(sub))
    }

    /// Audits everything.
    pub(super) fn check_whole(&self) -> Result<(), String> {
        self.check_limits()?;
        (0..self.flash.sub_units()).try_for_each(|sub| self.check_sub_unit(sub))?;
        let (free, blocks, erases, valid) = self.flash.totals();
        let [counted_free, data, log, bad] = self.flash.census();
        ensure(free == counted_free, || format!("{free} blocks in the free list, {counted_free} marked free"))?;
        ensure(free + data + log + bad == blocks, || {
            format!("{free} free + {data} data + {log} log + {bad} bad blocks of {blocks}")
        })?;
        self.flash.ageing.as_ref().map_or(Ok(()), |ageing| ageing.check())?;
        let logs = self.open.iter().filter(|open| open.log.is_some()).count();
        let logs = logs + self.random.iter().map(|log| log.blocks.len()).sum::<usize>();
        ensure(log == logs, || format!("{log} blocks are logs, {logs} are known"))?;
        ensure(erases == self.flash.erased, || {
            format!("{erases} erases on the blocks, {} counted", self.flash.erased)
        })?;
        let pages = self.flash.pages;
        let present: u64 = (0..self.flash.sub_units()).map(|sub| u64::from(self.flash.present(sub, 0..pages))).sum();
        let random: u64 = self.random.iter().map(|log| u64::from(log.newest.count(0..self.pages_per_unit()))).sum();
        ensure(present == valid + random, || format!("{present} pages hold data, {valid} + {random} copies are valid"))
    }

    fn check_limits(&self) -> Result<(), String> {
        let (open, random) = (self.open.len(), self.random.len());
        ensure(open <= self.params.logs_in_order as usize, || format!("{open} units are open for sequential writes"))?;
        ensure(random <= self.params.logs_random as usize, || format!("{random} units are open for random writes"))?;
        let small = self.small.len();
        ensure(small <= self.params.small.pages, || format!("the small-write log holds {small} pages"))?;
        ensure(self.small.is_consistent(), || "the small-write log's two orders differ".to_owned())
    }

    /// Each page that holds data has its one valid copy in the data block, the log or the random log.
    fn check_sub_unit(&self, sub: u32) -> Result<(), String> {
        let pages = self.flash.pages;
        let present = self.flash.present(sub, 0..pages);
        let in_random = self.random_count(sub, 0..pages);
        let (in_log, expect_log) = match self.log_of(sub) {
            Some(log) => {
                ensure(log.at <= pages, || format!("the log of sub-unit {sub} is {} pages long", log.at))?;
                let below = self.flash.present(sub, 0..log.at) - self.random_count(sub, 0..log.at);
                (self.flash.valid(log.block), below)
            }
            None => (0, 0),
        };
        ensure(in_log == expect_log, || format!("sub-unit {sub}: {in_log} valid pages in the log, not {expect_log}"))?;
        let in_data = self.flash.data_block(sub).map_or(0, |block| self.flash.valid(block));
        ensure(present == in_random + in_log + in_data, || {
            format!(
                "sub-unit {sub}: {present} pages hold data; {in_data} valid in its block, {in_log} in the log, {in_random} at random"
            )
        })
    }
}

fn ensure(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what()) }
}
