//! The memory of a controller, between its link and its mapping: a write buffer, a read buffer, reading ahead.
//!
//! A [`Controller`] is a mapping itself, so that nobody outside knows of it; without any of the three it hands
//! everything on as it is. What leaves the write buffer and what is read ahead reaches the mapping as
//! [`Work::Destage`] and [`Work::Fetch`], which do not use the link.

mod ahead;
mod params;
mod read_buffer;
#[cfg(test)]
mod tests;
mod truth;
mod write_buffer;

pub(crate) use params::{ReadAheadParams, ReadBufferParams, WriteBufferParams, validate};
pub(crate) use truth::of as truth_of;
pub use truth::{AheadTruth, BufferTruth, MemoryTruth};

use crate::ftl::{Counters, Device, Extent, Ftl, Inside, Presence, Saved, UseOfLife, Work};
use crate::model::{Link, Model};
use ahead::ReadAhead;
use flashscope_device::Wear;
use flashscope_units::{Bytes, Instant};
use read_buffer::ReadBuffer;
use write_buffer::WriteBuffer;

/// A mapping with the memory in front of it.
#[derive(Clone, Debug)]
pub(crate) struct Controller {
    mapping: Device,
    link: Link,
    capacity: Bytes,
    write_buffer: Option<WriteBuffer>,
    read_buffer: Option<ReadBuffer>,
    read_ahead: Option<ReadAhead>,
}

impl Controller {
    /// A controller in the model's start state; `seed` feeds every chance in it.
    pub(crate) fn new(model: &Model, seed: u64) -> Controller {
        Controller {
            mapping: Device::new(model, seed),
            link: model.link.clone(),
            capacity: model.device.capacity,
            write_buffer: model.write_buffer.as_ref().map(WriteBuffer::new),
            read_buffer: model.read_buffer.as_ref().map(ReadBuffer::new),
            read_ahead: model.read_ahead.as_ref().map(ReadAhead::new),
        }
    }

    /// What there is to save of a copy that was switched off, all that it had in memory written out.
    pub(crate) fn switched_off(&self, now: Instant) -> Saved {
        let mut copy = self.clone();
        if let Some(buffer) = &mut copy.write_buffer {
            buffer.write_out(now, &mut copy.mapping);
        }
        copy.mapping.switch_off()
    }

    /// Puts a new controller into a saved state; says what does not fit.
    pub(crate) fn restore(&mut self, saved: Saved) -> Result<(), String> {
        self.mapping.restore(saved)
    }

    /// What the mapping counts.
    pub(crate) fn counters(&self) -> Counters {
        self.mapping.counters()
    }

    /// Bytes of memory that the state takes.
    pub(crate) fn state_bytes(&self) -> usize {
        let buffered = self.write_buffer.as_ref().map_or(0, WriteBuffer::state_bytes);
        self.mapping.state_bytes() + buffered + self.read_buffer.as_ref().map_or(0, ReadBuffer::state_bytes)
    }

    fn read(&mut self, now: Instant, extent: Extent) -> Instant {
        if let Some(buffer) = &mut self.write_buffer {
            if buffer.holds(extent) {
                return now + self.link.command + self.link.transfer(extent.length);
            }
            if buffer.flushed_by_read() || buffer.overlaps(extent) {
                buffer.write_out(now, &mut self.mapping);
            }
        }
        let ahead = self.read_ahead.as_ref().and_then(|ahead| ahead.ready(extent));
        let held = self.read_buffer.as_mut().and_then(|buffer| buffer.ready(extent));
        let done = match ahead.into_iter().chain(held).min() {
            Some(ready) => ready.max(now + self.link.command) + self.link.transfer(extent.length),
            None => self.mapping.serve(now, Work::Read(extent)),
        };
        if let Some(buffer) = &mut self.read_buffer {
            buffer.keep(extent, done);
        }
        if let Some(ahead) = &mut self.read_ahead {
            ahead.go_on(extent, done, self.capacity, &mut self.mapping);
        }
        done
    }

    fn write(&mut self, now: Instant, extent: Extent, durable: bool) -> Instant {
        self.forget(extent);
        let Some(buffer) = &mut self.write_buffer else {
            return self.mapping.serve(now, Work::Write { extent, durable });
        };
        if !buffer.takes(extent, durable) {
            buffer.write_out(now, &mut self.mapping);
            return self.mapping.serve(now, Work::Write { extent, durable });
        }
        let mut arrival = now + self.link.command + self.link.transfer(extent.length);
        if durable {
            arrival += self.link.durable_write;
        }
        buffer.put(now, arrival, extent, &mut self.mapping)
    }

    fn flush(&mut self, now: Instant) -> Instant {
        match &mut self.write_buffer {
            None => self.mapping.serve(now, Work::Flush),
            // What survives a power cut need not be written out.
            Some(buffer) if !buffer.volatile() => now + self.link.flush,
            Some(buffer) => {
                let written = buffer.write_out(now, &mut self.mapping);
                self.mapping.serve(now, Work::Flush).max(written + self.link.flush)
            }
        }
    }

    /// What was read of a range is out of date.
    fn forget(&mut self, extent: Extent) {
        if let Some(buffer) = &mut self.read_buffer {
            buffer.forget(extent);
        }
        if let Some(ahead) = &mut self.read_ahead {
            ahead.forget(extent);
        }
    }
}

impl Ftl for Controller {
    fn serve(&mut self, now: Instant, work: Work) -> Instant {
        if let Some(buffer) = &mut self.write_buffer {
            buffer.pass(now, &mut self.mapping);
        }
        match work {
            Work::Read(extent) => self.read(now, extent),
            Work::Write { extent, durable } => self.write(now, extent, durable),
            Work::Flush => self.flush(now),
            Work::Discard(extent) => {
                self.forget(extent);
                if let Some(buffer) = &mut self.write_buffer {
                    buffer.write_out(now, &mut self.mapping);
                }
                self.mapping.serve(now, work)
            }
            Work::Fetch(_) | Work::Destage(_) => self.mapping.serve(now, work),
        }
    }

    fn idle(&mut self, from: Instant, until: Instant) {
        if let Some(buffer) = &mut self.write_buffer {
            buffer.pass(until, &mut self.mapping);
        }
        self.mapping.idle(from, until);
    }

    fn presence(&self, extent: Extent) -> Presence {
        match &self.write_buffer {
            None => self.mapping.presence(extent),
            Some(buffer) => buffer.presence(extent, &self.mapping),
        }
    }

    fn in_memory(&mut self, now: Instant, extent: Extent) -> bool {
        let buffered = self.write_buffer.as_mut().is_some_and(|buffer| {
            buffer.pass(now, &mut self.mapping);
            buffer.volatile() && buffer.overlaps(extent)
        });
        buffered || self.mapping.in_memory(now, extent)
    }

    fn wear(&self) -> Wear {
        self.mapping.wear()
    }

    fn fails(&self, now: Instant, extent: Extent, write: bool) -> bool {
        self.mapping.fails(now, extent, write)
    }

    fn inside(&self) -> Inside {
        self.mapping.inside()
    }

    fn use_of_life(&self) -> UseOfLife {
        self.mapping.use_of_life()
    }

    fn check(&self) -> Result<(), String> {
        self.write_buffer.as_ref().map_or(Ok(()), WriteBuffer::check)?;
        self.mapping.check()
    }

    fn check_all(&self) -> Result<(), String> {
        self.write_buffer.as_ref().map_or(Ok(()), WriteBuffer::check)?;
        self.mapping.check_all()
    }
}
