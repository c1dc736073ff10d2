//! What tables of writes are worth, given the allocation unit: their operator assumed one.
//!
//! flashbench's write tests go over regions of the assumed unit, side by side from 16 MiB on (`-O`) or from the start
//! of the device (`-f`). They count the device's units only where every region is whole units of it: the real unit must
//! divide the assumed one and the place where the regions begin. A stream through a region that is not begins amid a
//! unit and shares its last one with the next stream, so that copies are made at other counts than with whole units.
//!
//! Each is a doubt beside what the table itself says; what it costs is counted on logs of simulated devices
//! (docs/calibration.md).

use crate::alignment;
use crate::assumed::{unit_of_counts, unit_of_first};
use crate::open_units::is_table;
use flashscope_model::finding::{AreaKind, Doubt, FastArea, Penalty};
use flashscope_model::{Data, Estimate, ExperimentName, Observations, Order, Reason};
use flashscope_units::{Bytes, Nanos};
use std::ops::RangeInclusive;

/// Where flashbench's tests of several units begin unless told otherwise.
const FIRST_REGION: Bytes = Bytes::mib(16);

/// A unit that is less sure is not known, and cannot speak against a table.
pub(crate) const KNOWN: f64 = 0.8;

/// Counts below this are small: regions amid units make them collapse.
const FEW: u32 = 8;

/// Ratio from which on a penalty is large: more than the copies that streams amid units cost.
const LARGE_PENALTY: f64 = 20.0;

/// Sequential writes that take as long as this are copied for, so that order cannot cost more.
const A_COPY: Nanos = Nanos::millis(40);

/// What a glance at tables of reads takes for a unit.
const SEEN_AS_UNITS: RangeInclusive<Bytes> = Bytes::kib(256)..=Bytes::mib(128);

