//! Traces as comma-separated values: MSR Cambridge's, the Storage Performance Council's, and two of our own.

use super::text::{fields, lines, no_number, time, whole};
use super::units::TimeUnit;
use super::{Imported, Options, choose};
use crate::event::SECTOR;
use crate::{Flags, Op, TraceError, Traced};
use flashscope_units::{Bytes, Instant};
use std::collections::BTreeSet;
use std::io::BufRead;

/// The first line of `flashscope emulate --log`.
pub(super) const EMULATOR_HEAD: &[u8] = b"arrived_ns,done_ns,answered_ns,kind,offset_bytes,length_bytes,failed";
/// The first line of a trace of `flashscope bench`.
pub(super) const BENCH_HEAD: &[u8] = b"phase,worker,kind,offset_bytes,length_bytes,intended_ns,issued_ns,completed_ns";
/// 1 January 1970 in the ticks of Windows, of which MSR's times have more.
const EPOCH_TICKS: u64 = 116_444_736_000_000_000;

/// `128166372003061629,usr,0,Read,7014609920,24576,41286`: time, host, disk, kind, offset, length, response time.
pub(super) fn is_msr(line: &[u8]) -> bool {
    let Some([time, _, disk, kind, offset, length, response]) = fields::<7>(line, b',') else { return false };
    let numbers = [time, disk, offset, length, response].iter().all(|text| whole(text).is_some());
    numbers && (kind.eq_ignore_ascii_case(b"read") || kind.eq_ignore_ascii_case(b"write"))
}

/// `0,20941264,8192,W,0.551706`: application storage unit, sector, length, kind, seconds, and what may follow.
pub(super) fn is_spc(line: &[u8]) -> bool {
    let Some([unit, sector, length, kind, seconds]) = fields::<5>(line, b',') else { return false };
    let numbers = [unit, sector, length].iter().all(|text| whole(text).is_some());
    numbers && matches!(kind, b"R" | b"r" | b"W" | b"w") && time(seconds, TimeUnit::S).is_some()
}

/// A request of one of several disks.
type OfDisk = (u32, Traced);

pub(super) fn read_msr(from: &mut dyn BufRead, options: &Options) -> Result<Imported, TraceError> {
    let unit = options.unit.unwrap_or(TimeUnit::Filetime);
    // Ticks since 1601 fit a clock of nanoseconds only once their first is taken off.
    let mut first = None;
    let mut disks = Disks::default();
    let mut found: Vec<OfDisk> = Vec::new();
    let mut ticks_since_1601 = true;
    lines(from, |number, line| {
        let Some([text, host, disk, kind, offset, length, response]) = fields::<7>(line, b',') else {
            return Err(TraceError::line(number, "it should hold seven fields, as MSR Cambridge's traces do"));
        };
        let ticks = whole(text).ok_or_else(|| no_number(number, "the time", text))?;
        ticks_since_1601 &= ticks > EPOCH_TICKS;
        let first = *first.get_or_insert(ticks);
        // What stands earlier than the first line is earlier by less than a day, or no time of this trace.
        let since = ticks.checked_add(DAY_TICKS).and_then(|ticks| ticks.checked_sub(first));
        let since =
            since.ok_or_else(|| TraceError::line(number, "its time is more than a day before the first line's"))?;
        let issued = since.checked_mul(unit.nanos()).ok_or_else(|| no_number(number, "the time", text))?;
        let took = whole(response).and_then(|took| took.checked_mul(unit.nanos()));
        let took = took.ok_or_else(|| no_number(number, "the response time", response))?;
        let op = match kind.to_ascii_lowercase().as_slice() {
            b"read" => Op::Read,
            b"write" => Op::Write,
            _ => return Err(TraceError::line(number, "its kind is neither Read nor Write")),
        };
        let disk = disks.number([host, disk].join(&b'.'));
        found.push((disk, ranged(number, op, offset, length, 1, (issued, issued.checked_add(took)))?));
        Ok(true)
    })?;
    let mut notes = Vec::new();
    if !ticks_since_1601 {
        notes.push("its times are not those of Windows (100 ns since 1601), which this format has".to_owned());
    }
    disks.imported(found, options, notes)
}

/// A day in ticks of 100 ns.
const DAY_TICKS: u64 = 24 * 3600 * 10_000_000;

pub(super) fn read_spc(from: &mut dyn BufRead, options: &Options) -> Result<Imported, TraceError> {
    let unit = options.unit.unwrap_or(TimeUnit::S);
    let mut disks = Disks::default();
    let mut found: Vec<OfDisk> = Vec::new();
    lines(from, |number, line| {
        let Some([asu, sector, length, kind, text]) = fields::<5>(line, b',') else {
            return Err(TraceError::line(number, "it should hold five fields, as SPC traces do"));
        };
        let issued = time(text, unit).ok_or_else(|| no_number(number, "the time", text))?;
        let op = match kind {
            b"R" | b"r" => Op::Read,
            b"W" | b"w" => Op::Write,
            _ => return Err(TraceError::line(number, "its kind is neither R nor W")),
        };
        let disk = disks.number(asu.to_vec());
        found.push((disk, ranged(number, op, sector, length, SECTOR, (issued, None))?));
        Ok(true)
    })?;
    let note = "an SPC trace does not tell when a request ended: no latency, no depth, no dependent replay";
    disks.imported(found, options, vec![note.to_owned()])
}

