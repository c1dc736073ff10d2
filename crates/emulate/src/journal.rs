//! What was done to a device, so that it can be brought back: a device is its model, its seed and what was done to it.
//!
//! The file is a head (model, seed, capacity), then frames of records. A record is one request with the virtual time
//! at which the device took it; reads are among them, since they change what a device does next. A frame is written
//! before its last request is answered, and carries a checksum: of an emulator that was killed, at most reads are lost.
//!
//! Head: magic, length of the text (4 bytes), text, CRC-32 of the text. Frame: length (2 bytes), CRC-32, records. Record: a byte
//! for the operation, then as LEB128: nanoseconds since the last record, start in blocks against the end of the last record
//! (zigzag), length in blocks. All numbers are little-endian.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// What a journal begins with; the number is that of the format.
const MAGIC: &[u8; 16] = b"FLASHSCOPE-DEV1\n";
/// Records wait for a write or discard until there are this many bytes of records.
const FRAME: usize = 4096;
/// Bytes of a frame before its records: length and checksum.
const FRAME_HEAD: usize = 6;
/// No frame is longer.
const LONGEST: usize = u16::MAX as usize;

/// What a request did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Read,
    Write {
        durable: bool,
    },
    Flush,
    Discard,
    /// It was switched on again.
    PowerOn,
    /// Its power was cut.
    PowerCut,
}

impl Operation {
    /// Whether it is about a range.
    fn has_range(self) -> bool {
        !matches!(self, Operation::Flush | Operation::PowerOn | Operation::PowerCut)
    }
}

/// A request as the device took it; offset and length in logical blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) at_ns: u64,
    pub(crate) operation: Operation,
    pub(crate) start: u64,
    pub(crate) blocks: u64,
}

/// What a state file says of its device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) seed: u64,
    pub(crate) capacity: u64,
    /// The model file, changes included.
    pub(crate) model: String,
}

/// Why a state file cannot be read.
#[derive(Debug)]
pub(crate) enum Unreadable {
    /// It is something else, or not whole.
    Damaged(String),
    /// The file system said no.
    Io(io::Error),
}

impl From<io::Error> for Unreadable {
    fn from(error: io::Error) -> Unreadable {
        Unreadable::Io(error)
    }
}

/// The end of a state file, where records are added.
#[derive(Debug)]
pub(crate) struct Journal {
    file: File,
    /// Where the next frame goes.
    end: u64,
    /// Records of the next frame.
    pending: Vec<u8>,
    last: Last,
}

/// What the next record is told against.
#[derive(Clone, Copy, Debug, Default)]
struct Last {
    at_ns: u64,
    end: u64,
}

impl Journal {
    /// Begins a state file.
    ///
    /// # Errors
    /// Of the file.
    pub(crate) fn create(file: File, head: &Head) -> io::Result<Journal> {
        let text = format!("seed {}\ncapacity {}\n{}", head.seed, head.capacity, head.model);
        let mut bytes = MAGIC.to_vec();
        bytes.extend((text.len() as u32).to_le_bytes());
        bytes.extend(text.as_bytes());
        bytes.extend(crc32(text.as_bytes()).to_le_bytes());
        file.set_len(0)?;
        file.write_all_at(&bytes, 0)?;
        Ok(Journal { file, end: bytes.len() as u64, pending: Vec::with_capacity(2 * FRAME), last: Last::default() })
    }

    /// Reads the head.
    ///
    /// # Errors
    /// Not a state file, or not whole.
    pub(crate) fn head(file: &File) -> Result<(Head, u64), Unreadable> {
        let damaged = |why: &str| Unreadable::Damaged(why.to_owned());
        let size = file.metadata()?.len();
        let mut start = [0; MAGIC.len() + 4];
        if size < start.len() as u64 {
            return Err(damaged("its head is cut off"));
        }
        file.read_exact_at(&mut start, 0)?;
        if &start[..MAGIC.len()] != MAGIC {
            return Err(damaged("it does not begin like one"));
        }
        let length = u64::from(u32::from_le_bytes([start[16], start[17], start[18], start[19]]));
        let end = start.len() as u64 + length + 4;
        if end > size {
            return Err(damaged("its head is cut off"));
        }
        let mut text = vec![0; length as usize + 4];
        file.read_exact_at(&mut text, start.len() as u64)?;
        let told = text.split_off(length as usize);
        if crc32(&text).to_le_bytes()[..] != told[..] {
            return Err(damaged("the checksum of its head is wrong"));
        }
        let text = String::from_utf8(text).map_err(|_| damaged("its head is no text"))?;
        let head = parse_head(&text).ok_or_else(|| damaged("its head cannot be read"))?;
        Ok((head, end))
    }

