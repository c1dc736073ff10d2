//! The limit from rows of throughput: one figure for each count and block size, as flashbench `-O` prints them.
//!
//! Absolute speed says nothing (small blocks are slow anyway), nor does one figure (a single collection spoils a
//! row, and the first rows after an erase lie): what counts is a fall against smaller counts *row by row*, in several
//! neighbouring rows at once, that stays with all larger counts.

use super::{COLLAPSE, Limit, SMALLEST_FALL, WhyNot, is_table, runs, words};
use crate::assumed::{Known, TableUnit, unit_of_counts};
use crate::numbers::{digits, ln_rate, median};
use flashscope_model::finding::Doubt;
use flashscope_model::{Observations, Order, Reason};
use flashscope_stats::location::MAD_NORMAL_FACTOR;
use flashscope_units::Bytes;
use std::collections::{BTreeMap, BTreeSet};

/// A rate that goes down with this power of the count, or a lower one, declines and does not fall.
const STEEPEST_DECLINE: f64 = 1.1;

/// Blocks of these sizes are where limits show: larger ones write most of a unit at once, smaller ones are slow anyway.
const TELLING: std::ops::RangeInclusive<Bytes> = Bytes::kib(16)..=Bytes::kib(256);

/// A whole table has five of these; of fewer than half of them a table lacks what would show a limit.
const HALF_OF_TELLING: usize = 3;

/// Repeats of one test that differ by more than this factor are not of one card in one state.
const CONTRADICTION: f64 = 3.0;

/// Logarithms of the rates by count and block size, repeats kept apart.
type Cells = BTreeMap<u32, BTreeMap<Bytes, Vec<f64>>>;

/// The limit that the tables of one order show; `Err(None)` where there are no tables.
pub(super) fn limit(observations: &Observations, order: Order) -> Result<Limit, Option<WhyNot>> {
    let tables = gather(observations, order);
    let mut answers: Vec<Result<Limit, WhyNot>> = tables.iter().map(|(unit, cells)| read(*unit, cells)).collect();
    if answers.is_empty() {
        return Err(None);
    }
    // The same card asked with another assumed unit: the answer that is surest counts.
    answers.sort_by(|a, b| sureness(b).total_cmp(&sureness(a)));
    let several = answers.len() > 1;
    match answers.swap_remove(0) {
        Err((reason, why)) => Err(Some((reason, format!("{why} ({})", words(order))))),
        Ok(mut first) => {
            if several && answers.iter().flatten().any(|other| contradict(&first, other)) {
                first.doubts.push(Doubt::TablesDisagree);
                first.remark.push_str("; tables with another assumed unit say otherwise");
            }
            Ok(first)
        }
    }
}

/// How repeats of one test contradict each other, where they do.
pub(super) fn contradiction(observations: &Observations, order: Order) -> Option<WhyNot> {
    gather(observations, order).iter().find_map(|(unit, cells)| Grid::new(*unit, cells).contradiction())
}

fn sureness(answer: &Result<Limit, WhyNot>) -> f64 {
    answer.as_ref().map_or(0.0, |limit| limit.score + if limit.fallen.is_some() { 1.0 } else { 0.0 })
}

fn contradict(one: &Limit, other: &Limit) -> bool {
    one.fallen.is_some_and(|fallen| fallen <= other.good) || other.fallen.is_some_and(|fallen| fallen <= one.good)
}

/// The tables of one order by assumed unit.
fn gather(observations: &Observations, order: Order) -> BTreeMap<TableUnit, Cells> {
    let mut tables: BTreeMap<TableUnit, Cells> = BTreeMap::new();
    for data in runs(observations, order).filter(|data| is_table(data)) {
        let (Some(count), Some(unit)) = (data.count, unit_of_counts(observations, data)) else { continue };
        for row in &data.rows {
            let Some(rate) = ln_rate(row.block, &row.rate) else { continue };
            tables.entry(unit).or_default().entry(count).or_default().entry(row.block).or_default().push(rate);
        }
    }
    tables
}

