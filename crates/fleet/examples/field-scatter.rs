//! How much do align tables scatter from run to run, on published cards and on simulated ones at each level of noise?
//!
//! `cargo run --release -p flashscope-fleet --example field-scatter -- fixtures/field/*.txt` prints the table of docs/fleet.md.
//! The same statistic is taken of both: for every figure (alignment, column) that a log prints two or more times for the
//! same block size, the relative standard deviation over the repeats; pooled per log by the median. The simulated
//! tables are made by our implementation of the same test, each repeated three times on one device.

#![allow(clippy::print_stdout, reason = "a tool for the terminal")]

use flashscope_model::observation::{AlignData, AlignEvidence, Straddle};
use flashscope_model::{Data, Experiment};
use flashscope_probe::{Context, Unobserved, classic};
use flashscope_stats::location::{median, quantile, relative_deviation};
use flashscope_units::{Bytes, Nanos};
use std::collections::BTreeMap;

/// Figures by block size, alignment and column.
type Figures = BTreeMap<(Bytes, Bytes, usize), Vec<f64>>;

fn main() {
    println!("{:<42}{:>8}{:>9}{:>9}{:>9}", "", "figures", "p25", "median", "p90");
    let mut pooled = Vec::new();
    for path in std::env::args().skip(1) {
        let Ok(bytes) = std::fs::read(&path) else { continue };
        let runs = flashscope_transcript::parse_bytes(&bytes).observations.runs;
        let mut figures = Figures::new();
        for run in &runs {
            if let Data::Align(table) = &run.data {
                collect(table, &mut figures);
            }
        }
        let scatter = scatter(&figures);
        if !scatter.is_empty() {
            line(path.rsplit('/').next().unwrap_or(&path), &scatter);
            pooled.extend(median(&scatter));
        }
    }
    if let Some(middle) = median(&pooled) {
        println!("{:<42}{:>8}{:>9}{:>8.2} %", "median of the logs", pooled.len(), "", middle * 100.0);
    }
    for noise in ["none", "bench", "field", "harsh"] {
        let mut all = Vec::new();
        for model in ["sd-4mib", "sd-24mib", "sd-worn", "emmc-write-align"] {
            all.extend(scatter(&simulated(&format!("{model},noise={noise}"))));
        }
        line(&format!("simulated cards, noise {noise}"), &all);
    }
}

fn line(name: &str, scatter: &[f64]) {
    let at = |p: f64| quantile(scatter, p).unwrap_or_default() * 100.0;
    println!("{name:<42}{:>8}{:>7.2} %{:>7.2} %{:>7.2} %", scatter.len(), at(0.25), at(0.5), at(0.9));
}

fn collect(table: &AlignData, figures: &mut Figures) {
    // A log that shows no command still tells its block by its smallest alignment.
    let Some(block) = table.block.or_else(|| table.rows.iter().map(|row| row.align / 2).min()) else { return };
    for row in &table.rows {
        let columns = match &row.evidence {
            AlignEvidence::Printed { pre, on, post, .. } => [pre, on, post].map(|one| one.map(|one| one.value.0)),
            AlignEvidence::Places(places) => [
                mean_of_minima(places, |place| &place.pre),
                mean_of_minima(places, |place| &place.on),
                mean_of_minima(places, |place| &place.post),
            ],
        };
        for (column, figure) in columns.into_iter().enumerate() {
            figures.entry((block, row.align, column)).or_default().extend(figure);
        }
    }
}

fn mean_of_minima(places: &[Straddle], role: fn(&Straddle) -> &Vec<Nanos>) -> Option<f64> {
    let least: Vec<f64> = places.iter().filter_map(|place| role(place).iter().min()).map(|t| t.as_f64()).collect();
    (!least.is_empty()).then(|| least.iter().sum::<f64>() / least.len() as f64)
}

/// Relative standard deviation of every figure that is there more than once.
fn scatter(figures: &Figures) -> Vec<f64> {
    figures.values().filter_map(|repeats| relative_deviation(repeats)).collect()
}

/// Three align runs at two block sizes on one device.
fn simulated(spec: &str) -> Figures {
    let mut figures = Figures::new();
    let Ok(mut target) = flashscope_sim::open(spec, 1) else { return figures };
    for block in [Bytes::kib(1), Bytes::kib(16)] {
        for seed in 0..3 {
            let mut watch = Unobserved;
            let mut context = Context::reading(seed, &mut watch);
            let run = flashscope_probe::run(&Experiment::Align(classic::align(block)), &mut target, &mut context);
            if let Ok(run) = run
                && let Data::Align(table) = run.data
            {
                collect(&table, &mut figures);
            }
        }
    }
    figures
}
