//! What `bench` takes. Words stay words here: [`flashscope_load::file`] says what they mean, the same as in a job file.

use super::{Fio, Replace, TargetArgs};
use clap::{Args, Subcommand};
use flashscope_load::file::{JobText, Text};
use flashscope_units::Nanos;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  flashscope bench sim:sd-4mib --rw randwrite --size 64M --runtime 10s
  flashscope bench /mnt/card --rw write --bs 1M --size 256M --mode fdatasync
  sudo flashscope bench /dev/mmcblk0 --rw randread --iodepth 32 --runtime 30s --repeat 5
  flashscope bench card.img --rw randrw --reads 70 --verify --size 64M --allow-write
  flashscope bench /mnt/card --job nightly.toml --json > nightly.json
  flashscope bench /mnt/card --preset crystaldiskmark -o card.json     (see --presets)

In a directory, or where there is no file yet, bench makes a file of its own (--size) and removes it again. Anything
else is only written to with --allow-write (a file) or --destroy-data (a block device).")]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Bench {
    #[command(subcommand)]
    pub(crate) kind: Option<BenchKind>,
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// Run the jobs of this file; what is given beside it goes over it
    #[arg(long, value_name = "FILE")]
    pub(crate) job: Option<PathBuf>,
    /// Run a preset (see --presets) or a definition of your own (a path)
    #[arg(long, value_name = "NAME", conflicts_with = "job", help_heading = "Presets")]
    pub(crate) preset: Option<String>,
    /// List the presets, and do nothing
    #[arg(long, help_heading = "Presets")]
    pub(crate) presets: bool,
    /// Print the preset's definition, which can be changed and run as --preset ./FILE, and do nothing
    #[arg(long, requires = "preset", help_heading = "Presets")]
    pub(crate) explain: bool,
    /// Take the preset's short times; the result says so
    #[arg(long, requires = "preset", help_heading = "Presets")]
    pub(crate) quick: bool,
    /// Exit with 1 unless every limit of this name is met (A1, V30 …)
    #[arg(long, value_name = "LIMIT", requires = "preset", help_heading = "Presets")]
    pub(crate) require: Option<String>,
    /// read, write, rw, randread, randwrite or randrw [default: randread]
    #[arg(long, visible_alias = "readwrite", help_heading = "Load")]
    pub(crate) rw: Option<String>,
    /// Percentage of reads of a mixed job [default: 50]
    #[arg(long, visible_alias = "rwmixread", value_name = "PERCENT", help_heading = "Load")]
    pub(crate) reads: Option<f64>,
    /// sequential, backward, strided:SIZE, skipping:SIZE, random, once, zipf:THETA or hot:SPAN%/REQUESTS%
    #[arg(long, help_heading = "Load")]
    pub(crate) pattern: Option<String>,
    /// Request size, or several with weights (4k:3,64k:1) [default: 4k]
    #[arg(long, visible_alias = "block", value_name = "SIZE", help_heading = "Load")]
    pub(crate) bs: Option<String>,
    /// Size of writes, where it differs
    #[arg(long, value_name = "SIZE", help_heading = "Load")]
    pub(crate) write_bs: Option<String>,
    /// Offsets are multiples of this [default: the smallest request]
    #[arg(long, value_name = "SIZE", help_heading = "Load")]
    pub(crate) align: Option<String>,
    /// Where the span begins
    #[arg(long, value_name = "SIZE", help_heading = "Load")]
    pub(crate) offset: Option<String>,
    /// Length of the span, and of a file that is made [default: all there is; 1 GiB]
    #[arg(long, visible_alias = "span", value_name = "SIZE", help_heading = "Load")]
    pub(crate) size: Option<String>,
    /// Make so many files in the directory, of --size together, and use them as if they lay end to end
    #[arg(long, value_name = "N", help_heading = "Load")]
    pub(crate) files: Option<u32>,
    /// Requests outstanding per worker [default: 1]
    #[arg(long, visible_alias = "queue-depth", value_name = "N", help_heading = "Load")]
    pub(crate) iodepth: Option<u32>,
    /// Hand over so many requests at once, as soon as there is room for them [default: two at a time, for as long as there is room]
    #[arg(long, value_name = "N", help_heading = "Load")]
    pub(crate) batch: Option<u32>,
    /// Wait for so many requests to end at once; their ends are then seen late [default: 1]
    #[arg(long, value_name = "N", help_heading = "Load")]
    pub(crate) reap: Option<u32>,
    /// Workers side by side [default: 1]
    #[arg(long, visible_alias = "numjobs", value_name = "N", help_heading = "Load")]
    pub(crate) jobs: Option<u32>,
    /// Each worker has a part of the span of its own
    #[arg(long, help_heading = "Load")]
    pub(crate) parts: bool,
    /// Each worker uses as much as --size, beginning so much after the one before
    #[arg(long, value_name = "SIZE", help_heading = "Load")]
    pub(crate) shift: Option<String>,
    /// Requests per second and worker, whether the device keeps up or not (open loop)
    #[arg(long, value_name = "N", help_heading = "Load")]
    pub(crate) rate: Option<f64>,
    /// Spacing of an open loop: even or poisson [default: even]
    #[arg(long, help_heading = "Load")]
    pub(crate) spacing: Option<String>,
    /// Rest after every --think-every requests
    #[arg(long, value_name = "TIME", help_heading = "Load")]
    pub(crate) think: Option<String>,
    /// See --think [default: 1]
    #[arg(long, value_name = "N", help_heading = "Load")]
    pub(crate) think_every: Option<u32>,
    /// End after so many bytes per worker [default without any end: once through the span]
    #[arg(long, value_name = "SIZE", help_heading = "End")]
    pub(crate) bytes: Option<String>,
    /// End after so many requests per worker
    #[arg(long, value_name = "N", help_heading = "End")]
    pub(crate) count: Option<u64>,
    /// End after this time
    #[arg(long, value_name = "TIME", help_heading = "End")]
    pub(crate) runtime: Option<String>,
    /// End when throughput is steady over five rounds of this length
    #[arg(long, value_name = "TIME", help_heading = "End")]
    pub(crate) steady: Option<String>,
    /// But after so many rounds at the latest [default: 25]
    #[arg(long, value_name = "N", help_heading = "End")]
    pub(crate) steady_rounds: Option<u32>,
    /// Time at the start that is not counted
    #[arg(long, value_name = "TIME", help_heading = "End")]
    pub(crate) warm_up: Option<String>,
    /// Requests per worker at the start that are not counted
    #[arg(long, value_name = "N", help_heading = "End")]
    pub(crate) warm_up_count: Option<u64>,
    /// direct, cached, fdatasync, dsync or writethrough [default: direct]
    #[arg(long, help_heading = "Way")]
    pub(crate) mode: Option<String>,
    /// auto, sync, uring, aio, mmap, whole (a file per request) or null [default: auto]
    #[arg(long, visible_alias = "ioengine", help_heading = "Way")]
    pub(crate) engine: Option<String>,
    /// Keep workers to these processors (0,2-3)
    #[arg(long, value_name = "LIST", help_heading = "Way")]
    pub(crate) processors: Option<String>,
    /// Poll for completions (devices with polled queues)
    #[arg(long, help_heading = "Way")]
    pub(crate) polled: bool,
    /// Leave what is in the page cache there: reads through it are then warm
    #[arg(long, help_heading = "Way")]
    pub(crate) warm: bool,
    /// Flush after every N writes of a worker
    #[arg(long, value_name = "N", help_heading = "Way")]
    pub(crate) flush_every: Option<u64>,
    /// Flush at the end, inside the timing
    #[arg(long, help_heading = "Way")]
    pub(crate) flush_at_end: bool,
    /// incompressible, compressible:SHARE%, zeros, byte:N, urandom or tagged:GENERATION
    #[arg(long, help_heading = "Way")]
    pub(crate) payload: Option<String>,
    /// Check reads of what was written, and read everything back at the end
    #[arg(long, help_heading = "Way")]
    pub(crate) verify: bool,
    /// Check that reads find what an earlier run wrote with --payload tagged:GENERATION
    #[arg(long, value_name = "GENERATION", help_heading = "Way")]
    pub(crate) verify_generation: Option<u32>,
    /// Do it so many times; every run is kept [default: 1, or what the preset says]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) repeat: Option<u32>,
    /// Print the JSON Schema of the result, and do nothing
    #[arg(long)]
    pub(crate) schema: bool,
    #[command(flatten)]
    pub(crate) around: Around,
}

