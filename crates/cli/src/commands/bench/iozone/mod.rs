//! `bench iozone`: iozone's tests on files of this machine.
//!
//! What was typed is read by [`flashscope_iozone::parse`] and planned by [`flashscope_iozone::plan()`]; here files are found, consent
//! is asked for, passes run (several workers by [`workers`]), and what came of them is shown and kept.

mod help;
mod workers;

use super::watch::bar;
use crate::commands::history;
use crate::envelope;
use crate::error::{Failure, Outcome};
use crate::output::{self, Saved};
use crate::whose::Whose;
use crate::{interrupt, target};
use anyhow::anyhow;
use flashscope_device::{Consent, FileError, FileSpace, FileWay, Refusal, RefusalKind, SafetyReport, WriteGrant};
use flashscope_host::load::HostFiles;
use flashscope_host::{MonotonicClock, Output, Surroundings, SysRoot};
use flashscope_iozone::measure::{Watcher, matrix};
use flashscope_iozone::options::Instead;
use flashscope_iozone::plan::way;
use flashscope_iozone::regions::regions;
use flashscope_iozone::{Options, Plan};
use flashscope_model::{DeviceKind, Kind, StopReason};

use flashscope_model::iozone::{Figure, IozoneRecord, Pass, Throughput};
use flashscope_model::run::PathTaken;
use flashscope_report::iozone as report;
use flashscope_units::Bytes;
use indicatif::{ProgressBar, ProgressStyle};
use std::path::{Path, PathBuf};

pub(super) fn run(words: &[String]) -> Result<Outcome, Failure> {
    let options = flashscope_iozone::parse(words).map_err(|error| anyhow!("{error}"))?;
    match options.instead {
        Some(Instead::Help) => return output::data(help::TEXT).map(|()| Outcome::Done),
        Some(Instead::Version) => {
            return output::data(&format!("flashscope {}, by the rules of iozone 3.489", env!("CARGO_PKG_VERSION")))
                .map(|()| Outcome::Done);
        }
        Some(Instead::Schema) => {
            return output::data(&flashscope_record::schema(Some(Kind::Iozone))).map(|()| Outcome::Done);
        }
        None => {}
    }
    let plan = flashscope_iozone::plan(&options).map_err(|error| anyhow!("{error}"))?;
    let names = names(&options, &plan)?;
    if options.ours.dry_run {
        if plan.figures.iter().any(|figure| figure.writes()) {
            budget(&plan, &options)?;
        }
        return output::data(&describe(&plan, &options, &names)).map(|()| Outcome::Done);
    }
    let kept = Kept::plan(&options, &names)?;
    interrupt::arm();
    let sys = SysRoot::live();
    let here = Surroundings::of(&sys, &names[0]);
    let command = std::iter::once("iozone").chain(words.iter().map(String::as_str)).collect::<Vec<_>>().join(" ");
    let mut envelope = envelope::begin(Kind::Iozone, command, &names[0].display().to_string(), &here);
    for name in &names {
        if !name.exists() {
            target::not_among_devices(name)?;
        }
    }
    let files = HostFiles::new(&sys, MonotonicClock::start(), &names, options.ours.allow_write);
    let mut grant = consent(&sys, &files, &plan, &options, &names)?;
    let done = measure(&files, &plan, &options, &mut grant)?;
    if options.keep {
        files.keep();
    }
    envelope.path = Some(path(&plan, &options));
    envelope.stop = if interrupt::asked() { StopReason::Interrupted } else { StopReason::Complete };
    envelope::seal(&mut envelope, Some(&here));
    let record = IozoneRecord {
        envelope,
        unit: options.unit,
        seed: options.ours.seed,
        figures: plan.figures.clone(),
        records: plan.columns.clone(),
        regions: regions(&plan.figures, &done.passes),
        passes: done.passes,
        throughput: done.throughput,
    };
    show(&record, &options, &kept)?;
    outcome(&record, done.error)
}