pub(super) fn read_emulator(from: &mut dyn BufRead, options: &Options) -> Result<Imported, TraceError> {
    let unit = options.unit.unwrap_or(TimeUnit::Ns);
    let mut imported = Imported::default();
    let mut cuts = 0u64;
    lines(from, |number, line| {
        if number == 1 {
            return Ok(true);
        }
        if let Some(told) = line.strip_prefix(b"# ") {
            let count = told.split(|byte| *byte == b' ').next().and_then(whole);
            imported.dropped +=
                count.ok_or_else(|| TraceError::line(number, "a note of what had no room is broken"))?;
            return Ok(true);
        }
        let Some([arrived, _, answered, kind, offset, length, failed]) = fields::<7>(line, b',') else {
            return Err(TraceError::line(number, "it should hold seven fields, as the emulator's log does"));
        };
        let (op, mut flags) = match kind {
            b"read" => (Op::Read, Flags::NONE),
            b"write" => (Op::Write, Flags::NONE),
            b"durable-write" => (Op::Write, Flags::FUA),
            b"flush" => (Op::Flush, Flags::NONE),
            b"discard" => (Op::Discard, Flags::NONE),
            b"power-on" | b"power-cut" => {
                cuts += 1;
                return Ok(true);
            }
            _ => return Err(TraceError::line(number, "it is no kind of the emulator's log")),
        };
        if failed != b"0" {
            flags = flags.with(Flags::FAILED);
        }
        let issued = time(arrived, unit).ok_or_else(|| no_number(number, "the time", arrived))?;
        let completed = time(answered, unit).ok_or_else(|| no_number(number, "the time", answered))?;
        let mut request = ranged(number, op, offset, length, 1, (issued, Some(completed)))?;
        request.flags = flags;
        imported.requests.push(request);
        Ok(true)
    })?;
    if cuts > 0 {
        imported.notes.push(format!("{cuts} times the power went or came, which a trace does not hold"));
    }
    if options.disk.is_some() {
        choose(&[], options)?;
    }
    Ok(imported)
}

pub(super) fn read_bench(from: &mut dyn BufRead, options: &Options) -> Result<Imported, TraceError> {
    let unit = options.unit.unwrap_or(TimeUnit::Ns);
    let mut disks = Disks::default();
    let mut found: Vec<OfDisk> = Vec::new();
    lines(from, |number, line| {
        if number == 1 {
            return Ok(true);
        }
        let Some([phase, worker, kind, offset, length, _, issued, completed]) = fields::<8>(line, b',') else {
            return Err(TraceError::line(number, "it should hold eight fields, as a trace of bench does"));
        };
        let op = match kind {
            b"read" | b"read_back" => Op::Read,
            b"write" => Op::Write,
            b"flush" => Op::Flush,
            _ => return Err(TraceError::line(number, "it is no kind of a trace of bench")),
        };
        let issued = time(issued, unit).ok_or_else(|| no_number(number, "the time", issued))?;
        let completed = time(completed, unit).ok_or_else(|| no_number(number, "the time", completed))?;
        let mut request = ranged(number, op, offset, length, 1, (issued, Some(completed)))?;
        request.process = whole(worker).and_then(|worker| u32::try_from(worker).ok());
        found.push((disks.number(phase.to_vec()), request));
        Ok(true)
    })?;
    disks.imported(found, options, Vec::new())
}

/// A request by its place and times in nanoseconds; places are in units of `each` bytes.
fn ranged(
    line: u64,
    op: Op,
    at: &[u8],
    length: &[u8],
    each: u64,
    (issued, completed): (u64, Option<u64>),
) -> Result<Traced, TraceError> {
    let offset = whole(at).and_then(|at| at.checked_mul(each)).ok_or_else(|| no_number(line, "the place", at))?;
    let bytes = whole(length).ok_or_else(|| no_number(line, "the length", length))?;
    let length = u32::try_from(bytes).map_err(|_| TraceError::line(line, "a request is longer than 4 GiB"))?;
    if completed.is_some_and(|completed| completed < issued) {
        return Err(TraceError::line(line, "a request ended before it began"));
    }
    let (offset, length) = if op == Op::Flush { (0, 0) } else { (offset, length) };
    Ok(Traced {
        issued: Instant(issued),
        completed: completed.map(Instant),
        offset: Bytes(offset),
        length,
        process: None,
        op,
        flags: Flags::NONE,
    })
}

/// The disks of a trace, by the number that each got when it was first seen.
#[derive(Default)]
struct Disks(Vec<Vec<u8>>);

impl Disks {
    fn number(&mut self, name: Vec<u8>) -> u32 {
        let known = self.0.iter().position(|other| *other == name);
        known.unwrap_or_else(|| {
            self.0.push(name);
            self.0.len() - 1
        }) as u32
    }

    fn imported(&self, found: Vec<OfDisk>, options: &Options, notes: Vec<String>) -> Result<Imported, TraceError> {
        let names: Vec<String> = self.0.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
        let sorted: BTreeSet<String> = names.iter().cloned().collect();
        let wanted = choose(&sorted.into_iter().collect::<Vec<_>>(), options)?;
        let of_it = |disk: u32| wanted.is_none_or(|wanted| names[disk as usize] == wanted);
        let requests = found.into_iter().filter(|(disk, _)| of_it(*disk)).map(|(_, request)| request);
        Ok(Imported { requests: requests.collect(), notes, ..Imported::default() })
    }
}
