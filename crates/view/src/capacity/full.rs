//! What a full test saw, in words and tables.

use super::{Line, exact, word};
use crate::table::{Cell, Table};
use flashscope_model::capacity::{self, Found, Full, PassOrder, Totals};
use flashscope_units::{ByteRate, Bytes, Nanos};

/// Rows of speed over address: more are for a plot.
const SPEEDS: usize = 16;
/// Stretches that are shown; all that were kept are in the record.
const SHOWN: usize = 64;

/// The lines of the first glance.
pub(super) fn glance(full: &Full) -> Vec<Line> {
    let line = |name, text: String| Line { name, text };
    let order = match full.order {
        PassOrder::Sequential => "in order",
        PassOrder::Shuffled => "shuffled",
    };
    let mut lines = Vec::new();
    if let Some(directory) = &full.directory {
        lines.push(line("files", format!("{} in {}", directory.files, directory.path)));
    }
    let sessions = if full.sessions > 1 { format!(", in {} sessions", full.sessions) } else { String::new() };
    let (written, read) = (full.written, full.verified);
    lines.push(line("tested", format!("{written} written, {read} read back of {}, {order}{sessions}", full.claimed)));
    if full.bad_bytes() > Bytes::ZERO {
        lines.push(line("not as written", totals(&full.totals)));
    }
    lines.extend(full.first_bad.map(|at| line("first bad address", exact(at))));
    lines.extend(rates(full, capacity::Cell::write_rate).map(|text| line("write speed", text)));
    lines.extend(rates(full, capacity::Cell::read_rate).map(|text| line("read speed", text)));
    if let Some(hashes) = &full.hashes {
        let read = hashes.read.as_deref().unwrap_or("not all could be read");
        let alike = if hashes.read.as_ref() == Some(&hashes.written) { "the same" } else { "DIFFERENT" };
        lines.push(line("hash written", format!("{} {}", hashes.algorithm.word(), hashes.written)));
        lines.push(line("hash read", format!("{} {read}: {alike}", hashes.algorithm.word())));
    }
    lines
}

/// What came back otherwise, the kinds that there were.
fn totals(totals: &Totals) -> String {
    let kinds = [
        (totals.changed, "changed"),
        (totals.elsewhere, "written to another address"),
        (totals.unwritten, "could not be written"),
        (totals.unreadable, "could not be read"),
    ];
    let said: Vec<String> =
        kinds.iter().filter(|(size, _)| *size > Bytes::ZERO).map(|(size, what)| format!("{size} {what}")).collect();
    said.join(", ")
}

/// The mean speed, and those of the slowest and the fastest part.
fn rates(full: &Full, rate: fn(&capacity::Cell) -> Option<ByteRate>) -> Option<String> {
    let rates: Vec<(Bytes, ByteRate)> = full.cells.iter().filter_map(|cell| Some((cell.length, rate(cell)?))).collect();
    let time: Nanos = rates.iter().map(|(length, rate)| rate.time_for(*length)).sum();
    let mean = ByteRate::of(rates.iter().map(|(length, _)| *length).sum(), time)?;
    let by_rate = |one: &ByteRate, other: &ByteRate| one.get().total_cmp(&other.get());
    let slowest = rates.iter().map(|(_, rate)| *rate).min_by(by_rate)?;
    let fastest = rates.iter().map(|(_, rate)| *rate).max_by(by_rate)?;
    Some(format!("{mean} ({slowest} to {fastest} over address)"))
}

/// Speed over address, in so few parts that they can be read.
pub(super) fn speed(full: &Full) -> Table {
    let together = full.cells.len().div_ceil(SPEEDS).max(1);
    let row = |cells: &[capacity::Cell]| {
        let sum = |pick: fn(&capacity::Cell) -> Bytes| cells.iter().map(pick).sum::<Bytes>();
        let length = sum(|cell| cell.length);
        let rate = |time: fn(&capacity::Cell) -> Option<Nanos>| {
            let all: Option<Vec<Nanos>> = cells.iter().map(time).collect();
            let rate = ByteRate::of(length, all?.into_iter().sum());
            rate.map(Cell::Rate)
        };
        let start = cells.first().map_or(Bytes::ZERO, |cell| cell.at);
        vec![
            Cell::Size(start),
            Cell::Size(start + length),
            rate(|cell| cell.write_time).unwrap_or(Cell::Absent),
            rate(|cell| cell.read_time).unwrap_or(Cell::Absent),
            Cell::Size(sum(|cell| cell.bad)),
        ]
    };
    Table {
        caption: "Speed over address".to_owned(),
        columns: ["from", "to", "write", "read", "not as written"].map(str::to_owned).into(),
        rows: full.cells.chunks(together).map(row).collect(),
    }
}

/// What is not as written, by address; `None` where all is.
pub(super) fn bad(full: &Full) -> Option<Table> {
    let left_out = full.bad_left_out + full.bad.len().saturating_sub(SHOWN) as u64;
    let more = if left_out > 0 { format!(", {left_out} stretches left out") } else { String::new() };
    let row = |run: &capacity::Run| {
        let from = match run.found {
            Found::Elsewhere(from) => Cell::Size(from),
            _ => Cell::Absent,
        };
        vec![Cell::Size(run.at), Cell::Size(run.length), Cell::Text(word(run.found).to_owned()), from]
    };
    (!full.bad.is_empty()).then(|| Table {
        caption: format!("Not as written, by address{more}"),
        columns: ["at", "length", "found", "written to"].map(str::to_owned).into(),
        rows: full.bad.iter().take(SHOWN).map(row).collect(),
    })
}
