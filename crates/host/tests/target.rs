//! Reading and writing loop devices and files through the kernel.

use crate::support::{Finally, Loop, Scratch, can_loop, content, has, machine, run, skip};
use flashscope_device::{
    Completion, Consent, Content, DeviceError, ExecuteExt, Fill, Outcome, Request, Target, WriteGrant,
};
use flashscope_host::{HostError, HostTarget, OpenOptions, SysRoot, open_for_reading, open_for_writing, safety};
use flashscope_model::DeviceKind;
use flashscope_units::{Bytes, Nanos};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

const PLAIN: OpenOptions = OpenOptions { read_in_use: false, allow_buffered: false, hang_after: None };
const GUARDED: OpenOptions = OpenOptions { hang_after: Some(Nanos::secs(20)), ..PLAIN };
const MIB: usize = 1 << 20;

fn read(path: &Path) -> HostTarget {
    open_for_reading(&SysRoot::live(), path, &PLAIN).unwrap_or_else(|error| panic!("{error}"))
}

fn write(path: &Path, options: &OpenOptions) -> (HostTarget, WriteGrant) {
    let sys = SysRoot::live();
    let checked = safety(&sys, path, Bytes::ZERO).unwrap();
    let consent = Consent { identity: checked.report.identity.clone(), allow_file: true, signatures: false };
    open_for_writing(&sys, &checked, &consent, Bytes::mib(64), options).unwrap_or_else(|error| panic!("{error}"))
}

fn written(target: &mut HostTarget, grant: &mut WriteGrant, offset: u64, length: u64, fill: Fill, durable: bool) {
    let request = Request::write(grant, 0, Bytes(offset), Bytes(length), fill, durable).unwrap();
    let done = target.execute(request).unwrap();
    assert_eq!(done.outcome, Outcome::Success);
    assert!(done.completed > done.issued);
}

#[test]
fn writes_are_found_again_and_nothing_else_is_touched() {
    if !can_loop("writes_are_found_again_and_nothing_else_is_touched") {
        return;
    }
    let _machine = machine();
    for (block, options) in [("512", PLAIN), ("4096", PLAIN), ("512", GUARDED)] {
        let scratch = Scratch::new();
        let file = scratch.file("disk", 4 * MIB);
        let device = Loop::with(&file, &["--sector-size", block, "--direct-io=on"]);
        let before = content(&device.path);
        let (mut target, mut grant) = write(&device.path, &options);
        assert_eq!(target.facts().kind, DeviceKind::Loop);
        assert_eq!(target.facts().capacity, Bytes::mib(4));
        assert_eq!(target.capabilities().granularity.to_string(), if block == "512" { "512 B" } else { "4 KiB" });
        let first = Fill::Tagged { generation: 1 };
        written(&mut target, &mut grant, 1 << 20, 1 << 20, first, false);
        written(&mut target, &mut grant, 1 << 20, 4096, Fill::Byte(0x5a), true);
        assert_eq!(grant.spent(), Bytes::mib(1) + Bytes::kib(4));
        let batch = [
            Request::flush(1),
            Request::verify(2, Bytes::mib(1), Bytes::kib(4), Fill::Byte(0x5a)),
            Request::verify(3, Bytes(MIB as u64 + 4096), Bytes::kib(8), first),
            Request::verify(4, Bytes(MIB as u64 + 4096), Bytes::kib(8), Fill::Tagged { generation: 2 }),
            Request::read(5, Bytes::mib(2), Bytes::kib(4)),
        ];
        let mut done = Vec::new();
        target.submit(&batch).unwrap();
        target.reap(batch.len(), &mut done).unwrap();
        let outcomes: Vec<(u64, &Outcome)> = done.iter().map(|done| (done.id, &done.outcome)).collect();
        use Outcome::{Mismatch, Success};
        assert_eq!(outcomes, [(1, &Success), (2, &Success), (3, &Success), (4, &Mismatch), (5, &Success)]);
        let contents: Vec<Content> = done.iter().map(|done| done.content).collect();
        use Content::{Uniform, Unknown, Varied};
        assert_eq!(contents, [Unknown, Uniform(0x5a), Varied, Varied, Varied]);
        assert!(done.windows(2).all(|pair| pair[0].completed <= pair[1].issued), "one after another");
        drop(target);
        let after = content(&device.path);
        assert_eq!(before[..MIB], after[..MIB]);
        assert_eq!(before[2 * MIB..], after[2 * MIB..]);
        assert_ne!(before[MIB..2 * MIB], after[MIB..2 * MIB]);
    }
}

