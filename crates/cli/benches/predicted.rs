//! Run times of apps predicted by replaying, in virtual time, a trace that was recorded on *another* model, beside the same app
//! really played on the emulated device; and, as the naive reader beside it, the time that it took on the model it was recorded on,
//! scaled by how fast both write in order.
//!
//! A trace is replayed twice, up to the beginning of the run and up to its end, so that the device is in the state that mkfs and the
//! preparation left it in; the difference is the prediction. What it is held against is the same span on the emulated device.
//!
//! Needs root, FUSE, loop devices and mkfs.ext4; says so where they are missing. Exit code 1 where a target is missed.
//! `cargo bench -p flashscope-cli --bench predicted` (a part of `scripts/prove apps`); ten minutes, of which most are the models'
//! own time.
#![allow(clippy::print_stdout, missing_docs)]

use flashscope_testkit::Targets;
use serde_json::Value;
use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

type Res<T> = Result<T, Box<dyn Error>>;

/// Cards and phones that the emulator can pace at their own speed, and the rate at which each writes in order (`bench --preset
/// crystaldiskmark`, SEQ1M Q1T1), in MB/s.
const MODELS: [(&str, f64); 5] =
    [("emmc-phone", 44.9), ("emmc-cached", 10.3), ("sd-24mib", 7.8), ("sd-4mib", 16.3), ("card-27", 13.2)];
/// Apps, and as many rounds as a slow card does in some seconds.
const APPS: [(&str, u32); 8] = [
    ("contacts", 10),
    ("web", 3),
    ("messenger", 10),
    ("camera", 1),
    ("gallery", 5),
    ("install", 1),
    ("media-scan", 1),
    ("androbench-sqlite", 1),
];

const WITHIN_10: &str = "run times predicted within 10 %";
const WITHIN_20: &str = "run times predicted within 20 %";
const NAIVE: &str = "within 20 % by one who scales by the rate of writing in order";

/// An app played on a model.
struct Played {
    trace: PathBuf,
    from: u64,
    to: u64,
}

fn main() -> Res<ExitCode> {
    let mut targets = Targets::begin(io::stdout())?;
    let folder = std::env::temp_dir().join(format!("flashscope-predicted-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let done = cells(&folder);
    std::fs::remove_dir_all(&folder)?;
    let cells = match done {
        Ok(cells) => cells,
        Err(error) => {
            for name in [WITHIN_10, WITHIN_20, NAIVE] {
                targets.left_out(name, &error.to_string().replace('\n', " "))?;
            }
            return Ok(if targets.end()? { ExitCode::SUCCESS } else { ExitCode::FAILURE });
        }
    };
    let all = cells.len() as f64;
    let within = |of: fn(&(f64, f64)) -> f64, most: f64| {
        cells.iter().filter(|cell| (of(cell) - 1.0).abs() <= most).count() as f64 / all * 100.0
    };
    println!("{all} cells");
    targets.at_least(WITHIN_10, 80.0, within(|cell| cell.0, 0.1), "%")?;
    targets.at_least(WITHIN_20, 95.0, within(|cell| cell.0, 0.2), "%")?;
    println!("{NAIVE}: {:.1} %", within(|cell| cell.1, 0.2));
    Ok(if targets.end()? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Of every app, and every pair of models: predicted over real, by a replay and by the naive reader.
fn cells(folder: &Path) -> Res<Vec<(f64, f64)>> {
    let mut cells = Vec::new();
    said(Command::new(env!("CARGO")).args(["build", "--locked", "-q", "--release", "-p", "flashscope-player"]))?;
    for (app, rounds) in &APPS {
        let played = MODELS.iter().map(|(model, _)| play(folder, app, *rounds, model)).collect::<Res<Vec<_>>>()?;
        for (one, (recorded_on, rate)) in played.iter().zip(&MODELS) {
            for (other, (model, other_rate)) in
                played.iter().zip(&MODELS).filter(|(_, (model, _))| model != recorded_on)
            {
                let real = (other.to - other.from) as f64;
                let predicted = replayed(folder, one, one.to, model)? - replayed(folder, one, one.from, model)?;
                let naive = (one.to - one.from) as f64 * rate / other_rate;
                println!(
                    "{app:18} {recorded_on:12} → {model:12} {:8.3} s, really {:8.3} s: × {:.3}",
                    predicted / 1e9,
                    real / 1e9,
                    predicted / real
                );
                cells.push((predicted / real, naive / real));
            }
        }
    }
    Ok(cells)
}

fn play(folder: &Path, app: &str, rounds: u32, model: &str) -> Res<Played> {
    let trace = folder.join(format!("{app}-{model}.trace"));
    let target = target(model);
    let words = ["app", app, &target, "--repeat", "1", "--rounds", &rounds.to_string(), "--json", "--trace"];
    let told = flashscope(folder, &[&words[..], &[trace.to_str().ok_or("a plain path")?]].concat())?;
    let record: Value = serde_json::from_str(&told)?;
    let given = &record["app_runs"][0]["given"];
    let time = |name: &str| given[name].as_u64().ok_or_else(|| format!("{app} on {model}: nothing was given"));
    Ok(Played { from: time("from_ns")?, to: time("to_ns")?, trace })
}

/// Nanoseconds from the beginning of a trace to what a model has answered of what was issued before `to`.
fn replayed(folder: &Path, played: &Played, to: u64, model: &str) -> Res<f64> {
    let trace = played.trace.to_str().ok_or("a plain path")?;
    flashscope(folder, &["trace", "cut", trace, "--to", &format!("{to}ns"), "-o", "part.trace", "--force"])?;
    let told = flashscope(folder, &["trace", "replay", "part.trace", &target(model), "--mode", "dependent", "--json"])?;
    let record: Value = serde_json::from_str(&told)?;
    record["replay"]["total_ns"].as_f64().ok_or_else(|| format!("no total of {trace} on {model}").into())
}

fn target(model: &str) -> String {
    format!("sim:{model},capacity=256MiB")
}

fn flashscope(folder: &Path, words: &[&str]) -> Res<String> {
    said(Command::new(env!("CARGO_BIN_EXE_flashscope")).current_dir(folder).args(words))
}

fn said(command: &mut Command) -> Res<String> {
    let output = command.output()?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr)).into())
}
