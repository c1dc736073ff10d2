//! What is on a device, by its well-known marks: partition tables, file systems, swap, volumes, arrays.
//!
//! The places and marks are those of each format's public definition. It looks wider rather than narrower: what is
//! taken for something by mistake can be consented to, what is overlooked is destroyed.

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
    let marks = MARKS.iter().filter(|mark| view.has(mark.at, mark.bytes));
    let mut found: Vec<Signature> = marks.map(|mark| Signature { name: mark.name, at: mark.at }).collect();
    let special = [boot_sector, gpt, swap, lvm, md, zfs, raid_of_firmware, luks_second];
    found.extend(special.iter().filter_map(|recognise| recognise(&view)));
    Ok(found)
}

/// Holds every mark that is counted from the start: the farthest is a ZFS uberblock, after 128 KiB.
const HEAD: usize = 1 << 20;
/// Holds every mark that is counted from the end: the farthest are ZFS labels, in the last 512 KiB.
const TAIL: usize = 1 << 20;

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

    /// Whether a mark stands so many bytes before the end.
    fn has_before_end(&self, distance: u64, mark: &[u8]) -> Option<u64> {
        let at = self.size.checked_sub(distance)?;
        self.has(at, mark).then_some(at)
    }
}

struct Mark {
    name: &'static str,
    at: u64,
    bytes: &'static [u8],
}

const fn mark(name: &'static str, at: u64, bytes: &'static [u8]) -> Mark {
    Mark { name, at, bytes }
}

/// Marks at fixed places.
const MARKS: &[Mark] = &[
    mark("ext2/3/4 file system", 1024 + 56, &[0x53, 0xef]),
    mark("xfs file system", 0, b"XFSB"),
    mark("xfs log", 0, &[0xfe, 0xed, 0xba, 0xbe]),
    mark("btrfs file system", (64 << 10) + 64, b"_BHRfS_M"),
    mark("f2fs file system", 1024, &[0x10, 0x20, 0xf5, 0xf2]),
    mark("bcache or bcachefs", (4 << 10) + 24, BCACHE),
    mark("bcachefs file system", (4 << 10) + 24, BCACHEFS),
    mark("exfat file system", 3, b"EXFAT   "),
    mark("ntfs file system", 3, b"NTFS    "),
    mark("refs file system", 3, b"ReFS\0\0\0\0"),
    mark("encrypted volume (BitLocker)", 3, b"-FVE-FS-"),
    mark("encrypted volume (LUKS)", 0, b"LUKS\xba\xbe"),
    mark("iso9660 file system", (32 << 10) + 1, b"CD001"),
    mark("udf file system", (32 << 10) + 1, b"BEA01"),
    mark("squashfs file system", 0, b"hsqs"),
    mark("squashfs file system", 0, b"sqsh"),
    mark("erofs file system", 1024, &[0xe2, 0xe1, 0xf5, 0xe0]),
    mark("cramfs file system", 0, &[0x45, 0x3d, 0xcd, 0x28]),
    mark("romfs file system", 0, b"-rom1fs-"),
    mark("ubi volume", 0, b"UBI#"),
    mark("ubifs file system", 0, &[0x31, 0x18, 0x10, 0x06]),
    mark("jffs2 file system", 0, &[0x85, 0x19]),
    mark("nilfs2 file system", 1024 + 6, &[0x34, 0x34]),
    mark("reiserfs file system", (64 << 10) + 52, b"ReIsEr"),
    mark("reiserfs file system", (8 << 10) + 52, b"ReIsEr"),
    mark("reiser4 file system", 64 << 10, b"ReIsEr4"),
    mark("jfs file system", 32 << 10, b"JFS1"),
    mark("minix file system", 1024 + 16, &[0x7f, 0x13]),
    mark("minix file system", 1024 + 16, &[0x8f, 0x13]),
    mark("minix file system", 1024 + 16, &[0x68, 0x24]),
    mark("minix file system", 1024 + 16, &[0x78, 0x24]),
    mark("minix file system", 1024 + 24, &[0x5a, 0x4d]),
    mark("hfs file system", 1024, b"BD"),
    mark("hfs+ file system", 1024, b"H+"),
    mark("hfs+ file system", 1024, b"HX"),
    mark("apfs container", 32, b"NXSB"),
    mark("ufs file system", (8 << 10) + 1372, &[0x54, 0x19, 0x01, 0x00]),
    mark("ufs file system", (64 << 10) + 1372, &[0x19, 0x01, 0x54, 0x19]),
    mark("gfs2 file system", 64 << 10, &[0x01, 0x16, 0x19, 0x70]),
    mark("ocfs2 file system", 1 << 10, b"OCFSV2"),
    mark("ocfs2 file system", 2 << 10, b"OCFSV2"),
    mark("ocfs2 file system", 4 << 10, b"OCFSV2"),
    mark("ceph bluestore", 0, b"bluestore block device"),
    mark("stratis volume", 512 + 4, b"!Stra0tis\x86\xff\x02^Arh"),
    mark("apple partition map", 512, b"PM\0\0"),
    mark("bsd disklabel", 512, &[0x57, 0x45, 0x56, 0x82]),
    mark("sun disklabel", 508, &[0xda, 0xbe]),
    mark("sgi disklabel", 0, &[0x0b, 0xe5, 0xa9, 0x41]),
    mark("android boot image", 0, b"ANDROID!"),
    mark("android sparse image", 0, &[0x3a, 0xff, 0x26, 0xed]),
    mark("qcow disk image", 0, b"QFI\xfb"),
    mark("vmdk disk image", 0, b"KDMV"),
    mark("vhdx disk image", 0, b"vhdxfile"),
];

