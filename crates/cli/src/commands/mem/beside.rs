//! A device that takes part in a test under stress: blocks of data go to it and back while the other program loads the memory.

use crate::args::{MemStress, TargetArgs};
use crate::commands::integrity;
use crate::error::Failure;
use crate::interrupt;
use crate::target::{self, Opened, Writes};
use anyhow::anyhow;
use flashscope_device::{DeviceError, PoweredBytes, Target};
use flashscope_emulate::DirectDisk;
use flashscope_host::Surroundings;
use flashscope_host::power::PlainBytes;
use flashscope_mem::wire::PlantKind;
use flashscope_model::run::PathTaken;
use flashscope_model::stress::{Attributed, StorageSide};
use flashscope_model::{DeviceFacts, StopReason};
use flashscope_stress::{Journey, JourneyPlan, Memory, Planting, Seam, Slot, Spot, Watch, attributed};
use flashscope_units::{Bytes, Nanos};
use std::sync::atomic::{AtomicBool, Ordering};

/// Length of a block, where the range is not shorter.
const BLOCK: Bytes = Bytes::mib(1);
/// A device must hold a range of so many blocks of 64 KiB at least: one is held against another.
const LEAST: Bytes = Bytes::kib(128);
/// What may be written where nobody says: a device must not be worn out by a test of hours.
const USUAL_BUDGET: Bytes = Bytes::gib(1);
/// How long data stand on a simulated device; on a real one a round takes its time.
const STAND: Nanos = Nanos::secs(1);
/// Memory that is read through so that nothing else is in the processor's caches: twice the largest that is sold for such machines.
const SWEEP: usize = 64 << 20;

/// The device, open.
pub(super) struct Beside {
    device: Box<dyn PoweredBytes>,
    pub(super) facts: DeviceFacts,
    pub(super) path: Option<PathTaken>,
    pub(super) here: Option<Surroundings>,
    plan: JourneyPlan,
    /// What may be written.
    budget: Bytes,
}

/// What came of it.
pub(super) struct Told {
    pub(super) side: StorageSide,
    pub(super) errors: Vec<Attributed>,
    /// Planted, and found.
    pub(super) planted: (u64, u64),
    pub(super) stop: StopReason,
    /// Whether it ended for want of the right to write more.
    pub(super) is_spent: bool,
}

impl Beside {
    /// Opens it, with consent as everywhere.
    ///
    /// # Errors
    /// There is none, it is too small, or it may not be written to.
    pub(super) fn open(args: &MemStress, name: &str) -> Result<Beside, Failure> {
        if args.consent.read_only {
            return Err(cannot("a device that takes part is written to\nhint: leave out --read-only".to_owned()));
        }
        let asked = TargetArgs {
            target: name.to_owned(),
            seed: args.seed,
            consent: args.consent.clone(),
            allow_cached: args.allow_cached,
        };
        let budget = args.consent.max_write.unwrap_or(USUAL_BUDGET);
        if let Some(spec) = name.strip_prefix("sim:") {
            let device = integrity::tracked(spec, args.seed)?;
            let (facts, path) = (device.facts().clone(), device.path());
            let plan = plan(args, &facts, args.seed, true)?;
            let budget = args.consent.max_write.unwrap_or(Bytes(u64::MAX));
            let device = Box::new(DirectDisk::new(device));
            return Ok(Beside { device, facts, path: Some(path), here: None, plan, budget });
        }
        let cost = |facts: &DeviceFacts| plan(args, facts, 0, false).map(|_| budget);
        match target::open(&asked, Writes::Exactly(&cost))? {
            Opened::Host { target, grant: Some(grant), here } => {
                let (facts, path) = (target.facts().clone(), target.path());
                let plan = plan(args, &facts, target::of_this_run(args.seed), false)?;
                let device = Box::new(PlainBytes::new(*target, grant));
                Ok(Beside { device, facts, path: Some(path), here: Some(*here), plan, budget })
            }
            _ => Err(cannot("a device that takes part is written to\nhint: leave out --max-write 0".to_owned())),
        }
    }

