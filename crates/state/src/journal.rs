//! What is kept while a state is made, so that the same command goes on where it was stopped, on the same part only.

use crate::recipe::{Recipe, Wish};
use crate::step::Position;
use flashscope_journal::{Head, Journal as Kept, Subject, word};
use flashscope_model::certificate::Rung;
use flashscope_model::envelope::ConditionList;
use serde::{Deserialize, Serialize};

/// Name and version of the format.
const SCHEMA: &str = "flashscope.making/1";

/// How far a state is made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Journal {
    #[serde(flatten)]
    head: Head,
    /// How often it was begun.
    pub(crate) sessions: u32,
    /// Steps that are over, each with how it ended; in the order of the recipe.
    pub(crate) over: Vec<(Position, String)>,
    /// Where the step is that is under way.
    pub(crate) position: Position,
    pub(crate) ladder: Vec<(String, bool, String)>,
    /// Whether a step of the ladder that leaves nothing mapped was reached.
    pub(crate) purged: Option<String>,
    pub(crate) registers: ConditionList,
}

impl Journal {
    /// One of a state that is to be made.
    pub fn new(wish: &Wish, subject: Subject) -> Journal {
        Journal {
            head: head(wish, subject),
            sessions: 0,
            over: Vec::new(),
            position: Position::default(),
            ladder: Vec::new(),
            purged: None,
            registers: Vec::new(),
        }
    }

    /// Whether nothing was done yet.
    pub fn is_new(&self) -> bool {
        self.sessions == 0
    }

    /// Bytes that the recipe still writes, at most.
    pub fn most_left(&self, recipe: &Recipe) -> flashscope_units::Bytes {
        let left: flashscope_units::Bytes =
            recipe.steps.iter().skip(self.over.len()).map(|step| recipe.most_written_by(step)).sum();
        // What the step under way has written is not written again.
        left.saturating_sub(flashscope_units::Bytes(self.position.written))
    }

    pub(crate) fn rungs(&self) -> Vec<Rung> {
        let rung = |(step, reached, outcome): &(String, bool, String)| Rung {
            step: step.clone(),
            reached: *reached,
            outcome: outcome.clone(),
        };
        self.ladder.iter().map(rung).collect()
    }
}

impl Kept for Journal {
    fn head(&self) -> &Head {
        &self.head
    }
}

/// What a journal of such a wish begins with.
pub fn head(wish: &Wish, subject: Subject) -> Head {
    let wish = vec![
        word("state", wish.state.word()),
        word("share", wish.share),
        word("passes", wish.passes),
        word("mix", &wish.mix),
        word("workload", &wish.workload),
        word("overwrite", wish.overwrite),
        word("seed", wish.seed),
    ];
    Head::new(SCHEMA, subject, wish)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_journal::JournalError;
    use flashscope_model::DeviceState;

    #[test]
    fn a_journal_serves_the_same_wish_only() {
        let subject = Subject { identity: "a".to_owned(), capacity_bytes: 1 << 20 };
        let wish = Wish::of(DeviceState::Dirty, 7);
        let mut journal = Journal::new(&wish, subject.clone());
        journal.sessions = 2;
        journal.position.next = 99;
        let text = journal.text().unwrap();
        assert_eq!(Journal::read(&text, &head(&wish, subject.clone())), Ok(journal));
        let another = Journal::read(&text, &head(&Wish { seed: 8, ..wish }, subject));
        assert_eq!(another, Err(JournalError::OtherWish { what: "seed: 7".to_owned() }));
    }
}
