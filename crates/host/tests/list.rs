//! `list` over a recorded machine, and over this one.

use crate::support::{Loop, Scratch, can_loop, machine};
use flashscope_device::RefusalKind;
use flashscope_host::{Bus, ListedDevice, Surroundings, SysRoot, UsedBy, list, pin_cpu};
use flashscope_model::DeviceKind;
use flashscope_units::Bytes;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// Makes the files and links that a manifest describes.
fn materialise(manifest: &str, root: &Path) {
    let mut base = PathBuf::new();
    for line in manifest.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(directory) = line.strip_prefix("@ ") {
            base = PathBuf::from(directory);
            continue;
        }
        let rooted = ["sys/", "var/"].iter().any(|top| line.starts_with(top));
        let at = |path: &str| root.join(if rooted { PathBuf::new() } else { base.clone() }).join(path);
        let (path, link) = match (line.split_once(" -> "), line.split_once(" = ")) {
            (Some((path, target)), _) => (at(path), Some(target)),
            (_, Some((path, _))) => (at(path), None),
            _ => panic!("neither file nor link: {line}"),
        };
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        match link {
            Some(target) => symlink(target, &path).unwrap(),
            None => fs::write(&path, unescape(line.split_once(" = ").unwrap().1)).unwrap(),
        }
    }
}

/// `\n`, `\t` and `\xNN`; anything else, like the kernel's own `\040`, stays.
fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        bytes.extend(rest[..at].bytes());
        let escape = &rest[at..];
        let (byte, used) = match escape.as_bytes().get(1) {
            Some(b'n') => (b'\n', 2),
            Some(b't') => (b'\t', 2),
            Some(b'x') => (u8::from_str_radix(&escape[2..4], 16).unwrap(), 4),
            _ => (b'\\', 1),
        };
        bytes.push(byte);
        rest = &escape[used..];
    }
    bytes.extend(rest.bytes());
    bytes
}

