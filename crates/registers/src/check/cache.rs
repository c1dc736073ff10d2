//! The cache: whether it can be switched, whether anything is quicker for it, and whether a flush takes the time that it must.
//!
//! What the cache takes off the time of a write, the flash has yet to spend: a flush right after one short write must give at least a
//! good part of it back, more than a flush of nothing takes. Every write has a place of its own, so that nothing can be done together.

use super::{Asked, Bench, CheckError, Found, Outcome, Sent, absent};
use crate::{Command, Part, Setting, Unit};
use flashscope_units::{Bytes, Nanos};

type Row = Result<Found, CheckError>;

/// Writes that are timed each way; their medians are compared.
const WRITES: u64 = 25;
/// What is written each time.
const LENGTH: Bytes = Bytes::kib(4);
/// A write to the cache takes at most this share of one past it, or the cache does nothing that can be seen.
const QUICKER: f64 = 0.75;
/// Of what the cache takes off a write, a flush must give back this share: programs of one chip differ by four and more, and the mean
/// of what is timed stays within a third of its own.
const LEAST: f64 = 0.3;

/// Mean times of a short write, and of flushes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    /// With the cache off.
    past: Nanos,
    /// With the cache on.
    into: Nanos,
    /// The flush after it.
    flush: Nanos,
    /// A flush of nothing.
    empty: Nanos,
}

impl<P: Part> Bench<'_, P> {
    /// Times writes at places of their own, and after each a flush and another of nothing where that is asked for.
    fn timed(&mut self, lane: u64, flush: bool) -> Result<[Nanos; 3], CheckError> {
        let mut times = [const { Vec::new() }; 3];
        let step = Bytes(Asked::LEAST.get() / (2 * WRITES)).align_down(Bytes::kib(64));
        for number in 0..WRITES {
            // Places jump, so that no two are neighbours, and both lanes have their own.
            let place = (number * 7 % WRITES) * 2 + lane;
            let (written, _) = self.write(self.asked.from + step * place, LENGTH, false)?;
            times[0].push(written.service_time().get());
            for times in times[1..].iter_mut().filter(|_| flush) {
                // By the command: the kernel's own flush does nothing where the kernel did not switch the cache on.
                if let Sent::Done(reply) = self.send(&[Command::switch(Setting::FlushCache)])? {
                    times.push(reply.took.get());
                }
            }
        }
        Ok(times.map(middle))
    }
}

/// The mean without the tenth at either end: a collection now and then must not decide, and a median would pick one of two kinds of pages.
fn middle(mut times: Vec<u64>) -> Nanos {
    times.sort_unstable();
    let cut = times.len() / 10;
    let kept = &times[cut..times.len() - cut];
    Nanos(kept.iter().sum::<u64>() / kept.len().max(1) as u64)
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
    let [past, ..] = bench.timed(0, false)?;
    if let Some((outcome, shown)) = bench.set(Setting::Cache(true))? {
        return Ok((claims, outcome, shown));
    }
    let [into, flush, empty] = bench.timed(1, true)?;
    bench.cached = Some(Times { past, into, flush, empty });
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
    let Some(Times { past, into, flush, empty }) = bench.cached else {
        return Ok((
            claims,
            Outcome::UnsupportedByHost,
            "taken; how long it takes was not seen, as the cache could not be set".to_owned(),
        ));
    };
    if into.as_f64() > QUICKER * past.as_f64() {
        return Ok((claims, Outcome::Works, "taken; nothing waits in the cache for it".to_owned()));
    }
    let saved = past.saturating_sub(into);
    let shown = format!("the cache takes {saved} off a write; a flush takes {flush} after one, {empty} after none");
    Ok(match flush.saturating_sub(empty).as_f64() < LEAST * saved.as_f64() {
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
