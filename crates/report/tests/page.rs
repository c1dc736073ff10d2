//! The page: what it holds, and that nothing in a record can break or extend it. How it looks is for
//! `scripts/browser-test`.

use crate::fixture;
use flashscope_model::finding::{NoteKind, PerformanceCell};
use flashscope_model::observation::{ScatterData, ScatterPlace, ThroughputData};
use flashscope_model::{Data, RunRecord};
use flashscope_report::html;
use flashscope_units::{ByteRate, Bytes, Nanos};
use std::sync::Arc;

/// A page without the script that it ends with, and without the data of its plots: what stands there with scripts off.
fn still(page: &str) -> String {
    let mut parts = page.split("<script");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.filter_map(|part| part.split_once("</script>")).fold(first, |text, (_, rest)| text + rest)
}

fn count(text: &str, what: &str) -> usize {
    text.matches(what).count()
}

#[test]
fn the_page_is_self_contained() {
    for run in [fixture::simulated_card(), fixture::lost_device(), fixture::pasted_log()] {
        let whole = html(&run);
        let page = still(&whole);
        assert_eq!(count(&whole, "<script>"), 1, "one script of ours, which its hash allows");
        assert_eq!(count(&whole, "script-src 'sha256-"), 1);
        assert_eq!(count(&whole, "<script "), count(&whole, "<script type=\"application/json\">"));
        for foreign in ["http:", "https:", "<script", "src=", "url(", "@import", "//cdn"] {
            assert_eq!(count(&page, foreign), 0, "{foreign}");
        }
        assert_eq!(count(&page, "<html"), 1);
        assert!(page.ends_with("</html>"));
    }
}

#[test]
fn every_question_that_was_measured_has_its_plots() {
    let page = html(&fixture::simulated_card());
    for title in [
        "Extra time across a boundary, reading blocks of 1 KiB",
        "Units written in turn, each sequentially",
        "Units written in turn, each randomly",
        "The first units against others, 1 MiB sequential writes",
        "Writes to each of the first units, each sequentially",
        "Shortest read time by size",
        "Distance from the straight line, by size",
        "Reads of 4 KiB all over the device",
        "Reads of 16 KiB at each of 1024 positions from 0 B",
        "16 KiB sequential writes: latency",
        "16 KiB random writes: latency request by request",
    ] {
        assert!(page.contains(&format!("<h3>{title}</h3>")), "{title}");
    }
    assert_eq!(count(&page, "<figure"), 18);
    assert_eq!(count(&page, "<svg"), 2 * 18, "one for the desk and one for the hand");
    for words in ["8 open units", "unit 4 MiB", "page 16 KiB", "249 µs", "402 µs and then 40.2 MB/s"] {
        assert!(page.contains(words), "{words}");
    }
}

#[test]
fn no_two_plots_have_one_title_and_each_brings_its_data() {
    let mut run = fixture::simulated_card();
    run.observations.runs.extend(run.observations.runs.clone());
    let page = html(&run);
    let mut titles: Vec<&str> = page.split("<h3>").skip(1).filter_map(|part| part.split("</h3>").next()).collect();
    let all = titles.len();
    titles.sort_unstable();
    titles.dedup();
    assert_eq!((titles.len(), count(&page, "<script type=\"application/json\">")), (all, all));
    assert!(all > 18, "{all}");
}

#[test]
fn a_log_has_the_plots_that_it_can_have() {
    let page = html(&fixture::pasted_log());
    assert!(page.contains("reading blocks of unknown size"));
    assert_eq!(count(&page, "<figure"), 2);
    assert!(page.contains("cannot tell") && page.contains("or 8 MiB (24.0 %), 12 MiB (11.0 %)"));
    assert!(!page.contains("<h2>Performance</h2>"));
}

#[test]
fn words_of_a_record_never_become_markup() {
    let evil = "<img src=x onerror=alert(1)>\"'&";
    let mut run = fixture::simulated_card();
    run.envelope.target = evil.into();
    run.envelope.command = evil.into();
    if let Some(device) = &mut run.envelope.device {
        device.name = evil.into();
        device.claims.other.push(evil.into());
    }
    run.findings.geometry.page.add_evidence(evil);
    run.findings.advice[0].text = evil.into();
    run.findings.notes[0].text = evil.into();
    run.findings.notes[0].kind = NoteKind::OtherWarning;
    run.plan.steps[0].why = evil.into();
    let page = html(&run);
    assert!(!page.contains("<img"), "{}", &page[..2000]);
    assert!(page.contains("&lt;img src=x onerror=alert(1)&gt;"));
}

