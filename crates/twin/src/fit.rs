//! From a measurement to a model.

use crate::card::{Card, Origin, Parameter};
use crate::findings::TwinFinding;
use crate::goodness::{self, Goodness};
use crate::measured::{self, Measured};
use crate::patterns::Tuned;
use crate::refine;
use crate::replay::Replay;
use crate::shape::{self, Shape};
use crate::trust::Trust;
use crate::{FitError, drive, findings, log_card, memory, reads, writes};
use flashscope_device::Target;
use flashscope_model::Data;
use flashscope_model::observation::{FloorData, Run};
use flashscope_model::{DeviceKind, Experiment};
use flashscope_units::Bytes;
use std::collections::BTreeSet;

/// A fitted model, and how well it fits.
#[derive(Clone, Debug)]
pub struct Fit {
    /// The files that it was fitted to.
    pub sources: Vec<String>,
    /// The model file, with remarks.
    pub model: String,
    /// Every parameter that was filled in, and where it comes from.
    pub parameters: Vec<Parameter>,
    /// What became of every finding: nothing that was found is left out in silence.
    pub findings: Vec<TwinFinding>,
    /// What a reader must know first: that this is a twin of a kind of device that it is not.
    pub caution: Option<String>,
    /// Measured figures that no model here could be asked for, and why.
    pub left_out: Vec<String>,
    /// How near it comes to requests that it was not fitted to; absent where none were measured.
    pub trust: Option<Trust>,
    /// How well it fits.
    pub goodness: Goodness,
}

/// A fitted model alone.
#[derive(Clone, Debug)]
pub struct Model {
    /// The model file, without remarks.
    pub text: String,
    /// How near it comes to requests that it was not fitted to; absent where none were measured.
    pub trust: Option<Trust>,
}

/// A device that tidies up in a pause does so after half a second.
const TIDIES_UP_AFTER_NS: f64 = 500e6;

/// A kind of device that is not the likeliest must bring the figures nearer by this factor.
const LATER_KINDS: f64 = 0.97;

/// Sourced what happens, and asked whether to stop.
pub trait Watch {
    /// Number of trials of this part of the work that are done.
    fn progress(&mut self, what: &str, done: u32, total: u32);

    /// Whether the operator wants to stop.
    fn stop(&mut self) -> bool;
}

/// Nobody watches.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unattended;

impl Watch for Unattended {
    fn progress(&mut self, _what: &str, _done: u32, _total: u32) {}

    fn stop(&mut self) -> bool {
        false
    }
}

/// Fits a model to a measurement; `title` is what the model file says it is.
///
/// # Errors
/// Where the operator stops, or the model cannot be simulated.
pub fn fit(measured: &Measured, title: &str, watch: &mut dyn Watch) -> Result<Fit, FitError> {
    let Tried { mut card, shape, everything, trust } = tried(measured, title, watch)?;
    let facts = card.open(1)?.facts().clone();
    let (replay, mut left_out) = everything.fitting(&facts);
    left_out.extend(not_replayed(measured, &everything));
    let geometry = &measured.findings.geometry;
    let findings = findings::all(geometry, &card, &shape);
    let by_page = findings::caution(geometry, &findings).filter(|_| !card.is_drive());
    let cautions: Vec<String> = by_page.into_iter().chain(trust.as_ref().and_then(Trust::caution)).collect();
    let caution = (!cautions.is_empty()).then(|| cautions.join("; "));
    caution.iter().for_each(|caution| card.set_caution(caution));
    let goodness = goodness::judge(&card, &shape, &replay, watch)?;
    Ok(Fit {
        sources: measured.sources.clone(),
        model: card.text(true),
        parameters: card.parameters(),
        findings,
        caution,
        left_out,
        trust,
        goodness,
    })
}

/// The model file alone, which takes a fraction of the time: how well it fits is not looked at.
///
/// # Errors
/// As [`fit`].
pub fn fit_model(measured: &Measured, title: &str, watch: &mut dyn Watch) -> Result<Model, FitError> {
    let Tried { card, trust, .. } = tried(measured, title, watch)?;
    Ok(Model { text: card.text(false), trust })
}

/// A model whose parameters were tried out.
struct Tried {
    card: Card,
    shape: Shape,
    everything: Replay,
    trust: Option<Trust>,
}

