//! Records of the history against each other. The comparison is the main program's, which is handed the records as files of a
//! folder that only their owner reads; their names are numbers, and its words are fixed but for these.

use crate::app::{App, aside};
use crate::oops::Oops;
use crate::page::{self, Form, Frame, Tab};
use axum::extract::{RawQuery, State};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use flashscope_supervisor::worker;
use maud::html as markup;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Records in one comparison.
const MOST: usize = 8;

/// What an address asks to be compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Asked {
    ids: Vec<i64>,
    anyway: bool,
}

/// `id=12&id=15`, and `ids=12+15` of the field.
fn asked(query: &str) -> Asked {
    let mut found = Asked::default();
    for (key, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
        match key {
            "id" | "ids" => {
                let value = value.replace("%2C", " ").replace("%20", " ");
                let words = value.split(|letter: char| !letter.is_ascii_digit());
                found.ids.extend(words.filter_map(|word| word.parse::<i64>().ok()));
            }
            "anyway" => found.anyway = value == "1",
            _ => {}
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    found.ids.retain(|id| seen.insert(*id));
    found
}

/// `/compare`.
pub(crate) async fn show(form: Form, State(app): State<Arc<App>>, RawQuery(query): RawQuery) -> Result<Response, Oops> {
    let asked = asked(query.as_deref().unwrap_or_default());
    if asked.ids.len() < 2 {
        return Ok(choose(&asked));
    }
    if asked.ids.len() > MOST {
        return Err(Oops::asked(format!("at most {MOST} records are compared at once\nhint: leave some of them out")));
    }
    let _one_of_few = app
        .comparisons
        .try_acquire()
        .map_err(|_| Oops::busy("other comparisons are under way\nhint: load this page again"))?;
    let (ids, anyway) = (asked.ids.clone(), asked.anyway);
    let compared = aside(&app, move |app| compared(app, &ids, anyway)).await?;
    if form == Form::Json {
        return match compared {
            Ok(json) => Ok(([(CONTENT_TYPE, "application/json")], json).into_response()),
            Err(said) => Err(Oops::asked(said)),
        };
    }
    let ids: Vec<String> = asked.ids.iter().map(i64::to_string).collect();
    let query = ids.iter().map(|id| format!("id={id}")).collect::<Vec<_>>().join("&");
    match compared {
        Ok(json) => {
            let record = flashscope_record::read(&json).map_err(|error| Oops::failed(error.to_string()))?;
            let tools = markup! {
                @for id in &ids { a href={ "/records/" (id) } { "Record " (id) } }
                a href={ "/api/compare?" (query) @if asked.anyway { "&anyway=1" } } { "Comparison (JSON)" }
            };
            Ok(page::report("Comparison", &flashscope_report::any_html(&record), &tools))
        }
        Err(said) => {
            let frame = Frame { title: "Not compared", here: Tab::Records, live: false, refresh: false };
            let body = markup! {
                div.callout role="alert" { @for line in said.lines() { p { (line) } } }
                @if !asked.anyway { p.turn { a href={ "/compare?" (query) "&anyway=1" } { "Compare anyway" } } }
                p.turn { @for id in &ids { a href={ "/records/" (id) } { "Record " (id) } } }
            };
            Ok(page::page(&frame, &body))
        }
    }
}

/// A page to say which records are meant.
fn choose(asked: &Asked) -> Response {
    let first = asked.ids.first().map(i64::to_string).unwrap_or_default();
    let body = markup! {
        p.lead { "Name two records or more by their numbers; the first is what the others are compared with." }
        form.ask method="get" action="/compare" {
            div.wide { label for="ids" { "Numbers of records" } input #ids type="text" name="ids" value=(first) inputmode="numeric" placeholder="12 15" maxlength="200"; }
            button.main type="submit" { "Compare" }
        }
        p { "They can be ticked in the list of " a href="/records" { "records" } " as well." }
    };
    page::page(&Frame { title: "Compare records", here: Tab::Records, live: false, refresh: false }, &body)
}

/// The record of a comparison, or why there is none, as the main program says it.
fn compared(app: &App, ids: &[i64], anyway: bool) -> Result<Result<String, String>, Oops> {
    let folder = Folder::below(app)?;
    let mut sides = Vec::new();
    for id in ids {
        let text = app.history(|store| store.record(*id))?;
        let text =
            text.ok_or_else(|| Oops::missing(format!("there is no record {id}\nhint: /records shows what there is")))?;
        let path = folder.0.join(format!("{id}.json"));
        std::fs::write(&path, text)
            .map_err(|error| Oops::failed(format!("cannot write {}: {error}", path.display())))?;
        sides.push(format!("record {id}={id}.json"));
    }
    let program = worker::program().map_err(|error| Oops::failed(error.to_string()))?;
    let mut command = Command::new(program);
    // In that folder and without this host's settings: nothing of it is kept anywhere.
    command
        .current_dir(&folder.0)
        .args(["--settings=/dev/null", "--quiet", "compare", "--json"])
        .args(anyway.then_some("--anyway"));
    let ran = command.args(&sides).stdin(Stdio::null()).output();
    let ran = ran.map_err(|error| Oops::failed(format!("cannot compare: {error}")))?;
    if !ran.stdout.is_empty() {
        return Ok(Ok(String::from_utf8_lossy(&ran.stdout).into_owned()));
    }
    let said = String::from_utf8_lossy(&ran.stderr).trim().trim_start_matches("error: ").to_owned();
    Ok(Err(flashscope_report::foreign::page(&said).into_owned()))
}

/// A folder that goes with what is in it.
struct Folder(PathBuf);

impl Folder {
    fn below(app: &App) -> Result<Folder, Oops> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let path = app.scratch.join(format!("compare-{}", NUMBER.fetch_add(1, Ordering::Relaxed)));
        let made = std::fs::create_dir(&path);
        made.map_err(|error| Oops::failed(format!("cannot make {}: {error}", path.display())))?;
        Ok(Folder(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_are_read_and_each_once() {
        let check = |query: &str, ids: &[i64], anyway: bool| {
            assert_eq!(asked(query), Asked { ids: ids.to_vec(), anyway }, "{query}");
        };
        check("id=12&id=15&id=12", &[12, 15], false);
        check("ids=12+15%2C17&anyway=1", &[12, 15, 17], true);
        check("", &[], false);
        check("id=../../etc/passwd&id=-o&ids=%2Fdev%2Fsda", &[2, 2].map(|id: i64| id)[..1], false);
        check("id=99999999999999999999999", &[], false);
    }
}
