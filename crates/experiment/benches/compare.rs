//! What it costs to compare two tables of 10 000 runs: reading, deciding. Exit code 1 where it takes longer than it may.
#![allow(clippy::print_stdout, missing_docs)]

use flashscope_experiment::table::Reader;
use flashscope_experiment::{Settings, compare};
use flashscope_stats::Rng;
use flashscope_testkit::Targets;
use std::error::Error;
use std::fmt::Write;
use std::process::ExitCode;
use std::time::Instant;

/// Runs a side.
const RUNS: u32 = 10_000;
/// The target, in seconds.
const MOST: f64 = 1.0;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut rng = Rng::new(14);
    let mut text = "label,metric,unit,value\n".to_owned();
    for _ in 0..RUNS {
        for (label, mean) in [("a", 20.0), ("b", 20.2)] {
            writeln!(text, "{label},write,MB/s,{:.4}", mean * (0.05 * rng.normal()).exp())?;
        }
    }
    let mut times: Vec<f64> = (0..5)
        .map(|_| {
            let began = Instant::now();
            let groups = Reader::default().read(&text)?;
            let comparison = compare(&groups[0].readings, &Settings::default());
            assert!(comparison.rows[0].ratio.is_some());
            Ok(began.elapsed().as_secs_f64())
        })
        .collect::<Result<_, Box<dyn Error>>>()?;
    times.sort_by(f64::total_cmp);
    let mut targets = Targets::begin(std::io::stdout())?;
    targets.at_most("comparing 2 × 10 000 runs of a table", MOST, times[times.len() / 2], "s")?;
    Ok(if targets.end()? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
