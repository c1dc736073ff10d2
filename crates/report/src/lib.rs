//! A record made readable: terminal text, one self-contained HTML page, Markdown, CSV and XLSX.
//!
//! Everything here only arranges: what is concluded stands in the record, what is drawn is worked out in the
//! `view` crate. Nothing is computed or printed here; every function gives a text,
//! but for [`is_ours`], which knows such a text again.

pub mod app;
pub mod bench;
pub mod capacity;
pub mod comparison;
mod csv;
pub mod explanation;
pub mod fleet;
pub mod foreign;
mod history;
mod html;
pub mod integrity;
pub mod iozone;
pub mod lab;
pub mod live;
mod markdown;
pub mod memory;
mod ours;
mod plot;
pub mod qualification;
pub mod sheet;
mod small;
pub mod sweep;
mod table;
mod terminal;
pub mod trace;
pub mod twin;
mod verdict_sheet;
pub mod xlsx;

pub use csv::{csv, sheets};
pub use history::{Change, Course, course};
pub use html::{any as any_html, any_policy, html, policy, style_sheet};
pub use markdown::markdown;
pub use ours::{is_ours, man_mark, signed, signed_model};
pub use terminal::{Style, probe_conclusion, probe_table, terminal, wrap as wrapped};