/// One table made ready: the counts in rising order, and for each block the rates in that order.
struct Grid {
    counts: Vec<u32>,
    /// Largest block first; rows of the unit's own size are left out: whole units never need a copy.
    rows: Vec<(Bytes, Vec<Option<f64>>)>,
    /// For each count, how often most of its rows were measured.
    repeats: Vec<usize>,
    /// For each cell that was measured more than once, how far apart its figures are.
    spreads: Vec<f64>,
}

/// A step between two neighbouring counts at which several rows fall.
#[derive(Clone, Debug)]
struct Fall {
    /// Index of the last good count.
    at: usize,
    /// Fallen rows: index, and the logarithm of the factor.
    rows: Vec<(usize, f64)>,
    /// Whether it is a collapse rather than a loss.
    collapse: bool,
}

fn read(unit: TableUnit, cells: &Cells) -> Result<Limit, WhyNot> {
    let grid = Grid::new(unit, cells);
    let Some(&last) = grid.counts.last() else { return Err((Reason::TooFew, "no table has a usable row".into())) };
    if grid.counts.len() < 2 {
        return Err((
            Reason::TooFew,
            format!("only {last} units were written at once: there is nothing to compare with"),
        ));
    }
    if grid.rows.len() < if unit.known == Known::Lost { 4 } else { 2 } {
        return Err((Reason::TooFew, "the tables hold too few block sizes below the unit".into()));
    }
    if let Some(contradiction) = grid.contradiction() {
        return Err(contradiction);
    }
    if grid.counts[0] > 1 && grid.starts_collapsed(unit.size) {
        let seen = format!(
            "with {} units, the fewest that were tried, the rate already falls with the block size",
            grid.counts[0]
        );
        return Err((Reason::Ambiguous, seen));
    }
    let noise = grid.noise();
    let threshold = SMALLEST_FALL.ln().max(4.0 * noise);
    let falls: Vec<Fall> = (0..grid.counts.len() - 1).filter_map(|at| grid.fall(at, threshold)).collect();
    if let Some(gap) = grid.unexplained_start(threshold) {
        let first_fall = falls.first().map(|fall| fall.at);
        if first_fall.is_none_or(|at| at > 0) {
            return Err(gap);
        }
    }
    let mut limit = match choose(&grid, &falls) {
        Some((fall, earlier)) => grid.fallen(fall, earlier, noise),
        None => grid.level(noise, threshold)?,
    };
    if unit.known == Known::Lost {
        limit.doubts.push(Doubt::RowsMissing);
        limit.remark.push_str(&format!("; rows above {} are missing", unit.size));
    }
    Ok(limit)
}

/// The first fall, unless a collapse of nearly all rows comes after a mere loss in a few of them.
fn choose<'a>(grid: &Grid, falls: &'a [Fall]) -> Option<(&'a Fall, Option<&'a Fall>)> {
    let first = falls.first()?;
    let later = falls[1..].iter().find(|later| {
        let partial = 2 * first.rows.len() <= grid.rows.len();
        !first.collapse && partial && later.collapse && later.rows.len() > first.rows.len()
    });
    Some(later.map_or((first, None), |later| (later, Some(first))))
}

impl Grid {
    fn new(unit: TableUnit, cells: &Cells) -> Grid {
        let blocks: BTreeSet<Bytes> =
            cells.values().flat_map(|row| row.keys().copied()).filter(|block| unit.divides_into(*block)).collect();
        let usable = |row: &BTreeMap<Bytes, Vec<f64>>| row.keys().any(|block| unit.divides_into(*block));
        let counts: Vec<u32> = cells.iter().filter(|(_, row)| usable(row)).map(|(count, _)| *count).collect();
        let rows = blocks
            .into_iter()
            .rev()
            .map(|block| {
                let cell = |count| cells.get(count)?.get(&block).and_then(|repeats| median(repeats));
                (block, counts.iter().map(cell).collect())
            })
            .collect();
        let below = |count: &u32| -> Vec<&Vec<f64>> {
            cells[count].iter().filter(|(block, _)| unit.divides_into(**block)).map(|(_, rates)| rates).collect()
        };
        let typical = |cells: Vec<&Vec<f64>>| {
            let mut sizes: Vec<usize> = cells.into_iter().map(Vec::len).collect();
            sizes.sort_unstable();
            sizes.get(sizes.len() / 2).copied().unwrap_or(0)
        };
        let spread = |rates: &Vec<f64>| {
            let (low, high) =
                rates.iter().fold((f64::MAX, f64::MIN), |(low, high), rate| (low.min(*rate), high.max(*rate)));
            (rates.len() > 1).then_some(high - low)
        };
        let repeats = counts.iter().map(|count| typical(below(count))).collect();
        let spreads = counts.iter().flat_map(below).filter_map(spread).collect();
        Grid { counts, rows, repeats, spreads }
    }

