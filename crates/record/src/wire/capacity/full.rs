//! What a full test saw.

use super::HeldRun;
use crate::RecordError;
use crate::mirror::{Mirror, mirror, words};
use flashscope_model::capacity as model;
use flashscope_units::{Bytes, Nanos};
#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mirror! {
    /// What a full test saw. Addresses are those of the device, or count through all files in the order in which they were
    /// filled.
    Full of model::Full {
        /// The files that were filled; null: the device itself was.
        directory: Option<FilledDirectory> = directory,
        /// What was to be filled.
        claimed_bytes: u64 = claimed,
        /// Sizes and addresses of what was found are multiples of this, but for blocks that are damaged in part.
        block_bytes: u64 = block,
        /// In which order.
        order: PassOrder = order,
        /// Size of a request.
        request_bytes: u64 = request,
        /// What was written, whether it failed or not.
        written_bytes: u64 = written,
        /// What was read, whether it failed or not.
        verified_bytes: u64 = verified,
        /// What was written a second time behind all the rest, to push that out of a cache.
        pushed_bytes: u64 = pushed,
        /// What came back.
        totals: Totals = totals,
        /// Time over address, in equal parts.
        cells: Cells = cells,
        /// What is not as written, by address.
        bad: Vec<HeldRun> = bad,
        /// Stretches that are not as written and not named in `bad`, for their number.
        bad_left_out: u64 = bad_left_out,
        /// The first address that does not hold what was written there; null where all do.
        first_bad_bytes: Option<u64> = first_bad,
        /// Hashes of all that was written and read; null where they were not asked for.
        hashes: Option<Hashes> = hashes,
        /// How often it was begun: one more than it was stopped.
        sessions: u32 = sessions,
    }

    /// Files that were filled.
    FilledDirectory of model::Directory {
        /// Where they are.
        path: String = path,
        /// How many there are.
        files: u32 = files,
    }

    /// What came back.
    Totals of model::Totals {
        /// As written.
        kept_bytes: u64 = kept,
        /// One byte throughout, or something else.
        changed_bytes: u64 = changed,
        /// What was written to another address.
        elsewhere_bytes: u64 = elsewhere,
        /// The write had failed.
        unwritten_bytes: u64 = unwritten,
        /// The read failed.
        unreadable_bytes: u64 = unreadable,
    }

    /// What all written and all read bytes come to, in the order of their addresses.
    Hashes of model::Hashes {
        /// How they were made.
        algorithm: HashAlgorithm = algorithm,
        /// Of what was written, in hexadecimal digits.
        written: String = written,
        /// Of what was read; null where not all of it could be.
        read: Option<String> = read,
    }
}

words! {
    /// The order of a pass over all blocks.
    PassOrder mirrors model::PassOrder {
        /// By address.
        Sequential,
        /// In parts of many requests, the parts shuffled.
        Shuffled,
    }
}

words! {
    /// A hash that is compared by hand.
    HashAlgorithm mirrors model::HashAlgorithm {
        /// MD5.
        Md5,
        /// SHA-256.
        Sha256,
    }
}

/// Parts of what was filled, a list for each figure, all in the same order.
#[derive(Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Cells {
    /// Addresses.
    pub at_bytes: Vec<u64>,
    /// Lengths.
    pub length_bytes: Vec<u64>,
    /// How long writing took; null where not all of the part was written.
    pub write_time_ns: Vec<Option<u64>>,
    /// How long reading took; null where not all of the part was read.
    pub read_time_ns: Vec<Option<u64>>,
    /// What was read and is not as written, or could not be read or written.
    pub bad_bytes: Vec<u64>,
}

impl Mirror<Vec<model::Cell>> for Cells {
    fn from_model(model: &Vec<model::Cell>) -> Cells {
        let mut cells = Cells::default();
        for cell in model {
            cells.at_bytes.push(cell.at.get());
            cells.length_bytes.push(cell.length.get());
            cells.write_time_ns.push(cell.write_time.map(Nanos::get));
            cells.read_time_ns.push(cell.read_time.map(Nanos::get));
            cells.bad_bytes.push(cell.bad.get());
        }
        cells
    }

    fn into_model(self) -> Result<Vec<model::Cell>, RecordError> {
        let Cells { at_bytes, length_bytes, write_time_ns, read_time_ns, bad_bytes } = self;
        let lengths = [length_bytes.len(), write_time_ns.len(), read_time_ns.len(), bad_bytes.len()];
        if lengths.iter().any(|length| *length != at_bytes.len()) {
            return Err(RecordError::contradiction("cells", "as many of each figure"));
        }
        let times = write_time_ns.into_iter().zip(read_time_ns);
        let all = at_bytes.into_iter().zip(length_bytes).zip(times).zip(bad_bytes);
        let cell = |(((at, length), (write, read)), bad)| model::Cell {
            at: Bytes(at),
            length: Bytes(length),
            write_time: Option::map(write, Nanos),
            read_time: Option::map(read, Nanos),
            bad: Bytes(bad),
        };
        Ok(all.map(cell).collect())
    }
}
