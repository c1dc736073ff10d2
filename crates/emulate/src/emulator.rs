//! The life of an emulated device: claimed, mounted, measured, bound; then unbound, unmounted, kept.

use crate::backing;
use crate::clock::PacedClock;
use crate::disk::Disk;
use crate::error::EmulateError;
use crate::files::SimFiles;
use crate::floor::{self, FLOOR_NAME, FloorFile};
use crate::fuse::{DISK, DISK_NAME, DiskFs, LARGEST, Shared};
use crate::log::Log;
use crate::meter::Meter;
use crate::options::{LogTo, Options, Speed};
use crate::pacer::Pacer;
use crate::payload::Payload;
use crate::registry::{self, Claim, SUBTYPE};
use crate::relay;
use crate::seen::{self, Seen};
use crate::statistics::Statistics;
use crate::versions::Versions;
use flashscope_device::Target;
use flashscope_host::{LoopDevice, LoopOptions};
use flashscope_model::DeviceFacts;
use flashscope_sim::SimTarget;
use flashscope_units::{Bytes, Instant, Nanos};
use fuser::{BackgroundSession, Config, MountOption, Session, SessionACL};
use rustix::io::Errno;
use rustix::mount::{UnmountFlags, unmount};
use std::fs;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::Duration;

/// An emulated device. Dropping it stops it, whoever uses it.
#[derive(Debug)]
pub struct Emulator {
    directory: PathBuf,
    loop_device: Option<LoopDevice>,
    /// While it is open, a loop device stays bound that goes with this program.
    held: Option<fs::File>,
    /// The mount, where it has no place in any directory.
    nowhere: Option<OwnedFd>,
    shared: Arc<Shared>,
    session: Option<BackgroundSession>,
    pacer: Option<JoinHandle<()>>,
    remarks: Vec<String>,
    /// While it is held, processors do not go to sleep.
    _awake: Option<fs::File>,
    /// Last, so that the directory is free when it goes.
    _claim: Option<Claim>,
}

/// What became of the wish to stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Unbound, unmounted and kept.
    Done,
    /// Someone uses it: what, and how to end that.
    Busy(String),
}

impl Emulator {
    /// Starts emulating. When this returns, the device can be used.
    ///
    /// # Errors
    /// See [`EmulateError`]; the machine is as it was before.
    pub fn start(options: &Options) -> Result<Emulator, EmulateError> {
        Emulator::start_from(options, flashscope_sim::open_from(&options.model, options.seed, &SimFiles)?)
    }

