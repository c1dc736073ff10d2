//! How long what is still to come will take, by how long what was done took.

use flashscope_infer::Upcoming;
use flashscope_model::observation::Spent;
use flashscope_model::plan::SlcCache;
use flashscope_model::{DeviceFacts, Experiment, ExperimentName, Order};
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

/// The requests of one experiment, as far as their time goes by it.
#[derive(Clone, Copy, Debug)]
struct Requests {
    name: ExperimentName,
    writes: bool,
    /// Random ones; an experiment that has no order takes its places one after another.
    random: bool,
    /// How many.
    count: f64,
    /// Their mean length, in bytes.
    length: f64,
    /// Over how much they go at once, in bytes: what is one unit's work to a device may be too much when it lies in nine.
    spread: f64,
}

/// How long the requests of one experiment took.
#[derive(Clone, Copy, Debug)]
struct Pace {
    of: Requests,
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
    pub(crate) fn note(&mut self, experiment: &Experiment, device: &DeviceFacts, spent: Spent) {
        let of = Requests::of(experiment, device);
        // One that ended early did fewer requests than it was given.
        let whole = of.count * of.length;
        let share = if whole > 0.0 { ((spent.read + spent.written).as_f64() / whole).min(1.0) } else { 1.0 };
        let done = of.count * share;
        if done > 0.0 {
            let busy = spent.time.saturating_sub(rests(experiment)).as_f64();
            self.0.push(Pace { of, each_ns: busy / done });
        }
    }

    /// What lies ahead of a run that begins this experiment.
    pub(crate) fn ahead(&self, this: &Experiment, upcoming: &[Upcoming], device: &DeviceFacts, spent: Nanos) -> Ahead {
        // A question that rests does so before its first experiment.
        let busy = |next: &Experiment| self.time(next, device).saturating_sub(rests(next));
        let whole = |subject: &Upcoming| rests(&subject.next) + busy(&subject.next) * u64::from(subject.count);
        let all: Nanos = upcoming.iter().map(whole).sum();
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

    /// The time of an experiment, by the latest one that is most like it. What longer requests move beside, they move at the
    /// best rate that was seen; shorter ones take no less time.
    pub(crate) fn time(&self, experiment: &Experiment, device: &DeviceFacts) -> Nanos {
        let asked = Requests::of(experiment, device);
        let paces = || self.0.iter().rev().filter(|pace| pace.of.writes == asked.writes);
        let each = match paces().min_by(|one, other| asked.unlike(&one.of).total_cmp(&asked.unlike(&other.of))) {
            Some(pace) => {
                let per_byte = paces().map(|pace| pace.each_ns / pace.of.length.max(1.0)).fold(f64::INFINITY, f64::min);
                pace.each_ns + (asked.length - pace.of.length).max(0.0) * per_byte
            }
            None => {
                let (rate, each) = if asked.writes { ASSUMED_WRITE } else { ASSUMED_READ };
                each + asked.length / rate * 1e9
            }
        };
        let most = most_time(experiment).unwrap_or(LONGEST);
        rests(experiment) + Nanos((each * asked.count.min(enough(experiment, each))) as u64).min(most)
    }
}

impl Requests {
    fn of(experiment: &Experiment, device: &DeviceFacts) -> Requests {
        let cost = cost(experiment, device);
        let count = cost.requests as f64;
        let (order, spread) = match experiment {
            Experiment::Throughput(plan) => (plan.order, plan.length),
            Experiment::OpenUnits(plan) => (plan.order, plan.unit * plan.units.len() as u64),
            Experiment::FastArea(plan) => (plan.order, plan.unit),
            _ => (Order::InOrder, cost.read + cost.written),
        };
        Requests {
            name: experiment.name(),
            writes: cost.written > Bytes::ZERO,
            random: order == Order::Random,
            count,
            length: (cost.read + cost.written).as_f64() / count.max(1.0),
            spread: spread.as_f64(),
        }
    }

