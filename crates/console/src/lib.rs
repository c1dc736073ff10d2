//! What every program of flashscope that speaks to a person shares, the main one and those beside it: options of how results are
//! said ([`Manner`]), where the server of many hosts is ([`Server`]), the one writer of stdout, the talk on stderr, and how a program ends.
//!
//! stdout is data; stderr is talk.

mod manner;
mod output;
mod server;

pub use manner::{ColorWhen, HEADING, Manner};
pub use output::{bytes, is_closed_pipe, report, say, stderr_width, text, width, wrapped};
pub use server::Server;

use std::process::ExitCode;

/// How a program ends: with the code of its command, or with 2 where that could not do what it is there for, which is said. That
/// nobody reads stdout any more is no failure.
pub fn ended(outcome: anyhow::Result<ExitCode>) -> ExitCode {
    match outcome {
        Ok(code) => code,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("error: {error:#}"));
            ExitCode::from(2)
        }
    }
}
