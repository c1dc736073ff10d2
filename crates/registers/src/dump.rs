//! Dumps of registers: our own form, hexadecimal digits in the forms that programs print, what `mmc extcsd read` prints, and bare bytes.

use crate::decode::belongs;
use crate::{EXT_CSD_BYTES, ExtCsd, Family, RegisterKind, Registers, table};
use std::fmt;

/// The first line of our own form.
const HEAD: &str = "flashscope registers 1";

/// What is known of a dump beside its bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct DumpHint<'a> {
    /// The file's name: `cid` and `csd` are of one length, and told apart by it.
    pub name: &'a str,
    /// SD or MMC, where it was said.
    pub family: Option<Family>,
    /// Which register it is, where it was said.
    pub register: Option<RegisterKind>,
}

/// Why a dump cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DumpError {
    /// No register has so many bytes.
    Length {
        /// How many there are.
        found: usize,
        /// The register that was named.
        wanted: Option<RegisterKind>,
    },
    /// 16 bytes, which may be a CID or a CSD.
    CidOrCsd,
    /// SD cards and MMC parts have this register in two layouts.
    SdOrMmc,
    /// A register that the family does not have.
    NotOfFamily(RegisterKind, Family),
    /// Neither hexadecimal digits nor a form that is known.
    Form {
        /// The line, counted from 1.
        line: usize,
        /// What is wrong with it.
        why: String,
    },
}

impl fmt::Display for DumpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DumpError::Length { found, wanted: Some(kind) } => {
                write!(f, "{} has {} bytes, and this dump {found}\nhint: it is cut short, or of another register", kind.word(), kind.bytes())
            }
            DumpError::Length { found, wanted: None } => write!(
                f,
                "no register has {found} bytes (EXT_CSD has 512, SSR 64, CID and CSD 16, SCR 8, OCR 4)\nhint: the dump is cut short, or in a form that is not known; hexadecimal digits, bare bytes and what `mmc extcsd read` prints are"
            ),
            DumpError::CidOrCsd => {
                f.write_str("16 bytes may be a CID or a CSD\nhint: say which with --register cid or --register csd")
            }
            DumpError::SdOrMmc => {
                f.write_str("SD cards and MMC parts have this register in two layouts\nhint: say which with --family sd or --family mmc")
            }
            DumpError::NotOfFamily(kind, Family::Sd) => write!(f, "an SD card has no {}\nhint: leave --family out", kind.word()),
            DumpError::NotOfFamily(kind, Family::Mmc) => write!(f, "an MMC part has no {}\nhint: leave --family out", kind.word()),
            DumpError::Form { line, why } => write!(f, "line {line}: {why}"),
        }
    }
}

impl std::error::Error for DumpError {}

/// Reads a dump in whichever form it has.
///
/// # Errors
/// It has none of the forms, or too few or too many bytes, or it cannot be told which register it is.
pub fn read_dump(bytes: &[u8], hint: DumpHint<'_>) -> Result<Registers, DumpError> {
    let is_text = bytes.iter().all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace() || *byte >= 0x80);
    let text = std::str::from_utf8(bytes).ok().filter(|_| is_text);
    // It prints the bytes of the firmware's version as they are.
    let theirs = String::from_utf8_lossy(bytes);
    match text {
        Some(text) if text.starts_with(HEAD) => own(text),
        _ if theirs.contains("Extended CSD rev") => Ok(printed(&theirs)),
        Some(text) => one(&digits(text)?, hint),
        None => one(bytes, hint),
    }
}

/// The text of our own form: a line a register.
pub fn write_dump(registers: &Registers) -> String {
    let family = if registers.family == Family::Sd { "sd" } else { "mmc" };
    let mut text = format!("{HEAD}\nfamily {family}\n");
    for kind in registers.kinds() {
        let hex = match (&registers.ext_csd, kind) {
            (Some(register), RegisterKind::ExtCsd) => register.hex(),
            _ => registers.get(kind).unwrap_or_default().iter().map(|byte| format!("{byte:02x}")).collect(),
        };
        text.push_str(&format!("{} {hex}\n", kind.word()));
    }
    text
}

