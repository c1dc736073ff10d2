//! Jobs as text: the TOML job file, and the words that the command line shares with it.
//!
//! A [`JobText`] holds what somebody wrote, field by field and possibly nothing; [`JobText::over`] puts what was said for
//! one job over what was said for all, and [`JobText::job`] makes a [`Job`] of it. [`settings`] goes the other way: a
//! resolved job in the same words, for `--dry-run` and the record.

use crate::job::{
    Arrivals, EngineChoice, Flush, Job, JobSet, Mix, Mode, Pattern, Payload, Phase, Sharing, Sizes, Spacing, Span,
    Steady, Stop, Verify, Zones,
};
use crate::plan::MOST_JOBS;
use flashscope_units::{Bytes, Nanos};
use serde::Deserialize;
use std::fmt;
use std::str::FromStr;

/// A job as somebody wrote it. Sizes and times are texts with their unit (`4KiB`, `10s`); see `docs/bench.md`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobText {
    /// What people call it.
    pub name: Option<String>,
    /// The block device, file or directory that it runs on, where that is not the one of the command line.
    pub target: Option<String>,
    /// Block devices or files that are used as if they lay end to end.
    pub targets: Option<Vec<String>>,
    /// So many files of the span's size together, made in the directory that is the target.
    pub files: Option<u32>,
    /// Runs beside the job before it rather than after it.
    pub beside: Option<bool>,
    /// Rest before it.
    pub pause: Option<String>,
    /// `read`, `write`, `rw`, `randread`, `randwrite`, `randrw`.
    pub rw: Option<String>,
    /// Share of reads of a mixed job in percent.
    pub reads: Option<f64>,
    /// Instead of what `rw` says: `sequential`, `backward`, `strided:SIZE`, `skipping:SIZE`, `random`, `once`, `zipf:THETA`,
    /// `pareto:H`, `zones:REQUESTS%/SPAN%,…`, `hot:SPAN%/REQUESTS%`.
    pub pattern: Option<String>,
    /// Size of a request, or several with weights: `4k`, `4k:3,64k:1`.
    pub bs: Option<Text>,
    /// The same for writes, where they differ.
    pub write_bs: Option<Text>,
    /// Offsets are multiples of this.
    pub align: Option<Text>,
    /// Start of the span.
    pub offset: Option<Text>,
    /// Length of the span.
    pub span: Option<Text>,
    /// Requests outstanding.
    pub iodepth: Option<u32>,
    /// Requests handed over at once, as soon as there is room for as many.
    pub batch: Option<u32>,
    /// Ends that are waited for at once.
    pub reap: Option<u32>,
    /// Workers side by side.
    pub jobs: Option<u32>,
    /// Each worker has a part of the span of its own.
    pub parts: Option<bool>,
    /// Each worker uses as much as the span is long, beginning so much after the one before.
    pub shift: Option<Text>,
    /// Requests per second and worker (open loop).
    pub rate: Option<f64>,
    /// `even` or `poisson`.
    pub spacing: Option<String>,
    /// Rest after requests.
    pub think: Option<String>,
    /// After so many.
    pub think_every: Option<u32>,
    /// Ends after so many bytes per worker.
    pub bytes: Option<Text>,
    /// Ends after so many requests per worker.
    pub count: Option<u64>,
    /// Ends after so long.
    pub runtime: Option<String>,
    /// Ends when steady, judged by rounds of this length.
    pub steady: Option<String>,
    /// But after so many rounds at the latest.
    pub steady_rounds: Option<u32>,
    /// Time that is not counted.
    pub warm_up: Option<String>,
    /// Requests per worker that are not counted.
    pub warm_up_count: Option<u64>,
    /// Flushes after every so many writes.
    pub flush_every: Option<u64>,
    /// Flushes at the end, inside the timing.
    pub flush_at_end: Option<bool>,
    /// `incompressible`, `compressible:SHARE%`, `zeros`, `byte:N`, `urandom`, `tagged:GENERATION`.
    pub payload: Option<String>,
    /// Checks what this job wrote.
    pub verify: Option<bool>,
    /// Checks what an earlier job wrote as `tagged` with this generation.
    pub verify_generation: Option<u32>,
    /// `auto`, `sync`, `uring`, `aio`, `mmap`, `whole`, `null`.
    pub engine: Option<String>,
    /// `direct`, `cached`, `fdatasync`, `dsync`, `writethrough`.
    pub mode: Option<String>,
    /// The processors that its workers keep to: `0,2-3`.
    pub processors: Option<String>,
    /// All jobs beside it end when one of its workers is done.
    pub ends_all: Option<bool>,
    /// Polls for completions.
    pub polled: Option<bool>,
    /// Requests per worker that are kept one by one.
    pub trace: Option<u64>,
    /// Seed of every random choice.
    pub seed: Option<u64>,
}

