//! Tables of the experiments on a controller.

use super::{Cell, SUMMARY, Table, heads, or_absent, summary_row};
use crate::time;
use flashscope_model::observation::{CellsData, MapReachData, OverwriteData, ParallelData, SlcCacheData};
use flashscope_units::{ByteRate, Bytes, Nanos};

/// A burst is shown in so many parts.
const PARTS: usize = 16;

pub(super) fn slc_cache(data: &SlcCacheData) -> Table {
    let rows = data.bursts.iter().flat_map(|burst| {
        let size = burst.times.len().div_ceil(PARTS).max(1);
        burst.times.chunks(size).enumerate().filter_map(move |(part, times)| {
            let summary = time::summary(times)?;
            let written = data.block * (part * size + times.len()) as u64;
            let rate = or_absent(Cell::Rate)(ByteRate::of(data.block, summary.mean));
            let idle = if part == 0 { Cell::Time(burst.burst.idle) } else { Cell::Absent };
            Some(vec![idle, Cell::Size(written), rate, Cell::Time(summary.median), Cell::Time(summary.max)])
        })
    });
    Table {
        caption: format!("sequential writes of {}, in bursts after rests", data.block),
        columns: heads(&["rest before", "written", "rate", "median", "longest"]),
        rows: rows.collect(),
    }
}

pub(super) fn parallel(data: &ParallelData) -> Table {
    let rows = data.fans.iter().filter_map(|fan| {
        let summary = time::summary(&fan.times)?;
        Some(vec![
            Cell::Count(u64::from(fan.fan.reads)),
            Cell::Size(fan.fan.stride),
            Cell::Size(fan.fan.align),
            Cell::Time(summary.min),
            Cell::Time(summary.median),
            Cell::Count(summary.requests as u64),
        ])
    });
    Table {
        caption: format!("reads of {} handed over at once, until the last one is done", data.block),
        columns: heads(&["reads", "apart", "first at multiples of", "shortest", "median", "places"]),
        rows: rows.collect(),
    }
}

pub(super) fn map_reach(data: &MapReachData) -> Table {
    let rows = data.ranges.iter().filter_map(|range| {
        let mut row = vec![Cell::Size(range.length)];
        row.extend(summary_row(time::summary(&range.times)?));
        Some(row)
    });
    let mut columns = heads(&["range"]);
    columns.extend(heads(&SUMMARY));
    Table {
        caption: format!("random {} within ranges from {} on", data.block, data.start),
        columns,
        rows: rows.collect(),
    }
}

/// The writes in order and those at random, each in so many parts.
pub(super) fn overwrite(data: &OverwriteData) -> Table {
    let part = |order: &str, windows: &[Nanos]| -> Vec<Vec<Cell>> {
        let size = windows.len().div_ceil(PARTS).max(1);
        let rows = windows.chunks(size).enumerate().map(|(part, sums)| {
            let of_a_window = data.block * u64::from(data.window);
            let time = sums.iter().copied().sum::<Nanos>();
            let rate = or_absent(Cell::Rate)(ByteRate::of(of_a_window * sums.len() as u64, time));
            let written = of_a_window * (part * size + sums.len()) as u64;
            vec![Cell::Text(order.to_owned()), Cell::Size(written), rate]
        });
        rows.collect()
    };
    Table {
        caption: format!("writes of {} over {} from {} on", data.block, data.span.length, data.span.start),
        columns: heads(&["order", "written", "rate"]),
        rows: [part("sequential", &data.in_order), part("random", &data.random)].concat(),
    }
}

/// Sorted by time: steps are kinds of pages.
pub(super) fn cells(data: &CellsData) -> Table {
    let mut shortest: Vec<(Nanos, Bytes)> =
        data.places.iter().filter_map(|place| Some((*place.times.iter().min()?, place.at))).collect();
    shortest.sort_unstable();
    let rows = shortest.into_iter().map(|(time, at)| vec![Cell::Time(time), Cell::Size(at)]);
    Table {
        caption: format!("shortest reads of {} by page, sorted", data.block),
        columns: heads(&["shortest", "position"]),
        rows: rows.collect(),
    }
}
