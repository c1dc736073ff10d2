//! Tables that stand in a log twice: a copy is no repeat.
//!
//! Two runs of the same test never print the same figures throughout; what does was pasted, quoted, or saved twice.

use flashscope_model::observation::{AlignEvidence, Printed, RateEvidence, Run, Source};
use flashscope_model::{Data, Observations};
use flashscope_units::ByteRate;
use std::borrow::Cow;
use std::collections::HashMap;

/// A table of fewer figures may come out the same by chance.
const ENOUGH_FIGURES: usize = 4;

/// The observations without copies, and how many there were.
pub(crate) fn without(observations: &Observations) -> (Cow<'_, Observations>, usize) {
    let mut seen: HashMap<u64, Vec<usize>> = HashMap::new();
    let mut copies = Vec::new();
    for (index, run) in observations.runs.iter().enumerate() {
        let Some(print) = fingerprint(run) else { continue };
        let alike = seen.entry(print).or_default();
        if alike.iter().any(|other| observations.runs[*other].data == run.data) {
            copies.push(index);
        } else {
            alike.push(index);
        }
    }
    if copies.is_empty() {
        return (Cow::Borrowed(observations), 0);
    }
    let kept = observations.runs.iter().enumerate().filter(|(index, _)| copies.binary_search(index).is_err());
    let runs = kept.map(|(_, run)| run.clone()).collect();
    (Cow::Owned(Observations { capacity: observations.capacity, runs, ..Observations::default() }), copies.len())
}

/// A number that copies share and other tables hardly ever; `None` for what no log printed or is too short to tell.
fn fingerprint(run: &Run) -> Option<u64> {
    if !matches!(run.source, Source::Log { .. }) {
        return None;
    }
    let figures: Vec<f64> = match &run.data {
        Data::OpenUnits(data) => data.rows.iter().filter_map(|row| printed(&row.rate)).collect(),
        Data::Fat(data) => data.rows.iter().flat_map(|row| row.units.iter().filter_map(printed)).collect(),
        Data::Program(data) => data.rows.iter().flat_map(|row| row.columns.iter().filter_map(printed)).collect(),
        Data::Align(data) => data
            .rows
            .iter()
            .filter_map(|row| match &row.evidence {
                AlignEvidence::Printed { on: Some(on), .. } => Some(on.value.get()),
                _ => None,
            })
            .collect(),
        _ => return None,
    };
    (figures.len() >= ENOUGH_FIGURES).then(|| {
        // FNV-1a over the bits.
        figures
            .iter()
            .fold(0xcbf2_9ce4_8422_2325, |hash, figure| (hash ^ figure.to_bits()).wrapping_mul(0x0100_0000_01b3))
    })
}

fn printed(evidence: &RateEvidence) -> Option<f64> {
    match evidence {
        RateEvidence::Printed(Printed { value: ByteRate(rate), .. }) => Some(*rate),
        RateEvidence::Times(_) => None,
    }
}
