//! Ctrl-C: the first one asks the run to stop and keep what it has, the second one ends the program.

use crate::output;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

static STOP: AtomicBool = AtomicBool::new(false);
static ARMED: Once = Once::new();

/// From now on an interrupt is noted instead of ending the program.
pub(crate) fn arm() {
    ARMED.call_once(|| {
        let armed = ctrlc::set_handler(|| {
            if STOP.swap(true, Ordering::Relaxed) {
                std::process::exit(130);
            }
            output::talk("stopping after the request in flight; what was measured is kept (again to end at once)");
        });
        if let Err(error) = armed {
            output::talk(&format!("warning: an interrupt will lose what was measured: {error}"));
        }
    });
}

/// What is set as soon as the operator asks to stop.
pub(crate) fn flag() -> &'static AtomicBool {
    &STOP
}

/// Whether the operator asked to stop.
pub(crate) fn asked() -> bool {
    STOP.load(Ordering::Relaxed)
}
