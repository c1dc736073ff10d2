//! Tables as they stand in a log, before they become observations.

use super::command::Command;
use super::figure::TimeFigure;
use super::heading::Heading;
use super::row::{AlignFields, RateRow};
use flashscope_model::Direction;
use flashscope_units::Bytes;
use std::rc::Rc;

/// A table as it stands in the log.
#[derive(Clone, Debug)]
pub(super) struct Table {
    pub(super) first_line: u32,
    pub(super) last_line: u32,
    pub(super) context: Context,
    pub(super) body: Body,
    /// It was to have more rows.
    pub(super) cut: bool,
}

/// Rows of one test.
#[derive(Clone, Debug)]
pub(super) enum Body {
    Align {
        direction: Direction,
        rows: Vec<(Bytes, AlignFields)>,
    },
    Rates(Vec<RateRow>),
    Interval(Vec<IntervalLine>),
    /// Position in MiB, time in milliseconds, spelt as the original does.
    Scatter(Vec<(f64, f64, bool)>),
}

/// One size of an interval table.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct IntervalLine {
    pub(super) size: Bytes,
    pub(super) fields: [Option<TimeFigure>; 3],
    pub(super) rate: Option<(f64, f64)>,
    /// The smallest time from the lines below the table.
    pub(super) nanos: Option<u64>,
}

/// What is known of the tables that follow.
#[derive(Clone, Debug, Default)]
pub(super) struct Context {
    pub(super) command: Option<Rc<Command>>,
    pub(super) heading: Heading,
    /// Number of the table under the same command.
    pub(super) turn: usize,
}
