//! What others would have marked in the same history.

use flashscope_stats::test::{Alternative, welch_t};

/// The band that others use: a value more than this off the last one is a change.
const BAND: f64 = 0.10;
/// Points on each side that a test looks at.
const WINDOW: usize = 10;
/// Its level.
const LEVEL: f64 = 0.05;

/// Where a rate is more than 10 % off the one before it.
pub(super) fn band(rates: &[f64]) -> Vec<usize> {
    let is_off = |pair: &[f64]| (pair[1] / pair[0] - 1.0).abs() > BAND;
    rates.windows(2).enumerate().filter(|(_, pair)| is_off(pair)).map(|(i, _)| i + 1).collect()
}

/// Where the ten points from here on differ from the ten before by Welch's t at 5 %; of neighbours that all do, the surest.
pub(super) fn welch(logs: &[f64]) -> Vec<usize> {
    let p = |i: usize| {
        welch_t(&logs[i..i + WINDOW], &logs[i - WINDOW..i], Alternative::TwoSided).map_or(1.0, |t| t.p_value)
    };
    let mut marks = Vec::new();
    let mut surest: Option<(usize, f64)> = None;
    for i in WINDOW..=logs.len().saturating_sub(WINDOW) {
        let p = p(i);
        if p >= LEVEL {
            marks.extend(surest.take().map(|(at, _)| at));
        } else if surest.is_none_or(|(_, least)| p < least) {
            surest = Some((i, p));
        }
    }
    marks.extend(surest.map(|(at, _)| at));
    marks
}
