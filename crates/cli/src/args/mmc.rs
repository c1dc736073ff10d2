//! What `mmc` takes.

use super::TargetArgs;
use clap::{Args, Subcommand, ValueEnum};
use flashscope_registers::{Family, RegisterKind};
use std::path::PathBuf;

/// Registers of SD cards and eMMC parts, and whether a part does what they say.
#[derive(Args, Debug)]
#[command(after_help = "Example: sudo flashscope mmc show /dev/mmcblk0")]
pub(crate) struct Mmc {
    #[command(subcommand)]
    pub(crate) command: MmcCommand,
}

#[derive(Subcommand, Debug)]
pub(crate) enum MmcCommand {
    /// Every field of every register in words: of a part, or of a dump
    Show(MmcShow),
    /// The registers of a part as text that show reads again
    Dump(MmcDump),
    /// Whether an eMMC part does what its registers claim, feature by feature
    Check(Box<MmcCheck>),
}

/// Every field of every register in words.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  sudo flashscope mmc show /dev/mmcblk0
  flashscope mmc show ext_csd.txt             hexadecimal digits or bare bytes
  flashscope mmc show cid --family mmc        a file of another machine's sysfs
  flashscope mmc show part/ --json            a directory of such files

Only reads. EXT_CSD needs root. Ends with 1 where a register contradicts itself.")]
pub(crate) struct MmcShow {
    /// A device, a file with a dump, or a directory with files of sysfs
    #[arg(value_name = "TARGET|FILE")]
    pub(crate) target: PathBuf,
    /// Which register a dump is, where its length does not tell
    #[arg(long, value_name = "REGISTER", value_enum)]
    pub(crate) register: Option<Register>,
    /// Whose layout a dump has, where that cannot be told
    #[arg(long, value_name = "FAMILY", value_enum)]
    pub(crate) family: Option<Kind>,
    /// Keep the registers in this file as well
    #[arg(long, value_name = "FILE")]
    pub(crate) save: Option<PathBuf>,
    /// Overwrite what is there
    #[arg(long, requires = "save")]
    pub(crate) force: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The registers of a part as text.
#[derive(Args, Debug)]
#[command(after_help = "Example: sudo flashscope mmc dump /dev/mmcblk0 > part.registers")]
pub(crate) struct MmcDump {
    /// A device, a file with a dump, or a directory with files of sysfs
    #[arg(value_name = "TARGET|FILE")]
    pub(crate) target: PathBuf,
}

/// A register.
#[derive(ValueEnum, Clone, Copy, Debug)]
pub(crate) enum Register {
    Cid,
    Csd,
    ExtCsd,
    Scr,
    Ssr,
    Ocr,
}

impl From<Register> for RegisterKind {
    fn from(register: Register) -> RegisterKind {
        match register {
            Register::Cid => RegisterKind::Cid,
            Register::Csd => RegisterKind::Csd,
            Register::ExtCsd => RegisterKind::ExtCsd,
            Register::Scr => RegisterKind::Scr,
            Register::Ssr => RegisterKind::Ssr,
            Register::Ocr => RegisterKind::Ocr,
        }
    }
}

/// A family of parts.
#[derive(ValueEnum, Clone, Copy, Debug)]
pub(crate) enum Kind {
    Sd,
    Mmc,
}

impl From<Kind> for Family {
    fn from(kind: Kind) -> Family {
        match kind {
            Kind::Sd => Family::Sd,
            Kind::Mmc => Family::Mmc,
        }
    }
}

/// Whether an eMMC part does what its registers claim.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  flashscope mmc check sim:emmc-cached --spec 5.1
  flashscope mmc check sim:emmc-phone --plant flush-lies
  sudo flashscope mmc check /dev/mmcblk0 --destroy-data=IDENTITY

What it writes and erases (16 MiB in the middle) destroys what stood there. Settings are
put back; nothing is sent that cannot be undone. Ends with 1 where a feature fails.")]
pub(crate) struct MmcCheck {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// The edition of the standard that the part is held against
    #[arg(long, value_name = "EDITION", value_enum, default_value = "5.1")]
    pub(crate) spec: Edition,
    /// Plant this contradiction in a simulated part; a wrong name lists all
    #[arg(long, value_name = "NAME")]
    pub(crate) plant: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// An edition of the eMMC standard.
#[derive(ValueEnum, Clone, Copy, Debug)]
pub(crate) enum Edition {
    #[value(name = "4.5")]
    V45,
    #[value(name = "5.0")]
    V50,
    #[value(name = "5.1")]
    V51,
}

impl Edition {
    /// The revision of EXT_CSD that came with it.
    pub(crate) fn revision(self) -> u8 {
        match self {
            Edition::V45 => 6,
            Edition::V50 => 7,
            Edition::V51 => 8,
        }
    }
}
