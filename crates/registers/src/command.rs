//! Every command that flashscope sends to an SD card or eMMC part, by its own hand or through the kernel's ioctl.
//!
//! None of them changes anything for good. There is no command here that writes a CID or CSD, sets a protection, a lock or a key, writes
//! firmware, or switches a byte of EXT_CSD that can be written only once; a test holds the list against the table of fields. A command
//! that destroys data is made with the right to write alone.

use flashscope_device::{GrantError, Seal, WriteGrant};
use flashscope_units::Bytes;

/// One command. Made by its constructors only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    pub(crate) kind: Kind,
    seal: Option<Seal>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    SendExtCsd,
    SendStatus,
    SetBlockCount(BlockCount),
    EraseStart(u32),
    EraseEnd(u32),
    Erase(EraseHow),
    QueueTask(u8),
    QueueAddress(u32),
    QueueStatus,
    QueueDiscard,
    Switch(Setting),
    Sanitize,
}

/// What the next transfer is, in the argument of CMD23.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlockCount {
    /// Reliable: after a power cut it is there whole or not at all.
    Reliable,
    /// Several writes in one, with a header.
    Packed,
    /// Marked as data that are written often.
    Tagged,
    /// Belongs to the context of this number, 1 to 15.
    Context(u8),
}

/// What becomes of what is erased, in the argument of CMD38.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EraseHow {
    /// Whole erase groups.
    Erase,
    /// Sectors; they read as erased.
    Trim,
    /// Sectors; they read as anything.
    Discard,
    /// Whole erase groups, copies inside the part as well.
    SecureErase,
    /// Sectors are marked, …
    SecureTrimMark,
    /// … and all that are marked are erased, copies as well.
    SecureTrimErase,
}

impl EraseHow {
    /// All of them.
    pub const ALL: [EraseHow; 6] = [
        EraseHow::Erase,
        EraseHow::Trim,
        EraseHow::Discard,
        EraseHow::SecureErase,
        EraseHow::SecureTrimMark,
        EraseHow::SecureTrimErase,
    ];

    fn argument(self) -> u32 {
        match self {
            EraseHow::Erase => 0,
            EraseHow::Trim => 1,
            EraseHow::Discard => 3,
            EraseHow::SecureErase => 0x8000_0000,
            EraseHow::SecureTrimMark => 0x8000_0001,
            EraseHow::SecureTrimErase => 0x8000_8000,
        }
    }
}

/// A byte of EXT_CSD that is set, and what to. Each goes back to what it was by another setting, by a reset, or by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Setting {
    /// Everything in the cache is written to the flash.
    FlushCache,
    /// What is in the cache is written before what comes later.
    FlushBarrier,
    /// The cache on or off.
    Cache(bool),
    /// The cache barrier on or off.
    Barrier(bool),
    /// The high-priority interrupt on or off.
    Interrupt(bool),
    /// Background operations begin.
    StartBackground,
    /// The part will be told before its power goes.
    PoweredOn,
    /// A context of this number, 1 to 15, is opened for writing, or closed.
    Context(u8, bool),
    /// The command queue on or off.
    Queue(bool),
}

impl Setting {
    /// The byte of EXT_CSD, and what it is set to.
    pub fn place(self) -> (u8, u8) {
        match self {
            Setting::FlushCache => (32, 1),
            Setting::FlushBarrier => (32, 2),
            Setting::Cache(on) => (33, on.into()),
            Setting::Barrier(on) => (31, on.into()),
            Setting::Interrupt(on) => (161, on.into()),
            Setting::StartBackground => (164, 1),
            Setting::PoweredOn => (34, 1),
            // Context 1 is byte 37. 2: open for writing.
            Setting::Context(number, open) => (36 + number.clamp(1, 15), if open { 2 } else { 0 }),
            Setting::Queue(on) => (15, on.into()),
        }
    }
}

