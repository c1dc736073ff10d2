//! `flashscope-mem`, the program that measures memory: one order on stdin, lines of JSON on stdout.
//!
//! A program of its own, so that nothing else of flashscope is in its caches or on its processors, the main binary stays small, and
//! whoever is killed for want of memory is not who keeps the record. It stops and says what it has when its stdin is closed.

mod bandwidth;
mod chaser;
mod loaded;
mod machine;
mod pages;
mod session;
mod stress;
mod workers;

use anyhow::Context;
use flashscope_mem::wire::{Line, Order, Test};
use session::Session;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether nobody waits for more.
static STOP: AtomicBool = AtomicBool::new(false);

fn main() -> ExitCode {
    // All that can be typed: whoever unpacked it learns whether it starts here, and what it is.
    if std::env::args_os().nth(1).is_some_and(|word| word == "--version") {
        let told = writeln!(std::io::stdout(), "flashscope-mem {}", env!("CARGO_PKG_VERSION"));
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

fn served() -> anyhow::Result<()> {
    let mut stdin = BufReader::new(std::io::stdin());
    let mut first = String::new();
    stdin.read_line(&mut first)?;
    let order: Order = serde_json::from_str(&first)
        .context("there is no order on stdin: this program is started by `flashscope mem`")?;
    std::thread::spawn(move || {
        let _ = stdin.read_to_end(&mut Vec::new());
        STOP.store(true, Ordering::Relaxed);
    });
    let mut session = Session::begin(order.limits, order.tests.len(), machine::Machine::look());
    for test in &order.tests {
        match test {
            Test::Bandwidth(asked) => bandwidth::measure(&mut session, asked)?,
            Test::Stress(asked) => stress::measure(&mut session, asked)?,
            Test::Latency(asked) => chaser::latency(&mut session, *asked)?,
            Test::Loaded(asked) => loaded::measure(&mut session, *asked)?,
            Test::Inspect(asked) => chaser::inspect(&mut session, *asked)?,
        }
        session.test_done()?;
        if stopped() {
            break;
        }
    }
    say(&Line::Done(session.part()))
}

/// Whether measuring is to end.
fn stopped() -> bool {
    STOP.load(Ordering::Relaxed)
}

/// A line on stdout.
fn say(line: &Line) -> anyhow::Result<()> {
    let mut text = serde_json::to_string(line)?;
    text.push('\n');
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    Ok(stdout.flush()?)
}
