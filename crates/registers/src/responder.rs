//! A simulated eMMC part: a state machine that answers commands, over a simulated device that serves the data.
//!
//! The device below has the times, the cache and the discards; this adds EXT_CSD, the states of commands, and what is planted. With the
//! cache off every write is durable, as the standard wants it.

use crate::command::Kind;
use crate::part::{ERROR, ILLEGAL, SWITCH_ERROR};
use crate::{
    BlockCount, Command, EXT_CSD_BYTES, EraseHow, Family, NotSent, Part, Plant, RegisterKind, Registers, Reply, Setting,
};
use flashscope_device::{
    Completion, Content, DeviceError, ExecuteExt, GrantError, Op, Outcome, Request, Target, WriteGrant, forward,
};
use flashscope_units::{Bytes, Instant, Nanos};
use std::ops::Range;

/// What a simulated part claims beside what its device says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// `EXT_CSD_REV`: 6 is 4.5, 7 is 5.0, 8 is 5.1.
    pub revision: u8,
    /// Size of its cache; nothing where the device below has none.
    pub cache: Bytes,
    /// Tasks that its queue takes, from 5.1 on; 0: it has none.
    pub queue: u8,
    /// Whether erased bits read as 1.
    pub erased_ones: bool,
    /// Optional features, a bit each: packed writes, tags, contexts, high-priority interrupt, background operations, barrier, secure
    /// erase, sanitise, notification.
    pub features: u16,
}

impl Profile {
    /// What a part of this revision honestly claims over a device: everything, and a cache where the device has one. That is tried on a copy
    /// of it, `scratch`, with the right to write to it: a write that need not be durable is quicker where there is a cache.
    ///
    /// # Errors
    /// Those of the device.
    pub fn honest(revision: u8, scratch: &mut impl Target, grant: &mut WriteGrant) -> Result<Profile, DeviceError> {
        let length = Bytes::kib(4);
        let mut timed = |durable: bool, from: Bytes| -> Result<Nanos, DeviceError> {
            let mut times = Vec::new();
            for number in 0..25 {
                let at = from + Bytes::mib(number);
                let request = Request::write_any(grant, 0, at, length, durable).map_err(|error| of_grant(&error))?;
                times.push(scratch.execute(request)?.service_time().get());
                scratch.execute(Request::flush(0))?;
            }
            times.sort_unstable();
            Ok(Nanos(times[times.len() / 2]))
        };
        let (kept, held) = (timed(true, Bytes::mib(64))?, timed(false, Bytes::mib(128))?);
        let cache = if held.as_f64() < 0.5 * kept.as_f64() { Bytes::kib(512) } else { Bytes::ZERO };
        Ok(Profile { revision, cache, queue: 16, erased_ones: false, features: features::ALL })
    }
}

/// How long a command without data takes.
const COMMAND: Nanos = Nanos::micros(20);
/// How long a setting takes.
const SWITCH: Nanos = Nanos::micros(100);
/// How long the sanitise takes for what was erased since the last, beside the device's own work.
const SANITIZE: Nanos = Nanos::millis(250);
/// Size of each boot partition.
const BOOT: Bytes = Bytes::mib(4);
/// An erase group of high capacity.
const GROUP: Bytes = Bytes::kib(512);

/// A simulated part.
#[derive(Debug)]
pub struct Responder<T> {
    inner: T,
    grant: WriteGrant,
    registers: Registers,
    planted: Vec<Plant>,
    /// Ranges, in bytes, that were erased, and what they read as.
    erased: Vec<(Range<u64>, u8)>,
    /// The range of the erase that is being said, in sectors.
    range: (Option<u32>, Option<u32>),
    next: Option<BlockCount>,
    task: Option<u8>,
    queued: u32,
    /// Requests that the device below was not given, or that are done in another way than it says.
    done: Vec<Completion>,
}

