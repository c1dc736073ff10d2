//! The options of a mounted file system, changed by remounting it and put back.

use super::error::KnobError;
use super::file::said;
use crate::mounts::{self, MountedAt};
use crate::sysfs::SysRoot;
use rustix::mount::{MountFlags, mount_remount};
use std::path::{Path, PathBuf};

/// Options that are the mount's own, not the file system's: they change for this place alone.
const OF_THE_MOUNT: [(&str, MountFlags); 7] = [
    ("noatime", MountFlags::NOATIME),
    ("nodiratime", MountFlags::NODIRATIME),
    ("relatime", MountFlags::RELATIME),
    ("strictatime", MountFlags::STRICTATIME),
    ("nosuid", MountFlags::NOSUID),
    ("nodev", MountFlags::NODEV),
    ("noexec", MountFlags::NOEXEC),
];

/// Options of every file system, which the kernel takes as flags.
const OF_ALL: [(&str, MountFlags); 4] = [
    ("ro", MountFlags::RDONLY),
    ("sync", MountFlags::SYNCHRONOUS),
    ("dirsync", MountFlags::DIRSYNC),
    ("lazytime", MountFlags::LAZYTIME),
];

/// Of these one is in force; where none is shown it is the last.
const ACCESS_TIMES: [&str; 3] = ["noatime", "relatime", "strictatime"];

/// The options of one mount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mount {
    sys: SysRoot,
    point: PathBuf,
    /// The file system that is mounted there, by the kernel's number.
    device: String,
    /// The options before anything was changed.
    before: Vec<String>,
}

impl Mount {
    /// The mount that a path lies on; `None` where the kernel does not tell.
    pub(super) fn of(sys: &SysRoot, path: &Path) -> Option<Mount> {
        let MountedAt { point, device, options, .. } = mounts::mounted_at(sys, path)?;
        Some(Mount { sys: sys.clone(), point, device: device.to_string(), before: options })
    }

    /// The same of what was written down earlier.
    pub(super) fn noted(sys: &SysRoot, point: PathBuf, device: &str, value: &str) -> Mount {
        Mount { sys: sys.clone(), point, device: device.to_owned(), before: words(value) }
    }

    pub(super) fn point(&self) -> &Path {
        &self.point
    }

    /// The file system, by the kernel's number; `None` where another one, or none, is mounted there now.
    pub(super) fn device(&self) -> Option<&str> {
        self.now().is_ok().then_some(self.device.as_str())
    }

    /// All options, in the kernel's order.
    pub(super) fn read(&self) -> Result<String, KnobError> {
        Ok(self.now()?.join(","))
    }

    /// Whether options that were read are these: what was asked for over what was there before, and nothing else.
    pub(super) fn says(&self, found: &str, value: &str) -> bool {
        self.wanted(value).is_ok_and(|wanted| self.differing(&wanted, &words(found)).next().is_none())
    }

    /// Remounts with these options over those of before. Whether they hold is for whoever reads them back.
    pub(super) fn write(&self, value: &str) -> Result<(), KnobError> {
        let (now, wanted) = (self.now()?, self.wanted(value)?);
        let of_the_mount = |word: &String| flag(&OF_THE_MOUNT, word).is_some();
        let (mut flags, mut data) = (MountFlags::empty(), Vec::new());
        for word in &wanted {
            match flag(&OF_THE_MOUNT, word).or_else(|| flag(&OF_ALL, word)) {
                Some(found) => flags |= found,
                None if word == "rw" || opposite(word).is_some_and(|word| flag(&OF_ALL, &word).is_some()) => {}
                None => data.push(word.clone()),
            }
        }
        if self.differing(&wanted, &now).all(of_the_mount) {
            (flags, data) = (flags | MountFlags::BIND, Vec::new());
        } else {
            // What the file system is to leave off it must be told.
            let extra =
                now.iter().filter(|word| !wanted.contains(word) && !wanted.iter().any(|other| same_key(other, word)));
            data.extend(
                extra
                    .filter(|word| flag(&OF_ALL, word).is_none() && !of_the_mount(word))
                    .filter_map(|word| opposite(word)),
            );
        }
        let refused = |errno: rustix::io::Errno| KnobError::Refused {
            path: self.point.clone(),
            value: value.to_owned(),
            said: said(&errno.into()),
        };
        mount_remount(self.sys.path(&self.point), flags, data.join(",")).map_err(refused)
    }

