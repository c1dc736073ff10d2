//! Noise of a series that may have steps.

use crate::StatsError;
use crate::error::check_sample;
use crate::location::mad_raw;
use crate::location::{MAD_NORMAL_FACTOR, sorted};

/// Share of the largest differences that the fallback for quantised series drops.
const TRIMMED: f64 = 0.1;
/// Noise assumed of a series without any, as a share of its range: nearly any step then counts, and squares of
/// standardised values stay far from the rounding of `f64`.
const NOISELESS: f64 = 1e-5;

/// Standard deviation of independent noise around a piecewise-constant level, from differences of neighbours, which
/// see a step only once: their MAD over √2 (the idea of von Neumann 1941 made robust). Where more than half of the
/// differences vanish (a coarse clock), the root mean square of the smaller nine tenths takes its place; a series with
/// steps and no noise at all gets 1e-5 of its range. 0 only for a constant series. Three values or more.
pub fn difference_noise(series: &[f64]) -> Result<f64, StatsError> {
    check_sample(series, 3)?;
    let differences: Vec<f64> = series.windows(2).map(|w| w[1] - w[0]).collect();
    let root_two = std::f64::consts::SQRT_2;
    let robust = mad_raw(&differences).ok_or(StatsError::NotFinite)? * MAD_NORMAL_FACTOR / root_two;
    if robust > 0.0 {
        return Ok(robust);
    }
    let sizes: Vec<f64> = differences.iter().map(|d| d.abs()).collect();
    let sizes = sorted(&sizes).ok_or(StatsError::NotFinite)?;
    let kept = &sizes[..sizes.len() - (sizes.len() as f64 * TRIMMED).ceil() as usize];
    let square = kept.iter().map(|d| d * d).sum::<f64>() / kept.len().max(1) as f64;
    if square > 0.0 {
        return Ok(square.sqrt() / root_two);
    }
    let high = series.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let low = series.iter().copied().fold(f64::INFINITY, f64::min);
    Ok((high - low) * NOISELESS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;
    use crate::simulate::{close, normals};

    #[test]
    fn steps_and_spikes_do_not_inflate_it() {
        let mut rng = Rng::new(101);
        let mut series = normals(&mut rng, 500, 0.0, 0.3);
        series.extend(normals(&mut rng, 500, 20.0, 0.3));
        series[100] = 1e6;
        close(difference_noise(&series).unwrap(), 0.3, 0.03);
        let ticks: Vec<f64> = (0..1000).map(|_| f64::from(u8::from(rng.unit() < 0.15))).collect();
        close(difference_noise(&ticks).unwrap(), 0.36, 0.1);
        assert_eq!(difference_noise(&[5.0; 9]), Ok(0.0));
        assert_eq!(difference_noise(&[0.0, 0.0, 0.0, 0.0, 0.0, 8.0, 8.0, 8.0, 8.0, 8.0, 8.0, 8.0]), Ok(8.0 * 1e-5));
    }
}
