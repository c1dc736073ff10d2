//! The written layout against the original's, and reading against writing.

use flashscope_model::observation::{
    AlignData, AlignEvidence, AlignRow, FatData, FatRow, IntervalData, IntervalEvidence, IntervalRow, OpenUnitsData,
    OpenUnitsRow, RateEvidence, ScatterData, ScatterPlace, Straddle,
};
use flashscope_model::{Data, Direction, Order};
use flashscope_transcript::{parse, write};
use flashscope_units::{Bytes, Nanos};
use std::path::{Path, PathBuf};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

fn data(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)).expect(name)
}

/// One access of a trace.
#[derive(Clone, Copy)]
struct Access {
    offset: u64,
    length: u64,
    time: Nanos,
}

fn trace(name: &str) -> Vec<Access> {
    let number = |text: &str| text.parse::<u64>().expect(text);
    data(&format!("{name}.trace"))
        .lines()
        .map(|line| match line.split(' ').collect::<Vec<_>>()[..] {
            [_, offset, length, time] => {
                Access { offset: number(offset), length: number(length), time: Nanos(number(time)) }
            }
            _ => panic!("{line}"),
        })
        .collect()
}

/// Consecutive accesses of one length, each with that length.
fn by_length(accesses: &[Access]) -> Vec<(Bytes, Vec<Access>)> {
    accesses.chunk_by(|a, b| a.length == b.length).map(|run| (Bytes(run[0].length), run.to_vec())).collect()
}

fn times(accesses: &[Access]) -> Vec<Nanos> {
    accesses.iter().map(|access| access.time).collect()
}

/// Samples of `-a`: per alignment, `tries` rounds of seven `pre`, seven `on`, seven `post`.
fn align(name: &str, tries: usize) -> Data {
    let accesses = trace(name);
    let largest = Bytes::gib(2);
    let rows = accesses.chunks(21 * tries).enumerate().map(|(nth, accesses)| {
        let role =
            |place: usize, role: usize| (0..tries).map(|round| accesses[round * 21 + role * 7 + place].time).collect();
        let places = (0..7).map(|place| Straddle {
            at: Bytes(accesses[14 + place].offset),
            pre: role(place, 0),
            on: role(place, 1),
            post: role(place, 2),
        });
        AlignRow { align: largest / (1 << nth), evidence: AlignEvidence::Places(places.collect()) }
    });
    Data::Align(AlignData { direction: Direction::Read, block: None, access: 1, rows: rows.collect() })
}

fn open_au(name: &str) -> Data {
    let rows = by_length(&trace(name)).into_iter();
    let rows = rows.map(|(block, accesses)| OpenUnitsRow { block, rate: RateEvidence::Times(times(&accesses)) });
    Data::OpenUnits(OpenUnitsData {
        order: Order::InOrder,
        count: None,
        unit: None,
        units: vec![],
        rows: rows.collect(),
    })
}

fn fat(name: &str, units: usize) -> Data {
    let rows = by_length(&trace(name)).into_iter().map(|(block, accesses)| FatRow {
        block,
        units: accesses.chunks(accesses.len() / units).map(|unit| RateEvidence::Times(times(unit))).collect(),
    });
    Data::Fat(FatData { order: None, unit: None, offset: None, rows: rows.collect() })
}

fn interval(name: &str) -> Data {
    let rows = by_length(&trace(name)).into_iter();
    let rows = rows.map(|(size, accesses)| IntervalRow { size, evidence: IntervalEvidence::Times(times(&accesses)) });
    Data::Interval(IntervalData { rows: rows.collect() })
}

fn scatter(name: &str) -> Data {
    let mut places: Vec<ScatterPlace> = Vec::new();
    for access in trace(name) {
        let at = Bytes(access.offset);
        match places.iter_mut().find(|place| place.at == at) {
            Some(place) => place.times.push(access.time),
            None => places.push(ScatterPlace { at, times: vec![access.time] }),
        }
    }
    places.sort_by_key(|place| place.at);
    Data::Scatter(ScatterData { length: None, places })
}

/// From the same times the original and this crate print the same bytes.
#[test]
fn prints_what_the_original_prints() {
    let check = |name: &str, data_of: Data| {
        assert_eq!(write(&data_of).expect(name), data(&format!("{name}.txt")), "{name}");
    };
    check("align", align("align", 3));
    check("align-slow", align("align-slow", 1));
    check("align-slower", align("align-slower", 1));
    check("open-au", open_au("open-au"));
    check("open-au-slow", open_au("open-au-slow"));
    check("open-au-fast", open_au("open-au-fast"));
    check("fat", fat("fat", 4));
    check("interval", interval("interval"));
    check("scatter", scatter("scatter"));
}

/// One space between words, `µs` for `us`: published logs lost their tabs and padding.
fn plain(line: &str) -> String {
    let micro = |word: &str| {
        let (word, colon) = word.strip_suffix(':').map_or((word, ""), |word| (word, ":"));
        match word.strip_suffix("us").filter(|rest| rest.parse::<f64>().is_ok()) {
            Some(number) => format!("{number}µs{colon}"),
            None => format!("{word}{colon}"),
        }
    };
    // 999.5 µs and 1 ms are the same number once they are read.
    line.split_whitespace().map(micro).collect::<Vec<_>>().join(" ").replace("1e+03µ", "1ms")
}

fn is_row(line: &str) -> bool {
    let block = |word: &str| word.ends_with('B') && word.starts_with(|c: char| c.is_ascii_digit());
    ["align ", "write align ", "bytes "].iter().any(|start| line.starts_with(start))
        || line.contains(" bytes: min")
        || line.contains("access time")
        || (line.contains("/s") && line.split_whitespace().next().is_some_and(block))
}

/// `bytes N, time T overhead O`: what it is off the line is computed here, and may differ in its last digits.
fn same_row(one: &str, other: &str) -> bool {
    let overhead = |line: &str| {
        let (head, overhead) = line.rsplit_once(" overhead ")?;
        let time: f64 = head.rsplit(' ').next()?.parse().ok()?;
        Some((head.to_owned(), time, overhead.parse::<f64>().ok()?))
    };
    match (overhead(one), overhead(other)) {
        (Some((head, time, one)), Some((other_head, _, other))) => {
            head == other_head && (one - other).abs() <= 1.0 + time * 1e-7 + one.abs() * 1e-5
        }
        _ => one == other,
    }
}

/// What is read from a published log and written again is the log, digit for digit.
#[test]
fn published_logs_come_back() {
    let mut rows = 0;
    for folder in ["transcripts", "field"] {
        for entry in std::fs::read_dir(fixtures().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "txt") {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            // The last row of one log is cut off, and cannot be printed.
            let whole = |line: &&str| is_row(line) && !line.ends_with("\tdi");
            let expect: Vec<String> = text.lines().filter(whole).map(plain).collect();
            let runs = parse(&text).observations.runs;
            let written: String = runs.iter().filter_map(|run| write(&run.data)).collect();
            let written: Vec<String> = written.lines().map(plain).collect();
            for (got, expect) in written.iter().zip(&expect) {
                assert!(same_row(got, expect), "{}: {got} for {expect}", path.display());
            }
            assert_eq!(written.len(), expect.len(), "{}", path.display());
            rows += expect.len();
        }
    }
    assert_eq!(rows, 4_134);
}
