//! A target with a switch.

use super::command::{PowerCommand, Running};
use super::part::{Back, Part, Sight};
use crate::buffer::AlignedBuffer;
use crate::clock::MonotonicClock;
use crate::error::HostError;
use crate::list::{self, ListedDevice};
use crate::open::{OpenOptions, open_for_reading, open_for_writing};
use crate::safety::{self, Place};
use crate::sysfs::SysRoot;
use crate::target::HostTarget;
use flashscope_device::{
    Capabilities, Completion, Consent, DeviceError, PowerSwitch, Request, Restored, Target, Wear, WriteGrant,
};
use flashscope_model::{DeviceFacts, DeviceKind, run::PathTaken};
use flashscope_units::{Bytes, Instant, Nanos};
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

/// The commands, and how long each may take to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switch {
    /// Cuts the power.
    pub off: PowerCommand,
    /// Brings it back.
    pub on: PowerCommand,
    /// From the start of `off` until the command has ended and the device does not answer any more.
    pub wait_off: Nanos,
    /// From the start of `on` until the device answers.
    pub wait_on: Nanos,
}

impl Switch {
    /// Brings the power back, whatever it is now: for whoever has no time left for more.
    pub fn bring_back(&self) {
        let _ = self.on.run(self.wait_on);
    }
}

/// A device of this machine whose power can be cut.
///
/// When it is dropped, its power is on, or was at least asked to be.
#[derive(Debug)]
pub struct SwitchedTarget {
    sys: SysRoot,
    /// `None` while it is without power, and where it did not come back.
    target: Option<HostTarget>,
    part: Part,
    consent: Consent,
    options: OpenOptions,
    switch: Switch,
    power: Power,
    clock: MonotonicClock,
    facts: DeviceFacts,
    capabilities: Capabilities,
    taken: PathTaken,
    /// What may still be written.
    left: Bytes,
}

#[derive(Debug)]
enum Power {
    On,
    /// The command was started.
    Going {
        command: Running,
        looked: Option<Instant>,
    },
    Off,
}

/// What a cut before the first write came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DryCut {
    /// From the start of the command until the device did not answer any more.
    pub off_after: Nanos,
    /// From the start of the command until it answered again.
    pub on_after: Nanos,
}

/// How often a device is asked whether it still answers.
const LOOK: Nanos = Nanos::millis(100);
/// How often it is looked for when it is to come back.
const LOOK_FOR: Duration = Duration::from_millis(20);
/// What is read to see whether it answers, from its start on.
const PROBE: usize = 4096;

impl SwitchedTarget {
    /// A target that was opened with this consent, with its switch.
    ///
    /// # Errors
    /// It cannot be found again: its file or node is gone by now. Its reads do not come from the medium.
    pub fn new(
        sys: SysRoot,
        path: &Path,
        target: HostTarget,
        consent: Consent,
        options: OpenOptions,
        switch: Switch,
    ) -> Result<SwitchedTarget, HostError> {
        let place = Place::find(&sys, path)?;
        let taken = target.path();
        if let Some(why) = taken.fallbacks.first() {
            let said = format!("{why}, so that reads would not show what a power cut leaves");
            return Err(HostError::System { operation: "test", path: path.to_owned(), said });
        }
        Ok(SwitchedTarget {
            part: Part::of(&sys, &place),
            sys,
            // What is on it by then, it has from us.
            consent: Consent { signatures: true, ..consent },
            options,
            switch,
            power: Power::On,
            clock: target.clock(),
            facts: target.facts().clone(),
            capabilities: target.capabilities(),
            taken,
            left: target.granted(),
            target: Some(target),
        })
    }

    /// Cuts the power and brings it back, and looks whether that did what it is to do: the device goes and comes back as it was,
    /// nothing else goes, this program's own disk answers. While the power is off, `meanwhile` looks at whatever else has to stay.
    ///
    /// # Errors
    /// What went wrong, with a hint. The power is on, or was at least asked to be.
    pub fn dry_cut(
        &mut self,
        grant: &mut WriteGrant,
        meanwhile: &mut dyn FnMut() -> Result<(), String>,
    ) -> Result<DryCut, String> {
        if !self.answers() {
            return Err(
                "the device does not answer with its power on\nhint: look at it with `flashscope list`".to_owned()
            );
        }
        let (before, boot) = (others(&self.sys, self.part.path()), boot_id(&self.sys));
        let begun = self.now();
        let cut = self.cut_power().and_then(|()| self.until_off());
        let off_after = self.now().since(begun);
        let stays = cut.as_ref().map(|()| self.stays(&before, &boot)).unwrap_or(Ok(())).and_then(|()| meanwhile());
        let back = self.restore_power();
        cut.map_err(|error| error.to_string())?;
        stays?;
        let back = back.map_err(|error| format!("{error}\nhint: --wait-on gives it more time; nothing was written"))?;
        if self.facts.capacity != self.part.capacity() {
            let (now, was) = (self.facts.capacity, self.part.capacity());
            return Err(format!(
                "it came back with {now} of {was}, though nothing was written\nhint: it, or its reader, is damaged"
            ));
        }
        let Some(fresh) = back.grant else {
            return Err("it came back read-only, though nothing was written\nhint: look at the card's lock switch, or at `dmesg`".to_owned());
        };
        *grant = fresh;
        Ok(DryCut { off_after, on_after: back.took })
    }

