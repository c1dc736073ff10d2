//! What a power cut leaves.

use crate::common::{CARD, Host, KIB4, at, card};
use flashscope_device::{DeviceError, ExecuteExt, Fill, Op, Outcome, Request, Target};
use flashscope_sim::Source;
use flashscope_units::{Bytes, Instant, Nanos};
use proptest::prelude::*;

const A: Bytes = Bytes::mib(8);
const B: Bytes = Bytes::mib(9);

#[test]
fn a_card_without_a_cache_keeps_what_it_has_answered() {
    let mut card = card("power_cut_after=never");
    card.write(A, KIB4, 1);
    card.cycle();
    assert!(card.holds(A, KIB4, 1));
}

#[test]
fn a_device_without_faults_has_nobody_who_kept_track() {
    let mut card = card("state=filled");
    assert!(matches!(card.target.cut_power(), Err(DeviceError::Invalid(_))));
}

#[test]
fn a_cache_keeps_what_was_flushed_forced_or_drained() {
    let mut card = card("write_cache=64KiB,drain_after=500ms");
    card.write(A, KIB4, 1);
    card.flush();
    card.write(A, KIB4, 2);
    card.write_durably(B, KIB4, 3);
    assert!(card.holds(A, KIB4, 2), "read your writes");
    card.cycle();
    let cut = card.target.last_power_cut().unwrap();
    assert_eq!((cut.dropped, cut.dropped_bytes, cut.under_way, cut.torn), (1, KIB4, 0, None));
    assert!(card.holds(A, KIB4, 1), "what was flushed is there, what came after it is gone");
    assert!(card.holds(B, KIB4, 3));
    // By itself after half a second.
    card.write(A, KIB4, 4);
    card.pause(Nanos::millis(501));
    card.write(B, KIB4, 5);
    card.cycle();
    assert!(card.holds(A, KIB4, 4) && card.holds(B, KIB4, 3));
    // Pushed out by newer ones: the last 64 KiB are gone.
    for i in 0..40 {
        card.write(A + KIB4 * i, KIB4, 6);
    }
    card.cycle();
    let kept = (0..40).filter(|&i| card.holds(A + KIB4 * i, KIB4, 6)).collect::<Vec<_>>();
    assert_eq!(kept, (0..24).collect::<Vec<_>>());
}

#[test]
fn a_newer_durable_write_is_not_undone_by_an_older_one() {
    let mut card = card("write_cache=1MiB,drain_after=10ms");
    card.write(A, KIB4 * 4, 1);
    card.write_durably(A + KIB4, KIB4, 2);
    card.pause(Nanos::secs(1));
    card.cycle();
    assert!(card.holds(A, KIB4, 1) && card.holds(A + KIB4, KIB4, 2) && card.holds(A + KIB4 * 2, KIB4 * 2, 1));
}

#[test]
fn a_flush_that_lies_loses_what_it_promised() {
    let mut card = card("write_cache=1MiB,drain_after=never,lying_flush=true");
    card.write(A, KIB4, 1);
    card.flush();
    card.write_durably(B, KIB4, 2);
    assert!(card.holds(A, KIB4, 1) && card.holds(B, KIB4, 2));
    card.cycle();
    assert!(card.holds(A, KIB4, 0) && card.holds(B, KIB4, 0));
    let mut honest = crate::common::card("write_cache=1MiB,drain_after=never");
    let time = |card: &mut Host| {
        let write = card.writing(A, KIB4, 3, true);
        card.target.execute(write).unwrap().service_time()
    };
    assert!(time(&mut card) < time(&mut honest), "it is answered sooner");
}

#[test]
fn the_power_goes_within_a_request() {
    let mut card = card("power_cut_after=2");
    card.write(A, KIB4, 1);
    card.write(A, KIB4, 2);
    let before = card.target.now();
    assert!(matches!(card.try_write(A, KIB4, 3), Err(DeviceError::Vanished(_))));
    assert_eq!(card.target.gone(), Some("its power was cut"));
    let cut = card.target.last_power_cut().unwrap();
    assert!(cut.at >= before && cut.under_way == 1);
    assert!(matches!(card.try_write(A, KIB4, 3), Err(DeviceError::Vanished(_))));
    card.target.power_on();
    assert_eq!(card.target.gone(), None);
    assert!(card.target.now() >= cut.at + Nanos::millis(250));
    assert!(card.holds(A, KIB4, 2));
    card.write(A, KIB4, 4);
}

