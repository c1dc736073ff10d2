//! The old values, written down where a kill does not reach them.
//!
//! One file, in a folder that only its owner may enter, opened through no link and locked for as long as the sweep lives: a
//! note that can be locked belongs to nobody, so whoever holds it may finish what it says. It ends in a line of its own,
//! written before the first change: a note without that line was cut short, and nothing was changed yet.

use super::error::KnobError;
use super::file::{KnobFile, said};
use super::mount::Mount;
use super::spot::Spot;
use crate::entry::{Entry, inode};
use crate::sysfs::SysRoot;
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, RawMode, fstat, mkdirat, openat, unlinkat};
use rustix::io::Errno;
use std::fmt::Write as _;
use std::fs::{File, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

/// Folders of the note below `/run`, and who may do what in them.
const FOLDERS: [(&str, RawMode); 2] = [("flashscope", 0o755), ("sweep", 0o700)];
const NAME: &str = "restore";
const HEAD: &str = "flashscope sweep 1";
const END: &str = "end";
/// What a line is of.
const FILE: &str = "old";
const MOUNT: &str = "mount";

/// A value before it was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Old {
    pub(super) file: Spot,
    pub(super) value: String,
    /// The disk or file system whose knob it is, by the kernel's number.
    pub(super) disk: Option<String>,
}

/// The locked note.
#[derive(Debug)]
pub(super) struct Note {
    file: File,
    entry: Entry,
    boot: String,
}

impl Note {
    /// Locks the note, which is made where there is none.
    ///
    /// # Errors
    /// Another sweep has it, or the place is not fit for it.
    pub(super) fn take(sys: &SysRoot) -> Result<Note, KnobError> {
        let (folder, path) = folder(sys)?;
        let failed = |error: std::io::Error| failed(&path, &error);
        let entry = Entry::within(&folder, &path, NAME)
            .map_err(|error| KnobError::Note { path: path.clone(), said: error.to_string() })?;
        // A made-up tree need not have one; what is written down there holds as long as it says the same.
        let boot = sys.text("/proc/sys/kernel/random/boot_id").unwrap_or_else(|| "unknown".to_owned());
        loop {
            let flags = OFlags::RDWR | OFlags::CREATE;
            let mut file = entry.open(flags, Mode::RUSR | Mode::WUSR).map(File::from).map_err(|e| failed(e.into()))?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(KnobError::Busy { process: process(&mut file) }),
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
            // The one who had it may have removed it in between: then what was locked is no longer there.
            let there = entry.stat().ok().zip(fstat(&file).ok());
            if there.is_some_and(|(there, ours)| inode(&there) == inode(&ours)) {
                return Ok(Note { file, entry, boot });
            }
        }
    }

    /// What a killed sweep of this boot left to put back; nothing of an earlier boot, which ended with its knobs.
    pub(super) fn left(&mut self, sys: &SysRoot) -> Result<Vec<Old>, KnobError> {
        let mut text = String::new();
        self.file.rewind().map_err(|error| self.failed(&error))?;
        self.file.read_to_string(&mut text).map_err(|error| self.failed(&error))?;
        Ok(parse(sys, &text, &self.boot))
    }

    /// Writes the old values down, so that they are there whatever comes.
    pub(super) fn write(&mut self, old: &[Old]) -> Result<(), KnobError> {
        let text = render(old, &self.boot);
        self.file
            .set_len(0)
            .and_then(|()| self.file.rewind())
            .and_then(|()| self.file.write_all(text.as_bytes()))
            .and_then(|()| self.file.sync_all())
            .map_err(|error| self.failed(&error))
    }

    /// Nothing is left to put back.
    pub(super) fn remove(&self) {
        // Where it cannot be removed, it says nothing any more that is not so.
        if unlinkat(self.entry.folder(), self.entry.name(), AtFlags::empty()).is_err() {
            let _ = self.file.set_len(0);
        }
    }

    fn failed(&self, error: &std::io::Error) -> KnobError {
        failed(self.entry.path(), error)
    }
}

/// Whether somebody was killed before he had put everything back, or still works: there is a note at all.
pub(super) fn exists(sys: &SysRoot) -> bool {
    let [(above, _), (folder, _)] = FOLDERS;
    sys.path(Path::new("/run").join(above).join(folder)).join(NAME).symlink_metadata().is_ok()
}

