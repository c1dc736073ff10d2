//! What a log says about the device: registers, names, path and size.

use super::LogDevice;
use super::lexer::{Kind, lex};
use flashscope_units::Bytes;

/// A statement about some device.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Fact {
    /// A register or name.
    Field(Field, String),
    /// The device under test is at this path.
    Path(String),
    /// Exact size of the disk at a path (`None`: not said which).
    Size(Option<String>, Bytes),
    /// Rounded size, as printed, of the disk with this name; and the device's own name where given.
    Roughly(String, String, Option<String>),
}

/// A field of [`LogDevice`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Name,
    Manfid,
    Oemid,
    Date,
    Serial,
    Hwrev,
    Fwrev,
    Cid,
    Csd,
}

impl Field {
    pub(super) fn of(self, device: &mut LogDevice) -> &mut Option<String> {
        match self {
            Field::Name => &mut device.name,
            Field::Manfid => &mut device.manfid,
            Field::Oemid => &mut device.oemid,
            Field::Date => &mut device.date,
            Field::Serial => &mut device.serial,
            Field::Hwrev => &mut device.hwrev,
            Field::Fwrev => &mut device.fwrev,
            Field::Cid => &mut device.cid,
            Field::Csd => &mut device.csd,
        }
    }
}

/// The statements on a line.
pub(super) fn facts(line: &str) -> Vec<Fact> {
    let mut facts = fields(line);
    if let Some(path) = device_line(line) {
        facts.push(Fact::Path(path));
    }
    let size =
        logical_blocks(line).or_else(|| disk_size(line)).or_else(|| partitions_row(line)).or_else(|| lsblk_row(line));
    facts.extend(size);
    facts.extend(kernel_line(line));
    facts
}

/// Which figure a command will print in the next line: bytes per unit of it, and the path.
pub(super) fn size_command(line: &str) -> Option<(u64, Option<String>)> {
    let path = line.split_whitespace().find(|word| word.starts_with("/dev/")).map(str::to_owned);
    if line.contains("--getsize64") {
        return Some((1, path));
    }
    if line.contains("blockdev") && (line.contains("--getsz") || line.contains("--getsize")) {
        return Some((512, path));
    }
    let sysfs = line.split_whitespace().find(|word| word.starts_with("/sys/") && word.ends_with("/size"))?;
    let disk = sysfs.trim_end_matches("/size").rsplit('/').next()?;
    Some((512, Some(format!("/dev/{disk}"))))
}

/// `man:0x03 oem:0x5344 name:SU04G …` and the files of sysfs printed with their names.
fn fields(line: &str) -> Vec<Fact> {
    let mut found = Vec::new();
    let mut words = line.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let Some((key, attached)) = word.split_once([':', '=']) else { continue };
        let (directory, key) = key.rsplit_once('/').map_or((false, key), |(_, key)| (true, key));
        let value = match (attached, words.peek()) {
            ("", Some(next)) if !next.contains(':') => next,
            (attached, _) => attached,
        };
        let hexadecimal = |digits: usize| value.len() >= digits && value.chars().all(|c| c.is_ascii_hexdigit());
        let number = value
            .strip_prefix("0x")
            .is_some_and(|rest| !rest.is_empty() && rest.chars().all(|c| c.is_ascii_hexdigit()));
        let word_like = !value.is_empty() && value.len() <= 32 && value.chars().all(|c| c.is_ascii_graphic());
        let field = match key.to_ascii_lowercase().as_str() {
            "man" | "manfid" if number => Field::Manfid,
            "oem" | "oemid" if number => Field::Oemid,
            "cid" if hexadecimal(32) => Field::Cid,
            "csd" if hexadecimal(32) => Field::Csd,
            "date" if value.len() <= 10 && value.contains('/') && word_like => Field::Date,
            "hwrev" if number => Field::Hwrev,
            "fwrev" if number => Field::Fwrev,
            "serial" if number => Field::Serial,
            "name" if word_like && (directory || line.contains("oem") || line.trim_start().starts_with("name")) => {
                Field::Name
            }
            _ => continue,
        };
        found.push(Fact::Field(field, value.to_owned()));
    }
    found
}

