//! Groups rows into tables: which command or heading a table stands under, where it ends, and where
//! the next one begins although nothing is said.

use super::command::{self, Command};
use super::convert;
use super::figure::TimeFigure;
use super::heading::{self, Heading, Test};
use super::identity::{self, Fact};
use super::row::{self, AlignFields, RateRow, Row};
use super::{LogDevice, Parsed, SEVERAL_DEVICES, clean, ending};
use flashscope_model::{Direction, Observations};
use flashscope_units::Bytes;
use std::mem::{Discriminant, discriminant};
use std::rc::Rc;

/// Rows beyond this are left out, so that memory stays bounded; a scatter plot has at most 65 536.
const MAX_ROWS: usize = 1 << 18;
/// Tables beyond this are left out; a long night of measuring makes a few hundred.
const MAX_TABLES: usize = 1 << 12;
/// A row of so many cells counts as one of [`MAX_ROWS`], a longer one as several.
const CELLS_PER_ROW: usize = 16;
/// Notes beyond this are left out.
const MAX_NOTES: usize = 200;
/// Lines that one command may take.
const MAX_COMMAND_LINES: u32 = 16;
/// Statements about the device beyond this are left out.
const MAX_FACTS: usize = 256;

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

/// Reads all tables of a text.
pub(super) fn assemble(text: &str) -> Parsed {
    let mut reader = Reader::default();
    for (number, line) in clean::lines(text) {
        for piece in clean::pieces(line) {
            reader.read(number, &piece);
        }
    }
    reader.finish(text)
}

#[derive(Default)]
struct Reader {
    context: Context,
    /// Heading without a count that the ones below it belong to.
    section: Heading,
    table: Option<Table>,
    /// Which test the last table under this command was of.
    last: Option<Discriminant<Body>>,
    tables: Vec<Table>,
    rows: usize,
    /// No more rows are taken.
    full: bool,
    /// A command that goes on in the next line.
    unfinished: Option<(String, u32)>,
    /// The line of the last row, where the row may go on in the next line.
    wrapped: Option<(u32, String)>,
    /// The next line may be a size in these units.
    size_of: Option<(u64, Option<String>)>,
    device: LogDevice,
    facts: Vec<Fact>,
    paths: Vec<String>,
    /// The disk of the first test.
    tested: Option<String>,
    notes: Vec<String>,
    /// Lines that repeat a row of their table.
    repeated: Repeated,
    /// Why the log is about more than one device, where it is.
    several: Option<String>,
}

/// Lines that were pasted twice.
#[derive(Default)]
struct Repeated {
    count: u32,
    first_line: u32,
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
    fn read(&mut self, number: u32, line: &str) {
        let line = clean::without_prefix(line);
        if line.trim().is_empty() {
            return;
        }
        if let Some((mut start, lines)) = self.unfinished.take() {
            start.truncate(start.trim_end().trim_end_matches('\\').len());
            // Each line of a quoted command has a mark of its own, which is no redirection.
            let rest = line.trim_start_matches(['>', '|', ' ', '\t']);
            self.command_line(&format!("{start} {rest}"), lines + 1);
            return;
        }
        let rows = row::rows(line);
        if !rows.is_empty() {
            self.wrapped = None;
            for row in rows {
                self.row(number, row, line);
            }
            return;
        }
        if self.command_line(line, 1) {
            return;
        }
        if self.rest_of_command(line) || self.rest_of_row(number, line) {
            return;
        }
        self.other_line(line);
    }

    fn command_line(&mut self, line: &str, lines: u32) -> bool {
        let Some(command) = command::read(line) else { return false };
        self.close();
        if command.open_ended && lines < MAX_COMMAND_LINES {
            self.unfinished = Some((line.to_owned(), lines));
        }
        if let Some(path) = &command.path {
            self.path(path.clone());
            self.tested(path);
        }
        if command.asks_for_a_test() || command.open_ended {
            self.context = Context { command: Some(Rc::new(command)), ..Context::default() };
            self.last = None;
            self.section = Heading::default();
        }
        true
    }

    /// A command that a forum wrapped without a backslash: options and nothing else, before any row.
    fn rest_of_command(&mut self, line: &str) -> bool {
        let options = line.trim_start().starts_with("--") || line.trim_start().starts_with("/dev/");
        let Some(command) = self.context.command.as_ref().filter(|_| options && self.table.is_none()) else {
            return false;
        };
        let more = command::read(&format!("flashbench {line} -"));
        let Some(more) = more else { return false };
        let merged = Rc::new(command.as_ref().clone().and(more));
        if let Some(path) = &merged.path {
            self.path(path.clone());
        }
        self.context.command = Some(merged);
        true
    }

