//! `lab`: handed on to a program of its own beside this one, which starts this one for every run.

use super::history::hand_on;
use crate::args::HandedOn;
use crate::beside::Program;
use crate::error::{Failure, Outcome};

/// That program.
const PROGRAM: Program = Program { name: "flashscope-lab", folder: "supervisor", does: "works on shelves of devices" };

pub(crate) fn run(asked: &HandedOn) -> Result<Outcome, Failure> {
    hand_on("lab", &PROGRAM, asked)
}