/// The folder of the note, made where it is not there.
fn folder(sys: &SysRoot) -> Result<(OwnedFd, PathBuf), KnobError> {
    let mut path = sys.path("/run");
    if !sys.is_live() {
        std::fs::create_dir_all(&path).map_err(|error| failed(&path, &error))?;
    }
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut folder = openat(CWD, &path, flags, Mode::empty()).map_err(|error| failed(&path, &error.into()))?;
    for (name, mode) in FOLDERS {
        path.push(name);
        match mkdirat(&folder, name, Mode::from_raw_mode(mode)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(failed(&path, &error.into())),
        }
        folder = openat(&folder, name, flags | OFlags::NOFOLLOW, Mode::empty())
            .map_err(|error| failed(&path, &error.into()))?;
        let found = fstat(&folder).map_err(|error| failed(&path, &error.into()))?;
        let ours = found.st_uid == rustix::process::geteuid().as_raw();
        // Write access of others would let them choose what root writes, and where.
        if !ours || found.st_mode & 0o777 & !mode != 0 {
            let said = format!("others may change it (owner {}, mode {:o})", found.st_uid, found.st_mode & 0o777);
            return Err(KnobError::Note { path, said });
        }
    }
    Ok((folder, path))
}

fn failed(path: &Path, error: &std::io::Error) -> KnobError {
    KnobError::Note { path: path.to_owned(), said: said(error) }
}

fn process(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.read_to_string(&mut text).ok()?;
    text.lines().find_map(|line| line.strip_prefix("process "))?.parse().ok()
}

fn render(old: &[Old], boot: &str) -> String {
    let mut text = format!("{HEAD}\nboot {boot}\nprocess {}\n", std::process::id());
    for one in old {
        let disk = one.disk.as_deref().unwrap_or("-");
        let kind = if matches!(one.file, Spot::Mount(_)) { MOUNT } else { FILE };
        let _ = writeln!(text, "{kind}\t{}\t{}\t{disk}", one.file.path().display(), one.value);
    }
    text + END + "\n"
}

fn parse(sys: &SysRoot, text: &str, boot: &str) -> Vec<Old> {
    let mut lines = text.lines();
    let of_now = lines.next() == Some(HEAD) && lines.next().and_then(|line| line.strip_prefix("boot ")) == Some(boot);
    if !of_now || text.lines().last() != Some(END) || !text.ends_with('\n') {
        return Vec::new();
    }
    let old = |line: &str| {
        let (kind, line) = line.split_once('\t')?;
        let (path, rest) = line.split_once('\t')?;
        let (value, disk) = rest.rsplit_once('\t')?;
        let disk = (disk != "-").then(|| disk.to_owned());
        let (path, value) = (PathBuf::from(path), value.to_owned());
        let file = match kind {
            FILE => Spot::File(KnobFile::noted(sys, path)?),
            MOUNT => Spot::Mount(Mount::noted(sys, path, disk.as_deref()?, &value)),
            _ => return None,
        };
        Some(Old { file, value, disk })
    };
    lines.filter_map(old).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn old() -> Vec<Old> {
        let file = |path: &str| Spot::File(KnobFile::noted(&SysRoot::live(), PathBuf::from(path)).expect("below /sys"));
        let mount = Mount::noted(&SysRoot::live(), PathBuf::from("/mnt/a card"), "7:2", "rw,relatime");
        vec![
            Old {
                file: file("/sys/block/x/queue/write_cache"),
                value: "write back".to_owned(),
                disk: Some("7".into()),
            },
            // Some values are several numbers with tabs between them.
            Old { file: file("/proc/sys/vm/x"), value: "1\t2\t3".to_owned(), disk: None },
            Old { file: Spot::Mount(mount), value: "rw,relatime".to_owned(), disk: Some("7:2".into()) },
        ]
    }

    #[test]
    fn what_was_written_down_is_read_again() {
        let text = render(&old(), "b-1");
        assert_eq!(parse(&SysRoot::live(), &text, "b-1"), old());
        assert_eq!(parse(&SysRoot::live(), &text, "b-2"), [], "the knobs of another boot are gone");
        for cut in 0..text.len() {
            assert_eq!(parse(&SysRoot::live(), &text[..cut], "b-1"), [], "a note that was cut short at {cut}");
        }
    }

    #[test]
    fn a_note_leads_nowhere_else() {
        let text = render(&old(), "b").replace("/proc/sys/vm/x", "/proc/sys/../../etc/passwd");
        assert_eq!(parse(&SysRoot::live(), &text, "b").len(), 2);
    }
}
