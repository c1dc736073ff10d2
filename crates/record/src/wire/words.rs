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
        /// Something to compare with: what was written in a known order.
        Reference,
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
    /// What a note is about.
    NoteKind mirrors model::finding::NoteKind {
        /// The device is not as large as it says, or does not keep what is written.
        NotGenuine,
        /// A file, or a loop device on one, stands in for a device.
        HostFile,
        /// A log of more than one device.
        SeveralDevices,
        /// Repeats of one experiment contradict each other.
        Contradiction,
        /// The device, or what is behind its name, changed under the test.
        Changed,
        /// The same experiment met a cache of fast cells now empty, now full.
        CacheInBetween,
        /// The head of a table seems to be lost.
        LostHead,
        /// Tables that repeat others figure by figure.
        Copies,
        /// Requests failed.
        Failures,
        /// Experiments were not run to their end.
        CutShort,
        /// Much of the device was never written.
        NeverWritten,
        /// Writes went to units of another size than the device's.
        AssumedUnit,
        /// Times of one row fall into two classes.
        TwoClasses,
        /// A step in an align table may be the diluted one of a larger unit.
        DilutedStep,
        /// The start of the device is shifted against its units.
        Shifted,
        /// Boundaries that fit no level.
        NotUnderstood,
        /// Questions that the budget left open.
        LeftOpen,
        /// The plan went on for longer than any should.
        TooManySteps,
        /// The next experiment of the plan does not fit the device.
        PlanEnded,
        /// The record was kept while the run went on, which never came to its end.
        Unfinished,
        /// The findings were drawn anew from an earlier record.
        DrawnAnew,
        /// What was noticed when a log was read.
        Log,
        /// No table was found in a log.
        NoTable,
        /// An older record's remark that weakens an answer.
        OtherWarning,
        /// An older record's remark that is good to know.
        OtherInfo,
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
