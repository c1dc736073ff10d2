//! How near the emulated device comes to its model, in the same run and by other people's clock (fio).
//!
//! 1. The floor: a 4 KiB read that is answered at once, at p50; target 20 µs.
//! 2. Requests per second of a model that takes no time, fio at queue depth 16; target 20 000.
//! 3. fio at queue depth 1 against the model's own times, for reads and writes of 4 KiB to 1 MiB, on the file and on a loop
//!    device: at p50 within 3 % + 15 µs, at p99 within 10 % + 60 µs. The model is asked for the same requests in virtual time.
//! 4. Eight cards of 2 ms and more at once: p50 within 5 %.
//!
//! Needs root, `/dev/fuse` and fio, and a machine that does nothing else: the load is printed. Prints ratios; a target that is
//! missed is marked, and is no failure.
//!
//! `cargo bench -p flashscope-emulate --bench emulation [-- SECONDS] [floor] [rate] [accuracy] [many]`
#![allow(clippy::print_stdout, clippy::print_stderr, missing_docs)]

use flashscope_device::{ExecuteExt, Fill, Request, Target, WriteGrant};
use flashscope_emulate::{Emulator, Options, Speed};
use flashscope_units::Bytes;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::thread;

/// A card that takes the same time everywhere, as `sd-flat` does; reads from 0.3 to 25 ms, writes from 1 to 85 ms.
const SLOW: &str = "sd-flat,capacity=256MiB,noise=none";
/// The fastest that is promised to be held: 200 µs and little more.
const FAST: &str =
    "sd-flat,capacity=256MiB,noise=none,link.command=190us,link.bytes_per_s=400e6,mapping.program.page=20us";
/// Takes no time.
const NONE: &str = "sd-flat,capacity=256MiB,noise=none,link.command=0us,link.bytes_per_s=1e15,mapping.program.page=0us";
const SIZES: [u64; 5] = [4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20];
const CARDS: usize = 8;

fn main() -> ExitCode {
    let seconds = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(3);
    if let Err(why) = can() {
        eprintln!("SKIPPED emulation: {why}");
        return ExitCode::SUCCESS;
    }
    let rig = Rig::new();
    println!("load {} on {} processors", load(), thread::available_parallelism().map_or(0, usize::from));
    let parts = ["floor", "rate", "accuracy", "many"];
    let named: Vec<String> = std::env::args().filter(|word| parts.contains(&word.as_str())).collect();
    for part in parts.into_iter().filter(|part| named.is_empty() || named.iter().any(|name| name == part)) {
        match part {
            "floor" => floor(&rig),
            "rate" => rate(&rig, seconds),
            "accuracy" => accuracies(&rig, seconds),
            _ => many(&rig, seconds),
        }
    }
    println!("load {}", load());
    ExitCode::SUCCESS
}

fn floor(rig: &Rig) {
    for attach_loop in [false, true] {
        let emulator = rig.start(0, NONE, attach_loop);
        let statistics = emulator.statistics();
        let (hot, paced) = (statistics.floor.as_f64() / 1e3, statistics.floor_paced.as_f64() / 1e3);
        let way = if attach_loop { "loop" } else { "file" };
        println!("floor {way}: {hot:.1} us hot, {paced:.1} us paced at p50 (target 20){}", mark(hot <= 20.0));
    }
}

fn rate(rig: &Rig, seconds: u64) {
    let emulator = rig.start(0, NONE, false);
    for (name, jobs) in [("one job", 1), ("two jobs", 2)] {
        for pattern in ["randread", "randwrite"] {
            let found =
                Fio { pattern, block: 4096, seconds, depth: 16, jobs, engine: "io_uring" }.run(&emulator.path());
            println!(
                "rate {pattern} {name}: {:.0} requests/s (target 20000){}",
                found.iops,
                mark(found.iops >= 20_000.0)
            );
        }
    }
}

fn accuracies(rig: &Rig, seconds: u64) {
    for (name, model) in [("fast", FAST), ("slow", SLOW)] {
        for attach_loop in [false, true] {
            accuracy(rig, name, model, attach_loop, seconds);
        }
    }
}

/// fio's times against the model's.
fn accuracy(rig: &Rig, name: &str, model: &str, attach_loop: bool, seconds: u64) {
    let way = if attach_loop { "loop" } else { "file" };
    for pattern in ["read", "write"] {
        for block in SIZES {
            // A fresh device each, so that both begin in the same state.
            let emulator = rig.start(0, model, attach_loop);
            let found = Fio { pattern, block, seconds, depth: 1, jobs: 1, engine: "psync" }.run(&emulator.path());
            let [p50, p99] = by_the_model(model, pattern == "write", block, found.requests);
            let (near50, near99) = (
                found.p50_us <= p50 * 1.03 + 15.0 && found.p50_us >= p50 * 0.97 - 15.0,
                found.p99_us <= p99 * 1.1 + 60.0,
            );
            let late = emulator.statistics().lateness.map_or(0.0, |late| late.p99.as_f64() / 1e3);
            println!(
                "{name} {way} {pattern:5} {:>7}: p50 {:8.0} us of {p50:8.0} ({:.3}){}, p99 {:8.0} us of {p99:8.0} ({:.3}){}; late p99 {late:.0} us",
                Bytes(block).to_string(),
                found.p50_us,
                found.p50_us / p50,
                mark(near50),
                found.p99_us,
                found.p99_us / p99,
                mark(near99),
            );
        }
    }
}

