//! What lies inside an area at the start: units of it need not be alike. A controller may write one with fewer bits per
//! cell and map the next by page.
//!
//! Units side by side are held against each other in every kind of work that the trials asked of them, with the same
//! care as against units elsewhere; where one differs from those before it, a part begins.

use super::compared::{self, Compared, Row};
use super::{COPIED_FOR, COPIES, COST_FACTOR, ERRORS, TABLE_FACTOR, copies_show, median};
use crate::Memo;
use crate::numbers::digits;
use flashscope_model::finding::{AreaKind, AreaPart, Doubt, FastArea};
use flashscope_model::{Estimate, ExperimentName, Observations, Reason};
use flashscope_units::Bytes;
use std::ops::Range;

/// Long writes of two parts differ by at least this factor: blocks of one kind differ by a few percent each.
const PART_FACTOR: f64 = 1.2;

/// Logarithms of rates over those elsewhere, each with its standard error, and how writes out of order are taken.
#[derive(Clone, Copy, Debug, Default)]
struct Look {
    in_order: Option<(f64, f64)>,
    small: Option<(f64, f64)>,
    by_page: Option<bool>,
}

impl Look {
    fn is_comparable_with(&self, other: &Look) -> bool {
        self.in_order.is_some() && other.in_order.is_some()
            || self.small.is_some() && other.small.is_some()
            || self.by_page.is_some() && other.by_page.is_some()
    }
}

/// The parts of an area that was found.
pub(crate) fn estimate(observations: &Observations, area: &Estimate<FastArea>, memo: &Memo) -> Estimate<Vec<AreaPart>> {
    let score = area.confidence().unwrap_or(0.0);
    let doubts = area.support().map_or(Vec::new(), |support| support.doubts.clone());
    let Some(area) = area.value() else {
        return Estimate::unknown(Reason::NeedsAnother, "no area at the start is known");
    };
    if area.kind == AreaKind::None {
        return Estimate::unknown(Reason::Absent, "there is no area at the start");
    }
    let tables = || compared::tables(observations).map(|(_, found)| (found, TABLE_FACTOR, ExperimentName::Fat));
    let trials = compared::trials(observations, memo).map(|found| (found, PART_FACTOR, ExperimentName::FastArea));
    let singles =
        || compared::one_by_one(observations, memo).map(|found| (found, PART_FACTOR, ExperimentName::Throughput));
    let Some((compared, factor, method)) = trials.or_else(singles).or_else(tables) else {
        return Estimate::unknown(Reason::NotMeasured, "its units were not compared with each other");
    };
    let places: Vec<Bytes> = compared.rows.keys().copied().filter(|at| (area.first..area.end).contains(at)).collect();
    let parts = joined(split(&places, &compared, factor.ln()), &places, &compared, factor.ln());
    let looks: Vec<Look> = parts.iter().map(|part| told_of(&places[part.clone()], &compared)).collect();
    if looks.iter().any(|look| look.in_order.is_none() && look.small.is_none() && look.by_page.is_none()) {
        return Estimate::unknown(Reason::TooNoisy, "requests scatter too much to tell whether its units are alike");
    }
    let described: Vec<AreaPart> = parts
        .iter()
        .zip(&looks)
        .map(|(part, look)| {
            let (first, end) = (places[part.start], compared.end(places[part.end - 1]));
            described(first, end, *look)
        })
        .collect();
    let only_long = looks.iter().all(|look| look.small.is_none() && look.by_page.is_none());
    let found = Estimate::known(described, score, evidence(&places, &parts, &looks, &compared), &[method]);
    found.with_doubts(doubts.into_iter().chain(only_long.then_some(Doubt::SmallUnseen)))
}

/// Where the units at these places begin to be of another kind: the ranges of those that are alike. `least` is the
/// logarithm of the factor by which long writes differ at the least.
pub(super) fn split(places: &[Bytes], compared: &Compared, least: f64) -> Vec<Range<usize>> {
    let units = (0..places.len()).map(|index| index..index + 1);
    let look = |part: &Range<usize>| together(&places[part.clone()], compared);
    grouped(units, places, compared, |one, other| !differ(&look(one), &look(other), least))
}

/// The same, where neighbours are one part that differ in nothing that can be told of them: a unit is set apart by its own few
/// requests, and a part is described by those of all its units.
fn joined(parts: Vec<Range<usize>>, places: &[Bytes], compared: &Compared, least: f64) -> Vec<Range<usize>> {
    let look = |part: &Range<usize>| told_of(&places[part.clone()], compared);
    grouped(parts, places, compared, |one, other| {
        let (one, other) = (look(one), look(other));
        one.is_comparable_with(&other) && !differ(&one, &other, least)
    })
}

