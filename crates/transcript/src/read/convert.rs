//! From tables to runs: units that were lost, what each figure is a statistic of, and what stays unknown.

use super::command::Command;
use super::figure::{TimeFigure, TimeUnit};
use super::heading::Test;
use super::row::{AlignFields, RateRow};
use super::table::{Body, Context, IntervalLine, Table};
use flashscope_model::observation::{
    AlignData, AlignEvidence, AlignRow, AreaState, FatData, FatRow, IntervalData, IntervalEvidence, IntervalRow,
    OpenUnitsData, OpenUnitsRow, Printed, ProgramData, ProgramRow, RateEvidence, ScatterData, ScatterPlace, Source,
    Spent, Statistic,
};
use flashscope_model::{Data, Direction, Order, Run};
use flashscope_units::{ByteRate, Bytes, Contrast, Nanos};

/// Default block size of the original.
const BLOCK: u64 = 16 << 10;
/// Default erase size of the original.
const ERASE: u64 = 4 << 20;
/// Tries per place of the original.
const TRIES: u64 = 8;
/// Places per alignment of the original.
const READ_PLACES: u32 = 7;
/// Places per alignment of the private version that writes.
const WRITE_PLACES: u32 = 8;
/// Accesses of that version are of twice the block size, by its author's account.
const WRITE_ACCESS: u32 = 2;
/// Columns of the program test.
const PROGRAM_COLUMNS: usize = 8;
/// Region of the program test, and where it and the open-unit test begin.
const PROGRAM_REGION: u64 = 4 << 20;
/// Where both tests begin, in bytes.
const WRITE_OFFSET: u64 = 16 << 20;

/// Runs, and what was odd about their tables.
pub(super) struct Converted {
    pub(super) runs: Vec<Run>,
    pub(super) notes: Vec<String>,
}

/// Converts all tables of a log.
pub(super) fn runs(tables: &[Table]) -> Converted {
    let mut converter = Converter { micro_lost: micro_lost(tables), notes: Vec::new() };
    if converter.micro_lost {
        converter.notes.push("times like 694s are taken as microseconds whose µ was lost".to_owned());
    }
    let runs = tables.iter().filter_map(|table| converter.run(table)).collect();
    let runs = converter.without_copies(runs);
    Converted { runs, notes: converter.notes }
}

/// Whether µ is lost in this log: an access of twenty seconds is no access.
fn micro_lost(tables: &[Table]) -> bool {
    let lost = |field: &Option<TimeFigure>| {
        field.is_some_and(|time| time.unit == TimeUnit::PlainSecond && time.value.abs() >= 20.0)
    };
    tables.iter().any(|table| match &table.body {
        Body::Align { rows, .. } => rows.iter().any(|(_, fields)| fields.iter().any(lost)),
        Body::Interval(rows) => rows.iter().any(|row| row.fields.iter().any(lost)),
        _ => false,
    })
}

/// Tables of fewer figures may be alike by chance.
const FEWEST_FIGURES: usize = 4;

/// How many figures a table prints.
fn figures(data: &Data) -> usize {
    match data {
        Data::Align(align) => 3 * align.rows.len(),
        Data::OpenUnits(open) => open.rows.len(),
        Data::Fat(fat) => fat.rows.iter().map(|row| row.units.len()).sum(),
        Data::Program(program) => program.rows.iter().map(|row| row.columns.len()).sum(),
        Data::Interval(interval) => 2 * interval.rows.len(),
        Data::Scatter(scatter) => scatter.places.len(),
        _ => 0,
    }
}

struct Converter {
    micro_lost: bool,
    notes: Vec<String>,
}

