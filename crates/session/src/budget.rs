//! What a run may write where nobody says.

use flashscope_units::Bytes;

/// Never more than this, …
const MOST: Bytes = Bytes::gib(2);
/// … nor than this share of a large device. …
const SHARE: u64 = 10;
/// A small one may be written as much as this, since what a search for open units takes does not shrink with the capacity, …
const ENOUGH: Bytes = Bytes::gib(1);
/// … but no more than this share of it: half an erase of each of its units, of the hundreds or thousands that they stand.
const SHARE_OF_SMALL: u64 = 2;

/// The write budget of an inspection of a device of this size where none is given: a tenth of the device or 1 GiB,
/// whichever is more, but no more than 2 GiB and half of the device.
pub fn usual_write_budget(capacity: Bytes) -> Bytes {
    (capacity / SHARE).max(ENOUGH.min(capacity / SHARE_OF_SMALL)).min(MOST)
}

/// What the experiments for a twin write at the most.
const FOR_A_TWIN: Bytes = Bytes::mib(224);

/// The write budget of an inspection for a twin where none is given: the usual one, and 224 MiB on top.
pub fn twin_write_budget(capacity: Bytes) -> Bytes {
    usual_write_budget(capacity) + FOR_A_TWIN.min(capacity / SHARE_OF_SMALL)
}

/// Most that a diagnosis of the state writes where nobody says. …
const MOST_OF_A_DIAGNOSIS: Bytes = Bytes::mib(64);
/// … of a small device no more than this share.
const SHARE_OF_A_DIAGNOSIS: u64 = 16;

/// The write budget of a diagnosis of a device of this size where none is given: 64 MiB, but no more than a sixteenth of the
/// device.
pub fn usual_diagnosis_budget(capacity: Bytes) -> Bytes {
    (capacity / SHARE_OF_A_DIAGNOSIS).min(MOST_OF_A_DIAGNOSIS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grows_with_the_device_between_its_bounds() {
        assert_eq!(usual_write_budget(Bytes::mib(256)), Bytes::mib(128));
        assert_eq!(usual_write_budget(Bytes::gib(4)), Bytes::gib(1));
        assert_eq!(usual_write_budget(Bytes::gib(15)), Bytes::gib(15) / 10);
        assert_eq!(usual_write_budget(Bytes::gib(512)), Bytes::gib(2));
    }
}
