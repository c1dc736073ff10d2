//! Do the devices of the generator `field` give tables like those of the published logs?
//!
//! `cargo run --release -p flashscope-fleet --example generator-against-field -- docs/generator.md` writes the table into that
//! page, between its two marks; without a page it is printed. Each drawn device goes through the script of the published logs
//! and its tables are printed as flashbench prints them; both kinds of logs then go through the same reader and the same rules.

#![allow(clippy::print_stdout, reason = "a tool for the terminal")]

mod compare;
mod tables;

use compare::compare;
use flashscope_device::{Target, WriteGrant};
use flashscope_fleet::{Drawn, Generator, draw};
use flashscope_model::{Experiment, Order};
use flashscope_probe::{Context, Unobserved, classic};
use flashscope_units::Bytes;
use rayon::prelude::*;
use std::error::Error;
use std::fmt::Write;
use tables::{LEAST_ALIGN, MOST_UNITS, QUANTITIES, Tables};

const LOGS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/field");
const DEVICES: u32 = 200;
const SEED: u64 = 3117;
const MARKS: [&str; 2] = ["<!-- table: begin -->\n", "<!-- table: end -->\n"];

fn main() -> Result<(), Box<dyn Error>> {
    let mut logs: Vec<_> = std::fs::read_dir(LOGS)?.collect::<Result<_, _>>()?;
    logs.retain(|entry| entry.path().extension().is_some_and(|extension| extension == "txt"));
    logs.sort_by_key(std::fs::DirEntry::path);
    let published: Vec<Tables> =
        logs.iter().map(|entry| Ok(Tables::of_log(&std::fs::read(entry.path())?))).collect::<std::io::Result<_>>()?;
    let drawn: Vec<Tables> = (0..DEVICES).into_par_iter().map(simulated).collect::<Result<_, _>>()?;
    let table = table(&published, &drawn);
    let Some(path) = std::env::args().nth(1) else {
        print!("{table}");
        return Ok(());
    };
    let page = std::fs::read_to_string(&path)?;
    let before = page.split_once(MARKS[0]).ok_or("the page has no mark where the table begins")?;
    let after = before.1.split_once(MARKS[1]).ok_or("the page has no mark where the table ends")?;
    std::fs::write(path, format!("{}{}{table}{}{}", before.0, MARKS[0], MARKS[1], after.1))?;
    Ok(())
}

fn table(published: &[Tables], drawn: &[Tables]) -> String {
    let mut text = format!(
        "{} logs, {} devices of seed {SEED}.\n\n\
         | what the tables show | logs: n | quartiles | generator: n | quartiles | KS distance | p | rank p | logs outside | verdict |\n\
         |---|---|---|---|---|---|---|---|---|---|\n",
        published.len(),
        drawn.len()
    );
    for (name, read) in QUANTITIES {
        let values = |of: &[Tables]| of.iter().filter_map(read).filter(|one| one.is_finite()).collect::<Vec<f64>>();
        let Some(it) = compare(&values(published), &values(drawn)) else { continue };
        let _ = writeln!(
            text,
            "| {name} | {} | {} | {} | {} | {:.2} | {} | {} | {} | {} |",
            it.field.0,
            quartiles(it.field.1),
            it.generator.0,
            quartiles(it.generator.1),
            it.distance,
            p_value(it.distance_p),
            p_value(it.rank_p),
            it.outside,
            it.verdict
        );
    }
    text
}

fn quartiles(values: [f64; 3]) -> String {
    values.map(short).join(" · ")
}

/// Three digits or so.
fn short(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

fn p_value(p: f64) -> String {
    if p < 0.001 { "< 0.001".to_owned() } else { format!("{p:.3}") }
}

fn simulated(index: u32) -> Result<Tables, String> {
    let drawn = draw(Generator::Field, SEED, index, None).map_err(|error| error.to_string())?;
    Ok(Tables::of_log(script(&drawn)?.as_bytes()))
}

/// The script of the published logs: align three times at 1 KiB, open-au with 1 … 7 units of 4 MiB in both orders. A test that
/// a device cannot take, as it is too small or has failing places, leaves no table, as on a card.
fn script(drawn: &Drawn) -> Result<String, String> {
    let read = |_: &str| Ok(drawn.text.clone());
    let mut target = flashscope_sim::open_with("drawn.toml", drawn.seed, read).map_err(|error| error.to_string())?;
    let mut grant = WriteGrant::simulated(target.facts(), Bytes(u64::MAX)).ok_or("no grant for a simulated device")?;
    let mut tests = Vec::new();
    for round in 1..=3 {
        tests.push((format!("Align test: {round}"), Experiment::Align(classic::align(LEAST_ALIGN / 2))));
    }
    for (order, name) in [(Order::InOrder, "linear"), (Order::Random, "random")] {
        for count in 1..=MOST_UNITS {
            let mut plan = classic::open_au(count, order);
            plan.block = Bytes::kib(4);
            tests.push((format!("AU={count}, {name} access"), Experiment::OpenAu(plan)));
        }
    }
    let mut log = String::new();
    for (seed, (heading, experiment)) in (drawn.seed..).zip(tests) {
        let mut watch = Unobserved;
        let mut context = Context::writing(&mut grant, seed, &mut watch);
        if let Ok(run) = flashscope_probe::run(&experiment, &mut target, &mut context)
            && let Some(table) = flashscope_transcript::write(&run.data)
        {
            let _ = writeln!(log, "======= {heading} =======\n{table}");
        }
    }
    Ok(log)
}