#[test]
fn discard_reaches_devices_and_files() {
    if !can_loop("discard_reaches_devices_and_files") {
        return;
    }
    let _machine = machine();
    let scratch = Scratch::new();
    let file = scratch.file("disk", 4 * MIB);
    let check = |path: &Path| {
        let (mut target, mut grant) = write(path, &PLAIN);
        assert!(target.capabilities().discard);
        let request = Request::discard(&mut grant, 9, Bytes::mib(1), Bytes::mib(1)).unwrap();
        assert_eq!(target.execute(request).unwrap().outcome, Outcome::Success);
        let read = target.execute(Request::read(0, Bytes::mib(1), Bytes::mib(1))).unwrap();
        assert_eq!(read.content, Content::Uniform(0));
        let read = target.execute(Request::read(0, Bytes::mib(2), Bytes::kib(4))).unwrap();
        assert_ne!(read.content, Content::Uniform(0));
    };
    check(&file);
    fs::remove_file(&file).unwrap();
    let device = Loop::new(&scratch.file("disk", 4 * MIB));
    check(&device.path);
}

#[test]
fn requests_that_should_not_be_made_are_refused_whole() {
    if !can_loop("requests_that_should_not_be_made_are_refused_whole") {
        return;
    }
    let _machine = machine();
    let scratch = Scratch::new();
    let device = Loop::with(&scratch.file("disk", 4 * MIB), &["--sector-size", "4096"]);
    let mut target = read(&device.path);
    let mut check = |request: Request, why: &str| {
        let good = Request::read(7, Bytes::ZERO, Bytes::kib(4));
        let error = target.submit(&[good, request]).unwrap_err();
        assert!(matches!(&error, DeviceError::Invalid(said) if said.contains(why)), "{error}");
        let mut done = Vec::new();
        target.reap(1, &mut done).unwrap();
        assert_eq!(done, [], "nothing of the batch was taken");
    };
    check(Request::read(0, Bytes(512), Bytes::kib(4)), "not whole blocks of 4 KiB");
    check(Request::read(0, Bytes::ZERO, Bytes(512)), "not whole blocks of 4 KiB");
    check(Request::read(0, Bytes::ZERO, Bytes::ZERO), "not whole blocks");
    check(Request::read(0, Bytes::mib(4), Bytes::kib(4)), "outside the device of 4 MiB");
    check(Request::read(0, Bytes(u64::MAX - 4095), Bytes::kib(4)), "outside the device");
    check(Request::flush(0), "opened for reading");
    let mut grant = grant_for_a_file(&scratch);
    let request = Request::write(&mut grant, 0, Bytes::ZERO, Bytes::kib(4), Fill::Byte(0), false).unwrap();
    check(request, "opened for reading");
    let request = Request::discard(&mut grant, 0, Bytes::ZERO, Bytes::kib(4)).unwrap();
    check(request, "opened for reading");
}

fn grant_for_a_file(scratch: &Scratch) -> WriteGrant {
    write(&scratch.file("another", MIB), &PLAIN).1
}

#[test]
fn a_failing_device_is_data() {
    if !can_loop("a_failing_device_is_data") {
        return;
    }
    let _machine = machine();
    let scratch = Scratch::new();
    let file = scratch.file("disk", 4 * MIB);
    let device = Loop::with(&file, &["--direct-io=on"]);
    let mut target = read(&device.path);
    // The kernel still believes in 4 MiB; what is behind them is gone.
    fs::File::options().write(true).open(&file).unwrap().set_len(MIB as u64).unwrap();
    let batch = [Request::read(1, Bytes::mib(2), Bytes::kib(4)), Request::read(2, Bytes::ZERO, Bytes::kib(4))];
    let mut done: Vec<Completion> = Vec::new();
    target.submit(&batch).unwrap();
    target.reap(2, &mut done).unwrap();
    assert_eq!(done.len(), 2, "the run goes on");
    assert_eq!(done[0].outcome, Outcome::Failed("EIO: input/output error".into()));
    assert_eq!(done[0].content, Content::Unknown);
    assert_eq!(done[1].outcome, Outcome::Success);
}

/// Writing to a file of a frozen file system blocks until it is thawed.
#[test]
fn a_request_that_hangs_is_given_up() {
    let test = "a_request_that_hangs_is_given_up";
    if !can_loop(test) {
        return;
    }
    if !has("mkfs.ext4") || !has("fsfreeze") {
        return skip(test, "it needs mkfs.ext4 and fsfreeze");
    }
    let _machine = machine();
    let scratch = Scratch::new();
    let device = Loop::new(&scratch.file("disk", 32 * MIB));
    run("mkfs.ext4", &["-q", "-F", device.name()]);
    let point = scratch.directory("mount");
    run("mount", &[device.name(), point.to_str().unwrap()]);
    let _umount = Finally::run(&["umount", point.to_str().unwrap()]);
    let inner = Scratch::below(&point);
    let file = inner.file("data", MIB);
    let options = OpenOptions { hang_after: Some(Nanos::secs(2)), ..PLAIN };
    let (mut target, mut grant) = write(&file, &options);
    written(&mut target, &mut grant, 0, 4096, Fill::Byte(1), true);
    run("fsfreeze", &["--freeze", point.to_str().unwrap()]);
    let thaw = Finally::run(&["fsfreeze", "--unfreeze", point.to_str().unwrap()]);
    let request = Request::write(&mut grant, 0, Bytes::ZERO, Bytes::kib(4), Fill::Byte(2), false).unwrap();
    let before = Instant::now();
    let hung = target.execute(request);
    assert!(matches!(hung, Err(DeviceError::Hung(_))), "{hung:?}");
    assert!(before.elapsed() < Duration::from_secs(60));
    let again = target.execute(Request::read(0, Bytes::ZERO, Bytes::kib(4)));
    assert!(matches!(again, Err(DeviceError::Hung(_))), "it stays broken: {again:?}");
    drop(thaw);
    drop(target);
}

