//! A shelf of devices, each with runs of its own: what was done, where its record is, and what disturbed what.

use crate::envelope::Envelope;
use flashscope_units::Nanos;

/// Everything about one `lab run`.
#[derive(Clone, Debug, PartialEq)]
pub struct LabRecord {
    /// Who and when.
    pub envelope: Envelope,
    /// What the plan is called.
    pub plan: String,
    /// SHA-256 of the plan's text, in hexadecimal digits.
    pub plan_sha256: String,
    /// Runs at once that keep a processor busy.
    pub busy_at_once: u32,
    /// Other runs at once.
    pub waiting_at_once: u32,
    /// The devices, in the plan's order.
    pub devices: Vec<LabDevice>,
    /// What several of them share.
    pub shared: Vec<SharedPart>,
    /// What the neighbour check says; empty where there was none.
    pub neighbours: Vec<Neighbour>,
    /// The runs, in the order in which they were to begin.
    pub runs: Vec<LabRun>,
    /// What must be known of it, a sentence each.
    pub notes: Vec<String>,
}

/// One device of the shelf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabDevice {
    /// What the plan calls it.
    pub name: String,
    /// What it says of itself; the target of a simulated one.
    pub identity: String,
    /// Whether it is simulated.
    pub simulated: bool,
    /// Seed of all that was drawn on it.
    pub seed: u64,
    /// Parts of the host on the way to it, nearest first.
    pub parts: Vec<String>,
    /// Whether the neighbour check could not show that others leave it alone: its timed runs were then taken with nothing else
    /// under way. `None` where there was no check.
    pub host_limited: Option<bool>,
}

/// A part of the host that several devices are behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedPart {
    /// Its path below `/sys`.
    pub path: String,
    /// What people call it.
    pub name: String,
    /// The names of the devices.
    pub devices: Vec<String>,
}

/// How fast a device was alone and beside all others.
#[derive(Clone, Debug, PartialEq)]
pub struct Neighbour {
    /// The name of the device.
    pub device: String,
    /// What was measured.
    pub figure: String,
    /// Its unit.
    pub unit: String,
    /// Alone, round by round.
    pub alone: Vec<f64>,
    /// Beside all others.
    pub beside: Vec<f64>,
    /// Beside over alone; `None` where there are too few of either.
    pub ratio: Option<f64>,
    /// Lower end of its interval of 90 %.
    pub ratio_low: Option<f64>,
    /// Upper end.
    pub ratio_high: Option<f64>,
    /// The ratio that still counts as none (1.02 for 2 %).
    pub margin: f64,
    /// Whether it was shown that others leave it alone.
    pub undisturbed: bool,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabRun {
    /// Its id: a hash of the device's identity and of what is done.
    pub id: String,
    /// The name of the device.
    pub device: String,
    /// The name of the work.
    pub work: String,
    /// What was typed, without what the host adds.
    pub command: String,
    /// What could go on beside it.
    pub phase: LabPhase,
    /// Where it is.
    pub state: LabRunState,
    /// How often it was begun, in this run of the lab and earlier ones.
    pub attempts: u32,
    /// How often it failed.
    pub failures: u32,
    /// Its record, below the lab's directory; `None` without one.
    pub record: Option<String>,
    /// SHA-256 of that.
    pub sha256: Option<String>,
    /// How long the attempt took that it was done by; `None` where nobody lived to say.
    pub time: Option<Nanos>,
    /// Whether others disturb its device (see [`LabDevice::host_limited`]).
    pub host_limited: bool,
    /// Why it failed, or is not done.
    pub why: Option<String>,
}

/// What could go on beside a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LabPhase {
    /// Nothing: a part of the neighbour check.
    Alone,
    /// The same on all other devices: a part of the neighbour check.
    Beside,
    /// Nothing that shares a part of the way to the device.
    Timed,
    /// What wears or fills others, too.
    Wear,
}

/// Where a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LabRunState {
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
