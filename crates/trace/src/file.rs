//! The format of our own: columns of a block of requests one after the other, so that it is small, streams in bounded
//! memory, and tells where it was cut off. `docs/trace-format.md` describes every byte of it.

use crate::{Flags, Op, TraceError, Traced};
use flashscope_units::{Bytes, Instant};
use flate2::Crc;
use std::io::{Read, Write};

/// What a trace of ours begins with.
pub const MAGIC: [u8; 8] = *b"fstrace\n";
/// The version that this program writes.
pub const VERSION: u32 = 1;
/// Requests of a block, at most: a block and its columns then take some 3 MiB of memory.
pub const BLOCK: usize = 1 << 16;
/// Bytes that a block's columns may take: ten for each of six numbers is more than any needs.
const LONGEST_BLOCK: u32 = (BLOCK * 60) as u32;
/// Text of a head, at most.
const LONGEST_TEXT: u32 = 1 << 16;

/// Times and addresses of a trace lie below this, so that a replay can add to them.
const BEYOND: u64 = 1 << 62;

/// What a trace says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// How large the traced device was; `None` where nobody knew.
    pub capacity: Option<Bytes>,
    /// Where it came from, in a sentence.
    pub source: String,
}

/// What stands behind the last request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tail {
    /// Requests in all.
    pub requests: u64,
    /// Events that the recorder had no room for, and that are missing.
    pub dropped: u64,
}

/// Writes a trace, request by request, in the order of issue.
pub struct Writer<W: Write> {
    into: W,
    block: Vec<Traced>,
    bytes: Vec<u8>,
    last: Instant,
    requests: u64,
}

impl<W: Write> Writer<W> {
    /// Begins a trace.
    ///
    /// # Errors
    /// Of what is written to.
    pub fn new(mut into: W, head: &Head) -> std::io::Result<Writer<W>> {
        let text = head.source.as_bytes();
        let text = &text[..text.len().min(LONGEST_TEXT as usize)];
        let mut bytes = Vec::with_capacity(64 + text.len());
        bytes.extend(MAGIC);
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend((text.len() as u32).to_le_bytes());
        bytes.extend(head.capacity.map_or(0, Bytes::get).to_le_bytes());
        bytes.extend(text);
        bytes.extend(crc(&bytes).to_le_bytes());
        into.write_all(&bytes)?;
        Ok(Writer { into, block: Vec::with_capacity(BLOCK), bytes, last: Instant::ORIGIN, requests: 0 })
    }

    /// Adds a request.
    ///
    /// # Errors
    /// Of what is written to, or `InvalidInput` where it was issued before the one before it.
    pub fn add(&mut self, request: Traced) -> std::io::Result<()> {
        if request.issued < self.last {
            return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, "requests are not in order of issue"));
        }
        self.last = request.issued;
        self.block.push(request);
        if self.block.len() == BLOCK { self.put_block() } else { Ok(()) }
    }

    /// Ends the trace and gives back what it was written to.
    ///
    /// # Errors
    /// Of what is written to.
    pub fn finish(mut self, dropped: u64) -> std::io::Result<W> {
        if !self.block.is_empty() {
            self.put_block()?;
        }
        let mut tail = [0; 28];
        tail[8..16].copy_from_slice(&self.requests.to_le_bytes());
        tail[16..24].copy_from_slice(&dropped.to_le_bytes());
        let sum = crc(&tail[..24]);
        tail[24..].copy_from_slice(&sum.to_le_bytes());
        self.into.write_all(&tail)?;
        self.into.flush()?;
        Ok(self.into)
    }

    fn put_block(&mut self) -> std::io::Result<()> {
        let bytes = &mut self.bytes;
        bytes.clear();
        bytes.extend([0; 8]);
        let first = self.block[0].issued.0;
        put(bytes, first);
        let mut last = first;
        for request in &self.block {
            put(bytes, request.issued.0 - last);
            last = request.issued.0;
        }
        for request in &self.block {
            put(bytes, request.service_time().map_or(0, |time| time.get().saturating_add(1)));
        }
        bytes.extend(self.block.iter().map(|request| request.op.index() as u8 | request.flags.bits() << 2));
        let mut end = 0u64;
        for request in &self.block {
            put_signed(bytes, request.offset.get().wrapping_sub(end) as i64);
            end = request.end();
        }
        for request in &self.block {
            put(bytes, u64::from(request.length));
        }
        let mut last = 0i64;
        for request in &self.block {
            let process = request.process.map_or(0, |process| i64::from(process) + 1);
            put_signed(bytes, process - last);
            last = process;
        }
        let length = bytes.len() as u32 - 8;
        bytes[..4].copy_from_slice(&(self.block.len() as u32).to_le_bytes());
        bytes[4..8].copy_from_slice(&length.to_le_bytes());
        let sum = crc(bytes);
        bytes.extend(sum.to_le_bytes());
        self.requests += self.block.len() as u64;
        self.block.clear();
        self.into.write_all(bytes)
    }
}

