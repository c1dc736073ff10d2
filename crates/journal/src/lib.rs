//! Journals of work that may be stopped: what each begins with, so that the same command goes on where it was stopped, and
//! on the same part only. What follows belongs to the work.

mod error;

pub use error::JournalError;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt::Display;

/// What the work is done on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// What names the very part: the identity that consent is given by, or what was typed of a file or a simulated device.
    pub identity: String,
    /// Its size.
    pub capacity_bytes: u64,
}

/// What every journal begins with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// Name and version of the format.
    schema: String,
    subject: Subject,
    /// What was asked for, in words: another wish is another command.
    wish: Vec<(String, String)>,
}

/// Work that is kept.
pub trait Journal: Serialize + DeserializeOwned {
    /// What it begins with.
    fn head(&self) -> &Head;

    /// As it is kept.
    ///
    /// # Errors
    /// None is known: it holds numbers and words.
    fn text(&self) -> Result<String, JournalError> {
        serde_json::to_string(self).map_err(unreadable)
    }

    /// Reads one, to go on with what such a head asks for.
    ///
    /// # Errors
    /// Where it is none of this format, or of another part or wish.
    fn read(text: &str, asked: &Head) -> Result<Self, JournalError> {
        let journal: Self = serde_json::from_str(text).map_err(unreadable)?;
        journal.head().serves(asked)?;
        Ok(journal)
    }
}

impl Head {
    /// Of work that is to begin.
    pub fn new(schema: &str, subject: Subject, wish: Vec<(String, String)>) -> Head {
        Head { schema: schema.to_owned(), subject, wish }
    }

    /// What the work is done on.
    pub fn subject(&self) -> &Subject {
        &self.subject
    }

    fn serves(&self, asked: &Head) -> Result<(), JournalError> {
        if self.schema != asked.schema {
            return Err(JournalError::Unreadable(format!("it says {}", self.schema)));
        }
        if self.subject != asked.subject {
            return Err(JournalError::OtherPart { identity: self.subject.identity.clone() });
        }
        if self.wish == asked.wish {
            return Ok(());
        }
        let other = self.wish.iter().find(|word| !asked.wish.contains(word));
        let what = other.map_or("wish".to_owned(), |(name, value)| format!("{name}: {value}"));
        Err(JournalError::OtherWish { what })
    }
}

/// A part of a wish, in words.
pub fn word(name: &str, value: impl Display) -> (String, String) {
    (name.to_owned(), value.to_string())
}

fn unreadable(error: serde_json::Error) -> JournalError {
    JournalError::Unreadable(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    struct Kept {
        #[serde(flatten)]
        head: Head,
        next: u64,
    }

    impl Journal for Kept {
        fn head(&self) -> &Head {
            &self.head
        }
    }

    fn head(identity: &str, seed: u64) -> Head {
        let subject = Subject { identity: identity.to_owned(), capacity_bytes: 1 << 20 };
        Head::new("flashscope.kept/1", subject, vec![word("share", 0.5), word("seed", seed)])
    }

    #[test]
    fn a_journal_serves_the_same_wish_on_the_same_part() {
        let kept = Kept { head: head("a", 7), next: 99 };
        let text = kept.text().unwrap();
        assert_eq!(Kept::read(&text, &head("a", 7)), Ok(kept));
        let other = Kept::read(&text, &head("b", 7));
        assert_eq!(other, Err(JournalError::OtherPart { identity: "a".to_owned() }));
        let another = Kept::read(&text, &head("a", 8));
        assert_eq!(another, Err(JournalError::OtherWish { what: "seed: 7".to_owned() }));
        for broken in ["", "{}", &text[..text.len() / 2], &text.replace("kept/1", "kept/2")] {
            assert!(matches!(Kept::read(broken, &head("a", 7)), Err(JournalError::Unreadable(_))), "{broken}");
        }
    }
}
