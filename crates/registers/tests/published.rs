//! Published dumps beside what others made of the same bytes (fixtures/README.md names the sources).

use flashscope_registers::{DumpHint, Family, RegisterKind, Registers, Shown, Unit, decode, read_dump, summary};
use std::path::Path;

fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/registers").join(name)).unwrap()
}

fn ext_csd(name: &str) -> Registers {
    read_dump(&fixture(name), DumpHint::default()).unwrap()
}

fn field(registers: &Registers, kind: RegisterKind, name: &str) -> Shown {
    let decoded = decode(registers).into_iter().find(|register| register.kind == kind).unwrap();
    decoded.fields.into_iter().find(|field| field.name == name).unwrap_or_else(|| panic!("no {name}"))
}

#[track_caller]
fn check(registers: &Registers, fields: &[(&str, u64, Unit)]) {
    for (name, value, unit) in fields {
        assert_eq!(field(registers, RegisterKind::ExtCsd, name).figure, Some((*value, *unit)), "{name}");
    }
    for register in decode(registers) {
        assert_eq!(register.problems, [""; 0]);
        let problems: Vec<_> = register.fields.iter().filter(|field| field.problem.is_some()).collect();
        assert!(problems.is_empty(), "{problems:#?}");
    }
}

/// U-Boot printed the bytes, and `mmc extcsd read` the fields of the same part.
#[test]
fn a_part_of_5_1_from_u_boot() {
    let registers = ext_csd("emmc-5.1-samsung.ext_csd.txt");
    let fields = [
        ("SEC_COUNT", 7_634_944 << 10, Unit::Bytes),
        ("CACHE_SIZE", 8192 << 10, Unit::Bytes),
        ("HC_ERASE_GRP_SIZE", 512 << 10, Unit::Bytes),
        ("BOOT_SIZE_MULT", 32 * (128 << 10), Unit::Bytes),
        ("RPMB_SIZE_MULT", 4 * (128 << 10), Unit::Bytes),
    ];
    check(&registers, &fields);
    let words = |name| field(&registers, RegisterKind::ExtCsd, name).words;
    assert_eq!(words("EXT_CSD_REV"), "1.8 (eMMC 5.1)");
    assert_eq!(words("WR_REL_PARAM"), "enhanced reliable write, enhanced RPMB writes");
    assert_eq!(words("HS_TIMING"), "high speed");
    assert_eq!(field(&registers, RegisterKind::ExtCsd, "MAX_ENH_SIZE_MULT").raw, "0001d2");
    let lines = summary(&registers);
    assert!(lines.iter().any(|(_, text)| text.contains("command queue of 16")), "{lines:?}");
    let health = registers.health().unwrap();
    assert_eq!((health.life_time_a, health.life_time_b, health.pre_end_of_life), (Some(1), Some(1), Some(1)));
}

#[test]
fn a_part_of_5_1_in_bare_bytes() {
    let registers = ext_csd("emmc-5.1-58gib.ext_csd.bin");
    let fields = [
        ("SEC_COUNT", 120_832_000 * 512, Unit::Bytes),
        ("CACHE_SIZE", 65_536 * 128, Unit::Bytes),
        ("POWER_OFF_LONG_TIME", 600_000_000, Unit::Nanos),
        ("OPTIMAL_WRITE_SIZE", 128 << 10, Unit::Bytes),
    ];
    check(&registers, &fields);
    assert_eq!(field(&registers, RegisterKind::ExtCsd, "FIRMWARE_VERSION").raw, format!("{:016x}", 283));
}

/// Kernels of its time printed it from the last byte on.
#[test]
fn a_part_of_4_41_from_debugfs() {
    let registers = ext_csd("emmc-4.41.ext_csd.txt");
    let fields = [("SEC_COUNT", 7_503_872 * 512, Unit::Bytes), ("HC_ERASE_GRP_SIZE", 4 << 20, Unit::Bytes)];
    check(&registers, &fields);
    assert_eq!(registers.health(), None, "registers of wear came with 5.0");
}

#[test]
fn cards_and_their_makers_names() {
    let text = String::from_utf8(fixture("cards.txt")).unwrap();
    let mut count = 0;
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split(' ').collect();
        let family = if words[0] == "sd" { Family::Sd } else { Family::Mmc };
        let mut registers = Registers::new(family);
        for (kind, hex) in [RegisterKind::Cid, RegisterKind::Csd, RegisterKind::Scr].into_iter().zip(&words[2..]) {
            let hint = DumpHint { name: "", family: Some(family), register: Some(kind) };
            let read = read_dump(hex.as_bytes(), hint).unwrap();
            assert!(registers.set(kind, read.get(kind).unwrap()));
        }
        // The name of each says how large it is, in the units of shops.
        let shop: u64 =
            words[1].rsplit('_').next().unwrap().trim_end_matches("gb").trim_end_matches("mb").parse().unwrap();
        let unit = if words[1].ends_with("gb") { 1e9 } else { 1e6 };
        let size = summary(&registers).into_iter().find(|(label, _)| *label == "size").unwrap().1;
        let bytes: f64 = size.split(['(', ' ']).nth(3).unwrap().parse().unwrap();
        let ratio = bytes / (shop as f64 * unit);
        assert!((0.9..1.08).contains(&ratio), "{line}: {size}");
        count += 1;
    }
    assert_eq!(count, 17);
    // A name of two characters, a published oddity, and a month that is none.
    let odd = read_dump(
        b"035344544f000000ff000147da00fa01",
        DumpHint { name: "cid", family: Some(Family::Sd), register: None },
    );
    assert_eq!(field(&odd.unwrap(), RegisterKind::Cid, "PNM").words, "\"TO\"");
}

/// Dumps of any bytes, and published ones with bytes changed, are read or refused, and whatever is read can be shown.
#[test]
fn no_dump_is_too_bad_to_be_looked_at() {
    let texts = ["emmc-4.41.ext_csd.txt", "emmc-5.1-samsung.ext_csd.txt", "emmc-5.1-58gib.ext_csd.bin", "cards.txt"]
        .map(fixture);
    let printed = b"Extended CSD rev 1.9 (MMC 5.1)\nCache Size [CACHE_SIZE] is 18446744073709551615 KiB\n[SEC_COUNT: 0xffffffffffffffffff]\n[[[0x";
    let mut state = 18_u64;
    let mut draw = |most: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % most
    };
    let mut shown = 0;
    for turn in 0..4000 {
        let mut bytes = match turn % 6 {
            0 => (0..[4, 8, 16, 64, 512][draw(5)]).map(|_| draw(256) as u8).collect(),
            1 => printed.to_vec(),
            other => texts[other - 2].clone(),
        };
        for _ in 0..draw(8) {
            let at = draw(bytes.len());
            bytes[at] = draw(256) as u8;
        }
        bytes.truncate(if turn % 7 == 0 { draw(bytes.len()) } else { bytes.len() });
        let family = [None, Some(Family::Sd), Some(Family::Mmc)][draw(3)];
        let kind = [None, Some(RegisterKind::Cid), Some(RegisterKind::Csd)][draw(3)];
        if let Ok(registers) = read_dump(&bytes, DumpHint { name: "csd", family, register: kind }) {
            let fields: usize = decode(&registers).iter().map(|register| register.fields.len()).sum();
            shown += usize::from(fields > 0 && !summary(&registers).is_empty());
            assert_eq!(
                read_dump(flashscope_registers::write_dump(&registers).as_bytes(), DumpHint::default()),
                Ok(registers)
            );
        }
    }
    assert!(shown > 500, "{shown}");
}
