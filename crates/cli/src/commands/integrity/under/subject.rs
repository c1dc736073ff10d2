//! What can stand on a device, and other people's programs that make and check it.

use crate::args::UnderSubject;
use crate::error::Failure;
use anyhow::anyhow;
use flashscope_host::volume;
use flashscope_integrity::under::Subject;
use flashscope_units::Bytes;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A file system: how it is made and checked.
struct Row {
    name: &'static str,
    /// Debian's package with both programs.
    package: &'static str,
    /// Makes it anew. No discards: what a discarded sector holds is nobody's promise.
    make: &'static [&'static str],
    /// Checks it and changes nothing.
    check: &'static [&'static str],
    /// The least that it takes, as its program says.
    least: Bytes,
}

/// All of them.
const ROWS: [Row; 3] = [
    Row {
        name: "ext4",
        package: "e2fsprogs",
        // Nothing of it is left for the kernel to write later, beside the steps.
        make: &["mkfs.ext4", "-q", "-F", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0"],
        check: &["fsck.ext4", "-f", "-n"],
        least: Bytes::mib(16),
    },
    Row {
        name: "xfs",
        package: "xfsprogs",
        make: &["mkfs.xfs", "-q", "-f", "-K"],
        check: &["xfs_repair", "-n"],
        least: Bytes::mib(300),
    },
    Row {
        name: "btrfs",
        package: "btrfs-progs",
        make: &["mkfs.btrfs", "-q", "-f", "-K"],
        check: &["btrfs", "check", "--readonly"],
        least: Bytes::mib(128),
    },
];

/// What a database lies on: the file system that most of them do.
const BELOW_DATABASE: &str = "ext4";
/// The database: its own command line, so that it is the one that this machine has, and none is linked in here.
const DATABASE: &str = "sqlite3";
/// What a commit needs to be safe when it is acknowledged. In the rollback-journal mode synchronous=FULL is not enough: the removal of the
/// journal is not synced, which takes EXTRA (sqlite.org/pragma.html#pragma_synchronous).
const SAFE: [&str; 2] = ["journal_mode=WAL", "synchronous=FULL"];

/// What stands on the device, with its programs found.
pub(crate) struct Chosen {
    pub(super) subject: Subject,
    /// As it was named.
    pub(crate) name: &'static str,
    pub(super) file_system: &'static str,
    /// Options of the mount.
    pub(super) mount: String,
    /// Options of the database, each `NAME=VALUE`; empty of files.
    pub(super) pragmas: Vec<String>,
    pub(super) least: Bytes,
    make: Vec<String>,
    check: Vec<String>,
    /// The database's program.
    pub(super) database: Option<PathBuf>,
    /// What the record says of programs.
    pub(super) programs: Vec<String>,
}

impl Chosen {
    /// Finds what is needed.
    ///
    /// # Errors
    /// The kernel has no such file system, or a program is not installed; an option that makes no sense.
    pub(super) fn find(subject: UnderSubject, options: &str) -> Result<Chosen, Failure> {
        let name = subject.word();
        let is_database = subject == UnderSubject::Sqlite;
        let file_system = if is_database { BELOW_DATABASE } else { name };
        let Some(row) = ROWS.iter().find(|row| row.name == file_system) else {
            return Err(cannot(format!("nobody knows how to make {file_system}")));
        };
        let is_there = volume::is_there(file_system).map_err(|_| {
            cannot("--under mounts a file system, which only root may\nhint: run it with sudo".to_owned())
        })?;
        if !is_there {
            let all = volume::file_systems().join(", ");
            return Err(cannot(format!(
                "this kernel has no {file_system}\nhint: it has {all}; or load the module with `modprobe {file_system}`"
            )));
        }
        let made = [row.make, row.check].map(|words| found(words, row.package));
        let [make, check] = made;
        let (make, check) = (make?, check?);
        let mut programs = vec![version(&make[0], "-V")];
        let mut pragmas = Vec::new();
        let mut database = None;
        if is_database {
            let program = found(&[DATABASE], DATABASE)?.remove(0);
            programs.push(format!("sqlite {}", version(&program, "--version")));
            database = Some(PathBuf::from(program));
            pragmas = pragmas_of(options)?;
        }
        let mount = if is_database { String::new() } else { options.to_owned() };
        let subject = if is_database { Subject::Rows } else { Subject::Files };
        Ok(Chosen {
            subject,
            name,
            file_system: row.name,
            mount,
            pragmas,
            least: row.least,
            make,
            check,
            database,
            programs,
        })
    }

    /// Makes it anew on a device.
    ///
    /// # Errors
    /// What its program says.
    pub(super) fn make(&self, device: &Path) -> Result<(), String> {
        ran(&self.make, device).map_err(|said| format!("`{}` failed: {said}", self.make.join(" ")))
    }

    /// Checks it: what is complained of.
    pub(super) fn check(&self, device: &Path) -> Option<String> {
        ran(&self.check, device).err()
    }

    /// Its options in words, as they are in force.
    pub(super) fn options(&self) -> String {
        if self.database.is_some() { self.pragmas.join(",") } else { self.mount.clone() }
    }
}

/// The database's options: what is safe, and over it what was typed.
fn pragmas_of(options: &str) -> Result<Vec<String>, Failure> {
    let mut all: Vec<String> = SAFE.map(str::to_owned).to_vec();
    for word in options.split(',').filter(|word| !word.is_empty()) {
        let is_word =
            |text: &str| !text.is_empty() && text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
        let Some((key, _)) = word.split_once('=').filter(|(key, value)| is_word(key) && is_word(value)) else {
            return Err(cannot(format!(
                "'{word}' is no option of SQLite\nhint: NAME=VALUE as after PRAGMA, e.g. synchronous=OFF,journal_mode=DELETE"
            )));
        };
        all.retain(|other| other.split_once('=').is_none_or(|(name, _)| name != key));
        all.push(word.to_owned());
    }
    Ok(all)
}

/// A command with its program's path in front.
fn found(words: &[&str], package: &str) -> Result<Vec<String>, Failure> {
    // Where administrators' programs are is not in everybody's path.
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin", "/sbin"].map(PathBuf::from));
    let program = folders.map(|folder| folder.join(words[0])).find(|path| path.is_file());
    let Some(program) = program else {
        return Err(cannot(format!(
            "`{}` is not installed\nhint: `apt install {package}`, or the package of that name of your system",
            words[0]
        )));
    };
    let rest = words[1..].iter().map(|word| (*word).to_owned());
    Ok(std::iter::once(program.display().to_string()).chain(rest).collect())
}

/// The first line of what a program says of itself.
fn version(program: &str, option: &str) -> String {
    let output = Command::new(program).arg(option).stdin(Stdio::null()).output();
    let said = output.map(|output| [output.stdout, output.stderr].concat()).unwrap_or_default();
    String::from_utf8_lossy(&said).lines().find(|line| !line.trim().is_empty()).unwrap_or(program).trim().to_owned()
}

/// Runs a command on a device: what it said, where it did not end well.
fn ran(words: &[String], device: &Path) -> Result<(), String> {
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).arg(device).env("LC_ALL", "C").stdin(Stdio::null());
    super::alone(&mut command);
    let output = command.output().map_err(|error| format!("cannot start {}: {error}", words[0]))?;
    if output.status.success() {
        return Ok(());
    }
    /// Lines of a complaint that are kept.
    const KEPT: usize = 4;
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    let lines = said.lines().map(str::trim).filter(|line| !line.is_empty() && !is_usual(line));
    let kept: Vec<&str> = lines.take(KEPT).collect();
    Err(format!("{}: {}", output.status, kept.join("; ")))
}

/// What such programs say however it goes.
fn is_usual(line: &str) -> bool {
    ["e2fsck ", "Pass ", "Phase ", "mke2fs ", "Opening filesystem", "Checking filesystem", "UUID:", "- "]
        .iter()
        .any(|start| line.starts_with(start))
}

fn cannot(why: String) -> Failure {
    Failure::Cannot(anyhow!(why))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_goes_over_what_is_safe() {
        let of = |options: &str| pragmas_of(options).map(|all| all.join(","));
        assert_eq!(of("").unwrap(), "journal_mode=WAL,synchronous=FULL");
        assert_eq!(of("synchronous=OFF").unwrap(), "journal_mode=WAL,synchronous=OFF");
        assert!(of("synchronous").is_err() && of("a=b;DROP").is_err());
    }
}