    /// The options in which what holds differs from what is wanted. Of access times none is shown where they are strict, and what was
    /// on and is switched off is shown by its absence.
    fn differing<'a>(&'a self, wanted: &'a [String], now: &'a [String]) -> impl Iterator<Item = &'a String> {
        let is_off = |word: &str| match word {
            "strictatime" => !now.iter().any(|other| ACCESS_TIMES.contains(&other.as_str())),
            _ => opposite(word).is_some_and(|on| self.before.contains(&on) && !now.contains(&on)),
        };
        let missing = move |word: &&String| !now.contains(word) && !is_off(word);
        wanted.iter().filter(missing).chain(now.iter().filter(|word| !wanted.contains(word)))
    }

    fn now(&self) -> Result<Vec<String>, KnobError> {
        let gone = || KnobError::NotAllowed {
            path: self.point.clone(),
            writing: false,
            said: "the file system is not mounted there any more".to_owned(),
        };
        let found = mounts::mounted_at(&self.sys, &self.point).ok_or_else(gone)?;
        if found.point != self.point || found.device.to_string() != self.device {
            Err(gone())
        } else {
            Ok(found.options)
        }
    }

    /// Typed options over those of before.
    fn wanted(&self, value: &str) -> Result<Vec<String>, KnobError> {
        let refused = |said: String| KnobError::Refused { path: self.point.clone(), value: value.to_owned(), said };
        let mut all = self.before.clone();
        for word in words(value) {
            if word.is_empty() {
                return Err(refused("an option is empty".to_owned()));
            }
            if let Some((key, _)) = word.split_once('=')
                && !self.before.iter().any(|other| same_key(other, &word))
            {
                return Err(refused(format!("what {key} is now is not shown, so it could not be put back")));
            }
            let against = opposite(&word);
            all.retain(|other| {
                let one_of = |words: &[&str]| words.contains(&word.as_str()) && words.contains(&other.as_str());
                Some(other) != against.as_ref()
                    && !same_key(other, &word)
                    && !one_of(&ACCESS_TIMES)
                    && !one_of(&["ro", "rw"])
            });
            all.push(word);
        }
        Ok(all)
    }
}

fn words(text: &str) -> Vec<String> {
    text.split(',').map(|word| word.trim().to_owned()).collect()
}

fn flag(table: &[(&str, MountFlags)], word: &str) -> Option<MountFlags> {
    table.iter().find(|(name, _)| *name == word).map(|(_, flag)| *flag)
}

/// Whether two options set the same: one word, or values of one key.
fn same_key(one: &str, other: &str) -> bool {
    match (one.split_once('='), other.split_once('=')) {
        (Some((one, _)), Some((other, _))) => one == other,
        _ => one == other,
    }
}

/// What undoes an option that is on or off; `None` of a value, and of access times, of which another one undoes it.
fn opposite(word: &str) -> Option<String> {
    if word.contains('=') || ACCESS_TIMES.contains(&word) || ["ro", "rw"].contains(&word) {
        return None;
    }
    Some(word.strip_prefix("no").map_or_else(|| format!("no{word}"), str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mount(before: &str) -> Mount {
        Mount::noted(&SysRoot::live(), PathBuf::from("/nowhere"), "7:0", before)
    }

    #[test]
    fn what_is_typed_goes_over_what_was_there() {
        let check = |before: &str, typed: &str, expect: &str| {
            assert_eq!(mount(before).wanted(typed).expect("sound"), words(expect), "{before} and {typed}");
        };
        check("rw,relatime", "noatime", "rw,noatime");
        check("rw,relatime,discard", "nodiscard", "rw,relatime,nodiscard");
        check("rw,relatime,commit=30", "commit=5,sync", "rw,relatime,commit=5,sync");
        check("rw,relatime", "ro", "relatime,ro");
        check("rw,relatime", "rw", "relatime,rw");
        let error = mount("rw,relatime").wanted("commit=30").expect_err("nobody knows what it is now").to_string();
        assert!(error.contains("could not be put back"), "{error}");
        assert!(mount("rw").wanted("noatime,,sync").is_err());
    }

    #[test]
    fn an_option_that_is_off_need_not_be_shown() {
        let check = |before: &str, typed: &str, found: &str, expect: bool| {
            assert_eq!(mount(before).says(found, typed), expect, "{before}, {typed}: {found}");
        };
        check("rw,relatime", "noatime", "rw,noatime", true);
        check("rw,relatime", "noatime", "rw,relatime", false);
        check("rw,relatime", "strictatime", "rw", true);
        check("rw,relatime,discard", "nodiscard", "rw,relatime", true);
        check("rw,relatime", "nodelalloc", "rw,relatime", false);
        check("rw,relatime", "discard", "rw,relatime", false);
        check("rw,relatime", "rw", "rw,relatime,discard", false);
        check("rw,noatime", "rw", "rw,noatime", true);
        check("rw,noatime,nobarrier", "rw", "rw,noatime", false);
    }
}
