//! What the main job costs: wall time and peak memory of `inspect` on each model of the catalogue.
//!
//! Prints medians over several runs beside the targets (3 s and 200 MiB for the demo card), and whether two runs with
//! one seed gave the same bytes. Peak memory is the kernel's high-water mark, read until the process ends.

// A benchmark's table is its data.
#![allow(clippy::print_stdout)]

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const RUNS: usize = 5;

struct Measured {
    wall: Duration,
    peak_kib: u64,
    output: Vec<u8>,
}

fn main() {
    println!("{:24} {:>10} {:>12}   same bytes", "inspect --json", "wall", "peak memory");
    for entry in flashscope_sim::catalogue() {
        let runs: Vec<Measured> = (0..RUNS).map(|_| measure(entry.name)).collect();
        let same = runs.iter().all(|run| run.output == runs[0].output);
        let mut walls: Vec<Duration> = runs.iter().map(|run| run.wall).collect();
        walls.sort_unstable();
        let peak = runs.iter().map(|run| run.peak_kib).max().unwrap_or(0);
        let wall = walls[walls.len() / 2].as_secs_f64();
        println!("{:24} {wall:>8.2} s {:>8} MiB   {}", entry.name, peak / 1024, if same { "yes" } else { "NO" });
    }
    println!("targets for sd-4mib: 3 s, 200 MiB");
}

fn measure(model: &str) -> Measured {
    let path = std::env::temp_dir().join(format!("flashscope-bench-{}.json", std::process::id()));
    let out = std::fs::File::create(&path).expect("a temporary file");
    let began = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_flashscope"))
        .args(["inspect", &format!("sim:{model}"), "--json"])
        .stdout(Stdio::from(out))
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary starts");
    let mut peak_kib = 0;
    let status = loop {
        peak_kib = peak_kib.max(high_water(child.id()).unwrap_or(0));
        if let Some(status) = child.try_wait().expect("the child can be waited for") {
            break status;
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    let wall = began.elapsed();
    assert!(status.success(), "{model}");
    let output = std::fs::read(&path).expect("the record");
    let _ = std::fs::remove_file(&path);
    Measured { wall, peak_kib, output }
}

fn high_water(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches("kB").trim().parse().ok()
}
