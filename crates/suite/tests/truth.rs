//! Definitions on simulated devices whose inside is known: what they say must be what is so.

use flashscope_device::{Target, WriteGrant};
use flashscope_load::evidence::{Counted, Instead, judge};
use flashscope_load::outcome::{job_run, moved_in_all};
use flashscope_load::plan::{Limits, Resolved, resolve_set};
use flashscope_load::record::{Recorder, Trace};
use flashscope_load::simulate::simulate;
use flashscope_load::worker::Worker;
use flashscope_model::bench::{BenchPhase, BenchRecord, PhaseRun};
use flashscope_model::envelope::{Envelope, Kind, StopReason, Tool};
use flashscope_model::preset::{Figure, LimitVerdict, PresetRun};
use flashscope_sim::SimTarget;
use flashscope_suite::{Definition, Ground, Ran, Wish, evaluate, preset};
use flashscope_units::Bytes;

/// Runs a definition on a simulated device, as `bench --preset` does.
fn run(definition: &Definition, model: &str, wish: &Wish) -> PresetRun {
    let mut target = flashscope_sim::open(model, 1).expect("the model is understood");
    let limits = Limits { capacity: target.facts().capacity, granularity: target.capabilities().granularity };
    let schedule = definition.schedule(Ground::new(true), wish).expect("it can run there");
    let plans = resolve_set(&schedule.set, |_| limits).expect("the jobs fit");
    let mut grant = WriteGrant::simulated(target.facts(), Bytes(1 << 60)).expect("it is simulated");
    let mut phases: Vec<BenchPhase> =
        plans.iter().map(|_| BenchPhase { runs: Vec::new(), summary: Vec::new() }).collect();
    for time in 0..schedule.repeat {
        for (index, plans) in plans.iter().enumerate() {
            if time == 0 || index >= schedule.prepare {
                phases[index].runs.push(phase(plans, &mut target, &mut grant));
            }
        }
        if definition.is_enough(&schedule, &phases) {
            break;
        }
    }
    let envelope = Envelope {
        device: Some(target.facts().clone()),
        virtual_time: true,
        ..Envelope::new(Kind::Bench, Tool::default(), "", model)
    };
    let record = BenchRecord { envelope, phases, preset: None };
    evaluate(definition, Ran { schedule: &schedule, record: &record })
}

fn phase(plans: &[Resolved], target: &mut SimTarget, grant: &mut WriteGrant) -> PhaseRun {
    let mut workers: Vec<Worker> = Vec::new();
    for plan in plans {
        for index in 0..plan.parts.len() {
            let part = grant.split(Bytes(1 << 44));
            workers.push(Worker::new(plan, index, part, true, Trace::new(0, None)).expect("a worker"));
        }
    }
    simulate(&mut workers, target, None, |_, _| false).expect("the device answers");
    let mut notes: Vec<Recorder> = workers.into_iter().map(Worker::into_recorder).collect();
    let mut jobs = Vec::new();
    let mut moved = (Bytes::ZERO, Bytes::ZERO);
    for plan in plans {
        let rest = notes.split_off(plan.parts.len());
        let (read, written) = moved_in_all(&notes);
        moved = (moved.0 + read, moved.1 + written);
        jobs.push(job_run(plan, &notes, target.path(), None, StopReason::Complete, None));
        notes = rest;
    }
    PhaseRun::new(jobs, judge(Counted { asked: moved, device: None, instead: Instead::Simulated }))
}

fn quick() -> Wish {
    Wish { quick: true, seed: 1, ..Wish::default() }
}

fn figure<'a>(preset: &'a PresetRun, name: &str) -> &'a Figure {
    preset.figures.iter().find(|figure| figure.name == name).unwrap_or_else(|| panic!("no figure '{name}'"))
}

fn verdict(preset: &PresetRun, of: &str, limit: &str) -> LimitVerdict {
    let limits = &figure(preset, of).limits;
    limits.iter().find(|other| other.name.split(", ").any(|name| name == limit)).expect("a limit").verdict
}
/// A drive of 1 GiB in superblocks of 18 MiB over 8 dies: 32 planes × 36 pages of 16 KiB, 1.9 ms to program a row of them,
/// 15 ms to erase.
const DRIVE: &str = "sim:ssd-consumer,device.capacity=1073741824,mapping.nand.pages_per_block=36,\
                     mapping.nand.blocks_per_plane=72,mapping.nand.bad_blocks=0,mapping.slc.max_superblocks=4,\
                     mapping.slc.keep_free=3";