fn tried(measured: &Measured, title: &str, watch: &mut dyn Watch) -> Result<Tried, FitError> {
    let shapes = shape::shapes(measured);
    let everything = Replay::of(&measured.observations.runs, &measured.seeds);
    let trials = everything.for_trials(&shapes.first().map_or_else(Vec::new, |shape| shape.limits.all()));
    let reading = trials.only(is_read);
    let writing = trials.only(|experiment| !is_read(experiment));

    let mut best: Option<(f64, Card, Shape)> = None;
    for (index, shape) in shapes.iter().enumerate() {
        watch.progress("kind of device", index as u32, shapes.len() as u32);
        if watch.stop() {
            return Err(FitError::Stopped);
        }
        let card = first_guess(measured, shape, title)?;
        let (writing, _) = writing.fitting(card.open(1)?.facts());
        let distance = if shapes.len() > 1 { refine::distance_of(&card, &writing)? } else { 0.0 };
        // A kind that comes later needs a reason to be taken.
        if best.as_ref().is_none_or(|(least, ..)| distance < *least * LATER_KINDS) {
            best = Some((distance, card, shape.clone()));
        }
    }
    let (_, mut card, shape) = best.ok_or(FitError::Nothing)?;
    let facts = card.open(1)?.facts().clone();
    refine::refine(&mut card, &reading.fitting(&facts).0, &reads::REFINED, "reads", watch)?;
    refine::refine(&mut card, &writing.fitting(&facts).0, &writes::REFINED, "writes", watch)?;
    let (patterns, held_out) = everything.patterns();
    let (patterns, held_out) = (patterns.fitting(&facts).0, held_out.fitting(&facts).0);
    if !patterns.experiments.is_empty() {
        card = by_patterns(card, measured, &shape, (&patterns, title), watch)?;
    }
    let trust = Trust::of(&card, &held_out);
    Ok(Tried { card, shape, everything, trust })
}

/// Tries what patterns tell; where the device may map by page, a drive as well: the nearer of the two is the twin.
fn by_patterns(
    card: Card,
    measured: &Measured,
    shape: &Shape,
    (replay, title): (&Replay, &str),
    watch: &mut dyn Watch,
) -> Result<Card, FitError> {
    let geometry = &measured.findings.geometry;
    let levers = log_card::levers(&card, measured, shape);
    let starts = log_card::starts(&card, geometry, shape);
    let (card, of_card) = Tuned { levers, settle: |_| {}, from: card.clone(), replay }.refine(starts, watch)?;
    if !drive::may_be_one(geometry) {
        return Ok(card);
    }
    let mut drive = Card::drive();
    device(&mut drive, measured, shape, title);
    let noise = NOISES.into_iter().find(|level| card.is_text("noise.level", level)).unwrap_or("bench");
    drive.set_text("noise.level", noise, Origin::Fitted("to the scatter of one block read again and again".to_owned()));
    drive::first_guess(measured, &mut drive);
    let drives = Tuned { levers: drive::levers(), settle: drive::settle, from: drive.clone(), replay };
    let (drive, of_drive) = drives.refine(drive::starts(&drive), watch)?;
    Ok(if of_drive < of_card { drive } else { card })
}

fn is_read(experiment: &Experiment) -> bool {
    use flashscope_model::Direction::Read;
    match experiment {
        Experiment::Align(plan) => plan.direction == Read,
        Experiment::FastArea(plan) => plan.direction == Read,
        Experiment::Throughput(plan) => plan.direction == Read,
        Experiment::OpenAu(_) | Experiment::OpenUnits(_) | Experiment::Fat(_) | Experiment::Program(_) => false,
        Experiment::Patterns(_) => false,
        _ => true,
    }
}

/// Runs whose figures take no part, by name.
fn not_replayed(measured: &Measured, replay: &Replay) -> Vec<String> {
    let done: BTreeSet<&str> = replay.measured.iter().map(|run| run.data.name().word()).collect();
    let all: BTreeSet<&str> = measured.observations.runs.iter().map(|run| run.data.name().word()).collect();
    all.difference(&done)
        .map(|name| format!("{name}: read by the inference only, its figures are not simulated"))
        .collect()
}

/// Everything in closed form.
fn first_guess(measured: &Measured, shape: &Shape, title: &str) -> Result<Card, FitError> {
    let mut card = Card::new()?;
    device(&mut card, measured, shape, title);
    structure(&mut card, shape);
    memory::fill(&mut card, measured, shape.page.value);
    reads::fill(&mut card, measured, shape);
    writes::fill(&mut card, measured, shape);
    noise(&mut card, measured)?;
    Ok(card)
}

fn device(card: &mut Card, measured: &Measured, shape: &Shape, title: &str) {
    let facts = measured.facts.as_ref();
    let told = || Origin::Found("as the record says".to_owned());
    let line = |text: &str| text.chars().filter(|c| !c.is_control() && *c != '"' && *c != '\\').collect::<String>();
    card.set_text("title", &line(title), Origin::Fitted(format!("to {}", line(&measured.sources.join(", ")))));
    let product = facts.map_or("TWIN".to_owned(), |facts| line(&facts.name));
    let of_facts = |why: &str| facts.map_or_else(|| Origin::Default(why.to_owned()), |_| told());
    card.set_text("device.product", &product, of_facts("the log does not tell"));
    let kind = facts.and_then(|facts| kind(facts.kind));
    let origin = if kind.is_some() { told() } else { Origin::Default("the log does not tell".to_owned()) };
    card.set_text("device.kind", kind.unwrap_or("sd-card"), origin);
    let (capacity, guessed) = measured::capacity(measured, shape.unit.value);
    let origin = guessed.map_or_else(|| Origin::Found("as the log or record says".to_owned()), Origin::Default);
    let block = facts.map_or(Bytes::SECTOR, |facts| facts.logical_block);
    card.set_size("device.capacity", capacity.align_down(block), origin);
    card.set_size("device.logical_block", block, of_facts("usual for cards"));
    let claims = facts.map(|facts| facts.claims.clone()).unwrap_or_default();
    for (path, claim) in [
        ("device.claims.allocation_unit", claims.allocation_unit),
        ("device.claims.preferred_erase", claims.preferred_erase),
        ("device.claims.erase", claims.erase),
    ] {
        if let Some(size) = claim {
            card.set_size(path, size, told());
        }
    }
    if let Some(class) = &claims.speed_class {
        card.set_text("device.claims.speed_class", &line(class), told());
    }
    let request = facts.and_then(|facts| facts.max_request);
    let origin = if request.is_some() { told() } else { Origin::Default("usual for hosts".to_owned()) };
    card.set_size("link.max_request", request.unwrap_or(Bytes::kib(512)).max(block), origin);
    let blank = measured.findings.geometry.never_written.value().is_some_and(|share| share > 0.5);
    let origin = if blank { told() } else { Origin::Default("nothing says that it was never written".to_owned()) };
    card.set_text("state.start", if blank { "blank" } else { "filled" }, origin);
}

