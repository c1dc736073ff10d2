//! From a log to observations.

mod about;
mod arithmetic;
mod assemble;
mod clean;
mod command;
mod convert;
mod ending;
mod figure;
mod heading;
mod identity;
mod lexer;
mod notes;
mod row;
mod table;

use flashscope_model::Observations;
use flashscope_units::Bytes;

/// Text beyond this is not read: no console log comes near it, and memory stays bounded.
const MAX_TEXT: usize = 64 << 20;

/// How the note begins that tells of [`Parsed::several_devices`].
pub const SEVERAL_DEVICES: &str = "the log is about more than one device";

/// What a log says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parsed {
    /// The tables as runs, in the order in which they stand in the log.
    pub observations: Observations,
    /// What the log says about the device, where it says anything.
    pub device: Option<LogDevice>,
    /// The exact size of the device, where the log states one (same as in `observations`).
    pub capacity: Option<Bytes>,
    /// Whether the log is about more than one device: then figures of different tables do not belong together. A note
    /// that begins with [`SEVERAL_DEVICES`] says why.
    pub several_devices: bool,
    /// What was left out, guessed or odd, each with its line.
    pub notes: Vec<String>,
}

/// What a log says about the device, each field as spelt there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogDevice {
    /// Product name (`SU04G`).
    pub name: Option<String>,
    /// Manufacturer (`0x000003`).
    pub manfid: Option<String>,
    /// OEM or application (`0x5344`).
    pub oemid: Option<String>,
    /// Date of manufacture (`11/2013`).
    pub date: Option<String>,
    /// Serial number.
    pub serial: Option<String>,
    /// Hardware revision.
    pub hwrev: Option<String>,
    /// Firmware revision.
    pub fwrev: Option<String>,
    /// CID register in hexadecimal.
    pub cid: Option<String>,
    /// CSD register in hexadecimal.
    pub csd: Option<String>,
    /// Path of the device under test on the machine of the log.
    pub path: Option<String>,
}

/// Reads a log. Never fails: text without tables gives no runs.
///
/// Text beyond 64 MiB, lines beyond 16 KiB, rows beyond 262 144 and tables beyond 4096 are left out with a note. Lines
/// and tables that were pasted twice count once, with a note as well.
///
/// ```
/// use flashscope_model::Data;
///
/// let log = "\
/// > user@host:~$ sudo ./flashbench -a /dev/mmcblk0 --blocksize=1024
/// > align 8388608\tpre 704µs\ton 950µs\tpost 694µs\tdiff 251µs
/// > align 4194304\tpre 694µs\ton 937µs\tpost 689µs\tdiff 246µs
/// > align 2097152\tpre 698µs\ton 825µs\tpost 697µs\tdiff 127µs
/// Thanks, that looks like 4 MiB to me!";
/// let parsed = flashscope_transcript::parse(log);
/// assert_eq!(parsed.observations.runs.len(), 1);
/// let Data::Align(table) = &parsed.observations.runs[0].data else { panic!("a table of align") };
/// assert_eq!(table.rows.len(), 3);
/// assert_eq!(parsed.device.unwrap().path.as_deref(), Some("/dev/mmcblk0"));
/// ```
pub fn parse(text: &str) -> Parsed {
    let mut end = text.len().min(MAX_TEXT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let mut parsed = assemble::assemble(&clean::unquoted_printable(&text[..end]));
    if end < text.len() {
        parsed.notes.push(format!("only the first {} MiB of the text were read", MAX_TEXT >> 20));
    }
    parsed
}

/// Reads a log from bytes of any encoding: UTF-8 with errors, UTF-16 with a byte-order mark, or any
/// superset of ASCII.
pub fn parse_bytes(bytes: &[u8]) -> Parsed {
    parse(&clean::decode(bytes, MAX_TEXT + 1))
}
