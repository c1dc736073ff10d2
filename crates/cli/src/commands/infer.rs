//! `infer`: the same inference on pasted logs and stored records.

use crate::args::Infer;
use crate::commands::report;
use crate::error::{Failure, Outcome};
use crate::output::{self, Saved};
use crate::{envelope, input, whose};
use anyhow::{Context, anyhow, bail};
use flashscope_model::Kind;
use flashscope_model::finding::{Note, NoteKind};
use flashscope_model::plan::Budget;
use flashscope_model::run::{Cost, Plan, RunRecord};
use flashscope_record::AnyRecord;
use flashscope_units::Bytes;
use std::io::Read;
use std::path::Path;

/// Logs are text that people paste; what is larger than this is something else.
const LARGEST_INPUT: u64 = 256 << 20;

pub(crate) fn run(args: Infer) -> Result<Outcome, Failure> {
    if (args.html.is_some() || args.output.is_some()) && args.files.len() > 1 {
        return Err(Failure::Cannot(anyhow!("a report is of one input\nhint: call infer once per file")));
    }
    let mut door = output::door(args.replace.force, &args.files);
    let outputs = report::outputs(&mut door, args.html.as_deref(), args.output.as_ref())?;
    // A file that cannot be read does not cost the others their answer.
    let mut records = Vec::new();
    let mut unreadable = 0;
    for file in &args.files {
        match infer_file(file) {
            Ok(found) => records.extend(found),
            Err(error) if args.files.len() == 1 => return Err(Failure::Cannot(error)),
            Err(error) => {
                output::error(&format!("{error:#}"));
                unreadable += 1;
            }
        }
    }
    let mut saved = Saved::default();
    if let (false, Some(record)) = (outputs.is_empty(), records.first()) {
        outputs.iter().try_for_each(|output| whose::guard_measurement(&record.envelope, args.replace.force, output))?;
        report::save(&mut saved, &outputs, &AnyRecord::Run(Box::new(record.clone())));
    }
    saved.after(print(&args, &records))?;
    if unreadable > 0 {
        let all = args.files.len();
        return Err(Failure::Cannot(anyhow!("{unreadable} of {all} inputs could not be read")));
    }
    let nothing = records.iter().any(|record| record.observations.runs.is_empty());
    Ok(if nothing { Outcome::ExpectationFailed } else { Outcome::Done })
}

fn print(args: &Infer, records: &[RunRecord]) -> Result<(), Failure> {
    if args.json {
        return match (args.files.len(), records) {
            (1, [record]) => output::data(&flashscope_record::to_json(record)),
            (1, []) => Ok(()),
            _ => output::data(&flashscope_record::to_json_array(records)),
        };
    }
    let style = output::style();
    for (index, record) in records.iter().enumerate() {
        let gap = if index > 0 { "\n" } else { "" };
        output::data(&format!("{gap}{}", flashscope_report::terminal(record, style)))?;
    }
    Ok(())
}

/// What one file says: a log says one thing, a file of records as many as it holds.
fn infer_file(path: &Path) -> anyhow::Result<Vec<RunRecord>> {
    let bytes = read(path)?;
    match stored(&bytes, path)? {
        Some(records) => Ok(records.into_iter().map(|record| infer_again(record, path)).collect()),
        None => Ok(vec![infer_log(&bytes, path)]),
    }
}

/// The records in a file; none where it is no file of records, and so may be a log.
pub(crate) fn stored(bytes: &[u8], path: &Path) -> anyhow::Result<Option<Vec<RunRecord>>> {
    let text = std::str::from_utf8(bytes).ok().map(|text| text.trim_start_matches('\u{feff}').trim_start());
    // Logs may begin with a brace too (a forum's mark-up); only a record names its schema.
    let Some(text) = text.filter(|text| text.starts_with(['{', '[']) && text.contains("\"schema\"")) else {
        return Ok(None);
    };
    let records = flashscope_record::from_json_many(text).map_err(|error| anyhow!("{}: {error}", path.display()))?;
    Ok(Some(records))
}

/// Draws the conclusions anew. Who measured what stays as it was.
fn infer_again(mut stored: RunRecord, path: &Path) -> RunRecord {
    let earlier = std::mem::replace(
        &mut stored.findings,
        flashscope_infer::infer_on(stored.envelope.device.as_ref(), &stored.observations),
    );
    let notes = &mut stored.findings.notes;
    let of_the_run: Vec<Note> = earlier.notes.into_iter().filter(|note| !notes.contains(note)).collect();
    notes.extend(of_the_run);
    let version = env!("CARGO_PKG_VERSION");
    let (from, by) = (path.display(), &stored.envelope.command);
    let text = format!("findings drawn anew by flashscope {version} from {from}, which {by} wrote");
    notes.push(Note::new(NoteKind::DrawnAnew, text));
    stored.envelope.kind = Kind::Infer;
    stored.envelope.command = "infer".to_owned();
    stored
}

fn infer_log(bytes: &[u8], path: &Path) -> RunRecord {
    let parsed = flashscope_transcript::parse_bytes(bytes);
    let mut findings = flashscope_infer::infer(&parsed.observations);
    findings.notes.extend(parsed.notes.iter().map(|text| Note::new(NoteKind::Log, text)));
    if parsed.several_devices {
        flashscope_infer::of_several_devices(&mut findings);
    }
    if parsed.observations.runs.is_empty() {
        let none = Note::new(NoteKind::NoTable, "no flashbench table was found in this file");
        let hint = "tables look like `align 4194304 pre 694µs on 937µs post 689µs diff 246µs` or `4MiB 10.1M/s`";
        findings.notes.insert(0, none.with_hint(hint));
    }
    let mut envelope = envelope::bare(Kind::Infer, "infer", path.display().to_string());
    envelope.cost = Some(Cost::default());
    RunRecord {
        envelope,
        plan: Plan { seed: 0, budget: Budget { write: Bytes::ZERO, time: None }, steps: Vec::new() },
        observations: parsed.observations,
        findings,
    }
}

pub(super) fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let taken = if path == Path::new("-") {
        std::io::stdin().take(LARGEST_INPUT + 1).read_to_end(&mut bytes).context("cannot read stdin")?
    } else {
        let hint = "hint: name a flashbench log, a flashscope record, or - for stdin";
        if path.is_dir() {
            bail!("{} is a directory\n{hint}", path.display());
        }
        let file = std::fs::File::open(path)
            .map_err(|error| anyhow!("cannot open {}: {}\n{hint}", path.display(), input::said(&error)))?;
        file.take(LARGEST_INPUT + 1)
            .read_to_end(&mut bytes)
            .with_context(|| format!("cannot read {}", path.display()))?
    };
    if taken as u64 > LARGEST_INPUT {
        bail!("{} is larger than {}\nhint: cut the tables out of it first", path.display(), Bytes(LARGEST_INPUT));
    }
    Ok(bytes)
}