    /// Sends blocks to it and back until `over`, but all of them once at least.
    pub(super) fn run(mut self, args: &MemStress, over: &AtomicBool) -> Told {
        let block = self.plan.block.get() as usize;
        let mut memory = Aligned::new(block * (self.plan.blocks as usize + 3));
        let (kept, buffers) = memory.bytes().split_at_mut(block * self.plan.blocks as usize);
        let [out, back, other] = buffers.chunks_mut(block).collect::<Vec<_>>().try_into().expect("three buffers");
        let planted = args.plant.map(|planted| (spot(planted.kind), planted.count));
        let mut seam = Planting::new(Sweep(vec![1; SWEEP]), planted, args.seed);
        let plan = self.plan.clone();
        let memory = Memory { kept, out, back, other };
        let mut journey = Journey::new(plan.clone(), memory, &mut seam, self.device.as_mut());
        let mut stop = StopReason::Complete;
        let mut is_spent = false;
        let mut rounds = 0;
        while !(interrupt::asked() || rounds > 0 && over.load(Ordering::Acquire)) {
            // A round, and what looking into errors of some blocks writes.
            let next = journey.told().1.length + plan.block * 8;
            is_spent = journey.told().1.written.get().saturating_add(next.get()) > self.budget.get();
            if is_spent {
                break;
            }
            if let Err(error) = journey.round(&mut Until { over, first: rounds == 0 }) {
                match error {
                    DeviceError::Invalid(_) if journey.told().1.written + next > self.budget => is_spent = true,
                    error => stop = StopReason::DeviceLost(error.to_string()),
                }
                break;
            }
            rounds += 1;
        }
        let (seen, side) = journey.told();
        let (seen, side) = (seen.to_vec(), side.clone());
        drop(journey);
        let errors = seen.iter().map(|seen| attributed(seen, &plan)).collect();
        Told { side, errors, planted: seam.count(&seen), stop, is_spent }
    }
}

/// Where blocks go.
fn plan(args: &MemStress, facts: &DeviceFacts, seed: u64, cut: bool) -> Result<JourneyPlan, Failure> {
    let unit = facts.logical_block.max(Bytes::kib(4));
    let length = args.size.min(facts.capacity).align_down(Bytes::kib(64));
    if length < LEAST {
        return Err(cannot(format!(
            "{length} are too little to tell one place from another\nhint: a --size of {LEAST} at least"
        )));
    }
    // Two blocks at least, so that one can be held against another.
    let block = BLOCK.min((length / 2).align_down(unit));
    let blocks = (length.get() / block.get()) as u32;
    let middle = (facts.capacity.saturating_sub(length) / 2).align_down(Bytes::mib(1).max(unit));
    let offset = args.offset.unwrap_or(middle);
    let is_inside = offset.get().checked_add(length.get()).is_some_and(|end| end <= facts.capacity.get());
    if !is_inside || !offset.is_multiple_of(unit) {
        return Err(cannot(format!(
            "{length} from {} on do not lie inside the device of {}, in whole blocks of {unit}\nhint: another --offset or --size",
            offset.get(),
            facts.capacity
        )));
    }
    Ok(JourneyPlan { offset, block, blocks, seed, stand: STAND, cut })
}

fn spot(kind: PlantKind) -> Spot {
    match kind {
        PlantKind::Cell => Spot::Cell,
        PlantKind::Path => Spot::Path,
        PlantKind::Buffer => Spot::Buffer,
        PlantKind::Copy => Spot::Copy,
    }
}

fn cannot(why: String) -> Failure {
    Failure::Cannot(anyhow!(why))
}

/// Memory that lies as direct I/O asks for.
struct Aligned {
    bytes: Vec<u8>,
    start: usize,
    length: usize,
}

impl Aligned {
    /// What direct I/O asks for at most.
    const PAGE: usize = 4096;

    fn new(length: usize) -> Aligned {
        let bytes = vec![0; length + Aligned::PAGE];
        let start = bytes.as_ptr().align_offset(Aligned::PAGE);
        Aligned { bytes, start, length }
    }

    fn bytes(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..self.start + self.length]
    }
}

/// Nothing is done to memory, and caches are emptied by reading through more than they hold.
struct Sweep(Vec<u8>);

impl Seam for Sweep {
    fn written(&mut self, _: Slot, _: u32, _: &mut [u8]) {}
    fn stood(&mut self, _: Slot, _: u32, _: &mut [u8]) {}
    fn seen(&mut self, _: Slot, _: u32, _: usize, _: &mut [u64]) {}

    fn past_caches(&mut self) {
        let lines = self.0.iter().step_by(64).map(|byte| u64::from(*byte)).sum::<u64>();
        std::hint::black_box(lines);
    }
}

/// Goes on until the other program has done, but the first round to its end.
struct Until<'a> {
    over: &'a AtomicBool,
    first: bool,
}

impl Watch for Until<'_> {
    fn block(&mut self) {}

    fn stop(&mut self) -> bool {
        interrupt::asked() || !self.first && self.over.load(Ordering::Acquire)
    }
}
