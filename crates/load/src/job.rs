//! What load is: plain data, with nothing implied. Everything that a job can be asked to do stands in [`Job`].
//!
//! Job files ([`crate::file`]), command lines and presets all end here; [`crate::plan::resolve`] checks a job against
//! a target and works out what is left open. No field has a hidden default: [`Job::new`] spells them out.

use flashscope_units::{Bytes, Nanos};

/// A whole run: phases one after another.
#[derive(Clone, Debug, PartialEq)]
pub struct JobSet {
    /// The phases in order; never empty.
    pub phases: Vec<Phase>,
}

/// Jobs that run side by side.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// The jobs; never empty.
    pub jobs: Vec<Job>,
    /// Rest before it begins; nothing is outstanding meanwhile.
    pub pause: Nanos,
}

/// One kind of load on one target.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// What people call it; unique within a set.
    pub name: String,
    /// The block device, file or directory that it runs on, in a set that runs on several; `None`: the one of the run.
    pub target: Option<String>,
    /// Further block devices or files, used with the target as if they lay end to end; a part of the same length of each.
    pub more: Vec<String>,
    /// So many files that are made for it, used as if they lay end to end; the target is then a directory. `None`: one target.
    pub files: Option<u32>,
    /// Which requests are reads and which are writes.
    pub mix: Mix,
    /// Where requests go.
    pub pattern: Pattern,
    /// How large reads are.
    pub read_sizes: Sizes,
    /// How large writes are.
    pub write_sizes: Sizes,
    /// Offsets are multiples of this from the start of the span; `None`: the smallest size.
    pub align: Option<Bytes>,
    /// The part of the target that is used.
    pub span: Span,
    /// Requests outstanding per worker.
    pub queue_depth: u32,
    /// Requests handed over at once, as soon as there is room for as many; `None`: two at a time, for as long as there is
    /// room. More throughput on some devices, for a queue that is not always full.
    pub batch: Option<u32>,
    /// Ends that are waited for at once; `None`: one. More throughput for ends that are seen late.
    pub reap: Option<u32>,
    /// Workers that do this job side by side.
    pub workers: u32,
    /// Whether workers share the span.
    pub sharing: Sharing,
    /// When requests are due.
    pub arrivals: Arrivals,
    /// When it ends; whichever comes first.
    pub stop: Stop,
    /// Time at the start that is not counted.
    pub warm_up: Nanos,
    /// Requests of each worker at the start that are not counted.
    pub warm_up_requests: u64,
    /// When finished writes are made durable.
    pub flush: Flush,
    /// What writes carry.
    pub payload: Payload,
    /// What is checked.
    pub verify: Verify,
    /// How requests are made.
    pub engine: EngineChoice,
    /// How the page cache is dealt with.
    pub mode: Mode,
    /// The processors that its workers keep to; `None`: any.
    pub processors: Option<Vec<u32>>,
    /// Whether all jobs beside it end when one of its workers is done.
    pub ends_all: bool,
    /// Whether completions are polled for rather than waited for (`io_uring` on devices with polled queues).
    pub polled: bool,
    /// Requests of each worker that are kept one by one; 0: none.
    pub trace: u64,
    /// Seed of every random choice; each worker derives its own.
    pub seed: u64,
}

/// Which requests are reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mix {
    /// Share of requests that are reads, 0 to 1.
    pub reads: f64,
}

impl Mix {
    /// Reads only.
    pub const READ: Mix = Mix { reads: 1.0 };
    /// Writes only.
    pub const WRITE: Mix = Mix { reads: 0.0 };

    /// Whether it reads at all.
    pub fn has_reads(self) -> bool {
        self.reads > 0.0
    }

    /// Whether it writes at all.
    pub fn has_writes(self) -> bool {
        self.reads < 1.0
    }
}

/// Where requests go within the span.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pattern {
    /// One after another, and again from the start; reads and writes each have their own position.
    Sequential,
    /// The same from the end to the start.
    Backward,
    /// Every `stride`-th byte: one request, then on by `stride` from its start, wrapping with a shift by one request, so
    /// that repeated passes reach every block.
    Strided {
        /// From the start of one request to that of the next.
        stride: Bytes,
    },
    /// Every `stride`-th byte, in every pass the same: what lies between is never touched.
    Skipping {
        /// From the start of one request to that of the next.
        stride: Bytes,
    },
    /// At random, every place alike, independently of what came before.
    Random,
    /// At random, every place once before any comes again.
    RandomOnce,
    /// At random, a few places very often: the k-th most popular with probability ∝ k^−theta. Popular places are
    /// scattered over the span.
    Zipf {
        /// 0 is uniform, 0.99 the usual skew; any value above 0.
        theta: f64,
    },
    /// At random, a few places very often: a share `1 − h` of the requests goes to a share `h` of the places (with 0.2 the
    /// "80-20 rule"), and so on within these. Popular places are scattered over the span.
    Pareto {
        /// Above 0 and below 1; smaller is more skewed.
        h: f64,
    },
    /// At random, each zone of the span with its own share of the requests.
    Zoned(Zones),
    /// At random, a share of the requests in a share of the span at its start.
    HotCold {
        /// Share of the span that is hot, 0 to 1.
        span: f64,
        /// Share of the requests that go there, 0 to 1.
        requests: f64,
    },
}

