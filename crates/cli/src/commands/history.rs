//! `history`: handed on to a program of its own beside this one, whose database would cost this one its size.

use crate::args::{ColorWhen, History, Manner};
use crate::error::{Failure, Outcome};
use crate::output;
use anyhow::anyhow;
use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Name of that program.
const PROGRAM: &str = "flashscope-history";

pub(crate) fn run(args: &History) -> Result<Outcome, Failure> {
    let own = std::env::current_exe().map_err(|error| anyhow!("cannot tell where this program lies: {error}"))?;
    let program = own.with_file_name(PROGRAM);
    // It takes this one's place, so that its exit code, its signals and its terminal are its own.
    let error = Command::new(&program).args(manner(output::manner())).args(&args.words).exec();
    let shown = program.display();
    Err(Failure::Cannot(match error.kind() {
        ErrorKind::NotFound => anyhow!(
            "there is no {shown}, which keeps the history\nhint: build it with `cargo build --release -p flashscope-store`"
        ),
        _ => anyhow!("cannot start {shown}: {error}"),
    }))
}

/// The options of every command that stood before the word `history`.
fn manner(manner: Manner) -> Vec<&'static str> {
    let color = manner.color.map(|color| match color {
        ColorWhen::Auto => "--color=auto",
        ColorWhen::Always => "--color=always",
        ColorWhen::Never => "--color=never",
    });
    color.into_iter().chain(manner.quiet.then_some("--quiet")).chain(manner.verbose.then_some("--verbose")).collect()
}