/// One register by itself.
fn one(bytes: &[u8], hint: DumpHint<'_>) -> Result<Registers, DumpError> {
    let by_name = || {
        let name = hint.name.to_ascii_lowercase();
        let name = name.rsplit('/').next().unwrap_or_default();
        if name.contains("cid") { Some(RegisterKind::Cid) } else { name.contains("csd").then_some(RegisterKind::Csd) }
    };
    let kind = match (hint.register, bytes.len()) {
        (Some(kind), length) if length == kind.bytes() => kind,
        (Some(_), found) => return Err(DumpError::Length { found, wanted: hint.register }),
        (None, 16) => by_name().ok_or(DumpError::CidOrCsd)?,
        (None, found) => {
            let kind = RegisterKind::ALL.into_iter().find(|kind| kind.bytes() == found);
            kind.ok_or(DumpError::Length { found, wanted: None })?
        }
    };
    let told = match kind {
        RegisterKind::ExtCsd => Some(Family::Mmc),
        RegisterKind::Scr | RegisterKind::Ssr => Some(Family::Sd),
        // Only MMC has these structures; 0 and 1 are both families'.
        RegisterKind::Csd if bytes[0] >> 6 == 3 => Some(Family::Mmc),
        _ => None,
    };
    let family = hint.family.or(told).ok_or(DumpError::SdOrMmc)?;
    if !belongs(kind, family) {
        return Err(DumpError::NotOfFamily(kind, family));
    }
    let mut registers = Registers::new(family);
    match kind {
        RegisterKind::ExtCsd if is_turned(bytes) => {
            registers.set(kind, &bytes.iter().rev().copied().collect::<Vec<u8>>())
        }
        _ => registers.set(kind, bytes),
    };
    Ok(registers)
}

/// Whether EXT_CSD begins with its last byte: debugfs of Linux before 3.17 printed it so. Bytes 511 to 506 are reserved in every
/// revision, `S_CMD_SET` (504) always has its lowest bit set, and `EXT_CSD_REV` (192) is a small number; from the other end there must not
/// be as much sense.
fn is_turned(bytes: &[u8]) -> bool {
    let makes_sense = |at: fn(usize) -> usize| {
        let reserved = (506..EXT_CSD_BYTES).all(|place| bytes[at(place)] == 0);
        reserved && bytes[at(504)] & 1 == 1 && (1..=8).contains(&bytes[at(192)])
    };
    makes_sense(|place| EXT_CSD_BYTES - 1 - place) && !makes_sense(|place| place)
}

fn own(text: &str) -> Result<Registers, DumpError> {
    let wrong = |line: usize, why: &str| DumpError::Form { line: line + 1, why: why.to_owned() };
    let mut lines = text.lines().enumerate().skip(1).filter(|(_, line)| !line.trim().is_empty());
    let family = match lines.next() {
        Some((_, "family sd")) => Family::Sd,
        Some((_, "family mmc")) => Family::Mmc,
        _ => return Err(wrong(1, "must say `family sd` or `family mmc`")),
    };
    let mut registers = Registers::new(family);
    for (number, line) in lines {
        let (word, hex) = line.split_once(' ').unwrap_or((line, ""));
        let kind = RegisterKind::ALL.into_iter().find(|kind| kind.word() == word);
        let kind = kind.ok_or_else(|| wrong(number, "names no register"))?;
        if !belongs(kind, family) {
            return Err(DumpError::NotOfFamily(kind, family));
        }
        let hex = hex.trim();
        if !hex.is_ascii() || hex.len() != 2 * kind.bytes() {
            return Err(DumpError::Length { found: hex.len() / 2, wanted: Some(kind) });
        }
        let pairs = (0..kind.bytes()).map(|at| &hex[2 * at..2 * at + 2]);
        let bytes: Vec<Option<u8>> = pairs.clone().map(byte_of).collect();
        if pairs.zip(&bytes).any(|(pair, byte)| byte.is_none() && (pair != ".." || kind != RegisterKind::ExtCsd)) {
            return Err(wrong(number, "has something else than hexadecimal digits"));
        }
        if kind == RegisterKind::ExtCsd {
            let mut register = ExtCsd::unknown();
            bytes.iter().enumerate().for_each(|(at, byte)| byte.iter().for_each(|byte| register.put(at, *byte)));
            registers.ext_csd = Some(register);
        } else {
            registers.set(kind, &bytes.into_iter().flatten().collect::<Vec<u8>>());
        }
    }
    if registers.kinds().next().is_none() {
        return Err(wrong(1, "the file ends before the first register"));
    }
    Ok(registers)
}

fn byte_of(pair: &str) -> Option<u8> {
    pair.bytes().all(|digit| digit.is_ascii_hexdigit()).then(|| u8::from_str_radix(pair, 16).ok()).flatten()
}