/// What is said around jobs, in whoever's words these are.
#[derive(Args, Clone, Debug)]
pub(crate) struct Around {
    /// Give up where a request takes longer than this
    #[arg(long, value_name = "TIME")]
    pub(crate) timeout: Option<Nanos>,
    /// Keep each of the first N requests of every worker in the file of --trace-to
    #[arg(long, value_name = "N", requires = "trace_to", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub(crate) trace: Option<u64>,
    /// CSV file for --trace
    #[arg(long, value_name = "FILE", requires = "trace")]
    pub(crate) trace_to: Option<PathBuf>,
    /// Keep files that were made for the run
    #[arg(long)]
    pub(crate) keep: bool,
    /// Print the resolved plan as a job file, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print the result as JSON on stdout and nothing else
    #[arg(long)]
    pub(crate) json: bool,
    /// Also keep the JSON in this file
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Also keep a report in this file, by its ending: .html, .csv, .xlsx or .txt
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) replace: Replace,
}

/// Load that is told in another tool's words.
#[derive(Debug, Subcommand)]
pub(crate) enum BenchKind {
    /// Run fio's job files and command lines
    Fio(Box<Fio>),
    /// Run iozone's tests by iozone's command line: speed over file size and record size, and where memory ends
    Iozone(Iozone),
}