/// Reads a trace of ours. As an iterator it gives requests until the trace ends or cannot be read on.
pub struct Reader<R: Read> {
    from: R,
    head: Head,
    tail: Option<Tail>,
    block: Vec<Traced>,
    next: usize,
    bytes: Vec<u8>,
    at: u64,
    requests: u64,
    last: Instant,
    failed: bool,
}

impl<R: Read> Reader<R> {
    /// Reads the head.
    ///
    /// # Errors
    /// No trace of ours, one of a later version, or a broken one.
    pub fn new(mut from: R) -> Result<Reader<R>, TraceError> {
        let mut bytes = vec![0; 24];
        fill(&mut from, &mut bytes, 0)?;
        if bytes[..8] != MAGIC {
            return Err(TraceError::unclear("it is no flashscope trace", "import it first: `flashscope trace import`"));
        }
        let version = word(&bytes[8..]);
        if version != VERSION {
            return Err(TraceError::unclear(
                format!("it is a trace of version {version}, and this program knows version {VERSION}"),
                "use a later flashscope",
            ));
        }
        let length = word(&bytes[12..]);
        if length > LONGEST_TEXT {
            return Err(TraceError::byte(12, "its head is longer than any"));
        }
        let capacity = long(&bytes[16..]);
        bytes.resize(24 + length as usize + 4, 0);
        fill(&mut from, &mut bytes[24..], 0)?;
        let (content, sum) = bytes.split_at(bytes.len() - 4);
        if crc(content) != word(sum) {
            return Err(TraceError::byte(24, "the checksum of its head is wrong"));
        }
        let source = String::from_utf8_lossy(&content[24..]).into_owned();
        let head = Head { capacity: (capacity > 0).then_some(Bytes(capacity)), source };
        let at = bytes.len() as u64;
        Ok(Reader {
            from,
            head,
            tail: None,
            block: Vec::with_capacity(BLOCK),
            next: 0,
            bytes,
            at,
            requests: 0,
            last: Instant::ORIGIN,
            failed: false,
        })
    }

    /// What it says of itself.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// What stands behind its last request, once that was read.
    pub fn tail(&self) -> Option<Tail> {
        self.tail
    }

    /// Reads the next block; whether there was one.
    fn read_block(&mut self) -> Result<bool, TraceError> {
        let whole = self.requests;
        self.block.clear();
        self.next = 0;
        self.bytes.resize(8, 0);
        fill(&mut self.from, &mut self.bytes, whole)?;
        let (count, length) = (word(&self.bytes) as usize, word(&self.bytes[4..]));
        if count > BLOCK || length > LONGEST_BLOCK {
            return Err(TraceError::byte(self.at, "a block is larger than any"));
        }
        let rest = if count == 0 { 16 } else { length as usize } + 4;
        self.bytes.resize(8 + rest, 0);
        fill(&mut self.from, &mut self.bytes[8..], whole)?;
        let (content, sum) = self.bytes.split_at(8 + rest - 4);
        if crc(content) != word(sum) {
            return Err(TraceError::byte(self.at, "the checksum of a block is wrong"));
        }
        if count == 0 {
            let tail = Tail { requests: long(&content[8..]), dropped: long(&content[16..]) };
            if tail.requests != self.requests {
                let what = format!("{} requests stand in it, and it says {}", self.requests, tail.requests);
                return Err(TraceError::byte(self.at, what));
            }
            self.tail = Some(tail);
            return Ok(false);
        }
        decode(&content[8..], count, self.last, &mut self.block).map_err(|what| TraceError::byte(self.at, what))?;
        self.last = self.block[count - 1].issued;
        self.requests += count as u64;
        self.at += self.bytes.len() as u64;
        Ok(true)
    }
}

