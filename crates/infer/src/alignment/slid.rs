//! Runs across every step of two stretches, and the grids of boundaries that stand out of them.

use super::places::Share;
use super::prior;
use flashscope_model::observation::{ScatterPlace, SlideData};
use flashscope_stats::location::median;
use flashscope_units::{Bytes, Nanos};
use std::collections::BTreeMap;

/// A fold stands out from this many standard errors on; many sizes and places are tried, and what stands out by chance costs
/// some reads.
pub(super) const STANDS_OUT: f64 = 4.0;

/// Times further off than this share of a read count as no further: a host that was away is no boundary.
const CLIPPED: f64 = 0.6;

/// Fewer boundaries of one grid are none.
pub(super) const FEWEST: usize = 3;

/// Sizes of pages that are looked for.
const PAGE_SIZES: (Bytes, Bytes) = (Bytes::kib(2), Bytes::kib(32));

/// A grid that something speaks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Grid {
    pub(super) size: Bytes,
    pub(super) phase: Bytes,
    /// Standard errors by which its boundaries stand out.
    pub(super) score: f64,
}

/// Slides that were made.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Slid {
    /// All those by steps of one size, as one.
    slides: Vec<SlideData>,
    /// The grids that stand out of them.
    pub(super) grids: Vec<Grid>,
}

impl Slid {
    pub(super) fn of(runs: &[&SlideData]) -> Slid {
        let slides = merged(runs);
        let grids = slides.iter().flat_map(of_slide).collect();
        Slid { slides, grids }
    }

    /// Whether places were read by such steps.
    pub(super) fn has(&self, step: Bytes) -> bool {
        self.slides.iter().any(|data| data.step == step)
    }
}

fn merged(runs: &[&SlideData]) -> Vec<SlideData> {
    let mut merged: BTreeMap<(Bytes, Bytes), BTreeMap<Bytes, Vec<Nanos>>> = BTreeMap::new();
    for data in runs {
        let places = merged.entry((data.block, data.step)).or_default();
        data.places.iter().for_each(|place| places.entry(place.at).or_default().extend(&place.times));
    }
    let data = |((block, step), places): ((Bytes, Bytes), BTreeMap<Bytes, Vec<Nanos>>)| {
        let places = places.into_iter().map(|(at, times)| ScatterPlace { at, times }).collect();
        SlideData { block, step, descending: false, places }
    };
    merged.into_iter().map(data).collect()
}

/// Folds a slide by every likely size, and what is left again: edges inside a unit, or a page, have grids of their own.
fn of_slide(data: &SlideData) -> Vec<Grid> {
    let share = Share::of(data.places.iter().map(|place| &place.times[..]));
    let typical = |place: &ScatterPlace| Some((place.at, share.typical(&place.times)?));
    let points: Vec<(Bytes, f64)> = data.places.iter().filter_map(typical).collect();
    let times: Vec<f64> = points.iter().map(|(_, time)| *time).collect();
    let Some(middle) = median(&times).filter(|middle| *middle > 0.0) else { return Vec::new() };
    let point = |(at, time): (Bytes, f64)| Point {
        at: at.get(),
        number: (at / data.step) as u32,
        value: (time / middle - 1.0).clamp(-CLIPPED, CLIPPED),
    };
    let mut points: Vec<Point> = points.into_iter().map(point).collect();
    let pages = data.step < PAGE_SIZES.0;
    let (least, most) = if pages { PAGE_SIZES } else { prior::UNIT_RANGE };
    let sizes: Vec<Bytes> =
        prior::sizes(least, most).filter(|size| size.is_multiple_of(data.step) && *size > data.step).collect();
    let all = deviation(&points);
    let mut found: Vec<Grid> = Vec::new();
    for _ in 0..3 {
        let scatter = deviation(&points);
        let folds = sizes.iter().filter_map(|size| fold(&points, scatter, *size, data.step));
        let best = folds.max_by(|a, b| a.score.total_cmp(&b.score));
        let Some(grid) = best.filter(|grid| grid.score >= STANDS_OUT) else { break };
        // What is left scatters less, but explains no more for that.
        found.push(Grid { score: grid.score * scatter / all, ..grid });
        take_out(&mut points, grid);
    }
    // Short stretches hold many edges of what lies inside a page, which stand out by their number; the page decides.
    if pages { found.into_iter().max_by_key(|grid| grid.size).into_iter().collect() } else { found }
}

/// A place of a slide, and by which share of the typical read its read takes longer.
struct Point {
    at: u64,
    /// How many steps lie before it.
    number: u32,
    value: f64,
}

/// Standard deviation of the values, never quite nothing.
fn deviation(points: &[Point]) -> f64 {
    let count = points.len().max(1) as f64;
    let (sum, square) =
        points.iter().fold((0.0, 0.0), |(sum, square), Point { value, .. }| (sum + value, square + value * value));
    (square / count - (sum / count).powi(2)).max(1e-12).sqrt()
}

/// The phase at which the places of a size stand out most from the rest; `deviation` is that of all.
fn fold(points: &[Point], deviation: f64, size: Bytes, step: Bytes) -> Option<Grid> {
    let phases = u32::try_from(size / step).ok()?;
    let mut sums = vec![(0.0, 0usize); phases as usize];
    for point in points {
        let phase = &mut sums[(point.number % phases) as usize];
        *phase = (phase.0 + point.value, phase.1 + 1);
    }
    let all: f64 = sums.iter().map(|(sum, _)| sum).sum();
    let count = points.len() as f64;
    let score = |(sum, n): (f64, usize)| {
        let rest = (all - sum) / (count - n as f64).max(1.0);
        (sum / n as f64 - rest) / deviation * (n as f64).sqrt()
    };
    let counted = sums.iter().enumerate().filter(|(_, (_, n))| *n >= FEWEST);
    let best = counted.map(|(index, sum)| (score(*sum), index)).max_by(|a, b| a.0.total_cmp(&b.0))?;
    let offset = points.first().map_or(0, |point| point.at % step.get());
    // The search over phases is charged: the best of so many would stand out by this by chance.
    let chance = (2.0 * f64::from(phases).ln()).sqrt();
    let phase = Bytes((best.1 as u64 * step.get() + offset) % size.get());
    Some(Grid { size, phase, score: best.0 - 0.5 * chance })
}

/// Levels the places of a grid with the rest.
fn take_out(points: &mut [Point], grid: Grid) {
    let on_grid = |point: &Point| point.at % grid.size.get() == grid.phase.get();
    let mean = |inside: bool| {
        let values: Vec<f64> =
            points.iter().filter(|point| on_grid(point) == inside).map(|point| point.value).collect();
        values.iter().sum::<f64>() / values.len().max(1) as f64
    };
    let by = mean(true) - mean(false);
    points.iter_mut().filter(|point| on_grid(point)).for_each(|point| point.value -= by);
}
