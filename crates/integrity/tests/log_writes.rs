//! The log of writes, read by a reader that knows nothing but the kernel's structures (drivers/md/dm-log-writes.c), and replayed:
//! what stands on the device is what the log brings.

use flashscope_device::{ExecuteExt, Fill, Holds, Known, Request, Target, WriteGrant};
use flashscope_integrity::log_writes::{LogWrites, Sink};
use flashscope_integrity::{Plan, first_generation, run, usual_region};
use flashscope_sim::SimTarget;
use flashscope_units::{Bytes, Nanos};
use std::ops::Range;

const CARD: &str = "sd-4mib,capacity=64MiB,noise=none,mapping.areas.0.start=0,mapping.areas.0.end=4MiB";
const SECTOR: usize = 512;

#[derive(Default)]
struct Memory(Vec<u8>);

impl Sink for Memory {
    fn put(&mut self, at: u64, bytes: &[u8]) -> Result<(), String> {
        let range = at as usize..at as usize + bytes.len();
        self.0.resize(self.0.len().max(range.end), 0);
        self.0[range].copy_from_slice(bytes);
        Ok(())
    }
}

/// Bytes that tell which write and which place they are of.
fn make(fill: Fill, at: u64, into: &mut [u8]) {
    let Fill::Tagged { generation } = fill else { panic!("only tagged data are written") };
    for (index, word) in into.chunks_exact_mut(8).enumerate() {
        word.copy_from_slice(&((u64::from(generation) << 32) + at + index as u64 * 8).to_le_bytes());
    }
}

/// `struct log_write_entry`, and the data of a write or the text of a mark.
#[derive(Debug)]
struct Logged {
    sector: u64,
    sectors: u64,
    flags: u64,
    data: Range<usize>,
}

fn number(log: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(log[at..at + 8].try_into().unwrap())
}

fn read(log: &[u8]) -> Vec<Logged> {
    assert_eq!((number(log, 0), number(log, 8)), (0x006a_7366_7773_6872, 1), "magic and version");
    assert_eq!(u32::from_le_bytes(log[24..28].try_into().unwrap()), SECTOR as u32);
    let mut at = SECTOR;
    let entries = (0..number(log, 16)).map(|_| {
        let (sector, sectors, flags, length) =
            (number(log, at), number(log, at + 8), number(log, at + 16), number(log, at + 24) as usize);
        let (start, has_text) = (at, flags & 8 != 0);
        at += SECTOR * (1 + sectors as usize);
        let data = if has_text { start + 32..start + 32 + length } else { start + SECTOR..at };
        Logged { sector, sectors, flags, data }
    });
    let entries: Vec<Logged> = entries.collect();
    assert_eq!(at, log.len(), "nothing lies behind the last entry");
    entries
}

fn logged(faults: &str) -> (SimTarget, Plan, Vec<u8>) {
    let seed = 11;
    let mut target = flashscope_sim::open(&format!("{CARD},{faults}"), seed).unwrap();
    target.check_always(false);
    let mut grant = WriteGrant::simulated(target.facts(), Bytes::gib(64)).unwrap();
    let (offset, length) = usual_region(target.facts().capacity);
    let generation = first_generation(seed);
    let plan = Plan { cuts: 12, seed, generation, offset, length, slow_after: Nanos::secs(10), search: Bytes::ZERO };
    let mut log = LogWrites::new(Memory::default(), make).unwrap();
    let report = run(&mut target, &mut grant, &plan, &mut log, &mut ());
    assert!(report.ended.is_none() && report.cuts.len() == 12);
    (target, plan, log.into_sink().0)
}

/// Replays a log up to a place.
fn replay(log: &[u8], entries: &[Logged], plan: &Plan) -> Vec<u8> {
    let mut image = vec![0; plan.length.get() as usize];
    for entry in entries.iter().filter(|entry| entry.sectors > 0) {
        let at = entry.sector as usize * SECTOR - plan.offset.get() as usize;
        image[at..at + entry.data.len()].copy_from_slice(&log[entry.data.clone()]);
    }
    image
}

#[test]
fn a_replay_of_the_whole_brings_what_stands_on_the_device() {
    for cache in ["write_cache=none", "write_cache=1MiB,drain_after=never,reordered=true", "write_cache=256KiB"] {
        let (mut target, plan, log) = logged(cache);
        let entries = read(&log);
        let image = replay(&log, &entries, &plan);
        let known = Known { first: plan.generation, last: u32::MAX };
        let found = target.execute(Request::examine(0, plan.offset, plan.length, known)).unwrap();
        let mut at = plan.offset;
        for stretch in &found.stretches {
            let Holds::Tagged { generation, addressed } = stretch.holds else { panic!("{stretch:?}") };
            assert_eq!(addressed, at);
            let mut wanted = vec![0; stretch.length.get() as usize];
            make(Fill::Tagged { generation }, at.get(), &mut wanted);
            let from = (at - plan.offset).get() as usize;
            assert!(image[from..from + wanted.len()] == wanted, "{cache}: {stretch:?} at {at}");
            at += stretch.length;
        }
        assert_eq!(at, plan.offset + plan.length);
    }
}

#[test]
fn each_cut_is_marked_and_what_is_before_it_was_covered() {
    let (_, plan, log) = logged("write_cache=1MiB,drain_after=never");
    let entries = read(&log);
    let text = |entry: &Logged| String::from_utf8(log[entry.data.clone()].to_vec()).unwrap();
    let marks: Vec<String> = entries.iter().filter(|entry| entry.flags == 8).map(text).collect();
    assert_eq!(marks, (1..=12).map(|cut| format!("cut {cut}")).collect::<Vec<_>>());
    let (flushes, durable) = (entries.iter().filter(|one| one.flags == 1), entries.iter().filter(|one| one.flags == 2));
    assert!(flushes.count() > 12 && durable.count() > 12);
    assert!(
        entries.iter().all(|entry| entry.flags & !0b1011 == 0 && (entry.sectors > 0) == [0, 2].contains(&entry.flags))
    );
    // The last thing before a mark is a flush or a durable write: what comes later was not covered, and is not there.
    for pair in entries.windows(2).filter(|pair| pair[1].flags == 8) {
        assert!([1, 2].contains(&pair[0].flags), "{pair:?}");
    }
    // At the first mark a replay brings the first filling at least.
    let first = entries.iter().position(|entry| entry.flags == 8).unwrap();
    let image = replay(&log, &entries[..first], &plan);
    assert!(image.chunks_exact(8).all(|word| number(word, 0) >> 32 >= u64::from(plan.generation)));
}
