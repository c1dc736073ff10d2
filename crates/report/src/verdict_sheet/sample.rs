//! A qualification made by hand: one figure missed, one open, one that should be met and is not, a paradox with its
//! cause.

use flashscope_model::Envelope;
use flashscope_model::comparison::{Centre, Control, Counts, Doubt, Level, Ratio};
use flashscope_model::envelope::{HostFacts, Kind, Tool};
use flashscope_model::qualification::{
    Access, Answer, Area, Bound, Cause, FigureUnit, FigureValue, KeptRecord, Lacking, Limit, Part, PlanFacts,
    QualificationRecord, Requirement, Role, Row, RowResult, RunDone, RunOutcome, Verdict, Weight, Work,
    WorkloadControl,
};
use flashscope_units::{Bytes, Nanos};

/// Requirement, figure, limit, weight, result, ratio with interval.
type Given = (&'static str, Work, Area, Limit, Weight, RowResult, Option<(f64, f64, f64)>);

const fn at_least(ratio: f64) -> Limit {
    Limit::Reference { bound: Bound::AtLeast, ratio }
}

const ROWS: [Given; 8] = [
    (
        "Sequential read",
        Work::Bench,
        Area::Disk,
        at_least(0.95),
        Weight::Must,
        RowResult::Pass,
        Some((1.12, 1.10, 1.14)),
    ),
    (
        "Random read, 4 KiB",
        Work::Bench,
        Area::Disk,
        at_least(0.95),
        Weight::Must,
        RowResult::Pass,
        Some((1.05, 1.02, 1.08)),
    ),
    (
        "Sequential write",
        Work::Bench,
        Area::Disk,
        Limit::Value { bound: Bound::AtLeast, value: 20e6, unit: FigureUnit::BytesPerSecond },
        Weight::Must,
        RowResult::Pass,
        Some((1.4, 1.35, 1.45)),
    ),
    (
        "OTA update",
        Work::App,
        Area::Functional,
        Limit::Reference { bound: Bound::AtMost, ratio: 1.1 },
        Weight::Must,
        RowResult::Fail,
        Some((1.41, 1.36, 1.46)),
    ),
    (
        "First boot",
        Work::App,
        Area::Functional,
        Limit::Reference { bound: Bound::AtMost, ratio: 1.1 },
        Weight::Must,
        RowResult::Undecided(Doubt::Open { more: Some(6) }),
        Some((1.08, 1.03, 1.14)),
    ),
    (
        "Writes that others wait for",
        Work::Bench,
        Area::Disk,
        at_least(0.9),
        Weight::Should,
        RowResult::Fail,
        Some((0.84, 0.82, 0.86)),
    ),
    ("Is as large as it says", Work::Capacity, Area::Integrity, Limit::Holds, Weight::Must, RowResult::Pass, None),
    (
        "Does what its registers claim",
        Work::Registers,
        Area::Registers,
        Limit::Holds,
        Weight::Must,
        RowResult::Unsupported(Lacking::Host),
        None,
    ),
];

fn requirement((title, work, area, limit, weight, ..): &Given) -> Requirement {
    Requirement {
        name: title.to_lowercase().replace([' ', ','], "-"),
        title: (*title).to_owned(),
        workload: title.to_lowercase().replace([' ', ','], "-"),
        work: *work,
        state: (*area == Area::Disk).then(|| "filled".to_owned()),
        figure: "rate".to_owned(),
        limit: *limit,
        confidence: 0.99,
        weight: *weight,
        area: *area,
    }
}

fn row(at: usize, (_, _, area, limit, _, result, ratio): &Given) -> Row {
    let base = if *area == Area::Functional { 42e9 } else { 31e6 };
    let centre = |value: f64| {
        let counts = Counts { parts: 1, sessions: 8, blocks: 8, runs: 16 };
        Some(Centre { value, interval: Some((value * 0.98, value * 1.02)), counts })
    };
    let alone = matches!(limit, Limit::Value { .. });
    Row {
        requirement: at,
        result: *result,
        reason: match result {
            RowResult::Unsupported(_) => "candidate: the host has no way to send commands to it".to_owned(),
            RowResult::Undecided(_) => {
                "8.0 % above the reference, limit at most 1.1 × the reference; 6 more blocks would probably do"
                    .to_owned()
            }
            _ => ratio.map_or_else(
                || "genuine: yes".to_owned(),
                |ratio| format!("{:.0} % from the reference", 100.0 * (ratio.0 - 1.0)),
            ),
        },
        reference: ratio.filter(|_| !alone).and_then(|_| centre(base)),
        candidate: ratio.and_then(|ratio| centre(if alone { 20e6 } else { base } * ratio.0)),
        unit: if *area == Area::Functional { "ns" } else { "B/s" }.to_owned(),
        ratio: ratio.map(|(value, low, high)| Ratio { value, interval: Some((low, high)) }),
        level: ratio.map(|_| Level::Block),
        p_pass: ratio.map(|_| 0.002),
        p_fail: ratio.map(|_| 0.5),
        replayed: *area == Area::Functional,
    }
}

fn part(role: Role, name: &str, identity: &str) -> Part {
    Part {
        role,
        label: role.word().to_owned(),
        target: format!("/dev/{}", role.word()),
        identity: Some(identity.to_owned()),
        device: Some(name.to_owned()),
        capacity: Some(Bytes(15_758_000_128)),
        access: Access::Raw,
        host: Some(HostFacts {
            name: "bench-2".to_owned(),
            board: Some("Board of eight cores".to_owned()),
            kernel: "6.6.31".to_owned(),
            architecture: "aarch64".to_owned(),
            bus_mode: Some("mmc HS400, 200 MHz, 8 bit".to_owned()),
        }),
        bus_capability: None,
    }
}

/// Runs of a workload: eight blocks of four, ABBA.
fn runs(given: &Given, requirement: &Requirement) -> Vec<RunDone> {
    let Some((ratio, ..)) = given.6 else {
        let answers = vec![("genuine".to_owned(), Some(true))];
        let done = RunOutcome::Done { figures: Vec::new(), answers };
        return vec![run(requirement, 1, None, 0, done)];
    };
    let (unit, base) = if given.2 == Area::Functional { ("ns", 42e9) } else { ("B/s", 31e6) };
    let places = (0..32u32).map(|number| {
        let candidate = [false, true, true, false][number as usize % 4];
        let wave = 1.0 + 0.02 * f64::from(number * 7 % 11) / 11.0;
        let value = base * wave * if candidate { ratio } else { 1.0 };
        let figures = vec![FigureValue { name: "rate".to_owned(), unit: unit.to_owned(), value }];
        let done = RunOutcome::Done { figures, answers: Vec::new() };
        run(requirement, usize::from(candidate), Some(number / 4), number % 4, done)
    });
    places.collect()
}

fn run(requirement: &Requirement, part: usize, block: Option<u32>, place: u32, outcome: RunOutcome) -> RunDone {
    RunDone {
        part,
        workload: requirement.workload.clone(),
        session: format!("{}", block.unwrap_or_default()),
        block,
        place,
        outcome,
        replayed: requirement.area == Area::Functional,
        record: Some(KeptRecord { file: format!("{}-{place}.json", requirement.workload), sha256: "9f".repeat(32) }),
        took: Nanos::secs(21),
        written: Bytes::mib(96),
    }
}

pub(crate) fn sample() -> QualificationRecord {
    let requirements: Vec<Requirement> = ROWS.iter().map(requirement).collect();
    let runs = ROWS.iter().zip(&requirements).flat_map(|(given, requirement)| runs(given, requirement)).collect();
    QualificationRecord {
        envelope: Envelope::new(Kind::Qualification, Tool::default(), "qualify", "reference candidate"),
        plan: PlanFacts {
            name: "emmc-second-source".to_owned(),
            title: "A second source of an eMMC part".to_owned(),
            source: "requirements of a product team".to_owned(),
            text: "[plan]\nname = \"emmc-second-source\"\n".to_owned(),
            quick: true,
            cannot_decide: vec!["wear over years".to_owned()],
            most_blocks: 30,
            most_time: None,
            seed: 7,
            requirements,
        },
        parts: vec![
            part(Role::Reference, "MMC16P", "0x15 MMC16P 0x5b2a0001"),
            part(Role::Candidate, "EM16G <b>", "0x70 EM16G 0x11020304"),
        ],
        runs,
        rows: ROWS.iter().enumerate().map(|(at, given)| row(at, given)).collect(),
        controls: vec![WorkloadControl {
            workload: "sequential-read".to_owned(),
            control: Control { p_value: 0.4, blocks: 8, level: 0.001 },
        }],
        verdict: Some(Verdict {
            answer: Answer::MayNot,
            deciding: vec![3],
            reasons: vec!["OTA update: fail (41 % above the reference, limit at most 1.1 × the reference)".to_owned()],
            scope: "holds for these two parts; a statement on the models needs three of each".to_owned(),
        }),
        differences: Vec::new(),
        anyway: false,
        causes: vec![Cause {
            row: 3,
            paradox: "The candidate meets every disk requirement, and an OTA update takes 41 % longer on it".to_owned(),
            because: Some("33 of the 41 because it keeps 2 units open and the update writes 5 streams".to_owned()),
            unknown: None,
        }],
        notes: Vec::new(),
        seal: Some("5e".repeat(32)),
    }
}
