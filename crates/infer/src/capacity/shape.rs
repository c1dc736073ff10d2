//! Which kind of device explains what was read, and where its edge lies.

use super::{MOST_FAILED, period};
use flashscope_model::capacity::{Between, DamagedShare, Found, Genuineness, Place, Quick};
use flashscope_stats::interval::wilson_interval;
use flashscope_units::Bytes;

/// Share of lost places that may lie on the wrong side of an edge.
const ASTRAY: f64 = 0.02;
/// A fake may keep the last part of its addresses, where file systems and partition tables keep copies: at most this part.
const TAIL_PART: u64 = 16;
/// A lost stretch before a tail that is kept is at least so many places long, and this share of all.
const LEAST_BEFORE_TAIL: usize = 6;
/// See [`LEAST_BEFORE_TAIL`].
const LEAST_SHARE_BEFORE_TAIL: f64 = 0.05;
/// Fewest places of a claim.
const FEWEST: usize = 32;

/// What a quick test shows.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Shape {
    /// The kind that explains most; `None` where too little was read.
    pub kind: Option<Genuineness>,
    /// Where addresses begin anew.
    pub period: Option<Bytes>,
    /// The true size, between what keeps and what does not.
    pub size: Option<Between>,
    /// Share of places that do not keep what is written, where they lie all over the device.
    pub damaged: Option<DamagedShare>,
    /// Whether enough was read, and little enough failed, for a claim.
    pub may_be_claimed: bool,
    /// Places that kept what was written.
    pub kept: usize,
    /// Places that lost it.
    pub lost: usize,
    /// Places that hold what was written elsewhere.
    pub elsewhere: usize,
    /// Places that could not be written or read.
    pub failed: usize,
    /// Places that the kind does not explain.
    pub against: usize,
    /// Where a part begins again, at the end of the device, that keeps what is written.
    pub tail: Option<Bytes>,
}

impl Shape {
    /// How clear it is, at most 1: what part of the places the kind explains. Of damage, from how many places it follows.
    pub fn clarity(&self) -> f64 {
        match self.kind {
            Some(Genuineness::Damaged) => (self.lost + self.elsewhere).min(10) as f64 / 10.0,
            _ => 1.0 - self.against as f64 / (self.kept + self.lost + self.elsewhere).max(1) as f64,
        }
    }
}

/// What a quick test shows.
pub fn shape(quick: &Quick) -> Shape {
    let count = |is: fn(Found) -> bool| quick.places.iter().filter(|place| is(place.found)).count();
    let mut shape = Shape {
        kept: count(|found| found == Found::Kept),
        lost: count(Found::is_lost),
        elsewhere: count(|found| matches!(found, Found::Elsewhere(_))),
        failed: count(|found| matches!(found, Found::WriteFailed | Found::ReadFailed)),
        ..Shape::default()
    };
    let read = shape.kept + shape.lost + shape.elsewhere;
    if read == 0 {
        return shape;
    }
    let is_sound = shape.failed as f64 <= MOST_FAILED * quick.places.len() as f64;
    shape.may_be_claimed = read >= FEWEST && is_sound;
    let lost_in_region = quick.region_holds.iter().any(|run| run.found.is_lost());
    if let Some(found) = period::of(quick) {
        begins_anew(quick, found, &mut shape);
    } else if shape.lost + shape.elsewhere > 0 || lost_in_region {
        loses(quick, &mut shape);
    } else {
        shape.kind = Some(Genuineness::Genuine);
        shape.size = Some(Between { low: quick.claimed, high: quick.claimed });
    }
    shape
}

/// Addresses begin anew: in gaps before that what is written is gone, or everything is there.
fn begins_anew(quick: &Quick, found: period::Period, shape: &mut Shape) {
    let period = found.period;
    shape.period = Some(period);
    shape.against = found.against;
    let within = |at: Bytes| Bytes(at.get() % period.get());
    let (edge, astray) = edge(quick, within, period);
    shape.against += astray;
    shape.kind = Some(if edge.high < period { Genuineness::Chain } else { Genuineness::WrapAround });
    shape.size = Some(edge);
}

