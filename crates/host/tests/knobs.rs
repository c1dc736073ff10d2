//! Knobs that are changed and put back: on a made-up tree, which has what this machine lacks, and on loop devices of our own.

use crate::support::{Loop, Scratch, can_loop, machine};
use flashscope_host::SysRoot;
use flashscope_host::knob::{Held, KnobError, Knobs, Wanted, finish_left};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A tree with two processors, and a card below whatever this test's files lie on.
struct Tree {
    scratch: Scratch,
    sys: SysRoot,
}

impl Tree {
    fn new() -> Tree {
        let scratch = Scratch::new();
        let tree = Tree { sys: SysRoot::at(&scratch.0), scratch };
        for cpu in 0..2 {
            tree.put(&format!("sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor"), "ondemand");
            tree.put(&format!("sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_min_freq"), "300000");
            tree.put(&format!("sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_max_freq"), "1900000");
        }
        let number = fs::metadata(&tree.scratch.0).unwrap().dev();
        let number = format!("{}:{}", rustix::fs::major(number), rustix::fs::minor(number));
        let card = "sys/devices/platform/mmc_host/mmc0/mmc0:0001";
        tree.put(&format!("{card}/block/mmcblk0/dev"), &number);
        tree.put(&format!("{card}/block/mmcblk0/size"), "1024");
        tree.put(&format!("{card}/block/mmcblk0/queue/read_ahead_kb"), "128");
        tree.put(&format!("{card}/block/mmcblk0/queue/scheduler"), "[none] mq-deadline");
        tree.put(&format!("{card}/block/mmcblk0/queue/nr_zones"), "0");
        tree.put(&format!("{card}/power/control"), "auto");
        tree.put("sys/kernel/debug/mmc0/clock", "50000000");
        tree.put("proc/sys/vm/swappiness", "60");
        tree.put("etc/passwd", "root");
        fs::create_dir_all(tree.path("sys/block")).unwrap();
        symlink("../devices/platform/mmc_host/mmc0/mmc0:0001/block/mmcblk0", tree.path("sys/block/mmcblk0")).unwrap();
        symlink("../..", tree.path(&format!("{card}/block/mmcblk0/device"))).unwrap();
        symlink("../etc/passwd", tree.path("sys/astray")).unwrap();
        let shown = tree.path(&format!("{card}/block/mmcblk0/queue/nr_zones"));
        fs::set_permissions(shown, fs::Permissions::from_mode(0o444)).unwrap();
        tree
    }

    fn path(&self, inside: &str) -> PathBuf {
        self.scratch.0.join(inside)
    }

    fn put(&self, inside: &str, text: &str) {
        let path = self.path(inside);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("{text}\n")).unwrap();
    }

    fn get(&self, inside: &str) -> String {
        fs::read_to_string(self.path(inside)).unwrap().trim().to_owned()
    }

    fn knobs(&self) -> Knobs {
        Knobs::of(&self.sys, &self.scratch.0)
    }

    fn note(&self) -> PathBuf {
        self.path("run/flashscope/sweep/restore")
    }
}

fn wanted(values: &[&str]) -> Vec<Wanted> {
    values.iter().enumerate().map(|(knob, value)| Wanted { knob, value: (*value).to_owned() }).collect()
}

const GOVERNOR: &str = "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor";
const SCHEDULER: &str = "sys/block/mmcblk0/queue/scheduler";

#[test]
fn knobs_are_set_checked_and_put_back() {
    let tree = Tree::new();
    let names =
        ["governor", "scheduler", "mmc_clock", "runtime_pm", "vm.swappiness", "/sys/block/mmcblk0/queue/read_ahead_kb"];
    let knobs: Vec<_> = names.iter().map(|name| tree.knobs().find(name).unwrap()).collect();
    let values: Vec<_> = knobs.iter().map(|knob| knob.value().unwrap().unwrap()).collect();
    assert_eq!(values, ["ondemand", "none", "50000000", "auto", "60", "128"]);
    assert_eq!(knobs[0].paths().count(), 2, "one per processor");

    let (mut held, left) = Held::take(&tree.sys, knobs).unwrap();
    assert_eq!(left, []);
    assert_eq!(fs::metadata(tree.note().parent().unwrap()).unwrap().mode() & 0o777, 0o700);
    let one = wanted(&["powersave", "mq-deadline", "400000", "on", "10", "1024"]);
    held.set(&one).unwrap();
    held.check(&one).unwrap();
    assert_eq!((tree.get(GOVERNOR), tree.get(SCHEDULER)), ("powersave".to_owned(), "mq-deadline".to_owned()));

    tree.put(GOVERNOR, "performance");
    let said = held.check(&one).unwrap_err().to_string();
    assert!(said.contains("cpu1/cpufreq/scaling_governor was set to 'powersave' and is 'performance'"), "{said}");

    held.restore().unwrap();
    assert_eq!((tree.get(GOVERNOR), tree.get(SCHEDULER)), ("ondemand".to_owned(), "none".to_owned()));
    assert!(!tree.note().exists());
}

