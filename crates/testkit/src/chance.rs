//! What a small sample can say of a share.

/// How improbable chance must be before the quick part of a proof calls a target missed.
const CHANCE: f64 = 0.001;

/// Whether `count` of `all`, or more, still come up by chance where each does with probability `p`: more than once in a
/// thousand such samples. Of few cases a share says little: one wrong answer of twenty is 95 %, whatever the true share.
///
/// ```
/// use flashscope_testkit::may_be_chance;
///
/// assert!(may_be_chance(1, 20, 0.01));
/// assert!(!may_be_chance(5, 20, 0.01));
/// assert!(may_be_chance(0, 10_000, 0.0) && !may_be_chance(1, 10_000, 0.0));
/// ```
pub fn may_be_chance(count: u32, all: u32, p: f64) -> bool {
    // None at all is never too many, even of what must not happen.
    if count == 0 || p <= 0.0 {
        return count == 0;
    }
    let term = |count: u32| {
        let ways: f64 = (0..count).map(|i| f64::from(all - i) / f64::from(i + 1)).product();
        ways * p.powi(count as i32) * (1.0 - p).powi((all - count) as i32)
    };
    (count..=all).map(term).sum::<f64>() > CHANCE
}
