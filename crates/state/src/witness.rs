//! What shows that a purge did something: marks at places all over the device, written before and read after.
//!
//! A discarded place may still read as it was, so that content alone proves nothing; nor does time alone, as a device may be
//! slow to look up what it no longer holds. Either is enough: marks that are gone, or marks that are answered so much sooner
//! that the flash was not asked. Where neither shows, the purge did nothing that anybody could see, and that is said.

use flashscope_device::{Completion, Content, DeviceError, ExecuteExt, Fill, Outcome, Request, Target, WriteGrant};
use flashscope_load::pattern::Permutation;
use flashscope_stats::location::median;
use flashscope_units::{Bytes, Nanos};

/// Marks, at most.
const MARKS: u64 = 64;
/// Size of a mark: the smallest that every device maps by itself.
const SIZE: Bytes = Bytes::kib(4);
/// Between two marks lies at least so much.
const APART: Bytes = Bytes::kib(16);
/// What marks are tagged with: no pass comes that far.
const TAG: Fill = Fill::Tagged { generation: u32::MAX };
/// This share of the marks must be gone: what is left may lie in units that were purged in part.
const GONE: f64 = 0.9;
/// Answers of less than this share of the time before are no reads of the flash.
const FASTER: f64 = 0.7;

/// Marks on a device.
#[derive(Clone, Debug)]
pub struct Witness {
    places: Vec<Bytes>,
    size: Bytes,
    /// Median time of a read of the marks.
    before: Option<f64>,
}

/// What a purge is seen to have done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// Whether it did anything.
    pub acted: bool,
    /// What shows it, in words.
    pub why: String,
}

fn size(block: Bytes) -> Bytes {
    SIZE.max(block)
}

fn count(capacity: Bytes, block: Bytes) -> u64 {
    (capacity / APART.max(size(block))).clamp(1, MARKS)
}

/// The most that marks write: they are set anew after each step of the ladder that leaves nobody knows what.
pub(crate) fn most_written(capacity: Bytes, block: Bytes) -> Bytes {
    size(block) * count(capacity, block) * flashscope_device::PurgeStep::ALL.len() as u64
}

/// The most that is read of them: once before each of the steps and once after.
pub(crate) fn most_read(capacity: Bytes, block: Bytes) -> Bytes {
    most_written(capacity, block) * 2
}

impl Witness {
    /// Sets the marks and times them. Nothing of the device's own matters any more: it is about to be purged.
    ///
    /// # Errors
    /// Where the target cannot go on.
    pub fn set<T: Target>(target: &mut T, grant: &mut WriteGrant, seed: u64) -> Result<Witness, DeviceError> {
        let (block, capacity) = (target.capabilities().granularity, target.facts().capacity);
        let (size, count) = (size(block), count(capacity, block));
        let stride = Bytes((capacity.get() - size.get()) / count).align_down(size);
        // In an order of their own, so that no read of them is the one that follows.
        let order = Permutation::new(count, seed);
        let places: Vec<Bytes> = (0..count).map(|number| stride * order.at(number)).collect();
        for &place in &places {
            let request = Request::write(grant, 0, place, size, TAG, false)
                .map_err(|error| DeviceError::Invalid(error.to_string()))?;
            target.execute(request)?;
        }
        if target.capabilities().flush {
            target.execute(Request::flush(0))?;
        }
        let mut witness = Witness { places, size, before: None };
        witness.before = witness.read(target)?.1;
        Ok(witness)
    }

    /// Looks at the marks again.
    ///
    /// # Errors
    /// Where the target cannot go on.
    pub fn ask<T: Target>(&self, target: &mut T) -> Result<Evidence, DeviceError> {
        let (reads, after) = self.read(target)?;
        let (answered, all) = (reads.iter().filter(|read| !failed(read)).count(), self.places.len());
        let gone = reads.iter().filter(|read| read.outcome == Outcome::Mismatch).count();
        let uniform = reads.iter().filter(|read| matches!(read.content, Content::Uniform(_))).count();
        let faster = self.before.zip(after).filter(|(before, _)| *before > 0.0).map(|(before, after)| after / before);
        let time = match (self.before, after) {
            (Some(before), Some(after)) => {
                format!("reads of them took {} before and {} after", Nanos(before as u64), Nanos(after as u64))
            }
            _ => "reads of them failed".to_owned(),
        };
        let is_gone = answered > 0 && gone as f64 >= GONE * answered as f64;
        let acted = is_gone || faster.is_some_and(|share| share < FASTER);
        let why = match (is_gone, acted) {
            (true, _) => format!("{gone} of {all} marks are gone ({uniform} read as one byte throughout)"),
            (false, true) => format!("{gone} of {all} marks are gone, and {time}: the flash is not asked"),
            (false, false) => format!("it did nothing that shows: {gone} of {all} marks are gone, and {time}"),
        };
        Ok(Evidence { acted, why })
    }

    fn read<T: Target>(&self, target: &mut T) -> Result<(Vec<Completion>, Option<f64>), DeviceError> {
        let read = |place: &Bytes| target.execute(Request::verify(0, *place, self.size, TAG));
        let reads: Vec<Completion> = self.places.iter().map(read).collect::<Result<_, _>>()?;
        let times: Vec<f64> =
            reads.iter().filter(|read| !failed(read)).map(|read| read.service_time().as_f64()).collect();
        Ok((reads, median(&times)))
    }
}

fn failed(read: &Completion) -> bool {
    matches!(read.outcome, Outcome::Failed(_))
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_testkit::ScriptedTarget;

    fn looked_at(mut target: ScriptedTarget, purge: impl FnOnce(&mut ScriptedTarget, &mut WriteGrant)) -> Evidence {
        let mut grant = WriteGrant::simulated(target.facts(), Bytes::mib(64)).unwrap();
        let witness = Witness::set(&mut target, &mut grant, 3).unwrap();
        assert!(grant.spent() <= most_written(target.facts().capacity, target.capabilities().granularity));
        purge(&mut target, &mut grant);
        witness.ask(&mut target).unwrap()
    }

    #[test]
    fn marks_that_stay_and_take_as_long_show_nothing() {
        let evidence = looked_at(ScriptedTarget::steady(Bytes::mib(8), Nanos::micros(100)), |_, _| {});
        assert!(!evidence.acted && evidence.why.contains("did nothing that shows"), "{evidence:?}");
    }

    #[test]
    fn marks_that_are_gone_show_a_purge() {
        let evidence = looked_at(ScriptedTarget::steady(Bytes::mib(8), Nanos::micros(100)), |target, grant| {
            let all = target.facts().capacity;
            target.execute(Request::discard(grant, 0, Bytes::ZERO, all).unwrap()).unwrap();
        });
        assert!(evidence.acted && evidence.why.contains("64 of 64 marks are gone"), "{evidence:?}");
    }

    #[test]
    fn marks_that_stay_and_are_answered_at_once_show_a_purge() {
        // Reads are quick once a flush has come a second time, which stands for the purge.
        let target = ScriptedTarget::new(Bytes::mib(8), |request, history| {
            let flushes = history.served.iter().filter(|request| request.op() == flashscope_device::Op::Flush).count();
            Nanos::micros(if request.op() == flashscope_device::Op::Read && flushes > 1 { 50 } else { 100 })
        });
        let evidence = looked_at(target, |target, _| drop(target.execute(Request::flush(0)).unwrap()));
        assert!(evidence.acted && evidence.why.contains("the flash is not asked"), "{evidence:?}");
    }
}
