//! How many cards this host can hold at once: emulated ones of a known time, more and more of them read at once, until answers
//! go out late. What an emulated card is late by is the host's doing alone, since its own time is known.

use flashscope_emulate::{EmulateError, Emulator, Lateness, Options, Speed};
use flashscope_units::Nanos;
use std::fs;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// How long a read of an emulated card takes.
pub const READ: Nanos = Nanos(2_000_000);
/// Answers that are later than this at p99 (5 % of [`READ`]) are the host's figures and not the card's.
pub const LATE: Nanos = Nanos(100_000);
/// Cards that are tried at most: devices of one plan.
pub const MOST: u32 = 64;

/// A card whose read of 4 KiB takes [`READ`].
const CARD: &str = "sd-flat,capacity=64MiB,noise=none,link.command=2ms";
/// How far apart reads lie, so that the kernel reads nothing ahead, and where they begin anew.
const STEP: u64 = 2 << 20;
const SPAN: u64 = 60 << 20;
/// How often a number of cards is tried that seems to be too many: something else may have been at work.
const TRIES: usize = 3;

/// How late so many cards were, read at once: the worst of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The number of cards.
    pub cards: u32,
    /// Lateness at p50.
    pub p50: Nanos,
    /// Lateness at p99.
    pub p99: Nanos,
}

impl Step {
    /// Whether they were punctual.
    pub fn holds(&self) -> bool {
        self.p99 <= LATE
    }
}

/// The largest number of cards up to `most` that are punctual (0 where not even one is), and what was measured on the way there.
/// `measure` is asked for twice as many each time, and then between the last number that did and the first that did not; where
/// one seems to be too many, it is asked `TRIES` times, and the middle one counts.
///
/// # Errors
/// What `measure` says.
pub fn search<E>(most: u32, mut measure: impl FnMut(u32) -> Result<Step, E>) -> Result<(u32, Vec<Step>), E> {
    let mut steps = Vec::new();
    let mut holds = |cards: u32| {
        let mut all = vec![measure(cards)?];
        while !all[0].holds() && all.len() < TRIES {
            all.push(measure(cards)?);
        }
        all.sort_by_key(|step| step.p99);
        let middle = all[all.len() / 2];
        steps.push(middle);
        Ok(middle.holds())
    };
    let (mut good, mut bad) = (0, None);
    while bad.is_none() && good < most {
        let next = (good * 2).clamp(1, most);
        if holds(next)? { good = next } else { bad = Some(next) }
    }
    while let Some(too_many) = bad.filter(|too_many| too_many - good > 1) {
        let between = good + (too_many - good) / 2;
        if holds(between)? { good = between } else { bad = Some(between) }
    }
    Ok((good, steps))
}

/// Reads so many emulated cards at once for this time. They are mounted below `folder`, which must be empty of such.
///
/// # Errors
/// Not root, no `/dev/fuse`, or a card cannot be read.
pub fn measure(folder: &Path, cards: u32, time: Duration) -> io::Result<Step> {
    let mut emulators = Vec::new();
    for index in 0..cards {
        emulators.push(Emulator::start(&options(folder, &format!("card-{index}"))?).map_err(said)?);
    }
    let stop = AtomicBool::new(false);
    let failed = thread::scope(|scope| {
        let readers: Vec<_> = emulators.iter().map(|one| scope.spawn(|| read(&one.path(), &stop))).collect();
        thread::sleep(time);
        stop.store(true, Ordering::Relaxed);
        readers.into_iter().find_map(|reader| reader.join().ok()?.err())
    });
    let late: Vec<Lateness> = emulators.iter().filter_map(|one| one.statistics().lateness).collect();
    for mut emulator in emulators {
        emulator.stop(false).map_err(said)?;
    }
    if let Some(error) = failed {
        return Err(error);
    }
    let worst = |of: fn(&Lateness) -> Nanos| late.iter().map(of).max().unwrap_or(Nanos::ZERO);
    Ok(Step { cards, p50: worst(|late| late.p50), p99: worst(|late| late.p99) })
}

fn said(error: EmulateError) -> io::Error {
    io::Error::other(error.to_string())
}

fn options(folder: &Path, name: &str) -> io::Result<Options> {
    let at: PathBuf = folder.join(name);
    fs::create_dir_all(&at)?;
    Ok(Options {
        model: CARD.to_owned(),
        at: Some(at),
        attach_loop: false,
        backing: None,
        seed: 1,
        speed: Speed::Times(1.0),
        log: None,
        registry: folder.join("registry"),
    })
}

/// Reads a card, one request after the other, until `stop`.
fn read(path: &Path, stop: &AtomicBool) -> io::Result<()> {
    let file = fs::File::open(path)?;
    let mut block = vec![0; 4096];
    let mut at = 0;
    while !stop.load(Ordering::Relaxed) {
        file.read_exact_at(&mut block, at % SPAN)?;
        at += STEP;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(cards: u32, late: bool) -> Step {
        Step { cards, p50: Nanos(1_000), p99: Nanos(if late { 2 * LATE.0 } else { LATE.0 / 2 }) }
    }

    /// What is found on a host that holds so many, and the numbers that were tried.
    fn found(holds: u32, most: u32) -> (u32, Vec<u32>) {
        let (found, steps) = search(most, |cards| Ok::<_, ()>(step(cards, cards > holds))).unwrap();
        (found, steps.iter().map(|step| step.cards).collect())
    }

    #[test]
    fn the_number_is_found_whatever_it_is() {
        for holds in 0..=MOST {
            assert_eq!(found(holds, MOST).0, holds);
        }
        assert_eq!(found(100, MOST), (64, vec![1, 2, 4, 8, 16, 32, 64]));
        assert_eq!(found(11, MOST).1, [1, 2, 4, 8, 16, 12, 10, 11]);
        assert_eq!(found(100, 5), (5, vec![1, 2, 4, 5]));
    }

    #[test]
    fn one_bad_moment_of_the_host_is_not_its_limit() {
        let mut asked = 0;
        let (found, _) = search(8, |cards| {
            asked += u32::from(cards == 4);
            Ok::<_, ()>(step(cards, cards == 4 && asked == 1))
        })
        .unwrap();
        assert_eq!((found, asked), (8, 3), "two of three were punctual");
    }
}
