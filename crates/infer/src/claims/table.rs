//! The counts that probabilities are made from, and how they are kept in a file.
//!
//! A line for each finding and its grounds: `finding,grounds,end of a range:right/wrong …`; and for each finding one more,
//! `finding,=,cases`: how many cases the counts of coarser grounds stand for. Lines that begin with `#` are remarks.

use super::Claim;
use crate::counts::{self, TableError};
use std::collections::BTreeMap;

/// Right and wrong claims, by finding, grounds and range of scores.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// By finding and grounds: right and wrong ones, by the number of the range.
    counts: BTreeMap<(String, String), BTreeMap<usize, (u32, u32)>>,
    /// By finding.
    strength: BTreeMap<String, u32>,
}

/// Ends of the ranges in which scores are counted: odds of one to one, e to one, e² to one …
const RANGES: [f64; 10] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 12.0, f64::INFINITY];

/// What the name of the finest grounds ends with.
const ONLY: &str = " only";

/// Cases of one kind, and of the coarser ones that they belong to.
pub(super) struct Cases {
    /// The score of such a claim.
    pub(super) score: f64,
    /// Right and wrong ones, from the coarsest grounds to the finest.
    pub(super) levels: Vec<[f64; 2]>,
}

/// The grounds under which the strength of a finding stands in a file.
const STRENGTH: &str = "=";

impl Table {
    /// Counts a claim under all of its grounds.
    pub(super) fn add(&mut self, claim: &Claim, is_right: bool) {
        for grounds in claim.grounds.coarse_to_fine() {
            let ranges = self.counts.entry((claim.finding.wire().to_owned(), grounds)).or_default();
            let (right, wrong) = ranges.entry(range(claim)).or_default();
            *(if is_right { right } else { wrong }) += 1;
        }
    }

    /// Takes for each finding the strength that makes its cases likeliest.
    pub(super) fn fit(&mut self, strengths: &[u32], likelihood: impl Fn(&Cases, u32) -> f64) {
        let findings: Vec<String> = self.counts.keys().map(|(finding, _)| finding.clone()).collect();
        for finding in findings {
            if self.strength.contains_key(&finding) {
                continue;
            }
            let cases = self.cases(&finding);
            let all = |strength: u32| cases.iter().map(|cases| likelihood(cases, strength)).sum::<f64>();
            let likelihoods = strengths.iter().map(|strength| (*strength, all(*strength)));
            if let Some((best, _)) = likelihoods.max_by(|a, b| a.1.total_cmp(&b.1)) {
                self.strength.insert(finding, best);
            }
        }
    }

    /// All cases on a finding, by their finest grounds and ranges of scores.
    fn cases(&self, finding: &str) -> Vec<Cases> {
        let of_it = self.counts.range((finding.to_owned(), String::new())..).take_while(|((of, _), _)| of == finding);
        let finest = of_it.filter_map(|((_, grounds), ranges)| Some((grounds.strip_suffix(ONLY)?, ranges)));
        let cases = finest.flat_map(|(grounds, ranges)| {
            ranges.keys().map(|range| {
                let levels =
                    levels_of(grounds).iter().filter_map(|grounds| self.at(finding, grounds, *range)).collect();
                Cases { score: middle(*range), levels }
            })
        });
        cases.collect()
    }

    fn at(&self, finding: &str, grounds: &str, range: usize) -> Option<[f64; 2]> {
        let ranges = self.counts.get(&(finding.to_owned(), grounds.to_owned()))?;
        let (right, wrong) = ranges.get(&range).copied().unwrap_or_default();
        Some([f64::from(right), f64::from(wrong)])
    }

    /// How many cases the counts of coarser grounds stand for; `None` of a finding that was never counted.
    pub(super) fn strength(&self, claim: &Claim) -> Option<f64> {
        self.strength.get(claim.finding.wire()).copied().map(f64::from)
    }

    /// Right and wrong ones of the same range of scores, on grounds from the coarsest to the finest of which there are any.
    pub(super) fn levels(&self, claim: &Claim) -> Vec<[f64; 2]> {
        let names = claim.grounds.coarse_to_fine().into_iter();
        names.map_while(|grounds| self.at(claim.finding.wire(), &grounds, range(claim))).collect()
    }