#[test]
fn what_is_dropped_or_panics_is_put_back() {
    let tree = Tree::new();
    let take = || Held::take(&tree.sys, vec![tree.knobs().find("governor").unwrap()]).unwrap().0;
    take().set(&wanted(&["powersave"])).unwrap();
    assert_eq!(tree.get(GOVERNOR), "ondemand");
    let ended = std::panic::catch_unwind(|| {
        take().set(&wanted(&["powersave"])).unwrap();
        panic!("as if something were wrong");
    });
    assert!(ended.is_err());
    assert_eq!(tree.get(GOVERNOR), "ondemand");
    assert!(!tree.note().exists());
}

#[test]
fn what_is_no_knob_is_refused() {
    let tree = Tree::new();
    let check = |name: &str, part: &str| {
        let said = tree.knobs().find(name).unwrap_err().to_string();
        assert!(said.contains(part), "{name}: {said}");
    };
    check("schedular", "there is no knob 'schedular'");
    check("/etc/passwd", "only what lies below /sys and /proc/sys");
    check("/sys/astray", "leads to /etc/passwd");
    check("/sys/../etc/passwd", "only what lies below");
    check("/sys/block/mmcblk0/queue", "is a directory");
    check("/sys/block/mmcblk0/queue/nr_zones", "may not be written: the kernel only shows it");
    check(
        "wbt_lat_usec",
        "this machine has no wbt_lat_usec for this target: there is no /sys/block/mmcblk0/queue/wbt_lat_usec",
    );
    check("iosched/fifo_batch", "there is no /sys/block/mmcblk0/queue/iosched/fifo_batch");
    let listed: Vec<&str> = tree.knobs().here().iter().map(|knob| knob.name).collect();
    assert!(listed.contains(&"governor") && !listed.contains(&"wbt_lat_usec"), "{listed:?}");
}

#[test]
fn two_at_once_and_notes_that_others_may_change_are_refused() {
    let tree = Tree::new();
    let take = || Held::take(&tree.sys, vec![tree.knobs().find("governor").unwrap()]).map(drop);
    let (held, _) = Held::take(&tree.sys, vec![tree.knobs().find("vm.swappiness").unwrap()]).unwrap();
    let process = Some(std::process::id());
    assert_eq!(take(), Err(KnobError::Busy { process }));
    assert_eq!(finish_left(&tree.sys), Err(KnobError::Busy { process }));
    drop(held);
    take().unwrap();

    fs::set_permissions(tree.note().parent().unwrap(), fs::Permissions::from_mode(0o777)).unwrap();
    let said = take().unwrap_err().to_string();
    assert!(said.contains("others may change it") && said.contains("nothing was changed"), "{said}");
    fs::set_permissions(tree.note().parent().unwrap(), fs::Permissions::from_mode(0o700)).unwrap();
    symlink("/dev/null", tree.note()).unwrap();
    assert!(matches!(take(), Err(KnobError::Note { .. })), "a note that is a link");
}

/// What another process runs that is killed: it takes hold, changes, says so, and waits.
#[test]
fn holds_until_it_is_killed() {
    let Some(root) = std::env::var_os("FLASHSCOPE_HELD_TREE") else { return };
    let sys = SysRoot::at(Path::new(&root));
    let knob = Knobs::of(&sys, Path::new(&root)).find("governor").unwrap();
    let (held, _) = Held::take(&sys, vec![knob]).unwrap();
    held.set(&wanted(&["powersave"])).unwrap();
    writeln!(std::io::stderr(), "HELD").unwrap();
    std::thread::sleep(std::time::Duration::from_secs(120));
}

#[test]
fn after_a_kill_the_next_one_finishes() {
    let tree = Tree::new();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "knobs::holds_until_it_is_killed", "--nocapture"])
        .env("FLASHSCOPE_HELD_TREE", &tree.scratch.0)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|line| line == "HELD"));
    assert_eq!(tree.get(GOVERNOR), "powersave");
    assert_eq!(finish_left(&tree.sys), Err(KnobError::Busy { process: Some(child.id()) }), "never under a living one");
    assert_eq!(tree.get(GOVERNOR), "powersave");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(tree.get(GOVERNOR), "powersave");

    // The next one begins from what was there before, whatever it varies itself.
    let (held, left) = Held::take(&tree.sys, vec![tree.knobs().find("vm.swappiness").unwrap()]).unwrap();
    assert_eq!(left.len(), 2, "{left:?}");
    assert_eq!((left[1].found.as_str(), left[1].value.as_str()), ("powersave", "ondemand"));
    assert_eq!(tree.get(GOVERNOR), "ondemand");
    drop(held);
    assert_eq!(finish_left(&tree.sys), Ok(Vec::new()));
    assert!(!tree.note().exists());
}

