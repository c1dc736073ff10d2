//! Runs on simulated devices: started, watched, stopped, and kept in the history.
//!
//! One thread starts all workers and waits for them, as the kernel takes the end of the thread that started a worker for the end of
//! this program. What a run is told is [`Simulated`] and [`Work`], and there is no other way to it.

use crate::app::{App, aside};
use crate::guard::check_form;
use crate::live::{self, Shown};
use crate::oops::Oops;
use crate::page::{self, Form, Frame, Tab};
use crate::simulated::{RECORD, Simulated, WORKS, Work};
use axum::extract::{Form as Sent, Path, State};
use axum::http::StatusCode;
use axum::http::header::LOCATION;
use axum::response::{IntoResponse, Response};
use flashscope_report::foreign;
use flashscope_store::{Access, Store};
use flashscope_supervisor::worker::{self, Handle};
use maud::{Markup, html as markup};
use serde::Deserialize;
use serde_json::{Value, json};
use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path as FilePath, PathBuf};
use std::process::Child;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Runs that are remembered.
const REMEMBERED: usize = 50;
/// How often workers are looked at.
const EVERY: Duration = Duration::from_millis(100);
/// What a worker said last is shown, in bytes.
const TALK: u64 = 2048;
/// No record of a simulated device is longer, in bytes.
const LONGEST: u64 = 256 << 20;

/// Where a run is.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Stage {
    /// It works.
    UnderWay,
    /// It was asked to stop.
    Stopping,
    /// It ended, and this record is what it left.
    Done(i64),
    /// It was stopped and left nothing.
    Stopped,
    /// It failed.
    Failed(String),
}

/// A run.
#[derive(Clone, Debug)]
struct Run {
    number: u32,
    device: Simulated,
    work: &'static Work,
    state: Stage,
    talk: String,
}

enum Order {
    Start { number: u32, device: Simulated, work: &'static Work },
    Stop(u32),
    End(Sender<()>),
}

/// All runs since the program was started.
#[derive(Debug)]
pub(crate) struct Runs {
    orders: Sender<Order>,
    all: Arc<Mutex<Vec<Run>>>,
    at_once: usize,
}

fn held(all: &Mutex<Vec<Run>>) -> MutexGuard<'_, Vec<Run>> {
    all.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Run {
    fn is_over(&self) -> bool {
        !matches!(self.state, Stage::UnderWay | Stage::Stopping)
    }
}

impl Runs {
    /// Waits for runs; records go into the history at `store`, what a worker needs beside lies in `scratch`.
    pub(crate) fn begin(store: PathBuf, scratch: PathBuf, at_once: usize) -> Runs {
        let (orders, taken) = channel();
        let all = Arc::new(Mutex::new(Vec::new()));
        let known = all.clone();
        std::thread::spawn(move || Keeper { store, scratch, all: known, workers: Vec::new() }.keep(&taken));
        Runs { orders, all, at_once }
    }

    /// Starts a run, where not too many are under way.
    fn start(&self, device: Simulated, work: &'static Work) -> Result<u32, Oops> {
        let mut all = held(&self.all);
        if all.iter().filter(|run| !run.is_over()).count() >= self.at_once {
            let said = format!(
                "{} may be under way at once\nhint: wait for one, stop one, or start with --runs N",
                page::counted(self.at_once, "run")
            );
            return Err(Oops::busy(said));
        }
        let number = all.last().map_or(1, |run: &Run| run.number + 1);
        if all.len() >= REMEMBERED {
            let oldest = all.iter().position(Run::is_over);
            oldest.map(|place| all.remove(place));
        }
        all.push(Run { number, device: device.clone(), work, state: Stage::UnderWay, talk: String::new() });
        self.order(Order::Start { number, device, work })?;
        Ok(number)
    }

    fn stop(&self, number: u32) -> Result<(), Oops> {
        let mut all = held(&self.all);
        let run = all.iter_mut().find(|run| run.number == number);
        let run = run.ok_or_else(|| Oops::missing("there is no such run\nhint: /runs shows those there are"))?;
        if !run.is_over() {
            run.state = Stage::Stopping;
            self.order(Order::Stop(number))?;
        }
        Ok(())
    }

    fn order(&self, order: Order) -> Result<(), Oops> {
        self.orders.send(order).map_err(|_| Oops::failed("no thread takes runs any more\nhint: start the program anew"))
    }

    /// Ends all workers, for the end of this program.
    pub(crate) fn end(&self) {
        let (done, wait) = channel();
        if self.orders.send(Order::End(done)).is_ok() {
            let _ = wait.recv_timeout(Duration::from_secs(5));
        }
    }

