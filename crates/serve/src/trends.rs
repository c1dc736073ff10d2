//! Trends: a figure of a device over time, and where its level changed.

use crate::app::{App, aside};
use crate::attention::Found;
use crate::oops::Oops;
use crate::page::{self, Form, Frame, Tab, coded, minute};
use axum::extract::{Query, State};
use axum::response::Response;
use flashscope_report::{Change, Course, course, foreign};
use flashscope_store::{CONFIDENCE, Mark, Series, Store, StoreError, Trend};
use flashscope_view::comparison::value;
use maud::{Markup, html as markup};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// Newest records of a device that its trend is of.
const LONGEST: usize = 2000;
/// Plots on the page of a device.
const PLOTS: usize = 4;
/// Points of a trend that are listed.
const LISTED: usize = 100;

/// Trends of a part's newest records.
pub(crate) fn of_part(store: &Store, part: &str, figure: Option<&str>, most: usize) -> Result<Vec<Trend>, StoreError> {
    Ok(store.series_of_part(part, figure, most)?.into_iter().map(Trend::of).collect())
}

/// `/trends`: what changed, on all devices with new records.
pub(crate) async fn list(form: Form, State(app): State<Arc<App>>) -> Result<Response, Oops> {
    let found = app.watch.found();
    let frame = Frame { title: "Trends", here: Tab::Trends, live: false, refresh: found.is_none() };
    let page = || {
        markup! {
            @match &found {
                None => p.lead role="status" { "The history is being looked through; this page will say what changed." },
                Some(found) => {
                    p.lead role="status" { (found.sentence()) }
                    (marks(found))
                }
            }
            p { "Every figure over time stands on the page of its device: " a href="/devices" { "devices" } "." }
        }
    };
    let json = || json!({ "looked": found.is_some(), "changes": found.iter().flat_map(|found| &found.marks).map(|mark| mark.json()).collect::<Vec<_>>() });
    Ok(page::answer(form, &frame, page, json))
}

/// The changes that were found, worse ones first.
pub(crate) fn marks(found: &Found) -> Markup {
    markup! {
        @if !found.marks.is_empty() {
            ul."card attention" {
                @for mark in &found.marks {
                    li {
                        span.tag.good[mark.is_better] { @if mark.is_better { "better" } @else { "worse" } }
                        span { a href={ "/trend?part=" (coded(&mark.part)) "&figure=" (coded(&mark.figure)) } { (foreign::line(&mark.figure)) " of " (foreign::line(&mark.device)) } ": " (mark.change) }
                        span.why { "since record " a href={ "/records/" (mark.record) } { (mark.record) } ", " (minute(&mark.at)) }
                    }
                }
            }
        }
    }
}

/// The figures of a device with what changed, those that changed first, and some plots.
pub(crate) fn overview(part: &str, trends: &[Trend], looked_at: usize) -> Markup {
    let mut sorted: Vec<&Trend> = trends.iter().filter(|trend| !trend.series.points.is_empty()).collect();
    let rank = |trend: &Trend| match trend.marks.as_deref() {
        Some(marks) if marks.iter().any(|mark| !mark.is_better) => 0,
        Some(marks) if !marks.is_empty() => 1,
        Some(_) => 2,
        None => 3,
    };
    sorted.sort_by_key(|trend| (rank(trend), std::cmp::Reverse(trend.series.points.len())));
    markup! {
        @if !sorted.is_empty() {
            section {
                h2 { "Figures over time" }
                div."card scroll" { table.stack {
                    caption { "Of the newest " (looked_at) " records." }
                    thead { tr { th.words scope="col" { "figure" } th scope="col" { "records" } th scope="col" { "newest" } th.words scope="col" { "change" } } }
                    tbody { @for trend in &sorted { tr {
                        td.name data-head="figure" { a href={ "/trend?part=" (coded(part)) "&figure=" (coded(&trend.series.metric.name)) } { (foreign::line(&trend.series.metric.name)) } }
                        td data-head="records" { (trend.series.points.len()) }
                        td data-head="newest" { (trend.series.points.last().map(|point| value(point.value, &trend.series.metric.unit)).unwrap_or_default()) }
                        td.words data-head="change" { (change(trend)) }
                    } } }
                } }
                @let plots: Vec<_> = sorted.iter().filter(|trend| trend.series.points.len() > 1).take(PLOTS).collect();
                @if !plots.is_empty() { div.plots { @for trend in plots { (plot(trend)) } } }
            }
        }
    }
}

fn change(trend: &Trend) -> Markup {
    match trend.marks.as_deref() {
        None => markup! { span.muted { "cannot tell: " (Trend::SHORTEST) " records are needed" } },
        Some([]) => markup! { "none" },
        Some(marks) => markup! {
            @for mark in marks {
                span.state.good[mark.is_better].poor[!mark.is_better] { (verdict(mark)) } " " (percent(mark.ratio)) " " span.muted { "since record " (trend.series.points[mark.at].record) } br;
            }
        },
    }
}

