//! One module per command.

pub(crate) mod app;
pub(crate) mod bench;
mod campaign;
pub(crate) mod capacity;
pub(crate) mod compare;
pub(crate) mod emulate;
pub(crate) mod explain;
pub(crate) mod fleet;
pub(crate) mod history;
pub(crate) mod infer;
pub(crate) mod inspect;
pub(crate) mod integrity;
pub(crate) mod lab;
pub(crate) mod list;
pub(crate) mod man;
pub(crate) mod mem;
pub(crate) mod mmc;
pub(crate) mod probe;
pub(crate) mod qualify;
pub(crate) mod report;
pub(crate) mod serve;
pub(crate) mod settings;
pub(crate) mod sim;
pub(crate) mod state;
pub(crate) mod sweep;
pub(crate) mod trace;
pub(crate) mod twin;

use crate::error::{Failure, Outcome};
use crate::{near, output};
use anyhow::anyhow;
use flashscope_model::Kind;

/// `schema`.
pub(crate) fn schema(kind: Option<&str>) -> Result<Outcome, Failure> {
    let of_word = |word: &str| {
        let hint = || near::hint(word, Kind::ALL.map(Kind::word));
        Kind::of_word(word).ok_or_else(|| anyhow!("there is no kind of record called '{word}'\n{}", hint()))
    };
    output::data(&flashscope_record::schema(kind.map(of_word).transpose()?))?;
    Ok(Outcome::Done)
}
