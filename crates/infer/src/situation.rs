//! What is known when the next experiment is chosen, worked out once per choice.

use crate::alignment::{self, AlignmentFindings};
use crate::memo::Memo;
use crate::open_units::{GOOD_ENOUGH, is_table, trial_unit};
use crate::pool::Pool;
use flashscope_model::observation::OpenUnitsData;
use flashscope_model::plan::Purpose;
use flashscope_model::{Data, DeviceFacts, Direction, Observations, Order};
use flashscope_stats::Rng;
use flashscope_units::Bytes;
use std::cell::OnceCell;

/// What most cards of a gigabyte and more have.
const USUAL_UNIT: Bytes = Bytes::mib(4);

/// Device, observations, and what follows from them.
pub(crate) struct Situation<'a> {
    pub(crate) device: &'a DeviceFacts,
    pub(crate) observations: &'a Observations,
    pub(crate) memo: &'a Memo,
    pub(crate) seed: u64,
    /// All that the run may write, what it wrote already included.
    pub(crate) write_budget: Bytes,
    unit: OnceCell<Bytes>,
    alignment: OnceCell<AlignmentFindings>,
    pool: OnceCell<Pool>,
}

impl<'a> Situation<'a> {
    pub(crate) fn new(
        device: &'a DeviceFacts,
        observations: &'a Observations,
        memo: &'a Memo,
        left: Bytes,
        seed: u64,
    ) -> Situation<'a> {
        let write_budget = Bytes(left.get().saturating_add(observations.spent().written.get()));
        Situation {
            device,
            observations,
            memo,
            seed,
            write_budget,
            unit: OnceCell::new(),
            alignment: OnceCell::new(),
            pool: OnceCell::new(),
        }
    }

    /// The allocation unit to write by: that of earlier trials, else measured, claimed, or assumed. Worked out when
    /// first asked for, since it is the dearest inference of all.
    pub(crate) fn unit(&self) -> Bytes {
        *self.unit.get_or_init(|| {
            trial_unit(self.observations).or_else(|| self.measured_unit()).unwrap_or_else(|| assumed_unit(self.device))
        })
    }

    fn alignment(&self) -> &AlignmentFindings {
        self.alignment.get_or_init(|| alignment::estimate(self.observations, self.memo))
    }

    fn measured_unit(&self) -> Option<Bytes> {
        let found = &self.alignment().allocation_unit;
        let sure = found.is_sure(GOOD_ENOUGH);
        found.value().filter(|unit| sure && fits(*unit, self.device))
    }

    /// Whether the unit to write by was measured, not assumed.
    pub(crate) fn unit_is_measured(&self) -> bool {
        self.measured_unit() == Some(self.unit())
    }

    /// The block size of the first trial of several units: the others must have the same.
    pub(crate) fn trial_block(&self) -> Option<Bytes> {
        trials(self.observations).find_map(|data| data.rows.first().map(|row| row.block))
    }

    /// The page, where it was found with enough confidence.
    pub(crate) fn page(&self) -> Option<Bytes> {
        let found = &self.alignment().page;
        found.value().filter(|_| found.is_sure(GOOD_ENOUGH))
    }

    /// Where the first whole unit begins: 0 but on a device whose units were found not to be multiples of their size.
    pub(crate) fn first_unit(&self) -> Bytes {
        let shifted = |data: &Data| matches!(data, Data::Boundaries(data) if data.offset > Bytes::ZERO);
        if !self.has(shifted) {
            return Bytes::ZERO;
        }
        let found = &self.alignment().boundary_offset;
        let sure = found.is_sure(GOOD_ENOUGH);
        found.value().filter(|_| sure).unwrap_or(Bytes::ZERO)
    }

    /// Whether it is known where units begin, and how long they are.
    pub(crate) fn edges_are_measured(&self) -> bool {
        self.alignment().boundary_offset.is_sure(GOOD_ENOUGH) && self.unit_is_measured()
    }

    /// The units to write: those of the device, wherever its first one begins.
    pub(crate) fn pool(&self) -> &Pool {
        self.pool.get_or_init(|| {
            Pool::new(self.device, self.observations, (self.unit(), self.unit_is_measured()), self.first_unit())
        })
    }

    /// The same as close to each other as where the unit is known: what lies next to each other at the start of a device is
    /// compared with others that do.
    pub(crate) fn close_pool(&self) -> Pool {
        Pool::new(self.device, self.observations, (self.unit(), true), self.first_unit())
    }

    /// Whether trials of several units have begun: all that reads can tell was told before.
    pub(crate) fn trials_begun(&self) -> bool {
        trial_unit(self.observations).is_some()
    }

    /// A generator for one subject's random choices at this point of the run.
    pub(crate) fn rng(&self, subject: u64) -> Rng {
        let step = self.observations.runs.len() as u64;
        Rng::new(self.seed ^ subject.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ step.rotate_left(32))
    }

    /// A block size that the device takes: the wanted one, or its logical block where that is larger.
    pub(crate) fn block(&self, wanted: Bytes) -> Bytes {
        wanted.max(self.device.logical_block)
    }

    /// Whether an experiment of this kind was run.
    pub(crate) fn has(&self, pick: impl Fn(&Data) -> bool) -> bool {
        self.observations.runs.iter().any(|run| pick(&run.data))
    }

    /// Whether a throughput was measured.
    pub(crate) fn has_throughput(&self, purpose: Purpose, direction: Direction, order: Order, block: Bytes) -> bool {
        let wanted = (purpose, direction, order, block);
        self.has(|data| {
            matches!(data, Data::Throughput(found)
                if (found.purpose, found.direction, found.order, found.block) == wanted)
        })
    }
}

fn trials(observations: &Observations) -> impl Iterator<Item = &OpenUnitsData> {
    observations.runs.iter().filter_map(|run| match &run.data {
        Data::OpenUnits(data) if !is_table(data) => Some(data),
        _ => None,
    })
}

/// The unit to go by before anything was measured: what the device claims, else what is usual for its size.
pub(crate) fn assumed_unit(device: &DeviceFacts) -> Bytes {
    let claims = &device.claims;
    let claimed = [claims.allocation_unit, claims.preferred_erase, claims.erase];
    let plausible = |unit: &Bytes| *unit >= Bytes::kib(128) && *unit <= Bytes::mib(64) && fits(*unit, device);
    claimed.into_iter().flatten().find(plausible).unwrap_or_else(|| {
        let share = (device.capacity.get() / 256).max(1);
        let power = 1u64 << share.ilog2();
        Bytes(power.clamp(Bytes::kib(64).get(), USUAL_UNIT.get())).max(device.logical_block * 16)
    })
}

fn fits(unit: Bytes, device: &DeviceFacts) -> bool {
    unit * 32 <= device.capacity && unit.is_multiple_of(device.logical_block)
}
