//! Opening a simulated device: a model, changes to it, and the state that it was saved in.

use super::SimTarget;
use crate::error::SimError;
use crate::{snapshot, spec};

/// Makes the device that `spec` names: `MODEL[,key=value…]`, with or without `sim:` before it. A key is a parameter's
/// path in the model file (`mapping.logs_in_order=6`), or one of `capacity`, `state` (`blank`, `filled`),
/// `noise` (`none`, `bench`, `field`, `harsh`) and `seed`, which goes before the argument.
///
/// ```
/// use flashscope_device::{ExecuteExt, Request, Target};
/// use flashscope_units::{Bytes, Nanos};
///
/// let mut card = flashscope_sim::open("sim:sd-4mib,noise=none", 1).unwrap();
/// // Within an allocation unit of 4 MiB, and across the edge between two: the clock is the card's own.
/// let mut time = |at: Bytes| card.execute(Request::read(0, at, Bytes::kib(1))).unwrap().service_time();
/// time(Bytes::mib(7)); // The first read after a change of unit takes longer.
/// let within = time(Bytes::mib(6) + Bytes::kib(4));
/// let across = time(Bytes::mib(8) - Bytes(512));
/// assert!(across > within + Nanos::micros(100), "{within} {across}");
/// ```
pub fn open(spec: &str, seed: u64) -> Result<SimTarget, SimError> {
    open_with(spec, seed, |_| Err("model files cannot be read here".to_owned()))
}

/// The same, where the name of the model may also be the path of a model file, whose text `read` gives.
pub fn open_with(spec: &str, seed: u64, read: impl Fn(&str) -> Result<String, String>) -> Result<SimTarget, SimError> {
    struct Models<R>(R);
    impl<R: Fn(&str) -> Result<String, String>> Files for Models<R> {
        fn model(&self, path: &str) -> Result<String, String> {
            self.0(path)
        }

        fn state(&self, _path: &str) -> Result<Option<Vec<u8>>, String> {
            Err("no state can be read here".to_owned())
        }
    }
    open_from(spec, seed, &Models(read))
}

/// What is read of the world to open a device; each error says why it could not be.
pub trait Files {
    /// The text of a model file.
    fn model(&self, path: &str) -> Result<String, String>;

    /// The bytes of a file that [`SimTarget::save`] wrote, at most [`LARGEST_STATE`](crate::LARGEST_STATE) of them; none
    /// where there is no such file.
    fn state(&self, path: &str) -> Result<Option<Vec<u8>>, String>;
}

/// The same, where `state=FILE` (a path: it has a `/` or a `.`) may name a file that [`SimTarget::save`] wrote: the device is
/// what it was then. Where there is no such file it starts as its model says.
pub fn open_from(spec: &str, seed: u64, files: &impl Files) -> Result<SimTarget, SimError> {
    let spec = spec::parse(spec, |path| files.model(path))?;
    let Some(path) = &spec.state_file else { return Ok(SimTarget::new(&spec, seed)) };
    match files.state(path) {
        Ok(Some(bytes)) => snapshot::load(&spec, spec.seed.unwrap_or(seed), path, &bytes),
        Ok(None) => Ok(SimTarget::new(&spec, seed)),
        Err(why) => Err(SimError::BadState { path: path.clone(), why }),
    }
}
