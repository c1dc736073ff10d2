//! `sweep`: knobs varied in randomised blocks, and what each of them does.
//!
//! What was typed becomes knobs and conditions ([`vary`]); the kernel's knobs are held and put back ([`hold`]); the runs are done
//! by `bench`, or by `app` in places of their own ([`venues`]), one per turn of a condition ([`runs`]), until every knob is told
//! ([`course`]).

mod course;
mod hold;
mod plan;
mod runs;
mod vary;
mod venues;

use crate::args::Sweep as Args;
use crate::commands::{history, report};
use crate::envelope;
use crate::error::{Failure, Outcome};
use crate::output::{self, Saved};
use anyhow::anyhow;
use flashscope_host::Output;
use flashscope_host::knob::{Knobs, finish_left};
use flashscope_model::AnyRecord;
use flashscope_model::sweep::SweepRecord;
use serde_json::json;
use std::path::{Path, PathBuf};
use vary::Varied;

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    let sys = vary::sys(args)?;
    if args.restore {
        return restore(&sys);
    }
    if args.knobs {
        return list(args, &sys);
    }
    let settings = args
        .judging
        .settings()
        .map_err(|error| anyhow!("{error}\nhint: --margin 5% and --confidence 95% are usual"))?;
    let mut varied = Varied::of(args, &sys)?;
    if !args.dry_run && !varied.host.is_empty() {
        let restored = finish_left(&sys).map_err(hold::failure)?;
        if !restored.is_empty() {
            hold::told(&restored);
            // What they were found at is not what they were before.
            varied = Varied::of(args, &sys)?;
        }
    }
    let kept_out = [PathBuf::from(&args.target.target)].into_iter().chain(args.job.clone());
    let mut door = output::door(args.results.replace.force, kept_out);
    let outputs = report::outputs(&mut door, None, &args.results.output)?;
    plan::check(args, &varied)?;
    if args.dry_run {
        output::data(&plan::describe(args, &varied)?)?;
        return Ok(Outcome::Done);
    }
    let (record, failure) = course::run(args, &settings, &sys, &mut varied, &outputs)?;
    let shown = finish(args, &record, &outputs);
    match failure {
        Some(failure) => Err(failure),
        None => shown,
    }
}

/// Finishes what a sweep that was killed has left.
fn restore(sys: &flashscope_host::SysRoot) -> Result<Outcome, Failure> {
    let restored = finish_left(sys).map_err(hold::failure)?;
    hold::told(&restored);
    output::data(match restored.len() {
        0 => "nothing was left to put back\n",
        _ => "everything is as it was before the sweep that was killed\n",
    })?;
    Ok(Outcome::Done)
}

fn list(args: &Args, sys: &flashscope_host::SysRoot) -> Result<Outcome, Failure> {
    if args.target.target.starts_with("sim:") {
        return Err(Failure::Cannot(anyhow!(
            "a simulated device has no kernel\nhint: its parameters are its knobs; `flashscope sim show MODEL` prints them"
        )));
    }
    let listed = Knobs::of(sys, Path::new(&args.target.target)).here();
    if args.results.json {
        let knobs = listed.iter().map(
            |knob| json!({ "name": knob.name, "about": knob.about, "value": knob.value, "choices": knob.choices }),
        );
        let all = json!({ "schema": "flashscope.knobs/1", "knobs": knobs.collect::<Vec<_>>() });
        output::data(&format!("{all:#}"))?;
        return Ok(Outcome::Done);
    }
    let line = |knob: &flashscope_host::knob::ListedKnob| {
        let value = knob.value.clone().unwrap_or_else(|| "several values".to_owned());
        let choices = if knob.choices.len() > 1 { format!(" of {}", knob.choices.join(", ")) } else { String::new() };
        format!("{:<28} {value}{choices}\n{:<28}   {}\n", knob.name, "", knob.about)
    };
    let text: String = listed.iter().map(line).collect();
    output::data(if text.is_empty() { "this machine has none of the known knobs for it\n" } else { &text })?;
    Ok(Outcome::Done)
}

/// Shows and keeps the record, and says how it ended.
fn finish(args: &Args, record: &SweepRecord, outputs: &[Output]) -> Result<Outcome, Failure> {
    let mut saved = Saved::default();
    if !outputs.is_empty() {
        report::save(&mut saved, outputs, &AnyRecord::Sweep(Box::new(record.clone())));
    }
    let text = match args.results.json {
        true => flashscope_record::to_json(record),
        false => flashscope_report::sweep::terminal(record, output::style()),
    };
    history::keep(|| flashscope_record::to_json(record));
    saved.after(output::data(&text))?;
    envelope::exit(&record.comparison.envelope.stop)?;
    // A condition that was asked for and not measured is said by the exit code too.
    let given_up = record.sweep.conditions.iter().any(|condition| condition.ended.is_some());
    Ok(if given_up { Outcome::ExpectationFailed } else { Outcome::Done })
}
