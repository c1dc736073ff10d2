//! Runs targets on changed texts for as long as is asked: `flashscope-fuzz SECONDS [TARGET] [SEED]`.
//!
//! A text that makes a target panic is kept in `target/fuzz/`, from where it belongs into the corpus once the fault is mended.

use flashscope_fuzz::mutate::Mutator;
use flashscope_fuzz::{TARGETS, Target, corpus};
use std::io::Write;
use std::panic::catch_unwind;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Texts that take longer than this are told of.
const SLOW: Duration = Duration::from_secs(5);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let seconds = arguments.first().map_or(Ok(10), |word| word.parse::<u64>());
    let seed = arguments.get(2).map_or(Ok(1), |word| word.parse::<u64>());
    let wanted = arguments.get(1).map(String::as_str).filter(|name| *name != "all");
    let chosen: Vec<Target> =
        TARGETS.into_iter().filter(|target| wanted.is_none_or(|name| name == target.name)).collect();
    let (Ok(seconds), Ok(seed), false) = (seconds, seed, chosen.is_empty()) else {
        let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
        say(&format!("usage: flashscope-fuzz SECONDS [all|{}] [SEED]", names.join("|")));
        return ExitCode::from(2);
    };
    let each = Duration::from_secs(seconds) / chosen.len() as u32;
    let faults: u32 = chosen.iter().map(|target| fuzz(*target, each, seed)).sum();
    if faults == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) }
}

/// Runs one target for so long; how many texts made it panic.
fn fuzz(target: Target, time: Duration, seed: u64) -> u32 {
    let texts = match corpus(target.name) {
        Ok(files) => files.into_iter().map(|(_, text)| text).collect::<Vec<_>>(),
        Err(error) => {
            say(&format!("{}: no corpus: {error}", target.name));
            return 1;
        }
    };
    let (mut mutator, began, mut tried, mut faults) = (Mutator::new(seed), Instant::now(), 0u64, 0);
    while began.elapsed() < time {
        let text = mutator.next(&texts);
        let start = Instant::now();
        let held = catch_unwind(|| (target.run)(&text)).is_ok();
        tried += 1;
        if !held || start.elapsed() > SLOW {
            faults += 1;
            let what = if held { "is slow on" } else { "panics on" };
            say(&format!("{} {what} {}", target.name, keep(target.name, seed, tried, &text)));
        }
    }
    say(&format!("{}: {tried} texts, {faults} faults", target.name));
    faults
}

/// Keeps a text, and says where.
fn keep(target: &str, seed: u64, number: u64, text: &[u8]) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/fuzz").join(target);
    let path = folder.join(format!("{seed}-{number}"));
    match std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&path, text)) {
        Ok(()) => path.display().to_string(),
        Err(error) => format!("a text that could not be kept ({error})"),
    }
}

fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
