//! What a finding's figure is made of: its fields by name, so that records, CSV and schemas need no copy of them.
//!
//! Field names read big-endian with the unit last (`_ns`, `_bytes`, `_bytes_per_s`, `_ratio`). They are part of the
//! record's format: a new name for a field of a struct leaves them as they are.

use super::{
    AreaKind, AreaPart, BufferLimit, Collection, FastArea, MappingKind, Penalty, ReadAhead, SlcCache, SlcKind, UpTo,
    WriteBuffer,
};
use crate::capacity::Genuineness;
use crate::state::{DataOrder, DeviceState};
use flashscope_units::{ByteRate, Bytes, Nanos};
use std::fmt::Debug;

/// A value that a finding can have.
pub trait Figure: Clone + PartialEq + Debug {
    /// Its name in a schema.
    const NAME: &'static str;
    /// Its fields, in the order of a record.
    const FIELDS: &'static [Field];

    /// Its fields' values, in the order of [`Figure::FIELDS`].
    fn cells(&self) -> Vec<Cell>;

    /// The figure of these values; `None` where one has another kind, or a word is not known.
    fn from_cells(cells: &[Cell]) -> Option<Self>;
}

/// One field of a figure.
#[derive(Debug)]
pub struct Field {
    /// Its name in a record, unit last.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// What it is.
    pub doc: &'static str,
}

/// What a field holds.
#[derive(Debug)]
pub enum Kind {
    /// A whole number.
    Whole,
    /// A number.
    Number,
    /// Yes or no.
    Flag,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Any of the others, or nothing.
    Maybe(&'static Kind),
    /// A list of figures with these fields.
    List(&'static [Field]),
}

/// The value of a field.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// A whole number.
    Whole(u64),
    /// A number.
    Number(f64),
    /// Yes or no.
    Flag(bool),
    /// A word of the format.
    Word(String),
    /// Nothing.
    Absent,
    /// A list of figures.
    List(Vec<Vec<Cell>>),
}

/// A type that is one cell.
pub(crate) trait IntoCell: Sized {
    /// What such a field holds.
    const KIND: Kind;
    /// The cell.
    fn into_cell(self) -> Cell;
    /// The value of a cell of the right kind.
    fn from_cell(cell: &Cell) -> Option<Self>;
}

macro_rules! whole {
    ($($type:ty: $get:expr, $make:expr;)+) => { $(
        impl IntoCell for $type {
            const KIND: Kind = Kind::Whole;
            fn into_cell(self) -> Cell {
                Cell::Whole($get(self))
            }
            fn from_cell(cell: &Cell) -> Option<Self> {
                if let Cell::Whole(value) = cell { $make(*value) } else { None }
            }
        }
    )+ };
}

whole! {
    Bytes: Bytes::get, |value| Some(Bytes(value));
    Nanos: Nanos::get, |value| Some(Nanos(value));
    u32: u64::from, |value: u64| u32::try_from(value).ok();
}

macro_rules! number {
    ($($type:ty: $get:expr, $make:expr;)+) => { $(
        impl IntoCell for $type {
            const KIND: Kind = Kind::Number;
            fn into_cell(self) -> Cell {
                Cell::Number($get(self))
            }
            fn from_cell(cell: &Cell) -> Option<Self> {
                match cell {
                    Cell::Number(value) => Some($make(*value)),
                    Cell::Whole(value) => Some($make(*value as f64)),
                    _ => None,
                }
            }
        }
    )+ };
}

number! {
    f64: |value| value, |value| value;
    ByteRate: ByteRate::get, ByteRate;
}

impl IntoCell for bool {
    const KIND: Kind = Kind::Flag;
    fn into_cell(self) -> Cell {
        Cell::Flag(self)
    }
    fn from_cell(cell: &Cell) -> Option<Self> {
        if let Cell::Flag(yes) = cell { Some(*yes) } else { None }
    }
}

macro_rules! word {
    ($($type:ty),+) => { $(
        impl IntoCell for $type {
            const KIND: Kind = Kind::Word(<$type>::WORDS);
            fn into_cell(self) -> Cell {
                Cell::Word(self.word().to_owned())
            }
            fn from_cell(cell: &Cell) -> Option<Self> {
                if let Cell::Word(word) = cell { <$type>::from_word(word) } else { None }
            }
        }
    )+ };
}

pub(crate) use word;

word!(AreaKind, BufferLimit, Genuineness, MappingKind, SlcKind);

impl<T: IntoCell> IntoCell for Option<T> {
    const KIND: Kind = Kind::Maybe(&T::KIND);
    fn into_cell(self) -> Cell {
        self.map_or(Cell::Absent, T::into_cell)
    }
    fn from_cell(cell: &Cell) -> Option<Self> {
        if *cell == Cell::Absent { Some(None) } else { T::from_cell(cell).map(Some) }
    }
}

/// A figure that is one cell.
macro_rules! single {
    ($($type:ty, $schema:literal, $name:literal, $doc:literal;)+) => { $(
        impl Figure for $type {
            const NAME: &'static str = $schema;
            const FIELDS: &'static [Field] =
                &[Field { name: $name, kind: <$type as IntoCell>::KIND, doc: $doc }];
            fn cells(&self) -> Vec<Cell> {
                vec![self.into_cell()]
            }
            fn from_cells(cells: &[Cell]) -> Option<Self> {
                if let [cell] = cells { Self::from_cell(cell) } else { None }
            }
        }
    )+ };
}

single! {
    Bytes, "Size", "bytes", "The size.";
    u32, "Count", "count", "The number.";
    f64, "Ratio", "ratio", "The ratio.";
    Nanos, "Time", "ns", "The time.";
    bool, "Flag", "yes", "Whether it is so.";
    MappingKind, "Mapping", "kind", "The kind.";
    DataOrder, "DataOrder", "order", "The order.";
    DeviceState, "DeviceState", "name", "Its name.";
    Genuineness, "Genuineness", "kind", "The kind.";
}

/// A figure that is a struct: which of its fields has which name.
macro_rules! figure {
    ($($type:ident, $schema:literal { $($field:ident: $of:ty, $name:literal, $doc:literal;)+ })+) => { $(
        impl Figure for $type {
            const NAME: &'static str = $schema;
            const FIELDS: &'static [Field] = &[
                $(Field { name: $name, kind: <$of as IntoCell>::KIND, doc: $doc },)+
            ];
            fn cells(&self) -> Vec<Cell> {
                vec![$(self.$field.into_cell()),+]
            }
            fn from_cells(cells: &[Cell]) -> Option<Self> {
                let mut cells = cells.iter();
                let figure = $type { $($field: IntoCell::from_cell(cells.next()?)?,)+ };
                cells.next().is_none().then_some(figure)
            }
        }
    )+ };
}

