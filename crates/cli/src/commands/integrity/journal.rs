//! The journal of what was acknowledged, as a file outside the device that is tested.

use crate::args::Integrity;
use crate::commands::inspect::default_name;
use crate::error::Failure;
use crate::making::subject;
use crate::{output, target};
use anyhow::anyhow;
use flashscope_host::power::{boot_id, stands_on};
use flashscope_host::{Output, Outputs, SysRoot};
use flashscope_integrity::Plan;
use flashscope_integrity::judge::Map;
use flashscope_integrity::ledger::{Entry, Head, Ledger, MAGIC, cut_text};
use flashscope_integrity::under::Diary;
use flashscope_model::DeviceFacts;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// What a journal of this run begins with.
pub(super) fn head(args: &Integrity, facts: &DeviceFacts, plan: &Plan, under: Option<&str>) -> Head {
    Head {
        identity: subject(&args.target.target, facts).identity,
        capacity: facts.capacity,
        offset: plan.offset,
        length: plan.length,
        generation: plan.generation,
        seed: plan.seed,
        boot: boot_id(&SysRoot::live()).unwrap_or_default(),
        under: under.map(str::to_owned),
    }
}

/// The file, begun anew for each cut.
pub(super) struct JournalFile {
    place: Output,
    head: Head,
    file: Option<File>,
}

impl JournalFile {
    /// Where it goes: as named, beside the record, or into the working directory.
    ///
    /// # Errors
    /// It would lie on the device; a run that was killed left one there.
    pub(super) fn planned(args: &Integrity, facts: &DeviceFacts, head: Head) -> Result<JournalFile, Failure> {
        let path = args.journal.clone().unwrap_or_else(|| match args.results.output.first() {
            Some(record) => record.with_extension("journal"),
            None => PathBuf::from(format!("{}.journal", default_name(facts))),
        });
        let (sys, device) = (SysRoot::live(), Path::new(&args.target.target));
        let shown = path.display();
        if stands_on(&sys, &path, device).map_err(target::failure)? {
            return Err(cannot(format!(
                "the journal {shown} would lie on {}, which loses its power\nhint: name a file on another disk with --journal",
                device.display()
            )));
        }
        let mut door = Outputs::new(false, is_journal);
        door.keep_out(&sys, device);
        let place = door.plan(&path).map_err(target::failure)?;
        if std::fs::metadata(&path).is_ok_and(|found| found.len() > 0) {
            return Err(cannot(format!(
                "{shown} was left by a run that was killed\nhint: add --judge to hold the device against it, or remove it"
            )));
        }
        Ok(JournalFile { place, head, file: None })
    }

    pub(super) fn path(&self) -> &Path {
        self.place.path()
    }

    /// Whether it can be written, and reaches its disk.
    pub(super) fn try_out(&mut self) -> Result<(), String> {
        self.place.write(self.head.to_string().as_bytes()).map_err(|error| {
            format!("the journal cannot be written while the device is off: {error}\nhint: name a file on another disk with --journal")
        })
    }

    /// It is of no use any more.
    pub(super) fn remove(&mut self) {
        self.file = None;
        self.place.remove();
    }

    fn synced(&self) -> Result<(), String> {
        let synced = self.file.as_ref().map_or(Ok(()), File::sync_all);
        synced.map_err(|error| words(&self.place, &error))
    }

    fn add(&mut self, text: &str) -> Result<(), String> {
        let Some(file) = &mut self.file else { return Err("the journal was not begun".to_owned()) };
        file.write_all(text.as_bytes()).map_err(|error| words(&self.place, &error))
    }
}

impl Ledger for JournalFile {
    fn begin(&mut self, number: u32, before: &Map) -> Result<(), String> {
        self.file = Some(self.place.begin().map_err(|error| error.to_string())?);
        let text = self.head.to_string() + &cut_text(number, before);
        self.add(&text)
    }

    fn note(&mut self, entry: &Entry) -> Result<(), String> {
        self.add(&entry.to_string())
    }

    fn secure(&mut self) -> Result<(), String> {
        self.add(&Entry::Off.to_string())?;
        self.synced()
    }
}

/// The steps on a file system or a database, in the order in which they were asked for; `done` behind each that was acknowledged.
impl Diary for JournalFile {
    fn begin(&mut self, number: u32, is_new: bool) -> Result<(), String> {
        if is_new {
            self.file = Some(self.place.begin().map_err(|error| error.to_string())?);
            self.add(&self.head.to_string())?;
        }
        self.add(&format!("cut {number}\n"))
    }

    fn add(&mut self, line: &str) -> Result<(), String> {
        JournalFile::add(self, &format!("{line}\n"))
    }

    fn secure(&mut self) -> Result<(), String> {
        self.synced()
    }
}

fn words(place: &Output, error: &std::io::Error) -> String {
    format!("cannot write the journal {}: {error}\nhint: name another place with --journal", place.path().display())
}

/// Whether a file is a journal of ours.
fn is_journal(file: &mut File) -> bool {
    let mut start = vec![0; MAGIC.len()];
    file.read_exact(&mut start).is_ok() && start == MAGIC.as_bytes()
}

fn cannot(why: String) -> Failure {
    output::talk("nothing was written");
    Failure::Cannot(anyhow!(why))
}
