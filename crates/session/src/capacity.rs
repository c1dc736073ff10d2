//! The quick test of the capacity at the end of an inspection.
//!
//! It writes all over the device, so that whatever is measured behind it would meet a device in another state.

use crate::ahead::Ahead;
use crate::{Session, Watcher};
use flashscope_capacity::{FEWEST_BLOCKS, LONG, Plan, USUAL_BUDGET, Watch, quick};
use flashscope_device::Target;
use flashscope_infer::Want;
use flashscope_model::finding::{Note, NoteKind};
use flashscope_model::observation::{CapacityTest, Spent};
use flashscope_model::plan::{Purpose, Throughput};
use flashscope_model::run::Step;
use flashscope_model::{Direction, Experiment, ExperimentName, Order, StopReason};
use flashscope_stats::rng::mix;
use flashscope_units::{Bytes, Nanos};

/// Tests, by how many times the usual budget they take and which part of the usual blocks, in the order of preference: a larger
/// region at the start of the device, which is written in order, saves blocks all over it, each of which may cost a copy of a
/// unit; and with fewer blocks less damage is excluded.
const TESTS: [(u64, u64); 6] = [(1, 1), (2, 1), (4, 1), (4, 2), (4, 4), (8, 8)];

/// The first test that takes no longer than this is done; where none does, the shortest one.
const SHORT: Nanos = Nanos::secs(60);

/// A run that is limited in time must have this many times as much left as the writes take, which may make the device collect.
const ENOUGH_TIMES: u64 = 4;

impl<T: Target> Session<'_, T> {
    /// What the test would do; `None` where it is not granted, or what is left does not cover it.
    fn capacity_plan(&self) -> Option<Plan> {
        let plan = self.capacity_plan_in_any_time()?;
        let needs = self.time_of(&plan) * ENOUGH_TIMES;
        self.budget().time.is_none_or(|left| left >= needs).then_some(plan)
    }

    /// The same whatever time is left.
    fn capacity_plan_in_any_time(&self) -> Option<Plan> {
        let budget = self.budget();
        let (facts, able) = (self.target.facts(), self.target.capabilities());
        if self.want != Want::All || !able.write || self.observations.capacity_test.is_some() {
            return None;
        }
        let block = facts.logical_block.max(able.granularity);
        let plan = |(times, part): (u64, u64)| {
            let budget = budget.write.min(USUAL_BUDGET * times);
            Plan::of_blocks(FEWEST_BLOCKS / part, facts.capacity, block, budget, self.options.seed).ok()
        };
        let mut shortest: Option<(Nanos, Plan)> = None;
        for plan in TESTS.into_iter().filter_map(plan) {
            let time = self.time_of(&plan);
            if time <= SHORT {
                return Some(plan);
            }
            if shortest.as_ref().is_none_or(|(least, _)| time < *least) {
                shortest = Some((time, plan));
            }
        }
        shortest.map(|(_, plan)| plan)
    }

    /// How long the test will take, where there will be one.
    pub(crate) fn capacity_ahead(&self) -> Option<Nanos> {
        self.capacity_plan().map(|plan| self.time_of(&plan))
    }

    /// What is said where there was no time for it.
    pub(crate) fn capacity_left_open(&self) -> Option<Note> {
        self.options.budget.time?;
        let plan = self.capacity_plan_in_any_time()?;
        let about = (self.time_of(&plan) * ENOUGH_TIMES).as_secs_f64().ceil();
        let text = "left open, because the time was used up (--max-time): whether all of the device is there";
        let note = Note::new(NoteKind::LeftOpen, format!("{text} (about {about} s)"));
        Some(note.with_hint("`flashscope capacity` tests it alone"))
    }

    /// As long as it writes, which is most of it.
    fn time_of(&self, plan: &Plan) -> Nanos {
        let time = |order: Order, block: Bytes, length: Bytes, requests: u64| {
            let writes = Throughput {
                direction: Direction::Write,
                order,
                block,
                start: Bytes::ZERO,
                length,
                requests: requests as u32,
                most_time: None,
                purpose: Purpose::Performance,
            };
            self.paces.time(&Experiment::Throughput(writes), self.target.facts())
        };
        let in_order = time(Order::InOrder, LONG.min(plan.region), plan.region, (plan.region / LONG).max(1));
        in_order + time(Order::Random, plan.block, plan.claimed, plan.places.len() as u64)
    }

    /// Tests the capacity where that is granted and what is left covers it; says how the run ends.
    pub(crate) fn test_capacity(&mut self, watcher: &mut dyn Watcher) -> StopReason {
        let Some(plan) = self.capacity_plan() else { return StopReason::Complete };
        self.number += 1;
        let step = Step {
            experiment: ExperimentName::Capacity.word().to_owned(),
            parameters: format!("{} blocks of {} and the first {}", plan.places.len(), plan.block, plan.region),
            why: "whether all of the device is there".to_owned(),
        };
        let spent = self.observations.spent().time;
        let this = self.time_of(&plan);
        watcher.step(self.number, &step, &|| Ahead { steps: 1, exact: true, this, rest: Nanos::ZERO, spent });
        self.steps.push(step);
        // By the time, so that a device that drops writes is not taken for one that kept those of an earlier run. A simulated
        // device repeats its time with its seed.
        let generation = (mix(self.options.seed ^ self.target.now().0) >> 34) as u32;
        let Some(grant) = self.grant.as_deref_mut() else { return StopReason::Complete };
        let outcome = quick(&plan, generation, (&mut *self.target, grant), &mut Watched(watcher));
        let spent = Spent { read: outcome.cost.read, written: outcome.cost.written, time: outcome.cost.time };
        let complete = outcome.stop == StopReason::Complete;
        self.observations.capacity_test = Some(CapacityTest { seen: outcome.seen, complete, spent });
        outcome.stop
    }
}

/// A [`Watcher`] as the test sees it.
struct Watched<'a>(&'a mut dyn Watcher);

impl Watch for Watched<'_> {
    fn progress(&mut self, moved: Bytes, most: Bytes) {
        self.0.progress(moved.get(), most.get());
    }

    fn stop(&mut self) -> bool {
        self.0.stop()
    }
}
