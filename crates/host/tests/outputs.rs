//! The one door for files that are written beside a target.

use crate::support::{Loop, Scratch, can_loop, content, machine, run};
use flashscope_host::{HostError, Output, Outputs, SysRoot};
use std::fs::{self, File, Permissions};
use std::io::{Read, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::path::Path;

/// In these tests a file is ours where it says so.
fn ours(file: &mut File) -> bool {
    let mut text = String::new();
    file.read_to_string(&mut text).is_ok_and(|_| text.starts_with("ours"))
}

fn door(force: bool) -> Outputs {
    Outputs::new(force, ours)
}

fn planned(path: &Path) -> Output {
    door(false).plan(path).unwrap_or_else(|error| panic!("{error}"))
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn check_refused(result: Result<Output, HostError>, word: &str) {
    match result {
        Err(HostError::Refused { refusals, .. }) => assert!(refusals[0].what.contains(word), "{refusals:?}"),
        other => panic!("{word}: {other:?}"),
    }
}

/// What is in a folder, to see that nothing is left over.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn what_is_there_decides() {
    let scratch = Scratch::new();
    let path = scratch.0.join("result");
    planned(&path).write(b"ours, first").unwrap();
    planned(&path).write(b"ours, second").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"ours, second");

    fs::write(&path, "mine").unwrap();
    check_refused(door(false).plan(&path), "did not write it");
    assert_eq!(fs::read(&path).unwrap(), b"mine");
    door(true).plan(&path).unwrap().write(b"ours, third").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"ours, third");

    // As mktemp leaves it.
    fs::write(&path, "").unwrap();
    planned(&path).write(b"ours").unwrap();
    assert_eq!(names(&scratch.0), ["result"], "nothing else stays");
}

#[test]
fn only_regular_files_are_written() {
    let scratch = Scratch::new();
    let pipe = scratch.0.join("pipe");
    run("mkfifo", &[pipe.to_str().unwrap()]);
    check_refused(door(true).plan(&pipe), "a pipe");
    check_refused(door(true).plan(Path::new("/dev/null")), "character device");
    check_refused(door(true).plan(Path::new("/dev/flashscope.html")), "no place for files");
    check_refused(door(true).plan(Path::new("/proc/sys/kernel/core_pattern")), "no place for files");
    let folder = door(true).plan(&scratch.0).unwrap_err().to_string();
    assert!(folder.contains("it is a directory"), "{folder}");
    let nowhere = door(true).plan(&scratch.0.join("no/where")).unwrap_err().to_string();
    assert!(nowhere.contains("no such directory") && nowhere.contains("hint"), "{nowhere}");
}

#[test]
fn a_block_device_is_not_opened_whatever_its_name() {
    if !can_loop("a_block_device_is_not_opened_whatever_its_name") {
        return;
    }
    let _machine = machine();
    let scratch = Scratch::new();
    let device = Loop::new(&scratch.file("disk", 1 << 20));
    let before = content(&device.path);
    let (link, node) = (scratch.0.join("link"), scratch.0.join("node"));
    symlink(&device.path, &link).unwrap();
    let number = fs::metadata(&device.path).unwrap().rdev();
    let (major, minor) = (rustix::fs::major(number).to_string(), rustix::fs::minor(number).to_string());
    run("mknod", &[node.to_str().unwrap(), "b", &major, &minor]);
    for path in [&device.path, &link, &node] {
        check_refused(door(true).plan(path), "a block device");
    }
    assert!(fs::metadata(&node).unwrap().file_type().is_block_device());
    assert!(content(&device.path) == before, "not one byte may change");
}

#[test]
fn a_target_is_kept_out_under_every_name() {
    if !can_loop("a_target_is_kept_out_under_every_name") {
        return;
    }
    let _machine = machine();
    let scratch = Scratch::new();
    let disk = scratch.file("disk", 1 << 20);
    let (link, second, new) = (scratch.0.join("link"), scratch.0.join("second"), scratch.0.join("new"));
    symlink(&disk, &link).unwrap();
    fs::hard_link(&disk, &second).unwrap();
    let mut door = door(true);
    door.keep_out(&SysRoot::live(), &disk);
    door.keep_out(&SysRoot::live(), &new);
    for path in [&disk, &link, &second, &scratch.0.join("./new")] {
        check_refused(door.plan(path), "works on");
    }
    // What a loop device stands on, through another loop device.
    let below = Loop::new(&disk);
    let above = Loop::new(&below.path);
    let mut door = Outputs::new(true, ours);
    door.keep_out(&SysRoot::live(), &above.path);
    check_refused(door.plan(&second), "stands on it");
}

