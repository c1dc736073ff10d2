//! How fast tagged payload is made and told again, on one core: what a full test of the capacity can be limited by.
//!
//! A request's worth of bytes is filled and looked at, over and over, at rising places, by the time that the thread had of its
//! processor; of several rounds the median counts. Of a build for release alone.
//! `cargo bench -p flashscope-host --bench tagged` (a part of `scripts/prove capacity`); exit code 1 where the target is missed.
#![allow(clippy::print_stdout, missing_docs)]

use flashscope_device::{Fill, Known};
use flashscope_host::{payload, tags};
use flashscope_testkit::Targets;
use std::hint::black_box;
use std::io;
use std::process::ExitCode;

/// One request of a full test.
const REQUEST: usize = 1 << 20;
/// Requests of a round.
const ROUND: u64 = 512;
const ROUNDS: usize = 9;
/// Bytes per second that are wanted.
const WANTED: f64 = 2e9;

fn main() -> io::Result<ExitCode> {
    let mut bytes = vec![0; REQUEST];
    let mut rates: Vec<[f64; 3]> = (0..ROUNDS).map(|round| rates(&mut bytes, round as u64 * ROUND)).collect();
    let mut median = |part: usize| {
        rates.sort_by(|one, other| one[part].total_cmp(&other[part]));
        rates[ROUNDS / 2][part] / 1e9
    };
    println!("made {:.2} GB/s, told {:.2} GB/s", median(0), median(1));
    let mut targets = Targets::begin(io::stdout())?;
    targets.at_least("tagged payload made and told, a core", WANTED / 1e9, median(2), "GB/s")?;
    Ok(if targets.end()? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Seconds of processor time of this thread.
fn spent() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Bytes per second made, told, and both one after the other.
fn rates(bytes: &mut [u8], from: u64) -> [f64; 3] {
    let (mut made, mut told) = (0.0, 0.0);
    for number in from..from + ROUND {
        let at = number * REQUEST as u64;
        let begun = spent();
        payload::fill(Fill::Tagged { generation: 77 }, at, bytes);
        let filled = spent();
        let stretches = tags::stretches(Known::one(77), at, black_box(bytes));
        (made, told) = (made + filled - begun, told + spent() - filled);
        assert_eq!(stretches.len(), 1, "what was made is told");
    }
    let all = (ROUND * REQUEST as u64) as f64;
    [all / made, all / told, all / (made + told)]
}
