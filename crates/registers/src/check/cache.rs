//! The cache: whether it can be switched, whether anything is quicker for it, and whether a flush takes the time that it must.
//!
//! A flush cannot be quicker than the flash: one short write that went to the cache, and the flush after it, program at least what the
//! same write programs with the cache off. Each is timed at places of its own, so that nothing can be done together.

use super::{Asked, Bench, CheckError, Found, Outcome, Sent, absent};
use crate::{Command, Part, Setting, Unit};
use flashscope_units::{Bytes, Nanos};

type Row = Result<Found, CheckError>;

/// Writes that are timed each way; their medians are compared.
const WRITES: u64 = 25;
/// What is written each time.
const LENGTH: Bytes = Bytes::kib(4);
/// A cache must take this off the time of a write, or it does nothing that can be seen.
const QUICKER: f64 = 0.9;
/// A write to the cache with its flush must take at least this share of a write past it: half, as programs vary.
const LEAST: f64 = 0.5;

/// Medians of the times of a short write.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    /// With the cache off.
    past: Nanos,
    /// With the cache on, …
    into: Nanos,
    /// … and with the flush after it.
    flushed: Nanos,
}

impl<P: Part> Bench<'_, P> {
    /// Writes at places of their own, each with a flush where one is asked for.
    fn timed(&mut self, lane: u64, flush: bool) -> Result<[Nanos; 2], CheckError> {
        let (mut writes, mut all) = (Vec::new(), Vec::new());
        let step = Bytes(Asked::LEAST.get() / (2 * WRITES)).align_down(Bytes::kib(64));
        for number in 0..WRITES {
            // Places jump, so that no two are neighbours, and both lanes have their own.
            let place = (number * 7 % WRITES) * 2 + lane;
            let (written, _) = self.write(self.asked.from + step * place, LENGTH, false)?;
            let mut took = written.service_time();
            writes.push(took.get());
            if flush {
                // By the command: the kernel's own flush does nothing where the kernel did not switch the cache on.
                if let Sent::Done(reply) = self.send(&[Command::switch(Setting::FlushCache)])? {
                    took = took + reply.took;
                }
            }
            all.push(took.get());
        }
        let median = |mut times: Vec<u64>| {
            times.sort_unstable();
            Nanos(times[times.len() / 2])
        };
        Ok([median(writes), median(all)])
    }
}

pub(super) fn cache<P: Part>(bench: &mut Bench<'_, P>) -> Row {
    let size = bench.register.number(249, 4).unwrap_or(0) * 128;
    if size == 0 {
        return Ok(absent("none"));
    }
    let claims = Unit::Bytes.words(size);
    if let Some((outcome, shown)) = bench.set(Setting::Cache(false))? {
        return Ok((claims, outcome, shown));
    }
    let [past, _] = bench.timed(0, false)?;
    if let Some((outcome, shown)) = bench.set(Setting::Cache(true))? {
        return Ok((claims, outcome, shown));
    }
    let [into, flushed] = bench.timed(1, true)?;
    bench.cached = Some(Times { past, into, flushed });
    let shown = format!("writes of 4 KiB take {into} with it on, {past} with it off");
    let outcome = if into.as_f64() <= QUICKER * past.as_f64() { Outcome::Works } else { Outcome::Fails };
    Ok((claims, outcome, shown))
}

pub(super) fn flush<P: Part>(bench: &mut Bench<'_, P>) -> Row {
    if bench.register.number(249, 4).unwrap_or(0) == 0 {
        return Ok(absent("no cache to flush"));
    }
    let claims = "FLUSH_CACHE".to_owned();
    match bench.send(&[Command::switch(Setting::FlushCache)])? {
        Sent::Refused(why) => return Ok((claims, Outcome::Fails, format!("refused: {why}"))),
        Sent::NotByHost(why) => return Ok((claims, Outcome::UnsupportedByHost, why)),
        Sent::Done(_) => {}
    }
    let Some(Times { past, into, flushed }) = bench.cached else {
        return Ok((
            claims,
            Outcome::UnsupportedByHost,
            "taken; how long it takes was not seen, as the cache could not be set".to_owned(),
        ));
    };
    if into.as_f64() > QUICKER * past.as_f64() {
        return Ok((claims, Outcome::Works, "taken; nothing waits in the cache for it".to_owned()));
    }
    let shown = format!("a write and its flush take {flushed}, the same write with the cache off {past}");
    Ok(match flushed.as_f64() < LEAST * past.as_f64() {
        true => (claims, Outcome::Fails, format!("{shown}: too short to have programmed anything")),
        false => (claims, Outcome::Works, shown),
    })
}

pub(super) fn barrier<P: Part>(bench: &mut Bench<'_, P>) -> Row {
    if bench.register.revision() < 8 || bench.register.get(486).unwrap_or(0) & 1 == 0 {
        return Ok(absent("none"));
    }
    let claims = "yes".to_owned();
    let was_on = bench.register.get(31) == Some(1);
    if let Some((outcome, shown)) = bench.set(Setting::Barrier(true))? {
        return Ok((claims, outcome, shown));
    }
    let sent = bench.send(&[Command::switch(Setting::FlushBarrier)]);
    if !was_on {
        bench.set(Setting::Barrier(false))?;
    }
    Ok(match sent? {
        Sent::Done(reply) => {
            (claims, Outcome::Works, format!("taken, {}; the order after a power cut was not looked at", reply.took))
        }
        Sent::Refused(why) => (claims, Outcome::Fails, format!("refused: {why}")),
        Sent::NotByHost(why) => (claims, Outcome::UnsupportedByHost, why),
    })
}
