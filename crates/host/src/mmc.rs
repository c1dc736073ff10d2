//! The registers of an SD card or eMMC part of this machine: from sysfs, and EXT_CSD from the part itself or from debugfs.

use crate::blocks::Blocks;
use crate::sysfs::{DeviceNumber, SysRoot};
use crate::{HostError, HostTarget, errno, ioctl, list};
use flashscope_device::{DeviceError, Seal, Target, forward};
use flashscope_registers::{Command, DumpHint, Family, NotSent, Part, RegisterKind, Registers, Reply, read_dump};
use flashscope_units::Bytes;
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::path::Path;

/// The registers of a part, and what could not be read.
#[derive(Clone, Debug, PartialEq)]
pub struct CardRegisters {
    /// Those that could be read.
    pub registers: Registers,
    /// Why one that the part should have is missing, a clause each.
    pub left_out: Vec<String>,
    /// Where EXT_CSD came from, where there is one.
    pub ext_csd_from: Option<&'static str>,
}

/// Reads the registers of the part that a device node (of it or of one of its partitions) stands for. Only reads.
///
/// # Errors
/// There is no such node, or it is no SD card or eMMC part on a native host.
pub fn card_registers(sys: &SysRoot, path: &Path) -> Result<CardRegisters, HostError> {
    let found = rustix::fs::stat(path).map_err(|error| HostError::from_errno("look at", path, error))?;
    let blocks = Blocks::read(sys);
    let not_a_card =
        || HostError::NoRegisters { path: path.to_owned(), why: "it is no SD card or eMMC part on a native host" };
    let disk = blocks
        .by_number(DeviceNumber::from_raw(found.st_rdev))
        .map(|node| blocks.disk_of(node))
        .ok_or_else(not_a_card)?;
    let card = list::card_of(disk).ok_or_else(not_a_card)?;
    let family = if card.text("type").as_deref() == Some("SD") { Family::Sd } else { Family::Mmc };
    let mut found = CardRegisters { registers: Registers::new(family), left_out: Vec::new(), ext_csd_from: None };
    let host = card.above().and_then(|above| above.above()).map(|host| host.name());
    for kind in RegisterKind::ALL.into_iter().filter(|kind| *kind != RegisterKind::ExtCsd) {
        if let Some(text) = card.text(kind.word()) {
            take(&mut found, kind, text.as_bytes());
        }
    }
    if family == Family::Mmc {
        match of_the_part(path) {
            Ok(bytes) => {
                found.registers.set(RegisterKind::ExtCsd, &bytes);
                found.ext_csd_from = Some("the part (CMD8)");
            }
            Err(why) => {
                let host =
                    host.filter(|host| host.starts_with("mmc")).or_else(|| card.above().map(|above| above.name()));
                let in_debugfs =
                    host.and_then(|host| sys.text(format!("/sys/kernel/debug/{host}/{}/ext_csd", card.name())));
                match in_debugfs {
                    Some(text) => {
                        take(&mut found, RegisterKind::ExtCsd, text.as_bytes());
                        found.ext_csd_from = Some("debugfs");
                    }
                    None => found.left_out.push(format!("ext_csd: {why}; only root may ask for it")),
                }
            }
        }
    }
    Ok(found)
}

/// The same from a directory that holds the files of sysfs (`cid`, `csd`, `type` …): a copy of another machine's.
///
/// # Errors
/// The directory holds none of them.
pub fn registers_in(directory: &Path) -> Result<CardRegisters, HostError> {
    let text = |name: &str| std::fs::read(directory.join(name)).ok();
    let is_sd = text("type").map_or_else(|| text("scr").is_some(), |word| word.starts_with(b"SD"));
    let family = if is_sd { Family::Sd } else { Family::Mmc };
    let mut found = CardRegisters { registers: Registers::new(family), left_out: Vec::new(), ext_csd_from: None };
    for kind in RegisterKind::ALL {
        if let Some(bytes) = text(kind.word()) {
            take(&mut found, kind, &bytes);
        }
    }
    if found.registers.kinds().next().is_none() && found.left_out.is_empty() {
        let why = "the directory has none of their files (cid, csd, ext_csd, scr, ssr, ocr)";
        return Err(HostError::NoRegisters { path: directory.to_owned(), why });
    }
    Ok(found)
}

