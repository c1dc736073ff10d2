//! The history of records: one SQLite file that keeps each record whole, beside figures that can be asked for.
//!
//! A crate of its own with a program of its own (`flashscope-history`, which answers `flashscope history`), because SQLite
//! would cost the main binary its size. What a record says is never rewritten: the bytes that came in go out again, and
//! everything else in the file (`schema`) can be made anew from them.
//!
//! Where to start: [`Store::open`], [`Store::add`], [`Store::list`]. Nothing here prints; the program does.

mod ask;
mod browse;
mod dataset;
mod error;
mod export;
mod figures;
mod incoming;
mod kept;
mod prune;
mod schema;
mod store;
mod table;
mod trend;

pub use browse::{Cursor, From, Page, Part, Search};
pub use dataset::{Dataset, Exported, Imported, import};
pub use error::StoreError;
pub use kept::{Entry, Figure, Filter, Kept, Point, Row, Series};
pub use store::{Access, Store, usual_place};
pub use trend::{CONFIDENCE, Mark, Trend};
