//! Knobs while they are changed, and put back.

use super::error::KnobError;
use super::find::Knob;
use super::note::{self, Note, Old};
use super::spot::Spot;
use crate::sysfs::SysRoot;
use std::path::PathBuf;

/// How often all is written anew until everything is as wanted: a limit that another one stands in the way of (a lowest
/// frequency above the highest) needs a second time, and what the kernel resets along with a knob a third.
const ROUNDS: usize = 3;

/// Knobs that are changed. They are put back when this is dropped, if [`Held::restore`] has not done so before.
#[derive(Debug)]
pub struct Held {
    knobs: Vec<Knob>,
    old: Vec<Old>,
    /// `None` once everything is put back.
    note: Option<Note>,
}

/// A knob and the value that it is to have; the knob by its place among those held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Which of the knobs that are held.
    pub knob: usize,
    /// Its value, in the kernel's words.
    pub value: String,
}

/// A knob that was put back after a sweep that was killed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// Its file.
    pub path: PathBuf,
    /// What it was found at.
    pub found: String,
    /// What it is again.
    pub value: String,
}

impl Held {
    /// Takes hold of knobs: first finishes what a sweep that was killed has left, then writes down what they are now.
    /// Nothing is changed yet. Also says what was put back.
    ///
    /// # Errors
    /// Another sweep holds the knobs; what was left cannot be put back; nothing can be written down.
    pub fn take(sys: &SysRoot, knobs: Vec<Knob>) -> Result<(Held, Vec<Restored>), KnobError> {
        let mut note = Note::take(sys)?;
        let restored = finish(&note.left(sys)?)?;
        let mut old: Vec<Old> = Vec::new();
        for file in knobs.iter().flat_map(|knob| knob.spots.iter().chain(&knob.along)) {
            // What stands beside a knob and shows no value (a tunable that is write-only) has none to keep.
            let Ok(value) = file.read() else { continue };
            if !old.iter().any(|one| one.file == *file) {
                old.push(Old { file: file.clone(), value, disk: file.owner() });
            }
        }
        note.write(&old)?;
        Ok((Held { knobs, old, note: Some(note) }, restored))
    }

    /// Brings knobs to these values, and reads them back. A knob that has its old value has what the kernel changes along
    /// with it as before, too.
    ///
    /// # Errors
    /// The kernel refuses a value, or makes another one of it. Knobs that come before it may have changed.
    pub fn set(&self, wanted: &[Wanted]) -> Result<(), KnobError> {
        let mut goals: Vec<(&Spot, &str)> = Vec::new();
        for one in wanted {
            goals.extend(self.knobs[one.knob].spots.iter().map(|file| (file, one.value.as_str())));
        }
        for one in wanted {
            let knob = &self.knobs[one.knob];
            if knob.spots.iter().all(|file| self.old_of(file).is_some_and(|old| file.says(old, &one.value))) {
                for file in &knob.along {
                    let Some(old) = self.old_of(file) else { continue };
                    if !goals.iter().any(|(other, _)| *other == file) {
                        goals.push((file, old));
                    }
                }
            }
        }
        settle(&goals).map_or(Ok(()), Err)
    }

    /// Whether knobs are what they were set to.
    ///
    /// # Errors
    /// [`KnobError::Changed`] where another program was at work.
    pub fn check(&self, wanted: &[Wanted]) -> Result<(), KnobError> {
        for one in wanted {
            for file in &self.knobs[one.knob].spots {
                let found = file.read()?;
                if !file.says(&found, &one.value) {
                    let path = file.path().to_owned();
                    return Err(KnobError::Changed { path, wanted: one.value.clone(), found });
                }
            }
        }
        Ok(())
    }

    /// Puts everything back and reads it back; the note goes when that is done. Nothing happens the second time.
    ///
    /// # Errors
    /// [`KnobError::NotRestored`]; the note stays for the next one.
    pub fn restore(&mut self) -> Result<(), KnobError> {
        let Some(note) = &self.note else { return Ok(()) };
        finish(&self.old)?;
        note.remove();
        self.note = None;
        Ok(())
    }

    fn old_of(&self, file: &Spot) -> Option<&str> {
        self.old.iter().find(|old| old.file == *file).map(|old| old.value.as_str())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // Where that fails the note is still there, and says what is to be done.
        let _ = self.restore();
    }
}

/// Finishes what a sweep that was killed has left; says what was put back. Nothing to do where there is no note.
///
/// # Errors
/// A living sweep holds the knobs; something cannot be put back.
pub fn finish_left(sys: &SysRoot) -> Result<Vec<Restored>, KnobError> {
    if !note::exists(sys) {
        return Ok(Vec::new());
    }
    let mut note = Note::take(sys)?;
    let restored = finish(&note.left(sys)?)?;
    note.remove();
    Ok(restored)
}

/// Puts old values back, each unless it is there already or its disk is gone.
fn finish(old: &[Old]) -> Result<Vec<Restored>, KnobError> {
    // A disk that went took its knobs along; another one of its name has knobs of its own.
    let here: Vec<&Old> = old.iter().filter(|old| old.disk.is_none() || old.file.owner() == old.disk).collect();
    let found: Vec<Option<String>> = here.iter().map(|old| old.file.read().ok()).collect();
    let goals: Vec<(&Spot, &str)> = here.iter().map(|old| (&old.file, old.value.as_str())).collect();
    settle(&goals);
    let off = |old: &&&Old| !old.file.is(&old.value).unwrap_or(false);
    let what: Vec<String> = here
        .iter()
        .filter(off)
        .map(|old| {
            let now = old.file.read().map_or_else(|error| error.to_string(), |now| format!("it is '{now}'"));
            format!("{} to '{}' ({now})", old.file.path().display(), old.value)
        })
        .collect();
    if !what.is_empty() {
        return Err(KnobError::NotRestored { what });
    }
    let restored = here.iter().zip(found).filter_map(|(old, found)| {
        // What could not be read before came with another knob, and was not changed by itself.
        let found = found.filter(|found| !old.file.says(found, &old.value))?;
        Some(Restored { path: old.file.path().to_owned(), found, value: old.value.clone() })
    });
    Ok(restored.collect())
}

/// Writes what is not yet as wanted, in this order and more than once, as one value may stand in another's way. Gives the first
/// reason that something is still not so.
fn settle(goals: &[(&Spot, &str)]) -> Option<KnobError> {
    let mut failures: Vec<Option<KnobError>> = Vec::new();
    for _ in 0..ROUNDS {
        failures = goals
            .iter()
            .map(|(file, value)| match file.is(value) {
                Ok(true) => None,
                _ => file.write(value).err(),
            })
            .collect();
        if goals.iter().all(|(file, value)| file.is(value).unwrap_or(false)) {
            return None;
        }
    }
    let first = goals.iter().zip(failures).find(|((file, value), _)| !file.is(value).unwrap_or(false));
    first.map(|((file, value), failure)| {
        failure.unwrap_or_else(|| {
            let made = file.read().map_or_else(|error| error.to_string(), |found| format!("it made '{found}' of it"));
            KnobError::Refused { path: file.path().to_owned(), value: (*value).to_owned(), said: made }
        })
    })
}