/// What was measured, and why it ended early.
struct Done {
    passes: Vec<Pass>,
    throughput: Vec<Throughput>,
    error: Option<FileError>,
}

fn measure(files: &HostFiles, plan: &Plan, options: &Options, grant: &mut Option<WriteGrant>) -> Result<Done, Failure> {
    if !plan.workers.is_empty() {
        let (throughput, error) = workers::throughput(files, plan, options, grant);
        return Ok(Done { passes: Vec::new(), throughput, error });
    }
    if let Some(processor) = options.processor {
        flashscope_host::pin_cpu(processor).map_err(|said| anyhow!("{said}"))?;
    }
    let mut progress = Progress::new(plan, options);
    let (passes, error) = matrix(files, plan, options, grant, interrupt::flag(), &mut progress);
    progress.bar.finish_and_clear();
    if passes.is_empty()
        && let Some(error) = error
    {
        return Err(failure(error));
    }
    Ok(Done { passes, throughput: Vec::new(), error })
}

/// The files to work on: that of `-f`, those of `-F`, or names as iozone makes them.
fn names(options: &Options, plan: &Plan) -> Result<Vec<PathBuf>, Failure> {
    if let Some(name) = options.names.iter().find(|name| name.starts_with("sim:")) {
        return Err(Failure::Cannot(anyhow!(
            "{name} is a simulated device, which has no files\nhint: `flashscope emulate` makes a block device of it; put a \
             file system on that and name a file there, or run `flashscope bench {name}`"
        )));
    }
    if options.named_each {
        return Ok(options.names.iter().map(PathBuf::from).collect());
    }
    let name = options.names.first().map_or_else(|| PathBuf::from("iozone.tmp"), PathBuf::from);
    let name = if name.is_dir() { name.join("iozone.tmp") } else { name };
    let Some(most) = plan.workers.iter().max() else { return Ok(vec![name]) };
    let numbered = |number: u32| {
        let mut numbered = name.clone().into_os_string();
        numbered.push(format!(".DUMMY.{number}"));
        PathBuf::from(numbered)
    };
    Ok((0..*most).map(numbered).collect())
}

/// What the plan writes, where it may.
fn budget(plan: &Plan, options: &Options) -> Result<Bytes, Failure> {
    let budget = plan.written(if options.direct { Bytes(1) } else { flashscope_host::page_size() });
    match options.ours.max_write {
        Some(most) if most < budget => Err(Failure::Cannot(anyhow!(
            "the tests write {budget}, which is more than --max-write allows ({most})\nhint: allow more, or measure less (-g, -i)"
        ))),
        _ => Ok(budget),
    }
}

/// The right to write what the plan writes; `None` where it only reads files that are there.
fn consent(
    sys: &SysRoot,
    files: &HostFiles,
    plan: &Plan,
    options: &Options,
    names: &[PathBuf],
) -> Result<Option<WriteGrant>, Failure> {
    let largest = plan.cells.iter().map(|(file, _)| *file).max().unwrap_or(Bytes::ZERO);
    let there = (0..names.len()).all(|number| files.length(number).is_some_and(|length| length >= largest));
    if there && !plan.figures.iter().any(|figure| figure.writes()) {
        return Ok(None);
    }
    let budget = budget(plan, options)?;
    // What is there already has its room.
    if let Some(free) = files.free(0).filter(|free| !there && *free < plan.needed()) {
        let needed = plan.needed();
        return Err(Failure::Cannot(anyhow!(
            "{free} are free, {needed} are needed\nhint: ask for smaller files (-g, -s)"
        )));
    }
    let mut refusals = Vec::new();
    for name in names.iter().filter(|name| name.symlink_metadata().is_ok()) {
        let checked = flashscope_host::safety(sys, name, Bytes::ZERO).map_err(target::failure)?;
        refusals.extend(checked.report.refusals);
        if checked.report.identity.is_some() {
            return Err(Failure::Cannot(anyhow!(
                "{} is a device, and iozone's tests work on files\nhint: name a file on a file system of it",
                name.display()
            )));
        }
        if !options.ours.allow_write {
            refusals.push(Refusal {
                kind: RefusalKind::NoConsent,
                what: format!("{} is there already, and would be written to", name.display()),
                release: Some(
                    "name another file with -f, or add --allow-write: its content is then destroyed".to_owned(),
                ),
            });
        }
    }
    // Those that are not there yet are made, and need no consent.
    let report = SafetyReport { identity: None, kind: DeviceKind::File, capacity: plan.needed(), refusals };
    let consent = Consent { identity: None, allow_file: true, signatures: options.ours.destroy_signatures };
    WriteGrant::decide(&report, &consent, budget).map(Some).map_err(|refusals| Failure::Refused {
        target: names[0].display().to_string(),
        writing: true,
        refusals,
    })
}

