//! How evenly a device takes sequential writes.
//!
//! A device that was written sequentially takes them all alike, but for what follows a rule: a fast area that is full, the
//! end of a unit, pages of one cell that differ. A dirty one copies before it writes, as much as happens to be valid in what it
//! frees: times then change from one stretch to the next without a rule.

use flashscope_stats::location::median;

/// What follows a rule comes again after this many writes: two, three, four and six pages share a cell, or a stripe.
const PERIOD: usize = 12;
/// Half a period: two and three only, but near enough that two or three changes of level count for little.
const HALF: usize = PERIOD / 2;
/// A time is off by more than this, as a logarithm: a third longer or shorter. Times that scatter as those of published logs are
/// this far off once in a hundred.
const OFF: f64 = 0.3;
/// Fewer writes tell nothing.
const LEAST_WRITES: usize = 48;

/// Share of the writes whose time is off that of those half a period and a period before and behind, by their median. `None`
/// of too few.
pub(super) fn share(times: &[f64]) -> Option<f64> {
    if times.len() < LEAST_WRITES || times.iter().any(|time| *time <= 0.0) {
        return None;
    }
    let logs: Vec<f64> = times.iter().map(|time| time.ln()).collect();
    let around = |at: usize| -> Option<f64> {
        let before = [at.checked_sub(PERIOD), at.checked_sub(HALF), Some(at)];
        let behind = [Some(at + HALF), Some(at + PERIOD)];
        let alike: Vec<f64> =
            before.into_iter().chain(behind).flatten().filter_map(|at| logs.get(at).copied()).collect();
        median(&alike)
    };
    let off = (0..logs.len()).filter(|at| around(*at).is_some_and(|usual| (logs[*at] - usual).abs() > OFF)).count();
    Some(off as f64 / logs.len() as f64)
}

/// More uneven than this are no writes of a device that was written sequentially, but for one in fifty.
const EVEN: f64 = 0.05;

/// What is said of such a share.
pub(super) const EVENLY: &str = "even writes";

/// A share in words.
pub(super) fn word(share: f64) -> &'static str {
    if share <= EVEN { EVENLY } else { "uneven writes" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_a_rule_is_even() {
        let of = |time: &dyn Fn(usize) -> f64| share(&(0..600).map(time).collect::<Vec<f64>>()).unwrap();
        assert_eq!(of(&|_| 1e6), 0.0);
        // Pages of one cell, a fast area that ends, and a merge at the end of each unit.
        assert_eq!(of(&|at| [1e6, 1e6, 2e6][at % 3]), 0.0);
        assert!(of(&|at| if at < 200 { 1e6 } else { 9e6 }) < 0.02);
        assert!(of(&|at| if at % 64 == 63 { 3e8 } else { 5e6 }) < 0.02);
        // Copies of as much as happens to be valid.
        assert!(of(&|at| 1e6 * (1.0 + ((at / 3 * 2_654_435_761) % 97) as f64 / 10.0)) > 0.3);
    }

    #[test]
    fn too_few_writes_tell_nothing() {
        assert_eq!(share(&[1e6; LEAST_WRITES - 1]), None);
        assert_eq!(share(&[0.0; LEAST_WRITES]), None);
    }
}
