//! Tables of throughput as real cards print them, drawn at random with a known limit: hard and soft cliffs, declines
//! without one, a single stream's privilege, spoiled rows, first rows that lie, missing rows and tables, rounding.

use super::{printed_rate, run};
use flashscope_model::observation::*;
use flashscope_model::{Data, Order};
use flashscope_stats::Rng;
use flashscope_units::Bytes;

/// The inside of a card that is written as a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Behaviour {
    /// Every write beyond this many units costs a copy: the rate goes with the block size.
    Collapse(u32),
    /// From this many units on, the rate of all rows falls by a factor.
    Loss(u32, f64),
    /// The same in a few neighbouring rows only.
    LossInRows(u32, f64),
    /// No limit: the rate goes down with a power of the count.
    Decline(f64),
    /// No limit at all.
    Flat,
}

impl Behaviour {
    /// The largest good count, where there is one.
    pub(crate) fn limit(self) -> Option<u32> {
        match self {
            Self::Collapse(limit) | Self::Loss(limit, _) | Self::LossInRows(limit, _) => Some(limit),
            Self::Decline(_) | Self::Flat => None,
        }
    }
}

/// One drawn case.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) behaviour: Behaviour,
    pub(crate) counts: Vec<u32>,
    pub(crate) observations: Observations,
}

const UNIT: Bytes = Bytes::mib(4);

/// A case from a seed.
pub(crate) fn case(seed: u64) -> Case {
    let mut rng = Rng::new(seed);
    let counts = counts(&mut rng);
    let limit = 1 + rng.below(*counts.last().unwrap() as usize) as u32;
    let behaviour = match rng.below(8) {
        0..=2 => Behaviour::Collapse(limit),
        3 => Behaviour::Loss(limit.max(2), 0.3 + 0.3 * rng.unit()),
        4 => Behaviour::LossInRows(limit.max(2), 0.35 + 0.23 * rng.unit()),
        5 | 6 => Behaviour::Decline(0.5 * rng.unit()),
        _ => Behaviour::Flat,
    };
    let observations = tables(behaviour, &counts, &mut rng);
    Case { behaviour, counts, observations }
}

fn counts(rng: &mut Rng) -> Vec<u32> {
    match rng.below(10) {
        0 => vec![1, 2, 8, 9],
        1 => vec![1, 2, 4, 8],
        2 => vec![1, 2, 3],
        3 => (1..=10).collect(),
        4 => (2..=6).collect(),
        _ => (1..=7).collect(),
    }
}

/// The tables of one order, one for each count.
pub(crate) fn tables(behaviour: Behaviour, counts: &[u32], rng: &mut Rng) -> Observations {
    let noise = 0.01 + 0.04 * rng.unit();
    let speed = 4e6 * (1.0 + 6.0 * rng.unit());
    let overhead = 0.5e-3 + 4e-3 * rng.unit();
    // Blocks below the page pay for all of it.
    let page = [Bytes::kib(4), Bytes::kib(8), Bytes::kib(16)][rng.below(3)];
    let copy = 0.05 + 0.5 * rng.unit();
    let privilege = if rng.below(2) == 0 { 1.0 + 4.0 * rng.unit() } else { 1.0 };
    let rows: Vec<Bytes> = (0..11).map(|halvings| UNIT / (1 << halvings)).collect();
    let first_row = 2 + rng.below(4);
    let middle = first_row..first_row + 3 + rng.below(3);
    // A table is missing now and then.
    let kept: Vec<u32> = counts.iter().copied().filter(|_| rng.unit() > 0.02).collect();
    let runs = kept
        .iter()
        .map(|count| {
            let mut data = Vec::new();
            for (index, block) in rows.iter().enumerate() {
                if rng.unit() < 0.01 {
                    continue;
                }
                let mut seconds = overhead + block.as_f64().max(page.as_f64()) / speed;
                if *count == 1 && *block < Bytes::kib(64) {
                    seconds /= privilege;
                }
                let mut rate = block.as_f64() / seconds;
                if *block < UNIT {
                    rate *= factor(behaviour, *count, middle.contains(&index), block.as_f64() / rate, copy);
                }
                rate *= spoil(index, noise, rng);
                data.push(OpenUnitsRow { block: *block, rate: print(rate) });
            }
            run(Data::OpenUnits(OpenUnitsData {
                order: Order::InOrder,
                count: Some(*count),
                unit: None,
                units: Vec::new(),
                rows: data,
            }))
        })
        .collect();
    Observations { capacity: None, runs, ..Observations::default() }
}

