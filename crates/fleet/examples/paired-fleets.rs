//! Two versions on the same devices: `flashscope fleet --json` of both, compared finding by finding; exit code 1 where one is worse.
#![allow(clippy::print_stdout, reason = "a tool for the terminal")]

use flashscope_fleet::paired::{Sailed, ratios, rows};
use std::error::Error;
use std::process::ExitCode;

const HELP: &str = "\
Compares two versions on the same simulated devices.

Usage: cargo run --release -p flashscope-fleet --example paired-fleets -- BEFORE.json AFTER.json

Each is what a version's `flashscope fleet --no-naive --json` printed, with the same --devices, --seed, --generator and --noise.
";

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [before, after] = words.as_slice() else {
        print!("{HELP}");
        return Ok(ExitCode::from(2));
    };
    let read = |path: &String| -> Result<Sailed, Box<dyn Error>> {
        Ok(serde_json::from_str(&std::fs::read_to_string(path)?)?)
    };
    let (before, after) = (read(before)?, read(after)?);
    let rows = rows(&before, &after)?;
    println!(
        "{:<30} {:<6} {:>7} {:>7} {:>7} {:>7} {:>6} {:>9}",
        "finding", "", "devices", "before", "after", "better", "worse", "by chance"
    );
    for row in &rows {
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
    for (name, ratio) in ratios(&before, &after)? {
        println!("{name}: {ratio:.3} times");
    }
    Ok(ExitCode::from(u8::from(rows.iter().any(flashscope_fleet::paired::Row::is_worse))))
}
