//! The first glance: what a part is, how large, and how worn.

use crate::{Cid, Csd, Family, RegisterKind, Registers, Scr, Ssr, Unit, health_words};

/// A few lines with their labels, those that are known.
pub fn summary(registers: &Registers) -> Vec<(&'static str, String)> {
    let hex =
        |kind| registers.get(kind).map(|bytes| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
    let mut lines = vec![("part", part(registers, hex(RegisterKind::Cid).as_deref()))];
    let csd = hex(RegisterKind::Csd).and_then(|hex| Csd::parse(registers.family, &hex));
    let mut size = csd.as_ref().and_then(|csd| csd.capacity).map(|bytes| bytes.get());
    if let Some(register) = &registers.ext_csd {
        let figure = |at, length, factor, unit: Unit| {
            register.number(at, length).filter(|number| *number > 0).map(|number| unit.words(number * factor))
        };
        size = register.number(212, 4).filter(|sectors| *sectors > 0).map(|sectors| sectors * 512).or(size);
        let groups = |of: &str, text: Option<String>| text.map(|text| format!("{of} {text}"));
        let erase = register.number(224, 1).unwrap_or(0) * (512 << 10);
        let areas = [
            groups("boot partitions 2 ×", figure(226, 1, 128 << 10, Unit::Bytes)),
            groups("RPMB", figure(168, 1, 128 << 10, Unit::Bytes)),
            groups("erase group", (erase > 0).then(|| Unit::Bytes.words(erase))),
            groups("write-protect group", figure(221, 1, erase, Unit::Bytes).filter(|_| erase > 0)),
        ];
        lines.push(("areas", joined(areas)));
        let depth = register.get(307).filter(|_| register.get(308) == Some(1)).map(|depth| (depth & 31) + 1);
        let control = |at| if register.get(at) == Some(1) { "on" } else { "off" };
        lines.push((
            "cache",
            joined([
                figure(249, 4, 128, Unit::Bytes).map(|size| format!("{size}, {}", control(33))),
                depth.map(|depth| format!("command queue of {depth}")),
            ]),
        ));
    }
    if let Some(ssr) = hex(RegisterKind::Ssr).and_then(|hex| Ssr::parse(&hex)) {
        let unit = ssr.allocation_unit.map(|unit| format!("allocation unit {unit}"));
        lines.push(("speed", joined([ssr.classes(), unit])));
    }
    let health = registers.health().map(|health| health_words(&health).join("; "));
    let none = match registers.family {
        Family::Sd => "an SD card has no register of wear",
        Family::Mmc => "the registers of wear say nothing (before 5.0, or not defined)",
    };
    let is_told = registers.family == Family::Sd || registers.ext_csd.is_some();
    lines.push(("health", health.unwrap_or_else(|| if is_told { none.to_owned() } else { String::new() })));
    lines.insert(
        1,
        ("size", size.map_or_else(String::new, |size| format!("{} ({size} bytes)", Unit::Bytes.words(size)))),
    );
    lines.retain(|(_, text)| !text.is_empty());
    lines
}

fn part(registers: &Registers, cid: Option<&str>) -> String {
    let cid = cid.and_then(|hex| Cid::parse(registers.family, hex));
    let scr = registers
        .get(RegisterKind::Scr)
        .map(|bytes| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
    let kind = match registers.family {
        Family::Sd => match scr.and_then(|hex| Scr::parse(&hex)).and_then(|scr| scr.version) {
            Some(version) => format!("SD card, specification {version}"),
            None => "SD card".to_owned(),
        },
        Family::Mmc => match registers.ext_csd.as_ref().and_then(|register| register.get(192)) {
            Some(8) => "eMMC 5.1".to_owned(),
            Some(7) => "eMMC 5.0".to_owned(),
            Some(6) => "eMMC 4.5".to_owned(),
            Some(5) => "eMMC 4.41".to_owned(),
            Some(revision) => format!("MMC, EXT_CSD revision 1.{revision}"),
            None => "MMC".to_owned(),
        },
    };
    let Some(cid) = cid else { return kind };
    joined([
        Some(kind),
        cid.manufacturer_name
            .map_or_else(|| Some(format!("manufacturer {:#04x}", cid.manufacturer)), |name| Some(name.to_owned())),
        Some(cid.product).filter(|name| !name.is_empty()),
        Some(format!("serial {:#010x}", cid.serial)),
        cid.made.map(|date| format!("made {date}")),
    ])
}

fn joined(parts: impl IntoIterator<Item = Option<String>>) -> String {
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
