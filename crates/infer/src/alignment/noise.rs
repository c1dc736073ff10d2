//! The noise model: Student's t with three degrees of freedom, whose tails bear single wild rows and places.

/// ln(2 / (π √3)), the height of the density of Student's t with three degrees of freedom at its centre.
const CENTRE: f64 = -1.000_888_8;

/// Logarithm of the density of Student's t with three degrees of freedom at `deviation` for `scale`.
pub(super) fn ln_t3(deviation: f64, scale: f64) -> f64 {
    t3(deviation, scale).ln()
}

/// That density itself, for where many are multiplied.
pub(super) fn t3(deviation: f64, scale: f64) -> f64 {
    /// 2 / (π √3).
    const HEIGHT: f64 = 0.367_552_596_947_861_4;
    let z = deviation / scale;
    let tail = 1.0 + z * z / 3.0;
    HEIGHT / (scale * tail * tail)
}

/// Values with their scatter, side by side so that several are worked on at once.
#[derive(Clone, Debug, Default)]
pub(super) struct Sample {
    values: Vec<f64>,
    /// Three times the variance of each.
    spreads: Vec<f64>,
}

/// What a [`Sample`] says of its common level.
#[derive(Clone, Copy, Debug)]
pub(super) struct FlatLevel {
    /// The likeliest level; 0 without values.
    pub(super) at: f64,
    /// Log evidence under a flat prior of density one.
    pub(super) ln_fit: f64,
    /// Sum of the inverse variances.
    pub(super) information: f64,
}

/// Values that are worked on at once.
const LANES: usize = 4;

impl Sample {
    /// Of values in rising order, each with its standard deviation.
    pub(super) fn of(values: impl IntoIterator<Item = (f64, f64)>) -> Sample {
        let mut sample = Sample::default();
        values.into_iter().for_each(|(value, scale)| sample.push(value, spread(scale)));
        sample
    }

    pub(super) fn clear(&mut self) {
        self.values.clear();
        self.spreads.clear();
    }

    /// Adds a value that is not below the last one; see [`spread`].
    pub(super) fn push(&mut self, value: f64, spread: f64) {
        self.values.push(value);
        self.spreads.push(spread);
    }

    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// Adds scatter of another origin to each value, in place of what the last call added.
    pub(super) fn widened(&self, scale: f64, into: &mut Sample) {
        into.values.clone_from(&self.values);
        into.spreads.clear();
        into.spreads.extend(self.spreads.iter().map(|own| own + spread(scale)));
    }

    /// As [`level`] under a flat prior of density one.
    pub(super) fn flat_level(&self) -> FlatLevel {
        let Some(last) = self.len().checked_sub(1) else {
            return FlatLevel { at: 0.0, ln_fit: 0.0, information: 0.0 };
        };
        let mut at = 0.5 * (self.values[last / 2] + self.values[self.len() / 2]);
        let narrowest = (self.spreads.iter().copied().fold(f64::INFINITY, f64::min) / 3.0).sqrt();
        for _ in 0..8 {
            let Slope { pull, weights, curvature } = self.slope(at);
            // Where the likelihood bends as near its top, Newton's step leaves about the square of what it goes; elsewhere
            // a step of reweighting, which never leads away from a top, leaves a good part of it.
            let (step, near) =
                if curvature > 0.4 * weights { (pull / curvature, 0.02) } else { (pull / weights, 1e-3) };
            at += step;
            if step.abs() < near * narrowest {
                break;
            }
        }
        let (ln_fit, information) = self.ln_t3_sum(at);
        FlatLevel { at, ln_fit: ln_fit + 0.5 * (std::f64::consts::TAU / (2.0 / 3.0 * information)).ln(), information }
    }

    fn slope(&self, at: f64) -> Slope {
        let (mut pull, mut weights, mut curvature) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
        let mut add = |lane: usize, value: f64, spread: f64| {
            let deviation = value - at;
            let square = deviation * deviation;
            let weight = 1.0 / (spread + square);
            pull[lane] += weight * deviation;
            weights[lane] += weight;
            curvature[lane] += weight * weight * (spread - square);
        };
        let (values, rest) = self.values.as_chunks::<LANES>();
        let (spreads, rest_of_spreads) = self.spreads.as_chunks::<LANES>();
        for (values, spreads) in values.iter().zip(spreads) {
            for lane in 0..LANES {
                add(lane, values[lane], spreads[lane]);
            }
        }
        rest.iter().zip(rest_of_spreads).for_each(|(value, spread)| add(0, *value, *spread));
        let sum = |lanes: [f64; LANES]| lanes.iter().sum();
        Slope { pull: sum(pull), weights: sum(weights), curvature: sum(curvature) }
    }