    /// Repeats that are too far apart to be of one card in one state.
    fn contradiction(&self) -> Option<WhyNot> {
        let far: Vec<f64> = self.spreads.iter().copied().filter(|spread| *spread > CONTRADICTION.ln()).collect();
        let most = far.iter().copied().fold(0.0, f64::max).exp();
        (far.len() >= 3 && 4 * far.len() >= self.spreads.len()).then(|| {
            let seen = format!(
                "repeats of the same test differ by up to {}×, in {} of {} cases: perhaps two cards, or one whose state changed",
                digits(most),
                far.len(),
                self.spreads.len()
            );
            (Reason::Contradicted, seen)
        })
    }

    /// Scatter of one figure around its neighbours, as a logarithm: along the counts (where the median of the steps
    /// is blind to falls as long as most steps are none) or along the block sizes of one count (where a smooth curve
    /// has no bend), whichever is less, since structure adds to either.
    fn noise(&self) -> f64 {
        let steps: Vec<f64> = self
            .rows
            .iter()
            .flat_map(|(_, rates)| rates.windows(2).filter_map(|pair| Some((pair[1]? - pair[0]?).abs())))
            .collect();
        let bends: Vec<f64> = (0..self.counts.len())
            .flat_map(|count| {
                self.rows.windows(3).filter_map(move |rows| {
                    Some((rows[0].1[count]? - 2.0 * rows[1].1[count]? + rows[2].1[count]?).abs())
                })
            })
            .collect();
        // A difference of two scatters by √2, a bend by √6; the factor makes the median of either a standard deviation.
        let along_counts = median(&steps).map(|middle| MAD_NORMAL_FACTOR * middle / 2f64.sqrt());
        let along_blocks = median(&bends).map(|middle| MAD_NORMAL_FACTOR * middle / 6f64.sqrt());
        let along = along_counts.into_iter().chain(along_blocks).reduce(f64::min).unwrap_or(0.0);
        // The distance of two figures is 1.128 standard deviations on average.
        let between_repeats = median(&self.spreads).map_or(0.0, |spread| spread / 1.128);
        along.max(between_repeats)
    }

    /// Level of a row before and up to a step. A single unit is left out where others are there: one stream often gets
    /// a treatment that two do not.
    fn before(&self, rates: &[Option<f64>], at: usize) -> Option<f64> {
        let from = usize::from(at > 0 && self.counts[0] == 1);
        let values: Vec<f64> = rates[from..=at].iter().flatten().copied().collect();
        median(&values)
    }

    /// How far a row falls at a step for good: against smaller counts, against the last one, and with all larger ones.
    fn drop(&self, row: usize, at: usize) -> Option<f64> {
        let rates = &self.rows[row].1;
        let before = self.before(rates, at)?;
        let next = rates[at + 1]?;
        let after: Vec<f64> = rates[at + 1..].iter().flatten().copied().collect();
        let fallen = (before - next).min(before - median(&after)?);
        // A slow decline also ends up below where it began: the step itself must carry most of the fall.
        let here = rates[at].map_or(fallen, |last| last - next);
        Some(if here >= 0.6 * fallen { fallen } else { here })
    }

