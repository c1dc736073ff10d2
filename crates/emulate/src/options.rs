//! What is to be emulated, and how.

use flashscope_host::Output;
use std::fmt;
use std::fs::File;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

/// What is to be emulated, and how. Nothing has a hidden default.
#[derive(Clone, Debug)]
pub struct Options {
    /// `MODEL[,key=value…]`, with or without `sim:` before it; or the path of a model file.
    pub model: String,
    /// An empty directory, over which the file system with the one file `disk` is mounted. `None`: it is mounted nowhere, and nothing
    /// of it outlives this program; then the loop device is the only way to it.
    pub at: Option<PathBuf>,
    /// Also bind a loop device to it.
    pub attach_loop: bool,
    /// Keep content and state in this file and in the one beside it with `.state` at the end; in memory where absent.
    pub backing: Option<PathBuf>,
    /// Seed of the device's chance.
    pub seed: u64,
    /// How fast the device's time goes.
    pub speed: Speed,
    /// Write down every answer here.
    pub log: Option<LogTo>,
    /// Where it is noted which directories and loop devices belong to a running emulator.
    pub registry: PathBuf,
}

/// Where every answer is written down.
#[derive(Clone, Debug)]
pub enum LogTo {
    /// A file of the operator's, made when the device is there.
    Output(Arc<Output>),
    /// A file that is open.
    File(Arc<File>),
}

/// How fast the device's time goes against real time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Speed {
    /// This many times as fast.
    Times(f64),
    /// As fast as the machine can: requests are answered at once and the device's time goes on by their service times
    /// alone. For ageing a device before it is used at its own speed.
    Unpaced,
}

impl FromStr for Speed {
    type Err = String;

    fn from_str(text: &str) -> Result<Speed, String> {
        if text == "max" {
            return Ok(Speed::Unpaced);
        }
        match text.trim_end_matches('x').parse::<f64>() {
            Ok(factor) if (1e-3..=1e6).contains(&factor) => Ok(Speed::Times(factor)),
            _ => Err(format!("'{text}' is not a speed: write a number from 0.001 to 1000000, or max")),
        }
    }
}

impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Speed::Times(factor) => write!(f, "{factor}"),
            Speed::Unpaced => write!(f, "max"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds() {
        let check = |text: &str, expect: Option<Speed>| assert_eq!(text.parse().ok(), expect, "{text}");
        check("1", Some(Speed::Times(1.0)));
        check("2.5x", Some(Speed::Times(2.5)));
        check("max", Some(Speed::Unpaced));
        ["0", "-1", "nan", "inf", "", "fast"].iter().for_each(|text| check(text, None));
    }
}