#[test]
fn plots_have_no_nonsense_in_them() {
    let page = still(&html(&fixture::simulated_card()));
    for nonsense in ["NaN", "inf", "=\"-2147483648\""] {
        assert_eq!(count(&page, nonsense), 0, "{nonsense}");
    }
}

/// Records at the edge: nothing measured, one sample, all samples alike, zero times.
#[test]
fn odd_records_make_a_page() {
    let mut empty = fixture::simulated_card();
    empty.observations.runs.clear();
    empty.findings.transfer = None;
    assert_eq!(count(&html(&empty), "<figure"), 0);

    let mut run = fixture::simulated_card();
    for one in &mut run.observations.runs {
        flatten(&mut one.data);
    }
    run.findings.performance.iter_mut().for_each(stall);
    let page = html(&run);
    assert!(count(&page, "<figure") > 5 && !still(&page).contains("NaN"));
}

#[test]
fn a_million_samples_make_no_larger_plots() {
    let with = |samples: u64| {
        let mut run = fixture::simulated_card();
        run.findings.transfer = None;
        let time = |k: u64| Nanos(900_000 + k % 977 * 131 + k % 7 * 50_000);
        let places = (0..samples).map(|k| ScatterPlace { at: Bytes::kib(16) * k, times: vec![time(k)] }).collect();
        let template = run.observations.runs.pop().unwrap();
        run.observations.runs.clear();
        let Data::Throughput(cell) = &template.data else { panic!("the last run is a cell of the performance table") };
        let cell = ThroughputData { times: (0..samples).map(time).collect(), ..cell.clone() };
        let scatter = Data::Scatter(ScatterData { length: None, places });
        for data in [scatter, Data::Throughput(cell)] {
            run.observations.runs.push(flashscope_model::Run { data, ..template.clone() });
        }
        html(&run).len()
    };
    let (some, many) = (with(60_000), with(300_000));
    assert!(many < 2 * some && many < 8_000_000, "{some} {many}");
}

fn flatten(data: &mut Data) {
    match data {
        Data::Floor(floor) => floor.times.truncate(1),
        Data::Survey(survey) => survey.places.truncate(1),
        Data::Align(align) => align.rows.truncate(1),
        Data::Boundaries(boundaries) => {
            Arc::make_mut(boundaries).candidates.iter_mut().for_each(|found| found.places.truncate(1));
        }
        Data::OpenUnits(open) => open.rows.truncate(1),
        Data::FastArea(area) => area.controls.clear(),
        Data::Scatter(scatter) => scatter.places.iter_mut().for_each(|place| place.times = vec![Nanos(7)]),
        Data::Fat(fat) => fat.rows.iter_mut().for_each(|row| row.units.truncate(1)),
        Data::Throughput(cell) => cell.times.fill(Nanos::ZERO),
        Data::Buffer(buffer) => buffer.bursts.truncate(1),
        Data::ReadCache(cache) => cache.rising.clear(),
        Data::SlcCache(cache) => cache.bursts.iter_mut().for_each(|burst| burst.times.truncate(1)),
        Data::Parallel(sets) => sets.fans.iter_mut().for_each(|fan| fan.times.clear()),
        Data::MapReach(reach) => reach.ranges.truncate(1),
        Data::Overwrite(writes) => writes.random.clear(),
        Data::Cells(cells) => cells.places.truncate(1),
        Data::Discard(discards) => discards.trials.truncate(1),
        Data::Slide(slide) => Arc::make_mut(slide).places.truncate(1),
        Data::Patterns(patterns) => Arc::make_mut(patterns).patterns.truncate(1),
        Data::Interval(_) | Data::Program(_) => {}
    }
}

fn stall(cell: &mut PerformanceCell) {
    cell.mean_rate = ByteRate(0.0);
    cell.service_time_p99 = None;
}

#[test]
fn the_same_record_gives_the_same_page() {
    let run: RunRecord = fixture::simulated_card();
    assert_eq!(html(&run), html(&run));
}
