//! Presets: what other people agreed to measure, as data.
//!
//! A [`Definition`] is a text (TOML) that says which jobs to run, how often or until when, which figures to take from their
//! results and which limits these are held against. [`Definition::schedule`] makes jobs of it, which anything that drives
//! the load engine can run; [`evaluate`] makes figures and verdicts of what came back. The same two steps serve every
//! preset: there is no code for any one of them.
//!
//! Nothing here does I/O, knows a clock or decides how something is shown.

mod bounds;
mod catalogue;
mod definition;
mod evaluate;
mod figure;
#[cfg(test)]
mod made;
mod rounds;
mod schedule;
mod transactions;

pub use catalogue::{names, preset};
pub use definition::{Definition, DefinitionError, answers_to};
pub use evaluate::{Ran, evaluate};
pub use rounds::RoundRule;
pub use schedule::{Ground, Schedule, Wish};
pub use transactions::add_played;
