//! The directory of a lab: the queue, and a folder for each run, named by its id and by nothing that a device says.

use anyhow::{Context, Result, anyhow};
use rustix::fs::{FlockOperation, flock};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long the lock of a lab is waited for. A process that a killed supervisor was just starting holds it until it has become a
/// worker.
const PATIENCE: Duration = Duration::from_secs(2);

/// The directory.
#[derive(Clone, Debug)]
pub struct Folder(PathBuf);

/// Held by the one program that runs a lab, as long as it lives.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Folder {
    /// The one that is named, else one that is called as the plan is.
    pub fn of(named: Option<&Path>, plan: &str) -> Result<Folder> {
        let path = named.map_or_else(|| PathBuf::from(format!("{plan}.lab")), Path::to_owned);
        // Workers have a directory of their own, so that a relative path would be another one there.
        let path = std::path::absolute(&path).with_context(|| format!("cannot use {}", path.display()))?;
        Ok(Folder(path))
    }

    /// Makes it, where it is not there.
    pub fn make(&self) -> Result<()> {
        let runs = self.0.join("runs");
        std::fs::create_dir_all(&runs)
            .with_context(|| format!("cannot make {}\nhint: name a directory with --dir", runs.display()))
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The file of the queue.
    pub fn queue(&self) -> PathBuf {
        self.0.join("lab.db")
    }

    /// The record of the whole.
    pub fn record(&self) -> PathBuf {
        self.0.join("lab.json")
    }

    /// The folder of a run.
    pub fn of_run(&self, id: &str) -> PathBuf {
        self.0.join("runs").join(id)
    }

    /// The record of a run, below the directory.
    pub fn record_below(id: &str) -> String {
        format!("runs/{id}/record.json")
    }

    /// Takes the lab for this program alone.
    ///
    /// # Errors
    /// Another one has it.
    pub fn lock(&self) -> Result<Lock> {
        let path = self.0.join("lock");
        let open = File::options().read(true).write(true).create(true).truncate(false).open(&path);
        let file = open.with_context(|| format!("cannot use {}", path.display()))?;
        let until = Instant::now() + PATIENCE;
        let taken = loop {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Err(_) if Instant::now() < until => std::thread::sleep(Duration::from_millis(20)),
                taken => break taken,
            }
        };
        match taken {
            Ok(()) => Ok(Lock { _file: file }),
            Err(_) => Err(anyhow!(
                "another `flashscope lab run` is at work in {}\nhint: `flashscope lab status --dir {}` shows how far it is",
                self.0.display(),
                self.0.display()
            )),
        }
    }

    /// Whether a program is at work in it.
    pub fn is_locked(&self) -> bool {
        let Ok(file) = File::open(self.0.join("lock")) else { return false };
        flock(&file, FlockOperation::NonBlockingLockShared).is_err()
    }
}
