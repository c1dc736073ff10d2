//! Two devices of which one differs from the other in a parameter, such that the figure of one requirement lies at a
//! stated distance from its limit.

use super::Case;
use super::functional::Functional;
use super::work::{MEASURED, Worker};
use crate::DrawError;
use crate::differences::slower;
use flashscope_model::comparison::Better;
use flashscope_stats::Rng;
use flashscope_stats::rng::stream;
use toml::{Table, Value};

/// Two devices, and how they really compare.
pub(super) struct Pair {
    /// Model files of the reference and of the candidate.
    pub(super) texts: [String; 2],
    pub(super) seed: u64,
    /// Every measured requirement's: a rate may be lower than the reference's by this part of it, a time longer.
    pub(super) limit: f64,
    /// Of each measured requirement, how far the candidate's true figure lies within its limit, in margins; below 0 it
    /// is beyond.
    pub(super) distances: [f64; MEASURED.len()],
    /// The requirement that was moved, where one was.
    pub(super) moved: Option<usize>,
    /// What the candidate is beside its times.
    pub(super) functional: Functional,
}

/// Devices that were drawn and cannot serve are passed over; so many in a row there never are.
const MOST_DRAWS: u32 = 200;
/// The true figure lies at the stated distance to within so many margins.
const CLOSE: f64 = 0.03;
/// Steps of the search for a parameter's value.
const STEPS: u32 = 10;
/// No parameter is changed by more than this factor.
const MOST_CHANGE: f64 = 12.0;
/// By how many margins a candidate is quicker than the reference that is better throughout.
const QUICKER: f64 = 2.5;

impl Pair {
    pub(super) fn draw(seed: u64, index: u32, case: Case, limit: f64, rng: &mut Rng) -> Result<Pair, DrawError> {
        for attempt in 0..MOST_DRAWS {
            let seed = stream(seed, u64::from(attempt));
            let run_seed = rng.next_u64();
            let (reference, functional) = match case {
                Case::Equal | Case::Fake | Case::LosesData | Case::RegistersLie => Functional::draw(case, seed, index)?,
                _ => Functional::sound(seed, index)?,
            };
            let Some(truth) = Truth::of(&reference, run_seed, limit) else { continue };
            let found = match case {
                Case::Equal | Case::Fake | Case::LosesData | Case::RegistersLie => Some((reference.clone(), None)),
                Case::Better => Some((slower(&reference, 1.0 / (1.0 + QUICKER * limit))?, None)),
                Case::Apart(margins) => moved(&reference, &truth, margins, rng)?,
                Case::Traded(margins) => {
                    moved(&slower(&reference, 1.0 / (1.0 + QUICKER * limit))?, &truth, margins, rng)?
                }
            };
            let Some((candidate, moved)) = found else { continue };
            let candidate = functional.planted_in(&candidate)?;
            let Some(distances) = truth.distances(&candidate) else { continue };
            if !case.is_met(&distances, moved) {
                continue;
            }
            return Ok(Pair { texts: [reference, candidate], seed: run_seed, limit, distances, moved, functional });
        }
        Err(DrawError::new(format!("no pair of devices for {case:?}")))
    }

    /// Whether it may really replace.
    pub(super) fn may_replace(&self) -> bool {
        self.functional.is_sound() && self.nearest() >= 0.0
    }

    /// The smallest distance of a figure within its limit.
    pub(super) fn nearest(&self) -> f64 {
        self.distances.iter().copied().fold(f64::INFINITY, f64::min)
    }
}

impl Case {
    /// Whether the distances are those that the case is about.
    fn is_met(self, distances: &[f64], moved: Option<usize>) -> bool {
        let others =
            || distances.iter().enumerate().filter(|(at, _)| Some(*at) != moved).map(|(_, distance)| *distance);
        match (self, moved) {
            // What was not moved stays where it was: at a whole margin, or hardly nearer to its limit.
            (Case::Apart(margins), Some(_)) => others().all(|other| other >= margins.min(1.0) - CLOSE),
            // Better by far in all others, so that whoever counts rows counts for the candidate.
            (Case::Traded(_), Some(_)) => others().all(|other| other > 1.0),
            (Case::Better, _) => others().all(|other| other > 1.5),
            _ => others().all(|other| other >= 1.0 - CLOSE),
        }
    }
}

/// What is true of the reference in the long run.
struct Truth {
    seed: u64,
    limit: f64,
    figures: [f64; MEASURED.len()],
}

