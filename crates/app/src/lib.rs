//! Applications as data: what they do to files and databases, drawn from a seed, and what it came to.
//!
//! A [`Definition`] is a file that users copy: operations that a user waits for, each a list of steps with distributions
//! of sizes. From it and a seed a [`Script`] draws what is really done, act by act, with every name and size fixed; it
//! touches nothing. Whoever plays the acts on a file system gives back how long each took ([`wire::Run`]), and
//! [`figures()`] makes response times of it. Start reading at [`definition`].
//!
//! A definition cannot reach out of the directory that it is played in: names are relative and have no `..`, and a
//! statement of SQL attaches nothing and loads nothing.

pub mod catalogue;
pub mod definition;
pub mod figures;
pub mod script;
pub mod suite;
pub mod wire;

mod check;
mod names;
mod size;

pub use definition::{Definition, DefinitionError};
pub use figures::figures;
pub use script::{Act, Performance, Script, Value};
pub use size::Size;