    fn until_off(&mut self) -> Result<(), DeviceError> {
        while !self.has_lost_power()? {
            thread::sleep(LOOK_FOR);
        }
        Ok(())
    }

    /// Whether nothing else went with it.
    fn stays(&self, before: &[(PathBuf, String)], boot: &Option<String>) -> Result<(), String> {
        let now = others(&self.sys, self.part.path());
        let gone: Vec<String> =
            before.iter().filter(|other| !now.contains(other)).map(|(path, _)| path.display().to_string()).collect();
        if !gone.is_empty() {
            return Err(format!(
                "{} takes {} away, too\nhint: switch the one port that the device hangs on",
                self.switch.off,
                gone.join(", ")
            ));
        }
        if *boot != boot_id(&self.sys) {
            return Err("this machine has started anew in between\nhint: switch the device's power only".to_owned());
        }
        own_disk_answers().map_err(|why| {
            format!("this program's own disk does not answer while the device is off: {why}\nhint: switch the device's power only")
        })
    }

    /// The target while it has power.
    pub(super) fn powered(&mut self) -> Result<&mut HostTarget, DeviceError> {
        self.target.as_mut().ok_or_else(is_off)
    }

    /// Whether it answers a read past every cache.
    fn answers(&self) -> bool {
        let Some((files, _)) = self.target.as_ref().and_then(HostTarget::opened) else { return false };
        reads(&files.plain)
    }

    /// Waits until it is found, opens it, and waits until it answers.
    fn come_back(&mut self, begun: Instant) -> Result<Option<WriteGrant>, DeviceError> {
        let mut last;
        loop {
            match self.part.look(&self.sys) {
                Sight::Back(back) => match self.open(&back) {
                    Ok(grant) => return Ok(grant),
                    Err(why) => last = why,
                },
                Sight::Nothing => {
                    let (path, wait) = (self.part.path().display(), self.switch.wait_on);
                    last = DeviceError::Vanished(format!("{path} did not come back within {wait}"));
                }
                Sight::Other(why) => last = DeviceError::System(format!("it did not come back: {why}")),
            }
            if self.now().since(begun) >= self.switch.wait_on {
                return Err(last);
            }
            thread::sleep(LOOK_FOR);
        }
    }

    /// Opens what came back: for writing, unless it is not what was consented to any more. Then no grant comes.
    fn open(&mut self, back: &Back) -> Result<Option<WriteGrant>, DeviceError> {
        let words = |error: HostError| DeviceError::System(error.to_string());
        if !answers_at(&back.path) {
            return Err(DeviceError::Vanished(format!("{} is there, and does not answer reads", back.path.display())));
        }
        let as_before = back.capacity == self.part.capacity() && !back.read_only;
        let (mut target, grant) = if as_before {
            let checked = safety::safety(&self.sys, &back.path, Bytes::ZERO).map_err(words)?;
            let opened = open_for_writing(&self.sys, &checked, &self.consent, self.left, &self.options);
            let (target, grant) = opened.map_err(words)?;
            (target, Some(grant))
        } else {
            (open_for_reading(&self.sys, &back.path, &self.options).map_err(words)?, None)
        };
        target.keep_time(self.clock);
        (self.facts, self.capabilities) = (target.facts().clone(), target.capabilities());
        self.target = Some(target);
        Ok(grant)
    }
}

impl Target for SwitchedTarget {
    fn facts(&self) -> &DeviceFacts {
        &self.facts
    }

    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    fn path(&self) -> PathTaken {
        self.taken.clone()
    }

    fn now(&self) -> Instant {
        self.clock.now()
    }

    fn submit(&mut self, batch: &[Request]) -> Result<(), DeviceError> {
        self.powered()?.submit(batch)
    }

    fn reap(&mut self, min: usize, into: &mut Vec<Completion>) -> Result<(), DeviceError> {
        self.target.as_mut().map_or(Ok(()), |target| target.reap(min, into))
    }

