//! What tables of writes are worth, given the allocation unit: their operator assumed one.
//!
//! flashbench's write tests go over regions of the assumed unit, side by side from 16 MiB on (`-O`) or from the start
//! of the device (`-f`). They count the device's units only where every region is whole units of it: the real unit must
//! divide the assumed one and the place where the regions begin. A stream through a region that is not begins amid a
//! unit and shares its last one with the next stream, so that copies are made at other counts than with whole units.
//!
//! The probabilities here are shares of right answers among logs of the `wide` fleet of which the same is known
//! (docs/inference.md), raised towards what published logs show, whose operators knew their cards better. Each is one more
//! condition beside what the table itself says, and multiplies its confidence.

use crate::assumed::{unit_of_counts, unit_of_first};
use crate::numbers::probability;
use crate::open_units::is_table;
use flashscope_model::finding::{AreaKind, FastArea, Penalty};
use flashscope_model::{Data, Estimate, Observations, Order};
use flashscope_units::Bytes;

/// Where flashbench's tests of several units begin unless told otherwise.
const FIRST_REGION: Bytes = Bytes::mib(16);

/// A unit that is less sure is not known, and cannot speak against a table.
pub(crate) const KNOWN: f64 = 0.8;

/// How often a count is right where reads show a unit that divides the regions.
const WHOLE: f64 = 0.985;

/// The same where they show only a part of it, which does: a step in a table of powers of two may be that of a multiple.
const WHOLE_PARTS: f64 = 0.85;

/// The same where the regions are as long as units are but begin amid one.
const SHIFTED: f64 = 0.6;

/// The same where they show nothing of it.
const UNSEEN: f64 = 0.75;

/// How often a penalty in a table is that of other units as well: one was written once in each order, in whatever state.
const PENALTY: f64 = 0.88;

/// How often there is no area where a table shows none: in order it shows none that is only mapped otherwise, nor one as
/// long as the table.
const NO_AREA: f64 = 0.88;

/// How often an area in a table is one, where the regions are whole units, and …
const AREA: f64 = 0.75;

/// … of one in a table of which that is not known.
const AREA_UNSEEN: f64 = 0.5;

/// How the regions of tables lie to the allocation unit.
enum Regions {
    /// They are whole units, with how often a table of such is right.
    Whole(f64),
    /// They are not.
    Broken(String),
    /// There is no telling, with how often it is right all the same.
    Unseen(f64),
}

/// A count from tables of one order.
pub(crate) fn count(
    mut found: Estimate<u32>,
    observations: &Observations,
    order: Order,
    unit: &Estimate<Bytes>,
) -> Estimate<u32> {
    let of_table = found.method.contains(&"open-au") && !found.is_unknown();
    let Some(assumed) = counted(observations, order).filter(|_| of_table) else { return found };
    match against(assumed, unit) {
        Regions::Broken(why) => return Estimate::unknown(format!("{}, but {why}", found.evidence)),
        Regions::Whole(right) | Regions::Unseen(right) => weaken(&mut found, right),
    }
    found
}

/// A penalty from tables.
pub(crate) fn penalty(mut found: Estimate<Penalty>) -> Estimate<Penalty> {
    if found.method.contains(&"open-au") {
        weaken(&mut found, PENALTY);
    }
    found
}

/// An area from tables.
pub(crate) fn area(
    mut found: Estimate<FastArea>,
    observations: &Observations,
    unit: &Estimate<Bytes>,
) -> Estimate<FastArea> {
    let of_table = found.method.contains(&"fat");
    let Some(kind) = found.value.map(|area| area.kind).filter(|_| of_table) else { return found };
    if kind == AreaKind::None {
        weaken(&mut found, NO_AREA);
        return found;
    }
    let assumed = observations.runs.iter().find_map(|run| match &run.data {
        Data::Fat(data) => Some((unit_of_first(observations, data)?.size, data.offset.unwrap_or(Bytes::ZERO))),
        _ => None,
    });
    match assumed.map(|assumed| against(assumed, unit)) {
        Some(Regions::Whole(_)) => weaken(&mut found, AREA),
        Some(Regions::Broken(why)) => return Estimate::unknown(format!("{}, but {why}", found.evidence)),
        Some(Regions::Unseen(_)) | None => weaken(&mut found, AREA_UNSEEN),
    }
    found
}

/// The assumed unit of the tables of one order, and where their regions begin.
fn counted(observations: &Observations, order: Order) -> Option<(Bytes, Bytes)> {
    observations.runs.iter().find_map(|run| match &run.data {
        Data::OpenUnits(data) if data.order == order && is_table(data) => {
            let begin = data.units.iter().min().copied().unwrap_or(FIRST_REGION);
            Some((unit_of_counts(observations, data)?.size, begin))
        }
        _ => None,
    })
}

fn weaken<T>(found: &mut Estimate<T>, right: f64) {
    found.confidence = found.confidence.map(|confidence| probability(confidence * right));
}

fn against((assumed, begin): (Bytes, Bytes), unit: &Estimate<Bytes>) -> Regions {
    let sure = unit.confidence.filter(|sure| *sure >= KNOWN);
    let Some((size, sure)) = unit.value.or(unit.at_least).zip(sure) else { return Regions::Unseen(UNSEEN) };
    if !assumed.is_multiple_of(size) {
        return Regions::Broken(format!("it went over regions of {assumed}, which are not whole units of {size}"));
    }
    match (begin.is_multiple_of(size), unit.value.is_some()) {
        (true, true) => Regions::Whole(WHOLE * (1.0 - (1.0 - sure) / 2.0)),
        (true, false) => Regions::Unseen(WHOLE_PARTS),
        (false, _) => Regions::Unseen(SHIFTED),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(value: Option<Bytes>, at_least: Option<Bytes>) -> Estimate<Bytes> {
        match (value, at_least) {
            (Some(size), _) => Estimate::known(size, 0.98, "reads", &["align"]),
            (_, Some(size)) => Estimate::at_least(size, 0.98, "reads", &["align"]),
            _ => Estimate::unknown("nothing was read"),
        }
    }

    #[test]
    fn regions_must_be_whole_units() {
        let against = |assumed, value, least| match against((assumed, FIRST_REGION), &unit(value, least)) {
            Regions::Whole(right) | Regions::Unseen(right) => Some(right),
            Regions::Broken(_) => None,
        };
        let mib = Bytes::mib;
        assert_eq!(against(mib(4), Some(mib(4)), None), Some(WHOLE * 0.99));
        assert_eq!(against(mib(8), Some(mib(4)), None), Some(WHOLE * 0.99), "two units each");
        assert_eq!(against(mib(4), Some(mib(8)), None), None, "halves of units");
        assert_eq!(against(mib(8), Some(mib(24)), None), None);
        assert_eq!(against(mib(24), Some(mib(24)), None), Some(SHIFTED), "16 MiB lies amid a unit");
        assert_eq!(against(mib(32), Some(mib(64)), None), None);
        assert_eq!(against(mib(8), None, Some(mib(8))), Some(WHOLE_PARTS), "8 MiB or 24 MiB");
        assert_eq!(against(mib(4), None, Some(mib(8))), None);
        assert_eq!(against(mib(4), None, None), Some(UNSEEN));
    }
}
