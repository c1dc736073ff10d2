//! A file system that nobody may write to, and one without room: real ones, mounted for the test.

use crate::harness::{Place, bench};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A small file system in memory, until it is dropped.
struct Mounted(PathBuf);

impl Mounted {
    /// `None`, said aloud, where this test may not mount.
    fn new(test: &str, point: &Path) -> Option<Mounted> {
        std::fs::create_dir(point).expect("a new folder");
        let done = mount(&["-t", "tmpfs", "-o", "size=512k", "tmpfs"], point);
        if !done {
            let _ = writeln!(std::io::stderr(), "LEFT OUT: {test} (it needs the right to mount)");
        }
        done.then(|| Mounted(point.to_owned()))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

fn mount(words: &[&str], point: &Path) -> bool {
    Command::new("mount").args(words).arg(point).output().is_ok_and(|output| output.status.success())
}

#[test]
fn a_history_that_may_not_be_written_can_be_read() {
    let place = Place::new();
    let point = place.path("ro");
    let Some(_mounted) = Mounted::new("a_history_that_may_not_be_written_can_be_read", &point) else { return };
    let store = point.join("history.db");
    let store = store.to_str().expect("a plain name");
    place.run_on(store, &["add", &place.file("a.json", &bench(1))]).expect(0);
    assert!(mount(&["-o", "remount,ro"], &point));
    let listed = place.run_on(store, &["list"]);
    listed.expect(0);
    assert!(listed.stdout.lines().count() == 2, "{}", listed.stdout);
    place.run_on(store, &["show", "1", "--json"]).expect(0);
    place.run_on(store, &["add", &place.file("b.json", &bench(2))]).refused("may not be written to");
    place.run_on(store, &["prune", "--keep", "0", "--yes"]).refused("may not be written to");
    assert_eq!(place.run_on(store, &["list"]).stdout, listed.stdout, "nothing was changed");
}

#[test]
fn a_full_disk_loses_nothing_that_was_kept() {
    let place = Place::new();
    let point = place.path("full");
    let Some(_mounted) = Mounted::new("a_full_disk_loses_nothing_that_was_kept", &point) else { return };
    let store = point.join("history.db");
    let store = store.to_str().expect("a plain name");
    let mut kept = 0;
    let refused = (0..2000).find_map(|number| {
        let run = place.run_on(store, &["add", &place.file("next.json", &bench(number))]);
        if run.code == Some(0) {
            kept += 1;
        }
        (run.code != Some(0)).then_some(run)
    });
    refused.expect("512 KiB are full some time").refused("no space left for");
    assert!(kept > 10, "{kept}");
    let count = |words: &[&str]| place.run_on(store, words).stdout.lines().count();
    assert_eq!(count(&["list", "--limit", "5000"]), 1 + kept, "what was kept is there, and the file is sound");
    place.run_on(store, &["show", &kept.to_string(), "--json"]).expect(0);
}
