//! `flashscope-player`, the program that plays apps: orders on stdin, lines of JSON on stdout.
//!
//! A program of its own for two reasons: SQLite stays out of the main binary, and whoever serves the requests of an emulated device
//! does not wait for itself. It stops what it plays, says what it has until then, and leaves nothing behind, when its stdin is
//! closed: whoever started it may be gone.

mod database;
mod play;
mod pool;
mod stage;

use anyhow::Context;
use flashscope_app::Definition;
use flashscope_app::Script;
use flashscope_app::definition::MAIN;
use flashscope_app::wire::{Line, Order, Play};
use stage::Stage;
use std::io::{BufRead, BufReader, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::Duration;

static STOP: AtomicBool = AtomicBool::new(false);
static DONE: AtomicU64 = AtomicU64::new(0);
/// Performances of the app that is being played; 0 while none is.
static ALL: AtomicU64 = AtomicU64::new(0);

fn main() -> ExitCode {
    // All that can be typed: whoever unpacked it learns whether it starts here, and what it is.
    if std::env::args_os().nth(1).is_some_and(|word| word == "--version") {
        let told = writeln!(std::io::stdout(), "flashscope-player {}", env!("CARGO_PKG_VERSION"));
        return ExitCode::from(if told.is_ok() { 0 } else { 2 });
    }
    match served() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = say(&Line::Error(format!("{error:#}")));
            ExitCode::from(2)
        }
    }
}

/// Does what it is told until its stdin is closed.
fn served() -> anyhow::Result<()> {
    let mut stdin = BufReader::new(std::io::stdin());
    let mut first = String::new();
    stdin.read_line(&mut first)?;
    let Ok(Order::Open(ground)) = serde_json::from_str(&first) else {
        anyhow::bail!("there is no order on stdin: this program is started by `flashscope app`");
    };
    let (mut stage, opened) = Stage::open(&ground)?;
    // From here on this program may have threads.
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        let _ = stdin.lines().map_while(Result::ok).try_for_each(|line| tell.send(line));
        STOP.store(true, Ordering::Relaxed);
    });
    std::thread::spawn(tell_progress);
    let done =
        say(&Line::Open(Box::new(opened))).and_then(|()| told.iter().try_for_each(|line| done(&mut stage, &line)));
    // Also where something went wrong, nothing is to be left.
    done.and(stage.close())
}

fn done(stage: &mut Stage, line: &str) -> anyhow::Result<()> {
    let answer = match serde_json::from_str(line).context("an odd order")? {
        Order::Open(_) => anyhow::bail!("the place is open already"),
        Order::Play(play) => played(stage, &play)?,
        Order::Remove(name) => {
            stage.remove(&name);
            Line::Done
        }
        Order::MakeRoom(room) => {
            stage.make_room(&room)?;
            Line::Done
        }
    };
    say(&answer)
}

fn played(stage: &mut Stage, play: &Play) -> anyhow::Result<Line> {
    let app = Definition::parse(&play.definition)?;
    let directory = stage.of_run(&play.name)?;
    DONE.store(0, Ordering::Relaxed);
    ALL.store(Script::new(&app, MAIN, play.rounds, play.seed).length(), Ordering::Relaxed);
    let run = play::play(play, &directory, &app, &STOP, &DONE);
    ALL.store(0, Ordering::Relaxed);
    Ok(Line::Run(Box::new(run?)))
}

/// Says again and again how much is done, until nobody reads any more.
fn tell_progress() {
    loop {
        let all = ALL.load(Ordering::Relaxed);
        if all > 0 && say(&Line::Progress(DONE.load(Ordering::Relaxed), all)).is_err() {
            return STOP.store(true, Ordering::Relaxed);
        }
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// A line on stdout, whole even where threads say something at once.
fn say(line: &Line) -> anyhow::Result<()> {
    let mut text = serde_json::to_string(line)?;
    text.push('\n');
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    Ok(stdout.flush()?)
}