#[derive(Args, Debug)]
#[command(disable_help_flag = true, disable_version_flag = true)]
pub(crate) struct Iozone {
    /// iozone's options as they are (`-Rab FILE -g 4g`); -h lists those that are taken
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTIONS")]
    pub(crate) words: Vec<String>,
}

impl Bench {
    /// What was said of the job, in the words of a job file.
    pub(crate) fn text(&self) -> JobText {
        let said = |flag: bool| flag.then_some(true);
        let text = |text: &Option<String>| text.as_deref().map(Text::from);
        JobText {
            name: None,
            target: None,
            targets: None,
            files: self.files,
            beside: None,
            pause: None,
            rw: self.rw.clone(),
            reads: self.reads,
            pattern: self.pattern.clone(),
            bs: text(&self.bs),
            write_bs: text(&self.write_bs),
            align: text(&self.align),
            offset: text(&self.offset),
            span: text(&self.size),
            iodepth: self.iodepth,
            batch: self.batch,
            reap: self.reap,
            jobs: self.jobs,
            parts: said(self.parts),
            shift: text(&self.shift),
            rate: self.rate,
            spacing: self.spacing.clone(),
            think: self.think.clone(),
            think_every: self.think_every,
            bytes: text(&self.bytes),
            count: self.count,
            runtime: self.runtime.clone(),
            steady: self.steady.clone(),
            steady_rounds: self.steady_rounds,
            warm_up: self.warm_up.clone(),
            warm_up_count: self.warm_up_count,
            flush_every: self.flush_every,
            flush_at_end: said(self.flush_at_end),
            payload: self.payload.clone(),
            verify: said(self.verify),
            verify_generation: self.verify_generation,
            engine: self.engine.clone(),
            mode: self.mode.clone(),
            processors: self.processors.clone(),
            ends_all: None,
            polled: said(self.polled),
            trace: self.around.trace,
            seed: None,
        }
    }
}