/// A command as it goes over the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encoded {
    /// Its number.
    pub opcode: u32,
    /// Its argument.
    pub argument: u32,
    /// Whether the part may be busy after its response (R1b).
    pub is_busy: bool,
    /// Bytes that the part sends.
    pub reads: u32,
    /// How long the part may be busy, in milliseconds.
    pub timeout_ms: u32,
}

/// How long an erase of a part of the device may take: no part states more than seconds for as much.
const ERASE_MS: u32 = 60_000;
/// How long the sanitise may take: half an hour. The standard sets no limit, and the kernel's own is four minutes.
const SANITIZE_MS: u32 = 30 * 60_000;
/// How long a flush may take: the kernel's own limit.
const FLUSH_MS: u32 = 30_000;
/// How long another setting may take.
const SWITCH_MS: u32 = 2_000;

impl Command {
    const fn harmless(kind: Kind) -> Command {
        Command { kind, seal: None }
    }

    /// Reads EXT_CSD.
    pub const fn send_ext_csd() -> Command {
        Command::harmless(Kind::SendExtCsd)
    }

    /// Asks for the status.
    pub const fn send_status() -> Command {
        Command::harmless(Kind::SendStatus)
    }

    /// Sets a byte of EXT_CSD.
    pub const fn switch(setting: Setting) -> Command {
        Command::harmless(Kind::Switch(setting))
    }

    /// Says what the next transfer is. What that transfers needs its own right to write.
    pub const fn set_block_count(count: BlockCount) -> Command {
        Command::harmless(Kind::SetBlockCount(count))
    }

    /// Queues a read of a block, as a task of this number (0 to 31): two commands.
    pub const fn queue_read(task: u8, sector: u32) -> [Command; 2] {
        [Command::harmless(Kind::QueueTask(task & 31)), Command::harmless(Kind::QueueAddress(sector))]
    }

    /// Asks which tasks of the queue are ready.
    pub const fn queue_status() -> Command {
        Command::harmless(Kind::QueueStatus)
    }

    /// Throws all queued tasks away.
    pub const fn queue_discard() -> Command {
        Command::harmless(Kind::QueueDiscard)
    }

    /// Erases a range: three commands, that nothing may come between.
    ///
    /// # Errors
    /// The grant is for another range.
    pub fn erase(grant: &WriteGrant, from: Bytes, length: Bytes, how: EraseHow) -> Result<[Command; 3], GrantError> {
        grant.covers(from, length)?;
        // A part holds at most 2^32 sectors, as its registers count them.
        let (first, last) = (from.get() / 512, (from + length).get() / 512);
        let last = last.checked_sub(1).filter(|last| *last >= first).ok_or(GrantError::OutOfRange)?;
        let sealed = |kind| Command { kind, seal: Some(grant.seal()) };
        Ok([sealed(Kind::EraseStart(first as u32)), sealed(Kind::EraseEnd(last as u32)), sealed(Kind::Erase(how))])
    }

    /// Removes for good what is not mapped any more; data that can be read are not touched. Starts the sanitise.
    ///
    /// # Errors
    /// The grant is for a part of the device.
    pub fn sanitize(grant: &WriteGrant, capacity: Bytes) -> Result<Command, GrantError> {
        grant.covers(Bytes::ZERO, capacity)?;
        Ok(Command { kind: Kind::Sanitize, seal: Some(grant.seal()) })
    }

    /// The grant under which it was made, where it destroys data.
    pub const fn seal(&self) -> Option<Seal> {
        self.seal
    }

