//! Every finding, declared once: its field, what its figure is, its name in a record, its name for people, and what it rests on.
//!
//! The struct, the enum and the walks below follow from the one table, and everything that lists findings (records, schema,
//! CSV, cautions, reports, the fleet's scores, twins) goes over them by one of the walks. Wire names are written out: a new
//! name for a field leaves them as they are.

use super::{AreaPart, figure::Field};
use super::{
    Collection, Estimate, FastArea, Figure, MappingKind, Penalty, ReadAhead, Reason, SlcCache, UpTo, WriteBuffer,
};
use crate::capacity::Genuineness;
use crate::discard::DiscardFound;
use crate::state::{DataOrder, DataShare, DeviceState};
use flashscope_units::{Bytes, Nanos};

/// What a finding rests on, for cautions that concern all findings of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Basis {
    /// Times of reads.
    Reads,
    /// Times of writes, or of what comes after them.
    Writes,
    /// What reads return.
    Content,
}

/// Something that is done with every finding of a geometry.
pub trait Visit {
    /// Does it with one of them.
    fn visit<F: Figure>(&mut self, finding: Finding, estimate: &Estimate<F>);
}

/// Something that changes every finding of a geometry.
pub trait Change {
    /// Changes one of them.
    fn change<F: Figure>(&mut self, finding: Finding, estimate: &mut Estimate<F>);
}

/// Where the findings of a geometry come from.
pub trait Source {
    /// Why one cannot be had.
    type Error;

    /// One of them.
    ///
    /// # Errors
    /// Why it cannot be had.
    fn estimate<F: Figure>(&mut self, finding: Finding) -> Result<Estimate<F>, Self::Error>;
}

macro_rules! findings {
    ($($(#[doc = $doc:literal])+ $variant:ident: $field:ident, $type:ty, $wire:literal, $label:literal, $basis:ident;)+) => {
        /// How a device is built and what it does by itself: all findings but speeds.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Geometry {
            $($(#[doc = $doc])+ pub $field: Estimate<$type>,)+
        }

        /// Which finding.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Finding {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl Finding {
            /// All of them, in the order of a report.
            pub const ALL: &[Finding] = &[$(Finding::$variant),+];

            /// Its name in records.
            pub const fn wire(self) -> &'static str {
                match self { $(Finding::$variant => $wire,)+ }
            }

            /// Its name for people.
            pub const fn label(self) -> &'static str {
                match self { $(Finding::$variant => $label,)+ }
            }

            /// What it rests on.
            pub const fn basis(self) -> Basis {
                match self { $(Finding::$variant => Basis::$basis,)+ }
            }

            /// What it is, in a sentence or two.
            pub const fn doc(self) -> &'static str {
                match self { $(Finding::$variant => concat!($($doc),+),)+ }
            }

            /// The name of its kind of figure.
            pub const fn figure(self) -> &'static str {
                match self { $(Finding::$variant => <$type as Figure>::NAME,)+ }
            }

            /// The fields of its figure.
            pub const fn fields(self) -> &'static [Field] {
                match self { $(Finding::$variant => <$type as Figure>::FIELDS,)+ }
            }
        }

        impl Geometry {
            /// Nothing is known, for one reason.
            pub fn unknown(reason: Reason) -> Geometry {
                Geometry { $($field: Estimate::unknown(reason, ""),)+ }
            }

            /// Goes over all findings, in the order of [`Finding::ALL`].
            pub fn each(&self, visitor: &mut impl Visit) {
                $(visitor.visit(Finding::$variant, &self.$field);)+
            }

            /// Changes all findings.
            pub fn change(&mut self, change: &mut impl Change) {
                $(change.change(Finding::$variant, &mut self.$field);)+
            }

            /// A geometry whose findings come from elsewhere.
            ///
            /// # Errors
            /// What the source says of the first finding that it cannot give.
            pub fn from_source<S: Source>(source: &mut S) -> Result<Geometry, S::Error> {
                Ok(Geometry { $($field: source.estimate(Finding::$variant)?,)+ })
            }
        }
    };
}

