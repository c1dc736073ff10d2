//! What writes around boundaries say of the controller (write-align): they go to one place in each of several units,
//! so they also meet the limit of open units and the way of small writes.
//!
//! Averages over places sometimes hold a collection of 100 ms and sometimes do not: a mixture, which is split and
//! never averaged. This module reads the two classes only; boundaries are the business of the alignment module.

use crate::numbers::{median, probability};
use flashscope_model::finding::{Doubt, Note, NoteKind};
use flashscope_model::observation::{AlignData, AlignEvidence, Statistic};
use flashscope_model::{Data, Direction, Estimate, ExperimentName, Observations};
use flashscope_units::{Bytes, Nanos};

/// An access that waits for a collection takes at least this many times as long as one that does not.
const COLLECTED: f64 = 5.0;

/// One alignment's three times in nanoseconds.
struct Row {
    align: Bytes,
    pre: f64,
    on: f64,
    post: f64,
}

/// A run of write-align in which accesses on the grid wait for a collection and those off it do not.
struct Escape {
    block: Bytes,
    access: Bytes,
    places: u32,
    slow: f64,
    fast: f64,
    rows: usize,
}

/// Small writes that escape collection because they are not aligned to the size of a whole access.
pub(crate) fn small_write_path(observations: &Observations) -> Option<Estimate<Bytes>> {
    let escape = escapes(observations).into_iter().max_by_key(|escape| escape.rows)?;
    let evidence = format!(
        "writes of {} aligned to {} take {}, those aligned to only {} {}, in {} rows: the latter take a separate path",
        escape.access,
        escape.access,
        Nanos(escape.slow as u64),
        escape.block,
        Nanos(escape.fast as u64),
        escape.rows
    );
    let found = Estimate::known(escape.block, indirect(&escape), evidence, &[ExperimentName::WriteAlign]);
    Some(found.but(Doubt::Indirect))
}

/// A bound on the open units (sequential): the places of the experiment were too many.
pub(crate) fn open_units_bound(observations: &Observations) -> Option<Estimate<u32>> {
    let escape = escapes(observations).into_iter().max_by_key(|escape| escape.rows)?;
    let most = escape.places.checked_sub(1).filter(|most| *most > 0)?;
    let evidence = format!(
        "writes of {} to {} places in turn take {} in {} rows, where other writes take {}: more units than can be open",
        escape.access,
        escape.places,
        Nanos(escape.slow as u64),
        escape.rows,
        Nanos(escape.fast as u64)
    );
    Some(Estimate::at_most(most, indirect(&escape), evidence, &[ExperimentName::WriteAlign]).but(Doubt::Indirect))
}

/// How sure an indirect sign is. No fleet does this experiment, of which one log is public, so that this is set by hand.
fn indirect(escape: &Escape) -> f64 {
    probability(0.85 - 0.4 / escape.rows as f64)
}

/// Remarks on writes around boundaries.
pub(crate) fn notes(observations: &Observations) -> Vec<Note> {
    let Some((block, low, high, share)) = mixtures(observations).max_by(|a, b| a.3.total_cmp(&b.3)) else {
        return Vec::new();
    };
    let text = format!(
        "write-align at {block}: times fall into two classes, about {} and about {} ({:.0} % of the figures): \
             some averages hold a collection and some do not",
        Nanos(low as u64),
        Nanos(high as u64),
        share * 100.0
    );
    vec![Note::new(NoteKind::TwoClasses, text)]
}

fn escapes(observations: &Observations) -> Vec<Escape> {
    write_runs(observations).filter_map(escape).collect()
}

fn write_runs(observations: &Observations) -> impl Iterator<Item = &AlignData> {
    observations.runs.iter().filter_map(|run| match &run.data {
        Data::Align(data) if data.direction == Direction::Write => Some(data),
        _ => None,
    })
}

fn escape(data: &AlignData) -> Option<Escape> {
    let block = data.block?;
    let access = block * u64::from(data.access.max(1));
    // Only rows whose neighbours of the boundary are themselves aligned to a whole access.
    let rows: Vec<Row> = rows(data).into_iter().filter(|row| row.align >= access).collect();
    if rows.len() < 3 {
        return None;
    }
    let middle = |pick: fn(&Row) -> f64| median(&rows.iter().map(pick).collect::<Vec<f64>>());
    let (pre, on, post) = (middle(|row| row.pre)?, middle(|row| row.on)?, middle(|row| row.post)?);
    let every = rows.iter().all(|row| row.pre.min(row.post) > COLLECTED * row.on);
    (every && pre.min(post) > COLLECTED * on).then(|| Escape {
        block,
        access,
        places: places(data),
        slow: 0.5 * (pre + post),
        fast: on,
        rows: rows.len(),
    })
}

fn places(data: &AlignData) -> u32 {
    let of_row = |evidence: &AlignEvidence| match evidence {
        AlignEvidence::Places(places) => u32::try_from(places.len()).ok(),
        AlignEvidence::Printed { on, .. } => on.and_then(|printed| printed.places),
    };
    data.rows.iter().filter_map(|row| of_row(&row.evidence)).max().unwrap_or(0)
}

fn rows(data: &AlignData) -> Vec<Row> {
    data.rows
        .iter()
        .filter_map(|row| match &row.evidence {
            AlignEvidence::Printed { pre, on, post, .. } => Some(Row {
                align: row.align,
                pre: pre.as_ref()?.value.get(),
                on: on.as_ref()?.value.get(),
                post: post.as_ref()?.value.get(),
            }),
            AlignEvidence::Places(places) => {
                let lowest = |times: &[Nanos]| times.iter().min().map(|time| time.as_f64());
                let mean = |role: fn(&flashscope_model::observation::Straddle) -> &[Nanos]| {
                    let minima: Vec<f64> = places.iter().filter_map(|place| lowest(role(place))).collect();
                    (!minima.is_empty()).then(|| minima.iter().sum::<f64>() / minima.len() as f64)
                };
                Some(Row { align: row.align, pre: mean(|p| &p.pre)?, on: mean(|p| &p.on)?, post: mean(|p| &p.post)? })
            }
        })
        .collect()
}

/// Block size, the two classes and the share of the slow one, for runs whose times split widely.
fn mixtures(observations: &Observations) -> impl Iterator<Item = (Bytes, f64, f64, f64)> {
    write_runs(observations).filter_map(|data| {
        let mut times: Vec<f64> = rows(data).iter().flat_map(|row| [row.pre, row.on, row.post]).collect();
        times.retain(|time| *time > 0.0);
        times.sort_by(f64::total_cmp);
        let (at, factor) = widest_gap(&times)?;
        let single_tries = data.rows.iter().any(|row| match &row.evidence {
            AlignEvidence::Printed { on: Some(on), .. } => on.statistic != Statistic::Minimum,
            _ => true,
        });
        (factor > 2.0 && single_tries).then(|| {
            let share = (times.len() - at) as f64 / times.len() as f64;
            (
                data.block.unwrap_or_default(),
                median(&times[..at]).unwrap_or(0.0),
                median(&times[at..]).unwrap_or(0.0),
                share,
            )
        })
    })
}

/// Index after the widest gap on the logarithmic axis with at least three values on either side, and its factor.
fn widest_gap(sorted: &[f64]) -> Option<(usize, f64)> {
    (3..sorted.len().saturating_sub(2)).map(|at| (at, sorted[at] / sorted[at - 1])).max_by(|a, b| a.1.total_cmp(&b.1))
}
