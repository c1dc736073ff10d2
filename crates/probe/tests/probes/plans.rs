//! Costs known beforehand, plans that make no sense.

use crate::common::{one_of_each, recording, run_reported};
use flashscope_device::Op;
use flashscope_device::Target;
use flashscope_model::Experiment;
use flashscope_model::plan::{Align, Boundaries, FastArea, Fat, Interval, OpenAu, OpenUnits, Program, Scatter, Span};
use flashscope_model::{Direction, Order};
use flashscope_probe::{Cost, ProbeError, classic, cost, validate};
use flashscope_testkit::{Recording, ScriptedTarget};
use flashscope_units::{Bytes, Nanos};

#[test]
fn every_experiment_costs_exactly_what_was_said() {
    for capacity in [Bytes::gib(1), Bytes(1_015_808_000)] {
        for experiment in one_of_each() {
            for logical in [512, 1024] {
                let target = ScriptedTarget::steady(capacity, Nanos(5)).with_logical_block(Bytes(logical));
                let mut target = Recording::new(target);
                if validate(&experiment, target.facts()).is_err() {
                    assert_ne!(logical, 512, "{experiment:?}");
                    continue;
                }
                let told = cost(&experiment, target.facts());
                let (run, report) = run_reported(&experiment, &mut target, 7, told.written);
                let run = run.unwrap();
                let name = experiment.name();
                let asked =
                    Cost { read: target.read(), written: target.written(), requests: target.log().len() as u64 };
                assert_eq!(told, asked, "{name}");
                assert_eq!((run.spent.read, run.spent.written), (told.read, told.written), "{name}");
                assert_eq!(run.spent.time, Nanos(5 * told.requests), "{name}");
                assert!(run.complete && report.stop.is_none() && run.failures.is_empty(), "{name}");
                assert!(told.requests > 0, "{name}");
                // What a plan says without a device is no less than what it then does.
                assert!(experiment.bytes_written() >= told.written, "{name}");
            }
        }
    }
}

#[test]
fn every_write_is_durable_and_carries_new_bytes() {
    for experiment in one_of_each() {
        let mut target = recording(Bytes::gib(1));
        run_reported(&experiment, &mut target, 7, Bytes::gib(1)).0.unwrap();
        let writes: Vec<_> = target.log().iter().filter(|request| request.op != Op::Read).collect();
        // What collection costs would hide behind an emptied memory; applications do not ask for it either.
        let durable = !matches!(experiment, Experiment::Overwrite(_) | Experiment::Patterns(_));
        assert!(writes.iter().all(|write| write.op == Op::Write { durable }), "{}", experiment.name());
        if !matches!(experiment, Experiment::Program(_)) {
            let mut fills: Vec<String> = writes.iter().map(|write| format!("{:?}", write.fill)).collect();
            fills.sort();
            fills.dedup();
            assert_eq!(fills.len(), writes.len(), "{}", experiment.name());
        }
    }
}

#[test]
fn the_seed_decides_everything() {
    for experiment in one_of_each() {
        let log = |seed| {
            let mut target = recording(Bytes::gib(1));
            let run = run_reported(&experiment, &mut target, seed, Bytes::gib(1)).0.unwrap();
            (run, target.log().to_vec())
        };
        assert_eq!(log(3), log(3), "{}", experiment.name());
    }
}

#[test]
fn nothing_is_written_without_a_grant() {
    for experiment in one_of_each() {
        let mut target = recording(Bytes::gib(1));
        let mut observer = flashscope_probe::Unobserved;
        let mut context = flashscope_probe::Context::reading(1, &mut observer);
        let result = flashscope_probe::run(&experiment, &mut target, &mut context);
        if cost(&experiment, target.facts()).written > Bytes::ZERO {
            assert_eq!(result, Err(ProbeError::NoGrant), "{}", experiment.name());
            assert!(target.log().is_empty());
        } else {
            assert!(result.unwrap().complete, "{}", experiment.name());
        }
    }
}

