//! Measured boundaries of made-up devices: structure in, the same structure out.

use super::{estimate, wanted};
use crate::alignment::from_places::unit_shows;
use crate::alignment::gathering::Gathering;
use crate::alignment::structure;
use crate::tests::{of_size, run};
use flashscope_model::observation::{
    BoundariesData, CandidateData, Run, ScatterPlace, SlideData, Straddle, SurveyData, SurveyPlace,
};
use flashscope_model::plan::{Boundaries, Slide};
use flashscope_model::{Data, DeviceFacts, Estimate, Experiment, Observations};
use flashscope_stats::Rng;
use flashscope_units::{Bytes, Nanos};

/// A device as far as reads around boundaries see it; times in microseconds.
#[derive(Clone, Debug)]
pub(super) struct Device {
    pub(super) capacity: Bytes,
    pub(super) unit: Bytes,
    pub(super) unit_cost: f64,
    pub(super) middle: Option<(Bytes, f64)>,
    pub(super) page: Bytes,
    pub(super) page_cost: f64,
    pub(super) inner: Option<(Bytes, f64)>,
    pub(super) access: f64,
    /// Mean of the one-sided noise of a single read.
    pub(super) jitter: f64,
    /// Deviation of a unit's cost from place to place, as a share of it.
    pub(super) unevenness: f64,
    /// Share of places that were never written.
    pub(super) blank: f64,
    /// Shift of all boundaries.
    pub(super) phase: Bytes,
}

impl Device {
    fn cost(&self, at: Bytes, block: Bytes, rng: &mut Rng) -> f64 {
        let at = Bytes(at.get().abs_diff(self.phase.get()));
        let shows = |size: Bytes| size >= block && at.is_multiple_of(size);
        let edge = if shows(self.page) {
            self.page_cost
        } else {
            self.inner.filter(|(size, _)| shows(*size)).map_or(0.0, |(_, cost)| cost)
        };
        if at.is_multiple_of(self.unit) {
            return edge + self.unit_cost * (1.0 + self.unevenness * normal(rng));
        }
        edge + self.middle.filter(|(size, _)| at.is_multiple_of(*size)).map_or(0.0, |(_, cost)| cost)
    }

    /// Carries out the experiment.
    pub(super) fn measure(&self, plan: &Boundaries, rng: &mut Rng) -> Run {
        let mut candidates = Vec::new();
        for size in &plan.candidates {
            let excluded: Vec<Bytes> =
                plan.exclude.iter().copied().filter(|other| !size.is_multiple_of(*other)).collect();
            let count = (self.capacity.get() - plan.offset.get()) / size.get();
            let mut places: Vec<Straddle> = Vec::new();
            for _ in 0..plan.places * 50 {
                if places.len() == plan.places as usize || count < 3 {
                    break;
                }
                let grid = *size * (1 + rng.below(count as usize - 2) as u64);
                let at = grid + plan.offset;
                let taken = excluded.iter().any(|other| grid.is_multiple_of(*other));
                if !taken && places.iter().all(|place| place.at != at) {
                    places.push(self.straddle(at, plan, rng));
                }
            }
            candidates.push(CandidateData { size: *size, excluded, places });
        }
        let data = BoundariesData { block: plan.block, offset: plan.offset, rest: plan.rest, candidates };
        run(Data::Boundaries(data.into()))
    }

    fn straddle(&self, at: Bytes, plan: &Boundaries, rng: &mut Rng) -> Straddle {
        let blank = rng.unit() < self.blank;
        let cost = if blank { 0.0 } else { self.cost(at, plan.block, rng) };
        let access = if blank { 0.4 * self.access } else { self.access };
        let transfer = plan.block.as_f64() / 20.0;
        let mut times = |extra: f64| -> Vec<Nanos> {
            (0..plan.rounds)
                .map(|_| Nanos(((access + extra - self.jitter * rng.unit().max(1e-12).ln()) * 1e3 + transfer) as u64))
                .collect()
        };
        let (pre, post) = (times(0.0), times(0.0));
        Straddle { at, pre, on: times(cost), post }
    }

