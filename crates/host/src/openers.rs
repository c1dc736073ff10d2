//! Which processes have a device or file open for writing, as far as `/proc` lets us see.

use crate::blocks::FileId;
use crate::sysfs::names;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// A process that has it open for writing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Opener {
    pub(crate) pid: u32,
    pub(crate) command: String,
}

/// All of them but ourselves that have any of these files open for writing. Other users' processes are only visible to root.
pub(crate) fn writers(files: &[FileId], path: &Path) -> Vec<Opener> {
    let canonical = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mut pids: Vec<u32> = names(Path::new("/proc")).into_iter().filter_map(|name| name.parse().ok()).collect();
    pids.retain(|pid| *pid != std::process::id() && writes(*pid, files, &canonical));
    for _ in 0..LOOKS {
        if pids.is_empty() {
            break;
        }
        std::thread::sleep(BETWEEN_LOOKS);
        pids.retain(|pid| writes(*pid, files, &canonical));
    }
    pids.into_iter()
        .map(|pid| {
            let command = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default().trim().to_owned();
            Opener { pid, command }
        })
        .collect()
}

/// Whoever writes is looked at again so often: a program that starts another one leaves its files open in that one until
/// the other program takes over, and a program that looks for new disks opens each for a moment.
const LOOKS: u32 = 10;
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// `dd (process 123), qemu (process 456)`.
pub(crate) fn in_words(openers: &[Opener]) -> String {
    let words = openers.iter().map(|opener| format!("{} (process {})", opener.command, opener.pid));
    words.collect::<Vec<_>>().join(", ")
}

fn writes(pid: u32, files: &[FileId], canonical: &Path) -> bool {
    let block = files.iter().any(|file| matches!(file, FileId::Block(_)));
    let directory = format!("/proc/{pid}/fd");
    names(Path::new(&directory)).iter().any(|descriptor| {
        let link = Path::new(&directory).join(descriptor);
        // Only likely ones are looked at, since looking at a file on a dead network share would hang.
        let likely = fs::read_link(&link)
            .is_ok_and(|target| if block { target.starts_with("/dev") } else { target == canonical });
        likely && FileId::of(&link).is_some_and(|file| files.contains(&file)) && opened_for_writing(pid, descriptor)
    })
}

/// The octal `flags:` of fdinfo: the lowest two bits are zero for a file opened for reading only.
fn opened_for_writing(pid: u32, descriptor: &str) -> bool {
    let info = fs::read_to_string(format!("/proc/{pid}/fdinfo/{descriptor}")).unwrap_or_default();
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
    flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok()).is_some_and(|flags| flags & 3 != 0)
}