impl Converter {
    /// The runs without those that repeat an earlier one figure by figure: a test that is done again never gives the
    /// same digits in a whole table, a log that is pasted again always does.
    fn without_copies(&mut self, runs: Vec<Run>) -> Vec<Run> {
        let mut kept: Vec<Run> = Vec::with_capacity(runs.len());
        let mut copies = 0;
        for run in runs {
            if figures(&run.data) >= FEWEST_FIGURES && kept.iter().any(|known| known.data == run.data) {
                copies += 1;
            } else {
                kept.push(run);
            }
        }
        if copies > 0 {
            self.notes.push(format!("{copies} tables repeat earlier ones figure by figure: copies, which count once"));
        }
        kept
    }

    fn run(&mut self, table: &Table) -> Option<Run> {
        let (data, complete) = match &table.body {
            Body::Align { direction, rows } => self.align(table, *direction, rows),
            Body::Rates(rows) => self.rates(table, rows)?,
            Body::Interval(rows) => self.interval(table, rows),
            Body::Scatter(rows) => scatter(table, rows)?,
        };
        Some(Run {
            source: Source::Log { first_line: table.first_line, last_line: table.last_line },
            state: AreaState::Unknown,
            complete: complete && !table.cut,
            spent: Spent::default(),
            failures: Vec::new(),
            data,
        })
    }

    fn align(&mut self, table: &Table, direction: Direction, rows: &[(Bytes, AlignFields)]) -> (Data, bool) {
        let (places, access) = match direction {
            Direction::Read => (READ_PLACES, 1),
            Direction::Write => (WRITE_PLACES, WRITE_ACCESS),
        };
        let tries = table.context.tries();
        let smallest = rows.last().map_or(Bytes::ZERO, |(align, _)| *align);
        let block = self.align_block(table, smallest);
        let whole = rows.last().is_some_and(|(_, fields)| fields.iter().all(Option::is_some));
        let complete = whole && block.is_none_or(|block| smallest == block * 2);
        let rows = rows
            .iter()
            .map(|(align, fields)| {
                let [pre, on, post, diff] = self.align_fields(*fields);
                let printed = |time: TimeFigure| time.printed(Statistic::MeanOfMinima, Some(places), tries);
                let (pre, on, post, diff) = (pre.map(printed), on.map(printed), post.map(printed), diff.map(printed));
                AlignRow { align: *align, evidence: AlignEvidence::Printed { pre, on, post, diff } }
            })
            .collect();
        (Data::Align(AlignData { direction, block, access, rows }), complete)
    }

    /// The block size by the command, where the table does not contradict it.
    fn align_block(&mut self, table: &Table, smallest: Bytes) -> Option<Bytes> {
        let command = table.context.command.as_ref().filter(|command| command.align || command.write_align)?;
        let block = command.block.bytes_or(BLOCK, table.context.turn)?;
        if smallest >= block * 2 {
            return Some(block);
        }
        self.notes.push(format!(
            "line {}: the table goes down to {} bytes, which a block size of {} does not; the block size is unknown",
            table.last_line, smallest.0, block.0
        ));
        None
    }

    fn align_fields(&self, fields: AlignFields) -> AlignFields {
        let [pre, on, post, diff] = fields;
        let [pre, on, post] = [pre, on, post].map(|field| field.map(|time| self.seconds(time)));
        let expected = expected_difference(pre, on, post);
        let diff = diff.and_then(|time| match (time.unit, expected) {
            (TimeUnit::CutOff, Some(expected)) => restore_power(time, expected),
            (TimeUnit::CutOff, None) => None,
            (TimeUnit::PlainSecond, Some((expected, _))) => {
                let off = |scale: f64| (time.value * scale - expected).abs();
                Some(if off(1e3) < off(1e9) { micro(time) } else { time })
            }
            _ => Some(self.seconds(time)),
        });
        [pre, on, post, diff]
    }

    /// Seconds, or microseconds in a log that lost its µ.
    fn seconds(&self, time: TimeFigure) -> TimeFigure {
        if self.micro_lost && time.unit == TimeUnit::PlainSecond { micro(time) } else { time }
    }

