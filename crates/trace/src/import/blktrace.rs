//! The binary events of `blktrace`: `struct blk_io_trace` of the kernel's interface (`linux/blktrace_api.h`), 48 bytes and
//! what hangs on, in the byte order of the machine that wrote them.

use super::{Imported, Options, of_events};
use crate::event::{Asked, Event, Step};
use crate::{Flags, Op, TraceError};
use flashscope_units::Instant;
use std::io::{BufRead, ErrorKind, Read};

/// The magic number, without the version in its lowest byte.
const MAGIC: u32 = 0x6561_7400;
/// The version that there is.
const VERSION: u32 = 7;
/// Bytes of an event before what hangs on.
const LENGTH: usize = 48;

/// Bits of the upper half of an action.
const WRITE: u32 = 1 << 1;
const FLUSH: u32 = 1 << 2;
const SYNC: u32 = 1 << 3;
const NOTIFY: u32 = 1 << 10;
const AHEAD: u32 = 1 << 11;
const META: u32 = 1 << 12;
const DISCARD: u32 = 1 << 13;
const FUA: u32 = 1 << 15;

pub(super) fn is_one(beginning: &[u8]) -> bool {
    order(beginning).is_some()
}

/// Whether numbers have their lowest byte last.
fn order(beginning: &[u8]) -> Option<bool> {
    let magic: [u8; 4] = beginning.get(..4)?.try_into().ok()?;
    let is = |magic: u32| magic & !0xff == MAGIC;
    if is(u32::from_le_bytes(magic)) { Some(false) } else { is(u32::from_be_bytes(magic)).then_some(true) }
}

pub(super) fn read(files: Vec<&mut dyn BufRead>, options: &Options) -> Result<Imported, TraceError> {
    let mut events = Vec::new();
    for file in files {
        read_one(file, &mut events)?;
    }
    of_events(events, options, |device| format!("{},{}", device >> 20, device & 0xf_ffff))
}

fn read_one(mut file: &mut dyn BufRead, events: &mut Vec<Event>) -> Result<(), TraceError> {
    let mut at = 0u64;
    let mut bytes = [0; LENGTH];
    loop {
        // Empty files are those of processors that had nothing to do.
        if file.fill_buf()?.is_empty() {
            return Ok(());
        }
        let whole = events.len() as u64;
        file.read_exact(&mut bytes).map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => TraceError::Truncated { whole },
            _ => TraceError::Io(error),
        })?;
        let Some(swapped) = order(&bytes) else {
            return Err(TraceError::byte(at, "an event of blktrace should begin here"));
        };
        let event = Numbers { bytes: &bytes, swapped };
        let version = event.word(0) & 0xff;
        if version != VERSION {
            return Err(TraceError::byte(at, format!("an event of version {version}; {VERSION} is known")));
        }
        let behind = u64::from(event.half(46));
        let skipped = std::io::copy(&mut Read::take(&mut file, behind), &mut std::io::sink())?;
        if skipped < behind {
            return Err(TraceError::Truncated { whole });
        }
        at += LENGTH as u64 + behind;
        events.extend(event.event());
    }
}

/// The numbers of an event.
struct Numbers<'a> {
    bytes: &'a [u8; LENGTH],
    swapped: bool,
}

impl Numbers<'_> {
    fn half(&self, at: usize) -> u16 {
        let bytes = [self.bytes[at], self.bytes[at + 1]];
        if self.swapped { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) }
    }

    fn word(&self, at: usize) -> u32 {
        let bytes = [self.bytes[at], self.bytes[at + 1], self.bytes[at + 2], self.bytes[at + 3]];
        if self.swapped { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
    }

    fn long(&self, at: usize) -> u64 {
        let (first, second) = (u64::from(self.word(at)), u64::from(self.word(at + 4)));
        if self.swapped { first << 32 | second } else { second << 32 | first }
    }

    /// What it tells of a request; `None` of all else.
    fn event(&self) -> Option<Event> {
        let action = self.word(28);
        let category = action >> 16;
        let is = |bit: u32| category & bit != 0;
        let step = match action & 0xffff {
            _ if is(NOTIFY) => return None,
            1 => Step::Queue,
            6 => Step::Requeue,
            7 => Step::Issue,
            8 => Step::Complete,
            _ => return None,
        };
        let length = self.word(24);
        let op = match () {
            () if is(DISCARD) => Some(Op::Discard),
            () if is(WRITE) && length > 0 => Some(Op::Write),
            () if is(WRITE) || length == 0 => None,
            () => Some(Op::Read),
        };
        let bits = [(SYNC, Flags::SYNC), (AHEAD, Flags::AHEAD), (META, Flags::META), (FUA, Flags::FUA)];
        let set = bits.into_iter().filter(|(bit, _)| is(*bit));
        let flags = set.fold(Flags::NONE, |flags, (_, flag)| flags.with(flag));
        Some(Event {
            at: Instant(self.long(8)),
            step,
            asked: Asked { op, flush: is(FLUSH), flags },
            sector: self.long(16),
            length,
            process: self.word(32),
            device: u64::from(self.word(36)),
            failed: self.half(44) != 0,
        })
    }
}
