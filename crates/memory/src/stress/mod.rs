//! Memory under stress: threads that move data about in it and verify every byte of it, whatever else goes on.

mod physical;
mod plant;
mod worker;

use crate::session::Session;
use crate::stopped;
use crate::workers::pin;
use anyhow::{anyhow, bail};
use flashscope_kernels::{Buffer, Pages};
use flashscope_mem::wire::{Planted, StressTest};
use flashscope_model::memory::Setup;
use flashscope_model::stress::{Stress, StressPlan};
use flashscope_stress::{from_words, groups};
use flashscope_units::{Bytes, Nanos};
use physical::Addresses;
use plant::Shim;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use worker::{BLOCK, Told, Worker};

/// Blocks of a thread at least: one is always empty.
const LEAST_BLOCKS: u64 = 3;
/// How often it is looked whether the time is over.
const LOOK: Duration = Duration::from_millis(100);
/// Wrong words that are kept one by one; all are counted.
const MOST_WORDS: usize = 1000;

pub(crate) fn measure(session: &mut Session, asked: &StressTest) -> anyhow::Result<()> {
    let threads = session.threads();
    let setup = session.record.setup.clone();
    let blocks = blocks(&setup, asked, threads)?;
    let plan = StressPlan {
        memory: Bytes(blocks * BLOCK as u64 * u64::from(threads)),
        available: setup.available,
        left: setup.available.saturating_sub(Bytes(blocks * BLOCK as u64 * u64::from(threads))),
        threads,
        time: Nanos(session.limits.time),
        seed: asked.seed,
        notes: Vec::new(),
    };
    let pages = if session.limits.huge { Pages::Huge } else { Pages::Small };
    let mut buffers = Vec::new();
    for at in 0..threads {
        if !session.progress("taking memory", 0.0)? {
            return Ok(());
        }
        let buffer = Buffer::new(blocks as usize * BLOCK, pages).map_err(|error| anyhow!("{error}"))?;
        let locked = buffer.lock();
        if !locked && setup.swap > Bytes::ZERO {
            bail!(
                "memory cannot be kept out of swap space, which is switched on, and what was swapped out would be tested on a disk\n\
                 hint: raise the limit (ulimit -l), run it as root, switch swap off (swapoff -a), or take less with --memory"
            );
        }
        session.record.setup.locked = locked && (at == 0 || session.record.setup.locked);
        buffers.push(buffer);
    }
    let addresses = Addresses::open();
    let notes = notes(&session.record.setup, session.limits.huge, &addresses, threads);
    let run = Run {
        over: AtomicBool::new(false),
        ready: AtomicU64::new(0),
        moved: AtomicU64::new(0),
        seed: asked.seed,
        addresses,
        processors: setup.processors,
    };
    let told = run.all(session, buffers, asked.plant.as_ref())?;
    let stress = together(StressPlan { notes, ..plan }, told);
    session.record.stress = Some(stress);
    Ok(())
}

/// Blocks of each thread.
fn blocks(setup: &Setup, asked: &StressTest, threads: u32) -> anyhow::Result<u64> {
    let share = Bytes((setup.available.as_f64() * asked.share) as u64);
    let wanted = asked.memory.map_or(share, Bytes);
    let blocks = wanted.get() / u64::from(threads) / BLOCK as u64;
    let least = Bytes(LEAST_BLOCKS * BLOCK as u64 * u64::from(threads));
    if wanted >= setup.available {
        bail!(
            "not enough memory: {wanted} are to be tested, and {} are available{}\nhint: --memory with a smaller size",
            setup.available,
            setup.limit.map_or_else(String::new, |limit| format!(" within the control group's limit of {limit}"))
        );
    }
    if blocks < LEAST_BLOCKS {
        bail!(
            "not enough memory: {threads} threads need {least} at least, and {wanted} are to be tested\nhint: fewer --threads, or \
             more --memory"
        );
    }
    Ok(blocks)
}

/// What the surroundings do not allow.
fn notes(setup: &Setup, wants_huge: bool, addresses: &Addresses, threads: u32) -> Vec<String> {
    let mut notes = Vec::new();
    if !setup.locked {
        notes.push(
            "the kernel does not lock the memory (ulimit -l); with swap off it stays where it is all the same"
                .to_owned(),
        );
    }
    if setup.swap > Bytes::ZERO {
        notes
            .push(format!("{} of swap space are switched on; the tested memory is locked and not swapped", setup.swap));
    }
    if wants_huge && setup.huge_page.is_none() {
        notes
            .push("this kernel gives programs no huge pages: a physical address is known within 4 KiB only".to_owned());
    }
    if !addresses.are_told() {
        notes.push("the kernel does not tell physical addresses (/proc/self/pagemap) to this user; places are those in the tested memory".to_owned());
    }
    if let Some(limit) = setup.limit {
        notes.push(format!("the control group allows {limit}; what lies beyond it was not tested"));
    }
    if threads == 1 {
        notes.push("one thread loads a memory less than all processors together do".to_owned());
    }
    if !flashscope_kernels::verify::goes_past_caches() {
        notes.push("this processor lets no program empty its caches: a word may be read again from a cache".to_owned());
    }
    notes
}

