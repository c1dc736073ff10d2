//! A record made readable: terminal text, one self-contained HTML page, Markdown, CSV and XLSX.
//!
//! Everything here only arranges: what is concluded stands in the record, what is drawn is worked out in the
//! `view` crate. Nothing is computed, read or printed here; every function gives a text.

pub mod bench;
mod csv;
pub mod foreign;
mod html;
pub mod iozone;
mod markdown;
mod plot;
mod table;
mod terminal;
pub mod xlsx;

pub use csv::csv;
pub use html::html;
pub use markdown::markdown;
pub use terminal::{Style, probe_table, terminal};
