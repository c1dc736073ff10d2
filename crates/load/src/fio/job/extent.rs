//! How much of the target a job moves, and where it ends.

use super::Reader;
use super::pattern::{BLOCK, single};
use crate::fio::FioError;
use crate::fio::value::Amount;
use crate::job::{Job, Pattern, Span, Stop};
use flashscope_units::{Bytes, Nanos};

/// What a job moves in all, and how it is told.
pub(super) struct Extent {
    pub(super) span: Span,
    /// One pass through the span.
    pass: Bytes,
    io_size: Option<Bytes>,
}

impl Reader<'_> {
    pub(super) fn extent(&self, job: &Job, target: &str) -> Result<Extent, FioError> {
        // Of several files an equal part of each is used: as much as the smallest has.
        let sizes = std::iter::once(target).chain(job.more.iter().map(String::as_str)).map(self.world.size);
        let each: Option<Bytes> = sizes.collect::<Option<Vec<_>>>().and_then(|sizes| sizes.into_iter().min());
        let capacity = each.map(|each| each * (job.more.len() as u64 + 1));
        if self.truth("fill_device", false)? && (self.said("size").is_some() || !target.starts_with("/dev/")) {
            let what = "what a file grows to until nothing is free is not known beforehand";
            return Err(self.fail("fill_device", what, Some("on a block device, without a size, it writes all of it")));
        }
        let of = |name: &str, whole: Option<Bytes>| -> Result<Option<Bytes>, FioError> {
            match (self.amount(name)?, whole) {
                (None, _) => Ok(None),
                (Some(Amount::Bytes(bytes)), _) => Ok(Some(Bytes(bytes))),
                (Some(Amount::Percent(percent)), Some(whole)) => {
                    let part = Bytes((whole.as_f64() * percent / 100.0) as u64);
                    Ok(Some(part.align_down(job.smallest().max(Bytes(1)))))
                }
                (Some(Amount::Percent(_)), None) => {
                    Err(self.fail(name, &format!("there is nothing at {target} yet that it could be a share of"), None))
                }
            }
        };
        let start = of("offset", capacity)?.unwrap_or(Bytes::ZERO);
        // fio's "file size" is the size of a file that it makes; `size` is how much of it is used.
        let size = match of("size", capacity)? {
            Some(size) => Some(size),
            None => {
                let files = u64::from(self.count("nrfiles")?.unwrap_or(1).max(1));
                let each = self.bytes("filesize")?;
                each.map(|each| {
                    each.get().checked_mul(files).map(Bytes).ok_or(self.fail("filesize", "is too large", None))
                })
                .transpose()?
            }
        };
        let size = match (size, capacity) {
            (Some(size), _) => size,
            (None, Some(capacity)) => capacity.saturating_sub(start),
            (None, None) => {
                return Err(self.fail(
                    "size",
                    &format!("is needed, as there is nothing at {target} yet"),
                    Some("add size=1g"),
                ));
            }
        };
        if size < job.smallest() {
            return Err(self.fail("size", &format!("{size} is less than one block of {}", job.smallest()), None));
        }
        let io_size = of("io_size", Some(size))?;
        Ok(Extent { span: Span { start, length: Some(size) }, pass: size, io_size })
    }

    pub(super) fn stop(&self, job: &Job, extent: &Extent, step: Option<Bytes>) -> Result<Stop, FioError> {
        let time = self.time("runtime", Nanos::secs(1))?.filter(|time| time.get() > 0);
        if self.truth("time_based", false)? {
            let time = time.ok_or_else(|| self.fail("time_based", "needs a runtime", None))?;
            return Ok(Stop { time: Some(time), ..Stop::default() });
        }
        let loops = self.number("loops")?.unwrap_or(1).max(1);
        let number = self.number("number_ios")?.filter(|number| *number > 0);
        // Whole blocks of a pass: the last one that does not fit is left out, but where places are independent fio goes
        // on until the size is reached.
        let pass = match (single(job), job.pattern) {
            (Some(block), Pattern::RandomOnce | Pattern::Sequential | Pattern::Backward) => {
                extent.pass.align_down(block)
            }
            _ => extent.pass,
        };
        let bytes = match (extent.io_size, step) {
            (Some(io_size), _) => io_size,
            // fio goes through the holes once where it does not begin at 0, else until the size is reached.
            (None, Some(step))
                if extent.span.start > Bytes::ZERO && matches!(job.pattern, Pattern::Skipping { .. }) =>
            {
                let block = single(job).unwrap_or(BLOCK);
                block * extent.pass.get().div_ceil(step.get())
            }
            (None, _) => pass,
        };
        let bytes = bytes.get().checked_mul(loops).map(Bytes).filter(|bytes| *bytes <= Bytes::LARGEST);
        let bytes = bytes.ok_or_else(|| self.fail("loops", "is too large", None))?;
        Ok(Stop { bytes: Some(bytes), requests: number, time, steady: None })
    }
}
