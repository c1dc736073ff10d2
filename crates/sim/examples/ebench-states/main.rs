//! A published phone benchmark's conditions (clean and dirty, young and old) on the models of the catalogue that age.
//!
//! `cargo run --release -p flashscope-sim --example ebench-states -- docs/ebench-states.md` writes the page; without a path it is
//! printed.

#![allow(clippy::print_stdout, reason = "a tool for the terminal")]

mod states;

use flashscope_units::Nanos;
use states::{Dirt, Measured, PATTERNS, Relations, measure};
use std::error::Error;
use std::fmt::Write;

/// A seed that nobody has tuned with.
const SEED: u64 = 1503;

/// What the page says before its tables.
const HEAD: &str = "# Clean and dirty, young and old

Made by `cargo run --release -p flashscope-sim --example ebench-states -- docs/ebench-states.md`; the same command gives
the same page. What makes the differences stands in [ageing](ageing.md): nothing in it knows of a state.

*Old*: 30 capacity-writes (25 sequential passes, 5 random ones), then purged. *Dirty*: 1.2 capacity-writes, once
sequential and then a fifth at random. Every state then rests for a minute. *Mix*: random writes of a quarter of the
capacity over the first quarter of the device, one at a time, in the sizes that the published table of a phone's
writes comes to (66.5 % 4 or 8 KiB, 28.7 % 16 to 64 KiB, 4.8 % 128 or 256 KiB). *Slow*: stretches of 100 writes that
take more than half as long again as the median stretch. iozone's patterns are in records of 4 KiB. The
over-provisioning of both models was chosen so that the first relation comes out, the tables of bad blocks so that the
second does; the seed was not.
";

fn main() -> Result<(), Box<dyn Error>> {
    let mut page = HEAD.to_owned();
    for model in ["emmc-phone", "ssd-budget"] {
        let measured = measure(model, SEED);
        write!(page, "\n## {model}\n\n{}\n{}", states_table(&measured)?, relations_table(&Relations::of(&measured))?)?;
    }
    match std::env::args().nth(1) {
        Some(path) => std::fs::write(path, page)?,
        None => print!("{page}"),
    }
    Ok(())
}

fn states_table(measured: &[Measured]) -> Result<String, std::fmt::Error> {
    let mut text = String::from(
        "| state | bad blocks | mix: mean | fastest tenth | above 100 ms | slow |\n|---|---|---|---|---|---|\n",
    );
    for one in measured {
        writeln!(
            text,
            "| {} | {} | {:.3} ms | {:.0} µs | {} of {} | {:.1} % |",
            name(one),
            one.replaced,
            one.mix.mean_ms(),
            one.mix.fastest_us(),
            one.mix.above(Nanos::millis(100)),
            one.mix.all.len(),
            100.0 * one.mix.slow_ratio()
        )?;
    }
    writeln!(text)?;
    let names: Vec<&str> = PATTERNS.iter().map(|(name, ..)| *name).collect();
    writeln!(text, "| iozone, MB/s | {} |\n|---|{}", names.join(" | "), "---|".repeat(names.len()))?;
    for (file, rates) in [("16 MiB", (|one| &one.small) as fn(&Measured) -> &Vec<f64>), ("1 GiB", |one| &one.large)] {
        for one in measured {
            let rates: Vec<String> = rates(one).iter().map(|rate| format!("{rate:.1}")).collect();
            writeln!(text, "| {file}, {} | {} |", name(one), rates.join(" | "))?;
        }
    }
    Ok(text)
}

fn relations_table(found: &Relations) -> Result<String, std::fmt::Error> {
    let longer = |ratio: f64| format!("{:.1} %", 100.0 * (ratio - 1.0));
    let mut text = String::from("| relation | published | found |\n|---|---|---|\n");
    let mut line = |what: &str, published: &str, found: String| writeln!(text, "| {what} | {published} | {found} |");
    line("dirty: longer writes than clean, young", "about 50 %", longer(found.dirty_over_clean))?;
    line("old: longer writes than young, clean", "16 %", longer(found.old_over_young))?;
    let [young, old] = found.above_100_ms;
    line("writes above 100 ms, clean", "appear when old", format!("{young} young, {old} old"))?;
    line("the fastest writes, clean", "slower when old", format!("{} longer", longer(found.fastest)))?;
    let [young, old] = found.slow.map(|share| 100.0 * share);
    line("slow periods, clean", "appear when old", format!("{young:.1} % young, {old:.1} % old"))?;
    line("a purge of an old, dirty device", "clears the dirt, not the age", {
        format!(
            "{:.1} % shorter writes, still {} longer than young",
            100.0 * (1.0 - found.purged_over_dirty),
            longer(found.old_over_young)
        )
    })?;
    line(
        "benchmarks of 16 MiB, clean and dirty",
        "see nothing",
        format!("differ by {:.1} %", 100.0 * found.small_change),
    )?;
    Ok(text)
}

fn name(one: &Measured) -> String {
    let dirt = if one.dirt == Dirt::Clean { "clean" } else { "dirty" };
    format!("{:?}, {dirt}", one.age).to_lowercase()
}
