//! Every table of the published logs is found, with all of its rows, and nothing else is.

use flashscope_model::observation::{AlignEvidence, RateEvidence, Source};
use flashscope_model::{Data, Direction, Order};
use flashscope_transcript::{Parsed, parse};
use flashscope_units::{Bytes, Contrast};
use std::fmt::Write;
use std::path::{Path, PathBuf};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

fn read(name: &str) -> Parsed {
    parse(&std::fs::read_to_string(fixtures().join(name)).expect(name))
}

/// One line per run: `align×21`, `open-au 3 random×11`, `fat×13 of 8`.
fn census(parsed: &Parsed) -> Vec<String> {
    let order = |order: Order| if order == Order::Random { "random" } else { "linear" };
    let name = |run: &flashscope_model::Run| match &run.data {
        Data::Align(align) => {
            let block = align.block.map_or(String::new(), |block| format!(" {}", block.0));
            let write = if align.direction == Direction::Write { "write-" } else { "" };
            format!("{write}align{block}×{}", align.rows.len())
        }
        Data::OpenUnits(open) => {
            format!("open {} {}×{}", open.count.map_or(-1, i64::from), order(open.order), open.rows.len())
        }
        Data::Fat(fat) => format!("fat×{} of {}", fat.rows.len(), fat.rows[0].units.len()),
        Data::Interval(interval) => format!("interval×{}", interval.rows.len()),
        Data::Program(program) => format!("program×{} of {}", program.rows.len(), program.rows[0].columns.len()),
        other => other.name().to_string(),
    };
    parsed.observations.runs.iter().map(name).collect()
}

#[test]
fn sd_card() {
    let parsed = read("transcripts/sd-card-4mib.txt");
    let expect = [
        "align 1024×21",
        "align 1024×21",
        "align 2048×20",
        "align 4096×19",
        "align 8192×18",
        "align 16384×17",
        "align 32768×16",
        "open 1 linear×9",
        "open 2 linear×9",
        "open 8 linear×9",
        "open 9 linear×9",
        "open 1 random×9",
        "open 2 random×9",
        "open 8 random×9",
        "open 9 random×9",
        "fat×9 of 6",
        "interval×13",
        "program×13 of 8",
    ];
    assert_eq!(census(&parsed), expect);
    assert_eq!(parsed.notes, [""; 0]);
    assert!(parsed.observations.runs.iter().all(|run| run.complete));
    assert_eq!(parsed.capacity, None);
    assert_eq!(parsed.device.unwrap().path.as_deref(), Some("/dev/mmcblk0"));
}

#[test]
fn write_align() {
    let parsed = read("transcripts/emmc-write-align.txt");
    let expect = [
        "write-align 1024×13",
        "write-align 1024×13",
        "write-align 1024×13",
        "write-align 1024×13",
        "write-align 1024×6",
        "write-align 2048×5",
        "write-align 4096×4",
        "write-align 8192×3",
        "write-align 16384×9",
    ];
    assert_eq!(census(&parsed), expect);
    // Every difference was printed, if only with its power of ten cut off; none is lost here.
    for run in &parsed.observations.runs {
        let Data::Align(align) = &run.data else { panic!() };
        for row in &align.rows {
            let AlignEvidence::Printed { pre: Some(pre), on: Some(on), post: Some(post), diff: Some(diff) } =
                row.evidence
            else {
                panic!("{row:?}")
            };
            assert_eq!((pre.places, align.access), (Some(8), 2));
            let expected = on.value.0 - (pre.value.0 + post.value.0) / 2.0;
            let rounding = on.quantum.0 / 2.0 + (pre.quantum.0 + post.quantum.0) / 4.0 + diff.quantum.0;
            assert!((diff.value.0 - expected).abs() <= rounding * 1.001, "{row:?}");
        }
    }
    let Data::Align(last) = &parsed.observations.runs[8].data else { panic!() };
    let AlignEvidence::Printed { diff: Some(diff), .. } = last.rows[0].evidence else { panic!() };
    assert_eq!(diff.value, Contrast(-110_845_000.0));
}

