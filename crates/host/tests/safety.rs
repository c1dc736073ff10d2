//! Every reason for refusing to write, provoked on loop devices and files made here. After each attempt the content
//! is what it was before, to the byte.

use crate::support::{Finally, Loop, Scratch, can_loop, content, has, machine, run, skip, try_run};
use flashscope_device::{Consent, Refusal, RefusalKind, Request, SafetyReport, Target, WriteGrant};
use flashscope_host::{HostError, OpenOptions, SysRoot, list, open_for_reading, open_for_writing, safety};
use flashscope_units::Bytes;
use std::fs::{self, File};
use std::os::unix::fs::{FileExt, OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

const OPTIONS: OpenOptions = OpenOptions { read_in_use: false, allow_buffered: false, hang_after: None };
const MIB: usize = 1 << 20;
const NEED: Bytes = Bytes::kib(64);

/// Tries to open for writing with all consent that there is, signatures included where asked for, and compares the
/// content of `below` before and after. Gives back what spoke against it.
fn refusals(path: &Path, below: &Path, signatures: bool) -> Vec<Refusal> {
    let before = content(below);
    let sys = SysRoot::live();
    let checked = safety(&sys, path, NEED).unwrap_or_else(|error| panic!("{error}"));
    let consent = Consent { identity: checked.report.identity.clone(), allow_file: true, signatures };
    let result = open_for_writing(&sys, &checked, &consent, Bytes::mib(1), &OPTIONS);
    assert!(content(below) == before, "not one byte is written to {}", path.display());
    match result {
        Ok(_) => Vec::new(),
        Err(HostError::Refused { refusals, writing: true, .. }) => refusals,
        Err(error) => panic!("{error}"),
    }
}

/// Expects a refusal of this kind whose release contains these words.
fn expect(path: &Path, below: &Path, kind: RefusalKind, release: &str) {
    let found = refusals(path, below, true);
    let refusal = found.iter().find(|refusal| refusal.kind == kind);
    let refusal = refusal.unwrap_or_else(|| panic!("no {kind:?} among {found:#?}"));
    assert!(refusal.release.as_deref().unwrap_or("").contains(release), "{refusal:?}");
}

/// A disk that carries an ext4.
fn formatted(scratch: &Scratch) -> (PathBuf, Loop) {
    let file = scratch.file("disk", 8 * MIB);
    let device = Loop::new(&file);
    run("mkfs.ext4", &["-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0", device.name()]);
    (file, device)
}

/// Mounted so that the kernel does not write by itself.
fn mount(device: &Path, point: &Path) -> Finally {
    run("mount", &["-o", "ro,noload", device.to_str().unwrap(), point.to_str().unwrap()]);
    Finally::run(&["umount", point.to_str().unwrap()])
}

fn can_format(test: &str) -> bool {
    can_loop(test)
        && (has("mkfs.ext4") || {
            skip(test, "it needs mkfs.ext4");
            false
        })
}

/// A child that is ended with its group.
struct Running(Child);

impl Running {
    fn start(program: &str, arguments: &[&str]) -> Running {
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Running(command.spawn().unwrap())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn wait_for(what: &str, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(20), "{what} did not come");
        sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_free_device_opens_with_the_right_consent_only() {
    if !can_loop("a_free_device_opens_with_the_right_consent_only") {
        return;
    }
    let _machine = machine();
    let scratch = Scratch::new();
    let file = scratch.file("disk", 4 * MIB);
    let device = Loop::new(&file);
    let before = content(&file);
    let sys = SysRoot::live();
    let checked = safety(&sys, &device.path, NEED).unwrap();
    assert_eq!(checked.report.refusals, []);
    assert_eq!(checked.report.identity, Some(format!("loop:{}", file.display())));
    let attempt = |identity: Option<&str>, allow_file: bool| {
        let consent = Consent { identity: identity.map(str::to_owned), allow_file, signatures: true };
        open_for_writing(&sys, &checked, &consent, Bytes::mib(1), &OPTIONS)
    };
    let kind = |result: Result<_, HostError>| match result {
        Err(HostError::Refused { refusals, .. }) => refusals[0].kind,
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("it opened"),
    };
    assert_eq!(kind(attempt(None, true)), RefusalKind::NoConsent);
    assert_eq!(kind(attempt(Some("loop:/another"), true)), RefusalKind::WrongIdentity);
    let (target, grant) = attempt(checked.report.identity.as_deref(), false).unwrap();
    assert_eq!((grant.left(), target.capabilities().write), (Bytes::mib(1), true));
    drop(target);
    assert!(content(&file) == before);
}

#[test]
fn mounted() {
    if !can_format("mounted") {
        return;
    }
    let _machine = machine();
    let scratch = Scratch::new();
    let (file, device) = formatted(&scratch);
    let point = scratch.directory("mount point");
    let _umount = mount(&device.path, &point);
    expect(&device.path, &file, RefusalKind::Mounted, &format!("umount '{}'", point.display()));
    let link = scratch.0.join("link");
    symlink(&device.path, &link).unwrap();
    expect(&link, &file, RefusalKind::Mounted, "umount");
    // And what is below the mounted loop device: its file.
    expect(&file, &file, RefusalKind::LoopBacked, &format!("losetup -d {}", device.name()));
    expect(&file, &file, RefusalKind::Mounted, "umount");
    let read = open_for_reading(&SysRoot::live(), &device.path, &OPTIONS).unwrap_err();
    assert!(matches!(read, HostError::Refused { writing: false, .. }), "{read}");
    assert!(read.to_string().contains("--read-in-use"), "{read}");
    let options = OpenOptions { read_in_use: true, ..OPTIONS };
    let path = open_for_reading(&SysRoot::live(), &device.path, &options).unwrap().path();
    assert!(path.in_use.iter().any(|used| used.contains("is mounted at")), "{path:?}");
    assert!(!path.flags.contains(&"O_EXCL".to_owned()), "{path:?}");
}

#[test]
fn partition_mounted() {
    let test = "partition_mounted";
    if !can_format(test) {
        return;
    }
    let _machine = machine();
    let scratch = Scratch::new();
    let file = scratch.file("disk", 16 * MIB);
    let device = Loop::with(&file, &["--partscan"]);
    for (number, start) in [("1", "2048"), ("2", "18432")] {
        if !try_run("addpart", &[device.name(), number, start, "14336"]) {
            return skip(test, "the kernel takes no partitions on loop devices, or addpart is missing");
        }
    }
    let partition = |number: u32| PathBuf::from(format!("{}p{number}", device.name()));
    wait_for("the partition's node", || partition(1).exists() && partition(2).exists());
    run("mkfs.ext4", &["-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0", partition(1).to_str().unwrap()]);
    let found = refusals(&device.path, &file, false);
    assert!(found.iter().any(|refusal| refusal.what.contains("has partitions")), "{found:?}");
    let point = scratch.directory("mount");
    let umount = mount(&partition(1), &point);
    expect(&device.path, &file, RefusalKind::Mounted, "umount");
    expect(&partition(1), &file, RefusalKind::Mounted, "umount");
    // A neighbour of what is in use is not written to.
    expect(&partition(2), &file, RefusalKind::Mounted, "umount");
    drop(umount);
    // Now it is free, and is another target with its own identity.
    let neighbour = || safety(&SysRoot::live(), &partition(2), NEED).unwrap().report;
    // But for a program that began beside this one, in a mount namespace of its own, while it was mounted: its copy goes with it.
    let is_copied = || neighbour().refusals.iter().any(|refusal| refusal.kind == RefusalKind::MountedElsewhere);
    wait_for("copies of the mount to go", || !is_copied());
    assert_eq!(neighbour().refusals, []);
    assert_eq!(neighbour().identity, Some(format!("loop:{}-part2", file.display())));
    let listed = list(&SysRoot::live()).into_iter().find(|listed| listed.path == device.path).unwrap();
    let identities: Vec<String> = listed.partitions.into_iter().map(|part| part.identity.0).collect();
    assert_eq!(
        identities,
        [1, 2].map(|part| format!("loop:{}-part{part}", file.display())),
        "what `list` prints serves"
    );
    // Someone who writes to any part of the disk keeps us from all of it.
    let writer = File::options().write(true).open(partition(1)).unwrap();
    let mut writing = Command::new("sleep").arg("300").stdout(writer).spawn().unwrap();
    let kinds = |report: SafetyReport| report.refusals.iter().map(|refusal| refusal.kind).collect::<Vec<_>>();
    let (of_neighbour, of_disk) =
        (kinds(neighbour()), kinds(safety(&SysRoot::live(), &device.path, NEED).unwrap().report));
    writing.kill().unwrap();
    writing.wait().unwrap();
    assert!(
        of_neighbour.contains(&RefusalKind::Busy) && of_disk.contains(&RefusalKind::Busy),
        "{of_neighbour:?} {of_disk:?}"
    );
    let above = Loop::new(&device.path);
    expect(&partition(2), &file, RefusalKind::LoopBacked, &format!("losetup -d {}", above.name()));
}

#[test]
fn mounted_in_another_mount_namespace() {
    let test = "mounted_in_another_mount_namespace";
    if !can_format(test) || !has("unshare") {
        return;
    }
    let _machine = machine();
    let scratch = Scratch::new();
    let (file, device) = formatted(&scratch);
    let point = scratch.directory("mount");
    let script = format!("mount -o ro,noload {} {} && exec sleep 300", device.name(), point.display());
    let _elsewhere = Running::start("unshare", &["--mount", "sh", "-c", &script]);
    let mounted = || {
        let report = safety(&SysRoot::live(), &device.path, NEED).unwrap().report;
        report.refusals.iter().any(|refusal| refusal.kind == RefusalKind::MountedElsewhere)
    };
    wait_for("the mount", mounted);
    let ours = fs::read_to_string("/proc/self/mounts").unwrap();
    assert!(!ours.contains(device.name()), "it is not mounted here");
    expect(&device.path, &file, RefusalKind::MountedElsewhere, "nsenter --target");
}

#[test]
fn swap() {
    let test = "swap";
    if !can_loop(test) {
        return;
    }
    let _machine = machine();
    let scratch = Scratch::new();
    let file = scratch.file("disk", 8 * MIB);
    let device = Loop::new(&file);
    if !try_run("mkswap", &[device.name()]) || !try_run("swapon", &["--priority", "0", device.name()]) {
        return skip(test, "swapon does not work here");
    }
    let _off = Finally::run(&["swapoff", device.name()]);
    expect(&device.path, &file, RefusalKind::Swap, &format!("swapoff {}", device.name()));
    expect(&file, &file, RefusalKind::Swap, "swapoff");
}

#[test]
fn swap_file() {
    let test = "swap_file";
    if !can_loop(test) {
        return;
    }
    let _machine = machine();
    let scratch = Scratch::new();
    let file = scratch.file("swap file", 8 * MIB);
    let name = file.to_str().unwrap();
    if !try_run("mkswap", &[name]) || !try_run("swapon", &["--priority", "0", name]) {
        return skip(test, "swapon does not take a file here");
    }
    let _off = Finally::run(&["swapoff", name]);
    expect(&file, &file, RefusalKind::Swap, &format!("swapoff '{name}'"));
}

#[test]
fn device_mapper() {
    let test = "device_mapper";
    if !can_loop(test) {
        return;
    }
    let _machine = machine();
    let scratch = Scratch::new();
    let file = scratch.file("disk", 8 * MIB);
    let device = Loop::new(&file);
    let name = format!("flashscope-test-{}", std::process::id());
    let table = format!("0 8192 linear {} 0", device.name());
    if !try_run("dmsetup", &["create", &name, "--table", &table]) {
        return skip(test, "no device-mapper in this kernel, or no dmsetup (tests/list.rs has a recorded one)");
    }
    let _remove = Finally::run(&["dmsetup", "remove", &name]);
    expect(&device.path, &file, RefusalKind::Holder, &format!("dmsetup remove {name}"));
}

#[test]
fn lvm() {
    let test = "lvm";
    if !can_loop(test) {
        return;
    }
    let _machine = machine();
    let scratch = Scratch::new();
    let file = scratch.file("disk", 32 * MIB);
    let device = Loop::new(&file);
    let group = format!("fs{}", std::process::id());
    let made = try_run("pvcreate", &["-ff", "-y", device.name()])
        && try_run("vgcreate", &[&group, device.name()])
        && try_run("lvcreate", &["-y", "-l", "1", "-n", "volume", &group]);
    let _remove = Finally::run(&["vgremove", "-ff", "-y", &group]);
    if !made {
        return skip(test, "no device-mapper in this kernel, or no LVM (tests/list.rs has a recorded one)");
    }
    expect(&device.path, &file, RefusalKind::Holder, &format!("vgchange -an {group}"));
}

#[test]
fn md() {
    let test = "md";
    if !can_loop(test) {
        return;
    }
    let _machine = machine();
    let scratch = Scratch::new();
    let file = scratch.file("disk", 16 * MIB);
    let device = Loop::new(&file);
    let array = format!("/dev/md/flashscope{}", std::process::id());
    let create = ["--create", &array, "--run", "--force", "--level=0", "--raid-devices=1", device.name()];
    if !try_run("mdadm", &create) {
        return skip(test, "no md in this kernel, or no mdadm (tests/list.rs has a recorded one)");
    }
    let _stop = Finally::run(&["mdadm", "--stop", &array]);
    expect(&device.path, &file, RefusalKind::Holder, "mdadm --stop");
}

#[test]
fn loop_on_loop() {
    if !can_format("loop_on_loop") {
        return;
    }
    let _machine = machine();
    let scratch = Scratch::new();
    let (file, device) = formatted(&scratch);
    let above = Loop::new(&device.path);
    expect(&device.path, &file, RefusalKind::LoopBacked, &format!("losetup -d {}", above.name()));
    // The upper one is as good as the lower one, until something below it is used.
    assert_eq!(refusals(&above.path, &file, true), []);
    let point = scratch.directory("mount");
    let _umount = mount(&device.path, &point);
    expect(&above.path, &file, RefusalKind::LoopBacked, "umount");
}

#[test]
fn a_backing_file_in_use() {
    if !can_loop("a_backing_file_in_use") {
        return;
    }
    let _machine = machine();
    let scratch = Scratch::new();
    let file = scratch.file("disk", 4 * MIB);
    let first = Loop::new(&file);
    let release = format!("losetup -d {}", first.name());
    expect(&file, &file, RefusalKind::LoopBacked, &release);
    let another_name = scratch.0.join("hard link");
    fs::hard_link(&file, &another_name).unwrap();
    expect(&another_name, &file, RefusalKind::LoopBacked, &release);
    // Two loop devices on one file: neither is alone.
    let second = Loop::new(&file);
    expect(&first.path, &file, RefusalKind::LoopBacked, &format!("losetup -d {}", second.name()));
    expect(&second.path, &file, RefusalKind::LoopBacked, &release);
    drop(second);
    assert_eq!(refusals(&first.path, &file, true), []);
    // The path that sysfs prints leads nowhere any more, but the file is the same.
    fs::remove_file(&file).unwrap();
    expect(&another_name, &another_name, RefusalKind::LoopBacked, &release);
}

#[test]
fn held_exclusively() {
    if !can_loop("held_exclusively") {
        return;
    }
    let _machine = machine();
    let scratch = Scratch::new();
    let file = scratch.file("disk", 4 * MIB);
    let device = Loop::new(&file);
    let exclusive = rustix::fs::OFlags::EXCL.bits() as i32;
    let held = File::options().read(true).custom_flags(exclusive).open(&device.path).unwrap();
    expect(&device.path, &file, RefusalKind::Busy, "fuser -v");
    let read = open_for_reading(&SysRoot::live(), &device.path, &OPTIONS).unwrap_err();
    assert!(matches!(read, HostError::Refused { writing: false, .. }), "{read}");
    let in_use = OpenOptions { read_in_use: true, ..OPTIONS };
    let path = open_for_reading(&SysRoot::live(), &device.path, &in_use).unwrap().path();
    assert!(path.in_use[0].contains("opened exclusively"), "{path:?}");
    drop(held);
    assert_eq!(refusals(&device.path, &file, true), []);
    // Someone takes it between the check and the opening.
    let sys = SysRoot::live();
    let checked = safety(&sys, &device.path, NEED).unwrap();
    let consent = Consent { identity: checked.report.identity.clone(), ..Consent::default() };
    let _held = File::options().read(true).custom_flags(exclusive).open(&device.path).unwrap();
    let error = open_for_writing(&sys, &checked, &consent, Bytes::mib(1), &OPTIONS).unwrap_err();
    assert!(matches!(&error, HostError::Refused { refusals, .. } if refusals[0].kind == RefusalKind::Busy), "{error}");
}

#[test]
fn written_to_by_another_process() {
    if !can_loop("written_to_by_another_process") {
        return;
    }
    let _machine = machine();
    let scratch = Scratch::new();
    let file = scratch.file("disk", 4 * MIB);
    let device = Loop::new(&file);
    let plain = scratch.file("plain", MIB);
    let script = format!("exec sleep 300 3<>{} 4<>{}", device.name(), plain.display());
    let _writer = Running::start("sh", &["-c", &script]);
    let seen = |path: &Path| {
        let report = safety(&SysRoot::live(), path, NEED).unwrap().report;
        report.refusals.iter().any(|refusal| refusal.what.contains("opened for writing by sleep"))
    };
    wait_for("the writer", || seen(&device.path) && seen(&plain));
    expect(&device.path, &file, RefusalKind::Busy, "fuser -v");
    expect(&plain, &plain, RefusalKind::Busy, "fuser -v");
}

#[test]
fn a_locked_file() {
    let scratch = Scratch::new();
    let file = scratch.file("plain", MIB);
    let held = File::open(&file).unwrap();
    rustix::fs::flock(&held, rustix::fs::FlockOperation::LockExclusive).unwrap();
    expect(&file, &file, RefusalKind::Busy, "fuser -v");
}

#[test]
fn signatures() {
    if !can_format("signatures") {
        return;
    }
    let _machine = machine();
    let scratch = Scratch::new();
    let file = scratch.file("disk", 8 * MIB);
    let device = Loop::new(&file);
    let check = |what: &str| {
        let found = refusals(&device.path, &file, false);
        assert!(found.iter().all(|refusal| refusal.kind == RefusalKind::Signature), "{found:?}");
        assert!(found.iter().any(|refusal| refusal.what.contains(what)), "{what}: {found:?}");
        assert!(found[0].release.as_deref().unwrap().contains("--destroy-signatures"), "{found:?}");
        assert_eq!(refusals(&device.path, &file, true), [], "it can be consented to");
    };
    assert_eq!(refusals(&device.path, &file, false), []);
    run("mkfs.ext4", &["-q", "-F", device.name()]);
    check("ext2/3/4 file system");
    let wipe = |at: u64, bytes: &[u8]| {
        let disk = File::options().write(true).open(&device.path).unwrap();
        disk.write_all_at(&vec![0; 4 * MIB], 0).unwrap();
        disk.write_all_at(bytes, at).unwrap();
        disk.sync_all().unwrap();
    };
    if has("mkswap") {
        wipe(0, &[]);
        run("mkswap", &[device.name()]);
        check("swap area");
    }
    wipe(510, &[0x55, 0xaa]);
    check("boot sector");
    wipe(512, b"EFI PART");
    check("partition table (GPT)");
    wipe(0, b"LUKS\xba\xbe\x00\x02");
    check("encrypted volume (LUKS)");
    wipe((64 << 10) + 64, b"_BHRfS_M");
    check("btrfs file system");
}

#[test]
fn signatures_by_their_own_tools() {
    let scratch = Scratch::new();
    for (program, options, mib, what) in [
        ("mkfs.xfs", &["-f"][..], 320, "xfs file system"),
        ("mkfs.vfat", &[][..], 8, "fat file system"),
        ("mkfs.btrfs", &["-f"][..], 128, "btrfs file system"),
        ("mkfs.exfat", &[][..], 8, "exfat file system"),
        ("mkfs.f2fs", &["-f"][..], 64, "f2fs file system"),
        ("mkfs.ext4", &["-F"][..], 8, "ext2/3/4 file system"),
        ("mkswap", &[][..], 8, "swap area"),
    ] {
        let image = scratch.0.join(program);
        File::create(&image).unwrap().set_len((mib * MIB) as u64).unwrap();
        let arguments: Vec<&str> = options.iter().copied().chain([image.to_str().unwrap()]).collect();
        if !try_run(program, &arguments) {
            skip("signatures_by_their_own_tools", &format!("there is no {program}, or it will not have {mib} MiB"));
            continue;
        }
        let found = refusals(&image, &image, false);
        assert!(found.iter().any(|refusal| refusal.what.contains(what)), "{what}: {found:?}");
        assert_eq!(refusals(&image, &image, true), []);
        fs::remove_file(&image).unwrap();
    }
}

#[test]
fn a_disk_image_is_no_scratch_file() {
    let scratch = Scratch::new();
    let file = scratch.file("image", MIB);
    assert_eq!(refusals(&file, &file, false), []);
    File::options().write(true).open(&file).unwrap().write_all_at(&[0x53, 0xef], 1080).unwrap();
    assert_eq!(refusals(&file, &file, false)[0].kind, RefusalKind::Signature);
    assert_eq!(refusals(&file, &file, true), []);
}

#[test]
fn through_the_page_cache_a_write_costs_a_page() {
    let memory = Path::new("/dev/shm");
    if !memory.is_dir() {
        return skip("through_the_page_cache_a_write_costs_a_page", "there is no file system in memory");
    }
    let scratch = Scratch::below(memory);
    let file = scratch.file("plain", MIB);
    let sys = SysRoot::live();
    let checked = safety(&sys, &file, NEED).unwrap();
    let consent = Consent { allow_file: true, ..Consent::default() };
    let options = OpenOptions { allow_buffered: true, ..OPTIONS };
    let (_target, mut grant) = open_for_writing(&sys, &checked, &consent, Bytes::mib(1), &options).unwrap();
    Request::write_any(&mut grant, 0, Bytes(512), Bytes(512), false).unwrap();
    assert_eq!(grant.spent(), flashscope_host::page_size());
}

#[test]
fn read_only() {
    if !can_loop("read_only") {
        return;
    }
    let _machine = machine();
    let scratch = Scratch::new();
    let file = scratch.file("disk", 4 * MIB);
    let device = Loop::with(&file, &["--read-only"]);
    expect(&device.path, &file, RefusalKind::ReadOnly, "without -r");
}

#[test]
fn too_small() {
    let scratch = Scratch::new();
    let file = scratch.file("small", 32 << 10);
    expect(&file, &file, RefusalKind::TooSmall, "");
    let empty = scratch.file("empty", 0);
    expect(&empty, &empty, RefusalKind::TooSmall, "");
    if can_loop("too_small") {
        let _machine = machine();
        let device = Loop::new(&file);
        expect(&device.path, &file, RefusalKind::TooSmall, "");
    }
}

/// The machine's own disk is only looked at. Nothing here opens it for writing, nor could: no consent is given.
#[test]
fn the_system_disk() {
    let test = "the_system_disk";
    let system = list(&SysRoot::live()).into_iter().find(|device| device.system);
    let (true, Some(system)) = (rustix::process::geteuid().is_root(), system) else {
        return skip(test, "it needs root, and a system that runs from a block device");
    };
    let report = safety(&SysRoot::live(), &system.path, NEED).unwrap().report;
    let kinds: Vec<RefusalKind> = report.refusals.iter().map(|refusal| refusal.kind).collect();
    assert!(kinds.contains(&RefusalKind::SystemDisk), "{report:?}");
    let all = Consent { identity: report.identity.clone(), allow_file: true, signatures: true };
    assert!(WriteGrant::decide(&report, &all, Bytes::mib(1)).is_err());
}

#[test]
fn changed_between_check_and_open() {
    if !can_loop("changed_between_check_and_open") {
        return;
    }
    let _machine = machine();
    let scratch = Scratch::new();
    let (first, second) = (scratch.file("first", 4 * MIB), scratch.file("second", 4 * MIB));
    let device = Loop::new(&first);
    let sys = SysRoot::live();
    let checked = safety(&sys, &device.path, NEED).unwrap();
    let consent = Consent { identity: checked.report.identity.clone(), ..Consent::default() };
    let change = |file: &Path| {
        run("losetup", &["-d", device.name()]);
        wait_for("the detaching", || !device.sysfs().join("loop").exists());
        run("losetup", &[device.name(), file.to_str().unwrap()]);
    };
    let refused = |result: Result<_, HostError>| match result {
        Err(HostError::Refused { refusals, .. }) => refusals.iter().map(|refusal| refusal.kind).collect::<Vec<_>>(),
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("it opened"),
    };
    change(&second);
    let (before_first, before_second) = (content(&first), content(&second));
    let attempt = || open_for_writing(&sys, &checked, &consent, Bytes::mib(1), &OPTIONS);
    assert_eq!(refused(attempt()), [RefusalKind::Changed]);
    // Even the same file again is not what was checked, where the kernel counts (Linux 5.15).
    change(&first);
    if device.sysfs().join("diskseq").exists() {
        assert_eq!(refused(attempt()), [RefusalKind::Changed]);
    } else {
        skip(
            "changed_between_check_and_open",
            "the part on re-attaching the same file: the kernel does not count disks",
        );
    }
    assert!(content(&first) == before_first && content(&second) == before_second);
}

#[test]
fn a_file_replaced_between_check_and_open() {
    let scratch = Scratch::new();
    let file = scratch.file("plain", MIB);
    let sys = SysRoot::live();
    let checked = safety(&sys, &file, NEED).unwrap();
    let another = scratch.file("another", MIB);
    fs::rename(&another, &file).unwrap();
    let before = content(&file);
    let consent = Consent { allow_file: true, ..Consent::default() };
    let error = open_for_writing(&sys, &checked, &consent, Bytes::mib(1), &OPTIONS).unwrap_err();
    assert!(
        matches!(&error, HostError::Refused { refusals, .. } if refusals[0].kind == RefusalKind::Changed),
        "{error}"
    );
    assert!(content(&file) == before);
}

/// A file system that appears between the check and the opening was not consented to.
#[test]
fn a_signature_that_appears_later_is_refused() {
    let scratch = Scratch::new();
    let file = scratch.file("plain", MIB);
    let sys = SysRoot::live();
    let checked = safety(&sys, &file, NEED).unwrap();
    File::options().write(true).open(&file).unwrap().write_all_at(b"XFSB", 0).unwrap();
    let consent = Consent { allow_file: true, ..Consent::default() };
    let error = open_for_writing(&sys, &checked, &consent, Bytes::mib(1), &OPTIONS).unwrap_err();
    assert!(
        matches!(&error, HostError::Refused { refusals, .. } if refusals[0].kind == RefusalKind::Signature),
        "{error}"
    );
}

#[test]
fn without_rights_the_message_says_what_to_do() {
    let test = "without_rights_the_message_says_what_to_do";
    const CHILD: &str = "FLASHSCOPE_TEST_FILE";
    if let Ok(file) = std::env::var(CHILD) {
        let path = Path::new(&file);
        let options = OpenOptions { allow_buffered: true, ..OPTIONS };
        let read = open_for_reading(&SysRoot::live(), path, &options).unwrap_err();
        let write = safety(&SysRoot::live(), path, NEED).unwrap_err();
        for error in [read, write] {
            assert!(matches!(error, HostError::PermissionDenied { .. }), "{error}");
            assert!(error.to_string().contains("\nhint: run with sudo"), "{error}");
        }
        return;
    }
    if !rustix::process::geteuid().is_root() || !has("setpriv") {
        return skip(test, "it needs root and setpriv");
    }
    let scratch = Scratch::new();
    let file = scratch.file("secret", MIB);
    fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let program = scratch.0.join("test program");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let output = Command::new("setpriv")
        .args([
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
            program.to_str().unwrap(),
            "--exact",
            &format!("safety::{test}"),
        ])
        .env(CHILD, &file)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"));
}
