//! Nothing makes the reader panic or invent, and what is written is read again.

use flashscope_model::observation::{
    AlignData, AlignEvidence, AlignRow, FatData, FatRow, IntervalData, IntervalEvidence, IntervalRow, ProgramData,
    ProgramRow, RateEvidence, ScatterData, ScatterPlace, Straddle,
};
use flashscope_model::{Data, Direction};
use flashscope_transcript::{parse, parse_bytes, write};
use flashscope_units::{Bytes, Nanos};
use proptest::prelude::*;
use std::sync::LazyLock;

static LOGS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    [
        "transcripts/sd-card-4mib.txt",
        "transcripts/emmc-write-align.txt",
        "field/card-8.txt",
        "field/flashbench-readme.txt",
    ]
    .map(|name| std::fs::read(fixtures.join(name)).expect(name))
    .to_vec()
});

/// Words that the reader looks for, and what is hard about them.
fn fragment() -> impl Strategy<Value = String> {
    let words = [
        "align",
        "write align",
        "pre",
        "on",
        "post",
        "diff",
        "4194304",
        "694us",
        "-110845",
        "1e+03µ",
        "1e+99999999us",
        "4MiB",
        "10.1M/s",
        "1.736G/",
        "flashbench",
        "-a",
        "-O",
        "--open-au-nr=3",
        "$((",
        "1 << 99",
        "))",
        "bytes",
        "512 bytes: min",
        "bytes 512, time 9 overhead 1",
        "AU=3",
        "====",
        "random",
        "\\\n",
        "\n",
        "\t",
        "\r",
        "\u{1b}[",
        "\u{1b}",
        "&#x",
        ";",
        "<br>",
        "^C",
        "\u{8}",
        "Disk /dev/sdb:",
        "7742 MB, 7742685184 bytes",
        "[",
        "]",
        "for n in {1..4096}; do",
        "$n",
        "99999999999999999999",
        "0.015625\t0.039529",
        "/dev/mmcblk0",
        "--getsize64",
        "#",
        "µ",
        "9999999999999999GiB",
        "-",
        ",",
        ":",
        "|",
        "µs",
        "s",
    ];
    prop_oneof![8 => proptest::sample::select(words.to_vec()).prop_map(str::to_owned), 1 => ".{0,12}"]
}

fn times(count: usize) -> impl Strategy<Value = Vec<Nanos>> {
    // From a tenth of a millisecond to minutes, evenly over the decades.
    proptest::collection::vec((5.0..11.0f64).prop_map(|decade| Nanos(10f64.powf(decade) as u64)), count)
}

fn near(count: usize) -> impl Strategy<Value = Vec<Nanos>> {
    (2.0..10.0f64, proptest::collection::vec(0.5..2.0f64, count)).prop_map(|(decade, factors)| {
        factors.iter().map(|factor| Nanos((10f64.powf(decade) * factor) as u64)).collect()
    })
}

