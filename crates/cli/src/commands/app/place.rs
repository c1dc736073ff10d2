//! Where apps are played: a directory that is there, or a file system that is made on a device for them.

use super::cannot;
use crate::args::{AppSettings, Consent, TargetArgs};
use crate::error::Failure;
use crate::mkfs::FileSystem;
use crate::target::{self, Opened, Writes};
use crate::{interrupt, output};
use flashscope_app::wire::{Above, Ground, Mount};
use flashscope_device::Target;
use flashscope_host::{Surroundings, SysRoot};
use flashscope_model::DeviceFacts;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// The file system that most devices with such apps on them have.
const USUAL: &str = "ext4";

/// A place, ready to be played in.
pub(super) struct Place {
    /// As it was named.
    pub(super) target: String,
    /// The directory, where it is one.
    pub(super) directory: Option<String>,
    /// What the player is told.
    pub(super) ground: Ground,
    /// What surrounds it.
    pub(super) here: Surroundings,
}

/// Finds it; a device is given its file system.
///
/// # Errors
/// There is no such thing, or nothing that can be written to; refused for safety.
pub(super) fn find(target: &str, settings: &AppSettings) -> Result<Place, Failure> {
    let path = Path::new(target);
    if path.is_dir() {
        return directory(target, settings);
    }
    if target.starts_with("sim:") {
        return Err(cannot(format!(
            "apps are played on a file system, and {target} has none yet\nhint: `flashscope emulate {target}` makes a block device of it; mkfs and mount that, and name the directory"
        )));
    }
    match path.metadata() {
        Ok(found) if found.file_type().is_block_device() => on_device(target, settings),
        Ok(_) => Err(cannot(format!(
            "{target} is no directory and no block device\nhint: `losetup --find --show --direct-io=on {target}` makes a block device of a file"
        ))),
        Err(_) => {
            target::meant_simulated(path)?;
            Err(cannot(format!("there is no directory {target}")))
        }
    }
}

fn directory(target: &str, settings: &AppSettings) -> Result<Place, Failure> {
    let given = [
        ("--fs", settings.fs.is_some()),
        ("--fs-options", settings.fs_options.is_some()),
        ("--destroy-data", settings.destroy_data.is_some()),
        ("--destroy-signatures", settings.destroy_signatures),
    ];
    if let Some((word, _)) = given.iter().find(|(_, given)| *given) {
        return Err(cannot(format!(
            "{target} is a directory, whose file system is there already\nhint: leave out {word}, or name a device"
        )));
    }
    Ok(Place {
        target: target.to_owned(),
        directory: Some(target.to_owned()),
        ground: Ground { above: Above::Directory(target.to_owned()), keep: settings.keep_files },
        here: Surroundings::of(&SysRoot::live(), Path::new(target)),
    })
}

/// A block device of this machine, which the operator lets go of what it holds.
fn on_device(target: &str, settings: &AppSettings) -> Result<Place, Failure> {
    let file_system = FileSystem::find(settings.fs.as_deref().unwrap_or(USUAL))?;
    let consent = Consent {
        max_write: None,
        read_only: false,
        allow_write: false,
        destroy_data: settings.destroy_data.iter().cloned().collect(),
        destroy_signatures: settings.destroy_signatures,
        read_in_use: false,
    };
    let asked = TargetArgs { target: target.to_owned(), seed: settings.seed, consent, allow_cached: false };
    // How much the kernel writes for a file system nobody can say beforehand: the consent is to all of the device.
    let all = |facts: &DeviceFacts| {
        has_room(facts, &file_system)?;
        Ok(facts.capacity)
    };
    let Opened::Host { target: opened, grant: Some(grant), here } = target::open(&asked, Writes::Exactly(&all))? else {
        return Err(cannot(format!("{target} cannot be written to")));
    };
    // Whoever makes and mounts file systems opens it exclusively, as it was until now.
    drop((opened, grant));
    made(&file_system, Path::new(target))?;
    Ok(Place {
        target: target.to_owned(),
        directory: None,
        ground: ground(&file_system, Path::new(target), settings),
        here: *here,
    })
}

fn has_room(facts: &DeviceFacts, file_system: &FileSystem) -> Result<(), Failure> {
    if facts.capacity >= file_system.least {
        return Ok(());
    }
    let FileSystem { name, least, .. } = file_system;
    Err(cannot(format!(
        "{} is too small for {name}: it takes {least}\nhint: a larger device, or another --fs",
        facts.capacity
    )))
}

/// Makes the file system.
fn made(file_system: &FileSystem, device: &Path) -> Result<(), Failure> {
    interrupt::arm();
    output::talk(&format!("making {} on {}", file_system.name, device.display()));
    file_system.make(device, interrupt::asked).map_err(|why| match interrupt::asked() {
        true => cannot("interrupted before anything was played".to_owned()),
        false => cannot(why),
    })
}

fn ground(file_system: &FileSystem, device: &Path, settings: &AppSettings) -> Ground {
    let mount = Mount {
        device: device.display().to_string(),
        file_system: file_system.name.to_owned(),
        options: settings.fs_options.clone().unwrap_or_default(),
    };
    Ground { above: Above::Mount(mount), keep: settings.keep_files }
}

impl Place {
    /// What was made for it goes.
    ///
    /// # Errors
    /// It does not go.
    pub(super) fn close(self) -> Result<(), Failure> {
        Ok(())
    }
}
