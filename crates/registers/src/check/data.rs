//! Features that show in data: written, erased, and read again.

use super::{Bench, CheckError, Found, Outcome, Sent, absent};
use crate::{BlockCount, Command, EraseHow, Part, Setting};
use flashscope_device::Content;
use flashscope_units::Bytes;

type Row = Result<Found, CheckError>;

/// What is written before it is erased.
const STRETCH: Bytes = Bytes::kib(256);

/// Writes a stretch, erases it, and says what came of it; the words that what is read must bear out.
fn erased<P: Part>(
    bench: &mut Bench<'_, P>,
    how: &[EraseHow],
    whole: Bytes,
) -> Result<(Sent, Option<Content>), CheckError> {
    let from = bench.asked.from;
    let (_, fill) = bench.write(from, STRETCH, true)?;
    let mut sent = Sent::NotByHost(String::new());
    for how in how {
        let commands = Command::erase(bench.grant, from, whole, *how)?;
        sent = bench.send(&commands)?;
        if !matches!(sent, Sent::Done(_)) {
            return Ok((sent, None));
        }
    }
    let kept = bench.keeps(from, STRETCH, fill)?;
    Ok((sent, if kept { None } else { Some(bench.content(from, STRETCH)?) }))
}

/// The byte that erased flash reads as.
fn erased_byte<P: Part>(bench: &Bench<'_, P>) -> u8 {
    if bench.register.get(181) == Some(1) { 0xff } else { 0 }
}

/// A row of an erase after which data must be gone.
fn must_be_gone(claims: String, found: (Sent, Option<Content>), byte: u8) -> Found {
    match found {
        (Sent::Refused(why), _) => (claims, Outcome::Fails, format!("refused: {why}")),
        (Sent::NotByHost(why), _) => (claims, Outcome::UnsupportedByHost, why),
        (Sent::Done(_), None) => {
            (claims, Outcome::Fails, "256 KiB were written and erased, and read as they were written".to_owned())
        }
        (Sent::Done(_), Some(Content::Uniform(read))) if read != byte => {
            (claims, Outcome::Fails, format!("reads as {read:#04x}, and ERASED_MEM_CONT says {byte:#04x}"))
        }
        (Sent::Done(_), Some(Content::Varied)) => {
            (claims, Outcome::Fails, "reads as neither what was written nor erased".to_owned())
        }
        (Sent::Done(reply), Some(_)) => {
            (claims, Outcome::Works, format!("256 KiB were written, erased, and read as {byte:#04x}; {}", reply.took))
        }
    }
}

pub(super) fn discard<P: Part>(bench: &mut Bench<'_, P>) -> Row {
    if bench.register.revision() < 6 {
        return Ok(absent("came with 4.5"));
    }
    let claims = "every part from 4.5 on".to_owned();
    Ok(match erased(bench, &[EraseHow::Discard], STRETCH)? {
        (Sent::Refused(why), _) => (claims, Outcome::Fails, format!("refused: {why}")),
        (Sent::NotByHost(why), _) => (claims, Outcome::UnsupportedByHost, why),
        (Sent::Done(_), content) => {
            let reads = if content.is_some() { "reads otherwise now" } else { "reads as before, which is allowed" };
            (claims, Outcome::Works, format!("256 KiB were written and discarded without an error; {reads}"))
        }
    })
}

pub(super) fn trim<P: Part>(bench: &mut Bench<'_, P>) -> Row {
    if !bench.register.has(231, 4) {
        return Ok(absent("none"));
    }
    let byte = erased_byte(bench);
    let found = erased(bench, &[EraseHow::Trim], STRETCH)?;
    Ok(must_be_gone(format!("yes, reads {byte:#04x}"), found, byte))
}

/// Bytes of an erase group; whole ones are erased.
fn group<P: Part>(bench: &Bench<'_, P>) -> Bytes {
    Bytes::kib(512) * bench.register.number(224, 1).unwrap_or(0)
}

pub(super) fn erase<P: Part>(bench: &mut Bench<'_, P>) -> Row {
    let (byte, group) = (erased_byte(bench), group(bench));
    if !super::Asked::LEAST.is_multiple_of(group) || bench.register.get(175) != Some(1) {
        let why =
            format!("erase groups of {group} do not fit the stretch of {} that may be erased", super::Asked::LEAST);
        return Ok(("yes".to_owned(), Outcome::UnsupportedByHost, why));
    }
    let found = erased(bench, &[EraseHow::Erase], group)?;
    Ok(must_be_gone(format!("groups of {group}"), found, byte))
}

