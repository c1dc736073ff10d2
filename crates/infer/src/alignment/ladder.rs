//! The levels of one printed table, and what they say of page and allocation unit.
//!
//! A table is read as a ladder, smallest alignment first: a base level, perhaps one or two rows of an inner page, the
//! plateau of the page, perhaps one or two rows of an intermediate level (half a unit), and the level of the
//! allocation unit. Every ladder gets its evidence by integrating over its levels and over the noise, so a step must pay
//! for itself. Competing with them are tables without a page step, without a unit step, and slopes without any step.
//!
//! Only a mean over a few places is printed, and the places are odd multiples of a power of two: of a unit of
//! 3 · 2^k, two places in seven are multiples. Such units are hypotheses of their own whose step is diluted.

use super::noise::{centre, level, ln_add, ln_normal, ln_t3, t3};
use super::prior::{self, Contrast};
use super::tables::Table;
use flashscope_units::Bytes;

/// Scales of the row noise that are tried, as shares of the access time.
const SCALES: [f64; 9] = [0.001, 0.0015, 0.0022, 0.0033, 0.005, 0.0075, 0.011, 0.017, 0.025];

/// Scatter of the rows of the topmost level as a share of its step, with prior weights: the time of a change of units
/// depends on which units are changed.
const TOP_SCATTER: [(f64, f64); 4] = [(0.05, 0.2), (0.09, 0.3), (0.16, 0.3), (0.28, 0.2)];

/// The largest alignments are read at places that wrap around the end; so many rows may be off.
const DOUBTFUL_TOP_ROWS: usize = 3;

/// Smaller units than this cannot be told from the scatter of a page's plateau in a power-of-two table.
const SMALLEST_UNIT: Bytes = Bytes::kib(256);

/// Prior probability that one of them is.
const DOUBT: f64 = 0.3;

/// Prior probability that the table leaves the level of the unit again at larger alignments.
const LEAVING: f64 = 0.06;

/// A level below this share of the next one is a level inside it; above, it is the same thing and the rest is scatter.
const INNER_SHARE: f64 = 0.56;

/// Width of the soft edge at [`INNER_SHARE`].
const INNER_EDGE: f64 = 0.05;

/// Prior standard deviation of the level below the page, whose true contrast is zero but for other edges.
const BASE_SPREAD: f64 = 0.03;

/// Prior probability that the smallest alignment of a table is an edge of an inner page already.
const BASE_UNSEEN: f64 = 0.3;

/// What a ladder says of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PageKey {
    /// No step that is one.
    Unseen,
    /// This page, with or without an inner one.
    Size(Bytes),
}

/// What a ladder says of the allocation unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum UnitKey {
    /// No step that is one.
    Unseen,
    /// This unit.
    Size(Bytes),
}

/// The pages that are considered: the alignments of all tables, and the powers of two between them that have no row,
/// since a missing row is no reason to take the next one for the page.
pub(super) fn page_keys(tables: &[Table]) -> Vec<PageKey> {
    let mut sizes: Vec<Bytes> = tables.iter().flat_map(|table| &table.rows).map(|row| row.align).collect();
    let smallest = sizes.iter().copied().min().unwrap_or(Bytes::ZERO);
    let largest = sizes.iter().copied().max().unwrap_or(Bytes::ZERO);
    sizes.extend((0..40).map(|power| Bytes(1 << power)).filter(|size| (smallest..=largest).contains(size)));
    sizes.retain(|size| *size <= prior::PAGE_RANGE.1);
    sizes.sort_unstable();
    sizes.dedup();
    std::iter::once(PageKey::Unseen).chain(sizes.into_iter().map(PageKey::Size)).collect()
}

/// The units that tables with these alignments can tell apart.
pub(super) fn unit_keys(finest: &Table) -> Vec<UnitKey> {
    let largest = finest.rows.last().map_or(Bytes::ZERO, |row| row.align);
    let mut sizes: Vec<Bytes> = (0..40)
        .flat_map(|power| [1, 3, 5].map(|odd| (odd, Bytes(1 << power))))
        // The step shows at the power of two, and a few rows above it must exist to call it one.
        .filter(|(_, power)| power.get() * 8 <= largest.get())
        .map(|(odd, power)| power * odd)
        .filter(|size| (SMALLEST_UNIT..=prior::UNIT_RANGE.1).contains(size))
        .collect();
    sizes.sort_unstable();
    std::iter::once(UnitKey::Unseen).chain(sizes.into_iter().map(UnitKey::Size)).collect()
}