    /// The first read in a unit takes no longer than others here.
    fn slide(&self, plan: &Slide) -> Run {
        let mut rng = Rng::new(plan.starts[0].get() ^ u64::from(plan.rounds));
        let mut time = || Nanos(((self.access - self.jitter * rng.unit().max(1e-12).ln()) * 1e3) as u64);
        let places = plan.starts.iter().flat_map(|start| (0..u64::from(plan.places)).map(|at| *start + plan.step * at));
        let places = places.map(|at| ScatterPlace { at, times: (0..plan.rounds).map(|_| time()).collect() }).collect();
        run(Data::Slide(SlideData { block: plan.block, step: plan.step, descending: true, places }.into()))
    }

    pub(super) fn survey(&self, rng: &mut Rng) -> Run {
        let places = (0..64)
            .map(|index| SurveyPlace {
                at: Bytes::mib(index),
                uniform: (rng.unit() < self.blank).then_some(0xff),
                times: vec![Nanos::micros(self.access as u64)],
            })
            .collect();
        run(Data::Survey(SurveyData { block: Bytes::kib(4), places }))
    }
}

/// A standard normal deviate.
pub(super) fn normal(rng: &mut Rng) -> f64 {
    (-2.0 * rng.unit().max(1e-12).ln()).sqrt() * (std::f64::consts::TAU * rng.unit()).cos()
}

pub(super) fn random_device(rng: &mut Rng) -> Device {
    let kib = |sizes: &[u64], rng: &mut Rng| Bytes::kib(sizes[rng.below(sizes.len())]);
    let unit =
        kib(&[512, 1024, 1536, 2048, 3072, 4096, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 65536, 5120], rng);
    let page = kib(&[2, 4, 8, 8, 16, 16, 16, 32, 64, 48], rng);
    let page = if unit.is_multiple_of(page) { page } else { Bytes::kib(16) };
    let access = 200.0 + 1200.0 * rng.unit();
    let page_cost = access * (0.03 + 0.4 * rng.unit());
    let unit_cost = access * (0.04 + 0.5 * rng.unit());
    let capacity = Bytes::gib(2 + rng.below(60) as u64) - Bytes::kib(512 * rng.below(2000) as u64);
    let middle = (rng.unit() < 0.3).then(|| (unit / 2, unit_cost * (0.15 + 0.5 * rng.unit())));
    let inner = (rng.unit() < 0.3 && page >= Bytes::kib(16)).then(|| (page / 2, page_cost * (0.15 + 0.3 * rng.unit())));
    Device {
        capacity,
        unit,
        unit_cost,
        middle,
        page,
        page_cost,
        inner,
        access,
        jitter: access * 0.02 * rng.unit(),
        unevenness: 0.1 * rng.unit(),
        blank: if rng.unit() < 0.2 { 0.5 * rng.unit() } else { 0.0 },
        phase: Bytes::ZERO,
    }
}

fn facts(device: &Device) -> DeviceFacts {
    of_size(device.capacity)
}

/// Measures until nothing more is wanted.
pub(super) fn characterise(device: &Device, facts: &DeviceFacts, rng: &mut Rng) -> (Observations, usize) {
    let mut observations =
        Observations { capacity: Some(device.capacity), runs: vec![device.survey(rng)], ..Observations::default() };
    let mut reads = 0;
    while let Some(choice) = wanted(facts, &observations) {
        assert!(observations.runs.len() < 60, "no end: {choice:?}");
        let run = match &choice.experiment {
            Experiment::Boundaries(plan) => {
                reads += plan.candidates.len() * (3 * plan.places * plan.rounds) as usize;
                device.measure(plan, rng)
            }
            Experiment::Slide(plan) if plan.descending => {
                reads += (plan.places * plan.rounds) as usize * plan.starts.len();
                device.slide(plan)
            }
            // What is asked next is whether boundaries begin elsewhere; on these devices they do not.
            _ => break,
        };
        observations.runs.push(run);
    }
    (observations, reads)
}