    /// As it goes over the bus.
    pub fn encoded(&self) -> Encoded {
        let plain = |opcode, argument| Encoded { opcode, argument, is_busy: false, reads: 0, timeout_ms: 0 };
        let busy = |opcode, argument, timeout_ms| Encoded { is_busy: true, timeout_ms, ..plain(opcode, argument) };
        match self.kind {
            Kind::SendExtCsd => Encoded { reads: crate::EXT_CSD_BYTES as u32, ..plain(8, 0) },
            Kind::SendStatus => plain(13, 1 << 16),
            Kind::QueueStatus => plain(13, 1 << 16 | 1 << 15),
            Kind::SetBlockCount(count) => {
                let flag = match count {
                    BlockCount::Reliable => 1 << 31,
                    BlockCount::Packed => 1 << 30,
                    BlockCount::Tagged => 1 << 29,
                    BlockCount::Context(number) => u32::from(number & 15) << 25,
                };
                plain(23, flag | 8)
            }
            Kind::EraseStart(sector) => plain(35, sector),
            Kind::EraseEnd(sector) => plain(36, sector),
            Kind::Erase(how) => busy(38, how.argument(), ERASE_MS),
            // Bit 30: a read.
            Kind::QueueTask(task) => plain(44, 1 << 30 | u32::from(task) << 16 | 1),
            Kind::QueueAddress(sector) => plain(45, sector),
            Kind::QueueDiscard => busy(48, 1, SWITCH_MS),
            // SANITIZE_START: writing anything to it begins.
            Kind::Sanitize => busy(6, switched((165, 1)), SANITIZE_MS),
            Kind::Switch(setting) => {
                let wait = if setting.place().0 == 32 { FLUSH_MS } else { SWITCH_MS };
                busy(6, switched(setting.place()), wait)
            }
        }
    }
}

