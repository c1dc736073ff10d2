//! `capacity DIRECTORY`: the free space of a file system is filled with files as f3write and H2testw write them, and they are read.

use super::full::{Planned, settle};
use super::hashed;
use crate::args::Capacity;
use crate::error::Failure;
use crate::making::beside;
use crate::target::failure;
use crate::{envelope, input, interrupt, output};
use anyhow::anyhow;
use flashscope_capacity::Filling;
use flashscope_device::{Target, WriteGrant};
use flashscope_host::{H2wFiles, Output, Surroundings, SysRoot};
use flashscope_model::capacity::{CapacityRecord, Directory};
use flashscope_model::{Kind, StopReason};
use flashscope_units::Bytes;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Files that are open, the right to write to them, and where how far they are is kept.
struct Open {
    files: H2wFiles,
    grant: WriteGrant,
    kept: Option<Output>,
    /// What an earlier run has kept.
    text: Option<String>,
}

/// Fills a directory and reads it, or reads only what is there.
pub(super) fn tested(args: &Capacity, path: &Path) -> Result<CapacityRecord, Failure> {
    let only_reads = args.target.consent.read_only;
    if args.restore {
        return Err(cannot(
            "files take free space only, so that nothing has to be put back\nhint: leave --restore out",
        ));
    }
    // Whoever stops it while files are made leaves them with what says how to go on.
    interrupt::arm();
    let lacks = if only_reads { H2wFiles::there(path).map_err(failure)?.lacks() } else { Vec::new() };
    let Open { mut files, mut grant, kept, text } = if only_reads { reading(path)? } else { filling(args, path)? };
    let here = Surroundings::of(&SysRoot::live(), path);
    let envelope = envelope::of(Kind::Capacity, "capacity", &args.target, &files, Some(&here));
    let directory = Directory { path: path.display().to_string(), files: files.count() };
    let planned = Planned::of_files(args, files.facts(), directory, (kept, text))?;
    let (mut record, kept) = planned.tested(args, (&mut files, &mut grant), envelope);
    envelope::seal(&mut record.envelope, Some(&here));
    hashed(args, &mut files, &mut record);
    if !lacks.is_empty() {
        record.verdict.evidence.push(format!("no whole set of files: {}", lacks.join(", ")));
    }
    let is_over = record.envelope.stop == StopReason::Complete;
    if !args.keep_files && (is_over || kept.is_none()) {
        files.remove();
    }
    settle(kept.as_ref(), &record.envelope.stop);
    Ok(record)
}

fn reading(path: &Path) -> Result<Open, Failure> {
    let (files, grant) = H2wFiles::reading(path).map_err(failure)?;
    Ok(Open { files, grant, kept: None, text: None })
}

/// Makes files in what is free, or goes on with those that a run was stopped over.
fn filling(args: &Capacity, path: &Path) -> Result<Open, Failure> {
    let limit = args.target.consent.max_write;
    if !args.target.consent.allow_write {
        return Err(cannot(&format!(
            "filling the free space of {} was not allowed\nhint: add --allow-write; --read-only reads the .h2w files that are there",
            path.display()
        )));
    }
    if limit.is_none() && same_file_system(path, Path::new("/")) {
        return Err(cannot(&format!(
            "{} lies on the file system of this system, which must not be filled\nhint: name a directory on the device, or add --max-write",
            path.display()
        )));
    }
    let place =
        beside(args.results.output.first().map(AsRef::as_ref), &H2wFiles::facts_of(path, Bytes::ZERO), "filling.json");
    let folder = place.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if same_file_system(folder, path) {
        output::talk(
            "how far it is cannot be kept on what is filled: name a file elsewhere with -o to go on after a stop",
        );
        let (files, grant) = H2wFiles::make(path, limit.map(first_pass)).map_err(failure)?;
        return Ok(Open { files, grant, kept: None, text: None });
    }
    let kept = Some(output::plan(&mut output::door(false, [&args.target.target]), &place)?);
    if !place.exists() {
        let (files, grant) = H2wFiles::make(path, limit.map(first_pass)).map_err(failure)?;
        return Ok(Open { files, grant, kept, text: None });
    }
    let text = input::text(&place, "remove it, and begin anew")?;
    let space = Filling::space(&text).ok_or_else(|| {
        cannot(&format!("{} does not say how far a test is\nhint: remove it, and begin anew", place.display()))
    })?;
    let (files, grant) = H2wFiles::go_on(path, space).map_err(failure)?;
    Ok(Open { files, grant, kept, text: Some(text) })
}

/// Size of files of which as much as is written in all makes so much: an eighth of them is written once more.
fn first_pass(limit: Bytes) -> Bytes {
    limit / 9 * 8
}

fn same_file_system(one: &Path, other: &Path) -> bool {
    let device = |path: &Path| std::fs::metadata(path).map(|found| found.dev()).ok();
    device(one).is_some_and(|found| device(other) == Some(found))
}

fn cannot(why: &str) -> Failure {
    Failure::Cannot(anyhow!("{why}"))
}
