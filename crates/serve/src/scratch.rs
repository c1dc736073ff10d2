//! A folder of this program's own among temporary files, which goes with it; and those that killed ones have left there.

use crate::secret::Secret;
use anyhow::{Context, Result};
use std::fs::{self, DirBuilder, File, TryLockError};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// What the names of such folders begin with; a secret follows.
const PREFIX: &str = "flashscope-serve-";
/// A file in each, which is locked for as long as the program lives.
const LOCK: &str = "lock";

/// Such a folder.
pub(crate) struct Scratch {
    pub(crate) path: PathBuf,
    _lock: File,
}

impl Scratch {
    /// Makes one, and removes those of programs that live no more.
    pub(crate) fn new() -> Result<Scratch> {
        Scratch::among(&std::env::temp_dir())
    }

    fn among(temporary: &Path) -> Result<Scratch> {
        let own = Secret::new()?;
        let path = temporary.join(format!("{PREFIX}{}", own.reveal().get(..16).unwrap_or_default()));
        // Made by nobody else before: what is there already is not used.
        let made = DirBuilder::new().mode(0o700).create(&path);
        made.with_context(|| format!("cannot make {}", path.display()))?;
        let lock = locked(&path).with_context(|| format!("cannot lock {}", path.display()))?;
        for stale in stale(temporary, &path) {
            let _ = fs::remove_dir_all(stale);
        }
        Ok(Scratch { path, _lock: lock })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// The lock gets its name when it is held: no other program ever sees one of a living program that is free.
fn locked(folder: &Path) -> std::io::Result<File> {
    let unnamed = folder.join("lock.new");
    let lock = File::create_new(&unnamed)?;
    lock.lock()?;
    fs::rename(&unnamed, folder.join(LOCK))?;
    Ok(lock)
}

/// Folders whose programs live no more, of the user to whom `own` belongs. One without a lock may be about to be locked.
fn stale(temporary: &Path, own: &Path) -> Vec<PathBuf> {
    let Ok(owner) = fs::symlink_metadata(own).map(|own| own.uid()) else { return Vec::new() };
    let is_ours = |path: &Path| {
        let is_named = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PREFIX));
        is_named && fs::symlink_metadata(path).is_ok_and(|found| found.is_dir() && found.uid() == owner)
    };
    let is_free = |path: &Path| {
        File::open(path.join(LOCK)).is_ok_and(|lock| !matches!(lock.try_lock(), Err(TryLockError::WouldBlock)))
    };
    let found = fs::read_dir(temporary).into_iter().flatten().flatten().map(|entry| entry.path());
    found.filter(|path| path != own && is_ours(path) && is_free(path)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_killed_program_s_folder_goes_when_the_next_one_begins_and_a_living_one_s_stays() {
        let temporary = std::env::temp_dir().join(format!("flashscope-scratch-{}", std::process::id()));
        fs::create_dir_all(&temporary).unwrap();
        let living = Scratch::among(&temporary).unwrap();
        let killed = Scratch::among(&temporary).unwrap();
        let left = killed.path.clone();
        // As after SIGKILL: the lock is let go, the folder stays.
        fs::write(left.join("record.json"), "{}").unwrap();
        let Scratch { path: _, _lock: lock } = &killed;
        lock.unlock().unwrap();
        std::mem::forget(killed);
        let stranger = temporary.join("flashscope-serve-test-1-0");
        fs::create_dir(&stranger).unwrap();

        let next = Scratch::among(&temporary).unwrap();
        assert!(!left.exists(), "a killed program's folder has stayed");
        assert!(living.path.exists() && next.path.exists() && stranger.exists());

        let gone = next.path.clone();
        drop(next);
        assert!(!gone.exists());
        drop(living);
        fs::remove_dir_all(&temporary).unwrap();
    }
}