    fn rates(&mut self, table: &Table, rows: &[RateRow]) -> Option<(Data, bool)> {
        let rows = &whole_blocks(rows);
        let columns = rows.iter().map(|row| row.cells.len()).max().unwrap_or(0);
        let context = &table.context;
        let smallest = rows.last().map_or(Bytes::ZERO, |row| row.block);
        let whole = rows.last().is_some_and(|row| !row.broken && row.cells.len() == columns);
        match self.rates_test(table, rows, columns)? {
            Test::OpenAu => {
                let data = self.open_units(table, rows)?;
                let ends = context.block(|command| command.open_au);
                Some((Data::OpenUnits(data), whole && ends.is_none_or(|block| smallest == block)))
            }
            Test::Program => {
                let known = context.command.as_ref().is_some_and(|command| command.program);
                let rows =
                    rows.iter().map(|row| ProgramRow { block: row.block, columns: evidence(&row.cells) }).collect();
                let data = ProgramData {
                    offset: known.then_some(Bytes(WRITE_OFFSET)),
                    region: known.then_some(Bytes(PROGRAM_REGION)),
                    rows,
                };
                Some((Data::Program(data), whole && columns == PROGRAM_COLUMNS && smallest == Bytes::SECTOR))
            }
            _ => {
                let command = context.command.as_ref().filter(|command| command.find_fat);
                let data = FatData {
                    order: command.map(|command| command.order()).or(context.heading.order),
                    unit: command.and_then(|command| command.erase.bytes_or(ERASE, context.turn)),
                    offset: command.and_then(|command| command.offset.or(Some(0), context.turn)).map(Bytes),
                    rows: rows.iter().map(|row| FatRow { block: row.block, units: evidence(&row.cells) }).collect(),
                };
                let ends = context.block(|command| command.find_fat);
                Some((Data::Fat(data), whole && ends.is_none_or(|block| smallest == block)))
            }
        }
    }

    /// Which of the three tests that print rates it was.
    fn rates_test(&mut self, table: &Table, rows: &[RateRow], columns: usize) -> Option<Test> {
        let lines = format!("lines {}–{}", table.first_line, table.last_line);
        let heading = table.context.heading.test;
        let command = table.context.command.as_deref();
        let (open, fat, program) = command
            .map_or((false, false, false), |Command { open_au, find_fat, program, .. }| {
                (*open_au, *find_fat, *program)
            });
        let told = match heading {
            Some(Test::OpenAu | Test::Fat | Test::Program) => heading,
            _ if columns == 1 && open => Some(Test::OpenAu),
            _ if fat => Some(Test::Fat),
            _ if program => Some(Test::Program),
            _ if open => Some(Test::OpenAu),
            _ => None,
        };
        match told {
            // The open-unit test prints one column, so a heading or a command is missing here.
            Some(Test::OpenAu) if columns > 1 => {}
            Some(test) => return Some(test),
            None if columns <= 1 => {
                self.notes.push(format!("{lines}: a table of rates of which nothing says what it is was left out"));
                return None;
            }
            None => {}
        }
        if rows.len() < 2 || !rows.iter().all(|row| row.original) {
            self.notes.push(format!("{lines}: rates of which nothing says what they are were left out"));
            return None;
        }
        let from_2_mib = rows.first().is_some_and(|row| row.block == Bytes::mib(2));
        let guess = if columns == PROGRAM_COLUMNS && from_2_mib { Test::Program } else { Test::Fat };
        self.notes.push(format!("{lines}: nothing says which test this is; taken as {guess:?} by its shape"));
        Some(guess)
    }

