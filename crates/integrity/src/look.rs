//! What stands on a range: read in pieces, and where a piece cannot be read, down to single sectors.

use crate::judge::Map;
use flashscope_device::{Completion, DeviceError, Holds, Known, Outcome, Request, Stretch, Target, stretch};
use flashscope_units::Bytes;

/// What is read at once.
const LOOK: Bytes = Bytes::mib(1);

/// What stands on a range.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) map: Map,
    pub(crate) unreadable: Vec<(Bytes, Bytes)>,
}

/// Looks at a range, for writes of the generations in `known`.
pub(crate) fn look<T: Target>(target: &mut T, known: Known, start: Bytes, length: Bytes) -> Result<Found, DeviceError> {
    let (mut list, mut unreadable) = (Vec::new(), Vec::new());
    let end = start + length;
    let mut at = start;
    while at < end {
        let part = LOOK.min(end - at);
        look_into(target, known, (at, part), &mut list, &mut unreadable)?;
        at += part;
    }
    Ok(Found { map: Map::new(start, list), unreadable })
}

/// Where a part cannot be read, its halves are tried, down to single sectors.
fn look_into<T: Target>(
    target: &mut T,
    known: Known,
    (at, length): (Bytes, Bytes),
    list: &mut Vec<Stretch>,
    unreadable: &mut Vec<(Bytes, Bytes)>,
) -> Result<(), DeviceError> {
    let sector = target.capabilities().granularity;
    let done = read(target, known, at, length)?;
    if !matches!(done.outcome, Outcome::Failed(_)) {
        done.stretches.into_iter().for_each(|one| stretch::append(list, one));
        return Ok(());
    }
    if length <= sector {
        unreadable.push((at, at + length));
        stretch::append(list, Stretch { length, holds: Holds::Foreign });
        return Ok(());
    }
    let half = (length / 2).align_up(sector);
    look_into(target, known, (at, half), list, unreadable)?;
    look_into(target, known, (at + half, length - half), list, unreadable)
}

fn read<T: Target>(target: &mut T, known: Known, at: Bytes, length: Bytes) -> Result<Completion, DeviceError> {
    target.submit(&[Request::examine(u64::MAX, at, length, known)])?;
    let mut done = Vec::with_capacity(1);
    target.reap(1, &mut done)?;
    done.pop().ok_or_else(|| DeviceError::Hung("a read was not answered".to_owned()))
}
