//! Which log block gives way when another unit needs one.

use crate::chance::Chance;

/// A rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// The one that was written least recently, as in BAST.
    LeastRecent,
    /// The one that was opened first, as in FAST's round robin.
    Oldest,
    /// Second chance: a hand goes round and spares once what was written since it came by (Corbató 1969).
    Clock,
    /// Any.
    Random,
}

impl Rule {
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Rule::LeastRecent => "least recent",
            Rule::Oldest => "oldest",
            Rule::Clock => "clock",
            Rule::Random => "random",
        }
    }
}

/// What the rules look at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Used {
    pub(crate) opened: u64,
    pub(crate) written: u64,
    pub(crate) spared: bool,
}

/// The hand and the dice.
#[derive(Clone, Debug)]
pub(crate) struct Evictor {
    rule: Rule,
    hand: usize,
    chance: Chance,
}

impl Evictor {
    pub(crate) fn new(rule: Rule, chance: Chance) -> Evictor {
        Evictor { rule, hand: 0, chance }
    }

    /// The place of the one that gives way; there is at least one.
    pub(crate) fn choose(&mut self, all: &mut [Used]) -> usize {
        let least = |key: fn(&Used) -> u64, all: &[Used]| {
            all.iter().enumerate().min_by_key(|(_, used)| key(used)).map_or(0, |(place, _)| place)
        };
        match self.rule {
            Rule::LeastRecent => least(|used| used.written, all),
            Rule::Oldest => least(|used| used.opened, all),
            Rule::Random => self.chance.below(all.len()),
            Rule::Clock => loop {
                self.hand = (self.hand + 1) % all.len();
                if !std::mem::take(&mut all[self.hand].spared) {
                    return self.hand;
                }
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_chooses_as_it_says() {
        let used = |opened, written, spared| Used { opened, written, spared };
        let all = [used(3, 9, true), used(1, 8, true), used(2, 5, false)];
        let choose = |rule| Evictor::new(rule, Chance::new(1, 1)).choose(&mut all.clone());
        assert_eq!(choose(Rule::LeastRecent), 2);
        assert_eq!(choose(Rule::Oldest), 1);
        assert_eq!(choose(Rule::Clock), 2);
        let mut evictor = Evictor::new(Rule::Random, Chance::new(1, 1));
        let seen: std::collections::BTreeSet<usize> = (0..50).map(|_| evictor.choose(&mut all.clone())).collect();
        assert_eq!(seen.len(), 3);
    }
}
