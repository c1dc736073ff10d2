//! Every experiment, declared once: its parameters, what it leaves behind, its name, and whether it writes.
//!
//! The enums and the walks follow from the one table. What an experiment is in words and what it costs stands beside its
//! parameters ([`Plan`]); what was seen in its data's own struct. A new one is a row here, the two structs, a module in
//! `probe`, and what the compiler then asks for.

use crate::Direction;
use crate::discard;
use crate::finding::words;
use crate::observation as seen;
use crate::plan::{self, Plan};
use flashscope_units::Bytes;
use std::fmt;
use std::sync::Arc;

/// What an experiment is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum About {
    /// Units, pages, orders and areas.
    Geometry,
    /// The table of speeds.
    Speed,
    /// What a controller does beyond that.
    Controller,
}

/// Whether flashbench has an experiment, and a layout for its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// It has.
    Flashbench,
    /// It is ours alone.
    Ours,
}

/// Whether a report draws an experiment beside its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Drawn {
    /// It does.
    Plot,
    /// The table says it all, or the plot is of several experiments together.
    Table,
}

/// Whether the writes of one row of an experiment ought to take alike, so that a far longer one tells of a merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rows {
    /// They ought to.
    Alike,
    /// They differ by design, or there are none.
    Apart,
}

/// Whether an experiment writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Writes {
    /// It only reads.
    Never,
    /// It writes.
    Always,
    /// As its parameters say.
    AsPlanned,
}

