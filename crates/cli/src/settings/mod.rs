//! The settings file: what somebody wants to be so in every run, unless the run says otherwise.
//!
//! Command line > environment > settings file > default. Nothing that is consented to can be a setting. [`known`] is the
//! table of settings, [`read`] understands a file; `args` puts what it says below the command line.

mod known;
mod read;

pub(crate) use known::{KNOWN, Kind, Setting};

use crate::error::Failure;
use crate::input;
use anyhow::anyhow;
use flashscope_load::file::JobText;
use flashscope_units::Nanos;
use std::io::Read;
use std::path::{Path, PathBuf};

/// No settings file is longer, in bytes: a hundred times what all settings take.
const LONGEST: u64 = 256 << 10;

/// What a settings file says of one setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The setting.
    pub(crate) setting: &'static Setting,
    /// Its value, as an option of the command line takes it.
    pub(crate) text: String,
    /// The line that says it, from 1 on.
    pub(crate) line: usize,
}

/// What the settings file says.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    /// The file, whether it is there or not; `None`: there is no home to look for it in.
    pub(crate) path: Option<PathBuf>,
    /// Whether it is there.
    pub(crate) found: bool,
    /// What it says.
    pub(crate) entries: Vec<Entry>,
    /// Commands of the product that external requirements of `qualify` name: each its name and its words.
    pub(crate) commands: Vec<(String, String)>,
}

/// What jobs of `bench` are where neither the command line nor a job file says so.
#[derive(Clone, Debug, Default)]
pub(crate) struct JobDefaults {
    /// Words of a job.
    pub(crate) words: JobText,
    /// How long a random job runs that nothing ends.
    pub(crate) random_time: Option<Nanos>,
}

impl Settings {
    /// Reads the named file, or the one in its usual place, where there may be none.
    ///
    /// # Errors
    /// Where it cannot be read, or says what no setting says.
    pub(crate) fn load(named: Option<&Path>) -> Result<Settings, Failure> {
        let path = match named {
            Some(path) => Some(path.to_owned()),
            None => usual_place(),
        };
        let Some(path) = path else { return Ok(Settings::default()) };
        if named.is_none() && std::fs::symlink_metadata(&path).is_err_and(|error| is_absent(&error)) {
            return Ok(Settings { path: Some(path), ..Settings::default() });
        }
        let text = text(&path)?;
        let (entries, commands) = read::all(&text).map_err(|wrong| {
            let line = wrong.line.map_or_else(String::new, |line| format!(", line {line}"));
            let hint = if wrong.why.contains("hint: ") { "" } else { "\nhint: docs/settings.md has an example" };
            anyhow!("{}{line}: {}{hint}", path.display(), wrong.why)
        })?;
        Ok(Settings { path: Some(path), found: true, entries, commands })
    }

    /// What is said of this setting.
    pub(crate) fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.setting.name == name)
    }

    /// What is said of jobs of `bench`.
    pub(crate) fn job_defaults(&self) -> JobDefaults {
        let mut defaults = JobDefaults::default();
        for entry in &self.entries {
            if let Kind::JobWord(option) = entry.setting.kind {
                // It was understood when the file was read.
                let _ = known::set_word(&mut defaults.words, option, &entry.text);
            }
        }
        defaults.random_time = self.entry("bench.random_time").and_then(|entry| entry.text.parse().ok());
        defaults
    }
}

/// Where the settings of whoever runs this are.
fn usual_place() -> Option<PathBuf> {
    let folder = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let config = folder("XDG_CONFIG_HOME").or_else(|| Some(folder("HOME")?.join(".config")))?;
    Some(config.join("flashscope/settings.toml"))
}

/// Whether the usual place holds no settings of whoever runs this: another's home, into which nobody may look, holds none either.
fn is_absent(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{NotADirectory, NotFound, PermissionDenied};
    matches!(error.kind(), NotFound | NotADirectory | PermissionDenied)
}

fn text(path: &Path) -> anyhow::Result<String> {
    let hint = "hint: docs/settings.md has an example; --settings /dev/null runs without settings";
    let mut bytes = Vec::new();
    let shown = path.display();
    let read = std::fs::File::open(path).and_then(|file| file.take(LONGEST + 1).read_to_end(&mut bytes));
    read.map_err(|error| anyhow!("cannot read the settings in {shown}: {}\n{hint}", input::said(&error)))?;
    if bytes.len() as u64 > LONGEST {
        return Err(anyhow!("{shown} is longer than settings can be ({} KiB)\n{hint}", LONGEST >> 10));
    }
    String::from_utf8(bytes).map_err(|error| {
        let line = error.as_bytes()[..error.utf8_error().valid_up_to()].split(|byte| *byte == b'\n').count();
        anyhow!("{shown}, line {line}: this is not text (UTF-8)\n{hint}")
    })
}
