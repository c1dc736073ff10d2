//! The forms of a report, from records made by hand.

use crate::fixture;
use flashscope_model::{Data, Finding, RunRecord};
use flashscope_report::{Style, csv, markdown, probe_table, terminal};

const PLAIN: Style = Style { colour: false, width: 110, verbose: true };

fn all() -> [RunRecord; 3] {
    [fixture::simulated_card(), fixture::lost_device(), fixture::pasted_log()]
}

fn line_with<'a>(text: &'a str, start: &str) -> &'a str {
    text.lines()
        .find(|line| line.trim_start().starts_with(start))
        .unwrap_or_else(|| panic!("no line '{start}':\n{text}"))
}

#[test]
fn the_terminal_shows_figure_confidence_and_evidence() {
    let text = terminal(&fixture::simulated_card(), PLAIN);
    let sections: Vec<&str> = text.lines().filter(|line| !line.starts_with(' ')).collect();
    assert_eq!(sections[0], "SD card SD08G (simulated), 7.40 GiB, partly blank");
    assert_eq!(sections[1], "virtual time, queue depth 1");
    assert_eq!(sections[2], "claims: class 10, AU 4 MiB");
    assert_eq!(sections[3], "Geometry");
    assert!(sections[4].starts_with("Performance  (direct"));
    assert_eq!(sections[5..7], ["What to do with it", "Notes"]);
    assert_eq!(sections[7], "Cost: 610 MiB written (8.0 % of capacity; 1304 unit erases), 412 MiB read, 96.2 s");
    assert_eq!(
        line_with(&text, "open units, sequential"),
        "  open units, sequential                8   99.1 %   8 → 9 units: 14.7 → 0.34 MB/s at 128 KiB"
    );
    assert!(line_with(&text, "fast area").contains("4–8 MiB (AU 1)   99.9 %   1.9× its neighbours"));
    let random = text.lines().find(|line| line.contains("random write") && line.contains("16 KiB"));
    assert!(random.expect("a row").contains("75.3 KB/s"));
    assert!(line_with(&text, "ext4").ends_with("mkfs.ext4 -b 4096 -E stride=4,stripe-width=1024"));
    assert!(text.contains("because page 16 KiB, allocation unit 4 MiB"));
}

#[test]
fn bounds_unknowns_and_alternatives_are_said() {
    let text = terminal(&fixture::lost_device(), PLAIN);
    assert!(line_with(&text, "open units, sequential").contains("at least 7   93.0 %"));
    assert_eq!(
        line_with(&text, "open units, random"),
        "  open units, random     cannot tell: the run ended before units were written at random"
    );
    assert!(text.contains("cut short: the device was lost: no answer for 30 s after a read at 512 MiB"));
    assert!(text.contains("warning: not as asked for: io_uring is not allowed here: pread/pwrite instead"));
    assert!(text.contains("warning: read while in use: mounted read-only at /media/card"));
    assert!(text.contains("warning: 1 requests failed, the first at 512 MiB: input/output error"));
    assert!(text.contains("pread/pwrite, O_DIRECT O_SYNC, queue depth 1, kernel 6.12.9 aarch64, governor performance"));
    let unwrapped = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(unwrapped.contains("about 160 unit erases, assuming one erase per unit's worth of writes"));

    let text = terminal(&fixture::pasted_log(), PLAIN);
    assert!(text.contains("or 8 MiB (24.0 %), 12 MiB (11.0 %)"), "{text}");
    assert!(line_with(&text, "inner page").contains("at most 2 KiB"));
    assert!(text.ends_with("Cost: nothing: no device was touched\n"));
}

#[test]
fn lines_keep_to_the_width_and_colour_changes_no_letter() {
    for run in all() {
        for width in [60, 72, 80, 100, 140] {
            let text = terminal(&run, Style { colour: false, width, verbose: true });
            // The caption of the performance table may be longer, and a command is not broken; all else wraps.
            let long = |line: &&str| {
                line.chars().count() > width && line.starts_with(' ') && (width >= 80 || !line.contains(" mkfs."))
            };
            assert_eq!(text.lines().find(long), None, "at {width}");
            let coloured = terminal(&run, Style { colour: true, width, verbose: true });
            assert!(coloured.contains("\x1b["));
            assert_eq!(without_escapes(&coloured), text);
        }
    }
}

