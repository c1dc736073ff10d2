//! The one writer of stdout, and the talk on stderr.

use anyhow::{Context, Result};
use flashscope_report::foreign;
use std::io::{ErrorKind, Write};

/// Prints text on stdout; what a terminal would act on is shown instead.
pub(crate) fn text(text: &str) -> Result<()> {
    bytes(foreign::page(text).as_bytes())
}

/// Prints bytes on stdout as they are.
pub(crate) fn bytes(bytes: &[u8]) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(bytes).and_then(|()| stdout.flush()).context("cannot write to stdout")
}

/// Whether nobody reads stdout any more, which is no failure.
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}

/// Says something on stderr. That nobody listens is no reason to stop.
pub(crate) fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{}", foreign::page(text));
}
