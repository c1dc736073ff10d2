//! A test of memory under stress, alone or with a storage device.

use crate::mirror::{mirror, words};
use flashscope_model::stress as model;

mirror! {
    /// What a run of stress came to.
    Stress of model::Stress {
        /// What was tested, and how.
        plan: StressPlan = plan,
        /// For how long, on the clock.
        took_ns: u64 = took,
        /// Bytes read from and written to the tested memory, both counted.
        moved_bytes: u64 = moved,
        /// Times that all of it was held against what it should hold.
        passes: u64 = passes,
        /// Flips that were planted on purpose; null where that was not asked for.
        planted: Option<u64> = planted,
        /// Of these, how many were found.
        planted_found: Option<u64> = planted_found,
        /// Wrong words in all.
        wrong: u64 = wrong,
        /// The first of them.
        words: Vec<WrongWord> = words,
        /// What they have in common.
        groups: Vec<WrongGroup> = groups,
        /// What went over a storage device meanwhile; null where none took part.
        storage: Option<StressStorage> = storage,
        /// Every error, and whose it is.
        errors: Vec<AttributedError> = errors,
    }

    /// What was tested, and how.
    StressPlan of model::StressPlan {
        /// Memory that was held and tested.
        memory_bytes: u64 = memory,
        /// What was available to the program before.
        available_bytes: u64 = available,
        /// What was left to others.
        left_bytes: u64 = left,
        /// Threads.
        threads: u32 = threads,
        /// For how long it was asked for.
        time_ns: u64 = time,
        /// What all patterns follow from.
        seed: u64 = seed,
        /// What the surroundings did not allow, and what that means.
        notes: Vec<String> = notes,
    }

    /// A word of memory that did not hold what it should.
    WrongWord of model::WrongWord {
        /// Its place in the tested memory.
        at_bytes: u64 = at,
        /// Its physical address; null where the kernel does not tell.
        physical_address: Option<u64> = physical,
        /// What it should hold.
        expected: u64 = expected,
        /// What was read first.
        found: u64 = found,
        /// What became of it.
        persistence: Persistence = persistence,
        /// How often it was read again.
        again: u32 = again,
        /// How often of these it was right.
        again_right: u32 = again_right,
        /// Whether it had been read right since it was last written.
        was_right: bool = was_right,
    }

    /// Wrong words that belong together.
    WrongGroup of model::Group {
        /// What they have in common.
        kind: WrongGroupKind = kind,
        /// How many they are.
        words: u64 = words,
        /// All bits that are wrong in any of them; bit n is data line n.
        bits: u64 = bits,
        /// The first place.
        from_bytes: u64 = from,
        /// The last place.
        to_bytes: u64 = to,
    }

    /// What went over a storage device meanwhile.
    StressStorage of model::StorageSide {
        /// Where the range that was written begins.
        offset_bytes: u64 = offset,
        /// Its length.
        length_bytes: u64 = length,
        /// Rounds over it.
        rounds: u32 = rounds,
        /// Times the power was cut between a write and the last look at it.
        power_cuts: u32 = power_cuts,
        /// Written in all.
        written_bytes: u64 = written,
        /// Read in all.
        read_bytes: u64 = read,
        /// Blocks that were held against what they should hold.
        blocks: u64 = blocks,
        /// Reads and writes that the device itself said had failed.
        failed: u64 = failed,
    }

    /// An error whose cause was looked for.
    AttributedError of model::Attributed {
        /// Whose it is.
        cause: ErrorCause = cause,
        /// How likely that is right; null where nothing is claimed or nothing was counted.
        probability: Option<f64> = probability,
        /// Whose it may be, where it cannot be told.
        leaning: Vec<ErrorCause> = leaning,
        /// The kind of evidence.
        rule: String = rule,
        /// Where it was seen.
        border: ErrorBorder = border,
        /// Place on the device, or in memory.
        at_bytes: u64 = at,
        /// Words of 8 bytes that were wrong.
        words: u64 = words,
        /// The bits that were wrong in any of them.
        bits: u64 = bits,
        /// What excludes the other causes.
        evidence: String = evidence,
    }
}

words! {
    /// Whose an error is.
    ErrorCause mirrors model::Cause {
        /// A place in memory does not hold what was written to it.
        MemoryCell,
        /// Other bits than memory holds arrive on the way to or from it.
        MemoryPath,
        /// The device keeps, or gives back, other data than it was given.
        StorageMedium,
        /// Other data than the device has arrive on the way from or to it.
        StorageLink,
        /// What was seen does not exclude all causes but one.
        CannotTell,
    }
}

words! {
    /// What became of a wrong word.
    Persistence mirrors model::Persistence {
        /// Read again, it is right.
        Transient,
        /// It stays wrong until it is written again.
        Changed,
        /// Written again, it is wrong again.
        Stuck,
        /// Read again, it is wrong in other bits.
        Unsteady,
    }
}

words! {
    /// What wrong words have in common.
    WrongGroupKind mirrors model::GroupKind {
        /// The same word, once or more.
        OneWord,
        /// The same data line in many places.
        OneLane,
        /// Many places within a stretch as long as a row of a memory chip.
        OneRow,
        /// Nothing of these.
        Scattered,
    }
}

words! {
    /// Where an error was seen.
    ErrorBorder mirrors model::Border {
        /// In memory that nothing but the test uses.
        #[serde(rename = "stressed_memory")]
        Stressed,
        /// The kept copy, right after it was made.
        #[serde(rename = "kept_copy_made")]
        Born,
        /// The buffer that it was copied to.
        #[serde(rename = "buffer_copied")]
        Copied,
        /// The same, after the device had taken it.
        #[serde(rename = "buffer_handed")]
        Handed,
        /// The kept copy, after it had stood.
        #[serde(rename = "kept_copy_stood")]
        Kept,
        /// What was read right after it was written.
        ReadBack,
        /// What was read later on.
        ReadLater,
    }
}