#[test]
fn every_experiment_has_a_table() {
    for run in fixture::simulated_card().observations.runs.iter().chain(&fixture::pasted_log().observations.runs) {
        let text = probe_table(run, PLAIN);
        assert!(text.starts_with(run.data.name().word()), "{text}");
        assert!(text.lines().count() >= 3, "{text}");
        assert!(text.lines().skip(1).all(|line| line.chars().count() <= PLAIN.width), "{text}");
        assert!(!text.contains("NaN") && !text.contains("inf "), "{text}");
    }
}

#[test]
fn tables_show_the_published_figures_and_what_is_missing() {
    let log = fixture::pasted_log();
    let text = probe_table(&log.observations.runs[0], PLAIN);
    assert_eq!(line_with(&text, "4 MiB").split_whitespace().collect::<String>(), "4MiB694µs937µs689µs246µs");
    assert!(line_with(&text, "4 KiB").ends_with("−2.93 µs"));
    let interval = probe_table(&log.observations.runs[1], PLAIN);
    assert!(line_with(&interval, "512 B").contains('–'), "the maximum is missing: {interval}");

    let lost = fixture::lost_device();
    let text = probe_table(&lost.observations.runs[2], PLAIN);
    assert!(text.contains("cut short: not all of it was measured"));
    assert!(text.contains("failed: 8 KiB at 512 MiB: input/output error"));
}

#[test]
fn an_empty_run_is_said_to_be_empty() {
    let mut run = fixture::simulated_card().observations.runs.remove(0);
    if let Data::Floor(floor) = &mut run.data {
        floor.times.clear();
    }
    assert_eq!(probe_table(&run, PLAIN), "floor  nothing was measured\n");
}

#[test]
fn long_tables_are_cut_and_say_so() {
    let card = fixture::simulated_card();
    let scatter = card.observations.runs.iter().find(|run| matches!(run.data, Data::Scatter(_))).unwrap();
    assert!(probe_table(scatter, PLAIN).contains("… 824 more rows; the record holds them all"));
}

#[test]
fn markdown_has_the_same_figures_and_escapes() {
    let mut run = fixture::simulated_card();
    run.findings.notes[0].text = "a | b <script> *x*\n# y".into();
    let text = markdown(&run);
    assert!(text.starts_with("# SD card SD08G (simulated), 7.40 GiB, partly blank\n\n- **claims**: "));
    assert!(text.contains("| allocation unit | 4 MiB | 99.9 % | straddling costs 249 µs"));
    assert!(text.contains("`mkfs.ext4 -b 4096 -E stride=4,stripe-width=1024`"));
    assert!(text.contains(r"a \| b &lt;script&gt; \*x\* \# y"), "{text}");
    for table in text.split("\n\n").filter(|block| block.starts_with('|')) {
        let columns = |line: &str| line.replace(r"\|", "").matches('|').count();
        let head = columns(table.lines().next().unwrap());
        assert!(table.lines().all(|line| columns(line) == head), "{table}");
    }
    assert!(markdown(&fixture::pasted_log()).contains("| fast area | not measured | – |"));
}

#[test]
fn csv_is_regular_and_absent_is_empty() {
    let mut run = fixture::lost_device();
    run.envelope.target = "a,b \"c\"".into();
    let text = csv(&run);
    assert!(text.starts_with("section,item,figure,value\nrun,tool,version,0.1.0\nrun,target,name,\"a,b \"\"c\"\"\"\n"));
    for line in [
        "geometry,allocation_unit,bytes,4194304",
        "geometry,open_units_linear,count,",
        "geometry,open_units_linear,at_least_count,7",
        "geometry,fast_area,kind,",
        "geometry,fast_area,reason_unknown,needs_writes",
        "cost,run,written_bytes,639631360",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
    for finding in Finding::ALL {
        let row = format!("\ngeometry,{},confidence,", finding.wire());
        assert!(text.contains(&row), "{row}\n{text}");
    }
    let text = csv(&fixture::simulated_card());
    assert!(text.contains("performance,write random 16384 q1,rate_bytes_per_s_mean,75300\n"));
    assert!(text.contains("performance,write random 16384 q1,service_time_ns_p99,\n"));
    assert!(text.contains("geometry,fast_area,kind,faster\n"));
}

fn without_escapes(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap_or_default().to_owned();
    let rest = parts.map(|part| part.split_once('m').map_or(part, |(_, rest)| rest));
    std::iter::once(first.as_str()).chain(rest).collect()
}
