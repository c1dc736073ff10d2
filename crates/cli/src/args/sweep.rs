//! What `sweep` takes.

use super::bench::JobWords;
use super::compare::{FamilyWord, percent};
use super::{Replace, TargetArgs, up_to};
use clap::Args;
use flashscope_experiment::{Settings, SettingsError};
use flashscope_units::Nanos;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  flashscope sweep sim:sd-4mib,noise=field --vary mapping.open=2,4,8 --rw randwrite --bs 16k --runtime 2
  sudo flashscope sweep /dev/mmcblk0 --vary read_ahead_kb=128,512,2048 --rw read --mode cached --runtime 5
  sudo flashscope sweep /mnt/card --vary scheduler=none,bfq --vary vm.dirty_ratio=5,20 --full --job mixed.toml
  flashscope sweep /mnt/card --vary iodepth=1,4,32 --rw randread --size 1G --runtime 5 -o depth.html
  sudo flashscope sweep /dev/mmcblk0 --knobs
  sudo flashscope sweep --restore

A knob is a setting of the kernel (--knobs lists them; iosched/NAME and paths below /sys and /proc/sys too), a setting of the \
job (bs, iodepth, rw …), or a parameter of a simulated device. Its value now is the baseline if it is listed, else the first \
one. The kernel's settings are put back whatever ends the sweep; after a kill, the next sweep or --restore does it.")]
pub(crate) struct Sweep {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// Vary a knob over these values; once per knob. Values that have commas are separated by semicolons
    #[arg(long, value_name = "KNOB=A,B,…", help_heading = "Knobs")]
    pub(crate) vary: Vec<String>,
    /// Measure every value with every other, and what they do together [default: one knob at a time]
    #[arg(long, help_heading = "Knobs")]
    pub(crate) full: bool,
    /// List the kernel's knobs for this target with their values, and do nothing
    #[arg(long, conflicts_with_all = ["vary", "restore"], help_heading = "Knobs")]
    pub(crate) knobs: bool,
    /// Put back what a sweep that was killed has left, and do nothing else
    #[arg(long, conflicts_with_all = ["vary", "full"], help_heading = "Knobs")]
    pub(crate) restore: bool,
    /// Change the knobs of this tree, which holds `sys` and `proc`, instead of the machine's: to try a sweep out
    #[arg(long, value_name = "DIR", help_heading = "Knobs")]
    pub(crate) sysfs: Option<PathBuf>,
    /// Differences within this are none that matter
    #[arg(long, default_value = "5%", value_name = "PERCENT", value_parser = percent, help_heading = "Verdicts")]
    pub(crate) margin: f64,
    /// Confidence of intervals and verdicts
    #[arg(long, default_value = "95%", value_name = "PERCENT", value_parser = percent, help_heading = "Verdicts")]
    pub(crate) confidence: f64,
    /// Over which verdicts the chance of a false one is kept
    #[arg(long, value_enum, default_value_t = FamilyWord::All, help_heading = "Verdicts")]
    pub(crate) family: FamilyWord,
    /// Measure at most this many blocks; each holds every condition once, and the baseline twice
    #[arg(long, default_value_t = 30, value_name = "N", value_parser = up_to(1000), help_heading = "Runs")]
    pub(crate) blocks: u32,
    /// Begin no block after this time
    #[arg(long, value_name = "TIME", help_heading = "Runs")]
    pub(crate) max_time: Option<Nanos>,
    /// Rest before each run, so that a device settles
    #[arg(long, value_name = "TIME", help_heading = "Runs")]
    pub(crate) pause: Option<Nanos>,
    /// Run the jobs of this file; what is given beside it goes over it
    #[arg(long, value_name = "FILE", help_heading = "Runs")]
    pub(crate) job: Option<PathBuf>,
    /// Run the jobs of a preset (see `flashscope bench --presets`), each phase once
    #[arg(long, value_name = "NAME", conflicts_with = "job", help_heading = "Runs")]
    pub(crate) preset: Option<String>,
    /// Take the preset's short times
    #[arg(long, requires = "preset", help_heading = "Runs")]
    pub(crate) quick: bool,
    #[command(flatten)]
    pub(crate) words: JobWords,
    /// Print conditions, runs, time, and what would be changed on this machine, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print the record as JSON on stdout and nothing else
    #[arg(long)]
    pub(crate) json: bool,
    /// Also keep the record in this file; or a report, where it ends in .html, .csv, .md, .txt or .xlsx
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) replace: Replace,
}

impl Sweep {
    /// How it decides.
    ///
    /// # Errors
    /// Where a figure is outside its range.
    pub(crate) fn settings(&self) -> Result<Settings, SettingsError> {
        Settings::new(self.confidence, 1.0 + self.margin, self.family.into())
    }
}
