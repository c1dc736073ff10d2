//! What lies on a device that is to lose its power: its files, whatever the way to them.

use crate::support::{Finally, Loop, Scratch, can_loop, has, machine, run, skip};
use flashscope_host::SysRoot;
use flashscope_host::power::stands_on;
use std::path::Path;

const MIB: usize = 1 << 20;

fn on(path: &Path, target: &Path) -> bool {
    stands_on(&SysRoot::live(), path, target).unwrap()
}

#[test]
fn what_lies_on_the_device_is_told_from_what_lies_beside_it() {
    const TEST: &str = "a journal on the device that loses its power";
    if !can_loop(TEST) || !has("mkfs.ext4") {
        return skip(TEST, "it needs loop devices and mkfs.ext4");
    }
    let _machine = machine();
    let scratch = Scratch::new();
    let file = scratch.file("disk", 16 * MIB);
    let device = Loop::new(&file);
    let node = Path::new(device.name());
    run("mkfs.ext4", &["-q", "-F", device.name()]);
    let point = scratch.0.join("point");
    std::fs::create_dir(&point).unwrap();
    run("mount", &[device.name(), point.to_str().unwrap()]);
    let _unmount = Finally::run(&["umount", point.to_str().unwrap()]);
    for path in ["", "journal", "not/there/yet"].map(|name| point.join(name)) {
        assert!(on(&path, node) && on(&path, &file), "{}", path.display());
    }
    let beside = scratch.0.join("journal");
    assert!(!on(&beside, node) && !on(&beside, &file));

    // A file on it, as a device of its own, and what lies on that.
    let inner = point.join("inner");
    std::fs::write(&inner, vec![0; 4 * MIB]).unwrap();
    let second = Loop::new(&inner);
    run("mkfs.ext4", &["-q", "-F", second.name()]);
    let deeper = point.join("deeper");
    std::fs::create_dir(&deeper).unwrap();
    run("mount", &[second.name(), deeper.to_str().unwrap()]);
    let _unmount = Finally::run(&["umount", deeper.to_str().unwrap()]);
    assert!(on(&deeper.join("journal"), node));
    assert!(!on(&point.join("journal"), Path::new(second.name())));
    assert!(stands_on(&SysRoot::live(), &beside, Path::new("/nowhere/at/all")).is_err());
}
