//! The seam: commands in, answers out. A real part answers through the kernel, a simulated one by its state machine.

use crate::{Command, Registers};
use flashscope_device::{DeviceError, Target};
use flashscope_units::{Bytes, Nanos};

/// A part that takes commands beside requests. Both go over one bus, so that one owner drives it.
pub trait Part: Target {
    /// Sends commands that nothing comes between, and says what came of the last; the first that fails is the last.
    ///
    /// # Errors
    /// The host does not send such a command, or the part is gone.
    fn send(&mut self, commands: &[Command]) -> Result<Reply, NotSent>;

    /// The registers beside EXT_CSD, which [`Command::send_ext_csd`] reads.
    fn registers(&self) -> &Registers;

    /// How large the host sees each boot partition; `None` where it does not show them.
    fn boot_partition(&self) -> Option<Bytes>;
}

/// What a part answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// Its status word (R1), …
    pub status: u32,
    /// … the data that it sent, …
    pub data: Vec<u8>,
    /// … and how long it took until it was ready again.
    pub took: Nanos,
}

/// Why a command was not sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotSent {
    /// The host does not send it; why.
    ByHost(String),
    /// The part does not answer.
    Gone(DeviceError),
}

/// Bits of the status that say that a command failed (`linux/mmc/mmc.h`, JESD84-B51 6.13), and what each says.
const ERRORS: [(u8, &str); 9] = [
    (31, "the address is out of range"),
    (30, "the address is misaligned"),
    (28, "the sequence of erase commands is wrong"),
    (27, "the range of an erase is wrong"),
    (26, "write-protected"),
    (22, "the part knows no such command"),
    (20, "an error of its controller"),
    (19, "an error"),
    (7, "the part does not take this setting"),
];

/// The part knows no such command.
pub(crate) const ILLEGAL: u32 = 1 << 22;
/// The part does not take this setting.
pub(crate) const SWITCH_ERROR: u32 = 1 << 7;
/// An error that has no bit of its own.
pub(crate) const ERROR: u32 = 1 << 19;

impl Reply {
    /// What the status says went wrong; `None` where nothing did.
    pub fn failed(&self) -> Option<&'static str> {
        ERRORS.iter().find(|(bit, _)| self.status >> bit & 1 == 1).map(|(_, what)| *what)
    }
}
