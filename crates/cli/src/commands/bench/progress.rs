//! What is shown while workers run: the rate now, how it went, and the time that is left. Drawn by whoever watches.

use crate::progress::whole;
use flashscope_load::plan::Resolved;
use flashscope_units::{ByteRate, Bytes, Nanos};

/// Rates that a sparkline shows.
const POINTS: usize = 12;
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// How far a phase is.
pub(super) struct Course {
    time: Option<Nanos>,
    bytes: Option<u64>,
    rates: Vec<f64>,
    shown: (Nanos, u64),
}

impl Course {
    /// Of jobs that run side by side.
    pub(super) fn new(plans: &[Resolved]) -> Course {
        Course {
            time: plans.iter().map(longest).collect::<Option<Vec<_>>>().and_then(|times| times.into_iter().max()),
            bytes: plans.iter().map(most).collect::<Option<Vec<u64>>>().map(|bytes| bytes.into_iter().sum()),
            rates: Vec::with_capacity(POINTS + 1),
            shown: (Nanos::ZERO, 0),
        }
    }

    /// So much was moved in all after this time: what to show of it.
    pub(super) fn line(&mut self, since: Nanos, moved: u64) -> String {
        let (time, bytes) = (since.saturating_sub(self.shown.0), moved.saturating_sub(self.shown.1));
        self.shown = (since, moved);
        let Some(rate) = ByteRate::of(Bytes(bytes), time) else { return String::new() };
        self.rates.push(rate.get());
        if self.rates.len() > POINTS {
            self.rates.remove(0);
        }
        let left = self.left(since, moved).map_or_else(String::new, |left| format!(", {} left", whole(left)));
        format!("{} {rate}, {} moved{left}", sparkline(&self.rates), Bytes(moved))
    }

    /// Until the first end that can be foreseen.
    fn left(&self, since: Nanos, moved: u64) -> Option<Nanos> {
        let by_time = self.time.map(|time| time.saturating_sub(since));
        let by_bytes = self.bytes.filter(|_| moved > 0).map(|bytes| {
            let share = bytes.saturating_sub(moved) as f64 / moved as f64;
            Nanos((since.as_f64() * share) as u64)
        });
        match (by_time, by_bytes) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (one, other) => one.or(other),
        }
    }
}

/// How long a job takes at most; `None` where nothing says.
fn longest(plan: &Resolved) -> Option<Nanos> {
    let stop = &plan.job.stop;
    let steady = stop.steady.map(|steady| steady.round * u64::from(steady.at_most));
    Some(stop.time.or(steady)? + plan.job.warm_up)
}

/// What a job moves at most; `None` where nothing says.
fn most(plan: &Resolved) -> Option<u64> {
    let stop = &plan.job.stop;
    let by_count = stop.requests.map(|count| count.saturating_mul(plan.job.largest().get()));
    let each = match (stop.bytes.map(Bytes::get), by_count) {
        (Some(a), Some(b)) => a.min(b),
        (one, other) => one.or(other)?,
    };
    Some(each.saturating_mul(u64::from(plan.job.workers)))
}

/// One bar per value, from zero to the largest.
fn sparkline(values: &[f64]) -> String {
    let most = values.iter().copied().fold(0.0, f64::max);
    let bar = |value: &f64| if most > 0.0 { BARS[((value / most) * 7.0).round() as usize] } else { BARS[0] };
    values.iter().map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_load::job::Job;
    use flashscope_load::plan::{Limits, resolve};

    fn course(change: impl FnOnce(&mut Job)) -> Course {
        let mut job = Job::new("test");
        change(&mut job);
        let limits = Limits { capacity: Bytes::mib(64), granularity: Bytes::SECTOR };
        Course::new(&[resolve(&job, limits).unwrap()])
    }

    #[test]
    fn the_first_end_that_can_be_foreseen_counts() {
        let half = Bytes::mib(32).get();
        let line = |change: &dyn Fn(&mut Job)| course(change).line(Nanos::secs(10), half);
        assert!(line(&|_| {}).ends_with("32 MiB moved, 10 s left"), "{}", line(&|_| {}));
        assert!(line(&|job| job.stop.time = Some(Nanos::secs(100))).ends_with("1 min 30 s left"));
        let both = |job: &mut Job| (job.stop.time, job.stop.bytes) = (Some(Nanos::secs(100)), Some(Bytes::mib(64)));
        assert!(line(&both).ends_with("10 s left"));
    }

    #[test]
    fn bars_reach_from_zero_to_the_largest() {
        assert_eq!(sparkline(&[0.0, 5.0, 10.0]), "▁▅█");
        assert_eq!(sparkline(&[0.0, 0.0]), "▁▁");
        let mut course = course(|_| {});
        for step in 1..100u64 {
            course.line(Nanos::secs(step), step * step);
        }
        assert_eq!(course.rates.len(), POINTS);
    }
}
