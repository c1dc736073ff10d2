//! How long what is still to come will take, by how long what was done took.

use flashscope_infer::Upcoming;
use flashscope_model::plan::SlcCache;
use flashscope_model::{DeviceFacts, Experiment, ExperimentName};
use flashscope_probe::cost;
use flashscope_units::{Bytes, Nanos};

/// What a run has before it, as far as can be told where an experiment begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ahead {
    /// Experiments, the one that begins included.
    pub steps: u32,
    /// Whether there will be just so many; else it is what such runs usually take.
    pub exact: bool,
    /// Device time of the experiment that begins.
    pub this: Nanos,
    /// Device time of those behind it.
    pub rest: Nanos,
    /// Device time that the run took until now.
    pub spent: Nanos,
}

/// How long the requests of one experiment took.
#[derive(Clone, Copy, Debug)]
struct Pace {
    name: ExperimentName,
    writes: bool,
    /// Mean length of a request, in bytes.
    length: f64,
    /// Mean time of a request and what belongs to it, in nanoseconds.
    each_ns: f64,
}

/// What the experiments of a run took.
#[derive(Clone, Debug, Default)]
pub(crate) struct Paces(Vec<Pace>);

/// Bytes per second of reads and of writes, and the time of a request in nanoseconds, before anything was measured: in the
/// geometric middle of what [`flashscope_infer::outlook`] assumes.
const ASSUMED_READ: (f64, f64) = (28e6, 1e6);
const ASSUMED_WRITE: (f64, f64) = (2.2e6, 5e6);

/// No experiment is thought to take longer, so that sums stay numbers: ten days.
const LONGEST: Nanos = Nanos::secs(864_000);

impl Paces {
    /// Takes note of an experiment that was done.
    pub(crate) fn note(&mut self, experiment: &Experiment, device: &DeviceFacts, took: Nanos) {
        let (requests, length, writes) = size(experiment, device);
        // One that its own time ended did fewer requests than it was given.
        let whole = most_time(experiment).is_none_or(|most| took < most);
        if requests > 0.0 && whole {
            let busy = took.saturating_sub(rests(experiment)).as_f64();
            self.0.push(Pace { name: experiment.name(), writes, length, each_ns: busy / requests });
        }
    }

    /// What lies ahead of a run that begins this experiment.
    pub(crate) fn ahead(&self, this: &Experiment, upcoming: &[Upcoming], device: &DeviceFacts, spent: Nanos) -> Ahead {
        let all: Nanos =
            upcoming.iter().map(|subject| self.time(&subject.next, device) * u64::from(subject.count)).sum();
        let this = self.time(this, device);
        Ahead {
            // What begins may be asked for by nothing but the operator.
            steps: upcoming.iter().map(|subject| subject.count).sum::<u32>().max(1),
            exact: upcoming.iter().all(|subject| subject.exact),
            this,
            rest: all.saturating_sub(this),
            spent,
        }
    }

    /// The time of an experiment, by the latest one that is most like it: of the same direction, then of the same kind,
    /// then of the nearest length. Longer requests take longer in proportion, shorter ones no less.
    fn time(&self, experiment: &Experiment, device: &DeviceFacts) -> Nanos {
        let (requests, length, writes) = size(experiment, device);
        let unlike = |pace: &&Pace| {
            let apart = (pace.length.max(1.0) / length.max(1.0)).ln().abs();
            (pace.name != experiment.name(), (apart * 1e3) as u64)
        };
        let each = match self.0.iter().rev().filter(|pace| pace.writes == writes).min_by_key(unlike) {
            Some(pace) => pace.each_ns * (length / pace.length.max(1.0)).max(1.0),
            None => {
                let (rate, each) = if writes { ASSUMED_WRITE } else { ASSUMED_READ };
                each + length / rate * 1e9
            }
        };
        let most = most_time(experiment).unwrap_or(LONGEST);
        rests(experiment) + Nanos((each * requests) as u64).min(most)
    }
}

/// Requests, their mean length in bytes, and whether they write.
fn size(experiment: &Experiment, device: &DeviceFacts) -> (f64, f64, bool) {
    let cost = cost(experiment, device);
    let requests = cost.requests as f64;
    (requests, (cost.read + cost.written).as_f64() / requests.max(1.0), cost.written > Bytes::ZERO)
}

/// After which time an experiment ends, whatever is left of it.
fn most_time(experiment: &Experiment) -> Option<Nanos> {
    match experiment {
        Experiment::Throughput(throughput) => throughput.most_time,
        _ => None,
    }
}

/// The rests that do not grow with the requests: those before long writes are far longer than the writes.
fn rests(experiment: &Experiment) -> Nanos {
    match experiment {
        Experiment::SlcCache(SlcCache { bursts, .. }) => bursts.iter().map(|burst| burst.idle).sum(),
        _ => Nanos::ZERO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_model::plan::{Floor, Span, Stretch};
    use flashscope_model::{Claims, DeviceKind, plan};

    fn device() -> DeviceFacts {
        DeviceFacts {
            name: "test".to_owned(),
            kind: DeviceKind::SdCard,
            simulated: true,
            capacity: Bytes::gib(8),
            logical_block: Bytes::SECTOR,
            physical_block: None,
            max_request: None,
            queue_depth: None,
            claims: Claims::default(),
            identity: None,
        }
    }

    fn reads(block: Bytes, count: u32) -> Experiment {
        Experiment::Floor(Floor { block, at: Bytes::ZERO, count })
    }

    fn burst(idle: Nanos, length: Bytes) -> Experiment {
        let bursts = vec![Stretch { idle, span: Span { start: Bytes::ZERO, length } }];
        Experiment::SlcCache(plan::SlcCache { block: Bytes::mib(1), bursts })
    }

    #[test]
    fn what_is_alike_takes_alike() {
        let mut paces = Paces::default();
        paces.note(&reads(Bytes::kib(4), 100), &device(), Nanos::millis(100));
        assert_eq!(paces.time(&reads(Bytes::kib(4), 300), &device()), Nanos::millis(300));
        assert_eq!(paces.time(&reads(Bytes::kib(8), 100), &device()), Nanos::millis(200), "longer ones in proportion");
        assert_eq!(paces.time(&reads(Bytes::kib(2), 100), &device()), Nanos::millis(100), "shorter ones no less");
    }

    #[test]
    fn a_rest_is_counted_where_it_is_taken() {
        let mut paces = Paces::default();
        paces.note(&burst(Nanos::secs(30), Bytes::mib(32)), &device(), Nanos::secs(34));
        assert_eq!(paces.time(&burst(Nanos::ZERO, Bytes::mib(32)), &device()), Nanos::secs(4));
        assert_eq!(paces.time(&burst(Nanos::secs(30), Bytes::mib(64)), &device()), Nanos::secs(38));
    }

    #[test]
    fn steps_are_exact_where_every_question_is() {
        let paces = Paces::default();
        let upcoming = |exact| Upcoming { next: reads(Bytes::kib(4), 100), count: 3, exact };
        let ahead = |all: &[Upcoming]| paces.ahead(&all[0].next, all, &device(), Nanos::ZERO);
        let both = ahead(&[upcoming(true), upcoming(false)]);
        assert_eq!((both.steps, both.exact), (6, false));
        assert!(ahead(&[upcoming(true)]).exact);
        assert_eq!(both.rest, both.this * 5);
    }
}
