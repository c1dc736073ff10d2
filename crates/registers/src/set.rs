//! The registers of one part as bytes.

use crate::Family;
use flashscope_model::Health;

/// Bytes of an eMMC part's extended register.
pub const EXT_CSD_BYTES: usize = 512;

/// One of the registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RegisterKind {
    /// Card identification.
    Cid,
    /// Card-specific data.
    Csd,
    /// Extended card-specific data (eMMC).
    ExtCsd,
    /// SD configuration.
    Scr,
    /// SD status.
    Ssr,
    /// Operating conditions.
    Ocr,
}

impl RegisterKind {
    /// All of them, in the order in which they are shown.
    pub const ALL: [RegisterKind; 6] = [
        RegisterKind::Cid,
        RegisterKind::Csd,
        RegisterKind::ExtCsd,
        RegisterKind::Scr,
        RegisterKind::Ssr,
        RegisterKind::Ocr,
    ];

    /// The name of its file in sysfs (of EXT_CSD in debugfs), and in dumps.
    pub fn word(self) -> &'static str {
        match self {
            RegisterKind::Cid => "cid",
            RegisterKind::Csd => "csd",
            RegisterKind::ExtCsd => "ext_csd",
            RegisterKind::Scr => "scr",
            RegisterKind::Ssr => "ssr",
            RegisterKind::Ocr => "ocr",
        }
    }

    /// How many bytes it has.
    pub fn bytes(self) -> usize {
        match self {
            RegisterKind::Cid | RegisterKind::Csd => 16,
            RegisterKind::ExtCsd => EXT_CSD_BYTES,
            RegisterKind::Scr => 8,
            RegisterKind::Ssr => 64,
            RegisterKind::Ocr => 4,
        }
    }

    /// Where the standard has it.
    pub fn section(self, family: Family) -> &'static str {
        match (self, family) {
            (RegisterKind::Cid, Family::Sd) => "SD Physical Layer 5.2",
            (RegisterKind::Csd, Family::Sd) => "SD Physical Layer 5.3",
            (RegisterKind::Ocr, Family::Sd) => "SD Physical Layer 5.1",
            (RegisterKind::Scr, _) => "SD Physical Layer 5.6",
            (RegisterKind::Ssr, _) => "SD Physical Layer 4.10.2",
            (RegisterKind::Ocr, Family::Mmc) => "JESD84-B51 7.1",
            (RegisterKind::Cid, Family::Mmc) => "JESD84-B51 7.2",
            (RegisterKind::Csd, Family::Mmc) => "JESD84-B51 7.3",
            (RegisterKind::ExtCsd, _) => "JESD84-B51 7.4",
        }
    }
}

/// The registers that are known of a part. The most significant byte comes first, of EXT_CSD byte 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registers {
    /// SD or MMC.
    pub family: Family,
    /// EXT_CSD.
    pub ext_csd: Option<ExtCsd>,
    others: Vec<(RegisterKind, Vec<u8>)>,
}

impl Registers {
    /// None of them yet.
    pub fn new(family: Family) -> Registers {
        Registers { family, ext_csd: None, others: Vec::new() }
    }

    /// Takes a register in; `false` where it has another number of bytes.
    pub fn set(&mut self, kind: RegisterKind, bytes: &[u8]) -> bool {
        if bytes.len() != kind.bytes() {
            return false;
        }
        if let Ok(bytes) = <[u8; EXT_CSD_BYTES]>::try_from(bytes) {
            self.ext_csd = Some(ExtCsd::whole(bytes));
        } else {
            self.others.retain(|(other, _)| *other != kind);
            self.others.push((kind, bytes.to_vec()));
        }
        true
    }

    /// The bytes of a register, where it is known; of EXT_CSD [`Registers::ext_csd`] knows more.
    pub fn get(&self, kind: RegisterKind) -> Option<&[u8]> {
        match kind {
            RegisterKind::ExtCsd => self.ext_csd.as_ref().map(|register| &register.bytes[..]),
            kind => self.others.iter().find(|(other, _)| *other == kind).map(|(_, bytes)| &bytes[..]),
        }
    }

    /// Those that are known.
    pub fn kinds(&self) -> impl Iterator<Item = RegisterKind> + '_ {
        RegisterKind::ALL.into_iter().filter(|kind| self.get(*kind).is_some())
    }

    /// What they say of the part's wear; `None` where they say nothing, as an SD card's never do.
    pub fn health(&self) -> Option<Health> {
        let register = self.ext_csd.as_ref()?;
        crate::estimates(register.get(268)?, register.get(269)?, register.get(267)?)
    }
}

/// EXT_CSD, or as much of it as is known: what other programs print of it leaves bytes out.
#[derive(Clone, PartialEq, Eq)]
pub struct ExtCsd {
    bytes: Box<[u8; EXT_CSD_BYTES]>,
    is_known: Box<[bool; EXT_CSD_BYTES]>,
}

impl std::fmt::Debug for ExtCsd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.hex())
    }
}

impl ExtCsd {
    /// All of it.
    pub fn whole(bytes: [u8; EXT_CSD_BYTES]) -> ExtCsd {
        ExtCsd { bytes: Box::new(bytes), is_known: Box::new([true; EXT_CSD_BYTES]) }
    }

    /// Nothing of it.
    pub(crate) fn unknown() -> ExtCsd {
        ExtCsd { bytes: Box::new([0; EXT_CSD_BYTES]), is_known: Box::new([false; EXT_CSD_BYTES]) }
    }

    /// One byte; `None` where it is not known, or beyond the end.
    pub fn get(&self, at: usize) -> Option<u8> {
        self.is_known.get(at)?.then(|| self.bytes[at])
    }

    /// A number of several bytes, the least significant first; `None` where one of them is not known.
    pub fn number(&self, at: usize, length: usize) -> Option<u64> {
        (at..at + length).rev().try_fold(0, |number, at| Some(number << 8 | u64::from(self.get(at)?)))
    }

    /// Whether a bit of a byte is known to be set.
    pub fn has(&self, at: usize, bit: u8) -> bool {
        self.get(at).is_some_and(|byte| byte >> bit & 1 == 1)
    }

    /// Sets a byte.
    pub fn put(&mut self, at: usize, byte: u8) {
        self.bytes[at] = byte;
        self.is_known[at] = true;
    }

    /// All bytes, with 0 where one is not known.
    pub fn bytes(&self) -> &[u8; EXT_CSD_BYTES] {
        &self.bytes
    }

    /// `EXT_CSD_REV`; 5 is 4.41, 6 is 4.5, 7 is 5.0 and 8 is 5.1.
    pub fn revision(&self) -> u8 {
        self.bytes[192]
    }

    /// Hexadecimal digits, with `..` for a byte that is not known.
    pub(crate) fn hex(&self) -> String {
        (0..EXT_CSD_BYTES).map(|at| self.get(at).map_or("..".to_owned(), |byte| format!("{byte:02x}"))).collect()
    }
}
