//! The record of each device of a fleet: byte for byte that of `inspect` on the model file that `fleet --show` prints, with all of
//! its samples.

use crate::{envelope, output};
use flashscope_fleet::{Inspection, Plan};
use flashscope_host::Outputs;
use flashscope_model::{Envelope, Kind};
use flashscope_record::to_json;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Where they go.
pub(super) struct Records {
    folder: PathBuf,
    plan: Plan,
    door: Mutex<Outputs>,
    /// Why the first one that could not be kept could not.
    failure: Mutex<Option<String>>,
}

impl Records {
    pub(super) fn new(folder: &Path, plan: Plan, force: bool) -> Records {
        let door = Mutex::new(output::door(force, None::<PathBuf>));
        Records { folder: folder.to_owned(), plan, door, failure: Mutex::new(None) }
    }

    /// Keeps the record of a device. That one cannot be kept costs the fleet nothing else.
    pub(super) fn keep(&self, found: &Inspection<'_>) {
        let name = format!("{}-{}-{}", self.plan.generator.name(), self.plan.seed, found.index);
        let simulated = envelope::simulated(Kind::Inspect, "inspect", format!("sim:{name}.toml"), found.seed);
        let envelope = Envelope { device: Some(found.facts.clone()), path: Some(found.path.clone()), ..simulated };
        let record = to_json(&envelope::record(envelope, None, found.report.clone()));
        let path = self.folder.join(name).with_extension("json");
        let planned = self.door.lock().unwrap_or_else(PoisonError::into_inner).plan(&path);
        if let Err(error) = planned.and_then(|output| output.write(record.as_bytes())) {
            let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
            failure.get_or_insert_with(|| format!("not every record is kept: {error}"));
        }
    }

    /// Why not all of them are kept.
    pub(super) fn failure(self) -> Option<String> {
        self.failure.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}
