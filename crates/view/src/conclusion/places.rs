//! Places that stand out among reads of the same length, and how far they lie apart.

use flashscope_model::observation::ScatterPlace;
use flashscope_stats::location;
use flashscope_units::{Bytes, Contrast};

/// A place stands out by so many times the scatter of all, in standard deviations, …
const SCATTERS: f64 = 6.0;
/// … and by no less than this share of the usual time.
const SHARE: f64 = 0.05;
/// Where more places than this share stand out, none does.
const MOST: f64 = 1.0 / 3.0;
/// Distances that agree in this share make a pattern.
const AGREE: f64 = 0.8;
/// So many places make a pattern.
const LEAST: usize = 3;

/// Whether and where times stand out; `what` begins the sentence (`reads across`). `None` of no times.
pub(super) fn sentence(what: &str, places: &[ScatterPlace]) -> Option<String> {
    let shortest: Vec<(Bytes, f64)> =
        places.iter().filter_map(|place| Some((place.at, place.times.iter().min()?.as_f64()))).collect();
    let times: Vec<f64> = shortest.iter().map(|(_, time)| *time).collect();
    let usual = location::median(&times)?;
    let least = (SCATTERS * location::mad(&times)?).max(SHARE * usual);
    let out: Vec<(Bytes, f64)> = shortest.iter().copied().filter(|(_, time)| (time - usual).abs() >= least).collect();
    let all = shortest.len();
    let usual_time = Contrast(usual);
    if out.is_empty() {
        return Some(format!("no place stands out: {what} {all} places take {usual_time} at the median"));
    }
    if out.len() as f64 > MOST * all as f64 {
        return Some(format!("cannot tell: {what} {all} places scatter too much around {usual_time}"));
    }
    let off = location::median(&out.iter().map(|(_, time)| time - usual).collect::<Vec<f64>>())?;
    let (longer, off) = if off < 0.0 { ("shorter", Contrast(-off)) } else { ("longer", Contrast(off)) };
    let stand_out = format!("{what} {} of {all} places take {off} {longer} than {usual_time}", out.len());
    let positions: Vec<u64> = out.iter().map(|(at, _)| at.get()).collect();
    Some(match period(&positions) {
        Some((period, 0)) => format!("{stand_out}, every {} from 0 B on", Bytes(period)),
        Some((period, first)) => format!("{stand_out}, every {} from {} on", Bytes(period), Bytes(first)),
        None => format!("{stand_out}, in no regular distance"),
    })
}

/// The distance at which most of these rising positions lie, and where the first one would.
fn period(positions: &[u64]) -> Option<(u64, u64)> {
    if positions.len() < LEAST {
        return None;
    }
    let mut distances: Vec<u64> = positions.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect();
    distances.sort_unstable();
    let common = distances.chunk_by(|a, b| a == b).max_by_key(|same| same.len()).map(|same| same[0])?;
    let first = positions.first()? % common.max(1);
    let fit = positions.iter().filter(|at| common > 0 && **at % common == first).count();
    // The stretches between which nothing was read are as far apart as they are.
    let alike = distances.iter().filter(|distance| **distance == common).count();
    let regular = fit as f64 >= AGREE * positions.len() as f64 && alike as f64 >= 0.5 * distances.len() as f64;
    regular.then_some((common, first))
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_units::Nanos;

    /// Reads every 16 KiB from 1 MiB on; `slow` says which of them take 200 µs longer. They scatter by up to 4 µs.
    fn places(count: u64, slow: impl Fn(u64) -> bool) -> Vec<ScatterPlace> {
        let place = |index: u64| {
            let time = 500 + index * 7 % 5 + if slow(index) { 200 } else { 0 };
            ScatterPlace { at: Bytes::mib(1) + Bytes::kib(16) * index, times: vec![Nanos::micros(time)] }
        };
        (0..count).map(place).collect()
    }

    fn check(slow: impl Fn(u64) -> bool, expect: &str) {
        let said = sentence("reads across", &places(256, slow)).unwrap();
        assert!(said.contains(expect), "{said}");
    }

    #[test]
    fn what_stands_out_is_said_with_its_distance() {
        check(|index| index % 64 == 0, "4 of 256 places take 200 µs longer");
        check(|index| index % 64 == 0, "every 1 MiB from 0 B on");
        check(|index| index % 64 == 16, "every 1 MiB from 256 KiB on");
        check(|index| [3, 17, 40, 90, 210].contains(&index), "in no regular distance");
    }

    #[test]
    fn where_nothing_or_everything_stands_out_nothing_is_claimed() {
        check(|_| false, "no place stands out");
        check(|index| index % 2 == 0 || index % 5 == 0, "cannot tell");
        assert_eq!(sentence("reads at", &[]), None);
    }
}
