//! Plots as SVG.
//!
//! A plot is plain data ([`marks`]). It stands in the page as SVG ([`svg`]), twice, for a wide and for a narrow page, so that
//! its words keep their size; the page shows the one that fits. Where scripts may run, a script draws it again from the same
//! data ([`data`]), to be read off and zoomed into.

mod calibration;
mod comparison;
mod data;
mod endurance;
mod explanation;
mod load;
mod marks;
mod memory;
mod place;
mod rate;
mod size;
mod svg;
mod theme;
mod trace;

pub(crate) use calibration::reliability;
pub(crate) use comparison::{limits, ratios, runs, verdict_hue};
pub(crate) use data::data;
pub(crate) use endurance::{bad_by_pass, rates_by_pass};
pub(crate) use explanation::waterfall;
pub(crate) use load::{by_written, curves_by_time, curves_by_written, percentiles, rounds, times};
pub(crate) use marks::{Mark, Plot, Size, dots, line};
pub(crate) use memory::{latency_by_rate, latency_by_size};
pub(crate) use place::{scatter, survey};
pub(crate) use rate::{fast_area, fat, open_units};
pub(crate) use size::{contrasts, course, histogram, transfer, transfer_residuals};
pub(crate) use svg::svg;
pub(crate) use theme::{Hue, style_sheet};
pub(crate) use trace::{heat, request_sizes};