    /// How far apart these requests are from others of their direction. The order decides most on cards, and of the rest a
    /// factor of e in length as much as one of e² in spread or another experiment.
    fn unlike(&self, other: &Requests) -> f64 {
        let apart = |one: f64, other: f64| (one.max(1.0) / other.max(1.0)).ln().abs();
        let order = if self.random == other.random { 0.0 } else { 10.0 };
        let name = if self.name == other.name { 0.0 } else { 1.0 };
        order + name + apart(self.length, other.length) + apart(self.spread, other.spread) / 2.0
    }
}

/// Requests after which rounds end where each takes so many nanoseconds: those of the first round, and as many as are enough.
fn enough(experiment: &Experiment, each: f64) -> f64 {
    let (enough, round, behind) = match experiment {
        Experiment::OpenUnits(plan) => {
            let round = plan.units.len() as u64;
            (plan.enough, round, plan.plain_within_a_round().min(round))
        }
        Experiment::FastArea(plan) => {
            let round = (plan.suspects.len() + plan.controls.len()) as u64;
            (plan.enough, round, round)
        }
        _ => (None, 0, 0),
    };
    let slow = enough.filter(|enough| each >= enough.slow.as_f64());
    slow.map_or(f64::INFINITY, |enough| round as f64 + enough.requests.max(behind) as f64)
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
    use flashscope_model::{Claims, DeviceKind, Direction, plan};

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

    fn took(bytes: Bytes, time: Nanos) -> Spent {
        Spent { read: bytes, written: Bytes::ZERO, time }
    }

    #[test]
    fn what_is_alike_takes_alike() {
        let mut paces = Paces::default();
        paces.note(&reads(Bytes::kib(4), 100), &device(), took(Bytes::kib(400), Nanos::millis(100)));
        assert_eq!(paces.time(&reads(Bytes::kib(4), 300), &device()), Nanos::millis(300));
        assert_eq!(paces.time(&reads(Bytes::kib(8), 100), &device()), Nanos::millis(200), "longer ones in proportion");
        assert_eq!(paces.time(&reads(Bytes::kib(2), 100), &device()), Nanos::millis(100), "shorter ones no less");
    }

    #[test]
    fn what_ended_early_counts_for_what_it_did() {
        let mut paces = Paces::default();
        paces.note(&reads(Bytes::kib(4), 100), &device(), took(Bytes::kib(100), Nanos::millis(100)));
        assert_eq!(paces.time(&reads(Bytes::kib(4), 100), &device()), Nanos::millis(400));
    }

    fn writes(order: Order, length: Bytes) -> Experiment {
        Experiment::Throughput(plan::Throughput {
            direction: Direction::Write,
            order,
            block: Bytes::kib(16),
            start: Bytes::ZERO,
            length,
            requests: 40,
            most_time: None,
            purpose: plan::Purpose::OneUnit,
        })
    }

    #[test]
    fn random_writes_tell_nothing_of_sequential_ones_where_there_are_such() {
        let mut paces = Paces::default();
        let unit = Bytes::mib(4);
        paces.note(&writes(Order::InOrder, unit), &device(), took(Bytes::kib(640), Nanos::millis(100)));
        paces.note(&writes(Order::Random, unit), &device(), took(Bytes::kib(640), Nanos::secs(10)));
        assert_eq!(paces.time(&writes(Order::InOrder, unit), &device()), Nanos::millis(100));
        assert_eq!(paces.time(&writes(Order::InOrder, unit * 9), &device()), Nanos::millis(100));
        assert_eq!(paces.time(&writes(Order::Random, unit), &device()), Nanos::secs(10));
    }

    #[test]
    fn rounds_of_what_is_plainly_slow_are_few() {
        let trial_with = |units: u64, requests: u64| {
            Experiment::OpenUnits(plan::OpenUnits {
                order: Order::InOrder,
                unit: Bytes::mib(4),
                block: Bytes::kib(64),
                rounds: 10,
                units: (0..units).map(|unit| Bytes::mib(16) * unit).collect(),
                first_offset: Bytes::ZERO,
                enough: Some(plan::Enough { slow: Nanos::millis(100), rounds: 4, requests, fast_rounds: None }),
            })
        };
        let trial = |units: u64| trial_with(units, 6);
        let mut paces = Paces::default();
        let all = Bytes::kib(64) * 90;
        paces.note(&trial(9), &device(), Spent { read: Bytes::ZERO, written: all, time: Nanos::secs(18) });
        assert_eq!(
            [3, 9].map(|units| paces.time(&trial(units), &device())),
            [9, 18].map(|all| Nanos::millis(200 * all))
        );
        // Of many units, half of a round behind the first; and all of the rounds where nothing is enough.
        assert_eq!(paces.time(&trial(32), &device()), Nanos::millis(200 * 48));
        assert_eq!(paces.time(&trial_with(9, u64::MAX), &device()), Nanos::millis(200 * 90));
        paces.note(&trial(9), &device(), Spent { read: Bytes::ZERO, written: all, time: Nanos::secs(1) });
        assert!(paces.time(&trial(9), &device()) > Nanos::millis(900));
    }

    #[test]
    fn a_rest_is_counted_where_it_is_taken() {
        let mut paces = Paces::default();
        paces.note(&burst(Nanos::secs(30), Bytes::mib(32)), &device(), took(Bytes::mib(32), Nanos::secs(34)));
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
