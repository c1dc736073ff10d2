//! Files `1.h2w`, `2.h2w`, … in a directory as one space: the format that f3write writes, and f3read and H2testw read.
//!
//! File *N* is the *N*th GiB of the space; only the last may be smaller. What a write carries follows from its place alone
//! (`pattern`), so that every tagged write is taken for that, whatever its generation, and what a read finds is told with the
//! generation that it was asked for.

mod pattern;
mod set;

pub use set::H2wSet;

use crate::buffer::AlignedBuffer;
use crate::clock::MonotonicClock;
use crate::errno::{self, Verdict};
use crate::error::HostError;
use crate::open::in_memory;
use flashscope_device::{
    Capabilities, Completion, Consent, Content, DeviceError, Fill, Op, Outcome, Request, SafetyReport, Seal, Target,
    Wear, WriteGrant,
};
use flashscope_model::run::PathTaken;
use flashscope_model::{Claims, DeviceFacts, DeviceKind};
use flashscope_units::{Bytes, Instant};
use rustix::fd::OwnedFd;
use rustix::fs::{
    Advice, AtFlags, FallocateFlags, Mode, OFlags, fadvise, fallocate, fdatasync, fstatvfs, fsync, ftruncate, openat,
    unlinkat,
};
use rustix::io::{Errno, pread, pwrite};
use std::path::Path;

/// Size of every file but the last.
const EACH: Bytes = Bytes::gib(1);
/// What the sizes of files are multiples of.
const STEP: Bytes = Bytes::mib(1);
/// What direct I/O asks for on every file system in use; only the end of a file may lie within one.
const BLOCK: Bytes = Bytes::kib(4);
/// Where a file system cannot say beforehand what fits, this share is left for its own tables.
const LEFT_FOR_TABLES: u64 = 500;

/// The `.h2w` files of a directory, as a target.
#[derive(Debug)]
pub struct H2wFiles {
    facts: DeviceFacts,
    path: PathTaken,
    clock: MonotonicClock,
    folder: OwnedFd,
    /// Those that this run has made; they are removed when it is told to.
    made: Vec<u32>,
    /// The file of the last request.
    open: Option<(u32, OwnedFd)>,
    writing: Option<Seal>,
    direct: bool,
    buffer: AlignedBuffer,
    done: Vec<Completion>,
}

impl H2wFiles {
    /// What is there already.
    ///
    /// # Errors
    /// Where it is no directory that may be listed.
    pub fn there(path: &Path) -> Result<H2wSet, HostError> {
        H2wSet::of(&folder(path)?, path)
    }

    /// Those that are there, to be read, and the right to write nothing. Parts that are missing cannot be read.
    ///
    /// # Errors
    /// Where there are none, or the system says no.
    pub fn reading(path: &Path) -> Result<(H2wFiles, WriteGrant), HostError> {
        let folder = folder(path)?;
        let space = H2wSet::of(&folder, path)?.space().align_down(Bytes(pattern::SECTOR as u64));
        if space == Bytes::ZERO {
            return Err(HostError::System {
                operation: "find .h2w files in",
                path: path.to_owned(),
                said: "there are none\nhint: leave --read-only out to have them written".to_owned(),
            });
        }
        let files = H2wFiles::of(folder, path, space)?;
        let grant = files.grant(Bytes::ZERO)?;
        Ok((files, grant))
    }

    /// Makes files that fill what is free, or `most`, and reserves their space where the file system can do that.
    ///
    /// # Errors
    /// Where such files are there already, less than 1 MiB is free, or the system says no; then no file is left.
    pub fn make(path: &Path, most: Option<Bytes>) -> Result<(H2wFiles, WriteGrant), HostError> {
        let folder = folder(path)?;
        let there = H2wSet::of(&folder, path)?.count();
        let no = |said: String| HostError::System { operation: "fill", path: path.to_owned(), said };
        if there > 0 {
            return Err(no(format!(
                "{there} .h2w files are there already\nhint: --read-only reads them; remove them to have new ones written"
            )));
        }
        let mut files = H2wFiles::of(folder, path, Bytes::ZERO)?;
        let wanted = free(&files.folder, path)?.min(most.unwrap_or(Bytes(u64::MAX))).align_down(STEP);
        files.facts.capacity = match files.reserve(wanted) {
            Ok(space) if space >= STEP => space,
            Ok(_) => {
                files.remove();
                return Err(no("less than 1 MiB is free\nhint: make room there".to_owned()));
            }
            Err(error) => {
                files.remove();
                return Err(HostError::from_errno("make files in", path, error));
            }
        };
        let grant = files.grant(files.facts.capacity * 2)?;
        files.writing = Some(grant.seal());
        Ok((files, grant))
    }

