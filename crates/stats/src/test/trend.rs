//! Monotone trends.

use super::Alternative;
use crate::StatsError;
use crate::distribution::student_sf;
use crate::error::{check_paired, check_sample};
use crate::ranking::rank;

/// Largest n for which all orders are enumerated (7! = 5040).
const EXACT_MAX: usize = 7;

/// Result of [`spearman`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spearman {
    /// Rank correlation, −1..=1; positive when the two rise together.
    pub rho: f64,
    /// p value of the chosen alternative ([`Alternative::Greater`]: rising together).
    pub p_value: f64,
    /// Whether p comes from all permutations and not from Student's t.
    pub exact: bool,
}

/// Spearman's rank correlation (American Journal of Psychology 15, 1904) as the correlation of mid-ranks. Exact by
/// permutation (ties included) up to seven pairs, Student's t with n − 2 degrees of freedom beyond. Four pairs or more,
/// neither side constant.
pub fn spearman(x: &[f64], y: &[f64], alternative: Alternative) -> Result<Spearman, StatsError> {
    check_paired(x, y)?;
    check_sample(x, 4)?;
    check_sample(y, 4)?;
    let n = x.len() as f64;
    let centred = |values: &[f64]| -> Vec<f64> { rank(values).ranks.iter().map(|r| r - 0.5 * (n + 1.0)).collect() };
    let (x, mut y) = (centred(x), centred(y));
    let scale = (dot(&x, &x) * dot(&y, &y)).sqrt();
    if scale <= 0.0 {
        return Err(StatsError::NoSpread);
    }
    let product = dot(&x, &y);
    let rho = (product / scale).clamp(-1.0, 1.0);
    let exact = x.len() <= EXACT_MAX;
    let (at_least, at_most) = if exact {
        permutation_tails(&x, &mut y, product)
    } else {
        // A perfect correlation gives an infinite t, whose tail probability is 0.
        let freedom = n - 2.0;
        let t = rho * (freedom / (1.0 - rho * rho).max(f64::MIN_POSITIVE)).sqrt();
        (student_sf(t, freedom), student_sf(-t, freedom))
    };
    Ok(Spearman { rho, p_value: alternative.p_value(at_least, at_most), exact })
}

/// [`spearman`] of a series against its own order: does it drift?
pub fn spearman_trend(series: &[f64], alternative: Alternative) -> Result<Spearman, StatsError> {
    let order: Vec<f64> = (0..series.len()).map(|i| i as f64).collect();
    spearman(&order, series, alternative)
}

/// Shares of all orders of `y` whose product with `x` is at least, and at most, the observed one (Heap's algorithm).
fn permutation_tails(x: &[f64], y: &mut [f64], observed: f64) -> (f64, f64) {
    /// Products are multiples of ¼; half of that absorbs rounding.
    const SLACK: f64 = 0.125;
    let (mut orders, mut at_least, mut at_most) = (0.0, 0.0, 0.0);
    let mut count = |y: &[f64]| {
        let product = dot(x, y);
        orders += 1.0;
        at_least += f64::from(u8::from(product >= observed - SLACK));
        at_most += f64::from(u8::from(product <= observed + SLACK));
    };
    count(y);
    let mut state = vec![0usize; y.len()];
    let mut i = 1;
    while i < y.len() {
        if state[i] < i {
            y.swap(if i % 2 == 0 { 0 } else { state[i] }, i);
            count(y);
            state[i] += 1;
            i = 1;
        } else {
            state[i] = 0;
            i += 1;
        }
    }
    (at_least / orders, at_most / orders)
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;
    use crate::simulate::{close, normals};

    #[test]
    fn small_samples_by_counting() {
        let check = |y: &[f64], alternative, rho: f64, p: f64| {
            let got = spearman_trend(y, alternative).unwrap();
            assert!(got.exact);
            close(got.rho, rho, 1e-12);
            close(got.p_value, p, 1e-12);
        };
        check(&[1.0, 2.0, 3.0, 4.0], Alternative::Greater, 1.0, 1.0 / 24.0);
        check(&[4.0, 3.0, 2.0, 1.0], Alternative::TwoSided, -1.0, 2.0 / 24.0);
        // One neighbouring swap: Σd² = 2, ρ = 1 − 12/60 = 0.8; the identity and three such swaps are as good.
        check(&[1.0, 2.0, 4.0, 3.0], Alternative::Greater, 0.8, 4.0 / 24.0);
        assert_eq!(spearman_trend(&[1.0; 5], Alternative::Less), Err(StatsError::NoSpread));
        assert!(spearman_trend(&[1.0; 3], Alternative::Less).is_err());
    }

    #[test]
    fn hollander_and_wolfe_tuna_data() {
        // R: cor.test(x, y, method = "spearman") on the Hunter L values gives ρ = 0.6.
        let x = [44.4, 45.9, 41.9, 53.3, 44.7, 44.1, 50.7, 45.2, 60.1];
        let y = [2.6, 3.1, 2.5, 5.0, 3.6, 4.0, 5.2, 2.8, 3.8];
        let got = spearman(&x, &y, Alternative::TwoSided).unwrap();
        close(got.rho, 0.6, 1e-12);
        // t = 0.6 · √(7/0.64) = 1.9843; the exact value is 0.0968.
        close(got.p_value, 0.0876, 5e-4);
    }

    #[test]
    fn level_holds_under_the_null() {
        let mut rng = Rng::new(91);
        for n in [7, 12] {
            let rejected = (0..1000)
                .filter(|_| {
                    spearman_trend(&normals(&mut rng, n, 0.0, 1.0), Alternative::TwoSided).unwrap().p_value <= 0.05
                })
                .count();
            close(rejected as f64 / 1000.0, 0.048, 0.02);
        }
    }
}
