//! Labs: what a plan asks for and how far it is, live where scripts run.

use crate::app::{App, aside};
use crate::live::{self, Shown};
use crate::oops::Oops;
use crate::page::{self, Form, Frame, Tab};
use crate::records;
use axum::extract::{Path, State};
use axum::response::Response;
use flashscope_model::lab::{LabRecord, LabRun, LabRunState};
use flashscope_report::foreign;
use flashscope_supervisor::{Folder, status};
use flashscope_view::lab::{answer, notes, word};
use maud::{Markup, html as markup};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A record that a lab keeps is no longer, in bytes.
const LONGEST: u64 = 256 << 20;

/// The lab of this number, as it is now.
fn lab(app: &App, number: usize) -> Result<(&Folder, LabRecord), Oops> {
    let folder =
        app.labs.get(number).ok_or_else(|| Oops::missing("there is no such lab\nhint: /labs shows those there are"))?;
    let record = status(folder).map_err(|error| Oops::failed(error.to_string()))?;
    Ok((folder, record))
}

/// All labs that can be read, with their numbers; what is wrong with the others.
pub(crate) fn all(app: &App) -> Vec<(usize, Result<LabRecord, String>)> {
    let of = |number: usize| lab(app, number).map(|(_, record)| record);
    (0..app.labs.len()).map(|number| (number, of(number).map_err(|error| format!("{error:?}")))).collect()
}

/// `/labs`.
pub(crate) async fn list(form: Form, State(app): State<Arc<App>>) -> Result<Response, Oops> {
    let found = aside(&app, |app| Ok(all(app))).await?;
    let frame = Frame { title: "Labs", here: Tab::Labs, live: true, refresh: true };
    let page = || {
        markup! {
            p.lead role="status" { @if found.is_empty() { "No lab is shown." } @else { (page::counted(found.len(), "lab")) "." } }
            @if found.is_empty() {
                p { code { "flashscope lab run PLAN.toml" } " begins one; " code { "flashscope serve --lab NAME.lab" } " shows it." }
            } @else {
                ul."card attention" {
                    @for (number, lab) in &found {
                        @match lab {
                            Ok(lab) => li { span.tag.(tone(lab)) { (state(lab)) } span { a href={ "/labs/" (number) } { (foreign::line(&lab.plan)) } } span.why { (answer(lab)) } },
                            Err(why) => li { span.tag { "unread" } span { "lab " (number) } span.why { (why) } },
                        }
                    }
                }
            }
        }
    };
    let json = || {
        Value::Array(
            found
                .iter()
                .map(|(number, lab)| match lab {
                    Ok(lab) => json!({ "lab": number, "plan": lab.plan, "answer": answer(lab) }),
                    Err(why) => json!({ "lab": number, "error": why }),
                })
                .collect(),
        )
    };
    Ok(page::answer(form, &frame, page, json))
}

fn is_over(lab: &LabRecord) -> bool {
    !lab.runs.iter().any(|run| matches!(run.state, LabRunState::Waiting | LabRunState::Leased))
}

fn failed(lab: &LabRecord) -> bool {
    lab.runs.iter().any(|run| run.state == LabRunState::Failed)
}

/// A lab in a word.
fn state(lab: &LabRecord) -> &'static str {
    match (failed(lab), is_over(lab)) {
        (true, _) => "failed",
        (false, true) => "done",
        (false, false) => "to do",
    }
}

fn tone(lab: &LabRecord) -> &'static str {
    match (failed(lab), is_over(lab)) {
        (true, _) => "poor",
        (false, true) => "good",
        (false, false) => "fair",
    }
}

/// `/labs/0`.
pub(crate) async fn one(form: Form, State(app): State<Arc<App>>, Path(number): Path<usize>) -> Result<Response, Oops> {
    let record = aside(&app, move |app| lab(app, number).map(|(_, record)| record)).await?;
    let title = format!("Lab: {}", foreign::line(&record.plan));
    let frame = Frame { title: &title, here: Tab::Labs, live: true, refresh: true };
    let shown = shown(number, &record);
    let page = || {
        markup! {
            p.lead #answer role="status" { (shown.answer) }
            div data-events={ "/events/labs/" (number) } { (maud::PreEscaped(&shown.html)) }
        }
    };
    Ok(page::answer(form, &frame, page, || {
        serde_json::from_str(&flashscope_record::to_json(&record)).unwrap_or_default()
    }))
}

/// `/events/labs/0`.
pub(crate) async fn events(State(app): State<Arc<App>>, Path(number): Path<usize>) -> Result<Response, Oops> {
    live::stream(app, move |app| lab(app, number).map(|(_, record)| shown(number, &record)))
}

