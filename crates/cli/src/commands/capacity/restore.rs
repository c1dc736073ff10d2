//! `capacity --restore`: what stood there is kept in a journal beside the record, and put back at the end, or by the next run.

use crate::args::Capacity;
use crate::error::Failure;
use crate::making::{beside, subject};
use crate::output;
use anyhow::anyhow;
use flashscope_capacity::Plan;
use flashscope_device::{Refusal, RefusalKind, Target, WriteGrant};
use flashscope_host::{HostTarget, Output, UndoError, UndoJournal, Undoing};
use flashscope_model::DeviceFacts;
use flashscope_units::Bytes;
use std::path::Path;

/// The journal of a device, where it is and what an earlier run left in it.
pub(super) struct Restore {
    journal: Output,
    left: Option<UndoJournal>,
    identity: String,
    capacity: Bytes,
    /// What is written back at most.
    most: Bytes,
}

/// A target whose content comes back, and the right to put it there.
pub(super) struct Held {
    pub(super) target: Undoing,
    back: WriteGrant,
    path: String,
}

impl Restore {
    /// Plans for a device on which a test overwrites this much at most. `None` where nothing is to be put back; where an earlier
    /// run left something, that is not passed over.
    pub(super) fn new(args: &Capacity, facts: &DeviceFacts, overwrites: Bytes) -> Result<Option<Restore>, Failure> {
        if facts.simulated {
            return match args.restore {
                false => Ok(None),
                true => {
                    Err(Failure::Cannot(anyhow!("a simulated device holds nobody's data\nhint: leave --restore out")))
                }
            };
        }
        let path = beside(args.results.output.first().map(AsRef::as_ref), facts, "undo");
        let plan = || output::plan(&mut output::door(false, [&args.target.target]), &path);
        if !args.restore {
            return if UndoJournal::is_at(&path) { Err(left_behind(args, &path)) } else { Ok(None) };
        }
        let (identity, capacity) = (subject(&args.target.target, facts).identity, facts.capacity);
        let left = UndoJournal::left(plan()?, &identity, capacity).map_err(|error| unfit(args, &path, &error))?;
        let held = left.as_ref().map_or(Bytes::ZERO, UndoJournal::held);
        let journal = plan()?;
        let needed = overwrites.min(capacity);
        if let Some(room) = journal.room().filter(|room| *room < needed) {
            return Err(Failure::Cannot(anyhow!(
                "what stands on {} takes up to {needed} in {}, and {room} are free there\n\
                 hint: name a place with more room with -o, or test less",
                args.target.target,
                path.display()
            )));
        }
        Ok(Some(Restore { journal, left, identity, capacity, most: needed + held }))
    }

    /// What is written back at most.
    pub(super) fn most(&self) -> Bytes {
        self.most
    }

    /// Puts back what an earlier run left, and keeps what stands there from now on.
    pub(super) fn hold(self, args: &Capacity, target: HostTarget, grant: &mut WriteGrant) -> Result<Held, Failure> {
        let path = self.journal.path().display().to_string();
        let enough = || anyhow!("the right to put back {} was not given", self.most);
        let back = grant.split(self.most).ok_or_else(enough)?;
        let earlier = self.left.is_some();
        let journal = match self.left {
            Some(left) => left,
            None => UndoJournal::begin(self.journal, &self.identity, self.capacity)
                .map_err(|error| anyhow!("cannot keep what stands on {}: {error}", args.target.target))?,
        };
        let mut held = Held { target: Undoing::new(target, journal), back, path };
        if earlier {
            output::talk(&format!("an earlier run was ended before it put back what stood on {}", args.target.target));
            held.put_back(args)?;
        }
        output::talk(&format!("what stands where it writes is kept in {} until it is put back", held.path));
        Ok(held)
    }
}

impl Held {
    /// Keeps what a quick test will overwrite, all at once.
    pub(super) fn keep_ahead(&mut self, plan: &Plan) -> Result<(), Failure> {
        let places = plan.places.iter().map(|place| (*place, plan.block));
        let ranges: Vec<(Bytes, Bytes)> = places.chain([(Bytes::ZERO, plan.region)]).collect();
        self.target.keep(&ranges).map_err(|error| Failure::Cannot(anyhow!("{error}\nhint: nothing was written")))
    }

    /// Puts everything back.
    fn put_back(&mut self, args: &Capacity) -> Result<(), Failure> {
        let done = self.target.put_back(&mut self.back).map_err(|error| {
            Failure::Cannot(anyhow!(
                "not all that stood on {} was put back: {error}\n\
                 hint: it is in {}; the same command puts it back first",
                args.target.target,
                self.path
            ))
        })?;
        output::talk(&format!("put back: {} of {}", done.bytes, args.target.target));
        if done.different > Bytes::ZERO {
            output::talk(&format!(
                "{} of it read otherwise than they were written: the device does not keep them, or has one place for several \
                 addresses",
                done.different
            ));
        }
        Ok(())
    }

    /// The same at the end, when the journal is no longer needed.
    pub(super) fn end(mut self, args: &Capacity) -> Result<(), Failure> {
        self.put_back(args)?;
        self.target.remove_journal();
        Ok(())
    }

    pub(super) fn target(&mut self) -> &mut dyn Target {
        &mut self.target
    }
}

fn left_behind(args: &Capacity, path: &Path) -> Failure {
    let what = format!("{} keeps what an earlier run has not put back", path.display());
    let release = Some("add --restore: it is put back first; or remove the file, and it is lost".to_owned());
    let refusals = vec![Refusal { kind: RefusalKind::Changed, what, release }];
    Failure::Refused { target: args.target.target.clone(), writing: true, refusals }
}

fn unfit(args: &Capacity, path: &Path, error: &UndoError) -> Failure {
    let what = format!("{}: {error}", path.display());
    let release = Some("connect the part that it belongs to, or name another file with -o".to_owned());
    let refusals = vec![Refusal { kind: RefusalKind::Changed, what, release }];
    Failure::Refused { target: args.target.target.clone(), writing: true, refusals }
}
