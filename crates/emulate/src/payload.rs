//! The bytes that were written to the device: sparse, in memory or in a file. Which of them are still what the
//! device holds is the model's to say. Of a device that can lose what it had taken, all that was ever written is kept
//! ([`crate::versions`]); of all others the newest at each place.

use crate::versions::Versions;
use flashscope_device::Fill;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Bytes of a block: what is written is kept in whole ones.
pub(crate) const BLOCK: usize = 4096;
/// Blocks that memory is taken for at once.
const SLAB: usize = 256;
/// Blocks of one table of the second level.
const LEAF: usize = 512;
/// No block.
const NONE: u32 = u32::MAX;
/// What the model is told that a write carries, where only the newest bytes are kept.
const NEWEST: u32 = 1;

/// Where the bytes are.
#[derive(Debug)]
pub(crate) enum Payload {
    /// In memory, gone when the emulator ends.
    Memory(Memory),
    /// In a sparse file, at the same place as on the device.
    File(File),
    /// Every write, one after the other.
    Versions(Versions),
}

impl Payload {
    /// In memory, nothing written, room for `capacity` bytes.
    pub(crate) fn in_memory(capacity: u64) -> Payload {
        let leaves = capacity.div_ceil((BLOCK * LEAF) as u64) as usize;
        Payload::Memory(Memory { leaves: vec![None; leaves], slabs: Vec::new(), free: Vec::new() })
    }

    /// Keeps bytes; they can be asked for by the generation of the fill that stands for them.
    ///
    /// # Errors
    /// Of the file: a full disk, most of all.
    pub(crate) fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<Fill> {
        match self {
            Payload::Memory(memory) => memory.write(offset, bytes),
            Payload::File(file) => file.write_all_at(bytes, offset)?,
            Payload::Versions(versions) => return versions.write(offset, bytes),
        }
        Ok(Fill::Tagged { generation: NEWEST })
    }

    /// The fill of a write of which the bytes are already here, since the device is brought back.
    pub(crate) fn written_before(&mut self, offset: u64, length: u64) -> Fill {
        match self {
            Payload::Memory(_) | Payload::File(_) => Fill::Tagged { generation: NEWEST },
            Payload::Versions(versions) => versions.written_before(offset, length),
        }
    }

    /// The last write did not come to the device after all.
    pub(crate) fn take_back(&mut self) {
        if let Payload::Versions(versions) = self {
            versions.take_back();
        }
    }

    /// What a write of this generation brought for `offset`; what was never written is zero.
    ///
    /// # Errors
    /// Of the file.
    pub(crate) fn read(&self, generation: u32, offset: u64, into: &mut [u8]) -> io::Result<()> {
        match self {
            Payload::Memory(memory) => memory.read(offset, into),
            Payload::File(file) => file.read_exact_at(into, offset)?,
            Payload::Versions(versions) => versions.read(generation, offset, into)?,
        }
        Ok(())
    }

    /// Nobody will ask for the range again: whole blocks of it give their memory back.
    pub(crate) fn forget(&mut self, offset: u64, length: u64) {
        match self {
            Payload::Memory(memory) => memory.forget(offset, length),
            // They may come back.
            Payload::Versions(_) => {}
            Payload::File(file) => {
                use rustix::fs::{FallocateFlags, fallocate};
                // Only saves room: where the file system cannot do it, the bytes stay and nobody reads them.
                let _ = fallocate(&*file, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, offset, length);
            }
        }
    }

    /// Makes a file's bytes durable.
    ///
    /// # Errors
    /// Of the file.
    pub(crate) fn sync(&self) -> io::Result<()> {
        match self {
            Payload::Memory(_) => Ok(()),
            Payload::File(file) => file.sync_data(),
            Payload::Versions(versions) => versions.sync(),
        }
    }
}

/// Blocks in memory behind a table of two levels: no table ever grows, so that no request waits for that.
#[derive(Debug)]
pub(crate) struct Memory {
    /// For each [`LEAF`] blocks of the device the numbers of their blocks in the slabs, or [`NONE`].
    leaves: Vec<Option<Box<[u32; LEAF]>>>,
    slabs: Vec<Box<[u8]>>,
    free: Vec<u32>,
}

impl Memory {
    fn write(&mut self, offset: u64, bytes: &[u8]) {
        for (block, within, part) in parts(offset, bytes.len()) {
            let number = self.take(block);
            self.block_mut(number)[within..within + part.len()].copy_from_slice(&bytes[part]);
        }
    }