/// The argument of CMD6: write a byte of EXT_CSD, command set 1.
fn switched((place, value): (u8, u8)) -> u32 {
    3 << 24 | u32::from(place) << 16 | u32::from(value) << 8 | 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::Access;
    use crate::{Family, RegisterKind, table};
    use flashscope_model::{Claims, DeviceFacts, DeviceKind};
    use std::collections::BTreeSet;

    /// Every command number that can be sent.
    const OPCODES: [u32; 9] = [6, 8, 13, 23, 35, 36, 38, 44, 45];
    /// Throws queued tasks away; may be sent as well.
    const QUEUE_MANAGEMENT: u32 = 48;
    /// Every byte of EXT_CSD that can be set.
    const PLACES: [u8; 24] =
        [15, 31, 32, 33, 34, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 161, 164, 165, 0];

    fn grant() -> WriteGrant {
        let facts = DeviceFacts {
            name: "a part".to_owned(),
            kind: DeviceKind::Emmc,
            simulated: true,
            capacity: Bytes::gib(4),
            logical_block: Bytes(512),
            physical_block: None,
            max_request: None,
            queue_depth: None,
            claims: Claims::default(),
            identity: None,
        };
        WriteGrant::simulated(&facts, Bytes::gib(4)).unwrap()
    }

    /// Every kind, with the arguments that it can have; the compiler asks for each, as there is no wildcard.
    fn all() -> Vec<Command> {
        let grant = grant();
        let mut all = vec![Command::sanitize(&grant, Bytes::gib(4)).unwrap()];
        let mut kinds = vec![Kind::SendExtCsd];
        while let Some(kind) = kinds.pop() {
            let mut more = |commands: &[Command]| all.extend(commands);
            match kind {
                Kind::SendExtCsd => {
                    more(&[Command::send_ext_csd()]);
                    kinds.push(Kind::SendStatus);
                }
                Kind::SendStatus => {
                    more(&[Command::send_status()]);
                    kinds.push(Kind::QueueStatus);
                }
                Kind::QueueStatus => {
                    more(&[Command::queue_status()]);
                    kinds.push(Kind::QueueDiscard);
                }
                Kind::QueueDiscard => {
                    more(&[Command::queue_discard()]);
                    kinds.push(Kind::QueueTask(0));
                }
                Kind::QueueTask(_) | Kind::QueueAddress(_) => {
                    (0..=255).for_each(|task| more(&Command::queue_read(task, u32::MAX)));
                    kinds.push(Kind::SetBlockCount(BlockCount::Reliable));
                }
                Kind::SetBlockCount(_) => {
                    let contexts = (0..=255).map(BlockCount::Context);
                    let counts =
                        [BlockCount::Reliable, BlockCount::Packed, BlockCount::Tagged].into_iter().chain(contexts);
                    counts.for_each(|count| more(&[Command::set_block_count(count)]));
                    kinds.push(Kind::Erase(EraseHow::Trim));
                }
                Kind::EraseStart(_) | Kind::EraseEnd(_) | Kind::Erase(_) => {
                    for how in EraseHow::ALL {
                        more(&Command::erase(&grant, Bytes::ZERO, Bytes::gib(4), how).unwrap());
                    }
                    kinds.push(Kind::Switch(Setting::FlushCache));
                }
                Kind::Switch(_) => settings().into_iter().for_each(|setting| more(&[Command::switch(setting)])),
                Kind::Sanitize => {}
            }
        }
        all
    }

    fn settings() -> Vec<Setting> {
        let mut all = vec![Setting::FlushCache, Setting::FlushBarrier, Setting::StartBackground, Setting::PoweredOn];
        for on in [false, true] {
            all.extend([Setting::Cache(on), Setting::Barrier(on), Setting::Interrupt(on), Setting::Queue(on)]);
            all.extend((0..=255).map(|number| Setting::Context(number, on)));
        }
        for setting in &all {
            // A setting that is new must be in the list above.
            match setting {
                Setting::FlushCache | Setting::FlushBarrier | Setting::StartBackground | Setting::PoweredOn => {}
                Setting::Cache(_) | Setting::Barrier(_) | Setting::Interrupt(_) | Setting::Queue(_) => {}
                Setting::Context(..) => {}
            }
        }
        all
    }

    #[test]
    fn nothing_but_the_list_can_be_sent() {
        let (mut opcodes, mut places) = (BTreeSet::new(), BTreeSet::from([0]));
        for encoded in all().iter().map(Command::encoded) {
            opcodes.insert(encoded.opcode);
            if encoded.opcode == 6 {
                assert_eq!(encoded.argument & 0xff00_00ff, 0x0300_0001, "writes a byte, and sets or clears no bits");
                places.insert((encoded.argument >> 16) as u8);
            }
        }
        let mut list: BTreeSet<u32> = OPCODES.into();
        list.insert(QUEUE_MANAGEMENT);
        assert_eq!(opcodes, list);
        assert_eq!(places, BTreeSet::from(PLACES));
    }

    #[test]
    fn nothing_that_is_written_once_can_be_set() {
        let fields = table::of(RegisterKind::ExtCsd, Family::Mmc, 0);
        for place in PLACES.into_iter().filter(|place| *place != 0).map(u16::from) {
            let field = fields.iter().find(|field| (field.at..field.at + field.length).contains(&place)).unwrap();
            assert_eq!(field.access, Access::Many, "{}", field.name);
        }
        // Those that engineers fear most, by their names.
        for name in [
            "PARTITION_SETTING_COMPLETED",
            "RST_n_FUNCTION",
            "BKOPS_EN",
            "FW_CONFIG",
            "USER_WP",
            "BOOT_WP",
            "WR_REL_SET",
        ] {
            let field = fields.iter().find(|field| field.name == name).unwrap();
            assert_eq!(field.access, Access::Once, "{name}");
        }
    }

    #[test]
    fn commands_are_those_of_the_standard() {
        let erase = Command::erase(&grant(), Bytes::ZERO, Bytes(5120), EraseHow::Trim)
            .unwrap()
            .map(|command| command.encoded());
        assert_eq!(erase.map(|encoded| (encoded.opcode, encoded.argument)), [(35, 0), (36, 9), (38, 1)]);
        let sanitize = Command::sanitize(&grant(), Bytes::gib(4)).unwrap().encoded();
        assert_eq!((sanitize.opcode, sanitize.argument), (6, 0x03a5_0101));
        assert!(Command::erase(&grant(), Bytes::gib(4), Bytes(512), EraseHow::Trim).is_err(), "beyond the end");
        assert!(Command::erase(&grant(), Bytes::ZERO, Bytes::ZERO, EraseHow::Trim).is_err(), "nothing");
    }
}
