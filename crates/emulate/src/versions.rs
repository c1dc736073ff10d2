//! Every write that a device ever took, one after the other: for one that can lose, tear or misplace what it had taken,
//! so that it comes back with exactly the bytes that it should.

use flashscope_device::Fill;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// The writes, numbered from 1: their generations.
#[derive(Debug)]
pub(crate) struct Versions {
    writes: Vec<Written>,
    bytes: Bytes,
}

/// Where a write went.
#[derive(Clone, Copy, Debug)]
struct Written {
    /// On the device.
    offset: u64,
    length: u64,
    /// In the file.
    at: u64,
}

#[derive(Debug)]
enum Bytes {
    Memory(Vec<Box<[u8]>>),
    File(File),
}

impl Versions {
    /// In memory.
    pub(crate) fn in_memory() -> Versions {
        Versions { writes: Vec::new(), bytes: Bytes::Memory(Vec::new()) }
    }

    /// In a file.
    pub(crate) fn in_file(file: File) -> Versions {
        Versions { writes: Vec::new(), bytes: Bytes::File(file) }
    }

    /// Bytes of all writes.
    pub(crate) fn length(&self) -> u64 {
        self.writes.last().map_or(0, |last| last.at + last.length)
    }

    pub(crate) fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<Fill> {
        match &mut self.bytes {
            Bytes::Memory(all) => all.push(bytes.into()),
            Bytes::File(file) => {
                file.write_all_at(bytes, self.writes.last().map_or(0, |last| last.at + last.length))?
            }
        }
        Ok(self.written_before(offset, bytes.len() as u64))
    }

    pub(crate) fn written_before(&mut self, offset: u64, length: u64) -> Fill {
        let at = self.length();
        self.writes.push(Written { offset, length, at });
        Fill::Tagged { generation: self.writes.len() as u32 }
    }

    pub(crate) fn take_back(&mut self) {
        self.writes.pop();
        if let Bytes::Memory(all) = &mut self.bytes {
            all.truncate(self.writes.len());
        }
    }

    pub(crate) fn read(&self, generation: u32, offset: u64, into: &mut [u8]) -> io::Result<()> {
        let lost = || io::Error::new(io::ErrorKind::InvalidData, "the model holds what was never written");
        let index = (generation as usize).checked_sub(1).ok_or_else(lost)?;
        let write = self.writes.get(index).ok_or_else(lost)?;
        let within = offset.checked_sub(write.offset).filter(|within| within + into.len() as u64 <= write.length);
        let within = within.ok_or_else(lost)?;
        match &self.bytes {
            Bytes::Memory(all) => into.copy_from_slice(&all[index][within as usize..within as usize + into.len()]),
            Bytes::File(file) => file.read_exact_at(into, write.at + within)?,
        }
        Ok(())
    }

    pub(crate) fn sync(&self) -> io::Result<()> {
        match &self.bytes {
            Bytes::Memory(_) => Ok(()),
            Bytes::File(file) => file.sync_data(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_write_can_be_asked_for() {
        let mut versions = Versions::in_memory();
        let generations: Vec<Fill> = (1..4u8).map(|byte| versions.write(4096, &[byte; 1024]).unwrap()).collect();
        for (fill, byte) in generations.into_iter().zip(1..) {
            let Fill::Tagged { generation } = fill else { panic!("{fill:?}") };
            let mut found = [0; 512];
            versions.read(generation, 4096 + 512, &mut found).unwrap();
            assert_eq!(found, [byte; 512]);
            assert!(versions.read(generation, 4096 + 1024, &mut found).is_err());
            assert!(versions.read(generation, 0, &mut found).is_err());
        }
        versions.take_back();
        assert!(versions.read(3, 4096, &mut [0; 1]).is_err());
        assert!(versions.read(0, 4096, &mut [0; 1]).is_err());
    }
}
