//! Contrasts: what straddling a boundary costs, by candidate size.

use flashscope_model::observation::{AlignData, AlignEvidence, BoundariesData, Printed, Straddle};
use flashscope_model::{Direction, Geometry};
use flashscope_stats::{interval, location};
use flashscope_units::{Bytes, Contrast, Nanos};

/// One run of `align`, `write-align` or `boundaries`.
#[derive(Clone, Debug, PartialEq)]
pub struct ContrastView {
    /// The experiment.
    pub name: &'static str,
    /// Reads or writes.
    pub direction: Direction,
    /// Block size, where known.
    pub block: Option<Bytes>,
    /// The sizes, smallest first.
    pub candidates: Vec<CandidateView>,
    /// The cost on each level that the findings tell apart.
    pub levels: Vec<LevelView>,
}

/// One candidate size or alignment.
#[derive(Clone, Debug, PartialEq)]
pub struct CandidateView {
    /// The size.
    pub size: Bytes,
    /// Hodges–Lehmann centre of the places, or the printed figure.
    pub centre: Contrast,
    /// Its 95 % interval, where there are places enough.
    pub interval: Option<(Contrast, Contrast)>,
    /// The contrast at each place; empty for a printed figure.
    pub places: Vec<Contrast>,
}

/// A level: what boundaries cost from one found size up to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelView {
    /// First size on the level.
    pub from: Bytes,
    /// Last size on the level.
    pub to: Bytes,
    /// Median of the candidates on it.
    pub value: Contrast,
}

impl ContrastView {
    /// Every contrast that is drawn: of the places, and both ends of each interval.
    pub fn reach(&self) -> impl Iterator<Item = f64> {
        self.candidates.iter().flat_map(|candidate| {
            let (low, high) = candidate.interval.unwrap_or((candidate.centre, candidate.centre));
            candidate.places.iter().copied().chain([low, high]).map(|contrast| contrast.get())
        })
    }
}

/// The view of an `align` run.
pub fn align(data: &AlignData, geometry: &Geometry) -> Option<ContrastView> {
    let mut candidates: Vec<CandidateView> = data
        .rows
        .iter()
        .filter_map(|row| match &row.evidence {
            AlignEvidence::Places(places) => candidate(row.align, places),
            AlignEvidence::Printed { pre, on, post, diff } => {
                let centre = printed_diff(*pre, *on, *post, *diff)?;
                Some(CandidateView { size: row.align, centre, interval: None, places: Vec::new() })
            }
        })
        .collect();
    candidates.sort_by_key(|candidate| candidate.size);
    let name = if data.direction == Direction::Write { "write-align" } else { "align" };
    finish(
        ContrastView { name, direction: data.direction, block: data.block, candidates, levels: Vec::new() },
        geometry,
    )
}

/// The view of a `boundaries` run.
pub fn boundaries(data: &BoundariesData, geometry: &Geometry) -> Option<ContrastView> {
    let mut candidates: Vec<CandidateView> =
        data.candidates.iter().filter_map(|found| candidate(found.size, &found.places)).collect();
    candidates.sort_by_key(|candidate| candidate.size);
    let block = Some(data.block);
    let (name, direction) = ("boundaries", Direction::Read);
    finish(ContrastView { name, direction, block, candidates, levels: Vec::new() }, geometry)
}

/// Views of the same experiment with the same block size become one: their places are put together.
pub fn merge(views: Vec<ContrastView>, geometry: &Geometry) -> Vec<ContrastView> {
    let mut merged: Vec<ContrastView> = Vec::new();
    for view in views {
        let same = |other: &&mut ContrastView| {
            (other.name, other.direction, other.block) == (view.name, view.direction, view.block)
        };
        match merged.iter_mut().find(same) {
            Some(into) => view.candidates.into_iter().for_each(|candidate| add(candidate, &mut into.candidates)),
            None => merged.push(view),
        }
    }
    for view in &mut merged {
        view.candidates.sort_by_key(|candidate| candidate.size);
        view.levels = levels(&view.candidates, geometry);
    }
    merged
}

/// What straddling one boundary costs: the shortest time across it less the mean of the shortest times on
/// either side; `None` where one of the three was not measured.
pub fn of_place(place: &Straddle) -> Option<Contrast> {
    let shortest = |times: &[Nanos]| times.iter().min().map(|time| time.as_f64());
    Some(Contrast(shortest(&place.on)? - (shortest(&place.pre)? + shortest(&place.post)?) / 2.0))
}