/// `===== Device: /dev/mmcblk0 =====`.
fn device_line(line: &str) -> Option<String> {
    let lower = line.to_ascii_lowercase();
    let at = lower.find("device:").or_else(|| lower.find("device ="))?;
    let word = line[at..].split_whitespace().find(|word| word.starts_with("/dev/"))?;
    Some(word.trim_end_matches([',', '.', ':', ';', '=']).to_owned())
}

/// fdisk in any language: `Disk /dev/sdb: 7948 MB, 7948206080 bytes`. The rounded size must agree.
fn disk_size(line: &str) -> Option<Fact> {
    let comma = line.find(", ")?;
    let (before, after) = (&line[..comma], &line[comma + 2..]);
    let lexemes = lex(before);
    let [.., number, unit] = lexemes.as_slice() else { return None };
    if number.kind != Kind::Number || unit.kind != Kind::Word || unit.end() != before.trim_end().len() {
        return None;
    }
    let rounded = super::figure::decimal(number.text)?;
    let digits = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
    let bytes: u64 = after[..digits].parse().ok().filter(|bytes| (1 << 20..1 << 60).contains(bytes))?;
    // A word for bytes follows, not sectors; it is `octets`, `байт`, `Bytes` …
    let word = after[digits..].trim_start().chars().next().is_some_and(char::is_alphabetic);
    let agrees = [1e3, 1024.0]
        .iter()
        .any(|base: &f64| (1..=4).any(|power| (bytes as f64 / (rounded * base.powi(power)) - 1.0).abs() < 0.06));
    let path = before.split_whitespace().find(|word| word.starts_with("/dev/"));
    let path = path.map(|path| path.trim_end_matches([':', ',']).to_owned());
    (word && agrees && bytes.is_multiple_of(512)).then_some(Fact::Size(path, Bytes(bytes)))
}

/// The kernel on a SCSI disk: `[sdb] 15523840 512-byte logical blocks: (7.94 GB/7.40 GiB)`.
fn logical_blocks(line: &str) -> Option<Fact> {
    let at = line.find("-byte logical blocks").or_else(|| line.find("-byte hardware sectors"))?;
    let mut before = line[..at].split_whitespace().rev();
    let size: u64 = before.next()?.parse().ok()?;
    let count: u64 = before.next()?.parse().ok()?;
    let name = line[..at].split(['[', ']']).map(str::trim).rfind(|part| part.starts_with("sd") && part.len() <= 5);
    Some(Fact::Size(name.map(|name| format!("/dev/{name}")), Bytes(count.checked_mul(size)?)))
}

/// `/proc/partitions`: ` 179        0    7761920 mmcblk0` in KiB.
fn partitions_row(line: &str) -> Option<Fact> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [major, minor, blocks, name] = words.as_slice() else { return None };
    let _ = (major.parse::<u16>().ok()?, minor.parse::<u32>().ok()?);
    let blocks: u64 = blocks.parse().ok()?;
    is_disk_name(name).then_some(Fact::Size(Some(format!("/dev/{name}")), Bytes(blocks.checked_mul(1024)?)))
}

/// `lsblk -b`: `mmcblk0 179:0 0 7948206080 0 disk`.
fn lsblk_row(line: &str) -> Option<Fact> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [name, number, _, size, _, "disk", ..] = words.as_slice() else { return None };
    let path = format!("/dev/{name}");
    if !number.contains(':') || !is_disk_name(name) {
        return None;
    }
    match size.parse::<u64>() {
        Ok(bytes) => Some(Fact::Size(Some(path), Bytes(bytes))),
        Err(_) => Some(Fact::Roughly(path, (*size).to_owned(), None)),
    }
}

/// The kernel on a card: `mmcblk0: mmc0:0001 SD08G 7.40 GiB`.
fn kernel_line(line: &str) -> Option<Fact> {
    let at = line.find("mmcblk")?;
    let words: Vec<&str> = line[at..].split_whitespace().take(6).collect();
    let disk = words.first()?.strip_suffix(':')?;
    let card = words.get(1).filter(|word| word.starts_with("mmc") && word.contains(':'))?;
    let size = words.iter().position(|word| matches!(*word, "GiB" | "MiB" | "KiB" | "TiB"))?;
    let _ = card;
    let name = (size > 3).then(|| words[2].to_owned());
    Some(Fact::Roughly(format!("/dev/{disk}"), format!("{} {}", words.get(size - 1)?, words[size]), name))
}

