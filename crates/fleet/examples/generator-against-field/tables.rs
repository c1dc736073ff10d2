//! What the tables of one device look like, by rules that see nothing but a log.

use flashscope_model::observation::{AlignData, AlignEvidence, OpenUnitsData, RateEvidence};
use flashscope_model::{Data, Order};
use flashscope_stats::location::{median, relative_deviation};
use flashscope_units::Bytes;
use std::collections::BTreeMap;

/// Only tables that end here are comparable: those of blocks of 1 KiB, as all but one log has them.
pub(crate) const LEAST_ALIGN: Bytes = Bytes::kib(2);
/// A page's step is looked for up to here, a unit's above.
const MOST_PAGE: Bytes = Bytes::kib(128);
const MOST_UNIT: Bytes = Bytes::mib(128);
/// Block sizes at which the number of units is read: larger ones close a unit by themselves, smaller ones may go elsewhere.
const MIDDLE_BLOCKS: [Bytes; 2] = [Bytes::kib(16), Bytes::kib(256)];
/// The logs stop at so many units.
pub(crate) const MOST_UNITS: u32 = 7;

/// The figures of a log, ready to be looked at.
#[derive(Default)]
pub(crate) struct Tables {
    /// `pre`, `on`, `post` in ns at each alignment, one value for each time that the table was printed.
    align: BTreeMap<Bytes, [Vec<f64>; 3]>,
    /// Bytes a second by number of units and block size.
    in_order: Rates,
    random: Rates,
}

type Rates = BTreeMap<(u32, Bytes), f64>;

/// Levels of `diff` in µs.
struct Steps {
    unit: Bytes,
    page: Bytes,
    above: f64,
    between: f64,
    below: f64,
    /// `diff` at half a page and at the smallest alignment.
    inside: Option<(f64, f64)>,
    /// The row from the unit up that is farthest from its level.
    farthest: f64,
}

