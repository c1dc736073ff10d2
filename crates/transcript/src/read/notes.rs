//! What was left out, guessed or odd while a log was read.

/// Notes beyond this are left out: nobody reads more.
const MAX_NOTES: usize = 200;

/// A bounded list of notes, each once.
#[derive(Default)]
pub(super) struct Notes(Vec<String>);

impl Notes {
    /// Adds a note, unless it is there already or the list is full.
    pub(super) fn push(&mut self, note: String) {
        if self.0.len() < MAX_NOTES && !self.0.contains(&note) {
            self.0.push(note);
        }
    }

    /// All notes, behind at most [`MAX_NOTES`] others.
    pub(super) fn behind(self, mut first: Vec<String>) -> Vec<String> {
        first.truncate(MAX_NOTES);
        first.extend(self.0);
        first
    }
}
