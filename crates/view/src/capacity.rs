//! A test of the capacity in words: the verdict first, then what it rests on.

mod full;

use full::{bad, speed};

use crate::answer::{self, percent};
use crate::table::{Cell, Table};
use flashscope_model::DeviceKind;
use flashscope_model::capacity::{Between, CapacityRecord, Found, Genuineness, Quick};
use flashscope_units::Bytes;

/// One line of the first glance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// What it says.
    pub name: &'static str,
    /// The figure.
    pub text: String,
}

/// Whose capacity was tested.
pub fn title(record: &CapacityRecord) -> String {
    let name = record.envelope.subject();
    let target = &record.envelope.target;
    let whose = if name == target { name.to_owned() } else { format!("{name}   {target}") };
    match record.files() {
        Some(full) => format!("{whose}   {} of files", full.claimed),
        None => format!("{whose}   says {}", record.claimed()),
    }
}

/// The verdict in a line.
pub fn headline(record: &CapacityRecord) -> String {
    if let Some(full) = record.files() {
        let (bad, all) = (full.bad_bytes(), full.claimed);
        return match record.is_sound() {
            true => format!("keeps what is written: all {all} of the files came back"),
            false if bad > Bytes::ZERO => format!("LOST: {bad} of {all} did not come back as written"),
            false => format!("cannot tell: not all of {all} was read back"),
        };
    }
    let verdict = &record.verdict;
    let likely = verdict.likely.first();
    let Some((kind, share)) = verdict.kind.and_then(|kind| Some((kind, likely?.1))) else {
        return match likely {
            Some((kind, share)) => format!("cannot tell (leaning to {}, {})", kind.name(), percent(*share)),
            None => "cannot tell: nothing was read back".to_owned(),
        };
    };
    let sure = percent(share);
    match kind {
        Genuineness::Genuine => format!("genuine ({sure}): what was written all over the device came back"),
        Genuineness::WrapAround => format!("FAKE, wrap-around ({sure}): addresses begin anew, later writes overwrite"),
        Genuineness::Limbo => format!("FAKE, limbo ({sure}): what is written beyond the true size is gone"),
        Genuineness::Chain => format!("FAKE, chain ({sure}): stretches that are there and that are not alternate"),
        Genuineness::Damaged => format!("DAMAGED ({sure}): places all over it do not keep what is written"),
    }
}

/// The figures of the first glance.
pub fn glance(record: &CapacityRecord) -> Vec<Line> {
    let verdict = &record.verdict;
    let line = |name, text: String| Line { name, text };
    let mut lines = Vec::new();
    if let Some(size) = verdict.true_size {
        let sure = verdict.size_confidence.map_or_else(String::new, |share| format!(" ({})", percent(share)));
        let size = match verdict.kind {
            Some(Genuineness::Genuine | Genuineness::Damaged) => format!("{} as it says", size.low),
            _ => format!("{} of {}", between(size), record.claimed()),
        };
        lines.push(line("true size", format!("{size}{sure}")));
    }
    if let Some(wrap) = verdict.wrap {
        lines.push(line("begins anew at", exact(wrap)));
    }
    if let Some(damaged) = verdict.damaged {
        let ends = format!("{} to {}", percent(damaged.low), percent(damaged.high));
        lines.push(line("damaged", format!("{} of places ({ends})", percent(damaged.share))));
    }
    let others: Vec<String> = verdict
        .likely
        .iter()
        .filter(|(kind, share)| Some(*kind) != verdict.kind && *share >= WORTH_A_WORD)
        .map(|(kind, share)| format!("{} ({})", kind.name(), percent(*share)))
        .collect();
    if !others.is_empty() {
        lines.push(line("or else", others.join(", ")));
    }
    lines.extend(record.full.iter().flat_map(full::glance));
    if let Some(cost) = &record.envelope.cost {
        lines.push(line("cost", format!("{} written, {} read in {}", cost.written, cost.read, cost.time)));
    }
    if let Some(command) = command(record) {
        lines.push(line("keep the good part", command));
    }
    lines
}

/// Less likely alternatives are in the record only.
const WORTH_A_WORD: f64 = 0.005;

/// The command that makes a partition of the part that is there, where there is such a part of a device.
fn command(record: &CapacityRecord) -> Option<String> {
    /// Partitions begin and end at whole ones of these.
    const UNIT: Bytes = Bytes::mib(1);
    let size = record.verdict.true_size.filter(|_| record.is_bad() && record.verdict.damaged.is_none())?;
    let device = record.envelope.device.as_ref()?;
    let good = size.low.align_down(UNIT).get() / UNIT.get();
    let is_disk = !device.simulated && device.kind != DeviceKind::File;
    (is_disk && good > 1).then(|| {
        let target = &record.envelope.target;
        format!("sudo parted --script {target} mklabel msdos mkpart primary 1MiB {good}MiB")
    })
}

fn between(size: Between) -> String {
    if size.is_exact() { exact(size.low) } else { format!("{} to {}", size.low, size.high) }
}

/// A size to the byte, as its last block is what was looked for.
fn exact(size: Bytes) -> String {
    format!("{size} ({} bytes)", size.get())
}

/// Sections of sentences below the first glance.
pub fn sections(record: &CapacityRecord) -> Vec<(&'static str, &[String])> {
    let verdict = &record.verdict;
    [("Evidence", &verdict.evidence), ("Excluded", &verdict.excluded), ("Not excluded", &verdict.open)]
        .into_iter()
        .filter(|(_, said)| !said.is_empty())
        .map(|(name, said)| (name, said.as_slice()))
        .collect()
}

/// Why it was cut short, if it was.
pub fn cut_short(record: &CapacityRecord) -> Option<String> {
    answer::cut_short(&record.envelope.stop)
}

/// The figures behind the verdict: what came back of the places of a quick test; speed over address and what is not as written
/// of a full one.
pub fn tables(record: &CapacityRecord) -> Vec<Table> {
    let quick = record.quick.iter().map(map);
    let full = record.full.iter().flat_map(|full| [Some(speed(full)), bad(full)].into_iter().flatten());
    quick.chain(full).collect()
}

/// What came back of the places, in stretches of like ones by address.
fn map(quick: &Quick) -> Table {
    let mut rows: Vec<(Bytes, Bytes, u64, Found)> = Vec::new();
    let alike = |one: Found, other: Found| {
        one == other
            || matches!((one, other), (Found::Elsewhere(_), Found::Elsewhere(_)))
            || (one.is_lost() && other.is_lost())
    };
    for place in &quick.places {
        match rows.last_mut().filter(|(.., found)| alike(*found, place.found)) {
            Some((_, last, count, _)) => (*last, *count) = (place.at, *count + 1),
            None => rows.push((place.at, place.at, 1, place.found)),
        }
    }
    let row = |(first, last, count, found): (Bytes, Bytes, u64, Found)| {
        vec![Cell::Size(first), Cell::Size(last), Cell::Count(count), Cell::Text(word(found).to_owned())]
    };
    Table {
        caption: format!("What came back of {} blocks all over the device", quick.places.len()),
        columns: ["from", "to", "blocks", "found"].map(str::to_owned).into(),
        rows: rows.into_iter().map(row).collect(),
    }
}

/// What stood at a place, in words.
pub fn word(found: Found) -> &'static str {
    match found {
        Found::Kept => "as written",
        Found::Elsewhere(_) => "written to another address",
        Found::Uniform(_) => "one byte throughout",
        Found::Other => "something else",
        Found::WriteFailed => "write failed",
        Found::ReadFailed => "read failed",
    }
}
