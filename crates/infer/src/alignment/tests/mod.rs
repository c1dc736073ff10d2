//! Tests of the inference of alignment.

mod fixture;
mod live;
mod logs;

use super::AlignmentFindings;
use crate::Choice;
use crate::memo::Memo;
use flashscope_model::{DeviceFacts, Observations};

fn estimate(observations: &Observations) -> AlignmentFindings {
    super::estimate(observations, &Memo::default())
}

fn wanted(device: &DeviceFacts, observations: &Observations) -> Option<Choice> {
    super::wanted(device, observations, &Memo::default(), None)
}
