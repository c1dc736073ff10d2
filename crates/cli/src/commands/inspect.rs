//! `inspect`: the main job.

use crate::args::Inspect;
use crate::envelope;
use crate::error::{Failure, Outcome};
use crate::output;
use crate::progress::Progress;
use crate::target::{self, Opened, Writes};
use flashscope_device::{Target, WriteGrant};
use flashscope_host::Surroundings;
use flashscope_infer::Outlook;
use flashscope_model::plan::Budget;
use flashscope_model::{DeviceFacts, Kind, RunRecord};
use flashscope_report::Style;
use flashscope_session::Options;
use flashscope_units::Bytes;
use std::path::{Path, PathBuf};

pub(crate) fn run(args: Inspect) -> Result<Outcome, Failure> {
    match target::open(&args.target, Writes::Adaptive)? {
        Opened::Simulated { mut target, mut grant } => inspect(&args, target.as_mut(), grant.as_mut(), None),
        Opened::Host { mut target, mut grant, here } => inspect(&args, target.as_mut(), grant.as_mut(), Some(*here)),
    }
}

fn inspect<T: Target>(
    args: &Inspect,
    target: &mut T,
    grant: Option<&mut WriteGrant>,
    here: Option<Surroundings>,
) -> Result<Outcome, Failure> {
    let budget = Budget { write: grant.as_ref().map_or(Bytes::ZERO, |grant| grant.left()), time: args.max_time };
    let outlook = flashscope_infer::outlook(target.facts(), budget);
    if args.dry_run {
        let facts = target.facts();
        output::data(&if args.json { plan_json(facts, &outlook) } else { plan_text(facts, &outlook) })?;
        return Ok(Outcome::Done);
    }
    if !target.facts().simulated && budget.write > Bytes::ZERO {
        output::talk(&plan_text(target.facts(), &outlook));
    }

    let options = Options { seed: args.target.seed, budget };
    let mut progress = Progress::new(args.json);
    let envelope = match &here {
        Some(here) => envelope::begin(Kind::Inspect, "inspect", &args.target.target, here),
        None => envelope::simulated(Kind::Inspect, "inspect", &args.target.target, args.target.seed),
    };
    let report = flashscope_session::inspect(target, grant, options, &mut progress);
    progress.finish();
    let record = envelope::record(envelope, here.as_ref(), target, report);

    let printed = print(args, &record);
    save(args, &record)?;
    printed?;
    envelope::exit(&record.envelope.stop)
}

/// What is going to happen, before it happens.
fn plan_text(facts: &DeviceFacts, outlook: &Outlook) -> String {
    let mut lines = vec![format!("{} ({}, {} bytes)", facts.name, facts.capacity, facts.capacity.get())];
    if outlook.will_write_at_most == Bytes::ZERO {
        lines.push("reads only; nothing is written".to_owned());
    } else {
        lines.push(format!("writes at most {}; what stands there now is destroyed:", outlook.will_write_at_most));
        lines.extend(outlook.regions.iter().map(|region| format!("  {region}")));
        lines.push("experiments that write, within that limit:".to_owned());
        lines.extend(outlook.experiments.iter().map(|experiment| format!("  {experiment}")));
        if !outlook.left_out.is_empty() {
            lines.push(format!("probably left out, because the limit is small: {}", outlook.left_out.join("; ")));
        }
    }
    let (least, most) = outlook.time;
    lines.push(format!("reads about {}", outlook.will_read_about));
    lines.push(format!("takes {least} to {most} of device time, assuming {}", outlook.time_assumes));
    lines.join("\n")
}

/// The same for programs.
fn plan_json(facts: &DeviceFacts, outlook: &Outlook) -> String {
    let plan = serde_json::json!({
        "device": facts.name,
        "capacity_bytes": facts.capacity.get(),
        "write_at_most_bytes": outlook.will_write_at_most.get(),
        "read_about_bytes": outlook.will_read_about.get(),
        "time_ns": { "least": outlook.time.0.get(), "most": outlook.time.1.get(), "assuming": outlook.time_assumes },
        "overwritten": outlook.regions,
        "experiments": outlook.experiments,
        "left_out": outlook.left_out,
    });
    format!("{plan:#}")
}

fn print(args: &Inspect, record: &RunRecord) -> Result<(), Failure> {
    if args.json {
        return output::data(&flashscope_record::to_json(record));
    }
    let style = Style { colour: output::colour(), width: output::width() };
    output::data(&flashscope_report::terminal(record, style))
}

/// Writes the page and the record, unless the caller takes the record from stdout.
fn save(args: &Inspect, record: &RunRecord) -> Result<(), Failure> {
    if args.no_files || (args.json && args.output.is_none()) {
        return Ok(());
    }
    let prefix = args.output.clone().unwrap_or_else(|| default_prefix(record));
    let with = |extension: &str| PathBuf::from(format!("{}.{extension}", prefix.display()));
    let (page, json) = (flashscope_report::html(record), flashscope_record::to_json(record));
    output::save_all(&[(&with("html"), "Report", &page), (&with("json"), "Record", &json)])
}

/// A run on a simulated device can be had again, one on a real device cannot: its files never replace earlier ones.
fn default_prefix(record: &RunRecord) -> PathBuf {
    let name = format!("flashscope-{}", file_name(record));
    let simulated = record.envelope.device.as_ref().is_some_and(|device| device.simulated);
    let taken = |prefix: &str| ["html", "json"].iter().any(|end| Path::new(&format!("{prefix}.{end}")).exists());
    let mut prefix = name.clone();
    let mut number = 2;
    while !simulated && taken(&prefix) {
        prefix = format!("{name}-{number}");
        number += 1;
    }
    PathBuf::from(prefix)
}

/// The device's name as part of a file name.
fn file_name(record: &RunRecord) -> String {
    let name = record.envelope.device.as_ref().map_or("device", |device| device.name.as_str());
    let last = name.rsplit('/').next().unwrap_or(name);
    last.chars().map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' }).collect()
}