    /// Goes on with files of this space that an earlier run has made.
    ///
    /// # Errors
    /// Where they are not as they were left.
    pub fn go_on(path: &Path, space: Bytes) -> Result<(H2wFiles, WriteGrant), HostError> {
        let folder = folder(path)?;
        let set = H2wSet::of(&folder, path)?;
        let files = space.get().div_ceil(EACH.get()) as u32;
        if set.space() > space || set.count() > files as usize {
            return Err(HostError::System {
                operation: "go on with",
                path: path.to_owned(),
                said: "its .h2w files are not those that were left\nhint: remove them, and begin anew".to_owned(),
            });
        }
        let mut target = H2wFiles::of(folder, path, space)?;
        target.made = (1..=files).collect();
        let grant = target.grant(space * 2)?;
        target.writing = Some(grant.seal());
        Ok((target, grant))
    }

    /// What is known of files in this directory that make a space of this size.
    pub fn facts_of(path: &Path, space: Bytes) -> DeviceFacts {
        DeviceFacts {
            name: path.display().to_string(),
            kind: DeviceKind::File,
            simulated: false,
            capacity: space,
            logical_block: Bytes(pattern::SECTOR as u64),
            physical_block: None,
            max_request: None,
            queue_depth: Some(1),
            claims: Claims::default(),
            identity: None,
        }
    }

    fn of(folder: OwnedFd, path: &Path, space: Bytes) -> Result<H2wFiles, HostError> {
        let path_taken = PathTaken {
            engine: "pread/pwrite".to_owned(),
            flags: Vec::new(),
            queue_depth: 1,
            fallbacks: Vec::new(),
            in_use: Vec::new(),
        };
        let mut files = H2wFiles {
            facts: H2wFiles::facts_of(path, space),
            path: path_taken,
            clock: MonotonicClock::start(),
            folder,
            made: Vec::new(),
            open: None,
            writing: None,
            direct: true,
            buffer: AlignedBuffer::new(1 << 20),
            done: Vec::new(),
        };
        files.look_for_direct(path)?;
        Ok(files)
    }

    /// Whether the file system goes past the page cache, by an unnamed file; where it is in memory, nothing can be told of it.
    fn look_for_direct(&mut self, path: &Path) -> Result<(), HostError> {
        let by =
            |flags: OFlags| openat(&self.folder, ".", flags | OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC, MODE);
        if let Some(name) = in_memory(&self.folder) {
            let said = format!("the file system is {name}, in memory\nhint: name a directory on the device");
            return Err(HostError::System { operation: "test", path: path.to_owned(), said });
        }
        self.direct = !matches!(by(OFlags::DIRECT), Err(Errno::INVAL));
        match self.direct {
            true => self.path.flags.push("O_DIRECT".to_owned()),
            false => {
                self.path.fallbacks.push("the file system does no direct I/O: the page cache is dropped".to_owned())
            }
        }
        Ok(())
    }

    /// The right to write so much: nobody else's data can be hurt.
    fn grant(&self, budget: Bytes) -> Result<WriteGrant, HostError> {
        let capacity = self.facts.capacity;
        let report = SafetyReport { identity: None, kind: DeviceKind::File, capacity, refusals: Vec::new() };
        let consent = Consent { allow_file: true, ..Consent::default() };
        WriteGrant::decide(&report, &consent, budget).map_err(|refusals| HostError::Refused {
            path: self.facts.name.clone().into(),
            refusals,
            writing: true,
        })
    }

    /// Makes the files of a space of at most this size, and gives what there is room for.
    fn reserve(&mut self, wanted: Bytes) -> Result<Bytes, Errno> {
        let mut space = Bytes::ZERO;
        while space < wanted {
            let (number, left) = ((space.get() / EACH.get()) as u32 + 1, wanted - space);
            let file = self.file(number, OFlags::CREATE | OFlags::EXCL)?;
            self.made.push(number);
            let Some(size) = room(&file, left.min(EACH))? else {
                // Nobody knows what fits: what does not is not written, and said so.
                return Ok((space + left - left / LEFT_FOR_TABLES).align_down(STEP));
            };
            space += size;
            if size < EACH {
                break;
            }
        }
        Ok(space)
    }

