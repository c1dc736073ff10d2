//! Changes of level in a history: few points, neighbours that resemble each other, now and then one that is far off.

use super::{ChangeSettings, Penalty, biweight_changes, difference_noise};
use crate::StatsError;
use crate::error::{check_sample, check_unit_open};
use crate::interval::{Interval, shift_interval};
use crate::location::{hodges_lehmann, hodges_lehmann_shift, qn_scale};
use std::ops::Range;

/// Shortest history in which a change is looked for.
pub const SHORTEST: usize = 12;

// The three prices below were chosen together on histories without a change (normal, Student's t with 4 degrees of
// freedom, Laplace, 3 % of points far off; neighbours correlated by 0 and 0.3; 20 to 3000 points): fewer than one false
// mark per 1000 points on each. `fleet::histories` measures it anew with other seeds.

/// Price of a change beside 2 ln n, in units of −2 × log likelihood: above [`Penalty::Bic`], since noise and correlation
/// are estimated from the same few points.
const PRICE: f64 = 10.0;
/// The noise is taken for larger than it is estimated by this over √n: a quarter of its own error at these lengths.
const NOISE_GUARD: f64 = 0.5;
/// The correlation counts from this over √n on, twice what chance gives.
const CORRELATION_GUARD: f64 = 2.0;
/// A correlation above this is not told from a level that wanders.
const MOST_CORRELATION: f64 = 0.8;
/// Deviation in standard deviations beyond which a point costs no more, as in [`biweight_changes`].
const CUT: f64 = 3.0;

/// A change of the level.
#[derive(Debug, Clone, PartialEq)]
pub struct Shift {
    /// First index of the new level.
    pub start: usize,
    /// That index can lie from here …
    pub earliest: usize,
    /// … up to here, ends included, with the confidence that was asked for.
    pub latest: usize,
    /// New level less the old one, in the unit of the series.
    pub size: f64,
    /// Where the size can lie.
    pub interval: Interval,
}

/// The changes of a history.
#[derive(Debug, Clone, PartialEq)]
pub struct Shifts {
    /// In the order of time.
    pub shifts: Vec<Shift>,
    /// How alike neighbours are beyond the level that they share, 0 to 0.8; less than chance can give counts as 0.
    pub correlation: f64,
    /// Standard deviation of the scatter about the levels, in the unit of the series, correlation included; 0 where there is none.
    pub noise_sd: f64,
}

/// Changes of level in `series` (on the scale where scatter is even: normally the logarithm), each with the interval of its
/// place and of its size.
///
/// The correlation of neighbours is found from the scales of differences over two steps and over one (Chakar, Lebarbier, Lévy-Leduc
/// and Robin, "A robust approach for estimating change-points in the mean of an AR(1) process", Bernoulli 23, 2017), which neither
/// changes nor wild points move much. The series freed of it is split by [`biweight_changes`]. The interval of a place holds what costs
/// at most −2 ln(1 − √confidence) more than the best: the limit of Siegmund ("Confidence sets in change-point problems",
/// International Statistical Review 56, 1988) for small changes, wide for large ones. The interval of a size is that of the
/// Mann–Whitney test. A change next to another, or to an end, by fewer than four points is not reported.
///
/// # Errors
/// For fewer than [`SHORTEST`] points, one that is not finite, or a confidence outside 0..1.
pub fn level_shifts(series: &[f64], confidence: f64) -> Result<Shifts, StatsError> {
    check_unit_open(confidence, "confidence")?;
    check_sample(series, SHORTEST)?;
    let correlation = correlation(series)?;
    // Divided so that a level stays what it is.
    let white: Vec<f64> =
        series.windows(2).map(|pair| (pair[1] - correlation * pair[0]) / (1.0 - correlation)).collect();
    let noise_sd = noise(&white)?;
    if noise_sd <= 0.0 {
        return Ok(Shifts { shifts: Vec::new(), correlation, noise_sd });
    }
    let n = series.len() as f64;
    let guarded = noise_sd * (1.0 + NOISE_GUARD / n.sqrt());
    let penalty = Penalty::PerChange(PRICE + 2.0 * n.ln());
    let found = biweight_changes(&white, ChangeSettings { penalty, noise_sd: Some(guarded) })?;
    let model = Model { series, correlation, scale: guarded * (1.0 - correlation) };
    let mut shifts = Vec::new();
    for pair in found.ranges().windows(2) {
        let (before, after) = (&white[pair[0].clone()], &white[pair[1].clone()]);
        let Ok(interval) = shift_interval(after, before, confidence) else { continue };
        if interval.contains(0.0) {
            continue;
        }
        let level = |values| hodges_lehmann(values).ok_or(StatsError::NotFinite);
        let size = hodges_lehmann_shift(after, before).ok_or(StatsError::NotFinite)?;
        // A point of `white` stands for the later one of its two in the series.
        let within = pair[0].start + 1..pair[1].end + 1;
        let (start, earliest, latest) = model.place(within, [level(before)?, level(after)?], confidence);
        shifts.push(Shift { start, earliest, latest, size, interval });
    }
    Ok(Shifts { shifts, correlation, noise_sd: noise_sd * ((1.0 - correlation) / (1.0 + correlation)).sqrt() })
}

