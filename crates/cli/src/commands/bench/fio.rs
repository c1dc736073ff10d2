//! `bench fio`: fio's job files and command lines.

use super::finish;
use super::keep::Kept;
use super::run::{Enough, Setup, prepare};
use crate::args::Fio;
use crate::error::{Failure, Outcome};
use crate::{input, output, target};
use anyhow::anyhow;
use flashscope_device::Target;
use flashscope_load::fio::{Input, Jobs, World, read};
use flashscope_units::Bytes;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

pub(crate) fn run(args: &Fio) -> Result<Outcome, Failure> {
    let inputs = inputs(args)?;
    let file = |path: &str| std::fs::read_to_string(path).map_err(|error| error.to_string());
    let variable = |name: &str| std::env::var(name).ok();
    let size = |name: &str| size_of(args.target.as_deref().unwrap_or(name), args.seed);
    let world = World { file: &file, variable: &variable, size: &size };
    let mut jobs = read(&inputs, &args.section, &world).map_err(|error| anyhow!("{error}"))?;
    for job in jobs.set.phases.iter_mut().flat_map(|phase| &mut phase.jobs) {
        if args.target.is_some() {
            (job.target, job.more) = (None, Vec::new());
        }
        job.trace = args.around.trace.unwrap_or(0);
        if job.seed == 1 {
            job.seed = args.seed;
        }
    }
    tell(&jobs);
    let setup = Setup {
        target: args.target(),
        repeat: args.repeat,
        prepare: 0,
        enough: Enough::never(),
        timeout: args.around.timeout,
        warm: jobs.warm,
        keep: args.around.keep,
        quiet: args.around.json,
    };
    let prepared = prepare(setup, jobs.set)?;
    if args.around.dry_run {
        output::data(&prepared.describe()?)?;
        return Ok(Outcome::Done);
    }
    let kept = Kept::plan(&args.around, &prepared, &args.files)?;
    finish(&prepared.run(&kept)?, &args.around, &kept)
}

fn inputs(args: &Fio) -> Result<Vec<Input>, Failure> {
    let mut inputs = Vec::new();
    for path in &args.files {
        let text = input::text(path, "name a job file, or write fio's options after --")?;
        inputs.push(Input::File { name: path.display().to_string(), text });
    }
    if !args.words.is_empty() {
        inputs.push(Input::Words(args.words.clone()));
    }
    if inputs.is_empty() {
        return Err(Failure::Cannot(anyhow!(
            "there is no job\nhint: name a job file, or write fio's options after --"
        )));
    }
    Ok(inputs)
}

/// What is done in another way than fio does it, and what has no effect.
fn tell(jobs: &Jobs) {
    for note in &jobs.notes {
        output::talk(&format!("note: {note}"));
    }
    if !jobs.without_effect.is_empty() {
        output::talk(&format!("without effect here: {}", jobs.without_effect.join(", ")));
    }
}

/// Size of a file, block device or simulated device.
fn size_of(name: &str, seed: u64) -> Option<Bytes> {
    if let Some(spec) = name.strip_prefix("sim:") {
        return target::open_model(spec, seed).ok().map(|model| model.facts().capacity);
    }
    let found = std::fs::metadata(Path::new(name)).ok()?;
    if found.file_type().is_block_device() {
        use std::io::{Seek, SeekFrom};
        return std::fs::File::open(name).ok()?.seek(SeekFrom::End(0)).ok().map(Bytes);
    }
    found.is_file().then_some(Bytes(found.len()))
}
