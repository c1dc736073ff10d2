//! What is kept while a state is made, so that the same command goes on where it was stopped, on the same part only.

use crate::recipe::{Recipe, Wish};
use crate::step::Position;
use flashscope_model::JournalError;
use flashscope_model::certificate::Rung;
use flashscope_model::envelope::ConditionList;
use serde::{Deserialize, Serialize};

/// Name and version of the format.
const SCHEMA: &str = "flashscope.making/1";

/// What the state is made on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// What names the very part: the identity that consent is given by, or what was typed of a file or a simulated device.
    pub identity: String,
    /// Its size.
    pub capacity_bytes: u64,
}

/// How far a state is made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Journal {
    schema: String,
    subject: Subject,
    /// The wish in words: another one is another command.
    wish: Vec<(String, String)>,
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
            schema: SCHEMA.to_owned(),
            subject,
            wish: words(wish),
            sessions: 0,
            over: Vec::new(),
            position: Position::default(),
            ladder: Vec::new(),
            purged: None,
            registers: Vec::new(),
        }
    }

    /// As it is kept.
    ///
    /// # Errors
    /// None is known: it holds numbers and words.
    pub fn text(&self) -> Result<String, JournalError> {
        serde_json::to_string(self).map_err(|error| JournalError::Unreadable(error.to_string()))
    }

    /// Reads one, to go on with the same wish on the same part.
    ///
    /// # Errors
    /// Where it is none, or of another part or wish.
    pub fn read(text: &str, wish: &Wish, subject: &Subject) -> Result<Journal, JournalError> {
        let journal: Journal =
            serde_json::from_str(text).map_err(|error| JournalError::Unreadable(error.to_string()))?;
        if journal.schema != SCHEMA {
            return Err(JournalError::Unreadable(format!("it says {}", journal.schema)));
        }
        if journal.subject != *subject {
            return Err(JournalError::OtherPart { identity: journal.subject.identity });
        }
        let wished = words(wish);
        let other = wished.iter().zip(&journal.wish).find(|(asked, begun)| asked != begun);
        if journal.wish.len() != wished.len() || other.is_some() {
            let what = other.map_or("wish".to_owned(), |(_, (name, value))| format!("{name}: {value}"));
            return Err(JournalError::OtherWish { what });
        }
        Ok(journal)
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

fn words(wish: &Wish) -> Vec<(String, String)> {
    let word = |name: &str, value: String| (name.to_owned(), value);
    vec![
        word("state", wish.state.word().to_owned()),
        word("share", wish.share.to_string()),
        word("passes", wish.passes.to_string()),
        word("mix", wish.mix.to_string()),
        word("workload", wish.workload.to_string()),
        word("overwrite", wish.overwrite.to_string()),
        word("seed", wish.seed.to_string()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_model::DeviceState;

    fn subject(identity: &str) -> Subject {
        Subject { identity: identity.to_owned(), capacity_bytes: 1 << 20 }
    }

    #[test]
    fn a_journal_serves_the_same_wish_on_the_same_part() {
        let wish = Wish::of(DeviceState::Dirty, 7);
        let mut journal = Journal::new(&wish, subject("a"));
        journal.sessions = 2;
        journal.position.next = 99;
        let text = journal.text().unwrap();
        assert_eq!(Journal::read(&text, &wish, &subject("a")), Ok(journal));
        let other = Journal::read(&text, &wish, &subject("b"));
        assert_eq!(other, Err(JournalError::OtherPart { identity: "a".to_owned() }));
        let another = Journal::read(&text, &Wish { seed: 8, ..wish.clone() }, &subject("a"));
        assert_eq!(another, Err(JournalError::OtherWish { what: "seed: 7".to_owned() }));
        for broken in ["", "{}", &text[..text.len() / 2], &text.replace("making/1", "making/2")] {
            assert!(
                matches!(Journal::read(broken, &wish, &subject("a")), Err(JournalError::Unreadable(_))),
                "{broken}"
            );
        }
    }
}
