//! The load engine against fio, in the same run on the same file: throughput, and processor time per request.
//!
//! Both get the same file, block size, queue and flags (`O_DIRECT`, which tmpfs accepts since Linux 6.6). fio gets its best:
//! no map of visited blocks, its fastest generator, fixed buffers that it does not touch, registered files, threads rather than
//! processes, no statistics but its histogram, which both keep for every request; with `--fio-batches`, for deep queues, also the best
//! of four ways of batching, tried beforehand. Ours runs as it comes. Pairs alternate and swap their order, since the machine drifts; the ratio
//! is the median of the pairs' ratios. The ceiling is what a bare loop of the same system calls reaches in the same run, in the
//! best of several ways, as a multiple of fio: a load generator cannot be far above it. Processor time is split by ticks, so it is
//! taken over all runs of a cell together.
//!
//! What processors do that have nothing to do decides about queues of one: those of virtual machines halt, to wake them takes
//! longer than the request, and how often that happens is chance. So they are kept awake for both (`/dev/cpu_dma_latency`, as an
//! emulated device does), but for `--as-is`.
//!
//! Needs fio, and for the loop device root; says so loudly where they are missing. Exit code 1 where a target is missed.
//! `cargo bench -p flashscope-cli --bench vs_fio [-- --pairs N] [--time T] [--only WORDS] [--as-is] [--fio-batches]`
//! (a part of `scripts/prove load`) takes about five minutes; `--only "tmpfs psync"` runs the cells whose names have these words.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use flashscope_host::load::bare::Bare;
use flashscope_host::{LoopDevice, LoopOptions};
use flashscope_testkit::Targets;
use serde_json::Value;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

const SIZE: u64 = 256 << 20;

fn main() -> io::Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().collect();
    let after = |name: &str| arguments.iter().skip_while(|word| *word != name).nth(1).cloned();
    let pairs = after("--pairs").and_then(|text| text.parse().ok()).unwrap_or(5);
    let time = after("--time").unwrap_or_else(|| "1s".to_owned());
    let only = after("--only").unwrap_or_default();
    let batches = arguments.iter().any(|word| word == "--fio-batches");
    if Command::new("fio").arg("--version").output().is_err() {
        println!("LEFT OUT: load beside fio (there is no fio: apt-get install fio)");
        return Ok(ExitCode::SUCCESS);
    }
    let Some(rig) = Rig::new() else {
        println!("LEFT OUT: load beside fio (no room for files in /dev/shm)");
        return Ok(ExitCode::FAILURE);
    };
    let awake = if arguments.iter().any(|word| word == "--as-is") { None } else { keep_awake() };
    let load = || std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let idle = if awake.is_some() { "processors kept awake" } else { "idle processors as they come" };
    println!("{}, {pairs} pairs of {time}, {idle}; load {}", version(), load().trim());
    println!(
        "{:<34} {:>9} {:>9} {:>6} {:>7}  {:>20} {:>6}",
        "cell", "fio IOPS", "ours", "ratio", "ceiling", "user ns/request", "ratio"
    );
    let mut judged = Vec::new();
    for cell in cells(&rig) {
        let name = cell.name();
        if only.split_whitespace().all(|word| name.contains(word)) {
            let ratios = cell.run(&rig, pairs, &time, if batches { &WAYS } else { &WAYS[..1] });
            judged.push((cell, ratios));
        }
    }
    println!("load {}", load().trim());
    let mut targets = Targets::begin(io::stdout())?;
    for (cell, (throughput, user)) in judged {
        targets.at_least(&format!("{}: throughput, of fio's", cell.name()), cell.target(), throughput, "")?;
        if cell.block == "4k" {
            targets.at_most(&format!("{}: user time, of fio's", cell.name()), MOST_USER, user, "")?;
        }
    }
    Ok(if targets.end()? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// User time per request that is allowed, of fio's; asked of small requests, where it counts.
const MOST_USER: f64 = 0.6;

/// Processors with nothing to do poll instead of halting while the file is held.
fn keep_awake() -> Option<File> {
    let mut file = OpenOptions::new().write(true).open("/dev/cpu_dma_latency").ok()?;
    file.write_all(&0i32.to_ne_bytes()).ok()?;
    Some(file)
}

/// What is compared.
struct Cell {
    place: &'static str,
    path: PathBuf,
    consent: Option<String>,
    engine: &'static str,
    depth: u32,
    rw: &'static str,
    block: &'static str,
}

/// How fio batches: requests handed over at once, and ends waited for. Nothing is said where both are 1.
#[derive(Clone, Copy)]
struct Way {
    batch: u32,
    reap: u32,
}

const WAYS: [Way; 4] =
    [Way { batch: 1, reap: 1 }, Way { batch: 8, reap: 1 }, Way { batch: 8, reap: 8 }, Way { batch: 16, reap: 16 }];

impl std::fmt::Display for Way {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.batch, self.reap)
    }
}

