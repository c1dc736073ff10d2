//! Requests of a test: blocks and stretches that are written with tags, read, and told apart.

use flashscope_device::{
    Completion, DeviceError, ExecuteExt, Fill, Holds, Known, Outcome, Request, Stretch, Target, WriteGrant,
};
use flashscope_model::capacity::{Found, Run};
use flashscope_model::run::Cost;
use flashscope_units::Bytes;

/// Blocks that are handed over at once.
const BATCH: usize = 64;
/// Requests of stretches: large enough for a card's best rate, and small enough that little is left out where one fails.
pub const LONG: Bytes = Bytes::kib(256);

/// A target, the right to write to it, and what both cost.
pub(crate) struct Hands<'a, T: ?Sized> {
    pub(crate) target: &'a mut T,
    pub(crate) grant: &'a mut WriteGrant,
    pub(crate) block: Bytes,
    pub(crate) cost: Cost,
}

/// Whether it goes on; `false` to stop.
pub(crate) type GoOn<'a> = &'a mut dyn FnMut(Bytes) -> bool;

impl<T: Target + ?Sized> Hands<'_, T> {
    /// Writes blocks in this order. Gives those that failed, by address; `None` where it was to stop.
    pub(crate) fn write(
        &mut self,
        places: &[Bytes],
        generation: u32,
        go_on: GoOn<'_>,
    ) -> Result<Option<Vec<Bytes>>, DeviceError> {
        let fill = Fill::Tagged { generation };
        let mut failed = Vec::new();
        for batch in places.chunks(BATCH) {
            let request = |(at, id): (&Bytes, u64)| Request::write(self.grant, id, *at, self.block, fill, false);
            let requests: Result<Vec<Request>, _> = batch.iter().zip(0..).map(request).collect();
            let requests = requests.map_err(|error| DeviceError::Invalid(error.to_string()))?;
            for done in self.run(&requests)? {
                if !done.outcome.is_done() {
                    failed.extend(batch.get(done.id as usize));
                }
            }
            self.cost.written += self.block * batch.len() as u64;
            if !go_on(self.block * batch.len() as u64) {
                return Ok(None);
            }
        }
        failed.sort_unstable();
        Ok(Some(failed))
    }

    /// Writes stretches, and gives the addresses of requests that failed; `None` where it was to stop.
    pub(crate) fn write_stretches(
        &mut self,
        stretches: &[(Bytes, Bytes)],
        generation: u32,
        go_on: GoOn<'_>,
    ) -> Result<Option<Vec<Bytes>>, DeviceError> {
        let mut failed = Vec::new();
        for (at, length) in stretches.iter().flat_map(|(at, length)| requests(*at, *length)) {
            let request = Request::write(self.grant, 0, at, length, Fill::Tagged { generation }, false)
                .map_err(|error| DeviceError::Invalid(error.to_string()))?;
            let done = self.run(&[request])?;
            failed.extend(done.iter().filter(|done| !done.outcome.is_done()).map(|_| at));
            self.cost.written += length;
            if !go_on(length) {
                return Ok(None);
            }
        }
        Ok(Some(failed))
    }

    pub(crate) fn flush(&mut self) -> Result<(), DeviceError> {
        // A device without a cache may refuse it, which changes nothing of what is read.
        self.run(&[Request::flush(0)]).map(|_| ())
    }

    /// Reads blocks, and says what stands there where this generation was written; `None` where it was to stop.
    pub(crate) fn read(
        &mut self,
        places: &[Bytes],
        generation: u32,
        known: Known,
        go_on: GoOn<'_>,
    ) -> Result<Option<Vec<Found>>, DeviceError> {
        let mut found = vec![Found::ReadFailed; places.len()];
        for (batch, found) in places.chunks(BATCH).zip(found.chunks_mut(BATCH)) {
            let request = |(at, id): (&Bytes, u64)| Request::examine(id, *at, self.block, known);
            let requests: Vec<Request> = batch.iter().zip(0..).map(request).collect();
            for done in self.run(&requests)? {
                let (Some(place), Some(found)) = (batch.get(done.id as usize), found.get_mut(done.id as usize)) else {
                    continue;
                };
                if !matches!(done.outcome, Outcome::Failed(_)) {
                    *found = block(*place, &done.stretches, generation);
                }
            }
            self.cost.read += self.block * batch.len() as u64;
            if !go_on(self.block * batch.len() as u64) {
                return Ok(None);
            }
        }
        Ok(Some(found))
    }

    /// Reads a stretch from the start of the device on, but for requests whose write failed; `None` where it was to stop.
    pub(crate) fn read_region(
        &mut self,
        length: Bytes,
        failed: &[Bytes],
        generation: u32,
        known: Known,
        go_on: GoOn<'_>,
    ) -> Result<Option<Vec<Run>>, DeviceError> {
        let mut runs = Vec::new();
        for (at, length) in requests(Bytes::ZERO, length) {
            if failed.contains(&at) {
                push(&mut runs, Run { at, length, found: Found::WriteFailed });
                continue;
            }
            let request = Request::examine(0, at, length, known);
            for done in self.run(&[request])? {
                match done.outcome {
                    Outcome::Failed(_) => push(&mut runs, Run { at, length, found: Found::ReadFailed }),
                    _ => told(at, &done.stretches, generation, |run| push(&mut runs, run)),
                }
            }
            self.cost.read += length;
            if !go_on(length) {
                return Ok(None);
            }
        }
        Ok(Some(runs))
    }

    fn run(&mut self, requests: &[Request]) -> Result<Vec<Completion>, DeviceError> {
        let from = self.target.now();
        let depth = self.target.capabilities().queue_depth.max(1) as usize;
        let mut all = Vec::with_capacity(requests.len());
        for batch in requests.chunks(depth) {
            match batch {
                [one] => all.push(self.target.execute(*one)?),
                _ => {
                    self.target.submit(batch)?;
                    let wanted = all.len() + batch.len();
                    while all.len() < wanted {
                        let before = all.len();
                        self.target.reap(wanted - before, &mut all)?;
                        if all.len() == before {
                            return Err(DeviceError::Hung("requests were lost".to_owned()));
                        }
                    }
                }
            }
        }
        self.cost.time += self.target.now().since(from);
        Ok(all)
    }
}