/// Correlation of neighbours. With scatter of variance v and correlation r, differences over one step have the variance
/// 2v(1 − r) and those over two 2v(1 − r²): their ratio is 1 + r.
fn correlation(series: &[f64]) -> Result<f64, StatsError> {
    let scale = |step: usize| {
        let differences: Vec<f64> = series.windows(step + 1).map(|window| window[step] - window[0]).collect();
        qn_scale(&differences).ok_or(StatsError::NotFinite)
    };
    let (one, two) = (scale(1)?, scale(2)?);
    if one <= 0.0 {
        return Ok(0.0);
    }
    let guard = CORRELATION_GUARD / (series.len() as f64).sqrt();
    Ok(((two / one).powi(2) - 1.0 - guard).clamp(0.0, MOST_CORRELATION))
}

/// Standard deviation of independent noise about levels that may change; 0 only for a constant series.
fn noise(white: &[f64]) -> Result<f64, StatsError> {
    let differences: Vec<f64> = white.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let scale = qn_scale(&differences).ok_or(StatsError::NotFinite)? / std::f64::consts::SQRT_2;
    // Where most points are alike, as clocks and rounding leave them.
    if scale > 0.0 { Ok(scale) } else { difference_noise(white) }
}

/// What a history costs if its level changes at a given place.
struct Model<'a> {
    series: &'a [f64],
    correlation: f64,
    /// Standard deviation of what is new in each point.
    scale: f64,
}