/// How answers compare with the truth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Score {
    pub(super) right: usize,
    pub(super) wrong: usize,
    /// A true bound instead of a value.
    pub(super) bound: usize,
    pub(super) none: usize,
    /// Wrong values or bounds at a confidence of 0.99 or more.
    pub(super) sure_and_wrong: usize,
    /// Answers at a confidence of 0.99 or more.
    pub(super) sure: usize,
}

impl Score {
    pub(super) fn add(&mut self, estimate: &Estimate<Bytes>, truth: Option<Bytes>) {
        let wrong = match (estimate.value(), truth) {
            (Some(value), truth) => truth != Some(value),
            (None, Some(truth)) => {
                estimate.least().is_some_and(|low| low > truth) || estimate.most().is_some_and(|high| high < truth)
            }
            (None, None) => estimate.least().is_some(),
        };
        let bounded = estimate.least().is_some() || estimate.most().is_some();
        match (wrong, estimate.value().is_some(), bounded) {
            (true, ..) => self.wrong += 1,
            (false, true, _) => self.right += 1,
            (false, false, true) => self.bound += 1,
            (false, false, false) => self.none += 1,
        }
        let sure = estimate.confidence().is_some_and(|confidence| confidence >= 0.99);
        self.sure += usize::from(sure);
        self.sure_and_wrong += usize::from(sure && wrong);
    }
}

/// Scores unit and page of random devices, each first changed by `change`; a cost of zero means that nothing shows.
fn score(seed: u64, devices: usize, change: impl Fn(&mut Device, &mut Rng)) -> (Score, Score) {
    let mut rng = Rng::new(seed);
    let (mut unit, mut page) = (Score::default(), Score::default());
    for _ in 0..devices {
        let mut device = random_device(&mut rng);
        change(&mut device, &mut rng);
        let (observations, _) = characterise(&device, &facts(&device), &mut rng);
        let findings = estimate(&observations);
        unit.add(&findings.allocation_unit, (device.unit_cost > 0.0).then_some(device.unit));
        page.add(&findings.page, (device.page_cost > 0.0).then_some(device.page));
    }
    (unit, page)
}

#[test]
fn random_devices_are_recovered() {
    let (unit, page) = score(1, 60, |_, _| ());
    assert!(unit.right >= 58 && unit.wrong == 0, "{unit:?}");
    // A page of the size of the smallest read shows at every place that is tested.
    assert!(page.right + page.bound >= 57 && page.wrong == 0, "{page:?}");
}

#[test]
fn noise_makes_answers_rarer_and_not_wrong() {
    for jitter in [0.1, 0.2] {
        let (unit, page) = score(2, 20, |device, _| device.jitter = jitter * device.access);
        assert!(unit.right >= 18 && unit.wrong == 0, "jitter {jitter}: {unit:?}");
        assert!(page.right + page.bound >= 17 && page.wrong == 0, "jitter {jitter}: {page:?}");
    }
    let (unit, _) = score(8, 20, |device, _| device.unevenness = 0.3);
    assert!(unit.right >= 18 && unit.wrong == 0, "uneven: {unit:?}");
}

#[test]
fn weak_steps_are_found() {
    let (unit, _) = score(4, 25, |device, rng| {
        device.unit_cost = (0.015 + 0.03 * rng.unit()) * device.access;
        device.middle = None;
    });
    assert!(unit.right >= 23 && unit.wrong == 0, "{unit:?}");
}

#[test]
fn what_does_not_show_is_unknown() {
    let (unit, page) = score(5, 20, |device, _| {
        device.unit_cost = 0.0;
        device.middle = None;
    });
    assert!(unit.none == 20, "no unit shows: {unit:?}");
    assert!(page.wrong == 0 && page.right + page.bound >= 17, "no unit shows: {page:?}");
    let (unit, page) = score(6, 20, |device, _| {
        device.page_cost = 0.0;
        device.inner = None;
    });
    assert!(page.none == 20, "no page shows: {page:?}");
    assert!(unit.wrong == 0 && unit.right >= 18, "no page shows: {unit:?}");
    let (unit, page) = score(7, 10, |device, _| {
        (device.page_cost, device.unit_cost, device.inner, device.middle) = (0.0, 0.0, None, None);
    });
    assert!(unit.none == 10 && page.none == 10, "nothing shows: {unit:?} {page:?}");
}