/// Rows of `$variant: $plan, $data, $name, $writes, $about, $form, $drawn, $rows`; then those that leave the data of another one.
macro_rules! experiments {
    (
        $d:tt
        $($(#[doc = $doc:literal])+ $variant:ident: $plan:ty, $data:ty, $name:literal, $writes:ident, $about:ident, $form:ident, $drawn:ident, $rows:ident;)+
        same data: $($(#[doc = $also_doc:literal])+ $also:ident: $also_plan:ty, $of:ident, $also_name:literal, $also_writes:ident, $also_about:ident, $also_form:ident, $also_drawn:ident, $also_rows:ident;)+
        other names: $($(#[doc = $other_doc:literal])+ $other:ident: $other_of:ident, $other_name:literal, $other_writes:ident, $other_about:ident, $other_form:ident, $other_drawn:ident, $other_rows:ident;)+
    ) => {
        /// One experiment with all of its parameters.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Experiment {
            $($(#[doc = $doc])+ $variant($plan),)+
            $($(#[doc = $also_doc])+ $also($also_plan),)+
        }

        /// What one experiment saw. What is large is shared, as those who draw conclusions while a run goes on keep hold of it.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Data {
            $($(#[doc = $doc])+ $variant($data),)+
        }

        words! {
            /// The name of an experiment: flashbench's where the experiment is flashbench's, so that tables compare.
            ExperimentName {
                $($(#[doc = $doc])+ $variant = $name,)+
                $($(#[doc = $also_doc])+ $also = $also_name,)+
                $($(#[doc = $other_doc])+ $other = $other_name,)+
            }
        }

        impl ExperimentName {
            /// What it does, in a sentence.
            pub const fn doc(self) -> &'static str {
                match self {
                    $(ExperimentName::$variant => concat!($($doc),+),)+
                    $(ExperimentName::$also => concat!($($also_doc),+),)+
                    $(ExperimentName::$other => concat!($($other_doc),+),)+
                }
            }

            /// Whether it writes.
            pub const fn writes(self) -> Writes {
                match self {
                    $(ExperimentName::$variant => Writes::$writes,)+
                    $(ExperimentName::$also => Writes::$also_writes,)+
                    $(ExperimentName::$other => Writes::$other_writes,)+
                }
            }

            /// What it is for.
            pub const fn about(self) -> About {
                match self {
                    $(ExperimentName::$variant => About::$about,)+
                    $(ExperimentName::$also => About::$also_about,)+
                    $(ExperimentName::$other => About::$other_about,)+
                }
            }

            /// Whether flashbench has it.
            pub const fn form(self) -> Form {
                match self {
                    $(ExperimentName::$variant => Form::$form,)+
                    $(ExperimentName::$also => Form::$also_form,)+
                    $(ExperimentName::$other => Form::$other_form,)+
                }
            }

            /// Whether a report draws it.
            pub const fn drawn(self) -> Drawn {
                match self {
                    $(ExperimentName::$variant => Drawn::$drawn,)+
                    $(ExperimentName::$also => Drawn::$also_drawn,)+
                    $(ExperimentName::$other => Drawn::$other_drawn,)+
                }
            }

            /// Whether the writes of a row ought to take alike.
            pub const fn rows(self) -> Rows {
                match self {
                    $(ExperimentName::$variant => Rows::$rows,)+
                    $(ExperimentName::$also => Rows::$also_rows,)+
                    $(ExperimentName::$other => Rows::$other_rows,)+
                }
            }
        }

        impl Experiment {
            /// Its name.
            pub fn name(&self) -> ExperimentName {
                match self {
                    Experiment::Align(align) if align.direction == Direction::Write => ExperimentName::WriteAlign,
                    $(Experiment::$variant(_) => ExperimentName::$variant,)+
                    $(Experiment::$also(_) => ExperimentName::$also,)+
                }
            }

            /// What will be done, in a few words.
            pub fn describe(&self) -> String {
                match self {
                    $(Experiment::$variant(plan) => plan.describe(),)+
                    $(Experiment::$also(plan) => plan.describe(),)+
                }
            }

            /// Bytes that it writes at most; zero where it only reads.
            pub fn bytes_written(&self) -> Bytes {
                match self {
                    $(Experiment::$variant(plan) => plan.bytes_written(),)+
                    $(Experiment::$also(plan) => plan.bytes_written(),)+
                }
            }
        }

        /// Does the same with the plan of whichever experiment it is: `each_experiment!(experiment, plan => plan.cost(device))`.
        #[macro_export]
        macro_rules! each_experiment {
            ($d experiment:expr, $d plan:ident => $d body:expr) => {
                match $d experiment {
                    $($d crate::Experiment::$variant($d plan) => $d body,)+
                    $($d crate::Experiment::$also($d plan) => $d body,)+
                }
            };
        }

        impl Data {
            /// The experiment that it is of. Writes to several units are flashbench's `-O` in the layout of their table, whoever
            /// made them.
            #[allow(unreachable_patterns, reason = "one of the rows is named otherwise above")]
            pub fn name(&self) -> ExperimentName {
                match self {
                    Data::Align(align) if align.direction == Direction::Write => ExperimentName::WriteAlign,
                    Data::OpenUnits(_) => ExperimentName::OpenAu,
                    $(Data::$variant(_) => ExperimentName::$variant,)+
                }
            }
        }
    };
}

experiments! {
    $
    /// The time of a request that needs no flash: one block read again and again.
    Floor: plan::Floor, seen::FloorData, "floor", Never, Geometry, Ours, Table, Apart;
    /// Reads at random places, to tell written areas from never-written ones.
    Survey: plan::Survey, seen::SurveyData, "survey", Never, Geometry, Ours, Plot, Apart;
    /// Reads around boundaries of every power of two (flashbench `-a`).
    Align: plan::Align, seen::AlignData, "align", AsPlanned, Geometry, Flashbench, Plot, Apart;
    /// Contrasts at random multiples of candidate sizes that are no multiples of larger candidates.
    Boundaries: plan::Boundaries, Arc<seen::BoundariesData>, "boundaries", Never, Geometry, Ours, Plot, Apart;
    /// Reads across every step of a stretch, wherever its boundaries begin.
    Slide: plan::Slide, Arc<seen::SlideData>, "slide", Never, Geometry, Ours, Plot, Apart;
    /// A few rounds of writes, one block in each of several fresh units per round.
    OpenUnits: plan::OpenUnits, seen::OpenUnitsData, "open-units", Always, Geometry, Flashbench, Table, Alike;
    /// Throughput of each of the first units, by block size (flashbench `-f`).
    Fat: plan::Fat, seen::FatData, "fat", Always, Geometry, Flashbench, Plot, Apart;
    /// The first units against control units from elsewhere, interleaved.
    FastArea: plan::FastArea, seen::FastAreaData, "fast-area", AsPlanned, Geometry, Ours, Plot, Alike;
    /// Read time by position (flashbench `-s`).
    Scatter: plan::Scatter, seen::ScatterData, "scatter", Never, Geometry, Flashbench, Plot, Apart;
    /// Read time by size (flashbench `-i`).
    Interval: plan::Interval, seen::IntervalData, "interval", Never, Speed, Flashbench, Table, Apart;
    /// Writes of different content, and reads (flashbench `-p`).
    Program: plan::Program, seen::ProgramData, "program", Always, Geometry, Flashbench, Table, Apart;
    /// Requests of one direction, order and size over one region: a cell of a performance table.
    Throughput: plan::Throughput, seen::ThroughputData, "throughput", AsPlanned, Speed, Ours, Plot, Alike;
    /// Bursts of writes into an empty write buffer.
    Buffer: plan::Buffer, seen::BufferData, "buffer", Always, Controller, Ours, Table, Apart;
    /// Re-reads and runs in both orders: read buffer and read-ahead.
    ReadCache: plan::ReadCache, seen::ReadCacheData, "read-cache", Never, Controller, Ours, Table, Apart;
    /// Long sequential writes after rests.
    SlcCache: plan::SlcCache, seen::SlcCacheData, "slc-cache", Always, Controller, Ours, Table, Alike;
    /// Reads submitted together, at different distances.
    Parallel: plan::Parallel, seen::ParallelData, "parallel", Never, Controller, Ours, Table, Apart;
    /// Random reads within ranges of different length.
    MapReach: plan::MapReach, seen::MapReachData, "map-reach", Never, Controller, Ours, Table, Apart;
    /// Random writes until what they cost is steady.
    Overwrite: plan::Overwrite, seen::OverwriteData, "gc", Always, Controller, Ours, Table, Apart;
    /// Reads of evenly spaced pages, from the last to the first, several times.
    Cells: plan::Cells, seen::CellsData, "cells", Never, Controller, Ours, Table, Apart;
    /// Discards of several sizes, what is read behind them, and what later writes take.
    Discard: discard::Discard, discard::DiscardData, "discard", Always, Controller, Ours, Table, Apart;
    /// Reads, writes and flushes as applications mix them, for a twin.
    Patterns: plan::Patterns, Arc<seen::PatternsData>, "patterns", Always, Controller, Ours, Table, Apart;
    same data:
    /// Writes to several units in turn, from whole units down to a block (flashbench `-O`).
    OpenAu: plan::OpenAu, OpenUnits, "open-au", Always, Geometry, Flashbench, Table, Alike;
    other names:
    /// Writes around boundaries of every power of two, as in the published log of flashbench's private version.
    WriteAlign: Align, "write-align", Always, Geometry, Flashbench, Plot, Apart;
    /// The quick test of the capacity: blocks all over the device, its start behind them, and what reads find.
    Capacity: Survey, "capacity", Always, Controller, Ours, Table, Apart;
}

impl fmt::Display for ExperimentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}
