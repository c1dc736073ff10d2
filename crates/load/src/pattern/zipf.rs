//! Zipf's law without tables.

use flashscope_stats::Rng;

/// Draws ranks 0, 1, 2 … with probability ∝ (rank + 1)^−theta, by rejection from the inverse of the integral (Hörmann and
/// Derflinger, "Rejection-inversion to generate variates from monotone discrete distributions", ACM TOMACS 6, 1996). Takes
/// constant time and memory however many ranks there are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Zipf {
    ranks: u64,
    theta: f64,
    first: f64,
    last: f64,
    always: f64,
}

impl Zipf {
    pub(super) fn new(ranks: u64, theta: f64) -> Zipf {
        let mut zipf = Zipf { ranks, theta, first: 0.0, last: 0.0, always: 0.0 };
        zipf.first = zipf.integral(1.5) - 1.0;
        zipf.last = zipf.integral(ranks as f64 + 0.5);
        zipf.always = 2.0 - zipf.inverse(zipf.integral(2.5) - zipf.density(2.0));
        zipf
    }

    pub(super) fn draw(&self, rng: &mut Rng) -> u64 {
        loop {
            let under = self.last + rng.unit() * (self.first - self.last);
            let x = self.inverse(under);
            let rank = (x + 0.5).floor().clamp(1.0, self.ranks as f64);
            if rank - x <= self.always || under >= self.integral(rank + 0.5) - self.density(rank) {
                return rank as u64 - 1;
            }
        }
    }

    fn density(&self, x: f64) -> f64 {
        (-self.theta * x.ln()).exp()
    }

    /// ∫ x^−theta, such that it is continuous at theta = 1.
    fn integral(&self, x: f64) -> f64 {
        let log = x.ln();
        expm1_over((1.0 - self.theta) * log) * log
    }

    fn inverse(&self, integral: f64) -> f64 {
        let t = (integral * (1.0 - self.theta)).max(-1.0);
        (ln1p_over(t) * integral).exp()
    }
}

/// (e^x − 1)/x.
fn expm1_over(x: f64) -> f64 {
    if x.abs() > 1e-8 { x.exp_m1() / x } else { 1.0 + x / 2.0 * (1.0 + x / 3.0) }
}

/// ln(1 + x)/x.
fn ln1p_over(x: f64) -> f64 {
    if x.abs() > 1e-8 { x.ln_1p() / x } else { 1.0 - x * (0.5 - x / 3.0) }
}
