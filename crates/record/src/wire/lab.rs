//! The part of a lab: devices, what they share, and runs with their records.

use crate::mirror::{mirror, part, words};
use flashscope_model::lab as model;

part! {
    /// A shelf of devices, each with runs of its own.
    LabPart of model::LabRecord as [Lab] {
        /// What the plan is called.
        plan_name: String = plan,
        /// SHA-256 of the plan's text, in hexadecimal digits.
        plan_sha256: String = plan_sha256,
        /// Runs at once that keep a processor busy.
        busy_at_once: u32 = busy_at_once,
        /// Other runs at once.
        waiting_at_once: u32 = waiting_at_once,
        /// The devices, in the plan's order.
        devices: Vec<LabDevice> = devices,
        /// What several of them share.
        shared_parts: Vec<LabSharedPart> = shared,
        /// What the neighbour check says; empty where there was none.
        neighbours: Vec<LabNeighbour> = neighbours,
        /// The runs, in the order in which they were to begin.
        lab_runs: Vec<LabRun> = runs,
        /// What must be known of it.
        notes: Vec<String> = notes,
    }
}

mirror! {
    /// One device of the shelf.
    LabDevice of model::LabDevice {
        /// What the plan calls it.
        name: String = name,
        /// What it says of itself; the target of a simulated one.
        identity: String = identity,
        /// Whether it is simulated.
        simulated: bool = simulated,
        /// Seed of all that was drawn on it.
        seed: u64 = seed,
        /// Parts of the host on the way to it, nearest first, below `/sys`.
        parts: Vec<String> = parts,
        /// Whether it could not be shown that others leave it alone, so that its timed runs were taken with nothing else under
        /// way; null without a neighbour check.
        host_limited: Option<bool> = host_limited,
    }

    /// A part of the host that several devices are behind.
    LabSharedPart of model::SharedPart {
        /// Its path below `/sys`.
        path: String = path,
        /// What people call it.
        name: String = name,
        /// The names of the devices.
        devices: Vec<String> = devices,
    }

    /// How fast a device was alone and beside all others.
    LabNeighbour of model::Neighbour {
        /// The name of the device.
        device: String = device,
        /// What was measured.
        figure: String = figure,
        /// Its unit.
        unit: String = unit,
        /// Alone, round by round.
        alone: Vec<f64> = alone,
        /// Beside all others.
        beside: Vec<f64> = beside,
        /// Beside over alone; null where there are too few of either.
        ratio: Option<f64> = ratio,
        /// Lower end of its interval of 90 %.
        ratio_low: Option<f64> = ratio_low,
        /// Upper end.
        ratio_high: Option<f64> = ratio_high,
        /// The ratio that still counts as none (1.02 for 2 %).
        margin_ratio: f64 = margin,
        /// Whether it was shown that others leave it alone.
        undisturbed: bool = undisturbed,
    }

    /// One run.
    LabRun of model::LabRun {
        /// A hash of the device's identity and of what is done.
        id: String = id,
        /// The name of the device.
        device: String = device,
        /// The name of the work.
        work: String = work,
        /// What was typed, without what the host adds.
        command: String = command,
        /// What could go on beside it.
        phase: LabPhase = phase,
        /// Where it is.
        state: LabRunState = state,
        /// How often it was begun.
        attempts: u32 = attempts,
        /// How often it failed.
        failures: u32 = failures,
        /// Its record, below the lab's directory; null without one.
        record: Option<String> = record,
        /// SHA-256 of that; null without one.
        record_sha256: Option<String> = sha256,
        /// How long the attempt took that it was done by; null where nobody lived to say.
        time_ns: Option<u64> = time,
        /// Whether it could not be shown that others leave its device alone.
        host_limited: bool = host_limited,
        /// Why it failed, or is not done.
        why: Option<String> = why,
    }
}

words! {
    /// What could go on beside a run.
    LabPhase mirrors model::LabPhase {
        /// Nothing: a part of the neighbour check.
        Alone,
        /// The same on all other devices: a part of the neighbour check.
        Beside,
        /// Nothing that shares a part of the way to the device.
        Timed,
        /// What wears or fills others, too.
        Wear,
    }
}

words! {
    /// Where a run is.
    LabRunState mirrors model::LabRunState {
        /// Nothing was done, or what was begun did not come to its end.
        Waiting,
        /// Under way.
        Leased,
        /// Its record is there.
        Done,
        /// Given up.
        Failed,
        /// Not to be done after all: a round of the neighbour check that was broken.
        Dropped,
    }
}
