//! The first glance: at most ten lines that say what a device is, what was found, what to type, and what is not known.

use crate::advice::instruction;
use crate::answer::{self, answer, kind_word, percent};
use crate::claim::{self, largest, random_4k};
use crate::state;
use flashscope_model::envelope::Kind;
use flashscope_model::finding::{Bound, NoteKind, PerformanceCell};
use flashscope_model::{DeviceKind, Direction, Finding, Order, Reason, RunRecord};
use flashscope_units::Bytes;

/// The opening of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    /// What it is: `SD card SD08G (simulated), 7.40 GiB, holds data`.
    pub title: String,
    /// What is said of it, the most important first.
    pub rows: Vec<Row>,
}

/// One line of a card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// What it is about.
    pub name: &'static str,
    /// What is said.
    pub text: String,
    /// How it is meant.
    pub tone: Tone,
}

/// How a line of a card is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// To be read.
    Plain,
    /// To be typed.
    Command,
    /// To be heeded: it weakens what stands below.
    Warning,
    /// What is not known.
    Open,
}

/// The card of a run.
pub fn card(run: &RunRecord) -> Card {
    let row = |name, tone| move |text: String| Row { name, text, tone };
    let claims: Vec<String> =
        claim::judged(run).into_iter().map(|judged| format!("{}: {}", judged.claim, judged.result)).collect();
    let mut rows: Vec<Row> = trouble(run).map(row("warning", Tone::Warning)).into_iter().collect();
    if state::is_diagnosis(run) {
        rows.extend(state::rows(run));
        rows.extend(not_measured(run).map(row("not measured", Tone::Open)));
    } else if !has_nothing(run) {
        rows.extend((!claims.is_empty()).then(|| claims.join("; ")).map(row("claims", Tone::Plain)));
        rows.push(row("allocation unit", Tone::Plain)(geometry(run)));
        rows.extend(sequential(&run.findings.performance).map(row("sequential", Tone::Plain)));
        rows.extend(random(&run.findings.performance).map(row("random 4 KiB", Tone::Plain)));
        rows.extend(state::in_short(run).map(row("state", Tone::Plain)));
        rows.push(command(run));
        rows.extend(not_measured(run).map(row("not measured", Tone::Open)));
    }
    Card { title: title(run), rows }
}

/// What the report is about, in a few words: `SD card SD08G (simulated)`.
pub fn subject(run: &RunRecord) -> String {
    match &run.envelope.device {
        Some(device) if device.simulated => format!("{} {} (simulated)", kind_word(device.kind), device.name),
        Some(device) if run.envelope.subject() == device.name => {
            format!("{} {}", kind_word(device.kind), device.name)
        }
        Some(_) | None => run.envelope.subject().to_owned(),
    }
}

