//! What tables of writes are worth, given the allocation unit: their operator assumed one.
//!
//! flashbench's write tests go over regions of the assumed unit, side by side from 16 MiB on (`-O`) or from the start
//! of the device (`-f`). They count the device's units only where every region is whole units of it: the real unit must
//! divide the assumed one and the place where the regions begin. A stream through a region that is not begins amid a
//! unit and shares its last one with the next stream, so that copies are made at other counts than with whole units.
//!
//! The probabilities here are shares of right answers among logs of the `wide` fleet of which the same is known
//! (docs/calibration.md), raised towards what published logs show, whose operators knew their cards better. Each is one more
//! condition beside what the table itself says, and multiplies its confidence.

use crate::assumed::{unit_of_counts, unit_of_first};
use crate::numbers::probability;
use crate::open_units::is_table;
use flashscope_model::finding::{AreaKind, FastArea, Penalty};
use flashscope_model::{Data, Estimate, ExperimentName, Observations, Order, Reason};
use flashscope_units::{Bytes, Nanos};

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

/// The share where reads show nothing of the unit.
const UNSEEN: f64 = 0.75;
/// Share of right answers without a limit, where reads show nothing of the unit.
const UNSEEN_BOUND: f64 = 0.85;
/// Share of right sequential counts below [`FEW`], where reads show nothing of the unit.
const UNSEEN_FEW_IN_ORDER: f64 = 0.6;
/// Counts below this are small: regions amid units make them collapse.
const FEW: u32 = 8;

/// How often a penalty in a table of whole units is that of other units as well: one was written once in each order, in
/// whatever state.
const PENALTY: f64 = 0.88;

/// Share of right smaller penalties where the unit is not known: streams through regions that are no units cost a few copies in any order, and
/// many times as much as these only where each write out of order costs one.
const SOME_PENALTY_UNSEEN: f64 = 0.25;
/// Share of right penalties from [`LARGE_PENALTY`] on, where the unit is not known.
const LARGE_PENALTY_UNSEEN: f64 = 0.8;
/// Ratio from which on a penalty is large: more than the copies that streams amid units cost.
const LARGE_PENALTY: f64 = 20.0;

/// How often a table that shows no penalty is right, however much its rows scatter.
const NO_PENALTY: f64 = 0.95;

/// Sequential writes that take as long as this are copied for, so that order cannot cost more.
const A_COPY: Nanos = Nanos::millis(40);

/// How often there is no area where a table shows none: in order it shows none that is only mapped otherwise, nor one as
/// long as the table. Each unit was written once, so that what else speaks against it weighs as in three tables.
const NO_AREA: f64 = 0.9;
/// The same where the unit is not known.
const NO_AREA_UNSEEN: f64 = 0.86;
/// Weight of what else speaks against an area, in tables.
const ONE_PASS: i32 = 3;

/// How often an area in a table is one, where the regions are whole units, …
const AREA: f64 = 0.7;

/// … where they are whole parts of what may be the unit, …
const AREA_OF_PARTS: f64 = 0.5;

/// … and in a table of which that is not known.
const AREA_UNSEEN: f64 = 0.25;

/// How the regions of tables lie to the allocation unit.
enum Regions {
    /// They are whole units, with how often a table of such is right.
    Whole(f64),
    /// They are whole parts of what may be the unit.
    Parts,
    /// They are as long as units are, but begin amid one.
    Shifted,
    /// There is no telling.
    Unseen,
    /// They are not.
    Broken(String),
}

