//! The kernel's knobs for as long as a sweep lives: put back at its end, when it fails, in a panic, and when the operator ends
//! the program at once.

use crate::error::Failure;
use crate::{interrupt, output};
use anyhow::anyhow;
use flashscope_host::SysRoot;
use flashscope_host::knob::{self, Held, KnobError, Restored, Wanted};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// How long the knobs may be in use by whoever sets them, when the program is to end at once.
const PATIENCE: Duration = Duration::from_secs(2);

/// Knobs that are held, where there are any to hold.
pub(super) struct Hold(Option<Arc<Mutex<Held>>>);

impl Hold {
    /// Takes hold of them; what a sweep that was killed has left is put back first.
    pub(super) fn take(sys: &SysRoot, knobs: Vec<knob::Knob>) -> Result<Hold, Failure> {
        if knobs.is_empty() {
            return Ok(Hold(None));
        }
        let (held, restored) = Held::take(sys, knobs).map_err(failure)?;
        told(&restored);
        let held = Arc::new(Mutex::new(held));
        let at_once = Arc::clone(&held);
        // Beside what players leave behind.
        interrupt::also_before_end(move || restore_at_once(&at_once));
        Ok(Hold(Some(held)))
    }

    pub(super) fn set(&self, wanted: &[Wanted]) -> Result<(), KnobError> {
        self.held().map_or(Ok(()), |held| held.set(wanted))
    }

    pub(super) fn check(&self, wanted: &[Wanted]) -> Result<(), KnobError> {
        self.held().map_or(Ok(()), |held| held.check(wanted))
    }

    /// Puts everything back.
    pub(super) fn restore(&self) -> Result<(), Failure> {
        self.held().map_or(Ok(()), |mut held| held.restore()).map_err(failure)
    }

    fn held(&self) -> Option<MutexGuard<'_, Held>> {
        self.0.as_ref().map(|held| held.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        // The one who would end the program at once has a share in them too, which never drops.
        if let Some(mut held) = self.held()
            && let Err(error) = held.restore()
        {
            output::error(&error.to_string());
        }
    }
}

fn restore_at_once(held: &Mutex<Held>) {
    let begun = Instant::now();
    loop {
        let mut held = match held.try_lock() {
            Ok(held) => held,
            Err(TryLockError::Poisoned(held)) => held.into_inner(),
            Err(TryLockError::WouldBlock) if begun.elapsed() < PATIENCE => {
                std::thread::sleep(Duration::from_millis(10));
                continue;
            }
            Err(TryLockError::WouldBlock) => {
                return output::talk(
                    "the kernel is still busy with a knob; `flashscope sweep --restore` puts all back",
                );
            }
        };
        if let Err(error) = held.restore() {
            output::error(&error.to_string());
        }
        // Kept, so that nobody sets one again before the program is over.
        std::mem::forget(held);
        return;
    }
}

/// What was put back after a kill.
pub(super) fn told(restored: &[Restored]) {
    for one in restored {
        output::talk(&format!(
            "put back after a sweep that was killed: {} is '{}' again (was '{}')",
            one.path.display(),
            one.value,
            one.found
        ));
    }
}

pub(super) fn failure(error: KnobError) -> Failure {
    Failure::Cannot(anyhow!("{error}"))
}