/// A text, or a bare number.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Text {
    /// A number; of bytes.
    Number(u64),
    /// A text with its unit.
    Text(String),
}

impl From<&str> for Text {
    fn from(text: &str) -> Text {
        Text::Text(text.to_owned())
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Text::Number(number) => write!(f, "{number}"),
            Text::Text(text) => write!(f, "{text}"),
        }
    }
}

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
            Self::Field { job: None, field, why } => write!(f, "{field}: {why}"),
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
/// one before. What `over` says goes over the whole file (a command line over a job file).
pub fn parse(text: &str, over: &JobText) -> Result<JobSet, JobTextError> {
    let file: FileText =
        toml::from_str(text).map_err(|error| JobTextError::File(error.to_string().trim_end().to_owned()))?;
    if file.job.len() > MOST_JOBS {
        return Err(JobTextError::File(format!("{} jobs are more than {MOST_JOBS}", file.job.len())));
    }
    let mut phases: Vec<Phase> = Vec::new();
    for (index, text) in file.job.iter().enumerate() {
        let text = over.over(&text.over(&file.all));
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

macro_rules! over {
    ($one:expr, $other:expr, $($field:ident),*) => {
        JobText { $($field: $one.$field.clone().or_else(|| $other.$field.clone())),* }
    };
}

impl JobText {
    /// What this says, and where it says nothing, what `other` says.
    pub fn over(&self, other: &JobText) -> JobText {
        over!(
            self,
            other,
            name,
            target,
            targets,
            files,
            beside,
            pause,
            rw,
            reads,
            pattern,
            bs,
            write_bs,
            align,
            offset,
            span,
            iodepth,
            batch,
            reap,
            jobs,
            parts,
            shift,
            rate,
            spacing,
            think,
            think_every,
            bytes,
            count,
            runtime,
            steady,
            steady_rounds,
            warm_up,
            warm_up_count,
            flush_every,
            flush_at_end,
            payload,
            verify,
            verify_generation,
            engine,
            mode,
            processors,
            ends_all,
            polled,
            trace,
            seed
        )
    }

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
        job.warm_up = self.time("warm_up", &self.warm_up)?.unwrap_or_default();
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
            time: self.time("runtime", &self.runtime)?,
            steady,
        })
    }

    fn size(&self, field: &'static str, text: &Option<Text>) -> Result<Option<Bytes>, JobTextError> {
        self.parsed(field, text.as_ref().map(Text::to_string).as_deref())
    }

    fn time(&self, field: &'static str, text: &Option<String>) -> Result<Option<Nanos>, JobTextError> {
        self.parsed(field, text.as_deref())
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

const ENGINES: [(&str, EngineChoice); 7] = [
    ("auto", EngineChoice::Auto),
    ("sync", EngineChoice::Sync),
    ("uring", EngineChoice::Uring),
    ("aio", EngineChoice::Aio),
    ("mmap", EngineChoice::Mmap),
    ("whole", EngineChoice::Whole),
    ("null", EngineChoice::Null),
];

const MODES: [(&str, Mode); 5] = [
    ("direct", Mode::Direct),
    ("cached", Mode::Cached),
    ("fdatasync", Mode::Fdatasync),
    ("dsync", Mode::Dsync),
    ("writethrough", Mode::WriteThrough),
];

const DIRECTIONS: [(&str, (Mix, Pattern)); 6] = [
    ("read", (Mix::READ, Pattern::Sequential)),
    ("write", (Mix::WRITE, Pattern::Sequential)),
    ("rw", (Mix { reads: 0.5 }, Pattern::Sequential)),
    ("randread", (Mix::READ, Pattern::Random)),
    ("randwrite", (Mix::WRITE, Pattern::Random)),
    ("randrw", (Mix { reads: 0.5 }, Pattern::Random)),
];

fn direction(text: &str) -> Result<(Mix, Pattern), String> {
    named(text, &DIRECTIONS)
}

fn named<T: Copy>(text: &str, known: &[(&str, T)]) -> Result<T, String> {
    let names = || known.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let found = known.iter().find(|(name, _)| *name == text);
    found.map(|(_, value)| *value).ok_or_else(|| format!("there is no '{text}'\nhint: one of {}", names()))
}

/// `4k`, or several with weights: `4k:3,64k:1`.
pub fn sizes(text: &str) -> Result<Sizes, String> {
    let one = |part: &str| {
        let (size, weight) = part.split_once(':').unwrap_or((part, "1"));
        let weight = weight.trim().parse().map_err(|_| format!("'{weight}' is no weight (a whole number)"))?;
        size.parse::<Bytes>().map(|size| (size, weight)).map_err(|error| error.to_string())
    };
    text.split(',').map(one).collect::<Result<_, _>>().map(Sizes)
}

/// Numbers and ranges: `0,2-3`.
pub(crate) fn processors(text: &str) -> Result<Vec<u32>, String> {
    let number = |text: &str| text.trim().parse::<u32>().map_err(|_| format!("'{text}' is no number of a processor"));
    let mut all = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (number(first)?, number(last)?);
        if last < first || last - first >= MOST_PROCESSORS {
            return Err(format!("'{part}' is no range of processors, like 0-3"));
        }
        all.extend(first..=last);
    }
    all.sort_unstable();
    all.dedup();
    Ok(all)
}

