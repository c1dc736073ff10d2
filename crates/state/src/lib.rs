//! Bringing a device into a state: clean, sequential, full, dirty, steady, aged.
//!
//! A [`Recipe`] says which steps lead to a state and what they cost, before anything is done. [`make`] takes them on any
//! [`Target`](flashscope_device::Target), keeps a [`Journal`] by which it goes on where it was stopped, and ends with a
//! [`Certificate`](flashscope_model::certificate::Certificate). The purge ladder is in [`ladder`], what shows that a purge did
//! something in [`witness`], and [`restore`] says what brings a device back into a state with the least writing.
//!
//! Nothing here knows a file, a clock or a device's name. Every choice follows from the seed and the number of the request,
//! so that a journal needs to hold a number and nothing of the past.

mod journal;
pub mod ladder;
mod life;
mod make;
mod mix;
mod recipe;
pub mod restore;
mod step;
pub mod witness;

pub use journal::{Journal, head};
pub use life::{Life, MOST_SHARE, MOST_SPANS_UNRATED};
pub use make::{Made, Progress, Watch, make};
pub use mix::Mix;
pub use recipe::{Recipe, RecipeError, Step, Wish, assumed_rates};
