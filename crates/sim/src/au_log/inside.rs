//! How a card's flash stands, for the truth of its state.

use super::AuLog;
use crate::ftl::{Inside, Invalid};

impl AuLog {
    /// A unit here is a block of one sub-unit. What is invalid in it are the pages whose newest copies lie in a log; pages
    /// whose newest pieces lie in the small-write log are among them.
    pub(super) fn flash_now(&self) -> Inside {
        let all = self.flash.pages;
        let mut inside = Inside { most_erases: self.flash.most_erases(), ..Inside::default() };
        let mut invalid = Invalid::default();
        for sub in 0..self.flash.sub_units() {
            let present = self.flash.present(sub, 0..all);
            let aside = self.small.count_in(self.page_number(sub, 0)..self.page_number(sub, all));
            let Some(block) = self.flash.data_block(sub) else {
                // All of it lies in logs.
                inside.pages += u64::from(present.max(aside));
                inside.runs += u64::from(present > 0) + u64::from(aside);
                continue;
            };
            let superseded = present - self.flash.valid(block).min(present);
            inside.pages += u64::from(present.max(aside));
            // In its own block a page lies where its address says, and the next unit goes on where this one ends; a log and each
            // page aside break that.
            inside.runs += u64::from(superseded > 0) + u64::from(aside);
            invalid.add((superseded + aside).min(all), all);
        }
        inside.invalid = invalid;
        inside.mapped = self.params.page * inside.pages;
        inside
    }
}
