//! How near the emulated device comes to its model, in the same run and by other people's clock (fio).
//!
//! 1. The floor: a 4 KiB read that is answered at once, at p50; target 20 µs.
//! 2. Requests per second of a model that takes no time, fio at queue depth 16; target 20 000.
//! 3. fio at queue depth 1 against the model's own times, for reads and writes of 4 KiB to 1 MiB, on the file and on a loop
//!    device: at p50 within 3 % + 15 µs, at p99 within 10 % + 60 µs. The model is asked for the same requests in virtual time.
//! 4. Eight cards of 2 ms and more at once: p50 within 5 %.
//!
//! And what no clock of this machine decides (`model`, all that `--quick` does): the emulator gives each request the time that
//! the model gives it in virtual time, and what was written is read back.
//!
//! Needs root and `/dev/fuse`; but for `model` also fio, and a machine that does nothing else: the load is printed. Exit code
//! 1 where a target is missed.
//!
//! `scripts/prove emulation [--quick]`, or
//! `cargo bench -p flashscope-emulate --bench emulation [-- SECONDS] [model] [floor] [rate] [accuracy] [many]`
#![allow(clippy::print_stdout, clippy::print_stderr, missing_docs)]

use flashscope_device::{ExecuteExt, Fill, Request, Target, WriteGrant};
use flashscope_emulate::{Emulator, LogTo, Options, Speed, Stop};
use flashscope_host::Outputs;
use flashscope_testkit::Targets;
use flashscope_units::Bytes;
use std::fs;
use std::io::{self, Stdout};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;
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

const PARTS: [&str; 5] = ["model", "floor", "rate", "accuracy", "many"];

fn main() -> io::Result<ExitCode> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let seconds = words.iter().find_map(|word| word.parse().ok()).unwrap_or(3);
    let quick = words.iter().any(|word| word == "--quick");
    let named = |part: &str| words.iter().any(|word| word == part);
    let all = !PARTS.into_iter().any(named);
    let mut targets = Targets::begin(io::stdout())?;
    let rig = Rig::new();
    for part in PARTS {
        if if quick { part == "model" } else { all || named(part) } {
            if let Err(why) = can(part != "model") {
                println!("LEFT OUT: emulation, {part} ({why})");
                targets.left_out(part, why)?;
                continue;
            }
            match part {
                "model" => as_the_model(&rig, &mut targets)?,
                "floor" => floor(&rig, &mut targets)?,
                "rate" => rate(&rig, seconds, &mut targets)?,
                "accuracy" => accuracies(&rig, seconds, &mut targets)?,
                _ => many(&rig, seconds, &mut targets)?,
            }
        }
    }
    if !quick {
        println!("load {} on {} processors", load(), thread::available_parallelism().map_or(0, usize::from));
    }
    Ok(if targets.end()? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// One request after the other on the file: the times in the log are the model's, and the content is what was written.
fn as_the_model(rig: &Rig, targets: &mut Targets<Stdout>) -> io::Result<()> {
    for (name, model) in [("fast", FAST), ("slow", SLOW)] {
        let log = rig.0.join("log.csv");
        let mut emulator = rig.start_with(0, model, false, Some(&log));
        let file = fs::OpenOptions::new().read(true).write(true).open(emulator.path())?;
        let mut differ = 0;
        for block in WHOLE {
            let written: Vec<u8> = (0..block).map(|at| ((at * 31 + block) >> 9) as u8).collect();
            let mut found = vec![0; block as usize];
            for index in 0..EACH {
                file.write_all_at(&written, index * block)?;
            }
            for index in 0..EACH {
                file.read_exact_at(&mut found, index * block)?;
                differ += written.iter().zip(&found).filter(|(wrote, read)| wrote != read).count();
            }
        }
        drop(file);
        assert_eq!(emulator.stop(false).expect("it stops"), Stop::Done);
        targets.at_most(&format!("{name}: bytes that read back as something else"), 0.0, differ as f64, "")?;
        let expected: Vec<u64> = in_virtual_time(model);
        let logged = logged(&fs::read_to_string(&log)?);
        let others = expected.iter().zip(&logged).filter(|(expected, logged)| expected != logged).count()
            + expected.len().abs_diff(logged.len());
        let target = format!("{name}: requests given another time than the model's");
        targets.row(&target, &format!("0 of {}", expected.len()), &format!("{others}"), others == 0)?;
    }
    Ok(())
}

/// Requests of each size and direction in [`as_the_model`].
const EACH: u64 = 4;
/// Their sizes: of larger ones the kernel makes several.
const WHOLE: [u64; 4] = [4 << 10, 16 << 10, 64 << 10, 256 << 10];

/// What the model takes for the requests of [`as_the_model`], in nanoseconds.
fn in_virtual_time(model: &str) -> Vec<u64> {
    let mut target = flashscope_sim::open(model, 1).expect("the model is valid");
    target.check_always(false);
    let mut grant = WriteGrant::simulated(target.facts(), Bytes(u64::MAX)).expect("a simulated device");
    let mut times = Vec::new();
    for block in WHOLE {
        for write in [true, false] {
            for index in 0..EACH {
                let (at, length) = (Bytes(index * block), Bytes(block));
                let request = match write {
                    true => Request::write(&mut grant, 0, at, length, Fill::Byte(1), false).expect("inside"),
                    false => Request::read(0, at, length),
                };
                times.push(target.execute(request).expect("no faults").service_time().get());
            }
        }
    }
    times
}

/// What each read and write in a log of the emulator took by its model, in nanoseconds: from its arrival, or from the end of
/// the one before where that was later, as answers go out early by what the way back takes.
fn logged(log: &str) -> Vec<u64> {
    let mut free = 0;
    let line = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        let [arrived, done, _, "read" | "write", ..] = fields[..] else { return None };
        let begun = arrived.parse::<u64>().ok()?.max(free);
        free = done.parse().ok()?;
        Some(free - begun)
    };
    log.lines().filter_map(line).collect()
}