pub(crate) use figure;

figure! {
    UpTo, "UpTo" {
        size: Bytes, "up_to_bytes", "The largest size to which it applies.";
    }
    Penalty, "Penalty" {
        ratio: f64, "ratio", "Sequential rate over random rate.";
        block: Bytes, "at_block_bytes", "The block size at which it was measured.";
        in_order: ByteRate, "in_order_bytes_per_s", "The sequential rate.";
        random: ByteRate, "random_bytes_per_s", "The random rate.";
    }
    FastArea, "Area" {
        first: Bytes, "first_bytes", "Start of the area; with an equal end there is none.";
        end: Bytes, "end_bytes", "End of the area (exclusive).";
        kind: AreaKind, "kind", "How it differs.";
        ratio: f64, "rate_ratio", "Its rate over that of its neighbours at large blocks.";
    }
    AreaPart, "AreaPart" {
        first: Bytes, "first_bytes", "Start of the part.";
        end: Bytes, "end_bytes", "End of the part (exclusive).";
        in_order: Option<f64>, "in_order_ratio", "Rate of long sequential writes over that of units elsewhere; null where not told.";
        small: Option<f64>, "small_ratio", "Rate of small random writes over that of units elsewhere; null where not told.";
        by_page: Option<bool>, "by_page", "Whether random writes are taken without the copies that they cost elsewhere; null where not told.";
    }
    WriteBuffer, "WriteBuffer" {
        size: Bytes, "bytes", "What it holds in writes of `at_block_bytes`.";
        limit: BufferLimit, "limited_by", "What limits it.";
        block: Bytes, "at_block_bytes", "Size of the writes that it was filled with.";
        writes: u32, "writes", "How many of them fit.";
    }
    ReadAhead, "ReadAhead" {
        window: Bytes, "window_bytes", "Bytes behind the last read that are there before they are asked for; 0: it does not read ahead.";
        trigger: u32, "trigger_reads", "Sequential reads after which it begins, the first one included.";
    }
    Collection, "Collection" {
        stall: Nanos, "stall_ns_p50", "Median length of a stall, beyond what such a write takes else.";
        shortest: Nanos, "stall_ns_min", "Shortest stall seen.";
        longest: Nanos, "stall_ns_max", "Longest stall seen.";
        spacing: Bytes, "spacing_bytes", "Bytes written sequentially from one stall to the next, on average.";
    }
    SlcCache, "SlcCache" {
        size: Bytes, "bytes", "Data that it takes before the rate falls. In a bound: data written without a fall.";
        cached: ByteRate, "cached_bytes_per_s", "Rate of long writes while it takes them.";
        after: ByteRate, "after_bytes_per_s", "Rate when it is full; in a bound the same, as no fall was seen.";
        kind: SlcKind, "kind", "Whether its size depends on how full the device is.";
    }
}

/// A list of figures is a figure with one cell.
impl Figure for Vec<AreaPart> {
    const NAME: &'static str = "AreaParts";
    const FIELDS: &'static [Field] = &[Field {
        name: "parts",
        kind: Kind::List(AreaPart::FIELDS),
        doc: "The stretches, in the order of their addresses.",
    }];
    fn cells(&self) -> Vec<Cell> {
        vec![Cell::List(self.iter().map(Figure::cells).collect())]
    }
    fn from_cells(cells: &[Cell]) -> Option<Self> {
        match cells {
            [Cell::List(rows)] => rows.iter().map(|cells| AreaPart::from_cells(cells)).collect(),
            _ => None,
        }
    }
}
