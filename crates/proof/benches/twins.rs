//! How near the digital twins come to the published measurements that they are twins of: clauses (a) and (b) of
//! docs/twins.md, the shares that docs/twins-fitted.md promises, and without `--quick` clause (c), which takes 200 seeds.
//! Then run times of apps, predicted by twins that are fitted to an inspect record: of cards and drives of a fleet, left out by
//! `--quick` as well. `--only-apps` leaves the rest out, `--cells` prints each app of each device and its twin's model.
//! All in virtual time. `scripts/prove twins [--quick] [-- --cards N --drives N --seed S]`; exit code 1 where a target is missed.
#![allow(clippy::print_stdout, clippy::print_stderr, missing_docs)]

use flashscope_proof::predicted::{App, Device, Kind, Predicted, apps, drawn, predict};
use flashscope_proof::twins::{self, Cell, EMMC_WRITE_ALIGN, FITTED, SD_4MIB, Twin, cells, clauses};
use flashscope_testkit::Targets;
use flashscope_twin::goodness::{SHARE, WITHIN};
use rayon::prelude::*;
use std::io::{self, Stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Seed of the fleet of docs/twin.md; nobody has tuned with it.
const SEED: u64 = 141_421;
/// Devices of each kind that are asked for.
const CARDS: u32 = 60;
const DRIVES: u32 = 30;
/// Draws that are looked at for each device that is wanted: one in eight is a drive, and some of those are too large.
const DRAWS: u32 = 40;

fn main() -> io::Result<ExitCode> {
    let words: Vec<String> = std::env::args().collect();
    let says = |name: &str| words.iter().any(|word| word == name);
    let after = |name: &str| words.iter().skip_while(|word| *word != name).nth(1)?.parse::<u32>().ok();
    let quick = says("--quick");
    let mut targets = Targets::begin(io::stdout())?;
    if !says("--only-apps") {
        published(&mut targets, quick)?;
    }
    let seed = after("--seed").map_or(SEED, u64::from);
    for (kind, what, count, least) in [
        (Kind::Card, "cards", after("--cards").unwrap_or(CARDS), 80.0),
        (Kind::Drive, "drives", after("--drives").unwrap_or(DRIVES), 70.0),
    ] {
        match quick {
            true => targets.left_out(&format!("run times of apps on {what}"), "takes minutes")?,
            false => {
                for for_twin in [false, true] {
                    if !for_twin && says("--for-twin-only") || for_twin && says("--plain-only") {
                        continue;
                    }
                    predicted(&mut targets, (kind, what, least), (seed, count), (for_twin, says("--cells")))?;
                }
            }
        }
    }
    Ok(if targets.end()? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Run times of apps on devices of a kind: the share of devices on which each app is predicted within 20 %.
fn predicted(
    targets: &mut Targets<Stdout>,
    (kind, what, least): (Kind, &str, f64),
    (seed, count): (u64, u32),
    (for_twin, in_full): (bool, bool),
) -> io::Result<()> {
    let apps = apps(seed);
    let models: Vec<(u32, String)> =
        (0..count * DRAWS).filter_map(|index| Some((index, drawn(kind, seed, index)?))).take(count as usize).collect();
    let one = |(index, model): &(u32, String)| predict(model, *index, seed ^ u64::from(*index), (&apps, for_twin));
    let devices: Vec<Device> = models.par_iter().with_max_len(1).map(one).collect();
    if in_full {
        devices.iter().for_each(told);
    }
    let share = |cells: &[&Predicted], is: fn(&Predicted) -> bool| {
        100.0 * cells.iter().filter(|cell| is(cell)).count() as f64 / cells.len().max(1) as f64
    };
    let all: Vec<&Predicted> = devices.iter().flat_map(|device| &device.apps).collect();
    let what = &format!("{what}, inspected {}", if for_twin { "for a twin" } else { "as usual" });
    for App { name, .. } in &apps {
        let cells: Vec<&Predicted> = all.iter().filter(|cell| cell.app == *name).copied().collect();
        let target = format!("{name}: predicted within 20 %, of {} {what}", cells.len());
        targets.at_least(&target, least, share(&cells, Predicted::is_near), "%")?;
        println!("{name}: bytes over sequential rates | | {:.1} % | beside", share(&cells, Predicted::naive_is_near));
    }
    let target = format!("all apps: predicted within 20 %, of {} on {} {what}", all.len(), devices.len());
    targets.at_least(&target, least, share(&all, Predicted::is_near), "%")?;
    println!("all apps: bytes over sequential rates | | {:.1} % | beside", share(&all, Predicted::naive_is_near));
    for (trusted, says) in [(true, "may"), (false, "may not")] {
        let some: Vec<&Device> = devices.iter().filter(|device| for_twin && device.trusted == trusted).collect();
        let cells: Vec<&Predicted> = some.iter().flat_map(|device| &device.apps).collect();
        if !cells.is_empty() {
            let near = share(&cells, Predicted::is_near);
            println!("of {} whose twin says that it {says} be asked: within 20 % | | {near:.1} % | beside", some.len());
        }
    }
    Ok(())
}

/// A device in full, on stderr.
fn told(device: &Device) {
    let title = device.model.lines().find(|line| line.starts_with("title")).unwrap_or_default();
    eprintln!("device {} {title}", device.index);
    for Predicted { app, real, twin, naive } in &device.apps {
        let naive = naive.map_or(f64::NAN, |naive| naive / real);
        eprintln!("  {app:16} {:9.3} s, twin {:6.2}, naive {naive:6.2}", real / 1e9, twin / real);
    }
    match &device.twin {
        Ok(twin) => eprintln!("  trusted: {}\n--- twin\n{twin}--- device\n{}", device.trusted, device.model),
        Err(why) => eprintln!("  no twin: {why}"),
    }
}

fn published(targets: &mut Targets<Stdout>, quick: bool) -> io::Result<()> {
    for twin in [&SD_4MIB, &EMMC_WRITE_ALIGN] {
        of_twin(targets, twin, quick)?;
    }
    for twin in &FITTED {
        let replay = twins::replay(&log(twin.path)?);
        let all = cells::all(&replay.measured, &twins::simulate(&replay, twin.model, 1));
        let figures: Vec<&Cell> = all.iter().filter(|cell| cell.column != "diff").collect();
        let near = figures.iter().filter(|cell| cell.error().abs() <= WITHIN).count();
        let share = 100.0 * near as f64 / figures.len() as f64;
        targets.at_least(&format!("{}: figures within 15 %", twin.model), 100.0 * twin.within, share, "%")?;
    }
    Ok(())
}

fn of_twin(targets: &mut Targets<Stdout>, twin: &Twin, quick: bool) -> io::Result<()> {
    let replay = twins::replay(&log(twin.path)?);
    let judge = if quick { clauses::judge_close } else { clauses::judge };
    let verdict = judge(twin, &replay, twin.model);
    for close in &verdict.close {
        let found = format!("{:.1} %, {:.1} %", 100.0 * close.within, 100.0 * close.median);
        let target = format!("{}: {}: within 15 %, median error", twin.model, close.test.name());
        targets.row(&target, "≥ 95 %, ≤ 7 %", &found, close.holds())?;
    }
    let levels = verdict.plateaus.iter().filter(|plateau| plateau.holds()).count();
    let (target, all) = (format!("{}: levels of what straddling costs", twin.model), verdict.plateaus.len());
    if all > 0 {
        targets.row(&target, &format!("all {all}"), &format!("{levels}"), levels == all)?;
    }
    let target = format!("{}: rows of chance within the band of 200 seeds", twin.model);
    match quick {
        true => targets.left_out(&target, "takes minutes"),
        false => targets.at_least(&target, 100.0 * SHARE, 100.0 * verdict.band_share(), "%"),
    }
}

fn log(path: &str) -> io::Result<String> {
    let root: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::fs::read_to_string(root.join(path))
}
