//! Whether percentiles are right: those of `bench` and of fio beside the log of the emulated device that both measured.
//!
//! The device is a simulated card behind FUSE, as a file and as a loop device, that writes down when each request reached it
//! and when its answer went out ([`Options::log`]). Both tools read 4 KiB at random, in turns, from the same device. What the
//! log cannot see is the way from the tool to the device and back. The emulator measures it at its start (its *floor*), and
//! it is the same for both tools; it is printed, and added to the log's times. What remains is the tool's error: the target is 1 % + 2 µs at
//! p50, p99 and p99.9, and no more than fio's. Both ask for the same number of requests; errors that differ by
//! less than half a bucket of fio's histogram (64 to the octave, so a 256th of the value at least) are equal.
//!
//! Needs root, `/dev/fuse` and fio, and a machine that does nothing else. Exit code 1 where a target is missed. A part of
//! `scripts/prove load`;
//! `cargo bench -p flashscope-cli --bench percentiles [-- --pairs N] [--requests N]`
#![allow(clippy::print_stdout, clippy::print_stderr)]

use flashscope_emulate::{Emulator, LogTo, Options, Speed, Stop};
use flashscope_host::Outputs;
use flashscope_testkit::Targets;
use serde_json::Value;
use std::io::{self, Stdout};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;

/// A card of 190 µs, with the noise of cards in the field for a tail.
const CARD: &str =
    "sd-flat,capacity=256MiB,noise=field,link.command=190us,link.bytes_per_s=400e6,mapping.program.page=20us";
const BLOCK: u64 = 4096;
const SHARES: [(&str, f64); 3] = [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)];

fn main() -> io::Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().collect();
    let after = |name: &str| arguments.iter().skip_while(|word| *word != name).nth(1)?.parse::<u64>().ok();
    let (pairs, requests) = (after("--pairs").unwrap_or(5), after("--requests").unwrap_or(20_000));
    if let Err(why) = can() {
        println!("LEFT OUT: percentiles of load beside an emulator's log ({why})");
        return Ok(ExitCode::SUCCESS);
    }
    let place_of_all = if onto_one_processor() { "all on one processor" } else { "on any processor" };
    let load = || std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!("{pairs} pairs of {requests} reads of 4 KiB, errors are medians; {place_of_all}; load {}", load().trim());
    let mut targets = Targets::begin(io::stdout())?;
    for attach_loop in [false, true] {
        place(attach_loop, pairs, requests, &mut targets)?;
    }
    println!("load {}", load().trim());
    Ok(if targets.end()? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A tool's percentiles and what they should be, in nanoseconds.
struct Found {
    tool: [f64; 3],
    log: [f64; 3],
}

fn place(attach_loop: bool, pairs: u64, requests: u64, targets: &mut Targets<Stdout>) -> io::Result<()> {
    let rig = Rig::new();
    let log = rig.0.join("log.csv");
    let at = rig.0.join("at");
    std::fs::create_dir_all(&at).expect("a directory");
    let options = Options {
        model: CARD.to_owned(),
        at: Some(at),
        attach_loop,
        backing: None,
        seed: 1,
        speed: Speed::Times(1.0),
        log: Some(LogTo::Output(Arc::new(Outputs::new(true, |_| true).plan(&log).expect("a place for the log")))),
        registry: rig.0.join("registry"),
    };
    let mut emulator = Emulator::start(&options).unwrap_or_else(|error| panic!("{error}"));
    let path = emulator.path();
    let (mut fio, mut ours) = (Vec::new(), Vec::new());
    for pair in 0..pairs {
        let mut run = |mine: bool| {
            let from = emulator.statistics().up.get();
            let tool = if mine { by_us(&path, requests) } else { by_fio(&path, requests) };
            if mine { &mut ours } else { &mut fio }.push((tool, from, emulator.statistics().up.get()));
        };
        run(pair % 2 == 1);
        run(pair % 2 == 0);
    }
    let (way, late) = (emulator.statistics().floor_paced.as_f64(), emulator.statistics().lateness);
    assert_eq!(emulator.stop(false).expect("it stops"), Stop::Done);
    let answers = answers(&log);
    let found = |(tool, from, until): ([f64; 3], u64, u64)| {
        let during = answers.iter().filter(|(arrived, _)| (from..until).contains(arrived));
        let mut times: Vec<f64> = during.map(|(_, time)| *time as f64).collect();
        times.sort_by(f64::total_cmp);
        Found { tool, log: SHARES.map(|(_, share)| times[((times.len() as f64 * share).ceil() as usize).max(1) - 1]) }
    };
    let (fio, ours): (Vec<Found>, Vec<Found>) =
        (fio.into_iter().map(&found).collect(), ours.into_iter().map(&found).collect());
    let late = late.map_or(0.0, |late| late.p999.as_f64() / 1e3);
    let place = if attach_loop { "loop device" } else { "file" };
    println!("{place}: the way there and back {:.1} us; answers late at p99.9 {late:.0} us", way / 1e3);
    for (index, (name, _)) in SHARES.iter().enumerate() {
        let of = |found: &[Found], pick: &dyn Fn(&Found) -> f64| median(found.iter().map(pick).collect());
        let log = |found: &Found| found.log[index];
        let error = |found: &Found| found.tool[index] - found.log[index] - way;
        let (mine, theirs) = (of(&ours, &error), of(&fio, &error));
        let allowed = 0.01 * of(&ours, &log) + 2_000.0;
        let equal = of(&ours, &log) / 256.0;
        println!(
            "  {name:>5}: log {:8.1} us, ours {:8.1} (error {:+6.1}), fio {:8.1} (error {:+6.1}) of its log {:8.1}",
            of(&ours, &log) / 1e3,
            of(&ours, &|found| found.tool[index]) / 1e3,
            mine / 1e3,
            of(&fio, &|found| found.tool[index]) / 1e3,
            theirs / 1e3,
            of(&fio, &log) / 1e3,
        );
        let target = format!("{place}: error at {name}");
        targets.at_most(&target, allowed / 1e3, mine.abs() / 1e3, "µs")?;
        let target = format!("{target}, beside fio's and half a bucket of it");
        targets.at_most(&target, (theirs.abs() + equal) / 1e3, mine.abs() / 1e3, "µs")?;
    }
    Ok(())
}

/// When each read of one block reached the device, and how long its answer took.
fn answers(log: &Path) -> Vec<(u64, u64)> {
    let text = std::fs::read_to_string(log).expect("the log");
    let block = BLOCK.to_string();
    let line = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        let [arrived, _, answered, kind, _, length, _] = fields[..] else { return None };
        let time = |text: &str| text.parse::<u64>().ok();
        (kind == "read" && length == block).then_some(())?;
        Some((time(arrived)?, time(answered)? - time(arrived)?))
    };
    text.lines().filter_map(line).collect()
}