impl<T: Target> Responder<T> {
    /// A part around a device, with the right to write to all of it.
    pub fn new(inner: T, grant: WriteGrant, profile: Profile, planted: &[Plant]) -> Responder<T> {
        let mut registers = Registers::new(Family::Mmc);
        registers.set(RegisterKind::ExtCsd, &ext_csd(inner.facts().capacity, profile, planted));
        registers.set(RegisterKind::Cid, b"\x15\x01\x00SIMMMC\x10\x00\x00\x00\x01\x5b\x01");
        Responder {
            inner,
            grant,
            registers,
            planted: planted.to_vec(),
            erased: Vec::new(),
            range: (None, None),
            next: None,
            task: None,
            queued: 0,
            done: Vec::new(),
        }
    }

    fn has(&self, plant: Plant) -> bool {
        self.planted.contains(&plant)
    }

    fn byte(&self, at: usize) -> u8 {
        self.registers.ext_csd.as_ref().and_then(|register| register.get(at)).unwrap_or(0)
    }

    fn put(&mut self, at: u8, value: u8) {
        self.registers.ext_csd.iter_mut().for_each(|register| register.put(at.into(), value));
    }

    /// What a read that lies in an erased range finds; the latest erase counts.
    fn reads_erased(&self, offset: Bytes, length: Bytes) -> Option<u8> {
        let (from, to) = (offset.get(), (offset + length).get());
        self.erased.iter().rev().find(|(range, _)| range.start <= from && to <= range.end).map(|(_, byte)| *byte)
    }

    /// The byte that erased flash reads as.
    fn erased_byte(&self) -> u8 {
        if self.byte(181) == 1 { 0xff } else { 0 }
    }

    fn forget_erased(&mut self, offset: Bytes, length: Bytes) {
        let (from, to) = (offset.get(), (offset + length).get());
        let kept = std::mem::take(&mut self.erased).into_iter().flat_map(|(range, byte)| {
            [(range.start..range.end.min(from), byte), (range.start.max(to)..range.end, byte)]
        });
        self.erased = kept.filter(|(range, _)| range.start < range.end).collect();
    }

    fn wait(&mut self, time: Nanos) {
        self.inner.wait_until(self.inner.now() + time);
    }

    /// The status after one command.
    fn answer(&mut self, command: &Command, data: &mut Vec<u8>) -> Result<u32, DeviceError> {
        self.wait(COMMAND);
        let is_in_queue = self.byte(15) == 1;
        let allowed = matches!(
            command.kind,
            Kind::QueueTask(_)
                | Kind::QueueAddress(_)
                | Kind::QueueStatus
                | Kind::QueueDiscard
                | Kind::SendStatus
                | Kind::Switch(_)
        );
        // In the mode of the queue a part takes the commands of the queue only.
        if is_in_queue && !allowed {
            return Ok(ILLEGAL);
        }
        match command.kind {
            Kind::SendStatus => Ok(0),
            Kind::SendExtCsd => {
                data.extend_from_slice(self.registers.get(RegisterKind::ExtCsd).unwrap_or_default());
                Ok(0)
            }
            Kind::SetBlockCount(count) => {
                self.next = Some(count);
                Ok(0)
            }
            Kind::EraseStart(sector) => {
                self.range = (Some(sector), None);
                Ok(0)
            }
            Kind::EraseEnd(sector) => {
                self.range.1 = Some(sector);
                Ok(0)
            }
            Kind::Erase(how) => self.erase(how),
            Kind::Sanitize => self.sanitize(),
            Kind::Switch(setting) => self.switch(setting),
            Kind::QueueTask(_) | Kind::QueueAddress(_) | Kind::QueueStatus | Kind::QueueDiscard if !is_in_queue => {
                Ok(ILLEGAL)
            }
            Kind::QueueTask(task) => {
                let depth = if self.has(Plant::QueueShallow) { 1 } else { (self.byte(307) & 31) + 1 };
                if task >= depth || self.queued >> task & 1 == 1 {
                    return Ok(ERROR);
                }
                self.task = Some(task);
                Ok(0)
            }
            Kind::QueueAddress(sector) => match self.task.take() {
                Some(task) if u64::from(sector) * 512 < self.inner.facts().capacity.get() => {
                    self.queued |= 1 << task;
                    Ok(0)
                }
                _ => Ok(ERROR),
            },
            // The answer to this status is the tasks that are ready, a bit each; here they go as data, as the status is one of errors.
            Kind::QueueStatus => {
                data.extend_from_slice(&self.queued.to_le_bytes());
                Ok(0)
            }
            Kind::QueueDiscard => {
                self.queued = 0;
                Ok(0)
            }
        }
    }