/// Log evidence of one table for every combination of page (rows) and unit (columns).
pub(super) fn weigh(table: &Table, pages: &[PageKey], units: &[UnitKey], capacity: Option<Bytes>) -> Vec<Vec<f64>> {
    let tops: Vec<Top> = units.iter().map(|key| Top::new(table, *key, capacity)).collect();
    let mut ln_weight = vec![vec![f64::NEG_INFINITY; units.len()]; pages.len()];
    for scale in SCALES {
        let ln_scale = ln_normal((scale / 0.006f64).ln(), 0.7);
        let ladder = Ladder::new(table, scale);
        let mut lower: Vec<Option<Vec<f64>>> = vec![None; table.rows.len() + 1];
        for (column, top) in tops.iter().enumerate() {
            for (end, ln_top) in ladder.top(top) {
                let below = lower[end].get_or_insert_with(|| ladder.below(end, pages));
                for (row, ln_below) in below.iter().enumerate() {
                    let cell = &mut ln_weight[row][column];
                    *cell = ln_add(*cell, ln_scale + ln_top + ln_below);
                }
            }
        }
        // A slope or a drift without steps says nothing of page and unit.
        ln_weight[0][0] = ln_add(ln_weight[0][0], ln_scale + ln_add(ladder.slope(), ladder.drift()));
    }
    ln_weight
}

/// A unit with the share of its multiples among the places of each row.
struct Top {
    key: UnitKey,
    /// First row with multiples; the number of rows where there are none.
    start: usize,
    shares: Vec<f64>,
}

impl Top {
    fn new(table: &Table, key: UnitKey, capacity: Option<Bytes>) -> Top {
        let shares: Vec<f64> = match key {
            UnitKey::Unseen => vec![0.0; table.rows.len()],
            UnitKey::Size(unit) => table.rows.iter().map(|row| table.share_of_multiples(row, unit, capacity)).collect(),
        };
        let start = shares.iter().position(|share| *share > 0.0).unwrap_or(shares.len());
        Top { key, start, shares }
    }
}

/// Evidence of the rows from each row on.
struct Tails {
    /// Logarithm of the greatest.
    ln_most: f64,
    /// Each, as a share of the greatest.
    shares: Vec<f64>,
}

/// One table at one noise scale.
struct Ladder {
    aligns: Vec<Bytes>,
    values: Vec<(f64, f64)>,
}

impl Ladder {
    fn new(table: &Table, scale: f64) -> Ladder {
        let values = table.rows.iter().map(|row| (row.share, scale.hypot(row.error))).collect();
        Ladder { aligns: table.rows.iter().map(|row| row.align).collect(), values }
    }

    /// Evidence of the rows of the topmost level: for each possible end of the plateau below it the log weight of all
    /// rows from there on.
    fn top(&self, top: &Top) -> Vec<(usize, f64)> {
        match top.key {
            UnitKey::Unseen => self.no_unit(),
            UnitKey::Size(_) if top.start < 1 || top.start >= self.values.len() => Vec::new(),
            UnitKey::Size(_) => self.unit(top),
        }
    }

    /// No step: all rows on the plateau, or one too small to be a unit's.
    fn no_unit(&self) -> Vec<(usize, f64)> {
        let rows = self.values.len();
        let solid = rows - DOUBTFUL_TOP_ROWS.min(rows);
        let mut ends = Vec::new();
        let plateau = self.plateau(rows);
        let doubtful: f64 = self.values[solid..].iter().map(|row| doubtful_row(row.0 - plateau, row.1, 0.08)).sum();
        ends.push((solid, 0.5f64.ln() + doubtful));
        let starts = 1..solid;
        let each = 0.5f64.ln() - (starts.len().max(1) as f64).ln();
        for start in starts {
            let shares = vec![1.0; rows];
            ends.push((start, each + self.step(start, start, &shares, Contrast::Artefact)));
        }
        ends
    }

