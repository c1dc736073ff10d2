//! What the tests share.

use flashscope_device::{Target, WriteGrant};
use flashscope_model::Experiment;
use flashscope_model::plan::{
    Align, Boundaries, Cells, FastArea, Fat, Floor, OpenAu, OpenUnits, Overwrite, Pattern, PatternPart, Patterns,
    Program, Purpose, Scatter, SlcCache, Slide, Span, Stretch, Survey, Throughput,
};
use flashscope_model::{Direction, Order, Run};
use flashscope_probe::{Context, ProbeError, Report, Unobserved, classic, run};
use flashscope_testkit::{Recording, ScriptedTarget};
use flashscope_units::{Bytes, Nanos};

pub(crate) const MIB: u64 = 1 << 20;
pub(crate) const KIB: u64 = 1 << 10;

/// A target that takes 100 µs for everything and remembers what it was asked.
pub(crate) fn recording(capacity: Bytes) -> Recording<ScriptedTarget> {
    Recording::new(ScriptedTarget::steady(capacity, Nanos::micros(100)))
}

/// Runs with more than enough budget.
pub(crate) fn run_on(experiment: &Experiment, target: &mut impl Target, seed: u64) -> Result<Run, ProbeError> {
    run_reported(experiment, target, seed, Bytes::gib(1)).0
}

/// Runs with a budget and says how it went.
pub(crate) fn run_reported(
    experiment: &Experiment,
    target: &mut impl Target,
    seed: u64,
    budget: Bytes,
) -> (Result<Run, ProbeError>, Report) {
    let mut grant = WriteGrant::simulated(target.facts(), budget).expect("scripted targets are simulated");
    let mut observer = Unobserved;
    let mut context = Context::writing(&mut grant, seed, &mut observer);
    let result = run(experiment, target, &mut context);
    let report = context.report;
    (result, report)
}

/// Runs and keeps the (offset, length) of every request.
pub(crate) fn ranges(experiment: &Experiment, capacity: Bytes, seed: u64) -> Vec<(u64, u64)> {
    let mut target = recording(capacity);
    run_on(experiment, &mut target, seed).expect("the experiment runs");
    target.ranges()
}

/// Requests of one kind over a region of 512 KiB.
pub(crate) fn part(direction: Direction, order: Order, (start, block): (Bytes, Bytes), requests: u32) -> PatternPart {
    PatternPart { direction, order, block, start, length: Bytes::kib(512), requests }
}

/// One of each kind, small enough for a device of 1 GiB.
pub(crate) fn one_of_each() -> Vec<Experiment> {
    let unit = Bytes::kib(512);
    let units = |indices: &[u64]| indices.iter().map(|&index| unit * index).collect::<Vec<_>>();
    vec![
        Experiment::Floor(Floor { block: Bytes(512), at: Bytes::mib(3), count: 200 }),
        Experiment::Survey(Survey { block: Bytes::kib(4), places: 33, repeats: 3, within: None }),
        Experiment::Align(classic::align(Bytes(1024))),
        Experiment::Align(Align { largest: Some(Bytes::mib(8)), ..classic::write_align(Bytes::kib(4)) }),
        Experiment::Boundaries(Boundaries {
            block: Bytes::kib(4),
            candidates: [4, 6, 8, 12, 24, 256].map(Bytes::mib).to_vec(),
            exclude: [8, 16, 24, 40].map(Bytes::mib).to_vec(),
            places: 15,
            rounds: 4,
            offset: Bytes::kib(512),
            within: None,
            rest: Nanos::ZERO,
        }),
        Experiment::OpenAu(OpenAu {
            count: 5,
            order: Order::Random,
            erase: unit,
            block: Bytes::kib(16),
            ..classic::open_au(1, Order::Random)
        }),
        Experiment::OpenUnits(OpenUnits {
            order: Order::Random,
            unit,
            block: Bytes::kib(16),
            rounds: 6,
            units: units(&[90, 40, 65]),
            first_offset: Bytes::kib(128),
            enough: None,
        }),
        Experiment::Fat(Fat { erase: unit, ..classic::fat(Order::InOrder) }),
        Experiment::FastArea(FastArea {
            unit,
            reach: unit,
            suspects: units(&[0, 1, 2]),
            controls: units(&[500, 700]),
            block: Bytes::kib(64),
            direction: Direction::Write,
            order: Order::Random,
            requests: 11,
            enough: None,
        }),
        Experiment::Scatter(Scatter { order: 6, span: 3, tries: 4, ..classic::scatter(Bytes::kib(8)) }),
        Experiment::Interval(classic::interval()),
        Experiment::Program(Program { region: Bytes::kib(256), largest: Bytes::kib(128), ..classic::program() }),
        Experiment::SlcCache(SlcCache {
            block: Bytes::kib(64),
            bursts: vec![Stretch { idle: Nanos::ZERO, span: Span { start: unit, length: Bytes::kib(256) } }; 2],
        }),
        Experiment::Slide(Slide {
            block: Bytes(1024),
            step: Bytes::kib(16),
            starts: vec![unit, unit * 9],
            places: 12,
            rounds: 3,
            descending: false,
        }),
        Experiment::Overwrite(Overwrite {
            block: Bytes::kib(64),
            span: Span { start: unit, length: Bytes::mib(1) },
            in_order: 16,
            random: 24,
            window: 1,
        }),
        Experiment::Patterns(Patterns {
            patterns: vec![Pattern {
                rest: Nanos::ZERO,
                rounds: 9,
                flush_every: 0,
                durable: false,
                parts: vec![
                    part(Direction::Write, Order::InOrder, (unit, Bytes::kib(64)), 2),
                    part(Direction::Write, Order::Random, (unit * 4, Bytes::kib(16)), 1),
                    part(Direction::Read, Order::Random, (Bytes::ZERO, Bytes::kib(4)), 3),
                ],
            }],
        }),
        Experiment::Cells(Cells { block: Bytes::kib(4), start: unit, step: Bytes::kib(64), places: 9, repeats: 3 }),
        Experiment::Throughput(Throughput {
            direction: Direction::Write,
            order: Order::Random,
            block: Bytes::kib(4),
            start: Bytes::mib(7),
            length: Bytes::kib(64),
            requests: 37,
            most_time: None,
            purpose: Purpose::OneUnit,
        }),
    ]
}
