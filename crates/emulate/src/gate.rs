//! Which answers a power cut takes back.
//!
//! The model says at once when a request will be done; the answer goes out only then. Where the power goes in between, the
//! request was never acknowledged, and must not be. The other way round, an answer leaves a little before its request is done,
//! by what the way to the caller takes: the power goes no earlier than what was acknowledged so.

use crate::disk::RequestError;
use flashscope_units::Instant;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// When a request is done, and how often the power had gone before it was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Promised {
    pub(crate) due: Instant,
    pub(crate) cuts: usize,
}

/// What was acknowledged, and when the power went.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The end of what was acknowledged last.
    latest: Instant,
    cuts: Vec<Instant>,
}

impl Gate {
    /// What may be said of a request now: that it is done, unless the power went before it was.
    pub(crate) fn pass(&self, promised: Promised, result: Result<(), RequestError>) -> Result<(), RequestError> {
        result?;
        let mut state = self.state();
        if state.cuts.get(promised.cuts).is_some_and(|cut| promised.due > *cut) {
            return Err(RequestError::Gone);
        }
        state.latest = state.latest.max(promised.due);
        Ok(())
    }

    /// The power goes at `wanted`, or as soon as what was acknowledged is done; says when.
    pub(crate) fn cut(&self, wanted: Instant) -> Instant {
        let mut state = self.state();
        let at = state.latest.max(wanted);
        state.cuts.push(at);
        at
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_done_before_the_cut_is_not_acknowledged() {
        let gate = Gate::default();
        let pass = |due, cuts| gate.pass(Promised { due: Instant(due), cuts }, Ok(()));
        assert_eq!(pass(50, 0), Ok(()));
        // The answer of 50 went out early: the power stays until then.
        assert_eq!(gate.cut(Instant(40)), Instant(50));
        assert_eq!((pass(45, 0), pass(51, 0)), (Ok(()), Err(RequestError::Gone)));
        // What came after the device was back is not concerned, until the next time.
        assert_eq!(pass(80, 1), Ok(()));
        assert_eq!(gate.cut(Instant(100)), Instant(100));
        assert_eq!(
            (pass(90, 0), pass(90, 1), pass(101, 1)),
            (Err(RequestError::Gone), Ok(()), Err(RequestError::Gone))
        );
        assert_eq!(
            gate.pass(Promised { due: Instant(90), cuts: 1 }, Err(RequestError::Failed)),
            Err(RequestError::Failed)
        );
    }
}
