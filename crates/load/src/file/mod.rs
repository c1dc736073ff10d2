//! Jobs as text: the TOML job file, and the words that the command line shares with it.
//!
//! A [`JobText`] holds what somebody wrote, field by field and possibly nothing; its fields, the options of the command line
//! and the help of both are one table ([`JobText::options`]). [`JobText::over`] puts what was said for one job over what was
//! said for all, and [`JobText::job`] makes a [`Job`](crate::job::Job) of it. [`settings`] goes the other way.

mod job;
mod settings;
mod text;
mod words;

pub use settings::{settings, to_toml};
pub use text::{JobOption, JobText, Text};
pub(crate) use words::processors;
pub use words::sizes;

use crate::job::{JobSet, Phase};
use crate::plan::MOST_JOBS;
use serde::Deserialize;
use std::fmt;

/// Why a job file or a word of it is not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobTextError {
    /// The file is not TOML, or has a field that there is not; the message says where.
    File(String),
    /// A field's text.
    Field {
        /// Which job, where it has a name.
        job: Option<String>,
        /// Which field.
        field: &'static str,
        /// What is wrong.
        why: String,
    },
}

impl fmt::Display for JobTextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(why) => write!(f, "{why}"),
            Self::Field { job: Some(job), field, why } => write!(f, "{field} of job '{job}': {why}"),
            Self::Field { job: None, field, why } => {
                // Of a job without a name nobody knows whether it stands in a file or was typed.
                let said = JobText::options().find(|option| option.field == *field);
                match said.filter(|said| said.option != field.replace('_', "-")) {
                    Some(said) => write!(f, "{field} (--{}): {why}", said.option),
                    None => write!(f, "{field}: {why}"),
                }
            }
        }
    }
}

impl std::error::Error for JobTextError {}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileText {
    #[serde(default)]
    all: JobText,
    #[serde(default)]
    job: Vec<JobText>,
}

