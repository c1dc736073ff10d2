//! Units at the start that the controller treats differently, because FAT file systems hammer them.
//!
//! Every unit is held against the control units *of the same run and block size*, so that drift and absolute speed
//! cancel. Two-sided: such an area may be faster, slower, or slower for large blocks and faster for small ones.
//! Effect size and consistency over block sizes and repeats decide, not p values: with enough requests any trifle is
//! significant.

mod beside;
mod compared;
mod parts;

pub(crate) use compared::singles;
pub(crate) use parts::estimate as parts;

use crate::assumed::Known;
use crate::numbers::{digits, median, probability, rates_side_by_side};
use crate::{Memo, regions, transfer};
use compared::{Compared, Row};
use flashscope_model::finding::{AreaKind, Doubt, FastArea};
use flashscope_model::{Estimate, ExperimentName, Observations, Reason};
use flashscope_stats::location::MAD_NORMAL_FACTOR;
use flashscope_stats::normal_cdf;
use flashscope_units::Bytes;

/// A unit of a table counts as different from this factor on: what was written before makes units differ by less.
const TABLE_FACTOR: f64 = 1.5;

/// The same for transfers where every request was timed and control units were interleaved: blocks of one chip differ by
/// a few percent.
const TRIAL_FACTOR: f64 = 1.12;

/// The least such factor, where units elsewhere are alike to much less than what is usual.
const LEAST_FACTOR: f64 = 1.01;

/// The same for what a small or random request costs, which depends on what lies around it.
const COST_FACTOR: f64 = 1.3;

/// An area that differs by less is hardly one: controllers make theirs faster or slower by a fifth and more.
const MATTERS: f64 = 1.15;

/// A difference counts from this many standard errors on.
const ERRORS: f64 = 4.0;

/// No area at the start reaches further, in units.
const UNITS_AT_START: u64 = 32;

/// Blocks of at least this size show the rate of the flash, smaller ones the cost of a request.
const LARGE: Bytes = Bytes::kib(32);

/// Blocks up to this size are small.
const SMALL: Bytes = Bytes::kib(4);

/// How one unit differs.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Verdict {
    kind: AreaKind,
    /// Logarithm of the factor at large blocks.
    ln_ratio: f64,
    /// Share of rows with the same sign.
    consistent: f64,
}

/// Whether an area at the start differs, and how. Tables that do not say their unit are held against the allocation
/// unit that reads show, where they show one: addresses are worth nothing with the wrong unit.
pub(crate) fn estimate(
    observations: &Observations,
    allocation_unit: &Estimate<Bytes>,
    memo: &Memo,
) -> Estimate<FastArea> {
    let sure = allocation_unit.confidence().filter(|sure| *sure >= regions::KNOWN);
    let trials = compared::trials(observations, memo).map(|found| (found, ExperimentName::FastArea));
    let singles = || Some((compared::one_by_one(observations, memo)?, ExperimentName::Throughput));
    if let Some((mut compared, method)) = trials.or_else(singles) {
        let known = sure.filter(|_| allocation_unit.value().is_some_and(|real| compared.unit.is_multiple_of(real)));
        if known.is_none() {
            // What a random write costs in a piece of a unit depends on what was written to the rest of it.
            compared.rows.values_mut().for_each(|rows| rows.retain(|row| !row.is_scattered()));
        }
        let found = judge(&compared, TRIAL_FACTOR.ln(), method);
        if found.value().is_none_or(|area| area.kind == AreaKind::None) {
            return if found.is_unknown() { found } else { denied(observations, &compared, found, known.is_some()) };
        }
        // An area ends where a unit does. Pieces of one unit that are written in turn differ as well, for the copies that they cost.
        return match known {
            Some(_) => found,
            None => Estimate::unknown(
                Reason::NeedsAnother,
                format!(
                    "{}, but without the allocation unit nobody can say whether an area ends there",
                    found.evidence()
                ),
            ),
        };
    }
    let Some((unit, compared)) = compared::tables(observations) else {
        return Estimate::unknown(Reason::NotMeasured, "the first units were not compared with others");
    };
    let real = allocation_unit.value().or(allocation_unit.least()).filter(|_| sure.is_some());
    let larger = real.filter(|real| *real > unit.size && real.is_multiple_of(unit.size));
    match (unit.known, larger) {
        (Known::Lost, _) => Estimate::unknown(
            Reason::NeedsAnother,
            format!(
                "the tables hold no row above {}: without the row of a whole unit nobody can say where the units lie",
                unit.size
            ),
        ),
        (Known::Guessed, Some(real)) => Estimate::unknown(
            Reason::Ambiguous,
            format!(
                "the tables begin at {} and do not say their unit, while reads show units of {real}: their head may be missing",
                unit.size
            ),
        ),
        _ => judge(&compared, TABLE_FACTOR.ln(), ExperimentName::Fat),
    }
}

