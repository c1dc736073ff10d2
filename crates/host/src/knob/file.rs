//! One file of the kernel that holds one value.

use super::error::KnobError;
use crate::errno;
use crate::list::active;
use crate::sysfs::SysRoot;
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Where files may be changed.
const BELOW: [&str; 2] = ["/sys", "/proc/sys"];
/// A value is shorter than this, in bytes: what a file of sysfs can hold.
const LONGEST: u64 = 4096;

/// One file below `/sys` or `/proc/sys` that can be read and written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KnobFile {
    sys: SysRoot,
    /// On the tree's machine, without links.
    path: PathBuf,
}

impl KnobFile {
    /// The file that a path leads to; `None` where there is none.
    ///
    /// # Errors
    /// It leads elsewhere, it is no file, or nobody may write it.
    pub(crate) fn at(sys: &SysRoot, path: &Path) -> Result<Option<KnobFile>, KnobError> {
        let Some(leads) = sys.canonical(path) else { return Ok(None) };
        if !BELOW.iter().any(|below| leads.starts_with(below)) {
            return Err(KnobError::Outside { path: path.to_owned(), leads });
        }
        let file = KnobFile { sys: sys.clone(), path: leads };
        let found = std::fs::symlink_metadata(file.here()).map_err(|error| file.not_allowed(false, &error))?;
        if !found.is_file() {
            let what = if found.is_dir() { "a directory" } else { "no plain file" };
            return Err(KnobError::NotAValue { path: file.path, what: what.to_owned() });
        }
        if found.permissions().mode() & 0o222 == 0 {
            let said = "the kernel only shows it".to_owned();
            return Err(KnobError::NotAllowed { path: file.path, writing: true, said });
        }
        Ok(Some(file))
    }

    /// The same of a path that was written down earlier: the file need not be there now.
    pub(crate) fn noted(sys: &SysRoot, path: PathBuf) -> Option<KnobFile> {
        let plain = path.components().all(|part| part.as_os_str() != ".." && part.as_os_str() != ".");
        (plain && BELOW.iter().any(|below| path.starts_with(below))).then(|| KnobFile { sys: sys.clone(), path })
    }

    /// On the tree's machine.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The value: of a list that marks one in brackets, that one.
    ///
    /// # Errors
    /// It cannot be read, or holds several lines.
    pub(crate) fn read(&self) -> Result<String, KnobError> {
        let text = self.text()?;
        let value = text.trim();
        if value.contains('\n') {
            let what = "a table of several lines".to_owned();
            return Err(KnobError::NotAValue { path: self.path.clone(), what });
        }
        Ok(active(value))
    }

    /// The values that the file lists, where it lists any: schedulers, governors.
    pub(crate) fn choices(&self) -> Vec<String> {
        let text = self.text().unwrap_or_default();
        let words: Vec<&str> = text.split_whitespace().collect();
        let bare = |word: &&str| word.trim_matches(['[', ']']).to_owned();
        if text.contains('[') { words.iter().map(bare).collect() } else { Vec::new() }
    }

    /// Writes a value. Whether the kernel made it its own is for whoever reads it back.
    ///
    /// # Errors
    /// The kernel's reason.
    pub(crate) fn write(&self, value: &str) -> Result<(), KnobError> {
        // Truncated, as the files of a made-up tree keep what a shorter value leaves.
        let flags = OFlags::WRONLY | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = open(self.here(), flags, Mode::empty())
            .map(File::from)
            .map_err(|errno| self.not_allowed(true, &errno.into()))?;
        file.write_all(format!("{value}\n").as_bytes()).map_err(|error| KnobError::Refused {
            path: self.path.clone(),
            value: value.to_owned(),
            said: said(&error),
        })
    }

    /// The kernel's number of the disk whose knob this is: another disk of the same name has another one.
    pub(crate) fn disk_sequence(&self) -> Option<String> {
        self.path.ancestors().find_map(|above| self.sys.text(above.join("diskseq")))
    }

    fn text(&self) -> Result<String, KnobError> {
        let mut text = String::new();
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        open(self.here(), flags, Mode::empty())
            .map_err(std::io::Error::from)
            .and_then(|file| File::from(file).take(LONGEST).read_to_string(&mut text))
            .map_err(|error| self.not_allowed(false, &error))?;
        Ok(text)
    }

    /// On this machine.
    fn here(&self) -> PathBuf {
        self.sys.path(&self.path)
    }

    fn not_allowed(&self, writing: bool, error: &std::io::Error) -> KnobError {
        KnobError::NotAllowed { path: self.path.clone(), writing, said: said(error) }
    }
}

pub(super) fn said(error: &std::io::Error) -> String {
    Errno::from_io_error(error).map_or_else(|| error.to_string(), errno::describe)
}

/// Whether two texts are one value to the kernel: numbers however they are written, words however they are spaced, and the
/// letters that module parameters show for 1 and 0.
pub(super) fn same(one: &str, other: &str) -> bool {
    let number = |text: &str| match text.trim() {
        "Y" | "y" => Some(1),
        "N" | "n" => Some(0),
        text => match text.strip_prefix("0x") {
            Some(digits) => i128::from_str_radix(digits, 16).ok(),
            None => text.parse().ok(),
        },
    };
    if let (Some(one), Some(other)) = (number(one), number(other)) {
        return one == other;
    }
    one.split_whitespace().eq(other.split_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_value_however_it_is_written() {
        let check = |one, other, expect| assert_eq!(same(one, other), expect, "{one} {other}");
        check("128", "0128", true);
        check("0x10", "16", true);
        check("Y", "1", true);
        check("write back", " write  back\n", true);
        check("4096\t131072", "4096 131072", true);
        check("write back", "write through", false);
        check("128", "256", false);
        check("none", "0", false);
    }
}