/// Zones from the start of the span on, one behind the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Zones {
    zones: [(f64, f64); Zones::MOST],
    count: usize,
}

impl Zones {
    /// There are at most so many.
    pub const MOST: usize = 8;

    /// Each with its shares of the requests and of the span, which sum up to 1 each; `None` where they do not, or there are
    /// too many.
    pub fn new(shares: &[(f64, f64)]) -> Option<Zones> {
        let sum = |pick: fn(&(f64, f64)) -> f64| shares.iter().map(pick).sum::<f64>();
        let whole = |sum: f64| (sum - 1.0).abs() < 1e-6;
        let sound = shares.iter().all(|(requests, span)| *requests >= 0.0 && *span > 0.0);
        if shares.len() > Zones::MOST || !sound || !whole(sum(|zone| zone.0)) || !whole(sum(|zone| zone.1)) {
            return None;
        }
        let mut zones = [(0.0, 0.0); Zones::MOST];
        zones[..shares.len()].copy_from_slice(shares);
        Some(Zones { zones, count: shares.len() })
    }

    /// Each zone's shares of the requests and of the span.
    pub fn shares(&self) -> &[(f64, f64)] {
        &self.zones[..self.count]
    }
}

impl Pattern {
    /// Whether places are drawn.
    pub fn is_random(self) -> bool {
        !matches!(self, Pattern::Sequential | Pattern::Backward | Pattern::Strided { .. } | Pattern::Skipping { .. })
    }
}

/// Request sizes, each with its weight.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sizes(pub Vec<(Bytes, u32)>);

impl Sizes {
    /// One size only.
    pub fn one(size: Bytes) -> Sizes {
        Sizes(vec![(size, 1)])
    }

    /// The smallest; zero where there is none.
    pub fn smallest(&self) -> Bytes {
        self.0.iter().map(|(size, _)| *size).min().unwrap_or(Bytes::ZERO)
    }

    /// The largest; zero where there is none.
    pub fn largest(&self) -> Bytes {
        self.0.iter().map(|(size, _)| *size).max().unwrap_or(Bytes::ZERO)
    }
}

/// A part of the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Where it begins.
    pub start: Bytes,
    /// How long it is; `None`: to the end of the target.
    pub length: Option<Bytes>,
}

/// Whether several workers share the span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// Each uses all of it.
    Whole,
    /// Each has its own part.
    Parts,
    /// Each uses as much as the span is long, beginning so much after the one before.
    Shifted(Bytes),
}

/// When requests are due.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arrivals {
    /// As soon as there is room in the queue (closed loop).
    AsFastAsPossible,
    /// As soon as there is room, but after every `every` requests the worker rests for `time`.
    Think {
        /// How long.
        time: Nanos,
        /// After how many requests; at least 1.
        every: u32,
    },
    /// At times that do not depend on how the device does (open loop); response time counts from these.
    Rate {
        /// Requests per second and worker.
        per_second: f64,
        /// How they are spaced.
        spacing: Spacing,
    },
}

/// How the arrivals of an open loop are spaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spacing {
    /// Evenly.
    Even,
    /// Exponentially, as independent users would come (a Poisson process).
    Poisson,
}

/// When a worker ends; whichever comes first. With nothing set it goes through the span once.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stop {
    /// Bytes moved by each worker, warm-up included.
    pub bytes: Option<Bytes>,
    /// Requests of each worker, warm-up included.
    pub requests: Option<u64>,
    /// Time after the warm-up.
    pub time: Option<Nanos>,
    /// When throughput is steady.
    pub steady: Option<Steady>,
}

/// The steady state of SNIA's performance test specification: five rounds within 20 % and without a slope above 10 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steady {
    /// Length of a round.
    pub round: Nanos,
    /// After so many it ends all the same, and says that it was not steady.
    pub at_most: u32,
}

/// When finished writes are made durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flush {
    /// After every so many writes of a worker.
    pub every: Option<u64>,
    /// Once at the end, inside the timing.
    pub at_end: bool,
}

