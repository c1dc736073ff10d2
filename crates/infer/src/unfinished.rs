//! Align tables that were cut short beside whole ones.
//!
//! Where a table was to end is not known of a cut one, and so not of which block size it is: beside whole tables it
//! adds nothing that they do not say better, and may pass for a table of larger blocks.

use flashscope_model::observation::{AlignData, Run, Source};
use flashscope_model::{Data, Observations};
use std::borrow::Cow;

/// The observations without printed align tables that broke off, where one of the same direction is whole.
pub(crate) fn left_out(observations: &Observations) -> Cow<'_, Observations> {
    let whole: Vec<&AlignData> = observations.runs.iter().filter(|run| run.complete).filter_map(printed).collect();
    let superfluous = |run: &Run| {
        let cut = printed(run).filter(|_| !run.complete);
        cut.is_some_and(|cut| whole.iter().any(|other| other.direction == cut.direction))
    };
    if !observations.runs.iter().any(superfluous) {
        return Cow::Borrowed(observations);
    }
    let runs = observations.runs.iter().filter(|run| !superfluous(run)).cloned().collect();
    Cow::Owned(Observations { capacity: observations.capacity, runs, ..Observations::default() })
}

fn printed(run: &Run) -> Option<&AlignData> {
    match (&run.data, &run.source) {
        (Data::Align(table), Source::Log { .. }) => Some(table),
        _ => None,
    }
}
