//! Loop devices, mounts and files that the tests make for themselves and take down again.
#![allow(dead_code, unreachable_pub, clippy::print_stderr)]

use std::fs;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard};

/// One test at a time works with block devices: looking at all of them, as a safety check does, would otherwise
/// delay another test's detaching.
pub fn machine() -> MutexGuard<'static, ()> {
    static MACHINE: Mutex<()> = Mutex::new(());
    MACHINE.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Whether loop devices can be made here; says loudly when not.
pub fn can_loop(test: &str) -> bool {
    let root = rustix::process::geteuid().is_root();
    let usable = root && Path::new("/dev/loop-control").exists() && has("losetup");
    if !usable {
        skip(test, "it needs root, /dev/loop-control and losetup");
    }
    usable
}

/// Says on the terminal, past the test harness's capture, that a test was left out.
pub fn skip(test: &str, why: &str) {
    let mut stderr = std::io::stderr();
    let _ = writeln!(stderr, "LEFT OUT: {test} ({why})");
}

/// Whether there is such a program.
pub fn has(program: &str) -> bool {
    ["/usr/sbin", "/usr/bin", "/sbin", "/bin"].iter().any(|directory| Path::new(directory).join(program).exists())
}

/// Runs a program; panics with its words where it fails.
pub fn run(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().unwrap_or_else(|error| panic!("{program}: {error}"));
    assert!(output.status.success(), "{program} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Runs a program that may fail.
pub fn try_run(program: &str, arguments: &[&str]) -> bool {
    Command::new(program).args(arguments).output().is_ok_and(|output| output.status.success())
}

/// A directory of its own, removed in the end.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new() -> Scratch {
        Scratch::below(&std::env::temp_dir())
    }

    pub fn below(directory: &Path) -> Scratch {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("flashscope-host-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = directory.join(name);
        fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }

    /// A file of varied bytes in which no file system can be mistaken.
    pub fn file(&self, name: &str, bytes: usize) -> PathBuf {
        let path = self.0.join(name);
        let content: Vec<u8> = (0..bytes).map(|at| ((at / 512) as u8) ^ 0x5c).collect();
        fs::write(&path, content).unwrap();
        path
    }

    pub fn directory(&self, name: &str) -> PathBuf {
        let path = self.0.join(name);
        fs::create_dir_all(&path).unwrap();
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A loop device, detached in the end.
pub struct Loop {
    pub path: PathBuf,
}

impl Loop {
    pub fn new(file: &Path) -> Loop {
        Loop::with(file, &[])
    }

    pub fn with(file: &Path, options: &[&str]) -> Loop {
        let mut arguments = vec!["--find", "--show"];
        arguments.extend(options);
        arguments.push(file.to_str().unwrap());
        // Someone else may take the free device that losetup found.
        for _ in 0..20 {
            let output = Command::new("losetup").args(&arguments).output().unwrap();
            if output.status.success() {
                return Loop { path: PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()) };
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        panic!("losetup {arguments:?} fails");
    }

    pub fn name(&self) -> &str {
        self.path.to_str().unwrap()
    }

    /// Its directory in sysfs.
    pub fn sysfs(&self) -> PathBuf {
        Path::new("/sys/block").join(self.path.file_name().unwrap())
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").args(["-d", self.name()]).output();
    }
}

/// Runs a command in the end.
pub struct Finally(pub Vec<String>);

impl Finally {
    pub fn run(words: &[&str]) -> Finally {
        Finally(words.iter().map(|word| (*word).to_owned()).collect())
    }
}

impl Drop for Finally {
    fn drop(&mut self) {
        let _ = Command::new(&self.0[0]).args(&self.0[1..]).output();
    }
}

/// The whole content of a file or device.
pub fn content(path: &Path) -> Vec<u8> {
    let file = fs::File::open(path).unwrap();
    let size = rustix::fs::seek(&file, rustix::fs::SeekFrom::End(0)).unwrap();
    let mut bytes = vec![0; size as usize];
    file.read_exact_at(&mut bytes, 0).unwrap();
    bytes
}