/// Name, and how it is read off the tables.
pub(crate) type Quantity = (&'static str, fn(&Tables) -> Option<f64>);

/// All that is compared.
pub(crate) const QUANTITIES: &[Quantity] = &[
    ("largest step of `diff` from 256 KiB up: where, MiB", |t| Some(t.steps()?.unit.as_f64() / 1_048_576.0)),
    ("… how high, µs", |t| t.steps().map(|s| s.above - s.between)),
    ("… share of `diff` above it, %", |t| t.steps().map(|s| (s.above - s.between) / s.above * 100.0)),
    ("farthest row above it, % off its level", |t| t.steps().map(|s| s.farthest / s.above * 100.0)),
    ("largest step up to 128 KiB: where, KiB", |t| Some(t.steps()?.page.as_f64() / 1024.0)),
    ("… how high, µs", |t| t.steps().map(|s| s.between - s.below)),
    ("… share of `diff` above it, %", |t| t.steps().map(|s| (s.between - s.below) / s.between * 100.0)),
    ("rise inside it (inner page), % of `diff` above it", |t| {
        let steps = t.steps()?;
        steps.inside.map(|(half, least)| (half - least) / steps.between * 100.0)
    }),
    ("`pre` at 2 KiB (floor of a 1 KiB read), µs", |t| t.column(LEAST_ALIGN, 0)),
    ("`post` over `pre`, median of rows, %", |t| {
        let rows = t.align.keys().filter_map(|align| Some(t.column(*align, 2)? / t.column(*align, 0)? * 100.0 - 100.0));
        median(&rows.collect::<Vec<f64>>())
    }),
    ("scatter of repeated figures, median, %", |t| {
        let all: Vec<f64> = t.align.values().flatten().filter_map(|repeats| relative_deviation(repeats)).collect();
        Some(median(&all)? * 100.0)
    }),
    ("open-au in order: units before the rate halves, 7 or more as 7", |t| units_before_halving(&t.in_order)),
    ("… largest fall of the rate from one count to the next, factor", |t| largest_fall(&t.in_order)),
    ("… rate of one unit over that of seven, factor", |t| fall(&t.in_order, 1, MOST_UNITS)),
    ("open-au random: units before the rate halves, 7 or more as 7", |t| units_before_halving(&t.random)),
    ("… largest fall of the rate from one count to the next, factor", |t| largest_fall(&t.random)),
    ("… rate of one unit over that of seven, factor", |t| fall(&t.random, 1, MOST_UNITS)),
    ("one unit, 16 KiB: rate in order over rate at random, factor", |t| {
        let key = (1, Bytes::kib(16));
        Some(t.in_order.get(&key)? / t.random.get(&key)?)
    }),
    ("one unit, sequential, 4 MiB blocks, MB/s", |t| t.rate(Bytes::mib(4))),
    ("one unit, sequential, 64 KiB blocks, MB/s", |t| t.rate(Bytes::kib(64))),
    ("one unit, sequential, 16 KiB blocks, MB/s", |t| t.rate(Bytes::kib(16))),
    ("one unit, sequential, 4 KiB blocks, MB/s", |t| t.rate(Bytes::kib(4))),
];

impl Tables {
    /// Reads a log, published or printed by ourselves.
    pub(crate) fn of_log(log: &[u8]) -> Tables {
        let mut tables = Tables::default();
        for run in &flashscope_transcript::parse_bytes(log).observations.runs {
            match &run.data {
                Data::Align(table) => tables.add_align(table),
                Data::OpenUnits(table) => tables.add_open_units(table),
                _ => {}
            }
        }
        tables
    }

    fn add_align(&mut self, table: &AlignData) {
        if table.rows.iter().map(|row| row.align).min() != Some(LEAST_ALIGN) {
            return;
        }
        for row in &table.rows {
            if let AlignEvidence::Printed { pre: Some(pre), on: Some(on), post: Some(post), .. } = &row.evidence {
                let columns = self.align.entry(row.align).or_default();
                for (column, figure) in columns.iter_mut().zip([pre, on, post]) {
                    column.push(figure.value.0);
                }
            }
        }
    }

    fn add_open_units(&mut self, table: &OpenUnitsData) {
        let Some(count) = table.count else { return };
        let rates = if table.order == Order::InOrder { &mut self.in_order } else { &mut self.random };
        for row in &table.rows {
            if let RateEvidence::Printed(rate) = &row.rate {
                rates.entry((count, row.block)).or_insert(rate.value.get());
            }
        }
    }

    /// Median over the repeats, in µs.
    fn column(&self, align: Bytes, column: usize) -> Option<f64> {
        Some(median(&self.align.get(&align)?[column])? / 1000.0)
    }

    fn rate(&self, block: Bytes) -> Option<f64> {
        self.in_order.get(&(1, block)).map(|rate| rate / 1e6)
    }

    fn steps(&self) -> Option<Steps> {
        let diff = |align| {
            let [pre, on, post] = [0, 1, 2].map(|column| self.column(align, column));
            Some((align, on? - (pre? + post?) / 2.0))
        };
        let diffs: Vec<(Bytes, f64)> = self.align.keys().filter_map(|align| diff(*align)).collect();
        let page = largest_step(&diffs, LEAST_ALIGN, MOST_PAGE)?;
        let unit = largest_step(&diffs, MOST_PAGE * 2, MOST_UNIT)?;
        let of = |from: usize, to: usize| diffs[from..to].iter().map(|row| row.1).collect::<Vec<f64>>();
        let above = median(&of(unit, diffs.len()))?;
        let farthest = of(unit, diffs.len()).iter().map(|diff| (diff - above).abs()).fold(0.0, f64::max);
        Some(Steps {
            unit: diffs[unit].0,
            page: diffs[page].0,
            above,
            between: median(&of(page, unit))?,
            below: median(&of(0, page))?,
            inside: (page > 1).then(|| (diffs[page - 1].1, diffs[0].1)),
            farthest,
        })
    }
}

/// The row at which `diff` rises most against the next smaller alignment.
fn largest_step(diffs: &[(Bytes, f64)], least: Bytes, most: Bytes) -> Option<usize> {
    let within = (1..diffs.len()).filter(|i| (least..=most).contains(&diffs[*i].0));
    within.max_by(|a, b| (diffs[*a].1 - diffs[a - 1].1).total_cmp(&(diffs[*b].1 - diffs[b - 1].1)))
}

/// How much faster `few` units are than `many`, by the median of the middle block sizes.
fn fall(rates: &Rates, few: u32, many: u32) -> Option<f64> {
    let blocks = rates.keys().filter(|(count, block)| *count == few && in_the_middle(*block)).map(|(_, block)| *block);
    let ratios = blocks.filter_map(|block| Some(rates[&(few, block)] / rates.get(&(many, block))?));
    median(&ratios.collect::<Vec<f64>>())
}

fn in_the_middle(block: Bytes) -> bool {
    (MIDDLE_BLOCKS[0]..=MIDDLE_BLOCKS[1]).contains(&block)
}

fn falls(rates: &Rates) -> Option<Vec<f64>> {
    (1..MOST_UNITS).map(|count| fall(rates, count, count + 1)).collect()
}

fn units_before_halving(rates: &Rates) -> Option<f64> {
    let falls = falls(rates)?;
    Some(falls.iter().position(|fall| *fall > 2.0).map_or(f64::from(MOST_UNITS), |before| (before + 1) as f64))
}

fn largest_fall(rates: &Rates) -> Option<f64> {
    falls(rates)?.into_iter().max_by(f64::total_cmp)
}