/// A count from tables of one order.
pub(crate) fn count(
    mut found: Estimate<u32>,
    observations: &Observations,
    order: Order,
    unit: &Estimate<Bytes>,
) -> Estimate<u32> {
    let of_table = found.method().contains(&ExperimentName::OpenAu) && !found.is_unknown();
    let Some(assumed) = counted(observations, order).filter(|_| of_table) else { return found };
    match against(assumed, unit) {
        Regions::Broken(why) => {
            return Estimate::unknown(Reason::Contradicted, format!("{}, but {why}", found.evidence()));
        }
        Regions::Whole(right) => weaken(&mut found, right),
        Regions::Parts => weaken(&mut found, WHOLE_PARTS),
        Regions::Shifted => weaken(&mut found, SHIFTED),
        Regions::Unseen => {
            let right = match (found.value(), order) {
                (None, _) => UNSEEN_BOUND,
                (Some(count), Order::InOrder) if count < FEW => UNSEEN_FEW_IN_ORDER,
                (Some(_), _) => UNSEEN,
            };
            weaken(&mut found, right);
        }
    }
    found
}

/// A penalty from tables: that of one unit only where a region is one.
pub(crate) fn penalty(
    mut found: Estimate<Penalty>,
    observations: &Observations,
    unit: &Estimate<Bytes>,
) -> Estimate<Penalty> {
    let of_table = found.method().contains(&ExperimentName::OpenAu);
    let Some(penalty) = found.value().or(found.least()).filter(|_| of_table) else { return found };
    let regions = counted(observations, Order::Random).map(|assumed| (assumed.0, against(assumed, unit)));
    let each = Nanos((penalty.block.as_f64() / penalty.in_order.0 * 1e9) as u64);
    if penalty.ratio <= 1.0 {
        if each > A_COPY {
            return Estimate::unknown(
                Reason::Contradicted,
                format!(
                    "{}, but each write takes {each} in either order, as where it is copied for whatever the order",
                    found.evidence()
                ),
            );
        }
        found.change_confidence(|_| NO_PENALTY);
        return found;
    }
    match regions {
        Some((_, Regions::Broken(why))) => {
            return Estimate::unknown(Reason::Contradicted, format!("{}, but {why}", found.evidence()));
        }
        Some((assumed, Regions::Whole(_))) if unit.value().is_some_and(|unit| unit < assumed) => {
            return Estimate::unknown(
                Reason::Contradicted,
                format!("{}, but {assumed} are several units", found.evidence()),
            );
        }
        Some((_, Regions::Whole(_))) => weaken(&mut found, PENALTY),
        _ if penalty.ratio >= LARGE_PENALTY => weaken(&mut found, LARGE_PENALTY_UNSEEN),
        _ => weaken(&mut found, SOME_PENALTY_UNSEEN),
    }
    found
}

