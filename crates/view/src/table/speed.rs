//! The performance table: how fast the device is in the long run.

use super::{Cell, Table, direction_word, work};
use flashscope_model::Direction;
use flashscope_model::finding::PerformanceCell;

/// How much room there is for a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Room {
    /// Less than 80 columns.
    Narrow,
    /// 80 columns.
    Medium,
    /// 106 columns.
    Wide,
    /// As much as it takes.
    Page,
}

/// The performance table of a run.
pub fn performance(cells: &[PerformanceCell], room: Room) -> Table {
    let queued = cells.iter().any(|cell| cell.queue_depth != 1);
    // Records of older versions have no interval of the rate, but one of the median.
    let by_rate = cells.iter().any(|cell| cell.long_run.is_some());
    let medium = room >= Room::Medium;
    let shown = [
        ("work", true),
        ("block", true),
        ("queue", queued),
        ("rate", true),
        ("95 % interval", medium && by_rate),
        ("requests/s", room >= Room::Wide),
        ("median", true),
        ("95 % interval of the median", room >= Room::Page || (medium && !by_rate)),
        ("p99", medium),
        ("longest", true),
        ("requests", room >= Room::Wide),
    ];
    let row = |cell: &PerformanceCell| {
        let figures = [
            Cell::Text(work(cell.direction, cell.order)),
            Cell::Size(cell.block),
            Cell::Count(u64::from(cell.queue_depth)),
            Cell::Rate(cell.mean_rate),
            cell.long_run.map_or(Cell::Absent, |run| Cell::Rates(run.low, run.high)),
            Cell::Iops(cell.iops),
            Cell::Time(cell.service_time.value),
            Cell::Times(cell.service_time.low, cell.service_time.high),
            cell.service_time_p99.map_or(Cell::Absent, Cell::Time),
            Cell::Time(cell.service_time_max),
            Cell::Count(u64::from(cell.requests)),
        ];
        figures.into_iter().zip(shown).filter(|(_, (_, shown))| *shown).map(|(figure, _)| figure).collect()
    };
    let queue = if queued { "" } else { ", QD1" };
    Table {
        caption: format!("direct{queue}; long-run rates; random over all data"),
        columns: shown.iter().filter(|(_, shown)| *shown).map(|(name, _)| (*name).to_owned()).collect(),
        rows: cells.iter().map(row).collect(),
    }
}

/// What the table does not show, a sentence each: cells whose rate changed while they were measured, and how writes ended.
pub fn remarks(cells: &[PerformanceCell]) -> Vec<String> {
    let writes = cells.iter().any(|cell| cell.direction == Direction::Write);
    let durable =
        "writes wait for the medium, as with bench --mode dsync; with bench's own default, direct, they need not";
    rate_changes(cells).into_iter().chain(writes.then(|| durable.to_owned())).collect()
}

fn rate_changes(cells: &[PerformanceCell]) -> Vec<String> {
    let changes = cells.iter().filter_map(|cell| {
        let run = cell.long_run?;
        let what = format!("{}, {}", work(cell.direction, cell.order), cell.block);
        let requests = |count: u32| match cell.direction {
            Direction::Write => format!("{count} requests ({})", cell.block * u64::from(count)),
            Direction::Read => format!("{count} requests"),
        };
        match (run.first, run.settled) {
            // What reads the same is no change.
            (Some((_, rate)), true) if rate.to_string() == cell.mean_rate.to_string() => None,
            (Some((count, rate)), settled) => {
                let then = if settled { "then" } else { "still changing at the end:" };
                Some(format!("{what}: {rate} for the first {}, {then} {}", requests(count), cell.mean_rate))
            }
            (None, false) => Some(format!("{what}: the rate was still changing when the {} ended", noun(cell))),
            (None, true) => None,
        }
    });
    changes.collect()
}

fn noun(cell: &PerformanceCell) -> String {
    format!("{} {}s", cell.requests, direction_word(cell.direction))
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_model::Order;
    use flashscope_model::finding::{Interval, LongRun};
    use flashscope_units::{ByteRate, Bytes, Iops, Nanos};

    #[test]
    fn a_rate_that_changed_is_told_with_both_levels() {
        let cell = |first, settled| PerformanceCell {
            direction: Direction::Write,
            order: Order::Random,
            block: Bytes::kib(4),
            queue_depth: 1,
            requests: 60,
            service_time: Interval { value: Nanos(1), low: Nanos(1), high: Nanos(1) },
            mean_rate: ByteRate(20e3),
            long_run: Some(LongRun { low: ByteRate(19e3), high: ByteRate(21e3), settled, first }),
            iops: Iops(5.0),
            service_time_p99: None,
            service_time_max: Nanos(1),
        };
        let told = rate_changes(&[cell(Some((1024, ByteRate(1.9e6))), true)]);
        assert!(told[0].ends_with("4 KiB: 1.90 MB/s for the first 1024 requests (4 MiB), then 20.0 KB/s"), "{told:?}");
        assert!(rate_changes(&[cell(None, false)])[0].contains("still changing when the 60 writes ended"));
        assert!(rate_changes(&[cell(None, true)]).is_empty());
    }
}
