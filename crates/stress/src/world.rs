//! A world whose faults are known: memory and a device in memory, with faults planted at any border.
//!
//! [`run`] sends a [`Journey`] through it and says, of each thing that was seen, which of the planted faults it comes from. The journey
//! knows nothing of that.

mod device;
mod fault;
mod memory;

pub use fault::Plant;

use crate::journey::{Journey, JourneyPlan, Seen};
use crate::seam::{Memory, Seam, Slot};
use device::Device;
use fault::{Faults, locked};
use flashscope_device::PoweredBytes;
use flashscope_model::stress::Cause;
use flashscope_stats::Rng;
use flashscope_stats::rng::{mix, stream};
use flashscope_units::{Bytes, Nanos};
use memory::Shim;
use std::sync::{Arc, Mutex};

/// Length of a block.
const BLOCK: Bytes = Bytes::kib(8);
/// Blocks of a journey.
const BLOCKS: u32 = 6;
/// Rounds of a journey.
const ROUNDS: u32 = 3;

/// What came of a world.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Where everything lay.
    pub plan: JourneyPlan,
    /// All that was seen, each with the cause of the planted fault that it comes from; `None` where it comes from none.
    pub seen: Vec<(Seen, Option<Cause>)>,
    /// The planted faults that showed: what each was, and whether anything that was seen comes from it.
    pub planted: Vec<(Plant, bool)>,
}

/// A world with these faults; everything else follows from the seed.
pub fn run(plants: &[Plant], seed: u64) -> Outcome {
    let (plan, faults, mut device) = world(plants, seed);
    let mut seam = Shim::new(Arc::clone(&faults));
    let mut bytes = Held::new(&plan);
    let mut journey = Journey::new(plan.clone(), bytes.memory(), &mut seam, &mut device);
    for round in 0..ROUNDS {
        locked(&faults).begin(round);
        // A device in memory is never gone.
        journey.round(&mut ()).expect("a device in memory answers");
    }
    let seen = journey.told().0.to_vec();
    let faults = locked(&faults);
    let owner = |seen: &Seen| faults.owner(seen.block, seen.difference.words().iter().map(|(word, _)| *word));
    let owners: Vec<Option<usize>> = seen.iter().map(owner).collect();
    let planted = faults.shown().map(|(index, plant)| (plant, owners.contains(&Some(index)))).collect();
    let causes = owners.iter().map(|owner| owner.map(|owner| faults.cause(owner)));
    Outcome { seen: seen.into_iter().zip(causes).collect(), planted, plan }
}

/// The same world for a reader who holds what he reads back against his own copy, and knows of nothing else: the true cause of each block
/// that differed, which he takes for the storage's.
pub fn naive(plants: &[Plant], seed: u64) -> Vec<Option<Cause>> {
    let (plan, faults, mut device) = world(plants, seed);
    let mut seam = Shim::new(Arc::clone(&faults));
    let mut bytes = Held::new(&plan);
    let (block, mut accused) = (plan.block.get() as usize, Vec::new());
    for round in 0..ROUNDS {
        locked(&faults).begin(round);
        for later in [false, true] {
            if later {
                device.wait(plan.stand);
                if plan.cut {
                    // A device in memory takes all of these.
                    device.restore_power().expect("a device in memory comes back");
                }
            }
            for number in 0..BLOCKS {
                let memory = bytes.memory();
                let kept = &mut memory.kept[number as usize * block..][..block];
                let at = plan.offset + plan.block * u64::from(number);
                if later {
                    seam.stood(Slot::Kept, number, kept);
                } else {
                    let value = mix(seed ^ u64::from(round * BLOCKS + number));
                    kept.iter_mut().zip(0..).for_each(|(byte, at)| *byte = mix(value ^ at) as u8);
                    seam.written(Slot::Kept, number, kept);
                    memory.out.copy_from_slice(kept);
                    seam.written(Slot::Out, number, memory.out);
                    seam.stood(Slot::Out, number, memory.out);
                    device.write_bytes(at, memory.out).expect("a device in memory takes it");
                    seam.stood(Slot::Out, number, memory.out);
                }
                device.read_bytes(at, memory.back).expect("a device in memory answers");
                seam.written(Slot::Back, number, memory.back);
                let differs = memory.back.iter().zip(kept.iter()).zip(0..).filter(|((one, other), _)| one != other);
                let mut words = differs.map(|(_, at)| at / 8).peekable();
                if words.peek().is_some() {
                    let faults = locked(&faults);
                    accused.push(faults.owner(number, words).map(|owner| faults.cause(owner)));
                }
            }
        }
    }
    accused
}

/// Where everything lies, what is wrong, and the device.
fn world(plants: &[Plant], seed: u64) -> (JourneyPlan, Arc<Mutex<Faults>>, Device) {
    let mut chance = Rng::new(stream(seed, 1));
    let plan = JourneyPlan {
        offset: Bytes::kib(64),
        block: BLOCK,
        blocks: BLOCKS,
        seed: stream(seed, 2),
        stand: Nanos::secs(1),
        // What goes astray in a power cut needs one.
        cut: plants.contains(&Plant::MediumMisdirects) || chance.unit() < 0.5,
    };
    let faults = plants.iter().map(|plant| fault::drawn(*plant, &mut chance, &plan, ROUNDS)).collect();
    let faults = Arc::new(Mutex::new(Faults::new(faults, stream(seed, 3))));
    let device = Device::new(Arc::clone(&faults), &plan);
    (plan, faults, device)
}

/// The memory of a journey.
struct Held {
    kept: Vec<u8>,
    buffers: [Vec<u8>; 3],
}

impl Held {
    fn new(plan: &JourneyPlan) -> Held {
        let block = plan.block.get() as usize;
        Held { kept: vec![0; block * plan.blocks as usize], buffers: [(); 3].map(|()| vec![0; block]) }
    }

    fn memory(&mut self) -> Memory<'_> {
        let [out, back, other] = &mut self.buffers;
        Memory { kept: &mut self.kept, out, back, other }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cause::{Answer, attributed};

    #[test]
    fn nothing_is_seen_where_nothing_is_wrong() {
        assert!((0..50).all(|seed| run(&[], seed).seen.is_empty()));
    }

    #[test]
    fn each_fault_is_found_and_named_or_left_open_and_no_other_is_accused() {
        for plant in Plant::ALL {
            let mut shown = 0;
            for seed in 0..40 {
                let outcome = run(&[plant], seed);
                shown += outcome.planted.len();
                assert!(outcome.planted.iter().all(|(_, found)| *found), "{plant:?} {seed} is not found");
                for (seen, truth) in &outcome.seen {
                    let told = attributed(seen, &outcome.plan);
                    let is_right = match seen.rule().answer() {
                        Answer::Is(cause) => *truth == Some(cause),
                        Answer::OneOf(_) => true,
                    };
                    assert!(is_right, "{plant:?} {seed}: {told:?}\n{seen:?}");
                }
            }
            assert!(shown >= 20, "{plant:?} showed in {shown} of 40 worlds");
        }
    }

    #[test]
    fn a_naive_reader_takes_memory_for_storage() {
        let accused: Vec<_> = (0..40).flat_map(|seed| naive(&[Plant::KeptFlips], seed)).collect();
        assert!(accused.len() >= 40 && accused.iter().all(|truth| *truth == Some(Cause::MemoryCell)));
    }
}
