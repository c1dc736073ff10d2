//! Rates: of several units written in turn, and of the first units of a device.

use flashscope_model::observation::{FastAreaData, FatData, OpenUnitsData, RateEvidence, UnitTimes};
use flashscope_model::{Data, Direction, Order, Run};
use flashscope_stats::location;
use flashscope_units::{ByteRate, Bytes, Nanos};

/// A rate and how it varied.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// All bytes over all the time: what a long transfer sees, stalls included.
    pub mean: ByteRate,
    /// The middle part: what the structure allows, whatever was tidied up at the start. The mean where there are
    /// no parts.
    pub median: ByteRate,
    /// The slowest and the fastest part, where there are parts.
    pub range: Option<(ByteRate, ByteRate)>,
}

/// Rate against number of units, in one order.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenUnitsView {
    /// Order of the offsets within each unit.
    pub order: Order,
    /// One curve per block size, largest first.
    pub curves: Vec<OpenUnitsCurve>,
}

/// One curve of [`OpenUnitsView`].
#[derive(Clone, Debug, PartialEq)]
pub struct OpenUnitsCurve {
    /// Block size.
    pub block: Bytes,
    /// Number of units, and the rate; several of one number where it was repeated.
    pub points: Vec<(u32, Rate)>,
    /// Number of units, and the middle rate of its repeats.
    pub course: Vec<(u32, ByteRate)>,
}

/// The first units against controls; the rate's range holds eight of ten requests.
#[derive(Clone, Debug, PartialEq)]
pub struct FastAreaView {
    /// Assumed unit.
    pub unit: Bytes,
    /// Reads or writes.
    pub direction: Direction,
    /// Order within each unit.
    pub order: Order,
    /// Block size.
    pub block: Bytes,
    /// The units at the start, in ascending order.
    pub suspects: Vec<UnitRate>,
    /// The units from elsewhere, in ascending order.
    pub controls: Vec<UnitRate>,
}

/// The rate within one unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UnitRate {
    /// Where it starts.
    pub at: Bytes,
    /// How many whole units lie before it.
    pub number: u64,
    /// Its rate.
    pub rate: Rate,
}

/// Rates of the first units by block size.
#[derive(Clone, Debug, PartialEq)]
pub struct FatView {
    /// Order of the offsets within a unit, where known.
    pub order: Option<Order>,
    /// The unit: the assumed one, or the largest block where a log does not tell.
    pub unit: Bytes,
    /// Block size, and the rate of each unit; `None` where a unit has none.
    pub rows: Vec<(Bytes, Vec<Option<ByteRate>>)>,
}

/// The curves of all open-units runs, in order first.
pub fn open_units(runs: &[Run]) -> Vec<OpenUnitsView> {
    let of_order = |order| {
        let mut curves: Vec<OpenUnitsCurve> = Vec::new();
        for data in runs.iter().filter_map(open_units_data).filter(|data| data.order == order) {
            add_points(data, &mut curves);
        }
        curves.sort_by_key(|curve| std::cmp::Reverse(curve.block));
        for curve in &mut curves {
            curve.points.sort_by_key(|(count, _)| *count);
            curve.course = course(&curve.points);
        }
        (!curves.is_empty()).then_some(OpenUnitsView { order, curves })
    };
    [Order::InOrder, Order::Random].into_iter().filter_map(of_order).collect()
}

/// The view of a `fast-area` run; `None` where nothing was measured.
pub fn fast_area(data: &FastAreaData) -> Option<FastAreaView> {
    let unit = |unit: &UnitTimes| {
        let number = if data.unit > Bytes::ZERO { unit.at / data.unit } else { 0 };
        Some(UnitRate { at: unit.at, number, rate: of_requests(data.block, &unit.times)? })
    };
    let mut suspects: Vec<_> = data.suspects.iter().filter_map(unit).collect();
    let mut controls: Vec<_> = data.controls.iter().filter_map(unit).collect();
    suspects.sort_by_key(|unit| unit.at);
    controls.sort_by_key(|unit| unit.at);
    let anything = !suspects.is_empty() || !controls.is_empty();
    let FastAreaData { unit, direction, order, block, .. } = *data;
    anything.then_some(FastAreaView { unit, direction, order, block, suspects, controls })
}

