//! A folder for the files of many runs.

use crate::error::HostError;
use crate::outputs::is_among_devices;
use std::path::{Path, PathBuf};

/// A folder that holds what runs leave. One that was made for a while only is removed with all that is in it when this is dropped.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    for_a_while: bool,
}

impl Folder {
    /// The folder of this name, made where it is not there; its own folder must be.
    ///
    /// # Errors
    /// Where it cannot be made, is none, or would lie among devices.
    pub fn kept(path: &Path) -> Result<Folder, HostError> {
        let above = path.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let above = above.canonicalize().map_err(|error| HostError::from_io("find", above, &error))?;
        if is_among_devices(&above) {
            let error = std::io::Error::other("no folder is made among devices");
            return Err(HostError::from_io("make", path, &error));
        }
        match std::fs::create_dir(path) {
            Ok(()) => {}
            Err(_) if path.is_dir() => {}
            Err(error) => return Err(HostError::from_io("make", path, &error)),
        }
        Ok(Folder { path: path.to_owned(), for_a_while: false })
    }

    /// A new folder among the temporary ones, which nobody else can look into.
    ///
    /// # Errors
    /// Where it cannot be made.
    pub fn for_a_while(name: &str) -> Result<Folder, HostError> {
        use std::os::unix::fs::DirBuilderExt;
        let path = std::env::temp_dir().join(format!("flashscope-{name}-{}", std::process::id()));
        let made = std::fs::DirBuilder::new().mode(0o700).create(&path);
        made.map_err(|error| HostError::from_io("make", &path, &error))?;
        Ok(Folder { path, for_a_while: true })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.for_a_while {
            // What cannot be removed lies among temporary files.
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}