    fn wait_until(&mut self, at: Instant) {
        self.clock.sleep_until(at);
    }

    fn wear(&self) -> Option<Wear> {
        None
    }
}

impl PowerSwitch for SwitchedTarget {
    fn cut_power(&mut self) -> Result<(), DeviceError> {
        let command = self.switch.off.start().map_err(failed)?;
        self.power = Power::Going { command, looked: None };
        Ok(())
    }

    fn has_lost_power(&mut self) -> Result<bool, DeviceError> {
        let now = self.clock.now();
        let Power::Going { command, looked } = &mut self.power else { return Ok(matches!(self.power, Power::Off)) };
        let has_ended = command.has_ended().map_err(failed)?;
        if looked.is_some_and(|looked| now.since(looked) < LOOK) {
            return Ok(false);
        }
        *looked = Some(now);
        let answers = self.answers();
        let Power::Going { command, .. } = &mut self.power else { return Ok(false) };
        if has_ended && !answers {
            self.power = Power::Off;
            return Ok(true);
        }
        if has_ended && command.age() >= self.switch.wait_off {
            return Err(DeviceError::System(format!(
                "the device still answers {} after {} was started\nhint: does the command switch the port that it hangs on? --wait-off \
                 gives it more time",
                self.switch.wait_off, self.switch.off
            )));
        }
        if !has_ended {
            command.within(self.switch.wait_off).map_err(failed)?;
        }
        Ok(false)
    }

    fn restore_power(&mut self) -> Result<Restored, DeviceError> {
        // Closed, so that it is free to be opened, and nothing that the kernel keeps of it is left.
        if let Some(target) = self.target.take() {
            self.left = target.granted();
        }
        let begun = self.now();
        self.power = Power::Off;
        let switched = self.switch.on.run(self.switch.wait_on);
        if switched.is_ok() {
            self.power = Power::On;
        }
        switched.map_err(failed)?;
        let grant = self.come_back(begun)?;
        Ok(Restored { took: self.now().since(begun), grant })
    }
}

impl Drop for SwitchedTarget {
    fn drop(&mut self) {
        if !matches!(self.power, Power::On) {
            // Ends a command that still runs, which would switch it off again.
            self.power = Power::Off;
            self.target = None;
            self.switch.bring_back();
        }
    }
}

fn is_off() -> DeviceError {
    DeviceError::Vanished("its power is off".to_owned())
}

fn failed(why: String) -> DeviceError {
    DeviceError::System(format!("{why}\nhint: try the command by hand; it is run without a shell"))
}

/// Whether what is at a path answers a read past every cache.
fn answers_at(path: &Path) -> bool {
    let flags = OFlags::RDONLY | OFlags::DIRECT | OFlags::CLOEXEC | OFlags::NONBLOCK;
    rustix::fs::open(path, flags, Mode::empty()).is_ok_and(|file| reads(&file))
}

fn reads(file: &OwnedFd) -> bool {
    let mut buffer = AlignedBuffer::new(PROBE);
    matches!(rustix::io::pread(file, buffer.part_mut(0, PROBE), 0), Ok(1..))
}

/// The other disks with something in them: where, and which. Loop devices come and go without any power.
fn others(sys: &SysRoot, target: &Path) -> Vec<(PathBuf, String)> {
    let own = target.canonicalize().ok();
    let own = list::disk_under(sys, target).filter(|_| own.is_some_and(|own| own.starts_with("/dev")));
    let own = own.map(|disk| disk.path);
    let has_power = |disk: &ListedDevice| disk.capacity > Bytes::ZERO && disk.kind != DeviceKind::Loop;
    let with_medium = list::list(sys).into_iter().filter(has_power);
    with_medium.filter(|disk| Some(&disk.path) != own.as_ref()).map(|disk| (disk.path, disk.identity.0)).collect()
}

/// What the kernel calls this start of the machine.
pub fn boot_id(sys: &SysRoot) -> Option<String> {
    sys.text("/proc/sys/kernel/random/boot_id").map(|id| id.trim().to_owned())
}

/// Reads this program from the disk that it was started from, past the page cache where that can be done.
fn own_disk_answers() -> Result<(), String> {
    let open = |flags| rustix::fs::open("/proc/self/exe", OFlags::RDONLY | OFlags::CLOEXEC | flags, Mode::empty());
    let words = |error: rustix::io::Errno| crate::errno::describe(error);
    let file = open(OFlags::DIRECT).or_else(|_| open(OFlags::empty())).map_err(words)?;
    let mut buffer = AlignedBuffer::new(PROBE);
    rustix::io::pread(&file, buffer.part_mut(0, PROBE), 0).map(drop).map_err(words)
}
