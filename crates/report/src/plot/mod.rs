//! Plots as SVG.
//!
//! Each plot is drawn twice, for a wide and for a narrow page, so that its words keep their size; the page shows
//! the one that fits. Colours are drawn as those of the light page. The page's style sheet names each of them
//! and swaps them in the dark, see [`theme`].

mod frame;
mod load;
mod place;
mod rate;
mod size;
mod theme;

pub(crate) use frame::Size;
pub(crate) use load::{by_written, curves_by_time, curves_by_written, percentiles, rounds, times};
pub(crate) use place::{scatter, survey};
pub(crate) use rate::{fast_area, fat, open_units};
pub(crate) use size::{contrasts, course, histogram, transfer, transfer_residuals};
pub(crate) use theme::{Hue, style_sheet};