    fn row(&mut self, number: u32, row: Row, line: &str) {
        self.size_of = None;
        if self.rows >= MAX_ROWS || self.tables.len() >= MAX_TABLES {
            if !self.full {
                self.note(format!(
                    "line {number}: more than {MAX_ROWS} rows or {MAX_TABLES} tables; the rest is left out"
                ));
                self.full = true;
            }
            return;
        }
        if self.repeats(&row) {
            self.repeated.first_line = if self.repeated.count == 0 { number } else { self.repeated.first_line };
            self.repeated.count += 1;
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

    fn rates_rest(
        &mut self,
        number: u32,
        cells: Vec<flashscope_model::observation::Printed<flashscope_units::ByteRate>>,
    ) {
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
    fn rest_of_row(&mut self, number: u32, line: &str) -> bool {
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

    fn other_line(&mut self, line: &str) {
        if let Some((unit, path)) = self.size_of.take()
            && let Ok(count) = line.trim().parse::<u64>()
            && let Some(bytes) = count.checked_mul(unit)
        {
            self.fact(Fact::Size(path, Bytes(bytes)));
            return;
        }
        self.size_of = identity::size_command(line);
        let facts = identity::facts(line);
        let silent = facts.is_empty();
        facts.into_iter().for_each(|fact| self.fact(fact));
        if self.size_of.is_none() && silent {
            match heading::read(line) {
                Some(heading) => self.heading(heading),
                None if is_other_command(line) => self.forget(),
                None => {}
            }
        } else if self.size_of.is_some() {
            self.forget();
        }
    }

    fn heading(&mut self, heading: Heading) {
        self.close();
        let heading = heading.within(self.section);
        if heading.count.is_none() {
            self.section = heading;
        }
        let command = self.context.command.take().filter(|command| asks_for(command, heading.test));
        self.context = Context { command, heading, turn: self.context.turn };
    }

    /// Another program's output follows.
    fn forget(&mut self) {
        self.close();
        self.last = None;
        self.context = Context::default();
        self.section = Heading::default();
    }

    fn open(&mut self, number: u32, body: Body) {
        self.close();
        let test = discriminant(&body);
        self.context.turn += usize::from(self.last == Some(test));
        self.last = Some(test);
        self.table =
            Some(Table { first_line: number, last_line: number, context: self.context.clone(), body, cut: false });
    }

    fn close(&mut self) {
        self.wrapped = None;
        self.tables.extend(self.table.take());
    }

    fn fact(&mut self, fact: Fact) {
        match fact {
            Fact::Size(_, size) if size > Bytes::LARGEST => {}
            Fact::Field(field, value) => {
                let slot = field.of(&mut self.device);
                match slot {
                    None => *slot = Some(value),
                    Some(old) if *old != value && field == identity::Field::Cid => {
                        let why = format!("CID {old} and {value}");
                        self.several.get_or_insert(why);
                    }
                    Some(_) => {}
                }
            }
            Fact::Path(path) => {
                self.tested(&path);
                self.path(path);
            }
            fact if self.facts.len() < MAX_FACTS => self.facts.push(fact),
            _ => {}
        }
    }

    fn path(&mut self, path: String) {
        if path.starts_with("/dev/") && !self.paths.contains(&path) && self.paths.len() < MAX_FACTS {
            self.paths.push(path);
        }
    }

    /// The device under test is at this path: those of one log are one disk, or its parts.
    fn tested(&mut self, path: &str) {
        let disk = |path: &str| whole_disk(disk(path)).to_owned();
        match &self.tested {
            None => self.tested = Some(disk(path)),
            Some(first) if *first != disk(path) && path.starts_with("/dev/") => {
                let why = format!("tests of {first} and of {}", disk(path));
                self.several.get_or_insert(why);
            }
            Some(_) => {}
        }
    }

    fn note(&mut self, note: String) {
        if self.notes.len() < MAX_NOTES && !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    fn finish(mut self, text: &str) -> Parsed {
        self.close();
        let mut tables = std::mem::take(&mut self.tables);
        if let Some(note) = ending::judge(text, &mut tables) {
            self.note(note);
        }
        let mut converted = convert::runs(&tables);
        self.device.path = self.paths.first().cloned();
        if let ([_, _, ..], None) = (self.paths.as_slice(), &self.several) {
            let note = format!("several devices are named ({}); all tables are taken as of one", self.paths.join(", "));
            self.note(note);
        }
        let capacity = self.capacity().filter(|_| self.several.is_none());
        if self.repeated.count > 0 {
            let Repeated { count, first_line } = self.repeated;
            self.note(format!("line {first_line}: {count} lines repeat a row of their table and count once"));
        }
        let several_devices = self.several.is_some();
        if let Some(why) = self.several.take() {
            self.note(format!("{SEVERAL_DEVICES}: {why}; all tables are taken as of one"));
        }
        let mut notes = std::mem::take(&mut converted.notes);
        notes.truncate(MAX_NOTES);
        notes.append(&mut self.notes);
        let device = Some(self.device).filter(|device| *device != LogDevice::default());
        Parsed {
            observations: Observations { capacity, runs: converted.runs },
            device,
            capacity,
            several_devices,
            notes,
        }
    }

    /// The exact size of the device under test: a disk of another name is another disk.
    fn capacity(&mut self) -> Option<Bytes> {
        let facts = std::mem::take(&mut self.facts);
        for fact in &facts {
            if let Fact::Roughly(path, size, name) = fact {
                let tested = self.device.path.as_deref().is_none_or(|tested| disk(tested).starts_with(disk(path)));
                if tested && self.device.name.is_none() {
                    self.device.name.clone_from(name);
                }
                self.note(format!("{path} is said to have {size}: rounded, so not taken as its size"));
            }
        }
        let sizes = facts.iter().filter_map(|fact| match fact {
            Fact::Size(path, bytes) => Some((path.as_deref(), *bytes)),
            _ => None,
        });
        let tested = self.device.path.as_deref();
        let mut same: Vec<Bytes> = sizes
            .clone()
            .filter(|(path, _)| path.is_none() || tested.is_none() || path.map(disk) == tested.map(disk))
            .map(|(_, bytes)| bytes)
            .filter(|bytes| *bytes > Bytes::ZERO)
            .collect();
        same.sort();
        same.dedup();
        match same.as_slice() {
            [size] => Some(*size),
            [] => {
                if let Some((Some(path), bytes)) = sizes.clone().next() {
                    let tested = tested.unwrap_or("the device").to_owned();
                    self.note(format!("{path} has {} bytes, but {tested} was tested: not taken as its size", bytes.0));
                }
                None
            }
            _ => {
                self.note("the log states several sizes; none is taken".to_owned());
                let of = |wanted: Option<&str>| {
                    let mut sizes = sizes.clone().filter(move |(path, _)| *path == wanted).map(|(_, bytes)| bytes);
                    let first = sizes.next()?;
                    sizes.find(|bytes| *bytes != first).map(|other| (first, other))
                };
                // A list of all disks has several sizes too, but one for each.
                if let Some((first, other)) = sizes.clone().find_map(|(path, _)| of(path)) {
                    self.several.get_or_insert(format!("sizes of {} and {} bytes", first.0, other.0));
                }
                None
            }
        }
    }
}

/// The last part of a path: the same disk is `/dev/block/mmcblk0` elsewhere.
fn disk(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Without the number of a partition.
fn whole_disk(name: &str) -> &str {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    match stem.strip_suffix('p') {
        Some(disk) if disk.ends_with(|c: char| c.is_ascii_digit()) => disk,
        _ if stem.starts_with("mmcblk") || stem.starts_with("nvme") || stem.is_empty() => name,
        _ => stem,
    }
}

fn asks_for(command: &Command, test: Option<Test>) -> bool {
    match test {
        None => true,
        Some(Test::Align) => command.align || command.write_align,
        Some(Test::OpenAu) => command.open_au,
        Some(Test::Fat) => command.find_fat,
        Some(Test::Program) => command.program,
        Some(Test::Interval) => command.interval,
        Some(Test::Scatter) => command.scatter,
    }
}

/// A prompt with a command behind it: a known one, or one with options, assignments or paths.
fn is_other_command(line: &str) -> bool {
    const KNOWN: [&str; 14] = [
        "bonnie", "cat", "cd", "dd", "dmesg", "exit", "f3probe", "f3read", "f3write", "fdisk", "fio", "hdparm",
        "iozone", "ls",
    ];
    let Some(at) = line.find(['#', '$']).filter(|at| *at < 80) else { return false };
    let Some(typed) = line[at + 1..].strip_prefix([' ', '\t']).map(str::trim_start) else { return false };
    let prompt = line[..at].trim_start();
    let prompt_like = prompt.split_whitespace().count() <= 1 || prompt.contains(['@', ':', '~', '/', '>']);
    let mut words = typed.split_whitespace();
    let first = words.next().unwrap_or_default();
    let argument = |word: &str| word.starts_with(['-', '/']) || word.contains("=/") || word.contains("--");
    let command = KNOWN.contains(&first) || first.starts_with("./") || first.starts_with('/') || words.any(argument);
    prompt_like && first.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '.' | '/')) && command
}