    /// Goes through the records of a state file whose head ends at `from`, then takes it over. A last frame that is
    /// not whole is what a kill leaves: it is dropped, and so says the second value.
    ///
    /// # Errors
    /// A frame that is not right and not the last.
    pub(crate) fn replay(
        file: File,
        from: u64,
        mut each: impl FnMut(Record) -> Result<(), String>,
    ) -> Result<(Journal, bool), Unreadable> {
        let size = file.metadata()?.len();
        let (mut end, mut last, mut frame) = (from, Last::default(), Vec::new());
        let mut cut = false;
        while end < size {
            let Some(length) = read_frame(&file, end, size, &mut frame)? else {
                cut = true;
                break;
            };
            let mut bytes = &frame[..];
            while !bytes.is_empty() {
                let record = decode(&mut bytes, &mut last);
                let record =
                    record.ok_or_else(|| Unreadable::Damaged(format!("there is no sense in it at byte {end}")))?;
                each(record).map_err(Unreadable::Damaged)?;
            }
            end += length;
        }
        Ok((Journal { file, end, pending: Vec::with_capacity(2 * FRAME), last }, cut))
    }

    /// Adds a record. A read waits for company; all else is in the file when this returns.
    ///
    /// # Errors
    /// Of the file (a full disk); then the record is not kept, and what it was about must not be done.
    pub(crate) fn add(&mut self, record: Record) -> io::Result<()> {
        let (length, last) = (self.pending.len(), self.last);
        encode(record, &mut self.last, &mut self.pending);
        let may_wait = record.operation == Operation::Read;
        if may_wait && self.pending.len() < FRAME {
            return Ok(());
        }
        let written = self.write_out();
        if written.is_err() && may_wait && self.pending.len() < LONGEST / 2 {
            // A read does not fail for want of room: it tries again with the next request.
            return Ok(());
        }
        if written.is_err() {
            self.pending.truncate(length);
            self.last = last;
        }
        written
    }

    /// Writes what waits.
    ///
    /// # Errors
    /// Of the file.
    pub(crate) fn write_out(&mut self) -> io::Result<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let mut frame = Vec::with_capacity(FRAME_HEAD + self.pending.len());
        frame.extend((self.pending.len() as u16).to_le_bytes());
        frame.extend(crc32(&self.pending).to_le_bytes());
        frame.extend(&self.pending);
        // In one piece, and at a place that is only moved when all of it is there: half a frame is written over.
        self.file.write_all_at(&frame, self.end)?;
        self.end += frame.len() as u64;
        self.pending.clear();
        Ok(())
    }

    /// Writes what waits, drops what lies behind the end and makes all of it durable.
    ///
    /// # Errors
    /// Of the file.
    pub(crate) fn close(&mut self) -> io::Result<()> {
        self.write_out()?;
        self.file.set_len(self.end)?;
        self.file.sync_data()
    }
}

fn parse_head(text: &str) -> Option<Head> {
    let (seed, rest) = text.strip_prefix("seed ")?.split_once('\n')?;
    let (capacity, model) = rest.strip_prefix("capacity ")?.split_once('\n')?;
    Some(Head { seed: seed.parse().ok()?, capacity: capacity.parse().ok()?, model: model.to_owned() })
}

/// Reads the frame at `at` and says how long it is with its head; `None` where it is the last one and not whole.
fn read_frame(file: &File, at: u64, size: u64, into: &mut Vec<u8>) -> Result<Option<u64>, Unreadable> {
    if size - at < FRAME_HEAD as u64 {
        return Ok(None);
    }
    let mut head = [0; FRAME_HEAD];
    file.read_exact_at(&mut head, at)?;
    let length = u64::from(u16::from_le_bytes([head[0], head[1]]));
    let end = at + FRAME_HEAD as u64 + length;
    if end > size {
        return Ok(None);
    }
    into.resize(length as usize, 0);
    file.read_exact_at(into, at + FRAME_HEAD as u64)?;
    if crc32(into).to_le_bytes()[..] == head[2..] && length > 0 {
        return Ok(Some(end - at));
    }
    if end == size {
        return Ok(None);
    }
    Err(Unreadable::Damaged(format!("a checksum is wrong at byte {at}")))
}

