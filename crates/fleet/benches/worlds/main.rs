//! How far the answers of `inspect` hold on devices of another generator than the one that it was tuned on (docs/worlds.md).
//!
//! Nothing in `infer` may be fitted to what is found here. `scripts/prove worlds [--quick] [-- --devices N --first N --seed S --inspect-only --failures]`;
//! exit code 1 where a target is missed. `--failures` prints every claim that is sure and wrong, with what the device is.
#![allow(clippy::print_stdout, clippy::print_stderr, missing_docs)]

mod rows;
#[path = "../silent/mod.rs"]
mod silent;
mod truth;

use flashscope_fleet::{Copied, DeviceRun, Limits, MaxWrite, Subject, judge_subject};
use flashscope_testkit::Targets;
use flashscope_units::Nanos;
use flashscope_worlds::{Kind, World, draw};
use rayon::prelude::*;
use rows::Judgements;
use silent::Silent;
use std::error::Error;
use std::io;
use std::process::ExitCode;

/// The seed on which the documents' figures rest: none that was looked at while anything was changed.
const SEED: u64 = 417_733;

/// A device, its mechanisms, and what came of it.
pub(crate) struct Met {
    pub(crate) kinds: Vec<Kind>,
    pub(crate) not_judged: Vec<flashscope_model::Finding>,
    pub(crate) run: DeviceRun,
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let words: Vec<String> = std::env::args().collect();
    let after = |name: &str| words.iter().skip_while(|word| *word != name).nth(1);
    let has = |name: &str| words.iter().any(|word| word == name);
    let quick = has("--quick");
    let devices: u32 = after("--devices").map_or(Ok(if quick { 4 } else { 200 }), |text| text.parse())?;
    let first: u32 = after("--first").map_or(Ok(0), |text| text.parse())?;
    let seed: u64 = after("--seed").map_or(Ok(SEED), |text| text.parse())?;
    // The by-hand procedure is for those who read tables, not for inspect: without it a fleet takes half as long.
    let by_hand = !quick && !has("--inspect-only");
    let met: Vec<Met> = (first..first + devices)
        .into_par_iter()
        .with_max_len(1)
        .filter_map(|number| meet(draw(seed, number), number, by_hand))
        .collect();
    let mut targets = Targets::begin(io::stdout())?;
    let judgements = Judgements::of(&met);
    judgements.print(&mut targets, quick)?;
    if has("--failures") {
        rows::print_failures(&met);
    }
    Ok(if targets.end()? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Inspects and judges one device, as a fleet does its own.
fn meet(world: World, number: u32, by_hand: bool) -> Option<Met> {
    let own = world.truth();
    let not_judged = own.not_judged.clone();
    let open = |copied: Copied| {
        Ok(match copied {
            Copied::Quiet => world.open_quiet(),
            Copied::AsDrawn | Copied::Again => world.open(),
        })
    };
    let limits = Limits { max_write: MaxWrite::Usual, max_time: None, by_hand, most_work: Nanos::secs(240) };
    let subject = Subject {
        index: number,
        seed: world.seed,
        title: world.title.clone(),
        truth: truth::in_their_words(own),
        open: &open,
    };
    judge_subject(&subject, limits, &Silent).map(|run| Met { kinds: world.kinds.clone(), not_judged, run })
}