/// What is left of it that there is no area, by long writes: where the allocation unit is not known nobody knows where what was
/// compared would end, if an area did within it; and what the flash takes may be hidden where the transfer takes as long.
fn denied(
    observations: &Observations,
    compared: &Compared,
    mut found: Estimate<FastArea>,
    knows_unit: bool,
) -> Estimate<FastArea> {
    let begins_otherwise = || compared::begins_otherwise(observations, TRIAL_FACTOR).filter(|_| !knows_unit);
    let way = || transfer::estimate(observations).map(|line| line.rate.get());
    if let Some(ratio) = begins_otherwise() {
        let why = format!(
            "{}; but the first half of {} has {}× the rate of the second, which others do not: an area may end within it, as the \
             allocation unit is not known",
            found.evidence(),
            compared.unit,
            digits(ratio)
        );
        return Estimate::unknown(Reason::Contradicted, why);
    }
    let hidden = compared.rate_elsewhere().zip(way()).is_some_and(|(writes, way)| writes * HIDDEN > way);
    // An area at the start holds one of the first two.
    if hidden && !compared.rows.values().take(2).all(|rows| small_ones_are_alike(rows)) {
        found.add_evidence(
            "writes are as fast as transfers, which may hide what the flash takes, and small ones do not tell",
        );
        found.doubt(Doubt::WayHides);
    }
    found
}

/// Whether small writes were compared and surely take as long as elsewhere.
fn small_ones_are_alike(rows: &[Row]) -> bool {
    let small = || rows.iter().filter(|row| row.is_small());
    let error = median(&small().map(|row| row.error).collect::<Vec<f64>>());
    let ratio = typical(rows, Row::is_small);
    ratio.zip(error).is_some_and(|(ratio, error)| without_area(ratio, error).1 < MATTERS.ln())
}

/// Writes that take no more than this times what their transfer does may be hidden behind it.
const HIDDEN: f64 = 1.1;

fn judge(compared: &Compared, threshold: f64, method: ExperimentName) -> Estimate<FastArea> {
    let scatter = scatter(compared, method == ExperimentName::Fat);
    let factor = compared.by_chance().map_or(threshold, |chance| chance.clamp(LEAST_FACTOR.ln(), threshold));
    let threshold = factor.max(4.0 * scatter);
    let verdicts: Vec<(Bytes, Option<Verdict>)> =
        compared.rows.iter().map(|(at, rows)| (*at, verdict(rows, compared, threshold))).collect();
    let Some(first) = verdicts.iter().position(|(_, verdict)| verdict.is_some()) else {
        return none(compared, factor, scatter, method);
    };
    let whole: Vec<(Bytes, Verdict)> =
        verdicts[first..].iter().map_while(|(at, verdict)| verdict.map(|verdict| (*at, verdict))).collect();
    let area = as_one_area(whole, compared, threshold);
    let start = area[0].0;
    let late = start >= compared.unit * 2 && verdicts[0].0 < start;
    let stray = verdicts[first + area.len()..].iter().any(|(_, verdict)| verdict.is_some());
    if late || stray {
        return Estimate::unknown(
            Reason::Ambiguous,
            format!(
                "units differ ({}), but not as one area at the start: what was written to them before may be why",
                verdicts
                    .iter()
                    .filter(|(_, v)| v.is_some())
                    .map(|(at, _)| at.to_string())
                    .collect::<Vec<_>>()
                    .join(", ")
            ),
        );
    }
    if let Some((off, of)) = compared.as_far_off(area.iter().map(|(_, verdict)| verdict.ln_ratio)) {
        return Estimate::unknown(
            Reason::Ambiguous,
            format!(
                "units from {start} to {} differ, but so do {off} of {of} from elsewhere",
                compared.end(area[area.len() - 1].0)
            ),
        );
    }
    let open_end = first + area.len() == verdicts.len();
    found(compared, &area, scatter, open_end, method)
}

