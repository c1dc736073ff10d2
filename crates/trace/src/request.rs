//! One request of a trace.

use flashscope_units::{Bytes, Instant, Nanos};

/// What a request asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Op {
    /// A read.
    Read,
    /// A write.
    Write,
    /// Makes finished writes durable; has no range.
    Flush,
    /// Tells the device that a range is no longer needed.
    Discard,
}

impl Op {
    /// All of them, in the order of their codes in a file.
    pub const ALL: [Op; 4] = [Op::Read, Op::Write, Op::Flush, Op::Discard];

    /// Its place in [`Op::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Its word.
    pub const fn word(self) -> &'static str {
        match self {
            Op::Read => "read",
            Op::Write => "write",
            Op::Flush => "flush",
            Op::Discard => "discard",
        }
    }
}

/// What else is known of a request, a bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flags(u8);

impl Flags {
    /// Nothing.
    pub const NONE: Flags = Flags(0);
    /// Somebody waits for it.
    pub const SYNC: Flags = Flags(1);
    /// A write that counts as done only once it is durable (force unit access).
    pub const FUA: Flags = Flags(2);
    /// Of a file system's own structures.
    pub const META: Flags = Flags(4);
    /// The device failed it.
    pub const FAILED: Flags = Flags(8);
    /// Read ahead of anybody's asking.
    pub const AHEAD: Flags = Flags(16);

    /// Those of a byte of a file; `None` where a bit means nothing.
    pub const fn from_bits(bits: u8) -> Option<Flags> {
        if bits < 32 { Some(Flags(bits)) } else { None }
    }

    /// As a byte of a file.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Whether all of `others` are set.
    pub const fn has(self, others: Flags) -> bool {
        self.0 & others.0 == others.0
    }

    /// These and others.
    #[must_use]
    pub const fn with(self, others: Flags) -> Flags {
        Flags(self.0 | others.0)
    }
}

/// One request, as a device was given it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traced {
    /// When the device was given it, from the start of the trace.
    pub issued: Instant,
    /// When the device was done; `None` where the trace does not tell.
    pub completed: Option<Instant>,
    /// Start of the range; 0 of a flush.
    pub offset: Bytes,
    /// Length of the range, below 4 GiB; 0 of a flush.
    pub length: u32,
    /// Who asked, where the trace tells.
    pub process: Option<u32>,
    /// What it asked for.
    pub op: Op,
    /// What else is known of it.
    pub flags: Flags,
}

impl Traced {
    /// Behind its last byte. Readers refuse ranges that go beyond what a number of 64 bits holds.
    pub const fn end(&self) -> u64 {
        self.offset.get() + self.length as u64
    }

    /// Issue to completion, where it is known.
    pub fn service_time(&self) -> Option<Nanos> {
        self.completed.map(|completed| completed.since(self.issued))
    }

    /// Whether it moves data.
    pub const fn moves_data(&self) -> bool {
        matches!(self.op, Op::Read | Op::Write)
    }

    /// Whether it makes something durable: a flush, or a write with force unit access.
    pub const fn is_barrier(&self) -> bool {
        matches!(self.op, Op::Flush) || (matches!(self.op, Op::Write) && self.flags.has(Flags::FUA))
    }
}
