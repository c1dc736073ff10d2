//! Records: pages of a list that an index answers, a search, and one record as its report.

use crate::app::{App, aside};
use crate::oops::Oops;
use crate::page::{self, Form, Frame, Tab, coded, minute};
use axum::extract::{Path, Query, State};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use flashscope_model::Kind;
use flashscope_report::foreign;
use flashscope_store::{Cursor, Entry, From, Page, Search};
use maud::{Markup, html as markup};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::sync::oneshot;

/// Records on a page.
pub(crate) const ON_A_PAGE: usize = 50;

/// What an address asks of a list. All of it may be absent or empty, as forms send it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Asked {
    /// How a name begins.
    pub(crate) q: String,
    /// A part by its whole name.
    part: String,
    kind: String,
    /// Before this day.
    before: String,
    /// `TIME-NUMBER` of a record.
    older: String,
    newer: String,
    /// `oldest`.
    end: String,
}

impl Asked {
    fn search(&self, app: &App) -> Result<Search, Oops> {
        let kind = match self.kind.as_str() {
            "" => None,
            word => Some(Kind::of_word(word).ok_or_else(|| Oops::asked(format!("there is no kind '{word}'")))?),
        };
        let from = match (self.older.as_str(), self.newer.as_str(), self.end.as_str(), self.before.as_str()) {
            ("", "", "", "") => From::Newest,
            ("", "", "oldest", _) => From::Oldest,
            ("", "", _, day) => {
                let at = app.history(|store| store.time(day))?.unwrap_or_default();
                From::OlderThan(Cursor { at, id: 0 })
            }
            ("", newer, ..) => From::NewerThan(cursor(newer)?),
            (older, ..) => From::OlderThan(cursor(older)?),
        };
        let part = (!self.part.is_empty()).then(|| self.part.clone());
        Ok(Search { begins: self.q.trim().to_owned(), part, kind, from })
    }

    /// The same conditions, for the address of another page.
    fn conditions(&self) -> String {
        let pairs = [("q", &self.q), ("part", &self.part), ("kind", &self.kind)];
        let said = pairs.into_iter().filter(|(_, value)| !value.is_empty());
        said.map(|(key, value)| format!("{key}={}&", coded(value))).collect()
    }
}

fn cursor(text: &str) -> Result<Cursor, Oops> {
    // A time before 1970 has a sign of its own.
    let pair = text.rsplit_once('-').and_then(|(at, id)| Some(Cursor { at: at.parse().ok()?, id: id.parse().ok()? }));
    pair.ok_or_else(|| Oops::asked(format!("'{text}' is no place in the list\nhint: begin at /records")))
}

/// `/records`.
pub(crate) async fn list(
    form: Form,
    State(app): State<Arc<App>>,
    Query(asked): Query<Asked>,
) -> Result<Response, Oops> {
    let question = asked.clone();
    let found = aside(&app, move |app| {
        let search = question.search(app)?;
        app.history(|store| Ok((store.page(&search, ON_A_PAGE)?, store.size()?.0)))
    });
    let (found, all) = found.await?.unwrap_or_default();
    let frame = Frame { title: "Records", here: Tab::Records, live: false, refresh: false };
    Ok(page::answer(form, &frame, || body(&asked, &found, all), || json(&asked, &found, all)))
}

