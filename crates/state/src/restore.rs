//! What brings a device back into a state after something was done to it, with the least writing.

use flashscope_model::DeviceState;
use flashscope_units::Bytes;

/// What was written to a device since it was brought into a state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Since {
    /// How much.
    pub written: Bytes,
    /// Whether any of it was sequential.
    pub sequentially: bool,
    /// Whether any of it was random.
    pub randomly: bool,
}

/// Whether the state has to be made again.
pub fn is_lost(state: DeviceState, since: Since) -> bool {
    if since.written == Bytes::ZERO {
        return false;
    }
    match state {
        // Age does not go away, and one run adds next to nothing to it.
        DeviceState::Aged | DeviceState::Young => false,
        // Random writes leave a dirty device dirty, and a steady one steady.
        DeviceState::Dirty | DeviceState::Steady => since.sequentially,
        DeviceState::Sequential => since.randomly,
        // What was empty may be so no longer.
        DeviceState::Full | DeviceState::Clean => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_changes_a_state_makes_it_made_again() {
        let reads = Since::default();
        let sequential = Since { written: Bytes::mib(1), sequentially: true, randomly: false };
        let random = Since { written: Bytes::mib(1), sequentially: false, randomly: true };
        let check = |state, expect: [bool; 3]| {
            assert_eq!([reads, sequential, random].map(|since| is_lost(state, since)), expect, "{state:?}");
        };
        check(DeviceState::Clean, [false, true, true]);
        check(DeviceState::Sequential, [false, false, true]);
        check(DeviceState::Full, [false, true, true]);
        check(DeviceState::Dirty, [false, true, false]);
        check(DeviceState::Steady, [false, true, false]);
        check(DeviceState::Aged, [false, false, false]);
    }
}
