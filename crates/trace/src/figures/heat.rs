//! Address over time on a grid whose periods and stretches double as the trace goes on, so that its size stays the same.

use crate::{Op, Traced};
use flashscope_model::trace::{HeatCell, HeatMap};
use flashscope_units::{Bytes, Nanos};

/// Columns, at most; at least half of them are used.
const COLUMNS: usize = 128;
/// Rows, at most.
const ROWS: usize = 64;
/// The first period.
const FIRST_PERIOD: Nanos = Nanos::micros(100);
/// The first stretch.
const FIRST_STRETCH: Bytes = Bytes::kib(64);

/// The grid. Each cell counts reads and writes.
pub(super) struct Heat {
    period: u64,
    stretch: u64,
    cells: Vec<[u64; 2]>,
}

impl Default for Heat {
    fn default() -> Heat {
        let cells = vec![[0; 2]; COLUMNS * ROWS];
        Heat { period: FIRST_PERIOD.get(), stretch: FIRST_STRETCH.get(), cells }
    }
}

impl Heat {
    #[inline]
    pub(super) fn add(&mut self, since: Nanos, request: &Traced) {
        while since.get() / self.period >= COLUMNS as u64 {
            self.period *= 2;
            self.fold(|column, row| (column / 2, row));
        }
        while request.offset.get() / self.stretch >= ROWS as u64 {
            self.stretch *= 2;
            self.fold(|column, row| (column, row / 2));
        }
        let (column, row) = (since.get() / self.period, request.offset.get() / self.stretch);
        self.cells[column as usize * ROWS + row as usize][usize::from(request.op == Op::Write)] += 1;
    }

    fn fold(&mut self, to: impl Fn(usize, usize) -> (usize, usize)) {
        let mut folded = vec![[0; 2]; COLUMNS * ROWS];
        for (at, [reads, writes]) in self.cells.iter().enumerate() {
            let (column, row) = to(at / ROWS, at % ROWS);
            let cell = &mut folded[column * ROWS + row];
            cell[0] += reads;
            cell[1] += writes;
        }
        self.cells = folded;
    }

    pub(super) fn map(&self) -> HeatMap {
        let filled = self.cells.iter().enumerate().filter(|(_, counts)| **counts != [0, 0]);
        let cells = filled.map(|(at, [reads, writes])| HeatCell {
            column: (at / ROWS) as u32,
            row: (at % ROWS) as u32,
            reads: *reads,
            writes: *writes,
        });
        HeatMap { period: Nanos(self.period), stretch: Bytes(self.stretch), cells: cells.collect() }
    }
}