fn describe(plan: &Plan, options: &Options, names: &[PathBuf]) -> String {
    use std::fmt::Write;
    let mut text = String::new();
    let list = |sizes: &mut dyn Iterator<Item = Bytes>| {
        let mut sizes: Vec<String> = sizes.map(|size| size.to_string()).collect();
        sizes.dedup();
        sizes.join(", ")
    };
    let _ = writeln!(
        text,
        "file       {}",
        names.iter().map(|name| name.display().to_string()).collect::<Vec<_>>().join(", ")
    );
    let _ =
        writeln!(text, "figures    {}", plan.figures.iter().map(|figure| figure.word()).collect::<Vec<_>>().join(", "));
    let _ = writeln!(text, "way        {}", path(plan, options).engine);
    let _ = writeln!(text, "cells      {}", plan.cells.len());
    let _ = writeln!(text, "files      {}", list(&mut plan.cells.iter().map(|(file, _)| *file)));
    let _ = writeln!(text, "records    {}", list(&mut plan.columns.iter().copied()));
    if !plan.workers.is_empty() {
        let workers: Vec<String> = plan.workers.iter().map(u32::to_string).collect();
        let _ = writeln!(text, "workers    {}", workers.join(", "));
    }
    let _ = writeln!(text, "moves      {}, of which it writes {}", plan.moved(), plan.written(Bytes(1)));
    let _ = writeln!(text, "needs      {} of space", plan.needed());
    text
}

/// The ways that the figures take, and the flags of all of them.
fn path(plan: &Plan, options: &Options) -> PathTaken {
    let mut engines: Vec<&str> = Vec::new();
    for words in plan.figures.iter().map(|figure| way_words(way(*figure, options))) {
        if !engines.contains(&words) {
            engines.push(words);
        }
    }
    let mut flags = Vec::new();
    let mut add = |wanted: bool, name: &str| flags.extend(wanted.then(|| name.to_owned()));
    add(options.direct, "O_DIRECT");
    match options.durable {
        flashscope_device::Durable::No => {}
        flashscope_device::Durable::Data => add(true, "O_DSYNC"),
        flashscope_device::Durable::All => add(true, "O_SYNC"),
        flashscope_device::Durable::Reads => add(true, "O_RSYNC|O_SYNC"),
    }
    add(options.flush, "flush in the timing");
    add(options.close, "close in the timing");
    add(options.ours.cold, "page cache dropped before each pass");
    PathTaken {
        engine: engines.join(", "),
        flags,
        queue_depth: options.asynchronous.map_or(1, |(depth, _)| depth),
        fallbacks: Vec::new(),
        in_use: Vec::new(),
    }
}

fn way_words(way: FileWay) -> &'static str {
    match way {
        FileWay::Plain => "read/write",
        FileWay::Positioned => "pread/pwrite",
        FileWay::Vectored => "preadv/pwritev",
        FileWay::Stdio => "fread/fwrite",
        FileWay::Map => "memory map",
        FileWay::Async { copy: true, .. } => "POSIX asynchronous I/O, copied",
        FileWay::Async { copy: false, .. } => "POSIX asynchronous I/O",
    }
}

/// The files that were asked for, each looked at before the run.
struct Kept {
    record: Option<Output>,
    workbook: Option<Output>,
    csv: Option<Output>,
    page: Option<Output>,
}

