//! Where apps are played: a directory that is there, or a file system that is made on a device for them.

use super::cannot;
use super::player::Player;
use super::witness::{self, Kernel, Trace};
use crate::args::AppSettings;
use crate::commands::emulate::with_noise;
use crate::error::Failure;
use crate::making::Order;
use crate::mkfs::FileSystem;
use crate::target::{self, failure};
use crate::{interrupt, output};
use anyhow::anyhow;
use flashscope_app::wire::{Above, Ground, Mount};
use flashscope_device::Target;
use flashscope_emulate::{Emulator, LogTo, Options, REGISTRY, Speed, Stop};
use flashscope_host::{OpenOptions, Surroundings, SysRoot};
use flashscope_model::app::AppPlace;
use flashscope_model::envelope::{ConditionList, State};
use flashscope_sim::SimTarget;
use flashscope_units::Bytes;
use std::fs::File;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::sync::Arc;

/// The file system that most devices with such apps on them have.
const USUAL: &str = "ext4";
/// No file system is made on less.
const LEAST_CAPACITY: Bytes = Bytes::mib(1);

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
    /// What must be known of it.
    pub(super) remarks: Vec<String>,
    /// The state that the device was brought into before it was given its file system.
    pub(super) state: Option<State>,
    /// Who writes down what the device below is given; `None` where nobody does.
    pub(super) witness: Option<Witness>,
}

/// Who writes down what a device is given.
pub(super) enum Witness {
    Kernel(Kernel),
    Emulator(Box<Emulated>),
}

/// A simulated device as a block device of this machine. When it is dropped, nothing of it is left.
pub(super) struct Emulated {
    emulator: Emulator,
    /// `None` where nobody wants to know.
    log: Option<Arc<File>>,
    capacity: Bytes,
    model: String,
}

