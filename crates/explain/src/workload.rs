//! The workload: a trace replayed in virtual time, each request waiting for those that it waited for when it was recorded.

use crate::Watch;
use flashscope_device::{Target, WriteGrant};
use flashscope_trace::filter::Addresses;
use flashscope_trace::replay::{Mode, Plan, Player, ReplayError, in_virtual_time};
use flashscope_trace::{Op, TraceError, Traced};
use flashscope_units::Bytes;

/// Requests outstanding at most: more wait in the trace, and are issued late.
const ROOM: u32 = 4096;

/// What is replayed on every hybrid.
#[derive(Clone, Debug)]
pub struct Workload {
    /// The requests, in the order of issue.
    pub requests: Vec<Traced>,
    /// What is done with addresses that a device does not have.
    pub addresses: Addresses,
}

impl Workload {
    /// A trace is replayed some hundred times: longer ones would take hours.
    pub const MOST_REQUESTS: u64 = 2_000_000;

    /// What it writes.
    pub fn written(&self) -> Bytes {
        self.moved(Op::Write)
    }

    /// What it reads.
    pub fn read(&self) -> Bytes {
        self.moved(Op::Read)
    }

    fn moved(&self, op: Op) -> Bytes {
        self.requests.iter().filter(|request| request.op == op).map(|request| Bytes(u64::from(request.length))).sum()
    }

    /// How long it takes on this model, in nanoseconds.
    pub(crate) fn time(&self, model: &str, seed: u64, watch: &mut dyn Watch) -> Result<f64, NoTime> {
        let mut target = crate::hybrid::open(model, seed).map_err(|error| NoTime::Device(error.to_string()))?;
        // What it does inside is audited by its own tests; here it runs hundreds of times.
        target.check_always(false);
        let grant = WriteGrant::simulated(target.facts(), Bytes(u64::MAX));
        let can = target.capabilities();
        let plan = Plan {
            mode: Mode::Dependent,
            addresses: self.addresses,
            capacity: target.facts().capacity,
            block: can.granularity,
            room: ROOM,
            discard: can.discard,
        };
        let requests = self.requests.iter().map(|request| Ok::<_, TraceError>(*request));
        let mut player = Player::new(requests, plan, grant);
        let mut stopped = false;
        let outcome = in_virtual_time(&mut player, &mut target, |_| {
            stopped |= watch.stop();
            stopped
        });
        let (replay, error) = player.finish(Vec::new());
        match outcome.err().or(error) {
            _ if stopped => Err(NoTime::Stopped),
            Some(error @ ReplayError::Device(_)) => {
                Err(NoTime::Device(format!("{error}: a workload that ends early has no time")))
            }
            Some(error) => Err(NoTime::Device(error.to_string())),
            None => Ok(replay.total.as_f64()),
        }
    }
}

/// How long a workload takes on a model, in nanoseconds; `None` where that is no model, or does not hold the workload out.
pub fn time(model: &str, seed: u64, workload: &Workload) -> Option<f64> {
    workload.time(model, seed, &mut flashscope_twin::Unattended).ok()
}

/// Why a replay has no time.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum NoTime {
    /// The operator wants to stop.
    Stopped,
    /// The device does not hold out, or there is no such device.
    Device(String),
}