#[test]
fn the_power_goes_at_a_time() {
    let mut card = card("power_cut_at=2s,write_cache=1MiB,drain_after=1s");
    card.write(A, KIB4, 1);
    card.target.wait_until(at(1500));
    card.write(B, KIB4, 2);
    card.target.wait_until(at(5000));
    assert!(matches!(card.try_write(A, KIB4, 3), Err(DeviceError::Vanished(_))));
    assert_eq!(card.target.last_power_cut().unwrap().at, at(2000));
    card.target.power_on();
    assert!(card.holds(A, KIB4, 1) && card.holds(B, KIB4, 0));
    card.target.wait_until(at(20_000));
    card.write(A, KIB4, 4);
}

#[test]
fn a_torn_write_is_new_garbage_and_old() {
    for seed in 0..20 {
        let mut card = Host::new(&format!("{CARD},torn=true,power_cut_after=1"), seed);
        card.write(A, Bytes::mib(1), 1);
        assert!(card.try_write(A, Bytes::mib(1), 2).is_err());
        card.target.power_on();
        let torn = card.target.last_power_cut().unwrap().torn.unwrap();
        let new = torn - A;
        assert!(new == Bytes::ZERO || card.holds(A, new, 2));
        assert!(!card.holds(torn, Bytes(512), 1) && !card.holds(torn, Bytes(512), 2));
        let rest = torn + Bytes(512);
        assert!(rest == B || card.holds(rest, B - rest, 1));
        card.target.check().unwrap();
    }
}

#[test]
fn a_reordering_cache_keeps_newer_and_loses_older() {
    let mut card = card("write_cache=1MiB,drain_after=never,reordered=true");
    for i in 0..64 {
        card.write(A + KIB4 * u64::from(i), KIB4, i + 1);
    }
    card.cycle();
    let kept: Vec<bool> = (0..64).map(|i| card.holds(A + KIB4 * u64::from(i), KIB4, i + 1)).collect();
    let there = kept.iter().filter(|&&there| there).count();
    assert!((16..48).contains(&there), "{there}");
    assert!(kept.windows(2).any(|pair| !pair[0] && pair[1]), "something newer is there than what is gone");
}

#[test]
fn lost_and_misdirected_writes_show_after_the_cut_only() {
    let mut card = card("lost=0.2");
    card.write(A, Bytes::mib(2), 1);
    for i in 0..256 {
        card.write_durably(A + KIB4 * i, KIB4, 2);
        assert!(card.holds(A + KIB4 * i, KIB4, 2));
    }
    card.cycle();
    let gone = (0..256).filter(|&i| !card.holds(A + KIB4 * i, KIB4, 2)).count();
    assert!((26..80).contains(&gone), "{gone}");

    let mut card = crate::common::card("misdirected=1");
    card.write_durably(A, KIB4, 3);
    card.cycle();
    assert!(card.holds(A, KIB4, 0), "it is not where it should be");
    let misplaced: Vec<Source> = card.target.held(Bytes::ZERO, Bytes::mib(64)).into_iter().map(|run| run.1).collect();
    assert!(misplaced.contains(&Source::Misplaced(Fill::Tagged { generation: 3 }, A)), "{misplaced:?}");
}

/// The drive knows itself what it still has in memory.
#[test]
fn a_drive_loses_what_its_volatile_buffer_holds() {
    let mut drive = Host::new("ssd-consumer,noise=none,mapping.buffer.volatile=true,power_cut_after=never", 1);
    drive.write(Bytes::mib(1), Bytes::mib(64), 1);
    drive.pause(Nanos::secs(1));
    drive.flush();
    drive.write(A, KIB4, 2);
    drive.cycle();
    assert!(drive.holds(A, KIB4, 1), "one block waits for its row to be complete");
    // Much more than the buffer takes: most of it has been programmed.
    drive.write(Bytes::mib(100), Bytes::mib(512), 3);
    drive.cycle();
    let cut = drive.target.last_power_cut().unwrap();
    assert!(cut.dropped_bytes > Bytes::ZERO && cut.dropped_bytes < Bytes::mib(64), "{cut:?}");
    let kept: u64 = (0..512).map(|i| u64::from(drive.holds(Bytes::mib(100 + i), Bytes::mib(1), 3))).sum();
    assert!(kept > 400, "{kept}");

    let mut safe = Host::new("ssd-consumer,noise=none,mapping.buffer.volatile=false,power_cut_after=never", 1);
    safe.write(A, KIB4, 2);
    safe.cycle();
    assert!(safe.holds(A, KIB4, 2));
}