    fn open_units(&mut self, table: &Table, rows: &[RateRow]) -> Option<OpenUnitsData> {
        let context = &table.context;
        let lines = format!("lines {}–{}", table.first_line, table.last_line);
        let command = context.command.as_ref().filter(|command| command.open_au);
        let by_command = command.and_then(|command| command.open_au_nr.or(None, context.turn));
        let count = context.heading.count.or(by_command.and_then(|count| u32::try_from(count).ok()));
        let order = match (context.heading.order, command) {
            (Some(order), _) => order,
            (None, Some(command)) => command.order(),
            (None, None) => {
                self.notes.push(format!("{lines}: the order is not said; taken as sequential, the tool's default"));
                Order::InOrder
            }
        };
        if count.is_none() {
            self.notes.push(format!("{lines}: the number of open units is not said"));
        } else if context.heading.count.is_none() && command.is_some_and(|command| command.open_au_nr.is_each()) {
            self.notes.push(format!("{lines}: the number of open units is counted off the loop around the command"));
        } else if context.heading.count.is_none() && context.turn > 0 {
            self.notes.push(format!("{lines}: a table without a command of its own is taken as a repetition"));
        }
        let unit = command.and_then(|command| command.erase.bytes_or(ERASE, context.turn));
        let rows = rows
            .iter()
            .filter_map(|row| {
                let rate = RateEvidence::Printed(*row.cells.first()?);
                Some(OpenUnitsRow { block: row.block, rate })
            })
            .collect();
        Some(OpenUnitsData { order, count, unit, units: Vec::new(), rows })
    }

    fn interval(&mut self, table: &Table, rows: &[IntervalLine]) -> (Data, bool) {
        let trailer = rows.iter().any(|row| row.nanos.is_some());
        let places = table.context.tries();
        let complete = !trailer || rows.iter().all(|row| row.nanos.is_some());
        let rows = rows
            .iter()
            .map(|row| {
                let fields = row.fields.map(|field| field.map(|time| self.seconds(time)));
                let printed =
                    |field: Option<TimeFigure>, statistic| field.map(|time| time.printed(statistic, places, None));
                let [min, avg, max] = fields;
                let min = refine(printed(min, Statistic::Minimum), places, row, table, &mut self.notes);
                let evidence = IntervalEvidence::Printed {
                    min,
                    avg: printed(avg, Statistic::Mean),
                    max: printed(max, Statistic::Maximum),
                };
                IntervalRow { size: row.size, evidence }
            })
            .collect();
        (Data::Interval(IntervalData { rows }), complete)
    }
}

impl Context {
    /// Tries per place (places per size of the interval test): known only from the command.
    fn tries(&self) -> Option<u32> {
        let tries = self.command.as_ref()?.count.or(Some(TRIES), self.turn)?;
        u32::try_from(tries).ok().filter(|tries| *tries > 0)
    }

    /// The smallest block by a command that asks for the test.
    pub(super) fn block(&self, asks: impl Fn(&Command) -> bool) -> Option<Bytes> {
        self.command.as_ref().filter(|command| asks(command))?.block.bytes_or(BLOCK, self.turn)
    }
}

/// Block sizes halve from row to row, so one that was rounded (`3.12MiB`) is known from the one above it.
fn whole_blocks(rows: &[RateRow]) -> Vec<RateRow> {
    let mut rows = rows.to_vec();
    for at in 1..rows.len() {
        let half = rows[at - 1].block / 2;
        let off = half.0.abs_diff(rows[at].block.0);
        if off * 200 < half.0 {
            rows[at].block = half;
        }
    }
    rows
}

fn evidence(cells: &[Printed<ByteRate>]) -> Vec<RateEvidence> {
    cells.iter().map(|cell| RateEvidence::Printed(*cell)).collect()
}

fn micro(time: TimeFigure) -> TimeFigure {
    TimeFigure { unit: TimeUnit::Micro, ..time }
}

/// `on − (pre + post)/2` in nanoseconds, and how far rounding may have moved it.
fn expected_difference(
    pre: Option<TimeFigure>,
    on: Option<TimeFigure>,
    post: Option<TimeFigure>,
) -> Option<(f64, f64)> {
    let nanos = |time: TimeFigure| (time.value * time.unit.nanos(), time.quantum() * time.unit.nanos() / 2.0);
    let ((pre, pre_off), (on, on_off), (post, post_off)) = (nanos(pre?), nanos(on?), nanos(post?));
    Some((on - (pre + post) / 2.0, on_off + (pre_off + post_off) / 2.0))
}