impl Kept {
    /// Nothing is written to the files that are worked on.
    fn plan(options: &Options, names: &[PathBuf]) -> Result<Kept, Failure> {
        let ours = &options.ours;
        let mut door = output::door(ours.force, names);
        let mut plan =
            |name: &Option<String>| name.as_ref().map(|name| output::plan(&mut door, Path::new(name))).transpose();
        let kept = Kept {
            record: plan(&ours.output)?,
            workbook: plan(&options.workbook)?,
            csv: plan(&ours.csv)?,
            page: plan(&ours.html)?,
        };
        let whose = Whose::named(&names[0].display().to_string());
        kept.record.iter().try_for_each(|output| whose.guard(ours.force, output))?;
        Ok(kept)
    }
}

fn show(record: &IozoneRecord, options: &Options, kept: &Kept) -> Result<(), Failure> {
    let json = || flashscope_record::to_json(record);
    let excel = options.report || options.workbook.is_some();
    if let Some(name) = options.workbook.as_ref().filter(|name| !name.ends_with(".xlsx")) {
        output::talk(&format!("note: {name} is an XLSX file; programs that go by its name want it to end in .xlsx"));
    }
    let book = || flashscope_report::xlsx::workbook(&report::sheets(record)).map_err(|error| anyhow!("{error}").into());
    let mut saved = Saved::default();
    let mut add = |file: &Option<Output>, name, content: &dyn Fn() -> Result<Vec<u8>, Failure>| {
        if let Some(file) = file {
            saved.add(file, name, content());
        }
    };
    add(&kept.record, "Record", &|| Ok(json().into_bytes()));
    add(&kept.workbook, "Workbook", &book);
    add(&kept.csv, "CSV", &|| Ok(report::csv(record).into_bytes()));
    add(&kept.page, "Page", &|| Ok(report::page(record).into_bytes()));
    let text = if options.ours.json { json() } else { report::text(record, excel, options.each_child) };
    history::keep(json);
    saved.after(output::data(&text))
}

fn outcome(record: &IozoneRecord, error: Option<FileError>) -> Result<Outcome, Failure> {
    if let Some(error) = error {
        return Err(failure(error));
    }
    envelope::exit(&record.envelope.stop)?;
    let passes = record.passes.iter().any(|pass| pass.failure.is_some() || pass.mismatched > 0);
    let mut children = record.throughput.iter().flat_map(|run| &run.children);
    let bad = passes || children.any(|child| child.failure.is_some() || child.mismatched > 0);
    Ok(if bad { Outcome::ExpectationFailed } else { Outcome::Done })
}

fn failure(error: FileError) -> Failure {
    let hint = match &error {
        FileError::NotOurs { .. } => "\nhint: name another file with -f, or add --allow-write",
        FileError::System { said, .. } if said.contains("direct I/O") => {
            "\nhint: leave -I away, or name a file on a disk's file system"
        }
        FileError::System { said, .. } if said.contains("EINVAL") => {
            "\nhint: past the page cache (-I) records must be multiples of the device's block size"
        }
        _ => "",
    };
    Failure::Cannot(anyhow!("{error}{hint}"))
}

/// Draws how far the matrix is, by the bytes that are moved.
struct Progress {
    bar: ProgressBar,
}

impl Progress {
    fn new(plan: &Plan, options: &Options) -> Progress {
        let bar = bar("iozone", options.ours.json);
        bar.set_length(plan.moved().get());
        let style = ProgressStyle::with_template("{msg}\n{wide_bar} {percent:>3} %  {eta} left");
        bar.set_style(style.expect("the template is a constant"));
        Progress { bar }
    }
}

impl Watcher for Progress {
    fn begins(&mut self, figure: Figure, file: Bytes, record: Bytes) {
        self.bar.set_message(format!("{}: {file} in records of {record}", figure.word().replace('_', " ")));
    }

    fn ended(&mut self, pass: &Pass) {
        self.bar.inc(pass.file.get());
    }
}
