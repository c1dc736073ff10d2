//! Every field of every register in words, and what is wrong with it.

use crate::bits::Register;
use crate::field::{Access, Field, Meaning, Unit};
use crate::{Family, RegisterKind, Registers, table};

/// A register and its fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// Which one.
    pub kind: RegisterKind,
    /// Where the standard has it.
    pub section: &'static str,
    /// Its bytes as hexadecimal digits, `..` for one that is not known.
    pub hex: String,
    /// Its fields, the highest place first. Those that are reserved are there only where they are not 0.
    pub fields: Vec<Shown>,
    /// What is wrong with the register as a whole.
    pub problems: Vec<String>,
}

/// A field and what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The name that the standard gives it.
    pub name: &'static str,
    /// The highest and the lowest bit; of EXT_CSD the highest and the lowest byte.
    pub place: (u16, u16),
    /// The number in it as hexadecimal digits, the most significant first.
    pub raw: String,
    /// What that means; empty where it means nothing.
    pub words: String,
    /// The same as a figure, where it is one.
    pub figure: Option<(u64, Unit)>,
    /// Who may write it.
    pub access: Access,
    /// What is wrong with it: a reserved value, one out of range, one of a later revision.
    pub problem: Option<String>,
}

/// What all registers that are known say.
pub fn decode(registers: &Registers) -> Vec<Decoded> {
    registers.kinds().map(|kind| register(registers, kind)).collect()
}

fn register(registers: &Registers, kind: RegisterKind) -> Decoded {
    let bytes = registers.get(kind).unwrap_or_default();
    let family = registers.family;
    let fields = table::of(kind, family, bytes[0] >> 6);
    let revision =
        registers.ext_csd.as_ref().filter(|_| kind == RegisterKind::ExtCsd).map(|register| register.revision());
    let hex = match &registers.ext_csd {
        Some(register) if kind == RegisterKind::ExtCsd => register.hex(),
        _ => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
    };
    let shown = fields.iter().filter_map(|field| {
        let bytes = match (&registers.ext_csd, kind) {
            (Some(register), RegisterKind::ExtCsd) => {
                let places = usize::from(field.at)..usize::from(field.at + field.length);
                places.map(|at| register.get(at)).collect::<Option<Vec<u8>>>()?
            }
            _ => bits(bytes, field.at, field.length),
        };
        show(field, &bytes, revision)
    });
    Decoded { kind, section: kind.section(family), hex, fields: shown.collect(), problems: problems(registers, kind) }
}

fn show(field: &Field, bytes: &[u8], revision: Option<u8>) -> Option<Shown> {
    let mut said = field.meaning.say(bytes);
    let is_zero = bytes.iter().all(|byte| *byte == 0);
    if matches!(field.meaning, Meaning::Reserved) && is_zero {
        return None;
    }
    // A later revision defines it; what an earlier one has there is the maker's.
    if let Some(revision) = revision.filter(|revision| *revision < field.since && *revision <= 8) {
        if is_zero {
            return None;
        }
        said.problem =
            Some(format!("not 0, though revision 1.{} brought it and the part follows 1.{revision}", field.since));
    }
    Some(Shown {
        name: field.name,
        place: (field.at + field.length - 1, field.at),
        raw: bytes.iter().rev().map(|byte| format!("{byte:02x}")).collect(),
        words: said.words,
        figure: said.figure,
        access: field.access,
        problem: said.problem,
    })
}

/// Numbered bits as bytes, the least significant first.
fn bits(bytes: &[u8], at: u16, length: u16) -> Vec<u8> {
    let bit = |at: u16| bytes[bytes.len() - 1 - usize::from(at / 8)] >> (at % 8) & 1;
    let byte = |from: u16| (from..(from + 8).min(at + length)).rev().fold(0, |byte, at| byte << 1 | bit(at));
    (0..length.div_ceil(8)).map(|number| byte(at + 8 * number)).collect()
}

/// What is wrong with a register as a whole.
fn problems(registers: &Registers, kind: RegisterKind) -> Vec<String> {
    let bytes = registers.get(kind).unwrap_or_default();
    let mut problems = Vec::new();
    for (value, what) in [(0, "zeroes"), (0xff, "ones")] {
        // A card of class 0 that defines nothing else has a status of zeroes.
        if value == 0 && matches!(kind, RegisterKind::Ssr) {
            continue;
        }
        if bytes.iter().all(|byte| *byte == value) {
            problems.push(format!("nothing but {what}: no part answered, or the dump is empty"));
            return problems;
        }
    }
    match kind {
        RegisterKind::Cid | RegisterKind::Csd => problems.extend(checksum(bytes)),
        RegisterKind::ExtCsd => problems.extend(contradictions(registers)),
        _ => {}
    }
    problems
}

/// The checksum of a CID or CSD. Many hosts leave it out: then it is 0, and says nothing.
fn checksum(bytes: &[u8]) -> Option<String> {
    let (last, rest) = bytes.split_last()?;
    let wanted = crc7(rest);
    (last >> 1 != 0 && last >> 1 != wanted)
        .then(|| format!("the checksum is {:#04x}, and the bytes give {wanted:#04x}", last >> 1))
}

/// x⁷ + x³ + 1, from 0 (SD Physical Layer 4.5).
fn crc7(bytes: &[u8]) -> u8 {
    let bits = bytes.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1));
    bits.fold(0, |crc, bit| {
        let carry = crc >> 6 & 1 ^ bit;
        (crc << 1 & 0x7f) ^ if carry == 1 { 0x09 } else { 0 }
    })
}

