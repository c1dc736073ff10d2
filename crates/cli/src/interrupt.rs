//! Ctrl-C: the first one asks the run to stop and keep what it has, the second one ends the program.

use crate::output;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

static STOP: AtomicBool = AtomicBool::new(false);
static ARMED: Once = Once::new();

/// Signals closer together than this are one wish: `timeout`, for one, sends each to the program and then to its whole group.
const ONE_WISH: Duration = Duration::from_millis(300);

/// From now on an interrupt is noted instead of ending the program.
pub(crate) fn arm() {
    ARMED.call_once(|| {
        let mut first: Option<Instant> = None;
        let armed = ctrlc::set_handler(move || {
            match first {
                Some(first) if first.elapsed() < ONE_WISH => return,
                Some(_) => std::process::exit(130),
                None => first = Some(Instant::now()),
            }
            STOP.store(true, Ordering::Relaxed);
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
