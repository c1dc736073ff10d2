//! One module per command.

pub(crate) mod add;
pub(crate) mod compare;
pub(crate) mod export;
pub(crate) mod import;
pub(crate) mod list;
pub(crate) mod prune;
pub(crate) mod show;
pub(crate) mod trend;

use crate::args::Meant;
use anyhow::{Result, anyhow};
use flashscope_model::Kind;
use flashscope_store::{Filter, Store};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::process::Command;

/// Which records are meant.
fn filter(store: &Store, meant: &Meant) -> Result<Filter> {
    Ok(Filter {
        target: meant.target.clone(),
        kind: meant.kind.as_deref().and_then(Kind::of_word),
        since: meant.since.as_deref().map(|text| store.time(text)).transpose()?,
        ..Filter::default()
    })
}

/// `flashscope` beside this program, and none that lies elsewhere: both are of one build.
fn main_program() -> Result<Command> {
    let beside = std::env::current_exe()?.with_file_name("flashscope");
    match beside.is_file() {
        true => Ok(Command::new(beside)),
        false => Err(missing(&format!("there is no {}", beside.display()))),
    }
}

/// Does something long, with its progress and the time left on a terminal.
fn progress<T, E: Into<anyhow::Error>>(
    quiet: bool,
    act: impl FnOnce(&mut dyn FnMut(u64, u64)) -> Result<T, E>,
) -> Result<T> {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(5));
    let style = ProgressStyle::with_template("{percent:>3} % {wide_bar} {eta} left");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    if quiet {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    let done = act(&mut |done, all| {
        bar.set_length(all);
        bar.set_position(done);
    });
    bar.finish_and_clear();
    done.map_err(Into::into)
}

fn missing(why: &str) -> anyhow::Error {
    anyhow!("the record cannot be shown: {why}\nhint: build it with `cargo build --release`, or add --json")
}