fn encode(record: Record, last: &mut Last, into: &mut Vec<u8>) {
    let code = match record.operation {
        Operation::Read => 0,
        Operation::Write { durable: false } => 1,
        Operation::Write { durable: true } => 2,
        Operation::Flush => 3,
        Operation::Discard => 4,
        Operation::PowerOn => 5,
        Operation::PowerCut => 6,
    };
    into.push(code);
    put(record.at_ns - last.at_ns, into);
    last.at_ns = record.at_ns;
    if record.operation.has_range() {
        let jump = record.start.wrapping_sub(last.end) as i64;
        put(((jump << 1) ^ (jump >> 63)) as u64, into);
        put(record.blocks, into);
        last.end = record.start + record.blocks;
    }
}

fn decode(bytes: &mut &[u8], last: &mut Last) -> Option<Record> {
    let operation = match take_byte(bytes)? {
        0 => Operation::Read,
        1 => Operation::Write { durable: false },
        2 => Operation::Write { durable: true },
        3 => Operation::Flush,
        4 => Operation::Discard,
        5 => Operation::PowerOn,
        6 => Operation::PowerCut,
        _ => return None,
    };
    last.at_ns = last.at_ns.checked_add(get(bytes)?)?;
    let (mut start, mut blocks) = (0, 0);
    if operation.has_range() {
        let jump = get(bytes)?;
        start = last.end.wrapping_add((jump >> 1) ^ (jump & 1).wrapping_neg());
        blocks = get(bytes)?;
        last.end = start.checked_add(blocks)?;
    }
    Some(Record { at_ns: last.at_ns, operation, start, blocks })
}

fn put(mut number: u64, into: &mut Vec<u8>) {
    while number >= 0x80 {
        into.push(number as u8 | 0x80);
        number >>= 7;
    }
    into.push(number as u8);
}

fn get(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = take_byte(bytes)?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

fn take_byte(bytes: &mut &[u8]) -> Option<u8> {
    let (first, rest) = bytes.split_first()?;
    *bytes = rest;
    Some(*first)
}

/// CRC-32 as in IEEE 802.3, reflected, by half bytes.
fn crc32(bytes: &[u8]) -> u32 {
    /// Remainders of the sixteen half bytes.
    const TABLE: [u32; 16] = {
        let mut table = [0u32; 16];
        let mut index = 0;
        while index < 16 {
            let mut word = index as u32;
            let mut bit = 0;
            while bit < 4 {
                word = if word & 1 == 1 { word >> 1 ^ 0xedb8_8320 } else { word >> 1 };
                bit += 1;
            }
            table[index] = word;
            index += 1;
        }
        table
    };
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        let crc = crc >> 4 ^ TABLE[((crc ^ u32::from(*byte)) & 15) as usize];
        crc >> 4 ^ TABLE[((crc ^ u32::from(*byte) >> 4) & 15) as usize]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_the_usual_one() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(crc32(b""), 0);
    }

    #[test]
    fn a_record_comes_back_as_it_was() {
        let record = |at_ns, operation, start, blocks| Record { at_ns, operation, start, blocks };
        let records = [
            record(0, Operation::Read, 0, 1),
            record(5, Operation::Write { durable: true }, 1 << 40, 2048),
            record(5, Operation::Flush, 0, 0),
            record(1 << 60, Operation::Write { durable: false }, (1 << 40) + 2048, 8),
            record(1 << 61, Operation::Discard, 7, 1 << 50),
            record(1 << 62, Operation::PowerCut, 0, 0),
            record(1 << 62, Operation::PowerOn, 0, 0),
        ];
        let (mut bytes, mut last) = (Vec::new(), Last::default());
        records.iter().for_each(|record| encode(*record, &mut last, &mut bytes));
        let (mut rest, mut last) = (&bytes[..], Last::default());
        records.iter().for_each(|record| assert_eq!(decode(&mut rest, &mut last), Some(*record)));
        assert!(rest.is_empty());
    }

    #[test]
    fn a_stream_is_small() {
        let (mut bytes, mut last) = (Vec::new(), Last::default());
        for i in 0..1000 {
            let operation = Operation::Write { durable: false };
            encode(Record { at_ns: i * 12_000_000, operation, start: i * 1024, blocks: 1024 }, &mut last, &mut bytes);
        }
        assert!(bytes.len() <= 8 * 1000, "{}", bytes.len());
    }

    #[test]
    fn nonsense_is_no_record() {
        let mut last = Last::default();
        let check = |bytes: &[u8], last: &mut Last| assert_eq!(decode(&mut &bytes[..], last), None);
        check(&[], &mut last);
        check(&[9, 0, 0, 0], &mut last);
        check(&[1, 0x80], &mut last);
        check(&[0xff; 32], &mut last);
    }
}
