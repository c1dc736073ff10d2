//! The load engine against fio, in the same run on the same file: throughput, and processor time per request.
//!
//! Both get the same file, block size, queue and flags (`O_DIRECT`, which tmpfs accepts since Linux 6.6). fio gets its best:
//! no map of visited blocks, its fastest generator, fixed buffers that it does not touch, registered files, threads rather than
//! processes, no statistics but its histogram, which both keep for every request. For deep queues both choose from the same ways of batching
//! (how many requests are handed over at once, how many ends are waited for), each what served it best in the same run beforehand. Pairs alternate and swap their order, since the machine drifts; the ratio is the
//! median of the pairs' ratios. On a busy machine throughput by the clock swings with everybody else's work: requests per second
//! of processor time is printed beside it. The ceiling is what a bare loop of the same system calls reaches in the same run, in the
//! better of two ways, as a multiple of fio: no load generator can be above it.
//!
//! Needs fio, and for the loop device root; says so loudly where they are missing.
//! `cargo bench -p flashscope-cli --bench vs_fio [-- --pairs N] [--time T] [--only WORDS]`
#![allow(clippy::print_stdout, clippy::print_stderr)]

use flashscope_host::load::bare::Bare;
use flashscope_host::{LoopDevice, LoopOptions};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

const SIZE: u64 = 256 << 20;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let after = |name: &str| arguments.iter().skip_while(|word| *word != name).nth(1).cloned();
    let pairs = after("--pairs").and_then(|text| text.parse().ok()).unwrap_or(11);
    let time = after("--time").unwrap_or_else(|| "500ms".to_owned());
    let only = after("--only");
    if Command::new("fio").arg("--version").output().is_err() {
        eprintln!("LEFT OUT: everything (there is no fio: apt-get install fio)");
        return ExitCode::SUCCESS;
    }
    let Some(rig) = Rig::new() else {
        eprintln!("LEFT OUT: everything (no room for files in /dev/shm)");
        return ExitCode::FAILURE;
    };
    let load = || std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!("{}; load {}", version(), load().trim());
    println!(
        "{:<38} {:>10} {:>10} {:>7} {:>7}  {:>7} {:>7}  {:>15} {:>7}",
        "cell", "fio IOPS", "ours", "ratio", "ceiling", "by CPU", "ceiling", "user ns/request", "ratio"
    );
    for cell in cells(&rig) {
        if only.as_ref().is_none_or(|only| cell.name().contains(only.as_str())) {
            cell.run(&rig, pairs, &time);
        }
    }
    println!("load {}", load().trim());
    ExitCode::SUCCESS
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