/// Whole disks, not partitions.
fn is_disk_name(name: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    name.strip_prefix("mmcblk").is_some_and(digits)
        || name.strip_prefix("sd").is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_lowercase()))
        || name.strip_prefix("nvme").and_then(|rest| rest.split_once('n')).is_some_and(|(a, b)| digits(a) && digits(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        let check = |line: &str, path: Option<&str>, bytes: u64| {
            let expect = Fact::Size(path.map(str::to_owned), Bytes(bytes));
            assert!(facts(line).contains(&expect), "{line}: {:?}", facts(line));
        };
        check("Диск /dev/mmcblk0: 7742 МБ, 7742685184 байт", Some("/dev/mmcblk0"), 7_742_685_184);
        check("7742 МБ, 7742685184 байт", None, 7_742_685_184);
        check("Disk /dev/mmcblk0: 7.5 GiB, 8068792320 bytes, 15759360 sectors", Some("/dev/mmcblk0"), 8_068_792_320);
        check("Disk /dev/mmcblk0: 7948 MB, 7948206080 bytes", Some("/dev/mmcblk0"), 7_948_206_080);
        check("Platte /dev/sdb: 7,4 GiB, 7948206080 Bytes, 15523840 Sektoren", Some("/dev/sdb"), 7_948_206_080);
        check("Disque /dev/sdb : 7,4 GiB, 7948206080 octets, 15523840 secteurs", Some("/dev/sdb"), 7_948_206_080);
        check(
            "sd 6:0:0:0: [sdb] 15523840 512-byte logical blocks: (7.94 GB/7.40 GiB)",
            Some("/dev/sdb"),
            7_948_206_080,
        );
        check(" 179        0    7761920 mmcblk0", Some("/dev/mmcblk0"), 7_761_920 << 10);
        check("mmcblk0     179:0    0 7948206080  0 disk", Some("/dev/mmcblk0"), 7_948_206_080);
    }

    #[test]
    fn no_sizes() {
        for line in [
            "7948206080 bytes (7.9 GB, 7.4 GiB) copied, 500 s, 15.9 MB/s",
            " 179        1    7761920 mmcblk0p1",
            "Sector size (logical/physical): 512 bytes / 512 bytes",
            "Disk /dev/sdb: 7948 MB, 15523840 sectors",
            "mmcblk0: mmc0:0001 SD08G 7.40 GiB",
            "1 2 3 4",
        ] {
            assert!(!facts(line).iter().any(|fact| matches!(fact, Fact::Size(..))), "{line}: {:?}", facts(line));
        }
    }

    #[test]
    fn names() {
        let line = "man:0x000003 oem:0x5344 name:SU04G hwrev:0x8 fwrev:0x0 date:11/2013 cid:03534453553034478022ed3d8100db00 csd:400e00325b5900001d8a7f800a404000";
        assert_eq!(facts(line).len(), 8);
        let check = |line: &str, expect: Fact| assert!(facts(line).contains(&expect), "{line}: {:?}", facts(line));
        check("/sys/block/mmcblk0/device/name:SD08G", Fact::Field(Field::Name, "SD08G".into()));
        check("============== Device: /dev/sdf ===== ", Fact::Path("/dev/sdf".into()));
        check(
            "[    2.1] mmcblk0: mmc0:0001 SD08G 7.40 GiB ",
            Fact::Roughly("/dev/mmcblk0".into(), "7.40 GiB".into(), Some("SD08G".into())),
        );
        assert_eq!(facts("file name: x.txt"), []);
        assert_eq!(size_command("# blockdev --getsize64 /dev/sdb"), Some((1, Some("/dev/sdb".into()))));
        assert_eq!(size_command("$ cat /sys/block/mmcblk0/size"), Some((512, Some("/dev/mmcblk0".into()))));
    }
}