/// What one side reached.
#[derive(Clone, Copy)]
struct Reached {
    per_second: f64,
    user_ns: f64,
    requests: f64,
}

fn cells(rig: &Rig) -> Vec<Cell> {
    let mut cells = Vec::new();
    for (place, path, consent) in rig.places() {
        for (engine, depth) in [("psync", 1), ("io_uring", 1), ("io_uring", 32)] {
            for (rw, block) in [("randread", "4k"), ("randwrite", "4k"), ("read", "128k")] {
                cells.push(Cell { place, path: path.clone(), consent: consent.clone(), engine, depth, rw, block });
            }
        }
    }
    cells
}

impl Cell {
    fn name(&self) -> String {
        format!("{} {} QD{} {} {}", self.place, self.engine, self.depth, self.block, self.rw)
    }

    /// The ratio of throughput that is to be reached.
    fn target(&self) -> f64 {
        let far = self.place == "tmpfs" && self.block == "4k" && (self.engine == "psync" || self.depth > 1);
        if far { 1.1 } else { 0.98 }
    }

    /// Measures and prints it; throughput and user time as shares of fio's.
    fn run(&self, rig: &Rig, pairs: usize, time: &str, ways: &[Way]) -> (f64, f64) {
        let theirs = self.best_way(ways, time);
        let bare_ways = self.bare_ways();
        let mut both: Vec<(Reached, Reached)> = Vec::new();
        let mut bare: Vec<Vec<f64>> = vec![Vec::new(); bare_ways.len()];
        for pair in 0..pairs {
            if pair % 2 == 0 {
                let fio = self.fio(theirs, time);
                both.push((fio, self.ours(rig, time)));
            } else {
                let reached = self.ours(rig, time);
                both.push((self.fio(theirs, time), reached));
            }
            // One way after another, beside the pair: all of them each time would take most of the run.
            let way = pair % bare_ways.len();
            bare[way].push(self.bare(bare_ways[way], time) / both[pair].0.per_second);
        }
        let ratio = median(both.iter().map(|(fio, ours)| ours.per_second / fio.per_second).collect());
        let ceiling = bare.into_iter().filter(|found| !found.is_empty()).map(median).fold(0.0, f64::max);
        let middle = |pick: fn(&(Reached, Reached)) -> f64| median(both.iter().map(pick).collect());
        let user = |side: fn(&(Reached, Reached)) -> Reached| {
            let sum = |pick: fn(&Reached) -> f64| both.iter().map(|pair| pick(&side(pair))).sum::<f64>();
            sum(|side| side.user_ns * side.requests) / sum(|side| side.requests)
        };
        let (fio_user, our_user) = (user(|pair| pair.0), user(|pair| pair.1));
        println!(
            "{:<34} {:>9.0} {:>9.0} {:>6.2} {:>7.2}  {:>20} {:>6.2}{}",
            self.name(),
            middle(|pair| pair.0.per_second),
            middle(|pair| pair.1.per_second),
            ratio,
            ceiling,
            format!("fio {fio_user:.0}, ours {our_user:.0}"),
            our_user / fio_user,
            if theirs.batch > 1 { format!("  fio batches {theirs}") } else { String::new() },
        );
        (ratio, our_user / fio_user)
    }

    /// The way of batching that serves fio best.
    fn best_way(&self, ways: &[Way], time: &str) -> Way {
        let choice = self.depth > 1 && ways.len() > 1;
        let tried = ways.iter().filter(|_| choice).map(|way| (self.fio(*way, time).per_second, *way));
        tried.max_by(|a, b| a.0.total_cmp(&b.0)).map_or(WAYS[0], |(_, way)| way)
    }

    /// Ends waited for, and whether it looks before it sleeps.
    fn bare_ways(&self) -> Vec<(u32, bool)> {
        match (self.engine, self.depth) {
            ("psync", _) => vec![(1, false)],
            (_, 1) => vec![(1, false), (1, true)],
            (_, depth) => vec![(1, false), (1, true), (8, true), (depth, false)],
        }
    }

    /// Requests per second of a bare loop.
    fn bare(&self, (reap, looks): (u32, bool), time: &str) -> f64 {
        let time: flashscope_units::Nanos = time.parse().expect("a time with its unit");
        let bare = Bare {
            depth: if self.engine == "psync" { 0 } else { self.depth },
            batch: reap,
            looks,
            write: self.rw.ends_with("write"),
            random: self.rw.starts_with("rand"),
            block: if self.block == "4k" { 4 << 10 } else { 128 << 10 },
            span: SIZE,
            time: Duration::from_nanos(time.get()),
        };
        let path = self.path.clone();
        let reached = std::thread::spawn(move || bare.run(&path)).join().expect("the bare loop").expect("it runs");
        reached.requests as f64 / reached.time.as_secs_f64()
    }