impl<R: Read> Iterator for Reader<R> {
    type Item = Result<Traced, TraceError>;

    #[inline]
    fn next(&mut self) -> Option<Result<Traced, TraceError>> {
        if self.next == self.block.len() {
            if self.failed || self.tail.is_some() {
                return None;
            }
            match self.read_block() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => {
                    self.failed = true;
                    return Some(Err(error));
                }
            }
        }
        self.next += 1;
        Some(Ok(self.block[self.next - 1]))
    }
}

/// The requests of a block's columns.
fn decode(mut columns: &[u8], count: usize, last: Instant, into: &mut Vec<Traced>) -> Result<(), &'static str> {
    let bytes = &mut columns;
    let mut issued = take(bytes)?;
    for _ in 0..count {
        issued = issued.checked_add(take(bytes)?).ok_or("a time is too large")?;
        into.push(Traced {
            issued: Instant(issued),
            completed: None,
            offset: Bytes::ZERO,
            length: 0,
            process: None,
            op: Op::Read,
            flags: Flags::NONE,
        });
    }
    if issued >= BEYOND {
        return Err("a time is too large");
    }
    if into[0].issued < last {
        return Err("its requests are not in order of issue");
    }
    for request in into.iter_mut() {
        request.completed = match take(bytes)? {
            0 => None,
            time => {
                let completed = request.issued.0.checked_add(time - 1).filter(|completed| *completed < BEYOND);
                Some(Instant(completed.ok_or("a time is too large")?))
            }
        };
    }
    for request in into.iter_mut() {
        let (byte, rest) = bytes.split_first().ok_or("a column is too short")?;
        *bytes = rest;
        request.op = Op::ALL[usize::from(byte & 3)];
        request.flags = Flags::from_bits(byte >> 2).ok_or("a request has an unknown flag")?;
    }
    for request in into.iter_mut() {
        // From the end of the request before, which is known once its length is.
        request.offset = Bytes(take_signed(bytes)? as u64);
    }
    let mut end = 0u64;
    for request in into.iter_mut() {
        let length = take(bytes)?;
        request.length = u32::try_from(length).map_err(|_| "a request is longer than 4 GiB")?;
        request.offset = Bytes(end.wrapping_add(request.offset.get()));
        let behind = request.offset.get().checked_add(length).filter(|behind| *behind < BEYOND);
        end = behind.ok_or("a request goes beyond the largest address")?;
    }
    let mut process = 0i64;
    for request in into.iter_mut() {
        process = process.wrapping_add(take_signed(bytes)?);
        request.process = match process {
            0 => None,
            process => Some(u32::try_from(process - 1).map_err(|_| "a process has no such number")?),
        };
    }
    if bytes.is_empty() { Ok(()) } else { Err("a block holds more than its columns") }
}

fn fill(from: &mut impl Read, bytes: &mut [u8], whole: u64) -> Result<(), TraceError> {
    from.read_exact(bytes).map_err(|error| match error.kind() {
        std::io::ErrorKind::UnexpectedEof => TraceError::Truncated { whole },
        _ => TraceError::Io(error),
    })
}

fn crc(bytes: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(bytes);
    crc.sum()
}

