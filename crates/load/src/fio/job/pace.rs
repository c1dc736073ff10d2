//! When requests are sent and when data are flushed.

use super::Reader;
use crate::fio::{FioError, value};
use crate::job::{Arrivals, Flush, Job, Sizes, Spacing};
use flashscope_units::Nanos;

impl Reader<'_> {
    pub(super) fn arrivals(&self, job: &mut Job, note: &mut impl FnMut(String)) -> Result<Arrivals, FioError> {
        let base = self.base()?;
        let spacing = match self.text("rate_process") {
            None | Some("linear") => Spacing::Even,
            Some("poisson") => Spacing::Poisson,
            Some(_) => return Err(self.fail("rate_process", "is linear or poisson", None)),
        };
        let think = self.time("thinktime", Nanos::micros(1))?.filter(|time| time.get() > 0);
        let name = ["rate_iops", "rate"].into_iter().find(|name| self.said(name).is_some());
        let Some(name) = name else {
            return Ok(match think {
                None => Arrivals::AsFastAsPossible,
                Some(time) => Arrivals::Think { time, every: self.count("thinktime_blocks")?.unwrap_or(1).max(1) },
            });
        };
        if think.is_some() {
            return Err(self.fail(name, "a rate and a thinktime exclude each other here", None));
        }
        let text = self.text(name).unwrap_or_default();
        let parts: Vec<&str> = text.split(',').map(str::trim).collect();
        let part = |index: usize| {
            // One figure alone holds for each direction.
            let text = if parts.len() == 1 { parts[0] } else { parts.get(index).copied().unwrap_or_default() };
            let rate = if text.is_empty() { Ok(0) } else { value::number(text, base) };
            rate.map_err(|what| self.fail(name, &what, None))
        };
        let requests = |index: usize, sizes: &Sizes| -> Result<f64, FioError> {
            match (name, &sizes.0[..]) {
                ("rate_iops", _) => Ok(part(index)? as f64),
                (_, [(size, _)]) => Ok(part(index)? as f64 / size.as_f64()),
                _ => Err(self.fail(name, "needs one block size", Some("rate_iops takes any sizes"))),
            }
        };
        let (reads, writes) = (requests(0, &job.read_sizes)?, requests(1, &job.write_sizes)?);
        let per_second = match (job.mix.has_reads(), job.mix.has_writes()) {
            (true, false) => reads,
            (false, _) => writes,
            (true, true) => {
                if reads <= 0.0 || writes <= 0.0 {
                    let hint = "write one rate for each, as in rate_iops=300,100";
                    return Err(self.fail(name, "reads and writes share one flow of requests here", Some(hint)));
                }
                // Each direction keeps its own rate in fio, whatever rwmixread says.
                let both = reads + writes;
                if (reads - both * job.mix.reads).abs() > 0.01 * both {
                    let share = reads / both * 100.0;
                    note(format!(
                        "{name}: {share:.0} % of the requests are reads, as these rates have it (not rwmixread)"
                    ));
                }
                job.mix.reads = reads / both;
                both
            }
        };
        if per_second <= 0.0 {
            return Err(self.fail(name, "is not above 0 for this job", None));
        }
        note(format!(
            "{name}: requests are due at times of their own (open loop), and response times count from these"
        ));
        Ok(Arrivals::Rate { per_second, spacing })
    }

    pub(super) fn flush(&self, note: &mut impl FnMut(String)) -> Result<Flush, FioError> {
        let every = |name: &str| Ok::<_, FioError>(self.number(name)?.filter(|every| *every > 0));
        let (fsync, fdatasync) = (every("fsync")?, every("fdatasync")?);
        if fsync.is_some() && fdatasync.is_some() {
            return Err(self.fail("fsync", "fsync and fdatasync exclude each other here", None));
        }
        let at_end = self.truth("end_fsync", false)? || self.truth("fsync_on_close", false)?;
        if fsync.is_some() || at_end {
            note("flushes are fdatasync, which leaves times of the file out".to_owned());
        }
        Ok(Flush { every: fsync.or(fdatasync), at_end })
    }
}
