//! `inspect`: the main job.

use crate::args::{Inspect, ReportFormat};
use crate::commands::{history, report};
use crate::envelope;
use crate::error::{Failure, Outcome};
use crate::making::Order;
use crate::output::{self, Saved};
use crate::progress::Progress;
use crate::target::{self, Opened, Writes};
use crate::whose::Whose;
use anyhow::anyhow;
use flashscope_device::{Target, WriteGrant};
use flashscope_host::{Output, Surroundings};
use flashscope_infer::Outlook;
use flashscope_model::envelope::State;
use flashscope_model::plan::Budget;
use flashscope_model::{DeviceFacts, Envelope, Kind, RunRecord};
use flashscope_record::{AnyRecord, to_json};
use flashscope_session::{Options, SessionReport, twin_write_budget, usual_write_budget};
use flashscope_units::Bytes;
use std::path::{Path, PathBuf};

/// What the smallest of all experiments reads.
const LEAST_CAPACITY: Bytes = Bytes::kib(4);

pub(crate) fn run(mut args: Inspect) -> Result<Outcome, Failure> {
    let order = Order::before(&args.in_state, &args.target, args.output.as_deref(), args.json);
    let (mut state, mut device) = (None, None);
    if let Some(order) = &order {
        args.target = order.rest(1)?;
        match args.dry_run {
            true => output::data(&order.dry_run(args.json)?)?,
            false => {
                // What cannot be written is better known before hours of making a state than after them.
                args.output.clone().map(|asked| Files::at(&args, asked)).transpose()?;
                state = Some(order.prepare(&mut device)?);
            }
        }
    }
    let writes = Writes::Adaptive(if args.for_twin { twin_write_budget } else { usual_write_budget });
    let opened = match device {
        Some(device) => target::simulated(device, &args.target, &writes)?,
        None => target::open(&args.target, writes)?,
    };
    match opened {
        Opened::Simulated { mut target, mut grant } => inspect(&args, (target.as_mut(), state), grant.as_mut(), None),
        Opened::Host { mut target, mut grant, here } => {
            inspect(&args, (target.as_mut(), state), grant.as_mut(), Some(*here))
        }
    }
}

fn inspect<T: Target>(
    args: &Inspect,
    (target, state): (&mut T, Option<State>),
    grant: Option<&mut WriteGrant>,
    here: Option<Surroundings>,
) -> Result<Outcome, Failure> {
    let least = LEAST_CAPACITY.max(target.facts().logical_block);
    if target.facts().capacity < least {
        let (name, capacity) = (&args.target.target, target.facts().capacity);
        return Err(Failure::Cannot(anyhow!(
            "{name} holds {capacity}, and no experiment reads less than {least}\nhint: name a device, or a file of some MiB"
        )));
    }
    let budget = Budget { write: grant.as_ref().map_or(Bytes::ZERO, |grant| grant.left()), time: args.max_time };
    let mut outlook = flashscope_infer::outlook_for(args.want, target.facts(), budget);
    if args.for_twin && budget.write > Bytes::ZERO {
        let most = flashscope_infer::most_for_twin(target.facts());
        outlook.experiments.push(format!("requests as applications mix them, for a twin: usually {most}"));
    }
    if args.dry_run {
        let facts = target.facts();
        output::data(&if args.json {
            plan_json(facts, &outlook)
        } else {
            output::wrapped(&plan_text(facts, &outlook), output::width())
        })?;
        return Ok(Outcome::Done);
    }
    if !target.facts().simulated && budget.write > Bytes::ZERO {
        output::talk(&plan_text(target.facts(), &outlook));
    }

    let files = Files::plan(args, target.facts())?;
    let options = Options { seed: args.target.seed, budget };
    let envelope = Envelope { state, ..envelope::of(Kind::Inspect, "inspect", &args.target, target, here.as_ref()) };
    let keep = files.as_ref().map(|files| -> Box<dyn FnMut(SessionReport) + '_> {
        let (envelope, here) = (envelope.clone(), here.as_ref());
        // What cannot be kept now may still be kept at the end, and then it is said.
        Box::new(move |report| {
            let _ = files.unfinished.keep(to_json(&envelope::record(envelope.clone(), here, report)).as_bytes());
        })
    });
    let mut progress = Progress::new(args.json, keep);
    let report = match args.for_twin {
        true => flashscope_session::inspect_for_twin(target, grant, options, &mut progress),
        false => flashscope_session::inspect_wanted(target, grant, (options, args.want), &mut progress),
    };
    progress.finish();
    drop(progress);
    let record = envelope::record(envelope, here.as_ref(), report);
    let saved = files.map_or_else(Saved::default, |files| files.save(&record));
    history::keep(|| to_json(&record));
    saved.after(print(args, &record))?;
    envelope::exit(&record.envelope.stop)
}