/// The view of a `fat` run; `None` where nothing was measured.
pub fn fat(data: &FatData) -> Option<FatView> {
    let rows: Vec<(Bytes, Vec<Option<ByteRate>>)> = data
        .rows
        .iter()
        .map(|row| (row.block, row.units.iter().map(|unit| of_evidence(row.block, unit)).collect()))
        .collect();
    let largest = rows.iter().map(|(block, _)| *block).max()?;
    Some(FatView { order: data.order, unit: data.unit.unwrap_or(largest), rows })
}

/// The mean rate of samples of one block each, or the printed rate.
pub fn of_evidence(block: Bytes, evidence: &RateEvidence) -> Option<ByteRate> {
    match evidence {
        RateEvidence::Times(times) => mean(block, times),
        RateEvidence::Printed(printed) => Some(printed.value),
    }
}

/// The rate of rounds of `per_round` writes each; its parts are the rounds.
pub fn of_rounds(block: Bytes, per_round: u32, evidence: &RateEvidence) -> Option<Rate> {
    let mean = of_evidence(block, evidence)?;
    let RateEvidence::Times(times) = evidence else {
        return Some(Rate { mean, median: mean, range: None });
    };
    let rounds = times.chunks_exact(per_round.max(1) as usize).filter_map(|round| self::mean(block, round));
    let rounds: Vec<f64> = rounds.map(ByteRate::get).collect();
    let at = |p| location::quantile(&rounds, p).map(ByteRate);
    let range = (rounds.len() > 1).then(|| Some((at(0.0)?, at(1.0)?))).flatten();
    Some(Rate { mean, median: at(0.5).unwrap_or(mean), range })
}

/// The rate of requests; its parts are the requests, less the slowest and the fastest tenth.
fn of_requests(block: Bytes, times: &[Nanos]) -> Option<Rate> {
    let ns: Vec<f64> = times.iter().map(|time| time.as_f64()).collect();
    let at = |p| {
        let time = location::quantile(&ns, p).filter(|ns| *ns > 0.0)?;
        Some(ByteRate(block.as_f64() / time * 1e9))
    };
    let mean = mean(block, times)?;
    let range = (times.len() > 1).then(|| Some((at(0.9)?, at(0.1)?))).flatten();
    Some(Rate { mean, median: at(0.5).unwrap_or(mean), range })
}

/// The middle rate of each number of units.
fn course(points: &[(u32, Rate)]) -> Vec<(u32, ByteRate)> {
    let same = |a: &(u32, Rate), b: &(u32, Rate)| a.0 == b.0;
    let middle = |repeats: &[(u32, Rate)]| {
        let rates: Vec<f64> = repeats.iter().map(|(_, rate)| rate.median.get()).collect();
        Some((repeats.first()?.0, ByteRate(location::median(&rates)?)))
    };
    points.chunk_by(same).filter_map(middle).collect()
}

fn mean(block: Bytes, times: &[Nanos]) -> Option<ByteRate> {
    ByteRate::of(block * times.len() as u64, times.iter().copied().sum())
}

fn open_units_data(run: &Run) -> Option<&OpenUnitsData> {
    match &run.data {
        Data::OpenUnits(data) => Some(data),
        _ => None,
    }
}

fn add_points(data: &OpenUnitsData, curves: &mut Vec<OpenUnitsCurve>) {
    let Some(count) = data.count else { return };
    for row in &data.rows {
        let Some(rate) = of_rounds(row.block, count, &row.rate) else { continue };
        match curves.iter_mut().find(|curve| curve.block == row.block) {
            Some(curve) => curve.points.push((count, rate)),
            None => curves.push(OpenUnitsCurve { block: row.block, points: vec![(count, rate)], course: Vec::new() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_give_mean_and_range() {
        let times = [1, 3, 2, 2, 4, 4].map(Nanos::secs).to_vec();
        let rate = of_rounds(Bytes(8), 2, &RateEvidence::Times(times)).unwrap();
        assert_eq!((rate.mean, rate.median), (ByteRate(3.0), ByteRate(4.0)));
        assert_eq!(rate.range, Some((ByteRate(2.0), ByteRate(4.0))));
        assert_eq!(of_rounds(Bytes(8), 2, &RateEvidence::Times(Vec::new())), None);
    }

    #[test]
    fn one_round_has_no_range() {
        let rate = of_rounds(Bytes(8), 2, &RateEvidence::Times(vec![Nanos::secs(1); 2])).unwrap();
        assert_eq!(rate, Rate { mean: ByteRate(8.0), median: ByteRate(8.0), range: None });
    }
}