/// The bytes of a text of hexadecimal digits: one long word, pairs, words with `0x`; with or without the offset before a line, as
/// debugfs, U-Boot, `hexdump`, `od` and `xxd` print them. Lines that hold anything else are passed over.
fn digits(text: &str) -> Result<Vec<u8>, DumpError> {
    let mut bytes = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if line.trim() == "*" {
            let why =
                "a `*` stands for lines that were left out\nhint: dump again with `hexdump -v` or `od -v`".to_owned();
            return Err(DumpError::Form { line: number + 1, why });
        }
        let line = line.split('|').next().unwrap_or_default();
        let (has_offset, rest) = match line.split_once(':') {
            Some((offset, rest))
                if !offset.trim().is_empty() && offset.trim().bytes().all(|c| c.is_ascii_hexdigit()) =>
            {
                (true, rest)
            }
            _ => (false, line),
        };
        let mut words: Vec<&str> =
            rest.split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty()).collect();
        // `hexdump -C` and `od` have no colon behind the offset.
        if !has_offset && words.len() > 1 && words[0].len() >= 7 && words[1..].iter().all(|word| word.len() == 2) {
            words.remove(0);
        }
        // `xxd`: eight groups of two bytes, and then what they are as characters.
        if has_offset && words.first().is_some_and(|word| word.len() == 4) {
            let is_group = |word: &str| word.len() == 4 && word.bytes().all(|digit| digit.is_ascii_hexdigit());
            words.truncate(words.iter().take(8).take_while(|word| is_group(word)).count());
        }
        let is_end = words.len() == 1 && matches!(words[0].len(), 7 | 8) && !bytes.is_empty();
        if is_end {
            continue;
        }
        bytes.extend(words.iter().map(|word| of_word(word)).collect::<Option<Vec<_>>>().unwrap_or_default().concat());
    }
    Ok(bytes)
}

fn of_word(word: &str) -> Option<Vec<u8>> {
    let bare = word.strip_prefix("0x").unwrap_or(word);
    if bare.len() == 1 && bare.len() < word.len() {
        return Some(vec![u8::from_str_radix(bare, 16).ok()?]);
    }
    let is_whole = !bare.is_empty() && bare.len().is_multiple_of(2) && bare.is_ascii();
    is_whole.then(|| (0..bare.len() / 2).map(|at| byte_of(&bare[2 * at..2 * at + 2])).collect())?
}