fn kind(kind: DeviceKind) -> Option<&'static str> {
    Some(match kind {
        DeviceKind::SdCard => "sd-card",
        DeviceKind::Emmc => "emmc",
        DeviceKind::Ufs => "ufs",
        DeviceKind::Usb => "usb",
        DeviceKind::Nvme => "nvme",
        DeviceKind::Scsi => "scsi",
        _ => return None,
    })
}

fn structure(card: &mut Card, shape: &Shape) {
    let default = |why: &str| Origin::Default(why.to_owned());
    for (path, told) in [
        ("mapping.unit", &shape.unit),
        ("mapping.sub_unit", &shape.sub_unit),
        ("mapping.page", &shape.page),
        ("mapping.page_inner", &shape.page_inner),
        ("mapping.small.limit", &shape.small_limit),
    ] {
        card.set_size(path, told.value, told.origin.clone());
    }
    card.set_size("mapping.stripe", shape.unit.value, default("writes are not seen to be cut"));
    for (path, told) in [("mapping.logs_in_order", &shape.logs_in_order), ("mapping.logs_random", &shape.logs_random)] {
        card.set_count(path, u64::from(told.value), told.origin.clone());
    }
    card.set_count("mapping.small.pages", 1, default("it does not show"));
    card.set_size("mapping.random_log", shape.unit.value, default("it does not show"));
    let stream = Bytes::kib(512).align_up(shape.page.value).min(shape.unit.value);
    card.set_size("mapping.stream", stream, default("usual for cards"));
    if shape.tidies_up {
        let why = "rows after a pause are not slowed by what was written before; how long the pauses were is assumed";
        card.set_time("mapping.housekeeping.idle_after", TIDIES_UP_AFTER_NS, Origin::Fitted(why.to_owned()));
    }
    if let Some(hidden) = &shape.hidden {
        card.set_size("mapping.hidden", hidden.value, hidden.origin.clone());
    }
    if let Some((start, end)) = shape.area {
        let (start, end) = ((start + shape.in_front()), (end + shape.in_front()));
        card.set_area(start.align_down(shape.unit.value), end.align_up(shape.unit.value));
        if let Some(by_page) = &shape.area_by_page {
            card.set_flag(findings::AREA_BY_PAGE, by_page.value, by_page.origin.clone());
        }
    }
}

/// How much noise a model has around it.
const NOISES: [&str; 4] = ["none", "bench", "field", "harsh"];

/// The noise around a live measurement, by how its floor scatters; of a log nothing but minima and means is left.
fn noise(card: &mut Card, measured: &Measured) -> Result<(), FitError> {
    let floor = measured.observations.runs.iter().find(|run| matches!(run.data, Data::Floor(_)));
    let scatter = floor.and_then(scatter_of);
    let (Some(floor), Some(wanted)) = (floor, scatter) else {
        card.set_text("noise.level", "bench", Origin::Default("single times are not in the measurement".to_owned()));
        return Ok(());
    };
    let replay = Replay::of(std::slice::from_ref(floor), &[]);
    let mut nearest = ("bench", f64::MAX);
    for level in NOISES {
        let origin = Origin::Fitted("to the scatter of one block read again and again".to_owned());
        card.set_text("noise.level", level, origin);
        let found = replay.simulate(card.open(1)?, 1)?.first().and_then(scatter_of).unwrap_or(0.0);
        let off = ((found + 1.0) / (wanted + 1.0)).ln().abs();
        if off < nearest.1 {
            nearest = (level, off);
        }
    }
    let origin = Origin::Fitted("to the scatter of one block read again and again".to_owned());
    card.set_text("noise.level", nearest.0, origin);
    Ok(())
}

/// By how much the middle time of a floor lies above its smallest, in nanoseconds.
fn scatter_of(run: &Run) -> Option<f64> {
    let Data::Floor(FloorData { times, .. }) = &run.data else { return None };
    let times: Vec<f64> = times.iter().map(|time| time.as_f64()).collect();
    let least = times.iter().copied().fold(f64::MAX, f64::min);
    flashscope_stats::location::median(&times).map(|middle| middle - least)
}
