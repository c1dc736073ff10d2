//! The ioctls that no safe library wraps: the only `unsafe` of flashscope.
#![allow(unsafe_code)]

use flashscope_registers::{Command, Encoded};
use rustix::fd::AsFd;
use rustix::io::Result;
use rustix::ioctl::{Getter, Ioctl, IoctlOutput, NoArg, Opcode, Setter, Updater, ioctl, opcode};
use std::ffi::c_void;

/// Discards a range (`linux/fs.h`).
const BLKDISCARD: Opcode = opcode::none(0x12, 119);
/// Discards a range, and copies of it inside the device (`linux/fs.h`).
const BLKSECDISCARD: Opcode = opcode::none(0x12, 125);
/// One command to an MMC part (`linux/mmc/ioctl.h`).
const MMC_IOC_CMD: Opcode = opcode::read_write::<MmcCommand>(179, 0);
/// Several commands that nothing comes between; its size is that of the count alone.
const MMC_IOC_MULTI_CMD: Opcode = opcode::read_write::<u64>(179, 1);
/// Sequence number of a disk (`linux/fs.h`, from Linux 5.15 on).
const BLKGETDISKSEQ: Opcode = opcode::read::<u64>(0x12, 128);
/// From before opcodes carried their direction and size (`linux/loop.h`).
const LOOP_GET_STATUS64: Opcode = 0x4c05;
/// Detaches the backing file.
const LOOP_CLR_FD: Opcode = 0x4c01;
/// Takes over the size of the backing file.
const LOOP_SET_CAPACITY: Opcode = 0x4c07;
/// Attaches a backing file with all settings at once (from Linux 5.8 on).
const LOOP_CONFIGURE: Opcode = 0x4c0a;
/// Asks the control device for a free loop device.
const LOOP_CTL_GET_FREE: Opcode = 0x4c82;

/// Tells the device that a range, in bytes, is no longer needed.
pub(crate) fn discard(device: impl AsFd, offset: u64, length: u64) -> Result<()> {
    // SAFETY: `BLKDISCARD` reads two 64-bit numbers, start and length, through its pointer, and keeps nothing.
    unsafe { ioctl(device, Setter::<BLKDISCARD, [u64; 2]>::new([offset, length])) }
}

/// The same for the copies that the device made of it inside, too; `EOPNOTSUPP` where it has no such discard.
pub(crate) fn secure_discard(device: impl AsFd, offset: u64, length: u64) -> Result<()> {
    // SAFETY: `BLKSECDISCARD` reads two 64-bit numbers, start and length, through its pointer, and keeps nothing.
    unsafe { ioctl(device, Setter::<BLKSECDISCARD, [u64; 2]>::new([offset, length])) }
}

/// `struct mmc_ioc_cmd` of `linux/mmc/ioctl.h`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MmcCommand {
    /// Whether data goes to the part; 0 where it comes from it, or there is none.
    write_flag: i32,
    is_acmd: i32,
    /// Number of the command.
    opcode: u32,
    argument: u32,
    /// What the part answered.
    response: [u32; 4],
    /// Kind of response and of command (`linux/mmc/core.h`).
    flags: u32,
    /// Bytes of a block, and blocks, of the data.
    block_size: u32,
    blocks: u32,
    postsleep: [u32; 2],
    data_timeout_ns: u32,
    /// How long the part may be busy.
    timeout_ms: u32,
    padding: u32,
    /// Address of the data; 0: none.
    data: u64,
}

