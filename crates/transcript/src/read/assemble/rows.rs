//! Rows go into tables: the open one, or a new one where nothing else shows that it begins.

use super::Reader;
use crate::read::heading::Test;
use crate::read::row::{self, AlignFields, RateRow, Row};
use crate::read::table::{Body, IntervalLine, Table};
use flashscope_model::Direction;
use flashscope_model::observation::Printed;
use flashscope_units::{ByteRate, Bytes};

/// Rows beyond this are left out, so that memory stays bounded; a scatter plot has at most 65 536.
const MAX_ROWS: usize = 1 << 18;
/// Tables beyond this are left out; a long night of measuring makes a few hundred.
const MAX_TABLES: usize = 1 << 12;
/// A row of this number of cells counts as one of [`MAX_ROWS`], a longer one as several.
const CELLS_PER_ROW: usize = 16;

/// Lines that were pasted twice.
#[derive(Default)]
pub(super) struct Repeated {
    count: u32,
    first_line: u32,
}

impl Repeated {
    fn count(&mut self, line: u32) {
        self.first_line = if self.count == 0 { line } else { self.first_line };
        self.count += 1;
    }

    /// A note that says so, where there are repeated lines.
    pub(super) fn note(&self) -> Option<String> {
        let Repeated { count, first_line } = self;
        (*count > 0).then(|| format!("line {first_line}: {count} lines repeat a row of their table and count once"))
    }
}

impl Row {
    /// How much of [`MAX_ROWS`] it takes.
    fn weight(&self) -> usize {
        match self {
            Row::Rates(row) => 1 + row.cells.len() / CELLS_PER_ROW,
            Row::RatesRest(cells) => 1 + cells.len() / CELLS_PER_ROW,
            _ => 1,
        }
    }
}

impl Reader {
    pub(super) fn row(&mut self, number: u32, row: Row, line: &str) {
        self.size_of = None;
        if self.rows >= MAX_ROWS || self.tables.len() >= MAX_TABLES {
            if !self.full {
                self.notes.push(format!(
                    "line {number}: more than {MAX_ROWS} rows or {MAX_TABLES} tables; the rest is left out"
                ));
                self.full = true;
            }
            return;
        }
        if self.repeats(&row) {
            self.repeated.count(number);
            return;
        }
        self.rows += row.weight();
        match row {
            Row::Align { direction, align, fields } => {
                self.align(number, direction, align, fields);
                if fields.iter().any(Option::is_none) {
                    self.wrapped = Some((number, line.to_owned()));
                }
            }
            Row::Rates(row) => self.rates(number, row),
            Row::RatesRest(cells) => self.rates_rest(number, cells),
            Row::Interval { size, fields, rate } => {
                self.interval(number, IntervalLine { size, fields, rate, nanos: None });
            }
            Row::IntervalSummary => self.touch_interval(number),
            Row::IntervalTime { size, nanos } => self.interval_time(number, size, nanos),
            Row::Pair { position, millis, original } => self.pair(number, position, millis, original, line),
        }
    }

    /// Whether the open table has this very row: a line or a part of a screen was pasted twice. Figures of one cell may
    /// be alike by chance, so there the first row of a table may well be the first one of the next.
    fn repeats(&self, row: &Row) -> bool {
        match (row, self.table.as_ref().map(|table| &table.body)) {
            (Row::Align { direction, align, fields }, Some(Body::Align { direction: open, rows })) => {
                direction == open && rows.contains(&(*align, *fields))
            }
            (Row::Rates(row), Some(Body::Rates(rows))) => {
                let same = |known: &RateRow| known.block == row.block && known.cells == row.cells;
                let looped = self.context.command.as_ref().is_some_and(|command| command.open_au_nr.is_each());
                match rows.as_slice() {
                    [only] => same(only) && !(looped && row.cells.len() == 1),
                    [first, .., last] => {
                        same(last) || ((row.cells.len() > 1 || row.block < first.block) && rows.iter().any(same))
                    }
                    [] => false,
                }
            }
            _ => false,
        }
    }

    fn align(&mut self, number: u32, direction: Direction, align: Bytes, fields: AlignFields) {
        if let Some(Table { body: Body::Align { direction: open, rows }, last_line, .. }) = &mut self.table {
            let falls = rows.last().is_none_or(|(last, _)| align < *last);
            if *open == direction && falls {
                rows.push((align, fields));
                *last_line = number;
                return;
            }
        }
        self.open(number, Body::Align { direction, rows: vec![(align, fields)] });
    }

