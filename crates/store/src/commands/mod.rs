//! One module per command.

pub(crate) mod add;
pub(crate) mod compare;
pub(crate) mod export;
pub(crate) mod list;
pub(crate) mod prune;
pub(crate) mod show;
pub(crate) mod trend;

use crate::args::Meant;
use anyhow::{Result, anyhow};
use flashscope_model::Kind;
use flashscope_store::{Filter, Store};
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

fn missing(why: &str) -> anyhow::Error {
    anyhow!("the record cannot be shown: {why}\nhint: build it with `cargo build --release`, or add --json")
}
