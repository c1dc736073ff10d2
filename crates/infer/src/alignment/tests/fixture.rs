//! Published logs: what is found in them, against a careful reading.

use super::super::from_tables::estimate_with;
use super::super::prior::Off;
use super::super::tables::read_tables;
use super::estimate;
use flashscope_model::observation::{
    AlignData, AlignEvidence, AlignRow, AreaState, Printed, Run, Source, Spent, Statistic,
};
use flashscope_model::{Data, Direction, Observations};
use flashscope_units::{Bytes, Contrast};

/// Reads a time as flashbench prints it: the number, and half its last digit.
fn time(text: &str) -> Option<Printed<Contrast>> {
    let end = text.find(|c: char| !"0123456789.+-e".contains(c)).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let factor = match unit {
        "ns" | "n" | "" => 1.0,
        "us" | "µs" | "µ" | "u" => 1e3,
        "ms" | "m" => 1e6,
        "s" => 1e9,
        _ => return None,
    };
    let value: f64 = number.parse().ok()?;
    let decimals = number.split_once('.').map_or(0, |(_, tail)| tail.len() as i32);
    Some(Printed {
        value: Contrast(value * factor),
        quantum: Contrast(factor * 10f64.powi(-decimals)),
        statistic: Statistic::MeanOfMinima,
        places: Some(7),
        tries: Some(8),
    })
}

/// The align tables of a log, and nothing else of it.
pub(super) fn align_tables(text: &str, capacity: Option<Bytes>) -> Observations {
    let mut observations = Observations { capacity, runs: Vec::new(), ..Observations::default() };
    let mut block = None;
    let mut last: Option<(Bytes, Direction)> = None;
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let Some(at) = words.iter().position(|word| *word == "-b") {
            block = words.get(at + 1).and_then(|word| word.parse().ok()).map(Bytes);
        }
        let (direction, words) = match words.as_slice() {
            ["write", "align", rest @ ..] => (Direction::Write, rest),
            ["align", rest @ ..] => (Direction::Read, rest),
            _ => continue,
        };
        let Some(align) = words.first().and_then(|word| word.parse().ok()).map(Bytes) else { continue };
        if last.is_none_or(|(size, way)| align >= size || way != direction) {
            observations.runs.push(Run {
                source: Source::Log { first_line: 1, last_line: 1 },
                state: AreaState::Unknown,
                complete: true,
                spent: Spent::default(),
                failures: Vec::new(),
                data: Data::Align(AlignData { direction, block, access: 1, rows: Vec::new() }),
            });
        }
        last = Some((align, direction));
        let field = |name: &str| {
            words.iter().position(|word| *word == name).and_then(|at| words.get(at + 1)).and_then(|word| time(word))
        };
        let evidence =
            AlignEvidence::Printed { pre: field("pre"), on: field("on"), post: field("post"), diff: field("diff") };
        if let Some(Data::Align(data)) = observations.runs.last_mut().map(|run| &mut run.data) {
            data.rows.push(AlignRow { align, evidence });
        }
    }
    observations
}

/// A published log, the capacity that it states, and the careful reading of unit and page: `None` where the log does
/// not show them, 0 where the reading and the table leave it open.
struct Log {
    name: &'static str,
    bytes: &'static [u8],
    capacity: Option<u64>,
    unit: Option<Bytes>,
    page: Option<Bytes>,
}

macro_rules! log {
    ($name:literal, $capacity:expr, $unit:expr, $page:expr) => {
        Log {
            name: $name,
            bytes: include_bytes!(concat!("../../../../../fixtures/", $name)),
            capacity: $capacity,
            unit: $unit,
            page: $page,
        }
    };
}

const MIB_2: Option<Bytes> = Some(Bytes::mib(2));
const MIB_4: Option<Bytes> = Some(Bytes::mib(4));
const KIB_8: Option<Bytes> = Some(Bytes::kib(8));
const KIB_16: Option<Bytes> = Some(Bytes::kib(16));

