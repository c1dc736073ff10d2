//! `capacity --full`: every block written and read, gone on with where it was stopped.

use super::{Progress, cannot, first_generation};
use crate::args::Capacity;
use crate::error::Failure;
use crate::making::{self, beside, unfit};
use crate::progress::Turn;
use crate::{input, interrupt, output};
use anyhow::anyhow;
use flashscope_capacity::{Filling, FullPlan, Keep, Watch, full, head};
use flashscope_device::{Target, WriteGrant};
use flashscope_host::Output;
use flashscope_journal::Journal as _;
use flashscope_model::capacity::{CapacityRecord, Directory, Full, PassOrder};
use flashscope_model::{DeviceFacts, Envelope, StopReason};
use flashscope_units::Bytes;
use std::path::Path;

/// What was planned for a device, once it was looked at.
pub(super) struct Planned {
    plan: FullPlan,
    filling: Filling,
    /// Where the journal is kept; of a simulated device nowhere, as it is gone with this program, nor of one that gets back what it
    /// held.
    kept: Option<Output>,
    /// The files that are filled, where it is no device.
    directory: Option<Directory>,
}

impl Planned {
    /// Plans for a device, and finds the journal.
    pub(super) fn new(args: &Capacity, facts: &DeviceFacts) -> Result<Planned, Failure> {
        let order = if args.shuffled() { PassOrder::Shuffled } else { PassOrder::Sequential };
        let plan = FullPlan::new(facts.capacity, facts.logical_block, order, args.target.seed).map_err(cannot)?;
        let subject = making::subject(&args.target.target, facts);
        let new = || Filling::new(&plan, subject.clone(), first_generation(&args.target, facts.simulated));
        // What is put back at the end is no test to go on with.
        if facts.simulated || args.restore {
            let filling = new();
            return Ok(Planned { plan, filling, kept: None, directory: None });
        }
        let path = beside(args.results.output.first().map(AsRef::as_ref), facts, "filling.json");
        let kept = Some(output::plan(&mut output::door(false, [&args.target.target]), &path)?);
        if !path.exists() {
            let filling = new();
            return Ok(Planned { plan, filling, kept, directory: None });
        }
        let text = input::text(&path, "remove it, and begin anew")?;
        let filling =
            Filling::read(&text, &head(&plan, subject)).map_err(|error| unfit(&path, &args.target.target, error))?;
        Ok(Planned { plan, filling, kept, directory: None })
    }

    /// Plans for files: of a text that was kept to go on with it, of files that somebody else wrote to read them.
    pub(super) fn of_files(
        args: &Capacity,
        facts: &DeviceFacts,
        directory: Directory,
        (kept, text): (Option<Output>, Option<String>),
    ) -> Result<Planned, Failure> {
        let order = if args.shuffled() { PassOrder::Shuffled } else { PassOrder::Sequential };
        let plan = FullPlan::new(facts.capacity, facts.logical_block, order, args.target.seed).map_err(cannot)?;
        let subject = making::subject(&args.target.target, facts);
        let generation = first_generation(&args.target, false);
        let directory = Some(directory);
        if args.target.consent.read_only {
            let plan = plan.without_push();
            let filling = Filling::reading(&plan, subject, generation);
            return Ok(Planned { plan, filling, kept, directory });
        }
        let filling = match text {
            Some(text) => Filling::read(&text, &head(&plan, subject)).map_err(|error| {
                let place = kept.as_ref().map_or(Path::new(&args.target.target), Output::path);
                unfit(place, &args.target.target, error)
            })?,
            None => Filling::new(&plan, subject, generation),
        };
        Ok(Planned { plan, filling, kept, directory })
    }

    /// What it may write, at most.
    pub(super) fn budget(&self, args: &Capacity) -> Result<Bytes, Failure> {
        let (needed, most) = (self.filling.writes_needed(&self.plan), self.filling.writes_left(&self.plan));
        let back = if args.restore { self.plan.claimed } else { Bytes::ZERO };
        match args.target.consent.max_write.map(|limit| limit.saturating_sub(back)) {
            Some(limit) if limit < needed => Err(Failure::Cannot(anyhow!(
                "a full test of {} writes {needed}, which is more than --max-write leaves for it ({limit})\n\
                 hint: allow more, or leave --full out",
                args.target.target
            ))),
            Some(limit) => Ok(limit.min(most).max(self.plan.block)),
            None => Ok(most.max(self.plan.block)),
        }
    }

    /// Does it, or goes on with it; with the journal, which [`settle`] does away with once nothing is left to do.
    pub(super) fn tested(
        mut self,
        args: &Capacity,
        (target, grant): (&mut dyn Target, &mut WriteGrant),
        envelope: Envelope,
    ) -> (CapacityRecord, Option<Output>) {
        if !self.filling.is_new() {
            output::talk(&format!("going on where {} was stopped", args.target.target));
        }
        let mut watch =
            Kept { progress: Progress::new(args.results.json), kept: self.kept.as_ref(), turn: Turn::now() };
        let stop = full(&self.plan, &mut self.filling, (target, grant), &mut watch);
        watch.progress.bar.finish_and_clear();
        let seen = Full { directory: self.directory, ..self.filling.seen(&self.plan) };
        let verdict = flashscope_infer::capacity::full::verdict(&seen);
        let envelope = Envelope { cost: Some(self.filling.cost()), stop, ..envelope };
        let generation = self.filling.generation();
        (CapacityRecord { envelope, verdict, generation, quick: None, full: Some(seen) }, self.kept)
    }
}

/// Removes the journal of what is over, or says how to go on. The last step: whoever is stopped before it goes on by the journal.
pub(super) fn settle(kept: Option<&Output>, stop: &StopReason) {
    match (stop, kept) {
        (StopReason::Complete, Some(kept)) => kept.remove(),
        (_, Some(kept)) => output::talk(&format!("the same command goes on from here ({})", kept.path().display())),
        (_, None) => {}
    }
}

/// Shows how far a test is, and keeps it now and then.
struct Kept<'a> {
    progress: Progress,
    kept: Option<&'a Output>,
    turn: Turn,
}

impl Watch for Kept<'_> {
    fn progress(&mut self, moved: Bytes, most: Bytes) {
        self.progress.progress(moved, most);
    }

    fn stop(&mut self) -> bool {
        interrupt::asked()
    }
}

impl Keep for Kept<'_> {
    fn is_due(&mut self) -> bool {
        let mut due = false;
        self.turn.take(|| due = self.kept.is_some());
        due
    }

    fn keep(&mut self, filling: &Filling) {
        // What cannot be kept now may still be kept later; without a journal it begins anew, and nothing is lost.
        if let (Some(kept), Ok(text)) = (self.kept, filling.text()) {
            let _ = kept.keep(text.as_bytes());
        }
    }
}
