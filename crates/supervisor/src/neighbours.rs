//! What the neighbour check found: rates alone and beside all others, from the records of its runs.

use crate::prepare::Lab;
use flashscope_lab::{Entry, Phase, RunState, neighbour};
use flashscope_model::lab::Neighbour;
use flashscope_supervisor::Folder;
use flashscope_view::figures::{Figure, measured};
use std::collections::BTreeSet;

/// The rounds in which all devices did their part beside each other: in any other, one had less company than the rest.
fn whole_rounds(entries: &[Entry]) -> BTreeSet<u32> {
    let beside = |entry: &&Entry| matches!(entry.run.phase, Phase::Beside(_));
    let rounds: BTreeSet<u32> = entries.iter().filter(beside).map(|entry| entry.run.phase.round()).collect();
    let is_whole = |round: &u32| {
        let of_round = entries.iter().filter(beside).filter(|entry| entry.run.phase.round() == *round);
        of_round.into_iter().all(|entry| entry.state == RunState::Done)
    };
    rounds.into_iter().filter(is_whole).collect()
}

/// Runs of rounds that an end of this program came into: some devices have done their part and others have not, so that these
/// would be without company.
pub(crate) fn broken(entries: &[Entry]) -> Vec<usize> {
    let begun: BTreeSet<u32> = entries
        .iter()
        .filter(|entry| matches!(entry.run.phase, Phase::Beside(_)) && entry.state.is_over())
        .map(|entry| entry.run.phase.round())
        .collect();
    let is_left = |entry: &Entry| {
        matches!(entry.run.phase, Phase::Beside(round) if begun.contains(&round)) && !entry.state.is_over()
    };
    (0..entries.len()).filter(|place| is_left(&entries[*place])).collect()
}

/// What comes of the check, for each real device; nothing where there was none.
pub(crate) fn judged(lab: &Lab, entries: &[Entry]) -> Vec<Neighbour> {
    let Some(check) = &lab.plan.neighbours else { return Vec::new() };
    let whole = whole_rounds(entries);
    let real = lab.devices.iter().enumerate().filter(|(_, device)| !device.simulated);
    // One device has no neighbours, and no runs of a check.
    let checked =
        real.filter(|(place, _)| entries.iter().any(|entry| entry.run.device == *place && entry.run.phase.is_check()));
    checked
        .map(|(place, device)| {
            let (mut alone, mut beside, mut named) = (Vec::new(), Vec::new(), None);
            for entry in entries.iter().filter(|entry| entry.run.device == place && entry.state == RunState::Done) {
                let values = match entry.run.phase {
                    Phase::Alone(_) => &mut alone,
                    Phase::Beside(round) if whole.contains(&round) => &mut beside,
                    _ => continue,
                };
                if let Some(figure) = figure(&lab.folder, &entry.run.id) {
                    values.push(figure.value);
                    named = Some(figure.metric);
                }
            }
            let verdict = neighbour::judge(&alone, &beside, check.margin);
            Neighbour {
                device: device.name.clone(),
                figure: named.as_ref().map_or_else(String::new, |metric| metric.name.clone()),
                unit: named.map_or_else(String::new, |metric| metric.unit),
                alone,
                beside,
                ratio: verdict.map(|verdict| verdict.ratio),
                ratio_low: verdict.and_then(|verdict| verdict.interval).map(|(low, _)| low),
                ratio_high: verdict.and_then(|verdict| verdict.interval).map(|(_, high)| high),
                margin: check.margin,
                undisturbed: verdict.is_some_and(|verdict| verdict.undisturbed),
            }
        })
        .collect()
}

/// The first figure of a load's record, the mean over its runs: the rate of its first job.
fn figure(folder: &Folder, id: &str) -> Option<Figure> {
    let text = std::fs::read_to_string(folder.path().join(Folder::record_below(id))).ok()?;
    let measured = measured(&flashscope_record::read(&text).ok()?);
    let firsts: Vec<&Figure> = measured.runs.iter().filter_map(|run| run.first()).collect();
    let mean = firsts.iter().map(|figure| figure.value).sum::<f64>() / firsts.len() as f64;
    firsts.first().map(|figure| Figure { metric: figure.metric.clone(), value: mean })
}
