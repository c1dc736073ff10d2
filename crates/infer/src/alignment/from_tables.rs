//! What printed tables answer: estimates in words from a [`Reading`].

use super::AlignmentFindings;
use super::ladder::{PageKey, UnitKey};
use super::levels::Levels;
use super::offset;
use super::printed::{self, Reading};
use super::prior::{self, Off};
use super::tables::{self, Table};
use flashscope_model::finding::{Doubt, Note, NoteKind};
use flashscope_model::{Estimate, ExperimentName, Observations, Reason};
use flashscope_units::{Bytes, Contrast};

/// A value is given from this probability on; below, a bound or nothing.
const ENOUGH: f64 = 0.85;

/// As [`ENOUGH`], for a page: so much that no single prior decides it.
const ENOUGH_FOR_PAGE: f64 = 0.9;

/// As [`ENOUGH`], for a unit whose threefold is as common: a diluted step looks the same.
const ENOUGH_AGAINST_DILUTION: f64 = 0.95;

/// A step is given as a lower bound from this probability on.
const ENOUGH_FOR_BOUND: f64 = 0.9;

/// What a size is worth at most that only the prior tells apart, because the row that would is missing.
const MOST_BY_PRIOR: f64 = 0.6;

/// The experiment's name.
const METHOD: &[ExperimentName] = &[ExperimentName::Align];

/// Reads all tables; without one, every answer says so.
pub(super) fn estimate(tables: &[Table], has_writes: bool, observations: &Observations) -> AlignmentFindings {
    estimate_with(tables, has_writes, observations, Off::None)
}

/// As [`estimate`], with a prior that is off.
pub(super) fn estimate_with(
    tables: &[Table],
    has_writes: bool,
    observations: &Observations,
    off: Off,
) -> AlignmentFindings {
    let (Some(reading), Some(finest)) = (printed::read(tables, observations.capacity, off), tables.first()) else {
        return nothing(has_writes);
    };
    let page = page(&reading, tables, finest);
    let unit = unit(&reading, tables);
    AlignmentFindings {
        boundary_offset: offset::estimate(&unit, Bytes::ZERO),
        allocation_unit: unit,
        page_inner: inner(&reading, &page),
        page_step: None,
        kinds: None,
        page,
        notes: notes(&reading),
    }
}

fn nothing(has_writes: bool) -> AlignmentFindings {
    let (reason, seen) = if has_writes {
        let mixed = "only write-align tables: their times mix writes with collections and small-write buffers, so a step in them need \
                     not be a boundary";
        (Reason::Ambiguous, mixed)
    } else {
        (Reason::NotMeasured, "no reads around boundaries were observed (align or boundaries)")
    };
    AlignmentFindings {
        allocation_unit: Estimate::unknown(reason, seen),
        boundary_offset: Estimate::unknown(reason, seen),
        page: Estimate::unknown(reason, seen),
        page_inner: Estimate::unknown(reason, seen),
        page_step: None,
        kinds: None,
        notes: Vec::new(),
    }
}

fn unit(reading: &Reading, tables: &[Table]) -> Estimate<Bytes> {
    let Some(longest) = tables::longest(tables) else {
        return Estimate::unknown(Reason::NotMeasured, "no align table");
    };
    let Some((best, probability)) = reading.units.iter().find_map(|(key, probability)| match key {
        UnitKey::Size(size) => Some((*size, *probability)),
        UnitKey::Unseen => None,
    }) else {
        let largest = longest.rows.last().map_or(Bytes::ZERO, |row| row.align);
        return Estimate::unknown(
            Reason::TooFew,
            format!("the largest alignment in the table is {largest}: too small to see a unit"),
        );
    };
    let onset = printed::onset(best);
    let start = reading.onset_probability(onset);
    let evidence = unit_evidence(reading.levels.as_ref(), onset, tables);
    let others = |from: Bytes| -> Vec<(Bytes, f64)> {
        let sizes = reading.units.iter().filter_map(|(key, probability)| match key {
            UnitKey::Size(size) if *size >= from => Some((*size, *probability)),
            _ => None,
        });
        sizes.filter(|(_, probability)| *probability >= 0.001).take(5).collect()
    };
    if let Some(gap) = printed::gap(tables, onset) {
        let sum = reading.onset_probability_within(gap);
        if sum < ENOUGH_FOR_BOUND {
            return no_unit(reading, longest, best, probability);
        }
        let evidence =
            format!("{evidence}; rows between {} and {} are missing, so it may begin at any of them", gap.0 / 2, gap.1);
        return Estimate::at_least(gap.0, sum, evidence, METHOD)
            .but(Doubt::RowsMissing)
            .with_alternatives(capped(others(gap.0)));
    }
    let threefold_is_common = prior::unit_weight(best * 3) >= prior::unit_weight(best);
    if probability >= if threefold_is_common { ENOUGH_AGAINST_DILUTION } else { ENOUGH } {
        let rest = others(Bytes::ZERO).into_iter().skip(1).collect();
        return Estimate::known(best, probability, evidence, METHOD).with_alternatives(rest);
    }
    if start >= ENOUGH_FOR_BOUND {
        let evidence =
            format!("{evidence}; a table of powers of two cannot tell {onset} from a multiple such as {}", onset * 3);
        return Estimate::at_least(onset, start, evidence, METHOD).with_alternatives(others(onset));
    }
    no_unit(reading, longest, best, probability)
}

