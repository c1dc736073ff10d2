//! Pairs of devices whose difference is known: `explain` on them, known as models or by their records only, and naive readers
//! of the same answers.

mod pairs;
mod readers;
mod work;

pub use pairs::{Kind, Pair, draw};
pub use readers::{Named, first_exchanged, largest_parameter, named};
pub use work::{SPAN, workload};

use crate::inspected::{record, record_for_twin};
use flashscope_explain::{Answer, ExplainError, Question, Side, Workload, explain, of_record};
use flashscope_twin::{Measured, Part, Unattended, fit_model};

/// Requests that a pair may take, a tenth of what is usual: so that hundreds of pairs take minutes.
const WORK: u64 = Question::USUAL_WORK / 10;

/// What `explain` says of a pair whose models it is given.
///
/// # Errors
/// As `explain`.
pub fn of_models(pair: &Pair, workload: &Workload) -> Result<Answer, ExplainError> {
    let side = |model: &str| Side { model: model.to_owned(), ..Side::default() };
    asked(&side(&pair.a), &side(&pair.b), workload, pair.seed)
}

/// The same where it is given nothing but the record of an `inspect` of each.
///
/// # Errors
/// As `explain`, and where no twin can be fitted.
pub fn of_records(pair: &Pair, workload: &Workload) -> Result<Answer, ExplainError> {
    let known = |name: &str, model: &str, seed: u64| of_record(name, record(model, seed), &mut Unattended);
    let (a, b) = (known("A", &pair.a, pair.seed)?, known("B", &pair.b, pair.seed + 1)?);
    asked(&a.side, &b.side, workload, pair.seed)
}

/// The same of the twins that are fitted to the records of `inspect --for-twin`, without the twins of twins that tell how far to
/// trust them: a tenth of the work, and what they name first is what [`of_records`] names, or it says that it cannot tell.
///
/// # Errors
/// As `explain`, and where no twin can be fitted.
pub fn of_twins(pair: &Pair, workload: &Workload) -> Result<Answer, ExplainError> {
    let twin = |model: &str, seed: u64| -> Result<Side, ExplainError> {
        let part = Part::of_record("record".to_owned(), record_for_twin(model, seed));
        let fitted = Measured::of(vec![part]).and_then(|measured| fit_model(&measured, "twin", &mut Unattended))?;
        Ok(Side { model: fitted.text, ..Side::default() })
    };
    asked(&twin(&pair.a, pair.seed)?, &twin(&pair.b, pair.seed + 1)?, workload, pair.seed)
}

fn asked(a: &Side, b: &Side, workload: &Workload, seed: u64) -> Result<Answer, ExplainError> {
    explain(&Question { a, b, workload, seed, work: WORK }, &mut Unattended)
}
