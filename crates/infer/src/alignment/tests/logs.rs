//! Made-up logs of the classic test: devices in, tables as flashbench prints them, and the same devices out.

use super::estimate;
use super::live::{Score, normal};
use flashscope_model::observation::{
    AlignData, AlignEvidence, AlignRow, AreaState, Printed, Run, Source, Spent, Statistic,
};
use flashscope_model::{Data, Direction, Observations};
use flashscope_stats::Rng;
use flashscope_units::{Bytes, Contrast};
use std::collections::BTreeMap;

/// A device as the classic test sees it; times in microseconds.
#[derive(Clone, Debug)]
struct Device {
    capacity: Bytes,
    unit: Option<Bytes>,
    unit_cost: f64,
    middle: Option<(Bytes, f64)>,
    page: Bytes,
    page_cost: f64,
    inner: Option<(Bytes, f64)>,
    access: f64,
    /// Level of every straddling read.
    base: f64,
    /// Noise of a row's mean, run by run.
    noise: f64,
    /// Peculiarity of a row that comes back in every run.
    quirk: f64,
    /// Deviation of a unit's cost from place to place, as a share.
    unevenness: f64,
    /// Rows that are off in every run.
    outliers: BTreeMap<Bytes, f64>,
    /// Rise per row without any step.
    slope: f64,
}

impl Device {
    fn row(&self, align: Bytes, largest: Bytes, row: usize) -> f64 {
        let places = 7;
        let mut sum = 0.0;
        for place in 0..places {
            let at = (align + largest * place) % self.capacity;
            // What is peculiar to a place is so in every run: its noise is drawn from its address.
            let mut own = Rng::new(at.get() ^ self.capacity.get());
            sum += if self.unit.is_some_and(|unit| at.is_multiple_of(unit)) {
                self.page_cost + self.unit_cost * (1.0 + self.unevenness * normal(&mut own))
            } else if let Some((_, cost)) = self.middle.filter(|(size, _)| at.is_multiple_of(*size)) {
                self.page_cost + cost
            } else if at.is_multiple_of(self.page) {
                self.page_cost
            } else {
                self.inner.filter(|(size, _)| at.is_multiple_of(*size)).map_or(0.0, |(_, cost)| cost)
            };
        }
        let mut own = Rng::new(align.get() ^ self.capacity.get().rotate_left(7));
        let off = self.outliers.get(&align).copied().unwrap_or(0.0) + self.quirk * normal(&mut own);
        self.base + sum / places as f64 + off + self.slope * row as f64
    }

    fn table(&self, block: Bytes, rng: &mut Rng) -> Run {
        let mut largest = block * 2;
        while largest.get() < self.capacity.get() / 7 {
            largest = largest * 2;
        }
        let mut rows = Vec::new();
        let mut align = largest;
        while align >= block * 2 {
            let index = (align.get() / block.get()).ilog2() as usize;
            let pre = self.access * (1.0 + 0.03 * normal(rng));
            let post = self.access * (1.0 + 0.03 * normal(rng));
            let diff = self.row(align, largest, index) + self.noise * normal(rng);
            let on = diff + 0.5 * (pre + post);
            let [pre, on, post, diff] = [pre, on, post, diff].map(|micros| Some(printed(micros * 1e3)));
            rows.push(AlignRow { align, evidence: AlignEvidence::Printed { pre, on, post, diff } });
            align = align / 2;
        }
        Run {
            source: Source::Log { first_line: 1, last_line: 1 },
            state: AreaState::Unknown,
            complete: true,
            spent: Spent::default(),
            failures: Vec::new(),
            data: Data::Align(AlignData { direction: Direction::Read, block: Some(block), access: 1, rows }),
        }
    }
}

/// Three digits, as flashbench prints them.
fn printed(ns: f64) -> Printed<Contrast> {
    let quantum = 10f64.powf(ns.abs().max(1.0).log10().floor() - 2.0).max(1.0);
    Printed {
        value: Contrast((ns / quantum).round() * quantum),
        quantum: Contrast(quantum),
        statistic: Statistic::MeanOfMinima,
        places: Some(7),
        tries: Some(8),
    }
}

fn random_device(rng: &mut Rng) -> Device {
    let pick = |sizes: &[u64], rng: &mut Rng| Bytes::kib(sizes[rng.below(sizes.len())]);
    let common = [4096, 4096, 4096, 4096, 4096, 4096];
    let rare = [512, 1024, 1536, 2048, 3072, 6144, 8192, 12288, 16384, 24576, 24576, 32768];
    let unit = if rng.unit() < 0.6 { pick(&common, rng) } else { pick(&rare, rng) };
    let page = pick(&[4, 8, 8, 16, 16, 16, 16, 16, 32, 64], rng);
    let access = 200.0 * 8f64.powf(rng.unit());
    // Contrasts and noise as in the published tables.
    let page_cost = access * (0.12 * normal(rng).exp()).clamp(0.04, 1.0);
    // The step is from a tenth of the topmost level up.
    let unit_cost = (access * (0.18 * (0.9 * normal(rng)).exp()).clamp(0.04, 1.2)).max(page_cost / 9.0);
    let mut capacity = Bytes::gib(2 << rng.below(5));
    capacity = capacity - Bytes(capacity.get() / 1000 * (20 + rng.below(60) as u64)).align_down(Bytes::kib(512));
    if rng.unit() < 0.6 {
        capacity = capacity.align_down(unit);
    }
    let mut outliers = BTreeMap::new();
    if rng.unit() < 0.3 {
        outliers.insert(Bytes::mib(8 << rng.below(7)), unit_cost * (0.3 + 1.2 * rng.unit()));
    }
    let top = largest(capacity);
    for row in 0..3u64 {
        if rng.unit() < 0.3 {
            outliers.insert(top / (1 << row), (unit_cost + page_cost) * 0.4 * normal(rng));
        }
    }
    let noise = access * 0.006 * (0.5 * normal(rng)).exp();
    Device {
        capacity,
        unit: Some(unit),
        unit_cost,
        middle: (rng.unit() < 0.15).then(|| (unit / 2, unit_cost * (0.15 + 0.3 * rng.unit()))),
        page,
        page_cost,
        inner: (rng.unit() < 0.3 && page >= Bytes::kib(16)).then(|| (page / 2, page_cost * (0.15 + 0.25 * rng.unit()))),
        access,
        base: access * 0.03 * rng.unit(),
        noise,
        quirk: 0.7 * noise,
        unevenness: 0.05 + 0.25 * rng.unit(),
        outliers,
        slope: 0.0,
    }
}