/// Where nothing stands out nothing leans, either: what is likeliest then is what is usual.
fn no_unit(reading: &Reading, table: &Table, best: Bytes, probability: f64) -> Estimate<Bytes> {
    let from = match reading.pages.first() {
        Some((PageKey::Size(size), _)) => *size,
        _ => table.rows.first().map_or(Bytes::ZERO, |row| row.align),
    };
    let span: Vec<f64> = table.rows.iter().filter(|row| row.align >= from).map(|row| row.share).collect();
    let (low, high) = (span.iter().copied().fold(f64::MAX, f64::min), span.iter().copied().fold(f64::MIN, f64::max));
    let largest = table.rows.last().map_or(Bytes::ZERO, |row| row.align);
    let spread = format!("straddling costs {} to {} from {from} to {largest}", table.nanos(low), table.nanos(high));
    let flat = matches!(reading.units.first(), Some((UnitKey::Unseen, _)));
    if flat {
        Estimate::unknown(Reason::NothingShows, format!("no step that stands out above the page: {spread}"))
    } else {
        let seen = format!("no sharp step: {spread}, and {best} fits little better than its neighbours");
        Estimate::unknown(Reason::Ambiguous, seen).leaning_to(best, probability)
    }
}

fn unit_evidence(levels: Option<&Levels>, onset: Bytes, tables: &[Table]) -> String {
    let Some((levels, (low, high, middle))) = levels.and_then(|levels| levels.top.map(|top| (levels, top))) else {
        return format!("a step at {onset}");
    };
    let mut text = format!("reads that cross a {onset} boundary take {middle} longer ({low} to {high})");
    if let Some((align, level)) = levels.middle {
        text.push_str(&format!(", {level} at odd {align} ones"));
    } else if let Some((align, level)) = levels.below {
        text.push_str(&format!(", {level} at odd {align} ones"));
    }
    if let (Some(plateau), Some(_)) = (levels.plateau, levels.middle) {
        text.push_str(&format!(", {plateau} below"));
    }
    text.push_str(&format!(" ({})", runs(tables)));
    text
}

fn runs(tables: &[Table]) -> String {
    let count: usize = tables.iter().map(|table| table.runs).sum();
    let sizes = tables.len();
    let plural = |n: usize| if n == 1 { "" } else { "s" };
    if sizes == 1 {
        format!("{count} table{}", plural(count))
    } else {
        format!("{count} table{}, {sizes} block sizes", plural(count))
    }
}

