//! Events of the kernel's tracing (`block:block_rq_issue` and its like) out of the pages of its ring buffer, as
//! `trace_pipe_raw` gives them. The layout of an event is read from the kernel's own description of it, as it changes from
//! version to version; that of a page is the one of `events/header_page` and `events/header_event`.

use crate::event::{Asked, Event, SECTOR, Step};
use crate::{Op, TraceError};
use flashscope_units::Instant;

/// The events that a recording needs of a device with a queue of the kernel's.
pub const OF_REQUESTS: [(&str, Step); 3] =
    [("block_rq_issue", Step::Issue), ("block_rq_requeue", Step::Requeue), ("block_rq_complete", Step::Complete)];
/// The same of one without.
pub const OF_BIOS: [(&str, Step); 2] = [("block_bio_queue", Step::Queue), ("block_bio_complete", Step::Complete)];

/// Bits of the word behind a page's time that are its length.
const COMMIT: u64 = (1 << 20) - 1;
/// Kinds of entries of a page that are no events (`type_len` of `header_event`).
const PADDING: u32 = 29;
const TIME_EXTEND: u32 = 30;
const TIME_STAMP: u32 = 31;
/// Bits of a time in an entry.
const DELTA_BITS: u32 = 27;
/// Bits of an absolute time; what is above them is that of the time before.
const STAMP_BITS: u32 = 59;

/// Where a field lies in an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Field {
    offset: usize,
    size: usize,
}

/// The layout of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Layout {
    id: u64,
    step: Step,
    process: Field,
    device: Field,
    sector: Field,
    sectors: Field,
    /// Only requests that are issued tell bytes.
    bytes: Option<Field>,
    letters: Field,
    error: Option<Field>,
}

/// The layouts of the events that are looked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layouts {
    events: Vec<Layout>,
    /// Bytes before the first entry of a page.
    head: usize,
}

impl Layouts {
    /// With the kernel's description of a page (`events/header_page`).
    ///
    /// # Errors
    /// A description without the field `data`.
    pub fn new(header_page: &str) -> Result<Layouts, TraceError> {
        let data = field(header_page, "data").ok_or_else(|| unknown("header_page"))?;
        Ok(Layouts { events: Vec::new(), head: data.offset })
    }

    /// Takes the kernel's description of an event (`events/block/NAME/format`).
    ///
    /// # Errors
    /// A description without the fields that are needed.
    pub fn add(&mut self, name: &str, step: Step, format: &str) -> Result<(), TraceError> {
        let id = format.lines().find_map(|line| line.strip_prefix("ID:")?.trim().parse().ok());
        let needed = |field_name: &str| field(format, field_name).ok_or_else(|| unknown(name));
        self.events.push(Layout {
            id: id.ok_or_else(|| unknown(name))?,
            step,
            process: needed("common_pid")?,
            device: needed("dev")?,
            sector: needed("sector")?,
            sectors: needed("nr_sector")?,
            bytes: field(format, "bytes"),
            letters: needed("rwbs")?,
            error: field(format, "error"),
        });
        Ok(())
    }

    /// Hands the events of a page to `take`.
    ///
    /// # Errors
    /// A page that is none.
    pub fn events(&self, page: &[u8], mut take: impl FnMut(Event)) -> Result<(), TraceError> {
        let broken = || TraceError::byte(0, "a page of the kernel's events is none");
        if page.len() < self.head || self.head < 16 {
            return Err(broken());
        }
        let mut now = number(page, Field { offset: 0, size: 8 });
        let length = (number(page, Field { offset: 8, size: 8 }) & COMMIT) as usize;
        let entries = page.get(self.head..self.head + length).ok_or_else(broken)?;
        let word = |at: usize| entries.get(at..at + 4).map(|_| number(entries, Field { offset: at, size: 4 }) as u32);
        let mut at = 0;
        while at < entries.len() {
            let head = word(at).ok_or_else(broken)?;
            let (kind, delta) = (head & 31, u64::from(head >> 5));
            let next = || word(at + 4).map(u64::from).ok_or_else(broken);
            match kind {
                PADDING if delta == 0 => return Ok(()),
                PADDING => {
                    now = now.wrapping_add(delta);
                    at += 4 + next()? as usize;
                }
                TIME_EXTEND => {
                    now = now.wrapping_add(next()? << DELTA_BITS | delta);
                    at += 8;
                }
                TIME_STAMP => {
                    let stamp = next()? << DELTA_BITS | delta;
                    now = now >> STAMP_BITS << STAMP_BITS | stamp;
                    at += 8;
                }
                _ => {
                    now = now.wrapping_add(delta);
                    // A long event has its length in front, in which that number is counted.
                    let (from, to) = match kind {
                        0 => (at + 8, at + 4 + next()? as usize),
                        words => (at + 4, at + 4 + words as usize * 4),
                    };
                    let data = entries.get(from..to).ok_or_else(broken)?;
                    self.event(now, data).into_iter().for_each(&mut take);
                    at = to;
                }
            }
        }
        Ok(())
    }

