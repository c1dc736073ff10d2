//! Rows of a database: what was committed, and what is there after a cut.
//!
//! The word of a database: a transaction that was committed is there, one that was not is not, and none is there in part. The one whose
//! commit was under way is there or not.

use super::step::{Found, FoundRow, Step};
use crate::sequence::one_of;
use flashscope_model::integrity::{UpperKind, UpperLoss};
use flashscope_stats::Rng;
use std::collections::BTreeMap;

/// Rows that there are: few enough that transactions meet again.
const ROWS: usize = 64;
/// Rows that a transaction writes, at most.
const MOST_ROWS: usize = 8;
/// Bytes of rows, with their shares of 20: within a page, and over several.
const SIZES: [(usize, u32); 4] = [(8, 64), (6, 512), (4, 2048), (2, 16384)];

/// The rows as they were committed: of which transaction each is, and its bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    rows: BTreeMap<u32, (u32, u32)>,
    under_way: Option<Step>,
}

impl Rows {
    /// The next transaction.
    pub(crate) fn draw(&mut self, rng: &mut Rng, transaction: u32) -> Step {
        Step::Commit { transaction, rows: rows(rng) }
    }

    /// A transaction that stays open.
    pub(crate) fn draw_open(&mut self, rng: &mut Rng, transaction: u32) -> Step {
        Step::Begin { transaction, rows: rows(rng) }
    }

    pub(crate) fn begin(&mut self, step: &Step) {
        self.under_way = Some(step.clone());
    }

    pub(crate) fn under_way(&self) -> Option<&Step> {
        self.under_way.as_ref()
    }

    /// The step that was begun is done; a transaction that was opened stays under way.
    pub(crate) fn acknowledge(&mut self) {
        if let Some(Step::Commit { transaction, rows }) = &self.under_way {
            self.rows = applied(&self.rows, *transaction, rows);
            self.under_way = None;
        }
    }

    /// Holds what is there against what was committed.
    pub(crate) fn judge(&self, found: &Found) -> Vec<UpperLoss> {
        let there: BTreeMap<u32, FoundRow> = found.rows.iter().map(|row| (row.row, *row)).collect();
        let before = differing(&self.rows, &there);
        let after = match &self.under_way {
            Some(Step::Commit { transaction, rows }) => {
                Some(differing(&applied(&self.rows, *transaction, rows), &there))
            }
            _ => None,
        };
        if before.is_empty() || after.as_ref().is_some_and(Vec::is_empty) {
            return Vec::new();
        }
        // Of a transaction that was not committed nothing may be there, or all of it where its commit was under way.
        let open = match &self.under_way {
            Some(Step::Commit { transaction, .. } | Step::Begin { transaction, .. }) => Some(*transaction),
            _ => None,
        };
        before.into_iter().map(|(row, due, is)| told(row, due, is, open)).collect()
    }

    /// From now on what is there is what was committed.
    pub(crate) fn settle(&mut self, found: &Found) {
        self.under_way = None;
        self.rows = found.rows.iter().map(|row| (row.row, (row.transaction, row.length))).collect();
    }
}

fn rows(rng: &mut Rng) -> Vec<(u32, u32)> {
    let mut rows = BTreeMap::new();
    for _ in 0..=rng.below(MOST_ROWS) {
        rows.insert(rng.below(ROWS) as u32 + 1, one_of(rng, &SIZES));
    }
    rows.into_iter().collect()
}

fn applied(rows: &BTreeMap<u32, (u32, u32)>, transaction: u32, changed: &[(u32, u32)]) -> BTreeMap<u32, (u32, u32)> {
    let mut rows = rows.clone();
    rows.extend(changed.iter().map(|(row, length)| (*row, (transaction, *length))));
    rows
}

/// A row that is not as it should be: its number, the transaction and the bytes that are due, and what is there.
type Difference = (u32, Option<(u32, u32)>, Option<FoundRow>);

/// The rows that are not as they should be.
fn differing(due: &BTreeMap<u32, (u32, u32)>, there: &BTreeMap<u32, FoundRow>) -> Vec<Difference> {
    let is_right = |due: Option<(u32, u32)>, is: Option<FoundRow>| match (due, is) {
        (None, None) => true,
        (Some(due), Some(is)) => is.whole && due == (is.transaction, is.length),
        _ => false,
    };
    let mut all: Vec<u32> = due.keys().chain(there.keys()).copied().collect();
    all.sort_unstable();
    all.dedup();
    let pairs = all.into_iter().map(|row| (row, due.get(&row).copied(), there.get(&row).copied()));
    pairs.filter(|(_, due, is)| !is_right(*due, *is)).collect()
}

fn told(row: u32, due: Option<(u32, u32)>, is: Option<FoundRow>, open: Option<u32>) -> UpperLoss {
    let kind = match (due, is) {
        (_, Some(is)) if !is.whole => UpperKind::ForeignData,
        (_, Some(is)) if Some(is.transaction) == open => UpperKind::HalfTransaction,
        _ => UpperKind::LostCommit,
    };
    let due = due.map_or("nothing".to_owned(), |(transaction, _)| format!("transaction {transaction}"));
    let is = is.map_or("nothing".to_owned(), |is| format!("transaction {}", is.transaction));
    UpperLoss { kind, name: format!("row {row}"), what: format!("due: {due}; found: {is}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(rows: &[(u32, u32)]) -> Found {
        let row = |(row, transaction): &(u32, u32)| FoundRow {
            row: *row,
            transaction: *transaction,
            length: 64,
            whole: true,
        };
        Found { rows: rows.iter().map(row).collect(), ..Found::default() }
    }

    fn kinds(rows: &Rows, there: &[(u32, u32)]) -> Vec<UpperKind> {
        rows.judge(&found(there)).into_iter().map(|loss| loss.kind).collect()
    }

    #[test]
    fn a_transaction_is_there_whole_or_not_at_all() {
        use UpperKind::{HalfTransaction, LostCommit};
        let mut rows = Rows::default();
        rows.begin(&"commit 1 1:64 2:64".parse().expect("a step"));
        rows.acknowledge();
        assert_eq!(kinds(&rows, &[(1, 1), (2, 1)]), []);
        assert_eq!(kinds(&rows, &[(1, 1)]), [LostCommit]);
        rows.begin(&"commit 2 2:64 3:64".parse().expect("a step"));
        assert_eq!(kinds(&rows, &[(1, 1), (2, 1)]), [], "its commit was under way");
        assert_eq!(kinds(&rows, &[(1, 1), (2, 2), (3, 2)]), []);
        assert_eq!(kinds(&rows, &[(1, 1), (2, 2)]), [HalfTransaction]);
        rows.acknowledge();
        assert_eq!(kinds(&rows, &[(1, 1), (2, 1)]), [LostCommit, LostCommit]);
        rows.begin(&"begin 3 1:64".parse().expect("a step"));
        rows.acknowledge();
        assert_eq!(kinds(&rows, &[(1, 1), (2, 2), (3, 2)]), []);
        assert_eq!(kinds(&rows, &[(1, 3), (2, 2), (3, 2)]), [HalfTransaction], "it was never committed");
        let mut torn = found(&[(1, 1), (2, 2), (3, 2)]);
        torn.rows[0].whole = false;
        assert_eq!(rows.judge(&torn)[0].kind, UpperKind::ForeignData);
    }
}