const LOGS: [Log; 21] = [
    log!("field/card-1-2.txt", Some(3_965_190_144), MIB_4, None),
    log!("field/card-13.txt", Some(7_742_685_184), MIB_4, KIB_16),
    log!("field/card-14.txt", Some(8_035_237_888), MIB_4, KIB_8),
    log!("field/card-15.txt", Some(3_980_394_496), MIB_4, KIB_16),
    log!("field/card-18.txt", Some(7_990_149_120), MIB_4, KIB_16),
    log!("field/card-19.txt", Some(3_963_617_280), MIB_4, KIB_16),
    log!("field/card-2.txt", Some(3_963_617_280), MIB_4, KIB_16),
    log!("field/card-20-2.txt", Some(3_991_928_832), None, None),
    log!("field/card-27.txt", Some(7_948_206_080), MIB_4, None),
    log!("field/card-29-1.txt", Some(8_068_792_320), MIB_4, KIB_16),
    log!("field/card-3-2.txt", Some(7_902_068_736), MIB_4, KIB_16),
    log!("field/card-3-3.txt", Some(7_902_068_736), MIB_4, KIB_16),
    log!("field/card-31-1.txt", Some(16_021_192_704), None, KIB_16),
    log!("field/card-5-2.txt", Some(3_904_897_024), MIB_4, KIB_16),
    log!("field/card-6-2.txt", Some(3_980_394_496), MIB_4, KIB_16),
    log!("field/card-8.txt", Some(3_985_637_376), None, KIB_8),
    log!("field/card-9.txt", Some(7_948_206_080), MIB_4, None),
    log!("field/flashbench-readme.txt", None, MIB_4, KIB_16),
    log!("field/pqi-32gb.txt", None, MIB_4, KIB_16),
    log!("field/usb-reader-2mib.txt", None, MIB_2, None),
    log!("transcripts/sd-card-4mib.txt", None, MIB_4, KIB_16),
];

#[test]
fn published_logs_are_read_as_a_careful_reader_does() {
    let (mut settled, mut found) = (0, 0);
    for log in &LOGS {
        let observations = align_tables(&String::from_utf8_lossy(log.bytes), log.capacity.map(Bytes));
        let findings = estimate(&observations);
        for (what, estimate, expect) in
            [("unit", &findings.allocation_unit, log.unit), ("page", &findings.page, log.page)]
        {
            if let Some(value) = estimate.value() {
                assert_eq!(Some(value), expect, "{} {what}: {estimate:?}", log.name);
                assert!(estimate.confidence().is_some_and(|confidence| confidence >= 0.8), "{} {what}", log.name);
                assert!(!estimate.evidence().is_empty(), "{} {what}", log.name);
                found += 1;
            } else if let (Some(low), Some(expect)) = (estimate.least(), expect) {
                assert!(low <= expect, "{} {what}: {estimate:?}", log.name);
            }
            settled += usize::from(expect.is_some());
        }
    }
    assert!(found * 100 >= settled * 95, "{found} of {settled} figures found");
}

/// The observations without the rows of these alignments.
fn without(observations: &Observations, lost: impl Fn(Bytes) -> bool) -> Observations {
    let mut rest = observations.clone();
    for run in &mut rest.runs {
        if let Data::Align(align) = &mut run.data {
            align.rows.retain(|row| !lost(row.align));
        }
    }
    rest
}

#[test]
fn a_missing_row_makes_its_neighbours_neither_page_nor_unit() {
    for log in &LOGS {
        let whole = align_tables(&String::from_utf8_lossy(log.bytes), log.capacity.map(Bytes));
        for truth in log.page.iter().copied() {
            for lost in [truth, truth / 2] {
                let page = estimate(&without(&whole, |align| align == lost)).page;
                let bold = page.value().is_some() && page.confidence().is_some_and(|confidence| confidence > 0.6);
                assert!(!bold, "{} without {lost}: {page:?}", log.name);
                assert!(page.least().is_none_or(|low| low <= truth), "{} without {lost}: {page:?}", log.name);
                assert!(page.most().is_none_or(|high| high >= truth), "{} without {lost}: {page:?}", log.name);
            }
        }
        for truth in log.unit.iter().copied() {
            for lost in [truth, truth / 2] {
                let unit = estimate(&without(&whole, |align| align == lost)).allocation_unit;
                let bold = unit.value().is_some() && unit.confidence().is_some_and(|confidence| confidence > 0.6);
                assert!(!bold, "{} without {lost}: {unit:?}", log.name);
                assert!(unit.least().is_none_or(|low| low <= truth), "{} without {lost}: {unit:?}", log.name);
            }
        }
    }
}

#[test]
fn tables_with_holes_get_no_wrong_figure() {
    let mut rng = flashscope_stats::Rng::new(4);
    for log in &LOGS {
        let whole = align_tables(&String::from_utf8_lossy(log.bytes), log.capacity.map(Bytes));
        for _ in 0..6 {
            let lost: Vec<Bytes> = (9..28).map(|power| Bytes(1 << power)).filter(|_| rng.unit() < 0.2).collect();
            let findings = estimate(&without(&whole, |align| lost.contains(&align)));
            for (estimate, truth) in [(&findings.allocation_unit, log.unit), (&findings.page, log.page)] {
                let Some(truth) = truth else { continue };
                let wrong = estimate.value().is_some_and(|value| value != truth)
                    || estimate.least().is_some_and(|low| low > truth)
                    || estimate.most().is_some_and(|high| high < truth);
                assert!(!wrong, "{} without {lost:?}: {estimate:?}", log.name);
            }
        }
    }
}

