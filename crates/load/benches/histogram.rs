//! What counting one time costs, ours and the `hdrhistogram` crate's at the same precision, in turn in one run.
//!
//! `cargo bench -p flashscope-load --bench histogram`
#![allow(clippy::print_stdout)]

use flashscope_load::histogram::Histogram;
use flashscope_stats::Rng;
use flashscope_units::Nanos;
use std::hint::black_box;
use std::time::Instant;

const VALUES: usize = 1 << 16;
const PASSES: usize = 50;
const PAIRS: usize = 9;

fn main() {
    let mut rng = Rng::new(1);
    // Log-normal-like service times around 20 µs with a tail.
    let values: Vec<u64> = (0..VALUES).map(|_| (20_000.0 * (-rng.unit().ln()).exp()) as u64).collect();
    let mut ours = Histogram::new();
    // 3 digits resolve 0.1 %, as our 256 buckets per power of two resolve 0.2 % at the middle.
    let mut theirs = hdrhistogram::Histogram::<u64>::new_with_bounds(1, 3_600_000_000_000, 3).expect("valid bounds");
    let time = |work: &mut dyn FnMut(u64)| {
        let start = Instant::now();
        for _ in 0..PASSES {
            values.iter().for_each(|value| work(*value));
        }
        start.elapsed().as_nanos() as f64 / (VALUES * PASSES) as f64
    };
    let mut costs: Vec<(f64, f64)> = (0..PAIRS)
        .map(|_| {
            (
                time(&mut |value| black_box(&mut ours).record(Nanos(value))),
                time(&mut |value| black_box(&mut theirs).record(value).expect("within bounds")),
            )
        })
        .collect();
    costs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let ours = costs[PAIRS / 2].0;
    costs.sort_by(|a, b| a.1.total_cmp(&b.1));
    let theirs = costs[PAIRS / 2].1;
    println!("ns per value: ours {ours:.2}, hdrhistogram {theirs:.2}, ratio {:.2}", theirs / ours);
}
