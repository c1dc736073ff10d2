//! `lab`: handed on to a program of its own beside this one, which starts this one for every run.

use super::history::hand_on;
use crate::args::HandedOn;
use crate::error::{Failure, Outcome};

pub(crate) fn run(asked: &HandedOn) -> Result<Outcome, Failure> {
    hand_on("lab", "flashscope-lab", "works on shelves of devices", "flashscope-supervisor", asked)
}