    /// A step at the unit, with or without an intermediate level in the one or two rows below.
    fn unit(&self, top: &Top) -> Vec<(usize, f64)> {
        let start = top.start;
        let mut ends = vec![(start, 0.8f64.ln() + self.step(start, start, &top.shares, Contrast::Unit))];
        for (rows, weight) in [(1usize, 0.14f64), (2, 0.06)] {
            if start > rows {
                let end = start - rows;
                ends.push((end, weight.ln() + self.step(end, start, &top.shares, Contrast::Unit)));
            }
        }
        ends
    }

    /// Evidence of the rows from `middle` on: an intermediate level up to `start`, and from there a step over the
    /// plateau below `middle`, diluted by the share of multiples of each row.
    fn step(&self, middle: usize, start: usize, shares: &[f64], contrast: Contrast) -> f64 {
        let plateau = self.plateau(middle);
        let diluted: Vec<f64> = (start..self.values.len())
            .filter(|row| shares[*row] > 0.0)
            .map(|row| (self.values[row].0 - plateau) / shares[row])
            .collect();
        let about = flashscope_stats::location::median(&diluted).unwrap_or(0.0);
        if about <= 0.0 {
            return f64::NEG_INFINITY;
        }
        let tails = self.tails(plateau);
        /// Steps of the logarithm of the contrast around its likeliest value.
        const GRID: i32 = 8;
        /// Distance of two steps of that grid, in the logarithm of the contrast.
        const PITCH: f64 = 0.06;
        // Densities are multiplied and added, which is faster than their logarithms; those of as many rows as a table has stay in
        // range.
        let (mut all, mut left) = (0.0, 0.0);
        for point in -GRID..=GRID {
            let delta = about * (PITCH * f64::from(point)).exp();
            let mut fit = PITCH * contrast.ln_density(delta).exp();
            for (value, scale) in &self.values[middle..start] {
                fit *= inner(value - plateau, *scale, delta * shares[start]);
            }
            if middle < start {
                fit *= inner_weight(self.highest_share(middle..start, plateau, delta * shares[start]));
            }
            for (scatter, weight) in TOP_SCATTER {
                let (whole, until) = self.top_rows(start, shares, plateau, delta, scatter, &tails);
                all += weight * fit * whole;
                left += weight * fit * until;
            }
        }
        ln_add(f64::ln(all), f64::ln(left) + tails.ln_most)
    }

    /// Density of the rows of the topmost level for one contrast; and that of those until the table leaves the level for another,
    /// times that of the rows from there on, as a share of the greatest tail.
    fn top_rows(
        &self,
        start: usize,
        shares: &[f64],
        plateau: f64,
        delta: f64,
        scatter: f64,
        tails: &Tails,
    ) -> (f64, f64) {
        let rows = self.values.len();
        let choices = rows.saturating_sub(start + 2 + DOUBTFUL_TOP_ROWS).max(1) as f64;
        let (mut density, mut left) = (1.0, 0.0);
        for (row, share) in shares.iter().enumerate().skip(start) {
            if row >= start + 2 && row + DOUBTFUL_TOP_ROWS < rows {
                left += density * tails.shares[row];
            }
            let (value, scale) = self.values[row];
            let step = delta * share;
            let deviation = value - plateau - step;
            // `hypot` takes long, for squares that overflow; those of shares do not.
            let scale = (scale * scale + (scatter * step).powi(2)).sqrt();
            density *= if row + DOUBTFUL_TOP_ROWS >= rows {
                doubtful(deviation, scale, (0.4 * step).max(0.05))
            } else {
                t3(deviation, scale)
            };
        }
        ((1.0 - LEAVING) * density, LEAVING / choices * left)
    }

    /// Evidence of the rows from each row on, at a level of their own.
    fn tails(&self, plateau: f64) -> Tails {
        let rows = self.values.len();
        let tails = (0..rows).map(|from| {
            let solid = rows - DOUBTFUL_TOP_ROWS.min(rows - from);
            let (ln_tail, at) = level(&self.values[from..solid], |at| ln_normal(at - plateau, 0.1));
            let doubtful = self.values[solid..].iter().map(|row| doubtful_row(row.0 - at, row.1, 0.08));
            ln_tail + doubtful.sum::<f64>()
        });
        let ln_tails: Vec<f64> = tails.collect();
        let ln_most = ln_tails.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Tails { ln_most, shares: ln_tails.iter().map(|tail| (tail - ln_most).exp()).collect() }
    }

