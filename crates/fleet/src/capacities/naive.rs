//! A prober that knows powers of two only: one block at each, written and read back.

use flashscope_device::{DeviceError, ExecuteExt, Fill, Holds, Known, Request, Target, WriteGrant};
use flashscope_model::capacity::Genuineness;
use flashscope_units::Bytes;

/// What it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Said {
    /// The kind.
    pub kind: Genuineness,
    /// The true size.
    pub size: Bytes,
}

/// Writes the first block, one at each power of two and the last, flushes, and reads them.
pub(super) fn probe(target: &mut impl Target) -> Result<Said, DeviceError> {
    let (claimed, block) = (target.facts().capacity, target.capabilities().granularity);
    let powers = (0..63).map(|power| Bytes(1 << power)).filter(|at| *at >= block && *at < claimed - block);
    let places: Vec<Bytes> = [Bytes::ZERO].into_iter().chain(powers).chain([claimed - block]).collect();
    let budget = block * places.len() as u64;
    let Some(mut grant) = WriteGrant::simulated(target.facts(), budget) else {
        return Err(DeviceError::Invalid("no simulated device".to_owned()));
    };
    for at in &places {
        let request = Request::write(&mut grant, 0, *at, block, Fill::Tagged { generation: 1 }, false);
        target.execute(request.map_err(|error| DeviceError::Invalid(error.to_string()))?)?;
    }
    target.execute(Request::flush(0))?;
    let mut lost = None;
    for at in &places {
        let found = target.execute(Request::examine(0, *at, block, Known::one(1)))?;
        match found.stretches.first().map(|stretch| stretch.holds) {
            Some(Holds::Tagged { addressed, .. }) if addressed == *at => {}
            // The block at the first power that is not there has overwritten the first block.
            Some(Holds::Tagged { addressed, .. }) => {
                let size = addressed.max(*at) - addressed.min(*at);
                return Ok(Said { kind: Genuineness::WrapAround, size });
            }
            None => {}
            Some(_) => lost = lost.or(Some(*at)),
        }
    }
    Ok(match lost {
        Some(size) => Said { kind: Genuineness::Limbo, size },
        None => Said { kind: Genuineness::Genuine, size: claimed },
    })
}