const SMALL: u64 = 1 << 20;
const BLOCKS: u64 = SMALL / 4096;

#[derive(Clone, Debug)]
enum Step {
    Write {
        at: u64,
        blocks: u64,
        durable: bool,
    },
    Discard {
        at: u64,
        blocks: u64,
    },
    Flush,
    Pause {
        millis: u64,
    },
    /// Several requests at once, then all are waited for.
    Together {
        ats: Vec<u64>,
        flush_within: bool,
    },
    Cut,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let range = (0..BLOCKS, 1..24u64).prop_map(|(at, blocks)| (at, blocks.min(BLOCKS - at)));
    let step = prop_oneof![
        10 => (range.clone(), prop::bool::weighted(0.2)).prop_map(|((at, blocks), durable)| Step::Write { at, blocks, durable }),
        1 => range.prop_map(|(at, blocks)| Step::Discard { at, blocks }),
        1 => Just(Step::Flush),
        1 => (1..800u64).prop_map(|millis| Step::Pause { millis }),
        2 => (prop::collection::vec(0..12u64, 1..8), any::<bool>()).prop_map(|(ats, flush_within)| Step::Together { ats, flush_within }),
        1 => Just(Step::Cut),
    ];
    prop::collection::vec(step, 1..120)
}

fn device() -> impl Strategy<Value = (String, bool)> {
    let card = format!(
        "sd-4mib,capacity={SMALL},noise=none,mapping.unit=256KiB,mapping.sub_unit=128KiB,mapping.stripe=16KiB,\
         mapping.areas.0.start=0,mapping.areas.0.end=256KiB"
    );
    let drive = "ssd-consumer,noise=none,mapping.buffer.volatile=true,capacity=1GiB".to_owned();
    let cache = prop::sample::select(vec![
        "write_cache=none",
        "write_cache=mapping",
        "write_cache=64KiB,drain_after=200ms",
        "write_cache=512KiB,drain_after=never",
    ]);
    let more = prop::sample::select(vec!["", ",reordered=true", ",torn=true", ",power_cut_after=25,torn=true"]);
    (prop::sample::select(vec![card, drive]), cache, more)
        .prop_map(|(model, cache, more)| (format!("{model},{cache}{more}"), more.contains("torn")))
}

/// What each block may hold: every version since the one that is known to be durable, that one included.
struct Versions {
    /// Oldest first; the first is durable.
    may: Vec<Vec<Option<u32>>>,
    /// Writes that were answered and not flushed since: (block, version), for a flush to make durable.
    generation: u32,
}

impl Versions {
    fn new() -> Versions {
        Versions { may: vec![vec![Some(0)]; BLOCKS as usize], generation: 0 }
    }

    fn add(&mut self, at: u64, blocks: u64, version: Option<u32>, durable: bool) {
        for block in at..at + blocks {
            let may = &mut self.may[block as usize];
            if durable {
                may.clear();
            }
            may.push(version);
        }
    }

    fn flushed(&mut self) {
        for may in &mut self.may {
            may.drain(..may.len() - 1);
        }
    }
}

fn run(spec: &str, seed: u64, steps: &[Step]) -> Result<(), TestCaseError> {
    let torn = spec.contains("torn=true");
    let mut host = Host::new(spec, seed);
    let mut versions = Versions::new();
    // Brings the small range to a known state on any device.
    versions.generation = 1;
    for step in [Step::Write { at: 0, blocks: BLOCKS, durable: true }].iter().chain(steps) {
        if !apply(step, &mut host, &mut versions) {
            // What was under way when it went may or may not be there.
            let garbage = host.target.last_power_cut().and_then(|cut| cut.torn);
            prop_assert!(torn || garbage.is_none());
            host.target.power_on();
            host.target.check().map_err(TestCaseError::fail)?;
            verify(&mut host, &mut versions, garbage)?;
        }
    }
    Ok(())
}

