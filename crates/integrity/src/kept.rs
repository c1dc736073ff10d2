//! A run that was killed, judged by the journal that it left.

use crate::journal::{Journal, Write};
use crate::judge::{Case, Map, judge};
use crate::ledger::Kept;
use crate::look::look;
use crate::run::{Report, Seen, cut_record};
use crate::sequence::Sequence;
use flashscope_device::{DeviceError, Holds, Known, Target};
use flashscope_stats::rng::stream;
use flashscope_units::Instant;

/// Generations beyond the last one of the journal that are taken for later writes of the same run.
const LATER: u32 = 1 << 20;

/// Looks at the device and holds it against what was kept. `is_whole` says whether all that was issued is in the journal: it is,
/// unless the machine went down as well; then newer data than the journal knows of are no fault.
///
/// # Errors
/// The device cannot be read.
pub fn judge_kept<T: Target>(target: &mut T, kept: &Kept, is_whole: bool) -> Result<Report, DeviceError> {
    let head = &kept.head;
    let newest = kept.journal.writes.iter().map(|write| write.generation).max().unwrap_or(head.generation);
    let known = Known { first: head.generation, last: newest.saturating_add(LATER) };
    let found = look(target, known, head.offset, head.length)?;
    let mut journal = kept.journal.clone();
    if !is_whole {
        journal.writes.extend(later(&found.map, newest, &journal));
    }
    let done = journal.writes.iter().map(|write| write.done).chain(journal.flushes.iter().map(|flush| flush.done));
    let cut_at = done.flatten().map(|done| done.at).max().unwrap_or(Instant::ORIGIN);
    let sector = target.capabilities().granularity;
    let case = Case {
        sector,
        before: &kept.before,
        journal: &journal,
        cut_at,
        found: &found.map,
        unreadable: &found.unreadable,
    };
    let seen = Seen { judged: judge(&case), ..Seen::default() };
    let mut sequence = Sequence::new(stream(head.seed, u64::from(kept.number)), head.offset, head.length, sector);
    let cut = cut_record((kept.number, sequence.moment()), &journal, &seen.judged, known, cut_at);
    Ok(Report { cuts: vec![cut], seen: vec![seen], ..Report::default() })
}

/// Writes that the journal does not know of, as what stands there shows them.
fn later(found: &Map, newest: u32, journal: &Journal) -> Vec<Write> {
    let turn = journal.writes.iter().map(|write| write.turn).max().map_or(1, |last| last.saturating_add(1));
    let runs = found.between(found.start(), found.end()).zip(found.stretches());
    let newer = runs.filter_map(|((at, holds), one)| match holds {
        Holds::Tagged { generation, addressed } if addressed == at && generation > newest => {
            Some(Write { at, length: one.length, generation, turn, done: None, durable: false })
        }
        _ => None,
    });
    newer.collect()
}