/// Units that differ in one way; or in several, where what lies side by side differs as well. What makes a kind is asked of all
/// units of a part together: small writes to one of them may differ for what lies around them.
fn as_one_area(whole: Vec<(Bytes, Verdict)>, compared: &Compared, threshold: f64) -> Vec<(Bytes, Verdict)> {
    let kind = whole[0].1.kind;
    let alike = whole.iter().take_while(|(_, verdict)| verdict.kind == kind).count();
    if alike == whole.len() {
        return whole;
    }
    let places: Vec<Bytes> = whole.iter().map(|(at, _)| *at).collect();
    let kinds: Option<Vec<AreaKind>> = parts::split(&places, compared, threshold)
        .into_iter()
        .map(|part| kind_of(&whole[part], compared, threshold))
        .collect();
    let Some(kinds) = kinds else { return whole[..alike].to_vec() };
    let kind = if kinds.iter().all(|kind| *kind == kinds[0]) { kinds[0] } else { AreaKind::Mixed };
    whole.into_iter().map(|(at, verdict)| (at, Verdict { kind, ..verdict })).collect()
}

/// In what way the units of one part differ, taken together; `None` where some are faster and some slower.
fn kind_of(part: &[(Bytes, Verdict)], compared: &Compared, threshold: f64) -> Option<AreaKind> {
    let one_way = part.iter().all(|(_, other)| other.ln_ratio * part[0].1.ln_ratio > 0.0);
    let rows: Vec<Row> = part.iter().flat_map(|(at, _)| compared.rows[at].iter().copied()).collect();
    Some(verdict(&rows, compared, threshold).filter(|_| one_way)?.kind)
}

fn found(
    compared: &Compared,
    area: &[(Bytes, Verdict)],
    scatter: f64,
    open_end: bool,
    method: ExperimentName,
) -> Estimate<FastArea> {
    let (start, verdict) = area[0];
    let end = compared.end(area[area.len() - 1].0);
    let ratios: Vec<f64> = area.iter().map(|(_, verdict)| verdict.ln_ratio).collect();
    let ratio = median(&ratios).unwrap_or(verdict.ln_ratio).exp();
    let rows = &compared.rows[&start];
    let runs = run_count(rows);
    let consistent = area.iter().map(|(_, verdict)| verdict.consistent).fold(1.0, f64::min);
    let errors: Vec<f64> = rows.iter().map(|row| row.error).collect();
    let scatter = scatter.max(median(&errors).unwrap_or(0.0)).max(0.02);
    let depth = (ratio.ln().abs() / scatter).min(30.0);
    // Rows of one run share its state: a second run counts for more than a second row.
    let seen = (rows.len().min(12) as f64 / 4.0 + runs as f64).min(6.0);
    let score = 1.0 - 0.4 * (-depth / 6.0).exp() - 0.3 * (1.0 - consistent) - 0.15 * (-seen).exp();
    let mut doubts = Vec::new();
    let mut tail = format!(", {}× its neighbours", digits(ratio));
    if open_end {
        doubts.push(Doubt::NoEnd);
        tail.push_str("; it may go on beyond the units that were compared");
    }
    if start == compared.front && compared.leaves_front_out() {
        doubts.push(Doubt::FrontUnseen);
        tail.push_str("; what lies in front of it was not compared");
    } else if compared.rows.keys().next().is_some_and(|at| *at < start)
        && method != ExperimentName::Fat
        && !copies_show(compared)
    {
        // A part that is only mapped otherwise may lie there.
        doubts.push(Doubt::MappingUnseen);
        tail.push_str("; whether what lies in front of it is mapped otherwise does not show");
    }
    if verdict.kind == AreaKind::Slower && rows.iter().any(|row| row.error > 0.0) && !small_ones_are_known(rows) {
        // Controllers make an area that is slower for long writes faster for small ones, and hardly ever the other way round.
        doubts.push(Doubt::SmallUnseen);
        tail.push_str("; small writes do not tell whether it is so for them as well");
    }
    if verdict.kind == AreaKind::Mixed && area.iter().all(|(_, other)| other.ln_ratio * verdict.ln_ratio > 0.0) {
        tail.push_str(", the other way round for small blocks");
    } else if verdict.kind == AreaKind::Mixed {
        tail.push_str(" over all of it: its parts differ");
    }
    let shown = shown(rows, compared);
    let evidence = format!(
        "{start} to {end} against other units: {} at {}{tail}, in {runs} {}",
        rates_side_by_side(shown.rates.1, shown.rates.0),
        shown.block,
        if runs == 1 { "run" } else { "runs" }
    );
    let area = FastArea { first: start, end, kind: verdict.kind, ratio };
    Estimate::known(area, probability(score), evidence, &[method]).with_doubts(doubts)
}

