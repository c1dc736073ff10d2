//! Features that are a setting: it is tried, read again, and put back.

use super::{Bench, CheckError, Found, Outcome, Sent, absent};
use crate::{Command, Part, Setting};

type Row = Result<Found, CheckError>;

pub(super) fn interrupt<P: Part>(bench: &mut Bench<'_, P>) -> Row {
    if !bench.register.has(503, 0) {
        return Ok(absent("none"));
    }
    let claims = if bench.register.has(503, 1) { "by CMD12" } else { "by CMD13" }.to_owned();
    let was_on = bench.register.get(161) == Some(1);
    let failed = bench.set(Setting::Interrupt(true))?;
    if failed.is_none() && !was_on {
        bench.set(Setting::Interrupt(false))?;
    }
    let (outcome, shown) = failed.unwrap_or((Outcome::Works, "can be switched on; nothing was interrupted".to_owned()));
    Ok((claims, outcome, shown))
}

pub(super) fn background<P: Part>(bench: &mut Bench<'_, P>) -> Row {
    if bench.register.get(502).unwrap_or(0) & 1 == 0 {
        return Ok(absent("none"));
    }
    let enabled = bench.register.get(163).unwrap_or(0);
    if enabled & 1 == 0 {
        let by_itself = if enabled & 2 == 2 { "the part does them by itself; " } else { "" };
        let shown = format!("{by_itself}not enabled for the host, and enabling them is for good");
        return Ok(("yes".to_owned(), Outcome::UnsupportedByHost, shown));
    }
    let claims = "yes, begun by the host".to_owned();
    Ok(match bench.send(&[Command::switch(Setting::StartBackground)])? {
        Sent::Done(reply) => (claims, Outcome::Works, format!("begun, ready again after {}", reply.took)),
        Sent::Refused(why) => (claims, Outcome::Fails, format!("BKOPS_START: {why}")),
        Sent::NotByHost(why) => (claims, Outcome::UnsupportedByHost, why),
    })
}

pub(super) fn notification<P: Part>(bench: &mut Bench<'_, P>) -> Row {
    // The time for a long power-off is stated by every part that has the notification.
    if bench.register.get(247).unwrap_or(0) == 0 {
        return Ok(absent("POWER_OFF_LONG_TIME is 0"));
    }
    let shown = "POWERED_ON is taken and reads back; power was not cut".to_owned();
    let (outcome, shown) = bench.set(Setting::PoweredOn)?.unwrap_or((Outcome::Works, shown));
    Ok(("yes".to_owned(), outcome, shown))
}

pub(super) fn queue<P: Part>(bench: &mut Bench<'_, P>) -> Row {
    if bench.register.revision() < 8 || bench.register.get(308).unwrap_or(0) & 1 == 0 {
        return Ok(absent("none"));
    }
    let depth = (bench.register.get(307).unwrap_or(0) & 31) + 1;
    let claims = format!("{depth} tasks");
    if let Some((outcome, shown)) = bench.set_queue(true)? {
        return Ok((claims, outcome, shown));
    }
    let found = filled(bench, depth);
    // The mode of the queue is left in any case: no other command is taken in it.
    let emptied = bench.send(&[Command::queue_discard()]);
    let left = bench.send(&[Command::switch(Setting::Queue(false))]);
    let (outcome, shown) = found?;
    emptied?;
    left?;
    Ok((claims, outcome, shown))
}

/// Queues as many reads as are claimed.
fn filled<P: Part>(bench: &mut Bench<'_, P>, depth: u8) -> Result<(Outcome, String), CheckError> {
    let sector = (bench.asked.from.get() / 512) as u32;
    for task in 0..depth {
        match bench.send(&Command::queue_read(task, sector + 8 * u32::from(task)))? {
            Sent::Done(_) => {}
            Sent::Refused(why) => {
                return Ok((Outcome::Fails, format!("{task} tasks are taken, the next is refused: {why}")));
            }
            Sent::NotByHost(why) => return Ok((Outcome::UnsupportedByHost, why)),
        }
    }
    let all = u32::MAX >> (32 - u32::from(depth));
    Ok(match bench.send(&[Command::queue_status()])? {
        Sent::Done(reply) if reply.data == all.to_le_bytes() => {
            (Outcome::Works, format!("{depth} reads are queued and ready; then thrown away"))
        }
        Sent::Done(_) => (Outcome::Fails, "not every task that was taken is ready".to_owned()),
        Sent::Refused(why) => (Outcome::Fails, format!("the status of the queue: {why}")),
        Sent::NotByHost(why) => (Outcome::UnsupportedByHost, why),
    })
}

impl<P: Part> Bench<'_, P> {
    /// In the mode of the queue EXT_CSD cannot be read, so that only the command's own answer tells.
    fn set_queue(&mut self, on: bool) -> Result<Option<(Outcome, String)>, CheckError> {
        Ok(match self.send(&[Command::switch(Setting::Queue(on))])? {
            Sent::Done(_) => None,
            Sent::Refused(why) => Some((Outcome::Fails, format!("CMDQ_MODE_EN cannot be set: {why}"))),
            Sent::NotByHost(why) => Some((Outcome::UnsupportedByHost, why)),
        })
    }
}
