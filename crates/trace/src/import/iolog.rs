//! fio's logs of requests (`write_iolog`), versions 2 and 3, as its manual describes them ("Trace file format").

use super::text::{lines, no_number, time, whole};
use super::units::{TimeUnit, Waits};
use super::{Imported, Options, choose};
use crate::{Flags, Op, TraceError, Traced};
use flashscope_units::{Bytes, Instant};
use std::collections::BTreeSet;
use std::io::BufRead;

/// One line behind the first.
struct Line<'a> {
    file: &'a [u8],
    action: &'a [u8],
    numbers: [Option<&'a [u8]>; 2],
}

/// A request of a file.
struct OfFile {
    file: String,
    request: Traced,
}

pub(super) fn read_3(from: &mut dyn BufRead, options: &Options) -> Result<Imported, TraceError> {
    let unit = options.unit.unwrap_or(TimeUnit::Us);
    let mut found = Vec::new();
    lines(from, |number, line| {
        if number == 1 {
            return Ok(true);
        }
        let mut words = words(line);
        let text = words.next().unwrap_or_default();
        let at = time(text, unit).ok_or_else(|| no_number(number, "the time", text))?;
        let line = of_words(number, words)?;
        found.extend(request(number, &line, at)?);
        Ok(true)
    })?;
    of_files(found, options, Vec::new())
}

pub(super) fn read_2(from: &mut dyn BufRead, options: &Options) -> Result<Imported, TraceError> {
    let mut found: Vec<(OfFile, usize)> = Vec::new();
    let mut waits: Vec<u64> = Vec::new();
    lines(from, |number, line| {
        if number == 1 {
            return Ok(true);
        }
        let line = of_words(number, words(line))?;
        if line.action == b"wait" {
            let text = line.numbers[0].unwrap_or_default();
            waits.push(whole(text).ok_or_else(|| no_number(number, "a wait", text))?);
        } else if let Some(one) = request(number, &line, 0)? {
            found.push((one, waits.len()));
        }
        Ok(true)
    })?;
    let mut notes = Vec::new();
    let until = ends_of_waits(&waits, options, &mut notes)?;
    let settled = found.into_iter().map(|(mut one, waits)| {
        one.request.issued = Instant(waits.checked_sub(1).map_or(0, |last| until[last]));
        one
    });
    of_files(settled.collect(), options, notes)
}

/// When each wait ends, from the start of the log. The manual says that a wait is so many microseconds since what came before;
/// fio 3.33 waits until so many milliseconds have passed since its start. Waits that never get shorter may be either.
fn ends_of_waits(waits: &[u64], options: &Options, notes: &mut Vec<String>) -> Result<Vec<u64>, TraceError> {
    let rising = waits.windows(2).all(|pair| pair[0] <= pair[1]) && waits.first() < waits.last();
    let way = match options.waits {
        Some(way) => way,
        None if waits.len() > 2 && rising => {
            return Err(TraceError::unclear(
                "its waits only ever get longer: they may count from the start of the log",
                "say how they are meant: --waits since-previous (microseconds, fio's manual) or since-start (milliseconds, what \
                 fio does)",
            ));
        }
        None => Waits::SincePrevious,
    };
    if waits.is_empty() {
        notes.push("it has no times and no waits: all requests are due at once, in order".to_owned());
    } else if options.waits.is_none() {
        notes.push("waits are taken for microseconds since what stands before, as fio's manual has it".to_owned());
    }
    let unit = match way {
        Waits::SincePrevious => options.unit.unwrap_or(TimeUnit::Us),
        Waits::SinceStart => options.unit.unwrap_or(TimeUnit::Ms),
    };
    let mut now = 0u64;
    let ends = waits.iter().map(|wait| {
        let ns = wait.checked_mul(unit.nanos())?;
        now = match way {
            Waits::SincePrevious => now.checked_add(ns)?,
            Waits::SinceStart => now.max(ns),
        };
        Some(now)
    });
    let ends: Option<Vec<u64>> = ends.collect();
    ends.ok_or_else(|| {
        TraceError::unclear("its waits add up to more than any clock holds", "say their unit: --time-unit")
    })
}

fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

fn of_words<'a>(number: u64, mut words: impl Iterator<Item = &'a [u8]>) -> Result<Line<'a>, TraceError> {
    let (Some(file), Some(action)) = (words.next(), words.next()) else {
        return Err(TraceError::line(number, "it should hold a file and an action"));
    };
    Ok(Line { file, action, numbers: [words.next(), words.next()] })
}

fn request(number: u64, line: &Line<'_>, at: u64) -> Result<Option<OfFile>, TraceError> {
    let op = match line.action {
        b"read" => Op::Read,
        b"write" => Op::Write,
        b"trim" => Op::Discard,
        b"sync" | b"datasync" => Op::Flush,
        b"add" | b"open" | b"close" => return Ok(None),
        other => {
            let shown = String::from_utf8_lossy(&other[..other.len().min(40)]);
            return Err(TraceError::line(number, format!("'{shown}' is no action of a fio log")));
        }
    };
    let (offset, length) = if op == Op::Flush {
        (0, 0)
    } else {
        let [offset, length] = line.numbers.map(Option::unwrap_or_default);
        let offset = whole(offset).ok_or_else(|| no_number(number, "the offset", offset))?;
        let length = whole(length).ok_or_else(|| no_number(number, "the length", length))?;
        (offset, u32::try_from(length).map_err(|_| TraceError::line(number, "a request is longer than 4 GiB"))?)
    };
    let request = Traced {
        issued: Instant(at),
        completed: None,
        offset: Bytes(offset),
        length,
        process: None,
        op,
        flags: Flags::NONE,
    };
    Ok(Some(OfFile { file: String::from_utf8_lossy(line.file).into_owned(), request }))
}

fn of_files(found: Vec<OfFile>, options: &Options, mut notes: Vec<String>) -> Result<Imported, TraceError> {
    let names: BTreeSet<&String> = found.iter().map(|one| &one.file).collect();
    let names: Vec<String> = names.into_iter().cloned().collect();
    let wanted = choose(&names, options)?.map(str::to_owned);
    notes.push("a fio log does not tell when a request ended: no latency, no depth, no dependent replay".to_owned());
    let requests = found.into_iter().filter(|one| wanted.as_ref().is_none_or(|wanted| *wanted == one.file));
    Ok(Imported { requests: requests.map(|one| one.request).collect(), notes, ..Imported::default() })
}
