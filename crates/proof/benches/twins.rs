//! How near the digital twins come to the published measurements that they are twins of: clauses (a) and (b) of
//! docs/twins.md, the shares that docs/twins-fitted.md promises, and without `--quick` clause (c), which takes 200 seeds.
//! All in virtual time. `scripts/prove twins [--quick]`; exit code 1 where a target is missed.
#![allow(clippy::print_stdout, missing_docs)]

use flashscope_proof::twins::{self, Cell, EMMC_WRITE_ALIGN, FITTED, SD_4MIB, Twin, cells, clauses};
use flashscope_testkit::Targets;
use flashscope_twin::goodness::{SHARE, WITHIN};
use std::io::{self, Stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> io::Result<ExitCode> {
    let quick = std::env::args().any(|word| word == "--quick");
    let mut targets = Targets::begin(io::stdout())?;
    for twin in [&SD_4MIB, &EMMC_WRITE_ALIGN] {
        of_twin(&mut targets, twin, quick)?;
    }
    for twin in &FITTED {
        let replay = twins::replay(&log(twin.path)?);
        let all = cells::all(&replay.measured, &twins::simulate(&replay, twin.model, 1));
        let figures: Vec<&Cell> = all.iter().filter(|cell| cell.column != "diff").collect();
        let near = figures.iter().filter(|cell| cell.error().abs() <= WITHIN).count();
        let share = 100.0 * near as f64 / figures.len() as f64;
        targets.at_least(&format!("{}: figures within 15 %", twin.model), 100.0 * twin.within, share, "%")?;
    }
    Ok(if targets.end()? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
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
