//! What is recognised on a device, compared with libblkid: every type that it knows is planted by its documented mark, or made by its own
//! tool. Where `blkid` names what is there, so must we; where it wants a checksum that nobody made here, the mark alone is enough for us.

use crate::support::{Scratch, has, skip, try_run};
use flashscope_device::RefusalKind;
use flashscope_host::{SysRoot, safety};
use flashscope_units::Bytes;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;

const SIZE: u64 = 8 << 20;

/// Where bytes are planted.
enum At {
    Start(u64),
    End(u64),
}
use At::{End, Start};

/// A type as libblkid calls it, what we call it, and what is planted; `true` where blkid needs no more than that.
type Planted = (&'static str, &'static str, bool, &'static [(At, &'static [u8])]);

const PLANTED: &[Planted] = &[
    ("linux_raid_member", "md array", true, &[(End(65536), b"\xa9\x2b\x4e\xfc\0\0\0\0\0\0\0\x5a")]),
    ("linux_raid_member", "md array", true, &[(End(65536), b"\xfc\x4e\x2b\xa9\0\0\0\0\x5a\0\0\0")]),
    ("linux_raid_member", "md array", true, &[(Start(0), b"\xfc\x4e\x2b\xa9\x01\0\0\0")]),
    ("ddf_raid_member", "DDF", true, &[(End(512), b"\xde\x11\xde\x11")]),
    ("ddf_raid_member", "DDF", true, &[(End(257 * 512), b"\xde\x11\xde\x11")]),
    ("isw_raid_member", "Intel", true, &[(End(1024), b"Intel Raid ISM Cfg Sig. 1.0.00")]),
    ("lsi_mega_raid_member", "LSI", true, &[(End(512), b"$XIDE$")]),
    ("via_raid_member", "VIA", false, &[(End(512), b"\x55\xaa")]),
    ("silicon_medley_raid_member", "Silicon", false, &[(End(512 - 0x60), b"\0\0\0\x2f")]),
    ("nvidia_raid_member", "NVIDIA", true, &[(End(1024), b"NVIDIA\0\0\x1e\0\0\0")]),
    ("promise_fasttrack_raid_member", "Promise", true, &[(End(63 * 512), b"Promise Technology, Inc.")]),
    ("promise_fasttrack_raid_member", "Promise", true, &[(End(3087 * 512), b"Promise Technology, Inc.")]),
    ("hpt45x_raid_member", "HighPoint", true, &[(End(11 * 512), b"\xf3\x16\x78\x5a")]),
    ("hpt37x_raid_member", "HighPoint", true, &[(Start(9 * 512 + 32), b"\xf0\x16\x78\x5a")]),
    ("adaptec_raid_member", "Adaptec", false, &[(End(512), b"\x37\xfc\x4d\x1e")]),
    ("jmicron_raid_member", "JMicron", true, &[(End(512), b"JM")]),
    (
        "bcache",
        "bcache",
        false,
        &[(Start(4096 + 24), b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81")],
    ),
    ("ceph_bluestore", "ceph", true, &[(Start(0), b"bluestore block device")]),
    ("drbd", "drbd", true, &[(End(4096 - 60), b"\x83\x74\x02\x6b")]),
    ("drbd", "drbd", true, &[(End(4096 - 60), b"\x83\x74\x02\x6c")]),
    ("drbd", "drbd", true, &[(End(4096 - 60), b"\x83\x74\x02\x6d")]),
    ("drbdmanage_control_volume", "drbd control", false, &[(Start(0), b"$DRBDmgr=q")]),
    ("drbdproxy_datalog", "drbd proxy", true, &[(Start(0), b"DRBDdlh*")]),
    ("LVM2_member", "LVM physical", false, &[(Start(512), b"LABELONE"), (Start(536), b"LVM2 001")]),
    ("LVM1_member", "LVM1", true, &[(Start(0), b"HM\x01\0")]),
    ("DM_snapshot_cow", "snapshot", true, &[(Start(0), b"SnAp")]),
    ("DM_verity_hash", "dm-verity", true, &[(Start(0), b"verity\0\0\x01\0\0\0")]),
    ("DM_integrity", "dm-integrity", true, &[(Start(0), b"integrt\0\x01")]),
    ("crypto_LUKS", "LUKS", true, &[(Start(0), b"LUKS\xba\xbe\0\x01")]),
    ("crypto_LUKS", "LUKS, second", true, &[(Start(16384), b"SKUL\xba\xbe\0\x02")]),
    ("VMFS_volume_member", "vmfs volume", true, &[(Start(1 << 20), b"\x0d\xd0\x01\xc0")]),
    ("ubi", "ubi", true, &[(Start(0), b"UBI#\x01")]),
    ("vdo", "vdo", true, &[(Start(0), b"dmvdo001")]),
    ("stratis", "stratis", false, &[(Start(516), b"!Stra0tis\x86\xff\x02^Arh")]),
    ("BitLocker", "BitLocker", false, &[(Start(0), b"\xeb\x58\x90-FVE-FS-")]),
    ("vfat", "fat file system", false, &[(Start(82), b"FAT32   ")]),
    ("swsuspend", "hibernated", true, &[(Start(4086), b"S1SUSPEND")]),
    ("swsuspend", "hibernated", true, &[(Start(4086), b"ULSUSPEND")]),
    ("swsuspend", "hibernated", true, &[(Start(4086), b"LINHIB0001")]),
    ("swsuspend", "hibernated", false, &[(Start(4086), b"\xed\xc3\x02\xe9\x98\x56\xe5\x0c")]),
    ("swap", "swap area", true, &[(Start(4086), b"SWAPSPACE2"), (Start(1024), b"\x01\0\0\0\x64\0\0\0")]),
    ("swap", "swap area", true, &[(Start(4086), b"SWAP-SPACE")]),
    ("xfs", "xfs file system", false, &[(Start(0), b"XFSB")]),
    ("xfs_external_log", "xfs log", false, &[(Start(0), b"\xfe\xed\xba\xbe\0\0\0\x01")]),
    ("exfs", "exfs", false, &[(Start(0), b"EXFS")]),
    ("ext2", "ext2/3/4", true, &[(Start(1080), b"\x53\xef")]),
    ("reiserfs", "reiserfs", false, &[(Start(65536 + 52), b"ReIsErFs")]),
    ("reiserfs", "reiserfs", false, &[(Start(8192 + 20), b"ReIsErFs")]),
    ("reiser4", "reiser4", true, &[(Start(65536), b"ReIsEr4")]),
    ("jfs", "jfs", false, &[(Start(32768), b"JFS1")]),
    ("udf", "udf", false, &[(Start(32769), b"BEA01"), (Start(32768 + 2049), b"NSR02")]),
    ("iso9660", "iso9660", false, &[(Start(32769), b"CD001")]),
    ("iso9660", "iso9660", true, &[(Start(32777), b"CDROM")]),
    ("zfs_member", "zfs", false, &[(Start(131_072), b"\x0c\xb1\xba\0\0\0\0\0")]),
    ("hfsplus", "hfs+", false, &[(Start(1024), b"H+")]),
    ("hfs", "hfs", false, &[(Start(1024), b"BD")]),
    ("ufs", "ufs", true, &[(Start(1372), b"\x54\x19\x01\0")]),
    ("ufs", "ufs", true, &[(Start(8192 + 1372), b"\x54\x19\x01\0")]),
    ("ufs", "ufs", true, &[(Start(65536 + 1372), b"\x19\x01\x54\x19")]),
    ("ufs", "ufs", true, &[(Start(8192 + 1372), b"\x95\x21\x61\0")]),
    ("hpfs", "hpfs", false, &[(Start(8192), b"\x49\xe8\x95\xf9")]),
    ("sysv", "sysv", true, &[(Start(512 + 0x1f8), b"\x20\x7e\x18\xfd")]),
    ("sysv", "sysv", true, &[(Start(9 * 1024 + 512 + 0x1f8), b"\x20\x7e\x18\xfd")]),
    ("xenix", "xenix", true, &[(Start(2048), b"\x2b\x55\x44")]),
    ("xenix", "xenix", true, &[(Start(2048), b"\x44\x55\x2b")]),
    ("ntfs", "ntfs", false, &[(Start(3), b"NTFS    ")]),
    ("ReFS", "refs", true, &[(Start(3), b"ReFS\0")]),
    ("cramfs", "cramfs", true, &[(Start(0), b"\x45\x3d\xcd\x28")]),
    ("cramfs", "cramfs", true, &[(Start(0), b"\x28\xcd\x3d\x45")]),
    ("romfs", "romfs", true, &[(Start(0), b"-rom1fs-")]),
    ("minix", "minix", false, &[(Start(1040), b"\x13\x7f")]),
    ("gfs", "gfs", false, &[(Start(65536), b"\x01\x16\x19\x70")]),
    ("gfs2", "gfs2", false, &[(Start(65536), b"\x01\x16\x19\x70")]),
    ("ocfs", "ocfs", false, &[(Start(8), b"OracleCFS")]),
    ("ocfs2", "ocfs2", false, &[(Start(1024), b"OCFSV2")]),
    ("oracleasm", "oracle ASM", true, &[(Start(32), b"ORCLDISK")]),
    ("vxfs", "vxfs", true, &[(Start(1024), b"\xf5\xfc\x01\xa5")]),
    ("vxfs", "vxfs", true, &[(Start(8192), b"\xa5\x01\xfc\xf5")]),
    ("squashfs", "squashfs", true, &[(Start(0), b"hsqs"), (Start(28), b"\x04\0\0\0")]),
    ("squashfs3", "squashfs", true, &[(Start(0), b"hsqs"), (Start(28), b"\x03\0\0\0")]),
    ("nss", "NSS", true, &[(Start(4096), b"SPB5")]),
    ("btrfs", "btrfs", true, &[(Start(65536 + 64), b"_BHRfS_M")]),
    ("ubifs", "ubifs", true, &[(Start(0), b"\x31\x18\x10\x06")]),
    ("bfs", "bfs", true, &[(Start(0), b"\xce\xfa\xad\x1b")]),
    ("VMFS", "vmfs file system", true, &[(Start(2 << 20), b"\x5e\xf1\xab\x2f")]),
    ("befs", "befs", false, &[(Start(544), b"1SFB")]),
    ("nilfs2", "nilfs2", false, &[(Start(1030), b"\x34\x34")]),
    ("exfat", "exfat", true, &[(Start(3), b"EXFAT   ")]),
    ("f2fs", "f2fs", true, &[(Start(1024), b"\x10\x20\xf5\xf2")]),
    ("f2fs", "f2fs", false, &[(Start(5120), b"\x10\x20\xf5\xf2")]),
    ("mpool", "mpool", false, &[(Start(8), b"mpoolDev")]),
    ("apfs", "apfs", false, &[(Start(32), b"NXSB")]),
    ("zonefs", "zonefs", true, &[(Start(0), b"SFOZ")]),
    ("erofs", "erofs", true, &[(Start(1024), b"\xe2\xe1\xf5\xe0")]),
    ("mac", "apple partition map", true, &[(Start(0), b"ER\x02\0"), (Start(512), b"PM\0\0\0\0\0\x01")]),
    ("aix", "aix", true, &[(Start(0), b"\xc9\xc2\xd4\xc1")]),
    // Images that libblkid does not know.
    ("", "vhd", false, &[(End(512), b"conectix")]),
    ("", "vdi", false, &[(Start(64), b"\x7f\x10\xda\xbe")]),
    ("", "vhdx", false, &[(Start(0), b"vhdxfile")]),
];

/// What we call what is on a file.
fn ours(path: &Path) -> Vec<String> {
    let report = safety(&SysRoot::live(), path, Bytes::ZERO).unwrap_or_else(|error| panic!("{error}")).report;
    let carries = |what: String| what.split_once(" holds data: ").map(|(_, name)| name.to_owned());
    let signatures = report.refusals.into_iter().filter(|refusal| refusal.kind == RefusalKind::Signature);
    signatures.filter_map(|refusal| carries(refusal.what)).collect()
}

/// What libblkid calls it: a file system or a partition table.
fn blkid(path: &Path) -> Option<String> {
    let output = Command::new("blkid").args(["-p", "-o", "export"]).arg(path).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let value = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)).map(str::to_owned);
    value("TYPE=").or_else(|| value("PTTYPE="))
}

