//! The one writer of stdout, the talk on stderr, and files that survive a full disk.

use crate::error::Failure;
use anyhow::{Context, anyhow};
use flashscope_report::foreign;
use std::fs::OpenOptions;
use std::io::{ErrorKind, IsTerminal, Write};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Prints data on stdout. Whatever is in it that a terminal would act on is shown instead, our own paint apart.
pub(crate) fn data(text: &str) -> Result<(), Failure> {
    let text = if colour() { foreign::painted(text).into() } else { foreign::page(text) };
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

/// Says something on stderr, names of devices and files as harmless as in [`data`]. That nobody listens is no reason to
/// stop.
pub(crate) fn talk(text: &str) {
    let _ = writeln!(std::io::stderr(), "{}", foreign::page(text));
}

/// Says on stderr what went wrong.
pub(crate) fn error(text: &str) {
    talk(&format!("error: {text}"));
}

/// Prints clap's word on what was typed: help and version are data, all else is an error.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    if error.use_stderr() {
        // Without colours, as what was typed may be the name of a file.
        talk(error.render().to_string().trim_end());
        return ExitCode::from(2);
    }
    let _ = error.print();
    ExitCode::SUCCESS
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

/// Where a file that was to be kept is now.
pub(crate) struct Saved {
    /// Its place.
    pub(crate) path: PathBuf,
    /// Why it is not where it was wanted, where it is not.
    pub(crate) displaced: Option<String>,
}

/// Writes a file whole or not at all. Where its place cannot take it, it is kept in the temporary directory, so that
/// nothing is lost; whether that is a failure is the caller's to say. A pipe or terminal is written to; whatever else
/// is no regular file is left alone.
pub(crate) fn save(path: &Path, content: &[u8]) -> anyhow::Result<Saved> {
    let first = match write_to(path, content) {
        Ok(()) => return Ok(Saved { path: path.to_owned(), displaced: None }),
        Err(error) => error,
    };
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let rescue = std::env::temp_dir().join(format!("{}-{name}", std::process::id()));
    if write_whole(&rescue, content).is_ok() {
        let why = format!("cannot write {}: {first}; kept in {} instead", path.display(), rescue.display());
        return Ok(Saved { path: rescue, displaced: Some(why) });
    }
    Err(first).with_context(|| {
        format!("cannot write {}\nhint: name another place with --output, or pipe --json into a file", path.display())
    })
}

fn write_to(path: &Path, content: &[u8]) -> std::io::Result<()> {
    // A link is followed, so that it is not replaced by the file.
    let place = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let kind = std::fs::metadata(&place).ok().map(|found| found.file_type());
    match kind {
        None => write_whole(&place, content),
        Some(kind) if kind.is_file() => write_whole(&place, content),
        Some(kind) if kind.is_char_device() || kind.is_fifo() => {
            OpenOptions::new().write(true).open(&place)?.write_all(content)
        }
        Some(_) => Err(std::io::Error::other("it is no regular file")),
    }
}

fn write_whole(path: &Path, content: &[u8]) -> std::io::Result<()> {
    let mut partial = path.as_os_str().to_owned();
    partial.push(".partial");
    // Never through a file or link that someone else has put there.
    let _ = std::fs::remove_file(&partial);
    let result = OpenOptions::new().write(true).create_new(true).open(&partial).and_then(|mut file| {
        file.write_all(content)?;
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

/// Several files that belong together. What could not be put where it was wanted is a failure, after all was kept.
pub(crate) fn save_all(files: &[(&Path, &str, impl AsRef<[u8]>)]) -> Result<(), Failure> {
    let mut places = Vec::new();
    let mut displaced = Vec::new();
    for (path, name, content) in files {
        let saved = save(path, content.as_ref())?;
        places.push(format!("{name}  {}", saved.path.display()));
        displaced.extend(saved.displaced);
    }
    talk(&places.join("     "));
    if displaced.is_empty() { Ok(()) } else { Err(Failure::Cannot(anyhow!("{}", displaced.join("\n")))) }
}
