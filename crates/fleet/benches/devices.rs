//! How many devices a second of processor time is enough for, all their runs together: `inspect`, the reference with ten
//! times the budget, the by-hand procedure and the scoring.
//!
//! Prints each generator beside the target of 1000 devices in ten minutes on two cores, and its slowest devices, each with
//! the command that profiles it alone.

// A benchmark's table is its data.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod silent;

use flashscope_fleet::{Generator, Limits, MaxWrite, Noise, Plan, Summary, sail};
use silent::Silent;

const DEVICES: u32 = 40;
const SEED: u64 = 4001;

/// 1000 devices in 600 s on two cores.
const TARGET_PER_S: f64 = 1000.0 / (600.0 * 2.0);

/// Slow devices that are named.
const SLOWEST: usize = 3;

fn main() {
    println!(
        "{:<14}{:>10}{:>10}{:>10}{:>12}{:>18}",
        "generator", "median", "p95", "slowest", "devices/s", "times the target"
    );
    for generator in [Generator::Field, Generator::Wide, Generator::Adversarial] {
        let limits =
            Limits { max_write: MaxWrite::Usual, max_time: None, by_hand: true, most_work: Limits::USUAL_WORK };
        let plan = Plan { devices: DEVICES, first: 0, seed: SEED, generator, noise: Some(Noise::Field), limits };
        let fleet = sail(plan, &Silent).expect("devices can be drawn");
        let summary = Summary::of(&fleet);
        assert!(summary.failures.is_empty(), "{:?}", summary.failures);
        let per_s = f64::from(DEVICES) / summary.work_s.total;
        println!(
            "{:<14}{:>8.2} s{:>8.2} s{:>8.2} s{per_s:>12.2}{:>18.1}",
            generator.name(),
            summary.work_s.p50,
            summary.work_s.p95,
            summary.slowest[0].work.as_secs_f64(),
            per_s / TARGET_PER_S
        );
        for slow in summary.slowest.iter().take(SLOWEST) {
            println!("    {} {}", slow.work, slow.title);
            println!(
                "    flashscope fleet --generator {} --seed {SEED} --noise field --first {} -n 1",
                generator.name(),
                slow.index
            );
        }
    }
}