/// Whether a difference of small writes the other way round would have shown: where they scatter little, and take no longer
/// than long ones. Those that do are copied for, or make room for others, which hides what the flash takes for them.
fn small_ones_are_known(rows: &[Row]) -> bool {
    let errors: Vec<f64> = rows.iter().filter(|row| row.is_small()).map(|row| row.error).collect();
    let seconds = |pick: &dyn Fn(&&Row) -> bool| {
        median(&rows.iter().filter(pick).map(|row| row.block.as_f64() / row.rates.1).collect::<Vec<f64>>())
    };
    let small = seconds(&|row| row.is_small());
    let long = seconds(&|row| !row.is_small() && !row.random);
    let own_way = small.zip(long).is_some_and(|(small, long)| small <= long);
    own_way && median(&errors).is_some_and(|error| ERRORS * error < COST_FACTOR.ln())
}

/// The unit at the start of which small writes are faster than elsewhere, where nothing but the flash makes them so, and how
/// much.
fn small_ones_differ(compared: &Compared) -> Option<(Bytes, f64)> {
    let differs = |rows: &[Row]| {
        let distinct = rows.iter().filter(|row| row.is_small()).all(|row| row.distinct);
        let ratio = stands_out(rows, Row::is_small, COST_FACTOR.ln()).filter(|ratio| *ratio > 0.0);
        ratio.filter(|_| distinct && small_ones_are_known(rows))
    };
    compared.rows.iter().find_map(|(at, rows)| Some((*at, differs(rows)?.exp())))
}

