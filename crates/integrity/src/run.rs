//! All cuts, one after the other.

use crate::journal::{Done, Journal};
use crate::judge::{Case, Judged, Map, Violation, judge};
use crate::ledger::Ledger;
use crate::round::{self, Host};
use crate::sequence::{Draft, Sequence};
use flashscope_device::{DeviceError, Holds, Known, PowerSwitch, Stretch, WriteGrant};
use flashscope_model::integrity::{self as model, Asked, AskedFor, FaultKind, Moment};
use flashscope_stats::rng::stream;
use flashscope_units::{Bytes, Instant, Nanos};

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// How often the power is cut.
    pub cuts: u32,
    /// All writes, flushes and moments follow from it.
    pub seed: u64,
    /// What the first write carries, the others what comes behind: [`first_generation`] of the seed, and of a real device of more.
    pub generation: u32,
    /// Where the writes go: from here …
    pub offset: Bytes,
    /// … over so much, in whole MiB.
    pub length: Bytes,
    /// A device that takes longer from power on to its first answer comes back slowly.
    pub slow_after: Nanos,
    /// At the end so much of the device is looked through for writes that went elsewhere, the range around the writes first.
    pub search: Bytes,
}

/// One who looks on.
pub trait Watcher {
    /// A cut was judged: its number, and whether something was not as promised.
    fn cut(&mut self, cut: &model::Cut);
    /// Whether to stop now.
    fn stop(&mut self) -> bool;
}

/// What was seen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Every cut, as records have it.
    pub cuts: Vec<model::Cut>,
    /// The same for the verdict.
    pub seen: Vec<Seen>,
    /// Where data were found at the end that belong elsewhere: (place, where they were addressed to).
    pub strays: Vec<(Bytes, Bytes)>,
    /// How much was looked through for them.
    pub searched: Bytes,
    /// What flushes take that have something to cover, and those that have nothing to do.
    pub flush_times: Option<(Nanos, Nanos)>,
    /// What was written, the first filling included.
    pub written: Bytes,
    /// What was asked for before the last cut.
    pub requests: Vec<Asked>,
    /// Why it went no further, if it did not.
    pub ended: Option<Ended>,
}

/// Why a run went no further.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Someone wished so.
    Stopped,
    /// The device did what no further cut can be judged after.
    Device(String),
    /// It cannot be held against the device: the power could not be cut, the budget is spent.
    Harness(String),
}

/// What the verdict needs to know of a cut.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seen {
    /// What was found, by this cut alone.
    pub judged: Judged,
    /// What is wrong with the device as a whole.
    pub whole: Option<FaultKind>,
    /// From the last acknowledgement that covered something until the cut.
    pub since_covered: Option<Nanos>,
}

/// Flushes with nothing to do, at the beginning.
const IDLE_FLUSHES: usize = 5;
/// From the first filling to the first cut: what was acknowledged then must be safe.
const SETTLING: Nanos = Nanos::secs(5);
/// More than is written before a cut: eighteen groups of four writes of 128 KiB, and single ones in wait of a busy device.
const MOST_IN_BODY: Bytes = Bytes::mib(16);
/// Violations of a cut that are kept.
const KEPT: usize = 16;
/// Most that the range of writes takes of a device by itself: small enough that writes meet again.
const USUAL_LENGTH: Bytes = Bytes::mib(2);

/// Most that a run of so many cuts writes to a real device, which goes on writing until its power has gone; the first filling
/// included.
pub fn most_written(length: Bytes, cuts: u32) -> Bytes {
    length + (round::MOST_AFTER + MOST_IN_BODY + length) * u64::from(cuts)
}

/// Where the writes go where nobody says so: in the middle of the device.
pub fn usual_region(capacity: Bytes) -> (Bytes, Bytes) {
    let length = USUAL_LENGTH.min((capacity / 2).align_down(Bytes::kib(4)));
    ((capacity / 2).align_down(Bytes::mib(1)).min(capacity - length), length)
}

/// The generation of the first write of a run. It follows from the seed, so that what an earlier run left is not taken for data
/// of this one; there is room for four thousand million writes behind it.
pub fn first_generation(seed: u64) -> u32 {
    (stream(seed, u64::from(u32::MAX)) as u32) >> 2 | 1
}

