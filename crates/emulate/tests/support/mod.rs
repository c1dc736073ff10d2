//! Directories that clean up behind them, aligned memory, and emulators in processes that can be killed.

use flashscope_emulate::{Emulator, Options, Speed};
use rustix::fs::{FallocateFlags, OFlags, fallocate};
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// Small, and with no noise of its own.
pub(crate) const CARD: &str = "sd-4mib,capacity=256MiB,noise=none";

pub(crate) fn can_fuse() -> Result<(), &'static str> {
    if !rustix::process::geteuid().is_root() {
        return Err("not root");
    }
    OpenOptions::new().read(true).write(true).open("/dev/fuse").map(|_| ()).map_err(|_| "no /dev/fuse")
}

pub(crate) fn can_loop() -> Result<(), &'static str> {
    can_fuse()?;
    Path::new("/dev/loop-control").exists().then_some(()).ok_or("no loop devices")
}

/// A scratch directory with an empty one, `at`, in it, and a registry of its own.
pub(crate) struct Rig {
    pub(crate) root: PathBuf,
    pub(crate) at: PathBuf,
}

impl Rig {
    /// Says loudly what is left out where `can` is an error.
    pub(crate) fn new(can: Result<(), &'static str>) -> Option<Rig> {
        if let Err(why) = can {
            println!("LEFT OUT: tests of the emulated device ({why})");
            return None;
        }
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let root = std::env::temp_dir().join(format!("flashscope-emulate-{}-{number}", std::process::id()));
        let at = root.join("at");
        fs::create_dir_all(&at).unwrap();
        Some(Rig { root, at })
    }

    /// A small card as fast as the machine can.
    pub(crate) fn options(&self) -> Options {
        Options {
            model: CARD.to_owned(),
            at: Some(self.at.clone()),
            attach_loop: false,
            backing: None,
            seed: 1,
            speed: Speed::Times(1000.0),
            log: None,
            registry: self.root.join("registry"),
        }
    }

    pub(crate) fn start(&self, options: Options) -> Emulator {
        Emulator::start(&options).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Nothing is mounted or bound below the directory any more.
    pub(crate) fn is_clean(&self) {
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
        assert!(!mounts.contains(self.at.to_str().unwrap()), "{mounts}");
        assert_eq!(flashscope_host::LoopDevice::backed_below(&self.root), []);
        assert_eq!(fs::read_dir(&self.at).unwrap().count(), 0);
    }

    /// A file system of so many bytes.
    pub(crate) fn small_disk(&self, bytes: u64) -> Option<SmallDisk> {
        let at = self.root.join("small");
        fs::create_dir_all(&at).unwrap();
        let options = std::ffi::CString::new(format!("size={bytes}")).unwrap();
        match mount("tmpfs", &at, "tmpfs", MountFlags::empty(), Some(options.as_c_str())) {
            Ok(()) => Some(SmallDisk(at)),
            Err(error) => {
                println!("LEFT OUT: a full disk under the backing file (cannot mount a tmpfs: {error})");
                None
            }
        }
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        let _ = flashscope_emulate::clean(&self.root.join("registry"));
        let _ = unmount(&self.at, UnmountFlags::DETACH);
        let _ = fs::remove_dir_all(&self.root);
    }
}

pub(crate) struct SmallDisk(pub(crate) PathBuf);

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = unmount(&self.0, UnmountFlags::DETACH);
    }
}

/// What an emulator says that does not start.
pub(crate) fn refused(options: &Options) -> String {
    match Emulator::start(options) {
        Ok(emulator) => panic!("{} was started", emulator.path().display()),
        Err(error) => error.to_string(),
    }
}

/// Opens past the page cache.
pub(crate) fn direct(path: &Path) -> File {
    OpenOptions::new().read(true).write(true).custom_flags(OFlags::DIRECT.bits() as i32).open(path).unwrap()
}

/// Opens so that each write must be durable.
pub(crate) fn synchronous(path: &Path) -> File {
    OpenOptions::new().write(true).custom_flags(OFlags::DSYNC.bits() as i32).open(path).unwrap()
}

pub(crate) fn punch_hole(file: &File, offset: u64, length: u64) {
    fallocate(file, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, offset, length).unwrap();
}

/// Bytes that are not like those of another number.
pub(crate) fn pattern(number: u64, into: &mut [u8]) {
    let mut state = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    for byte in into {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        *byte = (state >> 56) as u8;
    }
}

/// Memory that direct I/O takes.
pub(crate) struct Aligned {
    memory: Vec<u8>,
    start: usize,
}

impl Aligned {
    pub(crate) fn new(length: usize) -> Aligned {
        let memory = vec![0; length + 4096];
        let start = memory.as_ptr().align_offset(4096);
        Aligned { memory, start }
    }

    pub(crate) fn part(&mut self, length: usize) -> &mut [u8] {
        &mut self.memory[self.start..self.start + length]
    }
}

/// An emulator in a process of its own.
pub(crate) struct Child {
    process: std::process::Child,
    pub(crate) path: PathBuf,
}

impl Child {
    pub(crate) fn start(options: &Options) -> Child {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "emulates_until_it_is_killed", "--ignored", "--nocapture"]);
        command.env("EMULATE_AT", options.at.as_ref().unwrap()).env("EMULATE_REGISTRY", &options.registry);
        command.env("EMULATE_BACKING", options.backing.as_ref().unwrap());
        let mut process = command.stdout(Stdio::piped()).stdin(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let path = lines.map_while(Result::ok).find_map(|line| line.strip_prefix("device ").map(PathBuf::from));
        Child { process, path: path.expect("the child starts") }
    }

    pub(crate) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

/// What such a process does.
pub(crate) fn child() {
    let path = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let (Some(at), Some(registry)) = (path("EMULATE_AT"), path("EMULATE_REGISTRY")) else { return };
    let options = Options {
        model: CARD.to_owned(),
        at: Some(at),
        attach_loop: true,
        backing: path("EMULATE_BACKING"),
        seed: 1,
        speed: Speed::Times(1000.0),
        log: None,
        registry,
    };
    let emulator = Emulator::start(&options).unwrap();
    println!("\ndevice {}", emulator.path().display());
    std::io::stdout().flush().unwrap();
    // Until it is killed, or whoever started it is.
    let _ = std::io::stdin().lines().count();
}
