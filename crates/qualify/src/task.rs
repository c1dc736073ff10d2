//! What a workload does: one command that makes a record.

use flashscope_load::file::{JobText, Text};
use flashscope_model::qualification::{FigureUnit, Work};

/// One command, and what it is told.
#[derive(Clone, Debug, PartialEq)]
pub enum Task {
    /// `bench`: a preset, or jobs that run one after another.
    Bench {
        /// The preset's name; `None` where jobs are given.
        preset: Option<String>,
        /// The jobs; empty where a preset is named.
        jobs: Vec<JobText>,
    },
    /// `app`: an application on a file system.
    App {
        /// Its name, as `flashscope app list` has it.
        app: String,
        /// Its rounds; `None`: as the app says.
        rounds: Option<u32>,
        /// The file system that is made for it on a block device.
        file_system: String,
    },
    /// `trace replay`.
    Replay {
        /// A shipped trace by its name, or a file.
        trace: String,
    },
    /// `mem`: the host's memory.
    Memory {
        /// Which of its tests.
        test: String,
    },
    /// `capacity`.
    Capacity {
        /// Whether every address is written, rather than places.
        full: bool,
    },
    /// `integrity`.
    Integrity {
        /// Power cuts.
        cuts: u32,
    },
    /// `mmc check`.
    Registers,
    /// `inspect`.
    Inspect,
    /// A command of the product.
    External {
        /// Its name in the settings of the host (`qualify.external.NAME`), and in filled-in tables.
        name: String,
        /// The unit of the figure that it prints, and how many of the records' one of it is; `None`: the command is timed.
        prints: Option<(FigureUnit, f64)>,
    },
}

/// How often a workload is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// Again and again, as its figures scatter.
    Repeated,
    /// Once a part: it answers for itself how sure it is.
    Once,
}

impl Task {
    /// The command.
    pub fn work(&self) -> Work {
        match self {
            Task::Bench { .. } => Work::Bench,
            Task::App { .. } => Work::App,
            Task::Replay { .. } => Work::Replay,
            Task::Memory { .. } => Work::Memory,
            Task::Capacity { .. } => Work::Capacity,
            Task::Integrity { .. } => Work::Integrity,
            Task::Registers => Work::Registers,
            Task::Inspect => Work::Inspect,
            Task::External { .. } => Work::External,
        }
    }

    /// How often it is run.
    pub fn counted(&self) -> Counted {
        match self {
            Task::Bench { .. }
            | Task::App { .. }
            | Task::Replay { .. }
            | Task::Memory { .. }
            | Task::External { .. } => Counted::Repeated,
            Task::Capacity { .. } | Task::Integrity { .. } | Task::Registers | Task::Inspect => Counted::Once,
        }
    }

    /// Whether it can be done through files of a mounted file system, so that nothing is written past it.
    pub fn through_files(&self) -> bool {
        match self {
            Task::Bench { .. } | Task::App { .. } | Task::Memory { .. } | Task::External { .. } => true,
            Task::Capacity { .. } | Task::Replay { .. } | Task::Integrity { .. } | Task::Inspect => false,
            // Registers are read past the file system, and nothing is written.
            Task::Registers => false,
        }
    }

    /// Whether it says yes or no, beside figures.
    pub fn answers(&self) -> bool {
        matches!(self, Task::Capacity { .. } | Task::Integrity { .. } | Task::Registers | Task::Memory { .. })
    }

    /// The same in the plan's short form.
    pub(crate) fn shorten(&mut self, quick: &Shorter) {
        match self {
            Task::Bench { jobs, .. } => {
                if let Some(runtime) = &quick.runtime {
                    // Jobs that a time does not end are ended by an amount, which a short form may lessen by itself.
                    jobs.iter_mut().for_each(|job| job.runtime = Some(runtime.clone()));
                }
            }
            Task::App { rounds, .. } => *rounds = quick.rounds.or(*rounds),
            Task::Integrity { cuts } => *cuts = quick.cuts.unwrap_or(*cuts),
            _ => {}
        }
    }
}

/// What a short form makes less of.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Shorter {
    pub(crate) runtime: Option<Text>,
    pub(crate) rounds: Option<u32>,
    pub(crate) cuts: Option<u32>,
}