    fn list(&self) -> Vec<Run> {
        let mut all = held(&self.all).clone();
        all.reverse();
        all
    }
}

/// A worker of a run.
struct Worker {
    number: u32,
    child: Child,
    handle: Handle,
    folder: PathBuf,
    /// How often it was asked to stop.
    asked: u32,
}

/// The thread that starts workers and waits for them.
struct Keeper {
    store: PathBuf,
    scratch: PathBuf,
    all: Arc<Mutex<Vec<Run>>>,
    workers: Vec<Worker>,
}

impl Keeper {
    fn keep(mut self, orders: &Receiver<Order>) {
        loop {
            match orders.recv_timeout(EVERY) {
                Ok(Order::Start { number, device, work }) => self.start(number, &device, work),
                Ok(Order::Stop(number)) => self.stop(number),
                Ok(Order::End(done)) => {
                    self.workers.iter_mut().for_each(|worker| {
                        worker.handle.kill();
                        let _ = worker.child.wait();
                    });
                    let _ = done.send(());
                    return;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            self.look();
        }
    }

    fn start(&mut self, number: u32, device: &Simulated, work: &Work) {
        // Named by its number alone.
        let folder = self.scratch.join(format!("run-{number}"));
        let words = work.words(device);
        match worker::program().and_then(|program| worker::start(&folder, &program, &words)) {
            Ok((child, handle)) => self.workers.push(Worker { number, child, handle, folder, asked: 0 }),
            Err(error) => self.set(number, Stage::Failed(error.to_string()), None),
        }
    }

    fn stop(&mut self, number: u32) {
        if let Some(worker) = self.workers.iter_mut().find(|worker| worker.number == number) {
            worker.asked += 1;
            // In good order, so that it keeps what it has; the second wish is meant otherwise.
            if worker.asked == 1 { worker.handle.interrupt() } else { worker.handle.kill() }
        }
    }

    fn look(&mut self) {
        for worker in std::mem::take(&mut self.workers) {
            self.look_at(worker);
        }
    }

    fn look_at(&mut self, mut worker: Worker) {
        let talk = last_words(&worker.folder.join("stderr.txt"));
        match worker.child.try_wait() {
            Ok(None) => {
                if let Some(run) = held(&self.all).iter_mut().find(|run| run.number == worker.number) {
                    run.talk = talk;
                }
                self.workers.push(worker);
                return;
            }
            Ok(Some(status)) => {
                let state = match self.kept(&worker.folder.join(RECORD)) {
                    Ok(Some(id)) => Stage::Done(id),
                    Ok(None) if worker.asked > 0 => Stage::Stopped,
                    Ok(None) => Stage::Failed(format!("it left no record ({status})")),
                    Err(why) => Stage::Failed(why),
                };
                self.set(worker.number, state, Some(talk));
            }
            Err(error) => self.set(worker.number, Stage::Failed(error.to_string()), Some(talk)),
        }
        let _ = fs::remove_dir_all(&worker.folder);
    }

    /// Keeps a run's record in the history, where it left one.
    fn kept(&self, record: &FilePath) -> Result<Option<i64>, String> {
        match fs::metadata(record) {
            Err(_) => return Ok(None),
            Ok(known) if known.len() > LONGEST => return Err("its record is longer than a record can be".to_owned()),
            Ok(_) => {}
        }
        let text = fs::read_to_string(record).map_err(|error| error.to_string())?;
        let kept = Store::open(&self.store, Access::Write).and_then(|mut store| store.add(&[text]));
        let kept = kept.map_err(|error| format!("its record was not kept: {error}"))?;
        kept.into_iter().next().transpose().map(|kept| kept.map(|kept| kept.id())).map_err(|error| error.to_string())
    }

    fn set(&self, number: u32, state: Stage, talk: Option<String>) {
        if let Some(run) = held(&self.all).iter_mut().find(|run| run.number == number) {
            run.state = state;
            run.talk = talk.unwrap_or_default();
        }
    }
}

/// The end of what a worker said.
fn last_words(path: &FilePath) -> String {
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file = fs::File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(TALK)))?;
        let mut bytes = Vec::new();
        file.take(TALK).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = read().unwrap_or_default();
    foreign::page(String::from_utf8_lossy(&bytes).trim()).into_owned()
}

/// `/runs`.
pub(crate) async fn list(form: Form, State(app): State<Arc<App>>) -> Result<Response, Oops> {
    // Without scripts a page that is loaded anew would take a half-filled form away, so that it is only where a run goes on.
    let goes_on = app.runs.list().iter().any(|run| !run.is_over());
    let frame = Frame { title: "Simulated runs", here: Tab::Runs, live: true, refresh: goes_on };
    let shown = shown(&app);
    let page = || {
        markup! {
            p.lead #answer role="status" { (shown.answer) }
            (ask(&app))
            div data-events="/events/runs" { (maud::PreEscaped(&shown.html)) }
        }
    };
    let json = || Value::Array(app.runs.list().iter().map(told).collect());
    Ok(page::answer(form, &frame, page, json))
}

fn told(run: &Run) -> Value {
    let (word, record, why) = match &run.state {
        Stage::UnderWay => ("under way", None, None),
        Stage::Stopping => ("stopping", None, None),
        Stage::Done(id) => ("done", Some(*id), None),
        Stage::Stopped => ("stopped", None, None),
        Stage::Failed(why) => ("failed", None, Some(why.clone())),
    };
    json!({ "run": run.number, "device": run.device.target(), "work": run.work.name, "state": word, "record": record, "why": why })
}

/// The form that starts one.
fn ask(app: &App) -> Markup {
    markup! {
        form.ask method="post" action="/runs" {
            input type="hidden" name="form" value=(app.form.reveal());
            div.wide { label for="model" { "Simulated device" }
                select #model name="model" { @for entry in flashscope_sim::catalogue() { option value=(entry.name) { (entry.name) ": " (entry.title) } } } }
            div.wide { label for="changes" { "Changes to it (optional)" } input #changes type="text" name="changes" maxlength="160" placeholder="noise=field,seed=7"; }
            div.wide { label for="work" { "What to do" } select #work name="work" { @for work in &WORKS { option value=(work.name) { (work.title) } } } }
            button.main type="submit" { "Start" }
            p.hint { "On simulated devices only: nothing on these pages can write to a real one. Records go into the history." }
        }
    }
}

fn shown(app: &App) -> Shown {
    let all = app.runs.list();
    let busy = all.iter().filter(|run| !run.is_over()).count();
    let failed = all.iter().filter(|run| matches!(run.state, Stage::Failed(_))).count();
    let under_way =
        if busy == 0 { "No run is under way".to_owned() } else { page::counted(busy, "run") + " under way" };
    let answer = match (all.len(), failed) {
        (0, _) => "No run was started since the program was.".to_owned(),
        (_, 0) => format!("{under_way}."),
        (_, failed) => format!("{under_way}, {failed} failed."),
    };
    let html = markup! { @for run in &all { (one(app, run)) } };
    Shown { answer, html: html.into_string() }
}

fn one(app: &App, run: &Run) -> Markup {
    let number = run.number;
    let (tone, word) = match &run.state {
        Stage::UnderWay => ("fair", "under way"),
        Stage::Stopping => ("fair", "stopping"),
        Stage::Done(_) => ("good", "done"),
        Stage::Stopped => ("open", "stopped"),
        Stage::Failed(_) => ("poor", "failed"),
    };
    markup! {
        section."card run" aria-label={ "run " (number) } {
            h3 { span.state.(tone) { (word) } span { (run.work.title) } code { (run.device.target()) } }
            @if let Stage::Done(id) = run.state { p { a #{ "record-" (number) } href={ "/records/" (id) } { "Record " (id) } } }
            @if let Stage::Failed(why) = &run.state { p { (foreign::line(why)) } }
            @if !run.talk.is_empty() { details #{ "talk-" (number) } { summary #{ "said-" (number) } { "What it said" } pre."talk card" { (run.talk) } } }
            @if !run.is_over() {
                form method="post" action={ "/runs/" (number) "/stop" } {
                    input type="hidden" name="form" value=(app.form.reveal());
                    button #{ "stop-" (number) } type="submit" { @if run.state == Stage::Stopping { "End it at once" } @else { "Stop" } }
                }
            }
        }
    }
}

/// `/events/runs`.
pub(crate) async fn events(State(app): State<Arc<App>>) -> Result<Response, Oops> {
    live::stream(app, |app| Ok(shown(app)))
}

/// What the form sends.
#[derive(Debug, Deserialize)]
pub(crate) struct Asked {
    form: String,
    model: String,
    #[serde(default)]
    changes: String,
    work: String,
}

/// `POST /runs`.
pub(crate) async fn start(State(app): State<Arc<App>>, Sent(asked): Sent<Asked>) -> Result<Response, Oops> {
    check_form(&app, &asked.form)?;
    let work = Work::of(&asked.work).ok_or_else(|| Oops::asked("there is no such work\nhint: /runs has a list"))?;
    let changes = asked.changes.trim().trim_matches(',');
    let spec = if changes.is_empty() { asked.model } else { format!("{},{changes}", asked.model) };
    let device = Simulated::of(&spec).map_err(|why| Oops::asked(format!("no simulated device: {why}")))?;
    aside(&app, move |app| app.runs.start(device, work)).await?;
    Ok(back())
}

/// What the button sends.
#[derive(Debug, Deserialize)]
pub(crate) struct Pressed {
    form: String,
}

/// `POST /runs/3/stop`.
pub(crate) async fn stop(
    State(app): State<Arc<App>>,
    Path(number): Path<u32>,
    Sent(pressed): Sent<Pressed>,
) -> Result<Response, Oops> {
    check_form(&app, &pressed.form)?;
    aside(&app, move |app| app.runs.stop(number)).await?;
    Ok(back())
}

fn back() -> Response {
    (StatusCode::SEE_OTHER, [(LOCATION, "/runs")]).into_response()
}
