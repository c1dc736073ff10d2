//! What is on a device, by its well-known marks: partition tables, file systems, swap, volumes, arrays.
//!
//! The places and marks are those of each format's public definition. It looks wider rather than narrower: what is
//! taken for something by mistake can be consented to, what is overlooked is destroyed.

mod marks;

use crate::payload;
use marks::MARKS;

/// A mark that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Signature {
    /// Of what (`ext2/3/4 file system`).
    pub(crate) name: &'static str,
    /// Where the mark stands, in bytes from the start.
    pub(crate) at: u64,
}

/// Looks for every known mark on a device of `size` bytes. `read` gives the bytes of a range, or why it cannot.
pub(crate) fn find<E>(size: u64, mut read: impl FnMut(u64, usize) -> Result<Vec<u8>, E>) -> Result<Vec<Signature>, E> {
    let head = read(0, (HEAD as u64).min(size) as usize)?;
    let tail_start = size.saturating_sub(TAIL as u64);
    let tail = read(tail_start, (size - tail_start) as usize)?;
    let view = View { size, head, tail_start, tail };
    let standing = |mark: &marks::Mark| mark.at.on(size).filter(|at| view.has(*at, mark.bytes));
    let marks = MARKS.iter().filter_map(|mark| Some(Signature { name: mark.name, at: standing(mark)? }));
    let mut found: Vec<Signature> = marks.collect();
    let special = [boot_sector, gpt, swap, lvm, md, zfs, ufs, sysv, nilfs2_second, luks_second];
    found.extend(special.iter().filter_map(|recognise| recognise(&view)));
    // What an earlier run wrote bears two bytes of a mark by chance now and then.
    found.retain(|signature| !view.sector(signature.at).is_some_and(|(at, sector)| payload::is_tagged(at, sector)));
    found.dedup_by_key(|signature| signature.name);
    Ok(found)
}

/// Holds every mark that is counted from the start: the farthest is LUKS's second header, after 4 MiB.
const HEAD: usize = (4 << 20) + 4096;
/// Holds every mark that is counted from the end: the farthest is one of Promise's, in the last 1.5 MiB.
const TAIL: usize = 2 << 20;

/// The start and the end of a device.
struct View {
    size: u64,
    head: Vec<u8>,
    tail_start: u64,
    tail: Vec<u8>,
}

impl View {
    fn bytes(&self, at: u64, length: usize) -> Option<&[u8]> {
        let part = |bytes: &'_ Vec<u8>, start: u64| {
            let from = usize::try_from(at.checked_sub(start)?).ok()?;
            (from.checked_add(length)? <= bytes.len()).then_some(from)
        };
        match part(&self.head, 0) {
            Some(from) => Some(&self.head[from..from + length]),
            None => part(&self.tail, self.tail_start).map(|from| &self.tail[from..from + length]),
        }
    }

    fn has(&self, at: u64, mark: &[u8]) -> bool {
        self.bytes(at, mark.len()) == Some(mark)
    }

    /// The sector that a place lies in, and where that begins.
    fn sector(&self, at: u64) -> Option<(u64, &[u8])> {
        let start = at / 512 * 512;
        Some((start, self.bytes(start, 512)?))
    }

    /// Whether a mark stands at this distance from the end, in bytes.
    fn has_before_end(&self, distance: u64, mark: &[u8]) -> Option<u64> {
        let at = self.size.checked_sub(distance)?;
        self.has(at, mark).then_some(at)
    }
}

/// Sector 0 with its closing mark: a partition table, a FAT file system or boot code; all are somebody's.
fn boot_sector(view: &View) -> Option<Signature> {
    let fat = view.has(54, b"FAT1") || view.has(54, b"FAT ") || view.has(82, b"FAT32");
    if fat {
        return Some(Signature { name: "fat file system", at: 0 });
    }
    if !view.has(510, &[0x55, 0xaa]) {
        return None;
    }
    let entries = view.bytes(446, 64)?;
    let used = entries.chunks_exact(16).any(|entry| entry[4] != 0 && entry[8..16].iter().any(|byte| *byte != 0));
    Some(Signature { name: if used { "partition table (MBR)" } else { "boot sector" }, at: 510 })
}

/// The header stands in the second logical block, and again in the last one.
fn gpt(view: &View) -> Option<Signature> {
    let first = [512, 4096].into_iter().find(|at| view.has(*at, b"EFI PART"));
    let last = || [512, 4096].into_iter().find_map(|block| view.has_before_end(block, b"EFI PART"));
    first.or_else(last).map(|at| Signature { name: "partition table (GPT)", at })
}