/// Eight at once against one alone.
fn many(rig: &Rig, seconds: u64) {
    let block = 72 << 10;
    let emulators: Vec<Emulator> = (0..CARDS).map(|index| rig.start(index, SLOW, false)).collect();
    let [expected, _] = by_the_model(SLOW, false, block, 200);
    let found: Vec<Found> = thread::scope(|scope| {
        let fio = Fio { pattern: "read", block, seconds, depth: 1, jobs: 1, engine: "psync" };
        let run = |emulator: &Emulator| {
            let path = emulator.path();
            scope.spawn(move || fio.run(&path))
        };
        let threads: Vec<_> = emulators.iter().map(run).collect();
        threads.into_iter().map(|thread| thread.join().expect("fio runs")).collect()
    });
    let worst = found.iter().map(|found| found.p50_us / expected).fold(0.0, f64::max);
    let p99 = found.iter().map(|found| found.p99_us / expected).fold(0.0, f64::max);
    println!(
        "{CARDS} cards of {expected:.0} us at once: worst p50 ratio {worst:.3} (target 1.05){}, worst p99 ratio {p99:.3}",
        mark(worst <= 1.05)
    );
}

/// The 50th and 99th percentile in microseconds of the model in virtual time, one request after the other.
fn by_the_model(model: &str, write: bool, block: u64, requests: u64) -> [f64; 2] {
    let mut target = flashscope_sim::open(model, 1).expect("the model is valid");
    target.check_always(false);
    let mut grant = WriteGrant::simulated(target.facts(), Bytes(u64::MAX)).expect("a simulated device");
    let capacity = target.facts().capacity.get();
    let mut times: Vec<f64> = (0..requests.max(1))
        .map(|index| {
            let (at, length) = (Bytes(index * block % capacity), Bytes(block));
            let request = match write {
                true => Request::write(&mut grant, 0, at, length, Fill::Byte(1), false).expect("inside"),
                false => Request::read(0, at, length),
            };
            target.execute(request).expect("no faults").service_time().as_f64() / 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    [0.5, 0.99].map(|share| times[((times.len() - 1) as f64 * share).round() as usize])
}

#[derive(Clone, Copy)]
struct Fio {
    pattern: &'static str,
    block: u64,
    seconds: u64,
    depth: u32,
    jobs: u32,
    engine: &'static str,
}

struct Found {
    requests: u64,
    iops: f64,
    p50_us: f64,
    p99_us: f64,
}

impl Fio {
    fn run(self, path: &Path) -> Found {
        let mut fio = Command::new("fio");
        fio.args([
            "--name=bench",
            "--direct=1",
            "--size=256m",
            "--time_based",
            "--output-format=json",
            "--group_reporting",
        ]);
        fio.args([
            "--randrepeat=1",
            "--norandommap",
            "--percentile_list=50:99",
            "--lat_percentiles=0",
            "--clat_percentiles=1",
        ]);
        fio.arg(format!("--filename={}", path.display()));
        fio.arg(format!("--rw={}", self.pattern)).arg(format!("--bs={}", self.block));
        fio.arg(format!("--runtime={}", self.seconds)).arg(format!("--iodepth={}", self.depth));
        fio.arg(format!("--numjobs={}", self.jobs)).arg(format!("--ioengine={}", self.engine));
        let output = fio.output().expect("fio starts");
        let text = String::from_utf8_lossy(&output.stdout);
        let json = text.find('{').map_or("", |start| &text[start..]);
        let all: serde_json::Value = serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}: {output:?}"));
        let side = &all["jobs"][0][if self.pattern.ends_with("read") { "read" } else { "write" }];
        let percentile = |name: &str| side["clat_ns"]["percentile"][name].as_f64().expect("a percentile") / 1e3;
        Found {
            requests: side["total_ios"].as_u64().expect("a count"),
            iops: side["iops"].as_f64().expect("a rate"),
            p50_us: percentile("50.000000"),
            p99_us: percentile("99.000000"),
        }
    }
}

struct Rig(PathBuf);

impl Rig {
    fn new() -> Rig {
        Rig(std::env::temp_dir().join(format!("flashscope-emulation-{}", std::process::id())))
    }

    fn start(&self, index: usize, model: &str, attach_loop: bool) -> Emulator {
        let at = self.0.join(index.to_string());
        fs::create_dir_all(&at).expect("a directory");
        let options = Options {
            model: model.to_owned(),
            at,
            attach_loop,
            backing: None,
            seed: 1,
            speed: Speed::Times(1.0),
            log: None,
            registry: self.0.join("registry"),
        };
        Emulator::start(&options).unwrap_or_else(|error| panic!("{error}"))
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        let _ = flashscope_emulate::clean(&self.0.join("registry"));
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn can() -> Result<(), &'static str> {
    if !rustix::process::geteuid().is_root() {
        return Err("it needs root");
    }
    fs::OpenOptions::new().read(true).write(true).open("/dev/fuse").map_err(|_| "there is no /dev/fuse")?;
    Command::new("fio").arg("--version").output().map_err(|_| "there is no fio (apt-get install fio)").map(|_| ())
}

fn load() -> String {
    fs::read_to_string("/proc/loadavg").unwrap_or_default().split(' ').next().unwrap_or("?").to_owned()
}

fn mark(met: bool) -> &'static str {
    if met { "" } else { " MISSED" }
}
