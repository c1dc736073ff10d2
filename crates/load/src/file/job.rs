//! A [`Job`] out of what somebody wrote.

use super::words::{ENGINES, MODES, direction, named, pattern, payload, processors, sizes};
use super::{JobText, JobTextError, Text};
use crate::job::{Arrivals, Flush, Job, Mix, Sharing, Spacing, Span, Steady, Stop, Verify};
use flashscope_units::{Bytes, Nanos};
use std::fmt;
use std::str::FromStr;

impl JobText {
    /// The rest before it.
    pub fn pause(&self) -> Result<Nanos, JobTextError> {
        self.time("pause", &self.pause).map(Option::unwrap_or_default)
    }

    /// Makes a job of it; what it leaves open is as in [`Job::new`].
    pub fn job(&self, name: &str) -> Result<Job, JobTextError> {
        let mut job = Job::new(self.name.as_deref().unwrap_or(name));
        job.target = self.target.clone();
        if let Some(targets) = &self.targets {
            let (first, more) = match (&self.target, &targets[..]) {
                (None, [first, more @ ..]) => (first, more),
                (Some(_), _) => self.at("targets", Err("a target and several exclude each other".to_owned()))?,
                (None, []) => self.at("targets", Err("there is none".to_owned()))?,
            };
            (job.target, job.more) = (Some(first.clone()), more.to_vec());
        }
        job.files = self.files;
        if let Some(rw) = &self.rw {
            (job.mix, job.pattern) = self.at("rw", direction(rw))?;
        }
        if let Some(reads) = self.reads {
            let mixed = job.mix.has_reads() && job.mix.has_writes();
            let sound = if mixed && (0.0..=100.0).contains(&reads) {
                Ok(())
            } else {
                Err("from 0 to 100, of a mixed job (rw or randrw)")
            };
            self.at("reads", sound.map_err(str::to_owned))?;
            job.mix = Mix { reads: reads / 100.0 };
        }
        if let Some(text) = &self.pattern {
            job.pattern = self.at("pattern", pattern(text))?;
        }
        if let Some(text) = &self.bs {
            job.read_sizes = self.at("bs", sizes(&text.to_string()))?;
            job.write_sizes = job.read_sizes.clone();
        }
        if let Some(text) = &self.write_bs {
            job.write_sizes = self.at("write_bs", sizes(&text.to_string()))?;
        }
        job.align = self.size("align", &self.align)?;
        job.span = Span {
            start: self.size("offset", &self.offset)?.unwrap_or(Bytes::ZERO),
            length: self.size("span", &self.span)?,
        };
        job.queue_depth = self.iodepth.unwrap_or(job.queue_depth);
        job.batch = self.batch;
        job.reap = self.reap;
        job.workers = self.jobs.unwrap_or(job.workers);
        job.sharing = match (self.parts == Some(true), self.size("shift", &self.shift)?) {
            (true, Some(_)) => self.at("shift", Err("parts and a shift exclude each other".to_owned()))?,
            (true, None) => Sharing::Parts,
            (false, Some(shift)) => Sharing::Shifted(shift),
            (false, None) => Sharing::Whole,
        };
        job.arrivals = self.arrivals()?;
        job.stop = self.stop()?;
        job.warm_up = self.seconds("warm_up", &self.warm_up)?.unwrap_or_default();
        job.warm_up_requests = self.warm_up_count.unwrap_or(0);
        job.flush = Flush { every: self.flush_every, at_end: self.flush_at_end == Some(true) };
        if let Some(text) = &self.payload {
            job.payload = self.at("payload", payload(text))?;
        }
        job.verify = match (self.verify, self.verify_generation) {
            (Some(true), Some(_)) => {
                self.at("verify", Err("either what this job wrote or what an earlier one did".to_owned()))?
            }
            (Some(true), None) => Verify::Written,
            (_, Some(generation)) => Verify::Generation(generation),
            _ => Verify::Nothing,
        };
        if let Some(text) = &self.engine {
            job.engine = self.at("engine", named(text, &ENGINES))?;
        }
        if let Some(text) = &self.mode {
            job.mode = self.at("mode", named(text, &MODES))?;
        }
        if let Some(text) = &self.processors {
            job.processors = Some(self.at("processors", processors(text))?);
        }
        job.ends_all = self.ends_all == Some(true);
        job.polled = self.polled == Some(true);
        job.trace = self.trace.unwrap_or(0);
        job.seed = self.seed.unwrap_or(job.seed);
        Ok(job)
    }

    fn arrivals(&self) -> Result<Arrivals, JobTextError> {
        let spacing = match self.spacing.as_deref() {
            None | Some("even") => Spacing::Even,
            Some("poisson") => Spacing::Poisson,
            Some(other) => self.at("spacing", Err(format!("'{other}' is neither even nor poisson")))?,
        };
        match (self.rate, self.time("think", &self.think)?) {
            (Some(_), Some(_)) => self.at("rate", Err("a rate and a think time exclude each other".to_owned())),
            (Some(per_second), None) => Ok(Arrivals::Rate { per_second, spacing }),
            (None, Some(time)) => Ok(Arrivals::Think { time, every: self.think_every.unwrap_or(1) }),
            (None, None) if self.spacing.is_some() => self.at("spacing", Err("needs a rate".to_owned())),
            (None, None) => Ok(Arrivals::AsFastAsPossible),
        }
    }

    fn stop(&self) -> Result<Stop, JobTextError> {
        let steady =
            self.time("steady", &self.steady)?.map(|round| Steady { round, at_most: self.steady_rounds.unwrap_or(25) });
        Ok(Stop {
            bytes: self.size("bytes", &self.bytes)?,
            requests: self.count,
            time: self.seconds("runtime", &self.runtime)?,
            steady,
        })
    }

    fn size(&self, field: &'static str, text: &Option<Text>) -> Result<Option<Bytes>, JobTextError> {
        self.parsed(field, text.as_ref().map(Text::to_string).as_deref())
    }

    fn time(&self, field: &'static str, text: &Option<String>) -> Result<Option<Nanos>, JobTextError> {
        self.parsed(field, text.as_deref())
    }

    /// A length of time of which whoever comes from fio writes the bare number of seconds.
    fn seconds(&self, field: &'static str, text: &Option<Text>) -> Result<Option<Nanos>, JobTextError> {
        let with_unit = text.as_ref().map(|text| {
            let text = text.to_string();
            let bare = text.trim_end().ends_with(|last: char| last.is_ascii_digit());
            if bare { format!("{text}s") } else { text }
        });
        self.parsed(field, with_unit.as_deref())
    }

    fn parsed<T: FromStr<Err: fmt::Display>>(
        &self,
        field: &'static str,
        text: Option<&str>,
    ) -> Result<Option<T>, JobTextError> {
        text.map(|text| self.at(field, text.parse().map_err(|error: T::Err| error.to_string()))).transpose()
    }

    fn at<T>(&self, field: &'static str, result: Result<T, String>) -> Result<T, JobTextError> {
        result.map_err(|why| JobTextError::Field { job: self.name.clone(), field, why })
    }
}