/// How the regions of tables lie to the allocation unit.
enum Regions {
    /// They are whole units.
    Whole,
    /// They are whole parts of what may be the unit.
    Parts,
    /// They are as long as units are, but begin amid one.
    Shifted,
    /// The unit is not known.
    Unknown(Doubt),
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
    if let Err(why) = doubt(&mut found, against(observations, Some(assumed), unit)) {
        return Estimate::unknown(Reason::Contradicted, format!("{}, but {why}", found.evidence()));
    }
    // Regions amid units make small counts.
    let unknown = [Doubt::UnitUnknown, Doubt::UnitUnread, Doubt::UnitByEye].iter().any(|doubt| found.has_doubt(*doubt));
    if unknown && order == Order::InOrder && found.value().is_some_and(|count| count < FEW) {
        found.doubt(Doubt::FewUnits);
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
        return found;
    }
    let assumed = counted(observations, Order::Random);
    let regions = against(observations, assumed, unit);
    let known = matches!(regions, Regions::Whole);
    if let Some((assumed, _)) = assumed
        && known
        && unit.value().is_some_and(|unit| unit < assumed)
    {
        return Estimate::unknown(
            Reason::Contradicted,
            format!("{}, but {assumed} are several units", found.evidence()),
        );
    }
    if let Err(why) = doubt(&mut found, regions) {
        return Estimate::unknown(Reason::Contradicted, format!("{}, but {why}", found.evidence()));
    }
    // Streams through regions that are no units cost a few copies in any order, and many times as much as these only where
    // each write out of order costs one.
    if !known && penalty.ratio < LARGE_PENALTY {
        found.doubt(Doubt::Slight);
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
    let assumed = observations.runs.iter().find_map(|run| match &run.data {
        Data::Fat(data) => Some((unit_of_first(observations, data)?.size, data.offset.unwrap_or(Bytes::ZERO))),
        _ => None,
    });
    if kind == AreaKind::None {
        // In order it shows none that is only mapped otherwise, nor one as long as the table.
        if unit.is_sure(KNOWN) {
            return found;
        }
        return found.but(unknown(observations, assumed.map(|(assumed, _)| assumed), unit));
    }
    if let Err(why) = doubt(&mut found, against(observations, assumed, unit)) {
        return Estimate::unknown(Reason::Contradicted, format!("{}, but {why}", found.evidence()));
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

/// Adds what regions that lie so make doubtful.
///
/// # Errors
/// Why there is no answer then.
fn doubt<T>(found: &mut Estimate<T>, regions: Regions) -> Result<(), String> {
    match regions {
        Regions::Whole => {}
        Regions::Parts => found.doubt(Doubt::UnitBounded),
        Regions::Shifted => found.doubt(Doubt::RegionsShifted),
        Regions::Unknown(doubt) => found.doubt(doubt),
        Regions::Broken(why) => return Err(why),
    }
    Ok(())
}

/// What makes regions of an assumed unit doubtful where the unit is not known: there were no reads that might tell, or who
/// wrote took for it what a glance at them shows, or he knew it from elsewhere.
fn unknown(observations: &Observations, assumed: Option<Bytes>, unit: &Estimate<Bytes>) -> Doubt {
    if unit.reason() == Some(Reason::NotMeasured) {
        return Doubt::UnitUnread;
    }
    let seen = alignment::largest_rise(observations, &SEEN_AS_UNITS);
    if seen.is_some() && seen == assumed { Doubt::UnitByEye } else { Doubt::UnitUnknown }
}

/// How regions of an assumed unit lie, of which the first begins there, if any did.
fn against(observations: &Observations, assumed: Option<(Bytes, Bytes)>, unit: &Estimate<Bytes>) -> Regions {
    let Some((assumed, begin)) = assumed else { return Regions::Unknown(unknown(observations, None, unit)) };
    let Some(size) = unit.value().or(unit.least()).filter(|_| unit.is_sure(KNOWN)) else {
        // Whatever the unit is: where regions do not begin at a multiple of their size, they begin amid units as long as they.
        let shifted = !begin.is_multiple_of(assumed);
        return if shifted { Regions::Shifted } else { Regions::Unknown(unknown(observations, Some(assumed), unit)) };
    };
    if !assumed.is_multiple_of(size) {
        return Regions::Broken(format!("it went over regions of {assumed}, which are not whole units of {size}"));
    }
    // Of the sizes that are left open the assumed one is the likeliest.
    let (aligned, open) = (unit.value().unwrap_or(assumed), unit.value().is_none());
    match (begin.is_multiple_of(aligned), open) {
        (true, false) => Regions::Whole,
        (true, true) => Regions::Parts,
        (false, _) => Regions::Shifted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_model::Direction;
    use flashscope_model::observation::{
        AlignData, AlignEvidence, AlignRow, AreaState, OpenUnitsData, OpenUnitsRow, Printed, RateEvidence, Run, Source,
        Spent, Statistic,
    };
    use flashscope_units::{ByteRate, Contrast};

    fn unit(value: Option<Bytes>, at_least: Option<Bytes>) -> Estimate<Bytes> {
        match (value, at_least) {
            (Some(size), _) => Estimate::known(size, 0.98, "reads", &[ExperimentName::Align]),
            (_, Some(size)) => Estimate::at_least(size, 0.98, "reads", &[ExperimentName::Align]),
            _ => Estimate::unknown(Reason::NotMeasured, "nothing was read"),
        }
    }

    #[test]
    fn regions_must_be_whole_units() {
        let mib = Bytes::mib;
        let check = |assumed, value, least, expect: Option<&[Doubt]>| {
            let mut found = Estimate::known(4, 0.9, "rows", &[ExperimentName::OpenAu]);
            let regions = against(&Observations::default(), Some((assumed, FIRST_REGION)), &unit(value, least));
            let doubted = doubt(&mut found, regions);
            let doubts = doubted.ok().and_then(|()| found.support().map(|support| support.doubts.clone()));
            assert_eq!(doubts.as_deref(), expect, "{assumed} {value:?} {least:?}");
        };
        check(mib(4), Some(mib(4)), None, Some(&[]));
        // Two units each.
        check(mib(8), Some(mib(4)), None, Some(&[]));
        // Halves of units.
        check(mib(4), Some(mib(8)), None, None);
        check(mib(8), Some(mib(24)), None, None);
        // 16 MiB lies amid a unit.
        check(mib(24), Some(mib(24)), None, Some(&[Doubt::RegionsShifted]));
        check(mib(32), Some(mib(64)), None, None);
        // 8 MiB or 24 MiB.
        check(mib(8), None, Some(mib(8)), Some(&[Doubt::UnitBounded]));
        check(mib(4), None, Some(mib(8)), None);
        check(mib(24), None, Some(mib(8)), Some(&[Doubt::RegionsShifted]));
        check(mib(4), None, None, Some(&[Doubt::UnitUnread]));
        check(mib(24), None, None, Some(&[Doubt::RegionsShifted]));
    }

    #[test]
    fn a_unit_that_a_glance_at_reads_shows_may_be_made_by_chance() {
        let row = |align: Bytes, micros: f64| {
            let value = Contrast(micros * 1e3);
            let diff = Printed {
                value,
                quantum: Contrast(1e3),
                statistic: Statistic::MeanOfMinima,
                places: None,
                tries: None,
            };
            AlignRow { align, evidence: AlignEvidence::Printed { pre: None, on: None, post: None, diff: Some(diff) } }
        };
        let rises = [(64, 900.0), (1024, 20.0), (2048, 50.0), (4096, 10.0), (8192, 30.0)];
        let rows = rises.map(|(kib, micros)| row(Bytes::kib(kib), micros)).to_vec();
        let table = AlignData { direction: Direction::Read, block: Some(Bytes::kib(4)), access: 1, rows };
        let observations = Observations { runs: vec![log(Data::Align(table))], ..Observations::default() };
        let unread = unit(None, None);
        let unclear = Estimate::unknown(Reason::NothingShows, "no step stands out");
        assert_eq!(unknown(&observations, Some(Bytes::mib(2)), &unclear), Doubt::UnitByEye);
        assert_eq!(unknown(&observations, Some(Bytes::mib(8)), &unclear), Doubt::UnitUnknown);
        assert_eq!(unknown(&Observations::default(), None, &unclear), Doubt::UnitUnknown);
        assert_eq!(unknown(&Observations::default(), Some(Bytes::mib(2)), &unread), Doubt::UnitUnread);
    }

    fn log(data: Data) -> Run {
        Run {
            source: Source::Log { first_line: 1, last_line: 9 },
            state: AreaState::Unknown,
            complete: true,
            spent: Spent::default(),
            failures: Vec::new(),
            data,
        }
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
        let run = |order| {
            log(Data::OpenUnits(OpenUnitsData {
                order,
                count: Some(1),
                unit: Some(Bytes::mib(4)),
                units: Vec::new(),
                rows: (0..8).map(row).collect(),
            }))
        };
        let observations = Observations {
            capacity: None,
            runs: [Order::InOrder, Order::Random].map(run).to_vec(),
            ..Observations::default()
        };
        let check = |ratio: f64, in_order: f64, size: Option<u64>, expect: Option<&[Doubt]>| {
            let block = Bytes::kib(64);
            let penalty = Penalty { ratio, block, in_order: ByteRate(in_order), random: ByteRate(in_order / ratio) };
            let found = Estimate::known(penalty, 1.0, "rows", &[ExperimentName::OpenAu]);
            let found = super::penalty(found, &observations, &unit(size.map(Bytes::mib), None));
            assert_eq!(found.support().map(|support| support.doubts.as_slice()), expect, "{ratio} {size:?}");
        };
        check(3.0, 8e6, Some(4), Some(&[]));
        check(3.0, 8e6, Some(2), None);
        check(3.0, 8e6, Some(12), None);
        check(3.0, 8e6, None, Some(&[Doubt::UnitUnread, Doubt::Slight]));
        check(60.0, 8e6, None, Some(&[Doubt::UnitUnread]));
        check(1.0, 8e6, None, Some(&[]));
        // 640 ms for each sequential write.
        check(1.0, 0.1e6, Some(4), None);
    }
}