/// What writes carry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Payload {
    /// Incompressible bytes, made once for each slot.
    Incompressible,
    /// Made once for each slot; this share of it (0 to 1) are zeros, the rest incompressible.
    Compressible(f64),
    /// The same byte throughout.
    Byte(u8),
    /// Drawn from the kernel's generator for every request, as `dd if=/dev/urandom` does. The time that this takes is
    /// outside the stamps, but costs throughput: it is there to show how much.
    Urandom,
    /// Made for every request: incompressible bytes that tell their position and generation, so that a later read can be
    /// checked against them. The time that this takes is outside the stamps, but costs throughput.
    Tagged {
        /// Which writing of the span it is.
        generation: u32,
    },
}

/// What is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verify {
    /// Nothing.
    Nothing,
    /// Reads of what this job wrote, as they come, and at the end all that it wrote is read back. Needs one block size;
    /// workers get parts of the span.
    Written,
    /// Every read must find what an earlier job wrote as [`Payload::Tagged`] with this generation.
    Generation(u32),
}

/// How requests are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineChoice {
    /// `io_uring` for queues deeper than one, else `pread`/`pwrite`; what was chosen is recorded.
    Auto,
    /// `pread` and `pwrite`, one at a time.
    Sync,
    /// `io_uring`.
    Uring,
    /// POSIX asynchronous I/O, through the C library.
    Aio,
    /// Loads and stores on a memory map.
    Mmap,
    /// Every request is a file of its own: made, written and closed, or opened, read and closed.
    Whole,
    /// Nothing is done: measures the engine itself.
    Null,
}

/// How the page cache is dealt with (the modes that `dd` made popular).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// `O_DIRECT`: past the page cache.
    Direct,
    /// Through the page cache; nothing says when it reaches the medium.
    Cached,
    /// Through the page cache, and one `fdatasync` at the end inside the timing.
    Fdatasync,
    /// `O_DIRECT` and `O_DSYNC`: each write waits for the medium.
    Dsync,
    /// Through the page cache with `O_DSYNC`: each write waits for the medium, reads may find what was written.
    WriteThrough,
}

impl Mode {
    /// Whether requests pass the page cache.
    pub fn is_direct(self) -> bool {
        matches!(self, Mode::Direct | Mode::Dsync)
    }

    /// Whether each write waits for the medium.
    pub fn is_durable(self) -> bool {
        matches!(self, Mode::Dsync | Mode::WriteThrough)
    }
}

/// How long a random job runs where nothing is said.
pub const RANDOM_TIME: Nanos = Nanos::secs(10);

impl Job {
    /// A job at random that nothing ends goes on for so long: as many requests as the span has blocks would take hours on a
    /// card. One that is to reach every block, to check all that it wrote, or was given a size goes through the span all the same.
    pub fn end_when_random(&mut self, time: Nanos) {
        let sized = self.span.length.is_some();
        let to_the_end = sized || self.pattern == Pattern::RandomOnce || self.verify == Verify::Written;
        if self.pattern.is_random() && !to_the_end && self.stop == Stop::default() {
            self.stop.time = Some(time);
        }
    }

    /// 4 KiB reads at random over the whole target, one at a time, past the cache, once through: every field is spelt
    /// out here, and callers change what they mean.
    pub fn new(name: &str) -> Job {
        Job {
            name: name.to_owned(),
            target: None,
            more: Vec::new(),
            files: None,
            mix: Mix::READ,
            pattern: Pattern::Random,
            read_sizes: Sizes::one(Bytes::kib(4)),
            write_sizes: Sizes::one(Bytes::kib(4)),
            align: None,
            span: Span { start: Bytes::ZERO, length: None },
            queue_depth: 1,
            batch: None,
            reap: None,
            workers: 1,
            sharing: Sharing::Whole,
            arrivals: Arrivals::AsFastAsPossible,
            stop: Stop::default(),
            warm_up: Nanos::ZERO,
            warm_up_requests: 0,
            flush: Flush::default(),
            payload: Payload::Incompressible,
            verify: Verify::Nothing,
            engine: EngineChoice::Auto,
            mode: Mode::Direct,
            processors: None,
            ends_all: false,
            polled: false,
            trace: 0,
            seed: 1,
        }
    }

    /// As how many files it uses what it runs on, laid end to end; `None`: as one.
    pub fn laid(&self) -> Option<u32> {
        self.files.or((!self.more.is_empty()).then(|| self.more.len() as u32 + 1))
    }

    /// The largest request that it makes.
    pub fn largest(&self) -> Bytes {
        let reads = if self.mix.has_reads() { self.read_sizes.largest() } else { Bytes::ZERO };
        let writes = if self.mix.has_writes() { self.write_sizes.largest() } else { Bytes::ZERO };
        reads.max(writes)
    }

    /// The smallest request that it makes.
    pub fn smallest(&self) -> Bytes {
        match (self.mix.has_reads(), self.mix.has_writes()) {
            (true, true) => self.read_sizes.smallest().min(self.write_sizes.smallest()),
            (true, false) => self.read_sizes.smallest(),
            (false, _) => self.write_sizes.smallest(),
        }
    }
}
