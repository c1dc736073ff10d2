//! Read buffer: bytes read last that are answered without the flash, from re-reads.

use super::gains::{First, Gains, Reach};
use super::{low, ns, read_ahead};
use crate::numbers::SEEN;
use flashscope_model::finding::Doubt;
use flashscope_model::observation::ReadCacheData;
use flashscope_model::{Data, Estimate, ExperimentName, Observations, Reason};
use flashscope_units::{Bytes, Nanos};
use std::collections::BTreeMap;

/// The experiment that this rests on.
const METHOD: &[ExperimentName] = &[ExperimentName::ReadCache];

/// Bytes read last that are answered without the flash.
pub(super) fn read_buffer(observations: &Observations) -> Estimate<Bytes> {
    let Some(gains) = spans(observations) else {
        return Estimate::unknown(Reason::NotMeasured, "nothing was read twice at a distance");
    };
    let (block, usual) = (gains.block, Nanos(gains.usual as u64));
    // The clearer the end of it, the surer.
    let blurred = (!gains.is_sharp()).then_some(Doubt::Blurred);
    match gains.reach() {
        Reach::Between(..) | Reach::Beyond(_) if !is_last_at_hand(observations) => Estimate::unknown(
            Reason::Contradicted,
            "what was read last of all is not at hand, though what was read before it is: a buffer would do the reverse",
        ),
        Reach::Between(held, _) | Reach::Beyond(held) if !beats_neighbours(observations, held) => Estimate::unknown(
            Reason::Contradicted,
            "what was read before is no faster than blocks beside it that were not: what is at hand is the way to them, as the map \
             of a unit is",
        ),
        Reach::Nothing => {
            let evidence = format!("a block of {block} read twice in a row takes {usual} both times");
            Estimate::at_most(block, SEEN, evidence, METHOD)
        }
        Reach::Between(held, gone) if gone - held <= block => {
            let evidence = format!(
                "a block is read again {} faster than {usual} when at most {held} were read since, not after {gone}",
                Nanos(gains.best() as u64)
            );
            Estimate::known(held, SEEN, evidence, METHOD).with_doubts(blurred)
        }
        Reach::Between(held, gone) => {
            let evidence = format!("a block is still at hand after {held} were read, not after {gone}");
            Estimate::between(held, gone, SEEN, evidence, METHOD).with_doubts(blurred)
        }
        Reach::Beyond(held) => {
            Estimate::at_least(held, SEEN, format!("a block is still at hand after {held} were read"), METHOD)
        }
        Reach::Unclear => Estimate::unknown(
            Reason::TooNoisy,
            "re-reads scatter by as much as a buffer would save, or are fast at no one range of sizes",
        ),
    }
}

/// Whether a block that is read twice in a row is faster the second time. A device that reads ahead makes reads elsewhere
/// wait, so that others may look fast.
fn is_last_at_hand(observations: &Observations) -> bool {
    let Some(smallest) = all(observations).flat_map(|data| &data.spans).map(|reread| reread.span).min() else {
        return false;
    };
    let (mut again, mut fresh) = (Vec::new(), Vec::new());
    for reread in all(observations).flat_map(|data| &data.spans).filter(|reread| reread.span == smallest) {
        again.extend(ns(&reread.again));
        fresh.extend(ns(&reread.fresh));
    }
    low(&again).zip(low(&fresh)).is_some_and(|(again, fresh)| again < fresh * SAME)
}

/// Whether a block that is read again, when all of `held` was read since, is faster than blocks of the same run in falling
/// order, which nobody read for a while. Blocks that are read for the first time to be compared lie further off, and may cost
/// what it takes to get there. Where several share a page, the one that is read first tells.
fn beats_neighbours(observations: &Observations, held: Bytes) -> bool {
    let slowest = read_ahead::falling(observations).iter().filter_map(|times| low(times)).fold(0.0, f64::max);
    let spans = all(observations).flat_map(|data| &data.spans);
    let again = spans.filter(|reread| reread.span == held).filter_map(|reread| low(&ns(&reread.again)));
    // Nobody read in falling order: there is nothing to be held against it.
    slowest <= 0.0 || again.fold(f64::INFINITY, f64::min) < slowest * SAME
}

/// A read that takes this part of another or more takes as long.
const SAME: f64 = 0.98;

/// Re-reads by what was read since.
pub(super) fn spans(observations: &Observations) -> Option<Gains> {
    let mut again: BTreeMap<Bytes, Vec<f64>> = BTreeMap::new();
    let mut fresh: BTreeMap<Bytes, Vec<f64>> = BTreeMap::new();
    let mut block = None;
    for data in all(observations) {
        block = block.or(Some(data.block));
        for reread in &data.spans {
            again.entry(reread.span).or_default().extend(ns(&reread.again));
            fresh.entry(reread.span).or_default().extend(ns(&reread.fresh));
        }
    }
    Gains::new(observations, block?, again, fresh.into_values().collect(), First::Smallest)
}

pub(super) fn all(observations: &Observations) -> impl Iterator<Item = &ReadCacheData> {
    observations.runs.iter().filter_map(|run| match &run.data {
        Data::ReadCache(data) => Some(data),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::run;
    use flashscope_model::observation::Reread;

    /// Re-reads after 16 to 128 KiB that take `again` µs, others of the region 1000, and neighbours in falling order `beside`.
    fn told(again: u64, beside: u64) -> Estimate<Bytes> {
        let times = |base: u64| (0..12).map(|read| Nanos::micros(base + read % 3)).collect::<Vec<Nanos>>();
        let spans =
            [16, 32, 64, 128].map(|kib| Reread { span: Bytes::kib(kib), again: times(again), fresh: times(1000) });
        let data = ReadCacheData {
            block: Bytes::kib(4),
            spans: spans.into(),
            rising: Vec::new(),
            falling: vec![times(beside); 12],
            ahead: Vec::new(),
        };
        read_buffer(&Observations { runs: vec![run(Data::ReadCache(data))], ..Observations::default() })
    }

    #[test]
    fn what_is_no_faster_than_its_neighbours_is_not_at_hand() {
        assert_eq!(told(700, 1000).least(), Some(Bytes::kib(128)));
        assert_eq!(told(700, 700).reason(), Some(Reason::Contradicted));
    }
}