/// A stretch in requests.
fn requests(start: Bytes, length: Bytes) -> impl Iterator<Item = (Bytes, Bytes)> {
    (0..length.get().div_ceil(LONG.get())).map(move |number| {
        let at = LONG * number;
        (start + at, LONG.min(length - at))
    })
}

/// What stands at a block.
fn block(at: Bytes, stretches: &[Stretch], generation: u32) -> Found {
    let mut runs = Vec::new();
    told(at, stretches, generation, |run| runs.push(run.found));
    let elsewhere = runs.iter().find(|found| matches!(found, Found::Elsewhere(_)));
    match runs.as_slice() {
        [one] => *one,
        _ => elsewhere.copied().unwrap_or(Found::Other),
    }
}

/// Stretches as what they mean where this generation was written.
pub(crate) fn told(at: Bytes, stretches: &[Stretch], generation: u32, mut tell: impl FnMut(Run)) {
    let mut at = at;
    for stretch in stretches {
        let found = match stretch.holds {
            Holds::Tagged { generation: other, addressed } if addressed == at => {
                if other == generation {
                    Found::Kept
                } else {
                    Found::Other
                }
            }
            Holds::Tagged { addressed, .. } => Found::Elsewhere(addressed),
            Holds::Uniform(byte) => Found::Uniform(byte),
            Holds::Foreign => Found::Other,
        };
        tell(Run { at, length: stretch.length, found });
        at += stretch.length;
    }
}

/// Appends a run, to the last one where it goes on with the same.
pub(crate) fn push(runs: &mut Vec<Run>, next: Run) {
    match runs.last_mut().filter(|last| goes_on(last, &next)) {
        Some(last) => last.length += next.length,
        None => runs.push(next),
    }
}

/// Whether a run goes on with the same in the next one.
pub(crate) fn goes_on(last: &Run, next: &Run) -> bool {
    let alike = match (last.found, next.found) {
        (Found::Elsewhere(one), Found::Elsewhere(other)) => one + last.length == other,
        (one, other) => one == other,
    };
    alike && last.at + last.length == next.at
}
