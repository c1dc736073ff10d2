//! What registers say by themselves, beside each other and beside what the host sees.

use super::{Bench, CheckError, Found, Outcome, absent};
use crate::{Part, Unit};

type Row = Result<Found, CheckError>;

pub(super) fn revision<P: Part>(bench: &mut Bench<'_, P>) -> Row {
    let name = |revision| match revision {
        6 => "4.5".to_owned(),
        7 => "5.0".to_owned(),
        8 => "5.1".to_owned(),
        other => format!("revision 1.{other}"),
    };
    let (is, wanted) = (bench.register.revision(), bench.asked.revision);
    let outcome = if is >= wanted { Outcome::Works } else { Outcome::Fails };
    Ok((format!("eMMC {}", name(is)), outcome, format!("EXT_CSD_REV, held against {}", name(wanted))))
}

pub(super) fn capacity<P: Part>(bench: &mut Bench<'_, P>) -> Row {
    let claimed = bench.register.number(212, 4).unwrap_or(0) * 512;
    let seen = bench.part.facts().capacity.get();
    if claimed == 0 {
        return Ok(absent("SEC_COUNT is 0: the CSD has the size"));
    }
    let outcome = if claimed == seen { Outcome::Works } else { Outcome::Fails };
    Ok((Unit::Bytes.words(claimed), outcome, format!("the host sees {}", Unit::Bytes.words(seen))))
}

pub(super) fn rpmb<P: Part>(bench: &mut Bench<'_, P>) -> Row {
    match bench.register.get(168).unwrap_or(0) {
        0 => Ok(absent("no RPMB")),
        size => {
            let why = "read only by its size: its counter is reached over a device of its own, which is not opened";
            Ok((Unit::Bytes.words(u64::from(size) << 17), Outcome::UnsupportedByHost, why.to_owned()))
        }
    }
}

pub(super) fn production<P: Part>(bench: &mut Bench<'_, P>) -> Row {
    let most = bench.register.number(18, 4).unwrap_or(0);
    if bench.register.revision() < 7 || most == 0 {
        return Ok(absent("MAX_PRE_LOADING_DATA_SIZE is 0"));
    }
    let state = bench.register.get(133).unwrap_or(0);
    let loaded = bench.register.number(22, 4).unwrap_or(0);
    let claims = format!("up to {most} sectors before soldering");
    if loaded > most {
        return Ok((claims, Outcome::Fails, format!("PRE_LOADING_DATA_SIZE is {loaded}, above what may be")));
    }
    Ok((claims, Outcome::UnsupportedByHost, format!("state {state}; what enables it is written once")))
}

pub(super) fn strobe<P: Part>(bench: &mut Bench<'_, P>) -> Row {
    let (claimed, runs) = (bench.register.get(184) == Some(1), bench.register.has(183, 7));
    match (claimed, runs) {
        (false, true) => Ok(("none".to_owned(), Outcome::Fails, "BUS_WIDTH says that the bus runs with it".to_owned())),
        (false, false) => Ok(absent("none")),
        (true, true) => Ok(("yes".to_owned(), Outcome::Works, "the bus runs with it".to_owned())),
        (true, false) => {
            Ok(("yes".to_owned(), Outcome::UnsupportedByHost, "the host runs the bus without it".to_owned()))
        }
    }
}

pub(super) fn bus<P: Part>(bench: &mut Bench<'_, P>) -> Row {
    /// Modes as `DEVICE_TYPE` has them: name, the bits of which one must be set, `HS_TIMING`.
    const MODES: [(&str, u8, u8); 3] = [("high speed", 0x0f, 1), ("HS200", 0x30, 2), ("HS400", 0xc0, 3)];
    let types = bench.register.get(196).unwrap_or(0);
    let claimed: Vec<&str> = MODES.iter().filter(|(_, bits, _)| types & bits != 0).map(|(name, ..)| *name).collect();
    let timing = bench.register.get(185).unwrap_or(0) & 0xf;
    let claims = if claimed.is_empty() { "backwards compatible".to_owned() } else { claimed.join(", ") };
    Ok(match MODES.iter().find(|(.., number)| *number == timing) {
        Some((name, bits, _)) if types & bits == 0 => {
            (claims, Outcome::Fails, format!("HS_TIMING says that it runs {name}"))
        }
        Some((name, ..)) => {
            (claims, Outcome::Works, format!("runs {name}; others were not tried, as the host has the bus"))
        }
        None => (claims, Outcome::UnsupportedByHost, "runs backwards compatible; the host has the bus".to_owned()),
    })
}

pub(super) fn reset<P: Part>(bench: &mut Bench<'_, P>) -> Row {
    let how = "the line is the host's, and enabling it is for good: not tried";
    Ok(match bench.register.get(162).unwrap_or(0) & 3 {
        0 => ("not enabled".to_owned(), Outcome::UnsupportedByHost, how.to_owned()),
        1 => {
            ("enabled for good".to_owned(), Outcome::UnsupportedByHost, "the line is the host's: not tried".to_owned())
        }
        2 => absent("disabled for good"),
        other => ("reserved".to_owned(), Outcome::Fails, format!("RST_n_FUNCTION is {other}, which is reserved")),
    })
}

pub(super) fn firmware<P: Part>(bench: &mut Bench<'_, P>) -> Row {
    if !bench.register.has(493, 0) {
        return Ok(absent("none"));
    }
    let version = bench.register.number(254, 8).unwrap_or(0);
    let state = if bench.register.has(169, 0) { "disabled for good" } else { "enabled" };
    let shown = format!("version {version:#x}, updates {state}; nothing is ever sent");
    Ok(("yes".to_owned(), Outcome::UnsupportedByHost, shown))
}

pub(super) fn boot<P: Part>(bench: &mut Bench<'_, P>) -> Row {
    let claimed = u64::from(bench.register.get(226).unwrap_or(0)) << 17;
    if claimed == 0 {
        return Ok(absent("none"));
    }
    let claims = format!("2 × {}", Unit::Bytes.words(claimed));
    Ok(match bench.part.boot_partition() {
        None => (claims, Outcome::UnsupportedByHost, "the host shows none".to_owned()),
        Some(seen) if seen.get() == claimed => (claims, Outcome::Works, "the host sees as much".to_owned()),
        Some(seen) => (claims, Outcome::Fails, format!("the host sees {}", Unit::Bytes.words(seen.get()))),
    })
}

pub(super) fn areas<P: Part>(bench: &mut Bench<'_, P>) -> Row {
    let register = &bench.register;
    let support = register.get(160).unwrap_or(0) & 1;
    let groups = |at| register.number(at, 3).unwrap_or(0);
    let (user, most) = (groups(140), groups(157));
    let partitions = (0..4).filter(|number| groups(143 + 3 * number) > 0).count();
    let set_up = format!("{user} groups of the user area enhanced, {partitions} general-purpose partitions; read only");
    Ok(match (support, user > 0 || partitions > 0) {
        (0, true) => ("none".to_owned(), Outcome::Fails, set_up),
        (0, false) => absent("none"),
        (_, _) if most > 0 && user > most => (format!("up to {most} groups"), Outcome::Fails, set_up),
        (_, _) => (
            format!("up to {most} groups"),
            Outcome::UnsupportedByHost,
            format!("{set_up}, as setting them up is for good"),
        ),
    })
}