/// What EXT_CSD says at two places in two ways.
fn contradictions(registers: &Registers) -> Vec<String> {
    let mut said = Vec::new();
    let Some(register) = &registers.ext_csd else { return said };
    let number = |at, length| register.number(at, length);
    match register.get(192) {
        None => said.push("the revision is not known: fields are taken as those of 1.8 (eMMC 5.1)".to_owned()),
        Some(revision @ (4 | 9..)) => {
            said.push(format!("revision 1.{revision} is not known: fields are taken as those of 1.8 (eMMC 5.1)"));
        }
        Some(_) => {}
    }
    if number(212, 4) == Some(0) && register.revision() >= 2 {
        let csd = registers.get(RegisterKind::Csd).and_then(|bytes| <[u8; 16]>::try_from(bytes).ok()).map(Register);
        if csd.is_none_or(|csd| csd.bits(73, 62) == 0xfff) {
            said.push("SEC_COUNT is 0, and no CSD states a size: the part has no size".to_owned());
        }
    }
    // All areas that are set up count against the most that may be (in units of write-protect groups).
    let gp =
        (0..4).filter(|part| register.has(156, part + 1)).filter_map(|part| number(143 + 3 * usize::from(part), 3));
    let enhanced = number(140, 3).map(|user| user + gp.sum::<u64>());
    if let (Some(enhanced), Some(most)) = (enhanced, number(157, 3))
        && enhanced > most
    {
        said.push(format!("enhanced areas of {enhanced} groups, and MAX_ENH_SIZE_MULT allows {most}"));
    }
    let areas = [140, 143, 146, 149, 152].into_iter().any(|at| number(at, 3).is_some_and(|groups| groups > 0));
    if areas && register.get(160).is_some() && !register.has(160, 0) {
        said.push("areas are set up, and PARTITIONING_SUPPORT says that the part has none".to_owned());
    }
    if register.get(33) == Some(1) && number(249, 4) == Some(0) {
        said.push("CACHE_CTRL is on, and CACHE_SIZE says that there is no cache".to_owned());
    }
    if register.get(15) == Some(1) && register.get(308) == Some(0) {
        said.push("CMDQ_MODE_EN is on, and CMDQ_SUPPORT says that there is no queue".to_owned());
    }
    if register.has(183, 7) && register.get(184) == Some(0) {
        said.push("BUS_WIDTH runs with enhanced strobe, and STROBE_SUPPORT says that there is none".to_owned());
    }
    if let (Some(timing), Some(types)) = (register.get(185), register.get(196)) {
        let (mode, claimed) = match timing & 0xf {
            1 => ("high speed", types & 0x03),
            2 => ("HS200", types & 0x30),
            3 => ("HS400", types & 0xc0),
            _ => ("", 1),
        };
        if claimed == 0 {
            said.push(format!("HS_TIMING runs {mode}, and DEVICE_TYPE does not have it"));
        }
    }
    said
}

/// Whether a family has a register at all.
pub(crate) fn belongs(kind: RegisterKind, family: Family) -> bool {
    match kind {
        RegisterKind::ExtCsd => family == Family::Mmc,
        RegisterKind::Scr | RegisterKind::Ssr => family == Family::Sd,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cid(family: Family, hex: &str) -> Decoded {
        let mut registers = Registers::new(family);
        let bytes = Register::<16>::parse(hex).unwrap().0;
        assert!(registers.set(RegisterKind::Cid, &bytes));
        decode(&registers).remove(0)
    }

    #[test]
    fn checksums() {
        // SD Physical Layer 4.5: CMD0 has 0x4a, CMD17 with argument 0 has 0x2a.
        assert_eq!(crc7(&[0x40, 0, 0, 0, 0]), 0x4a);
        assert_eq!(crc7(&[0x51, 0, 0, 0, 0]), 0x2a);
        // A published card with its checksum, the same without, and with a bit of the name flipped.
        assert_eq!(cid(Family::Sd, "03534453553034478022ed3d8100db00").problems, [""; 0]);
        let right = crc7(&Register::<16>::parse("03534453553034478022ed3d8100db00").unwrap().0[..15]) << 1 | 1;
        assert_eq!(cid(Family::Sd, &format!("03534453553034478022ed3d8100db{right:02x}")).problems, [""; 0]);
        assert_eq!(cid(Family::Sd, &format!("03534452553034478022ed3d8100db{right:02x}")).problems.len(), 1);
    }

    #[test]
    fn a_register_of_nothing_is_no_part() {
        assert!(cid(Family::Mmc, &"0".repeat(32)).problems[0].contains("zeroes"));
        assert!(cid(Family::Mmc, &"f".repeat(32)).problems[0].contains("ones"));
    }

    #[test]
    fn a_status_of_zeroes_is_of_a_card_that_defines_nothing() {
        let problems = |digit: &str| {
            let mut registers = Registers::new(Family::Sd);
            let bytes = Register::<64>::parse(&digit.repeat(128)).unwrap().0;
            assert!(registers.set(RegisterKind::Ssr, &bytes));
            decode(&registers).remove(0).problems
        };
        assert_eq!(problems("0"), [""; 0]);
        assert!(problems("f")[0].contains("ones"));
    }

    #[test]
    fn bits_that_cross_bytes() {
        assert_eq!(bits(&[0x12, 0x34], 4, 8), [0x23]);
        assert_eq!(bits(&[0x12, 0x34], 3, 12), [0x46, 0x02]);
    }
}