/// No unit differs by enough: as sure as the most deviant one is far from the factor, measured by the scatter among units
/// that are alike. Where those differ by as much as an area would, nothing can be denied.
fn none(compared: &Compared, threshold: f64, scatter: f64, method: ExperimentName) -> Estimate<FastArea> {
    let deviation = |rows: &Vec<Row>| typical(rows, |row| compared.is_large(row)).or_else(|| typical(rows, |_| true));
    let most = compared
        .rows
        .iter()
        .filter_map(|(at, rows)| Some((*at, deviation(rows)?, shown(rows, compared), rows.len())))
        .max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
    let Some((at, ln_ratio, row, rows)) = most else {
        return Estimate::unknown(Reason::NotMeasured, "the first units were not compared with others");
    };
    if 4.0 * scatter > threshold {
        return Estimate::unknown(
            Reason::TooNoisy,
            format!(
                "units that should be alike differ by {:.0} %: an area at the start could not be told from them",
                100.0 * (scatter.exp() - 1.0)
            ),
        );
    }
    if ln_ratio.abs() >= threshold {
        return Estimate::unknown(
            Reason::Contradicted,
            format!(
                "the unit at {at} has {}× the rate of others, but not in every run and block size",
                digits(ln_ratio.exp())
            ),
        );
    }
    if let Some((at, ratio)) = small_ones_differ(compared) {
        return Estimate::unknown(
            Reason::Contradicted,
            format!(
                "long writes to the unit at {at} are as fast as elsewhere, and small ones {}×: the way to the flash may hide what \
                 it takes",
                digits(ratio)
            ),
        );
    }
    let (confidence, excluded) = if row.error > 0.0 {
        without_area(ln_ratio, row.error)
    } else {
        let closeness = ln_ratio.abs() / threshold;
        // Scatter has heavier tails than a normal one: twice its width.
        let room = (threshold - ln_ratio.abs()) / (2.0 * scatter.max(0.02));
        let enough = 1.0 - 0.3 * (-(rows as f64) / 2.0).exp();
        (normal_cdf(room) * enough - 0.4 * (closeness - 0.2).max(0.0), threshold)
    };
    if row.error > 0.0 && confidence < LEAST_NONE {
        return Estimate::unknown(
            Reason::TooNoisy,
            format!(
                "no unit stands out, but requests scatter so much that a difference of {:.0} % could hide in it",
                100.0 * (excluded.exp() - 1.0)
            ),
        );
    }
    let area = FastArea { first: Bytes::ZERO, end: Bytes::ZERO, kind: AreaKind::None, ratio: 1.0 };
    let evidence = format!(
        "none of {} units stands out: the farthest off, at {at}, has {}× the rate of the others ({} at {}){}",
        compared.rows.len(),
        digits(ln_ratio.exp()),
        rates_side_by_side(row.rates.1, row.rates.0),
        row.block,
        // What a table leaves open no sample can say.
        if row.error > 0.0 {
            format!("; differences of {:.0} % and more are excluded", 100.0 * (excluded.exp() - 1.0))
        } else {
            String::new()
        }
    );
    let mut found = Estimate::known(area, probability(confidence), evidence, &[method]);
    // An area that is only mapped otherwise shows where random writes are copied for.
    if row.error > 0.0 && !copies_show(compared) {
        found.doubt(Doubt::MappingUnseen);
    }
    // The piece in front of the first whole unit may be all that there is of an area.
    if compared.leaves_front_out() {
        found.doubt(Doubt::FrontUnseen);
    }
    found
}

/// A random write that is copied for has less than this share of the rate of long transfers.
const COPIED_FOR: f64 = 0.1;

/// Whether random writes were copied for in the units that the first ones were compared with.
fn copies_show(compared: &Compared) -> bool {
    let control = |pick: &dyn Fn(&Row) -> bool| {
        median(&compared.rows.values().flatten().filter(|row| pick(row)).map(|row| row.rates.1).collect::<Vec<f64>>())
    };
    let long = control(&|row| compared.is_large(row) && !row.random);
    let scattered = control(&|row| row.random && row.block > SMALL);
    long.zip(scattered).is_some_and(|(long, scattered)| scattered < COPIED_FOR * long)
}

/// A factor that copies make, and flash does not.
const COPIES: f64 = 3.0;

/// An area is denied with no less confidence than this.
const LEAST_NONE: f64 = 0.7;

/// Probability that there is no difference that matters (equivalence, by two one-sided tests), and the difference that is
/// excluded at 95 %.
fn without_area(ln_ratio: f64, error: f64) -> (f64, f64) {
    let error = error.max(0.01);
    let confidence = normal_cdf((MATTERS.ln() - ln_ratio.abs()) / error);
    (confidence, ln_ratio.abs() + 1.645 * error)
}