fn blank(path: &Path) -> File {
    let file = File::create(path).unwrap();
    file.set_len(SIZE).unwrap();
    file
}

#[test]
fn every_mark_that_libblkid_knows_is_recognised() {
    let scratch = Scratch::new();
    let compares = has("blkid");
    if !compares {
        skip("every_mark_that_libblkid_knows_is_recognised", "the comparison: there is no blkid");
    }
    let image = scratch.0.join("image");
    for (kind, name, blkid_agrees, marks) in PLANTED {
        let file = blank(&image);
        for (at, bytes) in *marks {
            let at = match at {
                Start(at) => *at,
                End(before) => SIZE - before,
            };
            file.write_all_at(bytes, at).unwrap();
        }
        let found = ours(&image);
        assert!(found.iter().any(|found| found.contains(name)), "{kind} at {name}: {found:?}");
        // A version that wants more than the mark names nothing; it never names something else.
        let theirs = compares.then(|| blkid(&image)).flatten();
        assert!(theirs.as_deref().is_none_or(|theirs| theirs == *kind), "{kind}: {theirs:?}");
        if compares && *blkid_agrees && theirs.is_none() {
            skip(
                "every_mark_that_libblkid_knows_is_recognised",
                &format!("{kind}: this blkid wants more than its mark"),
            );
        }
    }
}

