//! How much the experiments of a question still settle, counted on simulated devices whose inside is known.
//!
//! A row holds, for a question of which so many experiments are done, on how many devices that was so, how many more
//! experiments they took, and how many findings that were not right before were right behind them. No figure is set by
//! hand; the file's first lines name the command that makes it.

use crate::Want;
use crate::counts::{self, TableError};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::OnceLock;

/// Experiments of a question that are done, at the start of each row.
pub const STEPS: [u32; 7] = [0, 1, 2, 4, 8, 16, 32];

/// What was counted of a question after so many experiments.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counted {
    /// Times that it was seen so.
    pub cases: u32,
    /// Experiments that still came, all cases together.
    pub left: u32,
    /// Findings that became right: of how a device is built, of what advice rests on, of all.
    pub settled: [u32; 3],
}

/// Rows by question and experiments done.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table(BTreeMap<(String, u32), Counted>);

/// What going on with a question is expected to bring, and to take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Expected {
    /// Findings that become right.
    pub(crate) settled: f64,
    /// Experiments until then.
    pub(crate) left: f64,
}

/// The speeds are no findings: a question that is wanted and settles none counts as this much of one.
const A_SPEED: f64 = 0.1;

/// The table that goes with this version.
///
/// # Panics
/// Where the file in the repository is damaged, which a test looks at.
pub(crate) fn shipped() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| Table::parse(include_str!("table.csv")).expect("the table in the repository is well-formed"))
}

impl Table {
    /// Adds a case.
    pub fn add(&mut self, question: &str, done: u32, left: u32, settled: [u32; 3]) {
        let counted = self.0.entry((question.to_owned(), step(done))).or_default();
        counted.cases += 1;
        counted.left += left;
        for (sum, one) in counted.settled.iter_mut().zip(settled) {
            *sum += one;
        }
    }

    /// What is expected of a question of which so many experiments are done. One that was never seen so is expected to need
    /// one more and to settle little.
    pub(crate) fn expected(&self, question: &str, done: u32, want: Want) -> Expected {
        let at = (0..=step(done)).rev().find_map(|from| self.0.get(&(question.to_owned(), from)));
        let Some(found) = at.filter(|found| found.cases > 0) else { return Expected { settled: A_SPEED, left: 1.0 } };
        let cases = f64::from(found.cases);
        let settled = f64::from(found.settled[want as usize]) / cases;
        let settled = if want == Want::All { settled.max(A_SPEED) } else { settled };
        Expected { settled, left: (f64::from(found.left) / cases).max(1.0) }
    }

    fn parse(text: &str) -> Result<Table, TableError> {
        let mut table = Table::default();
        counts::read(text, |line| table.take(line))?;
        Ok(table)
    }

    fn take(&mut self, line: &str) -> Option<()> {
        let (question, figures) = line.split_once(',')?;
        let figures: Vec<u32> = figures.split(',').map(str::parse).collect::<Result<_, _>>().ok()?;
        let [done, cases, left, geometry, advice, all] = figures.try_into().ok()?;
        self.0.insert((question.to_owned(), done), Counted { cases, left, settled: [geometry, advice, all] });
        Some(())
    }

    /// The text of the file, with these remarks before it.
    pub fn to_text(&self, remarks: &str) -> String {
        let mut text = counts::remarks(remarks);
        for ((question, done), Counted { cases, left, settled: [geometry, advice, all] }) in &self.0 {
            let _ = writeln!(text, "{question},{done},{cases},{left},{geometry},{advice},{all}");
        }
        text
    }
}

/// The row that so many experiments belong to.
fn step(done: u32) -> u32 {
    STEPS.into_iter().rev().find(|from| *from <= done).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choose::SUBJECTS;

    #[test]
    fn the_table_in_the_repository_knows_the_questions() {
        let table = shipped();
        for key in table.0.keys() {
            assert!(SUBJECTS.iter().any(|subject| subject.key == key.0), "{key:?}");
        }
        assert!(table.0.len() > 20, "{}", table.0.len());
    }

    #[test]
    fn a_text_is_read_as_it_was_written() {
        let mut table = Table::default();
        table.add("floor", 0, 1, [0, 0, 0]);
        table.add("boundaries", 5, 3, [2, 1, 3]);
        assert_eq!(Table::parse(&table.to_text("how")), Ok(table));
        counts::assert_refused(Table::parse("# how\nfloor,0,1,0,0\n"), 2);
    }

    #[test]
    fn what_is_expected_is_the_mean_of_the_cases() {
        let mut table = Table::default();
        table.add("area", 0, 3, [1, 1, 1]);
        table.add("area", 0, 5, [2, 0, 2]);
        assert_eq!(table.expected("area", 0, Want::Geometry), Expected { settled: 1.5, left: 4.0 });
        assert_eq!(table.expected("area", 9, Want::Advice), Expected { settled: 0.5, left: 4.0 });
        assert_eq!(table.expected("unseen", 0, Want::All), Expected { settled: A_SPEED, left: 1.0 });
    }
}