fn largest(capacity: Bytes) -> Bytes {
    Bytes((capacity.get() / 7).next_power_of_two())
}

/// How often answers of some confidence are right.
#[derive(Clone, Debug, Default)]
struct Tally {
    unit: Score,
    page: Score,
    /// Units given with a confidence of 0.95 or more: right, and all.
    firm: (usize, usize),
    /// How often 8 MiB were given as the unit.
    eight: usize,
}

/// Scores made-up logs of random devices, each first changed by `change`; a cost of zero means that nothing shows.
fn tally(seed: u64, logs: usize, change: impl Fn(&mut Device, &mut Rng)) -> Tally {
    let mut rng = Rng::new(seed);
    let mut tally = Tally::default();
    for _ in 0..logs {
        let mut device = random_device(&mut rng);
        change(&mut device, &mut rng);
        let runs = (0..1 + 2 * rng.below(2)).map(|_| device.table(Bytes::kib(1), &mut rng)).collect();
        let capacity = (rng.unit() < 0.8).then_some(device.capacity);
        let findings = estimate(&Observations { capacity, runs, ..Observations::default() });
        tally.unit.add(&findings.allocation_unit, device.unit);
        tally.page.add(&findings.page, (device.page_cost > 0.0).then_some(device.page));
        tally.eight += usize::from(findings.allocation_unit.value() == Some(Bytes::mib(8)));
        if findings.allocation_unit.value().is_some() && findings.allocation_unit.confidence() >= Some(0.95) {
            tally.firm.0 += usize::from(findings.allocation_unit.value() == device.unit);
            tally.firm.1 += 1;
        }
    }
    tally
}

#[test]
fn made_up_logs_are_read_with_calibrated_confidence() {
    let Tally { unit, page, firm, .. } = tally(1, 100, |_, _| ());
    assert!(unit.right >= 58 && unit.right + unit.bound >= 74 && unit.wrong <= 5, "{unit:?}");
    assert!(firm.1 >= 35 && firm.1 - firm.0 <= 3, "{firm:?}");
    assert!(page.right >= 87 && page.wrong == 0, "{page:?}");
    assert!(unit.sure_and_wrong == 0 && page.sure_and_wrong == 0, "{unit:?} {page:?}");
}

#[test]
fn a_diluted_step_is_no_confident_power_of_two() {
    // 24 MiB units show from 8 MiB on, at two places of seven.
    let Tally { unit, eight, .. } = tally(2, 30, |device, _| {
        device.unit = Some(Bytes::mib(24));
        device.middle = None;
    });
    assert!(eight == 0, "8 MiB given {eight} times");
    assert!(unit.wrong <= 5 && unit.right + unit.bound >= 12, "{unit:?}");
}

#[test]
fn tables_without_a_step_are_unknown() {
    let Tally { unit, page, .. } = tally(3, 25, |device, _| {
        (device.unit, device.middle) = (None, None);
    });
    assert!(unit.wrong <= 1, "no unit: {unit:?}");
    assert!(page.right >= 21 && page.wrong == 0, "no unit: {page:?}");
    let Tally { unit, page, .. } = tally(4, 25, |device, rng| {
        (device.unit, device.middle, device.inner, device.page_cost) = (None, None, None, 0.0);
        device.slope = device.access * (0.005 + 0.01 * rng.unit());
    });
    assert!(unit.wrong <= 1 && page.wrong <= 1, "slopes: {unit:?} {page:?}");
    let Tally { unit, page, .. } = tally(5, 25, |device, _| {
        (device.inner, device.page_cost, device.middle) = (None, 0.0, None);
        device.unit = Some(Bytes::mib(4));
    });
    assert!(page.wrong == 0, "no page: {page:?}");
    assert!(unit.right >= 17 && unit.wrong <= 1, "no page: {unit:?}");
}

#[test]
fn rare_units_are_not_often_taken_for_the_usual_one() {
    // As many units of three times a power of two as of powers of two: a mix much harder than what is sold.
    let list = [512, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768];
    let Tally { unit, firm, .. } = tally(11, 60, |device, rng| {
        device.unit = Some(Bytes::kib(list[rng.below(list.len())]));
        device.middle = None;
    });
    assert!(firm.1 >= 6 && firm.1 - firm.0 <= 2, "{firm:?}");
    assert!(unit.right + unit.bound >= 31 && unit.wrong <= 11 && unit.sure_and_wrong == 0, "{unit:?}");
}
