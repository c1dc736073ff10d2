//! Which runs may be under way at once.
//!
//! A run holds the device itself, the parts on the way to it, and the host, each in a mode. It starts when everything that it
//! holds goes together with what others hold, and with what runs that come before it still wait for: a timed run that waits for
//! a hub is not overtaken for ever by runs that share it. Runs on simulated devices keep a processor busy each, so that there are
//! as many as processors; others wait for their devices most of the time.

use crate::run::{Device, Phase, Run};
use std::collections::BTreeMap;

/// How a run holds a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Nobody else may hold it.
    Exclusive,
    /// With all others that hold it so.
    Shared,
    /// With those of the same round.
    Together(u32),
}

impl Mode {
    fn goes_with(self, other: Mode) -> bool {
        self == other && self != Mode::Exclusive
    }
}

/// One thing that a run holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold {
    /// What: the name of a device, the path of a part, or the host.
    pub what: String,
    /// How.
    pub mode: Mode,
}

/// A run as far as it matters what may go on beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// What it holds.
    pub holds: Vec<Hold>,
    /// Whether it keeps a processor busy.
    pub busy: bool,
}

/// What every run holds in some way.
const HOST: &str = "the host";

impl Task {
    /// What a run on these devices holds. The devices always; a timed run also every part on the way to them, and the whole host
    /// where others were found to disturb one of them wherever they are.
    pub fn of(run: &Run, devices: &[&Device], host_limited: bool) -> Task {
        let host = match run.phase {
            Phase::Alone(_) => Mode::Exclusive,
            Phase::Timed if host_limited => Mode::Exclusive,
            Phase::Beside(round) => Mode::Together(round),
            Phase::Timed | Phase::Wear => Mode::Shared,
        };
        let part = match run.phase {
            Phase::Timed => Some(Mode::Exclusive),
            Phase::Wear => Some(Mode::Shared),
            // The host says it all: alone is alone, and beside means beside those that share a part above all.
            Phase::Alone(_) | Phase::Beside(_) => None,
        };
        let hold = |what: &str, mode| Hold { what: what.to_owned(), mode };
        let mut holds = vec![hold(HOST, host)];
        for device in devices {
            // One simulated device is as many as its seeds.
            if !device.simulated {
                holds.push(hold(&format!("device {}", device.identity), Mode::Exclusive));
            }
            holds.extend(part.into_iter().flat_map(|mode| device.parts.iter().map(move |part| hold(part, mode))));
        }
        Task { holds, busy: devices.iter().any(|device| device.simulated) }
    }
}

/// How many runs may be under way at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Of those that keep a processor busy.
    pub busy: usize,
    /// Of the others.
    pub waiting: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Not before this time, in milliseconds.
    Waits(u64),
    Runs,
    Over,
}

/// The runs of a lab and where each of them is.
#[derive(Clone, Debug)]
pub struct Schedule {
    limits: Limits,
    tasks: Vec<(Task, Stage)>,
}

impl Schedule {
    /// With all of them waiting.
    pub fn new(limits: Limits, tasks: Vec<Task>) -> Schedule {
        Schedule { limits, tasks: tasks.into_iter().map(|task| (task, Stage::Waits(0))).collect() }
    }

    /// The runs that are to be started now, by their places; from here on they are under way. `now` in milliseconds of whatever
    /// clock [`Schedule::put_back`] is told by.
    pub fn start(&mut self, now: u64) -> Vec<usize> {
        let mut held: BTreeMap<&str, Vec<Mode>> = BTreeMap::new();
        let (mut busy, mut waiting) = (0, 0);
        for (task, _) in self.tasks.iter().filter(|(_, stage)| *stage == Stage::Runs) {
            hold(&mut held, task);
            *(if task.busy { &mut busy } else { &mut waiting }) += 1;
        }
        let mut started = Vec::new();
        for (place, (task, stage)) in self.tasks.iter().enumerate() {
            let Stage::Waits(until) = *stage else { continue };
            if until > now {
                // It has been put back, and keeps nobody waiting meanwhile.
                continue;
            }
            let (count, most) =
                if task.busy { (&mut busy, self.limits.busy) } else { (&mut waiting, self.limits.waiting) };
            let free = |one: &Hold| {
                held.get(one.what.as_str()).is_none_or(|modes| modes.iter().all(|mode| mode.goes_with(one.mode)))
            };
            let fits = *count < most && task.holds.iter().all(free);
            if fits {
                *count += 1;
                started.push(place);
            }
            // What it waits for is kept for it; without a place to run in it waits for no part.
            if fits || *count < most {
                hold(&mut held, task);
            }
        }
        for place in &started {
            self.tasks[*place].1 = Stage::Runs;
        }
        started
    }