/// Pieces of an area, each with those before it where they touch and are alike: what was not compared is no part of it, as an
/// area need not be in one piece.
fn grouped(
    pieces: impl IntoIterator<Item = Range<usize>>,
    places: &[Bytes],
    compared: &Compared,
    alike: impl Fn(&Range<usize>, &Range<usize>) -> bool,
) -> Vec<Range<usize>> {
    let mut parts: Vec<Range<usize>> = Vec::new();
    for piece in pieces {
        let touches = |part: &Range<usize>| compared.end(places[part.end - 1]) == places[piece.start];
        match parts.last_mut() {
            Some(part) if touches(part) && alike(part, &piece) => part.end = piece.end,
            _ => parts.push(piece),
        }
    }
    parts
}

fn differ(one: &Look, other: &Look, least: f64) -> bool {
    let apart = |a: Option<(f64, f64)>, b: Option<(f64, f64)>, least: f64| {
        a.zip(b).is_some_and(|(a, b)| (a.0 - b.0).abs() > least.max(ERRORS * a.1.hypot(b.1)))
    };
    apart(one.in_order, other.in_order, least)
        || apart(one.small, other.small, least.max(COST_FACTOR.ln()))
        || one.by_page.zip(other.by_page).is_some_and(|(a, b)| a != b)
}

/// How these units differ from those elsewhere, taken together.
fn together(places: &[Bytes], compared: &Compared) -> Look {
    let rows: Vec<&Row> = places.iter().filter_map(|at| compared.rows.get(at)).flatten().collect();
    let of = |pick: &dyn Fn(&Row) -> bool| {
        let picked: Vec<&&Row> = rows.iter().filter(|row| pick(row)).collect();
        let ratio = median(&picked.iter().map(|row| row.ln_ratio).collect::<Vec<f64>>())?;
        let error = median(&picked.iter().map(|row| row.error).collect::<Vec<f64>>())?;
        Some((ratio, error / (places.len().max(1) as f64).sqrt()))
    };
    let scattered = of(&Row::is_scattered);
    let by_page = scattered.filter(|_| copies_show(compared)).and_then(|(ratio, error)| {
        let clear = COPIES.ln();
        // What escapes copies has the rate of long writes, where those that are copied for have less than this share of it.
        let escaped = -COPIED_FOR.ln();
        match ratio {
            ratio if ratio - ERRORS * error > clear => Some(true),
            ratio if ratio < clear / 2.0 && ratio + ERRORS * error < escaped => Some(false),
            _ => None,
        }
    });
    Look { in_order: of(&|row| compared.is_large(row)), small: of(&Row::is_small), by_page }
}

/// What can be told of it.
fn told_of(places: &[Bytes], compared: &Compared) -> Look {
    without_noise(together(places, compared))
}

/// Without figures that scatter so much that a difference which matters could hide in them.
fn without_noise(look: Look) -> Look {
    let clear = |figure: Option<(f64, f64)>, factor: f64| figure.filter(|(_, error)| ERRORS * error < factor.ln());
    // What a copy costs says nothing of the small write that caused it.
    let small = clear(look.small, COST_FACTOR).filter(|(ratio, _)| ratio.abs() < (2.0 * COPIES).ln());
    Look { in_order: clear(look.in_order, COST_FACTOR), small, ..look }
}

fn described(first: Bytes, end: Bytes, look: Look) -> AreaPart {
    let ratio = |figure: Option<(f64, f64)>| figure.map(|(ln_ratio, _)| ln_ratio.exp());
    AreaPart { first, end, in_order: ratio(look.in_order), small: ratio(look.small), by_page: look.by_page }
}

fn evidence(places: &[Bytes], parts: &[Range<usize>], looks: &[Look], compared: &Compared) -> String {
    let words = |part: &Range<usize>, look: &Look| {
        let ratio = |name: &str, figure: Option<(f64, f64)>| {
            figure.map(|(ln_ratio, _)| format!("{name} {}×", digits(ln_ratio.exp())))
        };
        let by_page = look.by_page.map(|by_page| match by_page {
            true => "random writes without copies".to_owned(),
            false => "random writes with copies, as elsewhere".to_owned(),
        });
        let all: Vec<String> = [ratio("sequential", look.in_order), ratio("small writes", look.small), by_page]
            .into_iter()
            .flatten()
            .collect();
        format!("{} to {}: {}", places[part.start], compared.end(places[part.end - 1]), all.join(", "))
    };
    let each: Vec<String> = parts.iter().zip(looks).map(|(part, look)| words(part, look)).collect();
    let alike = if parts.len() == 1 && places.len() > 1 { "its units are alike; " } else { "" };
    format!("{alike}{}", each.join("; "))
}