    fn switch(&mut self, setting: Setting) -> Result<u32, DeviceError> {
        self.wait(SWITCH);
        let (place, value) = setting.place();
        let claims = |at: usize| self.byte(at) > 0;
        let refused = match setting {
            Setting::Cache(_) | Setting::FlushCache => !(249..253).any(claims),
            Setting::Barrier(_) => !claims(486) || self.has(Plant::BarrierRefused),
            Setting::FlushBarrier => self.byte(31) == 0,
            Setting::Interrupt(_) => !claims(503) || self.has(Plant::InterruptRefused),
            Setting::StartBackground => self.byte(163) & 1 == 0 || self.has(Plant::BackgroundRefused),
            Setting::PoweredOn => !claims(247),
            Setting::Context(number, _) => number > self.byte(496) & 15 || self.has(Plant::ContextRefused),
            Setting::Queue(_) => !claims(308) || self.has(Plant::QueueRefused),
        };
        if refused {
            return Ok(SWITCH_ERROR);
        }
        match setting {
            Setting::Cache(false) | Setting::FlushCache => self.flush()?,
            Setting::Cache(true) if self.has(Plant::CacheRefused) => return Ok(0),
            Setting::StartBackground => self.wait(Nanos::millis(1)),
            Setting::PoweredOn if self.has(Plant::NotificationForgotten) => return Ok(0),
            _ => {}
        }
        // What starts something goes back to 0 by itself.
        if !matches!(place, 32 | 164) {
            self.put(place, value);
        }
        Ok(0)
    }

    fn flush(&mut self) -> Result<(), DeviceError> {
        if !self.has(Plant::FlushLies) {
            self.inner.execute(Request::flush(0))?;
        }
        Ok(())
    }

    fn erase(&mut self, how: EraseHow) -> Result<u32, DeviceError> {
        const SEQUENCE: u32 = 1 << 28;
        const PARAMETER: u32 = 1 << 27;
        let (Some(first), Some(last)) = std::mem::take(&mut self.range) else { return Ok(SEQUENCE) };
        if last < first || u64::from(last) * 512 >= self.inner.facts().capacity.get() {
            return Ok(PARAMETER);
        }
        let features = self.byte(231);
        let refused = match how {
            EraseHow::Erase => false,
            EraseHow::Trim => features >> 4 & 1 == 0,
            EraseHow::Discard => self.byte(192) < 6 || self.has(Plant::DiscardRefused),
            EraseHow::SecureErase | EraseHow::SecureTrimMark | EraseHow::SecureTrimErase => {
                features & 1 == 0 || self.has(Plant::SecureRefused)
            }
        };
        if refused {
            return Ok(ILLEGAL);
        }
        let (mut from, mut to) = (u64::from(first) * 512, (u64::from(last) + 1) * 512);
        // Erases are of whole groups, each that is touched.
        if matches!(how, EraseHow::Erase | EraseHow::SecureErase) {
            from = from / GROUP.get() * GROUP.get();
            to = to.next_multiple_of(GROUP.get()).min(self.inner.facts().capacity.get());
        }
        let request =
            Request::discard(&mut self.grant, 0, Bytes(from), Bytes(to - from)).map_err(|error| of_grant(&error))?;
        let keeps = match how {
            EraseHow::Trim => self.has(Plant::TrimKeeps),
            EraseHow::Erase | EraseHow::SecureErase => self.has(Plant::EraseKeeps),
            // The mark alone changes nothing.
            EraseHow::SecureTrimMark => true,
            EraseHow::Discard | EraseHow::SecureTrimErase => false,
        };
        if keeps {
            self.wait(SWITCH);
            return Ok(0);
        }
        self.inner.execute(request)?;
        let is_other = how == EraseHow::Trim && self.has(Plant::TrimReadsOther);
        let byte = if is_other { !self.erased_byte() } else { self.erased_byte() };
        self.erased.push((from..to, byte));
        Ok(0)
    }

