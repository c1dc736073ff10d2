//! `serve`: handed on to a program of its own beside this one, with the only async runtime.

use super::history::hand_on;
use crate::args::HandedOn;
use crate::beside::Program;
use crate::error::{Failure, Outcome};

/// That program.
const PROGRAM: Program = Program { name: "flashscope-serve", folder: "serve", does: "shows pages" };

pub(crate) fn run(asked: &HandedOn) -> Result<Outcome, Failure> {
    hand_on("serve", &PROGRAM, asked)
}