    fn drops(&self, at: usize) -> Vec<(usize, f64)> {
        (0..self.rows.len()).filter_map(|row| Some((row, self.drop(row, at)?))).collect()
    }

    /// Whether several neighbouring rows fall at a step.
    fn fall(&self, at: usize, threshold: f64) -> Option<Fall> {
        let drops = self.drops(at);
        let threshold = threshold.max(self.slow_decline(at));
        let rows: Vec<(usize, f64)> = drops.iter().copied().filter(|(_, drop)| *drop >= threshold).collect();
        let neighbours = self.neighbours(&drops, threshold);
        let enough = rows.len() >= 3 || (drops.len() <= 4 && 2 * rows.len() >= drops.len() && rows.len() >= 2);
        if !neighbours || !enough {
            return None;
        }
        let deep = rows.iter().filter(|(_, drop)| *drop >= COLLAPSE.ln()).count();
        let collapse = deep >= 2 && 2 * rows.len() >= drops.len();
        // From one unit to two, only a collapse counts: many controllers favour a single stream.
        let single = at == 0 && self.counts[0] == 1;
        let everywhere = 2 * deep >= drops.len() && self.proportional(1);
        (!single || (collapse && everywhere)).then_some(Fall { at, rows, collapse })
    }

    /// Whether two rows fall that are next to each other, at least among the rows that have figures at this step.
    fn neighbours(&self, drops: &[(usize, f64)], threshold: f64) -> bool {
        drops.windows(2).any(|pair| {
            let near = self.rows[pair[0].0].0 <= self.rows[pair[1].0].0 * 4;
            near && pair[0].1 >= threshold && pair[1].1 >= threshold
        })
    }

    /// What a decline without any limit may lose at a step: across a gap between the counts tried, more.
    fn slow_decline(&self, at: usize) -> f64 {
        STEEPEST_DECLINE * (f64::from(self.counts[at + 1]) / f64::from(self.counts[at])).ln()
    }

    /// Whether the rate is in proportion to the block size, as where each request costs the same whole copy.
    fn proportional(&self, count: usize) -> bool {
        let points: Vec<(f64, f64)> =
            self.rows.iter().filter_map(|(block, rates)| Some((block.as_f64().ln(), rates[count]?))).collect();
        let slopes: Vec<f64> =
            points.windows(2).map(|pair| (pair[0].1 - pair[1].1) / (pair[0].0 - pair[1].0)).collect();
        median(&slopes).is_some_and(|slope| slope > 0.7)
    }

    /// Whether the smallest count, where it is not one, already looks like the far side of a cliff.
    fn starts_collapsed(&self, unit: Bytes) -> bool {
        let small = |block: &Bytes| block.get() * 4 <= unit.get();
        self.rows.iter().filter(|(block, _)| small(block)).count() >= 2 && self.proportional(0)
    }

    /// One unit is faster than the next count tried, and that is not two: the fall may be the single stream's
    /// privilege or a limit in between, and nothing tells which.
    fn unexplained_start(&self, threshold: f64) -> Option<WhyNot> {
        let (first, second) = (self.counts[0], self.counts[1]);
        let rows = self.drops(0).iter().filter(|(_, drop)| *drop >= threshold).count();
        (first == 1 && second > 2 && rows >= 3).then(|| {
            let seen =
                format!("one unit is faster than {second}, and nothing between was tried: a limit or a single stream's privilege");
            (Reason::Ambiguous, seen)
        })
    }