    /// A run is over, however it ended.
    pub fn over(&mut self, place: usize) {
        self.tasks[place].1 = Stage::Over;
    }

    /// A run is to be tried again, not before this time.
    pub fn put_back(&mut self, place: usize, until: u64) {
        self.tasks[place].1 = Stage::Waits(until);
    }

    /// When the next run that was put back may be tried.
    pub fn next_try(&self) -> Option<u64> {
        let until = |(_, stage): &(Task, Stage)| match stage {
            Stage::Waits(until) => Some(*until),
            _ => None,
        };
        self.tasks.iter().filter_map(until).min()
    }

    /// Whether all runs are over.
    pub fn is_over(&self) -> bool {
        self.tasks.iter().all(|(_, stage)| *stage == Stage::Over)
    }
}

fn hold<'a>(held: &mut BTreeMap<&'a str, Vec<Mode>>, task: &'a Task) {
    for one in &task.holds {
        held.entry(&one.what).or_default().push(one.mode);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MANY: Limits = Limits { busy: 2, waiting: 64 };

    fn task(holds: &[(&str, Mode)]) -> Task {
        let holds = holds.iter().map(|(what, mode)| Hold { what: what.to_string(), mode: *mode }).collect();
        Task { holds, busy: false }
    }

    #[test]
    fn a_qualification_has_both_devices_and_their_parts_for_itself() {
        let device = |name: &str, parts: &[&str]| Device {
            name: name.to_owned(),
            identity: name.to_owned(),
            simulated: false,
            seed: 1,
            parts: parts.iter().map(|part| (*part).to_owned()).collect(),
        };
        let run = |phase| Run {
            id: String::new(),
            device: 0,
            others: vec![1],
            work: 0,
            words: Vec::new(),
            power: None,
            phase,
        };
        let (a, b, c, d) =
            (device("a", &["hub"]), device("b", &["hub", "x"]), device("c", &["x"]), device("d", &["y"]));
        let pair = Task::of(&run(Phase::Timed), &[&a, &b], false);
        let alone = |device, phase| Task::of(&Run { others: Vec::new(), ..run(phase) }, &[device], false);
        let tasks = vec![pair.clone(), alone(&a, Phase::Timed), alone(&c, Phase::Wear), alone(&d, Phase::Timed)];
        let mut schedule = Schedule::new(MANY, tasks);
        assert_eq!(schedule.start(0), [0, 3], "one is the same device, one shares a part with the second");
        schedule.over(0);
        assert_eq!(schedule.start(0), [1, 2]);
        let limited = Task::of(&run(Phase::Timed), &[&a, &b], true);
        let mut schedule = Schedule::new(MANY, vec![alone(&d, Phase::Timed), limited]);
        assert_eq!(schedule.start(0), [0], "it needs the whole host");
    }

    #[test]
    fn timed_runs_take_turns_at_a_hub_and_wear_shares_it() {
        use Mode::{Exclusive, Shared};
        let mut schedule = Schedule::new(
            MANY,
            vec![
                task(&[("a", Exclusive), ("hub", Exclusive)]),
                task(&[("b", Exclusive), ("hub", Exclusive)]),
                task(&[("c", Exclusive), ("hub", Shared)]),
                task(&[("d", Exclusive), ("hub", Shared)]),
                task(&[("e", Exclusive)]),
            ],
        );
        assert_eq!(schedule.start(0), [0, 4]);
        assert!(schedule.start(0).is_empty());
        schedule.over(0);
        assert_eq!(schedule.start(0), [1]);
        schedule.over(1);
        assert_eq!(schedule.start(0), [2, 3]);
    }

    #[test]
    fn a_timed_run_that_waits_is_not_overtaken() {
        use Mode::{Exclusive, Shared};
        let mut schedule =
            Schedule::new(MANY, vec![task(&[("hub", Shared)]), task(&[("hub", Exclusive)]), task(&[("hub", Shared)])]);
        assert_eq!(schedule.start(0), [0]);
        assert!(schedule.start(0).is_empty(), "the third would go with the first, but the second waits");
        schedule.over(0);
        assert_eq!(schedule.start(0), [1]);
    }

    #[test]
    fn rounds_run_together_and_nothing_else_then() {
        use Mode::{Exclusive, Shared, Together};
        let mut schedule = Schedule::new(
            MANY,
            vec![
                task(&[("host", Exclusive), ("a", Exclusive)]),
                task(&[("host", Together(1)), ("a", Exclusive)]),
                task(&[("host", Together(1)), ("b", Exclusive)]),
                task(&[("host", Together(2)), ("b", Exclusive)]),
                task(&[("host", Shared), ("c", Exclusive)]),
            ],
        );
        assert_eq!(schedule.start(0), [0]);
        schedule.over(0);
        assert_eq!(schedule.start(0), [1, 2]);
        schedule.over(1);
        assert!(schedule.start(0).is_empty());
        schedule.over(2);
        assert_eq!(schedule.start(0), [3]);
        schedule.over(3);
        assert_eq!(schedule.start(0), [4]);
    }

    #[test]
    fn what_was_put_back_keeps_nobody_waiting() {
        use Mode::Exclusive;
        let mut schedule = Schedule::new(MANY, vec![task(&[("a", Exclusive)]), task(&[("a", Exclusive)])]);
        assert_eq!(schedule.start(0), [0]);
        schedule.put_back(0, 500);
        assert_eq!(schedule.next_try(), Some(0));
        assert_eq!(schedule.start(100), [1]);
        schedule.over(1);
        assert!(schedule.start(499).is_empty() && schedule.next_try() == Some(500));
        assert_eq!(schedule.start(500), [0]);
        schedule.over(0);
        assert!(schedule.is_over());
    }

    #[test]
    fn processors_are_all_busy_and_no_more() {
        let busy = || Task { holds: Vec::new(), busy: true };
        let mut schedule = Schedule::new(MANY, vec![busy(), busy(), busy()]);
        assert_eq!(schedule.start(0), [0, 1]);
        schedule.over(1);
        assert_eq!(schedule.start(0), [2]);
    }

    proptest! {
        /// Whatever is asked for: no two runs that exclude each other are under way at once, and all of them get their turn.
        #[test]
        fn all_get_their_turn_and_none_collide(
            asked in proptest::collection::vec((0..4u8, 0..4u8, 0..3u8, any::<bool>()), 1..24),
            ends in proptest::collection::vec(any::<u8>(), 64),
        ) {
            let mode = |kind: u8| match kind { 0 => Mode::Exclusive, 1 => Mode::Shared, _ => Mode::Together(1) };
            let tasks: Vec<Task> = asked
                .iter()
                .map(|(device, part, kind, busy)| Task {
                    holds: vec![
                        Hold { what: format!("d{device}"), mode: Mode::Exclusive },
                        Hold { what: format!("p{part}"), mode: mode(*kind) },
                    ],
                    busy: *busy,
                })
                .collect();
            let limits = Limits { busy: 2, waiting: 3 };
            let mut schedule = Schedule::new(limits, tasks.clone());
            let mut under_way: Vec<usize> = Vec::new();
            let mut over = 0;
            for end in ends.iter().cycle().take(64) {
                under_way.extend(schedule.start(0));
                for (at, one) in under_way.iter().enumerate() {
                    for other in &under_way[at + 1..] {
                        for a in &tasks[*one].holds {
                            for b in &tasks[*other].holds {
                                prop_assert!(a.what != b.what || a.mode.goes_with(b.mode));
                            }
                        }
                    }
                }
                prop_assert!(under_way.iter().filter(|place| tasks[**place].busy).count() <= limits.busy);
                prop_assert!(under_way.iter().filter(|place| !tasks[**place].busy).count() <= limits.waiting);
                if under_way.is_empty() {
                    break;
                }
                let place = under_way.remove(usize::from(*end) % under_way.len());
                schedule.over(place);
                over += 1;
            }
            prop_assert_eq!(over, tasks.len());
            prop_assert!(schedule.is_over());
        }
    }
}