    /// The same with a device of this very model that something was done to before.
    ///
    /// # Errors
    /// See [`EmulateError`]; the machine is as it was before.
    pub fn start_from(options: &Options, target: SimTarget) -> Result<Emulator, EmulateError> {
        // By a thread of its own, since all that it starts are to be as punctual as itself, and the caller is not.
        let mounted = std::thread::scope(|scope| {
            let start = scope.spawn(|| {
                if options.speed != Speed::Unpaced {
                    be_punctual();
                }
                Emulator::mounted(options, target)
            });
            start.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        let (mut emulator, facts) = mounted?;
        if options.speed != Speed::Unpaced {
            emulator._awake = keep_processors_awake().ok();
        }
        // By the caller, who is like those who will use the device, and whose threads do not run before others.
        if let Some(to) = &options.log {
            emulator.shared.meter.log_to(begun_log(to)?);
        }
        emulator.measure(options.attach_loop.then(|| {
            let max_request = facts.max_request.map(Bytes::get);
            LoopOptions { block_size: facts.logical_block.get() as u32, max_request }
        }))?;
        Ok(emulator)
    }

    fn mounted(options: &Options, target: SimTarget) -> Result<(Emulator, DeviceFacts), EmulateError> {
        let read = |path: &str| fs::read_to_string(path).map_err(|error| error.to_string());
        let text = flashscope_sim::show(&options.model, false, read)?;
        may_mount()?;
        let mut remarks = Vec::new();
        let (directory, claim, mount) = match &options.at {
            Some(at) => {
                let directory = resolve(at)?;
                let (claim, removed) = Claim::of(&options.registry, &directory)?;
                remarks
                    .extend(removed.into_iter().map(|what| format!("{what}, which an emulator left that was killed")));
                check_free(&directory, at)?;
                (directory, Some(claim), None)
            }
            None => {
                let (fuse, mount) = relay::nowhere()?;
                (relay::root_of(&mount), None, Some((fuse, mount)))
            }
        };
        let facts = target.facts().clone();
        let (disk, told) = match &options.backing {
            Some(file) => backing::open(file, target, text, options.seed)?,
            None => (in_memory(target), Vec::new()),
        };
        remarks.extend(told);
        let back = disk.power_on(None).map_err(|said| system("write the state file of", &directory, said))?;
        remarks.extend(back.map(|why| format!("the device is switched on again; {why}")));
        let shared = Arc::new(Shared {
            clock: PacedClock::start(disk.begun(), options.speed),
            disk,
            pacer: Pacer::new(),
            meter: Meter::new(options.speed),
            floor_file: FloorFile::default(),
            floors: OnceLock::new(),
            model: options.model.clone(),
            seed: options.seed,
            speed: options.speed,
        });
        let claim = claim.map(|mut claim| claim.note(&directory).map(|()| claim)).transpose()?;
        let pacer = Arc::clone(&shared);
        let pacer = std::thread::Builder::new().name("pacer".to_owned()).spawn(move || {
            pacer.pacer.run(&pacer.disk, pacer.clock, &pacer.meter);
        });
        let pacer = pacer.map_err(|said| system("start a thread for", &directory, said))?;
        let mut emulator = Emulator {
            directory,
            loop_device: None,
            held: None,
            nowhere: None,
            shared,
            session: None,
            pacer: Some(pacer),
            remarks,
            _awake: None,
            _claim: claim,
        };
        // From here on dropping it cleans up.
        emulator.mount(mount)?;
        Ok((emulator, facts))
    }

    /// The device: `/dev/loopN`, or the file `disk`.
    pub fn path(&self) -> PathBuf {
        self.loop_device.as_ref().map_or_else(|| self.directory.join(DISK_NAME), LoopDevice::path)
    }

    /// What there is to say about the start.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// What was asked of the device, what it did, how late answers were.
    pub fn statistics(&self) -> Statistics {
        self.shared.statistics()
    }

    /// When the times of its log began, on the kernel's monotonic clock.
    pub fn began(&self) -> Instant {
        self.shared.clock.began()
    }

    /// What a record must say of it.
    pub fn seen(&self) -> Option<Seen> {
        seen::of(&serde_json::from_str(&self.statistics().to_json()).ok()?)
    }

    /// Switches a device on again that lost its power or went away; says why it was gone, if it was.
    ///
    /// # Errors
    /// The state file could not be written.
    pub fn power_on(&self) -> Result<Option<&'static str>, EmulateError> {
        let (now, before) = (self.virtual_now(), self.shared.disk.size());
        let disk = &self.shared.disk;
        let back = disk.power_on(now).map_err(|said| system("write the state file of", &self.directory, said))?;
        if disk.size() != before {
            self.tell_size().map_err(|said| system("tell the kernel the size of", &self.directory, said))?;
        }
        Ok(back)
    }

    /// Cuts the device's power: what was not done by then is not acknowledged any more, and what the device makes of it is its
    /// model's business (docs/faults.md).
    ///
    /// # Errors
    /// The model has no `[fault]` section, so that nobody kept track of what is safe; the state file could not be written.
    pub fn cut_power(&self) -> Result<(), EmulateError> {
        match self.shared.disk.cut_power(self.virtual_now()) {
            Ok(true) => Ok(()),
            Ok(false) => Err(EmulateError::NoPowerFaults { model: self.shared.model.clone() }),
            Err(said) => Err(system("write the state file of", &self.directory, said)),
        }
    }

    fn virtual_now(&self) -> Option<Instant> {
        self.shared.clock.virtual_at(self.shared.clock.now())
    }

    /// Has the kernel forget what it knows of the size.
    fn tell_size(&self) -> io::Result<()> {
        if let Some(session) = &self.session {
            session.notifier().inval_inode(DISK, 0, 0)?;
        }
        // Whoever looks brings the new size to the kernel, from which the loop device takes it.
        fs::metadata(self.directory.join(DISK_NAME))?;
        match &self.loop_device {
            Some(device) => device.take_size().map_err(|error| io::Error::other(error.to_string())),
            None => Ok(()),
        }
    }

    /// Whether someone else has unmounted it.
    pub fn has_ended(&self) -> bool {
        self.session.as_ref().is_none_or(|session| session.guard.is_finished())
    }

    /// Unbinds and unmounts, unless someone uses it; `force` does not ask. What the device is goes to the backing file.
    ///
    /// # Errors
    /// The backing file, or the log, could not be completed.
    pub fn stop(&mut self, force: bool) -> Result<Stop, EmulateError> {
        if let Some(busy) = self.unbind() {
            if !force {
                return Ok(Stop::Busy(busy));
            }
            self.loop_device = None;
        }
        if let Some(busy) = self.unmount(force) {
            return Ok(Stop::Busy(busy));
        }
        let log = self.shared.meter.close();
        self.shared.disk.close().map_err(|said| system("complete the backing file of", &self.directory, said))?;
        log.map_err(|said| system("write the log of", &self.directory, said))?;
        Ok(Stop::Done)
    }

    /// Begins to serve it: over its directory, or through these descriptors of a mount that has none.
    fn mount(&mut self, nowhere: Option<(OwnedFd, OwnedFd)>) -> Result<(), EmulateError> {
        let mut config = Config::default();
        // One reader: requests reach the device in the order in which the kernel has them.
        config.n_threads = Some(1);
        let failed = |said| EmulateError::Mount { at: self.directory.clone(), said };
        let disk = DiskFs::new(Arc::clone(&self.shared));
        let session = match nowhere {
            Some((fuse, mount)) => {
                self.nowhere = Some(mount);
                Session::from_fd(disk, fuse, SessionACL::Owner, config)
            }
            None => {
                config.mount_options = vec![
                    MountOption::FSName(self.shared.model.replace(',', ";")),
                    MountOption::CUSTOM(format!("subtype={SUBTYPE}")),
                    MountOption::NoAtime,
                ];
                Session::new(disk, &self.directory, &config)
            }
        };
        self.session = Some(session.and_then(Session::spawn).map_err(failed)?);
        Ok(())
    }

    /// Measures the floor on the way that requests will take, and binds the loop device if there is to be one.
    fn measure(&mut self, bind: Option<LoopOptions>) -> Result<(), EmulateError> {
        let file = self.directory.join(FLOOR_NAME);
        let largest = bind.and_then(|options| options.max_request).unwrap_or(u64::from(LARGEST));
        let floors = match bind {
            None => floor::measure(&file, &self.shared.floor_file, largest),
            Some(options) => {
                let trial = LoopDevice::attach(&file, options).map_err(EmulateError::Loop)?;
                let floors = floor::measure(&trial.path(), &self.shared.floor_file, largest);
                trial.detach().map_err(EmulateError::Loop)?;
                floors
            }
        };
        let _ = self.shared.floors.set(floors.map_err(EmulateError::Floor)?);
        if let Some(options) = bind {
            let device = LoopDevice::attach(&self.directory.join(DISK_NAME), options).map_err(EmulateError::Loop)?;
            if !device.is_direct() {
                self.remarks.push(format!(
                    "{} does no direct I/O: its times are those of the page cache",
                    device.path().display()
                ));
            }
            if self.nowhere.is_some() {
                self.held = Some(device.hold().map_err(EmulateError::Loop)?);
            }
            self.loop_device = Some(device);
            self.shared.disk.flush_once();
        }
        Ok(())
    }

    /// Says what keeps the loop device from being unbound.
    fn unbind(&mut self) -> Option<String> {
        let device = self.loop_device.as_ref()?;
        let detached = match &self.nowhere {
            // It goes by itself with the last one who has it open, and its number may be another one's right after.
            Some(_) => {
                self.held = None;
                Ok(relay::gone(device))
            }
            None => device.detach(),
        };
        match detached {
            Ok(true) => {
                self.loop_device = None;
                None
            }
            Ok(false) => Some(format!("{0} is in use; unmount or close it (`findmnt {0}`)", device.path().display())),
            Err(error) => Some(error.to_string()),
        }
    }

    /// Says what keeps it from being unmounted.
    fn unmount(&mut self, force: bool) -> Option<String> {
        let session = self.session.take()?;
        if let Some(mount) = self.nowhere.take() {
            drop(mount);
            self.finish(session, force);
            return None;
        }
        let flags = if force { UnmountFlags::FORCE | UnmountFlags::DETACH } else { UnmountFlags::empty() };
        match unmount_when_free(&self.directory, flags) {
            // EINVAL: someone else has already done it.
            Ok(()) | Err(Errno::INVAL) => {}
            Err(errno) => {
                self.session = Some(session);
                let (at, said) = (self.directory.display(), io::Error::from(errno));
                return Some(format!("{at} is in use ({said}); close what is open there (`fuser -vm {at}`)"));
            }
        }
        self.finish(session, force);
        None
    }

    /// No more answers go out; nobody asks any more, unless it is forced.
    fn finish(&mut self, session: BackgroundSession, force: bool) {
        self.shared.pacer.end();
        if let Some(pacer) = self.pacer.take() {
            let _ = pacer.join();
        }
        if !force {
            let _ = session.join();
        }
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        let _ = self.stop(true);
    }
}

impl Shared {
    /// What was asked of the device, what it did, how late answers were.
    pub(crate) fn statistics(&self) -> Statistics {
        let counts = self.meter.read();
        let (wear, counters) = self.disk.wear();
        let written = counts.written;
        let amplification = (written > Bytes::ZERO).then(|| wear.programmed.as_f64() / written.as_f64());
        let floors = self.floors.get();
        Statistics {
            model: self.model.clone(),
            seed: self.seed,
            speed: self.speed.to_string(),
            up: self.clock.now().since(Instant::ORIGIN),
            requests: counts.requests,
            host_read: counts.read,
            host_written: written,
            nand_written: wear.programmed,
            write_amplification: amplification,
            erases: wear.erases,
            counters,
            lateness: counts.lateness(),
            faster_than_floor: counts.faster_than_floor,
            floor: floors.map_or(Nanos::ZERO, |floors| floors.hot),
            floor_paced: floors.map_or(Nanos::ZERO, |floors| floors.of_read(4096)),
        }
    }
}

fn begun_log(to: &LogTo) -> Result<Log, EmulateError> {
    match to {
        LogTo::Output(output) => {
            let failed = |said| system("write the log", output.path(), said);
            let file = output.begin().map_err(|error| failed(io::Error::other(error)))?;
            Log::create(file).map_err(failed)
        }
        LogTo::File(file) => {
            file.try_clone().and_then(Log::create).map_err(|said| system("write", Path::new("the log"), said))
        }
    }
}

/// The kernel lets go of a file a little after its last user has closed it.
fn unmount_when_free(directory: &Path, flags: UnmountFlags) -> Result<(), Errno> {
    for _ in 0..50 {
        match unmount(directory, flags) {
            Err(Errno::BUSY) => std::thread::sleep(Duration::from_millis(10)),
            other => return other,
        }
    }
    unmount(directory, flags)
}

pub(crate) fn in_memory(target: SimTarget) -> Disk {
    let payload = match target.has_faults() {
        true => Payload::Versions(Versions::in_memory()),
        false => Payload::in_memory(target.facts().capacity.get()),
    };
    Disk::new(target, payload)
}

fn may_mount() -> Result<(), EmulateError> {
    if !rustix::process::geteuid().is_root() {
        return Err(EmulateError::NotRoot);
    }
    match fs::OpenOptions::new().read(true).write(true).open("/dev/fuse") {
        Ok(_) => Ok(()),
        Err(said) => Err(EmulateError::NoFuse(said)),
    }
}

/// The directory without links in its path. It may be a mount that nobody serves, at which nothing can be looked at.
fn resolve(at: &Path) -> Result<PathBuf, EmulateError> {
    let missing = |said: &io::Error| bad(at, format!("cannot be used: {said}"), format!("mkdir -p {}", at.display()));
    if registry::does_not_answer(at) {
        let parent = at.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let name = at
            .file_name()
            .ok_or_else(|| bad(at, "is a mount that does not answer".to_owned(), "umount it".to_owned()))?;
        return Ok(fs::canonicalize(parent).map_err(|said| missing(&said))?.join(name));
    }
    let directory = fs::canonicalize(at).map_err(|said| missing(&said))?;
    if !directory.is_dir() {
        return Err(bad(at, "is not a directory".to_owned(), "name an empty directory".to_owned()));
    }
    Ok(directory)
}

/// Nothing is mounted there and nothing lies there, which would be hidden.
fn check_free(directory: &Path, at: &Path) -> Result<(), EmulateError> {
    let device = |path: &Path| fs::metadata(path).map(|data| data.dev());
    let look = |said: io::Error| bad(at, format!("cannot be looked at: {said}"), "name another directory".to_owned());
    let parent =
        directory.parent().ok_or_else(|| bad(at, "is the root directory".to_owned(), "name another".to_owned()))?;
    if device(directory).map_err(look)? != device(parent).map_err(look)? {
        return Err(bad(
            at,
            "has something mounted on it".to_owned(),
            format!("`findmnt {}` shows what; name another directory", at.display()),
        ));
    }
    match fs::read_dir(directory).map_err(look)?.next() {
        None => Ok(()),
        Some(_) => Err(bad(
            at,
            "is not empty".to_owned(),
            "name an empty directory, since the mount would hide what is there".to_owned(),
        )),
    }
}

/// Timers of this thread, and of those it starts, fire when they are due, and they get a processor before others.
fn be_punctual() {
    // Both may be refused in a container: then the device is later, and its statistics say so.
    flashscope_host::exact_timers();
    let _ = flashscope_host::run_before_others();
}

/// Processors with nothing to do poll instead of halting for as long as the file is held, where the kernel manages their
/// idleness (its documentation, *PM Quality Of Service Interface*): waking a halted one takes several times as long as all
/// else on a request's way to the emulator and back.
fn keep_processors_awake() -> io::Result<fs::File> {
    let mut file = fs::OpenOptions::new().write(true).open("/dev/cpu_dma_latency")?;
    file.write_all(&0i32.to_ne_bytes())?;
    Ok(file)
}

fn bad(at: &Path, why: String, hint: String) -> EmulateError {
    EmulateError::BadDirectory { at: at.to_owned(), why, hint }
}

fn system(operation: &'static str, path: &Path, said: io::Error) -> EmulateError {
    EmulateError::System { operation, path: path.to_owned(), said }
}