fn shown(number: usize, record: &LabRecord) -> Shown {
    Shown { answer: format!("{}.", answer(record)), html: body(number, record).into_string() }
}

/// What failed, then how far each device is, then every run.
fn body(number: usize, record: &LabRecord) -> Markup {
    let over =
        record.runs.iter().filter(|run| run.state != LabRunState::Waiting && run.state != LabRunState::Leased).count();
    let mut devices: BTreeMap<&str, Vec<&LabRun>> = BTreeMap::new();
    for run in &record.runs {
        devices.entry(&run.device).or_default().push(run);
    }
    // That no program works on it is worth a word only where something is left to do.
    let wrong = if is_over(record) && !failed(record) { Vec::new() } else { notes(record) };
    markup! {
        progress max=(record.runs.len().max(1)) value=(over) aria-label="runs that are over" {}
        @if !wrong.is_empty() { ul."card notes" { @for note in wrong { li { (foreign::line(&note)) } } } }
        section {
            h2 { "Devices" }
            div."card scroll" { table.stack {
                thead { tr { th.words scope="col" { "device" } th.words scope="col" { "now" } th scope="col" { "done" } th scope="col" { "left" } th scope="col" { "failed" } } }
                tbody { @for (device, runs) in &devices { (of_device(device, runs)) } }
            } }
        }
        section {
            h2 { "Runs" }
            div."card scroll" { table.stack {
                thead { tr { th.words scope="col" { "device" } th.words scope="col" { "work" } th.words scope="col" { "state" } th scope="col" { "failures" } th scope="col" { "time" } th.words scope="col" { "record" } } }
                tbody { @for (place, run) in record.runs.iter().enumerate() { (of_run(number, place, run)) } }
            } }
        }
    }
}

fn of_device(device: &str, runs: &[&LabRun]) -> Markup {
    let count = |state: LabRunState| runs.iter().filter(|run| run.state == state).count();
    let now: Vec<&str> =
        runs.iter().filter(|run| run.state == LabRunState::Leased).map(|run| run.work.as_str()).collect();
    markup! {
        tr {
            td.name data-head="device" { (foreign::line(device)) }
            td.words data-head="now" { @if now.is_empty() { span.muted { "idle" } } @else { (foreign::line(&now.join(", "))) } }
            td data-head="done" { (count(LabRunState::Done)) "/" (runs.len()) }
            td data-head="left" { (count(LabRunState::Waiting)) }
            td data-head="failed" { (count(LabRunState::Failed)) }
        }
    }
}

fn of_run(number: usize, place: usize, run: &LabRun) -> Markup {
    let tone = match run.state {
        LabRunState::Done => "good",
        LabRunState::Failed => "poor",
        LabRunState::Leased => "fair",
        LabRunState::Waiting | LabRunState::Dropped => "open",
    };
    markup! {
        tr {
            td.name data-head="device" { (foreign::line(&run.device)) }
            td.words data-head="work" { (foreign::line(&run.work)) }
            td.words data-head="state" { span.state.(tone) { (word(run.state)) } @if run.host_limited { ", host-limited" } }
            td data-head="failures" { (run.failures) }
            td data-head="time" { @if let Some(time) = run.time { (time) } @else { "–" } }
            td.words data-head="record" { @if run.record.is_some() { a #{ "run-" (place) } href={ "/labs/" (number) "/runs/" (place) } { "report" } } @else { "–" } }
        }
    }
}

/// `/labs/0/runs/3`: the report of a run, which is named by its place in the queue.
pub(crate) async fn report(
    State(app): State<Arc<App>>,
    Path((number, place)): Path<(usize, usize)>,
) -> Result<Response, Oops> {
    let report = aside(&app, move |app| {
        let (folder, record) = lab(app, number)?;
        let run = record.runs.get(place).filter(|run| run.record.is_some());
        let run = run
            .ok_or_else(|| Oops::missing("this run has no record yet\nhint: the page of the lab shows when it has"))?;
        // The id is a hash that the queue made; a queue that somebody else made is held to that.
        if run.id.is_empty() || !run.id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return Err(Oops::failed("the id of this run is none of this flashscope"));
        }
        let path = folder.of_run(&run.id).join("record.json");
        let unread = |error: std::io::Error| Oops::failed(format!("cannot read {}: {error}", path.display()));
        let length = std::fs::metadata(&path).map_err(unread)?.len();
        if length > LONGEST {
            return Err(Oops::failed("its record is longer than a record can be"));
        }
        let text = std::fs::read_to_string(&path).map_err(unread)?;
        records::rendered(0, &text)
    });
    let report = report.await?;
    Ok(page::report("Run of a lab", &report, &markup! { a href={ "/labs/" (number) } { "Back to the lab" } }))
}
