//! Marks at places that do not move, counted from the start or from the end. Each line names the public definition of its format; the
//! test `tests/signatures.rs` compares them with what libblkid knows.

/// A mark and where it stands.
pub(super) struct Mark {
    pub(super) name: &'static str,
    pub(super) at: At,
    pub(super) bytes: &'static [u8],
}

/// A place in bytes.
#[derive(Clone, Copy)]
pub(super) enum At {
    /// So far from the start.
    Start(u64),
    /// In the sector that begins this number of sectors of 512 bytes before the end, this far into it; what does not fill a sector at the end is
    /// none.
    End(u64, u64),
}

impl At {
    /// From the start of a device of this size; `None` where it has no such place.
    pub(super) fn on(self, size: u64) -> Option<u64> {
        match self {
            At::Start(at) => Some(at),
            At::End(sectors, into) => Some((size / 512).checked_sub(sectors)? * 512 + into),
        }
    }
}

const fn mark(name: &'static str, at: u64, bytes: &'static [u8]) -> Mark {
    Mark { name, at: At::Start(at), bytes }
}

const fn from_end(name: &'static str, sectors: u64, into: u64, bytes: &'static [u8]) -> Mark {
    Mark { name, at: At::End(sectors, into), bytes }
}

/// Marks that stand at one place each, with the source of each.
pub(super) const MARKS: &[Mark] = &[
    // File systems.
    mark("ext2/3/4 file system", 1024 + 56, &[0x53, 0xef]), // Linux, Documentation/filesystems/ext4/super.rst: s_magic
    mark("xfs file system", 0, b"XFSB"),                    // XFS Algorithms & Data Structures: sb_magicnum
    mark("xfs log", 0, &[0xfe, 0xed, 0xba, 0xbe]),          // the same: xlog_rec_header
    mark("exfs file system", 0, b"EXFS"),                   // SGI's XFS with extensions, as xfsprogs names it
    mark("btrfs file system", (64 << 10) + 64, b"_BHRfS_M"), // Btrfs on-disk format: superblock
    mark("f2fs file system", 1024, &[0x10, 0x20, 0xf5, 0xf2]), // linux/f2fs_fs.h: F2FS_SUPER_OFFSET, F2FS_SUPER_MAGIC
    mark("f2fs file system (second superblock)", 4096 + 1024, &[0x10, 0x20, 0xf5, 0xf2]), // the same: in block 1 again
    mark("bcache or bcachefs", (4 << 10) + 24, BCACHE),     // linux/bcache.h: SB_SECTOR, bcache_magic
    mark("bcachefs file system", (4 << 10) + 24, BCACHEFS), // bcachefs: Principles of Operation, superblock
    mark("exfat file system", 3, b"EXFAT   "),              // exFAT specification 3.1.2 FileSystemName
    mark("ntfs file system", 3, b"NTFS    "),               // NTFS boot sector: OEM ID
    mark("refs file system", 3, b"ReFS\0"),                 // ReFS volume boot record
    mark("encrypted volume (BitLocker)", 3, b"-FVE-FS-"),   // BitLocker volume header, as dislocker describes it
    mark("encrypted volume (LUKS)", 0, b"LUKS\xba\xbe"),    // LUKS On-Disk Format 1.2 and LUKS2 1.0
    mark("iso9660 file system", (32 << 10) + 1, b"CD001"),  // ECMA-119 8.4.2
    mark("iso9660 file system (High Sierra)", (32 << 10) + 9, b"CDROM"), // High Sierra proposal: standard identifier
    mark("udf file system", (32 << 10) + 1, b"BEA01"),      // ECMA-167 2/9.2
    mark("udf file system", (32 << 10) + 1, b"NSR02"),      // ECMA-167 3/9.1
    mark("udf file system", (32 << 10) + 1, b"NSR03"),      // ECMA-167 3/9.1
    mark("squashfs file system", 0, b"hsqs"),               // Linux, Documentation/filesystems/squashfs.rst
    mark("squashfs file system", 0, b"sqsh"),               // the same, of big-endian machines before 4.0
    mark("erofs file system", 1024, &[0xe2, 0xe1, 0xf5, 0xe0]), // EROFS core on-disk format
    mark("cramfs file system", 0, &[0x45, 0x3d, 0xcd, 0x28]), // linux/cramfs_fs.h: CRAMFS_MAGIC
    mark("cramfs file system", 0, &[0x28, 0xcd, 0x3d, 0x45]), // the same, of big-endian machines
    mark("cramfs file system", 512, &[0x45, 0x3d, 0xcd, 0x28]), // the same, behind boot code (CRAMFS_FLAG_SHIFTED_ROOT_OFFSET)
    mark("romfs file system", 0, b"-rom1fs-"),                  // Linux, Documentation/filesystems/romfs.rst
    mark("ubi volume", 0, b"UBI#"),                             // Linux, drivers/mtd/ubi/ubi-media.h: UBI_EC_HDR_MAGIC
    mark("ubifs file system", 0, &[0x31, 0x18, 0x10, 0x06]),    // Linux, fs/ubifs/ubifs-media.h: UBIFS_NODE_MAGIC
    mark("jffs2 file system", 0, &[0x85, 0x19]),                // linux/jffs2.h: JFFS2_MAGIC_BITMASK
    mark("nilfs2 file system", 1024 + 6, &[0x34, 0x34]),        // linux/nilfs2_ondisk.h: s_magic
    mark("reiserfs file system", (64 << 10) + 52, b"ReIsEr"),   // linux/reiserfs_fs.h: s_magic of all versions
    mark("reiserfs file system", (64 << 10) + 20, b"ReIsEr"),   // the same, before 3.5.9
    mark("reiserfs file system", (8 << 10) + 52, b"ReIsEr"),    // the same: REISERFS_OLD_DISK_OFFSET
    mark("reiserfs file system", (8 << 10) + 20, b"ReIsEr"),    // the same
    mark("reiser4 file system", 64 << 10, b"ReIsEr4"),          // reiser4 master superblock
    mark("jfs file system", 32 << 10, b"JFS1"),                 // JFS Layout: aggregate superblock
    mark("minix file system", 1024 + 16, &[0x7f, 0x13]),        // linux/magic.h: MINIX_SUPER_MAGIC
    mark("minix file system", 1024 + 16, &[0x8f, 0x13]),        // the same: MINIX_SUPER_MAGIC2
    mark("minix file system", 1024 + 16, &[0x68, 0x24]),        // the same: MINIX2_SUPER_MAGIC
    mark("minix file system", 1024 + 16, &[0x78, 0x24]),        // the same: MINIX2_SUPER_MAGIC2
    mark("minix file system", 1024 + 16, &[0x13, 0x7f]),        // the same, of big-endian machines
    mark("minix file system", 1024 + 16, &[0x13, 0x8f]),
    mark("minix file system", 1024 + 16, &[0x24, 0x68]),
    mark("minix file system", 1024 + 16, &[0x24, 0x78]),
    mark("minix file system", 1024 + 24, &[0x5a, 0x4d]), // the same: MINIX3_SUPER_MAGIC
    mark("minix file system", 1024 + 24, &[0x4d, 0x5a]),
    mark("hfs file system", 1024, b"BD"), // Inside Macintosh: Files, master directory block
    mark("hfs+ file system", 1024, b"H+"), // Apple TN1150: volume header
    mark("hfs+ file system", 1024, b"HX"), // the same: HFSX
    mark("apfs container", 32, b"NXSB"),  // Apple File System Reference: nx_magic
    mark("hpfs file system", 8 << 10, &[0x49, 0xe8, 0x95, 0xf9]), // Linux, fs/hpfs/hpfs.h: SB_MAGIC in sector 16
    mark("gfs or gfs2 file system", 64 << 10, &[0x01, 0x16, 0x19, 0x70]), // linux/gfs2_ondisk.h: GFS2_MAGIC
    mark("ocfs file system", 8, b"OracleCFS"), // OCFS 1: volume disk header
    mark("ocfs2 file system", 1 << 10, b"OCFSV2"), // Linux, fs/ocfs2/ocfs2_fs.h: superblock in block 2 of 512 B …
    mark("ocfs2 file system", 2 << 10, b"OCFSV2"), // … of 1 KiB
    mark("ocfs2 file system", 4 << 10, b"OCFSV2"), // … of 2 KiB
    mark("ocfs2 file system", 8 << 10, b"OCFSV2"), // … of 4 KiB
    mark("oracle ASM disk", 32, b"ORCLDISK"), // oracleasm's documentation: disk label
    mark("vxfs file system", 1 << 10, &[0xf5, 0xfc, 0x01, 0xa5]), // Linux, fs/freevxfs/vxfs.h: VXFS_SUPER_MAGIC
    mark("vxfs file system", 8 << 10, &[0xa5, 0x01, 0xfc, 0xf5]), // the same, of HP-UX
    mark("netware file system (NSS)", 4 << 10, b"SPB5"), // Novell Storage Services: superblock header
    mark("bfs file system", 0, &[0xce, 0xfa, 0xad, 0x1b]), // linux/bfs_fs.h: BFS_MAGIC
    mark("befs file system", 512 + 32, b"1SFB"), // Linux, fs/befs/befs_fs_types.h: BEFS_SUPER_MAGIC1 behind boot code
    mark("befs file system", 512 + 32, b"BFS1"), // the same, of big-endian machines
    mark("befs file system", 32, b"1SFB"), // the same, without boot code
    mark("befs file system", 32, b"BFS1"),
    mark("xenix file system", 1024 + 0x3f8, &[0x44, 0x55, 0x2b, 0x00]), // Linux, fs/sysv: s_magic of xenix_super_block
    mark("xenix file system", 1024 + 0x3f8, &[0x00, 0x2b, 0x55, 0x44]),
    mark("xenix file system", 1024 + 0x400, &[0x44, 0x55, 0x2b]), // where libblkid looks
    mark("xenix file system", 1024 + 0x400, &[0x2b, 0x55, 0x44]),
    mark("zonefs file system", 0, b"SFOZ"), // Linux, fs/zonefs/zonefs.h: ZONEFS_MAGIC
    mark("mpool volume", 8, b"mpoolDev"),   // mpool's omf.h: superblock magic
    mark("ceph bluestore", 0, b"bluestore block device"), // Ceph: BlueStore label
    mark("vmfs file system", 2 << 20, &[0x5e, 0xf1, 0xab, 0x2f]), // vmfs-tools: VMFS_FS_INFO
    mark("vmfs volume", 1 << 20, &[0x0d, 0xd0, 0x01, 0xc0]), // vmfs-tools: VMFS_VOLINFO
    // Layers of the device-mapper and the like.
    mark("dm-verity hashes", 0, b"verity\0\0"), // cryptsetup wiki: DMVerity, superblock
    mark("dm-integrity volume", 0, b"integrt\0"), // Linux, drivers/md/dm-integrity.c: SB_MAGIC
    mark("device-mapper snapshot", 0, b"SnAp"), // Linux, drivers/md/dm-snap-persistent.c: SNAP_MAGIC
    mark("vdo volume", 0, b"dmvdo001"),         // Linux, Documentation/…/device-mapper/vdo-design.rst
    mark("LVM1 physical volume", 0, b"HM\x01\0"), // LVM 1: pv_disk_t, version 1
    mark("LVM1 physical volume", 0, b"HM\x02\0"), // the same, version 2
    mark("stratis volume", 512 + 4, b"!Stra0tis\x86\xff\x02^Arh"), // Stratis Software Design: static header
    mark("stratis volume", 9 * 512 + 4, b"!Stra0tis\x86\xff\x02^Arh"), // the same: second copy
    mark("drbd control volume", 0, b"$DRBDmgr=q"), // drbdmanage: control volume
    mark("drbd proxy log", 0, b"DRBDdlh*"),     // DRBD proxy: data log header
    from_end("drbd member", 8, 28, &[0x83, 0x74, 0x02, 0x6a]), // Linux, drbd_main.c: DRBD_MD_MAGIC_07, in the last 4 KiB
    from_end("drbd member", 8, 60, &[0x83, 0x74, 0x02, 0x6b]), // the same: DRBD_MD_MAGIC_08
    from_end("drbd member", 8, 60, &[0x83, 0x74, 0x02, 0x6c]), // the same: DRBD_MD_MAGIC_84_UNCLEAN
    from_end("drbd member", 8, 60, &[0x83, 0x74, 0x02, 0x6d]), // DRBD 9: DRBD_MD_MAGIC_09
    // Arrays of mainboards and controllers: the names are those of dmraid, whose headers describe them.
    from_end("firmware RAID member (Intel)", 2, 0, b"Intel Raid ISM Cfg Sig. "), // mdadm's super-intel.c
    from_end("firmware RAID member (DDF)", 1, 0, &[0xde, 0x11, 0xde, 0x11]), // SNIA Common RAID DDF 2.0: anchor header
    from_end("firmware RAID member (DDF)", 257, 0, &[0xde, 0x11, 0xde, 0x11]), // the same, as Adaptec places it
    from_end("firmware RAID member (LSI)", 1, 0, b"$XIDE$"),                 // lsi.h
    from_end("firmware RAID member (VIA)", 1, 0, &[0x55, 0xaa]),             // via.h
    from_end("firmware RAID member (Silicon Image)", 1, 0x60, &[0x00, 0x00, 0x00, 0x2f]), // sil.h
    from_end("firmware RAID member (NVIDIA)", 2, 0, b"NVIDIA"),              // nv.h
    from_end("firmware RAID member (HighPoint)", 11, 0, &[0xf3, 0x16, 0x78, 0x5a]), // hpt45x.h: in order
    from_end("firmware RAID member (HighPoint)", 11, 0, &[0xfd, 0x16, 0x78, 0x5a]), // hpt45x.h: broken
    mark("firmware RAID member (HighPoint)", 9 * 512 + 32, &[0xf0, 0x16, 0x78, 0x5a]), // hpt37x.h: in order
    mark("firmware RAID member (HighPoint)", 9 * 512 + 32, &[0xfd, 0x16, 0x78, 0x5a]), // hpt37x.h: broken
    from_end("firmware RAID member (Adaptec)", 1, 0, &[0x37, 0xfc, 0x4d, 0x1e]), // asr.h: reserved block
    from_end("firmware RAID member (JMicron)", 1, 0, b"JM"),                 // jm.h
    from_end("firmware RAID member (Promise)", 16, 0, PROMISE),              // pdc.h, this and what follows
    from_end("firmware RAID member (Promise)", 63, 0, PROMISE),
    from_end("firmware RAID member (Promise)", 255, 0, PROMISE),
    from_end("firmware RAID member (Promise)", 256, 0, PROMISE),
    from_end("firmware RAID member (Promise)", 399, 0, PROMISE),
    from_end("firmware RAID member (Promise)", 591, 0, PROMISE),
    from_end("firmware RAID member (Promise)", 675, 0, PROMISE),
    from_end("firmware RAID member (Promise)", 735, 0, PROMISE),
    from_end("firmware RAID member (Promise)", 911, 0, PROMISE),
    from_end("firmware RAID member (Promise)", 951, 0, PROMISE),
    from_end("firmware RAID member (Promise)", 974, 0, PROMISE),
    from_end("firmware RAID member (Promise)", 991, 0, PROMISE),
    from_end("firmware RAID member (Promise)", 3087, 0, PROMISE),
    // Partition tables.
    mark("apple partition map", 512, b"PM\0\0"), // Inside Macintosh: Devices, partition map entry
    mark("apple partition map", 0, b"ER"),       // the same: driver descriptor record
    mark("bsd disklabel", 512, &[0x57, 0x45, 0x56, 0x82]), // NetBSD, sys/disklabel.h: DISKMAGIC
    mark("bsd disklabel", 64, &[0x57, 0x45, 0x56, 0x82]), // the same, of Alpha and others
    mark("bsd disklabel", 0, &[0x57, 0x45, 0x56, 0x82]), // the same
    mark("sun disklabel", 508, &[0xda, 0xbe]),   // Linux, block/partitions/sun.c: SUN_LABEL_MAGIC
    mark("sgi disklabel", 0, &[0x0b, 0xe5, 0xa9, 0x41]), // Linux, block/partitions/sgi.c: SGI_LABEL_MAGIC
    mark("solaris disklabel", 512 + 12, &[0xee, 0xde, 0x0d, 0x60]), // Linux, block/partitions/msdos.c: SOLARIS_X86_VTOC_SANE
    mark("unixware disklabel", 29 * 512 + 4, &[0x0d, 0x60, 0x5e, 0xca]), // the same: UNIXWARE_DISKMAGIC
    mark("ultrix disklabel", (16 << 10) - 72, &[0x57, 0x29, 0x03, 0x00]), // Linux, block/partitions/ultrix.c: PT_MAGIC
    mark("aix volume", 0, &[0xc9, 0xc2, 0xd4, 0xc1]),               // Linux, block/partitions/aix.c: "IBMA" in EBCDIC
    // Images of whole disks, and of what goes onto them.
    mark("android boot image", 0, b"ANDROID!"), // Android Open Source Project: boot image header
    mark("android sparse image", 0, &[0x3a, 0xff, 0x26, 0xed]), // libsparse: SPARSE_HEADER_MAGIC
    mark("qcow disk image", 0, b"QFI\xfb"),     // QEMU, docs/interop/qcow2.txt
    mark("qed disk image", 0, b"QED\0"),        // QEMU, docs/interop/qed_spec.txt
    mark("vmdk disk image", 0, b"KDMV"),        // VMware Virtual Disk Format 5.0: sparse extent
    mark("vmdk disk image", 0, b"COWD"),        // the same: ESX server sparse extent
    mark("vhdx disk image", 0, b"vhdxfile"),    // [MS-VHDX] 2.2.1
    mark("vhd disk image", 0, b"conectix"),     // Microsoft Virtual Hard Disk Image Format: copy of the footer
    from_end("vhd disk image", 1, 0, b"conectix"), // the same: hard disk footer
    mark("vdi disk image", 64, &[0x7f, 0x10, 0xda, 0xbe]), // VirtualBox, VDICore.h: VDI_IMAGE_SIGNATURE
    mark("parallels disk image", 0, b"WithoutFreeSpace"), // QEMU, docs/interop/parallels.txt
    mark("parallels disk image", 0, b"WithouFreSpacExt"), // the same
    mark("bochs disk image", 0, b"Bochs Virtual HD Image"), // Bochs, hdimage.h
    from_end("dmg disk image", 1, 0, b"koly"),  // Apple's UDIF: trailer
];

/// `bcache_magic` of `linux/bcache.h`.
const BCACHE: &[u8] = &[0xc6, 0x85, 0x73, 0xf6, 0x4e, 0x1a, 0x45, 0xca, 0x82, 0x65, 0xf5, 0x7f, 0x48, 0xba, 0x6d, 0x81];
/// `BCACHE_MAGIC` of bcachefs, which began as bcache's.
const BCACHEFS: &[u8] =
    &[0xc6, 0x85, 0x73, 0xf6, 0x66, 0xce, 0x90, 0xa9, 0xd9, 0x6a, 0x60, 0xcf, 0x80, 0x3d, 0xf7, 0xef];
/// Begins the metadata of Promise's firmware RAID.
const PROMISE: &[u8] = b"Promise Technology, Inc.";
