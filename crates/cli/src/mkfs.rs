//! File systems on devices, and other people's programs that make and check them.

use crate::error::Failure;
use anyhow::anyhow;
use flashscope_host::volume;
use flashscope_units::Bytes;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// A file system: how it is made and checked.
struct Row {
    name: &'static str,
    /// Debian's package with both programs.
    package: &'static str,
    /// Makes it anew. No discards: what a discarded sector holds is nobody's promise, and a device that was brought into a state stays
    /// in it.
    make: &'static [&'static str],
    /// Checks it and changes nothing.
    check: &'static [&'static str],
    /// The least that it takes, as its program says.
    least: Bytes,
}

/// All of them.
const ROWS: [Row; 7] = [
    Row {
        name: "ext4",
        package: "e2fsprogs",
        // Nothing of it is left for the kernel to write later.
        make: &["mkfs.ext4", "-q", "-F", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0"],
        check: &["fsck.ext4", "-f", "-n"],
        least: Bytes::mib(16),
    },
    Row {
        name: "xfs",
        package: "xfsprogs",
        make: &["mkfs.xfs", "-q", "-f", "-K"],
        check: &["xfs_repair", "-n"],
        least: Bytes::mib(300),
    },
    Row {
        name: "btrfs",
        package: "btrfs-progs",
        make: &["mkfs.btrfs", "-q", "-f", "-K"],
        check: &["btrfs", "check", "--readonly"],
        least: Bytes::mib(128),
    },
    Row {
        name: "f2fs",
        package: "f2fs-tools",
        make: &["mkfs.f2fs", "-q", "-f", "-t", "0"],
        check: &["fsck.f2fs", "--dry-run"],
        least: Bytes::mib(64),
    },
    Row {
        name: "ext2",
        package: "e2fsprogs",
        make: &["mkfs.ext2", "-q", "-F", "-E", "nodiscard,lazy_itable_init=0"],
        check: &["fsck.ext2", "-f", "-n"],
        least: Bytes::mib(1),
    },
    Row {
        name: "vfat",
        package: "dosfstools",
        make: &["mkfs.vfat", "-I"],
        check: &["fsck.vfat", "-n"],
        least: Bytes::mib(1),
    },
    Row {
        name: "exfat",
        package: "exfatprogs",
        make: &["mkfs.exfat", "-q"],
        check: &["fsck.exfat", "-n"],
        least: Bytes::mib(1),
    },
];

/// A file system that this kernel has, with its programs found.
pub(crate) struct FileSystem {
    /// As the kernel calls it.
    pub(crate) name: &'static str,
    /// The least that it takes.
    pub(crate) least: Bytes,
    row: &'static Row,
    make: Vec<String>,
    check: Vec<String>,
}

/// Said where a program was ended because the operator wants to stop.
const STOPPED: &str = "stopped";

impl FileSystem {
    /// Finds what is needed to make and mount it.
    ///
    /// # Errors
    /// The kernel has no such file system, nobody here knows how to make it, or its program is not installed; no right to mount.
    pub(crate) fn find(name: &str) -> Result<FileSystem, Failure> {
        let Some(row) = ROWS.iter().find(|row| row.name == name) else {
            let known: Vec<&str> = ROWS.iter().map(|row| row.name).collect();
            return Err(cannot(format!(
                "flashscope does not know how to make {name}\nhint: one of {}; or make and mount it yourself, and name the directory",
                known.join(", ")
            )));
        };
        let is_there = volume::is_there(name)
            .map_err(|_| cannot("only root may mount a file system\nhint: run it with sudo".to_owned()))?;
        if !is_there {
            let all = volume::file_systems().join(", ");
            return Err(cannot(format!(
                "this kernel has no {name}\nhint: it has {all}; or load the module with `modprobe {name}`"
            )));
        }
        let make = found(row.make, row.package)?;
        Ok(FileSystem { name: row.name, least: row.least, row, make, check: Vec::new() })
    }

    /// The same, with the program that checks it.
    ///
    /// # Errors
    /// It is not installed.
    pub(crate) fn with_check(self) -> Result<FileSystem, Failure> {
        Ok(FileSystem { check: found(self.row.check, self.row.package)?, ..self })
    }

    /// What the program that makes it says of itself.
    pub(crate) fn version(&self) -> String {
        version(&self.make[0], "-V")
    }

    /// Makes it anew on a device; ended early where `stop` says so.
    ///
    /// # Errors
    /// What its program says.
    pub(crate) fn make(&self, device: &Path, stop: impl Fn() -> bool) -> Result<(), String> {
        ran(&self.make, device, stop).map_err(|said| format!("`{}` failed: {said}", self.make.join(" ")))
    }

    /// Checks it: what is complained of.
    pub(crate) fn check(&self, device: &Path) -> Option<String> {
        ran(&self.check, device, || false).err()
    }
}

/// A command whose process is none of the operator's terminal's: Ctrl-C is for us.
pub(crate) fn alone(command: &mut Command) {
    command.process_group(0);
}

/// A command with its program's path in front.
///
/// # Errors
/// It is not installed.
pub(crate) fn found(words: &[&str], package: &str) -> Result<Vec<String>, Failure> {
    // Where administrators' programs are is not in everybody's path.
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin", "/sbin"].map(PathBuf::from));
    let program = folders.map(|folder| folder.join(words[0])).find(|path| path.is_file());
    let Some(program) = program else {
        return Err(cannot(format!(
            "`{}` is not installed\nhint: `apt install {package}`, or the package of that name of your system",
            words[0]
        )));
    };
    let rest = words[1..].iter().map(|word| (*word).to_owned());
    Ok(std::iter::once(program.display().to_string()).chain(rest).collect())
}

/// The first line of what a program says of itself.
pub(crate) fn version(program: &str, option: &str) -> String {
    let output = Command::new(program).arg(option).stdin(Stdio::null()).output();
    let said = output.map(|output| [output.stdout, output.stderr].concat()).unwrap_or_default();
    String::from_utf8_lossy(&said).lines().find(|line| !line.trim().is_empty()).unwrap_or(program).trim().to_owned()
}

/// Runs a command on a device: what it said, where it did not end well.
fn ran(words: &[String], device: &Path, stop: impl Fn() -> bool) -> Result<(), String> {
    /// How often it is looked whether it has ended, and whether it should.
    const LOOK: Duration = Duration::from_millis(20);
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).arg(device).env("LC_ALL", "C").stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    alone(&mut command);
    let mut child = command.spawn().map_err(|error| format!("cannot start {}: {error}", words[0]))?;
    // What it says is read meanwhile, or a talkative one would wait for us.
    let says = [child.stdout.take().map(reader), child.stderr.take().map(reader)];
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if stop() => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(STOPPED.to_owned());
            }
            Ok(None) => std::thread::sleep(LOOK),
            Err(error) => return Err(format!("cannot wait for {}: {error}", words[0])),
        }
    };
    if status.success() {
        return Ok(());
    }
    /// Lines of a complaint that are kept.
    const KEPT: usize = 4;
    let said: Vec<u8> = says.into_iter().flatten().flat_map(|reader| reader.join().unwrap_or_default()).collect();
    let said = String::from_utf8_lossy(&said).into_owned();
    let lines = said.lines().map(str::trim).filter(|line| !line.is_empty() && !is_usual(line));
    let kept: Vec<&str> = lines.take(KEPT).collect();
    Err(format!("{status}: {}", kept.join("; ")))
}

fn reader(mut from: impl std::io::Read + Send + 'static) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut said = Vec::new();
        // What was read until it broke is what there is to say.
        let _ = from.read_to_end(&mut said);
        said
    })
}

/// What such programs say however it goes.
fn is_usual(line: &str) -> bool {
    ["e2fsck ", "Pass ", "Phase ", "mke2fs ", "Opening filesystem", "Checking filesystem", "UUID:", "- "]
        .iter()
        .any(|start| line.starts_with(start))
}

fn cannot(why: String) -> Failure {
    Failure::Cannot(anyhow!(why))
}
