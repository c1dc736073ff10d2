//! Requests and what comes of them.

use crate::WriteGrant;
use crate::grant::{GrantError, Seal};
use crate::{Known, Stretch};
use flashscope_units::{Bytes, Instant, Nanos};

/// What a request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Reads a range.
    Read,
    /// Writes a range; `durable` means that it counts as done only when it would survive a power cut.
    Write {
        /// Force unit access, or a write through a synchronous file.
        durable: bool,
    },
    /// Makes all finished writes durable; has no range.
    Flush,
    /// Tells the device that a range is no longer needed.
    Discard,
}

/// What a write carries. The target makes the bytes, outside the timed part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fill {
    /// Incompressible bytes that depend on their position and on this generation, so that a later
    /// read can tell whether it got what was written last.
    Tagged {
        /// Which writing of this place it is.
        generation: u32,
    },
    /// The same byte throughout.
    Byte(u8),
}

/// One request. Made by the constructors only: a write or discard needs a grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    id: u64,
    op: Op,
    offset: Bytes,
    length: Bytes,
    fill: Option<Fill>,
    known: Option<Known>,
    seal: Option<Seal>,
}

impl Request {
    /// A read. `id` comes back with the completion.
    pub const fn read(id: u64, offset: Bytes, length: Bytes) -> Request {
        Request { id, op: Op::Read, offset, length, fill: None, known: None, seal: None }
    }

    /// A read that is expected to find `fill`; anything else is an [`Outcome::Mismatch`].
    pub const fn verify(id: u64, offset: Bytes, length: Bytes, fill: Fill) -> Request {
        Request { id, op: Op::Read, offset, length, fill: Some(fill), known: None, seal: None }
    }

    /// A read that says what it found: [`Completion::stretches`] are told by the tags of the generations in `known`.
    pub const fn examine(id: u64, offset: Bytes, length: Bytes, known: Known) -> Request {
        Request { id, op: Op::Read, offset, length, fill: None, known: Some(known), seal: None }
    }

    /// A write; its bytes are taken from the grant.
    #[inline]
    pub fn write(
        grant: &mut WriteGrant,
        id: u64,
        offset: Bytes,
        length: Bytes,
        fill: Fill,
        durable: bool,
    ) -> Result<Request, GrantError> {
        grant.spend(offset, length)?;
        Ok(Request {
            id,
            op: Op::Write { durable },
            offset,
            length,
            fill: Some(fill),
            known: None,
            seal: Some(grant.seal()),
        })
    }

    /// A write of bytes that nobody will ask for again: incompressible ones that the target has at hand. Leaves what it
    /// carried unknown, so [`Request::fill`] is `None`; its bytes are taken from the grant all the same.
    #[inline]
    pub fn write_any(
        grant: &mut WriteGrant,
        id: u64,
        offset: Bytes,
        length: Bytes,
        durable: bool,
    ) -> Result<Request, GrantError> {
        grant.spend(offset, length)?;
        Ok(Request { id, op: Op::Write { durable }, offset, length, fill: None, known: None, seal: Some(grant.seal()) })
    }

    /// A flush.
    pub const fn flush(id: u64) -> Request {
        Request { id, op: Op::Flush, offset: Bytes::ZERO, length: Bytes::ZERO, fill: None, known: None, seal: None }
    }

    /// A discard: destroys data like a write but is free of charge.
    pub fn discard(grant: &mut WriteGrant, id: u64, offset: Bytes, length: Bytes) -> Result<Request, GrantError> {
        grant.covers(offset, length)?;
        Ok(Request { id, op: Op::Discard, offset, length, fill: None, known: None, seal: Some(grant.seal()) })
    }

    /// The same request under another number, for one who hands on the requests of several callers.
    pub const fn with_id(self, id: u64) -> Request {
        Request { id, ..self }
    }

    /// The grant under which a write or discard was made.
    #[inline]
    pub const fn seal(&self) -> Option<Seal> {
        self.seal
    }

    /// The caller's number.
    #[inline]
    pub const fn id(&self) -> u64 {
        self.id
    }

    /// What it does.
    #[inline]
    pub const fn op(&self) -> Op {
        self.op
    }

    /// Start of the range.
    #[inline]
    pub const fn offset(&self) -> Bytes {
        self.offset
    }

    /// Length of the range.
    #[inline]
    pub const fn length(&self) -> Bytes {
        self.length
    }

    /// What a write carries, or what a read is expected to find.
    #[inline]
    pub const fn fill(&self) -> Option<Fill> {
        self.fill
    }

    /// The generations that a read shall tell, where it shall.
    #[inline]
    pub const fn known(&self) -> Option<Known> {
        self.known
    }
}

/// What came of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The request's number.
    pub id: u64,
    /// When the target took the request, on its clock.
    pub issued: Instant,
    /// When it was done.
    pub completed: Instant,
    /// How it went.
    pub outcome: Outcome,
    /// What a successful read found.
    pub content: Content,
    /// The same in detail, in order and without gaps, where the request asked for it; else empty.
    pub stretches: Vec<Stretch>,
}

impl Completion {
    /// Issue to completion.
    pub const fn service_time(&self) -> Nanos {
        self.completed.since(self.issued)
    }
}

/// How a request went. A failure is data: the run goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// As asked.
    Success,
    /// A read found other bytes than expected.
    Mismatch,
    /// It failed; the reason is what the device or the kernel said (`EIO: input/output error`).
    Failed(String),
}

/// What a read found, as far as the target looked (outside the timed part).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Content {
    /// Nobody looked, or nothing was read.
    Unknown,
    /// The same byte throughout.
    Uniform(u8),
    /// Anything else.
    Varied,
}