/// What the headings of a field log and its lines promise, counted without the parser.
fn promised(text: &str) -> (Vec<String>, u64) {
    let mut tables: Vec<(String, usize)> = Vec::new();
    let mut size = 0u64;
    for line in text.lines() {
        if line.starts_with("=======") {
            tables.push((line.trim_matches(['=', ' ']).to_owned(), 0));
        } else if line.starts_with("align") || line.contains("iB ") {
            if let Some(table) = tables.last_mut() {
                table.1 += 1;
            }
        } else if let Some((_, bytes)) = line.split_once(", ").filter(|_| line.contains("/dev/")) {
            size = bytes.split(' ').next().unwrap().parse().unwrap();
        }
    }
    let names = tables.into_iter().filter(|(_, rows)| *rows > 0).map(|(heading, rows)| {
        let mut name = String::new();
        let _ = match heading.split_once(',') {
            Some((count, order)) => {
                let (count, order) = (&count[3..], order.split_whitespace().next().unwrap());
                write!(name, "open {count} {order}×{rows}")
            }
            None if heading.starts_with("Align") => write!(name, "align×{rows}"),
            None => write!(name, "fat×{rows} of 8"),
        };
        name
    });
    (names.collect(), size)
}

#[test]
fn field_logs_with_headings() {
    let mut runs = 0;
    for entry in std::fs::read_dir(fixtures().join("field")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if !name.starts_with("card-") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let parsed = parse(&text);
        let (tables, size) = promised(&text);
        assert_eq!(census(&parsed), tables, "{name}");
        assert_eq!(parsed.capacity, (size > 0).then_some(Bytes(size)), "{name}");
        assert_eq!(parsed.notes, [""; 0], "{name}");
        let device = parsed.device.expect("registers are in the first line");
        assert!(device.name.is_some() && device.cid.is_some() && device.csd.is_some() && device.manfid.is_some());
        assert!(device.path.is_some_and(|path| path.starts_with("/dev/")), "{name}");
        for run in &parsed.observations.runs {
            let Source::Log { first_line, last_line } = run.source else { panic!() };
            let rows = match &run.data {
                Data::Align(align) => align.rows.len(),
                Data::OpenUnits(open) => open.rows.len(),
                Data::Fat(fat) => fat.rows.len(),
                _ => panic!("{name}"),
            };
            assert_eq!((last_line - first_line) as usize + 1, rows, "{name}");
        }
        runs += parsed.observations.runs.len();
    }
    assert_eq!(runs, 287);
}

#[test]
fn readme() {
    let parsed = read("field/flashbench-readme.txt");
    assert_eq!(census(&parsed), ["align 1024×17", "open 2 linear×5", "open 3 linear×5"]);
    let Data::OpenUnits(open) = &parsed.observations.runs[1].data else { panic!() };
    assert_eq!(open.unit, Some(Bytes::mib(4)));
    let RateEvidence::Printed(rate) = &open.rows[4].rate else { panic!() };
    assert_eq!((open.rows[4].block, rate.value.0), (Bytes::kib(256), 6.27e6));
    assert_eq!(parsed.notes, [""; 0]);
}

#[test]
fn logs_without_a_block_size_or_an_end() {
    let parsed = read("field/pqi-32gb.txt");
    assert_eq!(census(&parsed), ["align×23"]);
    let parsed = read("field/usb-reader-2mib.txt");
    assert_eq!(census(&parsed), ["align 1024×17"]);
    let run = &parsed.observations.runs[0];
    assert!(!run.complete);
    let Data::Align(align) = &run.data else { panic!() };
    let AlignEvidence::Printed { pre: Some(pre), diff: None, .. } = align.rows[16].evidence else { panic!() };
    assert_eq!((pre.value, pre.quantum, pre.places, pre.tries), (Contrast(286e3), Contrast(1e3), Some(7), Some(10)));
}