    fn read(&self, offset: u64, into: &mut [u8]) {
        for (block, within, part) in parts(offset, into.len()) {
            let into = &mut into[part];
            match self.number(block) {
                NONE => into.fill(0),
                number => into.copy_from_slice(&self.block(number)[within..within + into.len()]),
            }
        }
    }

    fn forget(&mut self, offset: u64, length: u64) {
        let (first, end) = (offset.div_ceil(BLOCK as u64), (offset + length) / BLOCK as u64);
        let mut block = first;
        while block < end {
            let (leaf, index) = (block as usize / LEAF, block as usize % LEAF);
            let until = ((leaf + 1) * LEAF).min(end as usize) as u64;
            if let Some(numbers) = &mut self.leaves[leaf] {
                let gone = &mut numbers[index..index + (until - block) as usize];
                self.free.extend(gone.iter().filter(|number| **number != NONE));
                gone.fill(NONE);
            }
            block = until;
        }
    }

    fn number(&self, block: u64) -> u32 {
        self.leaves[block as usize / LEAF].as_ref().map_or(NONE, |leaf| leaf[block as usize % LEAF])
    }

    /// The slab block for a block of the device, a new one where it has none. A reused one may hold old bytes, of which
    /// nobody asks for those that are not written over.
    fn take(&mut self, block: u64) -> u32 {
        let leaf = self.leaves[block as usize / LEAF].get_or_insert_with(|| Box::new([NONE; LEAF]));
        let number = &mut leaf[block as usize % LEAF];
        if *number == NONE {
            *number = self.free.pop().unwrap_or_else(|| {
                let first = (self.slabs.len() * SLAB) as u32;
                self.slabs.push(vec![0; SLAB * BLOCK].into());
                // Handed out from the front.
                self.free.extend((first + 1..first + SLAB as u32).rev());
                first
            });
        }
        *number
    }

    fn block(&self, number: u32) -> &[u8] {
        let at = number as usize % SLAB * BLOCK;
        &self.slabs[number as usize / SLAB][at..at + BLOCK]
    }

    fn block_mut(&mut self, number: u32) -> &mut [u8] {
        let at = number as usize % SLAB * BLOCK;
        &mut self.slabs[number as usize / SLAB][at..at + BLOCK]
    }
}

/// A range cut at blocks: number of the block, start within it, and which bytes of the range.
fn parts(offset: u64, length: usize) -> impl Iterator<Item = (u64, usize, std::ops::Range<usize>)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let at = offset + done as u64;
        let within = (at % BLOCK as u64) as usize;
        let part = done..(done + BLOCK - within).min(length);
        (done < length).then(|| {
            done = part.end;
            (at / BLOCK as u64, within, part)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAPACITY: u64 = 8 << 20;

    fn memory(payload: &Payload) -> &Memory {
        match payload {
            Payload::Memory(memory) => memory,
            _ => unreachable!("in memory"),
        }
    }

    #[test]
    fn reads_what_was_written_last() {
        let mut payload = Payload::in_memory(CAPACITY);
        let mut model = vec![0u8; CAPACITY as usize];
        // A fixed walk over odd places and lengths.
        let mut seed = 1u64;
        for step in 0..400u64 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(step);
            let (offset, length) = ((seed >> 33) % (CAPACITY - 70_000), (seed >> 13) % 70_000);
            let bytes: Vec<u8> = (0..length).map(|i| (i ^ step) as u8).collect();
            payload.write(offset, &bytes).unwrap();
            model[offset as usize..(offset + length) as usize].copy_from_slice(&bytes);
        }
        let mut found = vec![1; CAPACITY as usize];
        payload.read(NEWEST, 0, &mut found).unwrap();
        assert!(found == model);
    }

    #[test]
    fn takes_memory_for_what_was_written_only() {
        let mut payload = Payload::in_memory(1 << 40);
        for at in 0..1000u64 {
            payload.write(at << 29, &[7; 512]).unwrap();
        }
        assert_eq!(memory(&payload).slabs.len(), 4);
        payload.forget(0, 500 << 29);
        for at in 0..500u64 {
            payload.write((at << 29) + (1 << 28), &[7; 512]).unwrap();
        }
        assert_eq!(memory(&payload).slabs.len(), 4);
    }

    #[test]
    fn forgets_whole_blocks_only() {
        let mut payload = Payload::in_memory(CAPACITY);
        payload.write(0, &[7; 3 * BLOCK]).unwrap();
        payload.forget(100, 2 * BLOCK as u64);
        let mut found = vec![1; 3 * BLOCK];
        payload.read(NEWEST, 0, &mut found).unwrap();
        let expect = [[7; BLOCK], [0; BLOCK], [7; BLOCK]].concat();
        assert!(found == expect);
    }
}