/// The mark ends the first page, whatever the page size of the machine that made it.
fn swap(view: &View) -> Option<Signature> {
    /// Marks of swap areas, new and old (`linux/swap.h`).
    const SWAP: [&[u8]; 2] = [b"SWAPSPACE2", b"SWAP-SPACE"];
    /// Marks of a hibernated system in a swap area; the last is TuxOnIce's.
    const SUSPENDED: [&[u8]; 5] =
        [b"S1SUSPEND", b"S2SUSPEND", b"ULSUSPEND", b"LINHIB0001", b"\xed\xc3\x02\xe9\x98\x56\xe5\x0c"];
    let pages = || [4096, 8192, 16384, 32768, 65536].into_iter().map(|page| page - 10);
    let stands = |marks: &[&[u8]]| pages().find(|at| marks.iter().any(|mark| view.has(*at, mark)));
    let swap = stands(&SWAP).map(|at| Signature { name: "swap area", at });
    swap.or_else(|| stands(&SUSPENDED).map(|at| Signature { name: "swap area with a hibernated system", at }))
}

/// The label of a physical volume is in one of the first four sectors.
fn lvm(view: &View) -> Option<Signature> {
    let is_label = |at: &u64| view.has(*at, b"LABELONE") && view.has(at + 24, b"LVM2 001");
    let at = [0, 512, 1024, 1536].into_iter().find(is_label)?;
    Some(Signature { name: "LVM physical volume", at })
}

/// Superblock 1.1 at the start, 1.2 after 4 KiB, 1.0 some 8 KiB and 0.90 some 64 KiB before the end.
fn md(view: &View) -> Option<Signature> {
    /// Magic number (`linux/raid/md_p.h`).
    const MARK: u32 = 0xa92b_4efc;
    let near_end = view.size.checked_sub(8 << 10).map(|at| at / 4096 * 4096);
    let far_from_end = (view.size / (64 << 10)).checked_sub(1).map(|block| block * (64 << 10));
    let places = [Some(0), Some(4 << 10), near_end, far_from_end];
    // Version 0.90 has the byte order of the machine that made it.
    let stands = |at: &u64| view.has(*at, &MARK.to_le_bytes()) || view.has(*at, &MARK.to_be_bytes());
    let at = places.into_iter().flatten().find(stands)?;
    Some(Signature { name: "md array member", at })
}

/// Uberblocks fill the second half of each 256 KiB label; two labels at the start, two at the end.
fn zfs(view: &View) -> Option<Signature> {
    /// Magic number of an uberblock, in either byte order.
    const MARKS: [&[u8]; 2] =
        [&[0x0c, 0xb1, 0xba, 0x00, 0x00, 0x00, 0x00, 0x00], &[0x00, 0x00, 0x00, 0x00, 0x00, 0xba, 0xb1, 0x0c]];
    /// Size of a label, in bytes.
    const LABEL: u64 = 256 << 10;
    let aligned_end = view.size / LABEL * LABEL;
    let labels = [Some(0), Some(LABEL), aligned_end.checked_sub(2 * LABEL), aligned_end.checked_sub(LABEL)];
    let blocks = labels.into_iter().flatten().flat_map(|label| (0..128).map(move |n| label + LABEL / 2 + n * 1024));
    let at = { blocks }.find(|at| MARKS.iter().any(|mark| view.has(*at, mark)))?;
    Some(Signature { name: "zfs pool member", at })
}

/// Superblocks in one of four places, of either byte order: magic numbers of `ufs/fs.h` as Linux's fs/ufs/ufs_fs.h lists them.
fn ufs(view: &View) -> Option<Signature> {
    /// Place of the magic number in a superblock, in bytes.
    const MAGIC: u64 = 1372;
    /// Magic numbers of the variants.
    const MAGICS: [u32; 6] = [0x0001_1954, 0x1954_0119, 0x7c26_9d38, 0x0009_5014, 0x0061_2195, 0x0523_1994];
    let stands = |at: &u64| {
        MAGICS.iter().any(|magic| view.has(*at, &magic.to_le_bytes()) || view.has(*at, &magic.to_be_bytes()))
    };
    let at = [0, 8 << 10, 64 << 10, 256 << 10].into_iter().map(|start| start + MAGIC).find(stands)?;
    Some(Signature { name: "ufs file system", at })
}

/// Linux's fs/sysv/super.c: the superblock is the second half of one of four blocks of 1 KiB, in either byte order.
fn sysv(view: &View) -> Option<Signature> {
    /// Magic number of a superblock.
    const MAGIC: u32 = 0xfd18_7e20;
    let places = [0, 9, 15, 18].into_iter().map(|block: u64| block * 1024 + 512 + 0x1f8);
    let at = { places }.find(|at| view.has(*at, &MAGIC.to_le_bytes()) || view.has(*at, &MAGIC.to_be_bytes()))?;
    Some(Signature { name: "sysv file system", at })
}

/// `linux/nilfs2_ondisk.h`, NILFS_SB2_OFFSET_BYTES: a second superblock in the last whole block of 4 KiB but one.
fn nilfs2_second(view: &View) -> Option<Signature> {
    let at = (view.size >> 12).checked_sub(1)? << 12;
    // Magic and the length of the superblock's checked part; two bytes alone would be chance.
    let stands = view.has(at + 6, &[0x34, 0x34]) && view.bytes(at, 4).is_some_and(|version| version[..2] == [2, 0]);
    stands.then_some(Signature { name: "nilfs2 file system (second superblock)", at })
}