/// More than any machine has, and few enough to write down.
const MOST_PROCESSORS: u32 = 4096;

fn pattern(text: &str) -> Result<Pattern, String> {
    let number = |text: &str| text.parse::<f64>().map_err(|_| format!("'{text}' is not a number"));
    let share = |text: &str| match text.strip_suffix('%') {
        Some(percent) => number(percent).map(|percent| percent / 100.0),
        None => Err(format!("'{text}' is not a share, like 10%")),
    };
    match text.split_once(':').unwrap_or((text, "")) {
        ("sequential", "") => Ok(Pattern::Sequential),
        ("backward", "") => Ok(Pattern::Backward),
        ("random", "") => Ok(Pattern::Random),
        ("once", "") => Ok(Pattern::RandomOnce),
        ("strided", stride) => stride
            .parse()
            .map(|stride| Pattern::Strided { stride })
            .map_err(|error: flashscope_units::ParseBytesError| error.to_string()),
        ("skipping", stride) => stride
            .parse()
            .map(|stride| Pattern::Skipping { stride })
            .map_err(|error: flashscope_units::ParseBytesError| error.to_string()),
        ("zipf", theta) => number(theta).map(|theta| Pattern::Zipf { theta }),
        ("pareto", h) => number(h).map(|h| Pattern::Pareto { h }),
        ("zones", text) => {
            let zone = |part: &str| {
                let (requests, span) = part.split_once('/').ok_or("a zone is REQUESTS%/SPAN%, like 90%/10%")?;
                Ok::<_, String>((share(requests)?, share(span)?))
            };
            let shares = text.split(',').map(zone).collect::<Result<Vec<_>, _>>()?;
            let zones = Zones::new(&shares).ok_or("at most 8 zones, whose shares add up to 100 % each")?;
            Ok(Pattern::Zoned(zones))
        }
        ("hot", shares) => {
            let (span, requests) = shares.split_once('/').ok_or("hot needs two shares, like hot:10%/90%")?;
            Ok(Pattern::HotCold { span: share(span)?, requests: share(requests)? })
        }
        _ => Err(format!(
            "there is no pattern '{text}'\nhint: one of sequential, backward, strided:SIZE, skipping:SIZE, random, once, zipf:THETA, pareto:H, zones:REQUESTS%/SPAN%,…, hot:SPAN%/REQUESTS%"
        )),
    }
}

