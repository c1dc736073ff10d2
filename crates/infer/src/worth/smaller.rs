//! An experiment in a smaller form, where the whole one takes longer than may be: fewer rounds, places or requests, as long as
//! they still tell something.

use flashscope_model::Experiment;
use flashscope_units::Nanos;

/// Fewest rounds of reads at boundaries, and places of each size.
const LEAST_READS: (u32, u32) = (4, 5);
/// Fewest rounds of a trial of open units, of which the first pays for what was open before.
const LEAST_ROUNDS: u32 = 4;
/// Fewest requests to each unit of a comparison.
const LEAST_REQUESTS: u32 = 6;
/// Fewest passes over a stretch, or of rounds around a buffer.
const LEAST_PASSES: u32 = 2;
/// Shortest time in which a rate tells something.
const LEAST_TIME: Nanos = Nanos::millis(500);

/// The same experiment so much smaller that it takes no longer than this; `None` where that would tell nothing.
pub(crate) fn within(
    mut experiment: Experiment,
    time: Nanos,
    time_of: &dyn Fn(&Experiment) -> Nanos,
) -> Option<Experiment> {
    // What ends by its own time takes any time that is left.
    if let Experiment::Throughput(plan) = &mut experiment
        && time >= LEAST_TIME
    {
        plan.most_time = Some(plan.most_time.unwrap_or(time).min(time));
        return Some(experiment);
    }
    loop {
        let takes = time_of(&experiment);
        if takes <= time {
            return Some(experiment);
        }
        let share = (time.as_f64() / takes.as_f64()).min(0.8);
        if !shrink(&mut experiment, share) {
            return None;
        }
    }
}

/// Makes an experiment smaller by about this share; whether it could.
fn shrink(experiment: &mut Experiment, share: f64) -> bool {
    let down = |figure: &mut u32, least: u32| {
        let smaller = ((f64::from(*figure) * share) as u32).max(least);
        let shrunk = smaller < *figure;
        *figure = smaller.min(*figure);
        shrunk
    };
    match experiment {
        Experiment::Boundaries(plan) => down(&mut plan.rounds, LEAST_READS.0) || down(&mut plan.places, LEAST_READS.1),
        Experiment::OpenUnits(plan) => down(&mut plan.rounds, LEAST_ROUNDS),
        Experiment::FastArea(plan) => down(&mut plan.requests, LEAST_REQUESTS),
        Experiment::Slide(plan) => down(&mut plan.rounds, LEAST_PASSES),
        Experiment::ReadCache(plan) => down(&mut plan.rounds, LEAST_PASSES),
        Experiment::MapReach(plan) => down(&mut plan.requests, 64),
        Experiment::Floor(plan) => down(&mut plan.count, 50),
        Experiment::Survey(plan) => down(&mut plan.repeats, LEAST_PASSES) || down(&mut plan.places, 32),
        _ => false,
    }
}
