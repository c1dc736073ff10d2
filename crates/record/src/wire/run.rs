//! What a run set out to do, the way that its requests took, and what it cost.

use crate::mirror::mirror;
use flashscope_model::{self as model, run};

mirror! {
    /// The way that requests actually took.
    Path of run::PathTaken {
        /// `pread/pwrite`, `io_uring`, `virtual time`.
        engine: String = engine,
        /// Open flags and the like.
        flags: Vec<String> = flags,
        /// Largest number of requests outstanding.
        queue_depth: u32 = queue_depth,
        /// Anything that was not as asked for.
        fallbacks: Vec<String> = fallbacks,
        /// Who used the device while it was read.
        in_use: Vec<String> = in_use,
    }

    /// What a run was allowed and set out to do.
    Plan of run::Plan {
        /// Seed of every random choice; may need all 64 bits.
        seed: u64 = seed,
        /// What it might spend.
        budget: Budget = budget,
        /// The experiments in the order in which they were chosen.
        steps: Vec<Step> = steps,
    }

    /// What a run might spend.
    Budget of model::Budget {
        /// Bytes that it might write; 0 is reading only.
        write_bytes: u64 = write,
        /// Device time; null where unlimited.
        time_ns: Option<u64> = time,
    }

    /// One step of the plan.
    Step of run::Step {
        /// Name of the experiment.
        experiment: String = experiment,
        /// Its parameters in words.
        parameters: String = parameters,
        /// Why it was chosen.
        why: String = why,
    }

    /// What a run cost.
    Cost of run::Cost {
        /// Bytes read.
        read_bytes: u64 = read,
        /// Bytes written.
        written_bytes: u64 = written,
        /// Time on the target's clock.
        time_ns: u64 = time,
        /// Erases of units; null where nothing can be said.
        erases: Option<Erases> = erases,
    }

    /// Wear caused.
    Erases of run::Erases {
        /// Number of unit erases.
        units: u64 = units,
        /// Whether the device counted them itself; else they are estimated.
        counted: bool = counted,
        /// What an estimate assumes.
        assumption: Option<String> = assumption,
    }
}