/// The power of ten of a cut-off difference: the one that pre, on and post call for, if it is the only one.
fn restore_power(cut: TimeFigure, (expected, rounding): (f64, f64)) -> Option<TimeFigure> {
    // A unit in the last place of pre, on and post is lost, and of the cut-off digits.
    let fit = |scale: &f64| (cut.value * scale - expected).abs() <= rounding * 1.01 + scale;
    let mut scales = (0..7).map(|power| 10f64.powi(power)).filter(fit);
    let scale = scales.next()?;
    if scales.next().is_some() {
        return None;
    }
    Some(TimeFigure { value: cut.value * scale, last_digit: scale, unit: TimeUnit::Nano })
}

/// The smallest time with the digits that the rate and the lines below the table add to it.
fn refine(
    min: Option<Printed<Contrast>>,
    places: Option<u32>,
    row: &IntervalLine,
    table: &Table,
    notes: &mut Vec<String>,
) -> Option<Printed<Contrast>> {
    let by_rate = row.rate.map(|(rate, quantum)| {
        let nanos = row.size.as_f64() / rate * 1e9;
        (nanos, nanos * quantum / rate)
    });
    let finer = row.nanos.map(|nanos| (nanos as f64, 1.0)).or(by_rate);
    let Some((value, quantum)) = finer else { return min };
    let exact = Printed {
        value: Contrast(value),
        quantum: Contrast(quantum),
        statistic: Statistic::Minimum,
        places,
        tries: None,
    };
    match min {
        None => row.nanos.map(|_| exact),
        Some(min) if quantum >= min.quantum.0 => Some(min),
        Some(min) if (value - min.value.0).abs() <= min.quantum.0 => Some(exact),
        Some(min) => {
            notes.push(format!(
                "lines {}–{}: the smallest time of {} bytes is given twice and differs",
                table.first_line, table.last_line, row.size.0
            ));
            Some(min)
        }
    }
}

/// Positions are multiples of the sector, printed with six decimals of a MiB.
fn scatter(table: &Table, rows: &[(f64, f64, bool)]) -> Option<(Data, bool)> {
    let command = table.context.command.as_ref().filter(|command| command.scatter);
    if command.is_none() && table.context.heading.test != Some(Test::Scatter) && !is_scatter_plot(rows) {
        return None;
    }
    let turn = table.context.turn;
    let length = command.and_then(|command| {
        let span = command.scatter_span.or(Some(1), turn)?;
        Some(Bytes(command.block.bytes_or(BLOCK, turn)?.0.checked_mul(span)?))
    });
    let places: Vec<ScatterPlace> = rows
        .iter()
        .map(|(position, millis, _)| {
            let sectors = (position * f64::from(1 << 20) / 512.0).round();
            let nanos = (millis * 1e6).round();
            ScatterPlace { at: Bytes((sectors as u64).saturating_mul(512)), times: vec![Nanos(nanos as u64)] }
        })
        .collect();
    let complete = places.len().is_power_of_two();
    Some((Data::Scatter(ScatterData { length, places }), complete))
}

/// Without a command only what can be nothing else: six decimals, whole sectors, equal steps from zero.
fn is_scatter_plot(rows: &[(f64, f64, bool)]) -> bool {
    let [(first, ..), (second, ..), ..] = rows else { return false };
    let step = (second - first) * f64::from(1 << 20);
    let sectors = (step / 512.0).round();
    let even = rows.iter().enumerate().all(|(nth, (position, _, original))| {
        let expected = nth as f64 * sectors * 512.0 / f64::from(1 << 20);
        *original && (position - first - expected).abs() < 2e-6
    });
    rows.len() >= 16 && sectors >= 1.0 && (step - sectors * 512.0).abs() < 3.0 && even
}