#[test]
fn the_page_cache_is_never_silent() {
    let memory = Path::new("/dev/shm");
    if !memory.is_dir() {
        return skip("the_page_cache_is_never_silent", "there is no /dev/shm");
    }
    let scratch = Scratch::below(memory);
    let file = scratch.file("data", MIB);
    let refused = open_for_reading(&SysRoot::live(), &file, &PLAIN).unwrap_err();
    assert!(matches!(refused, HostError::DirectRefused { .. }));
    assert!(refused.to_string().contains("\nhint: "), "{refused}");
    let allowed = OpenOptions { allow_buffered: true, ..PLAIN };
    let mut target = open_for_reading(&SysRoot::live(), &file, &allowed).unwrap();
    let path = target.path();
    assert_eq!(path.fallbacks.len(), 1, "{path:?}");
    assert!(path.fallbacks[0].contains("tmpfs") && !path.flags.contains(&"O_DIRECT".to_owned()), "{path:?}");
    let done = target.execute(Request::read(3, Bytes(512), Bytes(512))).unwrap();
    assert_eq!((done.outcome, done.content), (Outcome::Success, Content::Uniform(0x5d)));
}

#[test]
fn the_path_taken_says_what_was_done() {
    if !can_loop("the_path_taken_says_what_was_done") {
        return;
    }
    let _machine = machine();
    let scratch = Scratch::new();
    let device = Loop::with(&scratch.file("disk", MIB), &["--direct-io=off"]);
    let path = read(&device.path).path();
    assert_eq!(path.engine, "pread/pwrite");
    assert_eq!(path.flags, ["O_RDONLY", "O_EXCL", "O_DIRECT"]);
    assert_eq!(path.queue_depth, 1);
    assert!(path.fallbacks.iter().any(|fallback| fallback.contains("page cache of its backing file")), "{path:?}");
    assert_eq!(path.in_use, Vec::<String>::new());
    let (target, _grant) = write(&device.path, &GUARDED);
    let path = target.path();
    assert!(path.engine.contains("thread of its own"));
    drop(target);
    let (target, _grant) = write(&device.path, &GUARDED);
    let path = target.path();
    assert!(path.flags.contains(&"O_DSYNC for durable writes".to_owned()), "{path:?}");
}

#[test]
fn waiting_lets_time_pass() {
    let scratch = Scratch::new();
    let mut target =
        open_for_reading(&SysRoot::live(), &scratch.file("data", MIB), &OpenOptions { allow_buffered: true, ..PLAIN })
            .unwrap();
    let until = target.now() + Nanos::millis(20);
    target.wait_until(until);
    assert!(target.now() >= until);
    target.wait_until(until);
}

#[test]
fn what_cannot_be_a_target_is_told_so() {
    let check = |path: &str, expect: &str| {
        let said = open_for_reading(&SysRoot::live(), Path::new(path), &PLAIN).unwrap_err().to_string();
        assert!(said.contains(expect), "{said}");
    };
    check("/nowhere/at/all", "there is no file or device /nowhere/at/all\nhint: `flashscope list`");
    check("/tmp", "is a directory");
    check("/dev/null", "is a special file");
}

#[test]
fn a_grant_serves_one_target_and_no_byte_twice() {
    let scratch = Scratch::new();
    let (mine, other) = (scratch.file("mine", MIB), scratch.file("other", MIB));
    let (before_mine, before_other) = (content(&mine), content(&other));
    let sys = SysRoot::live();
    let consent = Consent { identity: None, allow_file: true, signatures: false };
    let open = |path: &Path| {
        let checked = safety(&sys, path, Bytes::ZERO).unwrap();
        open_for_writing(&sys, &checked, &consent, Bytes(4096), &PLAIN).unwrap()
    };
    let ((mut target, mut grant), (mut stranger, _grant)) = (open(&mine), open(&other));
    let request = Request::write(&mut grant, 0, Bytes::ZERO, Bytes(4096), Fill::Byte(7), false).unwrap();

    assert!(matches!(stranger.execute(request), Err(DeviceError::Invalid(_))), "granted for another target");
    assert!(matches!(target.submit(&[request, request]), Err(DeviceError::Invalid(_))), "the same bytes twice");
    assert!(content(&mine) == before_mine && content(&other) == before_other, "not one byte may change");
    target.execute(request).unwrap();
    assert!(matches!(target.execute(request), Err(DeviceError::Invalid(_))), "the grant is used up");
    assert!(content(&other) == before_other, "not one byte may change");
}