/// Takes in what a file says.
fn take(found: &mut CardRegisters, kind: RegisterKind, text: &[u8]) {
    // sysfs prints OCR as a number with its prefix, `0x00ff8080`; four digits pairs as all others are.
    let hint = DumpHint { name: kind.word(), family: Some(found.registers.family), register: Some(kind) };
    match read_dump(text, hint) {
        Ok(read) if kind == RegisterKind::ExtCsd => found.registers.ext_csd = read.ext_csd,
        Ok(read) => drop(read.get(kind).map(|bytes| found.registers.set(kind, bytes))),
        Err(error) => {
            found.left_out.push(format!("{}: {}", kind.word(), error.to_string().lines().next().unwrap_or_default()))
        }
    }
}

/// EXT_CSD by the command that reads it.
fn of_the_part(path: &Path) -> Result<[u8; ioctl::EXT_CSD], String> {
    let device = rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).map_err(errno::describe)?;
    ioctl::mmc_ext_csd(device).map_err(errno::describe)
}

/// A part behind the kernel: requests go the way of all block devices, commands by the ioctl.
#[derive(Debug)]
pub struct HostPart {
    target: HostTarget,
    device: OwnedFd,
    seal: Option<Seal>,
    registers: Registers,
    boot_partition: Option<Bytes>,
}

impl HostPart {
    /// The part that an open target is.
    ///
    /// # Errors
    /// It is no eMMC part as a whole.
    pub fn of(sys: &SysRoot, path: &Path, target: HostTarget) -> Result<HostPart, HostError> {
        let found = card_registers(sys, path)?;
        let whole = list::disk_under(sys, path).filter(|disk| disk.path.file_name() == path.file_name());
        let no = |why| HostError::NoRegisters { path: path.to_owned(), why };
        if found.registers.family == Family::Sd {
            return Err(no("an SD card has no EXT_CSD, which a check is of"));
        }
        let disk = whole.ok_or_else(|| no("this is a part of it; name the whole device"))?;
        let (files, seal) = target.opened().ok_or_else(|| no("another thread has it"))?;
        let device = files.plain.try_clone().map_err(|error| HostError::from_io("open once more", path, &error))?;
        let boot = format!("{}boot0", disk.path.file_name().unwrap_or_default().to_string_lossy());
        let boot_partition = Blocks::read(sys).by_name(&boot).map(|node| Bytes(node.bytes()));
        Ok(HostPart { target, device, seal, registers: found.registers, boot_partition })
    }

    /// Sends one command or a few, as the kernel takes them.
    fn sent(&self, commands: &[Command]) -> Result<(u32, Vec<u8>), Errno> {
        match commands {
            [command] if *command == Command::send_ext_csd() => Ok((0, ioctl::mmc_ext_csd(&self.device)?.to_vec())),
            [command] => Ok((ioctl::mmc_commands(&self.device, [*command])?, Vec::new())),
            [start, end, erase] => Ok((ioctl::mmc_commands(&self.device, [*start, *end, *erase])?, Vec::new())),
            _ => Err(Errno::OPNOTSUPP),
        }
    }
}

impl Target for HostPart {
    forward!(target: facts, capabilities, path, now, submit, reap, wait_until, wear);
}

impl Part for HostPart {
    fn send(&mut self, commands: &[Command]) -> Result<Reply, NotSent> {
        let by_host = |why: &str| NotSent::ByHost(why.to_owned());
        if commands.iter().any(|command| command.seal().is_some() && command.seal() != self.seal) {
            return Err(by_host("the right to write is for another device"));
        }
        // The transfer after CMD23 and the tasks of the queue are the kernel's own: its commands would come between.
        if commands.iter().any(|command| {
            matches!(command.encoded().opcode, 23 | 44..=48) || command.encoded().argument >> 16 == 0x030f
        }) {
            return Err(by_host("the kernel has this for itself"));
        }
        let began = self.target.now();
        let found = self.sent(commands);
        let took = self.target.now().since(began);
        match found {
            Ok((status, data)) => Ok(Reply { status, data, took }),
            Err(Errno::NODEV | Errno::NXIO | Errno::NOMEDIUM) => {
                Err(NotSent::Gone(DeviceError::Vanished("it went away while a command was sent".to_owned())))
            }
            Err(error @ (Errno::PERM | Errno::ACCESS)) => {
                Err(by_host(&format!("{}; only root may send commands", errno::describe(error))))
            }
            Err(error @ (Errno::NOTTY | Errno::INVAL | Errno::OPNOTSUPP)) => {
                Err(by_host(&format!("the kernel does not send it: {}", errno::describe(error))))
            }
            // A part that knows no such command does not answer, and the kernel tells of an error of its own for each kind.
            Err(_) => Ok(Reply { status: 1 << 19, data: Vec::new(), took }),
        }
    }

    fn registers(&self) -> &Registers {
        &self.registers
    }

    fn boot_partition(&self) -> Option<Bytes> {
        self.boot_partition
    }
}