    fn sanitize(&mut self) -> Result<u32, DeviceError> {
        if self.byte(231) >> 6 & 1 == 0 || self.has(Plant::SanitizeRefused) {
            return Ok(SWITCH_ERROR);
        }
        self.wait(SANITIZE);
        if self.has(Plant::SanitizeLoses) {
            self.erased.push((0..self.inner.facts().capacity.get(), self.erased_byte()));
        }
        Ok(0)
    }

    /// A write as the registers want it: durable with the cache off, and as the command before it said.
    fn write(&mut self, request: &Request) -> Result<Option<Request>, DeviceError> {
        let next = self.next.take();
        let refused = match next {
            Some(BlockCount::Packed) => self.byte(500) == 0 || self.has(Plant::PackedRefused),
            Some(BlockCount::Tagged) => self.byte(499) == 0 || self.has(Plant::TagRefused),
            Some(BlockCount::Reliable) => self.has(Plant::ReliableRefused),
            Some(BlockCount::Context(number)) => {
                let place = 36 + usize::from(number.clamp(1, 15));
                number == 0 || self.byte(place) == 0
            }
            None => false,
        };
        if refused {
            return Ok(None);
        }
        self.forget_erased(request.offset(), request.length());
        let is_durable = matches!(request.op(), Op::Write { durable: true })
            || next == Some(BlockCount::Reliable)
            || self.byte(33) == 0
            || self.has(Plant::CacheWithout);
        let (id, offset, length) = (request.id(), request.offset(), request.length());
        let made = match request.fill() {
            Some(fill) => Request::write(&mut self.grant, id, offset, length, fill, is_durable),
            None => Request::write_any(&mut self.grant, id, offset, length, is_durable),
        };
        made.map(Some).map_err(|error| of_grant(&error))
    }
}

fn of_grant(error: &GrantError) -> DeviceError {
    DeviceError::Invalid(format!("{error:?}"))
}

impl<T: Target> Target for Responder<T> {
    forward!(inner: facts, capabilities, path, now, wait_until, wear);

    fn submit(&mut self, batch: &[Request]) -> Result<(), DeviceError> {
        for request in batch {
            let now = self.inner.now();
            let instead = |outcome: Outcome, content: Content, issued: Instant, completed: Instant| Completion {
                id: request.id(),
                issued,
                completed,
                outcome,
                content,
                stretches: Vec::new(),
            };
            match request.op() {
                Op::Write { .. } => match self.write(request)? {
                    Some(request) => self.inner.submit(&[request])?,
                    None => {
                        let failed = Outcome::Failed("EIO: the part refused the transfer".to_owned());
                        self.done.push(instead(failed, Content::Unknown, now, now));
                    }
                },
                Op::Flush if self.has(Plant::FlushLies) => {
                    self.wait(SWITCH);
                    self.done.push(instead(Outcome::Success, Content::Unknown, now, self.inner.now()));
                }
                Op::Read => match self.reads_erased(request.offset(), request.length()) {
                    None => self.inner.submit(&[*request])?,
                    // The device below has the time of it.
                    Some(byte) => {
                        let plain = Request::read(request.id(), request.offset(), request.length());
                        let read = self.inner.execute(plain)?;
                        let outcome = if request.fill().is_some() { Outcome::Mismatch } else { read.outcome };
                        self.done.push(instead(outcome, Content::Uniform(byte), read.issued, read.completed));
                    }
                },
                _ => self.inner.submit(&[*request])?,
            }
        }
        Ok(())
    }

    fn reap(&mut self, min: usize, into: &mut Vec<Completion>) -> Result<(), DeviceError> {
        let here = self.done.len();
        into.append(&mut self.done);
        self.inner.reap(min.saturating_sub(here), into)
    }
}

impl<T: Target> Part for Responder<T> {
    fn send(&mut self, commands: &[Command]) -> Result<Reply, NotSent> {
        let began = self.inner.now();
        let (mut status, mut data) = (0, Vec::new());
        for command in commands {
            data.clear();
            status = self.answer(command, &mut data).map_err(NotSent::Gone)?;
            if status != 0 {
                break;
            }
        }
        Ok(Reply { status, data, took: self.inner.now().since(began) })
    }