#[test]
fn every_type_that_libblkid_lists_is_planted_or_made() {
    let test = "every_type_that_libblkid_lists_is_planted_or_made";
    if !has("blkid") {
        return skip(test, "there is no blkid");
    }
    // One mark for all of ext's, made by their own tool below.
    let made = ["ext4dev", "ext4", "ext3", "jbd"];
    let listed = Command::new("blkid").arg("-k").output().unwrap().stdout;
    let listed = String::from_utf8(listed).unwrap();
    assert!(listed.contains("crypto_LUKS"), "{listed}");
    for kind in listed.lines().filter(|kind| !made.contains(kind)) {
        if !PLANTED.iter().any(|(planted, ..)| planted == &kind) {
            // The list grows with util-linux; what was known when this was written may not go missing.
            skip(test, &format!("{kind} is newer than this test"));
        }
    }
    let known = PLANTED.iter().filter(|(kind, ..)| listed.lines().any(|line| line == *kind)).count();
    assert!(known > 80, "{known}");
}

#[test]
fn what_tools_make_is_recognised_as_blkid_does() {
    let test = "what_tools_make_is_recognised_as_blkid_does";
    let scratch = Scratch::new();
    let image = scratch.0.join("image");
    let name = image.to_str().unwrap();
    let label = |kind: &str| format!("printf 'label: {kind}\\n' | sfdisk --quiet {name}");
    for (program, script, expect) in [
        ("mkfs.ext4", format!("mkfs.ext4 -q -F {name}"), "ext2/3/4"),
        ("mke2fs", format!("mke2fs -q -F -O journal_dev {name}"), "ext2/3/4"),
        ("mkswap", format!("mkswap {name}"), "swap area"),
        ("mkfs.minix", format!("mkfs.minix {name}"), "minix"),
        ("mkfs.minix", format!("mkfs.minix -3 {name}"), "minix"),
        ("mkfs.bfs", format!("mkfs.bfs {name}"), "bfs"),
        ("mkfs.vfat", format!("mkfs.vfat {name}"), "fat"),
        ("mkfs.exfat", format!("mkfs.exfat {name}"), "exfat"),
        ("mkfs.ntfs", format!("mkfs.ntfs -F -q {name}"), "ntfs"),
        ("mkfs.cramfs", format!("mkdir -p {name}.d && mkfs.cramfs {name}.d {name}"), "cramfs"),
        ("sfdisk", label("dos"), "partition table (MBR)\tboot sector"),
        ("sfdisk", label("gpt"), "partition table (GPT)"),
        ("sfdisk", label("sgi"), "sgi"),
        ("sfdisk", label("sun"), "sun"),
        ("pvcreate", format!("pvcreate -qq -ff -y {name}"), "LVM"),
        ("cryptsetup", format!("echo key | cryptsetup -q luksFormat --type luks1 {name} -"), "LUKS"),
    ] {
        blank(&image);
        if !has(program) || !try_run("sh", &["-c", &script]) {
            skip(test, &format!("there is no {program}, or it does not do `{script}` here"));
            continue;
        }
        let found = ours(&image);
        assert!(
            expect.split('\t').any(|expect| found.iter().any(|found| found.contains(expect))),
            "{script}: {found:?}"
        );
        if has("blkid") {
            assert!(blkid(&image).is_some(), "blkid does not know what `{script}` makes");
        }
    }
}
