//! How long a read takes: command, map lookups, page senses, and chunks that are decoded behind the transfer of the
//! one before.

use super::AuLog;
use crate::ftl::{Extent, Presence};
use flashscope_units::{Bytes, Nanos};

impl AuLog {
    pub(super) fn read(&mut self, extent: Extent) -> Nanos {
        let wire = self.link.command + self.link.transfer(extent.length);
        if self.found(extent) == Presence::None {
            // The map knows that nothing is there: the flash is not touched.
            return wire;
        }
        let unit = self.unit_at(extent.start);
        let mut time = wire + self.search();
        if self.last_read_unit != Some(unit) {
            time += self.params.read.unit_switch;
        }
        self.last_read_unit = Some(self.unit_at(extent.end() - Bytes(1)));
        if self.page_runs(extent).any(|run| self.small.any_in(self.numbers(run))) {
            time += self.params.read.small_lookup;
        }
        time + self.flash_time(extent)
    }

    /// What the flash adds to the transfer.
    fn flash_time(&self, extent: Extent) -> Nanos {
        let (page, chunk) = (self.params.page, self.params.read.chunk);
        // Most of what is decoded is whole chunks.
        let whole = self.visible_decode(chunk);
        let decode = |behind: Bytes| if behind == chunk { whole } else { self.visible_decode(behind) };
        let mut time = Nanos::ZERO;
        let mut at = extent.start;
        // The piece before this page, behind whose transfer the first chunk is decoded; nothing at the start.
        let mut before = Bytes::ZERO;
        while at < extent.end() {
            let end = (at.align_down(page) + page).min(extent.end());
            if at > extent.start {
                time += self.edge(at, at - extent.start);
            }
            time += self.sense(at);
            time += self.params.read.inner_edge * inner_edges(at, end, self.params.page_inner);
            let first = (at.align_down(chunk) + chunk).min(end) - at;
            time += decode(before);
            let chunks = (end.align_up(chunk) - at.align_down(chunk)) / chunk;
            if chunks >= 2 {
                time += decode(first) + whole * (chunks - 2);
            }
            before = if chunks == 1 { first } else { end - (end - Bytes(1)).align_down(chunk) };
            at = end;
        }
        time
    }

    /// Going on behind a unit's or sub-unit's edge after `transferred` bytes of this read.
    fn edge(&self, at: Bytes, transferred: Bytes) -> Nanos {
        let read = &self.params.read;
        let at = at + self.phase();
        if at.is_multiple_of(self.params.unit) {
            read.unit_edge.visible(self.link.transfer(transferred))
        } else if at.is_multiple_of(self.params.sub_unit) {
            read.sub_unit_edge.visible(self.link.transfer(transferred))
        } else {
            Nanos::ZERO
        }
    }

    fn sense(&self, at: Bytes) -> Nanos {
        let sense = self.params.area_of(self.unit_at(at)).map_or(self.params.read.sense, |area| area.sense);
        if self.flash.ageing.is_none() {
            return sense;
        }
        let sub = (at / self.params.sub_unit) as u32;
        Nanos((sense.as_f64() * self.worn_sense(sub)).round() as u64)
    }

    fn visible_decode(&self, behind: Bytes) -> Nanos {
        match self.params.read.decode {
            Nanos::ZERO => Nanos::ZERO,
            decode => decode.saturating_sub(self.link.transfer(behind)),
        }
    }
}

/// Edges of inner pages strictly inside a part of a page.
fn inner_edges(start: Bytes, end: Bytes, inner: Bytes) -> u64 {
    (end - Bytes(1)) / inner - start / inner
}
