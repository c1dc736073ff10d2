//! How fast a trace is looked at and replayed in virtual time, and what that takes of memory.
//!
//! `cargo bench -p flashscope-trace` writes a trace of ten million requests to the temporary directory, shows it, and replays
//! a million of them on simulated devices, on one core. `--quick` takes a tenth, and looks at no clock.

use flashscope_device::{Target, WriteGrant};
use flashscope_sim::open;
use flashscope_testkit::Targets;
use flashscope_trace::file::{Head, Reader, Writer};
use flashscope_trace::filter::Addresses;
use flashscope_trace::replay::{Mode, Plan, Player, in_virtual_time};
use flashscope_trace::{Figures, Flags, Op, TraceError, Traced};
use flashscope_units::{Bytes, Instant};
use std::error::Error;
use std::fs::File;
use std::io::{BufReader, BufWriter, stdout};
use std::process::ExitCode;
use std::time;

/// Where requests of the trace go.
const SPAN: Bytes = Bytes::gib(2);

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let quick = std::env::args().any(|word| word == "--quick");
    let (shown, replayed) = if quick { (1_000_000, 100_000) } else { (10_000_000, 1_000_000) };
    let path = std::env::temp_dir().join(format!("flashscope-bench-{}.trace", std::process::id()));
    let mut writer = Writer::new(BufWriter::new(File::create(&path)?), &Head::default())?;
    requests(shown).try_for_each(|request| writer.add(request))?;
    writer.finish(0)?;
    let mut targets = Targets::begin(stdout())?;
    let bytes = std::fs::metadata(&path)?.len() as f64 / shown as f64;
    // blktrace has two events of 48 bytes for it.
    targets.at_most("bytes of a request in the file", 32.0, bytes, "")?;

    let begun = time::Instant::now();
    let mut figures = Figures::new();
    for request in Reader::new(BufReader::new(File::open(&path)?))? {
        figures.add(&request?);
    }
    let found = figures.finish(0);
    let took = begun.elapsed().as_secs_f64();
    std::fs::remove_file(&path)?;
    targets.row("requests shown", &shown.to_string(), &found.requests.to_string(), found.requests == shown)?;
    let name = format!("{} million requests shown", shown / 1_000_000);
    match quick {
        true => targets.left_out(&name, "a clock decides it")?,
        false => targets.at_most(&name, 10.0, took, "s")?,
    }
    targets.at_most("peak memory of that", 500.0, peak()?, "MiB")?;

    for model in ["ssd-consumer,capacity=2GiB", "sd-4mib,capacity=2GiB"] {
        for mode in [Mode::Closed { depth: 4 }, Mode::Dependent, Mode::Open] {
            let name = format!("{model}: replayed {mode:?}");
            let rate = rate(model, mode, replayed)?;
            match quick {
                true => targets.left_out(&name, "a clock decides it")?,
                false => targets.at_least(&name, 300_000.0, rate, "requests/s")?,
            }
        }
    }
    Ok(ExitCode::from(u8::from(!targets.end()?)))
}

/// Requests as a phone makes them: half reads, mostly of 4 KiB, a fifth of them sequential, and a flush now and then.
fn requests(count: u64) -> impl Iterator<Item = Traced> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let (mut at, mut end) = (0u64, 0u64);
    (0..count).map(move |number| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        at += 20_000 + state % 60_000;
        let op = match (number % 64, state >> 40 & 1) {
            (63, _) => Op::Flush,
            (_, 0) => Op::Read,
            _ => Op::Write,
        };
        let length = if op == Op::Flush { 0 } else { 4096u32 << [0, 0, 0, 0, 0, 1, 3, 5][(state >> 20 & 7) as usize] };
        let drawn = (state >> 8) % (SPAN.get() / 4096) * 4096;
        let offset = if state >> 30 & 3 == 0 { end } else { drawn };
        let offset = if op == Op::Flush || offset + u64::from(length) > SPAN.get() { 0 } else { offset };
        end = if op == Op::Flush { end } else { offset + u64::from(length) };
        Traced {
            issued: Instant(at),
            completed: Some(Instant(at + 50_000 + state % 100_000)),
            offset: Bytes(offset),
            length,
            process: Some(1000),
            op,
            flags: Flags::NONE,
        }
    })
}

/// Requests replayed in a second of a processor, whatever else runs on it.
fn rate(model: &str, mode: Mode, count: u64) -> Result<f64, Box<dyn Error>> {
    let mut target = open(model, 1)?;
    let facts = target.facts().clone();
    let plan = Plan {
        mode,
        addresses: Addresses::Wrap,
        capacity: facts.capacity,
        block: facts.logical_block,
        room: 4096,
        discard: true,
    };
    let grant = WriteGrant::simulated(&facts, Bytes(u64::MAX / 2));
    let from = requests(count).map(Ok::<_, TraceError>);
    let mut player = Player::new(from, plan, grant);
    let begun = processor_time()?;
    in_virtual_time(&mut player, &mut target, |_| false)?;
    let took = processor_time()? - begun;
    let (replay, error) = player.finish(Vec::new());
    match error {
        Some(error) => Err(error.into()),
        None => Ok(replay.figures.requests as f64 / took),
    }
}

/// Seconds that this thread had a processor.
fn processor_time() -> Result<f64, Box<dyn Error>> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    Ok(text.split_whitespace().next().ok_or("no schedstat")?.parse::<f64>()? / 1e9)
}

/// The most memory that this process ever had, in MiB.
fn peak() -> Result<f64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM")?;
    Ok(line.trim().trim_end_matches(" kB").trim().parse::<f64>()? / 1024.0)
}
