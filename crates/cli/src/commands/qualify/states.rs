//! In which state each part is, so that a state is made once, and again only where a run has lost it.

use flashscope_model::bench::BenchRecord;
use flashscope_model::{AnyRecord, DeviceState};
use flashscope_state::restore::{Since, is_lost};
use flashscope_units::Bytes;

/// The states of all parts.
pub(super) struct States(Vec<Option<(DeviceState, Since)>>);

impl States {
    /// Of parts of which nothing is known.
    pub(super) fn new(parts: usize) -> States {
        States(vec![None; parts])
    }

    /// Whether a part is in this state, as far as what was done to it tells.
    pub(super) fn holds(&self, part: usize, state: DeviceState) -> bool {
        self.0[part].is_some_and(|(made, since)| made == state && !is_lost(state, since))
    }

    /// It was brought into a state.
    pub(super) fn made(&mut self, part: usize, state: DeviceState) {
        self.0[part] = Some((state, Since::default()));
    }

    /// A run was done on it; of what left no record of its load the worst is taken.
    pub(super) fn used(&mut self, part: usize, record: Option<&AnyRecord>) {
        let Some((_, since)) = &mut self.0[part] else { return };
        match record {
            Some(AnyRecord::Bench(bench)) => add(since, bench),
            Some(AnyRecord::Run(run)) if run.envelope.cost.as_ref().is_some_and(|cost| cost.written == Bytes::ZERO) => {
            }
            _ => self.0[part] = None,
        }
    }
}

fn add(since: &mut Since, bench: &BenchRecord) {
    for job in bench.phases.iter().flat_map(|phase| &phase.runs).flat_map(|run| &run.jobs) {
        let Some(moved) = job.write.as_ref().filter(|moved| moved.requests > 0) else { continue };
        since.written += moved.bytes;
        let pattern = job.settings.iter().find(|(what, _)| what == "rw" || what == "pattern");
        let random = pattern.is_some_and(|(_, value)| value.contains("rand"));
        since.randomly |= random;
        since.sequentially |= !random;
    }
}