#[test]
fn the_kernel_has_its_say_on_a_loop_device() {
    let test = "knobs of a loop device";
    if !can_loop(test) {
        return;
    }
    let _alone = machine();
    let scratch = Scratch::new();
    let device = Loop::new(&scratch.file("knobs.img", 4 << 20));
    let sys = SysRoot::live();
    let find = |name: &str| Knobs::of(&sys, &device.path).find(name).unwrap();
    let get = |name: &str| fs::read_to_string(device.sysfs().join("queue").join(name)).unwrap().trim().to_owned();
    let was = [get("scheduler"), get("read_ahead_kb"), get("nr_requests")];
    let (held, _) = match Held::take(&sys, vec![find("scheduler"), find("read_ahead_kb")]) {
        Err(KnobError::Busy { .. }) => {
            return crate::support::skip(test, "another sweep holds the knobs of this machine");
        }
        taken => taken.unwrap(),
    };
    let said = held.set(&wanted(&["nonsense", "64"])).unwrap_err().to_string();
    assert!(said.contains("EINVAL") && said.contains("'nonsense'"), "{said}");
    let said = held.set(&wanted(&["none", "5"])).unwrap_err().to_string();
    assert!(said.contains("it made '4' of it"), "{said}");
    if get("scheduler").contains("mq-deadline") {
        held.set(&wanted(&["mq-deadline", "64"])).unwrap();
        assert!(get("scheduler").contains("[mq-deadline]"));
        assert_eq!(get("read_ahead_kb"), "64");
    }
    drop(held);
    assert_eq!([get("scheduler"), get("read_ahead_kb"), get("nr_requests")], was);
}

#[test]
fn options_of_a_mount_are_varied_and_put_back() {
    let test = "options_of_a_mount_are_varied_and_put_back";
    if !can_loop(test) || !crate::support::has("mkfs.ext4") {
        return crate::support::skip(test, "it needs a loop device and mkfs.ext4");
    }
    let _alone = machine();
    let scratch = Scratch::new();
    let device = Loop::new(&scratch.file("mounted.img", 16 << 20));
    crate::support::run("mkfs.ext4", &["-q", device.path.to_str().unwrap()]);
    let point = scratch.directory("a mount");
    let mounted = Mounted::new(&device, &point);
    let sys = SysRoot::live();
    let knob = Knobs::of(&sys, &point).find("mount").unwrap();
    let was = knob.value().unwrap().unwrap();
    assert!(was.starts_with("rw,") && knob.is("rw").unwrap() && knob.is(&was).unwrap(), "{was}");
    let (mut held, _) = match Held::take(&sys, vec![knob.clone()]) {
        Err(KnobError::Busy { .. }) => {
            return crate::support::skip(test, "another sweep holds the knobs of this machine");
        }
        taken => taken.unwrap(),
    };
    let set = |value: &str| held.set(&wanted(&[value])).map(|()| knob.value().unwrap().unwrap());
    assert_eq!(set("noatime").unwrap(), was.replace("relatime", "noatime"));
    assert!(
        set("noatime,discard,sync").unwrap().split(',').filter(|word| ["discard", "sync"].contains(word)).count() == 2
    );
    let now = set("strictatime").unwrap();
    assert!(!["atime", "discard", "sync"].iter().any(|word| now.contains(word)), "{now}");
    let refused = |value: &str| set(value).unwrap_err().to_string();
    assert!(refused("nonsense").contains("EINVAL"), "{}", refused("nonsense"));
    assert!(refused("commit=30").contains("could not be put back"));
    set("noatime,discard").unwrap();
    held.restore().unwrap();
    assert_eq!(knob.value().unwrap().unwrap(), was);
    drop(mounted);
    assert!(knob.value().unwrap_err().to_string().contains("not mounted there any more"));
}

/// A loop device that is mounted, until it is dropped.
struct Mounted(PathBuf);

impl Mounted {
    fn new(device: &Loop, point: &Path) -> Mounted {
        crate::support::run("mount", &[device.path.to_str().unwrap(), point.to_str().unwrap()]);
        Mounted(point.to_owned())
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        crate::support::try_run("umount", &[self.0.to_str().unwrap()]);
    }
}