impl Model<'_> {
    /// The cost of point `i`, the levels of the one before it and of itself given.
    fn cost(&self, i: usize, levels: [f64; 2]) -> f64 {
        let expected = levels[1] + self.correlation * (self.series[i - 1] - levels[0]);
        let z = (self.series[i] - expected) / self.scale;
        (z * z).min(CUT * CUT)
    }

    /// Within `range`, before which there is a point: the first index of the new level, and the earliest and latest that it can be.
    fn place(&self, range: Range<usize>, [old, new]: [f64; 2], confidence: f64) -> (usize, usize, usize) {
        let mut all_new: f64 = range.clone().map(|i| self.cost(i, [new, new])).sum();
        let costs: Vec<f64> = range
            .clone()
            .map(|i| {
                let with_change_here = all_new - self.cost(i, [new, new]) + self.cost(i, [old, new]);
                all_new += self.cost(i, [old, old]) - self.cost(i, [new, new]);
                with_change_here
            })
            .collect();
        let best = costs.iter().copied().fold(f64::INFINITY, f64::min);
        let most = best - 2.0 * (1.0 - confidence.sqrt()).ln();
        let first = |limit: f64| range.start + costs.iter().position(|&cost| cost <= limit).unwrap_or(0);
        let latest = range.start + costs.iter().rposition(|&cost| cost <= most).unwrap_or(0);
        (first(best), first(most), latest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;
    use crate::simulate::{close, normals};

    /// Scatter of standard deviation 1, neighbours correlated, one point in thirty far below.
    fn scatter(rng: &mut Rng, n: usize, correlation: f64) -> Vec<f64> {
        let mut last = rng.normal();
        let mut next = || {
            last = correlation * last + (1.0 - correlation * correlation).sqrt() * rng.normal();
            last - if rng.unit() < 1.0 / 30.0 { 8.0 } else { 0.0 }
        };
        (0..n).map(|_| next()).collect()
    }

    #[test]
    fn nothing_changes_in_scatter_alone() {
        let mut rng = Rng::new(131);
        let mut marks = 0;
        for _ in 0..40 {
            for correlation in [0.0, 0.3] {
                marks += level_shifts(&scatter(&mut rng, 100, correlation), 0.95).unwrap().shifts.len();
            }
        }
        // 8000 points, one false mark per 1000 at most.
        assert!(marks <= 8, "{marks}");
    }

    #[test]
    fn a_change_is_found_soon_and_its_intervals_hold_it() {
        let mut rng = Rng::new(132);
        let (mut found, mut placed, mut sized, mut width) = (0, 0, 0, 0);
        for _ in 0..200 {
            let mut series = normals(&mut rng, 90, 7.0, 0.02);
            series[80..].iter_mut().for_each(|value| *value -= 0.06);
            let shifts = level_shifts(&series, 0.95).unwrap().shifts;
            let Some(shift) = shifts.iter().find(|shift| shift.start.abs_diff(80) <= 10) else { continue };
            found += 1;
            placed += u32::from((shift.earliest..=shift.latest).contains(&80));
            sized += u32::from(shift.interval.contains(-0.06));
            width += shift.latest - shift.earliest;
        }
        assert!(found >= 190, "{found} of 200");
        assert!(placed >= 186 && sized >= 182, "{placed} and {sized} of {found}");
        assert!(width < 4 * 200, "{width}");
    }

    #[test]
    fn correlated_neighbours_are_told_from_a_change() {
        let mut rng = Rng::new(133);
        let history = level_shifts(&scatter(&mut rng, 2000, 0.5), 0.95).unwrap();
        close(history.correlation, 0.45, 0.1);
        close(history.noise_sd, 1.1, 0.25);
        assert!(history.shifts.len() <= 1, "{}", history.shifts.len());
        let mut series = scatter(&mut rng, 300, 0.5);
        series[150..].iter_mut().for_each(|value| *value += 5.0);
        let shifts = level_shifts(&series, 0.95).unwrap().shifts;
        assert!(shifts.len() == 1 && (shifts[0].earliest..=shifts[0].latest).contains(&150), "{shifts:?}");
        assert!(shifts[0].interval.contains(5.0), "{shifts:?}");
    }

    #[test]
    fn several_changes_and_a_history_without_scatter() {
        let level = |i: usize| [5.0, 5.5, 4.0][i / 40];
        let mut rng = Rng::new(134);
        let series: Vec<f64> = (0..120).map(|i| level(i) + 0.05 * rng.normal()).collect();
        let starts = |series: &[f64]| {
            let shifts = level_shifts(series, 0.95).unwrap().shifts;
            shifts.iter().map(|shift| (shift.earliest, shift.start, shift.latest)).collect::<Vec<_>>()
        };
        assert_eq!(starts(&series), [(40, 40, 40), (80, 80, 80)]);
        let series: Vec<f64> = (0..120).map(level).collect();
        assert_eq!(starts(&series), [(40, 40, 40), (80, 80, 80)]);
        assert_eq!(starts(&[4.0; 50]), []);
        assert_eq!(level_shifts(&[4.0; 11], 0.95), Err(StatsError::TooFew { needed: 12, got: 11 }));
        assert_eq!(level_shifts(&[f64::NAN; 20], 0.95), Err(StatsError::NotFinite));
        assert!(level_shifts(&[4.0; 20], 1.0).is_err());
    }
}