    /// Removes the files that this run has made.
    pub fn remove(&mut self) {
        self.open = None;
        for number in std::mem::take(&mut self.made) {
            // One that somebody else has removed is gone as well.
            unlinkat(&self.folder, name(number), AtFlags::empty()).unwrap_or_default();
        }
        fsync(&self.folder).unwrap_or_default();
    }

    /// How many files the space takes.
    pub fn count(&self) -> u32 {
        self.facts.capacity.get().div_ceil(EACH.get()) as u32
    }

    fn file(&self, number: u32, more: OFlags) -> Result<OwnedFd, Errno> {
        let mut flags = more | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        flags |= if more.is_empty() && self.writing.is_none() { OFlags::RDONLY } else { OFlags::RDWR };
        flags.set(OFlags::DIRECT, self.direct);
        openat(&self.folder, name(number), flags, MODE)
    }

    /// The file, and the buffer beside it.
    fn opened(&mut self, number: u32) -> Result<(&OwnedFd, &mut AlignedBuffer), Errno> {
        if self.open.as_ref().is_none_or(|(open, _)| *open != number) {
            self.let_go()?;
            // Where space could not be reserved the file comes to be with its first write.
            let more = if self.writing.is_some() { OFlags::CREATE } else { OFlags::empty() };
            if self.writing.is_some() && !self.made.contains(&number) {
                self.made.push(number);
            }
            let file = self.file(number, more)?;
            self.drop_cache(&file)?;
            self.open = Some((number, file));
        }
        let (_, file) = self.open.as_ref().ok_or(Errno::BADF)?;
        Ok((file, &mut self.buffer))
    }

    /// What was written to the file of the last request is on the medium, and out of the page cache.
    fn let_go(&mut self) -> Result<(), Errno> {
        let Some((_, file)) = self.open.take() else { return Ok(()) };
        if self.writing.is_some() {
            fdatasync(&file)?;
        }
        self.drop_cache(&file)
    }

    /// So that a read comes from the medium where the file system does no direct I/O.
    fn drop_cache(&self, file: &OwnedFd) -> Result<(), Errno> {
        if self.direct { Ok(()) } else { fadvise(file, 0, None, Advice::DontNeed) }
    }

    fn answer(&mut self, request: &Request) -> Result<Completion, DeviceError> {
        let mut done = Completion {
            id: request.id(),
            issued: self.clock.now(),
            completed: Instant(0),
            outcome: Outcome::Success,
            content: Content::Unknown,
            stretches: Vec::new(),
        };
        let went = match request.op() {
            Op::Read => self.read(request, &mut done),
            Op::Write { .. } => self.write(request, &mut done),
            Op::Flush => self.let_go(),
            Op::Discard => Err(Errno::OPNOTSUPP),
        };
        if done.completed == Instant(0) {
            done.completed = self.clock.now();
        }
        let Err(error) = went else { return Ok(done) };
        let said = errno::describe(error);
        match errno::judge(error) {
            Verdict::Failed => Ok(Completion { outcome: Outcome::Failed(said), stretches: Vec::new(), ..done }),
            Verdict::Vanished => Err(DeviceError::Vanished(said)),
            Verdict::System => Err(DeviceError::System(said)),
        }
    }

    /// What belongs at a place.
    pub(crate) fn pattern(at: Bytes, into: &mut [u8]) {
        pattern::fill(at.get(), into);
    }

    /// Reads what stands at a place; `false` where that failed.
    pub(crate) fn read_bytes(&mut self, at: Bytes, into: &mut [u8]) -> Result<bool, DeviceError> {
        let length = Bytes(into.len() as u64);
        let mut from = 0;
        for (number, at, _, length) in parts(at, length) {
            match self.load(number, at, length) {
                Ok(()) => into[from..from + length].copy_from_slice(self.buffer.part(0, length)),
                Err(error) if errno::judge(error) == Verdict::Failed => return Ok(false),
                Err(error) => return Err(DeviceError::Vanished(errno::describe(error))),
            }
            from += length;
        }
        Ok(true)
    }

