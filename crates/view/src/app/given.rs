//! What the device was given while apps ran, by size: of each app, and over all apps as the published eBench report counts it.

use super::name;
use crate::table::{Cell, Table};
use crate::trace::plural;
use flashscope_model::app::{AppRecord, AppRun, Given};
use flashscope_model::trace::{ChunkClass, ClassFigures, TraceOp};
use flashscope_units::{ByteRate, Bytes, Iops, Nanos};

/// Of each app, a second of its run time.
pub(super) fn of_apps(record: &AppRecord) -> Table {
    let rows = record.figures.iter().flat_map(|figures| {
        figures.chunks.iter().map(|chunks| {
            vec![
                Cell::Text(name(record, figures)),
                Cell::Text(plural(chunks.op).to_owned()),
                Cell::Text(chunks.class.label().to_owned()),
                Cell::Count(chunks.requests),
                Cell::Size(chunks.bytes),
                Cell::Iops(Iops(chunks.iops)),
                Cell::Rate(chunks.rate),
            ]
        })
    });
    Table {
        caption: "What the device was given, by size; a second of the run time".to_owned(),
        columns: ["app", "kind", "size", "requests", "data", "IOPS", "rate"].map(str::to_owned).into(),
        rows: rows.collect(),
    }
}

/// Requests of one kind, of one class of sizes or of all.
#[derive(Clone, Copy, Default)]
struct Sum {
    requests: u64,
    bytes: Bytes,
    /// Sum of their latencies; `None` where one is not known.
    took: Option<Nanos>,
}

impl Sum {
    fn of<'a>(classes: impl Iterator<Item = &'a ClassFigures>) -> Sum {
        let none = Sum { took: Some(Nanos::ZERO), ..Sum::default() };
        classes.fold(none, |sum, class| {
            let times = class.times.as_ref().filter(|times| times.count == class.requests);
            Sum {
                requests: sum.requests + class.requests,
                bytes: sum.bytes + class.bytes,
                took: sum.took.zip(times).map(|(took, times)| took + times.mean * times.count),
            }
        })
    }
}

/// Over all apps of a case, a second of the time that such requests took: the speed of the device at that size. Requests of the
/// published report that are few and fast have more IOPS than all together, so that it counts the same.
pub(super) fn of_cases(record: &AppRecord) -> Table {
    let several = record.plan.sequence.len() > 1;
    let mut rows = Vec::new();
    for (place, case) in (1_u32..).zip(&record.plan.sequence) {
        let whole = |run: &&AppRun| run.place == place && run.ended.is_none();
        let given: Option<Vec<&Given>> = record.runs.iter().filter(whole).map(|run| run.given.as_ref()).collect();
        let Some(given) = given else { continue };
        for op in [TraceOp::Read, TraceOp::Write] {
            let classes = |class: Option<ChunkClass>| {
                let all = given.iter().flat_map(|given| &given.classes).filter(move |one| one.op == op);
                Sum::of(all.filter(move |one| class.is_none_or(|class| one.class == class)))
            };
            let all = std::iter::once(("total", classes(None)));
            let each = ChunkClass::ALL.into_iter().map(|class| (class.label(), classes(Some(class))));
            for (label, sum) in all.chain(each).filter(|(_, sum)| sum.requests > 0) {
                let case = several.then(|| Cell::Text(format!("{case} {place}")));
                rows.push(case.into_iter().chain(cells(op, label, sum)).collect());
            }
        }
    }
    let columns = ["kind", "size", "requests", "data", "IOPS", "rate"].map(str::to_owned);
    Table {
        caption: "The device's speed by size, over all apps; a second of the time that such requests took".to_owned(),
        columns: several.then(|| "case".to_owned()).into_iter().chain(columns).collect(),
        rows,
    }
}

fn cells(op: TraceOp, label: &str, sum: Sum) -> [Cell; 6] {
    let took = sum.took.filter(|took| *took > Nanos::ZERO);
    let iops = took.map(|took| Iops(sum.requests as f64 / took.as_secs_f64()));
    let rate = took.and_then(|took| ByteRate::of(sum.bytes, took));
    [
        Cell::Text(plural(op).to_owned()),
        Cell::Text(label.to_owned()),
        Cell::Count(sum.requests),
        Cell::Size(sum.bytes),
        iops.map_or(Cell::Absent, Cell::Iops),
        rate.map_or(Cell::Absent, Cell::Rate),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_model::trace::ServiceTimes;

    #[test]
    fn a_second_is_one_of_the_requests_own_time_and_unknown_latencies_give_none() {
        let class = |requests: u64, mean: Option<Nanos>| ClassFigures {
            op: TraceOp::Read,
            class: ChunkClass::Small,
            requests,
            bytes: Bytes::kib(4) * requests,
            times: mean.map(|mean| ServiceTimes { count: requests, mean, p50: None, p99: None, p999: None, max: mean }),
        };
        let sum = Sum::of([class(100, Some(Nanos::millis(1))), class(50, Some(Nanos::millis(4)))].iter());
        assert_eq!((sum.requests, sum.bytes, sum.took), (150, Bytes::kib(600), Some(Nanos::millis(300))));
        let [.., iops, rate] = cells(TraceOp::Read, "total", sum);
        assert_eq!((iops, rate), (Cell::Iops(Iops(500.0)), Cell::Rate(ByteRate(2_048_000.0))));
        assert_eq!(Sum::of([class(100, Some(Nanos::millis(1))), class(1, None)].iter()).took, None);
    }
}
