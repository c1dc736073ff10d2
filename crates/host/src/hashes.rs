//! Hashes of all that stands in a space, as `md5sum` and `sha256sum` print them, beside those of what was written there.

use crate::buffer::AlignedBuffer;
use crate::{H2wFiles, HostTarget, payload};
use flashscope_device::{DeviceError, Fill, Target};
use flashscope_model::capacity::{HashAlgorithm, Hashes};
use flashscope_units::Bytes;
use md5::digest::DynDigest;

/// What is read at once.
const PART: Bytes = Bytes::mib(1);

/// A space whose bytes can be had, and made anew as a test wrote them.
pub trait Bytewise: Target {
    /// Reads what stands at an address, a whole number of parts of 1 MiB; the memory is aligned as direct I/O asks for. `false`
    /// where that failed.
    ///
    /// # Errors
    /// Where the device is gone.
    fn bytes_at(&mut self, at: Bytes, into: &mut [u8]) -> Result<bool, DeviceError>;

    /// Makes what a write of this generation brought there.
    fn made(&self, generation: u32, at: Bytes, into: &mut [u8]);
}

impl Bytewise for HostTarget {
    fn bytes_at(&mut self, at: Bytes, into: &mut [u8]) -> Result<bool, DeviceError> {
        self.read_bytes(at, into)
    }

    fn made(&self, generation: u32, at: Bytes, into: &mut [u8]) {
        payload::fill(Fill::Tagged { generation }, at.get(), into);
    }
}

impl Bytewise for H2wFiles {
    fn bytes_at(&mut self, at: Bytes, into: &mut [u8]) -> Result<bool, DeviceError> {
        self.read_bytes(at, into)
    }

    fn made(&self, _: u32, at: Bytes, into: &mut [u8]) {
        H2wFiles::pattern(at, into);
    }
}

/// Reads all of a space in order of address, and hashes it beside what was written there, all of one generation. `None` where it was
/// stopped by `go_on`, which hears how far it is.
///
/// # Errors
/// Where the device is gone.
pub fn hashes(
    space: &mut dyn Bytewise,
    algorithm: HashAlgorithm,
    generation: u32,
    go_on: &mut dyn FnMut(Bytes) -> bool,
) -> Result<Option<Hashes>, DeviceError> {
    let (mut written, mut read) = (hasher(algorithm), Some(hasher(algorithm)));
    let (mut found, mut made) = (AlignedBuffer::new(PART.get() as usize), vec![0; PART.get() as usize]);
    let capacity = space.facts().capacity;
    let mut at = Bytes::ZERO;
    while at < capacity {
        let length = PART.min(capacity - at).get() as usize;
        space.made(generation, at, &mut made[..length]);
        written.update(&made[..length]);
        if let Some(all) = &mut read {
            match space.bytes_at(at, found.part_mut(0, length))? {
                true => all.update(found.part(0, length)),
                // What cannot be read has no hash.
                false => read = None,
            }
        }
        at += PART;
        if !go_on(at.min(capacity)) {
            return Ok(None);
        }
    }
    Ok(Some(Hashes { algorithm, written: digits(written), read: read.map(digits) }))
}

/// SHA-256 of bytes, in hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    let mut hasher = hasher(HashAlgorithm::Sha256);
    hasher.update(bytes);
    digits(hasher)
}

fn hasher(algorithm: HashAlgorithm) -> Box<dyn DynDigest> {
    match algorithm {
        HashAlgorithm::Md5 => Box::<md5::Md5>::default(),
        HashAlgorithm::Sha256 => Box::<sha2::Sha256>::default(),
    }
}

fn digits(mut hasher: Box<dyn DynDigest>) -> String {
    let mut bytes = vec![0; hasher.output_size()];
    // The buffer is as large as it is to be, which is all that can be wrong.
    hasher.finalize_into_reset(&mut bytes).unwrap_or_default();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
