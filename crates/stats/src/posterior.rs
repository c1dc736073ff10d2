//! From log likelihoods to probabilities, without overflow.

/// ln Σ exp(xᵢ), computed relative to the largest term. −∞ for an empty slice; terms of −∞ count as nothing.
pub fn log_sum_exp(log_weights: &[f64]) -> f64 {
    let largest = log_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if largest.is_infinite() {
        return largest;
    }
    largest + log_weights.iter().map(|w| (w - largest).exp()).sum::<f64>().ln()
}

/// Probabilities proportional to exp(xᵢ), in input order and summing to 1: the posterior over hypotheses when each
/// entry is log prior + log likelihood (or −BIC/2). `None` if the slice is empty, an entry is NaN or +∞, or all are −∞.
pub fn normalise_log(log_weights: &[f64]) -> Option<Vec<f64>> {
    if log_weights.iter().any(|w| w.is_nan()) {
        return None;
    }
    let largest = log_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if largest.is_infinite() {
        return None;
    }
    let weights: Vec<f64> = log_weights.iter().map(|w| (w - largest).exp()).collect();
    let total: f64 = weights.iter().sum();
    Some(weights.into_iter().map(|w| w / total).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::close;

    #[test]
    fn extremes_neither_overflow_nor_vanish() {
        close(log_sum_exp(&[1000.0, 1000.0]), 1000.0 + 2f64.ln(), 1e-12);
        assert_eq!(log_sum_exp(&[]), f64::NEG_INFINITY);
        let check = |input: &[f64], want: &[f64]| {
            for (got, want) in normalise_log(input).unwrap().into_iter().zip(want) {
                close(got, *want, 1e-10);
            }
        };
        check(&[-1e5, -1e5 + 3f64.ln()], &[0.25, 0.75]);
        check(&[f64::NEG_INFINITY, 5.0], &[0.0, 1.0]);
    }

    #[test]
    fn no_distribution_is_none() {
        for bad in [&[][..], &[f64::NAN, 1.0], &[f64::INFINITY], &[f64::NEG_INFINITY]] {
            assert_eq!(normalise_log(bad), None);
        }
    }
}
