//! The writer of stdout, and the talk on stderr.

use crate::Manner;
use anyhow::{Context, Result};
use flashscope_report::foreign;
use std::io::{ErrorKind, IsTerminal, Write};

/// Prints text on stdout; what a terminal would act on is shown instead.
///
/// # Errors
/// stdout cannot be written to; [`is_closed_pipe`] tells whether nobody reads any more.
pub fn text(text: &str) -> Result<()> {
    bytes(foreign::page(text).as_bytes())
}

/// Prints a report on stdout, with its own paint and no other where what is printed may be coloured.
///
/// # Errors
/// As [`text`].
pub fn report(report: &str, manner: Manner) -> Result<()> {
    if manner.colour() { bytes(foreign::painted(report).as_bytes()) } else { text(report) }
}

/// Prints bytes on stdout as they are.
///
/// # Errors
/// As [`text`].
pub fn bytes(bytes: &[u8]) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(bytes).and_then(|()| stdout.flush()).context("cannot write to stdout")
}

/// Whether nobody reads stdout any more, which is no failure.
pub fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}

/// Says something on stderr; what a terminal would act on is shown instead. That nobody listens is no reason to stop.
pub fn say(text: &str) {
    let text = foreign::page(text);
    let text = if std::io::stderr().is_terminal() { wrapped(&text, stderr_width()) } else { text.into_owned() };
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Lines that are wider than `width` characters, broken at blanks; what goes on stands further in.
pub fn wrapped(text: &str, width: usize) -> String {
    let broken = |line: &str| {
        let indent = line.chars().take_while(|c| *c == ' ').count();
        let room = width.saturating_sub(indent + 2).max(20);
        if line.chars().count() < width {
            return line.to_owned();
        }
        let indent = " ".repeat(indent);
        indent.clone() + &flashscope_report::wrapped(line, room).join(&format!("\n{indent}  "))
    };
    text.lines().map(broken).collect::<Vec<_>>().join("\n")
}

/// Width of the terminal in characters, or what fits a page where there is none.
pub fn width() -> usize {
    let told = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let seen = || rustix::termios::tcgetwinsize(std::io::stdout()).ok().map(|size| usize::from(size.ws_col));
    told.or_else(seen).filter(|width| *width > 0).map_or(100, |width: usize| width.clamp(60, 140))
}

/// Width of the terminal that stderr is, in characters, for what is told while a command works.
pub fn stderr_width() -> usize {
    let seen = rustix::termios::tcgetwinsize(std::io::stderr()).ok().map(|size| usize::from(size.ws_col));
    seen.filter(|width| *width > 1).unwrap_or(80)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_broken_at_blanks() {
        let text = "error: there is no preset 'x'\nhint: one of aaaaaaaaaaaa, bbbbbbbbbbbb, cccccccccccc";
        let expected = "error: there is no preset 'x'\nhint: one of aaaaaaaaaaaa,\n  bbbbbbbbbbbb, cccccccccccc";
        assert_eq!(wrapped(text, 32), expected);
        assert_eq!(wrapped("  short", 40), "  short");
    }

    #[test]
    fn a_pipe_that_nobody_reads_is_told_from_other_failures() {
        let failed = |kind: ErrorKind| anyhow::Error::new(std::io::Error::from(kind)).context("cannot write to stdout");
        assert!(is_closed_pipe(&failed(ErrorKind::BrokenPipe)));
        assert!(!is_closed_pipe(&failed(ErrorKind::StorageFull)));
    }
}
