//! Page and allocation unit from the tables of logs: the posterior over all ladders of all block sizes.

use super::ladder::{self, PageKey, UnitKey};
use super::levels::Levels;
use super::noise::ln_add;
use super::prior::{self, Off};
use super::tables::{self, Table};
use flashscope_units::Bytes;

/// Posterior probabilities from all tables together.
#[derive(Clone, Debug)]
pub(super) struct Reading {
    /// Probability of each page, likeliest first.
    pub(super) pages: Vec<(PageKey, f64)>,
    /// Probability of each unit, likeliest first.
    pub(super) units: Vec<(UnitKey, f64)>,
    /// The levels of the likeliest page and unit.
    pub(super) levels: Option<Levels>,
}

/// Weighs all tables; `None` without one.
pub(super) fn read(tables: &[Table], capacity: Option<Bytes>, off: Off) -> Option<Reading> {
    // The finest block sees the smallest page, and the longest table the largest unit.
    let finest = tables.first()?;
    let longest = tables::longest(tables)?;
    let (pages, units) = (ladder::page_keys(tables), ladder::unit_keys(longest));
    let joints: Vec<Vec<Vec<f64>>> =
        tables.iter().map(|table| ladder::weigh(table, &pages, &units, capacity)).collect();
    // Tables of one device are read at the same places, and what is peculiar to a place, which is most of the scatter,
    // comes back in each of them: for the unit, all tables together count as one. A page's step is repeated at every
    // alignment up to the unit's, where places differ; there n tables count as n to the power of a quarter.
    let count = joints.len() as f64;
    let (unit_share, page_share) = (1.0 / count, count.powf(-0.75));
    let mut ln_page = vec![f64::NEG_INFINITY; pages.len()];
    let mut ln_unit = vec![f64::NEG_INFINITY; units.len()];
    let (page_prior, unit_prior) = (page_priors(&pages, off), unit_priors(&units, capacity, off));
    for (row, page) in page_prior.iter().enumerate() {
        for (column, unit) in unit_prior.iter().enumerate() {
            let evidence: f64 = joints.iter().map(|joint| joint[row][column]).sum();
            let prior = page.ln() + unit.ln();
            ln_page[row] = ln_add(ln_page[row], page_share * evidence + prior);
            ln_unit[column] = ln_add(ln_unit[column], unit_share * evidence + prior);
        }
    }
    let mut reading = Reading { pages: ranked(&pages, &ln_page)?, units: ranked(&units, &ln_unit)?, levels: None };
    let levels = Levels::new(finest, longest, &reading.pages, &reading.units);
    if let (Some((PageKey::Size(_), _)), Some(step)) = (reading.pages.first(), levels.page_step) {
        let stands_out = prominence(step / ordinary_difference(finest, &levels, reading.settles_onset()));
        reading.doubt_page(stands_out);
    }
    reading.levels = Some(levels);
    Some(reading)
}

/// Probability that a step this many times the ordinary difference between neighbouring rows is more than one of those.
fn prominence(ratio: f64) -> f64 {
    1.0 / (1.0 + ((2.0 / ratio.max(1e-6)).ln() / 0.15).exp())
}

/// The upper quartile of the differences between neighbouring rows outside the claimed steps; above a step that is
/// clearly the unit's, differences are the unit's own scatter and do not count.
fn ordinary_difference(table: &Table, levels: &Levels, unit_is_clear: bool) -> f64 {
    let differences: Vec<f64> = table
        .rows
        .windows(2)
        .filter(|pair| {
            let at = pair[1].align;
            let in_page = levels.page_rows.is_some_and(|(from, to)| from <= at && at <= to);
            let in_unit = levels.unit_rows.is_some_and(|(from, to)| from <= at && at <= to);
            let beyond = unit_is_clear && levels.unit_rows.is_some_and(|(_, to)| at > to);
            !in_page && !in_unit && !beyond
        })
        .map(|pair| (pair[1].share - pair[0].share).abs())
        .collect();
    flashscope_stats::location::quantile(&differences, 0.75).unwrap_or(0.0).max(1e-9)
}

