//! Ctrl-C: the first one asks the run to stop and keep what it has, the second one ends the program.
//!
//! A thread of its own takes the signals, so that they are heard even while every other thread waits for a device.

use crate::output;
use flashscope_emulate::signals;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, Once, PoisonError};
use std::time::{Duration, Instant};

static STOP: AtomicBool = AtomicBool::new(false);
static ARMED: Once = Once::new();

/// Signals closer together than this are one wish: `timeout`, for one, sends each to the program and then to its whole group.
const ONE_WISH: Duration = Duration::from_millis(300);

/// From now on an interrupt is noted instead of ending the program. To be called before any thread is started.
pub(crate) fn arm() {
    ARMED.call_once(|| {
        let wishes = match signals::listen_for_stop() {
            Ok(wishes) => wishes,
            Err(error) => return output::talk(&format!("warning: an interrupt will lose what was measured: {error}")),
        };
        std::thread::spawn(move || {
            let mut first: Option<Instant> = None;
            while wishes.recv().is_ok() {
                match first {
                    Some(first) if first.elapsed() < ONE_WISH => {}
                    Some(_) => end(),
                    None => {
                        first = Some(Instant::now());
                        STOP.store(true, Ordering::Relaxed);
                        output::talk(
                            "stopping after the requests in flight; what was measured is kept (again to end at once)",
                        );
                    }
                }
            }
        });
    });
}

/// What is done before the program is ended at once.
static LAST: Mutex<Option<Box<dyn FnOnce() + Send>>> = Mutex::new(None);

/// To be done before the program is ended at once: what must not be left behind. Only the latest is done.
pub(crate) fn before_end(act: impl FnOnce() + Send + 'static) {
    *LAST.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(act));
}

/// To be done as well, before what is there already.
pub(crate) fn also_before_end(act: impl FnOnce() + Send + 'static) {
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    let others = last.take();
    *last = Some(Box::new(move || {
        act();
        others.into_iter().for_each(|other| other());
    }));
}

fn end() -> ! {
    if let Some(last) = LAST.lock().unwrap_or_else(PoisonError::into_inner).take() {
        last();
    }
    output::talk("ended; if it does not go, a device keeps the kernel waiting");
    std::process::exit(130)
}

/// What is set as soon as the operator asks to stop.
pub(crate) fn flag() -> &'static AtomicBool {
    &STOP
}

/// Whether the operator asked to stop.
pub(crate) fn asked() -> bool {
    STOP.load(Ordering::Relaxed)
}
