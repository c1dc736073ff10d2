//! Where the rate of random writes is going, before it is there.
//!
//! A drive that maps pages writes into its spare space first, and copies afterwards: what each write costs then follows from how much
//! space is spare, and from nothing else that is not seen (`copies`). So the spare space is what is searched for: for each that is
//! possible the course of the rounds so far gives the price of a write and that of a copy by least squares, and those give the rate
//! at which it all ends.

mod copies;

use copies::{LEAST_SPARE, MOST_SPARE, Spared};
use flashscope_stats::line::weighted_least_squares;
use flashscope_stats::location::{MAD_NORMAL_FACTOR, median};
use flashscope_units::Bytes;

/// What random writes come to in the end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SteadyRate {
    /// Bytes per second.
    pub rate: f64,
    /// The lower end of its 95 % interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// Bytes of random writes after which the rate stays within a tenth of it.
    pub after: Bytes,
}

/// Spare spaces that are tried, evenly on a logarithmic scale: neighbours differ by 1 %, as where copies begin is a cliff.
const TRIED: u32 = 400;

/// Fewer rounds, or fewer that were written while copies were made, show no course.
const LEAST_ROUNDS: usize = 6;

/// More rounds than this are looked at together: what each of them scatters by is no part of the course.
const MOST_ROUNDS: usize = 64;

/// Of an explanation of the rounds that leaves more than this unexplained, as a mean share of a round's time, nothing is concluded.
const UNEXPLAINED: f64 = 0.10;

/// Copies that make a write no dearer than this many times are none that could be told from scatter.
const LEAST_RISE: f64 = 1.25;

/// A copy is a read and a write inside: one that costs less than this share of what a write costs was none, but the end of a fast area.
const LEAST_COPY: f64 = 0.3;

/// A drive copies more than the law says, as some of its blocks are always open: so much dearer are writes in the end at the median
/// of development drives (`cargo bench -p flashscope-proof --bench steady -- --develop`).
const DEARER: f64 = 1.03;

/// What is left between the law and a drive: of the same drives 95 of 100 predictions are within this share of what came.
const BEYOND_THE_LAW: f64 = 0.15;

/// Where rounds of random writes are going. `rounds` are bytes written and seconds taken of one round after the other, from a
/// span that was written once in order on; `span` is what they are spread over. `None` where copies have not begun, or the course
/// is none that the law explains.
///
/// ```
/// use flashscope_infer::steady::predict;
/// use flashscope_units::Bytes;
///
/// // An even rate says nothing of what is to come.
/// assert_eq!(predict(&[(1e6, 1.0); 20], Bytes::mib(64)), None);
/// ```
pub fn predict(rounds: &[(f64, f64)], span: Bytes) -> Option<SteadyRate> {
    let rounds: Vec<Round> = stretches(rounds, span.as_f64())?;
    let step = (MOST_SPARE / LEAST_SPARE).powf(1.0 / f64::from(TRIED - 1));
    let tried = (0..TRIED).map(|index| LEAST_SPARE * step.powi(index as i32));
    let until = rounds.last()?.until;
    let fits: Vec<Fit> = tried.filter_map(|spare| Fit::of(&rounds, &Spared::of(spare, until))).collect();
    let best = fits.iter().min_by(|one, other| one.unexplained.total_cmp(&other.unexplained))?;
    if best.unexplained > UNEXPLAINED {
        return None;
    }
    let rate = span.as_f64() / (best.cost * DEARER);
    Some(SteadyRate {
        rate,
        low: rate * (1.0 - BEYOND_THE_LAW),
        high: rate * (1.0 + BEYOND_THE_LAW),
        after: Bytes((best.after * span.as_f64()) as u64),
    })
}

/// A round, in spans and in seconds a span.
#[derive(Clone, Copy, Debug)]
struct Round {
    from: f64,
    until: f64,
    cost: f64,
}

fn stretches(rounds: &[(f64, f64)], span: f64) -> Option<Vec<Round>> {
    let mut from = 0.0;
    let mut all = Vec::new();
    for together in rounds.chunks(rounds.len().div_ceil(MOST_ROUNDS).max(1)) {
        let (bytes, seconds) = together.iter().fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        let until = from + bytes / span;
        let sound = seconds > 0.0 && until > from && until.is_finite();
        all.push(sound.then_some(Round { from, until, cost: seconds * span / bytes })?);
        from = until;
    }
    (all.len() >= LEAST_ROUNDS).then_some(all)
}