/// What the threads share.
struct Run {
    over: AtomicBool,
    /// Threads that have filled their memory.
    ready: AtomicU64,
    moved: AtomicU64,
    seed: u64,
    addresses: Addresses,
    processors: Vec<u32>,
}

/// What all threads told, and for how long they were at it.
struct AllTold {
    took: Duration,
    moved: u64,
    told: Vec<Told>,
    plants: bool,
}

impl Run {
    fn all(&self, session: &mut Session, buffers: Vec<Buffer>, plant: Option<&Planted>) -> anyhow::Result<AllTold> {
        let threads = buffers.len();
        let mut go_on = Ok(true);
        let (told, span) = std::thread::scope(|scope| {
            let mut first_block = 0;
            let handles: Vec<_> = buffers
                .into_iter()
                .enumerate()
                .map(|(at, buffer)| {
                    let blocks = (buffer.len() / BLOCK) as u64;
                    let base = first_block;
                    first_block += blocks;
                    let shim = Shim::of(plant.filter(|_| at == 0), self.seed);
                    let processor = self.processors.get(at).copied();
                    scope
                        .spawn(move || self.one(Worker::new(buffer, base, self.seed, shim, &self.addresses), processor))
                })
                .collect();
            let span = self.watched(session, threads as u64, &mut go_on);
            let told: Vec<Told> = handles.into_iter().filter_map(|handle| handle.join().ok()).collect();
            (told, span)
        });
        go_on?;
        if told.len() < threads {
            bail!("a thread of the test ended early");
        }
        Ok(AllTold { took: span.0, moved: span.1, told, plants: plant.is_some() })
    }

    /// Waits until the time is over or nobody waits for more. Gives the time since all memory was filled, and what was moved in it.
    fn watched(&self, session: &mut Session, threads: u64, go_on: &mut anyhow::Result<bool>) -> (Duration, u64) {
        let mut begun = None;
        loop {
            std::thread::sleep(LOOK.min(session.time()));
            let now = || (Instant::now(), self.moved.load(Ordering::Acquire));
            if begun.is_none() && self.ready.load(Ordering::Acquire) >= threads {
                begun = Some(now());
            }
            let since = begun.unwrap_or_else(now);
            let (time, moved) = (since.0.elapsed(), self.moved.load(Ordering::Acquire) - since.1);
            let rate = Bytes((moved as f64 / time.as_secs_f64().max(1e-3)) as u64);
            let what = if begun.is_some() { format!("stress, {rate}/s") } else { "filling memory".to_owned() };
            *go_on = session.progress(&what, time.as_secs_f64() / session.time().as_secs_f64().max(1e-9));
            let is_over = begun.is_some() && time >= session.time();
            if is_over || stopped() || !matches!(go_on, Ok(true)) {
                self.over.store(true, Ordering::Release);
                return (time, moved);
            }
        }
    }

    /// One thread.
    fn one(&self, mut worker: Worker<'_>, processor: Option<u32>) -> Told {
        processor.map(pin);
        worker.fill(0, &self.over);
        self.ready.fetch_add(1, Ordering::AcqRel);
        worker.run(&self.over, &self.moved)
    }
}

fn together(plan: StressPlan, all: AllTold) -> Stress {
    let AllTold { took, moved, told, plants } = all;
    let sum = |pick: fn(&Told) -> u64| told.iter().map(pick).sum::<u64>();
    let (wrong, planted, found) = (sum(|told| told.wrong), sum(|told| told.planted), sum(|told| told.planted_found));
    let passes = told.iter().map(|told| told.passes).min().unwrap_or(0);
    let words: Vec<_> = told.into_iter().flat_map(|told| told.words).take(MOST_WORDS).collect();
    Stress {
        took: Nanos(took.as_nanos() as u64),
        moved: Bytes(moved),
        passes,
        planted: plants.then_some(planted),
        planted_found: plants.then_some(found),
        wrong,
        groups: groups(&words),
        errors: words.iter().map(from_words).collect(),
        words,
        plan,
        storage: None,
    }
}