/// Something is lost: from one place on, or all over the device.
fn loses(quick: &Quick, shape: &mut Shape) {
    let places = answered(quick, |at| at);
    let tail = tail(quick, &places);
    let before = &places[..places.len() - tail];
    let cut = cut(before);
    let lost = before.iter().filter(|(_, kept)| !kept).count();
    let behind = lost > 0 && before.last().is_some_and(|(_, kept)| !kept);
    // What speaks against an edge: lost places before it and kept ones behind it.
    if behind && cut.astray as f64 <= ASTRAY * lost as f64 {
        let (edge, astray) = edge(quick, |at| at, quick.claimed);
        shape.kind = Some(Genuineness::Limbo);
        shape.against = astray;
        shape.tail = places.get(before.len()).map(|(at, _)| *at);
        shape.size = Some(edge);
        return;
    }
    shape.kind = Some(Genuineness::Damaged);
    shape.size = Some(Between { low: quick.claimed, high: quick.claimed });
    let bad = (shape.lost + shape.elsewhere) as u64;
    let read = bad + shape.kept as u64;
    if let Ok(interval) = wilson_interval(bad, read, 0.95) {
        shape.damaged = Some(DamagedShare { share: bad as f64 / read as f64, low: interval.low, high: interval.high });
    }
}

/// Places of the first pass and of rounds that were answered, by address within whatever begins anew, and whether they kept
/// what was written.
fn answered(quick: &Quick, within: impl Fn(Bytes) -> Bytes) -> Vec<(Bytes, bool)> {
    let rounds = quick.rounds.iter().flat_map(|round| &round.places);
    let told = |place: &Place| match place.found {
        Found::Kept => Some((within(place.at), true)),
        found if found.is_lost() => Some((within(place.at), false)),
        _ => None,
    };
    let region = quick.region_holds.iter().filter(|run| run.found.is_lost()).map(|run| (within(run.at), false));
    let mut places: Vec<(Bytes, bool)> = quick.places.iter().chain(rounds).filter_map(told).chain(region).collect();
    places.sort_unstable();
    places
}

struct Cut {
    /// Number of the first place behind it.
    at: usize,
    /// Lost places before it and kept ones behind it.
    astray: usize,
}

/// The cut that leaves the fewest places astray.
fn cut(places: &[(Bytes, bool)]) -> Cut {
    let mut astray = places.iter().filter(|(_, kept)| *kept).count();
    let mut best = Cut { at: 0, astray };
    for (number, (_, kept)) in places.iter().enumerate() {
        if *kept {
            astray -= 1;
        } else {
            astray += 1;
        }
        if astray < best.astray {
            best = Cut { at: number + 1, astray };
        }
    }
    best
}

/// Between which sizes the edge lies, and how many places are astray. Everything from `end` on is known not to be there.
fn edge(quick: &Quick, within: impl Fn(Bytes) -> Bytes, end: Bytes) -> (Between, usize) {
    let mut places = answered(quick, within);
    let tail = if end == quick.claimed { tail(quick, &places) } else { 0 };
    places.truncate(places.len() - tail);
    let cut = cut(&places);
    let (before, behind) = places.split_at(cut.at);
    let low = before.iter().filter(|(_, kept)| *kept).map(|(at, _)| *at + quick.block).max().unwrap_or(Bytes::ZERO);
    let high = behind.iter().filter(|(_, kept)| !kept).map(|(at, _)| *at).min().unwrap_or(end).min(end);
    (Between { low: low.min(high), high }, cut.astray)
}

/// How many places at the end of the device keep what is written, behind a long stretch that does not.
fn tail(quick: &Quick, places: &[(Bytes, bool)]) -> usize {
    let from = quick.claimed - quick.claimed / TAIL_PART;
    let kept = places.iter().rev().take_while(|(at, kept)| *kept && *at >= from).count();
    let lost = places[..places.len() - kept].iter().rev().take_while(|(_, kept)| !kept).count();
    let is_long = lost >= LEAST_BEFORE_TAIL && lost as f64 >= LEAST_SHARE_BEFORE_TAIL * places.len() as f64;
    if is_long && kept < places.len() { kept } else { 0 }
}
