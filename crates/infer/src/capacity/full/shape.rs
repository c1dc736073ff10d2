//! Which kind of space explains what was read, and where its edge lies.

use super::lost::{self, Edge, Intervals};
use super::period;
use crate::capacity::MOST_FAILED;
use flashscope_model::capacity::{Between, DamagedShare, Full, Genuineness};
use flashscope_units::Bytes;

/// Of what is lost, the share that may lie on the wrong side of an edge.
const ASTRAY: f64 = 0.02;
/// A fake loses more than this part of what it says at its end; less is a place that is worn out.
const LEAST_LOST: u64 = 2048;
/// A fake may keep its last part, where file systems and partition tables keep copies: at most this part.
const TAIL_PART: u64 = 16;

/// What a full test shows.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct FullShape {
    /// The kind that explains most; `None` where nothing was read.
    pub kind: Option<Genuineness>,
    /// Where addresses begin anew.
    pub period: Option<Bytes>,
    /// The true size: equal ends where what is around the edge could be read.
    pub size: Option<Between>,
    /// Share that does not keep what is written, where it lies all over.
    pub damaged: Option<DamagedShare>,
    /// Whether all was tested, and little enough failed, for a claim.
    pub may_be_claimed: bool,
    /// What was written and read without an error.
    pub answered: Bytes,
    /// What the kind does not explain.
    pub against: Bytes,
    /// Where a part begins again, at the end, that keeps what is written.
    pub tail: Option<Bytes>,
}

impl FullShape {
    /// How clear it is, at most 1: what share of what was answered the kind explains.
    pub fn clarity(&self) -> f64 {
        1.0 - self.against.as_f64() / self.answered.as_f64().max(1.0)
    }
}

/// What a full test shows.
pub fn shape(full: &Full) -> FullShape {
    let totals = full.totals;
    let answered = totals.kept + totals.changed + totals.elsewhere;
    let mut shape = FullShape { answered, ..FullShape::default() };
    if answered == Bytes::ZERO {
        return shape;
    }
    let failed = totals.unwritten + totals.unreadable;
    let sound = failed.as_f64() <= MOST_FAILED * (answered + failed).as_f64();
    shape.may_be_claimed = full.is_whole() && sound;
    let (lost, unknown) = lost::of(full);
    if let Some(found) = period::of(full) {
        begins_anew(found, &lost, &unknown, &mut shape);
    } else if totals.changed + totals.elsewhere > Bytes::ZERO {
        loses(full, &lost, &unknown, &mut shape);
    } else {
        shape.kind = Some(Genuineness::Genuine);
        shape.size = Some(Between { low: full.claimed, high: full.claimed });
    }
    shape
}

/// Addresses begin anew: in gaps before that what is written is gone, or everything is there.
fn begins_anew(found: period::Period, lost: &Intervals, unknown: &Intervals, shape: &mut FullShape) {
    let (lost, unknown) = (lost::folded(lost, found.period), lost::folded(unknown, found.period));
    let edge = lost::edge(&lost, &unknown, found.period);
    shape.period = Some(Bytes(found.period));
    shape.kind = Some(if edge.at < found.period { Genuineness::Chain } else { Genuineness::WrapAround });
    shape.against = Bytes(found.against + edge.astray);
    shape.size = Some(between(&edge, &unknown));
}

/// Something is lost: from one place on, or all over.
fn loses(full: &Full, lost: &Intervals, unknown: &Intervals, shape: &mut FullShape) {
    let claimed = full.claimed.get();
    // What ends in a part that is kept, behind a long stretch that is not.
    let end = lost.last().map_or(claimed, |(_, to)| *to);
    let hidden = claimed - end;
    let end = if hidden > 0 && hidden <= claimed / TAIL_PART { end } else { claimed };
    let edge = lost::edge(lost, unknown, end);
    let behind = end.saturating_sub(edge.at);
    let is_long = behind > claimed / LEAST_LOST && (end == claimed || behind > hidden);
    let elsewhere = full.totals.elsewhere.get();
    let explained = (edge.astray + elsewhere) as f64 <= ASTRAY * (lost::length(lost) + elsewhere) as f64;
    if edge.at < end && is_long && explained {
        shape.kind = Some(Genuineness::Limbo);
        shape.against = Bytes(edge.astray + elsewhere);
        shape.tail = (end < claimed).then_some(Bytes(end));
        shape.size = Some(between(&edge, unknown));
        return;
    }
    shape.kind = Some(Genuineness::Damaged);
    shape.size = Some(Between { low: full.claimed, high: full.claimed });
    let bad = (full.totals.changed + full.totals.elsewhere).as_f64();
    let (read, failed) = (shape.answered.as_f64(), (full.claimed - shape.answered.min(full.claimed)).as_f64());
    // All of it was counted; only what failed may be either.
    shape.damaged =
        Some(DamagedShare { share: bad / read, low: bad / (read + failed), high: (bad + failed) / (read + failed) });
}

fn between(edge: &Edge, unknown: &Intervals) -> Between {
    Between { low: Bytes(lost::known_to(unknown, edge.at)), high: Bytes(edge.at) }
}