    fn registers(&self) -> &Registers {
        &self.registers
    }

    fn boot_partition(&self) -> Option<Bytes> {
        Some(if self.has(Plant::BootSize) { Bytes::mib(1) } else { BOOT })
    }
}

/// Optional features of a [`Profile`], by their bits.
pub mod features {
    /// Packed writes.
    pub const PACKED: u16 = 1;
    /// Data tags.
    pub const TAGS: u16 = 1 << 1;
    /// Contexts.
    pub const CONTEXTS: u16 = 1 << 2;
    /// High-priority interrupt.
    pub const INTERRUPT: u16 = 1 << 3;
    /// Background operations, by the host.
    pub const BACKGROUND: u16 = 1 << 4;
    /// Cache barrier, from 5.1 on.
    pub const BARRIER: u16 = 1 << 5;
    /// Secure erase and trim.
    pub const SECURE: u16 = 1 << 6;
    /// Sanitise.
    pub const SANITIZE: u16 = 1 << 7;
    /// Power-off notification.
    pub const NOTIFICATION: u16 = 1 << 8;
    /// All of them.
    pub const ALL: u16 = (1 << 9) - 1;
}

/// EXT_CSD of a part of this profile, with what is planted in the registers themselves.
fn ext_csd(capacity: Bytes, profile: Profile, planted: &[Plant]) -> [u8; EXT_CSD_BYTES] {
    let mut bytes = [0; EXT_CSD_BYTES];
    let has = |plant| planted.contains(&plant);
    let claims = |feature: u16| profile.features & feature != 0;
    let flag = |feature: u16, value: u8| if claims(feature) { value } else { 0 };
    let is_5_1 = profile.revision >= 8;
    let mut set = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
    let sectors = capacity.get() / 512 * if has(Plant::Capacity) { 2 } else { 1 };
    set(212, &(sectors as u32).to_le_bytes());
    set(249, &((profile.cache.get() / 128) as u32).to_le_bytes());
    for (at, value) in [
        (504, 1),
        (503, flag(features::INTERRUPT, 1)),
        (502, flag(features::BACKGROUND, 1)),
        (163, flag(features::BACKGROUND, 1)),
        (500, flag(features::PACKED, 63)),
        (501, flag(features::PACKED, 63)),
        (499, flag(features::TAGS, 1)),
        (498, flag(features::TAGS, 3)),
        (496, flag(features::CONTEXTS, 5)),
        (486, u8::from(is_5_1 && claims(features::BARRIER))),
        (308, u8::from(is_5_1 && profile.queue > 0)),
        (307, if is_5_1 { profile.queue.saturating_sub(1) & 31 } else { 0 }),
        (248, 10),
        (247, flag(features::NOTIFICATION, 60)),
        (241, 30),
        (231, 1 << 4 | flag(features::SECURE, 1) | flag(features::SANITIZE, 1 << 6)),
        (232, 2),
        (226, (BOOT.get() >> 17) as u8),
        (224, 1),
        (223, 1),
        (222, 1),
        (221, 16),
        (199, 2),
        (198, 10),
        (196, if has(Plant::BusMode) { 0x07 } else { 0x57 }),
        (194, 2),
        (192, profile.revision),
        (185, if has(Plant::BusMode) { 3 } else { 1 }),
        (184, u8::from(is_5_1 && !has(Plant::Strobe))),
        (183, if has(Plant::Strobe) { 0x86 } else { 2 }),
        (181, profile.erased_ones.into()),
        (175, 1),
        (168, 32),
        (166, 0x14),
        (160, if has(Plant::Areas) { 0 } else { 7 }),
        (140, has(Plant::Areas).into()),
        (33, 0),
    ] {
        set(at, &[value]);
    }
    if profile.revision >= 7 {
        [(267, 1), (268, 1), (269, 1), (493, 1), (254, 7)].iter().for_each(|(at, value)| set(*at, &[*value]));
    }
    bytes
}