    /// Sum of [`ln_t3`] at a level, and of the inverse variances; logarithms are taken of products, which is faster.
    fn ln_t3_sum(&self, at: f64) -> (f64, f64) {
        /// ln 3.
        const LN_3: f64 = 1.098_612_288_668_109_8;
        let (mut ln_sum, mut information) = (0.0, 0.0);
        for (values, spreads) in self.values.chunks(TOGETHER).zip(self.spreads.chunks(TOGETHER)) {
            let (mut tails, mut scales, mut inverses) = (1.0, 1.0, 0.0);
            for (value, spread) in values.iter().zip(spreads) {
                let deviation = value - at;
                tails *= spread + deviation * deviation;
                scales *= spread;
                inverses += 1.0 / spread;
            }
            ln_sum += 1.5 * f64::ln(scales) - 2.0 * f64::ln(tails);
            information += 3.0 * inverses;
        }
        (ln_sum + (CENTRE + 0.5 * LN_3) * self.len() as f64, information)
    }
}

/// What a standard deviation is to a [`Sample`].
pub(super) fn spread(scale: f64) -> f64 {
    3.0 * scale * scale
}

/// How the likelihood of a level changes near it.
struct Slope {
    /// Sum of the deviations by weight.
    pull: f64,
    weights: f64,
    /// How fast the pull falls as the level rises.
    curvature: f64,
}

/// Products of this many factors stay far below an overflow.
const TOGETHER: usize = 12;

/// Sum of [`ln_t3`] over values with individual scales; logarithms are taken of products, which is faster.
fn ln_t3_sum(values: &[(f64, f64)], at: f64) -> f64 {
    let chunks = values.chunks(TOGETHER).map(|chunk| {
        let (mut tails, mut scales) = (1.0, 1.0);
        for (value, scale) in chunk {
            let z = (value - at) / scale;
            tails *= 1.0 + z * z / 3.0;
            scales *= scale;
        }
        -2.0 * f64::ln(tails) - f64::ln(scales)
    });
    chunks.sum::<f64>() + CENTRE * values.len() as f64
}

/// Most likely centre of values with individual scales, by reweighting from their median.
pub(super) fn centre(values: &[(f64, f64)]) -> f64 {
    let mut sorted: Vec<f64> = values.iter().map(|(value, _)| *value).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let Some(&start) = sorted.get(sorted.len() / 2) else { return 0.0 };
    let mut at = if sorted.len().is_multiple_of(2) { 0.5 * (start + sorted[sorted.len() / 2 - 1]) } else { start };
    for _ in 0..6 {
        let (mut sum, mut weights) = (0.0, 0.0);
        for (value, scale) in values {
            let weight = 1.0 / (spread(*scale) + (value - at).powi(2));
            sum += weight * value;
            weights += weight;
        }
        at = sum / weights;
    }
    at
}

/// Logarithm of the evidence of one common level under a prior density (given as its logarithm at the level), by
/// Laplace's method with the expected information of the t density, (ν + 1)/(ν + 3) per value; and the level.
pub(super) fn level(values: &[(f64, f64)], ln_prior: impl Fn(f64) -> f64) -> (f64, f64) {
    if values.is_empty() {
        return (0.0, 0.0);
    }
    let at = centre(values);
    let fit = ln_t3_sum(values, at);
    let information: f64 = values.iter().map(|(_, scale)| (2.0 / 3.0) / (scale * scale)).sum();
    (fit + ln_prior(at) + 0.5 * (std::f64::consts::TAU / information).ln(), at)
}

/// ln(exp(a) + exp(b)).
pub(super) fn ln_add(a: f64, b: f64) -> f64 {
    /// What is less than the larger by this factor (as a logarithm) does not count: 1e-10.
    const LOST: f64 = -23.0;
    let (high, low) = if a > b { (a, b) } else { (b, a) };
    if low - high < LOST || high == f64::NEG_INFINITY { high } else { high + (1.0 + (low - high).exp()).ln() }
}

/// ln Σ exp, of several.
pub(super) fn ln_sum(all: impl Iterator<Item = f64> + Clone) -> f64 {
    let most = all.clone().fold(f64::NEG_INFINITY, f64::max);
    if most == f64::NEG_INFINITY { most } else { most + all.map(|one| (one - most).exp()).sum::<f64>().ln() }
}

/// Logarithm of the density of a normal distribution.
pub(super) fn ln_normal(deviation: f64, scale: f64) -> f64 {
    let z = deviation / scale;
    -0.5 * z * z - scale.ln() - 0.918_938_533_204_672_7
}