fn factor(behaviour: Behaviour, count: u32, in_rows: bool, seconds: f64, copy: f64) -> f64 {
    let beyond = |limit: u32| count > limit;
    match behaviour {
        Behaviour::Collapse(limit) if beyond(limit) => seconds / (seconds + copy),
        Behaviour::Loss(limit, factor) if beyond(limit) => factor * (f64::from(limit + 1) / f64::from(count)).powf(0.5),
        Behaviour::LossInRows(limit, factor) if beyond(limit) && in_rows => factor,
        Behaviour::Decline(power) => f64::from(count).powf(-power),
        _ => 1.0,
    }
}

/// Noise, now and then a collection within a row, and first rows that lie.
fn spoil(row: usize, noise: f64, rng: &mut Rng) -> f64 {
    let normal: f64 = (0..12).map(|_| rng.unit()).sum::<f64>() - 6.0;
    let mut factor = (noise * normal).exp();
    if row < 2 && rng.unit() < 0.4 {
        factor *= 0.3 + 0.9 * rng.unit();
    }
    if rng.unit() < 0.03 {
        factor *= 0.4 + 0.5 * rng.unit();
    }
    factor
}

/// Three digits, as flashbench prints them.
fn print(rate: f64) -> RateEvidence {
    let scale = 10f64.powf(rate.log10().floor() - 2.0);
    printed_rate((rate / scale).round() * scale, scale)
}

/// An area at the start of a synthetic card: its units, the logarithm of its factor for blocks above 4 KiB and below.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Area {
    pub(crate) first: usize,
    pub(crate) end: usize,
    pub(crate) large: f64,
    pub(crate) small: f64,
}

/// Tables of the first units in some runs, with an area (or none) and units that differ between runs by their state.
pub(crate) fn fat_tables(seed: u64) -> (Option<Area>, Observations) {
    let mut rng = Rng::new(seed ^ 0xfa7);
    let area = (rng.below(2) == 0).then(|| {
        let first = rng.below(2);
        let size = 0.55 + 0.9 * rng.unit();
        let large = if rng.below(2) == 0 { size } else { -size };
        let small = if rng.below(4) == 0 { -large } else { large * rng.unit() };
        Area { first, end: first + 1 + rng.below(2), large, small }
    });
    let noise = 0.005 + 0.03 * rng.unit();
    let runs = (0..1 + rng.below(3))
        .map(|_| {
            let stray = rng.below(8);
            let stray_by = if rng.below(3) == 0 { 0.35 * rng.unit() } else { 0.0 };
            let rows = (0..13)
                .map(|halvings| {
                    let block = UNIT / (1 << halvings);
                    let units = (0..8)
                        .map(|unit| {
                            let within = area.filter(|area| (area.first..area.end).contains(&unit));
                            let part = |area: Area| if block > Bytes::kib(4) { area.large } else { area.small };
                            let mut shift = within.map_or(0.0, part);
                            if unit == stray {
                                shift += stray_by;
                            }
                            let base = block.as_f64() / (1.5e-3 + block.as_f64() / 12e6);
                            print(base * shift.exp() * spoil(halvings, noise, &mut rng))
                        })
                        .collect();
                    FatRow { block, units }
                })
                .collect();
            run(Data::Fat(FatData { order: None, unit: None, offset: None, rows }))
        })
        .collect();
    (area, Observations { capacity: None, runs, ..Observations::default() })
}