    fn fio(&self, way: Way, time: &str) -> Reached {
        let mut fio = Command::new("fio");
        fio.args([
            "--name=x",
            "--direct=1",
            "--time_based",
            "--thread",
            "--norandommap",
            "--random_generator=tausworthe64",
        ]);
        fio.args([
            "--scramble_buffers=0",
            "--refill_buffers=0",
            "--disk_util=0",
            "--disable_slat=1",
            "--disable_lat=1",
        ]);
        fio.args(["--invalidate=0", "--clocksource=cpu", "--allow_mounted_write=1", "--output-format=json"]);
        fio.arg(format!("--filename={}", self.path.display())).arg(format!("--size={SIZE}"));
        fio.args([
            format!("--ioengine={}", self.engine),
            format!("--iodepth={}", self.depth),
            format!("--rw={}", self.rw),
        ]);
        fio.args([format!("--bs={}", self.block), format!("--runtime={time}")]);
        if self.engine == "io_uring" {
            fio.args(["--fixedbufs=1", "--registerfiles=1"]);
            if way.batch > 1 {
                fio.args([
                    format!("--iodepth_batch={}", way.batch),
                    format!("--iodepth_batch_complete_min={}", way.reap),
                ]);
                fio.arg(format!("--iodepth_batch_complete_max={}", self.depth));
            }
        }
        let output = fio.output().expect("fio runs");
        let text = String::from_utf8_lossy(&output.stdout);
        let start =
            text.find('{').unwrap_or_else(|| panic!("fio gave no JSON: {}", String::from_utf8_lossy(&output.stderr)));
        let found: Value = serde_json::from_str(&text[start..]).expect("fio's JSON");
        let job = &found["jobs"][0];
        let side = &job[if self.rw.ends_with("write") { "write" } else { "read" }];
        let number = |value: &Value| value.as_f64().expect("a number");
        let (requests, run_ns) = (number(&side["total_ios"]), number(&job["job_runtime"]) * 1e6);
        let user = number(&job["usr_cpu"]) / 100.0 * run_ns;
        Reached { per_second: number(&side["iops"]), user_ns: user / requests, requests }
    }

    fn ours(&self, rig: &Rig, time: &str) -> Reached {
        let mut bench = Command::new(&rig.binary);
        let engine = if self.engine == "psync" { "sync" } else { "uring" };
        bench.arg("bench").arg(&self.path).args(["--json", "--rw", self.rw, "--bs", self.block, "--engine", engine]);
        bench.args(["--iodepth", &self.depth.to_string(), "--runtime", time, "--size", &SIZE.to_string()]);
        match &self.consent {
            Some(identity) => bench.arg(format!("--destroy-data={identity}")).arg("--destroy-signatures"),
            None => bench.arg("--allow-write"),
        };
        let output = bench.output().expect("flashscope runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let found: Value = serde_json::from_slice(&output.stdout).expect("our JSON");
        let job = &found["phases"][0]["runs"][0]["jobs"][0];
        let side = &job[if self.rw.ends_with("write") { "write" } else { "read" }];
        let number = |value: &Value| value.as_f64().expect("a number");
        let (user, requests) = (number(&job["cpu"]["user_ns"]), number(&job["cpu"]["count"]));
        Reached { per_second: number(&side["requests_per_s"]), user_ns: user / requests, requests }
    }
}

/// A file on tmpfs, and a loop device over another one.
struct Rig {
    directory: PathBuf,
    device: Option<LoopDevice>,
    binary: PathBuf,
}

impl Rig {
    fn new() -> Option<Rig> {
        let directory = Path::new("/dev/shm").join(format!("flashscope-vs-fio-{}", std::process::id()));
        std::fs::create_dir_all(&directory).ok()?;
        let mut content = vec![0; SIZE as usize];
        flashscope_host::payload::fill(flashscope_device::Fill::Tagged { generation: 0 }, 0, &mut content);
        std::fs::write(directory.join("file"), &content).ok()?;
        std::fs::write(directory.join("disk"), &content).ok()?;
        let options = LoopOptions { block_size: 512, max_request: None };
        let device = LoopDevice::attach(&directory.join("disk"), options);
        if let Err(error) = &device {
            eprintln!("LEFT OUT: the loop device ({error})");
        }
        Some(Rig { directory, device: device.ok(), binary: PathBuf::from(env!("CARGO_BIN_EXE_flashscope")) })
    }

    fn places(&self) -> Vec<(&'static str, PathBuf, Option<String>)> {
        let mut places = vec![("tmpfs", self.directory.join("file"), None)];
        if let Some(device) = &self.device {
            let identity = format!("loop:{}", self.directory.join("disk").display());
            places.push(("loop", device.path(), Some(identity)));
        }
        places
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        if let Some(device) = &self.device {
            let _ = device.detach();
        }
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

fn version() -> String {
    let output = Command::new("fio").arg("--version").output().expect("fio runs");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    if values.len() % 2 == 1 { values[half] } else { (values[half - 1] + values[half]) / 2.0 }
}
