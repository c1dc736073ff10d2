//! A lab in words and tables: what is done, what is not and why, what disturbed what.

use crate::table::{Cell, Table};
use flashscope_model::lab::{LabRecord, LabRun, LabRunState, Neighbour};

/// What it is about.
pub fn title(record: &LabRecord) -> String {
    format!("Lab: {}", record.plan)
}

/// How many runs are in a state.
fn count(record: &LabRecord, state: LabRunState) -> usize {
    record.runs.iter().filter(|run| run.state == state).count()
}

/// The answer in a sentence.
pub fn answer(record: &LabRecord) -> String {
    let devices = record.devices.len();
    let mut parts = vec![format!(
        "{} of {} runs on {devices} {} are done",
        count(record, LabRunState::Done),
        record.runs.len(),
        if devices == 1 { "device" } else { "devices" }
    )];
    for (state, words) in [
        (LabRunState::Failed, "failed"),
        (LabRunState::Leased, "are under way"),
        (LabRunState::Waiting, "are left to do"),
        (LabRunState::Dropped, "were dropped"),
    ] {
        let found = count(record, state);
        if found > 0 {
            parts.push(format!("{found} {words}"));
        }
    }
    let limited = record.devices.iter().filter(|device| device.host_limited == Some(true)).count();
    if limited > 0 {
        parts.push(format!("{limited} devices are host-limited"));
    }
    parts.join(", ")
}

/// Runs, what devices share, and what the neighbour check says.
pub fn tables(record: &LabRecord) -> Vec<Table> {
    let text = |text: &str| Cell::Text(text.to_owned());
    let runs = record.runs.iter().map(|run| {
        vec![
            text(&run.device),
            text(&run.work),
            text(&state(run)),
            Cell::Count(u64::from(run.failures)),
            run.time.map_or(Cell::Absent, Cell::Time),
            run.record.as_deref().map_or(Cell::Absent, text),
        ]
    });
    let shared = record.shared.iter().map(|part| vec![text(&part.name), text(&part.devices.join(", "))]);
    let neighbours = record.neighbours.iter().map(|one| {
        let verdict = if one.undisturbed { "undisturbed" } else { "host-limited" };
        vec![text(&one.device), text(&one.figure), text(&ratio(one)), text(verdict)]
    });
    [
        table("Runs", &["device", "work", "state", "failures", "time", "record"], runs.collect()),
        table("Shared parts: timed runs take turns there", &["part", "devices"], shared.collect()),
        table("Beside all others, over alone", &["device", "figure", "ratio", "verdict"], neighbours.collect()),
    ]
    .into_iter()
    .filter(|table| !table.rows.is_empty())
    .collect()
}

fn table(caption: &str, columns: &[&str], rows: Vec<Vec<Cell>>) -> Table {
    Table { caption: caption.to_owned(), columns: columns.iter().map(|name| (*name).to_owned()).collect(), rows }
}

/// Its state, and what is to be known of a result.
pub fn state(run: &LabRun) -> String {
    let word = word(run.state);
    if run.host_limited { format!("{word}, host-limited") } else { word.to_owned() }
}

/// A state in a word.
pub fn word(state: LabRunState) -> &'static str {
    match state {
        LabRunState::Waiting => "to do",
        LabRunState::Leased => "under way",
        LabRunState::Done => "done",
        LabRunState::Failed => "failed",
        LabRunState::Dropped => "dropped",
    }
}

fn ratio(one: &Neighbour) -> String {
    match (one.ratio, one.ratio_low, one.ratio_high) {
        (Some(ratio), Some(low), Some(high)) => format!("{ratio:.3} ({low:.3} to {high:.3})"),
        (Some(ratio), ..) => format!("{ratio:.3}"),
        _ => "too few rounds".to_owned(),
    }
}

/// Why runs failed or are not done, and what else must be known.
pub fn notes(record: &LabRecord) -> Vec<String> {
    let why = record
        .runs
        .iter()
        .filter(|run| run.state != LabRunState::Done)
        .filter_map(|run| run.why.as_ref().map(|why| format!("{} on {}: {why}", run.work, run.device)));
    why.chain(record.notes.iter().cloned()).collect()
}
