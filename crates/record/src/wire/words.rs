//! The closed sets of words that the format uses.

use crate::mirror::words;
use flashscope_model as model;

words! {
    /// Which way data moves.
    Direction mirrors model::Direction {
        /// From the device.
        Read,
        /// To the device.
        Write,
    }
}

words! {
    /// The order in which the blocks of a region are visited.
    Order mirrors model::Order {
        /// Rising addresses.
        InOrder,
        /// A pseudo-random permutation.
        Random,
    }
}

words! {
    /// The class of a device.
    DeviceKind mirrors model::DeviceKind {
        /// SD or microSD card on a native host.
        SdCard,
        /// eMMC, alone or in an eMCP.
        Emmc,
        /// UFS.
        Ufs,
        /// Anything behind USB: sticks, card readers, bridges.
        Usb,
        /// NVMe drive.
        Nvme,
        /// SATA or SAS drive.
        Scsi,
        /// Paravirtual disk.
        Virtio,
        /// Loop device.
        Loop,
        /// A loop device on a file that a program answers for.
        Emulated,
        /// A regular file.
        File,
        /// A block device of another class.
        Other,
    }
}

words! {
    /// State of the area that an experiment touched.
    AreaState mirrors model::observation::AreaState {
        /// Nobody knows.
        Unknown,
        /// Never written, or discarded.
        Blank,
        /// Written once in rising order.
        FilledInOrder,
        /// Written at random.
        Scattered,
    }
}

words! {
    /// What a printed figure summarises.
    Statistic mirrors model::observation::Statistic {
        /// The mean over places of the minimum over tries.
        MeanOfMinima,
        /// The mean.
        Mean,
        /// The smallest.
        Minimum,
        /// The largest.
        Maximum,
        /// Bytes over time of a whole region.
        Throughput,
    }
}

words! {
    /// What a throughput figure is for.
    Purpose mirrors model::plan::Purpose {
        /// A cell of the performance table.
        Performance,
        /// One unit, in order against random.
        OneUnit,
        /// Bringing an area into the state that a later experiment assumes.
        Fill,
    }
}

words! {
    /// What is timed behind a burst of writes.
    Then mirrors model::plan::Then {
        /// A flush.
        Flush,
        /// A read elsewhere.
        Read,
        /// One more write.
        Write,
    }
}

words! {
    /// What a write buffer runs out of.
    BufferLimit mirrors model::finding::BufferLimit {
        /// Bytes.
        Bytes,
        /// Entries: so many writes, whatever their size.
        Entries,
        /// Only one size was tried, so nobody knows.
        Unknown,
    }
}

words! {
    /// How an area differs from its neighbours.
    AreaKind mirrors model::finding::AreaKind {
        /// No different area: tested, and none found.
        None,
        /// Faster.
        Faster,
        /// Slower.
        Slower,
        /// Slower for large blocks and faster for small ones, or the other way round.
        Mixed,
    }
}

words! {
    /// How addresses are mapped.
    MappingKind mirrors model::drive::MappingKind {
        /// Every page can lie anywhere.
        Page,
        /// Units are mapped as wholes; an open one has a log that takes its writes in any order.
        UnitLog,
        /// Units are mapped as wholes; an open one takes writes in order, and any other is merged at once.
        UnitInOrder,
        /// None of these fits what was seen.
        Other,
    }
}

words! {
    /// Whether the size of an SLC cache depends on how full the device is.
    SlcKind mirrors model::drive::SlcKind {
        /// Nobody tried at different fills.
        Untested,
        /// The same at every fill that was tried.
        Static,
        /// Smaller on a fuller device.
        Dynamic,
    }
}

words! {
    /// How grave a note is.
    Severity mirrors model::finding::Severity {
        /// Good to know.
        Info,
        /// Weakens an answer.
        Warning,
    }
}
