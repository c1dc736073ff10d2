//! The purge ladder: down from the strongest step to the first that is there and shows that it did something.

use crate::witness::Witness;
use flashscope_device::{
    Availability, DeviceError, ExecuteExt, Outcome, Purge, PurgeError, PurgeStep, Request, Target, WriteGrant,
};
use flashscope_model::certificate::Rung;
use flashscope_units::Bytes;

/// Which steps are there, the strongest first; the last, to write everything over, always is. Changes nothing.
pub fn offers<T: Target>(target: &T, purge: &mut dyn Purge) -> Vec<(PurgeStep, Availability)> {
    let mut offers = purge.offers();
    offers.push((
        PurgeStep::Discard,
        match target.capabilities().discard {
            true => Availability::There,
            false => Availability::Absent("the device takes no discard".to_owned()),
        },
    ));
    offers.sort_by_key(|(step, _)| *step);
    offers
}

/// How going down the ladder ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Climbed {
    /// This step did it.
    Reached(PurgeStep),
    /// None did.
    Nowhere,
    /// The operator stopped it.
    Stopped,
}

/// Goes down the ladder. What came of each step is added to `rungs`.
///
/// # Errors
/// Where the target cannot go on.
pub(crate) fn climb<T: Target>(
    target: &mut T,
    grant: &mut WriteGrant,
    purge: &mut dyn Purge,
    seed: u64,
    rungs: &mut Vec<Rung>,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Climbed, DeviceError> {
    let mut note = |step: PurgeStep, reached, outcome: String| {
        rungs.push(Rung { step: step.word().to_owned(), reached, outcome });
    };
    // No mark is worth writing before there is something to purge it.
    let mut marks = None;
    for (step, offer) in offers(target, purge) {
        if let Availability::Absent(why) = offer {
            note(step, false, format!("not there: {why}"));
            continue;
        }
        if !go_on() {
            return Ok(Climbed::Stopped);
        }
        let witness = match marks.take() {
            Some(witness) => witness,
            None => Witness::set(target, grant, seed)?,
        };
        let done = match step {
            PurgeStep::Discard => discard(target, grant)?,
            step => purge.purge(step, grant, go_on),
        };
        match done {
            Ok(said) => {
                let evidence = witness.ask(target)?;
                note(step, evidence.acted, format!("{said}: {}", evidence.why));
                if evidence.acted {
                    return Ok(Climbed::Reached(step));
                }
                marks = Some(witness);
            }
            Err(PurgeError::Stopped) => return Ok(Climbed::Stopped),
            Err(error @ PurgeError::Absent(_)) => {
                note(step, false, error.to_string());
                marks = Some(witness);
            }
            // What the marks are now nobody knows: they are set anew where another step follows.
            Err(error) => note(step, false, error.to_string()),
        }
    }
    Ok(Climbed::Nowhere)
}

/// One discard of everything, which the kernel cuts as the device needs it: cut here, units on the edges would stay.
fn discard<T: Target>(target: &mut T, grant: &mut WriteGrant) -> Result<Result<String, PurgeError>, DeviceError> {
    let length = target.facts().capacity.align_down(target.capabilities().granularity);
    let request =
        Request::discard(grant, 0, Bytes::ZERO, length).map_err(|error| DeviceError::Invalid(error.to_string()))?;
    Ok(match target.execute(request)?.outcome {
        Outcome::Failed(why) => Err(PurgeError::Failed(why)),
        Outcome::Success | Outcome::Mismatch => Ok("discard of the whole device".to_owned()),
    })
}