findings! {
    /// What the controller erases, maps and collects as one.
    AllocationUnit: allocation_unit, Bytes, "allocation_unit", "allocation unit", Reads;
    /// Where the first unit begins: 0 on a device whose units are multiples of their size.
    BoundaryOffset: boundary_offset, Bytes, "boundary_offset", "first unit begins at", Reads;
    /// Effective page: read or programmed at once.
    Page: page, Bytes, "page", "page (effective)", Reads;
    /// A page level inside the effective page, where one shows.
    PageInner: page_inner, Bytes, "page_inner", "inner page", Reads;
    /// Units that can be half-written at once when each is written sequentially.
    OpenUnitsLinear: open_units_linear, u32, "open_units_linear", "open units, sequential", Writes;
    /// The same when each is written randomly.
    OpenUnitsRandom: open_units_random, u32, "open_units_random", "open units, random", Writes;
    /// Sequential rate over random rate within one unit.
    RandomOrderPenalty: random_order_penalty, Penalty, "random_order_penalty", "random-order penalty", Writes;
    /// Units at the start that behave differently.
    FastArea: fast_area, FastArea, "fast_area", "fast area", Writes;
    /// The stretches of such an area that are built or handled alike, in the order of their addresses.
    FastAreaParts: fast_area_parts, Vec<AreaPart>, "fast_area_parts", "parts of the fast area", Writes;
    /// Writes up to this size take a separate path through the controller.
    SmallWritePath: small_write_path, UpTo, "small_write_path", "small-write path", Writes;
    /// What the device takes before a write has to wait for the flash. As an upper bound: none that holds more.
    WriteBuffer: write_buffer, WriteBuffer, "write_buffer", "write buffer", Writes;
    /// Whether a power cut loses what the write buffer holds: durable writes and flushes wait for the flash.
    WriteBufferVolatile: write_buffer_volatile, bool, "write_buffer_volatile", "write buffer volatile", Writes;
    /// Whether a read makes the device write its buffer out first.
    WriteBufferFlushedByRead: write_buffer_flushed_by_read, bool, "write_buffer_flushed_by_read", "write buffer flushed by a read", Writes;
    /// How long the device must be left alone until it writes its buffer out by itself.
    WriteBufferFlushWindow: write_buffer_flush_window, Nanos, "write_buffer_flush_window", "write buffer flushed after", Writes;
    /// Bytes read last that are answered without the flash. As an upper bound: none that holds more.
    ReadBuffer: read_buffer, Bytes, "read_buffer", "read buffer", Reads;
    /// What the device reads before it is asked. With a window of nothing it does not read ahead.
    ReadAhead: read_ahead, ReadAhead, "read_ahead", "read-ahead", Reads;
    /// Stalls in which the device does work of its own while a write waits.
    Collection: collection, Collection, "collection", "collection stalls", Writes;
    /// How addresses are mapped.
    Mapping: mapping, MappingKind, "mapping", "mapping", Writes;
    /// Data that one row over all parallel units holds: reads this far apart, or a multiple of it, meet in one unit.
    Stripe: stripe, Bytes, "stripe", "stripe", Reads;
    /// Units that read at the same time: channels times chips on each.
    ParallelUnits: parallel_units, u32, "parallel_units", "parallel units", Reads;
    /// Channels that lead to these units, each moving the data of one at a time.
    Channels: channels, u32, "channels", "channels", Reads;
    /// Part of the flash that is written with one bit per cell first.
    SlcCache: slc_cache, SlcCache, "slc_cache", "SLC cache", Writes;
    /// Idle time after which a full SLC cache takes as much as before.
    SlcCacheRecovery: slc_cache_recovery, Nanos, "slc_cache_recovery", "SLC cache recovery", Writes;
    /// How much of the device the part of the mapping table in memory stands for.
    MapReach: map_reach, Bytes, "map_reach", "mapping-table reach", Reads;
    /// Bits per cell, from the kinds of pages.
    BitsPerCell: bits_per_cell, u32, "bits_per_cell", "bits per cell", Reads;
    /// Units written to the flash per unit that the host writes, under random overwriting of all of it.
    WriteAmplification: write_amplification, f64, "write_amplification", "write amplification", Writes;
    /// Physical capacity over user capacity.
    PhysicalOverUser: physical_over_user, f64, "physical_over_user", "over-provisioning", Writes;
    /// What discarded places read as, from which size on a discard takes effect, what it costs, and what it is good for.
    Discard: discard, DiscardFound, "discard", "discard", Writes;
    /// Whether all of the device is there, and which kind of fake it is otherwise.
    Genuine: genuine, Genuineness, "genuine", "genuine", Content;
    /// Bytes from the start of the device that keep what is written.
    TrueCapacity: true_capacity, Bytes, "true_capacity", "true capacity", Content;
    /// Share of the device that answers without touching the flash, 0…1.
    NeverWritten: never_written, f64, "never_written", "never written", Content;
    /// How much of the device holds data, as times tell it: content alone proves nothing.
    HoldsData: holds_data, DataShare, "holds_data", "holds data", Reads;
    /// In which order what the device holds was written.
    DataOrder: data_order, DataOrder, "data_order", "data order", Reads;
    /// Share of the rated life that is used, as the device's own registers say; above 1 where it is past its end.
    LifeUsed: life_used, f64, "life_used", "life used", Content;
    /// The state that sums this up: the one that decides most.
    State: state, DeviceState, "state", "state", Reads;
}