/// How one unit differs, if it does in every run and nearly every row.
fn verdict(rows: &[Row], compared: &Compared, threshold: f64) -> Option<Verdict> {
    let is_long = |row: &Row| compared.is_large(row);
    let cost = threshold.max(COST_FACTOR.ln());
    let usual = threshold.max(TRIAL_FACTOR.ln());
    let (large, small) = (stands_out(rows, is_long, threshold), stands_out(rows, Row::is_small, cost));
    // What is mapped otherwise escapes copies, which cost many times what a page does; nothing makes them dearer.
    let scattered = stands_out(rows, Row::is_scattered, COPIES.ln()).filter(|ratio| *ratio > 0.0);
    let small_rows = rows.iter().filter(|row| row.is_small()).count();
    let has_large = rows.iter().any(is_long);
    let (lead, pick): (f64, &dyn Fn(&Row) -> bool) = match (large, scattered, small) {
        (Some(large), ..) => (large, &is_long),
        // Transfers take as long as elsewhere, and random writes do not: they take a separate path there.
        (None, Some(scattered), _) => (scattered, &Row::is_scattered),
        (None, None, Some(small)) if small_rows >= 2 || !has_large => (small, &Row::is_small),
        _ if !has_large => (stands_out(rows, |_| true, threshold)?, &|_| true),
        _ => return None,
    };
    let chosen: Vec<&Row> = rows.iter().filter(|row| pick(row)).collect();
    let same = chosen.iter().filter(|row| row.ln_ratio * lead > 0.0 && row.distinct).count();
    let consistent = same as f64 / chosen.len() as f64;
    let every_run = (0..=chosen.iter().map(|row| row.run).max()?).all(|run| {
        let ratios: Vec<f64> =
            chosen.iter().filter(|row| row.run == run).map(|row| row.ln_ratio * lead.signum()).collect();
        median(&ratios).is_none_or(|ratio| ratio >= 0.6 * threshold)
    });
    if consistent < 0.8 || !every_run {
        return None;
    }
    let opposite = large.is_some() && stands_out(rows, Row::is_small, usual).is_some_and(|small| small * lead < 0.0);
    let kind = match (opposite, lead > 0.0) {
        (true, _) => AreaKind::Mixed,
        (false, true) => AreaKind::Faster,
        (false, false) => AreaKind::Slower,
    };
    // The figure that people quote is the one of the largest blocks, where a request costs next to nothing.
    let largest = typical(rows, |row| compared.is_large(row) && row.block * 8 >= compared.unit);
    Some(Verdict { kind, ln_ratio: largest.or(large).unwrap_or(lead), consistent })
}

/// By how much the rows of a kind differ, where that is enough, and more than chance makes.
fn stands_out(rows: &[Row], pick: impl Fn(&Row) -> bool, least: f64) -> Option<f64> {
    let ratio = typical(rows, &pick)?;
    let errors: Vec<f64> = rows.iter().filter(|row| pick(row)).map(|row| row.error).collect();
    let error = median(&errors).unwrap_or(0.0);
    (ratio.abs() >= least.max(ERRORS * error)).then_some(ratio)
}

fn typical(rows: &[Row], pick: impl Fn(&Row) -> bool) -> Option<f64> {
    let ratios: Vec<f64> = rows.iter().filter(|row| pick(row)).map(|row| row.ln_ratio).collect();
    median(&ratios)
}

/// The row to show: the middle one of the large rows, else of all.
fn shown(rows: &[Row], compared: &Compared) -> Row {
    let mut sorted: Vec<Row> = rows.iter().filter(|row| compared.is_large(row)).copied().collect();
    if sorted.is_empty() {
        sorted = rows.to_vec();
    }
    sorted.sort_by(|a, b| a.ln_ratio.total_cmp(&b.ln_ratio));
    sorted[sorted.len() / 2]
}

fn run_count(rows: &[Row]) -> usize {
    let mut runs: Vec<usize> = rows.iter().map(|row| row.run).collect();
    runs.sort_unstable();
    runs.dedup();
    runs.len()
}

