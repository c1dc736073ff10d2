//! What a device does when it is asked to discard.

use crate::model::Model;
use crate::range::{BLOCK, OPERATION, ranges};
use crate::text;
use crate::truth::Fact;
use flashscope_units::{Bytes, Nanos};
use serde::Deserialize;
use std::fmt;

/// The `[discard]` section of a model. A device without one takes discards of any size at once, and forgets what they cover.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DiscardParams {
    pub(crate) effect: Effect,
    /// Only whole multiples of this, at multiples of it, take effect.
    #[serde(deserialize_with = "text::bytes")]
    pub(crate) granularity: Bytes,
    /// What a discard takes beyond a command.
    #[serde(deserialize_with = "text::nanos")]
    pub(crate) time: Nanos,
}

ranges!(DiscardParams { effect, granularity: BLOCK, time: OPERATION });

/// What becomes of what is discarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Effect {
    /// The device has no such command.
    Absent,
    /// The command is taken, and changes nothing.
    Kept,
    /// It reads as erased.
    Erased,
}

/// What is true of a device's discard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiscardTruth {
    /// The byte that a discarded place reads as; `None` where it keeps what it held.
    pub reads: Option<u8>,
    /// The least that takes effect.
    pub granularity: Bytes,
}

impl fmt::Display for DiscardTruth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reads {
            Some(byte) => write!(f, "reads as {byte:#04x} from {} on", self.granularity),
            None => f.write_str("changes nothing"),
        }
    }
}

impl DiscardParams {
    /// What of a range takes effect, as start and length; of no length where nothing does.
    pub(crate) fn effective(&self, start: Bytes, length: Bytes) -> (Bytes, Bytes) {
        let (from, to) = (start.align_up(self.granularity), (start + length).align_down(self.granularity));
        if self.effect == Effect::Erased { (from, to.saturating_sub(from)) } else { (start, Bytes::ZERO) }
    }
}

/// No value: the device has no discard.
pub(crate) fn truth_of(model: &Model) -> Fact<DiscardTruth> {
    let erased = Some(model.state.erased_byte);
    let least = model.device.logical_block;
    match &model.discard {
        None => Fact::known(DiscardTruth { reads: erased, granularity: least }),
        Some(params) => match params.effect {
            Effect::Absent => Fact::known_none(),
            Effect::Kept => Fact::known(DiscardTruth { reads: None, granularity: params.granularity }),
            Effect::Erased => Fact::known(DiscardTruth { reads: erased, granularity: params.granularity.max(least) }),
        },
    }
}
