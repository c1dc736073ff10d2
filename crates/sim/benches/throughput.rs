//! Speed and size of the AU-log card: page operations per second of random writes with merging, bytes of memory per page,
//! and the time of a fill in order. Prints figures; it gates nothing.
#![expect(clippy::print_stdout, reason = "a benchmark's figures are its output")]

use flashscope_device::{ExecuteExt, Fill, Request, Target, WriteGrant};
use flashscope_sim::{SimTarget, open};
use flashscope_units::Bytes;
use std::time::Instant;

const PAGE: Bytes = Bytes::kib(16);

fn main() {
    random_writes("sd-4mib", "every write merges half a unit");
    random_writes("emmc-write-align", "seven logs, full merges");
    random_writes("sd-24mib", "64 logs, full merges");
    fill();
}

/// Writes 16 KiB all over the card. A page operation is a page written by the host or copied inside; the copies of one
/// merge are counted together, which is where their speed comes from, so the writes per second stand beside.
fn random_writes(model: &str, what: &str) {
    let mut target = ready(&format!("{model},noise=none"));
    let mut grant = grant(&target);
    let places = target.facts().capacity / PAGE;
    let mut state = 1u64;
    let (count, start) = (200_000u64, Instant::now());
    for id in 0..count {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let at = PAGE * ((state >> 33) % places);
        write(&mut target, &mut grant, id, at, PAGE, id as u32);
    }
    let seconds = start.elapsed().as_secs_f64();
    let programmed = target.wear().map_or(0, |wear| wear.programmed / PAGE);
    println!(
        "{model} ({what}): {:.2} M page operations/s, {:.0} k writes/s, {:.0} pages programmed per write, {:.2} B per page",
        programmed as f64 / seconds / 1e6,
        count as f64 / seconds / 1e3,
        programmed as f64 / count as f64,
        target.state_bytes() as f64 / places as f64
    );
}

/// 64 GiB of a blank card in order, with requests of 4 MiB.
fn fill() {
    let mut target = ready("sd-24mib,capacity=64GiB,state=blank,noise=none");
    let mut grant = grant(&target);
    let (step, capacity) = (Bytes::mib(4), target.facts().capacity);
    let start = Instant::now();
    for id in 0..capacity / step {
        write(&mut target, &mut grant, id, step * id, step, 1);
    }
    let wall = start.elapsed().as_secs_f64() * 1e3;
    let start = Instant::now();
    let filled = ready("sd-24mib,capacity=64GiB,noise=none");
    let opened = start.elapsed().as_secs_f64() * 1e3;
    println!("fill of {capacity} by the host: {wall:.1} ms; start state filled: {opened:.2} ms");
    drop(filled);
}

fn ready(spec: &str) -> SimTarget {
    let mut target = open(spec, 1).unwrap_or_else(|error| panic!("{error}"));
    target.check_always(false);
    target
}

fn grant(target: &SimTarget) -> WriteGrant {
    WriteGrant::simulated(target.facts(), Bytes(u64::MAX)).unwrap_or_else(|| panic!("simulated"))
}

fn write(target: &mut SimTarget, grant: &mut WriteGrant, id: u64, at: Bytes, length: Bytes, generation: u32) {
    let request = Request::write(grant, id, at, length, Fill::Tagged { generation }, true);
    let request = request.unwrap_or_else(|error| panic!("{error}"));
    target.execute(request).unwrap_or_else(|error| panic!("{error}"));
}
