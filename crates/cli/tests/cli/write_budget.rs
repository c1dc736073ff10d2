//! `--max-write` of `bench`: what really arrives at the devices, by the kernel's own counters, whatever the jobs, targets and modes.

use crate::devices::alone;
use crate::harness::{flashscope, left_out, scratch};
use std::path::PathBuf;
use std::process::Command;
use std::sync::MutexGuard;

const DONE: i32 = 0;
const EXPECTATION: i32 = 1;
const CANNOT: i32 = 2;

/// Loop devices over files of zeros; gone when dropped.
struct Loops {
    nodes: Vec<String>,
    backings: Vec<PathBuf>,
    _alone: MutexGuard<'static, ()>,
}

impl Loops {
    /// `None`, with a word on what is left out, where this machine offers no loop devices.
    fn new(test: &str, count: usize) -> Option<Loops> {
        let mut loops = Loops { nodes: Vec::new(), backings: Vec::new(), _alone: alone() };
        for number in 0..count {
            let backing = scratch().join(format!("card{number}.img"));
            std::fs::write(&backing, vec![0; 32 << 20]).unwrap();
            loops.backings.push(backing.canonicalize().unwrap());
            let found = Command::new("losetup").args(["--find", "--show", "--direct-io=on"]).arg(&backing).output();
            match found {
                Ok(output) if output.status.success() => {
                    loops.nodes.push(String::from_utf8(output.stdout).unwrap().trim().to_owned());
                }
                _ => {
                    left_out(&format!("{test} (losetup gave no loop device: not root, or none left)"));
                    return None;
                }
            }
        }
        Some(loops)
    }

    fn consent(&self) -> Vec<String> {
        self.backings.iter().map(|backing| format!("--destroy-data=loop:{}", backing.display())).collect()
    }

    /// Bytes that arrived at all of them since they came, once all is written back.
    fn written(&self) -> u64 {
        let of = |node: &String| {
            std::fs::File::open(node).unwrap().sync_all().unwrap();
            let counters = std::fs::read_to_string(format!("/sys/block/{}/stat", &node[5..])).unwrap();
            counters.split_whitespace().nth(6).unwrap().parse::<u64>().unwrap() * 512
        };
        self.nodes.iter().map(of).sum()
    }
}

impl Drop for Loops {
    fn drop(&mut self) {
        for node in &self.nodes {
            let _ = Command::new("losetup").args(["--detach", node]).output();
        }
        for backing in &self.backings {
            let _ = std::fs::remove_file(backing);
        }
    }
}

/// Runs jobs of these words on the devices, one beside the other, and gives back what arrived.
fn run(loops: &Loops, all: &str, limit: &str, code: i32) -> u64 {
    let mut jobs = format!("[all]\n{all}\n");
    for (number, node) in loops.nodes.iter().enumerate() {
        jobs += &format!("[[job]]\nname = \"j{number}\"\ntarget = \"{node}\"\nbeside = {}\n", number > 0);
    }
    let file = scratch().join("jobs.toml");
    std::fs::write(&file, jobs).unwrap();
    let (consent, before) = (loops.consent(), loops.written());
    let mut words = vec!["bench", &loops.nodes[0], "--job", file.to_str().unwrap(), "--json", "--max-write", limit];
    words.extend(consent.iter().map(String::as_str));
    let run = flashscope(&words).run();
    run.expect(code);
    if code == CANNOT {
        assert!(run.stderr.contains("--max-write") && run.stderr.contains("hint"), "{}", run.stderr);
    }
    loops.written() - before
}

const MIB: u64 = 1 << 20;

/// Far longer than the budget lasts, since what writes little at a time is slow on a busy disk.
const LONG: &str = "60s";

#[test]
fn jobs_on_several_devices_share_it() {
    let Some(loops) = Loops::new("a write budget over several devices", 3) else { return };
    let written = run(&loops, &format!("rw = \"randwrite\"\nbs = \"4k\"\nruntime = \"{LONG}\""), "3M", EXPECTATION);
    assert!((2 * MIB..=3 * MIB).contains(&written), "{written}");
    // What ends by itself is refused before the first byte.
    assert_eq!(run(&loops, "rw = \"write\"\nbs = \"64k\"\nspan = \"2M\"", "5M", CANNOT), 0);
    assert_eq!(run(&loops, "rw = \"write\"\nbs = \"64k\"\nspan = \"2M\"", "6M", DONE), 6 * MIB);
}

#[test]
fn small_writes_through_the_page_cache_count_in_pages() {
    let Some(loops) = Loops::new("a write budget of cached writes", 2) else { return };
    for mode in ["cached", "writethrough"] {
        let small = format!("rw = \"randwrite\"\nbs = \"512\"\nmode = \"{mode}\"\n");
        let written = run(&loops, &format!("{small}runtime = \"{LONG}\""), "3M", EXPECTATION);
        assert!((MIB / 2..=3 * MIB).contains(&written), "{mode}: {written}");
        assert_eq!(run(&loops, &format!("{small}bytes = \"1M\""), "3M", CANNOT), 0, "{mode}");
    }
}

#[test]
fn files_that_are_made_count() {
    let folder = scratch();
    let at = folder.to_str().unwrap();
    let limited = |words: &[&str], limit: &str, code: i32| {
        let run = flashscope(&[&["bench", at, "--json", "--max-write", limit], words].concat()).run();
        run.expect(code);
        assert!(code != CANNOT || run.stderr.contains("--max-write"), "{}", run.stderr);
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0, "nothing is made, or it is gone again");
    };
    let read = ["--rw", "randread", "--mode", "cached", "--size", "4M", "--bs", "64k"];
    limited(&read, "1M", CANNOT);
    limited(&read, "4M", DONE);
    limited(&[&read[..], &["--files", "4"]].concat(), "3M", CANNOT);
    limited(&[&read[..], &["--files", "4"]].concat(), "4M", DONE);
    limited(&[&read[..], &["--engine", "whole"]].concat(), "3M", CANNOT);
    limited(&[&read[..], &["--engine", "whole"]].concat(), "4M", DONE);
    let write = ["--rw", "write", "--mode", "cached", "--size", "4M", "--bs", "64k"];
    limited(&write, "7M", CANNOT);
    limited(&write, "8M", DONE);
    // Without an end but time, too.
    limited(&[&write[..], &["--runtime", LONG]].concat(), "4M", CANNOT);
    limited(&[&write[..], &["--runtime", LONG]].concat(), "5M", EXPECTATION);
}
