//! The verdict of a full test explained: what was written and read, what that excludes and what not.

use super::shape::FullShape;
use crate::capacity::MOST_FAILED;
use flashscope_model::capacity::{Between, Full, Genuineness, PassOrder};
use flashscope_units::Bytes;

/// What was written, what came back, and what follows.
pub(super) fn evidence(full: &Full, shape: &FullShape) -> Vec<String> {
    let order = match full.order {
        PassOrder::Sequential => "in order of address",
        PassOrder::Shuffled => "in shuffled parts",
    };
    let again = match full.pushed {
        Bytes::ZERO => String::new(),
        pushed => format!(", then the first {pushed} of it once more"),
    };
    let mut said = vec![format!("written: {} of {} {order}{again}", full.written, full.claimed)];
    said.push(format!("read back: {}", came_back(full)));
    if let Some(period) = shape.period {
        said.push(format!(
            "what stands elsewhere than where it was written stands {} bytes from there, or a multiple of that",
            period.get()
        ));
    }
    match shape.size {
        Some(Between { low, high }) if low < high => {
            said.push(format!("between {} and {} requests failed, so that the edge lies there", low.get(), high.get()));
        }
        Some(Between { low, .. }) if low < full.claimed => {
            said.push(format!("the block before byte {} keeps what is written, the one behind it does not", low.get()));
        }
        _ => {}
    }
    if let Some(tail) = shape.tail {
        said.push(format!("the last {} keep what is written, as a fake does that hides", full.claimed - tail));
    }
    said
}

/// What came of files, and what they do not tell.
pub(super) fn of_files(full: &Full) -> (Vec<String>, Vec<String>) {
    let mut said = vec![match full.written {
        Bytes::ZERO => format!("nothing was written: files of {} were there", full.claimed),
        written => format!("written: {written} of {}", full.claimed),
    }];
    said.push(format!("read back: {}", came_back(full)));
    if full.totals.elsewhere > Bytes::ZERO {
        said.push(
            "where other data of the test stand, later writes overwrote earlier ones: wrap-around or chain".to_owned(),
        );
    }
    if full.totals.changed > Bytes::ZERO {
        said.push("where what was written is gone, there is no flash behind the address, or it is damaged".to_owned());
    }
    let mut open = vec!["what other files and the tables of the file system lie on was not tested".to_owned()];
    if full.bad_bytes() > Bytes::ZERO {
        open.push(
            "the kind of fake and its true size: flashscope capacity DEVICE, which destroys what is on it".to_owned(),
        );
    }
    (said, open)
}

fn came_back(full: &Full) -> String {
    let totals = full.totals;
    let parts = [
        (totals.kept, "as written"),
        (totals.changed, "with what was written gone"),
        (totals.elsewhere, "with what was written to another address"),
        (totals.unwritten, "not at all: the write failed"),
        (totals.unreadable, "not at all: the read failed"),
    ];
    let said: Vec<String> = parts
        .iter()
        .filter(|(size, what)| *size > Bytes::ZERO || *what == "as written")
        .map(|(size, what)| format!("{size} {what}"))
        .collect();
    said.join(", ")
}

/// Fakes that are excluded, and those that are not.
pub(super) fn exclusions(full: &Full, shape: &FullShape) -> (Vec<String>, Vec<String>) {
    let (mut excluded, mut open) = (Vec::new(), Vec::new());
    if !full.is_whole() {
        let read = full.totals.kept + full.bad_bytes();
        open.push(format!(
            "{} of {} were not read back, so that nothing is claimed",
            full.claimed - read,
            full.claimed
        ));
    } else if shape.kind == Some(Genuineness::Genuine) {
        excluded.push("fakes and damage of every kind and size: every block was read as it was written".to_owned());
    }
    let by_size = matches!(shape.kind, Some(Genuineness::Genuine | Genuineness::Limbo | Genuineness::Chain));
    if full.is_whole() && full.directory.is_none() && by_size {
        // Half of it before the one part is read, half before the other.
        let excluded = full.pushed / 2;
        open.push(format!("a cache of more than {excluded} could answer for as much of what was written last"));
    }
    let failed = full.totals.unwritten + full.totals.unreadable;
    if failed.as_f64() > MOST_FAILED * (shape.answered + failed).as_f64() {
        open.push(format!("requests for {failed} failed, so that nothing is claimed"));
    }
    (excluded, open)
}
