//! What else a reader must know: weak spots of a run, contradictions, and what would help.

use crate::change::printed::{Disagreement, disagreement};
use crate::change::{Contradiction, Scope};
use flashscope_model::capacity::Genuineness;
use flashscope_model::finding::{Geometry, Note, NoteKind};
use flashscope_model::{Data, Direction, Observations};
use flashscope_units::Bytes;
use std::collections::BTreeSet;

/// From this share on, reads say little of the flash.
const BLANK: f64 = 0.5;

/// Remarks on a whole run.
pub(crate) fn remarks(observations: &Observations, geometry: &Geometry) -> Vec<Note> {
    [
        not_genuine(observations, geometry),
        failures(observations),
        cut_short(observations),
        blank(observations, geometry),
        assumed_unit(observations, geometry),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Figures of a fake hold where its flash is.
fn not_genuine(observations: &Observations, geometry: &Geometry) -> Option<Note> {
    let kind = geometry.genuine.value().filter(|kind| *kind != Genuineness::Genuine)?;
    let there = match (geometry.true_capacity.value(), observations.capacity) {
        (Some(there), Some(claimed)) if there < claimed => format!("{there} of {claimed} keep what is written"),
        _ => "it does not keep all that is written".to_owned(),
    };
    let text = format!("no genuine device ({}): {there}", kind.name());
    Some(
        Note::new(NoteKind::NotGenuine, text)
            .with_hint("flashscope capacity DEVICE tells more, and which part can be used"),
    )
}

/// Repeats that contradict each other.
pub(crate) fn contradiction(what: String) -> Note {
    Note::new(NoteKind::Contradiction, what).with_hint(ONE_CARD)
}

/// What to do about a log of several cards.
const ONE_CARD: &str = "infer from the log of one card at a time";

/// What was measured does not go together.
pub(crate) fn changed(change: Contradiction) -> Note {
    let what = change.what;
    match change.scope {
        Scope::Cache => {
            let same = "as often as others met a cache of fast cells full: that changes nothing of the device";
            Note::new(NoteKind::CacheInBetween, format!("{what}, {same}"))
        }
        Scope::Devices => {
            let so = "what rests on tables of writes is left open, and no other answer is more than 60 % sure";
            Note::new(NoteKind::SeveralDevices, format!("{what}; {so}")).with_hint(ONE_CARD)
        }
        Scope::Counts | Scope::Writes | Scope::Everything => {
            Note::new(NoteKind::Changed, format!("{what}; no answer that rests on it is more than 60 % sure"))
                .with_hint("measure again, one device at a time and with nothing else going on")
        }
    }
}

/// Tables that are alike but for where they begin.
pub(crate) fn lost_head(observations: &Observations) -> Option<Note> {
    match disagreement(observations)? {
        Disagreement::LostHead(text) => Some(Note::new(NoteKind::LostHead, text)),
        Disagreement::Devices(_) => None,
    }
}

/// Tables of more than one device.
pub(crate) fn several_devices() -> Note {
    let text = "this log is about more than one device: its tables do not belong together, and no answer is sure";
    Note::new(NoteKind::SeveralDevices, text).with_hint(ONE_CARD)
}

/// Tables that stand in a log more than once.
pub(crate) fn copies(count: usize) -> Option<Note> {
    let text = format!("{count} tables are copies of others, figure by figure: they are no repeats, and were left out");
    (count > 0).then(|| Note::new(NoteKind::Copies, text))
}

fn failures(observations: &Observations) -> Option<Note> {
    let failures: Vec<_> = observations.runs.iter().flat_map(|run| &run.failures).collect();
    let first = failures.first()?;
    let writes = failures.iter().filter(|failure| failure.direction == Direction::Write).count();
    let text = format!(
        "{} requests failed ({writes} of them writes), the first at {}: {}",
        failures.len(),
        first.offset,
        first.reason
    );
    let hint = "a device that fails requests is not to be trusted with data, whatever its speed";
    Some(Note::new(NoteKind::Failures, text).with_hint(hint))
}

fn cut_short(observations: &Observations) -> Option<Note> {
    let names: BTreeSet<&str> =
        observations.runs.iter().filter(|run| !run.complete).map(|run| run.data.name().word()).collect();
    let text = format!("not run to their end: {}", names.iter().copied().collect::<Vec<_>>().join(", "));
    (!names.is_empty()).then(|| Note::new(NoteKind::CutShort, text))
}

/// Reads of what was never written do not touch the flash.
fn blank(observations: &Observations, geometry: &Geometry) -> Option<Note> {
    let share = crate::survey::blank_share(observations).filter(|share| *share >= BLANK)?;
    let filled = crate::pool::filled(observations).is_some();
    let text = format!(
        "{:.0} % of the device seems never written: reads there are answered without the flash, and show no geometry",
        share * 100.0
    );
    let hint = "allow a region to be filled (--allow-write, or --destroy-data=IDENTITY on a real device), or fill the device first";
    (!filled && geometry.allocation_unit.value().is_none())
        .then(|| Note::new(NoteKind::NeverWritten, text).with_hint(hint))
}

/// Units that were written as one, and turned out to be none.
fn assumed_unit(observations: &Observations, geometry: &Geometry) -> Option<Note> {
    let found = geometry.allocation_unit.value()?;
    let assumed: BTreeSet<Bytes> = observations
        .runs
        .iter()
        .filter_map(|run| match &run.data {
            Data::OpenUnits(data) => data.unit,
            Data::FastArea(data) => Some(data.unit),
            _ => None,
        })
        .filter(|unit| !unit.is_multiple_of(found))
        .collect();
    let assumed = assumed.iter().next()?;
    let text = format!(
        "writes went to units of {assumed}, and the allocation unit is {found}: what rests on them is less sure"
    );
    let hint = format!("`flashscope probe open-au` takes the unit to write by: --erase {found}");
    Some(Note::new(NoteKind::AssumedUnit, text).with_hint(hint))
}