    /// Reads a part of a file into the buffer.
    fn load(&mut self, number: u32, at: u64, length: usize) -> Result<(), Errno> {
        let (file, buffer) = self.opened(number)?;
        // Direct I/O asks for whole blocks, of the last one of a file as well.
        let whole = length.next_multiple_of(BLOCK.get() as usize);
        buffer.reserve(whole);
        let bytes = buffer.part_mut(0, whole);
        let mut got = 0;
        while got < length {
            match pread(file, &mut bytes[got..], at + got as u64) {
                Ok(0) => return Err(Errno::NODATA),
                Ok(count) => got += count,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn read(&mut self, request: &Request, done: &mut Completion) -> Result<(), Errno> {
        let generation = request.known().map_or(0, |known| known.first);
        for (number, at, from, length) in parts(request.offset(), request.length()) {
            self.load(number, at, length)?;
            done.completed = self.clock.now();
            if request.known().is_some() {
                done.stretches.extend(pattern::stretches(generation, from, self.buffer.part(0, length)));
            }
        }
        Ok(())
    }

    fn write(&mut self, request: &Request, done: &mut Completion) -> Result<(), Errno> {
        for (number, at, from, length) in parts(request.offset(), request.length()) {
            let clock = self.clock;
            let (file, buffer) = self.opened(number)?;
            buffer.reserve(length);
            let bytes = buffer.part_mut(0, length);
            match request.fill() {
                Some(Fill::Byte(byte)) => bytes.fill(byte),
                _ => pattern::fill(from, bytes),
            }
            if at == from % EACH.get() && done.completed == Instant(0) {
                // Making the bytes is our time, not the file system's.
                done.issued = clock.now();
            }
            let mut put = 0;
            while put < length {
                match pwrite(file, &bytes[put..], at + put as u64) {
                    Ok(0) => return Err(Errno::NOSPC),
                    Ok(count) => put += count,
                    Err(Errno::INTR) => {}
                    Err(error) => return Err(error),
                }
            }
            done.completed = clock.now();
        }
        Ok(())
    }
}

impl Target for H2wFiles {
    fn facts(&self) -> &DeviceFacts {
        &self.facts
    }

    fn capabilities(&self) -> Capabilities {
        let write = self.writing.is_some();
        let granularity = self.facts.logical_block;
        Capabilities { write, flush: write, discard: false, queue_depth: 1, granularity }
    }

    fn path(&self) -> PathTaken {
        self.path.clone()
    }

    fn now(&self) -> Instant {
        self.clock.now()
    }

    fn submit(&mut self, batch: &[Request]) -> Result<(), DeviceError> {
        for request in batch {
            let is_write = matches!(request.op(), Op::Write { .. } | Op::Discard);
            if is_write && (self.writing.is_none() || request.seal() != self.writing) {
                return Err(DeviceError::Invalid("this write was not granted for this target".into()));
            }
            let end = request.offset().get().checked_add(request.length().get());
            if end.is_none_or(|end| end > self.facts.capacity.get()) {
                return Err(DeviceError::Invalid("a request outside the files".into()));
            }
        }
        for request in batch {
            let done = self.answer(request)?;
            self.done.push(done);
        }
        Ok(())
    }

    fn reap(&mut self, _: usize, into: &mut Vec<Completion>) -> Result<(), DeviceError> {
        into.append(&mut self.done);
        Ok(())
    }

    fn wait_until(&mut self, at: Instant) {
        self.clock.sleep_until(at);
    }

    fn wear(&self) -> Option<Wear> {
        None
    }
}

/// Files are the owner's alone, as those of f3write.
const MODE: Mode = Mode::from_raw_mode(0o600);

fn name(number: u32) -> String {
    format!("{number}.h2w")
}

fn start_of(number: u32) -> Bytes {
    EACH * u64::from(number.saturating_sub(1))
}

/// A stretch file by file: number, offset in the file, place in the space, length.
fn parts(at: Bytes, length: Bytes) -> impl Iterator<Item = (u32, u64, u64, usize)> {
    let (mut at, end) = (at.get(), (at + length).get());
    std::iter::from_fn(move || {
        let from = at;
        let within = from % EACH.get();
        at = end.min(from + (EACH.get() - within));
        (from < end).then(|| ((from / EACH.get()) as u32 + 1, within, from, (at - from) as usize))
    })
}

/// Reserves the space of a file, or as much of it as there is; `None` where the file system cannot do that.
fn room(file: &OwnedFd, wanted: Bytes) -> Result<Option<Bytes>, Errno> {
    let mut size = wanted;
    while size > Bytes::ZERO {
        match fallocate(file, FallocateFlags::empty(), 0, size.get()) {
            Ok(()) => return Ok(Some(size)),
            Err(Errno::OPNOTSUPP) => return Ok(None),
            // What a failed call has reserved may stay with the file.
            Err(Errno::NOSPC) => ftruncate(file, 0)?,
            Err(error) => return Err(error),
        }
        size = size.saturating_sub(STEP);
    }
    Ok(Some(size))
}

fn folder(path: &Path) -> Result<OwnedFd, HostError> {
    rustix::fs::open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
        .map_err(|error| HostError::from_errno("open", path, error))
}

fn free(folder: &OwnedFd, path: &Path) -> Result<Bytes, HostError> {
    let there = fstatvfs(folder).map_err(|error| HostError::from_errno("look at", path, error))?;
    Ok(Bytes(there.f_bavail.saturating_mul(there.f_frsize)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_device::{ExecuteExt, Holds, Known, Stretch};
    use std::fs;
    use std::path::PathBuf;

    const KNOWN: Known = Known::one(9);

    fn scratch(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("flashscope-h2w-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn written(folder: &Path, size: Bytes) -> (H2wFiles, WriteGrant) {
        let (mut files, mut grant) = H2wFiles::make(folder, Some(size)).unwrap();
        let fill = Fill::Tagged { generation: KNOWN.first };
        let write = Request::write(&mut grant, 1, Bytes::ZERO, files.facts().capacity, fill, false).unwrap();
        assert!(files.execute(write).unwrap().outcome.is_done());
        files.execute(Request::flush(2)).unwrap();
        (files, grant)
    }

    #[test]
    fn what_is_written_is_read_again_and_what_changed_is_seen() {
        let folder = scratch("round");
        let (size, sector) = (Bytes::mib(2), Bytes(512));
        let (mut made, _) = written(&folder, size);
        let mut bytes = fs::read(folder.join("1.h2w")).unwrap();
        assert_eq!(bytes.len() as u64, size.get());
        bytes[1 << 20] ^= 1;
        fs::write(folder.join("1.h2w"), &bytes).unwrap();
        assert_eq!(H2wFiles::there(&folder).unwrap().space(), size);
        let (mut files, _) = H2wFiles::reading(&folder).unwrap();
        let found = files.execute(Request::examine(1, Bytes::ZERO, size, KNOWN)).unwrap();
        let tagged = |length, at| Stretch { length, holds: Holds::Tagged { generation: 9, addressed: at } };
        let half = Bytes::mib(1);
        let expect = [
            tagged(half, Bytes::ZERO),
            Stretch { length: sector, holds: Holds::Foreign },
            tagged(half - sector, half + sector),
        ];
        assert_eq!(found.stretches, expect);
        made.remove();
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        fs::remove_dir(folder).unwrap();
    }

    #[test]
    fn files_that_are_there_are_read_and_never_replaced() {
        let folder = scratch("there");
        let (_files, _) = written(&folder, Bytes::mib(1));
        let said = H2wFiles::make(&folder, Some(Bytes::mib(1))).unwrap_err().to_string();
        assert!(said.contains("1 .h2w files are there already"), "{said}");
        assert!(H2wFiles::go_on(&folder, Bytes::kib(512)).is_err());
        assert!(H2wFiles::go_on(&folder, Bytes::mib(1)).is_ok());
        fs::remove_dir_all(&folder).unwrap();
        assert!(H2wFiles::there(&folder).is_err());
    }

    #[test]
    fn a_stretch_is_cut_where_one_file_ends() {
        let expect = [(1, EACH.get() - (1 << 20), EACH.get() - (1 << 20), 1 << 20), (2, 0, EACH.get(), 2 << 20)];
        assert_eq!(parts(EACH - Bytes::mib(1), Bytes::mib(3)).collect::<Vec<_>>(), expect);
    }
}
