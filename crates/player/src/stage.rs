//! Where apps are played: a directory of this player's own, in a directory that is there or on a file system that it mounts for
//! itself alone.

use anyhow::{Context, anyhow};
use flashscope_app::wire::{Above, Ground, Mount, Opened, Room};
use flashscope_host::SysRoot;
use flashscope_host::load::{Folder, OwnFolder};
use flashscope_host::volume::{self, Volume};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The call by which SQLite waits for the medium, as `.cargo/config.toml` has it built. A test watches the calls.
const SYNC_CALL: &str = "fdatasync";

/// What directories of players are called, with the number of the process behind it.
const NAME: &str = "flashscope-app-";

/// A directory of this player's own. It goes when this is dropped, with all that is in it, unless it is to be kept.
pub(crate) struct Stage {
    path: PathBuf,
    keep: bool,
    /// Before what they lie in, so that they go first; likewise the volume goes last.
    runs: HashMap<String, OwnFolder>,
    own: OwnFolder,
    volume: Option<Volume>,
}

impl Stage {
    /// Makes one. To be called while this program has one thread: it may leave the mounts that others see.
    ///
    /// # Errors
    /// No such directory, nothing that can be mounted, or no right to.
    pub(crate) fn open(ground: &Ground) -> anyhow::Result<(Stage, Opened)> {
        let (above, volume) = match &ground.above {
            Above::Directory(path) => (PathBuf::from(path), None),
            Above::Mount(mount) => {
                volume::live_alone()?;
                let Mount { device, file_system, options } = mount;
                let volume =
                    Volume::mount(Path::new(device), file_system, options).map_err(|why| match &options[..] {
                        "" => anyhow!(
                            "{why}\nhint: `dmesg` says why; `flashscope capacity` tells whether the device keeps what is written"
                        ),
                        _ => anyhow!(
                            "{why}\nhint: leave out --fs-options {options}, or take one of `man 5 {file_system}`"
                        ),
                    })?;
                (volume.path("."), Some(volume))
            }
        };
        let left = left_behind(&above);
        let path = above.join(format!("{NAME}{}", std::process::id()));
        let own = OwnFolder::make(&path, ground.keep, true)?;
        let facts = Folder::open(&path)?.facts(&SysRoot::live())?;
        let opened = Opened {
            sqlite: rusqlite::version().to_owned(),
            sync_call: SYNC_CALL.to_owned(),
            path: path.display().to_string(),
            left: left.iter().map(|path| path.display().to_string()).collect(),
            file_system: facts.file_system,
            options: facts.options,
            capacity: facts.capacity.get(),
            free: facts.free.get(),
            device: facts.device,
        };
        Ok((Stage { path, keep: ground.keep, runs: HashMap::new(), own, volume }, opened))
    }

    /// A new directory for the files of a run.
    ///
    /// # Errors
    /// It cannot be made.
    pub(crate) fn of_run(&mut self, name: &str) -> anyhow::Result<PathBuf> {
        let path = self.path.join(name);
        let own = OwnFolder::make(&path, self.keep, true)?;
        self.runs.insert(name.to_owned(), own);
        // SQLite opens files by their path, whatever the working directory is.
        path.canonicalize().with_context(|| format!("cannot find {}", path.display()))
    }

    /// Removes the files of a run, unless they are to be kept.
    pub(crate) fn remove(&mut self, name: &str) {
        self.runs.remove(name);
    }

    /// Deletes a share of the photos that runs have left, again and again, until so much is free. Where no photo is left it is for
    /// the app to find no room.
    ///
    /// # Errors
    /// A photo cannot be deleted.
    pub(crate) fn make_room(&self, room: &Room) -> anyhow::Result<()> {
        let free = || anyhow::Ok(Folder::open(&self.path)?.facts(&SysRoot::live())?.free.get());
        while free()? < room.wanted {
            let mut photos: Vec<PathBuf> =
                room.albums.iter().flat_map(|name| files(&self.path.join(name).join("DCIM"))).collect();
            let count = (photos.len() as f64 * room.share).ceil() as usize;
            if count == 0 {
                return Ok(());
            }
            photos.sort();
            photos.truncate(count);
            for photo in photos {
                let (Some(folder), Some(name)) = (photo.parent(), photo.file_name().and_then(|name| name.to_str()))
                else {
                    continue;
                };
                Folder::open(folder)?.remove(name)?;
            }
        }
        Ok(())
    }

    /// Removes what was made and unmounts what was mounted.
    ///
    /// # Errors
    /// The device did not take what was written.
    pub(crate) fn close(self) -> anyhow::Result<()> {
        let Stage { runs, own, volume, .. } = self;
        drop(runs);
        drop(own);
        Ok(volume.map_or(Ok(()), Volume::unmount)?)
    }
}

/// Directories of players that are not there any more.
fn left_behind(above: &Path) -> Vec<PathBuf> {
    let names = std::fs::read_dir(above).into_iter().flatten().filter_map(Result::ok);
    let of_none = |name: &str| {
        let process = name.strip_prefix(NAME)?.parse::<u32>().ok()?;
        (!Path::new(&format!("/proc/{process}")).exists()).then_some(())
    };
    names.filter(|entry| entry.file_name().to_str().and_then(of_none).is_some()).map(|entry| entry.path()).collect()
}

/// All files below a directory; none where there is none.
fn files(below: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(below).into_iter().flatten().filter_map(Result::ok);
    entries
        .flat_map(|entry| match entry.file_type() {
            Ok(kind) if kind.is_dir() => files(&entry.path()),
            Ok(kind) if kind.is_file() => vec![entry.path()],
            _ => Vec::new(),
        })
        .collect()
}
