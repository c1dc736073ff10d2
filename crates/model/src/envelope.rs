//! What every record says of the run behind it, whatever was run: who, when, with what, where, on what, at what cost, and
//! how it ended. What a kind of run has of its own stands beside it ([`crate::RunRecord`], [`crate::bench`] …).

use crate::certificate::Certificate;
use crate::run::{Cost, PathTaken};
use crate::{DeviceFacts, DeviceKind};

/// What is the same in all records.
#[derive(Clone, Debug, PartialEq)]
pub struct Envelope {
    /// What the rest of the record holds.
    pub kind: Kind,
    /// The program that made it.
    pub tool: Tool,
    /// What was typed (`inspect`, `probe align`, `bench --preset dd`).
    pub command: String,
    /// What was asked about, as typed.
    pub target: String,
    /// Whether time was simulated.
    pub virtual_time: bool,
    /// When it began and ended, RFC 3339 in UTC; `None` on virtual time, so that the same seed gives the same bytes, and for
    /// logs, which do not tell.
    pub started: Option<String>,
    /// See `started`.
    pub finished: Option<String>,
    /// Names one stretch of time in which the device stayed attached and powered: two runs of the same session share what a
    /// power-up decides. The boot of the host and the kernel's number of the attached disk, or the seed of a simulated device.
    pub session: Option<String>,
    /// The machine; `None` on virtual time and for logs.
    pub host: Option<HostFacts>,
    /// The device; `None` where a log does not tell, or there are several.
    pub device: Option<DeviceFacts>,
    /// How requests reached the device; `None` where a log does not tell, or jobs took ways of their own.
    pub path: Option<PathTaken>,
    /// The state that the device had been brought into, where that was done.
    pub state: Option<State>,
    /// What about the surroundings changes results.
    pub conditions: Conditions,
    /// What the run cost; `None` where nobody counted.
    pub cost: Option<Cost>,
    /// Why it stopped.
    pub stop: StopReason,
}

impl Envelope {
    /// One that says who made it, and nothing yet of a device.
    pub fn new(kind: Kind, tool: Tool, command: impl Into<String>, target: impl Into<String>) -> Envelope {
        Envelope {
            kind,
            tool,
            command: command.into(),
            target: target.into(),
            virtual_time: false,
            started: None,
            finished: None,
            session: None,
            host: None,
            device: None,
            path: None,
            state: None,
            conditions: Conditions::default(),
            cost: None,
            stop: StopReason::Complete,
        }
    }

    /// What people call the thing that was measured: the device's name, else what was typed. The name of a temporary file
    /// says nothing, so that it is none.
    pub fn subject(&self) -> &str {
        let is_file = self.device.as_ref().is_none_or(|device| device.kind == DeviceKind::File);
        match &self.device {
            _ if is_file && self.target == "-" => "stdin",
            _ if is_file && is_temporary(&self.target) => "a temporary file",
            Some(device) => &device.name,
            None => &self.target,
        }
    }

    /// When and where, in a few words; `None` on virtual time.
    pub fn when_and_where(&self) -> Option<String> {
        let host = self.host.as_ref()?;
        let board = host.board.as_ref().map(|board| format!("{} ({board})", host.name));
        let place = board.unwrap_or_else(|| host.name.clone());
        Some(self.started.iter().cloned().chain([place]).collect::<Vec<_>>().join(", "))
    }
}

/// Whether a path leads to where programs put files that nobody is to name: the directories for temporary files of the
/// file hierarchy standard, and what a shell names the end of a pipe.
pub fn is_temporary(path: &str) -> bool {
    const PLACES: [&str; 6] = ["/tmp/", "/var/tmp/", "/dev/shm/", "/dev/fd/", "/proc/", "/dev/stdin"];
    PLACES.iter().any(|place| path.starts_with(place))
}

