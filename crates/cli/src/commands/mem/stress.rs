//! `mem stress`: memory under stress, alone or with a device.

use super::beside::{Beside, Told};
use super::{TARGET, program};
use crate::args::MemStress;
use crate::commands::{history, report};
use crate::envelope;
use crate::error::{Failure, Outcome};
use crate::output::{self, Saved};
use flashscope_host::{Surroundings, SysRoot};
use flashscope_mem::wire::{Limits, Order, StressTest, Test};
use flashscope_model::memory::MemoryRecord;
use flashscope_model::run::Cost;
use flashscope_model::{AnyRecord, Envelope, Kind, StopReason};
use std::sync::atomic::{AtomicBool, Ordering};

pub(super) fn run(args: &MemStress) -> Result<Outcome, Failure> {
    let mut door = output::door(args.results.replace.force, args.with.as_slice());
    let outputs = report::outputs(&mut door, None, &args.results.output)?;
    let beside = args.with.as_ref().map(|name| Beside::open(args, name)).transpose()?;
    let here = beside.as_ref().and_then(|beside| beside.here.clone());
    let here = here.unwrap_or_else(|| Surroundings::on(&SysRoot::live(), None));
    let target = args.with.as_deref().unwrap_or(TARGET);
    let mut envelope = envelope::begin(Kind::Memory, "mem stress", target, &here);
    if let Some(beside) = &beside {
        envelope.device = Some(beside.facts.clone());
        envelope.path = beside.path.clone();
    }
    let (measured, told) = done(args, beside)?;
    envelope::seal(&mut envelope, Some(&here));
    let record = together(measured.with(envelope)?, told);
    shown(args, record, &outputs)
}

/// The other program's work, and beside it that of the device.
fn done(args: &MemStress, beside: Option<Beside>) -> Result<(program::Measured, Option<Told>), Failure> {
    let test = StressTest {
        memory: args.memory.map(|size| size.get()),
        share: f64::from(args.share) / 100.0,
        seed: args.seed,
        plant: args.plant,
    };
    let limits = Limits { time: args.lasts().get(), threads: args.threads, huge: !args.small_pages, memory: None };
    let order = Order { tests: vec![Test::Stress(test)], limits };
    let Some(beside) = beside else { return Ok((program::run(&order)?, None)) };
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let over = &over;
        let device = scope.spawn(move || beside.run(args, over));
        let measured = program::run(&order);
        over.store(true, Ordering::Release);
        let told =
            device.join().map_err(|_| Failure::Cannot(anyhow::anyhow!("the device's part of the test ended early")));
        Ok((measured?, Some(told?)))
    })
}

/// The record with what the device had to tell.
fn together(mut record: MemoryRecord, told: Option<Told>) -> MemoryRecord {
    let (Some(stress), Some(told)) = (&mut record.stress, told) else { return record };
    let Told { side, errors, planted, stop, is_spent } = told;
    let envelope: &mut Envelope = &mut record.envelope;
    envelope.cost = Some(Cost { written: side.written, read: side.read, time: stress.took, ..Cost::default() });
    if envelope.stop == StopReason::Complete {
        envelope.stop = stop;
    }
    if is_spent {
        stress.plan.notes.push(format!(
            "{} were written to the device, all that it may be (--max-write); the memory was tested on without it",
            side.written
        ));
    }
    if let (Some(all), Some(found)) = (&mut stress.planted, &mut stress.planted_found) {
        (*all, *found) = (*all + planted.0, *found + planted.1);
    }
    stress.storage = Some(side);
    stress.errors.extend(errors);
    record
}

fn shown(args: &MemStress, record: MemoryRecord, outputs: &[flashscope_host::Output]) -> Result<Outcome, Failure> {
    let mut saved = Saved::default();
    let stop = record.envelope.stop.clone();
    let is_wrong = record.stress.as_ref().is_some_and(|stress| stress.has_errors());
    let text = match args.results.json {
        true => flashscope_record::to_json(&record),
        false => flashscope_report::memory::terminal(&record, output::style()),
    };
    let record = AnyRecord::Memory(Box::new(record));
    report::save(&mut saved, outputs, &record);
    history::keep(|| flashscope_record::any_to_json(&record));
    saved.after(output::data(&text))?;
    match is_wrong {
        // What was found stands, however it ended.
        true => Ok(Outcome::ExpectationFailed),
        false => envelope::exit(&stop),
    }
}
