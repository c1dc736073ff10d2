//! iozone's output, laid out as the real one lays it out: beside what iozone 3.489 printed.

use flashscope_iozone::{options, plan, regions};
use flashscope_model::bench::{CacheVerdict, Evidence};
use flashscope_model::envelope::{Envelope, Kind, Tool};
use flashscope_model::iozone::{Child, Figure, IozoneRecord, Pass, Throughput, Unit};
use flashscope_model::run::PathTaken;
use flashscope_report::iozone::{csv, page, sheets, text};
use flashscope_units::{Bytes, Nanos};

fn fixture(name: &str) -> String {
    std::fs::read_to_string(format!("{}/../../fixtures/iozone/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// A record of what this command line asks for: memory up to 16 MiB, and a device behind it.
fn record(line: &str) -> IozoneRecord {
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    let asked = options::parse(&words).unwrap();
    let plan = plan::plan(&asked).unwrap();
    let evidence = |file: Bytes| {
        let verdict = if file > Bytes::mib(16) { CacheVerdict::Device } else { CacheVerdict::Cache };
        Evidence { verdict, device_share: None, why: "as it was made up".to_owned(), counters: vec![] }
    };
    let pass = |figure: Figure, (file, record): (Bytes, Bytes)| {
        let rate = if file > Bytes::mib(16) { 1e8 } else { 4e9 };
        let elapsed = Nanos((file.as_f64() / rate * 1e9) as u64);
        let records = file / record;
        Pass {
            figure,
            file,
            record,
            records,
            moved: file,
            elapsed,
            mismatched: 0,
            failure: None,
            evidence: evidence(file),
        }
    };
    let with_workers = !plan.workers.is_empty();
    let matrix = plan.cells.iter().flat_map(|cell| plan.figures.iter().map(|figure| pass(*figure, *cell)));
    let passes: Vec<Pass> = if with_workers { vec![] } else { matrix.collect() };
    let run = |workers: u32, (file, record): (Bytes, Bytes), figure: Figure| {
        let one = pass(figure, (file, record));
        let child = Child { records: one.records, moved: file, elapsed: one.elapsed, mismatched: 0, failure: None };
        let children = vec![child; workers as usize];
        Throughput { figure, file, record, children, elapsed: one.elapsed, evidence: one.evidence }
    };
    let throughput = plan.workers.iter().flat_map(|workers| {
        let run = &run;
        let figures = &plan.figures;
        plan.cells.iter().flat_map(move |cell| figures.iter().map(move |figure| run(*workers, *cell, *figure)))
    });
    IozoneRecord {
        envelope: Envelope {
            path: Some(PathTaken {
                engine: "read/write".to_owned(),
                flags: vec![],
                queue_depth: 1,
                fallbacks: vec![],
                in_use: vec![],
            }),
            ..Envelope::new(Kind::Iozone, Tool::default(), format!("iozone {line}"), "iozone.tmp")
        },
        unit: Unit::KbPerSecond,
        seed: 1,
        figures: plan.figures.clone(),
        records: plan.columns.clone(),
        regions: regions::regions(&plan.figures, &passes),
        throughput: throughput.collect(),
        passes,
    }
}

/// Numbers outside quotes that are not 0 become N: the form of a report without its speeds.
fn form(text: &str) -> Vec<String> {
    let word = |word: &str| match word.parse::<f64>() {
        Ok(value) if value != 0.0 => "N".to_owned(),
        _ => word.to_owned(),
    };
    text.lines().map(|line| line.split(' ').map(word).collect::<Vec<_>>().join(" ").trim_end().to_owned()).collect()
}

fn from<'a>(text: &'a str, word: &str) -> &'a str {
    &text[text.find(word).unwrap_or_else(|| panic!("no '{word}' in {text}"))..]
}

#[test]
fn the_report_has_the_form_of_iozones() {
    let real = fixture("report.txt");
    let ours = text(&record("-a -n 8m -g 32m -i 0 -i 2 -i 3 -R"), true, false);
    let report = |text: &str| form(from(text, "Excel output is below"));
    assert_eq!(report(&ours), report(&real));
    assert!(report(&real).iter().any(|line| line.starts_with("\"32768\"   0  0  0  0  N")));
}

#[test]
fn the_table_has_the_columns_and_rows_of_iozones() {
    let table = |text: &str| -> Vec<Vec<String>> {
        let rows = text.lines().map(|line| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        rows.filter(|row| row.first().is_some_and(|word| word == "kB" || word.parse::<u64>().is_ok())).collect()
    };
    let (real, ours) =
        (table(&fixture("report.txt")), table(&text(&record("-a -n 8m -g 32m -i 0 -i 2 -i 3"), false, false)));
    assert_eq!(ours.len(), real.len());
    assert_eq!(ours[0][..real[0].len()], real[0][..]);
    for (ours, real) in ours.iter().zip(&real).skip(1) {
        // Whose speed it is follows as one word more.
        assert_eq!((ours.len(), &ours[..2]), (real.len() + 1, &real[..2]));
    }
}

#[test]
fn several_workers_are_told_as_iozone_tells_them() {
    let real = fixture("throughput.txt").replace("processes\n\tEach", "threads\n\tEach").replace("process", "thread");
    let ours = text(&record("-t 2 -s 4m -r 64 -i 0 -i 1 -R -C"), true, true).replace("process", "thread");
    let squeezed = |text: &str| -> Vec<String> {
        let number = |word: &str| if word.parse::<f64>().is_ok() { "N".to_owned() } else { word.to_owned() };
        let lines = from(text, "Throughput test")
            .lines()
            .filter(|line| !line.contains("Whose speed") && !line.trim().is_empty());
        lines.map(|line| line.split_whitespace().map(number).collect::<Vec<_>>().join(" ")).collect()
    };
    assert_eq!(squeezed(&ours), squeezed(&real));
}

#[test]
fn the_cliff_is_marked_everywhere() {
    let record = record("-a -n 1m -i 0 -i 1");
    let text = text(&record, false, false);
    assert!(text.contains("---- write: memory ends here ----"), "{text}");
    assert!(text.contains("memory up to 16 MiB, the device from 32 MiB"), "{text}");
    let page = page(&record);
    for wanted in ["class=\"edge\"", "heat-9", "of-memory", "of-device", "<polygon", "memory up to 16 MiB"] {
        assert!(page.contains(wanted), "{wanted}");
    }
    for foreign in ["http:", "https:", "src=", "url("] {
        assert!(!page.contains(foreign), "nothing is loaded: {foreign}");
    }
    assert_eq!(page.matches("<script>").count(), 1, "the script that turns surfaces");
    assert!(page.contains("script-src 'sha256-"));
}

#[test]
fn sheets_and_lines_hold_every_pass() {
    let record = record("-a -n 8m -g 32m -i 0 -i 2 -i 3");
    let names: Vec<String> = sheets(&record).into_iter().map(|sheet| sheet.name).collect();
    assert_eq!(names, ["write", "re-write", "random read", "random write", "backward read", "all passes"]);
    let first = &sheets(&record)[0];
    assert_eq!((first.rows.len(), first.headings.len()), (3, 15));
    assert!(flashscope_report::xlsx::workbook(&sheets(&record)).unwrap().starts_with(b"PK"));
    let tests: Vec<_> = sheets(&record).into_iter().filter(|sheet| sheet.name != "all passes").collect();
    assert!(tests.iter().all(|sheet| sheet.lines.as_ref().is_some_and(|lines| lines.curves.len() == 13)));
    assert!(tests.windows(2).all(|pair| pair[0].heat == pair[1].heat && pair[0].heat.is_some()), "one scale for all");
    assert_eq!(csv(&record).lines().count(), 1 + record.passes.len());
}
