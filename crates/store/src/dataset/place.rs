//! Where things lie in a dataset, who may write there, and what is left of an export that was killed.

use super::Key;
use super::read::keys;
use crate::StoreError;
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// Says that a folder is a dataset of ours.
const MARK: &str = ".flashscope-dataset";

/// What the name of a file that is not whole yet ends with.
const PART: &str = ".part";

/// The longest name of a folder; file systems take 255 bytes.
const LONGEST: usize = 200;

/// A dataset that may be added to, and by nobody else meanwhile.
#[derive(Debug)]
pub struct Dataset {
    pub(super) root: PathBuf,
    /// Records that are in it.
    pub(super) known: HashSet<Key>,
    _lock: File,
}

impl Dataset {
    /// Opens the dataset in this folder, or begins one where there is no folder or an empty one.
    ///
    /// # Errors
    /// The folder holds something else, another program writes to it, a file in it is damaged, or the system refuses.
    pub fn open(root: &Path) -> Result<Dataset, StoreError> {
        let of = |error: io::Error| StoreError::Dataset(root.to_owned(), error.to_string());
        fs::create_dir_all(root).map_err(of)?;
        let mark = root.join(MARK);
        if !mark.exists() && fs::read_dir(root).map_err(of)?.next().is_some() {
            return Err(StoreError::NoDataset(root.to_owned()));
        }
        let lock = File::options().create(true).append(true).open(&mark).map_err(of)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(StoreError::Locked(root.to_owned())),
            Err(TryLockError::Error(error)) => return Err(of(error)),
        }
        remove_leftovers(root).map_err(of)?;
        let mut known = HashSet::new();
        for file in files(root, Table::Records)? {
            known.extend(keys(&file)?);
        }
        Ok(Dataset { root: root.to_owned(), known, _lock: lock })
    }
}

/// Which of the two tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Table {
    Figures,
    Records,
}

impl Table {
    pub(super) const fn folder(self) -> &'static str {
        match self {
            Table::Figures => "figures",
            Table::Records => "records",
        }
    }
}

/// The folder of a day and a model.
pub(super) fn folder(root: &Path, table: Table, day: &str, model: &str) -> PathBuf {
    root.join(table.folder()).join(format!("day={}", escaped(day))).join(format!("model={}", escaped(model)))
}

/// A file that is not whole yet.
pub(super) fn unfinished(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(PART);
    name.into()
}

/// The files of a table that are whole, in the order of their names.
pub(super) fn files(root: &Path, table: Table) -> Result<Vec<PathBuf>, StoreError> {
    let all = walked(&root.join(table.folder()));
    let mut all = all.map_err(|error| StoreError::Dataset(root.to_owned(), error.to_string()))?;
    all.retain(|file| file.extension().is_some_and(|ending| ending == "parquet"));
    all.sort();
    Ok(all)
}

/// Every file two folders below this one; links are not followed, so that nothing outside is ever looked at.
fn walked(top: &Path) -> io::Result<Vec<PathBuf>> {
    let listed = |folder: &Path, wanted: fn(&fs::FileType) -> bool| -> io::Result<Vec<PathBuf>> {
        let entries = match fs::read_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry?;
            if wanted(&entry.file_type()?) {
                found.push(entry.path());
            }
        }
        Ok(found)
    };
    let mut found = Vec::new();
    for day in listed(top, fs::FileType::is_dir)? {
        for model in listed(&day, fs::FileType::is_dir)? {
            found.extend(listed(&model, fs::FileType::is_file)?);
        }
    }
    Ok(found)
}

/// Takes away what a kill has left: files that are not whole, and figures whose records never came. Only names that this program
/// gives are touched.
fn remove_leftovers(root: &Path) -> io::Result<()> {
    let is_ours = |name: &str| name.len() == 32 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    for table in [Table::Figures, Table::Records] {
        for file in walked(&root.join(table.folder()))? {
            let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let is_part = name.strip_suffix(PART).and_then(|name| name.strip_suffix(".parquet")).is_some_and(is_ours);
            let is_alone = table == Table::Figures && name.strip_suffix(".parquet").is_some_and(is_ours) && {
                let below = file.strip_prefix(root.join(table.folder())).unwrap_or(&file);
                !root.join(Table::Records.folder()).join(below).exists()
            };
            if is_part || is_alone {
                fs::remove_file(&file)?;
            }
        }
    }
    Ok(())
}

/// A value in the name of a folder, as Hive has it: bytes other than letters, digits, `-`, `_` and `.` as `%` and two hexadecimal
/// digits, which readers turn back. What a device calls itself can so be no other folder. One that would be too long is cut, and a
/// hash keeps it apart from others; the whole is in the column `device`.
fn escaped(value: &str) -> String {
    if value.is_empty() {
        return "__HIVE_DEFAULT_PARTITION__".to_owned();
    }
    let mut out = String::new();
    for byte in value.bytes() {
        if out.len() >= LONGEST {
            return format!("{out}~{}", super::digits(&Sha256::digest(value.as_bytes())[..8]));
        }
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => out.push(char::from(byte)),
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_of_a_device_leads_out_of_its_folder() {
        for (value, name) in [
            ("SD08G", "SD08G"),
            ("sim:sd-4mib", "sim%3Asd-4mib"),
            ("../../etc/passwd", "..%2F..%2Fetc%2Fpasswd"),
            ("a=b\nc\0", "a%3Db%0Ac%00"),
            ("é", "%C3%A9"),
            ("", "__HIVE_DEFAULT_PARTITION__"),
        ] {
            assert_eq!(escaped(value), name);
        }
        let (long, longer) = (escaped(&"/".repeat(400)), escaped(&"/".repeat(401)));
        assert!(long.len() < 240 && long != longer, "{long}");
    }
}