/// Says whether the device is still there.
fn apply(step: &Step, host: &mut Host, versions: &mut Versions) -> bool {
    let bytes = |blocks: u64| KIB4 * blocks;
    let mut requests = Vec::new();
    match step {
        Step::Write { at, blocks, durable } => {
            versions.generation += 1;
            requests.push(host.writing(bytes(*at), bytes(*blocks), versions.generation, *durable));
        }
        Step::Discard { at, blocks } => {
            requests.push(Request::discard(&mut host.grant, 0, bytes(*at), bytes(*blocks)).unwrap());
        }
        Step::Flush => requests.push(Request::flush(0)),
        Step::Pause { millis } => host.pause(Nanos::millis(*millis)),
        Step::Together { ats, flush_within } => {
            for at in ats {
                versions.generation += 1;
                requests.push(host.writing(bytes(*at), KIB4, versions.generation, false));
            }
            if *flush_within {
                requests.insert(requests.len() / 2, Request::flush(0));
            }
        }
        Step::Cut => {
            host.target.cut_power().unwrap();
            return false;
        }
    }
    // Whatever comes of them, the writes may have reached the medium.
    for request in &requests {
        if let (Op::Write { .. }, Some(Fill::Tagged { generation })) = (request.op(), request.fill()) {
            versions.add(request.offset() / KIB4, request.length() / KIB4, Some(generation), false);
        } else if request.op() == Op::Discard {
            versions.add(request.offset() / KIB4, request.length() / KIB4, None, false);
        }
    }
    let mut done = Vec::new();
    let went = host.target.submit(&requests).and_then(|()| host.target.reap(requests.len(), &mut done));
    if went.is_err() {
        return false;
    }
    assert!(done.iter().all(|one| one.outcome == Outcome::Success));
    match step {
        Step::Flush => versions.flushed(),
        Step::Write { at, blocks, durable: true } => versions.add(*at, *blocks, Some(versions.generation), true),
        _ => {}
    }
    true
}

/// Every block holds its last durable version or a newer one; then that is what it is known to hold.
fn verify(host: &mut Host, versions: &mut Versions, garbage: Option<Bytes>) -> Result<(), TestCaseError> {
    for block in 0..BLOCKS {
        let (at, may) = (KIB4 * block, &mut versions.may[block as usize]);
        // A torn or partly discarded block is looked at in its sectors.
        let torn = garbage.is_some_and(|garbage| garbage >= at && garbage < at + KIB4);
        let mut held = None;
        for (length, source) in host.target.held(at, KIB4) {
            let version = match source {
                Source::Written(Fill::Tagged { generation }) => Some(generation),
                Source::Erased(_) => None,
                Source::Garbage if torn => continue,
                other => return Err(TestCaseError::fail(format!("block {block} holds {other:?} for {length}"))),
            };
            prop_assert!(may.contains(&version), "block {} holds {:?}, not one of {:?}", block, version, may);
            prop_assert!(torn || held.is_none() || held == Some(version), "block {} holds several", block);
            held = Some(version);
        }
        match held {
            Some(version) if !torn => *may = vec![version],
            // Written anew, so that what it holds is known again.
            _ => {
                versions.generation += 1;
                *may = vec![Some(versions.generation)];
                let write = host.writing(at, KIB4, versions.generation, true);
                if host.target.execute(write).is_err() {
                    // This was the request that the power goes in.
                    host.target.power_on();
                    host.write_durably(at, KIB4, versions.generation);
                }
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// After a power cut every durable write is there, and every block holds that version or a newer one: never anything else,
    /// but for one torn block.
    #[test]
    fn durable_writes_survive((spec, _) in device(), seed in 0..1000u64, steps in steps()) {
        run(&spec, seed, &steps)?;
    }
}

/// The rig: a device whose flush lies must be caught by the same property.
#[test]
fn a_lying_flush_breaks_the_property() {
    let spec = format!("{CARD},write_cache=1MiB,drain_after=never,lying_flush=true");
    let steps = [Step::Write { at: 3, blocks: 2, durable: false }, Step::Flush, Step::Cut];
    assert!(run(&spec, 1, &steps).is_err());
    let honest = format!("{CARD},write_cache=1MiB,drain_after=never");
    assert!(run(&honest, 1, &steps).is_ok());
    assert_eq!(Instant::ORIGIN, at(0));
}
