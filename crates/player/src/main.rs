//! `flashscope-player`, the program that plays an app once: an order on stdin, lines of JSON on stdout.
//!
//! A program of its own for two reasons: SQLite stays out of the main binary, and whoever plays on an emulated device does
//! not wait for itself. It stops, and says what it has until then, when its stdin is closed: whoever started it may be gone.

mod database;
mod play;
mod pool;

use flashscope_app::Definition;
use flashscope_app::Script;
use flashscope_app::definition::MAIN;
use flashscope_app::wire::{Line, Order};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

static STOP: AtomicBool = AtomicBool::new(false);
static DONE: AtomicU64 = AtomicU64::new(0);

fn main() -> ExitCode {
    let mut stdin = BufReader::new(std::io::stdin());
    let mut order = String::new();
    let line = match stdin.read_line(&mut order) {
        Ok(0) => Line::Error("there is no order on stdin: this program is started by `flashscope app`".to_owned()),
        Ok(_) => {
            std::thread::spawn(move || {
                let _ = stdin.read_to_end(&mut Vec::new());
                STOP.store(true, Ordering::Relaxed);
            });
            match played(&order) {
                Ok(line) => line,
                Err(error) => Line::Error(format!("{error:#}")),
            }
        }
        Err(error) => Line::Error(error.to_string()),
    };
    let failed = matches!(line, Line::Error(_));
    match say(&line) {
        Ok(()) if !failed => ExitCode::SUCCESS,
        _ => ExitCode::from(2),
    }
}

fn played(order: &str) -> anyhow::Result<Line> {
    let order: Order = serde_json::from_str(order)?;
    let app = Definition::parse(&order.definition)?;
    say(&Line::Sqlite(rusqlite::version().to_owned()))?;
    let all = Script::new(&app, MAIN, order.rounds, order.seed).length();
    std::thread::spawn(move || {
        while say(&Line::Progress(DONE.load(Ordering::Relaxed), all)).is_ok() {
            std::thread::sleep(Duration::from_millis(200));
        }
        // Nobody reads any more.
        STOP.store(true, Ordering::Relaxed);
    });
    Ok(Line::Run(Box::new(play::play(&order, &app, &STOP, &DONE)?)))
}

/// A line on stdout, whole even where threads say something at once.
fn say(line: &Line) -> anyhow::Result<()> {
    let mut text = serde_json::to_string(line)?;
    text.push('\n');
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    Ok(stdout.flush()?)
}