fn straddles() -> impl Strategy<Value = Vec<Straddle>> {
    near(7 * 3 * 2).prop_map(|times| {
        let place = |(nth, t): (usize, &[Nanos])| Straddle {
            at: Bytes::mib(nth as u64),
            pre: t[..2].to_vec(),
            on: t[2..4].to_vec(),
            post: t[4..].to_vec(),
        };
        times.chunks(6).enumerate().map(place).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn bytes_do_not_panic(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        parse_bytes(&bytes);
    }

    #[test]
    fn fragments_do_not_panic(words in proptest::collection::vec((fragment(), 0..3usize), 0..60)) {
        let text: String = words.iter().map(|(word, spaces)| word.clone() + &" ".repeat(*spaces)).collect();
        let parsed = parse(&text);
        for run in &parsed.observations.runs {
            write(&run.data);
        }
    }

    /// A log with bytes changed, lost and added still parses, and finds no more rows than there are lines.
    #[test]
    fn mutated_logs_do_not_panic(log in 0..4usize, edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3u8), 0..40)) {
        let mut bytes = LOGS[log].clone();
        let whole = parse_bytes(&bytes).observations.runs.len();
        for (at, byte, kind) in edits {
            let at = at.index(bytes.len());
            match kind {
                0 => bytes[at] = byte,
                1 => drop(bytes.remove(at)),
                _ => bytes.insert(at, byte),
            }
        }
        // An edit may split a table or join two, and no more.
        let runs = parse_bytes(&bytes).observations.runs.len();
        prop_assert!(runs <= whole + 80, "{runs} runs from {whole}");
    }

    #[test]
    fn logs_cut_anywhere_do_not_panic(log in 0..4usize, start in any::<prop::sample::Index>(), end in any::<prop::sample::Index>()) {
        let bytes = &LOGS[log];
        let (start, end) = (start.index(bytes.len()), end.index(bytes.len()));
        parse_bytes(&bytes[start.min(end)..start.max(end)]);
    }

    #[test]
    fn align_is_read_as_written(rows in proptest::collection::vec(straddles(), 1..12), writes in any::<bool>()) {
        let direction = if writes { Direction::Write } else { Direction::Read };
        let mean = |places: &[Straddle], role: fn(&Straddle) -> &Vec<Nanos>| {
            places.iter().map(|place| role(place).iter().min().unwrap().as_f64()).sum::<f64>() / places.len() as f64
        };
        let expect: Vec<[f64; 3]> = rows
            .iter()
            .map(|places| [mean(places, |p| &p.pre), mean(places, |p| &p.on), mean(places, |p| &p.post)])
            .collect();
        let rows = rows.into_iter().enumerate();
        let rows = rows.map(|(nth, places)| AlignRow { align: Bytes::mib(1 << 12) / (1 << nth), evidence: AlignEvidence::Places(places) });
        let data = AlignData { direction, block: None, access: 1, rows: rows.collect() };
        let text = write(&Data::Align(data.clone())).unwrap();
        let parsed = parse(&text);
        let Data::Align(read) = &parsed.observations.runs[0].data else { panic!() };
        prop_assert_eq!((parsed.observations.runs.len(), read.direction, read.rows.len()), (1, direction, expect.len()));
        for ((row, expect), original) in read.rows.iter().zip(&expect).zip(&data.rows) {
            prop_assert_eq!(row.align, original.align);
            let AlignEvidence::Printed { pre: Some(pre), on: Some(on), post: Some(post), diff } = &row.evidence else { panic!() };
            for (got, expect) in [pre, on, post].into_iter().zip(expect) {
                // Half a quantum is lost to rounding, and the fraction of a nanosecond is dropped.
                prop_assert!((got.value.0 - expect).abs() <= got.quantum.0 * 0.5001 + 1.0, "{got:?} for {expect}\n{text}");
            }
            let expect = expect[1] - (expect[0] + expect[2]) / 2.0;
            match diff {
                Some(diff) => prop_assert!((diff.value.0 - expect).abs() <= diff.quantum.0 + 2.0, "{diff:?} for {expect}\n{text}"),
                // Cut off, and near enough to nothing that pre, on and post cannot tell its size.
                None => prop_assert!(expect < -1e5, "{expect}\n{text}"),
            }
        }
    }

    #[test]
    fn rates_are_read_as_written(cells in proptest::collection::vec(times(12), 2..9), program in any::<bool>()) {
        let blocks = (0..cells.len()).map(|nth| Bytes::mib(2) / (1 << nth));
        let evidence = |times: &[Nanos]| times.chunks(2).map(|unit| RateEvidence::Times(unit.to_vec())).collect::<Vec<_>>();
        let expect: Vec<Vec<f64>> = cells.iter().zip(blocks.clone()).map(|(times, block)| {
            times.chunks(2).map(|unit| 2.0 * block.as_f64() * 1e9 / (unit[0] + unit[1]).as_f64()).collect()
        }).collect();
        let data = if program {
            Data::Program(ProgramData { offset: None, region: None, rows: cells.iter().zip(blocks).map(|(times, block)| ProgramRow { block, columns: evidence(times) }).collect() })
        } else {
            Data::Fat(FatData { order: None, unit: None, offset: None, rows: cells.iter().zip(blocks).map(|(times, block)| FatRow { block, units: evidence(times) }).collect() })
        };
        let text = write(&data).unwrap();
        let option = if program { "-p" } else { "-f" };
        let parsed = parse(&format!("$ flashbench {option} /dev/x\n{text}"));
        let rows: Vec<&Vec<RateEvidence>> = match &parsed.observations.runs[0].data {
            Data::Program(program) => program.rows.iter().map(|row| &row.columns).collect(),
            Data::Fat(fat) => fat.rows.iter().map(|row| &row.units).collect(),
            _ => panic!(),
        };
        prop_assert_eq!(rows.len(), expect.len());
        for (got, expect) in rows.iter().flat_map(|row| row.iter()).zip(expect.iter().flatten()) {
            let RateEvidence::Printed(got) = got else { panic!() };
            prop_assert!((got.value.0 - expect).abs() <= got.quantum.0 * 0.5001 + 1.0, "{got:?} for {expect}\n{text}");
        }
    }

    #[test]
    fn interval_and_scatter_are_read_as_written(cells in proptest::collection::vec(near(8), 1..14)) {
        prop_assume!(cells.iter().flatten().all(|time| time.0 > 0));
        let rows = cells.iter().enumerate().map(|(nth, times)| IntervalRow { size: Bytes(512 << nth), evidence: IntervalEvidence::Times(times.clone()) });
        let text = write(&Data::Interval(IntervalData { rows: rows.collect() })).unwrap();
        let parsed = parse(&text);
        prop_assert_eq!(parsed.observations.runs.len(), 1);
        let Data::Interval(read) = &parsed.observations.runs[0].data else { panic!() };
        for (row, times) in read.rows.iter().zip(&cells) {
            let IntervalEvidence::Printed { min: Some(min), avg: Some(avg), max: Some(max) } = &row.evidence else { panic!("{text}") };
            let mean = times.iter().map(|time| time.as_f64()).sum::<f64>() / 8.0;
            let (least, most) = (times.iter().min().unwrap().as_f64(), times.iter().max().unwrap().as_f64());
            for (got, expect) in [(min, least), (avg, mean), (max, most)] {
                prop_assert!((got.value.0 - expect).abs() <= got.quantum.0 * 0.5001 + 1.0, "{got:?} for {expect}\n{text}");
            }
        }
        let places = cells.iter().flatten().enumerate().map(|(nth, time)| ScatterPlace { at: Bytes(nth as u64 * 16384), times: vec![*time] });
        let scatter = Data::Scatter(ScatterData { length: None, places: places.collect() });
        let parsed = parse(&format!("$ flashbench -s -o /dev/stdout /dev/x\n{}", write(&scatter).unwrap()));
        let Data::Scatter(read) = &parsed.observations.runs[0].data else { panic!() };
        let Data::Scatter(scatter) = &scatter else { panic!() };
        prop_assert_eq!(&read.places, &scatter.places);
    }
}