/// What is written beside the device.
struct Files {
    record: Output,
    page: Output,
    /// What was measured so far, while the run goes on.
    unfinished: Output,
}

impl Files {
    /// `None` where none are wanted, or the caller takes the record from stdout.
    fn plan(args: &Inspect, facts: &DeviceFacts) -> Result<Option<Files>, Failure> {
        if args.no_files || (args.json && args.output.is_none()) {
            return Ok(None);
        }
        let whose = Whose::of(&args.target.target, facts);
        let asked = args.output.clone().unwrap_or_else(|| default_prefix(facts, &whose, args.replace.force));
        let files = Files::at(args, asked)?;
        whose.guard(args.replace.force, &files.record)?;
        if args.output.is_none() && !facts.simulated {
            // The name is taken from now on, so that another run beside this one finds another.
            files.unfinished.keep(b"").map_err(target::failure)?;
        }
        Ok(Some(files))
    }

    /// Those of this prefix, looked at and not written yet.
    fn at(args: &Inspect, asked: PathBuf) -> Result<Files, Failure> {
        // A prefix may hold a stop, as in `card-1.2`; letters behind it ask for a form.
        let ending = |path: &Path| path.extension()?.to_str()?.chars().next();
        if args.output.as_deref().and_then(ending).is_some_and(char::is_alphabetic) {
            report::told_format(&asked)?;
        }
        let (prefix, ending) = match report::known_format(&asked) {
            Some(ReportFormat::Json) => (asked.with_extension(""), "html".to_owned()),
            Some(_) => (asked.with_extension(""), asked.extension().unwrap_or_default().to_string_lossy().into_owned()),
            None => (asked, "html".to_owned()),
        };
        let mut door = output::door(args.replace.force, [&args.target.target]);
        let mut plan = |ending| output::plan(&mut door, &with(&prefix, ending));
        Ok(Files { record: plan("json")?, page: plan(&ending)?, unfinished: plan("unfinished.json")? })
    }

    fn save(&self, record: &RunRecord) -> Saved {
        let mut saved = Saved::default();
        saved.add_whole(&self.record, Some(&self.unfinished), to_json(record));
        saved.add(&self.page, "Report", report::file(&AnyRecord::Run(Box::new(record.clone())), self.page.path()));
        saved
    }
}

fn with(prefix: &Path, ending: &str) -> PathBuf {
    PathBuf::from(format!("{}.{ending}", prefix.display()))
}

/// What is going to happen, before it happens.
fn plan_text(facts: &DeviceFacts, outlook: &Outlook) -> String {
    let mut lines = vec![format!("{} ({}, {} bytes)", facts.name, facts.capacity, facts.capacity.get())];
    if outlook.will_write_at_most == Bytes::ZERO {
        lines.push("reads only; nothing is written".to_owned());
    } else {
        lines.push(format!("writes at most {}; what stands there now is destroyed:", outlook.will_write_at_most));
        lines.extend(outlook.regions.iter().map(|region| format!("  {region}")));
        lines.push("experiments that write, together never more than that:".to_owned());
        lines.extend(outlook.experiments.iter().map(|experiment| format!("  {experiment}")));
        if !outlook.left_out.is_empty() {
            lines.push(format!("cut short or left out, because the limit is small: {}", outlook.left_out.join("; ")));
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
    output::data(&flashscope_report::terminal(record, output::style()))
}

/// Named for the device; where another target's record has that name already, for what tells the two apart as well. A run on
/// a simulated device can be had again, one on a real device cannot: its files never replace earlier ones.
fn default_prefix(facts: &DeviceFacts, whose: &Whose, force: bool) -> PathBuf {
    let product = default_name(facts);
    let is_taken = |prefix: &Path| match facts.simulated {
        true => !force && whose.is_anothers(&with(prefix, "json")),
        false => ["html", "json", "unfinished.json"].iter().any(|end| with(prefix, end).exists()),
    };
    let apart = match whose.is_anothers(&with(Path::new(&product), "json")) {
        true => format!("{product}-{}", file_name(whose.word())),
        false => product.clone(),
    };
    let numbered = (2..).map(|number| format!("{apart}-{number}"));
    let mut names = [product, apart.clone()].into_iter().chain(numbered).map(PathBuf::from);
    names.find(|prefix| !is_taken(prefix)).expect("names do not end")
}

/// What files of a device are called where nobody says.
pub(crate) fn default_name(facts: &DeviceFacts) -> String {
    format!("flashscope-{}", file_name(&facts.name))
}

/// A device's name as part of a file name.
fn file_name(name: &str) -> String {
    let last = name.rsplit('/').next().unwrap_or(name);
    last.chars().map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' }).collect()
}
