//! Two versions on the same devices, compared finding by finding; exit code 1 where the second is worse.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a tool for the terminal")]

#[path = "../benches/program/mod.rs"]
mod program;

use flashscope_fleet::paired::{AT_A_TIME, Row, Sailed, ratios, rows};
use program::found_by;
use std::error::Error;
use std::process::ExitCode;

const HELP: &str = "\
Compares two versions on the same simulated devices.

Usage: cargo run --release -p flashscope-fleet --example paired-fleets -- BEFORE AFTER [OPTIONS OF flashscope fleet]

Each of the two is what a version's `flashscope fleet --no-naive --json` printed (a file that ends in .json), or the version's
program itself. Two programs find the fleet in turns, 25 devices at a time, so that their processor times can be compared:

  paired-fleets -- old/flashscope target/release/flashscope --devices 1000 --seed 7 --generator wide --noise field
";

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [before, after, options @ ..] = words.as_slice() else {
        print!("{HELP}");
        return Ok(ExitCode::from(2));
    };
    let (before, after) = match [before, after].map(|path| path.ends_with(".json")) {
        [true, true] if options.is_empty() => (read(before)?, read(after)?),
        [false, false] => in_turns([before, after], options)?,
        _ => {
            print!("{HELP}");
            return Ok(ExitCode::from(2));
        }
    };
    let rows = rows(&before, &after)?;
    print(&rows);
    for (name, ratio) in ratios(&before, &after)? {
        println!("{name}: {ratio:.3} times");
    }
    Ok(ExitCode::from(u8::from(rows.iter().any(Row::is_worse))))
}

fn read(path: &str) -> Result<Sailed, Box<dyn Error>> {
    Ok(serde_json::from_str(&std::fs::read_to_string(path)?)?)
}

/// The same fleet as two programs find it, a few devices of the one and then of the other.
fn in_turns(programs: [&String; 2], options: &[String]) -> Result<(Sailed, Sailed), Box<dyn Error>> {
    let at = options.iter().position(|option| option == "--devices").ok_or("how many --devices?")?;
    let devices: u32 = options.get(at + 1).ok_or("how many --devices?")?.parse()?;
    let others: Vec<String> = options[..at].iter().chain(&options[at + 2..]).cloned().collect();
    let mut found: [Option<Sailed>; 2] = [None, None];
    for first in (0..devices).step_by(AT_A_TIME as usize) {
        let count = AT_A_TIME.min(devices - first);
        eprintln!("{first} of {devices} devices");
        for (program, found) in programs.iter().zip(&mut found) {
            let range = format!("--first {first} --devices {count} --no-naive");
            let options: Vec<String> = others.iter().cloned().chain(range.split(' ').map(str::to_owned)).collect();
            let part = found_by(program, &options)?;
            match found {
                Some(found) => found.join(part)?,
                None => *found = Some(part),
            }
        }
    }
    let [Some(before), Some(after)] = found else { return Err("no --devices at all".into()) };
    Ok((before, after))
}

fn print(rows: &[Row]) {
    println!(
        "{:<30} {:<6} {:>7} {:>7} {:>7} {:>7} {:>6} {:>9}",
        "finding", "", "devices", "before", "after", "better", "worse", "by chance"
    );
    for row in rows {
        let (better, worse) = row.changed;
        println!(
            "{:<30} {:<6} {:>7} {:>7} {:>7} {better:>7} {worse:>6} {:>9.4}{}",
            row.parameter,
            row.counted.to_string(),
            row.devices,
            row.before,
            row.after,
            row.chance_of_worse,
            if row.is_worse() { "  WORSE" } else { "" }
        );
    }
}
