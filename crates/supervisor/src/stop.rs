//! Ctrl-C: the first one has the workers stop in good order, the second one ends them.

use flashscope_emulate::signals;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

static WISHES: AtomicU32 = AtomicU32::new(0);

/// Signals closer together than this are one wish: `timeout`, for one, sends each to the program and then to its whole group.
const ONE_WISH: Duration = Duration::from_millis(300);

/// What is called at each wish.
static WAKE: Mutex<Option<Box<dyn Fn() + Send>>> = Mutex::new(None);
static LISTENS: AtomicBool = AtomicBool::new(false);

/// From now on an interrupt is noted instead of ending the program. To be called before any thread is started. `wake` is called
/// at each, in the place of what was named before.
pub(crate) fn arm(wake: impl Fn() + Send + 'static) -> std::io::Result<()> {
    if let Ok(mut waked) = WAKE.lock() {
        *waked = Some(Box::new(wake));
    }
    if LISTENS.swap(true, Ordering::Relaxed) {
        return Ok(());
    }
    let wishes = signals::listen_for_stop()?;
    std::thread::spawn(move || {
        let mut last: Option<Instant> = None;
        while wishes.recv().is_ok() {
            if last.is_none_or(|last| last.elapsed() >= ONE_WISH) {
                WISHES.fetch_add(1, Ordering::Relaxed);
                last = Some(Instant::now());
                if let Ok(waked) = WAKE.lock()
                    && let Some(wake) = waked.as_ref()
                {
                    wake();
                }
            }
        }
    });
    Ok(())
}

/// How often the operator asked to stop.
pub(crate) fn wishes() -> u32 {
    WISHES.load(Ordering::Relaxed)
}
