//! What `app` takes.

use super::campaign::Results;
use super::up_to;
use super::{Consent, InState, TargetArgs};
use clap::{Args, Subcommand, ValueEnum};
use flashscope_app::definition::{Journal, Synchronous};
use flashscope_app::suite::Case;
use flashscope_emulate::Speed;
use flashscope_units::Nanos;
use std::path::PathBuf;

/// Runs of one app, each with all its response times in the record.
const MOST_RUNS: i64 = 1000;
/// Rounds of an app.
const MOST_ROUNDS: i64 = 10_000_000;

#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, arg_required_else_help = true)]
#[command(after_help = "Examples:
  flashscope app list                       the apps that come along
  flashscope app camera --explain           what one does, to be copied
  flashscope app contacts /mnt/card         on a mounted file system
  flashscope app mine.toml /mnt/card        an app of your own
  flashscope app contacts /mnt/card --journal wal
  sudo flashscope app camera /dev/sdX --fs xfs --destroy-data=IDENTITY
  sudo flashscope app camera sim:sd-4mib --trace camera.fstrace
  sudo flashscope app contacts sim:emmc-phone --state dirty
  flashscope app suite heavy /mnt/card      all apps of a suite

All files of a run are in a directory of its own below the one that is named, which is removed at the end. A device is
given a file system (--fs) that nobody else sees while the apps are played. docs/apps.md says what the apps stand for and
how an app is written.")]
pub(crate) struct App {
    #[command(subcommand)]
    pub(crate) command: Option<AppCommand>,
    #[command(flatten)]
    pub(crate) one: AppArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AppCommand {
    /// The apps and suites that come along
    #[command(after_help = "Example: flashscope app list")]
    List,
    /// Several apps in turn, and on a file system that is full
    Suite(Box<AppSuite>),
}

/// One app.
#[derive(Args, Debug)]
pub(crate) struct AppArgs {
    /// An app that comes along, or a file with the definition of one
    #[arg(value_name = "APP")]
    pub(crate) app: Option<String>,
    /// A directory of a mounted file system, or a block device or sim:MODEL, which is given a file system
    #[arg(default_value = ".")]
    pub(crate) target: String,
    /// Print the definition of the app and end
    #[arg(long)]
    pub(crate) explain: bool,
    /// How often its operations are performed [default: as its definition says]
    #[arg(long, value_name = "N", value_parser = up_to(MOST_ROUNDS))]
    pub(crate) rounds: Option<u32>,
    #[command(flatten)]
    pub(crate) settings: AppSettings,
    #[command(flatten)]
    pub(crate) results: Results,
}

/// A suite.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  flashscope app suite heavy /mnt/card
  flashscope app suite heavy /mnt/card --sequence main,full,main
  flashscope app suite light . --repeat 2 -o light.xlsx
  sudo flashscope app suite heavy sim:emmc-phone --sequence main,full,main")]
pub(crate) struct AppSuite {
    /// The suite: heavy or light
    #[arg(default_value = "heavy", value_name = "SUITE")]
    pub(crate) suite: String,
    /// A directory of a mounted file system, or a block device or sim:MODEL, which is given a file system
    #[arg(default_value = ".")]
    pub(crate) target: String,
    /// The cases in turn: main (all apps) and full (photos and packages until the file system is 95 % full, and on)
    #[arg(long, default_value = "main", value_delimiter = ',', value_name = "CASES")]
    pub(crate) sequence: Vec<Case>,
    /// Play an app in so many rounds rather than those of the suite; 0 leaves it out
    #[arg(long, value_name = "APP=N", value_parser = count)]
    pub(crate) count: Vec<(String, u64)>,
    /// Idle time before each run
    #[arg(long, default_value = "0s", value_name = "TIME")]
    pub(crate) idle: Nanos,
    /// Share of the photos that a full case deletes when the file system is full
    #[arg(long, default_value = "25%", value_name = "PERCENT", value_parser = share)]
    pub(crate) delete: f64,
    #[command(flatten)]
    pub(crate) settings: AppSettings,
    #[command(flatten)]
    pub(crate) results: Results,
}

/// Apps in the place of jobs, played in turns under conditions or on sides.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Apps")]
pub(crate) struct AppWords {
    /// Play this app in each run instead of a job (see `flashscope app list`, or a file); several times for more
    #[arg(long, value_name = "APP", conflicts_with = "job")]
    pub(crate) app: Vec<String>,
    /// How often the operations of each app are performed in a run [default: as its definition says]
    #[arg(long, value_name = "N", requires = "app", value_parser = up_to(MOST_ROUNDS))]
    pub(crate) rounds: Option<u32>,
    /// The file system that is made on a device: ext4, xfs, btrfs, f2fs, ext2, vfat, exfat [default: ext4]
    #[arg(long, value_name = "NAME", requires = "app")]
    pub(crate) fs: Option<String>,
    /// Tell that file system this when it is mounted (noatime); several with commas
    #[arg(long, value_name = "OPTIONS", requires = "app")]
    pub(crate) fs_options: Option<String>,
    /// SQLite's journal_mode in the place of the apps' own
    #[arg(long, value_name = "MODE", value_enum, requires = "app")]
    pub(crate) journal: Option<JournalWord>,
    /// SQLite's synchronous in the place of the apps' own
    #[arg(long, value_name = "WHEN", value_enum, requires = "app")]
    pub(crate) synchronous: Option<SynchronousWord>,
    /// How many times as fast as the model a simulated device is emulated, or max: no waiting at all [default: 1]
    #[arg(long, value_name = "FACTOR", requires = "app")]
    pub(crate) speed: Option<Speed>,
}

impl AppWords {
    /// Whether apps are to be played.
    pub(crate) fn are_said(&self) -> bool {
        !self.app.is_empty()
    }

