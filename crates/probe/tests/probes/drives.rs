//! The experiments on a controller's inside make the requests that they say.

use crate::common::*;
use flashscope_model::Data;
use flashscope_model::plan::{Cells, Fan, MapReach, Parallel, SlcCache, Span, Stretch};
use flashscope_model::{Experiment, Run};
use flashscope_units::{Bytes, Nanos};

fn kib(sizes: &[u64]) -> Vec<u64> {
    sizes.iter().map(|size| size << 10).collect()
}

#[test]
fn bursts_are_written_in_order_after_a_rest() {
    let span = |start: u64| Span { start: Bytes::mib(start), length: Bytes::kib(128) };
    let burst = |start: u64, rest: u64| Stretch { idle: Nanos::millis(rest), span: span(start) };
    let plan = Experiment::SlcCache(SlcCache { block: Bytes::kib(64), bursts: vec![burst(1, 0), burst(2, 5000)] });
    let got: Vec<u64> = ranges(&plan, Bytes::mib(8), 1).iter().map(|range| range.0).collect();
    assert_eq!(got, kib(&[1024, 1088, 2048, 2112]));
    let Run { data: Data::SlcCache(data), spent, .. } = run_on(&plan, &mut recording(Bytes::mib(8)), 1).unwrap() else {
        panic!("another experiment")
    };
    assert_eq!(data.bursts.iter().map(|burst| burst.times.len()).collect::<Vec<_>>(), [2, 2]);
    assert!(spent.time >= Nanos::millis(5000), "{:?}", spent.time);
}

#[test]
fn pages_are_read_from_the_last_to_the_first() {
    let plan = Cells { block: Bytes::kib(4), start: Bytes::mib(1), step: Bytes::kib(64), places: 3, repeats: 2 };
    let got: Vec<u64> = ranges(&Experiment::Cells(plan), Bytes::mib(8), 1).iter().map(|range| range.0).collect();
    assert_eq!(got, kib(&[1152, 1088, 1024, 1152, 1088, 1024]));
}

#[test]
fn a_range_is_read_through_before_it_counts() {
    let plan = MapReach {
        block: Bytes::kib(4),
        start: Bytes::mib(1),
        ranges: vec![Bytes::mib(1), Bytes::mib(2), Bytes::mib(2)],
        warm_step: Bytes::kib(512),
        requests: 5,
    };
    let got = ranges(&Experiment::MapReach(plan), Bytes::mib(8), 1);
    let starts: Vec<u64> = got.iter().map(|range| range.0).collect();
    assert_eq!(starts[..2], kib(&[1024, 1536]));
    assert_eq!(starts[7..11], kib(&[1024, 1536, 2048, 2560]));
    // Once more: what can be in memory is.
    assert_eq!(got.len(), 2 + 5 + 4 + 5 + 5);
    assert!(starts[2..7].iter().all(|at| (1 << 20..2 << 20).contains(at)), "{starts:?}");
}

#[test]
fn sets_of_reads_lie_as_far_apart_as_they_say() {
    let fan = |reads: u32, stride: u64, align: u64| Fan { reads, stride: Bytes::kib(stride), align: Bytes::kib(align) };
    let fans = vec![fan(4, 64, 4), fan(8, 8, 64)];
    let plan = Parallel { block: Bytes(512), fans: fans.clone(), rounds: 3, within: None };
    let got = ranges(&Experiment::Parallel(plan.clone()), Bytes::mib(8), 1);
    let mut rest = got.as_slice();
    let mut seen = [0, 0];
    while let [first, second, ..] = rest {
        let which = usize::from(second.0 - first.0 != 64 << 10);
        let fan = fans[which];
        let (set, others) = rest.split_at(fan.reads as usize);
        assert!(set.windows(2).all(|pair| pair[1].0 - pair[0].0 == fan.stride.get()), "{set:?}");
        assert!(first.0.is_multiple_of(fan.align.get()) && set.iter().all(|range| range.1 == 512), "{set:?}");
        seen[which] += 1;
        rest = others;
    }
    assert_eq!(seen, [3, 3]);
    let Data::Parallel(data) = run_on(&Experiment::Parallel(plan), &mut recording(Bytes::mib(8)), 1).unwrap().data
    else {
        panic!("another experiment")
    };
    assert!(data.fans.iter().all(|fan| fan.times.len() == 3));
}

#[test]
fn more_reads_at_once_than_the_queue_takes_are_refused() {
    let fan = Fan { reads: 8, stride: Bytes::kib(64), align: Bytes::kib(4) };
    let plan = Experiment::Parallel(Parallel { block: Bytes(512), fans: vec![fan], rounds: 1, within: None });
    let mut facts = flashscope_device::Target::facts(&recording(Bytes::mib(8))).clone();
    assert!(flashscope_probe::validate(&plan, &facts).is_ok());
    facts.queue_depth = Some(1);
    assert!(flashscope_probe::validate(&plan, &facts).is_err());
}
