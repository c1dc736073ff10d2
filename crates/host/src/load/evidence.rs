//! What surrounds a run and tells where its bytes went: memory counters, the device's own counters, residency.
//!
//! Nothing is concluded here: [`Sample`]s are what the kernel says, before and after.

use super::residency;
pub use super::residency::Residency;
use crate::sysfs::{DeviceNumber, SysRoot};
use flashscope_units::{Bytes, Nanos};
use rustix::fd::OwnedFd;

/// What the kernel says at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// Of `/proc/meminfo`.
    pub memory: Memory,
    /// Pages that the kernel read from and wrote to disks, of `/proc/vmstat` (`pgpgin`, `pgpgout`).
    pub paged: Option<(Bytes, Bytes)>,
    /// The device's counters; `None` where there is no device (a file in memory).
    pub device: Option<DeviceCounters>,
    /// What of the span is in the page cache; `None` where that cannot be told.
    pub residency: Option<Residency>,
}

/// Of `/proc/meminfo`; a counter that this kernel lacks is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// Page cache.
    pub cached: Option<Bytes>,
    /// Cache of block devices.
    pub buffers: Option<Bytes>,
    /// To be written.
    pub dirty: Option<Bytes>,
    /// Being written.
    pub writeback: Option<Bytes>,
    /// Slab that can be given back.
    pub reclaimable: Option<Bytes>,
}

/// Of `/sys/dev/block/MAJOR:MINOR/stat`, since the device came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceCounters {
    /// Reads that ended.
    pub reads: u64,
    /// Bytes read.
    pub read: Bytes,
    /// Writes that ended.
    pub writes: u64,
    /// Bytes written.
    pub written: Bytes,
    /// Flushes that ended; `None` before Linux 5.5.
    pub flushes: Option<u64>,
    /// Time of flushes; `None` before Linux 5.5.
    pub flushing: Option<Nanos>,
    /// Time with a read or write outstanding: the kernel does not count flushes in it.
    pub busy: Nanos,
}

/// Takes samples for one file.
#[derive(Clone, Debug)]
pub struct Sampler {
    sys: SysRoot,
    device: Option<DeviceNumber>,
}

impl Sampler {
    pub(super) fn new(sys: &SysRoot, device: Option<DeviceNumber>) -> Sampler {
        Sampler { sys: sys.clone(), device }
    }

    pub(super) fn device(&self) -> Option<DeviceNumber> {
        self.device
    }

    /// Now; of the `length` bytes from `offset` of `file`.
    pub(super) fn sample(&self, file: &OwnedFd, offset: u64, length: u64) -> Sample {
        let mut sample = self.quick();
        sample.residency = residency::residency(file, offset, length);
        sample
    }

    /// Now, without residency, whose cost grows with the file.
    pub fn quick(&self) -> Sample {
        let text = |path: &str| self.sys.text(path).unwrap_or_default();
        let counters = self.device.and_then(|number| {
            device_counters(&self.sys.text(format!("/sys/dev/block/{}:{}/stat", number.major, number.minor))?)
        });
        Sample {
            memory: memory(&text("/proc/meminfo")),
            paged: paged(&text("/proc/vmstat")),
            device: counters,
            residency: None,
        }
    }
}

fn memory(text: &str) -> Memory {
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        line.trim().strip_suffix("kB")?.trim().parse().ok().map(Bytes::kib)
    };
    Memory {
        cached: field("Cached"),
        buffers: field("Buffers"),
        dirty: field("Dirty"),
        writeback: field("Writeback"),
        reclaimable: field("SReclaimable"),
    }
}

fn paged(text: &str) -> Option<(Bytes, Bytes)> {
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
        line.trim().parse().ok().map(Bytes::kib)
    };
    Some((field("pgpgin")?, field("pgpgout")?))
}

/// Fields as in the kernel's `Documentation/block/stat.rst`; sectors there are always 512 bytes.
pub(super) fn device_counters(text: &str) -> Option<DeviceCounters> {
    let fields: Vec<u64> = text.split_whitespace().map(str::parse).collect::<Result<_, _>>().ok()?;
    let at = |index: usize| fields.get(index).copied();
    Some(DeviceCounters {
        reads: at(0)?,
        read: Bytes::SECTOR * at(2)?,
        writes: at(4)?,
        written: Bytes::SECTOR * at(6)?,
        flushes: at(15),
        flushing: at(16).map(Nanos::millis),
        busy: Nanos::millis(at(9)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_counters_are_read() {
        let stat = "  100 0 800 5 200 3 1600 9 0 42 14 0 0 0 0 7 1\n";
        let expect = DeviceCounters {
            reads: 100,
            read: Bytes(800 * 512),
            writes: 200,
            written: Bytes(1600 * 512),
            flushes: Some(7),
            flushing: Some(Nanos::millis(1)),
            busy: Nanos::millis(42),
        };
        assert_eq!(device_counters(stat), Some(expect));
        assert_eq!(device_counters("1 2 3"), None);
        assert_eq!(device_counters("100 0 800 5 200 3 1600 9 0 42 14").and_then(|found| found.flushes), None);
        let found = memory("MemTotal: 5 kB\nCached:  12 kB\nDirty: 0 kB\nSwapCached: 9 kB\n");
        assert_eq!((found.cached, found.dirty, found.writeback), (Some(Bytes::kib(12)), Some(Bytes::ZERO), None));
        assert_eq!(paged("pgpgin 7\npgpgout 9\n"), Some((Bytes::kib(7), Bytes::kib(9))));
        assert_eq!(paged("pgpgin 7\n"), None);
    }
}