fn title(run: &RunRecord) -> String {
    let capacity = run.envelope.device.as_ref().map(|device| device.capacity).or(run.observations.capacity);
    let parts = [
        Some(subject(run)),
        capacity.map(|capacity| capacity.to_string()),
        answer::state_word(&run.observations.runs).map(str::to_owned),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Whether there is nothing to conclude anything from: a file without a table, a run that measured nothing.
pub fn has_nothing(run: &RunRecord) -> bool {
    run.observations.runs.is_empty()
}

/// The gravest of what weakens all the rest.
fn trouble(run: &RunRecord) -> Option<String> {
    let note = |kind: NoteKind| run.findings.notes.iter().find(|note| note.kind == kind).map(|note| note.text.clone());
    let grave = [
        NoteKind::NoTable,
        NoteKind::HostFile,
        NoteKind::NotGenuine,
        NoteKind::SeveralDevices,
        NoteKind::Contradiction,
        NoteKind::Changed,
    ];
    let cut = answer::cut_short(&run.envelope.stop);
    let failed: usize = run.observations.runs.iter().map(|run| run.failures.len()).sum();
    let failures =
        (failed > 0).then(|| format!("{failed} {} failed", if failed == 1 { "request" } else { "requests" }));
    let first = grave.into_iter().find_map(note).or(cut).or(failures)?;
    Some(answer::clause(&first).to_owned())
}

/// `4 MiB (99.9 %), page 16 KiB (98.5 %), open units 8 (98.8 %)`.
fn geometry(run: &RunRecord) -> String {
    let said = |finding| {
        let answer = answer(finding, &run.findings.geometry);
        let verdict = answer.verdict().replace("at least ", "≥ ").replace("at most ", "≤ ");
        match answer.confidence {
            Some(share) => format!("{verdict} ({})", percent(share)),
            None => verdict,
        }
    };
    let [unit, page, open] = [Finding::AllocationUnit, Finding::Page, Finding::OpenUnitsLinear].map(said);
    format!("{unit}, page {page}, open units {open}")
}

/// `read 36.1 MB/s, write 6.00 MB/s (1 MiB)`: the largest block of each.
fn sequential(cells: &[PerformanceCell]) -> Option<String> {
    let of = |direction| largest(cells, direction, Order::InOrder);
    let said = |word, cell: &PerformanceCell| format!("{word} {} ({})", cell.mean_rate, cell.block);
    both(of(Direction::Read).map(|cell| said("read", cell)), of(Direction::Write).map(|cell| said("write", cell)))
}

/// `read 5.33 MB/s (1301 IOPS), write 1.95 MB/s (476 IOPS)`.
fn random(cells: &[PerformanceCell]) -> Option<String> {
    let said = |word, direction| {
        let cell = random_4k(cells, direction)?;
        Some(format!("{word} {} ({} IOPS)", cell.mean_rate, crate::Cell::Iops(cell.iops)))
    };
    both(said("read", Direction::Read), said("write", Direction::Write))
}

fn both(read: Option<String>, written: Option<String>) -> Option<String> {
    let all: Vec<String> = [read, written].into_iter().flatten().collect();
    (!all.is_empty()).then(|| all.join(", "))
}

/// The first thing to type, or why there is none.
fn command(run: &RunRecord) -> Row {
    let mut commands = run.findings.advice.iter().filter_map(|advice| instruction(&advice.text).command);
    match commands.next() {
        Some(command) => Row { name: "to do", text: command.to_owned(), tone: Tone::Command },
        None => {
            let words = run.findings.advice.iter().find_map(|advice| instruction(&advice.text).words);
            let nothing = "nothing to type: no finding is sure enough to format by";
            Row { name: "to do", text: words.unwrap_or(nothing).to_owned(), tone: Tone::Plain }
        }
    }
}

/// What was not measured, and what would measure it.
fn not_measured(run: &RunRecord) -> Option<String> {
    let geometry = &run.findings.geometry;
    if run.envelope.kind == Kind::Infer {
        let speeds = run.findings.performance.is_empty().then(|| "speeds (run inspect on the device)".to_owned());
        return speeds;
    }
    let mut open: Vec<String> = Vec::new();
    let written = run.envelope.cost.as_ref().is_some_and(|cost| cost.written > Bytes::ZERO);
    if state::is_diagnosis(run) {
        return (!written).then(|| format!("what a few MiB of writes would tell ({})", grant(run)));
    }
    if !written {
        open.push(format!("all that needs writes ({})", grant(run)));
    } else {
        let left_open_note = run.findings.notes.iter().find(|note| note.kind == NoteKind::LeftOpen);
        let is_noted = left_open_note.is_some_and(|note| note.text.contains(Finding::SlcCache.label()));
        match geometry.slc_cache.bound() {
            Some(Bound::AtLeast(seen)) if !is_noted => {
                open.push(format!("SLC cache > {} ({})", seen.size, longer_writes(run, seen.size)));
            }
            _ if matches!(geometry.slc_cache.reason(), Some(Reason::NotMeasured | Reason::TooFew)) && !is_noted => {
                open.push(format!("SLC cache ({})", longer_writes(run, LEAST_BURST)));
            }
            _ => {}
        }
        open.extend(left_open_note.map(left_open));
        let classes = run.envelope.device.as_ref().is_some_and(|device| device.claims.speed_class.is_some());
        open.extend(classes.then(|| "class by its own rules (bench --preset sd-class)".to_owned()));
    }
    (!open.is_empty()).then(|| open.join("; "))
}

/// Writes shorter than this show no cache.
const LEAST_BURST: Bytes = Bytes::mib(32);

/// What would write more at a stretch than was written: a larger budget only where what is left of it is no more than that.
fn longer_writes(run: &RunRecord, seen: Bytes) -> String {
    let written = run.envelope.cost.as_ref().map_or(Bytes::ZERO, |cost| cost.written);
    if run.plan.budget.write.saturating_sub(written) <= seen {
        return "larger --max-write".to_owned();
    }
    let larger = Bytes((seen * 4).get().next_power_of_two());
    let room = run.envelope.device.as_ref().map_or(larger, |device| device.capacity / 4);
    format!("probe slc-cache --size {}M", larger.min(room) / Bytes::mib(1))
}

/// What the budget left open, in a few words: what, and the option that is enough.
fn left_open(note: &flashscope_model::finding::Note) -> String {
    let what = note.text.rsplit_once(": ").map_or(note.text.as_str(), |(_, what)| what);
    let count = what.split("; ").count();
    let what = if count > 2 { format!("{count} more questions, see the notes") } else { what.to_owned() };
    let option = note.hint.as_deref().and_then(|hint| hint.split_once(" is enough")).map(|(option, _)| option);
    format!("{what} ({})", option.unwrap_or("larger --max-write"))
}

/// What would allow a run to write to this device.
fn grant(run: &RunRecord) -> String {
    // It was allowed to, and nothing fitted.
    if run.plan.budget.write > Bytes::ZERO {
        return "larger --max-write".to_owned();
    }
    match &run.envelope.device {
        Some(device) if device.simulated => "leave out --read-only".to_owned(),
        Some(device) if device.kind == DeviceKind::File => "--allow-write destroys its content".to_owned(),
        Some(device) => match &device.identity {
            Some(identity) => format!("--destroy-data={} destroys its content", identity.0),
            None => "--destroy-data=IDENTITY destroys its content".to_owned(),
        },
        None => "--destroy-data=IDENTITY destroys its content".to_owned(),
    }
}