/// Does all cuts, and keeps what was acknowledged in a ledger as it comes. What was seen until then comes back, however it ends.
pub fn run<T: PowerSwitch>(
    target: &mut T,
    grant: &mut WriteGrant,
    plan: &Plan,
    ledger: &mut dyn Ledger,
    watcher: &mut dyn Watcher,
) -> Report {
    let mut run = Run::new(target, grant, *plan, ledger);
    run.all(watcher);
    run.report
}

struct Run<'a, T> {
    host: Host<'a, T>,
    plan: Plan,
    capacity: Bytes,
    before: Map,
    begun: Instant,
    report: Report,
}

impl<'a, T: PowerSwitch> Run<'a, T> {
    fn new(target: &'a mut T, grant: &'a mut WriteGrant, plan: Plan, ledger: &'a mut dyn Ledger) -> Run<'a, T> {
        let (capacity, begun) = (target.facts().capacity, target.now());
        // What stands there before the first write is nobody's.
        let before = Map::new(plan.offset, vec![Stretch { length: plan.length, holds: Holds::Foreign }]);
        let host = Host::new(target, grant, (plan.offset, plan.length), plan.generation, ledger);
        Run { host, plan, capacity, before, begun, report: Report::default() }
    }

    fn all(&mut self, watcher: &mut dyn Watcher) {
        let spent = self.host.grant.spent();
        let mut went = self.fill();
        for number in 1..=self.plan.cuts {
            if went.is_err() || self.report.ended.is_some() {
                break;
            }
            if watcher.stop() {
                self.report.ended = Some(Ended::Stopped);
                break;
            }
            went = self.cut(number);
            self.report.cuts.iter().rev().take(1).filter(|cut| cut.number == number).for_each(|cut| watcher.cut(cut));
        }
        if let Err(error) = went.and_then(|()| self.search()) {
            self.report.ended.get_or_insert(Ended::Harness(error.to_string()));
        }
        self.report.flush_times = self.host.pace.flush_times();
        self.report.written += self.host.grant.spent().saturating_sub(spent);
    }

    /// Brings the range to a known state, and looks whether the device keeps what it is given with the power on.
    fn fill(&mut self) -> Result<(), DeviceError> {
        self.host.begin_cut(1, &self.before)?;
        let (start, length) = self.host.region;
        let part = Bytes::kib(128).max(self.host.sector);
        let parts = (0..length.get().div_ceil(part.get())).map(|number| {
            let at = part * number;
            Draft { at: start + at, length: part.min(length - at), durable: false }
        });
        let parts: Vec<Draft> = parts.collect();
        self.host.writes(&parts)?;
        self.host.flush()?;
        self.host.flush_idly(IDLE_FLUSHES)?;
        self.host.wait(SETTLING);
        let found = self.host.look(start, length)?;
        let case = Case {
            sector: self.host.sector,
            before: &self.before,
            journal: &self.host.journal,
            cut_at: self.host.target.now(),
            found: &found.map,
            unreadable: &found.unreadable,
        };
        if let Some(wrong) = judge(&case).violations.first() {
            return Err(DeviceError::System(format!(
                "{} at {} does not read back as it was written, with the power on\nhint: `flashscope capacity` says whether it is a fake or damaged",
                wrong.length, wrong.at
            )));
        }
        Ok(())
    }

    fn cut(&mut self, number: u32) -> Result<(), DeviceError> {
        let Plan { offset, length, .. } = self.plan;
        let seed = stream(self.plan.seed, u64::from(number));
        let mut sequence = Sequence::new(seed, offset, length, self.host.sector);
        let moment = sequence.moment();
        let cut_at = self.host.until_cut(&mut sequence, moment)?;
        let journal = std::mem::take(&mut self.host.journal);
        let covered = journal.covered();
        let newest = covered.iter().flatten().map(|done| done.at).max();
        let mut seen = Seen { since_covered: newest.map(|at| cut_at.since(at)), ..Seen::default() };
        let mut recovery = None;
        match self.come_back(&mut recovery) {
            Ok(whole) => seen.whole = whole,
            // What hinders us says nothing of the device.
            Err(Ended::Harness(why)) => return Err(DeviceError::System(why)),
            Err(why) => {
                seen.whole = Some(FaultKind::Dead);
                self.report.ended = Some(why);
            }
        }
        if matches!(seen.whole, None | Some(FaultKind::SlowRecovery | FaultKind::ReadOnly)) {
            match self.host.look(offset, length) {
                Ok(found) => {
                    let case = Case {
                        sector: self.host.sector,
                        before: &self.before,
                        journal: &journal,
                        cut_at,
                        found: &found.map,
                        unreadable: &found.unreadable,
                    };
                    seen.judged = judge(&case);
                    if seen.whole != Some(FaultKind::ReadOnly) {
                        self.go_on_from(found.map, number + 1)?;
                    }
                }
                Err(error) => {
                    seen.whole = Some(FaultKind::Dead);
                    self.report.ended = Some(Ended::Device(error.to_string()));
                }
            }
        }
        let mut cut = cut_record((number, moment), &journal, &seen.judged, self.host.known, cut_at);
        (cut.at, cut.recovery) = (cut_at.since(self.begun), recovery);
        if let Some(kind) = seen.whole {
            let what = self.of_the_whole(kind, recovery);
            cut.violations.insert(0, model::Violation { kind, at: Bytes::ZERO, length: Bytes::ZERO, what });
            cut.found += 1;
        }
        self.report.requests = asked(&journal, &covered, cut_at);
        self.report.cuts.push(cut);
        self.report.seen.push(seen);
        Ok(())
    }

    /// Brings the device back; what is wrong with it as a whole.
    fn come_back(&mut self, recovery: &mut Option<Nanos>) -> Result<Option<FaultKind>, Ended> {
        let restored = self.host.target.restore_power().map_err(|error| match error {
            DeviceError::Vanished(_) | DeviceError::Hung(_) => Ended::Device(error.to_string()),
            other => Ended::Harness(other.to_string()),
        })?;
        if let Some(grant) = restored.grant {
            self.report.written += self.host.grant.spent();
            *self.host.grant = grant;
        }
        *recovery = Some(restored.took);
        let capacity = self.host.target.facts().capacity;
        if capacity != self.capacity {
            self.report.ended = Some(Ended::Device(format!("it came back with {capacity} of {}", self.capacity)));
            return Ok(Some(FaultKind::Shrunk));
        }
        if !self.host.target.capabilities().write {
            self.report.ended = Some(Ended::Device("it came back read-only".to_owned()));
            return Ok(Some(FaultKind::ReadOnly));
        }
        Ok((restored.took > self.plan.slow_after).then_some(FaultKind::SlowRecovery))
    }

    /// What stands there now is what the next cut is judged by. Sectors that hold nothing of their own are written anew.
    fn go_on_from(&mut self, found: Map, next: u32) -> Result<(), DeviceError> {
        let at_home =
            |(at, holds): &(Bytes, Holds)| matches!(holds, Holds::Tagged { addressed, .. } if addressed == at);
        let edges: Vec<Bytes> = found.edges().collect();
        let mut drafts: Vec<Draft> = Vec::new();
        for pair in edges.windows(2) {
            let is_whole = pair.iter().all(|edge| edge.is_multiple_of(self.host.sector));
            if is_whole && found.between(pair[0], pair[1]).all(|part| at_home(&part)) {
                continue;
            }
            let (from, to) = (pair[0].align_down(self.host.sector), pair[1].align_up(self.host.sector));
            match drafts.last_mut() {
                Some(last) if last.at + last.length >= from => last.length = to - last.at,
                _ => drafts.push(Draft { at: from, length: to - from, durable: false }),
            }
        }
        self.before = found;
        self.host.begin_cut(next, &self.before)?;
        for draft in &drafts {
            self.host.writes(std::slice::from_ref(draft))?;
        }
        if !drafts.is_empty() {
            self.host.flush()?;
        }
        Ok(())
    }

    /// Looks through the device for what belongs elsewhere.
    fn search(&mut self) -> Result<(), DeviceError> {
        if self.report.ended.is_some() || self.plan.search == Bytes::ZERO {
            return Ok(());
        }
        let length = self.plan.search.min(self.capacity);
        let middle = self.plan.offset + self.plan.length / 2;
        let start = middle.saturating_sub(length / 2).min(self.capacity - length).align_down(self.host.sector);
        let length = length.align_down(self.host.sector);
        let found = self.host.look(start, length)?.map;
        let strays = found.between(start, start + length).filter_map(|(at, holds)| match holds {
            Holds::Tagged { addressed, .. } if addressed != at => Some((at, addressed)),
            _ => None,
        });
        self.report.strays = strays.collect();
        self.report.searched = length;
        Ok(())
    }

    fn of_the_whole(&self, kind: FaultKind, recovery: Option<Nanos>) -> String {
        match (&self.report.ended, recovery) {
            (Some(Ended::Device(why) | Ended::Harness(why)), _) => why.clone(),
            (_, Some(took)) => format!("it came back after {took}"),
            _ => kind.label().to_owned(),
        }
    }
}

/// A cut as records have it, by what was found on its range.
pub(crate) fn cut_record(
    (number, moment): (u32, Moment),
    journal: &Journal,
    judged: &Judged,
    known: Known,
    cut_at: Instant,
) -> model::Cut {
    let covered = journal.covered();
    let violations = judged.violations.iter().take(KEPT).map(|one| told(one, journal, &covered, known, cut_at));
    model::Cut {
        number,
        moment,
        at: cut_at.since(Instant::ORIGIN),
        writes: journal.writes.len() as u32,
        flushes: journal.flushes.len() as u32,
        dropped: judged.dropped,
        recovery: None,
        violations: violations.collect(),
        found: judged.violations.len() as u32,
    }
}

/// A journal as records have it, in order of issue.
fn asked(journal: &Journal, covered: &[Option<Done>], cut_at: Instant) -> Vec<Asked> {
    let writes = journal.writes.iter().zip(covered).map(|(write, covered)| Asked {
        turn: write.turn,
        what: if write.durable { AskedFor::DurableWrite } else { AskedFor::Write },
        at: write.at,
        length: write.length,
        done: write.done.map(|done| done.turn),
        covered: covered.map(|done| cut_at.since(done.at)),
    });
    let flushes = journal.flushes.iter().map(|flush| Asked {
        turn: flush.turn,
        what: AskedFor::Flush,
        at: Bytes::ZERO,
        length: Bytes::ZERO,
        done: flush.done.map(|done| done.turn),
        covered: None,
    });
    let mut all: Vec<Asked> = writes.chain(flushes).collect();
    all.sort_by_key(|asked| asked.turn);
    all
}

/// A violation in words.
fn told(
    one: &Violation,
    journal: &Journal,
    covered: &[Option<Done>],
    known: Known,
    cut_at: Instant,
) -> model::Violation {
    let write = |index: usize| match covered[index] {
        Some(done) => format!("write {}, covered {} before the cut", index + 1, cut_at.since(done.at)),
        None => format!("write {}", index + 1),
    };
    let due = one.covered.map_or("what stood there before the first write of this cut".to_owned(), write);
    let holds = match one.holds {
        Holds::Tagged { generation, addressed } if addressed == one.at => {
            match journal.writes.iter().position(|write| write.generation == generation) {
                Some(index) => write(index),
                None if generation < known.first => "an older value".to_owned(),
                None => format!("an older write ({} generations back)", known.last.saturating_sub(generation)),
            }
        }
        Holds::Tagged { addressed, .. } => format!("data that were addressed to {addressed}"),
        Holds::Uniform(byte) => format!("{byte:#04x} throughout"),
        Holds::Foreign => "bytes that nobody wrote, or that cannot be read".to_owned(),
    };
    let what = match one.kind {
        FaultKind::Shorn | FaultKind::Corrupted => format!("due: {due}; found: a mixture that begins with {holds}"),
        _ => format!("due: {due}; found: {holds}"),
    };
    model::Violation { kind: one.kind, at: one.at, length: one.length, what }
}

/// Nobody looks on.
impl Watcher for () {
    fn cut(&mut self, _: &model::Cut) {}
    fn stop(&mut self) -> bool {
        false
    }
}
