//! One module per command.

pub(crate) mod bench;
pub(crate) mod emulate;
pub(crate) mod fleet;
pub(crate) mod infer;
pub(crate) mod inspect;
pub(crate) mod list;
pub(crate) mod probe;
pub(crate) mod report;
pub(crate) mod sim;
pub(crate) mod twin;

mod finish;

use crate::error::{Failure, Outcome};
use crate::output;

/// `schema`.
pub(crate) fn schema() -> Result<Outcome, Failure> {
    output::data(&flashscope_record::schema())?;
    Ok(Outcome::Done)
}
