//! Where boundaries begin, on devices whose units are not at multiples of their size.
//!
//! A hidden header or an area that the controller keeps to itself shifts the grid of pages and units. Tables of multiples
//! then show no unit, or a wrong one. Where that is so, reads across every step of two stretches ([`Slide`]) are
//! folded by every likely size: the fold that stands out says where boundaries may begin. That only leads to the next
//! experiment: a grid counts once contrasts were measured at places chosen by it.

use super::changes::{self, Changes};
use super::places::{Group, Place, Places};
use super::prior;
use super::slid::{FEWEST, Grid, STANDS_OUT};
use super::straddling::{plan, small_block, tidy};
use crate::Choice;
use flashscope_model::plan::{Slide, Span};
use flashscope_model::{DeviceFacts, Estimate, Experiment, Reason};
use flashscope_stats::location::{mad, median};
use flashscope_units::Bytes;

/// A unit found may be this part of the true one, where that is shifted.
const UNITS_TOGETHER: u64 = 8;

/// Places of one kind scatter by this share of an access at least.
const LEAST_SCATTER: f64 = 0.004;

/// No more grids than this are tried.
const MOST_GRIDS: usize = 6;

/// Places of one stretch, the rounds, and its length, where pages are looked for.
const PAGES: Sweep = Sweep { places: 192, rounds: 8, longest: Bytes::kib(96) };
/// The same for units. Longer stretches and more rounds showed none on 1000 devices, 127 of which had them.
const UNITS: Sweep = Sweep { places: 4096, rounds: 4, longest: Bytes::mib(64) };

struct Sweep {
    places: u64,
    rounds: u32,
    longest: Bytes,
}

/// Step where no page is known.
const USUAL_PAGE: Bytes = Bytes::kib(16);

/// What alignment says so far, as far as it matters here.
pub(super) struct Known {
    /// Whether a unit was found at the grids tried.
    pub(super) unit: bool,
    /// The likeliest unit, found or not.
    pub(super) likeliest: Option<Bytes>,
    /// The page, where one was found.
    pub(super) page: Option<Bytes>,
    /// Shift of the grid under which it was found.
    pub(super) phase: Bytes,
}

/// The next experiment on where boundaries begin; `None` where a unit was found, or where nothing more is worth trying.
pub(super) fn wanted(device: &DeviceFacts, places: &Places, known: &Known, within: Option<Span>) -> Option<Choice> {
    let (groups, tried) = (&places.groups, &places.phases);
    if known.unit {
        let grid = between(groups.first()?, known).filter(|grid| !tried.contains(&grid.phase))?;
        return (tried.len() <= MOST_GRIDS).then(|| confirm((device, within), grid, known.page));
    }
    if tried.len() <= MOST_GRIDS
        && let Some(grid) = proposed(places, known).into_iter().find(|grid| !tried.contains(&grid.phase))
    {
        return Some(confirm((device, within), grid, known.page));
    }
    if known.page.is_none() && known.phase == Bytes::ZERO && !places.slid.has(device.logical_block) {
        let why = "no page shows at multiples of its size: does it begin elsewhere?";
        return slide(device, &PAGES, device.logical_block, known.phase, within, why);
    }
    let step = known.page.unwrap_or(USUAL_PAGE).max(device.logical_block);
    let why = "no allocation unit shows at multiples of its size: do units begin elsewhere?";
    (!places.slid.has(step)).then(|| slide(device, &UNITS, step, known.phase, within, why)).flatten()
}

/// Two stretches of the part that holds data, a third and two thirds into it.
fn slide(
    device: &DeviceFacts,
    sweep: &Sweep,
    step: Bytes,
    phase: Bytes,
    within: Option<Span>,
    why: &str,
) -> Option<Choice> {
    let block = small_block(device);
    let whole = within.unwrap_or(Span { start: Bytes::ZERO, length: device.capacity });
    let start = |part: u64| {
        let from = whole.start + whole.length / 3 * part;
        from.align_down(step) + Bytes(phase.get() % step.get())
    };
    let room = (whole.length / 3).saturating_sub(step + block) / step;
    let places = (sweep.longest / step).min(sweep.places).min(room);
    (places >= 64).then(|| Choice {
        experiment: Experiment::Slide(Slide {
            block,
            step,
            starts: vec![start(1), start(2)],
            places: u32::try_from(places).unwrap_or(u32::MAX),
            rounds: sweep.rounds,
            descending: false,
        }),
        why: why.to_owned(),
    })
}

/// Contrasts at places where reads go on into another unit.
pub(super) fn at_changes(
    (device, within): (&DeviceFacts, Option<Span>),
    found: &Changes,
    known: changes::Known,
) -> Option<Choice> {
    let phase = found.phase(known)?;
    let grid = Grid { size: found.size, phase, score: 0.0 };
    Some(Choice {
        why: format!("the first read in every {} from {phase} on takes longer", found.size),
        ..confirm((device, within), grid, known.page)
    })
}

/// Contrasts at places of a grid, against those of half and of twice its size.
fn confirm((device, within): (&DeviceFacts, Option<Span>), grid: Grid, page: Option<Bytes>) -> Choice {
    let block = small_block(device);
    let room = within.map_or(device.capacity, |part| part.length);
    let pages = page.map_or(Vec::new(), |page| vec![page / 2, page, page * 2]);
    let near = [grid.size / 4, grid.size / 2, grid.size, grid.size * 2, grid.size * 3, grid.size * 4];
    let candidates = tidy(device, block, near.into_iter().chain(pages));
    Choice {
        why: format!("reads across every step stand out every {} from {} on", grid.size, grid.phase),
        experiment: Experiment::Boundaries(plan(room, block, candidates, &[], (12, 12), grid.phase)),
    }
}