    fn fallen(&self, fall: &Fall, earlier: Option<&Fall>, noise: f64) -> Limit {
        let mut drops: Vec<(usize, f64)> = fall.rows.clone();
        let middle = drops[drops.len() / 2].0;
        drops.sort_by(|a, b| a.1.total_cmp(&b.1));
        let typical = drops[drops.len() / 2].1;
        let confirmed = self.counts.len() - (fall.at + 1);
        let score = fall_score(typical, drops.len(), self.rows.len(), confirmed, noise);
        let mut remark = format!(", and so in {} of {} block sizes", fall.rows.len(), self.rows.len());
        let good = self.counts[fall.at];
        let (mut alternatives, mut doubts) = (Vec::new(), Vec::new());
        if !fall.collapse {
            doubts.push(Doubt::Slight);
        }
        if let Some(earlier) = earlier {
            let other = self.counts[earlier.at];
            doubts.push(Doubt::EarlierLoss);
            alternatives.push((other, 0.05));
            remark.push_str(&format!("; {} of them lose a little from {} units on", earlier.rows.len(), other + 1));
        } else if !fall.collapse {
            alternatives.push((good + 1, (1.0 - score) / 2.0));
        }
        // The last table alone, without a repeat and without the mark of a copy per request: a table may be slow as a whole
        // for other reasons.
        if confirmed == 1 && self.repeats[fall.at + 1] < 2 && !self.proportional(fall.at + 1) {
            doubts.push(Doubt::SeenOnce);
        }
        if let Some(count) = self.recovered(fall) {
            doubts.push(Doubt::ComesBack);
            remark.push_str(&format!(
                "; with {count} units it is as fast as before: perhaps a change of state and no limit"
            ));
        }
        let rates = &self.rows[middle].1;
        let from = self.before_shown(rates, fall.at);
        let to = rates[fall.at + 1].unwrap_or(f64::NAN);
        Limit {
            good,
            fallen: Some(self.counts[fall.at + 1]),
            score,
            doubts,
            alternatives,
            row: (self.rows[middle].0, from.exp(), to.exp()),
            remark,
        }
    }

    /// A count beyond a fall at which most of the fallen rows are nearly as fast as before it.
    fn recovered(&self, fall: &Fall) -> Option<u32> {
        let beyond = fall.at + 2..self.counts.len();
        beyond
            .into_iter()
            .find(|at| {
                let back: Vec<bool> = fall
                    .rows
                    .iter()
                    .filter_map(|(row, _)| {
                        let rates = &self.rows[*row].1;
                        let (before, fallen) = (self.before(rates, fall.at)?, rates[fall.at + 1]?);
                        Some(rates[*at]? > before - 0.4 * (before - fallen))
                    })
                    .collect();
                back.len() >= 2 && 2 * back.iter().filter(|back| **back).count() > back.len()
            })
            .map(|at| self.counts[at])
    }

    fn before_shown(&self, rates: &[Option<f64>], at: usize) -> f64 {
        rates[at].or_else(|| self.before(rates, at)).unwrap_or(f64::NAN)
    }