    fn event(&self, now: u64, data: &[u8]) -> Option<Event> {
        let id = number(data, Field { offset: 0, size: 2 });
        let layout = self.events.iter().find(|layout| layout.id == id)?;
        let Field { offset, size } = layout.letters;
        let letters = data.get(offset..offset + size)?;
        let letters = letters.split(|byte| *byte == 0).next().unwrap_or_default();
        let mut asked = Asked::of_letters(letters)?;
        let sectors = number(data, layout.sectors);
        let length = layout.bytes.map_or(sectors * SECTOR, |bytes| number(data, bytes));
        if length == 0 && layout.step != Step::Complete && asked.op != Some(Op::Discard) {
            asked.op = None;
        }
        Some(Event {
            at: Instant(now),
            step: layout.step,
            asked,
            sector: number(data, layout.sector),
            length: u32::try_from(length).ok()?,
            process: number(data, layout.process) as u32,
            device: number(data, layout.device),
            failed: layout.error.is_some_and(|error| number(data, error) != 0),
        })
    }
}

/// A field of a description: `field:sector_t sector; offset:16; size:8; signed:0;`.
fn field(format: &str, name: &str) -> Option<Field> {
    format.lines().find_map(|line| {
        let mut parts = line.trim().split(';').map(str::trim);
        let declared = parts.next()?.strip_prefix("field:")?;
        let found = declared.rsplit([' ', '*']).next()?.split('[').next()?;
        let mut number = |key: &str| parts.next()?.strip_prefix(key)?.parse().ok();
        (found == name).then(|| Some(Field { offset: number("offset:")?, size: number("size:")? }))?
    })
}

fn unknown(name: &str) -> TraceError {
    TraceError::unclear(
        format!("this kernel describes {name} in a way that is not known"),
        "please report it, with `uname -r`",
    )
}

/// A number in the order of this machine; 0 where the bytes are not there.
fn number(bytes: &[u8], Field { offset, size }: Field) -> u64 {
    let Some(found) = bytes.get(offset..offset + size.min(8)) else { return 0 };
    let mut whole = [0; 8];
    if cfg!(target_endian = "big") {
        whole[8 - found.len()..].copy_from_slice(found);
        u64::from_be_bytes(whole)
    } else {
        whole[..found.len()].copy_from_slice(found);
        u64::from_le_bytes(whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Flags;

    const PAGE: &str = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";
    const ISSUE: &str = "name: block_rq_issue\nID: 2104\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;\n\tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;\n\tfield:unsigned int nr_sector;\toffset:24;\tsize:4;\tsigned:0;\n\tfield:unsigned int bytes;\toffset:28;\tsize:4;\tsigned:0;\n\tfield:char rwbs[10];\toffset:34;\tsize:10;\tsigned:0;\n";

    fn layouts() -> Layouts {
        let mut layouts = Layouts::new(PAGE).unwrap();
        layouts.add("block_rq_issue", Step::Issue, ISSUE).unwrap();
        layouts
    }

    fn issue(letters: &[u8], sector: u64, bytes: u32) -> Vec<u8> {
        let mut data = vec![0; 44];
        data[..2].copy_from_slice(&2104u16.to_ne_bytes());
        data[4..8].copy_from_slice(&77u32.to_ne_bytes());
        data[8..12].copy_from_slice(&(7u32 << 20).to_ne_bytes());
        data[16..24].copy_from_slice(&sector.to_ne_bytes());
        data[28..32].copy_from_slice(&bytes.to_ne_bytes());
        data[34..34 + letters.len()].copy_from_slice(letters);
        data
    }

    fn page(entries: &[u8]) -> Vec<u8> {
        let head = [1_000_000u64.to_ne_bytes(), (entries.len() as u64 | 1 << 31).to_ne_bytes()];
        [&head.concat(), entries, &[0xff; 64]].concat()
    }

    fn entry(kind: u32, delta: u32) -> [u8; 4] {
        (kind | delta << 5).to_ne_bytes()
    }

    #[test]
    fn events_come_out_of_a_page_with_their_times() {
        let (short, other) = (issue(b"WFS", 8, 4096), issue(b"R", 16, 512));
        let long = (other.len() as u32 + 4).to_ne_bytes();
        let entries = [
            &entry(11, 500)[..],
            &short,
            &entry(TIME_EXTEND, 1),
            &2u32.to_ne_bytes(),
            &entry(0, 10),
            &long,
            &other,
            &entry(PADDING, 0),
        ]
        .concat();
        let mut found = Vec::new();
        layouts().events(&page(&entries), |event| found.push(event)).unwrap();
        let told: Vec<_> = found.iter().map(|event| (event.at.0, event.sector, event.length, event.process)).collect();
        assert_eq!(told, [(1_000_500, 8, 4096, 77), (1_000_500 + (2 << 27) + 1 + 10, 16, 512, 77)]);
        assert_eq!(found[0].asked.flags, Flags::FUA.with(Flags::SYNC));
        assert_eq!((found[1].asked.op, found[1].device), (Some(Op::Read), 7 << 20));
    }

    #[test]
    fn what_is_no_page_is_told() {
        let layouts = layouts();
        let mut nobody = |_: Event| {};
        assert!(layouts.events(&[0; 8], &mut nobody).is_err());
        assert!(layouts.events(&page(&entry(11, 500)), &mut nobody).is_err(), "an event reaches beyond the page");
        assert!(Layouts::new("field: u64 timestamp;").is_err());
        assert!(Layouts::new(PAGE).unwrap().add("x", Step::Issue, "ID: 5\n").is_err());
    }
}