/// Grids that speak for themselves, those that stand out most first: from slides, and from what places at multiples
/// left unexplained.
fn proposed(places: &Places, known: &Known) -> Vec<Grid> {
    let mut grids = places.slid.grids.clone();
    grids.sort_by(|a, b| b.score.total_cmp(&a.score));
    // Among the places at page edges alone: those inside pages have levels of their own.
    if let (Some(group), Some(page)) = (places.groups.first(), known.page) {
        let at_pages = group.places.iter().filter(|place| place.from(known.phase).is_multiple_of(page.get()));
        let points: Vec<(u64, f64)> = at_pages.map(|place| (place.at.get(), place.share)).collect();
        let mut others = of_places(&points);
        others.sort_by(|a, b| b.score.total_cmp(&a.score));
        grids.extend(others);
    }
    grids
}

/// A grid of several units that begins between its multiples, where the unit's places on it stand out from the others:
/// a larger unit that is shifted, of which the one found is only a part.
fn between(group: &Group, known: &Known) -> Option<Grid> {
    let unit = known.likeliest?.get();
    let start = known.phase.get() % unit;
    let numbered = |place: &Place| Some((place.at.get().checked_sub(start)?, place.share));
    let at_unit = group.places.iter().filter_map(numbered).filter(|(at, _)| at.is_multiple_of(unit));
    let places: Vec<(u64, f64)> = at_unit.map(|(at, share)| (at / unit, share)).collect();
    let grids = (2..=UNITS_TOGETHER).flat_map(|together| (0..together).map(move |first| (together, first)));
    let of_grid = |(together, first): (u64, u64)| {
        let (on, off): (Vec<_>, Vec<_>) = places.iter().partition(|(number, _)| number % together == first);
        let [on, off] =
            [on, off].map(|side: Vec<(u64, f64)>| side.into_iter().map(|(_, share)| share).collect::<Vec<_>>());
        let score = apart(&on, &off).filter(|score| *score >= STANDS_OUT)?;
        let phase = Bytes((first * unit + start) % (together * unit));
        Some(Grid { size: Bytes(together * unit), phase, score })
    };
    grids.filter_map(of_grid).max_by(|a, b| a.score.total_cmp(&b.score))
}

/// By how many standard errors the middle of the one lies above that of the other.
fn apart(on: &[f64], off: &[f64]) -> Option<f64> {
    if on.len().min(off.len()) <= FEWEST {
        return None;
    }
    let scatter = mad(on)?.max(mad(off)?).max(LEAST_SCATTER);
    Some((median(on)? - median(off)?) / (scatter * (1.0 / on.len() as f64 + 1.0 / off.len() as f64).sqrt()))
}

/// Grids among places that were chosen for other reasons: those that stand out must lie on one, and none of its other
/// places may fall short.
fn of_places(points: &[(u64, f64)]) -> Vec<Grid> {
    let values: Vec<f64> = points.iter().map(|(_, value)| *value).collect();
    let Some(middle) = median(&values) else { return Vec::new() };
    let above: Vec<f64> = values.iter().map(|value| value - middle).collect();
    let noise = mad(&above).unwrap_or(0.0).max(LEAST_SCATTER);
    let high: Vec<u64> = points.iter().filter(|(_, value)| value - middle > 4.0 * noise).map(|(at, _)| *at).collect();
    let mut grids = Vec::new();
    for size in prior::sizes(Bytes::kib(128), prior::UNIT_RANGE.1) {
        let mut phases: Vec<u64> = high.iter().map(|at| at % size.get()).filter(|phase| *phase > 0).collect();
        phases.sort_unstable();
        phases.dedup();
        for phase in phases.into_iter().take(32) {
            let mine: Vec<f64> =
                points.iter().filter(|(at, _)| at % size.get() == phase).map(|(_, value)| value - middle).collect();
            let short = mine.iter().filter(|value| **value <= 3.0 * noise).count();
            if mine.len() > FEWEST && short == 0 {
                let mean = mine.iter().sum::<f64>() / mine.len() as f64;
                grids.push(Grid {
                    size,
                    phase: Bytes(phase),
                    score: (mean / noise).min(20.0) * (mine.len() as f64).sqrt(),
                });
            }
        }
    }
    grids
}

/// Where the first unit begins, given the unit and the grid it was found on.
pub(super) fn estimate(unit: &Estimate<Bytes>, phase: Bytes) -> Estimate<Bytes> {
    let Some(size) = unit.value().filter(|size| *size > Bytes::ZERO) else {
        return Estimate::unknown(
            Reason::NeedsAnother,
            "the unit is not known, so that nobody can say where the first one begins",
        );
    };
    let offset = Bytes(phase.get() % size.get());
    let evidence = match offset {
        Bytes::ZERO => format!("units show at multiples of {size}"),
        _ => format!("units show at multiples of {size} plus {offset}, and not at multiples"),
    };
    let found = Estimate::known(offset, unit.confidence().unwrap_or(0.0), evidence, unit.method());
    found.with_doubts(unit.support().iter().flat_map(|support| support.doubts.iter().copied()))
}
