//! Which steps lead to a state, and what they cost, before anything is done.

use crate::mix::Mix;
use crate::witness;
use flashscope_model::{DeviceFacts, DeviceKind, DeviceState};
use flashscope_stats::steady::WINDOW;
use flashscope_units::{ByteRate, Bytes, Nanos};
use std::fmt;

/// What is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Wish {
    /// The state.
    pub state: DeviceState,
    /// Of `full`: the share of the capacity that holds data, above 0 and up to 1.
    pub share: f64,
    /// Of `aged`: capacity-writes.
    pub passes: u32,
    /// Of `dirty`: the sizes of the random writes.
    pub mix: Mix,
    /// Of `steady`: the size of the random writes that are the workload.
    pub workload: Mix,
    /// Of `clean`: write everything over where no purge is to be had. That is not clean, but what was there is gone.
    pub overwrite: bool,
    /// Seed of every random choice.
    pub seed: u64,
}

impl Wish {
    /// A state as it was published: full to 95 %, dirty by 1.2 × the capacity, aged by 30 × the capacity.
    pub fn of(state: DeviceState, seed: u64) -> Wish {
        Wish {
            state,
            share: 0.95,
            passes: 30,
            mix: Mix::default(),
            workload: Mix::one(Bytes::kib(4)),
            overwrite: false,
            seed,
        }
    }
}

/// What `dirty` writes randomly, over the capacity: the published 19 GB on 16 GB.
const DIRTY_SPANS: f64 = 1.2;
/// Rounds of `steady`, at most (SNIA PTS).
pub(crate) const MOST_ROUNDS: u32 = 25;
/// Parts of the capacity that a round writes. Five rounds, which the criteria look at, are then half of it: more than any
/// spare area takes in before collection begins, so that a device that fills it evenly is not taken for a steady one.
const ROUNDS_OF_CAPACITY: u64 = 10;
/// Passes of `aged`, at most.
const MOST_PASSES: u32 = 100_000;
/// One in so many of the blocks that a pass wrote is read back after it; after the last pass all are.
const CHECKED: u64 = 16;

/// Requests of sequential passes.
pub(crate) const SEQUENTIAL: Bytes = Bytes::mib(1);
/// Requests of passes in random order: large enough that a pass of a large device is one of minutes.
const SHUFFLED: Bytes = Bytes::kib(128);

/// One step.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// The purge ladder.
    Purge {
        /// Whether the state cannot be had without.
        needed: bool,
    },
    /// Everything up to here is written once, sequentially.
    Sequential {
        /// How far.
        length: Bytes,
        /// What the bytes are tagged with.
        generation: u32,
    },
    /// Every place is written once, in random order.
    Shuffled {
        /// How far.
        length: Bytes,
        /// Size of the requests.
        size: Bytes,
        /// What the bytes are tagged with.
        generation: u32,
    },
    /// What a pass wrote is read back.
    Check {
        /// How far.
        length: Bytes,
        /// Size of the requests.
        size: Bytes,
        /// One block of so many, spread evenly.
        one_of: u64,
        /// What the bytes were tagged with.
        generation: u32,
    },
    /// Random writes, until so much is written or the device shows that it is dirty.
    Spread {
        /// How much.
        bytes: Bytes,
        /// Of which sizes.
        mix: Mix,
    },
    /// Random writes in rounds, until both SNIA criteria hold.
    Rounds {
        /// How much one round writes.
        bytes: Bytes,
        /// Of which sizes.
        mix: Mix,
    },
}

/// The steps that lead to a state.
#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    /// The state.
    pub state: DeviceState,
    /// What it is done to.
    pub capacity: Bytes,
    /// All requests are multiples of this.
    pub block: Bytes,
    /// Seed of every random choice.
    pub seed: u64,
    /// Whether everything is written over where no purge is to be had.
    pub overwrite: bool,
    /// In order.
    pub steps: Vec<Step>,
}

/// Why there is no recipe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecipeError {
    /// A device is young or it is not.
    Young,
    /// A value outside its range.
    Value {
        /// Which.
        what: &'static str,
        /// What it must be.
        range: String,
    },
    /// The device is too small for such requests, or its blocks are larger.
    NoRoom {
        /// The sizes.
        mix: String,
    },
}

impl fmt::Display for RecipeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Young => write!(
                f,
                "no device can be made young: writes since new do not go away\nhint: take a new part, and keep what \
                 `flashscope state` says of it"
            ),
            Self::Value { what, range } => write!(f, "{what} must be {range}"),
            Self::NoRoom { mix } => write!(
                f,
                "writes of {mix} are not whole blocks of this device, or larger than it\nhint: name other sizes"
            ),
        }
    }
}

impl std::error::Error for RecipeError {}