fn body(asked: &Asked, found: &Page, all: i64) -> Markup {
    let shown = found.entries.len();
    let is_whole = asked.conditions().is_empty();
    markup! {
        p.lead role="status" {
            @if all == 0 { "No record is kept yet: " code { "flashscope history add RECORD.json" } " keeps one." }
            @else if shown == 0 { "No record matches." }
            @else if is_whole { (page::counted(all as usize, "record")) " kept; " (shown) " on this page." }
            @else { (page::counted(shown, "record")) " on this page, of " (all) " kept." }
        }
        form.ask method="get" action="/records" role="search" {
            div.wide { label for="q" { "Name of a device, part or target begins with" } input #q type="search" name="q" value=(asked.q) maxlength="200"; }
            div { label for="kind" { "Kind" } (kinds(&asked.kind)) }
            div { label for="before" { "Before" } input #before type="date" name="before" value=(asked.before); }
            @if !asked.part.is_empty() { input type="hidden" name="part" value=(asked.part); }
            button.main type="submit" { "Search" }
            @if !is_whole { a href="/records" { "Show all" } }
        }
        @if !asked.part.is_empty() { p.muted { "Of the part " strong { (foreign::line(&asked.part)) } "." } }
        @if found.more_names { p.callout { "Many names begin with " strong { (foreign::line(&asked.q)) } "; only the first of them are shown. A longer name finds the others." } }
        (table(&found.entries.iter().map(|(_, entry)| entry).collect::<Vec<_>>()))
        (turn(asked, found))
    }
}

fn kinds(chosen: &str) -> Markup {
    markup! {
        select #kind name="kind" {
            option value="" { "all kinds" }
            @for kind in Kind::ALL { option value=(kind.word()) selected[kind.word() == chosen] { (kind.word()) } }
        }
    }
}

/// A list with boxes to choose records of for a comparison.
pub(crate) fn table(entries: &[&Entry]) -> Markup {
    markup! {
        @if !entries.is_empty() {
            form method="get" action="/compare" {
                div."card scroll" {
                    table.stack {
                        thead { tr {
                            th.words scope="col" { "compare" } th scope="col" { "record" } th.words scope="col" { "when (UTC)" }
                            th.words scope="col" { "kind" } th.words scope="col" { "device" } th.words scope="col" { "command" }
                        } }
                        tbody { @for entry in entries { (row(entry)) } }
                    }
                }
                p.after { button type="submit" { "Compare those that are ticked" } span.muted { "The first one is what the others are compared with." } }
            }
        }
    }
}

fn row(entry: &Entry) -> Markup {
    let id = entry.id;
    markup! {
        tr {
            td."words pick" { input type="checkbox" name="id" value=(id) aria-label={ "compare record " (id) }; }
            td data-head="record" { a href={ "/records/" (id) } { (id) } }
            td.words data-head="when" { time datetime=(entry.at) { (minute(&entry.at)) } @if !entry.measured { span.muted { " kept" } } }
            td.words data-head="kind" { (entry.kind) }
            td.name data-head="device" { a href={ "/device?part=" (coded(&entry.part)) } { (foreign::line(&entry.device)) } }
            td.name data-head="command" { (foreign::line(&entry.command)) }
        }
    }
}

fn turn(asked: &Asked, found: &Page) -> Markup {
    let conditions = asked.conditions();
    let place = |entry: Option<&(Cursor, Entry)>| {
        entry.map(|(cursor, _)| format!("{}-{}", cursor.at, cursor.id)).unwrap_or_default()
    };
    markup! {
        nav.turn aria-label="Pages of the list" {
            @if found.newer { a href={ "/records?" (conditions) } { "Newest" } a rel="prev" href={ "/records?" (conditions) "newer=" (place(found.entries.first())) } { "Newer" } }
            @if found.older { a rel="next" href={ "/records?" (conditions) "older=" (place(found.entries.last())) } { "Older" } a href={ "/records?" (conditions) "end=oldest" } { "Oldest" } }
        }
    }
}

fn json(asked: &Asked, found: &Page, all: i64) -> Value {
    let place = |entry: Option<&(Cursor, Entry)>| entry.map(|(cursor, _)| format!("{}-{}", cursor.at, cursor.id));
    json!({
        "kept": all, "name_begins": asked.q, "records": found.entries.iter().map(|(_, entry)| entry_json(entry)).collect::<Vec<_>>(),
        "newer": place(found.entries.first()).filter(|_| found.newer), "older": place(found.entries.last()).filter(|_| found.older),
        "more_names": found.more_names,
    })
}

/// The fields that `flashscope history list --json` has.
pub(crate) fn entry_json(entry: &Entry) -> Value {
    json!({
        "id": entry.id, "at": entry.at, "measured": entry.measured, "kind": entry.kind, "command": entry.command,
        "target": entry.target, "device": entry.device, "part": entry.part, "version": entry.version,
        "record_bytes": entry.bytes,
    })
}

/// `/records/12`: the report, below the bar.
pub(crate) async fn one(State(app): State<Arc<App>>, Path(id): Path<i64>) -> Result<Response, Oops> {
    let found = aside(&app, move |app| app.history(|store| Ok((store.entry(id)?, store.record(id)?))));
    let (entry, text) = found.await?.ok_or_else(|| no_record(id))?;
    let (done, report) = oneshot::channel();
    tokio::task::spawn_blocking(move || done.send(rendered(id, &text)));
    let part = coded(&entry.part);
    let tools = markup! {
        a href={ "/device?part=" (part) } { "Device and its trends" }
        a href={ "/compare?id=" (id) } { "Compare" }
        a href={ "/records/" (id) "/report.html" } { "Report alone" }
        a href={ "/records/" (id) "/record.json" } { "Record (JSON)" }
    };
    let title = format!("Record {id}: {} of {}", entry.kind, foreign::line(&entry.device));
    Ok(page::report_in_turn(&title, &tools, report))
}

fn no_record(id: i64) -> Oops {
    Oops::missing(format!("there is no record {id}\nhint: /records shows what there is"))
}

/// What `flashscope report` makes of it.
pub(crate) fn rendered(id: i64, text: &str) -> Result<String, Oops> {
    let record = flashscope_record::read(text);
    let record = record.map_err(|error| Oops::failed(format!("record {id} cannot be shown: {error}")))?;
    Ok(flashscope_report::any_html(&record))
}

/// `/records/12/report.html`: the report byte for byte.
pub(crate) async fn report(State(app): State<Arc<App>>, Path(id): Path<i64>) -> Result<Response, Oops> {
    let report = aside(&app, move |app| {
        let text = app.history(|store| store.record(id))?.ok_or_else(|| no_record(id))?;
        rendered(id, &text)
    });
    let report = report.await?;
    let policy = format!("{}; frame-ancestors 'none'", flashscope_report::policy(&report));
    let headers = [("content-security-policy", policy), ("content-type", "text/html; charset=utf-8".to_owned())];
    Ok((headers, report).into_response())
}

/// `/records/12/record.json` and `/api/records/12`: the bytes that were kept. The name of the file is a number.
pub(crate) async fn bytes(State(app): State<Arc<App>>, Path(id): Path<i64>) -> Result<Response, Oops> {
    let text = aside(&app, move |app| app.history(|store| store.record(id))?.ok_or_else(|| no_record(id))).await?;
    let name = format!("attachment; filename=\"record-{id}.json\"");
    Ok(([(CONTENT_TYPE, "application/json".to_owned()), (CONTENT_DISPOSITION, name)], text).into_response())
}