fn payload(text: &str) -> Result<Payload, String> {
    let unknown = || {
        format!(
            "there is no payload '{text}'\nhint: one of incompressible, compressible:SHARE%, zeros, byte:N, urandom, tagged:GENERATION"
        )
    };
    match text.split_once(':').unwrap_or((text, "")) {
        ("incompressible", "") => Ok(Payload::Incompressible),
        ("zeros", "") => Ok(Payload::Byte(0)),
        ("urandom", "") => Ok(Payload::Urandom),
        ("byte", byte) => byte.parse().map(Payload::Byte).map_err(|_| unknown()),
        ("tagged", generation) => {
            generation.parse().map(|generation| Payload::Tagged { generation }).map_err(|_| unknown())
        }
        ("compressible", share) => {
            let percent =
                share.strip_suffix('%').and_then(|percent| percent.parse::<f64>().ok()).ok_or_else(unknown)?;
            Ok(Payload::Compressible(percent / 100.0))
        }
        _ => Err(unknown()),
    }
}

/// A job in the words of a job file, every field that says something: name and value as TOML. Read again it is the
/// same job.
pub fn settings(job: &Job) -> Vec<(&'static str, String)> {
    let mut found: Vec<(&'static str, String)> = Vec::new();
    let mut add = |name: &'static str, value: Option<String>| found.extend(value.map(|value| (name, value)));
    let quoted = |text: String| toml::Value::String(text).to_string();
    let size = |size: Bytes| size.get().to_string();
    let time = |time: Nanos| quoted(format!("{}ns", time.get()));
    let of = |sizes: &Sizes| {
        quoted(sizes.0.iter().map(|(size, weight)| format!("{}:{weight}", size.get())).collect::<Vec<_>>().join(","))
    };
    add("name", Some(quoted(job.name.clone())));
    let all = job.target.iter().chain(&job.more).map(|name| quoted(name.clone())).collect::<Vec<_>>().join(", ");
    match job.more.is_empty() {
        true => add("target", job.target.clone().map(quoted)),
        false => add("targets", Some(format!("[{all}]"))),
    }
    add("files", job.files.map(|files| files.to_string()));
    let base = match (job.mix.has_reads(), job.mix.has_writes()) {
        (true, true) => "rw",
        (true, false) => "read",
        (false, _) => "write",
    };
    add("rw", Some(quoted(if job.pattern.is_random() { format!("rand{base}") } else { base.to_owned() })));
    add("reads", (base == "rw").then(|| format!("{:?}", job.mix.reads * 100.0)));
    add("pattern", Some(quoted(pattern_text(job.pattern))));
    add("bs", Some(of(&job.read_sizes)));
    add("write_bs", (job.write_sizes != job.read_sizes).then(|| of(&job.write_sizes)));
    add("align", job.align.map(size));
    add("offset", Some(size(job.span.start)));
    add("span", job.span.length.map(size));
    add("iodepth", Some(job.queue_depth.to_string()));
    add("batch", job.batch.map(|batch| batch.to_string()));
    add("reap", job.reap.map(|reap| reap.to_string()));
    add("jobs", Some(job.workers.to_string()));
    add("parts", (job.sharing == Sharing::Parts).then(|| "true".to_owned()));
    if let Sharing::Shifted(shift) = job.sharing {
        add("shift", Some(size(shift)));
    }
    match job.arrivals {
        Arrivals::AsFastAsPossible => {}
        Arrivals::Think { time: rest, every } => {
            add("think", Some(time(rest)));
            add("think_every", Some(every.to_string()));
        }
        Arrivals::Rate { per_second, spacing } => {
            add("rate", Some(format!("{per_second:?}")));
            add("spacing", Some(quoted(if spacing == Spacing::Even { "even" } else { "poisson" }.to_owned())));
        }
    }
    add("bytes", job.stop.bytes.map(size));
    add("count", job.stop.requests.map(|count| count.to_string()));
    add("runtime", job.stop.time.map(time));
    add("steady", job.stop.steady.map(|steady| time(steady.round)));
    add("steady_rounds", job.stop.steady.map(|steady| steady.at_most.to_string()));
    add("warm_up", (job.warm_up > Nanos::ZERO).then(|| time(job.warm_up)));
    add("warm_up_count", (job.warm_up_requests > 0).then(|| job.warm_up_requests.to_string()));
    add("flush_every", job.flush.every.map(|every| every.to_string()));
    add("flush_at_end", job.flush.at_end.then(|| "true".to_owned()));
    add("payload", job.mix.has_writes().then(|| quoted(payload_text(job.payload))));
    add("verify", (job.verify == Verify::Written).then(|| "true".to_owned()));
    if let Verify::Generation(generation) = job.verify {
        add("verify_generation", Some(generation.to_string()));
    }
    add("engine", Some(quoted(job.engine.name().to_owned())));
    let mode = MODES.iter().find(|(_, mode)| *mode == job.mode).map_or("direct", |(name, _)| name);
    add("mode", Some(quoted(mode.to_owned())));
    add(
        "processors",
        job.processors.as_ref().map(|list| quoted(list.iter().map(u32::to_string).collect::<Vec<_>>().join(","))),
    );
    add("ends_all", job.ends_all.then(|| "true".to_owned()));
    add("polled", job.polled.then(|| "true".to_owned()));
    add("trace", (job.trace > 0).then(|| job.trace.to_string()));
    add("seed", Some(job.seed.to_string()));
    found
}

fn pattern_text(pattern: Pattern) -> String {
    match pattern {
        Pattern::Sequential => "sequential".to_owned(),
        Pattern::Backward => "backward".to_owned(),
        Pattern::Strided { stride } => format!("strided:{}", stride.get()),
        Pattern::Skipping { stride } => format!("skipping:{}", stride.get()),
        Pattern::Random => "random".to_owned(),
        Pattern::RandomOnce => "once".to_owned(),
        Pattern::Zipf { theta } => format!("zipf:{theta}"),
        Pattern::Pareto { h } => format!("pareto:{h}"),
        Pattern::Zoned(zones) => {
            let percent = |(requests, span): &(f64, f64)| format!("{}%/{}%", requests * 100.0, span * 100.0);
            format!("zones:{}", zones.shares().iter().map(percent).collect::<Vec<_>>().join(","))
        }
        Pattern::HotCold { span, requests } => format!("hot:{}%/{}%", span * 100.0, requests * 100.0),
    }
}

fn payload_text(payload: Payload) -> String {
    match payload {
        Payload::Incompressible => "incompressible".to_owned(),
        Payload::Compressible(share) => format!("compressible:{}%", share * 100.0),
        Payload::Byte(byte) => format!("byte:{byte}"),
        Payload::Urandom => "urandom".to_owned(),
        Payload::Tagged { generation } => format!("tagged:{generation}"),
    }
}

/// A set as a job file that says everything.
pub fn to_toml(set: &JobSet) -> String {
    let mut text = String::new();
    for phase in &set.phases {
        for (index, job) in phase.jobs.iter().enumerate() {
            text.push_str("[[job]]\n");
            for (name, value) in settings(job) {
                text.push_str(&format!("{name} = {value}\n"));
            }
            if index > 0 {
                text.push_str("beside = true\n");
            } else if phase.pause > Nanos::ZERO {
                text.push_str(&format!("pause = \"{}ns\"\n", phase.pause.get()));
            }
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let set = parse(FILE, &JobText::default()).unwrap();
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
        let set = parse(FILE, &JobText::default()).unwrap();
        assert_eq!(parse(&to_toml(&set), &JobText::default()), Ok(set));
    }

    #[test]
    fn the_command_line_goes_over_the_file() {
        let over = JobText { iodepth: Some(2), bs: Some("8k".into()), ..JobText::default() };
        let set = parse(FILE, &over).unwrap();
        assert!(
            set.phases
                .iter()
                .flat_map(|phase| &phase.jobs)
                .all(|job| job.queue_depth == 2 && job.largest() == Bytes::kib(8))
        );
    }

    #[test]
    fn mistakes_are_named() {
        let check = |text: &str, words: &str| {
            let error = parse(text, &JobText::default()).expect_err(text).to_string();
            assert!(error.contains(words), "{error}");
        };
        check("[[job]]\nnosuch = 1", "nosuch");
        check("[[job]\n", "line 1");
        check("", "no [[job]]");
        check("[[job]]\nname = \"a\"\nrw = \"reed\"", "rw of job 'a': there is no 'reed'");
        check("[[job]]\nbs = \"4KB\"", "1000 or 1024");
        check("[[job]]\nruntime = \"10\"", "no unit");
        check("[[job]]\nreads = 50", "mixed job");
        check("[[job]]\npattern = \"zigzag\"", "hint");
        check("[[job]]\nrate = 5.0\nthink = \"1s\"", "exclude");
        check("[[job]]\nrw = \"write\"\npayload = \"byte:300\"", "byte:N");
    }
}