    fn rates(&mut self, number: u32, row: RateRow) {
        if let Some(Table { body: Body::Rates(rows), last_line, .. }) = &mut self.table
            && rows.last().is_none_or(|last| row.block < last.block)
        {
            rows.push(row);
            *last_line = number;
            return;
        }
        self.open(number, Body::Rates(vec![row]));
    }

    fn rates_rest(&mut self, number: u32, cells: Vec<Printed<ByteRate>>) {
        if let Some(Table { body: Body::Rates(rows), last_line, .. }) = &mut self.table
            && let Some(row) = rows.last_mut().filter(|row| row.cells.len() >= 2 && !row.broken)
            && *last_line + 1 == number
            && row.cells.len() + cells.len() <= 4096
        {
            row.cells.extend(cells);
            *last_line = number;
        }
    }

    fn interval(&mut self, number: u32, line: IntervalLine) {
        if let Some(Table { body: Body::Interval(rows), last_line, .. }) = &mut self.table {
            let below = rows.iter().any(|row| row.nanos.is_some());
            if !below && rows.last().is_none_or(|last| line.size > last.size) {
                rows.push(line);
                *last_line = number;
                return;
            }
        }
        self.open(number, Body::Interval(vec![line]));
    }

    fn touch_interval(&mut self, number: u32) {
        if let Some(Table { body: Body::Interval(_), last_line, .. }) = &mut self.table {
            *last_line = number;
        }
    }

    /// The lines below an interval table give its smallest times to the nanosecond.
    fn interval_time(&mut self, number: u32, size: Bytes, nanos: u64) {
        if let Some(Table { body: Body::Interval(rows), last_line, .. }) = &mut self.table {
            let again = rows.iter().rfind(|row| row.nanos.is_some()).is_some_and(|last| last.size >= size);
            if !again {
                *last_line = number;
                match rows.iter_mut().find(|row| row.size == size) {
                    Some(row) => row.nanos = Some(nanos),
                    None => {
                        let at = rows.partition_point(|row| row.size < size);
                        rows.insert(at, IntervalLine { size, nanos: Some(nanos), ..IntervalLine::default() });
                    }
                }
                return;
            }
        }
        self.open(number, Body::Interval(vec![IntervalLine { size, nanos: Some(nanos), ..IntervalLine::default() }]));
    }

    fn pair(&mut self, number: u32, position: f64, millis: f64, original: bool, line: &str) {
        let asked = self.context.command.as_ref().is_some_and(|command| command.scatter);
        let meant = asked || self.context.heading.test == Some(Test::Scatter);
        if !meant && !original {
            self.other_line(line);
            return;
        }
        if let Some(Table { body: Body::Scatter(rows), last_line, .. }) = &mut self.table
            && rows.last().is_none_or(|(last, ..)| position > *last)
        {
            rows.push((position, millis, original));
            *last_line = number;
            return;
        }
        self.open(number, Body::Scatter(vec![(position, millis, original)]));
    }

    /// A row that a terminal or a forum wrapped: read again with the next line behind it.
    pub(super) fn rest_of_row(&mut self, number: u32, line: &str) -> bool {
        let Some((start_line, start)) = self.wrapped.take().filter(|(start_line, _)| start_line + 1 == number) else {
            return false;
        };
        let Some(Table { body: Body::Align { rows, .. }, last_line, .. }) = &mut self.table else { return false };
        let Some((align, fields)) = rows.last_mut() else { return false };
        let filled = |fields: &AlignFields| fields.iter().flatten().count();
        let joined = [format!("{start}{line}"), format!("{start} {line}")];
        let best = joined.iter().filter_map(|text| match row::rows(text).pop() {
            Some(Row::Align { align: again, fields, .. }) if again == *align => Some(fields),
            _ => None,
        });
        let Some(better) = best.max_by_key(filled).filter(|better| filled(better) > filled(fields)) else {
            return false;
        };
        *fields = better;
        *last_line = number;
        if filled(fields) < 4 && start_line + 3 > number && start.len() < 1024 {
            self.wrapped = Some((number, joined[1].clone()));
        }
        true
    }
}
