//! Many tests at once.

use crate::StatsError;

/// Holm's step-down adjusted p values (Scandinavian Journal of Statistics 6, 1979), in input order: rejecting those at
/// most α keeps the chance of any false rejection in the family at α. NaN or values outside 0..=1 are refused.
pub fn holm(p_values: &[f64]) -> Result<Vec<f64>, StatsError> {
    let order = ascending(p_values)?;
    let mut adjusted = vec![0.0; p_values.len()];
    let mut largest = 0.0f64;
    for (position, &i) in order.iter().enumerate() {
        largest = largest.max(p_values[i] * (order.len() - position) as f64);
        adjusted[i] = largest.min(1.0);
    }
    Ok(adjusted)
}

/// Adjusted p values of Benjamini and Hochberg (Journal of the Royal Statistical Society B 57, 1995), in input order:
/// selecting those at most q keeps the expected share of false ones among the selected at q.
pub fn benjamini_hochberg(p_values: &[f64]) -> Result<Vec<f64>, StatsError> {
    let order = ascending(p_values)?;
    let mut adjusted = vec![0.0; p_values.len()];
    let mut smallest = 1.0f64;
    for (position, &i) in order.iter().enumerate().rev() {
        smallest = smallest.min(p_values[i] * order.len() as f64 / (position + 1) as f64);
        adjusted[i] = smallest;
    }
    Ok(adjusted)
}

fn ascending(p_values: &[f64]) -> Result<Vec<usize>, StatsError> {
    if p_values.iter().any(|p| !(0.0..=1.0).contains(p)) {
        return Err(StatsError::BadParameter("p_values"));
    }
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    Ok(order)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::close;

    #[test]
    fn adjusts_like_hand_calculation() {
        let check = |got: Result<Vec<f64>, StatsError>, want: &[f64]| {
            let got = got.unwrap();
            assert_eq!(got.len(), want.len());
            for (got, want) in got.into_iter().zip(want) {
                close(got, *want, 1e-12);
            }
        };
        let p = [0.01, 0.04, 0.03, 0.005];
        check(holm(&p), &[0.03, 0.06, 0.06, 0.02]);
        check(benjamini_hochberg(&p), &[0.02, 0.04, 0.04, 0.02]);
        check(holm(&[0.9, 0.8]), &[1.0, 1.0]);
        check(holm(&[]), &[]);
        assert!(holm(&[f64::NAN]).is_err() && benjamini_hochberg(&[1.1]).is_err());
    }
}