impl Truth {
    fn of(text: &str, seed: u64, limit: f64) -> Option<Truth> {
        let mut figures = [0.0; MEASURED.len()];
        for (at, figure) in figures.iter_mut().enumerate() {
            *figure = long(text, seed, at)?;
        }
        Some(Truth { seed, limit, figures })
    }

    fn distances(&self, text: &str) -> Option<[f64; MEASURED.len()]> {
        let mut distances = [0.0; MEASURED.len()];
        for (at, distance) in distances.iter_mut().enumerate() {
            *distance = self.distance(text, at)?;
        }
        Some(distances)
    }

    fn distance(&self, text: &str, at: usize) -> Option<f64> {
        let ratio = long(text, self.seed, at)? / self.figures[at];
        Some(match MEASURED[at].better {
            Better::Higher => (ratio - (1.0 - self.limit)) / self.limit,
            Better::Lower => ((1.0 + self.limit) - ratio) / self.limit,
        })
    }
}

fn long(text: &str, seed: u64, at: usize) -> Option<f64> {
    Worker::open(text, seed, MEASURED[at])?.long()
}

/// The same device with one parameter changed, such that one requirement's figure lies at this distance; `None` where
/// no parameter of this device does that.
fn moved(text: &str, truth: &Truth, margins: f64, rng: &mut Rng) -> Result<Option<(String, Option<usize>)>, DrawError> {
    let table: Table = text.parse().map_err(|error| DrawError::new(format!("{error}")))?;
    let mut paths = paths(&table);
    let at = rng.below(MEASURED.len());
    let Some(begins) = truth.distance(text, at) else { return Ok(None) };
    while !paths.is_empty() {
        let path = paths.swap_remove(rng.below(paths.len()));
        let mut with = |log: f64| -> Option<(String, f64)> {
            let text = changed(&table, &path, log.exp())?;
            let distance = truth.distance(&text, at)?;
            Some((text, distance))
        };
        if let Some(text) = search(begins, margins, &mut with) {
            return Ok(Some((text, Some(at))));
        }
    }
    Ok(None)
}

/// The value of a parameter, as the logarithm of a factor by which it slows down, at which the distance is the wanted
/// one.
fn search(begins: f64, wanted: f64, with: &mut dyn FnMut(f64) -> Option<(String, f64)>) -> Option<String> {
    // Slower lies nearer to the limit, or beyond.
    let mut known = [(0.0, begins), (if wanted < begins { 0.4 } else { -0.4 }, f64::NAN)];
    known[1].1 = with(known[1].0)?.1;
    for _ in 0..STEPS {
        let [(before, of_before), (last, of_last)] = known;
        let slope = (of_last - of_before) / (last - before);
        let next = last + (wanted - of_last) / slope;
        if !next.is_finite() || next.abs() > MOST_CHANGE.ln() {
            return None;
        }
        let (text, distance) = with(next)?;
        if (distance - wanted).abs() <= CLOSE {
            return Some(text);
        }
        known = [(last, of_last), (next, distance)];
    }
    None
}

/// Every time and rate of the link and the mapping.
fn paths(table: &Table) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for section in ["link", "mapping"] {
        if let Some(Value::Table(inner)) = table.get(section) {
            collect(inner, &mut vec![section.to_owned()], &mut found);
        }
    }
    found
}

fn collect(table: &Table, path: &mut Vec<String>, found: &mut Vec<Vec<String>>) {
    for (key, value) in table {
        path.push(key.clone());
        match value {
            Value::Table(inner) => collect(inner, path, found),
            Value::Float(_) if key.ends_with("bytes_per_s") => found.push(path.clone()),
            // Idle time that a device waits for is no service time.
            _ if key.ends_with("_after") => {}
            Value::String(text) if text.parse::<flashscope_units::Nanos>().is_ok() => found.push(path.clone()),
            Value::Array(values) if values.iter().any(Value::is_str) => found.push(path.clone()),
            _ => {}
        }
        path.pop();
    }
}

/// A model file whose parameter at this path makes it slower by a factor.
fn changed(table: &Table, path: &[String], factor: f64) -> Option<String> {
    let mut table = table.clone();
    let (last, sections) = path.split_last()?;
    let mut section = &mut table;
    for name in sections {
        section = section.get_mut(name)?.as_table_mut()?;
    }
    let mut alone = Table::new();
    alone.insert(last.clone(), section.get(last)?.clone());
    let mut alone = Value::Table(alone);
    crate::differences::scale(&mut alone, factor);
    section.insert(last.clone(), alone.as_table_mut()?.remove(last)?);
    toml::to_string(&table).ok()
}