/// Reads a job file: `[all]` holds for every `[[job]]`; jobs run one after another, those with `beside = true` beside the
/// one before. What `over` says goes over the whole file (a command line over a job file), and what `under` says holds where
/// neither says anything.
pub fn parse(text: &str, over: &JobText, under: &JobText) -> Result<JobSet, JobTextError> {
    let file: FileText =
        toml::from_str(text).map_err(|error| JobTextError::File(error.to_string().trim_end().to_owned()))?;
    if file.job.len() > MOST_JOBS {
        return Err(JobTextError::File(format!("{} jobs are more than {MOST_JOBS}", file.job.len())));
    }
    let mut phases: Vec<Phase> = Vec::new();
    for (index, text) in file.job.iter().enumerate() {
        let text = over.over(&text.over(&file.all).over(under));
        let job = text.job(&format!("job {}", index + 1))?;
        match phases.last_mut() {
            Some(phase) if text.beside == Some(true) => phase.jobs.push(job),
            _ => phases.push(Phase { jobs: vec![job], pause: text.pause()? }),
        }
    }
    if phases.is_empty() {
        return Err(JobTextError::File("there is no [[job]] in it\nhint: docs/bench.md shows one".to_owned()));
    }
    Ok(JobSet { phases })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{Arrivals, Sizes, Spacing};
    use flashscope_units::{Bytes, Nanos};

    const FILE: &str = r#"
        [all]
        bs = "4k"
        runtime = "10s"

        [[job]]
        name = "readers"
        rw = "randread"
        pattern = "zipf:0.9"
        iodepth = 8

        [[job]]
        name = "writer"
        beside = true
        rw = "write"
        bs = "4k:3,64k:1"
        rate = 100
        spacing = "poisson"
        payload = "compressible:50%"

        [[job]]
        name = "after"
        pause = "5s"
        rw = "randrw"
        reads = 70
        verify = true
        mode = "cached"
        flush_every = 10

        [[job]]
        pattern = "zones:50%/5%,30%/15%,20%/80%"

        [[job]]
        pattern = "pareto:0.2"
        targets = ["/dev/a", "/dev/b"]
        processors = "0,2-3"
        ends_all = true
    "#;

    #[test]
    fn a_file_becomes_phases() {
        let set = parse(FILE, &JobText::default(), &JobText::default()).unwrap();
        let names: Vec<Vec<&str>> =
            set.phases.iter().map(|phase| phase.jobs.iter().map(|job| job.name.as_str()).collect()).collect();
        assert_eq!(names, [vec!["readers", "writer"], vec!["after"], vec!["job 4"], vec!["job 5"]]);
        assert_eq!(set.phases[1].pause, Nanos::secs(5));
        let writer = &set.phases[0].jobs[1];
        assert_eq!(writer.stop.time, Some(Nanos::secs(10)));
        assert_eq!(writer.write_sizes, Sizes(vec![(Bytes::kib(4), 3), (Bytes::kib(64), 1)]));
        assert_eq!(writer.arrivals, Arrivals::Rate { per_second: 100.0, spacing: Spacing::Poisson });
        assert_eq!(set.phases[1].jobs[0].mix.reads, 0.7);
    }

    #[test]
    fn what_is_printed_reads_back_the_same() {
        let set = parse(FILE, &JobText::default(), &JobText::default()).unwrap();
        assert_eq!(parse(&to_toml(&set), &JobText::default(), &JobText::default()), Ok(set));
    }

    #[test]
    fn the_command_line_goes_over_the_file() {
        let over = JobText { iodepth: Some(2), bs: Some("8k".into()), ..JobText::default() };
        let set = parse(FILE, &over, &JobText::default()).unwrap();
        assert!(
            set.phases
                .iter()
                .flat_map(|phase| &phase.jobs)
                .all(|job| job.queue_depth == 2 && job.largest() == Bytes::kib(8))
        );
    }

    #[test]
    fn what_lies_under_a_file_holds_where_it_says_nothing() {
        let under = JobText { iodepth: Some(2), ..JobText::default() };
        let depths = |over: &JobText| {
            let set = parse(FILE, over, &under).unwrap();
            set.phases.iter().flat_map(|phase| &phase.jobs).map(|job| job.queue_depth).collect::<Vec<_>>()
        };
        assert_eq!(depths(&JobText::default()), [8, 2, 2, 2, 2], "the first says 8 itself");
        assert_eq!(depths(&JobText { iodepth: Some(3), ..JobText::default() }), [3; 5]);
    }

    #[test]
    fn a_bare_number_is_seconds_where_fio_takes_seconds() {
        let check = |value: &str, expect: Nanos| {
            let set = parse(
                &format!("[[job]]\nruntime = {value}\nwarm_up = {value}"),
                &JobText::default(),
                &JobText::default(),
            )
            .unwrap();
            let job = &set.phases[0].jobs[0];
            assert_eq!((job.stop.time, job.warm_up), (Some(expect), expect), "{value}");
        };
        check("10", Nanos::secs(10));
        check("\"10\"", Nanos::secs(10));
        check("\"0.5\"", Nanos::millis(500));
        check("\"10 ms\"", Nanos::millis(10));
    }

    #[test]
    fn mistakes_are_named() {
        let check = |text: &str, words: &str| {
            let error = parse(text, &JobText::default(), &JobText::default()).expect_err(text).to_string();
            assert!(error.contains(words), "{error}");
        };
        check("[[job]]\nnosuch = 1", "nosuch");
        check("[[job]\n", "line 1");
        check("", "no [[job]]");
        check("[[job]]\nname = \"a\"\nrw = \"reed\"", "rw of job 'a': there is no 'reed'");
        check("[[job]]\nbs = \"4KX\"", "unknown unit 'KX'");
        check("[[job]]\nruntime = \"ten\"", "not a length of time");
        check("[[job]]\nsteady = \"10\"", "write 10s for seconds");
        check("[[job]]\nreads = 50", "mixed job");
        check("[[job]]\npattern = \"zigzag\"", "hint");
        check("[[job]]\nrate = 5.0\nthink = \"1s\"", "exclude");
        check("[[job]]\nrw = \"write\"\npayload = \"byte:300\"", "byte:N");
    }
}
