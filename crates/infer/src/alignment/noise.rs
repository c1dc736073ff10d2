//! The noise model: Student's t with three degrees of freedom, whose tails bear single wild rows and places.

/// ln(2 / (π √3)), the height of the density of Student's t with three degrees of freedom at its centre.
const CENTRE: f64 = -1.000_888_8;

/// Logarithm of the density of Student's t with three degrees of freedom at `deviation` for `scale`.
pub(super) fn ln_t3(deviation: f64, scale: f64) -> f64 {
    let z = deviation / scale;
    CENTRE - scale.ln() - 2.0 * (z * z / 3.0).ln_1p()
}

/// As [`level`] under a flat prior of density one, for values in rising order.
pub(super) fn flat_level(values: &[(f64, f64)]) -> (f64, f64) {
    let Some(last) = values.len().checked_sub(1) else { return (0.0, 0.0) };
    let mut at = 0.5 * (values[last / 2].0 + values[values.len() / 2].0);
    for _ in 0..8 {
        let (mut sum, mut weights, mut narrowest) = (0.0, 0.0, f64::INFINITY);
        for (value, scale) in values {
            let deviation = value - at;
            let weight = 1.0 / (3.0 * scale * scale + deviation * deviation);
            sum += weight * deviation;
            weights += weight;
            narrowest = scale.min(narrowest);
        }
        let step = sum / weights;
        at += step;
        if step.abs() < 1e-3 * narrowest {
            break;
        }
    }
    let information: f64 = values.iter().map(|(_, scale)| (2.0 / 3.0) / (scale * scale)).sum();
    (ln_t3_sum(values, at) + 0.5 * (std::f64::consts::TAU / information).ln(), at)
}

/// Factors so many stay far below the overflow of their product.
const TOGETHER: usize = 8;

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
            let z = (value - at) / scale;
            let weight = 1.0 / ((3.0 + z * z) * scale * scale);
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
    let (high, low) = if a > b { (a, b) } else { (b, a) };
    if low == f64::NEG_INFINITY { high } else { high + (low - high).exp().ln_1p() }
}

/// Logarithm of the density of a normal distribution.
pub(super) fn ln_normal(deviation: f64, scale: f64) -> f64 {
    let z = deviation / scale;
    -0.5 * z * z - scale.ln() - 0.918_938_533_204_672_7
}
