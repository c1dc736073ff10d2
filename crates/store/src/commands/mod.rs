//! One module per command.

pub(crate) mod add;
pub(crate) mod export;
pub(crate) mod list;
pub(crate) mod prune;
pub(crate) mod show;
pub(crate) mod trend;

use crate::args::Meant;
use anyhow::Result;
use flashscope_model::Kind;
use flashscope_store::{Filter, Store};

/// Which records are meant.
fn filter(store: &Store, meant: &Meant) -> Result<Filter> {
    Ok(Filter {
        target: meant.target.clone(),
        kind: meant.kind.as_deref().and_then(Kind::of_word),
        since: meant.since.as_deref().map(|text| store.time(text)).transpose()?,
        ..Filter::default()
    })
}
