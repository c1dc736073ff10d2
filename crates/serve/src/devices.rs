//! Devices: what is kept of each, and one of them with its records and what changed.

use crate::app::{App, aside};
use crate::oops::Oops;
use crate::page::{self, Form, Frame, Tab, coded, minute};
use crate::{records, trends};
use axum::extract::{Query, State};
use axum::response::Response;
use flashscope_report::foreign;
use flashscope_store::{Part, Search, Trend};
use maud::{Markup, html as markup};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// Devices on a page.
const ON_A_PAGE: usize = 50;
/// Newest records of a device that are looked at for what changed.
const LOOKED_AT: usize = 200;
/// Newest records of a device on its page.
const RECORDS: usize = 20;

/// What an address asks of the list.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Asked {
    /// Those whose names come after this one.
    after: String,
}

/// `/devices`.
pub(crate) async fn list(
    form: Form,
    State(app): State<Arc<App>>,
    Query(asked): Query<Asked>,
) -> Result<Response, Oops> {
    let after = (!asked.after.is_empty()).then(|| asked.after.clone());
    let found = aside(&app, move |app| app.history(|store| store.parts(after.as_deref(), ON_A_PAGE + 1)));
    let mut parts = found.await?.unwrap_or_default();
    let more = parts.len() > ON_A_PAGE;
    parts.truncate(ON_A_PAGE);
    let frame = Frame { title: "Devices", here: Tab::Devices, live: false, refresh: false };
    let next = parts.last().map(|part| part.part.clone()).filter(|_| more);
    let whole = asked.after.is_empty();
    Ok(page::answer(
        form,
        &frame,
        || body(&parts, next.as_deref(), whole),
        || json!({ "devices": parts.iter().map(json).collect::<Vec<_>>(), "after": next }),
    ))
}

fn body(parts: &[Part], next: Option<&str>, whole: bool) -> Markup {
    markup! {
        p.lead role="status" {
            @if parts.is_empty() { "No device has a record yet." }
            @else if whole && next.is_none() { (page::counted(parts.len(), "device")) " with records, in the order of their names." }
            @else { (page::counted(parts.len(), "device")) " on this page, in the order of their names." }
        }
        @if !parts.is_empty() {
            div."card scroll" { table.stack {
                thead { tr { th.words scope="col" { "device" } th.words scope="col" { "part" } th scope="col" { "records" } th.words scope="col" { "since" } th.words scope="col" { "newest" } } }
                tbody { @for part in parts { tr {
                    td.name data-head="device" { a href={ "/device?part=" (coded(&part.part)) } { (foreign::line(&part.newest.device)) } }
                    td.name data-head="part" { (foreign::line(&part.part)) }
                    td data-head="records" { (part.records) }
                    td.words data-head="since" { (minute(&part.since)) }
                    td.words data-head="newest" { a href={ "/records/" (part.newest.id) } { (part.newest.kind) ", " (minute(&part.newest.at)) } }
                } } }
            } }
        }
        nav.turn aria-label="Pages of the list" {
            @if !whole { a href="/devices" { "First" } }
            @if let Some(next) = next { a rel="next" href={ "/devices?after=" (coded(next)) } { "Further" } }
        }
    }
}

fn json(part: &Part) -> Value {
    json!({ "part": part.part, "records": part.records, "since": part.since, "newest": records::entry_json(&part.newest) })
}

/// What an address asks of a device.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Which {
    part: String,
}

/// `/device?part=…`.
pub(crate) async fn one(form: Form, State(app): State<Arc<App>>, Query(which): Query<Which>) -> Result<Response, Oops> {
    let name = which.part.clone();
    let found = aside(&app, move |app| {
        app.history(|store| {
            let Some(part) = store.part(&name)? else { return Ok(None) };
            let search = Search { part: Some(name.clone()), ..Search::default() };
            let trends = trends::of_part(store, &name, None, LOOKED_AT)?;
            Ok(Some((part, store.page(&search, RECORDS)?, trends)))
        })
    });
    let found = found.await?.flatten();
    let (part, newest, trends) = found
        .ok_or_else(|| Oops::missing("there is no record of this device\nhint: /devices shows those that have one"))?;
    let title = foreign::line(&part.newest.device).into_owned();
    let frame = Frame { title: &title, here: Tab::Devices, live: false, refresh: false };
    let page = || {
        let entries: Vec<_> = newest.entries.iter().map(|(_, entry)| entry).collect();
        markup! {
            p.lead role="status" { (verdict(&trends)) }
            dl."card facts boxed" {
                div { dt { "part" } dd { (foreign::line(&part.part)) } }
                div { dt { "records" } dd { (part.records) } }
                div { dt { "since" } dd { (minute(&part.since)) } }
                div { dt { "newest" } dd { (minute(&part.newest.at)) } }
            }
            (trends::overview(&part.part, &trends, LOOKED_AT))
            section { h2 { "Newest records" } (records::table(&entries))
                @if newest.older { p.turn { a href={ "/records?part=" (coded(&part.part)) } { "All records of this device" } } } }
        }
    };
    let json = || {
        let entries: Vec<_> = newest.entries.iter().map(|(_, entry)| records::entry_json(entry)).collect();
        json!({ "device": json(&part), "records": entries, "trends": trends.iter().map(|trend| trend.json(false)).collect::<Vec<_>>() })
    };
    Ok(page::answer(form, &frame, page, json))
}

/// What changed, in a sentence.
fn verdict(trends: &[Trend]) -> String {
    let marks = || trends.iter().flat_map(|trend| trend.marks.iter().flatten());
    let worse = marks().filter(|mark| !mark.is_better).count();
    let better = marks().count() - worse;
    let enough = trends.iter().filter(|trend| trend.marks.is_some()).count();
    match (enough, worse, better) {
        (0, ..) => format!("Whether anything changed cannot be told: a figure needs {} records.", Trend::SHORTEST),
        (_, 0, 0) => format!("No level changed, in {}.", page::counted(enough, "figure")),
        (_, 0, better) => format!("{} for the better.", page::counted(better, "change")),
        (_, worse, 0) => format!("{} for the worse.", page::counted(worse, "change")),
        (_, worse, better) => format!("{} for the worse, {better} for the better.", page::counted(worse, "change")),
    }
}
