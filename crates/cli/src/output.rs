//! The one writer of stdout, the talk on stderr, and files that survive a full disk.

use crate::error::Failure;
use anyhow::{Context, anyhow};
use std::fs::File;
use std::io::{ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Prints data on stdout.
pub(crate) fn data(text: &str) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    let written = stdout.write_all(text.as_bytes()).and_then(|()| {
        if !text.ends_with('\n') {
            stdout.write_all(b"\n")?;
        }
        stdout.flush()
    });
    match written {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(Failure::ClosedPipe),
        Err(error) => Err(Failure::Cannot(anyhow!("cannot write to stdout: {error}"))),
    }
}

/// Says something on stderr. That nobody listens is no reason to stop.
pub(crate) fn talk(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Says on stderr what went wrong.
pub(crate) fn error(text: &str) {
    talk(&format!("error: {text}"));
}

/// Prints clap's word on what was typed: help and version are data, all else is an error.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    let _ = error.print();
    ExitCode::from(if error.use_stderr() { 2 } else { 0 })
}

/// Whether stdout may be coloured.
pub(crate) fn colour() -> bool {
    std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Width of the terminal, or what fits a page where there is none.
pub(crate) fn width() -> usize {
    let told = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let seen = || rustix::termios::tcgetwinsize(std::io::stdout()).ok().map(|size| usize::from(size.ws_col));
    told.or_else(seen).filter(|width| *width > 0).map_or(100, |width: usize| width.clamp(60, 140))
}

/// Writes a file whole or not at all. Where its place has no room, the temporary directory is tried, and said.
pub(crate) fn save(path: &Path, content: &str) -> anyhow::Result<PathBuf> {
    let first = match write_whole(path, content) {
        Ok(()) => return Ok(path.to_owned()),
        Err(error) => error,
    };
    let fallback = std::env::temp_dir().join(path.file_name().unwrap_or(path.as_os_str()));
    if fallback != path && write_whole(&fallback, content).is_ok() {
        talk(&format!("warning: cannot write {}: {first}; kept in {} instead", path.display(), fallback.display()));
        return Ok(fallback);
    }
    Err(first).with_context(|| {
        format!("cannot write {}\nhint: name another place with --output, or pipe --json into a file", path.display())
    })
}

fn write_whole(path: &Path, content: &str) -> std::io::Result<()> {
    let mut partial = path.as_os_str().to_owned();
    partial.push(".partial");
    let result = File::create(&partial).and_then(|mut file| {
        file.write_all(content.as_bytes())?;
        file.sync_all()
    });
    match result.and_then(|()| std::fs::rename(&partial, path)) {
        Ok(()) => Ok(()),
        Err(error) => {
            let _ = std::fs::remove_file(&partial);
            Err(error)
        }
    }
}