/// A way of batching. Nothing is said where both are 1: then each does what it likes.
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
    /// Requests per second of processor time of the thread.
    per_cpu_second: f64,
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

    fn run(&self, rig: &Rig, pairs: usize, time: &str) {
        let ways: &[Way] = if self.depth > 1 { &WAYS } else { &WAYS[..1] };
        // Twice each, for the first one warms everything up.
        let best = |run: &dyn Fn(Way) -> Reached| {
            let score =
                |way: Way| (0..if ways.len() > 1 { 3 } else { 1 }).map(|_| run(way).per_cpu_second).fold(0.0, f64::max);
            let tried = ways.iter().map(|way| (score(*way), *way));
            tried.max_by(|a, b| a.0.total_cmp(&b.0)).map_or(WAYS[0], |(_, way)| way)
        };
        let theirs = best(&|way| self.fio(way, time));
        let ours = best(&|way| self.ours(rig, way, time));
        let mut both: Vec<(Reached, Reached)> = Vec::new();
        let mut bare: Vec<(f64, f64)> = Vec::new();
        for pair in 0..pairs {
            let ceiling = self.bare(ours, time);
            if pair % 2 == 0 {
                let fio = self.fio(theirs, time);
                both.push((fio, self.ours(rig, ours, time)));
            } else {
                let reached = self.ours(rig, ours, time);
                both.push((self.fio(theirs, time), reached));
            }
            let fio = both[pair].0;
            bare.push((ceiling.per_second / fio.per_second, ceiling.per_cpu_second / fio.per_cpu_second));
        }
        let ratio = |pick: fn(&Reached) -> f64| median(both.iter().map(|(fio, ours)| pick(ours) / pick(fio)).collect());
        let middle = |pick: fn(&(Reached, Reached)) -> f64| median(both.iter().map(pick).collect());
        // The kernel splits processor time by ticks: over all runs together, where each by itself would be chance.
        let user = |side: fn(&(Reached, Reached)) -> Reached| {
            let sum = |pick: fn(&Reached) -> f64| both.iter().map(|pair| pick(&side(pair))).sum::<f64>();
            sum(|side| side.user_ns * side.requests) / sum(|side| side.requests)
        };
        println!(
            "{:<38} {:>10.0} {:>10.0} {:>7.3} {:>7.3}  {:>7.3} {:>7.3}  {:>6.0} {:>8.0} {:>7.3}{}",
            self.name(),
            middle(|pair| pair.0.per_second),
            middle(|pair| pair.1.per_second),
            ratio(|side| side.per_second),
            median(bare.iter().map(|(by_clock, _)| *by_clock).collect()),
            ratio(|side| side.per_cpu_second),
            median(bare.iter().map(|(_, by_cpu)| *by_cpu).collect()),
            user(|pair| pair.0),
            user(|pair| pair.1),
            user(|pair| pair.1) / user(|pair| pair.0),
            if self.depth > 1 { format!("  batch/reap: fio {theirs}, ours {ours}") } else { String::new() },
        );
    }

    /// The better of our way of batching and everything at once.
    fn bare(&self, way: Way, time: &str) -> Reached {
        let time: flashscope_units::Nanos = time.parse().expect("a time with its unit");
        let loops = |batch: u32| {
            let bare = Bare {
                depth: if self.engine == "psync" { 0 } else { self.depth },
                batch,
                write: self.rw.ends_with("write"),
                random: self.rw.starts_with("rand"),
                block: if self.block == "4k" { 4 << 10 } else { 128 << 10 },
                span: SIZE,
                time: Duration::from_nanos(time.get()),
            };
            let path = self.path.clone();
            let reached = std::thread::spawn(move || bare.run(&path)).join().expect("the bare loop").expect("it runs");
            let (requests, cpu) = (reached.requests as f64, reached.cpu);
            Reached {
                per_second: requests / reached.time.as_secs_f64(),
                per_cpu_second: requests / (cpu.user + cpu.system).as_secs_f64(),
                user_ns: cpu.user.as_f64() / requests,
                requests,
            }
        };
        let (one, all) = (loops(way.reap), loops(self.depth));
        if one.per_cpu_second > all.per_cpu_second { one } else { all }
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
        let (user, system) = (number(&job["usr_cpu"]) / 100.0 * run_ns, number(&job["sys_cpu"]) / 100.0 * run_ns);
        Reached {
            per_second: number(&side["iops"]),
            per_cpu_second: requests / (user + system) * 1e9,
            user_ns: user / requests,
            requests,
        }
    }

    fn ours(&self, rig: &Rig, way: Way, time: &str) -> Reached {
        let mut bench = Command::new(&rig.binary);
        let engine = if self.engine == "psync" { "sync" } else { "uring" };
        bench.arg("bench").arg(&self.path).args(["--json", "--rw", self.rw, "--bs", self.block, "--engine", engine]);
        bench.args(["--iodepth", &self.depth.to_string(), "--runtime", time, "--size", &SIZE.to_string()]);
        if way.batch > 1 {
            bench.args(["--batch", &way.batch.to_string(), "--reap", &way.reap.to_string()]);
        }
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
        let (user, system) = (number(&job["cpu"]["user_ns"]), number(&job["cpu"]["system_ns"]));
        let requests = number(&job["cpu"]["count"]);
        Reached {
            per_second: number(&side["requests_per_s"]),
            per_cpu_second: requests / (user + system) * 1e9,
            user_ns: user / requests,
            requests,
        }
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