    /// Whether anything was ever counted on these grounds.
    pub(super) fn has(&self, claim: &Claim, grounds: &str) -> bool {
        self.counts.contains_key(&(claim.finding.wire().to_owned(), grounds.to_owned()))
    }

    /// Reads what [`Table::to_text`] wrote.
    ///
    /// # Errors
    /// The first line that is no count.
    pub fn parse(text: &str) -> Result<Table, TableError> {
        let mut table = Table::default();
        counts::read(text, |line| table.take(line))?;
        Ok(table)
    }

    fn take(&mut self, line: &str) -> Option<()> {
        let [finding, grounds, counts] = line.split(',').collect::<Vec<&str>>().try_into().ok()?;
        if grounds == STRENGTH {
            self.strength.insert(finding.to_owned(), counts.parse().ok()?);
            return Some(());
        }
        let ranges = self.counts.entry((finding.to_owned(), grounds.to_owned())).or_default();
        for count in counts.split(' ') {
            let (end, count) = count.split_once(':')?;
            let (right, wrong) = count.split_once('/')?;
            let end: f64 = end.parse().ok()?;
            let range = RANGES.iter().position(|other| *other == end)?;
            ranges.insert(range, (right.parse().ok()?, wrong.parse().ok()?));
        }
        Some(())
    }

    /// As a file, behind some remarks.
    pub fn to_text(&self, remarks: &str) -> String {
        let mut text = counts::remarks(remarks);
        for (finding, cases) in &self.strength {
            text.push_str(&format!("{finding},{STRENGTH},{cases}\n"));
        }
        for ((finding, grounds), ranges) in &self.counts {
            let count = |(range, (right, wrong)): (&usize, &(u32, u32))| format!("{}:{right}/{wrong}", RANGES[*range]);
            let counts: Vec<String> = ranges.iter().map(count).collect();
            text.push_str(&format!("{finding},{grounds},{}\n", counts.join(" ")));
        }
        text
    }
}

/// The number of the range of a claim's score.
fn range(claim: &Claim) -> usize {
    let clearness = claim.clearness();
    RANGES.iter().position(|end| clearness <= *end).unwrap_or(RANGES.len() - 1)
}

/// The score in the middle of a range.
fn middle(range: usize) -> f64 {
    let end = RANGES[range].min(RANGES[RANGES.len() - 2] + 1.0);
    let clearness = end - 0.5;
    1.0 / (1.0 + (-clearness).exp())
}

/// The names of grounds from the coarsest on, of the finest name without its end; see [`super::Grounds::coarse_to_fine`].
fn levels_of(finest: &str) -> Vec<String> {
    let words = finest.match_indices(' ').map(|(at, _)| finest[..at].to_owned());
    words.chain([finest.to_owned(), format!("{finest}{ONLY}")]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_grounds_are_those_that_claims_have() {
        let names = ["probes", "probes value", "probes value blank", "probes value blank only"];
        assert_eq!(levels_of("probes value blank"), names);
    }

    #[test]
    fn the_shipped_strengths_are_those_that_the_shipped_counts_make_likeliest() {
        let shipped = super::super::shipped();
        let mut fitted = Table { counts: shipped.counts.clone(), strength: BTreeMap::new() };
        fitted.fit(&super::super::STRENGTHS, |cases, strength| super::super::likelihood(cases, f64::from(strength)));
        assert_eq!(fitted.strength, shipped.strength, "{}", fitted.to_text(""));
    }

    #[test]
    fn what_is_no_count_is_refused_by_its_line() {
        let good = "# remark\n\npage,=,8\npage,probes,0:1/2 inf:30/0\n";
        let table = Table::parse(good).unwrap();
        assert_eq!(table.to_text(""), "page,=,8\npage,probes,0:1/2 inf:30/0\n");
        let check = |text: &str, line: usize| counts::assert_refused(Table::parse(text), line);
        check("page,probes", 1);
        check("page,=,8\npage,probes,0:1", 2);
        check("page,probes,7:1/2", 1);
        check("page,probes,0:1/-2", 1);
        check("page,=,many", 1);
    }
}