fn floor(rig: &Rig, targets: &mut Targets<Stdout>) -> io::Result<()> {
    for attach_loop in [false, true] {
        let emulator = rig.start(0, NONE, attach_loop);
        let statistics = emulator.statistics();
        let (hot, paced) = (statistics.floor.as_f64() / 1e3, statistics.floor_paced.as_f64() / 1e3);
        let way = if attach_loop { "loop" } else { "file" };
        println!("floor {way}: {hot:.1} µs hot, {paced:.1} µs paced at p50");
        if !attach_loop {
            targets.at_most("floor: 4 KiB read of the file at p50", 20.0, hot, "µs")?;
        }
    }
    Ok(())
}

fn rate(rig: &Rig, seconds: u64, targets: &mut Targets<Stdout>) -> io::Result<()> {
    let emulator = rig.start(0, NONE, false);
    for (name, jobs) in [("one job", 1), ("two jobs", 2)] {
        for pattern in ["randread", "randwrite"] {
            let found =
                Fio { pattern, block: 4096, seconds, depth: 16, jobs, engine: "io_uring" }.run(&emulator.path());
            targets.at_least(&format!("rate: {pattern}, {name}"), 20_000.0, found.iops, "/s")?;
        }
    }
    Ok(())
}

fn accuracies(rig: &Rig, seconds: u64, targets: &mut Targets<Stdout>) -> io::Result<()> {
    for (name, model) in [("fast", FAST), ("slow", SLOW)] {
        for attach_loop in [false, true] {
            accuracy(rig, (name, model), attach_loop, seconds, targets)?;
        }
    }
    Ok(())
}

/// fio's times against the model's.
fn accuracy(
    rig: &Rig,
    (name, model): (&str, &str),
    attach_loop: bool,
    seconds: u64,
    targets: &mut Targets<Stdout>,
) -> io::Result<()> {
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
            let target = format!("{name} {way} {pattern} {}", Bytes(block));
            let p50_found = format!("{:.0} µs ({:.3})", found.p50_us, found.p50_us / p50);
            targets.row(&format!("{target}: p50"), &format!("{p50:.0} ±3 % ±15 µs"), &p50_found, near50)?;
            let p99_found = format!("{:.0} µs ({:.3})", found.p99_us, found.p99_us / p99);
            let wanted = format!("≤ {p99:.0} +10 % +60 µs");
            targets.row(&format!("{target}: p99 (answers late {late:.0} µs)"), &wanted, &p99_found, near99)?;
        }
    }
    Ok(())
}

/// Eight at once against one alone.
fn many(rig: &Rig, seconds: u64, targets: &mut Targets<Stdout>) -> io::Result<()> {
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
    println!("{CARDS} cards at once: worst p99 {p99:.3} of the model");
    targets.at_most(&format!("{CARDS} cards of {expected:.0} µs at once: worst p50 of the model"), 1.05, worst, "")
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
        self.start_with(index, model, attach_loop, None)
    }

    fn start_with(&self, index: usize, model: &str, attach_loop: bool, log: Option<&Path>) -> Emulator {
        let at = self.0.join(index.to_string());
        fs::create_dir_all(&at).expect("a directory");
        let options = Options {
            model: model.to_owned(),
            at: Some(at),
            attach_loop,
            backing: None,
            seed: 1,
            speed: Speed::Times(1.0),
            log: log.map(|path| {
                let output = Outputs::new(true, |_| true).plan(path).expect("a place for the log");
                LogTo::Output(Arc::new(output))
            }),
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

fn can(with_fio: bool) -> Result<(), &'static str> {
    if !rustix::process::geteuid().is_root() {
        return Err("it needs root");
    }
    fs::OpenOptions::new().read(true).write(true).open("/dev/fuse").map_err(|_| "there is no /dev/fuse")?;
    if with_fio {
        Command::new("fio").arg("--version").output().map_err(|_| "there is no fio: apt-get install fio")?;
    }
    Ok(())
}

fn load() -> String {
    fs::read_to_string("/proc/loadavg").unwrap_or_default().split(' ').next().unwrap_or("?").to_owned()
}
