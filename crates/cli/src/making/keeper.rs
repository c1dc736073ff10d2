//! A state that is kept while runs follow each other: made before the first, and again where a run has lost it.

use super::Order;
use crate::error::Failure;
use flashscope_load::job::JobSet;
use flashscope_model::bench::BenchRecord;
use flashscope_model::envelope::State;
use flashscope_sim::SimTarget;
use flashscope_state::restore::{Since, is_lost};
use flashscope_units::Bytes;

/// Keeps one device in a state.
#[derive(Debug)]
pub(crate) struct Keeper {
    order: Order,
    state: Option<State>,
    /// Since it was made last.
    since: Since,
}

impl Keeper {
    pub(crate) fn new(order: Order) -> Keeper {
        Keeper { order, state: None, since: Since::default() }
    }

    /// Before a run. Gives what making the state again has written.
    ///
    /// # Errors
    /// Where the state cannot be had.
    pub(crate) fn before(&mut self, device: &mut Option<SimTarget>) -> Result<Bytes, Failure> {
        if self.state.is_some() && !is_lost(self.order.wished(), self.since) {
            return Ok(Bytes::ZERO);
        }
        let state = self.order.prepare(device)?;
        let written = state.made.as_ref().map_or(Bytes::ZERO, |made| made.written());
        self.since = Since::default();
        self.state = Some(state);
        Ok(written)
    }

    /// After a run of these jobs: its record bears the state and what it cost to make.
    pub(crate) fn after(&mut self, jobs: &JobSet, made: Bytes, record: &mut BenchRecord) {
        let written = record.phases.iter().flat_map(|phase| &phase.runs).flat_map(|run| &run.jobs);
        self.since.written += written.filter_map(|job| job.write.as_ref()).map(|moved| moved.bytes).sum();
        let writing = || jobs.phases.iter().flat_map(|phase| &phase.jobs).filter(|job| job.mix.has_writes());
        self.since.randomly |= writing().any(|job| job.pattern.is_random());
        self.since.sequentially |= writing().any(|job| !job.pattern.is_random());
        record.envelope.state.clone_from(&self.state);
        if let Some(cost) = &mut record.envelope.cost {
            cost.written += made;
        }
    }

    /// The state with the certificate of its last making.
    pub(crate) fn state(&self) -> Option<&State> {
        self.state.as_ref()
    }
}