/// What is told when all is over.
#[derive(Default)]
pub(super) struct Told {
    /// All that the device was given.
    pub(super) trace: Option<Trace>,
    /// What an emulator says of itself.
    pub(super) conditions: ConditionList,
    pub(super) remarks: Vec<String>,
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
    if let Some(spec) = target.strip_prefix("sim:") {
        return emulated(target, spec, settings);
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

/// What was asked for must mean something where it is asked.
fn without(given: &[(&str, bool)], why: &str) -> Result<(), Failure> {
    match given.iter().find(|(_, given)| *given) {
        Some((word, _)) => Err(cannot(format!("{why}\nhint: leave out {word}"))),
        None => Ok(()),
    }
}

fn directory(target: &str, settings: &AppSettings) -> Result<Place, Failure> {
    let given = [
        ("--fs", settings.fs.is_some()),
        ("--fs-options", settings.fs_options.is_some()),
        ("--destroy-data", !settings.destroy_data.is_empty()),
        ("--destroy-signatures", settings.destroy_signatures),
        ("--speed", settings.speed.is_some()),
        ("--state", settings.in_state.state.is_some()),
    ];
    without(&given, &format!("{target} is a directory, whose file system and device are there already"))?;
    Ok(Place {
        target: target.to_owned(),
        directory: Some(target.to_owned()),
        ground: Ground { above: Above::Directory(target.to_owned()), keep: settings.keep_files },
        here: Surroundings::of(&SysRoot::live(), Path::new(target)),
        remarks: Vec::new(),
        state: None,
        witness: None,
    })
}

/// A block device of this machine, which the operator lets go of what it holds.
fn on_device(target: &str, settings: &AppSettings) -> Result<Place, Failure> {
    without(&[("--speed", settings.speed.is_some())], &format!("{target} has the speed that it has"))?;
    let file_system = FileSystem::find(settings.fs.as_deref().unwrap_or(USUAL))?;
    let (sys, path) = (SysRoot::live(), Path::new(target));
    let checked = flashscope_host::safety(&sys, path, LEAST_CAPACITY).map_err(failure)?;
    let consent = settings.target(target).consent.to(checked.report.identity.as_deref());
    let options = OpenOptions { read_in_use: false, allow_buffered: false, hang_after: None };
    // How much the kernel writes for a file system nobody can say beforehand: the consent is to all of the device.
    let capacity = checked.report.capacity;
    let opened = flashscope_host::open_for_writing(&sys, &checked, &consent, capacity, &options).map_err(failure)?;
    has_room(capacity, &file_system)?;
    // Whoever makes and mounts file systems opens it exclusively, as it was until now.
    drop(opened);
    interrupt::arm();
    let state = brought(target, settings, &mut None)?;
    let mut remarks = Vec::new();
    let witness = match (!settings.is_unwatched).then(|| Kernel::start(path)).transpose() {
        Ok(kernel) => kernel.map(|kernel| {
            interrupt::before_end(kernel.ender());
            Witness::Kernel(kernel)
        }),
        Err(why) if settings.trace.is_some() => return Err(why),
        Err(why) => {
            remarks.push(format!("nobody wrote down what the device was given: {}", first_line(&why)));
            None
        }
    };
    output::talk(&format!("making {} on {target}; what stands there now is destroyed", file_system.name));
    made(&file_system, path)?;
    let (target, here) = (target.to_owned(), Surroundings::of(&sys, path));
    Ok(Place { target, directory: None, ground: ground(&file_system, path, settings), here, remarks, state, witness })
}

/// A simulated device, emulated for as long as the apps are played.
fn emulated(target: &str, spec: &str, settings: &AppSettings) -> Result<Place, Failure> {
    let given =
        [("--destroy-data", !settings.destroy_data.is_empty()), ("--destroy-signatures", settings.destroy_signatures)];
    without(&given, "a simulated device holds nothing that could be lost")?;
    let file_system = FileSystem::find(settings.fs.as_deref().unwrap_or(USUAL))?;
    let model = with_noise(spec.to_owned(), None);
    let mut device = Some(target::open_model(&model, settings.seed)?);
    let capacity = device.as_ref().map_or(Bytes::ZERO, |device| device.facts().capacity);
    has_room(capacity, &file_system)?;
    interrupt::arm();
    let state = brought(target, settings, &mut device)?;
    let log = (!settings.is_unwatched).then(witness::log).transpose()?;
    let speed = settings.speed.unwrap_or(Speed::Times(1.0));
    let options = Options {
        model: model.clone(),
        at: None,
        attach_loop: true,
        backing: None,
        seed: settings.seed,
        speed,
        log: log.clone().map(LogTo::File),
        registry: REGISTRY.into(),
    };
    let device = device.expect("it was opened, and whoever brings it into a state gives it back");
    let emulator = Emulator::start_from(&options, device).map_err(|error| anyhow!("{error}"))?;
    emulator.remarks().iter().for_each(|remark| output::talk(remark));
    let device = emulator.path();
    made(&file_system, &device)?;
    Ok(Place {
        target: target.to_owned(),
        directory: None,
        ground: ground(&file_system, &device, settings),
        here: Surroundings::of(&SysRoot::live(), &device),
        remarks: Vec::new(),
        state,
        witness: Some(Witness::Emulator(Box::new(Emulated { emulator, log, capacity, model }))),
    })
}

/// Brings the device into the state that is asked for, before it is given a file system; `None` where none is. A simulated one is
/// brought into it in virtual time.
fn brought(target: &str, settings: &AppSettings, device: &mut Option<SimTarget>) -> Result<Option<State>, Failure> {
    let order = Order::before(&settings.in_state, &settings.target(target), None, false);
    order.map(|order| order.prepare(device)).transpose()
}

fn first_line(why: &Failure) -> String {
    why.to_string().lines().next().unwrap_or_default().to_owned()
}

fn has_room(capacity: Bytes, file_system: &FileSystem) -> Result<(), Failure> {
    if capacity >= file_system.least {
        return Ok(());
    }
    let FileSystem { name, least, .. } = file_system;
    Err(cannot(format!("{capacity} is too small for {name}: it takes {least}\nhint: a larger device, or another --fs")))
}

/// Makes the file system.
fn made(file_system: &FileSystem, device: &Path) -> Result<(), Failure> {
    file_system.make(device, interrupt::asked).map_err(|why| match interrupt::asked() {
        true => cannot("interrupted before anything was played".to_owned()),
        false => cannot(format!(
            "{why}\nhint: `dmesg` says what {} answered; `flashscope capacity` finds places that it does not keep",
            device.display()
        )),
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
    /// Starts the player there, and says what it is like.
    ///
    /// # Errors
    /// There is no player, or nothing can be played there.
    pub(super) fn enter(&mut self) -> Result<(Player, AppPlace), Failure> {
        let (player, facts) = Player::start(&self.ground)?;
        let place = AppPlace {
            directory: self.directory.clone(),
            file_system: facts.file_system,
            options: facts.options,
            capacity: Bytes(facts.capacity),
            free: Bytes(facts.free),
            device: facts.device,
            sqlite: facts.sqlite,
            sync_call: facts.sync_call,
            remarks: std::mem::take(&mut self.remarks),
        };
        Ok((player, place))
    }

    /// The device that was given a file system; `None` of a directory.
    pub(super) fn device(&self) -> Option<&Path> {
        match &self.ground.above {
            Above::Mount(mount) => Some(Path::new(&mount.device)),
            Above::Directory(_) => None,
        }
    }

    /// Gives the device the file system of these settings, unless it has that, and has it mounted with their options by the next
    /// player. None may be there.
    ///
    /// # Errors
    /// It is a directory; the file system cannot be made.
    pub(super) fn change(&mut self, settings: &AppSettings, has_it: bool) -> Result<(), Failure> {
        let Some(device) = self.device().map(Path::to_owned) else {
            return Err(cannot(format!("{} is a directory, whose file system is there already", self.target)));
        };
        let file_system = FileSystem::find(settings.fs.as_deref().unwrap_or(USUAL))?;
        if !has_it {
            made(&file_system, &device)?;
        }
        self.ground = ground(&file_system, &device, settings);
        Ok(())
    }
}

impl Witness {
    /// What is to be done where the program has to end at once. An emulated device goes with the program.
    pub(super) fn ender(&self) -> Box<dyn FnOnce() + Send> {
        match self {
            Witness::Kernel(kernel) => Box::new(kernel.ender()),
            Witness::Emulator(_) => Box::new(|| {}),
        }
    }

    /// The end, once nobody plays any more: what there is to tell. A simulated device goes.
    ///
    /// # Errors
    /// What was written down cannot be read.
    pub(super) fn finish(self) -> Result<Told, Failure> {
        match self {
            Witness::Kernel(kernel) => Ok(Told { trace: Some(kernel.finish()?), ..Told::default() }),
            Witness::Emulator(emulated) => emulated.finish(),
        }
    }
}

impl Emulated {
    fn finish(mut self) -> Result<Told, Failure> {
        let seen = self.emulator.seen();
        // Others look at every new device; whoever still does so is not waited for.
        if let Stop::Busy(_) = self.emulator.stop(false).map_err(|error| anyhow!("{error}"))? {
            self.emulator.stop(true).map_err(|error| anyhow!("{error}"))?;
        }
        let trace = |log: &Arc<File>| Trace::of_emulator(&self.emulator, log, self.capacity, &self.model);
        let trace = self.log.as_ref().map(trace).transpose()?;
        let (mut conditions, warning) = seen.map(|seen| (seen.conditions, seen.warning)).unwrap_or_default();
        let requests = self.emulator.statistics().requests;
        let counts = [("reads", requests.reads), ("writes", requests.writes), ("flushes", requests.flushes)];
        conditions.extend(counts.map(|(kind, count)| (format!("emulation_{kind}"), count.to_string())));
        Ok(Told { trace, conditions: conditions.into_iter().collect(), remarks: Vec::from_iter(warning) })
    }
}
