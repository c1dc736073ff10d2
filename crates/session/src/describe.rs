//! An experiment's parameters in words, for the plan and for progress.

use flashscope_model::{Direction, Experiment, Order};
use flashscope_units::Nanos;

/// What an experiment will do, in a few words.
pub fn describe(experiment: &Experiment) -> String {
    match experiment {
        Experiment::Floor(floor) => format!("{} reads of {} at {}", floor.count, floor.block, floor.at),
        Experiment::Survey(survey) => {
            format!("{} reads of each of {} random places, {} each", survey.repeats, survey.places, survey.block)
        }
        Experiment::Align(align) => {
            format!("{} of {}, {} places, {} tries", ways(align.direction), align.block, align.places, align.tries)
        }
        Experiment::Boundaries(plan) => format!(
            "{} candidates, {} places each, reads of {}, {} rounds{}",
            plan.candidates.len(),
            plan.places,
            plan.block,
            plan.rounds,
            if plan.rest > Nanos::ZERO { format!(", each after {}", plan.rest) } else { String::new() }
        ),
        Experiment::Slide(plan) => format!(
            "reads of {} across every {} of {} {}, {} rounds{}",
            plan.block,
            plan.step,
            plan.starts.len(),
            if plan.starts.len() == 1 { "stretch" } else { "stretches" },
            plan.rounds,
            if plan.descending { ", from the last place to the first" } else { "" }
        ),
        Experiment::OpenAu(plan) => {
            format!("{} units of {} {}, blocks down to {}", plan.count, plan.erase, order(plan.order), plan.block)
        }
        Experiment::OpenUnits(plan) => format!(
            "{} units of {} {}, {} rounds of {}",
            plan.units.len(),
            plan.unit,
            order(plan.order),
            plan.rounds,
            plan.block
        ),
        Experiment::Fat(plan) => {
            format!("first {} units of {} {}, blocks down to {}", plan.count, plan.erase, order(plan.order), plan.block)
        }
        Experiment::FastArea(plan) => format!(
            "{} units against {} others, {} {} of {} {}",
            plan.suspects.len(),
            plan.controls.len(),
            plan.requests,
            ways(plan.direction),
            plan.block,
            order(plan.order)
        ),
        Experiment::Scatter(plan) => {
            format!("2^{} places, {} × {} each, {} passes", plan.order, plan.span, plan.block, plan.tries)
        }
        Experiment::Interval(plan) => format!("{} sizes from 512 B, {} places each", plan.order, plan.places),
        Experiment::Program(plan) => {
            format!("{} at {}, blocks {} to {}", plan.region, plan.offset, plan.largest, plan.smallest)
        }
        Experiment::Throughput(plan) => format!(
            "{} {} of {} {} over {} at {}",
            plan.requests,
            ways(plan.direction),
            plan.block,
            order(plan.order),
            plan.length,
            plan.start
        ),
        Experiment::Buffer(plan) => {
            let writes: u32 = plan.bursts.iter().map(|burst| burst.writes).sum();
            format!(
                "{} bursts, {writes} writes of {} in all over {} at {}",
                plan.bursts.len(),
                plan.block,
                plan.length,
                plan.start
            )
        }
        Experiment::ReadCache(plan) => format!(
            "{} rounds of {} spans, {} distances and runs of {}, reads of {}",
            plan.rounds,
            plan.spans.len(),
            plan.distances.len(),
            plan.run,
            plan.block
        ),
        Experiment::SlcCache(plan) => {
            let bursts = plan.bursts.iter().map(|burst| format!("{} after {} of rest", burst.span.length, burst.idle));
            format!("writes of {} in order: {}", plan.block, bursts.collect::<Vec<_>>().join(", then "))
        }
        Experiment::Parallel(plan) => {
            format!("{} sets of reads of {} handed over at once, {} rounds", plan.fans.len(), plan.block, plan.rounds)
        }
        Experiment::MapReach(plan) => {
            format!("{} reads of {} in each of {} ranges", plan.requests, plan.block, plan.ranges.len())
        }
        Experiment::Overwrite(plan) => format!(
            "{} writes of {} in order, then {} at random over {} at {}",
            plan.in_order, plan.block, plan.random, plan.span.length, plan.span.start
        ),
        Experiment::Cells(plan) => {
            format!("{} reads of each of {} places, {} apart", plan.repeats, plan.places, plan.step)
        }
    }
}

fn ways(direction: Direction) -> &'static str {
    match direction {
        Direction::Read => "reads",
        Direction::Write => "writes",
    }
}

fn order(order: Order) -> &'static str {
    match order {
        Order::InOrder => "in order",
        Order::Random => "at random",
    }
}