#[test]
fn what_makes_no_sense_is_refused_with_a_hint() {
    let check = |experiment: Experiment, expect: &str| {
        let mut target = recording(Bytes::gib(1));
        let message = validate(&experiment, target.facts()).unwrap_err().to_string();
        assert!(message.starts_with(expect), "{message:?} instead of {expect:?}");
        assert!(message.contains("\nhint: "), "{message}");
        assert_eq!(cost(&experiment, target.facts()), Cost::default());
        assert!(matches!(run_reported(&experiment, &mut target, 1, Bytes::gib(9)).0, Err(ProbeError::Plan(_))));
        assert!(target.log().is_empty());
    };
    let open_au = classic::open_au(5, Order::InOrder);
    check(Experiment::OpenAu(OpenAu { count: 23, ..open_au }), "writing to units that lie twelve unit lengths apart");
    check(Experiment::OpenAu(OpenAu { count: 0, ..open_au }), "the number of units is 0");
    check(Experiment::OpenAu(OpenAu { erase: Bytes::mib(3), ..open_au }), "the unit (3 MiB) cannot be halved");
    check(Experiment::OpenAu(OpenAu { block: Bytes(256), ..open_au }), "the block is 256");
    check(Experiment::OpenAu(OpenAu { block: Bytes(768), ..open_au }), "the block (768 B) is not a multiple of 512 B");
    check(Experiment::OpenAu(OpenAu { offset: Bytes(100), ..open_au }), "the offset (100 B) is not a multiple");
    check(Experiment::OpenAu(OpenAu { erase: Bytes(1 << 62), ..open_au }), "writing to units that lie");
    check(Experiment::Align(classic::align(Bytes(512))), "the access (512 B) is not a multiple of 1 KiB");
    check(Experiment::Align(classic::align(Bytes::ZERO)), "the block is 0");
    check(Experiment::Align(classic::align(Bytes::gib(1))), "an alignment would need");
    // What is said to be too large is larger than what there is.
    let few = |largest: Bytes| Align { largest: Some(largest), places: 1, ..classic::align(Bytes::kib(4)) };
    check(Experiment::Align(few(Bytes::kib(4))), "the largest alignment is 4096, which is out of range");
    check(Experiment::Align(Align { tries: 0, ..classic::align(Bytes(1024)) }), "the number of tries is 0");
    check(
        Experiment::Fat(Fat { count: 257, ..classic::fat(Order::InOrder) }),
        "writing to this number of units would need 1.00 GiB",
    );
    check(
        Experiment::Interval(Interval { order: 27, ..classic::interval() }),
        "the largest read at this number of places",
    );
    check(Experiment::Program(Program { offset: Bytes::gib(1), ..classic::program() }), "the region would need");
    check(Experiment::Program(Program { region: Bytes::mib(3), ..classic::program() }), "the region (3 MiB) is not");
    let units = OpenUnits {
        order: Order::InOrder,
        unit: Bytes::mib(4),
        block: Bytes::kib(64),
        rounds: 8,
        units: vec![Bytes::mib(8), Bytes::mib(16)],
        first_offset: Bytes::ZERO,
        enough: None,
    };
    let overlapping = OpenUnits { units: vec![Bytes::mib(8), Bytes::mib(10)], ..units.clone() };
    check(Experiment::OpenUnits(overlapping), "the units overlap at byte 10485760");
    check(Experiment::OpenUnits(OpenUnits { rounds: 65, ..units.clone() }), "the number of rounds is 65");
    check(
        Experiment::OpenUnits(OpenUnits { first_offset: Bytes::mib(5), ..units.clone() }),
        "the first offset is 5242880",
    );
    check(Experiment::OpenUnits(OpenUnits { units: vec![Bytes::gib(1)], ..units }), "the units would need");
    check(
        Experiment::FastArea(FastArea {
            unit: Bytes::mib(4),
            reach: Bytes::mib(4),
            suspects: vec![Bytes::mib(4)],
            controls: vec![Bytes::mib(4)],
            block: Bytes::kib(4),
            direction: Direction::Write,
            order: Order::InOrder,
            requests: 1,
            enough: None,
        }),
        "suspects and controls overlap",
    );
    let boundaries = Boundaries {
        block: Bytes::kib(4),
        candidates: vec![Bytes::mib(8)],
        exclude: vec![],
        places: 15,
        rounds: 1,
        offset: Bytes::ZERO,
        within: Some(Span { start: Bytes::mib(1), length: Bytes::mib(6) }),
        rest: Nanos::ZERO,
    };
    check(
        Experiment::Boundaries(boundaries.clone()),
        "a boundary of any candidate would need 8.00 MiB, but there are only 6 MiB",
    );
    let between = Span { start: Bytes::mib(8) - Bytes::kib(2), length: Bytes::mib(8) + Bytes::kib(4) };
    check(
        Experiment::Boundaries(Boundaries { within: Some(between), ..boundaries.clone() }),
        "a boundary of any candidate of 8 MiB has no place in 8.00 MiB",
    );
    check(
        Experiment::Boundaries(Boundaries { block: Bytes(512), ..boundaries }),
        "the block (512 B) is not a multiple of 1 KiB",
    );
}

/// Exactly at the end of the device is inside, one block more is not.
#[test]
fn the_last_block_of_the_device_may_be_used() {
    let check = |experiment: Experiment, fits: u64| {
        for (capacity, expect) in [(fits, true), (fits - 512, false)] {
            let target = ScriptedTarget::steady(Bytes(capacity), Nanos(1));
            assert_eq!(validate(&experiment, target.facts()).is_ok(), expect, "{experiment:?} on {capacity}");
        }
    };
    let kib = 1024;
    let scatter = Scatter { order: 4, span: 3, ..classic::scatter(Bytes::kib(8)) };
    check(Experiment::Scatter(scatter), (16 + 2) * 8 * kib);
    let fat = Fat { count: 3, erase: Bytes::kib(64), offset: Bytes::kib(8), ..classic::fat(Order::InOrder) };
    check(Experiment::Fat(fat), (3 * 64 + 8) * kib);
    let open_au = OpenAu { erase: Bytes::kib(64), ..classic::open_au(3, Order::InOrder) };
    check(Experiment::OpenAu(open_au), (16 * 1024 + 24 * 64 + 64) * kib);
    check(Experiment::Interval(Interval { order: 3, places: 2, offset: Bytes::ZERO }), 20 * kib);
    check(Experiment::Program(classic::program()), 20 << 20);
}
