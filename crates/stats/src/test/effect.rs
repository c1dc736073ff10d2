//! How large a difference is, free of units.

use crate::StatsError;
use crate::error::check_sample;
use crate::ranking::rank;

/// Cliff's δ = Pr(x > y) − Pr(x < y) over all pairs (Psychological Bulletin 114, 1993), −1..=1; 1 when every x lies
/// above every y.
pub fn cliffs_delta(x: &[f64], y: &[f64]) -> Result<f64, StatsError> {
    check_sample(x, 1)?;
    check_sample(y, 1)?;
    let joint: Vec<f64> = x.iter().chain(y).copied().collect();
    let (n, m) = (x.len() as f64, y.len() as f64);
    let u = rank(&joint).ranks[..x.len()].iter().sum::<f64>() - 0.5 * n * (n + 1.0);
    Ok(2.0 * u / (n * m) - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::close;

    #[test]
    fn counts_pairs() {
        let check = |x: &[f64], y: &[f64], want: f64| close(cliffs_delta(x, y).unwrap(), want, 1e-12);
        check(&[4.0, 5.0], &[1.0, 2.0, 3.0], 1.0);
        check(&[1.0, 2.0], &[4.0], -1.0);
        // Pairs of {1, 3} and {1, 2}: tie, below, above, above.
        check(&[1.0, 3.0], &[1.0, 2.0], 0.25);
        check(&[7.0; 4], &[7.0; 3], 0.0);
    }
}