#[test]
fn a_table_that_claims_billions_of_places_is_read_at_once() {
    let log = LOGS.iter().find(|log| log.name.contains("sd-card")).expect("a fixture");
    let mut observations = align_tables(&String::from_utf8_lossy(log.bytes), None);
    for run in &mut observations.runs {
        let Data::Align(align) = &mut run.data else { continue };
        for row in &mut align.rows {
            let AlignEvidence::Printed { pre, on, post, diff } = &mut row.evidence else { continue };
            for figure in [pre, on, post, diff].into_iter().flatten() {
                figure.places = Some(u32::MAX);
            }
        }
    }
    assert_eq!(estimate(&observations).allocation_unit.value(), MIB_4);
}

#[test]
fn inner_pages_show_where_a_table_has_two_levels() {
    let check = |name: &str, expect: Option<u64>| {
        let log = LOGS.iter().find(|log| log.name == name).expect("a fixture");
        let observations = align_tables(&String::from_utf8_lossy(log.bytes), log.capacity.map(Bytes));
        assert_eq!(estimate(&observations).page_inner.value(), expect.map(Bytes::kib), "{name}");
    };
    check("field/card-13.txt", Some(4));
    check("field/card-6-2.txt", Some(4));
    check("field/pqi-32gb.txt", Some(4));
    check("field/flashbench-readme.txt", Some(8));
    check("field/card-3-3.txt", None);
    check("field/card-5-2.txt", None);
}

#[test]
fn write_tables_are_not_taken_for_boundaries() {
    let bytes = include_bytes!("../../../../../fixtures/transcripts/emmc-write-align.txt");
    let observations = align_tables(&String::from_utf8_lossy(bytes), None);
    assert_eq!(observations.runs.len(), 9);
    let findings = estimate(&observations);
    for estimate in [&findings.allocation_unit, &findings.page, &findings.page_inner] {
        assert!(estimate.value().is_none() && estimate.least().is_none(), "{estimate:?}");
        assert!(estimate.evidence().contains("write-align"));
    }
}

#[test]
fn figures_of_the_evidence_are_those_of_the_table() {
    let log = LOGS.iter().find(|log| log.name.contains("sd-card")).expect("a fixture");
    let observations = align_tables(&String::from_utf8_lossy(log.bytes), None);
    let unit = estimate(&observations).allocation_unit;
    let evidence = unit.evidence();
    for figure in ["4 MiB", "125 µs at odd 2 MiB", "82.7 µs below"] {
        assert!(evidence.contains(figure), "{figure}: {evidence}");
    }
}

#[test]
fn no_reading_hangs_on_a_prior() {
    let sizes = [4, 12, 24].map(Bytes::mib);
    let units = sizes.into_iter().flat_map(|size| [Off::Unit(size, 2.0), Off::Unit(size, 0.5)]);
    let pages = [8, 16, 32].map(Bytes::kib);
    let pages = pages.into_iter().flat_map(|size| [Off::Page(size, 2.0), Off::Page(size, 0.5)]);
    let unseen = [2.0, 0.5].into_iter().flat_map(|factor| [Off::UnitUnseen(factor), Off::PageUnseen(factor)]);
    let priors: Vec<Off> = units.chain(pages).chain(unseen).collect();
    let (mut figures, mut kept) = (0, 0);
    for log in &LOGS {
        let observations = align_tables(&String::from_utf8_lossy(log.bytes), log.capacity.map(Bytes));
        let tables = read_tables(&observations);
        let found = |off: Off| {
            let found = estimate_with(&tables, false, &observations, off);
            [found.allocation_unit, found.page]
        };
        let expect = found(Off::None);
        for off in &priors {
            for (found, expect) in found(*off).iter().zip(&expect) {
                let Some(size) = expect.value().or(expect.least()).or(expect.most()) else {
                    assert_eq!(found.value(), None, "{} with {off:?}: {found:?}", log.name);
                    continue;
                };
                // Whether a step is a diluted one is all that may turn: then a bound takes the place of the figure.
                let holds = found
                    .value()
                    .is_none_or(|value| expect.value() == Some(value) || expect.value().is_none() && value >= size)
                    && found.least().is_none_or(|low| low <= size)
                    && found.most().is_none_or(|high| high >= size);
                assert!(holds, "{} with {off:?}: {found:?}, not {expect:?}", log.name);
                figures += 1;
                kept += usize::from((found.value(), found.least()) == (expect.value(), expect.least()));
            }
        }
    }
    assert!(kept * 100 >= figures * 97, "{kept} of {figures} figures kept");
}
