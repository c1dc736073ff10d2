//! Times in classes of about 3 %: small, of fixed size, and quick enough for the path of a request.

use flashscope_units::Nanos;

/// Classes per factor of two.
const STEPS: u64 = 32;
/// Classes in all: a time has 64 bits.
const CLASSES: usize = 64 * STEPS as usize;

/// Times in classes of about 3 %.
#[derive(Clone, Debug)]
pub(crate) struct Histogram {
    counts: Vec<u64>,
    total: u64,
    longest: Nanos,
}

impl Histogram {
    /// Empty.
    pub(crate) fn new() -> Histogram {
        Histogram { counts: vec![0; CLASSES], total: 0, longest: Nanos::ZERO }
    }

    /// Counts a time.
    pub(crate) fn add(&mut self, time: Nanos) {
        self.counts[class(time.get())] += 1;
        self.total += 1;
        self.longest = self.longest.max(time);
    }

    /// The time that `share` of all do not exceed, to the upper end of its class; `None` of nothing.
    pub(crate) fn quantile(&self, share: f64) -> Option<Nanos> {
        let rank = ((self.total as f64 * share).ceil() as u64).clamp(1, self.total.max(1));
        let mut seen = 0;
        let class = self.counts.iter().position(|count| {
            seen += count;
            seen >= rank
        })?;
        Some(Nanos(upper(class)).min(self.longest))
    }

    /// The longest; `None` of nothing.
    pub(crate) fn longest(&self) -> Option<Nanos> {
        (self.total > 0).then_some(self.longest)
    }
}

fn class(ns: u64) -> usize {
    if ns < STEPS {
        return ns as usize;
    }
    let power = u64::from(ns.ilog2() - STEPS.ilog2());
    (power * STEPS + (ns >> power)) as usize
}

/// Largest time of a class.
fn upper(class: usize) -> u64 {
    let class = class as u64;
    if class < 2 * STEPS {
        return class;
    }
    let power = class / STEPS - 1;
    (((class % STEPS + STEPS + 1) as u128) << power).saturating_sub(1).min(u128::from(u64::MAX)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_holds_its_times() {
        for ns in (0..200).chain([1_000, 65_535, 65_536, 1 << 40, u64::MAX]) {
            let upper = upper(class(ns));
            assert!(upper >= ns && upper as f64 <= ns as f64 * 1.035, "{ns}: {upper}");
        }
    }

    #[test]
    fn quantiles() {
        let mut histogram = Histogram::new();
        assert_eq!((histogram.quantile(0.5), histogram.longest()), (None, None));
        (1..=1000).for_each(|us| histogram.add(Nanos::micros(us)));
        let near = |share: f64, us: f64| {
            let found = histogram.quantile(share).unwrap().as_f64() / 1e3;
            assert!((us..us * 1.035).contains(&found), "{share}: {found}");
        };
        near(0.5, 500.0);
        near(0.99, 990.0);
        assert_eq!(histogram.quantile(1.0), Some(Nanos::micros(1000)));
    }
}
