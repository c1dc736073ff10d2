//! The figures of plots and tables, worked out from a record.
//!
//! A report computes nothing. What it draws that is not in the record as such (a contrast from six reads,
//! the rate of a round, the bins of a histogram, where an axis has its ticks) is worked out here, as plain
//! data with units. Nothing here draws conclusions: those are in the record's findings.
//!
//! Where to start: [`view`] for plots, [`tables`] for the figures of one experiment, [`answer`] for findings in words,
//! [`card`] for the opening of a report.

pub mod advice;
pub mod answer;
pub mod app;
pub mod axis;
pub mod bench;
pub mod calibration;
pub mod capacity;
pub mod card;
pub mod claim;
pub mod comparison;
pub mod conclusion;
pub mod contrast;
pub mod endurance;
pub mod explanation;
pub mod figures;
pub mod integrity;
pub mod iozone;
pub mod lab;
pub mod made;
pub mod memory;
pub mod qualification;
pub mod rate;
mod state;
pub mod stress;
pub mod surface;
pub mod sweep;
pub mod table;
pub mod time;
pub mod trace;
pub mod verdict_sheet;

pub use table::{Cell, Room, Table, performance, tables};

use flashscope_model::{Data, Drawn, RunRecord};

/// Everything that a report draws of one run; empty where nothing of the kind was measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    /// Contrasts by candidate size or alignment.
    pub contrasts: Vec<contrast::ContrastView>,
    /// Rate against number of units, one per order.
    pub open_units: Vec<rate::OpenUnitsView>,
    /// The first units against controls.
    pub fast_areas: Vec<rate::FastAreaView>,
    /// Rates of the first units by block size.
    pub fats: Vec<rate::FatView>,
    /// Read time by size, with its line.
    pub transfer: Option<time::TransferView>,
    /// Read time by position.
    pub scatters: Vec<time::ScatterView>,
    /// Reads at random places.
    pub surveys: Vec<time::SurveyView>,
    /// Service times of performance runs, those with the longest tail first.
    pub service_times: Vec<time::ServiceTimesView>,
}

/// The figures of all plots of a run.
pub fn view(run: &RunRecord) -> View {
    let runs = &run.observations.runs;
    let geometry = &run.findings.geometry;
    let mut view = View {
        open_units: rate::open_units(runs),
        transfer: run.findings.transfer.as_ref().map(time::transfer),
        ..View::default()
    };
    for run in runs {
        match &run.data {
            Data::Survey(survey) => view.surveys.extend(time::survey(survey)),
            Data::Align(align) => view.contrasts.extend(contrast::align(align, geometry)),
            Data::Boundaries(boundaries) => view.contrasts.extend(contrast::boundaries(boundaries, geometry)),
            Data::Fat(fat) => view.fats.extend(rate::fat(fat)),
            Data::FastArea(area) => view.fast_areas.extend(rate::fast_area(area)),
            Data::Scatter(scatter) => view.scatters.extend(time::scatter(scatter)),
            Data::Slide(slide) => view.scatters.extend(time::slide(slide)),
            Data::Throughput(throughput) => view.service_times.extend(time::service_times(throughput)),
            other => debug_assert_eq!(other.name().drawn(), Drawn::Table, "nobody draws it"),
        }
    }
    view.contrasts = contrast::merge(view.contrasts, geometry);
    let tail = |view: &time::ServiceTimesView| view.summary.max.as_f64() / view.summary.median.as_f64().max(1.0);
    view.service_times.sort_by(|a, b| tail(b).total_cmp(&tail(a)));
    view
}
