//! `explain`: why one device takes longer than another for a workload.

use crate::args::Explain;
use crate::commands::{infer, report, trace};
use crate::error::{Failure, Outcome};
use crate::output::{self, Saved};
use crate::{envelope, interrupt, progress};
use anyhow::anyhow;
use flashscope_explain::{Known, Question, Side, Watch, Workload};
use flashscope_model::explanation::{self as model, ExplanationRecord};
use flashscope_model::{Kind, StopReason};
use flashscope_record::AnyRecord;
use flashscope_trace::filter::Addresses;
use indicatif::ProgressBar;
use std::path::Path;
use std::time::{Duration, Instant};

/// Longer than this no pair is worked on.
const MOST_TIME: Duration = Duration::from_secs(60);

pub(crate) fn run(args: &Explain) -> Result<Outcome, Failure> {
    let files = [Path::new(&args.a), Path::new(&args.b), &args.trace];
    let mut door = output::door(args.results.replace.force, files);
    let outputs = report::outputs(&mut door, None, &args.results.output)?;
    let (source, requests) = trace::all_of(&args.trace, &args.input, Workload::MOST_REQUESTS)?;
    let furthest = requests.iter().map(|request| request.end()).max().unwrap_or(0);
    let (addresses, changes) = match (args.scale, args.wrap) {
        (true, _) => {
            let from = source.capacity.unwrap_or(flashscope_units::Bytes(furthest));
            (Addresses::Scale { from }, vec!["addresses scaled to each device".to_owned()])
        }
        (_, true) => (Addresses::Wrap, vec!["addresses begin anew at the end of each device".to_owned()]),
        _ => (Addresses::Refuse, Vec::new()),
    };
    let workload = Workload { requests, addresses };
    let mut watch = Progress { bar: progress::bar(0, "replays"), until: Instant::now() + MOST_TIME };
    let (a, b) = (device(&args.a, &mut watch)?, device(&args.b, &mut watch)?);
    let question =
        Question { a: &a.side, b: &b.side, workload: &workload, seed: args.seed, work: Question::USUAL_WORK };
    let answer = flashscope_explain::explain(&question, &mut watch);
    watch.bar.finish_and_clear();
    let answer = answer.map_err(|error| anyhow!("{error}"))?;
    let named = |name: &str, device: Device, times| model::Side {
        name: name.to_owned(),
        model: device.side.model,
        twin: device.within.map(|within| model::Twin { within, refits: device.side.refits.len() as u32 }),
        times,
    };
    let notes = [("A", &a.caution), ("B", &b.caution)];
    let notes = notes.into_iter().filter_map(|(side, caution)| Some(format!("{side}: {}", caution.as_ref()?)));
    let notes: Vec<String> = notes.collect();
    let subject = format!("{} {}", args.a, args.b);
    let mut envelope = envelope::simulated(Kind::Explanation, "explain", subject, args.seed);
    if answer.method.cut_short && interrupt::asked() {
        envelope.stop = StopReason::Interrupted;
    }
    let workload = model::Workload {
        requests: workload.requests.len() as u64,
        read: workload.read(),
        written: workload.written(),
        changes,
    };
    told(
        ExplanationRecord {
            envelope,
            a: named(&args.a, a, answer.times.0),
            b: named(&args.b, b, answer.times.1),
            source,
            workload,
            difference: answer.difference,
            verdict: answer.verdict,
            shares: answer.shares,
            screened: answer.screened,
            method: answer.method,
            notes,
        },
        args,
        &outputs,
    )
}

fn told(record: ExplanationRecord, args: &Explain, outputs: &[flashscope_host::Output]) -> Result<Outcome, Failure> {
    let mut saved = Saved::default();
    let record = AnyRecord::Explanation(Box::new(record));
    report::save(&mut saved, outputs, &record);
    let AnyRecord::Explanation(record) = record else { return Ok(Outcome::Done) };
    saved.after(output::data(&if args.results.json {
        flashscope_record::to_json(record.as_ref())
    } else {
        flashscope_report::explanation::terminal(&record, output::style())
    }))?;
    envelope::exit(&record.envelope.stop)
}

/// A device as it was named.
struct Device {
    side: Side,
    within: Option<f64>,
    caution: Option<String>,
}

/// A model by its name or file, or the twin of what a record measured.
fn device(name: &str, watch: &mut dyn Watch) -> Result<Device, Failure> {
    if name.starts_with("sim:") || name.ends_with(".toml") {
        let changed = name.split(',').skip(1).map(str::trim);
        if let Some(part) = changed.into_iter().find(|part| is_no_parameter(part)) {
            return Err(Failure::Cannot(anyhow!(
                "{name}: '{part}' is no parameter that could be exchanged\nhint: --seed says which chance; a device starts \
                 as its model says, state=blank or state=filled"
            )));
        }
        let read =
            |path: &str| crate::input::text(Path::new(path), "name a model file").map_err(|error| error.to_string());
        let model = flashscope_sim::show(name, false, read).map_err(|error| anyhow!("{error}"))?;
        return Ok(Device { side: Side { model, ..Side::default() }, within: None, caution: None });
    }
    let path = Path::new(name);
    let bytes = infer::read(path)?;
    let mut records = infer::stored(&bytes, path)?.unwrap_or_default();
    let (Some(record), true) = (records.pop(), records.is_empty()) else {
        return Err(Failure::Cannot(anyhow!(
            "{name} is not one record\nhint: name sim:MODEL, a model file (.toml) or one record of `flashscope inspect`"
        )));
    };
    let known = flashscope_explain::of_record(name, record, watch).map_err(|error| anyhow!("{error}"))?;
    let Known { side, within, caution } = known;
    Ok(Device { side, within: Some(within), caution })
}

/// A saved state belongs to one model, and a seed to no model.
fn is_no_parameter(part: &str) -> bool {
    part.starts_with("seed=") || part.strip_prefix("state=").is_some_and(|state| state.contains(['/', '.']))
}

/// Draws how far it is; ends it where the operator wants to, or the time is over.
struct Progress {
    bar: ProgressBar,
    until: Instant,
}

impl Watch for Progress {
    fn progress(&mut self, what: &str, done: u32, total: u32) {
        if self.bar.message() != what {
            self.bar.set_message(what.to_owned());
            self.bar.reset_eta();
        }
        self.bar.set_length(u64::from(total));
        self.bar.set_position(u64::from(done));
    }

    fn stop(&mut self) -> bool {
        interrupt::asked() || Instant::now() > self.until
    }
}
