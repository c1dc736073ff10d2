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

/// The exact 95 % interval of a share of which `count` of `all` were seen (Clopper and Pearson, "The use of confidence or
/// fiducial limits illustrated in the case of the binomial", Biometrika 26, 1934). Nothing is known of none: 0 to 1.
///
/// ```
/// let [low, high] = flashscope_testkit::exact_interval(0, 100);
/// assert!(low == 0.0 && (high - 0.0362).abs() < 1e-4);
/// let [low, high] = flashscope_testkit::exact_interval(95, 100);
/// assert!((low - 0.8872).abs() < 1e-4 && (high - 0.9836).abs() < 1e-4);
/// ```
pub fn exact_interval(count: u32, all: u32) -> [f64; 2] {
    // Pr(no more than `most` of `all`), in logarithms, as a term of many cases is too small for a number.
    let at_most = |most: u32, p: f64| {
        let mut term = f64::from(all) * (1.0 - p).ln();
        let mut sum = 0.0;
        for k in 0..=most {
            sum += term.exp();
            term += (f64::from(all - k) / f64::from(k + 1) * p / (1.0 - p)).ln();
        }
        sum
    };
    // The share at which a probability that falls with it is `wanted`.
    let solve = |falling: &dyn Fn(f64) -> f64, wanted: f64| {
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            *(if falling(middle) > wanted { &mut low } else { &mut high }) = middle;
        }
        low
    };
    let low = if count == 0 { 0.0 } else { solve(&|p| at_most(count - 1, p), 0.975) };
    let high = if count == all { 1.0 } else { solve(&|p| at_most(count, p), 0.025) };
    [low, high]
}