#[test]
fn the_host_and_its_conditions() {
    let scratch = Scratch::new();
    materialise(include_str!("fixtures/sysfs.manifest"), &scratch.0);
    let note = |path: &str, text: &str| {
        let path = scratch.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    note("proc/device-tree/model", "Example Board Model 3\0");
    note("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "600000\n");
    note("sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "1800000\n");
    note("sys/class/thermal/thermal_zone0/temp", "41000\n");
    note("sys/class/thermal/thermal_zone1/temp", "48300\n");
    note("sys/block/mmcblk0/device/hwmon/hwmon3/temp1_input", "31500\n");
    let sys = SysRoot::at(&scratch.0);
    let card = list(&sys).into_iter().find(|device| device.path == Path::new("/dev/mmcblk0"));
    let here = Surroundings::on(&sys, card);
    let facts = here.host();
    assert_eq!((facts.name.as_str(), facts.kernel.as_str()), ("testbench", "6.12.9-arm64"));
    assert_eq!(facts.board.as_deref(), Some("Example Board Model 3"));
    assert_eq!(facts.bus_mode.as_deref(), Some("sd high-speed, 50 MHz, 4 bit, 3.30 V"));
    assert_eq!(here.session(), None);
    note("proc/sys/kernel/random/boot_id", "0f1e2d3c\n");
    note("sys/block/mmcblk0/diskseq", "7\n");
    let again = list(&sys).into_iter().find(|device| device.path == Path::new("/dev/mmcblk0"));
    assert_eq!(Surroundings::on(&sys, again).session().as_deref(), Some("0f1e2d3c/7"));
    let named = |conditions: Vec<(String, String)>| -> Vec<String> {
        conditions.iter().map(|(name, value)| format!("{name}={value}")).collect()
    };
    let conditions = named(here.conditions());
    let expect = [
        "processors=3",
        "governor=performance, powersave",
        "frequency_khz=600000 to 1800000",
        "processor_temperature_celsius=48.3",
        "clock_source=tsc",
        "bus_mode=sd high-speed, 50 MHz, 4 bit, 3.30 V",
        "scheduler=mq-deadline",
        "read_ahead_kb=128",
        "max_sectors_kb=512",
        "write_cache=write through",
        "temperature_celsius=31.5",
        "rotational=0",
    ];
    assert_eq!(conditions, expect);
    let moving = [
        "governor=performance, powersave",
        "frequency_khz=600000 to 1800000",
        "processor_temperature_celsius=48.3",
        "scheduler=mq-deadline",
        "read_ahead_kb=128",
        "temperature_celsius=31.5",
    ];
    assert_eq!(named(here.moving()), moving);
    // What is changed while a run lasts shows after it: nothing is remembered from the start.
    note("sys/block/mmcblk0/queue/read_ahead_kb", "4096\n");
    assert!(named(here.conditions()).contains(&"read_ahead_kb=4096".to_owned()));
    assert!(named(here.moving()).contains(&"read_ahead_kb=4096".to_owned()));
    let nothing = Surroundings::on(&SysRoot::at(scratch.0.join("nothing")), None);
    assert_eq!((nothing.host().name.as_str(), nothing.conditions().len()), ("unknown", 0));
    let live = Surroundings::of(&SysRoot::live(), Path::new("/"));
    assert!(live.host().kernel != "unknown" && live.session().is_some(), "{live:?}");
}

#[test]
fn threads_stay_where_they_are_told() {
    let on_another_thread = |cpu: usize| std::thread::spawn(move || pin_cpu(cpu)).join().unwrap();
    assert!(on_another_thread(1 << 20).unwrap_err().contains("no processor"));
    assert!(on_another_thread(1000).unwrap_err().contains("no processor 1000"));
    let allowed = rustix::thread::sched_getaffinity(None).unwrap();
    let first = (0..1024).find(|cpu| allowed.is_set(*cpu)).unwrap();
    assert_eq!(on_another_thread(first), Ok(()));
}

fn recorded(check: impl FnOnce(&dyn Fn(&str) -> ListedDevice, &[ListedDevice])) {
    let scratch = Scratch::new();
    materialise(include_str!("fixtures/sysfs.manifest"), &scratch.0);
    let devices = list(&SysRoot::at(&scratch.0));
    let find = |name: &str| {
        let path = Path::new("/dev").join(name);
        devices.iter().find(|device| device.path == path).unwrap_or_else(|| panic!("no {name}")).clone()
    };
    check(&find, &devices);
}

/// Each use as `device: by what | how to end it`.
fn uses(device: &ListedDevice) -> Vec<String> {
    let text = |by: &UsedBy| match by {
        UsedBy::Mount(point) => format!("mount {point}"),
        UsedBy::MountElsewhere(point, pid) => format!("mount {point} of {pid}"),
        UsedBy::Swap => "swap".to_owned(),
        UsedBy::Holder(holder) => holder.clone(),
        UsedBy::Loop(device) => format!("loop {}", device.display()),
    };
    let line = |used: &flashscope_host::Use| {
        format!("{}: {} | {}", used.device.display(), text(&used.by), used.release.as_deref().unwrap_or("-"))
    };
    device.uses.iter().map(line).collect()
}

#[test]
fn every_device_is_listed_with_its_kind_and_identity() {
    recorded(|_, devices| {
        let rows: Vec<String> = devices
            .iter()
            .map(|device| format!("{} {:?} {}", device.path.display(), device.kind, device.identity.0))
            .collect();
        assert_eq!(
            rows,
            [
                "/dev/dm-0 Other dm-0:511554428416",
                "/dev/dm-1 Other dm-1:511101108224",
                "/dev/loop0 Loop loop:/var/lib/images/old card.img",
                "/dev/loop2 Loop loop:/tmp/gone.img",
                "/dev/md127 Other md127:499972571136",
                "/dev/mmcblk0 SdCard 0x7c7ddc21:7742685184",
                "/dev/mmcblk1 Emmc 0xa1b2c3d4:31268536320",
                "/dev/mmcblk1boot0 Emmc 0xa1b2c3d4-boot0:4194304",
                "/dev/mmcblk1boot1 Emmc 0xa1b2c3d4-boot1:4194304",
                "/dev/nvme0n1 Nvme 20431A801234:512110190592",
                "/dev/sda Usb 000000001536:31914983424",
                "/dev/sdb Usb 000000001536-lun1:0",
                "/dev/sdc Scsi S3Z9NB0K512345K:500107862016",
                "/dev/sdd Scsi Samsung_SSD_860:500107862016",
                "/dev/sde Ufs SAMSUNG_KLUDG4UHDB-B2D1:127934660608",
                "/dev/vda Virtio data_one:21474836480",
                "/dev/vdb Virtio vdb:21474836480",
            ]
        );
    });
}

#[test]
fn an_sd_card_with_its_registers() {
    recorded(|find, _| {
        let card = find("mmcblk0");
        assert_eq!(card.model.as_deref(), Some("SD8GB"));
        assert_eq!(card.disk_sequence, Some(9));
        assert_eq!(card.claims.allocation_unit, Some(Bytes::mib(4)));
        assert_eq!(card.claims.preferred_erase, Some(Bytes::mib(4)));
        assert_eq!(card.claims.erase, Some(Bytes(512)));
        assert_eq!(card.claims.speed_class.as_deref(), Some("class 6"));
        assert_eq!(card.claims.other, ["made by Phison", "made 01/2014", "SD specification 3.0X"]);
        assert_eq!(card.queue.scheduler.as_deref(), Some("mq-deadline"));
        assert_eq!(card.queue.max_request, Some(Bytes::kib(512)));
        assert_eq!(card.queue.read_ahead, Some(Bytes::kib(128)));
        let Bus::Mmc(facts) = &card.bus else { panic!("{:?}", card.bus) };
        let mode = facts.mode.as_ref().unwrap();
        assert_eq!(
            (mode.clock_hz, mode.width, mode.timing.as_deref()),
            (Some(50_000_000), Some(4), Some("sd high-speed"))
        );
        assert_eq!(facts.csd.as_ref().unwrap().capacity, Some(card.capacity));
        assert_eq!(facts.cid.as_ref().unwrap().serial, 0x7c7d_dc21);
        let [part] = card.partitions.as_slice() else { panic!("{:?}", card.partitions) };
        assert_eq!((part.index, part.start, part.path.as_path()), (1, Bytes::mib(4), Path::new("/dev/mmcblk0p1")));
        assert_eq!(part.identity.0, format!("0x7c7ddc21-part1:{}", part.length.get()));
        let facts = card.facts();
        assert_eq!((facts.name.as_str(), facts.simulated, facts.max_request), ("SD8GB", false, Some(Bytes::kib(512))));
        assert_eq!(facts.identity, Some(card.identity.clone()));
    });
}

#[test]
fn an_emmc_part_with_its_health() {
    recorded(|find, _| {
        let part = find("mmcblk1");
        assert_eq!(part.claims.allocation_unit, Some(Bytes::kib(512)));
        let expect =
            ["made by Samsung", "made 10/2019", "life time used 0x01 0x02", "pre-end-of-life 0x01", "command queue on"];
        assert_eq!(part.claims.other, expect);
        let boot = find("mmcblk1boot0");
        assert!(boot.read_only && !part.read_only);
        assert_eq!(boot.capacity, Bytes::mib(4));
        let Bus::Mmc(facts) = &boot.bus else { panic!("{:?}", boot.bus) };
        assert_eq!(facts.hardware_partition.as_deref(), Some("boot0"));
    });
}

#[test]
fn drives_and_readers() {
    recorded(|find, _| {
        let Bus::Usb(reader) = find("sda").bus else { panic!() };
        assert_eq!((reader.id.as_deref(), reader.speed_mbit_per_s.as_deref()), (Some("05e3:0749"), Some("5000")));
        assert_eq!(find("sda").model.as_deref(), Some("USB3.0 Card Reader"));
        assert!(find("sda").removable);
        let Bus::Nvme(drive) = find("nvme0n1").bus else { panic!() };
        assert_eq!(drive.model.as_deref(), Some("WDC PC SN730 SDBQNTY-512G-1001"));
        assert_eq!(drive.firmware.as_deref(), Some("11170101"));
        let Bus::Scsi(disk) = find("sdc").bus else { panic!() };
        assert_eq!((disk.driver.as_deref(), disk.revision.as_deref()), (Some("ahci"), Some("2B6Q")));
        assert_eq!(find("sdc").model.as_deref(), Some("Samsung SSD 860"));
        assert_eq!(find("sdc").physical_block, Some(Bytes::kib(4)));
        assert_eq!(find("sde").logical_block, Bytes::kib(4));
        let health = find("sde").claims.health.unwrap();
        assert_eq!((health.life_time_a, health.life_time_b, health.pre_end_of_life), (Some(2), None, Some(1)));
        let Bus::Loop(facts) = find("loop0").bus else { panic!() };
        assert!(facts.direct);
        assert_eq!(facts.offset, Bytes::mib(1));
    });
}

#[test]
fn uses_are_found_through_every_stack() {
    recorded(|find, _| {
        let check = |name: &str, expect: &[&str]| assert_eq!(uses(&find(name)), expect, "{name}");
        check("mmcblk0", &["/dev/mmcblk0p1: mount /media/my card | umount '/media/my card'"]);
        check("mmcblk1", &["/dev/mmcblk1p1: swap | swapoff /dev/mmcblk1p1"]);
        check("mmcblk1boot0", &[]);
        check("sda", &["/dev/sda1: mount /work of 4242 | nsenter --target 4242 --mount umount /work"]);
        let raid = "md array md127 | mdadm --stop /dev/md127";
        check("sdc", &[&format!("/dev/sdc: {raid}"), "/dev/md127: mount /srv | umount /srv"]);
        check("sdd", &[&format!("/dev/sdd: {raid}"), "/dev/md127: mount /srv | umount /srv"]);
        check(
            "nvme0n1",
            &[
                "/dev/nvme0n1p1: mount /boot/efi | umount /boot/efi",
                "/dev/nvme0n1p2: encrypted volume my-crypt (dm-0) | cryptsetup close my-crypt",
                "/dev/dm-0: LVM volume my--vg-root (dm-1) | vgchange -an my-vg",
                "/dev/dm-1: mount / | -",
                "/dev/dm-1: mount / of 4242 | nsenter --target 4242 --mount umount /",
            ],
        );
        // Both disks of a btrfs, whichever the mount table names.
        check("vda", &["/dev/vda: mount /data1 | umount /data1"]);
        check("vdb", &["/dev/vdb: mount /data1 | umount /data1"]);
        check("loop0", &[]);
        check("sde", &[]);
        let kinds = |name: &str| find(name).uses.iter().map(|used| used.refusal().kind).collect::<Vec<_>>();
        use RefusalKind::{Holder, Mounted, MountedElsewhere, Swap};
        assert_eq!(kinds("nvme0n1"), [Mounted, Holder, Holder, Mounted, MountedElsewhere]);
        assert_eq!(kinds("sdc"), [Holder, Mounted]);
        assert_eq!(kinds("mmcblk1"), [Swap]);
    });
}

#[test]
fn the_system_disk_is_found_through_its_stack() {
    recorded(|_, devices| {
        let system = devices.iter().filter(|device| device.system).map(|device| device.path.display().to_string());
        assert_eq!(system.collect::<Vec<_>>(), ["/dev/dm-0", "/dev/dm-1", "/dev/nvme0n1"]);
    });
}

/// Links that lead out of the tree, and numbers of files that lie on a disk of this machine, mean nothing there.
#[test]
fn a_recorded_tree_is_all_that_is_looked_at() {
    let scratch = Scratch::new();
    let root = scratch.0.join("tree");
    materialise(include_str!("fixtures/sysfs.manifest"), &root);
    let expect = list(&SysRoot::at(&root));
    // Absolute links, as some copies have them.
    let block = root.join("sys/block");
    for name in fs::read_dir(&block).unwrap().map(|entry| entry.unwrap().file_name()) {
        let link = block.join(&name);
        let target = fs::read_link(&link).unwrap();
        fs::remove_file(&link).unwrap();
        symlink(Path::new("/sys/block").join(target), &link).unwrap();
    }
    assert_eq!(list(&SysRoot::at(&root)), expect);
    // A disk of the tree with the number of the disk under this very file, which a loop device and an overlay stand on.
    let number = fs::metadata(&scratch.0).map(|found| std::os::unix::fs::MetadataExt::dev(&found)).unwrap();
    let number = format!("{}:{}\n", rustix::fs::major(number), rustix::fs::minor(number));
    let phone = list(&SysRoot::at(&root)).into_iter().find(|device| device.path == Path::new("/dev/sde")).unwrap();
    let directory = fs::read_link(block.join("sde")).unwrap();
    let directory = root.join(directory.strip_prefix("/").unwrap());
    fs::write(directory.join("dev"), number).unwrap();
    fs::create_dir_all(root.join("layer")).unwrap();
    fs::create_dir_all(root.join("var/lib/images")).unwrap();
    fs::write(root.join("var/lib/images/old card.img"), "x").unwrap();
    let table = root.join("proc/self/mountinfo");
    let mounts = fs::read_to_string(&table).unwrap();
    fs::write(table, mounts + "99 1 0:77 / /opt rw - overlay overlay rw,lowerdir=/layer\n").unwrap();
    let again = list(&SysRoot::at(&root)).into_iter().find(|device| device.path == Path::new("/dev/sde")).unwrap();
    assert!(!phone.system && !again.system, "{again:?}");
}

#[test]
fn a_copy_of_sys_alone_is_a_tree_too() {
    let scratch = Scratch::new();
    let tree = scratch.0.join("tree");
    materialise(include_str!("fixtures/sysfs.manifest"), &tree);
    let paths = |root: &Path| list(&SysRoot::at(root)).into_iter().map(|device| device.path).collect::<Vec<_>>();
    let expect = list(&SysRoot::at(&tree));
    assert_eq!(list(&SysRoot::at(tree.join("sys"))), expect, "with proc beside it");
    let copy = scratch.0.join("copy");
    fs::rename(tree.join("sys"), &copy).unwrap();
    assert_eq!(paths(&copy).len(), expect.len());
    let card = list(&SysRoot::at(&copy)).into_iter().find(|device| device.path == Path::new("/dev/mmcblk0")).unwrap();
    assert_eq!((card.identity.0.as_str(), card.uses.len()), ("0x7c7ddc21:7742685184", 0), "nothing is known of mounts");
}

#[test]
fn this_machine_is_listed() {
    if !can_loop("this_machine_is_listed") {
        return;
    }
    let _machine = machine();
    let scratch = Scratch::new();
    let file = scratch.file("disk image", 2 << 20);
    let device = Loop::with(&file, &["--sector-size", "4096", "--direct-io=on"]);
    let devices = list(&SysRoot::live());
    let found = devices.iter().find(|found| found.path == device.path).unwrap();
    assert_eq!(found.identity.0, format!("loop:{}", file.display()));
    assert_eq!((found.kind, found.capacity), (DeviceKind::Loop, Bytes::mib(2)));
    assert_eq!((found.logical_block, found.system, found.uses.len()), (Bytes::kib(4), false, 0));
    let nested = Loop::new(&device.path);
    let devices = list(&SysRoot::live());
    let found = devices.iter().find(|found| found.path == device.path).unwrap();
    assert_eq!(uses(found), [format!("{0}: loop {1} | losetup -d {1}", device.name(), nested.name())]);
}
