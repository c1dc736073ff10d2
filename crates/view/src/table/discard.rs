//! What discards showed, by size.

use super::{Cell, Table, heads};
use crate::time;
use flashscope_model::discard::{DiscardData, DiscardTrial};
use flashscope_units::{Bytes, Nanos};

pub(super) fn discard(data: &DiscardData) -> Table {
    let mut sizes: Vec<Bytes> = data.trials.iter().map(|trial| trial.size).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let rows = sizes.into_iter().map(|size| {
        let trials: Vec<&DiscardTrial> = data.trials.iter().filter(|trial| trial.size == size).collect();
        let median = |pick: fn(&DiscardTrial) -> Nanos| {
            let times: Vec<Nanos> = trials.iter().map(|trial| pick(trial)).collect();
            time::summary(&times).map_or(Cell::Absent, |summary| Cell::Time(summary.median))
        };
        let uniform: Vec<String> =
            trials.iter().map(|trial| trial.uniform.map_or("kept".to_owned(), |byte| format!("{byte:#04x}"))).collect();
        vec![
            Cell::Size(size),
            median(|trial| trial.time),
            Cell::Text(uniform.join(", ")),
            median(|trial| trial.read),
            median(|trial| trial.read_behind),
        ]
    });
    Table {
        caption: format!("discards of what was just written, reads of {}", data.block),
        columns: heads(&["discard", "takes", "then reads as", "read of it", "read of data"]),
        rows: rows.collect(),
    }
}
