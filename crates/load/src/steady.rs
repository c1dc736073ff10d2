//! When throughput is steady, by the rule of SNIA's performance test specification ([`flashscope_stats::steady`]).

use crate::job::Steady;
use flashscope_stats::steady::{WINDOW, steady_state};
use flashscope_units::Nanos;

/// Collects the throughput of rounds and says when to end.
#[derive(Clone, Debug)]
pub struct Judge {
    rule: Steady,
    rounds: Vec<f64>,
    bytes: u64,
    verdict: Option<Verdict>,
}

/// How a run until steady ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The last five rounds were steady.
    Steady {
        /// Rounds that it took.
        rounds: u32,
    },
    /// They were not after so many rounds.
    NotSteady {
        /// Rounds that it took.
        rounds: u32,
    },
}

impl Judge {
    /// By this rule.
    pub fn new(rule: Steady) -> Judge {
        Judge { rule, rounds: Vec::with_capacity(rule.at_most as usize), bytes: 0, verdict: None }
    }

    /// `bytes` were moved `since` the start, in all; true when it is time to end. May be asked as often as one likes.
    pub fn look(&mut self, since: Nanos, bytes: u64) -> bool {
        if self.verdict.is_some() {
            return true;
        }
        let ended = since.get() / self.rule.round.get().max(1);
        if ended <= self.rounds.len() as u64 {
            return false;
        }
        // Rounds that passed unseen (a device that did not answer meanwhile) share what came of them.
        let passed = ended - self.rounds.len() as u64;
        let each = bytes.saturating_sub(self.bytes) as f64 / passed as f64;
        self.bytes = bytes;
        for _ in 0..passed.min(u64::from(self.rule.at_most)) {
            self.rounds.push(each);
            let rounds = self.rounds.len() as u32;
            if self.rounds.len() >= WINDOW && steady_state(&self.rounds).is_ok_and(|state| state.is_steady) {
                self.verdict = Some(Verdict::Steady { rounds });
            } else if rounds >= self.rule.at_most {
                self.verdict = Some(Verdict::NotSteady { rounds });
            }
        }
        self.verdict.is_some()
    }

    /// How it ended; `None` where something else ended it first.
    pub fn verdict(&self) -> Option<Verdict> {
        self.verdict
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_when_steady_or_out_of_rounds() {
        let run = |throughput: &dyn Fn(u64) -> u64| {
            let mut judge = Judge::new(Steady { round: Nanos::secs(1), at_most: 25 });
            let mut bytes = 0;
            for second in 1.. {
                bytes += throughput(second);
                if judge.look(Nanos::secs(second), bytes) {
                    return judge.verdict();
                }
            }
            None
        };
        assert_eq!(run(&|_| 1000), Some(Verdict::Steady { rounds: 5 }));
        assert_eq!(run(&|second| if second < 10 { 1000 } else { 400 }), Some(Verdict::Steady { rounds: 5 }));
        assert_eq!(run(&|second| 1000 / second), Some(Verdict::NotSteady { rounds: 25 }));
        assert_eq!(run(&|second| if second < 8 { 5000 / second } else { 100 }), Some(Verdict::Steady { rounds: 12 }));
    }
}