/// Long texts that would take for ever, or all memory, if anything were quadratic or kept.
#[test]
fn hostile_texts_end() {
    let row = "align 4194304\tpre 694us\ton 937us\tpost 689us\tdiff 246us\n";
    for text in [
        "\0".repeat(4 << 20),
        "align ".repeat(1 << 18),
        "4MiB 10M/s ".repeat(1 << 17),
        "\u{1b}[".repeat(1 << 20),
        "flashbench -a \\\n".repeat(1 << 16),
        "&".repeat(1 << 20),
        "<".repeat(1 << 20),
        "(".repeat(1 << 20),
        "\n".repeat(4 << 20),
        "====\n".repeat(1 << 19),
        row.repeat(100_000),
        row.replace('\n', " ").repeat(10_000),
        "align 4194304 pre\n".repeat(1 << 16),
        "align 4194304 pre 1us\non\n".repeat(1 << 16),
        "Disk /dev/sdb: 7948 MB, 7948206080 bytes\n".repeat(1 << 16),
        "flashbench -a /dev/a\n".repeat(1 << 15),
    ] {
        let parsed = parse(&text);
        assert!(parsed.notes.len() < 500 && parsed.observations.runs.len() <= 1 << 18);
    }
}

#[test]
fn rows_are_limited() {
    let rows = (0..300_000).map(|n| format!("{}.000000\t{}.000000\n", n, 1 + n % 7));
    let parsed = parse(&format!("# flashbench -s /dev/x\n{}", rows.collect::<String>()));
    let Data::Scatter(scatter) = &parsed.observations.runs[0].data else { panic!("{parsed:?}") };
    assert_eq!(scatter.places.len(), 1 << 18);
    assert!(parsed.notes.iter().any(|note| note.contains("the rest is left out")), "{:?}", parsed.notes);
}
