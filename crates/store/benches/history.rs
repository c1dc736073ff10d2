//! What a large history costs: listing it, a trend of many points, and its file. Exit code 1 where a target is missed.
//! A part of `scripts/prove trend`.
#![allow(clippy::print_stdout, missing_docs)]

use flashscope_store::{Access, Filter, Store, Trend};
use flashscope_testkit::Targets;
use flate2::Compression;
use flate2::read::DeflateEncoder;
use std::error::Error;
use std::io::Read;
use std::process::ExitCode;
use std::time::Instant;

/// A record of `bench` in virtual time: two runs of one job.
const RECORD: &str = include_str!("../../../fixtures/records/v1/bench-virtual.json");
/// What the first run reached, in requests per second; each record of the history has a figure of its own there.
const FIGURE: &str = "596.501227641468";
/// Parts that take turns; one of them has the trend.
const PARTS: usize = 10;
/// Records that go in together.
const BATCH: usize = 500;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let words: Vec<String> = std::env::args().collect();
    let count = words.iter().skip_while(|word| *word != "--records").nth(1).map_or(Ok(100_000), |text| text.parse())?;
    let path = std::env::temp_dir().join(format!("flashscope-bench-history-{}.db", std::process::id()));
    let result = measure(&path, count);
    let _ = std::fs::remove_file(&path);
    Ok(if result? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn measure(path: &std::path::Path, count: usize) -> Result<bool, Box<dyn Error>> {
    assert!(RECORD.contains(FIGURE), "the record has the figure that is to differ");
    let mut store = Store::open(path, Access::Write)?;
    let began = Instant::now();
    let mut bodies = 0;
    for first in (0..count).step_by(BATCH) {
        let texts: Vec<String> = (first..(first + BATCH).min(count)).map(record).collect();
        bodies += texts.iter().map(|text| deflated(text)).sum::<usize>();
        store.add(&texts)?;
    }
    println!("{count} records kept in {:.0} s | | | beside", began.elapsed().as_secs_f64());
    let mut targets = Targets::begin(std::io::stdout())?;
    let list = seconds(|| store.list(&Filter { limit: Some(50), ..Filter::default() }).map(|found| found.len()))?;
    targets.at_most(&format!("list of {count} records, the 50 newest"), 0.1, list, "s")?;
    let meant = Filter { target: Some("sim:part-0".to_owned()), ..Filter::default() };
    let points = store.series("bench write", &meant)?.iter().map(|series| series.points.len()).max().unwrap_or(0);
    let trend = seconds(|| {
        let series = store.series("bench write", &meant)?;
        Ok::<_, flashscope_store::StoreError>(series.into_iter().map(Trend::of).count())
    })?;
    targets.at_most(&format!("trend of {points} points"), 1.0, trend, "s")?;
    let beside = (std::fs::metadata(path)?.len() as f64 - bodies as f64) / count as f64 / 1024.0;
    targets.at_most("of the file beside a record itself, compressed", 4.0, beside, "KiB")?;
    Ok(targets.end()?)
}

/// The shortest of three.
fn seconds<T, E>(mut act: impl FnMut() -> Result<T, E>) -> Result<f64, E> {
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let began = Instant::now();
        act()?;
        best = best.min(began.elapsed().as_secs_f64());
    }
    Ok(best)
}

fn record(index: usize) -> String {
    let figure = 590.0 + (index * 7919 % 1000) as f64 / 100.0 + index as f64 * 1e-9;
    RECORD.replace(FIGURE, &figure.to_string()).replace("sim:sd-flat", &format!("sim:part-{}", index % PARTS))
}

/// The size of a record by itself.
fn deflated(text: &str) -> usize {
    let mut out = Vec::new();
    DeflateEncoder::new(text.as_bytes(), Compression::default()).read_to_end(&mut out).map_or(0, |_| out.len())
}
