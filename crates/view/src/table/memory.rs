//! Tables of the experiments on the memory between link and flash.

use super::{Cell, Table, heads, or_absent, shortest};
use crate::time;
use flashscope_model::observation::{BufferData, BurstTimes, ReadCacheData};
use flashscope_model::plan::Then;
use flashscope_units::Nanos;

/// Bursts of the same kind are one row; the service times by index are shown as what stands out of them.
pub(super) fn buffer(data: &BufferData) -> Table {
    let row = |burst: &BurstTimes| {
        let summary = time::summary(&burst.writes);
        // Where the longest write of the burst stands, counted from one.
        let longest = summary.and_then(|summary| burst.writes.iter().position(|time| *time == summary.max));
        vec![
            Cell::Count(burst.writes.len() as u64),
            or_absent(Cell::Time)(summary.map(|summary| summary.median)),
            or_absent(Cell::Time)(summary.map(|summary| summary.max)),
            longest.map_or(Cell::Absent, |at| Cell::Count(at as u64 + 1)),
            Cell::Time(burst.pause),
            Cell::Text(then(burst.then).to_owned()),
            or_absent(Cell::Time)(burst.after),
        ]
    };
    Table {
        caption: format!("bursts of {} that need not be durable, {} from {}", data.block, data.length, data.start),
        columns: heads(&["writes", "median", "longest", "which", "pause", "then", "took"]),
        rows: data.bursts.iter().map(row).collect(),
    }
}

fn then(then: Then) -> &'static str {
    match then {
        Then::Flush => "flush",
        Then::Read => "read elsewhere",
        Then::Write => "write",
    }
}

/// Re-reads by span, runs by index, and reads ahead by distance.
pub(super) fn read_cache(data: &ReadCacheData) -> Vec<Table> {
    let spans = data.spans.iter().map(|reread| {
        vec![Cell::Size(reread.span), median(&reread.again), shortest(&reread.again), median(&reread.fresh)]
    });
    let runs = [&data.rising, &data.falling];
    let longest = runs.iter().flat_map(|runs| runs.iter()).map(Vec::len).max().unwrap_or(0);
    let at = |runs: &[Vec<Nanos>], index: usize| {
        median(&runs.iter().filter_map(|run| run.get(index).copied()).collect::<Vec<Nanos>>())
    };
    let indices =
        (0..longest).map(|index| vec![Cell::Count(index as u64), at(&data.rising, index), at(&data.falling, index)]);
    let ahead = data.ahead.iter().map(|ahead| vec![Cell::Size(ahead.distance), median(&ahead.times)]);
    let block = data.block;
    [
        Table {
            caption: format!("{block} read again after so much else"),
            columns: heads(&["read since", "again", "shortest", "not read before"]),
            rows: spans.collect(),
        },
        Table {
            caption: format!("runs of {block} after a jump, by index: medians"),
            columns: heads(&["index", "rising", "falling"]),
            rows: indices.collect(),
        },
        Table {
            caption: format!("{block} so far behind a sequential run, after a rest"),
            columns: heads(&["distance", "median"]),
            rows: ahead.collect(),
        },
    ]
    .into_iter()
    .filter(|table| !table.rows.is_empty())
    .collect()
}

fn median(times: &[Nanos]) -> Cell {
    or_absent(Cell::Time)(time::summary(times).map(|summary| summary.median))
}