    /// Level of the up to six rows just below `end`.
    fn plateau(&self, end: usize) -> f64 {
        centre(&self.values[end.saturating_sub(6)..end])
    }

    /// Greatest height of some rows over `from`, as a share of `step`.
    fn highest_share(&self, rows: std::ops::Range<usize>, from: f64, step: f64) -> f64 {
        self.values[rows].iter().map(|(value, _)| (value - from) / step).fold(f64::NEG_INFINITY, f64::max)
    }

    /// For each page the log evidence of the rows below `end`.
    fn below(&self, end: usize, pages: &[PageKey]) -> Vec<f64> {
        let mut ln_weight = vec![f64::NEG_INFINITY; pages.len()];
        let (flat, _) = level(&self.values[..end], |at| ln_normal(at, BASE_SPREAD));
        ln_weight[0] = 0.4f64.ln() + flat;
        let total: f64 = pages.iter().map(|key| page_weight(*key)).sum();
        let of_row = self.keys_of_rows(pages);
        for (start, keys) in of_row.iter().enumerate() {
            if start == 0 {
                let fit = self.plateau_from_the_start(end);
                add_to(&mut ln_weight, keys, fit);
            } else if start + 2 <= end && !keys.is_empty() {
                // Two rows at least must show the plateau.
                let weight: f64 = keys.iter().map(|key| page_weight(pages[*key])).sum();
                self.page_step(start, end, &of_row, (0.6 * weight / total).ln(), &mut ln_weight);
            }
        }
        ln_weight
    }

    /// For each row the pages whose plateau starts there: more than one where rows below it are missing.
    fn keys_of_rows(&self, pages: &[PageKey]) -> Vec<Vec<usize>> {
        let mut of_row = vec![Vec::new(); self.aligns.len()];
        for (index, key) in pages.iter().enumerate() {
            let PageKey::Size(size) = *key else { continue };
            if let Some(row) = self.aligns.iter().position(|align| *align >= size) {
                of_row[row].push(index);
            }
        }
        of_row
    }

    /// The page lies at or below the smallest alignment, or is smaller than the block and shows no contrast.
    fn plateau_from_the_start(&self, end: usize) -> f64 {
        let seen = level(&self.values[..end], |at| Contrast::Page.ln_density(at) - at.max(1e-9).ln()).0;
        let hidden = level(&self.values[..end], |at| ln_normal(at, BASE_SPREAD)).0;
        ln_add(seen, hidden) - 2f64.ln()
    }

    /// Adds the weights of a page whose plateau starts at row `start`, with zero, one or two rows of an inner level
    /// below it. Where the inner level is nearly as high as the plateau, it is the page.
    fn page_step(&self, start: usize, end: usize, of_row: &[Vec<usize>], ln_artefact: f64, ln_weight: &mut [f64]) {
        for (rows, weight) in [(0usize, 0.6f64), (1, 0.25), (2, 0.15)] {
            let Some(first) = start.checked_sub(rows) else { continue };
            // Without rows below it, an inner level is seen against nothing.
            let (ln_base, base) = match first {
                0 => (BASE_UNSEEN.ln(), 0.0),
                _ => level(&self.values[..first], |at| ln_normal(at, BASE_SPREAD)),
            };
            for contrast in [Contrast::Page, Contrast::Artefact] {
                let density = |at: f64| contrast.ln_density(at - base) - (at - base).max(1e-9).ln();
                let (ln_plateau, at) = level(&self.values[start..end], density);
                let height = at - base;
                if height <= 0.0 {
                    continue;
                }
                let ln_inner: f64 =
                    self.values[first..start].iter().map(|row| inner(row.0 - base, row.1, height).ln()).sum();
                let fit = weight.ln() + ln_base + ln_plateau + ln_inner;
                if matches!(contrast, Contrast::Artefact) {
                    ln_weight[0] = ln_add(ln_weight[0], ln_artefact + fit);
                    continue;
                }
                // Rows of the inner level that are nearly as high as the plateau belong to the page.
                let mut ln_left = 0.0;
                for row in (first..start).rev() {
                    let inside = inner_weight((self.values[row].0 - base) / height);
                    add_to(ln_weight, &of_row[row + 1], fit + ln_left + inside.ln());
                    ln_left += (1.0 - inside).ln();
                }
                add_to(ln_weight, &of_row[first], fit + ln_left);
            }
        }
    }