/// Scatter of one figure among units that are alike: of a table its later half; trials have samples of their own.
fn scatter(compared: &Compared, table: bool) -> f64 {
    if !table {
        return 0.0;
    }
    let controls: Vec<f64> =
        compared.rows.values().skip(compared.rows.len().div_ceil(2)).flatten().map(|row| row.ln_ratio.abs()).collect();
    MAD_NORMAL_FACTOR * median(&controls).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::run;
    use flashscope_model::observation::{FastAreaData, IntervalData, IntervalEvidence, IntervalRow, UnitTimes};
    use flashscope_model::{Data, Direction, Order};
    use flashscope_units::Nanos;

    const UNIT: Bytes = Bytes::mib(4);

    /// Units one behind the other, and three controls, whose writes take what `time` makes of theirs, by the round.
    fn trial<T>(block: Bytes, order: Order, units: (&[T], &[T; 3]), time: impl Fn(&T, u32) -> Nanos) -> Data {
        let timed = |(index, unit): (u64, &T)| UnitTimes {
            at: UNIT * index,
            times: (0..16).map(|round| time(unit, round)).collect(),
        };
        Data::FastArea(FastAreaData {
            unit: UNIT,
            reach: UNIT,
            direction: Direction::Write,
            order,
            block,
            suspects: (0..).zip(units.0).map(timed).collect(),
            controls: (100..).zip(units.1).map(timed).collect(),
        })
    }

    /// Units that take so many microseconds for a write.
    fn compared_with(block: Bytes, order: Order, suspects: &[f64], controls: [f64; 3]) -> Data {
        let time = |us: &f64, round: u32| Nanos((us * 1e3 * (1.0 + 1e-4 * f64::from(round % 4))) as u64);
        trial(block, order, (suspects, &controls), time)
    }

    fn told(data: Vec<Data>) -> Estimate<FastArea> {
        let runs = data.into_iter().map(run).collect();
        let unit = Estimate::known(UNIT, 0.99, "", &[]);
        estimate(&Observations { runs, ..Observations::default() }, &unit, &Memo::default())
    }

    #[test]
    fn a_small_difference_counts_where_units_elsewhere_are_alike() {
        let of = |controls| {
            told(vec![compared_with(Bytes::kib(256), Order::InOrder, &[950.0, 950.0, 1000.0, 1001.0], controls)])
        };
        let area = |found: Estimate<FastArea>| found.value().map(|area| (area.kind, area.end));
        assert_eq!(area(of([1000.0, 1001.0, 999.0])), Some((AreaKind::Faster, UNIT * 2)));
        assert_eq!(area(of([960.0, 1000.0, 1040.0])), Some((AreaKind::None, Bytes::ZERO)));
    }

    #[test]
    fn what_the_way_hides_is_denied_with_a_doubt() {
        // Reads of so many microseconds for 256 KiB, and twice as much for 512 KiB.
        let of = |us: u64, small: Option<[f64; 4]>| {
            let row = |kib: u64| IntervalRow {
                size: Bytes::kib(kib),
                evidence: IntervalEvidence::Times(vec![Nanos(us * 1000 * kib / 256)]),
            };
            let way = Data::Interval(IntervalData { rows: [64, 128, 256, 512].map(row).to_vec() });
            let long = compared_with(Bytes::kib(256), Order::InOrder, &[1000.0; 4], [1000.0; 3]);
            let small = small.map(|us| compared_with(Bytes::kib(4), Order::Random, &us, [300.0; 3]));
            let found = told([way, long].into_iter().chain(small).collect());
            assert_eq!(found.value().map(|area| area.kind), Some(AreaKind::None));
            found.has_doubt(Doubt::WayHides)
        };
        assert!(!of(400, None));
        assert!(of(980, None));
        // Small writes are not hidden: they take as long as elsewhere, or less. An area holds one of the first two units.
        assert!(!of(980, Some([300.0; 4])));
        assert!(of(980, Some([260.0, 300.0, 300.0, 300.0])));
        assert!(!of(980, Some([300.0, 300.0, 300.0, 260.0])));
    }

    /// Units of which so many first writes take a quarter.
    fn with_a_buffer(suspects: [u32; 4], controls: [u32; 3]) -> Data {
        let time =
            |quick: &u32, round: u32| Nanos(if round < *quick { 250_000 } else { 1_000_000 + 100 * u64::from(round) });
        trial(Bytes::kib(256), Order::InOrder, (&suspects, &controls), time)
    }

    #[test]
    fn a_write_more_or_less_to_a_buffer_is_no_difference() {
        let found = told(vec![with_a_buffer([9, 8, 8, 8], [9, 9, 8])]);
        assert_eq!(found.value().map(|area| area.kind), Some(AreaKind::None));
    }

    #[test]
    fn what_units_elsewhere_differ_by_as_well_is_no_area() {
        let of = |controls| {
            let data = compared_with(Bytes::kib(256), Order::InOrder, &[30e3, 1e3, 1e3, 1e3], controls);
            told(vec![data.clone(), data]).value().map(|area| area.kind)
        };
        assert_eq!(of([1000.0, 1001.0, 1002.0]), Some(AreaKind::Slower));
        assert_eq!(of([1000.0, 1001.0, 30e3]), None);
    }

    #[test]
    fn small_writes_that_differ_among_the_controls_say_nothing_of_an_area() {
        let long = || compared_with(Bytes::kib(256), Order::InOrder, &[500.0, 500.0, 1000.0, 1000.0], [1000.0; 3]);
        let small = |controls| compared_with(Bytes::kib(4), Order::Random, &[900.0, 300.0, 300.0, 300.0], controls);
        let kind = |controls| told(vec![long(), small(controls)]).value().map(|area| area.kind);
        assert_eq!(kind([300.0, 900.0, 600.0]), Some(AreaKind::Faster));
        // The first unit is another part than the second.
        assert_eq!(kind([300.0; 3]), Some(AreaKind::Mixed));
    }

    #[test]
    fn small_writes_to_one_unit_of_many_say_nothing_of_the_area() {
        let long = compared_with(Bytes::kib(256), Order::InOrder, &[1400.0, 1400.0, 1400.0, 1000.0], [1000.0; 3]);
        // Too little for another part.
        let small = compared_with(Bytes::kib(4), Order::Random, &[300.0, 255.0, 300.0, 300.0], [300.0; 3]);
        let found = told(vec![long, small]).value();
        assert_eq!(found.map(|area| (area.kind, area.end)), Some((AreaKind::Slower, UNIT * 3)));
    }

    #[test]
    fn a_part_is_set_apart_by_what_can_be_told_of_it() {
        let parts = |small: [f64; 4]| {
            let long = compared_with(Bytes::kib(256), Order::InOrder, &[400.0, 400.0, 400.0, 1000.0], [1000.0; 3]);
            let small = compared_with(Bytes::kib(4), Order::InOrder, &small, [300.0; 3]);
            let observations = Observations { runs: [long, small].map(run).to_vec(), ..Observations::default() };
            let (memo, unit) = (Memo::default(), Estimate::known(UNIT, 0.99, "", &[]));
            let found = parts(&observations, &estimate(&observations, &unit, &memo), &memo);
            let Estimate::Value(parts, _) = found else { panic!("{found:?}") };
            parts.iter().map(|part| part.end / UNIT).collect::<Vec<u64>>()
        };
        assert_eq!(parts([150.0, 150.0, 150.0, 300.0]), [3]);
        assert_eq!(parts([150.0, 150.0, 80.0, 300.0]), [2, 3]);
        // What a copy costs says nothing of small writes.
        assert_eq!(parts([150.0, 150.0, 6000.0, 300.0]), [3]);
    }

    #[test]
    fn without_the_unit_no_area_is_said_to_end() {
        let data = compared_with(Bytes::kib(256), Order::InOrder, &[500.0, 1000.0, 1000.0, 1000.0], [1000.0; 3]);
        let observations = Observations { runs: vec![run(data)], ..Observations::default() };
        let found = estimate(&observations, &Estimate::unknown(Reason::NothingShows, ""), &Memo::default());
        assert_eq!(found.reason(), Some(Reason::NeedsAnother));
    }
}
