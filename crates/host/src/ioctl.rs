//! The ioctls that no safe library wraps: the only `unsafe` of flashscope.
#![allow(unsafe_code)]

use rustix::fd::AsFd;
use rustix::io::Result;
use rustix::ioctl::{Getter, Opcode, Setter, ioctl, opcode};

const BLKDISCARD: Opcode = opcode::none(0x12, 119);
const BLKGETDISKSEQ: Opcode = opcode::read::<u64>(0x12, 128);
/// From before opcodes carried their direction and size (`linux/loop.h`).
const LOOP_GET_STATUS64: Opcode = 0x4c05;

/// Tells the device that a range, in bytes, is no longer needed.
pub(crate) fn discard(device: impl AsFd, offset: u64, length: u64) -> Result<()> {
    // SAFETY: `BLKDISCARD` reads two 64-bit numbers, start and length, through its pointer, and keeps nothing.
    unsafe { ioctl(device, Setter::<BLKDISCARD, [u64; 2]>::new([offset, length])) }
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
    /// Whether it is a block device rather than a file.
    pub(crate) on_device: bool,
}

/// Reads [`LoopStatus`]; `ENXIO` where the loop device is not bound.
pub(crate) fn loop_status(device: impl AsFd) -> Result<LoopStatus> {
    // `struct loop_info64` is 232 bytes, begins with three 64-bit numbers (device, inode, rdevice) and has
    // no field wider than that.
    // SAFETY: `LOOP_GET_STATUS64` writes exactly 232 bytes, and every bit pattern is a valid `[u64; 29]`.
    let raw: [u64; 29] = unsafe { ioctl(device, Getter::<LOOP_GET_STATUS64, [u64; 29]>::new()) }?;
    Ok(LoopStatus { device: raw[0], inode: raw[1], on_device: raw[2] != 0 })
}
