//! Where apps are played: a directory of the run's own below the one that was named.

use super::cannot;
use crate::error::Failure;
use crate::output;
use crate::target::failure;
use flashscope_host::SysRoot;
use flashscope_host::load::{Folder, FolderFacts, OwnFolder};
use flashscope_units::Bytes;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// What directories of runs are called, with the number of the process behind it.
const NAME: &str = "flashscope-app-";

/// A directory of this run's own. It goes when this is dropped, with all that is in it, unless it is to be kept.
pub(super) struct Place {
    /// The directory that was named.
    pub(super) above: PathBuf,
    path: PathBuf,
    own: Arc<Mutex<Option<OwnFolder>>>,
    keep: bool,
}

/// Where the files of one run are; they go with it.
pub(super) struct RunFolder {
    pub(super) path: PathBuf,
    _own: OwnFolder,
}

/// Makes one.
///
/// # Errors
/// Where the place is no directory that can be written to.
pub(super) fn open(above: &Path, keep: bool) -> Result<Place, Failure> {
    let shown = above.display();
    if !above.is_dir() {
        return Err(cannot(if above.to_string_lossy().starts_with("sim:") {
            format!(
                "apps are played on a file system, and {shown} has none yet\nhint: `flashscope emulate {shown}` makes a block device of it; mkfs and mount that, and name the directory"
            )
        } else if above.exists() {
            format!("{shown} is no directory\nhint: mkfs and mount it, and name the directory that it is mounted at")
        } else {
            format!("there is no directory {shown}")
        }));
    }
    for left in left_behind(above) {
        output::talk(&format!(
            "warning: {} was left by a run that was killed\nhint: rm -r '{}'",
            left.display(),
            left.display()
        ));
    }
    let path = above.join(format!("{NAME}{}", std::process::id()));
    let own = OwnFolder::make(&path, keep, true).map_err(failure)?;
    Ok(Place { above: above.to_owned(), path, own: Arc::new(Mutex::new(Some(own))), keep })
}

/// Directories of runs that are not there any more.
fn left_behind(above: &Path) -> Vec<PathBuf> {
    let names = std::fs::read_dir(above).into_iter().flatten().filter_map(Result::ok);
    let of_none = |name: &str| {
        let process = name.strip_prefix(NAME)?.parse::<u32>().ok()?;
        (!Path::new(&format!("/proc/{process}")).exists()).then_some(())
    };
    names.filter(|entry| entry.file_name().to_str().and_then(of_none).is_some()).map(|entry| entry.path()).collect()
}

impl Place {
    /// What it lies on, now.
    pub(super) fn facts(&self) -> Result<FolderFacts, Failure> {
        let folder = Folder::open(&self.path).map_err(|error| cannot(error.to_string()))?;
        folder.facts(&SysRoot::live()).map_err(|error| cannot(error.to_string()))
    }

    /// Bytes that are free, now.
    pub(super) fn free(&self) -> Result<Bytes, Failure> {
        self.facts().map(|facts| facts.free)
    }

    /// Where a run's files go.
    pub(super) fn of_run(&self, name: &str) -> Result<RunFolder, Failure> {
        let path = self.path.join(name);
        let own = OwnFolder::make(&path, self.keep, true).map_err(failure)?;
        // SQLite opens files by their path, whatever the working directory is.
        let path = path.canonicalize().map_err(|error| cannot(format!("cannot find {}: {error}", path.display())))?;
        Ok(RunFolder { path, _own: own })
    }

    /// What is to be done where the program has to end at once.
    pub(super) fn at_the_end(&self) -> impl FnOnce() + Send + use<> {
        let own = Arc::clone(&self.own);
        move || drop(own.lock().unwrap_or_else(PoisonError::into_inner).take())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // What is done at a sudden end holds on to it as well.
        drop(self.own.lock().unwrap_or_else(PoisonError::into_inner).take());
        if self.keep {
            output::talk(&format!("the files are in {}", self.path.display()));
        }
    }
}