    /// How they are played on a target.
    pub(crate) fn settings(&self, target: &TargetArgs, in_state: &InState) -> AppSettings {
        AppSettings {
            journal: self.journal,
            synchronous: self.synchronous,
            fs: self.fs.clone(),
            fs_options: self.fs_options.clone(),
            speed: self.speed,
            is_unwatched: true,
            ..AppSettings::as_defined(target, in_state.clone(), 1)
        }
    }
}

/// How apps are played.
#[derive(Args, Clone, Debug)]
pub(crate) struct AppSettings {
    /// Play each app so often
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = up_to(MOST_RUNS))]
    pub(crate) repeat: u32,
    /// Seed of names, sizes and places: the same one does the same
    #[arg(long, default_value_t = 1, env = "FLASHSCOPE_SEED")]
    pub(crate) seed: u64,
    /// SQLite's journal_mode in the place of the apps' own
    #[arg(long, value_name = "MODE", value_enum)]
    pub(crate) journal: Option<JournalWord>,
    /// SQLite's synchronous in the place of the apps' own
    #[arg(long, value_name = "WHEN", value_enum)]
    pub(crate) synchronous: Option<SynchronousWord>,
    /// Where there is no room for all rounds, play as many as there is room for
    #[arg(long)]
    pub(crate) scale: bool,
    /// Leave the files of the apps where they are
    #[arg(long)]
    pub(crate) keep_files: bool,
    /// The file system that is made on a device: ext4, xfs, btrfs, f2fs, ext2, vfat, exfat [default: ext4]
    #[arg(long, value_name = "NAME")]
    pub(crate) fs: Option<String>,
    /// Tell that file system this when it is mounted (noatime); several with commas
    #[arg(long, value_name = "OPTIONS")]
    pub(crate) fs_options: Option<String>,
    /// Allow writing to the block device of this identity, as `flashscope list` prints it (its content is destroyed)
    #[arg(long, value_name = "IDENTITY")]
    pub(crate) destroy_data: Vec<String>,
    /// Also overwrite a partition table or file system that is not in use
    #[arg(long)]
    pub(crate) destroy_signatures: bool,
    /// How many times as fast as the model a simulated device is emulated, or max: no waiting at all [default: 1]
    #[arg(long, value_name = "FACTOR")]
    pub(crate) speed: Option<Speed>,
    /// Write all that the device below is given to FILE, to be looked at and replayed (`flashscope trace`)
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    #[command(flatten, next_help_heading = "State")]
    pub(crate) in_state: InState,
    /// Whether nobody writes down what the device is given: runs in turns are many, and none of their figures needs it.
    #[arg(skip)]
    pub(crate) is_unwatched: bool,
}

impl AppSettings {
    /// The apps as they are defined, on the file system that a device with them most often has.
    pub(crate) fn as_defined(target: &TargetArgs, in_state: InState, repeat: u32) -> AppSettings {
        AppSettings {
            repeat,
            seed: target.seed,
            journal: None,
            synchronous: None,
            scale: false,
            keep_files: false,
            fs: None,
            fs_options: None,
            destroy_data: target.consent.destroy_data.clone(),
            destroy_signatures: target.consent.destroy_signatures,
            speed: None,
            trace: None,
            in_state,
            is_unwatched: false,
        }
    }

    /// The device as whoever brings it into a state is told of it.
    pub(crate) fn target(&self, target: &str) -> TargetArgs {
        TargetArgs {
            target: target.to_owned(),
            seed: self.seed,
            consent: Consent {
                max_write: None,
                read_only: false,
                allow_write: false,
                destroy_data: self.destroy_data.clone(),
                destroy_signatures: self.destroy_signatures,
                read_in_use: false,
            },
            allow_cached: false,
        }
    }
}

fn count(text: &str) -> Result<(String, u64), String> {
    let read = text.split_once('=').and_then(|(app, count)| Some((app.to_owned(), count.parse().ok()?)));
    read.filter(|(_, count)| *count <= MOST_ROUNDS as u64).ok_or_else(|| format!("'{text}' is not like camera=10"))
}

fn share(text: &str) -> Result<f64, String> {
    let read = text.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    read.filter(|percent| (0.0..=100.0).contains(percent))
        .map(|percent| percent / 100.0)
        .ok_or_else(|| format!("'{text}' is no share like 25%"))
}

macro_rules! words {
    ($(#[$doc:meta])* $name:ident of $model:ty { $($(#[$variant_doc:meta])* $variant:ident,)+ }) => {
        $(#[$doc])*
        #[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum $name { $($(#[$variant_doc])* $variant,)+ }

        impl From<$name> for $model {
            fn from(word: $name) -> $model {
                match word { $($name::$variant => <$model>::$variant,)+ }
            }
        }
    };
}

words! {
    /// SQLite's journal modes.
    JournalWord of Journal {
        /// A file that each transaction removes
        Delete,
        /// A file that each transaction cuts to nothing
        Truncate,
        /// A file whose head each transaction overwrites
        Persist,
        /// None on the device
        Memory,
        /// A log that is written ahead
        Wal,
        /// None at all
        Off,
    }
}

words! {
    /// How often SQLite waits for the medium.
    SynchronousWord of Synchronous {
        /// Never
        Off,
        /// At the moments that matter most
        Normal,
        /// At each transaction
        Full,
        /// The directory, too
        Extra,
    }
}