/// The contrast of a printed row: `diff` where it survived, else worked out from the other columns.
pub fn printed_diff(
    pre: Option<Printed<Contrast>>,
    on: Option<Printed<Contrast>>,
    post: Option<Printed<Contrast>>,
    diff: Option<Printed<Contrast>>,
) -> Option<Contrast> {
    if let Some(diff) = diff {
        return Some(diff.value);
    }
    Some(Contrast(on?.value.get() - (pre?.value.get() + post?.value.get()) / 2.0))
}

/// Centre and interval of the places of one candidate; `None` where no place is whole.
pub fn candidate(size: Bytes, places: &[Straddle]) -> Option<CandidateView> {
    of_contrasts(size, places.iter().filter_map(of_place).collect())
}

fn add(candidate: CandidateView, into: &mut Vec<CandidateView>) {
    match into.iter_mut().find(|other| other.size == candidate.size && !other.places.is_empty()) {
        Some(other) => {
            let places = other.places.iter().chain(&candidate.places).copied().collect();
            *other = of_contrasts(candidate.size, places).unwrap_or(candidate);
        }
        None => into.push(candidate),
    }
}

fn of_contrasts(size: Bytes, places: Vec<Contrast>) -> Option<CandidateView> {
    let contrasts: Vec<f64> = places.iter().map(|contrast| contrast.get()).collect();
    let centre = Contrast(location::hodges_lehmann(&contrasts)?);
    let interval = interval::hodges_lehmann_interval(&contrasts, 0.95)
        .ok()
        .map(|interval| (Contrast(interval.low), Contrast(interval.high)));
    Some(CandidateView { size, centre, interval, places })
}

fn finish(view: ContrastView, geometry: &Geometry) -> Option<ContrastView> {
    if view.candidates.is_empty() {
        return None;
    }
    let levels = levels(&view.candidates, geometry);
    Some(ContrastView { levels, ..view })
}

/// The levels start at the page and at the allocation unit that the findings name; below the page lies one too.
fn levels(candidates: &[CandidateView], geometry: &Geometry) -> Vec<LevelView> {
    let mut starts: Vec<Bytes> = [&geometry.page_inner, &geometry.page, &geometry.allocation_unit]
        .into_iter()
        .filter_map(|estimate| estimate.value())
        .collect();
    if starts.is_empty() {
        return Vec::new();
    }
    starts.push(Bytes::ZERO);
    starts.sort();
    starts.dedup();
    let ends = starts.iter().skip(1).copied().map(Some).chain([None]);
    let level = |(&start, end): (&Bytes, Option<Bytes>)| {
        let on_it: Vec<&CandidateView> = candidates
            .iter()
            .filter(|candidate| candidate.size >= start && end.is_none_or(|end| candidate.size < end))
            .collect();
        let centres: Vec<f64> = on_it.iter().map(|candidate| candidate.centre.get()).collect();
        Some(LevelView {
            from: on_it.first()?.size,
            to: on_it.last()?.size,
            value: Contrast(location::median(&centres)?),
        })
    };
    starts.iter().zip(ends).filter_map(level).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(pre: u64, on: u64, post: u64) -> Straddle {
        let times = |ns| vec![Nanos(ns + 40), Nanos(ns)];
        Straddle { at: Bytes::ZERO, pre: times(pre), on: times(on), post: times(post) }
    }

    #[test]
    fn a_contrast_is_taken_between_minima_and_may_be_negative() {
        assert_eq!(of_place(&place(100, 250, 120)), Some(Contrast(140.0)));
        assert_eq!(of_place(&place(100, 90, 100)), Some(Contrast(-10.0)));
        assert_eq!(of_place(&Straddle { on: Vec::new(), ..place(1, 1, 1) }), None);
    }

    #[test]
    fn centre_and_interval_need_places() {
        let places: Vec<Straddle> = (0..21).map(|k| place(1_000, 1_200 + k, 1_000)).collect();
        let seen = candidate(Bytes::kib(4), &places).unwrap();
        assert_eq!(seen.centre, Contrast(210.0));
        let (low, high) = seen.interval.unwrap();
        assert!(low.get() > 204.0 && low.get() < 210.0 && high.get() > 210.0 && high.get() < 216.0, "{low} {high}");
        assert_eq!(candidate(Bytes::kib(4), &places[..1]).unwrap().interval, None);
        assert_eq!(candidate(Bytes::kib(4), &[]), None);
    }
}
