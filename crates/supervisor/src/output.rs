//! The one writer of stdout, the talk on stderr, and the files beside.

use anyhow::{Context, Result, anyhow};
use flashscope_host::Outputs;
use flashscope_report::{Style, foreign};
use std::io::{ErrorKind, IsTerminal, Write};
use std::path::Path;

/// Prints text on stdout.
pub(crate) fn text(text: &str) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).context("cannot write to stdout")
}

/// Whether nobody reads stdout any more, which is no failure.
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}

/// Says something on stderr; what a terminal would act on is shown instead. That nobody listens is no reason to stop.
pub(crate) fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{}", foreign::page(text));
}

/// How a report is printed.
pub(crate) fn style(color: Option<&str>, verbose: bool) -> Style {
    let colour = match color {
        Some("always") => true,
        Some("never") => false,
        _ => std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
    };
    let told = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let width = told.filter(|width| *width > 0).map_or(100, |width: usize| width.clamp(60, 140));
    Style { colour, width, verbose }
}

/// Writes a file of flashscope's own whole, or leaves what was there.
pub(crate) fn save(path: &Path, content: &[u8]) -> Result<()> {
    let mut door = Outputs::new(false, flashscope_report::is_ours);
    let written = door.plan(path).and_then(|output| output.write(content));
    written.map_err(|error| anyhow!("{error}"))
}
