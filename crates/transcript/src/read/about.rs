//! Which device a log is about: its names, its path, its size, and whether it is one device at all.

use super::identity::{Fact, Field};
use super::notes::Notes;
use super::{LogDevice, SEVERAL_DEVICES};
use flashscope_units::Bytes;

/// Statements about the device beyond this are left out: a log has a screenful at most.
const MAX_FACTS: usize = 256;

/// What a log said about its device so far.
#[derive(Default)]
pub(super) struct About {
    device: LogDevice,
    facts: Vec<Fact>,
    paths: Vec<String>,
    /// The disk of the first test.
    tested: Option<String>,
    /// Why the log is about more than one device, where it is.
    several: Option<String>,
}

/// What a whole log says about its device.
pub(super) struct Said {
    pub(super) device: Option<LogDevice>,
    pub(super) capacity: Option<Bytes>,
    pub(super) several_devices: bool,
}

impl About {
    /// Takes what a line says about the device.
    pub(super) fn fact(&mut self, fact: Fact) {
        match fact {
            Fact::Size(_, size) if size > Bytes::LARGEST => {}
            Fact::Field(field, value) => {
                let slot = field.of(&mut self.device);
                match slot {
                    None => *slot = Some(value),
                    Some(old) if *old != value && field == Field::Cid => {
                        let why = format!("CID {old} and {value}");
                        self.several.get_or_insert(why);
                    }
                    Some(_) => {}
                }
            }
            Fact::Path(path) => {
                self.tested(&path);
                self.path(path);
            }
            fact if self.facts.len() < MAX_FACTS => self.facts.push(fact),
            _ => {}
        }
    }

    /// A device with this path is named.
    pub(super) fn path(&mut self, path: String) {
        if path.starts_with("/dev/") && !self.paths.contains(&path) && self.paths.len() < MAX_FACTS {
            self.paths.push(path);
        }
    }

    /// The device under test is at this path: those of one log are one disk, or its parts.
    pub(super) fn tested(&mut self, path: &str) {
        let disk = |path: &str| whole_disk(disk(path)).to_owned();
        match &self.tested {
            None => self.tested = Some(disk(path)),
            Some(first) if *first != disk(path) && path.starts_with("/dev/") => {
                let why = format!("tests of {first} and of {}", disk(path));
                self.several.get_or_insert(why);
            }
            Some(_) => {}
        }
    }

    /// Sums it up, with a note for whatever is odd.
    pub(super) fn finish(mut self, notes: &mut Notes) -> Said {
        self.device.path = self.paths.first().cloned();
        if let ([_, _, ..], None) = (self.paths.as_slice(), &self.several) {
            let paths = self.paths.join(", ");
            notes.push(format!("several devices are named ({paths}); all tables are taken as of one"));
        }
        let capacity = self.capacity(notes).filter(|_| self.several.is_none());
        if let Some(why) = &self.several {
            notes.push(format!("{SEVERAL_DEVICES}: {why}; all tables are taken as of one"));
        }
        let device = Some(self.device).filter(|device| *device != LogDevice::default());
        Said { device, capacity, several_devices: self.several.is_some() }
    }

    /// The exact size of the device under test: a disk of another name is another disk.
    fn capacity(&mut self, notes: &mut Notes) -> Option<Bytes> {
        let facts = std::mem::take(&mut self.facts);
        for fact in &facts {
            if let Fact::Roughly(path, size, name) = fact {
                let tested = self.device.path.as_deref().is_none_or(|tested| disk(tested).starts_with(disk(path)));
                if tested && self.device.name.is_none() {
                    self.device.name.clone_from(name);
                }
                notes.push(format!("{path} is said to have {size}: rounded, so not taken as its size"));
            }
        }
        let sizes = facts.iter().filter_map(|fact| match fact {
            Fact::Size(path, bytes) => Some((path.as_deref(), *bytes)),
            _ => None,
        });
        let tested = self.device.path.as_deref();
        let mut same: Vec<Bytes> = sizes
            .clone()
            .filter(|(path, _)| path.is_none() || tested.is_none() || path.map(disk) == tested.map(disk))
            .map(|(_, bytes)| bytes)
            .filter(|bytes| *bytes > Bytes::ZERO)
            .collect();
        same.sort();
        same.dedup();
        match same.as_slice() {
            [size] => Some(*size),
            [] => {
                if let Some((Some(path), bytes)) = sizes.clone().next() {
                    let tested = tested.unwrap_or("the device").to_owned();
                    notes.push(format!("{path} has {} bytes, but {tested} was tested: not taken as its size", bytes.0));
                }
                None
            }
            _ => {
                notes.push("the log states several sizes; none is taken".to_owned());
                let of = |wanted: Option<&str>| {
                    let mut sizes = sizes.clone().filter(move |(path, _)| *path == wanted).map(|(_, bytes)| bytes);
                    let first = sizes.next()?;
                    sizes.find(|bytes| *bytes != first).map(|other| (first, other))
                };
                // A list of all disks has several sizes too, but one for each.
                if let Some((first, other)) = sizes.clone().find_map(|(path, _)| of(path)) {
                    self.several.get_or_insert(format!("sizes of {} and {} bytes", first.0, other.0));
                }
                None
            }
        }
    }
}

/// The last part of a path: the same disk is `/dev/block/mmcblk0` elsewhere.
fn disk(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Without the number of a partition.
fn whole_disk(name: &str) -> &str {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    match stem.strip_suffix('p') {
        Some(disk) if disk.ends_with(|c: char| c.is_ascii_digit()) => disk,
        _ if stem.starts_with("mmcblk") || stem.starts_with("nvme") || stem.is_empty() => name,
        _ => stem,
    }
}