/// What a record holds beside its envelope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A whole characterisation.
    Inspect,
    /// One experiment.
    Probe,
    /// Conclusions from a log or an older record.
    Infer,
    /// Which state a device is in.
    State,
    /// Whether a device is as large as it says.
    Capacity,
    /// What survives power cuts.
    Integrity,
    /// Applications played on files.
    App,
    /// A run of load.
    Bench,
    /// iozone's tests.
    Iozone,
    /// Many simulated devices inspected.
    Fleet,
    /// A model fitted to a measured device.
    Twin,
    /// Sides compared, figure by figure.
    Compare,
    /// Conditions compared, and what their knobs do.
    Sweep,
    /// A block trace, looked at or replayed.
    Trace,
    /// Why one device takes longer than another for a workload.
    Explanation,
    /// Whether one part may replace another.
    Qualification,
    /// What a machine's memory does.
    Memory,
    /// A shelf of devices, each with runs of its own.
    Lab,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 18] = [
        Kind::Inspect,
        Kind::Probe,
        Kind::Infer,
        Kind::State,
        Kind::Capacity,
        Kind::Integrity,
        Kind::App,
        Kind::Bench,
        Kind::Iozone,
        Kind::Fleet,
        Kind::Twin,
        Kind::Compare,
        Kind::Sweep,
        Kind::Trace,
        Kind::Explanation,
        Kind::Qualification,
        Kind::Memory,
        Kind::Lab,
    ];

    /// Its word in records and on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Kind::Inspect => "inspect",
            Kind::Probe => "probe",
            Kind::Infer => "infer",
            Kind::State => "state",
            Kind::Capacity => "capacity",
            Kind::Integrity => "integrity",
            Kind::App => "app",
            Kind::Bench => "bench",
            Kind::Iozone => "iozone",
            Kind::Fleet => "fleet",
            Kind::Twin => "twin",
            Kind::Compare => "compare",
            Kind::Sweep => "sweep",
            Kind::Trace => "trace",
            Kind::Explanation => "explanation",
            Kind::Qualification => "qualification",
            Kind::Memory => "memory",
            Kind::Lab => "lab",
        }
    }

    /// The kind of this word.
    pub fn of_word(word: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.word() == word)
    }
}

/// The program that made a record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tool {
    /// Its version.
    pub version: String,
    /// The commit that it was built from; `None` where it was built outside a checkout.
    pub commit: Option<String>,
    /// The machine that it was built for, as compilers name it (`aarch64-unknown-linux-gnu`).
    pub target: Option<String>,
}

/// The machine that a run took place on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostFacts {
    /// Host name.
    pub name: String,
    /// Model of the board or the product, where the firmware tells.
    pub board: Option<String>,
    /// Kernel release.
    pub kernel: String,
    /// Machine architecture.
    pub architecture: String,
    /// How the device is attached, where the bus tells (`mmc HS400, 200 MHz, 8 bit`).
    pub bus_mode: Option<String>,
}

/// What changes results and may change by itself, each a name and a value (`governor`, `scheduler`, `read_ahead_kb`).
pub type ConditionList = Vec<(String, String)>;

/// Conditions around a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conditions {
    /// Before the first request.
    pub before: ConditionList,
    /// After the last one.
    pub after: ConditionList,
}

impl Conditions {
    /// Whether a condition of this name changes by itself, or by any run that writes.
    pub fn moves(name: &str) -> bool {
        name.contains("frequency") || name.contains("temperature") || name.starts_with("health_")
    }

    /// The value of one before the run.
    pub fn find(&self, name: &str) -> Option<&str> {
        self.before.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// Those that were not the same after the run as before it, each its name, the value before and the value after; what
    /// moves by itself (clocks and temperatures) is no change.
    pub fn changed(&self) -> Vec<(&str, &str, &str)> {
        let after = |name: &str| self.after.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str());
        let pairs = self.before.iter().filter_map(|(name, value)| Some((name.as_str(), value.as_str(), after(name)?)));
        pairs.filter(|(name, before, after)| before != after && !Conditions::moves(name)).collect()
    }
}

/// A state that a device was brought into.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// Its name (`clean`, `full`, `steady`).
    pub name: String,
    /// The certificate in a sentence: how that was seen; `None` where nobody looked.
    pub certificate: Option<String>,
    /// The whole of it; `None` where flashscope did not make the state.
    pub made: Option<Certificate>,
}

/// Why a run, or a job of one, stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// It did all it set out to do.
    Complete,
    /// What it might write, or its time, was used up first.
    BudgetSpent,
    /// The operator stopped the run.
    Interrupted,
    /// A job was stopped with the others: by the operator, or because another one's end is that of all.
    Stopped,
    /// So many requests in a row failed that it gave up.
    Failing,
    /// The device went away or did not answer.
    DeviceLost(String),
    /// A fault of flashscope itself, in words.
    InternalError(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_temporary_file_is_no_subject() {
        let subject = |target: &str| {
            let tool = Tool { version: String::new(), commit: None, target: None };
            Envelope::new(Kind::Infer, tool, "infer", target).subject().to_owned()
        };
        assert_eq!(subject("/tmp/tmp.8dHcB2/x.log"), "a temporary file");
        assert_eq!(subject("/dev/fd/63"), "a temporary file");
        assert_eq!(subject("-"), "stdin");
        assert_eq!(subject("logs/card.log"), "logs/card.log");
    }
}