#[test]
fn a_file_keeps_its_mode_its_owner_and_its_names() {
    let scratch = Scratch::new();
    let (path, second) = (scratch.0.join("result"), scratch.0.join("second"));
    fs::write(&path, "ours").unwrap();
    mode(&path, 0o640);
    let root = rustix::process::geteuid().is_root();
    if root {
        std::os::unix::fs::chown(&path, Some(1234), Some(4321)).unwrap();
    }
    let before = fs::metadata(&path).unwrap();
    planned(&path).write(b"ours, new").unwrap();
    let after = fs::metadata(&path).unwrap();
    assert_eq!((after.mode(), after.uid(), after.gid()), (before.mode(), before.uid(), before.gid()));
    assert_ne!(after.ino(), before.ino(), "it is replaced whole or not at all");

    fs::hard_link(&path, &second).unwrap();
    planned(&path).write(b"ours, in both").unwrap();
    assert_eq!(fs::read(&second).unwrap(), b"ours, in both");
    assert_eq!(fs::metadata(&path).unwrap().ino(), after.ino());
}

#[test]
fn a_file_that_others_have_linked_into_their_folder_is_not_written_in_place() {
    if !can_loop("a_file_that_others_have_linked_into_their_folder_is_not_written_in_place") {
        return;
    }
    let scratch = Scratch::new();
    let (theirs, path) = (scratch.directory("theirs"), scratch.0.join("victim"));
    fs::write(&path, "ours").unwrap();
    std::os::unix::fs::chown(&path, Some(1234), None).unwrap();
    mode(&theirs, 0o777);
    fs::hard_link(&path, theirs.join("bait")).unwrap();
    check_refused(door(true).plan(&theirs.join("bait")), "another user's file");
}

#[test]
fn a_link_is_followed_only_where_nobody_else_can_make_one() {
    let scratch = Scratch::new();
    let (own, theirs) = (scratch.directory("own"), scratch.directory("theirs"));
    let victim = scratch.0.join("victim");
    fs::write(&victim, "ours").unwrap();
    for folder in [&own, &theirs] {
        symlink(&victim, folder.join("file")).unwrap();
        symlink(&scratch.0, folder.join("folder")).unwrap();
        symlink("loop", folder.join("loop")).unwrap();
    }
    mode(&own, 0o755);
    mode(&theirs, 0o777);
    check_refused(door(true).plan(&theirs.join("file")), "a link");
    check_refused(door(true).plan(&theirs.join("folder/victim")), "a link");
    assert_eq!(fs::read(&victim).unwrap(), b"ours");
    planned(&own.join("file")).write(b"ours, through a link").unwrap();
    assert!(own.join("file").is_symlink());
    planned(&own.join("../own/folder/victim")).write(b"ours, by a folder").unwrap();
    assert_eq!(fs::read(&victim).unwrap(), b"ours, by a folder");
    assert!(door(true).plan(&own.join("loop")).is_err());
}

#[test]
fn what_came_there_during_the_run_stays() {
    let scratch = Scratch::new();
    let path = scratch.0.join("result");
    let output = planned(&path);
    fs::write(&path, "mine").unwrap();
    assert!(matches!(output.write(b"ours"), Err(HostError::Refused { .. })));
    assert!(matches!(output.begin(), Err(HostError::Refused { .. })));
    output.remove();
    assert_eq!(fs::read(&path).unwrap(), b"mine");
    // A link that came, too: the folder may be another user's.
    let (link, victim) = (scratch.0.join("link"), scratch.0.join("victim"));
    let output = planned(&link);
    fs::write(&victim, "").unwrap();
    symlink(&victim, &link).unwrap();
    assert!(output.write(b"ours").is_err());
    assert_eq!(fs::read(&victim).unwrap(), b"");
    // And another folder of the same name: what was looked at is what is written to.
    let folder = scratch.directory("folder");
    let output = planned(&folder.join("result"));
    fs::rename(&folder, scratch.0.join("moved")).unwrap();
    symlink("/etc", &folder).unwrap();
    output.write(b"ours").unwrap();
    assert_eq!(fs::read(scratch.0.join("moved/result")).unwrap(), b"ours");
}

#[test]
fn a_file_that_grows_as_it_comes_has_its_name_from_the_start() {
    let scratch = Scratch::new();
    let path = scratch.0.join("trace");
    fs::write(&path, "ours, old").unwrap();
    let mut file = planned(&path).begin().unwrap();
    file.write_all(b"ours, one").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"ours, one");
    planned(&path).remove();
    assert!(names(&scratch.0).is_empty());
}

#[test]
fn two_results_in_one_file_are_noticed_beforehand() {
    let scratch = Scratch::new();
    let (path, link) = (scratch.0.join("result"), scratch.0.join("link"));
    symlink("result", &link).unwrap();
    mode(&scratch.0, 0o755);
    let mut door = door(false);
    door.plan(&path).unwrap();
    for other in [&path, &link] {
        let error = door.plan(other).unwrap_err().to_string();
        assert!(error.contains("writes both") && error.contains("hint"), "{error}");
    }
}
