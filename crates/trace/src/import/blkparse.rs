//! What `blkparse` prints by default: `MAJ,MIN CPU SEQUENCE SECONDS PID ACTION RWBS SECTOR + SECTORS [PROCESS]`.

use super::text::{lines, no_number, time, whole};
use super::units::TimeUnit;
use super::{Imported, Options, of_events};
use crate::event::{Asked, Event, SECTOR, Step};
use crate::{Op, TraceError};
use flashscope_units::Instant;
use std::io::BufRead;

/// Whether it is an event's line.
pub(super) fn is_line(line: &[u8]) -> bool {
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let numbers = [words.next().and_then(device), words.next().and_then(whole), words.next().and_then(whole)];
    numbers.iter().all(Option::is_some) && words.next().is_some_and(|word| time(word, TimeUnit::S).is_some())
}

fn device(word: &[u8]) -> Option<u64> {
    let comma = word.iter().position(|byte| *byte == b',')?;
    Some(whole(&word[..comma])? << 20 | whole(&word[comma + 1..])?)
}

pub(super) fn read(file: &mut dyn BufRead, options: &Options) -> Result<Imported, TraceError> {
    let mut events = Vec::new();
    let unit = options.unit.unwrap_or(TimeUnit::S);
    lines(file, |number, line| {
        // The sums behind the events begin with the first processor's.
        if line.starts_with(b"CPU") || line.starts_with(b"Total") || line.starts_with(b"Throughput") {
            return Ok(false);
        }
        events.extend(event(number, line, unit)?);
        Ok(true)
    })?;
    of_events(events, options, |device| format!("{},{}", device >> 20, device & 0xf_ffff))
}

fn event(number: u64, line: &[u8], unit: TimeUnit) -> Result<Option<Event>, TraceError> {
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let mut next =
        |name: &str| words.next().ok_or_else(|| TraceError::line(number, format!("it ends where {name} should stand")));
    let device_word = next("the device")?;
    let device = device(device_word).ok_or_else(|| no_number(number, "the device", device_word))?;
    next("the processor")?;
    next("the sequence")?;
    let text = next("the time")?;
    let at = time(text, unit).ok_or_else(|| no_number(number, "the time", text))?;
    let text = next("the process")?;
    let process = whole(text).ok_or_else(|| no_number(number, "the process", text))?;
    let step = match next("the action")? {
        b"Q" => Step::Queue,
        b"D" => Step::Issue,
        b"R" => Step::Requeue,
        b"C" => Step::Complete,
        _ => return Ok(None),
    };
    let letters = next("what was asked")?;
    let Some(mut asked) = Asked::of_letters(letters) else {
        let shown = String::from_utf8_lossy(letters);
        return Err(TraceError::line(number, format!("'{shown}' is none of the kernel's letters")));
    };
    // A flush alone has no place, or sector 0 and nothing behind it; an end may say in brackets which error it had.
    let sector = words.next().and_then(whole);
    let plus = words.next();
    let sectors = if plus == Some(b"+") { words.next().and_then(whole) } else { None };
    let error = match (plus, sectors) {
        (Some(b"+"), Some(_)) => words.next(),
        (other, _) => other,
    };
    let failed = step == Step::Complete && !matches!(error, None | Some(b"[0]"));
    let (sector, sectors) = match (asked.op, sector, sectors) {
        (Some(_), Some(sector), Some(sectors)) if sectors > 0 => (sector, sectors),
        // The end of what a flush went ahead of names its place alone.
        (Some(_), Some(sector), None) if step == Step::Complete => (sector, 0),
        (Some(Op::Read), ..) => return Err(TraceError::line(number, "a request has no place")),
        _ => {
            asked.op = None;
            (0, 0)
        }
    };
    let length = sectors.checked_mul(SECTOR).and_then(|length| u32::try_from(length).ok());
    let length = length.ok_or_else(|| TraceError::line(number, "a request is longer than 4 GiB"))?;
    let at = Instant(at);
    Ok(Some(Event { at, step, asked, sector, length, process: process as u32, device, failed }))
}
