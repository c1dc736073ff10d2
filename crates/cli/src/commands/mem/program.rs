//! The program that measures memory, started beside this one.

use crate::beside::Program;
use crate::error::Failure;
use crate::{interrupt, progress};
use anyhow::anyhow;
use flashscope_mem::wire::{Line, Order};
use flashscope_model::memory::MemoryRecord;
use flashscope_model::{Envelope, StopReason};
use flashscope_record::Recorded;
use std::io::Write;
use std::process::{Child, ChildStdin};
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

/// That program.
const PROGRAM: Program = Program { name: "flashscope-mem", folder: "memory", does: "measures memory" };

/// What it measured.
pub(super) struct Measured {
    /// The part of the record, as far as it goes.
    part: String,
    /// Why it did not come to its end.
    broken: Option<String>,
}

impl Measured {
    /// The record with this envelope, which says why it ended.
    pub(super) fn with(self, mut envelope: Envelope) -> Result<MemoryRecord, Failure> {
        let part = serde_json::from_str(&self.part).map_err(|_| odd(&self.part))?;
        envelope.stop = match self.broken {
            Some(why) => StopReason::InternalError(why),
            None if interrupt::asked() => StopReason::Interrupted,
            None => StopReason::Complete,
        };
        MemoryRecord::of(envelope, part).map_err(|error| Failure::Cannot(anyhow!("{}: {error}", PROGRAM.name)))
    }
}

/// Has an order done. Where the operator asks to stop, or the program is ended by others, what was measured until then comes back.
///
/// # Errors
/// There is no such program, or nothing was measured at all.
pub(super) fn run(order: &Order) -> Result<Measured, Failure> {
    // Whoever asks to stop asks this program, which has the other one stop in good order.
    interrupt::arm();
    let mut child = PROGRAM.start()?;
    let mut to = child.stdin.take();
    let text = serde_json::to_string(order).expect("an order is plain data") + "\n";
    // Where it does not read, it says why on the other side.
    let _ = to.as_mut().map(|to| to.write_all(text.as_bytes()));
    let answer = answer(&mut child, &mut to);
    drop(to);
    let last_words = PROGRAM.last_words(&mut child);
    match answer {
        Answer::Whole(part) => Ok(Measured { part, broken: None }),
        Answer::Broken(so_far, said) => {
            let why = said.unwrap_or(last_words);
            match so_far {
                Some(part) => Ok(Measured { part, broken: Some(why) }),
                None => Err(Failure::Cannot(anyhow!("{why}"))),
            }
        }
    }
}

/// What came of an order.
enum Answer {
    /// The whole part of the record.
    Whole(String),
    /// The part as far as it was told, and why there is no more.
    Broken(Option<String>, Option<String>),
}

fn answer(child: &mut Child, to: &mut Option<ChildStdin>) -> Answer {
    let told = PROGRAM.lines(child, |line| serde_json::from_str(line).ok(), Line::Error);
    let bar = progress::bar(1000, "‰");
    let mut so_far = None;
    let answer = loop {
        if interrupt::asked() {
            // With its stdin gone it stops, and says what it has.
            *to = None;
        }
        match told.recv_timeout(Duration::from_millis(100)) {
            Ok(Line::Progress(what, done)) => {
                bar.set_message(what);
                bar.set_position(done);
            }
            Ok(Line::SoFar(part)) => so_far = Some(part),
            Ok(Line::Done(part)) => break Answer::Whole(part),
            Ok(Line::Error(why)) => break Answer::Broken(so_far, Some(why)),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break Answer::Broken(so_far, None),
        }
    };
    bar.finish_and_clear();
    answer
}

fn odd(part: &str) -> Failure {
    let start: String = part.chars().take(60).collect();
    Failure::Cannot(anyhow!(
        "{} gave an odd answer: {start} …\nhint: it is of another version; build both with `cargo build --release`",
        PROGRAM.name
    ))
}
