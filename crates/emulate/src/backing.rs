//! The backing file: the bytes in one file, as on the device; model, seed and what was done in the one beside it, `.state`.

use crate::disk::Disk;
use crate::error::EmulateError;
use crate::journal::{Head, Journal, Unreadable};
use crate::payload::Payload;
use crate::versions::Versions;
use flashscope_device::Target;
use flashscope_sim::SimTarget;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Opens a backing file, or begins one, and brings its device back; says what there is to say about that.
///
/// # Errors
/// In use, of another model or seed, too small, damaged, no file of ours at all.
pub(crate) fn open(
    file: &Path,
    target: SimTarget,
    model: String,
    seed: u64,
) -> Result<(Disk, Vec<String>), EmulateError> {
    let state_path = state_of(file);
    let capacity = target.facts().capacity.get();
    let bytes = open_file(file)?;
    let state = open_file(&state_path)?;
    match state.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(EmulateError::Running { what: file.to_owned(), process: None }),
        Err(TryLockError::Error(said)) => return Err(system("lock", &state_path, said)),
    }
    let size =
        |of: &File, path: &Path| of.metadata().map(|data| data.len()).map_err(|said| system("look at", path, said));
    let wanted = Head { seed, capacity, model };
    if size(&state, &state_path)? == 0 {
        if size(&bytes, file)? != 0 {
            // Ours from this moment, and of no use.
            let _ = std::fs::remove_file(&state_path);
            return Err(bad(
                file,
                format!("is not empty, and there is no {} that says of which device it is", state_path.display()),
                "name a file that is not there yet, or bring the one that belongs to it".to_owned(),
            ));
        }
        if !target.has_faults() {
            bytes.set_len(capacity).map_err(|said| no_room(file, capacity, said))?;
        }
        let journal = Journal::create(state, &wanted).map_err(|said| system("write", &state_path, said))?;
        let disk = make(target, bytes);
        disk.keep(journal);
        return Ok((disk, Vec::new()));
    }
    let unreadable = |error| match error {
        Unreadable::Damaged(why) => bad(
            file,
            format!("cannot be brought back: {} is damaged: {why}", state_path.display()),
            format!("restore it from a copy, or begin anew: rm {} {}", file.display(), state_path.display()),
        ),
        Unreadable::Io(said) => system("read", &state_path, said),
    };
    let (head, from) = Journal::head(&state).map_err(unreadable)?;
    let there = size(&bytes, file)?;
    check(file, &head, &wanted)?;
    let disk = make(target, bytes);
    let (journal, cut) = Journal::replay(state, from, |record| disk.repeat(record)).map_err(unreadable)?;
    let needed = disk.kept_bytes();
    if there < needed {
        return Err(bad(
            file,
            format!("is too small: {there} bytes of {needed}"),
            "it was cut off: restore it from a copy, or begin anew".to_owned(),
        ));
    }
    disk.keep(journal);
    let told = cut.then(|| {
        format!("{}: its last entry was cut off (the emulator was killed) and is dropped", state_path.display())
    });
    Ok((disk, told.into_iter().collect()))
}

fn check(file: &Path, head: &Head, wanted: &Head) -> Result<(), EmulateError> {
    if head.model != wanted.model {
        let differs = head.model.lines().zip(wanted.model.lines()).find(|(its, ours)| its != ours);
        let where_ = differs.map_or(String::new(), |(its, ours)| format!(" (there `{its}`, here `{ours}`)"));
        return Err(bad(
            file,
            format!("is of another model{where_}"),
            "name the model and the changes to it that it was made with, or another file".to_owned(),
        ));
    }
    if head.seed != wanted.seed {
        return Err(bad(
            file,
            format!("is of another device of this model: its seed is {}, not {}", head.seed, wanted.seed),
            format!("add --seed {}", head.seed),
        ));
    }
    Ok(())
}

/// Of a device that can lose what it had taken, all that was written is kept, one after the other.
fn make(target: SimTarget, bytes: File) -> Disk {
    let payload = if target.has_faults() { Payload::Versions(Versions::in_file(bytes)) } else { Payload::File(bytes) };
    Disk::new(target, payload)
}

fn state_of(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".state");
    PathBuf::from(name)
}

fn open_file(path: &Path) -> Result<File, EmulateError> {
    let mut options = OpenOptions::new();
    // What a device holds is its owner's business.
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    let file = options.open(path).map_err(|said| {
        bad(path, format!("cannot be opened: {said}"), "name a file in a directory that can be written to".to_owned())
    })?;
    match file.metadata() {
        Ok(data) if data.is_file() => Ok(file),
        _ => Err(bad(path, "is not a regular file".to_owned(), "name a file that is not there yet".to_owned())),
    }
}

fn no_room(file: &Path, capacity: u64, said: io::Error) -> EmulateError {
    bad(
        file,
        format!("cannot be made {capacity} bytes long: {said}"),
        "name a file on a file system that holds files of this size (it stays sparse)".to_owned(),
    )
}

fn bad(file: &Path, why: String, hint: String) -> EmulateError {
    EmulateError::BadBacking { file: file.to_owned(), why, hint }
}

fn system(operation: &'static str, path: &Path, said: io::Error) -> EmulateError {
    EmulateError::System { operation, path: path.to_owned(), said }
}