impl MmcCommand {
    /// One of the commands that flashscope sends: their list is in `registers`, and no other is made.
    pub(crate) fn of(command: &Command) -> MmcCommand {
        /// Kinds of a command's response (`linux/mmc/core.h`): R1, R1b (after which the part is busy), and R1 with data.
        const R1: u32 = 0x15;
        const R1B: u32 = 0x1d;
        const DATA_R1: u32 = 0x35;
        let Encoded { opcode, argument, is_busy, reads, timeout_ms } = command.encoded();
        let flags = match (is_busy, reads > 0) {
            (true, _) => R1B,
            (false, true) => DATA_R1,
            (false, false) => R1,
        };
        MmcCommand {
            write_flag: 0,
            is_acmd: 0,
            opcode,
            argument,
            response: [0; 4],
            flags,
            block_size: 0,
            blocks: 0,
            postsleep: [0; 2],
            data_timeout_ns: 0,
            timeout_ms,
            padding: 0,
            data: 0,
        }
    }

    /// The status word of its response.
    pub(crate) fn status(&self) -> u32 {
        self.response[0]
    }
}

const _: () = assert!(size_of::<MmcCommand>() == 72, "16 numbers of 4 bytes, and an address");

/// Bytes of an eMMC part's extended register.
pub(crate) const EXT_CSD: usize = flashscope_registers::EXT_CSD_BYTES;

/// Reads an eMMC part's extended register; `EPERM` without the right to, `ENOTTY` where it is no such part.
pub(crate) fn mmc_ext_csd(device: impl AsFd) -> Result<[u8; EXT_CSD]> {
    let mut data = [0u8; EXT_CSD];
    let mut command = MmcCommand {
        block_size: EXT_CSD as u32,
        blocks: 1,
        // The kernel writes through an address that it is given as a number, which the compiler must know of.
        data: (&raw mut data).expose_provenance() as u64,
        ..MmcCommand::of(&Command::send_ext_csd())
    };
    // SAFETY: `MMC_IOC_CMD` reads and writes exactly one `struct mmc_ioc_cmd` (72 bytes, the layout of `MmcCommand`) through
    // its pointer. It writes `block_size` × `blocks` = 512 bytes to `data`, which is that large and outlives the call.
    unsafe { ioctl(device, Updater::<MMC_IOC_CMD, MmcCommand>::new(&mut command)) }?;
    Ok(data)
}

/// Commands without data, one after another, with nothing in between; the status of the last.
pub(crate) fn mmc_commands<const N: usize>(device: impl AsFd, commands: [Command; N]) -> Result<u32> {
    /// `struct mmc_ioc_multi_cmd`.
    #[repr(C)]
    struct Multi<const N: usize> {
        count: u64,
        commands: [MmcCommand; N],
    }
    let mut multi = Multi { count: N as u64, commands: commands.map(|command| MmcCommand::of(&command)) };
    // SAFETY: `MMC_IOC_MULTI_CMD` reads a count and as many `struct mmc_ioc_cmd` through its pointer, which is the layout of
    // `Multi`, and writes the responses back into them. None has data, as `MmcCommand::of` makes none with, so that no other
    // memory is touched.
    unsafe { ioctl(device, Updater::<MMC_IOC_MULTI_CMD, Multi<N>>::new(&mut multi)) }?;
    Ok(multi.commands.last().map_or(0, MmcCommand::status))
}

/// The number that the kernel gives every new disk or medium: never used twice until it boots again.
/// Linux 5.15 or later.
pub(crate) fn disk_sequence(device: impl AsFd) -> Result<u64> {
    // SAFETY: `BLKGETDISKSEQ` writes exactly one 64-bit number through its pointer.
    unsafe { ioctl(device, Getter::<BLKGETDISKSEQ, u64>::new()) }
}

/// What a loop device stands on, whatever the paths say by now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LoopStatus {
    /// `st_dev` of the backing file.
    pub(crate) device: u64,
    /// Its inode number.
    pub(crate) inode: u64,
    /// `st_rdev` where that is a block device; `None` for a regular file.
    pub(crate) block_device: Option<u64>,
}