/// Puts this process, the emulator in it and the tools that it starts onto one processor.
///
/// They take turns, so one is enough for them, and nobody wakes a processor on which a thread of the kernel is at work: where
/// the kernel is not pre-emptive, that makes an answer wait for half a millisecond and more after the log says that it is out.
fn onto_one_processor() -> bool {
    let Ok(processors) = std::thread::available_parallelism() else { return false };
    let last = (processors.get() - 1).to_string();
    let mut taskset = Command::new("taskset");
    taskset.args(["--all-tasks", "--cpu-list", "--pid", &last, &std::process::id().to_string()]);
    taskset.output().is_ok_and(|output| output.status.success())
}

fn by_fio(path: &Path, requests: u64) -> [f64; 3] {
    let mut fio = Command::new("fio");
    fio.args(["--name=x", "--direct=1", "--rw=randread", "--bs=4k", "--norandommap", "--ioengine=psync", "--thread"]);
    fio.args(["--percentile_list=50:99:99.9", "--output-format=json", "--invalidate=0", "--size=256m"]);
    fio.args([format!("--filename={}", path.display()), format!("--number_ios={requests}")]);
    let output = fio.output().expect("fio runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let start = text.find('{').unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    let found: Value = serde_json::from_str(&text[start..]).expect("fio's JSON");
    let percentiles = &found["jobs"][0]["read"]["clat_ns"]["percentile"];
    ["50.000000", "99.000000", "99.900000"].map(|name| percentiles[name].as_f64().expect("a percentile"))
}

fn by_us(path: &Path, requests: u64) -> [f64; 3] {
    let mut bench = Command::new(env!("CARGO_BIN_EXE_flashscope"));
    bench.arg("bench").arg(path).args(["--json", "--rw", "randread", "--bs", "4k", "--engine", "sync"]);
    bench.args(["--size", "256MiB", "--count", &requests.to_string()]);
    let output = bench.output().expect("flashscope runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let found: Value = serde_json::from_slice(&output.stdout).expect("our JSON");
    let times = &found["phases"][0]["runs"][0]["jobs"][0]["read"]["service_time"];
    ["p50_ns", "p99_ns", "p99_9_ns"].map(|name| times[name].as_f64().unwrap_or_else(|| panic!("{times}")))
}

/// A directory, and nothing left of it.
struct Rig(PathBuf);

impl Rig {
    fn new() -> Rig {
        Rig(std::env::temp_dir().join(format!("flashscope-percentiles-{}", std::process::id())))
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        let _ = flashscope_emulate::clean(&self.0.join("registry"));
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn can() -> Result<(), &'static str> {
    if !Path::new("/dev/loop-control").exists() {
        return Err("no loop devices");
    }
    std::fs::OpenOptions::new().read(true).write(true).open("/dev/fuse").map_err(|_| "no /dev/fuse, or not root")?;
    Command::new("fio").arg("--version").output().map_err(|_| "no fio: apt-get install fio").map(|_| ())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    if values.len() % 2 == 1 { values[half] } else { (values[half - 1] + values[half]) / 2.0 }
}
