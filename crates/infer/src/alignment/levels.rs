//! The levels of a printed table once page and unit are chosen: the figures that the evidence quotes.

use super::ladder::{PageKey, UnitKey};
use super::tables::{Row, Table};
use crate::numbers::median;
use flashscope_units::{Bytes, Contrast};

/// Between these shares of a step, a row lies on a level of its own inside the step.
const INNER: (f64, f64) = (0.12, 0.6);

/// A smaller rise than this share of the access time is not called an inner page.
const SMALLEST_INNER: f64 = 0.03;

/// The levels of one reading.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Levels {
    /// Level of the smallest alignments, and the largest alignment that has it.
    pub(super) base: Option<(Contrast, Bytes)>,
    /// Level of the page's plateau.
    pub(super) plateau: Option<Contrast>,
    /// The rows of an inner page: smallest alignment, smallest and largest level.
    pub(super) inner: Option<(Bytes, Contrast, Contrast)>,
    /// Smallest alignment and level of an intermediate plateau below the unit.
    pub(super) middle: Option<(Bytes, Contrast)>,
    /// Smallest and largest level from the unit on, and their median.
    pub(super) top: Option<(Contrast, Contrast, Contrast)>,
    /// Level of the row just below the unit and its alignment.
    pub(super) below: Option<(Bytes, Contrast)>,
    /// Height of the page step as a share of the access time.
    pub(super) page_step: Option<f64>,
    /// Alignments between which the table climbs to the page's plateau.
    pub(super) page_rows: Option<(Bytes, Bytes)>,
    /// Alignments between which it climbs to the unit's level.
    pub(super) unit_rows: Option<(Bytes, Bytes)>,
}

impl Levels {
    /// Reads off the levels of the likeliest page from the table of the finest block and of the likeliest unit from the
    /// longest table.
    pub(super) fn new(finest: &Table, longest: &Table, pages: &[(PageKey, f64)], units: &[(UnitKey, f64)]) -> Levels {
        let mut levels = Levels {
            base: None,
            plateau: None,
            inner: None,
            middle: None,
            top: None,
            below: None,
            page_step: None,
            page_rows: None,
            unit_rows: None,
        };
        let unit = match units.first() {
            Some((UnitKey::Size(size), _)) => Some(*size),
            _ => None,
        };
        let page = match pages.first() {
            Some((PageKey::Size(size), _)) => Some(*size),
            _ => None,
        };
        if let Some(unit) = unit {
            levels.read_unit(longest, unit, page);
        }
        if let Some(page) = page {
            let end = levels.unit_rows.map_or(Bytes(u64::MAX), |(start, _)| start);
            levels.read_page(finest, page, end);
        }
        levels
    }

    fn read_unit(&mut self, table: &Table, unit: Bytes, page: Option<Bytes>) {
        let onset = Bytes(1 << unit.get().trailing_zeros());
        let from = page.unwrap_or(Bytes::ZERO);
        let above = shares(table, |row| row.align >= onset);
        let under: Vec<&Row> = table.rows.iter().filter(|row| row.align < onset && row.align >= from).collect();
        let (Some(top), Some(last)) = (median(&above), under.last()) else { return };
        // The plateau is what most rows below the unit share; rows just below the unit that leave it upwards are
        // an intermediate level.
        let plateau = median(&under.iter().map(|row| row.share).collect::<Vec<_>>()).unwrap_or(0.0);
        let is_middle = |row: &Row| {
            let share = (row.share - plateau) / (top - plateau);
            (INNER.0..=INNER.1).contains(&share)
        };
        let middles: Vec<&Row> = under.iter().rev().take(2).take_while(|row| is_middle(row)).copied().collect();
        if let (Some(first), true) = (middles.last(), under.len() > middles.len() + 2) {
            self.middle = Some((first.align, table.nanos(first.share)));
        }
        let (low, high) = ends(&above);
        self.top = Some((table.nanos(low), table.nanos(high), table.nanos(top)));
        self.below = Some((last.align, table.nanos(last.share)));
        self.unit_rows = Some((self.middle.map_or(onset, |(align, _)| align), onset));
    }

    fn read_page(&mut self, table: &Table, page: Bytes, end: Bytes) {
        let plateau = shares(table, |row| row.align >= page && row.align < end);
        let below: Vec<&Row> = table.rows.iter().filter(|row| row.align < page).collect();
        let (Some(level), Some(first)) = (median(&plateau), below.first()) else {
            self.plateau = median(&plateau).map(|level| table.nanos(level));
            return;
        };
        self.plateau = Some(table.nanos(level));
        let base = first.share;
        let is_inner = |row: &&&Row| (row.share - base) / (level - base) > INNER.0 && row.share - base > SMALLEST_INNER;
        // Rows of an inner page are next to the page and not the smallest one.
        let inner: Vec<&Row> = below.iter().skip(1).rev().take(2).take_while(is_inner).copied().collect();
        let bases: Vec<&Row> = below[..below.len() - inner.len()].to_vec();
        let level_of_base = median(&bases.iter().map(|row| row.share).collect::<Vec<_>>()).unwrap_or(base);
        self.base = bases.last().map(|row| (table.nanos(level_of_base), row.align));
        if let Some(smallest) = inner.last() {
            let (low, high) = ends(&inner.iter().map(|row| row.share).collect::<Vec<_>>());
            self.inner = Some((smallest.align, table.nanos(low), table.nanos(high)));
        }
        self.page_step = Some(level - level_of_base);
        self.page_rows = Some((inner.last().map_or(page, |row| row.align), page));
    }
}

fn shares(table: &Table, which: impl Fn(&Row) -> bool) -> Vec<f64> {
    table.rows.iter().filter(|row| which(row)).map(|row| row.share).collect()
}

fn ends(values: &[f64]) -> (f64, f64) {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (low, high)
}