/// Reads [`LoopStatus`]; `ENXIO` where the loop device is not bound.
pub(crate) fn loop_status(device: impl AsFd) -> Result<LoopStatus> {
    // `struct loop_info64` is 232 bytes, begins with three 64-bit numbers (device, inode, rdevice) and has
    // no field wider than that.
    // SAFETY: `LOOP_GET_STATUS64` writes exactly 232 bytes, and every bit pattern is a valid `[u64; 29]`.
    let raw: [u64; 29] = unsafe { ioctl(device, Getter::<LOOP_GET_STATUS64, [u64; 29]>::new()) }?;
    Ok(LoopStatus { device: raw[0], inode: raw[1], block_device: (raw[2] != 0).then_some(raw[2]) })
}

/// `struct loop_config` of `linux/loop.h`, with the parts of its `struct loop_info64` that are used spelt out.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct LoopConfig {
    /// Descriptor of the backing file.
    pub(crate) fd: u32,
    /// Logical block size in bytes.
    pub(crate) block_size: u32,
    /// Device, inode, rdevice (all set by the kernel), offset and size limit in bytes (0: to the end).
    head: [u64; 5],
    /// Number (set by the kernel), encryption type and key size (no longer used).
    middle: [u32; 3],
    /// `LO_FLAGS_*`.
    pub(crate) flags: u32,
    /// Path of the backing file, for those who look; ends with a zero.
    pub(crate) file_name: [u8; 64],
    /// Encryption name and key, two words for init, eight reserved words.
    tail: [u64; 22],
}

impl LoopConfig {
    /// All zero.
    pub(crate) const fn new() -> LoopConfig {
        LoopConfig { fd: 0, block_size: 0, head: [0; 5], middle: [0; 3], flags: 0, file_name: [0; 64], tail: [0; 22] }
    }
}

const _: () = assert!(size_of::<LoopConfig>() == 304, "two numbers of 4 bytes, 232 of loop_info64, 64 reserved");

/// Binds a loop device in one step; Linux 5.8 or later.
pub(crate) fn loop_configure(device: impl AsFd, config: LoopConfig) -> Result<()> {
    // SAFETY: `LOOP_CONFIGURE` reads exactly one `struct loop_config` (304 bytes, the layout of `LoopConfig`)
    // through its pointer and keeps nothing of it. A bad descriptor in it is an `EBADF`.
    unsafe { ioctl(device, Setter::<LOOP_CONFIGURE, LoopConfig>::new(config)) }
}

/// Unbinds a loop device; where others have it open, it goes with the last of them.
pub(crate) fn loop_clear(device: impl AsFd) -> Result<()> {
    // SAFETY: `LOOP_CLR_FD` takes no argument.
    unsafe { ioctl(device, NoArg::<LOOP_CLR_FD>::new()) }
}

/// Takes over what the backing file is long by now.
pub(crate) fn loop_set_capacity(device: impl AsFd) -> Result<()> {
    // SAFETY: `LOOP_SET_CAPACITY` takes no argument.
    unsafe { ioctl(device, NoArg::<LOOP_SET_CAPACITY>::new()) }
}

/// The number of a loop device that is not bound; makes one where there is none. Asked of `/dev/loop-control`.
pub(crate) fn loop_free(control: impl AsFd) -> Result<u32> {
    // SAFETY: `LOOP_CTL_GET_FREE` takes no argument and answers with its return value.
    unsafe { ioctl(control, GetFree) }
}

/// An ioctl whose answer is its return value.
struct GetFree;

// SAFETY: the opcode is that of the ioctl that is meant, no pointer is passed, and nothing is read from one.
unsafe impl Ioctl for GetFree {
    type Output = u32;
    const IS_MUTATING: bool = false;

    fn opcode(&self) -> Opcode {
        LOOP_CTL_GET_FREE
    }

    fn as_ptr(&mut self) -> *mut c_void {
        std::ptr::null_mut()
    }

    unsafe fn output_from_ptr(out: IoctlOutput, _: *mut c_void) -> Result<u32> {
        Ok(out as u32)
    }
}
