//! What `sweep` takes.

use super::bench::JobWords;
use super::campaign::{Judging, Results, Turns};
use super::{AppWords, InState, TargetArgs};
use clap::Args;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  flashscope sweep sim:sd-4mib --vary link.command=100us,400us --rw randread
  sudo flashscope sweep /dev/sdb --vary read_ahead_kb=128,512 --rw read
  sudo flashscope sweep /mnt/card --vary scheduler=none,bfq --job mixed.toml
  flashscope sweep /mnt/card --vary iodepth=1,4,32 --rw randread --size 1G
  sudo flashscope sweep /mnt/card --app playback --vary read_ahead_kb=16,128
  sudo flashscope sweep sim:emmc-phone --app contacts --vary fs=ext4,xfs
  sudo flashscope sweep /dev/mmcblk0 --knobs
  sudo flashscope sweep --restore

A knob is a setting of the kernel (--knobs lists them; iosched/NAME and paths below /sys and /proc/sys too), a setting of the \
job (bs, iodepth, rw …) or of apps (fs, mount, journal, synchronous), or a parameter of a simulated device. Its value now is the baseline if it is listed, else the first \
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
    #[command(flatten, next_help_heading = "Verdicts")]
    pub(crate) judging: Judging,
    #[command(flatten, next_help_heading = "Runs")]
    pub(crate) turns: Turns,
    /// Run the jobs of this file; what is given beside it goes over it
    #[arg(long, value_name = "FILE", help_heading = "Runs")]
    pub(crate) job: Option<PathBuf>,
    /// Run the jobs of a preset (see `flashscope bench --presets`), each phase once
    #[arg(long, value_name = "NAME", conflicts_with_all = ["job", "app"], help_heading = "Runs")]
    pub(crate) preset: Option<String>,
    /// Take the preset's short times
    #[arg(long, requires = "preset", help_heading = "Runs")]
    pub(crate) quick: bool,
    #[command(flatten)]
    pub(crate) apps: AppWords,
    /// Only figures whose name has these words; several times for more [default: all]
    #[arg(long, value_name = "WORDS", help_heading = "Verdicts")]
    pub(crate) figure: Vec<String>,
    #[command(flatten)]
    pub(crate) words: JobWords,
    /// Print conditions, runs, time, and what would be changed on this machine, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) results: Results,
    #[command(flatten, next_help_heading = "State")]
    pub(crate) in_state: InState,
}
