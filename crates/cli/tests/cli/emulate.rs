//! `emulate` on a machine that lacks what it needs: a namespace of its own, in which it is not there.

use crate::harness::{flashscope, left_out, scratch};
use std::path::Path;
use std::process::{Command, Output};

const CANNOT: i32 = 2;

/// Runs `emulate` after `prepare`, a line of shell that sees only its own mounts and may change them.
fn emulate_where(prepare: &str, at: &Path, more: &str) -> Option<Output> {
    let able = Command::new("unshare").args(["-m", "true"]).status().is_ok_and(|status| status.success());
    if !able || !Path::new("/dev/fuse").exists() {
        left_out("emulate without /dev/fuse or loop devices (not root, or no /dev/fuse)");
        return None;
    }
    let script = format!("{prepare} && exec \"$0\" emulate sd-4mib,capacity=64MiB --at \"$1\" {more}");
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", &script, env!("CARGO_BIN_EXE_flashscope")]).arg(at);
    Some(command.output().expect("unshare runs"))
}

fn check(output: &Output, words: &[&str], at: &Path) {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(CANNOT), "{stderr}");
    assert!(output.stdout.is_empty(), "no path is printed where there is no device");
    for word in words {
        assert!(stderr.contains(word), "{word} is missing from: {stderr}");
    }
    let mounts = std::fs::read_to_string("/proc/self/mounts").expect("mounts");
    assert!(!mounts.contains(at.to_str().expect("plain")), "something stays mounted");
}

#[test]
fn without_dev_fuse_it_says_how_to_get_it() {
    let at = scratch();
    let Some(output) = emulate_where("mount -t tmpfs none /dev", &at, "") else { return };
    check(&output, &["/dev/fuse", "hint: load the module with `modprobe fuse`"], &at);
}

#[test]
fn without_a_loop_device_it_says_what_can_be_done() {
    // As in a container that was given /dev/fuse, but none of the loop devices.
    let without_all = "touch \"$1/fuse\" && mount --bind /dev/fuse \"$1/fuse\" && mount -t tmpfs none /dev && touch /dev/fuse \
        && mount --move \"$1/fuse\" /dev/fuse && rm \"$1/fuse\"";
    let at = scratch();
    let Some(output) = emulate_where(without_all, &at, "--loop") else { return };
    check(&output, &["loop", "hint:", "without --loop"], &at);
    // The nodes are missing, the control is there: all that are free cannot be opened.
    let control = "touch \"$1/fuse\" \"$1/control\" && mount --bind /dev/fuse \"$1/fuse\" \
        && mount --bind /dev/loop-control \"$1/control\" && mount -t tmpfs none /dev && touch /dev/fuse /dev/loop-control \
        && mount --move \"$1/fuse\" /dev/fuse && mount --move \"$1/control\" /dev/loop-control && rm \"$1/fuse\" \"$1/control\"";
    let at = scratch();
    let Some(output) = emulate_where(control, &at, "--loop") else { return };
    check(&output, &["loop", "hint:"], &at);
}

#[test]
fn whoever_is_not_root_is_told_so() {
    let at = scratch();
    let setpriv = Command::new("setpriv")
        .args(["--reuid=65534", "--clear-groups", env!("CARGO_BIN_EXE_flashscope")])
        .args(["emulate", "sd-4mib", "--at"])
        .arg(&at)
        .output();
    match setpriv {
        // The binary may lie where only root can look.
        Ok(output) if output.status.code() == Some(CANNOT) => check(&output, &["must be root", "hint:"], &at),
        _ => left_out("emulate as someone else than root (no setpriv, or no way for others to the binary)"),
    }
}

#[test]
fn bad_models_and_places_are_refused() {
    let check = |arguments: &[&str], word: &str| {
        let run = flashscope(arguments).run();
        run.expect(CANNOT);
        assert!(run.stderr.contains(word), "{}", run.stderr);
    };
    let at = scratch();
    let at = at.to_str().expect("plain");
    check(&["emulate", "no-such-model", "--at", at], "no-such-model");
    check(&["emulate", "sd-4mib", "--at", "/nowhere/at/all"], "hint: mkdir -p");
    check(&["emulate", "sd-4mib"], "--at");
}