/// LUKS version 2 keeps a second header for when the first is damaged.
fn luks_second(view: &View) -> Option<Signature> {
    let places = (14..=22).map(|power| 1_u64 << power);
    let at = { places }.find(|at| view.has(*at, b"SKUL\xba\xbe"))?;
    Some(Signature { name: "encrypted volume (LUKS, second header)", at })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: usize = 4 << 20;

    fn names(size: usize, marks: &[(usize, &[u8])]) -> Vec<&'static str> {
        let mut device = vec![0; size];
        for (at, mark) in marks {
            device[*at..at + mark.len()].copy_from_slice(mark);
        }
        let read = |at: u64, length: usize| Ok::<_, ()>(device[at as usize..at as usize + length].to_vec());
        find(size as u64, read).unwrap().iter().map(|found| found.name).collect()
    }

    #[test]
    fn blank_devices_carry_nothing() {
        for size in [0, 512, 4096, 100_000, SIZE] {
            assert_eq!(names(size, &[]), Vec::<&str>::new(), "{size}");
        }
    }

    #[test]
    fn noise_carries_nothing() {
        let mut device = vec![0; SIZE];
        crate::payload::fill(flashscope_device::Fill::Tagged { generation: 7 }, 0, &mut device);
        let read = |at: u64, length: usize| Ok::<_, ()>(device[at as usize..at as usize + length].to_vec());
        assert_eq!(find(SIZE as u64, read).unwrap(), []);
    }

    #[test]
    fn marks_at_moving_places() {
        let check = |marks: &[(usize, &[u8])], expect: &str| assert_eq!(names(SIZE, marks), [expect]);
        check(&[(510, &[0x55, 0xaa])], "boot sector");
        check(&[(510, &[0x55, 0xaa]), (450, &[0x83]), (454, &[0, 8, 0, 0, 1])], "partition table (MBR)");
        check(&[(510, &[0x55, 0xaa]), (82, b"FAT32   ")], "fat file system");
        check(&[(4096, b"EFI PART")], "partition table (GPT)");
        check(&[(SIZE - 512, b"EFI PART")], "partition table (GPT)");
        check(&[(4086, b"SWAPSPACE2")], "swap area");
        check(&[(65526, b"SWAPSPACE2")], "swap area");
        check(&[(512, b"LABELONE"), (536, b"LVM2 001")], "LVM physical volume");
        check(&[(4096, &[0xfc, 0x4e, 0x2b, 0xa9])], "md array member");
        check(&[(SIZE - 8192, &[0xfc, 0x4e, 0x2b, 0xa9])], "md array member");
        check(&[(SIZE - 65536, &[0xfc, 0x4e, 0x2b, 0xa9])], "md array member");
        check(&[((128 << 10) + 5 * 1024, &[0x0c, 0xb1, 0xba, 0, 0, 0, 0, 0])], "zfs pool member");
        check(&[(SIZE - (128 << 10), &[0x0c, 0xb1, 0xba, 0, 0, 0, 0, 0])], "zfs pool member");
        check(&[(SIZE - 65536, &[0xa9, 0x2b, 0x4e, 0xfc])], "md array member");
        check(&[(4086, b"S1SUSPEND")], "swap area with a hibernated system");
        check(&[(SIZE - 1024, b"Intel Raid ISM Cfg Sig. 1.1")], "firmware RAID member (Intel)");
        check(&[(SIZE - 4096, &[2, 0, 0, 0, 0, 0, 0x34, 0x34])], "nilfs2 file system (second superblock)");
        check(&[(16384, b"SKUL\xba\xbe")], "encrypted volume (LUKS, second header)");
    }

    #[test]
    fn marks_at_fixed_places() {
        // Large enough for the farthest from either end, and not a whole number of sectors.
        let size = 8 * SIZE + 100;
        for mark in MARKS {
            let at = mark.at.on(size as u64).unwrap() as usize;
            assert!(names(size, &[(at, mark.bytes)]).contains(&mark.name), "{}", mark.name);
        }
    }

    #[test]
    fn what_stands_in_payload_by_chance_is_no_mark() {
        let tagged = |generation: u32, at: u64, bytes: &mut [u8]| {
            payload::fill(flashscope_device::Fill::Tagged { generation }, at, bytes);
        };
        let has_mark = |generation: &u32| {
            let mut word = [0; 8];
            tagged(*generation, 1080, &mut word);
            word.starts_with(&[0x53, 0xef])
        };
        let mut device = vec![0; SIZE];
        tagged((0..).find(has_mark).unwrap(), 0, &mut device);
        let found = |device: &[u8]| {
            let read = |at: u64, length: usize| Ok::<_, ()>(device[at as usize..at as usize + length].to_vec());
            find(SIZE as u64, read).unwrap()
        };
        assert_eq!(found(&device), []);
        // A sector that holds anything else is somebody's.
        device[1088..1096].fill(1);
        assert_eq!(found(&device)[0].name, "ext2/3/4 file system");
    }

    #[test]
    fn a_device_smaller_than_a_mark_is_no_trouble() {
        assert_eq!(names(1024, &[(510, &[0x55, 0xaa])]), ["boot sector"]);
    }
}