    /// Evidence of a straight line through all rows: no structure that a step could stand for.
    fn slope(&self) -> f64 {
        /// Prior probability of such a table.
        const PRIOR: f64 = 0.04;
        /// Steepest slope, as a share of the contrast per row.
        const STEEPEST: f64 = 0.03;
        let rows = self.values.len();
        let (mut at, mut rise) = (self.values.iter().map(|row| row.0).sum::<f64>() / rows as f64, 0.0);
        let middle = (rows - 1) as f64 / 2.0;
        for _ in 0..12 {
            let mut sums = [0.0; 5];
            for (index, (value, scale)) in self.values.iter().enumerate() {
                let x = index as f64 - middle;
                let z = (value - at - rise * x) / scale;
                let weight = 1.0 / ((3.0 + z * z) * scale * scale);
                for (sum, term) in sums.iter_mut().zip([1.0, x, x * x, *value, x * value]) {
                    *sum += weight * term;
                }
            }
            let determinant = sums[0] * sums[2] - sums[1] * sums[1];
            if determinant <= 0.0 {
                return f64::NEG_INFINITY;
            }
            at = (sums[2] * sums[3] - sums[1] * sums[4]) / determinant;
            rise = (sums[0] * sums[4] - sums[1] * sums[3]) / determinant;
        }
        let mut fit = PRIOR.ln() + ln_normal(at, 0.1) - STEEPEST.ln();
        let mut information = [0.0; 2];
        for (index, (value, scale)) in self.values.iter().enumerate() {
            let x = index as f64 - middle;
            fit += ln_t3(value - at - rise * x, *scale);
            information[0] += (2.0 / 3.0) / (scale * scale);
            information[1] += (2.0 / 3.0) * x * x / (scale * scale);
        }
        fit + information.iter().map(|term| 0.5 * (std::f64::consts::TAU / term).ln()).sum::<f64>()
    }
}

impl Ladder {
    /// Evidence of a random walk: every row a little off its neighbour, so that no step is more than the others.
    fn drift(&self) -> f64 {
        /// Prior probability of such a table.
        const PRIOR: f64 = 0.04;
        let Some((first, scale)) = self.values.first() else { return f64::NEG_INFINITY };
        let walk: f64 =
            self.values.windows(2).map(|pair| ln_t3(pair[1].0 - pair[0].0, pair[1].1.hypot(pair[0].1))).sum();
        PRIOR.ln() + ln_normal(*first, BASE_SPREAD.hypot(*scale)) + walk
    }
}

/// Adds one evidence to all keys that it cannot tell apart.
fn add_to(ln_weight: &mut [f64], keys: &[usize], fit: f64) {
    for key in keys {
        ln_weight[*key] = ln_add(ln_weight[*key], fit);
    }
}

fn page_weight(key: PageKey) -> f64 {
    match key {
        PageKey::Unseen => 0.0,
        PageKey::Size(size) => prior::page_weight(size),
    }
}

/// Probability that a level at this share of the next is a level inside it.
fn inner_weight(share: f64) -> f64 {
    1.0 / (1.0 + ((share - INNER_SHARE) / INNER_EDGE).exp())
}

/// Density of a row somewhere between a tenth and the whole of a step.
fn inner(height: f64, scale: f64, step: f64) -> f64 {
    let (low, high) = (0.1 * step, step);
    let beyond = (low - height).max(height - high).max(0.0);
    t3(beyond, scale) / t3(0.0, scale) / (high - low + 2.0 * scale)
}

/// Log density of a row that may be off for reasons of its own.
fn doubtful_row(deviation: f64, scale: f64, wide: f64) -> f64 {
    doubtful(deviation, scale, wide).ln()
}

/// That density.
fn doubtful(deviation: f64, scale: f64, wide: f64) -> f64 {
    (1.0 - DOUBT) * t3(deviation, scale) + DOUBT * t3(deviation, wide.max(scale))
}
