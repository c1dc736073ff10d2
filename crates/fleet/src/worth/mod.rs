//! What experiments are worth: what those of a question settle ([`table()`]), what a run comes to in a limited time, beside one
//! that does everything in a fixed order until the time is up ([`limited`]), and how well what experiments take is predicted.

mod limited;
mod table;

pub use limited::{Compared, Predicted, limited};
pub use table::{TABLE_SEEDS, table};

use crate::draw::Drawn;
use crate::run::open;
use crate::score::{Judged, Parameter, judge};
use crate::{DrawError, Generator, Noise, draw};
use flashscope_device::{Target, WriteGrant};
use flashscope_infer::Want;
use flashscope_model::fleet::Verdict;
use flashscope_model::{Finding, Geometry};
use flashscope_session::usual_write_budget;
use flashscope_sim::SimTarget;
use flashscope_sim::truth::{self, Truth};
use std::collections::BTreeSet;

/// A drawn device, its truth and the right to write to it.
struct Device {
    drawn: Drawn,
    truth: Truth,
}

impl Device {
    fn draw(seed: u64, index: u32) -> Result<Device, DrawError> {
        let drawn = draw(Generator::Wide, seed, index, Some(Noise::Field))?;
        let truth =
            truth::of("drawn.toml", |_| Ok(drawn.text.clone())).map_err(|error| DrawError::new(error.to_string()))?;
        Ok(Device { drawn, truth })
    }

    fn open(&self) -> Result<(SimTarget, WriteGrant), DrawError> {
        let target = open(&self.drawn.text, self.drawn.seed).map_err(|error| DrawError::new(error.to_string()))?;
        let write = usual_write_budget(target.facts().capacity);
        let grant = WriteGrant::simulated(target.facts(), write)
            .ok_or_else(|| DrawError::new("no grant for a simulated device"))?;
        Ok((target, grant))
    }

    /// The findings that are right.
    fn right(&self, found: &Geometry) -> BTreeSet<Finding> {
        of_verdict(&judge(&self.truth, found), Verdict::Exact)
    }

    /// The findings that are wrong.
    fn wrong(&self, found: &Geometry) -> BTreeSet<Finding> {
        of_verdict(&judge(&self.truth, found), Verdict::Wrong)
    }
}

fn of_verdict(judged: &[Judged], verdict: Verdict) -> BTreeSet<Finding> {
    let finding = |one: &Judged| match one.parameter {
        Parameter::Of(finding) => Some(finding),
        Parameter::SlcKind => None,
    };
    judged.iter().filter(|one| one.verdict == verdict).filter_map(finding).collect()
}

/// How many of these are wanted.
fn wanted(want: Want, findings: &BTreeSet<Finding>) -> u32 {
    let count = findings.iter().filter(|finding| want.findings().contains(finding)).count();
    u32::try_from(count).unwrap_or(u32::MAX)
}
