//! Probabilities from counts: how often each answer was true where the same was seen, on devices whose inside is known.
//!
//! A family of findings reduces what it saw to a *regime* (a few words: which kind of signal there is) and a *score* (a
//! number: how clear it is). The [`Table`] holds, for each question, regime and range of scores, how often each answer was
//! true in development fleets; a probability is that share, drawn towards the share of the whole regime where cases are few.
//! No factor is set by hand. The table is data (`table.csv`), made by the command that stands in its first lines from seeds
//! that judge nothing else; docs/calibration.md says how to make it anew.

mod build;
mod text;

pub use build::{Case, build};

use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Counts of true answers, by question, regime and score.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// By question and regime: bins of rising scores.
    regimes: BTreeMap<(String, String), Vec<Bin>>,
}

/// One range of scores.
#[derive(Clone, Debug, Default, PartialEq)]
struct Bin {
    /// Its largest score; the last bin takes all that is above.
    up_to: f64,
    /// How often each answer was true.
    counts: BTreeMap<String, u32>,
}

/// Cases of the whole regime that stand beside those of a bin: two, so that a bin of a hundred hardly feels them.
const PRIOR_CASES: f64 = 2.0;

/// An answer that was never true in a regime was not seen yet: half a case (Jeffreys).
const UNSEEN: f64 = 0.5;

/// The table that goes with this version.
///
/// # Panics
/// Where the file in the repository is damaged, which a test looks at.
pub fn shipped() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| Table::parse(include_str!("table.csv")).expect("the table in the repository is well-formed"))
}

impl Table {
    /// How likely each of these answers is, likeliest first; together 1. `None` where nothing of the kind was ever seen.
    pub fn shares<'a>(
        &self,
        question: &str,
        regime: &str,
        score: f64,
        answers: &[&'a str],
    ) -> Option<Vec<(&'a str, f64)>> {
        let bins = self.regimes.get(&(question.to_owned(), regime.to_owned()))?;
        let bin = bins.iter().find(|bin| score <= bin.up_to).or(bins.last())?;
        let in_regime = |answer: &str| bins.iter().map(|bin| bin.count(answer)).sum::<f64>() + UNSEEN;
        let whole: f64 = answers.iter().map(|answer| in_regime(answer)).sum();
        let here: f64 = answers.iter().map(|answer| bin.count(answer)).sum();
        let share = |answer: &'a str| {
            let prior = PRIOR_CASES * in_regime(answer) / whole;
            (answer, (bin.count(answer) + prior) / (here + PRIOR_CASES))
        };
        let mut shares: Vec<(&str, f64)> = answers.iter().map(|answer| share(answer)).collect();
        shares.sort_by(|a, b| b.1.total_cmp(&a.1));
        Some(shares)
    }
}

impl Bin {
    fn count(&self, answer: &str) -> f64 {
        self.counts.get(answer).copied().map_or(0.0, f64::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(score: f64, answer: &str) -> Case {
        Case { question: "order".to_owned(), regime: "a".to_owned(), score, answer: answer.to_owned() }
    }

    #[test]
    fn the_shipped_table_can_be_read() {
        assert_eq!(Table::parse(&shipped().to_text("")), Ok(shipped().clone()));
    }

    #[test]
    fn shares_follow_counts_and_never_add_up_to_more_than_one() {
        let cases: Vec<Case> = (0..400)
            .map(|number| {
                let score = f64::from(number) / 400.0;
                case(score, if number % 10 < 9 && score > 0.5 { "yes" } else { "no" })
            })
            .collect();
        let table = build(&cases);
        let at = |score| table.shares("order", "a", score, &["yes", "no", "never"]).unwrap();
        let high = at(0.95);
        assert_eq!(high[0].0, "yes");
        assert!((high[0].1 - 0.9).abs() < 0.04, "{high:?}");
        assert!((high.iter().map(|(_, share)| share).sum::<f64>() - 1.0).abs() < 1e-12, "{high:?}");
        assert!(high[2].1 > 0.0 && high[2].1 < 0.01, "what was never seen is not impossible: {high:?}");
        assert_eq!(at(0.1)[0].0, "no");
        assert_eq!(at(f64::INFINITY), at(1.0), "a score above all others is of the last bin");
        assert_eq!(table.shares("order", "b", 0.5, &["yes"]), None);
    }
}
