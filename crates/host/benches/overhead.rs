//! Our cost per request against fio's, in the same run on the same loop device.
//!
//! 4 KiB random reads with direct I/O, one at a time, from a loop device that stands on a file in memory: the device
//! takes microseconds, so what is left is the cost of asking. fio gets its best (`psync`, no map of visited blocks, no
//! time-of-day per request beyond what it needs, and none of its slower statistics). Pairs alternate, since the
//! machine drifts; the ratio is that of the medians. On a busy machine the time in the kernel swamps all else: then the
//! best run and the time outside the call are what is left to compare. Needs root and fio; says so loudly where they are missing.
//!
//! `cargo bench -p flashscope-host --bench overhead [-- PAIRS]`
#![allow(clippy::print_stdout, clippy::print_stderr)]

use flashscope_device::{Request, Target};
use flashscope_host::{HostTarget, OpenOptions, SysRoot, open_for_reading};
use flashscope_units::{Bytes, Nanos};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const SIZE: u64 = 64 << 20;
const BLOCK: u64 = 4096;
const REQUESTS: usize = 20_000;
const PAIRS: usize = 15;
/// Requests per batch, as a probe would send them.
const BATCH: usize = 64;

fn main() -> ExitCode {
    let pairs = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(PAIRS);
    let Some(rig) = Rig::new() else {
        eprintln!("SKIPPED overhead: it needs root, losetup and fio (apt-get install fio)");
        return ExitCode::SUCCESS;
    };
    let mut ways: Vec<(&str, Vec<Cost>)> = Vec::new();
    let mut add = |name: &'static str, cost: Cost| match ways.iter_mut().find(|(known, _)| *known == name) {
        Some((_, costs)) => costs.push(cost),
        None => ways.push((name, vec![cost])),
    };
    rig.fio();
    rig.ours(None, BATCH);
    for _ in 0..pairs {
        add("fio psync", rig.fio());
        add("flashscope, batches of 64", rig.ours(None, BATCH));
        add("flashscope, one at a time", rig.ours(None, 1));
        add("flashscope, hang guard, batches of 64", rig.ours(Some(Nanos::secs(30)), BATCH));
        add("flashscope, hang guard, one at a time", rig.ours(Some(Nanos::secs(30)), 1));
    }
    report(&ways);
    ExitCode::SUCCESS
}

/// Mean nanoseconds per request: in the system call as each side stamps it, and all in all.
#[derive(Clone, Copy)]
struct Cost {
    service: f64,
    whole: f64,
}

fn report(ways: &[(&str, Vec<Cost>)]) {
    let head = ["whole ns", "÷ fio", "best run", "÷ fio", "outside the call"];
    println!(
        "{:<40} {:>9} {:>7} {:>9} {:>7} {:>17}",
        "4 KiB direct reads, QD 1", head[0], head[1], head[2], head[3], head[4]
    );
    let whole = |costs: &[Cost]| costs.iter().map(|cost| cost.whole).collect::<Vec<f64>>();
    let best = |costs: &[Cost]| whole(costs).into_iter().fold(f64::INFINITY, f64::min);
    let fio = (median(whole(&ways[0].1)), best(&ways[0].1));
    for (name, costs) in ways {
        let (middle, least) = (median(whole(costs)), best(costs));
        let outside = median(costs.iter().map(|cost| cost.whole - cost.service).collect());
        let (ratio, best_ratio) = (middle / fio.0, least / fio.1);
        println!("{name:<40} {middle:>9.0} {ratio:>7.3} {least:>9.0} {best_ratio:>7.3} {outside:>14.0} ns");
    }
    let pairs: Vec<f64> = ways[0].1.iter().zip(&ways[1].1).map(|(fio, ours)| ours.whole / fio.whole).collect();
    let list = pairs.iter().map(|ratio| format!("{ratio:.2}")).collect::<Vec<_>>().join(" ");
    println!("ours ÷ fio, pair by pair: {list}; median {:.3}", median(pairs));
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    if values.len() % 2 == 1 { values[half] } else { (values[half - 1] + values[half]) / 2.0 }
}

