//! The decoders against published cards: the field logs print each card's raw registers beside what Linux made of them.

use flashscope_registers::{Cid, Csd, Family, Month};
use flashscope_units::Bytes;
use std::fs;
use std::path::Path;

/// The value after `name:` in a log's first line.
fn field<'a>(line: &'a str, name: &str) -> &'a str {
    let start = line.find(&format!("{name}:")).unwrap_or_else(|| panic!("no {name} in {line}")) + name.len() + 1;
    line[start..].split_whitespace().next().unwrap_or("")
}

fn number(line: &str, name: &str) -> u32 {
    u32::from_str_radix(field(line, name).trim_start_matches("0x"), 16).unwrap()
}

#[test]
fn every_published_card_decodes_to_what_is_printed_beside_it() {
    let logs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/field");
    let (mut cards, mut sizes) = (0, 0);
    for entry in fs::read_dir(logs).unwrap() {
        let log = fs::read_to_string(entry.unwrap().path()).unwrap();
        let Some(line) = log.lines().find(|line| line.contains("cid:")) else { continue };
        let cid = Cid::parse(Family::Sd, field(line, "cid")).unwrap();
        let (month, year) = field(line, "date").split_once('/').unwrap();
        assert_eq!(u32::from(cid.manufacturer), number(line, "man"), "{line}");
        assert_eq!(u32::from(cid.oem), number(line, "oem"), "{line}");
        assert_eq!(cid.product, field(line, "name"), "{line}");
        assert_eq!(u32::from(cid.revision.0), number(line, "hwrev"), "{line}");
        assert_eq!(u32::from(cid.revision.1), number(line, "fwrev"), "{line}");
        assert_eq!(cid.made, Some(Month { year: year.parse().unwrap(), month: month.parse().unwrap() }), "{line}");
        cards += 1;
        if let Some(size) = printed_size(&log) {
            assert_eq!(Csd::parse(Family::Sd, field(line, "csd")).unwrap().capacity, Some(size), "{line}");
            sizes += 1;
        }
    }
    assert!(cards >= 15 && sizes >= 9, "{cards} cards, {sizes} with a size");
}

/// The size in bytes that fdisk (in whatever language) printed.
fn printed_size(log: &str) -> Option<Bytes> {
    let line = log.lines().find(|line| line.contains("/dev/mmcblk") && line.contains(", "))?;
    line.split(", ").find_map(|part| part.split_whitespace().next()?.parse().ok()).filter(|n| *n > 1 << 30).map(Bytes)
}
