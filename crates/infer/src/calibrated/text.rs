//! The table as text: a line for each count, `question,regime,score up to,answer,cases`; lines that begin with `#` are
//! remarks.

use super::{Bin, Table};
use crate::counts::{self, TableError};

impl Table {
    /// Reads what [`Table::to_text`] wrote.
    ///
    /// # Errors
    /// The first line that is no count, or whose scores do not rise within a regime.
    pub fn parse(text: &str) -> Result<Table, TableError> {
        let mut table = Table::default();
        counts::read(text, |line| table.take(line))?;
        Ok(table)
    }

    fn take(&mut self, line: &str) -> Option<()> {
        let [question, regime, up_to, answer, count] = line.split(',').collect::<Vec<&str>>().try_into().ok()?;
        let (up_to, count) = (up_to.parse::<f64>().ok().filter(|score| score.is_finite())?, count.parse().ok()?);
        let bins = self.regimes.entry((question.to_owned(), regime.to_owned())).or_default();
        if bins.last().is_none_or(|last| last.up_to < up_to) {
            bins.push(Bin { up_to, ..Bin::default() });
        }
        let bin = bins.last_mut().filter(|last| last.up_to == up_to)?;
        bin.counts.insert(answer.to_owned(), count).is_none().then_some(())
    }

    /// As a file, behind some remarks.
    pub fn to_text(&self, remarks: &str) -> String {
        let mut text = counts::remarks(remarks);
        for ((question, regime), bins) in &self.regimes {
            for bin in bins {
                for (answer, count) in &bin.counts {
                    text.push_str(&format!("{question},{regime},{},{answer},{count}\n", bin.up_to));
                }
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_count_is_refused_by_its_line() {
        assert!(Table::parse("# remark\n\norder,a,0.5,yes,3\norder,a,0.5,no,1\norder,a,1,yes,9\n").is_ok());
        let check = |text: &str, line: usize| counts::assert_refused(Table::parse(text), line);
        check("order,a,0.5,yes", 1);
        check("order,a,0.5,yes,3\norder,a,0.4,yes,3", 2);
        check("order,a,0.5,yes,3\norder,a,0.5,yes,3", 2);
        check("order,a,NaN,yes,3", 1);
        check("order,a,0.5,yes,-3", 1);
    }
}