fn word(bytes: &[u8]) -> u32 {
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

fn long(bytes: &[u8]) -> u64 {
    u64::from(word(bytes)) | u64::from(word(&bytes[4..])) << 32
}

/// Seven bits a byte, the lowest first; the highest bit says that more follow.
fn put(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 128 {
        bytes.push(value as u8 | 128);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// The sign in the lowest bit.
fn put_signed(bytes: &mut Vec<u8>, value: i64) {
    put(bytes, (value << 1 ^ value >> 63) as u64);
}

#[inline]
fn take(bytes: &mut &[u8]) -> Result<u64, &'static str> {
    let mut value = 0u64;
    for (at, byte) in bytes.iter().enumerate() {
        if at == 9 && *byte > 1 {
            return Err("a number has more than 64 bits");
        }
        value |= u64::from(byte & 127) << (7 * at);
        if *byte < 128 {
            *bytes = &bytes[at + 1..];
            return Ok(value);
        }
    }
    Err("a column is too short")
}

#[inline]
fn take_signed(bytes: &mut &[u8]) -> Result<i64, &'static str> {
    let value = take(bytes)?;
    Ok((value >> 1) as i64 ^ -((value & 1) as i64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn request() -> impl Strategy<Value = Traced> {
        let numbers = (0u64..1 << 40, prop::option::of(0u64..1 << 50), any::<u64>(), any::<u32>());
        (numbers, prop::option::of(any::<u32>()), 0usize..4, 0u8..32).prop_map(
            |((issued, service, offset, length), process, op, flags)| Traced {
                issued: Instant(issued),
                completed: service.map(|service| Instant(issued + service)),
                offset: Bytes(offset >> 3),
                length,
                process,
                op: Op::ALL[op],
                flags: Flags::from_bits(flags).unwrap(),
            },
        )
    }

    fn written(requests: &[Traced], head: &Head) -> Vec<u8> {
        let mut writer = Writer::new(Vec::new(), head).unwrap();
        requests.iter().for_each(|request| writer.add(*request).unwrap());
        writer.finish(3).unwrap()
    }

    fn head() -> Head {
        Head { capacity: Some(Bytes::gib(8)), source: "a test".to_owned() }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(mut requests in prop::collection::vec(request(), 0..200)) {
            requests.sort_by_key(|request| request.issued);
            let bytes = written(&requests, &head());
            let mut reader = Reader::new(&bytes[..]).unwrap();
            prop_assert_eq!(reader.head(), &head());
            let back: Vec<Traced> = reader.by_ref().map(Result::unwrap).collect();
            prop_assert_eq!(back, requests.clone());
            prop_assert_eq!(reader.tail(), Some(Tail { requests: requests.len() as u64, dropped: 3 }));
        }

        #[test]
        fn whatever_is_cut_off_or_changed_is_told(mut requests in prop::collection::vec(request(), 1..50), at in any::<prop::sample::Index>(), bit in 0u8..8) {
            requests.sort_by_key(|request| request.issued);
            let bytes = written(&requests, &head());
            let outcome = |bytes: &[u8]| Reader::new(bytes).and_then(|reader| reader.collect::<Result<Vec<_>, _>>());
            let end = at.index(bytes.len());
            let is_told = matches!(outcome(&bytes[..end]), Err(TraceError::Truncated { .. }));
            prop_assert!(is_told);
            let mut changed = bytes.clone();
            changed[end] ^= 1 << bit;
            prop_assert!(outcome(&changed).is_err());
        }
    }

    #[test]
    fn blocks_before_the_place_where_it_was_cut_are_whole() {
        let request = |at: u64| Traced {
            issued: Instant(at * 1000),
            completed: Some(Instant(at * 1000 + 70)),
            offset: Bytes(at * 4096),
            length: 4096,
            process: None,
            op: Op::Read,
            flags: Flags::NONE,
        };
        let requests: Vec<Traced> = (0..BLOCK as u64 + 10).map(request).collect();
        let bytes = written(&requests, &head());
        assert!(bytes.len() < requests.len() * 9, "{} bytes for {} requests", bytes.len(), requests.len());
        let mut reader = Reader::new(&bytes[..bytes.len() - 40]).unwrap();
        let found: Vec<_> = reader.by_ref().collect();
        assert_eq!(found.iter().filter(|one| one.is_ok()).count(), BLOCK);
        assert!(matches!(found.last(), Some(Err(TraceError::Truncated { whole })) if *whole == BLOCK as u64));
        assert_eq!(reader.tail(), None);
    }
}