/// What one spare space makes of the rounds.
struct Fit {
    /// Seconds a span in the end.
    cost: f64,
    /// Mean of what is not explained, as a share of a round's time.
    unexplained: f64,
    /// Spans after which the rate stays within a tenth.
    after: f64,
}

impl Fit {
    fn of(rounds: &[Round], spared: &Spared) -> Option<Fit> {
        let copies: Vec<f64> = rounds.iter().map(|round| spared.between(round.from, round.until)).collect();
        let copying = copies.iter().filter(|copies| **copies > 0.0).count();
        if copying < LEAST_ROUNDS {
            return None;
        }
        let costs: Vec<f64> = rounds.iter().map(|round| round.cost).collect();
        // Errors are shares of a round's cost, and a round that wrote more says more. One far off says less: where copies begin a
        // round is partly on either side.
        let size = |round: &Round| round.until - round.from;
        let mut weights: Vec<f64> = rounds.iter().map(|round| size(round) / round.cost.powi(2)).collect();
        let mut line = weighted_least_squares(&copies, &costs, &weights).ok()?;
        let mut off: Vec<f64> = Vec::new();
        for _ in 0..TIMES {
            off = line.residuals.iter().zip(&costs).map(|(residual, cost)| (residual / cost).abs()).collect();
            let usual = 2.0 * MAD_NORMAL_FACTOR * median(&off)?;
            for ((weight, round), off) in weights.iter_mut().zip(rounds).zip(&off) {
                *weight = size(round) / round.cost.powi(2)
                    * (usual / off.max(usual).max(f64::MIN_POSITIVE)).max(LEAST_WEIGHT);
            }
            line = weighted_least_squares(&copies, &costs, &weights).ok()?;
        }
        let dearest = copies.iter().copied().fold(0.0, f64::max);
        let is_cheap = line.slope < LEAST_COPY * line.intercept;
        if line.intercept <= 0.0 || is_cheap || line.at(dearest) < LEAST_RISE * line.intercept {
            return None;
        }
        let all: f64 = rounds.last()?.until;
        let unexplained = rounds.iter().zip(&off).map(|(round, off)| size(round) / all * off.min(FAR_OFF)).sum();
        let cost = line.at(spared.in_the_end);
        let after = spared.settles(|copies| (line.at(copies) / cost - 1.0).abs() <= WITHIN);
        Some(Fit { cost, unexplained, after })
    }
}

/// How often rounds are weighed anew (Huber, *Robust Statistics*, 1981: iterated weights, bent at two standard deviations).
const TIMES: usize = 3;

/// No round is left out altogether.
const LEAST_WEIGHT: f64 = 1e-3;

/// What is further off than this is not explained at all, however far.
const FAR_OFF: f64 = 0.25;

/// A rate within this share of the last one is as good as there.
const WITHIN: f64 = 0.10;

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounds of equal bytes on a drive that follows the law, as far as told.
    fn rounds(spare: f64, write: f64, copy: f64, spans: f64) -> Vec<(f64, f64)> {
        let law = Spared::of(spare, spans);
        let count = (spans * 100.0) as u32;
        let of = |index: u32| {
            let from = f64::from(index) / 100.0;
            (1e7, 0.01 * (write + copy * law.between(from, from + 0.01)))
        };
        (0..count).map(of).collect()
    }

    #[test]
    fn the_end_follows_from_the_beginning() {
        for (spare, spans) in [(0.07, 0.2), (0.11, 0.25), (0.28, 0.4)] {
            let seen = predict(&rounds(spare, 1.0, 1.5, spans), Bytes(1_000_000_000)).expect("copies were made");
            let law = Spared::of(spare, spans);
            let expected = 1e9 / (DEARER * (1.0 + 1.5 * law.in_the_end));
            assert!((seen.rate / expected - 1.0).abs() < 0.03, "{spare}: {seen:?}, {expected}");
            assert!(seen.low < expected && expected < seen.high, "{spare}: {seen:?}, {expected}");
        }
    }

    #[test]
    fn what_no_law_explains_is_not_gone_on_with() {
        let odd: Vec<(f64, f64)> = (0..40).map(|index| (1e7, if index % 7 < 3 { 1.0 } else { 9.0 })).collect();
        assert_eq!(predict(&odd, Bytes(1_000_000_000)), None);
        assert_eq!(predict(&rounds(0.2, 1.0, 1.5, 0.15), Bytes(1_000_000_000)), None, "copies have not begun");
        assert_eq!(predict(&[(0.0, 1.0); 10], Bytes(1 << 30)), None);
        assert_eq!(predict(&[], Bytes::ZERO), None);
    }
}
