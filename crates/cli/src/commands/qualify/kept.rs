//! The seal of a record, and whether the files behind it are as they were.

use crate::error::Failure;
use anyhow::anyhow;
use flashscope_host::sha256;
use flashscope_model::qualification::{KeptRecord, QualificationRecord, RunDone};
use std::path::Path;

/// Seals a record that is finished.
pub(super) fn seal(record: &mut QualificationRecord) {
    record.seal = None;
    record.seal = Some(sha256(flashscope_record::to_json(record).as_bytes()));
}

/// Whether a record is as it was sealed.
pub(super) fn is_whole(record: &QualificationRecord) -> bool {
    let mut again = record.clone();
    seal(&mut again);
    again.seal == record.seal
}

/// Refuses records that somebody changed after they were made. Gives the number of those that are not there.
pub(super) fn check(runs: &[RunDone], folder: &Path) -> Result<usize, Failure> {
    let mut absent = 0;
    for KeptRecord { file, sha256: hash } in runs.iter().filter_map(|run| run.record.as_ref()) {
        let path = folder.join(file);
        match std::fs::read(&path) {
            Err(_) => absent += 1,
            Ok(bytes) if sha256(&bytes) == *hash => {}
            Ok(_) => {
                return Err(Failure::Cannot(anyhow!(
                    "{} was changed after it was made: its hash is not the one that was kept\nhint: what was measured cannot be \
                     trusted; remove {} and measure anew",
                    path.display(),
                    folder.display()
                )));
            }
        }
    }
    Ok(absent)
}
