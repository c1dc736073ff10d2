//! How fast memory is stressed beside `stressapptest`, in turns, with as much memory and as many threads (docs/memory-stress.md).
//! `scripts/prove stress [-- --pairs N --seconds N]`; exit code 1 where a target is missed. Without that program it is left out.
#![allow(clippy::print_stdout, missing_docs)]

use flashscope_mem::wire::{Limits, Line, Order, StressTest, Test};
use flashscope_testkit::Targets;
use std::error::Error;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Command, ExitCode, Stdio};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Memory of both, in MiB.
const MEMORY: u64 = 512;

fn main() -> Result<ExitCode> {
    let words: Vec<String> = std::env::args().collect();
    let after = |name: &str| words.iter().skip_while(|word| *word != name).nth(1);
    let pairs: usize = after("--pairs").map_or(Ok(5), |text| text.parse())?;
    let seconds: u64 = after("--seconds").map_or(Ok(8), |text| text.parse())?;
    let mut targets = Targets::begin(io::stdout())?;
    let what = "MB/s beside stressapptest, bytes read and written, median of pairs";
    if Command::new("stressapptest").arg("-h").stdout(Stdio::null()).stderr(Stdio::null()).status().is_err() {
        targets.left_out(what, "stressapptest is not installed")?;
        return Ok(ExitCode::SUCCESS);
    }
    let threads = std::thread::available_parallelism()?.get();
    let mut ratios = Vec::new();
    for _ in 0..pairs {
        let (ours, theirs) = (ours(threads, seconds)?, theirs(threads, seconds)?);
        println!("  ours {ours:.0} MiB/s, stressapptest {theirs:.0} MiB/s");
        ratios.push(ours / theirs);
    }
    ratios.sort_by(f64::total_cmp);
    targets.at_least(what, 0.9, ratios[ratios.len() / 2], "times")?;
    Ok(if targets.end()? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What the program of this crate moves, in MiB/s.
fn ours(threads: usize, seconds: u64) -> Result<f64> {
    let test = StressTest { memory: Some(MEMORY << 20), share: 0.7, seed: 1, plant: None };
    let limits = Limits { time: seconds * 1_000_000_000, threads: Some(threads as u32), huge: true, memory: None };
    let mut child =
        Command::new(env!("CARGO_BIN_EXE_flashscope-mem")).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    // It ends once this is closed.
    let mut stdin = child.stdin.take().ok_or("no stdin")?;
    writeln!(stdin, "{}", serde_json::to_string(&Order { tests: vec![Test::Stress(test)], limits })?)?;
    let stdout = BufReader::new(child.stdout.take().ok_or("no stdout")?);
    let mut rate = None;
    for line in stdout.lines() {
        if let Line::Done(part) = serde_json::from_str(&line?)? {
            let stress = &serde_json::from_str::<serde_json::Value>(&part)?["stress"];
            let figure = |name: &str| stress[name].as_f64().ok_or("no figure");
            rate = Some(figure("moved_bytes")? / (1 << 20) as f64 / (figure("took_ns")? / 1e9));
        }
    }
    drop(stdin);
    child.wait()?;
    rate.ok_or_else(|| "flashscope-mem said nothing".into())
}

/// What it says itself: `Stats: Memory Copy: 26330.00M at 5265.80MB/s`, where M is MiB and each byte that is copied counts twice, as it
/// is read and written.
fn theirs(threads: usize, seconds: u64) -> Result<f64> {
    let output = Command::new("stressapptest")
        .args(["-M", &MEMORY.to_string(), "-m", &threads.to_string(), "-s", &seconds.to_string()])
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().find(|line| line.contains("Memory Copy:")).ok_or("stressapptest said nothing of copies")?;
    let rate = line.split(" at ").nth(1).and_then(|rest| rest.split("MB/s").next()).ok_or("an odd line")?;
    Ok(rate.trim().parse()?)
}
