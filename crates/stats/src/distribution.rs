//! Tail probabilities and quantiles, as plain functions over the special functions of `statrs`.

use statrs::function::beta::beta_reg;
use statrs::function::erf::{erfc, erfc_inv};
use statrs::function::gamma::ln_gamma;
use std::f64::consts::SQRT_2;

/// Pr(Z > z) of the standard normal.
pub(crate) fn normal_sf(z: f64) -> f64 {
    0.5 * erfc(z / SQRT_2)
}

/// Probability that a standard normal variable is at most `z`.
pub fn normal_cdf(z: f64) -> f64 {
    normal_sf(-z)
}

/// Standard normal quantile, `p` strictly between 0 and 1.
pub(crate) fn normal_quantile(p: f64) -> f64 {
    -SQRT_2 * erfc_inv(2.0 * p)
}

/// The two-sided normal factor of a confidence level, 1.96 for 0.95.
pub(crate) fn two_sided_z(confidence: f64) -> f64 {
    SQRT_2 * erfc_inv(1.0 - confidence)
}

/// Pr(T > t) of Student's t with `freedom` degrees of freedom.
pub(crate) fn student_sf(t: f64, freedom: f64) -> f64 {
    let tail = 0.5 * beta_reg(0.5 * freedom, 0.5, freedom / (freedom + t * t));
    if t >= 0.0 { tail } else { 1.0 - tail }
}

/// The two-sided Student factor of a confidence level: Pr(|T| ≤ factor) = confidence. By bisection, because it is
/// asked for rarely and then must be right far into the tail.
pub fn two_sided_t(confidence: f64, freedom: f64) -> f64 {
    let tail = 0.5 * (1.0 - confidence);
    let (mut low, mut high) = (0.0, 1.0);
    while student_sf(high, freedom) > tail && high < 1e12 {
        low = high;
        high *= 2.0;
    }
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        if student_sf(middle, freedom) > tail {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// Logarithm of Student's t density with location 0 and scale 1, without its normalising constant.
pub(crate) fn student_ln_kernel(t: f64, freedom: f64) -> f64 {
    -0.5 * (freedom + 1.0) * (t * t / freedom).ln_1p()
}

/// Logarithm of the normalising constant that [`student_ln_kernel`] leaves out.
pub(crate) fn student_ln_constant(freedom: f64) -> f64 {
    ln_gamma(0.5 * (freedom + 1.0)) - ln_gamma(0.5 * freedom) - 0.5 * (freedom * std::f64::consts::PI).ln()
}

/// Pr(B ≤ k) for B binomial with `n` trials of probability `p`, 0 < p < 1.
pub fn binomial_cdf(k: u64, n: u64, p: f64) -> f64 {
    if k >= n { 1.0 } else { beta_reg((n - k) as f64, k as f64 + 1.0, 1.0 - p) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::close;

    #[test]
    fn table_values() {
        close(normal_sf(1.959_963_985), 0.025, 1e-10);
        close(normal_quantile(0.975), 1.959_963_985, 1e-8);
        close(normal_cdf(-1.0), 0.158_655_254, 1e-9);
        close(two_sided_z(0.95), 1.959_963_985, 1e-8);
        close(student_sf(2.262_157, 9.0), 0.025, 1e-6);
        close(student_sf(-2.262_157, 9.0), 0.975, 1e-6);
        close(two_sided_t(0.95, 9.0), 2.262_157, 1e-5);
        close(two_sided_t(0.99, 1.0), 63.656_741, 1e-4);
        close(binomial_cdf(2, 10, 0.5), 56.0 / 1024.0, 1e-12);
        close(binomial_cdf(10, 10, 0.5), 1.0, 0.0);
    }

    #[test]
    fn student_density_integrates_to_one() {
        for freedom in [1.5, 4.0, 30.0] {
            let constant = student_ln_constant(freedom);
            let step = 0.01;
            let sum: f64 = (-20_000..=20_000)
                .map(|i| (constant + student_ln_kernel(f64::from(i) * step, freedom)).exp() * step)
                .sum();
            // What is missing is the tail beyond ±200.
            close(sum + 2.0 * student_sf(200.0, freedom), 1.0, 1e-4);
        }
    }
}