    /// No fall: the largest count is a lower bound, as sure as the closest call was far from a fall.
    fn level(&self, noise: f64, threshold: f64) -> Result<Limit, WhyNot> {
        let last = self.counts.len() - 1;
        let single = self.counts[0] == 1;
        let deep = self.drops(0).iter().filter(|(_, drop)| *drop >= COLLAPSE.ln()).count();
        if single && 2 * deep >= self.rows.len() {
            let seen = format!(
                "one unit is far faster than {}: a limit of one, or a single stream's privilege",
                self.counts[1]
            );
            return Err((Reason::Ambiguous, seen));
        }
        let from = usize::from(single);
        let stop = |at: &usize| self.doubtful(*at, threshold) || self.drops(*at).len() < 2;
        let good = (from..last).find(stop).unwrap_or(last);
        if good < last && self.counts[good] < 2 {
            return Err((
                Reason::Ambiguous,
                "a few rows fall and others do not: neither a limit nor its absence".into(),
            ));
        }
        if let Some(at) = (from..good).find(|at| self.falls_in_a_few(*at)) {
            let seen = format!(
                "from {} to {} units some block sizes fall far, and too few were measured with both",
                self.counts[at],
                self.counts[at + 1]
            );
            return Err((Reason::TooFew, seen));
        }
        let compared =
            |at: usize| self.drops(at).iter().filter(|(row, _)| TELLING.contains(&self.rows[*row].0)).count();
        let fewest = (from..good).map(compared).min().unwrap_or(0);
        if fewest == 0 {
            let seen = "no block size from 16 to 256 KiB was measured with all counts, and that is where limits show";
            return Err((Reason::TooFew, seen.into()));
        }
        let third = |at: usize| nth_largest(&self.drops(at).iter().map(|(_, drop)| *drop).collect::<Vec<_>>(), 2);
        let closest = (from..good).map(third).fold(0.0, f64::max);
        let margin = (threshold - closest).max(0.0) / threshold;
        let score = (0.8 + 0.4 * margin - 2.0 * noise).clamp(0.5, if last >= 2 { 0.985 } else { 0.95 });
        let rows = (from..good).map(|at| self.drops(at).len()).min().unwrap_or(0);
        let score = score.min(enough_rows(rows, fewest));
        let decline: Vec<f64> = self.rows.iter().filter_map(|(_, r)| Some(r[0]? - r[good]?)).collect();
        let mut remark = match median(&decline) {
            Some(loss) if loss > 1.25f64.ln() => ", a slow decline without a step".to_owned(),
            _ => String::new(),
        };
        if good < last {
            remark.push_str(&format!("; with {} units some rows lose more", self.counts[good + 1]));
        }
        Ok(Limit {
            good: self.counts[good],
            fallen: None,
            score,
            doubts: (fewest < HALF_OF_TELLING).then_some(Doubt::RowsMissing).into_iter().collect(),
            alternatives: Vec::new(),
            row: self.shown_level(good).ok_or_else(|| {
                (Reason::TooFew, "no block size was written with both the fewest and the most units".into())
            })?,
            remark,
        })
    }

    /// Whether block sizes fall far at a step where so few can be compared that nobody can say whether they are spoiled.
    fn falls_in_a_few(&self, at: usize) -> bool {
        let drops = self.drops(at);
        drops.len() <= 5 && drops.iter().any(|(_, drop)| *drop >= COLLAPSE.ln().max(self.slow_decline(at)))
    }

    /// Whether a step is too much for spoiled rows and too little for a limit: two neighbouring rows fell, or two fell
    /// far, or many did over a gap that a slow decline may explain as well.
    fn doubtful(&self, at: usize, threshold: f64) -> bool {
        let drops = self.drops(at);
        let fallen = drops.iter().filter(|(_, drop)| *drop >= threshold).count();
        let values: Vec<f64> = drops.iter().map(|(_, drop)| *drop).collect();
        fallen >= 3 || self.neighbours(&drops, threshold) || nth_largest(&values, 1) >= threshold.max(2f64.ln())
    }

    /// The row nearest to the middle that has figures at both ends.
    fn shown_level(&self, good: usize) -> Option<(Bytes, f64, f64)> {
        let middle = self.rows.len() / 2;
        self.rows
            .iter()
            .enumerate()
            .filter_map(|(row, (block, rates))| Some((row, *block, rates[0]?.exp(), rates[good]?.exp())))
            .min_by_key(|(row, ..)| row.abs_diff(middle))
            .map(|(_, block, from, to)| (block, from, to))
    }
}

/// How sure the absence of a fall can be, from the rows that can be compared at the step with the fewest, and those among
/// them where limits show: a table has ten and five.
fn enough_rows(rows: usize, telling: usize) -> f64 {
    1.0 - 0.4 * (-0.35 * (rows.saturating_sub(2) + telling.saturating_sub(1)) as f64).exp()
}

fn nth_largest(values: &[f64], n: usize) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    sorted.get(n).copied().unwrap_or(0.0)
}

/// How clear a fall is: more rows, deeper falls, more tables beyond it that agree, less noise.
fn fall_score(typical: f64, fallen: usize, rows: usize, confirmed: usize, noise: f64) -> f64 {
    let depth = typical / noise.max(0.03);
    let weight = fallen as f64 * (depth / 12.0).min(3.0) * (0.5 + fallen as f64 / rows as f64);
    let once = if confirmed == 1 { 1.4 } else { 1.0 };
    1.0 - 0.3 * (-weight / (3.0 * once)).exp()
}
