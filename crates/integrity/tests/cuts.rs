//! Whole runs on simulated devices: honest ones are never accused, and each fault is seen.

use flashscope_device::{Target, WriteGrant};
use flashscope_integrity::verdict::{shipped, verdict};
use flashscope_integrity::{Plan, Report, first_generation, run, usual_region};
use flashscope_model::integrity::{FaultKind, Verdict};
use flashscope_units::{Bytes, Nanos};

const CARD: &str = "sd-4mib,capacity=64MiB,noise=none,mapping.areas.0.start=0,mapping.areas.0.end=4MiB";

fn done(faults: &str, cuts: u32, seed: u64) -> (Report, Verdict) {
    let mut target = flashscope_sim::open(&format!("{CARD},{faults}"), seed).unwrap();
    target.check_always(false);
    let mut grant = WriteGrant::simulated(target.facts(), Bytes::gib(64)).unwrap();
    let (offset, length) = usual_region(target.facts().capacity);
    let generation = first_generation(seed);
    let plan = Plan { cuts, seed, generation, offset, length, slow_after: Nanos::secs(10), search: Bytes::mib(64) };
    let report = run(&mut target, &mut grant, &plan, &mut (), &mut ());
    let verdict = verdict(&report, shipped());
    (report, verdict)
}

#[test]
fn honest_caches_are_not_accused() {
    for cache in [
        "write_cache=none",
        "write_cache=256KiB,drain_after=never",
        "write_cache=4MiB,drain_after=50ms",
        "write_cache=1MiB,drain_after=5s,reordered=true",
    ] {
        let (report, verdict) = done(cache, 60, 3);
        assert_eq!((verdict.cuts, verdict.broken), (60, 0), "{cache}: {:#?}", verdict.faults);
        assert!(report.ended.is_none() && report.strays.is_empty());
        let dropped = report.cuts.iter().filter(|cut| cut.dropped > Bytes::ZERO).count();
        assert_eq!(dropped > 0, cache != "write_cache=none", "{cache}: {dropped} cuts dropped something");
        assert!(verdict.suspicions.is_empty());
    }
}

#[test]
fn each_fault_is_seen() {
    use FaultKind::*;
    for (faults, kind) in [
        ("lost=0.02", LostFlushed),
        ("late_loss=800ms", LateLoss),
        ("write_cache=1MiB,drain_after=never,lying_flush=true", LyingFlush),
        ("write_cache=1MiB,drain_after=never,lying_flush=true,reordered=true", Reordered),
        ("shorn=true", Shorn),
        ("torn=true", Corrupted),
        ("misdirected=0.02", Flying),
        ("neighbours=0.3", Neighbour),
        ("rollback=0.2", Rollback),
        ("shrink=0.05", Shrunk),
        ("dead=0.05", Dead),
        ("slow_start=0.1", SlowRecovery),
    ] {
        let (_, verdict) = done(faults, 80, 5);
        assert!(verdict.broken > 0, "{faults}");
        let named: Vec<FaultKind> = verdict.faults.iter().chain(&verdict.suspicions).map(|fault| fault.kind).collect();
        assert!(named.contains(&kind), "{faults}: {named:?}");
    }
}

#[test]
fn the_same_seed_cuts_the_same() {
    assert_eq!(done("lost=0.02", 20, 9).0, done("lost=0.02", 20, 9).0);
}