const BCACHE: &[u8] = &[0xc6, 0x85, 0x73, 0xf6, 0x4e, 0x1a, 0x45, 0xca, 0x82, 0x65, 0xf5, 0x7f, 0x48, 0xba, 0x6d, 0x81];
const BCACHEFS: &[u8] =
    &[0xc6, 0x85, 0x73, 0xf6, 0x66, 0xce, 0x90, 0xa9, 0xd9, 0x6a, 0x60, 0xcf, 0x80, 0x3d, 0xf7, 0xef];

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
    const MARKS: [&[u8]; 5] = [b"SWAPSPACE2", b"SWAP-SPACE", b"S1SUSPEND\0", b"S2SUSPEND\0", b"LINHIB0001"];
    let pages = [4096, 8192, 16384, 32768, 65536].map(|page| page - 10);
    let at = pages.into_iter().find(|at| MARKS.iter().any(|mark| view.has(*at, mark)))?;
    Some(Signature { name: "swap area", at })
}

/// The label of a physical volume is in one of the first four sectors.
fn lvm(view: &View) -> Option<Signature> {
    let is_label = |at: &u64| view.has(*at, b"LABELONE") && view.has(at + 24, b"LVM2 001");
    let at = [0, 512, 1024, 1536].into_iter().find(is_label)?;
    Some(Signature { name: "LVM physical volume", at })
}

/// Superblock 1.1 at the start, 1.2 after 4 KiB, 1.0 some 8 KiB and 0.90 some 64 KiB before the end.
fn md(view: &View) -> Option<Signature> {
    const MARK: &[u8] = &[0xfc, 0x4e, 0x2b, 0xa9];
    let near_end = view.size.checked_sub(8 << 10).map(|at| at / 4096 * 4096);
    let far_from_end = (view.size / (64 << 10)).checked_sub(1).map(|block| block * (64 << 10));
    let places = [Some(0), Some(4 << 10), near_end, far_from_end];
    let at = places.into_iter().flatten().find(|at| view.has(*at, MARK))?;
    Some(Signature { name: "md array member", at })
}

/// Uberblocks fill the second half of each 256 KiB label; two labels at the start, two at the end.
fn zfs(view: &View) -> Option<Signature> {
    const MARKS: [&[u8]; 2] =
        [&[0x0c, 0xb1, 0xba, 0x00, 0x00, 0x00, 0x00, 0x00], &[0x00, 0x00, 0x00, 0x00, 0x00, 0xba, 0xb1, 0x0c]];
    const LABEL: u64 = 256 << 10;
    let aligned_end = view.size / LABEL * LABEL;
    let labels = [Some(0), Some(LABEL), aligned_end.checked_sub(2 * LABEL), aligned_end.checked_sub(LABEL)];
    let blocks = labels.into_iter().flatten().flat_map(|label| (0..128).map(move |n| label + LABEL / 2 + n * 1024));
    let at = { blocks }.find(|at| MARKS.iter().any(|mark| view.has(*at, mark)))?;
    Some(Signature { name: "zfs pool member", at })
}

/// Arrays of mainboards: Intel's mark in the last but one sector, the DDF standard's in the last or at 1 MiB before.
fn raid_of_firmware(view: &View) -> Option<Signature> {
    let intel = view.has_before_end(1024, b"Intel Raid ISM Cfg Sig. ");
    let ddf = || view.has_before_end(512, &[0xde, 0x11, 0xde, 0x11]);
    intel.or_else(ddf).map(|at| Signature { name: "firmware RAID member", at })
}

/// LUKS version 2 keeps a second header for when the first is damaged.
fn luks_second(view: &View) -> Option<Signature> {
    let places = (14..=19).map(|power| 1_u64 << power);
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
    fn noise_carries_nothing_but_chance() {
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
        check(&[(SIZE - 1024, b"Intel Raid ISM Cfg Sig. 1.1")], "firmware RAID member");
        check(&[(16384, b"SKUL\xba\xbe")], "encrypted volume (LUKS, second header)");
    }

    #[test]
    fn marks_at_fixed_places() {
        for mark in MARKS.iter().filter(|mark| mark.at as usize + mark.bytes.len() <= HEAD) {
            assert!(names(SIZE, &[(mark.at as usize, mark.bytes)]).contains(&mark.name), "{}", mark.name);
        }
    }

    #[test]
    fn a_device_smaller_than_a_mark_is_no_trouble() {
        assert_eq!(names(1024, &[(510, &[0x55, 0xaa])]), ["boot sector"]);
    }
}
