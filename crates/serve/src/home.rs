//! The first page: what needs attention, then what is newest.

use crate::app::{App, aside};
use crate::attention::Found;
use crate::oops::Oops;
use crate::page::{self, Form, Frame, Tab, minute};
use crate::{labs, records, trends};
use axum::extract::State;
use axum::response::Response;
use flashscope_model::lab::{LabRecord, LabRun, LabRunState};
use flashscope_report::foreign;
use flashscope_store::{Entry, Search};
use flashscope_view::lab::answer;
use maud::{Markup, html as markup};
use serde_json::json;
use std::sync::Arc;

/// Newest records on the page.
const NEWEST: usize = 10;
/// Failed runs that are named.
const FAILED: usize = 20;

/// `/`.
pub(crate) async fn show(form: Form, State(app): State<Arc<App>>) -> Result<Response, Oops> {
    let known = aside(&app, |app| {
        let newest = app.history(|store| Ok((store.page(&Search::default(), NEWEST)?, store.size()?.0)))?;
        Ok((newest.unwrap_or_default(), labs::all(app)))
    });
    let ((newest, all), labs) = known.await?;
    let found = app.watch.found();
    let labs: Vec<(usize, LabRecord)> =
        labs.into_iter().filter_map(|(number, lab)| Some((number, lab.ok()?))).collect();
    let failed: Vec<(usize, &str, &LabRun)> = labs
        .iter()
        .flat_map(|(number, lab)| lab.runs.iter().map(move |run| (*number, lab.plan.as_str(), run)))
        .filter(|(_, _, run)| run.state == LabRunState::Failed)
        .collect();
    let frame = Frame { title: "What needs attention", here: Tab::Home, live: false, refresh: false };
    let entries: Vec<&Entry> = newest.entries.iter().map(|(_, entry)| entry).collect();
    let page = || {
        markup! {
            p.lead role="status" { (sentence(&failed, found.as_deref())) }
            (attention(&failed, found.as_deref()))
            @if !labs.is_empty() {
                section { h2 { "Labs" } ul."card attention" { @for (number, lab) in &labs {
                    li { span.muted { "lab" } span { a href={ "/labs/" (number) } { (foreign::line(&lab.plan)) } } span.why { (answer(lab)) } }
                } } }
            }
            section { h2 { "Newest records" }
                @if entries.is_empty() { p { "No record is kept yet: " code { "flashscope history add RECORD.json" } " keeps one, and a " a href="/runs" { "simulated run" } " makes one." } }
                @else { (records::table(&entries)) p.turn { a href="/records" { "All " (all) " records" } } }
            }
        }
    };
    let json = || {
        let found = found.as_deref();
        json!({
            "looked": found.is_some(),
            "failed": failed.iter().map(|(number, _, run)| json!({ "lab": number, "device": run.device, "work": run.work, "why": run.why })).collect::<Vec<_>>(),
            "ended_early": found.iter().flat_map(|found| &found.early).map(|(entry, how)| json!({ "record": entry.id, "how": how })).collect::<Vec<_>>(),
            "changes": found.iter().flat_map(|found| &found.marks).map(|mark| mark.json()).collect::<Vec<_>>(),
            "kept": all,
            "newest": entries.iter().map(|entry| records::entry_json(entry)).collect::<Vec<_>>(),
        })
    };
    Ok(page::answer(form, &frame, page, json))
}

/// The answer.
fn sentence(failed: &[(usize, &str, &LabRun)], found: Option<&Found>) -> String {
    let Some(found) = found else {
        return "The history is being looked through; load this page again in a moment.".to_owned();
    };
    let worse = found.marks.iter().filter(|mark| !mark.is_better).count();
    let counts = [
        (failed.len(), page::counted(failed.len(), "failed run")),
        (worse, page::counted(worse, "change") + " for the worse"),
        (found.early.len(), page::counted(found.early.len(), "run") + " that ended early"),
    ];
    let said: Vec<String> = counts.into_iter().filter(|(count, _)| *count > 0).map(|(_, words)| words).collect();
    if said.is_empty() {
        "Nothing does: no run failed, and no level changed for the worse.".to_owned()
    } else {
        format!("{}.", said.join(", "))
    }
}

fn attention(failed: &[(usize, &str, &LabRun)], found: Option<&Found>) -> Markup {
    markup! {
        @if !failed.is_empty() {
            section { h2 { "Failed runs" } ul."card attention" {
                @for (number, plan, run) in failed.iter().take(FAILED) {
                    li { span.tag { "failed" } span { a href={ "/labs/" (number) } { (foreign::line(&run.work)) " on " (foreign::line(&run.device)) } " in " (foreign::line(plan)) }
                        @if let Some(why) = &run.why { span.why { (foreign::line(why)) } } }
                }
                @if failed.len() > FAILED { li { span {} span { "and " (failed.len() - FAILED) " others" } } }
            } }
        }
        @if let Some(found) = found {
            @if !found.marks.is_empty() { section { h2 { "Changes over time" } (trends::marks(found)) } }
            @if !found.early.is_empty() {
                section { h2 { "Ended early" } ul."card attention" { @for (entry, how) in &found.early {
                    li { span.tag.fair { "early" } span { a href={ "/records/" (entry.id) } { "record " (entry.id) } ", " (foreign::line(&entry.command)) " on " (foreign::line(&entry.device)) } span.why { (how) ", " (minute(&entry.at)) } }
                } } }
            }
        }
    }
}