#[test]
fn small_and_shifted_devices_get_no_wrong_unit() {
    let (unit, _) = score(9, 25, |device, rng| device.capacity = Bytes::mib(64 + rng.below(500) as u64));
    assert!(unit.wrong == 0 && unit.right >= 21, "small: {unit:?}");
    let (unit, _) = score(10, 15, |device, rng| device.phase = Bytes::kib(512 * (1 + rng.below(3) as u64)));
    assert!(unit.wrong == 0, "shifted: {unit:?}");
}

/// A plain device: 4 MiB units with half-unit levels, 16 KiB pages.
fn plain() -> Device {
    Device {
        capacity: Bytes::gib(8),
        unit: Bytes::mib(4),
        unit_cost: 166.0,
        middle: Some((Bytes::mib(2), 42.0)),
        page: Bytes::kib(16),
        page_cost: 82.0,
        inner: None,
        access: 700.0,
        jitter: 4.0,
        unevenness: 0.05,
        blank: 0.0,
        phase: Bytes::ZERO,
    }
}

#[test]
fn evidence_names_the_levels() {
    let device = plain();
    let (observations, reads) = characterise(&device, &facts(&device), &mut Rng::new(3));
    assert!(reads < 20_000, "{reads} reads");
    let findings = estimate(&observations);
    let unit = &findings.allocation_unit;
    assert_eq!(unit.value(), Some(Bytes::mib(4)));
    assert!(
        unit.evidence().contains("cross a 4 MiB boundary") && unit.evidence().contains("other 2 MiB boundaries"),
        "{unit:?}"
    );
    assert_eq!(findings.page.value(), Some(Bytes::kib(16)));
    assert!(findings.page.evidence().contains("first rise between 8 KiB"), "{:?}", findings.page);
    assert!(findings.page_inner.is_unknown() && findings.notes.is_empty(), "{findings:?}");
}

#[test]
fn of_two_edges_no_farther_apart_than_pages_either_may_be_the_page() {
    let device = Device {
        unit: Bytes::kib(64),
        unit_cost: 40.0,
        page: Bytes::kib(2),
        page_cost: 20.0,
        inner: None,
        middle: None,
        ..plain()
    };
    let (observations, _) = characterise(&device, &facts(&device), &mut Rng::new(5));
    let page = estimate(&observations).page;
    assert_ne!(page.value(), Some(Bytes::kib(2)), "{page:?}");
}

#[test]
fn edges_that_cost_no_more_than_those_of_pages_are_none_of_units() {
    // Whatever else speaks for a unit.
    let shows = |unit_cost: f64| {
        let device = Device { unit_cost, middle: None, jitter: 1.0, unevenness: 0.01, ..plain() };
        let (observations, _) = characterise(&device, &facts(&device), &mut Rng::new(5));
        let places = Gathering::default().places(&observations);
        let mut posterior = structure::weigh(&places).unwrap();
        posterior.best.unit = Some(device.unit);
        posterior.units = vec![(posterior.best.unit, 0.99)];
        unit_shows(&places, &posterior)
    };
    assert_eq!([20.0, -5.0].map(shows), [true, false]);
}

#[test]
fn edges_of_pages_that_cost_what_those_inside_do_are_inside_one() {
    let found = |page_cost: f64| {
        let inner = Some((Bytes::kib(8), 80.0));
        let device = Device { page_cost, inner, middle: None, jitter: 1.0, unevenness: 0.0, ..plain() };
        let (observations, _) = characterise(&device, &facts(&device), &mut Rng::new(5));
        let places = Gathering::default().places(&observations);
        let best = structure::weigh(&places).unwrap().best;
        (best.inner, best.page)
    };
    let kib = |size: u64| Some(Bytes::kib(size));
    assert_eq!([110.0, 80.0, 83.0].map(found), [(kib(8), kib(16)), (None, kib(8)), (None, kib(8))]);
}