fn verdict(mark: &Mark) -> &'static str {
    if mark.is_better { "better" } else { "worse" }
}

/// `−9.8 %`.
pub(crate) fn percent(ratio: f64) -> String {
    format!("{:+.1} %", 100.0 * (ratio - 1.0)).replacen('-', "−", 1)
}

/// A trend as a plot.
fn plot(trend: &Trend) -> Markup {
    let Series { metric, setup, points, .. } = &trend.series;
    let settings: Vec<_> = setup.lines().map(foreign::line).collect();
    let of = |mark: &Mark| Change { at: mark.at, words: percent(mark.ratio), levels: mark.levels };
    course(&Course {
        title: foreign::line(&metric.name).into_owned(),
        what: settings.join(", "),
        unit: metric.unit.clone(),
        points: points.iter().map(|point| (point.at.get(..10).unwrap_or(&point.at).to_owned(), point.value)).collect(),
        changes: trend.marks.iter().flatten().map(of).collect(),
    })
}

/// What an address asks of a trend.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Which {
    part: String,
    figure: String,
}

/// `/trend?part=…&figure=…`.
pub(crate) async fn one(form: Form, State(app): State<Arc<App>>, Query(which): Query<Which>) -> Result<Response, Oops> {
    let asked = which.clone();
    let found = aside(&app, move |app| app.history(|store| of_part(store, &asked.part, Some(&asked.figure), LONGEST)));
    let trends = found.await?.unwrap_or_default();
    if trends.is_empty() {
        return Err(Oops::missing(
            "no record of this device has this figure\nhint: /devices shows devices and their figures",
        ));
    }
    let device = trends.first().map(|trend| foreign::line(&trend.series.device).into_owned()).unwrap_or_default();
    let title = format!("{} of {device}", foreign::line(&which.figure));
    let frame = Frame { title: &title, here: Tab::Trends, live: false, refresh: false };
    let page = || {
        markup! {
            p.lead { a href={ "/device?part=" (coded(&which.part)) } { (device) } @if device != which.part { ", part " (foreign::line(&which.part)) } "; the newest " (LONGEST) " records at most." }
            @for (number, trend) in trends.iter().enumerate() { (whole(trend, number, trends.len())) }
        }
    };
    Ok(page::answer(form, &frame, page, || Value::Array(trends.iter().map(|trend| trend.json(true)).collect())))
}

fn whole(trend: &Trend, number: usize, of: usize) -> Markup {
    let Series { metric, points, .. } = &trend.series;
    let at = |index: usize| points.get(index).map(|point| minute(&point.at)).unwrap_or_default();
    markup! {
        section {
            h2 { @if of > 1 { "Setup " (number + 1) ": " } (page::counted(points.len(), "record")) }
            div.plots { (plot(trend)) }
            @match trend.marks.as_deref() {
                None => p.callout { "Whether it changed cannot be told: " (Trend::SHORTEST) " records are needed." },
                Some([]) => p { "No change of the level." },
                Some(marks) => div."card scroll" { table.stack {
                    caption { "Changes of the level; intervals hold with " (format!("{:.0} %", 100.0 * CONFIDENCE)) "." }
                    thead { tr { th.words scope="col" { "change" } th scope="col" { "by" } th scope="col" { "from" } th scope="col" { "to" } th.words scope="col" { "between" } th.words scope="col" { "first seen in" } } }
                    tbody { @for mark in marks { tr {
                        td.words data-head="change" { span.state.good[mark.is_better].poor[!mark.is_better] { (verdict(mark)) } }
                        td data-head="by" { (percent(mark.ratio)) " [" (percent(mark.low)) ", " (percent(mark.high)) "]" }
                        td data-head="from" { (value(mark.levels[0], &metric.unit)) }
                        td data-head="to" { (value(mark.levels[1], &metric.unit)) }
                        td.words data-head="between" { (at(mark.earliest.saturating_sub(1))) " and " (at(mark.latest)) }
                        td.words data-head="first seen in" { a href={ "/records/" (points[mark.at].record) } { "record " (points[mark.at].record) } }
                    } } }
                } },
            }
            @if trend.left_out > 0 { p.muted { (page::counted(trend.left_out, "record")) " with a value not above 0 left out." } }
            details {
                summary { "The newest " (points.len().min(LISTED)) " values" }
                div."card scroll" { table { thead { tr { th.words scope="col" { "when (UTC)" } th scope="col" { "value" } th scope="col" { "record" } } }
                    tbody { @for point in points.iter().rev().take(LISTED) { tr { td.words { (minute(&point.at)) } td { (value(point.value, &metric.unit)) } td { a href={ "/records/" (point.record) } { (point.record) } } } } } } }
            }
        }
    }
}