/// An area from tables.
pub(crate) fn area(
    mut found: Estimate<FastArea>,
    observations: &Observations,
    unit: &Estimate<Bytes>,
) -> Estimate<FastArea> {
    let of_table = found.method().contains(&ExperimentName::Fat);
    let Some(kind) = found.value().map(|area| area.kind).filter(|_| of_table) else { return found };
    if kind == AreaKind::None {
        let known = unit.value().or(unit.least()).is_some() && unit.confidence().is_some_and(|sure| sure >= KNOWN);
        let right = if known { NO_AREA } else { NO_AREA_UNSEEN };
        found.change_confidence(|confidence| probability(confidence.powi(ONE_PASS) * right));
        return found;
    }
    let assumed = observations.runs.iter().find_map(|run| match &run.data {
        Data::Fat(data) => Some((unit_of_first(observations, data)?.size, data.offset.unwrap_or(Bytes::ZERO))),
        _ => None,
    });
    match assumed.map(|assumed| against(assumed, unit)) {
        Some(Regions::Whole(_)) => weaken(&mut found, AREA),
        Some(Regions::Broken(why)) => {
            return Estimate::unknown(Reason::Contradicted, format!("{}, but {why}", found.evidence()));
        }
        Some(Regions::Parts) => weaken(&mut found, AREA_OF_PARTS),
        Some(Regions::Shifted | Regions::Unseen) | None => weaken(&mut found, AREA_UNSEEN),
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
    found.change_confidence(|confidence| probability(confidence * right));
}

fn against((assumed, begin): (Bytes, Bytes), unit: &Estimate<Bytes>) -> Regions {
    let sure = unit.confidence().filter(|sure| *sure >= KNOWN);
    let Some((size, sure)) = unit.value().or(unit.least()).zip(sure) else { return Regions::Unseen };
    if !assumed.is_multiple_of(size) {
        return Regions::Broken(format!("it went over regions of {assumed}, which are not whole units of {size}"));
    }
    match (begin.is_multiple_of(size), unit.value().is_some()) {
        (true, true) => Regions::Whole(WHOLE * (1.0 - (1.0 - sure) / 2.0)),
        (true, false) => Regions::Parts,
        (false, _) => Regions::Shifted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_model::observation::{
        AreaState, OpenUnitsData, OpenUnitsRow, Printed, RateEvidence, Run, Source, Spent, Statistic,
    };
    use flashscope_units::ByteRate;

    fn unit(value: Option<Bytes>, at_least: Option<Bytes>) -> Estimate<Bytes> {
        match (value, at_least) {
            (Some(size), _) => Estimate::known(size, 0.98, "reads", &[ExperimentName::Align]),
            (_, Some(size)) => Estimate::at_least(size, 0.98, "reads", &[ExperimentName::Align]),
            _ => Estimate::unknown(Reason::NotMeasured, "nothing was read"),
        }
    }

    #[test]
    fn regions_must_be_whole_units() {
        let against = |assumed, value, least| match against((assumed, FIRST_REGION), &unit(value, least)) {
            Regions::Whole(right) => Some(right),
            Regions::Parts => Some(WHOLE_PARTS),
            Regions::Shifted => Some(SHIFTED),
            Regions::Unseen => Some(UNSEEN),
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

    #[test]
    fn a_penalty_is_that_of_one_unit_only() {
        let row = |power: u32| OpenUnitsRow {
            block: Bytes::mib(4) / (1 << power),
            rate: RateEvidence::Printed(Printed {
                value: ByteRate(8e6),
                quantum: ByteRate(1e4),
                statistic: Statistic::Throughput,
                places: None,
                tries: None,
            }),
        };
        let run = |order| Run {
            source: Source::Log { first_line: 1, last_line: 9 },
            state: AreaState::Unknown,
            complete: true,
            spent: Spent::default(),
            failures: Vec::new(),
            data: Data::OpenUnits(OpenUnitsData {
                order,
                count: Some(1),
                unit: Some(Bytes::mib(4)),
                units: Vec::new(),
                rows: (0..8).map(row).collect(),
            }),
        };
        let observations = Observations {
            capacity: None,
            runs: [Order::InOrder, Order::Random].map(run).to_vec(),
            ..Observations::default()
        };
        let check = |ratio: f64, in_order: f64, size: Option<u64>, expect: Option<f64>| {
            let block = Bytes::kib(64);
            let penalty = Penalty { ratio, block, in_order: ByteRate(in_order), random: ByteRate(in_order / ratio) };
            let found = Estimate::known(penalty, 1.0, "rows", &[ExperimentName::OpenAu]);
            let found = super::penalty(found, &observations, &unit(size.map(Bytes::mib), None));
            let right = found.value().and(found.confidence());
            assert_eq!(right.map(|right| (right * 100.0).round()), expect.map(|share| (share * 100.0).round()));
        };
        check(3.0, 8e6, Some(4), Some(PENALTY));
        check(3.0, 8e6, Some(2), None);
        check(3.0, 8e6, Some(12), None);
        check(3.0, 8e6, None, Some(SOME_PENALTY_UNSEEN));
        check(60.0, 8e6, None, Some(LARGE_PENALTY_UNSEEN));
        check(1.0, 8e6, None, Some(NO_PENALTY));
        // 640 ms for each sequential write.
        check(1.0, 0.1e6, Some(4), None);
    }
}
