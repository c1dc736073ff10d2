//! The memory between link and flash, drawn from a stream of its own: what is drawn of the rest does not depend on it.

use super::Generator;
use super::chance::Chance;
use flashscope_units::{Bytes, Nanos};

/// Sections of a model file; absent where there is no such thing.
pub(super) struct Memory {
    pub(super) write_buffer: Option<WriteBuffer>,
    pub(super) read_buffer: Option<ReadBuffer>,
    pub(super) read_ahead: Option<ReadAhead>,
}

pub(super) struct WriteBuffer {
    pub(super) size: Bytes,
    /// 0: only bytes count.
    pub(super) entries: u32,
    pub(super) whole: bool,
    pub(super) window: Nanos,
    pub(super) flushed_by_read: bool,
    pub(super) volatile: bool,
}

pub(super) struct ReadBuffer {
    pub(super) size: Bytes,
    pub(super) line: Bytes,
}

pub(super) struct ReadAhead {
    pub(super) window: Bytes,
    pub(super) trigger: u32,
    pub(super) step: Bytes,
}

/// Cards of a page of this size; a drive (`None`) has a write buffer of its own.
pub(super) fn draw(chance: &mut Chance, generator: Generator, page: Option<Bytes>) -> Memory {
    let (write, read, ahead) = match generator {
        Generator::Field => (0.3, 0.25, 0.3),
        Generator::Wide => (0.4, 0.3, 0.35),
        Generator::Adversarial => (0.5, 0.35, 0.4),
    };
    let write_buffer = chance.happens(write).then(|| write_buffer(chance));
    let read_buffer = chance.happens(read).then(|| read_buffer(chance, page.unwrap_or(Bytes::kib(16))));
    let read_ahead = chance.happens(ahead).then(|| read_ahead(chance));
    Memory { write_buffer: write_buffer.filter(|_| page.is_some()), read_buffer, read_ahead }
}

/// Static memory of a card controller is 8 to 128 KiB; with memory of its own a device has up to 2 MiB. One that
/// survives a power cut is small, since little energy is left.
fn write_buffer(chance: &mut Chance) -> WriteBuffer {
    let volatile = chance.happens(0.9);
    let size = Bytes::kib(match volatile {
        true => chance.any(&[16, 24, 32, 48, 64, 96, 128, 192, 256, 512, 768, 1024, 2048]),
        false => chance.any(&[8, 12, 16, 24, 32]),
    });
    let entries = if volatile && chance.happens(0.3) { chance.count(4, 64) } else { 0 };
    let whole = chance.happens(0.6);
    WriteBuffer {
        size: if entries > 0 { Bytes::kib(64) * u64::from(entries) } else { size },
        entries,
        whole,
        window: if volatile && chance.happens(0.5) { Nanos::ZERO } else { chance.micros(3e3, 150e3) },
        flushed_by_read: whole && chance.happens(0.4),
        volatile,
    }
}

fn read_buffer(chance: &mut Chance, line: Bytes) -> ReadBuffer {
    ReadBuffer { size: line * chance.any(&[1, 1, 2, 3, 4, 6, 8, 12, 16]), line }
}

fn read_ahead(chance: &mut Chance) -> ReadAhead {
    let step = chance.any(&[Bytes::kib(4), Bytes::kib(16)]);
    let window = Bytes::kib(chance.any(&[64, 96, 128, 192, 256, 512]));
    ReadAhead { window, trigger: chance.whole(1, 4), step }
}
