//! What can stand on a device.

use crate::args::UnderSubject;
use crate::error::Failure;
use crate::mkfs::{self, FileSystem};
use anyhow::anyhow;
use flashscope_integrity::under::Subject;
use std::path::PathBuf;

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
    pub(super) file_system: FileSystem,
    /// Options of the mount.
    pub(super) mount: String,
    /// Options of the database, each `NAME=VALUE`; empty of files.
    pub(super) pragmas: Vec<String>,
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
        let file_system = FileSystem::find(file_system)?.with_check()?;
        let mut programs = vec![file_system.version()];
        let mut pragmas = Vec::new();
        let mut database = None;
        if is_database {
            let program = mkfs::found(&[DATABASE], DATABASE)?.remove(0);
            programs.push(format!("sqlite {}", mkfs::version(&program, "--version")));
            database = Some(PathBuf::from(program));
            pragmas = pragmas_of(options)?;
        }
        let mount = if is_database { String::new() } else { options.to_owned() };
        let subject = if is_database { Subject::Rows } else { Subject::Files };
        Ok(Chosen { subject, name, file_system, mount, pragmas, database, programs })
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