/// What `mmc extcsd read` prints: a name and a number in brackets, as `[CACHE_CTRL]: 0x01` or `[TRIM_MULT: 0x02]`. It leaves fields out,
/// which stay unknown; and it gives a few another name than the standard does.
fn printed(text: &str) -> Registers {
    const OTHER: [(&str, &str); 11] = [
        ("BOOT_SIZE_MULTI", "BOOT_SIZE_MULT"),
        ("CARD_TYPE", "DEVICE_TYPE"),
        ("RST_N_FUNCTION", "RST_n_FUNCTION"),
        ("BOOT_BUS_WIDTH", "BOOT_BUS_CONDITIONS"),
        ("ERASE_TIMEOUT", "ERASE_TIMEOUT_MULT"),
        ("HPI_FEATURE", "HPI_FEATURES"),
        ("PWR_CL_200_360", "PWR_CL_200_195"),
        ("PWR_CL_200_195", "PWR_CL_200_130"),
        ("EXT_CSD_DEVICE_LIFE_TIME_EST_TYP_A", "DEVICE_LIFE_TIME_EST_TYP_A"),
        ("EXT_CSD_DEVICE_LIFE_TIME_EST_TYP_B", "DEVICE_LIFE_TIME_EST_TYP_B"),
        ("EXT_CSD_PRE_EOL_INFO", "PRE_EOL_INFO"),
    ];
    let mut register = ExtCsd::unknown();
    let mut put = |at: usize, length: usize, number: u64| {
        (0..length.min(8)).for_each(|byte| register.put(at + byte, (number >> (8 * byte)) as u8));
    };
    for line in text.lines() {
        if let Some(revision) = line.trim().strip_prefix("Extended CSD rev 1.") {
            revision
                .split(' ')
                .next()
                .and_then(|number| number.parse().ok())
                .into_iter()
                .for_each(|number| put(192, 1, number));
        }
        let Some((_, rest)) = line.split_once('[') else { continue };
        let name: String = rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
        let Some((_, number)) = rest.split_once("0x") else {
            // Two that are printed as what they mean.
            let figure = rest.split_whitespace().find_map(|word| word.parse::<u64>().ok());
            match (name.as_str(), figure) {
                ("CACHE_SIZE", Some(kib)) => put(249, 4, kib.saturating_mul(8)),
                ("CMDQ_DEPTH", Some(depth)) => put(307, 1, depth.saturating_sub(1)),
                _ => {}
            }
            continue;
        };
        let number: String = number.chars().take_while(char::is_ascii_hexdigit).collect();
        let Ok(number) = u64::from_str_radix(&number, 16) else { continue };
        let index = rest[name.len()..].strip_prefix('[').and_then(|rest| rest.split(']').next()?.parse::<usize>().ok());
        if let Some(at) = index.filter(|at| *at < EXT_CSD_BYTES) {
            // Bytes of a long field: those of the maker are counted from the field's start, those of contexts from the register's.
            put(if name == "VENDOR_SPECIFIC_FIELD" && at < 64 { 64 + at } else { at }, 1, number);
            continue;
        }
        let name = OTHER.iter().find(|(theirs, _)| *theirs == name).map_or(name.as_str(), |(_, ours)| *ours);
        let fields = table::of(RegisterKind::ExtCsd, Family::Mmc, 0);
        if let Some(field) = fields.iter().find(|field| field.name == name) {
            put(field.at.into(), field.length.into(), number);
        }
    }
    let mut registers = Registers::new(Family::Mmc);
    registers.ext_csd = Some(register);
    registers
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCR: &str = "0235800001000000";

    fn read(text: &str) -> Result<Registers, DumpError> {
        read_dump(text.as_bytes(), DumpHint::default())
    }

    #[test]
    fn hexadecimal_digits_in_many_forms() {
        let wanted = read(SCR).unwrap();
        for form in [
            "02 35 80 00 01 00 00 00\n",
            "0x02 0x35 0x80 0x0 0x1 0x0 0x00 0x00",
            "0x02, 0x35, 0x80, 0x00, 0x01, 0x00, 0x00, 0x00",
            "SCR:\n000:  02 35 80 00 01\n005:  00 00 00\nU-Boot>\n",
            "00000000  02 35 80 00 01 00 00 00  |.5......|\n00000008\n",
            "00000000: 0235 8000 0100 0000  .5......\n",
            "0000000 02 35 80 00 01 00 00 00\n0000010\n",
        ] {
            assert_eq!(read(form), Ok(wanted.clone()), "{form:?}");
        }
        assert_eq!(read_dump(&[2, 0x35, 0x80, 0, 1, 0, 0, 0], DumpHint::default()), Ok(wanted));
    }

    #[test]
    fn what_is_written_is_read_again() {
        let mut registers = Registers::new(Family::Mmc);
        registers.set(RegisterKind::Cid, &[7; 16]);
        let mut register = ExtCsd::unknown();
        register.put(192, 8);
        registers.ext_csd = Some(register);
        assert_eq!(read(&write_dump(&registers)), Ok(registers));
    }

    #[test]
    fn bad_dumps_say_what_to_do() {
        let check = |text: &str, says: &str| {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(says), "{text:?}: {error}");
        };
        check("", "no register has 0 bytes");
        check("hello", "no register has 0 bytes");
        check("0235800001", "no register has 5 bytes");
        check(&"00".repeat(16), "--register cid");
        check("00000000  02 35 80 00 01 00 00 00\n*\n00000200\n", "hexdump -v");
        check("00ff8080", "--family sd");
        check("flashscope registers 1\n", "must say `family");
        check("flashscope registers 1\nfamily mmc\n", "before the first register");
        check("flashscope registers 1\nfamily mmc\nxyz 00\n", "line 3: names no register");
        check("flashscope registers 1\nfamily mmc\ncid 00\n", "cid has 16 bytes, and this dump 1");
        check(&format!("flashscope registers 1\nfamily mmc\nscr {SCR}\n"), "an MMC part has no scr");
        check(
            &format!("flashscope registers 1\nfamily sd\nscr {}\n", SCR.replace('2', "..").get(..16).unwrap()),
            "something else",
        );
        let named = DumpHint { register: Some(RegisterKind::ExtCsd), ..DumpHint::default() };
        let error = read_dump(SCR.as_bytes(), named).unwrap_err().to_string();
        assert!(error.contains("ext_csd has 512 bytes, and this dump 8"), "{error}");
    }

    #[test]
    fn what_mmc_utils_prints() {
        let text = "  Extended CSD rev 1.7 (MMC 5.0)\nCache Size [CACHE_SIZE] is 512 KiB\nSector Count [SEC_COUNT: 0x00e90000]\n\
                    [MIN_PERF_W_8_52: 0x0a]\nVendor Specific Fields [VENDOR_SPECIFIC_FIELD[67]]: 0xc8\n\
                    eMMC Pre EOL information [EXT_CSD_PRE_EOL_INFO]: 0x01\n";
        let register = read(text).unwrap().ext_csd.unwrap();
        assert_eq!((register.revision(), register.number(249, 4)), (7, Some(4096)));
        assert_eq!((register.number(212, 4), register.get(210)), (Some(0xe9_0000), Some(10)));
        assert_eq!((register.get(67), register.get(267), register.get(268)), (Some(0xc8), Some(1), None));
    }
}