impl Recipe {
    /// The steps that lead to the state on this device.
    ///
    /// # Errors
    /// Where the state cannot be made, or a value of the wish lies outside its range.
    pub fn new(wish: &Wish, facts: &DeviceFacts) -> Result<Recipe, RecipeError> {
        let block = facts.logical_block;
        let capacity = facts.capacity.align_down(block);
        let value = |what, range: &str| Err(RecipeError::Value { what, range: range.to_owned() });
        if !(wish.share > 0.0 && wish.share <= 1.0) {
            return value("the share that is full", "above 0 % and up to 100 %");
        }
        if !(1..=MOST_PASSES).contains(&wish.passes) {
            return value("the number of passes", &format!("from 1 to {MOST_PASSES}"));
        }
        let room = |mix: &Mix| match mix.fits(block, capacity) {
            true => Ok(()),
            false => Err(RecipeError::NoRoom { mix: mix.to_string() }),
        };
        let all = Step::Sequential { length: capacity, generation: 1 };
        let purge = Step::Purge { needed: false };
        let steps = match wish.state {
            DeviceState::Clean => vec![Step::Purge { needed: true }],
            DeviceState::Sequential => vec![purge, all],
            DeviceState::Full => {
                let length = Bytes((capacity.as_f64() * wish.share) as u64).align_down(block).max(block);
                vec![purge, Step::Sequential { length, generation: 1 }]
            }
            DeviceState::Dirty => {
                room(&wish.mix)?;
                let bytes = Bytes((capacity.as_f64() * DIRTY_SPANS) as u64);
                vec![all, Step::Spread { bytes, mix: wish.mix.clone() }]
            }
            DeviceState::Steady => {
                room(&wish.workload)?;
                let bytes = (capacity / ROUNDS_OF_CAPACITY).max(wish.workload.largest());
                vec![purge, all.clone(), all, Step::Rounds { bytes, mix: wish.workload.clone() }]
            }
            DeviceState::Aged => aged(capacity, block, wish.passes),
            DeviceState::Young => return Err(RecipeError::Young),
        };
        Ok(Recipe { state: wish.state, capacity, block, seed: wish.seed, overwrite: wish.overwrite, steps })
    }

    /// The most that is written in all.
    pub fn most_written(&self) -> Bytes {
        self.steps.iter().map(|step| self.most_written_by(step)).sum()
    }

    /// The most that is read in all.
    pub fn most_read(&self) -> Bytes {
        let of = |step: &Step| match step {
            Step::Check { length, one_of, size, .. } => length.align_up(*size) / *one_of + *size,
            Step::Purge { .. } => witness::most_read(self.capacity, self.block),
            _ => Bytes::ZERO,
        };
        self.steps.iter().map(of).sum()
    }

    /// The most that a step writes.
    pub(crate) fn most_written_by(&self, step: &Step) -> Bytes {
        match step {
            Step::Purge { needed } => {
                let over = if *needed && self.overwrite { self.capacity } else { Bytes::ZERO };
                witness::most_written(self.capacity, self.block) + over
            }
            Step::Sequential { length, .. } | Step::Shuffled { length, .. } => *length,
            Step::Check { .. } => Bytes::ZERO,
            // The last write may go beyond the mark.
            Step::Spread { bytes, mix } => *bytes + mix.largest(),
            Step::Rounds { bytes, mix } => (*bytes + mix.largest()) * u64::from(MOST_ROUNDS),
        }
    }

    /// How long it takes, by rates that are assumed, and said to be.
    pub fn time(&self, facts: &DeviceFacts) -> (Nanos, String) {
        let (sequential, random) = assumed_rates(facts.kind);
        let of = |step: &Step| match step {
            Step::Purge { .. } => Nanos::ZERO,
            Step::Sequential { length, .. } | Step::Check { length, one_of: 1, .. } => sequential.time_for(*length),
            Step::Check { length, one_of, .. } => sequential.time_for(*length / *one_of),
            Step::Shuffled { length, .. } => random.time_for(*length) / 2,
            Step::Spread { bytes, .. } => random.time_for(*bytes),
            Step::Rounds { bytes, .. } => random.time_for(*bytes * (WINDOW as u64 * 2)),
        };
        (self.steps.iter().map(of).sum(), format!("{sequential} sequentially and {random} randomly"))
    }

    /// What each step does, in words.
    pub fn describe(&self) -> Vec<String> {
        self.steps.iter().map(Step::describe).collect()
    }
}

/// Passes in turn sequential and in random order, each read back.
fn aged(capacity: Bytes, block: Bytes, passes: u32) -> Vec<Step> {
    let size = SHUFFLED.max(block);
    let pass = |number: u32| {
        let generation = number + 1;
        let one_of = if generation == passes { 1 } else { CHECKED };
        let write = match number % 2 {
            0 => Step::Sequential { length: capacity, generation },
            _ => Step::Shuffled { length: capacity, size, generation },
        };
        [write, Step::Check { length: capacity, size, one_of, generation }]
    };
    (0..passes).flat_map(pass).collect()
}

/// Rates that a plan of time assumes before anything was measured, by the class of device.
pub fn assumed_rates(kind: DeviceKind) -> (ByteRate, ByteRate) {
    let mb = |sequential: f64, random: f64| (ByteRate(sequential * 1e6), ByteRate(random * 1e6));
    match kind {
        DeviceKind::SdCard | DeviceKind::Usb => mb(20.0, 2.0),
        DeviceKind::Emmc => mb(60.0, 10.0),
        DeviceKind::Ufs | DeviceKind::Scsi => mb(400.0, 100.0),
        DeviceKind::Nvme => mb(1000.0, 300.0),
        DeviceKind::Virtio | DeviceKind::Loop | DeviceKind::Emulated | DeviceKind::File | DeviceKind::Other => {
            mb(200.0, 50.0)
        }
    }
}

impl Step {
    /// What it does, in words.
    pub fn describe(&self) -> String {
        match self {
            Step::Purge { needed: true } => "purge by the strongest step of the ladder that is there".to_owned(),
            Step::Purge { needed: false } => "purge, where a step of the ladder is there".to_owned(),
            Step::Sequential { length, .. } => format!("write {length} sequentially"),
            Step::Shuffled { length, size, .. } => format!("write {length} in random order, in blocks of {size}"),
            Step::Check { length, one_of: 1, .. } => format!("read {length} back and compare"),
            Step::Check { one_of, .. } => format!("read one block in {one_of} back and compare"),
            Step::Spread { bytes, mix } => {
                format!("write {bytes} randomly ({mix}), less where the device shows that it is dirty")
            }
            Step::Rounds { bytes, mix } => {
                format!("rounds of {bytes} of random writes ({mix}) until steady, at most {MOST_ROUNDS}")
            }
        }
    }
}