#[test]
fn steady_throughput_is_that_of_the_flash() {
    let seen = run(&preset("snia-throughput").unwrap(), DRIVE, &quick());
    let rounds = seen.rounds.as_ref().expect("it has rounds");
    assert!(rounds.steady_at.is_some(), "{}", rounds.why);
    // In sequential writes all dies program, and nothing but erasing comes between.
    let superblock = 32.0 * 36.0 * 16384.0;
    let truth = superblock / (36.0 * 1.9e-3 + 15e-3);
    let measured = figure(&seen, "128 KiB write").value.expect("it was steady");
    assert!((measured / truth - 1.0).abs() < 0.05, "{measured:.3e} against {truth:.3e} bytes/s");
    let label = seen.notes.iter().find(|note| note.contains("PTS")).expect("a label");
    assert!(label.starts_with("NOT a result by SNIA PTS"), "a shortened round is no PTS: {label}");
}

#[test]
fn only_a_whole_run_is_called_by_the_standards_name() {
    // The same rounds at their own length, on a drive that is slow enough for them to take few requests.
    let text = preset("snia-throughput").unwrap().text.replace("\"60s\"", "\"4s\"");
    let seen = run(&Definition::parse(&text).unwrap(), DRIVE, &Wish { seed: 1, ..Wish::default() });
    let label = seen.notes.iter().find(|note| note.contains("PTS")).expect("a label");
    assert!(label.starts_with("follows SNIA PTS"), "{label}");
}

#[test]
fn random_writes_saturate_from_the_cache_down_to_collection() {
    let seen = run(&preset("snia-wsat").unwrap(), DRIVE, &quick());
    let tracked = &seen.rounds.as_ref().expect("it has rounds").tracked[0];
    let last = *tracked.written.last().expect("it wrote");
    assert!(last >= Bytes::gib(1).as_f64(), "steadiness counts only after the capacity was written once: {last}");
    if let Some(value) = figure(&seen, "random write").value {
        assert!(value < 0.8 * tracked.values[0], "{value} after {}", tracked.values[0]);
    }
}

#[test]
fn speed_classes_of_a_slow_and_a_fast_card() {
    use LimitVerdict::{Met, Missed};
    let class = |model: &str| run(&preset("sd-class").unwrap(), model, &quick());
    let classes = ["class 2", "class 4", "V6", "V10", "V30", "V60"];
    let of = |seen: &PresetRun, what: &str| classes.map(|name| verdict(seen, what, name));

    // Nothing but its interface limits a card without an inside of note: 3.2 MB/s.
    let slow = class("sim:sd-flat,link.bytes_per_s=3200000");
    assert_eq!(of(&slow, "recording, slowest unit"), [Met, Missed, Missed, Missed, Missed, Missed]);
    assert_eq!(of(&slow, "playing, random units"), [Met, Missed, Missed, Missed, Missed, Missed]);
    // As it is, it records at 16.8 MB/s and plays at some 36.
    let fast = class("sim:sd-flat");
    assert_eq!(of(&fast, "recording, slowest unit"), [Met, Met, Met, Met, Missed, Missed]);
    assert_eq!(of(&fast, "playing, random units"), [Met, Met, Met, Met, Met, Missed]);
    assert!(fast.bounds.iter().any(|(name, _)| name == "host"), "the host is named: {:?}", fast.bounds);
}

#[test]
fn application_classes_follow_the_time_of_a_request() {
    use LimitVerdict::{Met, Missed};
    let of = |model: &str| {
        let seen = run(&preset("app-class").unwrap(), model, &quick());
        (verdict(&seen, "random read IOPS", "A1"), verdict(&seen, "sustained write", "A1"))
    };
    assert_eq!(of(DRIVE), (Met, Met));
    // A command that takes 1 ms leaves less than 1000 a second, and an interface of 5 MB/s no 10.
    assert_eq!(of("sim:sd-flat,link.command=1ms,link.bytes_per_s=5000000"), (Missed, Missed));
}