fn page(reading: &Reading, tables: &[Table], finest: &Table) -> Estimate<Bytes> {
    let smallest = finest.rows.first().map_or(Bytes::ZERO, |row| row.align);
    if reading.pages.len() < 4 {
        return Estimate::unknown(
            Reason::TooFew,
            format!("the smallest alignment in the table is {smallest}: too large to see a page"),
        );
    }
    let sizes: Vec<(Bytes, f64)> = reading
        .pages
        .iter()
        .filter_map(|(key, probability)| match key {
            PageKey::Size(size) => Some((*size, *probability)),
            PageKey::Unseen => None,
        })
        .collect();
    let Some((best, probability)) = sizes.first().copied() else {
        return Estimate::unknown(Reason::NotMeasured, "no align table");
    };
    let levels = reading.levels.as_ref();
    let plateau = levels.and_then(|levels| levels.plateau);
    let rest: Vec<(Bytes, f64)> = sizes.iter().skip(1).filter(|(_, share)| *share >= 0.001).take(3).copied().collect();
    let base = levels.and_then(|levels| levels.base);
    if let (Some(gap), Some((contrast, below)), Some(level)) = (printed::gap(tables, best), base, plateau) {
        let sum = reading.page_probability(gap);
        if sum < ENOUGH {
            return no_page(reading, finest);
        }
        let evidence = format!(
            "first rise between {below} ({}) and {} ({}), and the rows between them are missing",
            signed(contrast),
            gap.1,
            signed(level)
        );
        let fitting = sizes.iter().filter(|(size, _)| (gap.0..=gap.1).contains(size)).take(4).copied().collect();
        return Estimate::between(gap.0, gap.1, sum, evidence, METHOD)
            .but(Doubt::RowsMissing)
            .with_alternatives(capped(fitting));
    }
    match (base, plateau) {
        (Some((base, below)), Some(level)) if probability >= ENOUGH_FOR_PAGE => {
            let evidence = format!("first rise between {below} ({}) and {best} ({})", signed(base), signed(level));
            Estimate::known(best, probability, evidence, METHOD).with_alternatives(rest)
        }
        (None, Some(level)) if probability >= ENOUGH_FOR_PAGE && best == smallest => {
            let evidence = format!("{level} already at the smallest alignment, {best}");
            Estimate::at_most(best, probability, evidence, METHOD)
        }
        _ => no_page(reading, finest),
    }
}

/// Sizes between which only the prior decides, none of them with more than that is worth.
fn capped(sizes: Vec<(Bytes, f64)>) -> Vec<(Bytes, f64)> {
    sizes.into_iter().map(|(size, probability)| (size, probability.min(MOST_BY_PRIOR))).collect()
}

fn no_page(reading: &Reading, table: &Table) -> Estimate<Bytes> {
    let end = reading.levels.as_ref().and_then(|levels| levels.unit_rows).map_or(Bytes::mib(1), |(start, _)| start);
    let span: Vec<f64> = table.rows.iter().filter(|row| row.align < end).map(|row| row.share).collect();
    let (low, high) = (span.iter().copied().fold(f64::MAX, f64::min), span.iter().copied().fold(f64::MIN, f64::max));
    let first = table.rows.first().map_or(Bytes::ZERO, |row| row.align);
    let seen = format!(
        "no rise stands out at small alignments: straddling costs {} to {} from {first} to below {end}",
        table.nanos(low),
        table.nanos(high)
    );
    Estimate::unknown(Reason::NothingShows, seen)
}

fn inner(reading: &Reading, page: &Estimate<Bytes>) -> Estimate<Bytes> {
    let (Some(size), Some(confidence)) = (page.value(), page.confidence()) else {
        return Estimate::unknown(Reason::NeedsAnother, "the page itself is not known");
    };
    let Some((smallest, low, high)) = reading.levels.as_ref().and_then(|levels| levels.inner) else {
        return Estimate::unknown(Reason::NothingShows, format!("no level shows inside the {size} page"));
    };
    let levels = if low == high { signed(high) } else { format!("{} to {}", signed(low), signed(high)) };
    let evidence = format!("{levels} from {smallest} on, before the full rise at {size}");
    Estimate::known(smallest, confidence, evidence, METHOD)
}

fn signed(contrast: Contrast) -> String {
    if contrast.get() < 0.0 { contrast.to_string() } else { format!("+{contrast}") }
}

fn notes(reading: &Reading) -> Vec<Note> {
    let Some((UnitKey::Size(best), _)) = reading.units.first() else { return Vec::new() };
    let onset = printed::onset(*best);
    let diluted: f64 = reading
        .units
        .iter()
        .filter(|(key, _)| matches!(key, UnitKey::Size(size) if printed::onset(*size) == onset && *size != onset))
        .map(|(_, probability)| probability)
        .sum();
    if diluted < 0.03 || reading.onset_probability(onset) < ENOUGH_FOR_BOUND {
        return Vec::new();
    }
    let text = format!(
        "the align tables read only odd multiples of powers of two, of which two in seven are multiples of {}: the step at \
         {onset} may be a diluted one",
        onset * 3
    );
    let hint = "measure with 'probe boundaries', which tests multiples of three separately";
    vec![Note::new(NoteKind::DilutedStep, text).with_hint(hint)]
}
