//! A full test of the capacity beside f3write and f3read, in the same run on the same loop device over a file in memory.
//!
//! f3 fills a fresh ext4 on the device, which is unmounted before it reads, so that it reads from the device; the time of making
//! and mounting the file system is not counted. Ours writes and reads the device itself, starts and looks included. Pairs
//! alternate, and the ratio is the median of the pairs' ratios of bytes tested a second.
//!
//! Needs root, f3 and mkfs.ext4; says so where they are missing. Exit code 1 where the target is missed.
//! `cargo bench -p flashscope-cli --bench vs_f3 [-- --pairs N] [--mib N]` (a part of `scripts/prove capacity`).
#![allow(clippy::print_stdout, missing_docs)]

use flashscope_testkit::Targets;
use std::error::Error;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

type Res<T> = Result<T, Box<dyn Error>>;

fn main() -> Res<ExitCode> {
    let arguments: Vec<String> = std::env::args().collect();
    let after =
        |name: &str| arguments.iter().skip_while(|word| *word != name).nth(1).and_then(|text| text.parse().ok());
    let (pairs, mib) = (after("--pairs").unwrap_or(5), after("--mib").unwrap_or(2048));
    let mut targets = Targets::begin(io::stdout())?;
    let target = "full test beside f3write and f3read, bytes a second";
    let there = |tool: &str| {
        Command::new("sh").args(["-c", &format!("command -v {tool}")]).output().is_ok_and(|out| out.status.success())
    };
    let missing = ["f3write", "f3read", "mkfs.ext4", "losetup"].into_iter().find(|tool| !there(tool));
    match (missing, missing.is_none().then(|| Rig::new(mib * (1 << 20))).transpose()) {
        (Some(tool), _) => targets.left_out(target, &format!("there is no {tool}"))?,
        (None, Err(error)) => targets.left_out(target, &format!("no loop device: {error}"))?,
        (None, Ok(None)) => {}
        (None, Ok(Some(rig))) => {
            let mut ratios = Vec::new();
            for pair in 0..pairs {
                let (theirs, ours) = match pair % 2 {
                    0 => (rig.f3()?, rig.ours()?),
                    _ => {
                        let ours = rig.ours()?;
                        (rig.f3()?, ours)
                    }
                };
                println!("pair {}: f3 {:.0} MB/s, ours {:.0} MB/s", pair + 1, theirs / 1e6, ours / 1e6);
                ratios.push(ours / theirs);
            }
            ratios.sort_by(f64::total_cmp);
            targets.at_least(target, 1.0, ratios[ratios.len() / 2], "")?;
        }
    }
    Ok(if targets.end()? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A loop device over a file in memory, and a place to mount it.
struct Rig {
    folder: PathBuf,
    node: String,
    bytes: u64,
}

impl Rig {
    fn new(bytes: u64) -> Res<Rig> {
        let folder = PathBuf::from(format!("/dev/shm/flashscope-vs-f3-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("mount"))?;
        let image = folder.join("card.img");
        File::create(&image)?.set_len(bytes)?;
        let node = said(Command::new("losetup").args(["--find", "--show", "--direct-io=on"]).arg(&image));
        match node {
            Ok(node) => Ok(Rig { folder, node: node.trim().to_owned(), bytes }),
            Err(error) => {
                std::fs::remove_dir_all(&folder)?;
                Err(error)
            }
        }
    }

    fn mount(&self) -> PathBuf {
        self.folder.join("mount")
    }

    /// Bytes that f3write and f3read do a second.
    fn f3(&self) -> Res<f64> {
        let (node, mount) = (self.node.as_str(), self.mount());
        said(Command::new("mkfs.ext4").args(["-q", "-F", "-m", "0", node]))?;
        said(Command::new("mount").arg(node).arg(&mount))?;
        let write = timed(Command::new("f3write").arg(&mount))?;
        let bytes = filled(&mount)?;
        said(Command::new("umount").arg(&mount))?;
        said(Command::new("mount").arg(node).arg(&mount))?;
        let read = timed(Command::new("f3read").arg(&mount))?;
        said(Command::new("umount").arg(&mount))?;
        Ok(bytes as f64 / (write + read))
    }

    /// The same of a full test.
    fn ours(&self) -> Res<f64> {
        let flashscope = env!("CARGO_BIN_EXE_flashscope");
        let identity = format!("loop:{}", self.folder.join("card.img").canonicalize()?.display());
        let time = timed(Command::new(flashscope).current_dir(&self.folder).args([
            "capacity",
            &self.node,
            "--full",
            "--json",
            "--destroy-signatures",
            "--destroy-data",
            &identity,
        ]))?;
        Ok(self.bytes as f64 / time)
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.mount()).stderr(Stdio::null()).status();
        let _ = Command::new("losetup").args(["--detach", &self.node]).status();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn filled(mount: &Path) -> Res<u64> {
    let files = std::fs::read_dir(mount)?.filter_map(Result::ok).filter(|file| file.path().extension().is_some());
    Ok(files.filter_map(|file| file.metadata().ok()).map(|metadata| metadata.len()).sum())
}

fn timed(command: &mut Command) -> Res<f64> {
    let begun = Instant::now();
    said(command)?;
    Ok(begun.elapsed().as_secs_f64())
}

fn said(command: &mut Command) -> Res<String> {
    let output = command.output()?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(format!("{command:?}: {} {}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
        .into())
}