/// The power of two from which on a unit shows in a table of powers of two.
pub(super) fn onset(unit: Bytes) -> Bytes {
    Bytes(1 << prior::split(unit).1)
}

/// Where rows are missing around a size, the sizes that nothing tells from it: from the first power of two above the
/// row below it up to the next row. `None` where the rows on both sides of its step are there.
pub(super) fn gap(tables: &[Table], size: Bytes) -> Option<(Bytes, Bytes)> {
    let rows = || tables.iter().flat_map(|table| &table.rows).map(|row| row.align);
    let below = rows().filter(|align| *align < size).max()?;
    let from = rows().filter(|align| *align >= size).min()?;
    (from > below * 2).then_some((below * 2, from))
}

impl Reading {
    /// Probability that the page is one of these sizes.
    pub(super) fn page_probability(&self, (low, high): (Bytes, Bytes)) -> f64 {
        let inside = |key: &PageKey| matches!(key, PageKey::Size(size) if (low..=high).contains(size));
        self.pages.iter().filter(|(key, _)| inside(key)).map(|(_, probability)| probability).sum()
    }

    /// Probability that the unit's step starts at one of these alignments.
    pub(super) fn onset_probability_within(&self, (low, high): (Bytes, Bytes)) -> f64 {
        let starts = |key: &UnitKey| matches!(key, UnitKey::Size(size) if (low..=high).contains(&onset(*size)));
        self.units.iter().filter(|(key, _)| starts(key)).map(|(_, probability)| probability).sum()
    }

    /// Probability that the unit's step starts at this alignment.
    pub(super) fn onset_probability(&self, at: Bytes) -> f64 {
        self.onset_probability_within((at, at))
    }

    /// Whether there is hardly a doubt where the unit's step starts.
    fn settles_onset(&self) -> bool {
        match self.units.first() {
            Some((UnitKey::Size(size), _)) => self.onset_probability(onset(*size)) > 0.75,
            _ => false,
        }
    }

    /// Moves weight from the pages to no page.
    fn doubt_page(&mut self, stands_out: f64) {
        let mut lost = 0.0;
        for (key, probability) in &mut self.pages {
            if *key != PageKey::Unseen {
                lost += *probability * (1.0 - stands_out);
                *probability *= stands_out;
            }
        }
        for (key, probability) in &mut self.pages {
            if *key == PageKey::Unseen {
                *probability += lost;
            }
        }
        self.pages.sort_by(|left, right| right.1.total_cmp(&left.1));
    }
}

fn page_priors(keys: &[PageKey], off: Off) -> Vec<f64> {
    let weights: Vec<f64> = keys
        .iter()
        .map(|key| match key {
            PageKey::Unseen => 0.0,
            PageKey::Size(size) => off.page_weight(*size),
        })
        .collect();
    with_unseen(&weights, off.page_unseen())
}

fn unit_priors(keys: &[UnitKey], capacity: Option<Bytes>, off: Off) -> Vec<f64> {
    let weights: Vec<f64> = keys
        .iter()
        .map(|key| match key {
            UnitKey::Unseen => 0.0,
            UnitKey::Size(size) => off.unit_weight(*size) * prior::capacity_factor(capacity, *size),
        })
        .collect();
    with_unseen(&weights, off.unit_unseen())
}

/// Normalises weights to what `unseen` leaves; the first one is the unseen one.
fn with_unseen(weights: &[f64], unseen: f64) -> Vec<f64> {
    let total: f64 = weights.iter().sum();
    let scaled = |weight: &f64| if *weight > 0.0 { (1.0 - unseen) * weight / total } else { unseen };
    weights.iter().map(scaled).collect()
}

fn ranked<K: Copy>(keys: &[K], ln_weight: &[f64]) -> Option<Vec<(K, f64)>> {
    let probabilities = flashscope_stats::posterior::normalise_log(ln_weight)?;
    let mut ranked: Vec<(K, f64)> = keys.iter().copied().zip(probabilities).collect();
    ranked.sort_by(|left, right| right.1.total_cmp(&left.1));
    Some(ranked)
}
