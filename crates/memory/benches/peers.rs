//! Rates and latencies of `mem` beside STREAM and a chase of pointers in C (`peers.c`) and `mbw`, in turns (docs/memory.md).
//! `scripts/prove memory [-- --pairs N]`; exit code 1 where a target is missed. Peers that are not there are left out.
#![allow(clippy::print_stdout, missing_docs)]

use flashscope_mem::wire::{BandwidthTest, Limits, Line, Order, SizeTest, Test};
use flashscope_testkit::Targets;
use serde_json::Value;
use std::error::Error;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Command, ExitCode, Stdio};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Length of each array and of the ring, in MiB.
const MIB: u64 = 256;
const LOOPS: [&str; 4] = ["copy", "scale", "add", "triad"];

fn main() -> Result<ExitCode> {
    let words: Vec<String> = std::env::args().collect();
    let after = |name: &str| words.iter().skip_while(|word| *word != name).nth(1);
    let pairs: usize = after("--pairs").map_or(Ok(5), |text| text.parse())?;
    let peer = format!("{}/peers", env!("CARGO_TARGET_TMPDIR"));
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/peers.c");
    let built = Command::new("gcc").args(["-O3", "-march=native", "-fopenmp", "-o", &peer, source]).status();
    let mut targets = Targets::begin(io::stdout())?;
    if !built.is_ok_and(|status| status.success()) {
        targets.left_out("STREAM and a chase in C", "gcc did not build them")?;
        return Ok(ExitCode::SUCCESS);
    }
    let threads = std::thread::available_parallelism()?.get().to_string();
    let (mut rates, mut plain, mut copies) = (vec![Vec::new(); LOOPS.len()], vec![Vec::new(); LOOPS.len()], Vec::new());
    let mut loads = [Vec::new(), Vec::new()];
    for _ in 0..pairs {
        let record = ours(Test::Bandwidth(BandwidthTest { kernels: Vec::new(), array: Some(MIB << 20) }), true)?;
        let stream = figures(&peer, &["stream", &MIB.to_string(), &threads])?;
        for (at, name) in LOOPS.iter().enumerate() {
            rates[at].push(best(&record, name, threads.parse()?, "") / stream[at]);
            plain[at].push(best(&record, name, threads.parse()?, "plain") / stream[at]);
        }
        copies.extend(mbw().map(|theirs| best(&record, "copy", 1, "") / theirs));
        for (at, huge) in [false, true].into_iter().enumerate() {
            let ours = latency(&ours(Test::Latency(SizeTest { most: Some(MIB << 20) }), huge)?, huge);
            let theirs = figures(&peer, &["chase", &MIB.to_string(), if huge { "1" } else { "0" }])?[0];
            println!("  {} pages: ours {ours:.1} ns, C {theirs:.1} ns", if huge { "huge" } else { "small" });
            loads[at].push(ours / theirs);
        }
    }
    for (name, ratios) in LOOPS.iter().zip(rates) {
        targets.at_least(&format!("{name} beside STREAM, all threads"), 0.98, median(ratios), "times")?;
    }
    // The compiler stores through the caches, where it makes no call of a loop: like beside like.
    for (name, ratios) in LOOPS.iter().zip(plain) {
        targets.at_least(&format!("{name} beside STREAM, plain stores"), 0.98, median(ratios), "times")?;
    }
    if copies.is_empty() {
        targets.left_out("copy beside mbw, one thread", "mbw is not installed")?;
    } else {
        targets.at_least("copy beside mbw, one thread", 0.98, median(copies), "times")?;
    }
    for (name, ratios) in ["small", "huge"].into_iter().zip(loads) {
        let off = (median(ratios) - 1.0).abs() * 100.0;
        targets.at_most(&format!("latency beside a chase in C, {name} pages: off by"), 3.0, off, "%")?;
    }
    Ok(if targets.end()? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The part of the record that the program of this crate says.
fn ours(test: Test, huge: bool) -> Result<Value> {
    let limits = Limits { time: 4_000_000_000, threads: None, huge, memory: None };
    let mut child =
        Command::new(env!("CARGO_BIN_EXE_flashscope-mem")).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    // It ends once this is closed.
    let mut stdin = child.stdin.take().ok_or("no stdin")?;
    writeln!(stdin, "{}", serde_json::to_string(&Order { tests: vec![test], limits })?)?;
    let mut part = None;
    for line in BufReader::new(child.stdout.take().ok_or("no stdout")?).lines() {
        if let Line::Done(text) = serde_json::from_str(&line?)? {
            part = Some(serde_json::from_str(&text)?);
        }
    }
    drop(stdin);
    child.wait()?;
    part.ok_or_else(|| "flashscope-mem said nothing".into())
}

/// The best pass of a loop that stored so, or however it stored where that is empty, in bytes per second: STREAM's figure.
fn best(record: &Value, name: &str, threads: u64, store: &str) -> f64 {
    let rows = record["bandwidth"].as_array().into_iter().flatten();
    let rows = rows
        .filter(|row| row["kernel"] == name && row["threads"] == threads)
        .filter(|row| store.is_empty() || row["store"] == store);
    numbers(rows, "rates_bytes_per_s").into_iter().fold(f64::NAN, f64::max)
}

/// The median of the stretches over the whole ring.
fn latency(record: &Value, huge: bool) -> f64 {
    let pages = if huge { "huge" } else { "small" };
    let rows = record["latency"].as_array().into_iter().flatten();
    median(numbers(rows.filter(|row| row["pages"] == pages && row["span_bytes"] == MIB << 20), "times_ns"))
}

fn numbers<'a>(rows: impl Iterator<Item = &'a Value>, key: &str) -> Vec<f64> {
    rows.flat_map(|row| row[key].as_array().into_iter().flatten()).filter_map(Value::as_f64).collect()
}

fn figures(program: &str, words: &[&str]) -> Result<Vec<f64>> {
    let output = Command::new(program).args(words).output()?;
    let text = String::from_utf8(output.stdout)?;
    Ok(text.split_whitespace().map(str::parse).collect::<std::result::Result<_, _>>()?)
}

/// What `mbw` copies at best, counted as here: it counts a byte that is copied once.
fn mbw() -> Option<f64> {
    let output = Command::new("mbw").args(["-a", "-n", "8", &MIB.to_string()]).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let rate = |line: &str| line.split("Copy:").nth(1)?.split_whitespace().next()?.parse::<f64>().ok();
    text.lines().filter_map(rate).reduce(f64::max).map(|rate| rate * 2.0 * f64::from(1 << 20))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