/// A loop device on a file in memory.
struct Rig {
    directory: PathBuf,
    device: PathBuf,
}

impl Rig {
    fn new() -> Option<Rig> {
        let root = rustix::process::geteuid().is_root();
        if !root || !Path::new("/usr/bin/fio").exists() || !Path::new("/dev/loop-control").exists() {
            return None;
        }
        let memory = Path::new("/dev/shm");
        let parent = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        let directory = parent.join(format!("flashscope-overhead-{}", std::process::id()));
        fs::create_dir_all(&directory).ok()?;
        let file = directory.join("disk");
        let mut content = vec![0; SIZE as usize];
        flashscope_host::payload::fill(flashscope_device::Fill::Tagged { generation: 0 }, 0, &mut content);
        fs::write(&file, content).ok()?;
        let attach = Command::new("losetup").args(["--find", "--show", "--direct-io=on"]).arg(&file).output().ok()?;
        let device = PathBuf::from(String::from_utf8_lossy(&attach.stdout).trim());
        (attach.status.success()).then_some(Rig { directory, device })
    }

    fn fio(&self) -> Cost {
        let mut fio = Command::new("fio");
        fio.args(["--name=x", "--ioengine=psync", "--direct=1", "--rw=randread", "--bs=4k", "--readonly"]);
        fio.args(["--norandommap", "--random_generator=tausworthe64", "--iodepth=1", "--thread"]);
        fio.args(["--clocksource=cpu", "--disable_slat=1", "--disk_util=0", "--lat_percentiles=0"]);
        fio.args(["--clat_percentiles=0", "--invalidate=0", "--output-format=terse", "--terse-version=3"]);
        fio.arg(format!("--filename={}", self.device.display()));
        fio.arg(format!("--io_size={}", REQUESTS as u64 * BLOCK)).arg(format!("--size={SIZE}"));
        let output = fio.output().expect("fio runs");
        let line = String::from_utf8_lossy(&output.stdout).into_owned();
        let fields: Vec<&str> = line.trim().split(';').collect();
        // Terse version 3: 7 is IOPS, 8 the run time in ms, 15 the mean of the completion time in µs.
        let number = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok()).expect("a terse line");
        Cost { service: number(15) * 1e3, whole: number(8) * 1e6 / REQUESTS as f64 }
    }

    fn ours(&self, hang_after: Option<Nanos>, batch: usize) -> Cost {
        let options = OpenOptions { read_in_use: false, allow_buffered: false, hang_after };
        let mut target = open_for_reading(&SysRoot::live(), &self.device, &options).expect("the loop device opens");
        let places = places(REQUESTS);
        let start = target.now();
        let service = run(&mut target, &places, batch);
        let whole = target.now().since(start);
        Cost { service: service.as_f64() / REQUESTS as f64, whole: whole.as_f64() / REQUESTS as f64 }
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("-d").arg(&self.device).status();
        let _ = fs::remove_dir_all(&self.directory);
    }
}

fn run(target: &mut HostTarget, places: &[u64], batch: usize) -> Nanos {
    let mut service = Nanos::ZERO;
    let mut done = Vec::with_capacity(batch);
    let mut requests = Vec::with_capacity(batch);
    for group in places.chunks(batch) {
        requests.clear();
        requests.extend(group.iter().map(|place| Request::read(0, Bytes(*place), Bytes(BLOCK))));
        target.submit(&requests).expect("the batch is taken");
        target.reap(group.len(), &mut done).expect("the batch is done");
        for completion in done.drain(..) {
            assert!(completion.outcome.is_done());
            service += completion.service_time();
        }
    }
    service
}

/// Random places, by the generator of Marsaglia's xorshift (2003).
fn places(count: usize) -> Vec<u64> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % (SIZE / BLOCK) * BLOCK
    };
    (0..count).map(|_| next()).collect()
}