pub(super) fn secure<P: Part>(bench: &mut Bench<'_, P>) -> Row {
    if !bench.register.has(231, 0) {
        return Ok(absent("none"));
    }
    let byte = erased_byte(bench);
    let found = erased(bench, &[EraseHow::SecureTrimMark, EraseHow::SecureTrimErase], STRETCH)?;
    Ok(must_be_gone("yes".to_owned(), found, byte))
}

pub(super) fn sanitize<P: Part>(bench: &mut Bench<'_, P>) -> Row {
    if !bench.register.has(231, 6) {
        return Ok(absent("none"));
    }
    let from = bench.asked.from;
    let (_, fill) = bench.write(from, STRETCH, true)?;
    // A part that has what is not mapped any more has something to remove.
    let beside = Command::erase(bench.grant, from + STRETCH, STRETCH, EraseHow::Trim)?;
    bench.write(from + STRETCH, STRETCH, true)?;
    bench.send(&beside)?;
    let command = Command::sanitize(bench.grant, bench.part.facts().capacity)?;
    let claims = "yes".to_owned();
    Ok(match bench.send(&[command])? {
        Sent::Refused(why) => (claims, Outcome::Fails, format!("refused: {why}")),
        Sent::NotByHost(why) => (claims, Outcome::UnsupportedByHost, why),
        Sent::Done(reply) => match bench.keeps(from, STRETCH, fill)? {
            true => (claims, Outcome::Works, format!("took {}; data that stand are as they were", reply.took)),
            false => (claims, Outcome::Fails, "data that were not erased are gone".to_owned()),
        },
    })
}

/// Writes with a word before the transfer, and reads it again.
fn marked<P: Part>(bench: &mut Bench<'_, P>, claims: String, count: BlockCount) -> Row {
    match bench.send(&[Command::set_block_count(count)])? {
        Sent::NotByHost(why) => return Ok((claims, Outcome::UnsupportedByHost, why)),
        Sent::Refused(why) => return Ok((claims, Outcome::Fails, format!("CMD23: {why}"))),
        Sent::Done(_) => {}
    }
    let length = Bytes::kib(4);
    let from = bench.asked.from;
    let (written, fill) = bench.write(from, length, false)?;
    Ok(match (written.outcome.is_done(), written.outcome.is_done() && bench.keeps(from, length, fill)?) {
        (true, true) => {
            (claims, Outcome::Works, format!("4 KiB were written so, and read again; {}", written.service_time()))
        }
        (true, false) => (claims, Outcome::Fails, "4 KiB were written so, and read otherwise".to_owned()),
        (false, _) => (claims, Outcome::Fails, "the transfer failed".to_owned()),
    })
}

pub(super) fn packed<P: Part>(bench: &mut Bench<'_, P>) -> Row {
    match bench.register.get(500).unwrap_or(0) {
        0 => Ok(absent("none")),
        most => marked(bench, format!("{most} writes"), BlockCount::Packed),
    }
}

pub(super) fn reliable<P: Part>(bench: &mut Bench<'_, P>) -> Row {
    let claims = if bench.register.has(166, 2) { "enhanced" } else { "by units of REL_WR_SEC_C" };
    marked(bench, claims.to_owned(), BlockCount::Reliable)
}

pub(super) fn tags<P: Part>(bench: &mut Bench<'_, P>) -> Row {
    match bench.register.get(499).unwrap_or(0) & 1 {
        0 => Ok(absent("none")),
        _ => marked(bench, "yes".to_owned(), BlockCount::Tagged),
    }
}

pub(super) fn contexts<P: Part>(bench: &mut Bench<'_, P>) -> Row {
    let most = bench.register.get(496).unwrap_or(0) & 15;
    if most == 0 {
        return Ok(absent("none"));
    }
    let claims = format!("{most} contexts");
    if let Some((outcome, shown)) = bench.set(Setting::Context(1, true))? {
        return Ok((claims, outcome, shown));
    }
    let row = marked(bench, claims, BlockCount::Context(1));
    bench.send(&[Command::switch(Setting::Context(1, false))])?;
    row
}