#[test]
fn a_unit_of_24_mib_is_not_taken_for_8() {
    for seed in 0..5 {
        let device = Device { unit: Bytes::mib(24), middle: Some((Bytes::mib(8), 30.0)), ..plain() };
        let (observations, _) = characterise(&device, &facts(&device), &mut Rng::new(seed));
        assert_eq!(estimate(&observations).allocation_unit.value(), Some(Bytes::mib(24)), "seed {seed}");
    }
}

#[test]
fn never_written_devices_are_unknown_and_half_written_ones_warned_about() {
    let device = Device { blank: 1.0, ..plain() };
    let (observations, _) = characterise(&device, &facts(&device), &mut Rng::new(1));
    let findings = estimate(&observations);
    let unit = &findings.allocation_unit;
    assert!(unit.is_unknown() && unit.evidence().contains("never written"), "{unit:?}");
    let device = Device { blank: 0.5, ..plain() };
    let (observations, _) = characterise(&device, &facts(&device), &mut Rng::new(1));
    let findings = estimate(&observations);
    assert_eq!(findings.allocation_unit.value(), Some(Bytes::mib(4)));
    assert!(findings.notes.iter().any(|note| note.text.contains("never written")), "{:?}", findings.notes);
}

#[test]
fn experiments_fit_the_device() {
    let check = |capacity: Bytes, logical_block: Bytes, expect_one: bool| {
        let device = Device { capacity, ..plain() };
        let facts = DeviceFacts { logical_block, ..facts(&device) };
        let observations = Observations { capacity: Some(capacity), runs: Vec::new(), ..Observations::default() };
        let choice = wanted(&facts, &observations);
        assert_eq!(choice.is_some(), expect_one, "{capacity}");
        let Some(Experiment::Boundaries(plan)) = choice.map(|choice| choice.experiment) else { return };
        assert!((plan.block / 2).is_multiple_of(logical_block), "{plan:?}");
        for size in &plan.candidates {
            assert!(*size >= plan.block && size.is_multiple_of(logical_block) && capacity / *size >= 4, "{size}");
        }
    };
    check(Bytes::gib(8), Bytes::SECTOR, true);
    check(Bytes::gib(8), Bytes::kib(4), true);
    check(Bytes(31_914_983_424), Bytes::SECTOR, true);
    check(Bytes::kib(256), Bytes::SECTOR, true);
    check(Bytes::kib(16), Bytes::SECTOR, false);
    check(Bytes::ZERO, Bytes::SECTOR, false);
}

#[test]
fn a_handful_of_places_makes_no_sure_unit() {
    for seed in 0..4 {
        let device = Device { capacity: Bytes::mib(64), unit: Bytes::mib(12), middle: None, ..plain() };
        let (observations, _) = characterise(&device, &facts(&device), &mut Rng::new(seed));
        let unit = estimate(&observations).allocation_unit;
        assert!(unit.confidence().is_none_or(|confidence| confidence < 0.9), "seed {seed}: {unit:?}");
    }
}

#[test]
fn pages_that_begin_half_way_are_not_taken_for_half_as_large() {
    // And a little behind the middle: the reads behind it cross the edge, so that the one across the middle saves time.
    let device = Device {
        unit_cost: 0.0,
        middle: None,
        page: Bytes::kib(64),
        page_cost: -50.0,
        phase: Bytes::kib(32),
        ..plain()
    };
    for seed in 0..5 {
        let (observations, _) = characterise(&device, &facts(&device), &mut Rng::new(seed));
        let page = estimate(&observations).page;
        assert!(page.value().is_none_or(|page| page == device.page), "{page:?}");
    }
}
