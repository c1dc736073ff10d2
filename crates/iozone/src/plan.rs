//! Which cells of the matrix are measured, by iozone's rules.

use crate::options::{Auto, Options};
use flashscope_device::FileWay;
use flashscope_model::iozone::Figure;
use flashscope_units::Bytes;
use std::fmt;

/// What is measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// File size and record size of each cell, in order.
    pub cells: Vec<(Bytes, Bytes)>,
    /// What is measured in each, in order.
    pub figures: Vec<Figure>,
    /// The record sizes of the columns of tables.
    pub columns: Vec<Bytes>,
    /// Numbers of workers, one after another; empty for a matrix.
    pub workers: Vec<u32>,
}

/// Why there is nothing to measure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanError {
    /// No file size is left.
    NoFiles {
        /// Smallest.
        from: Bytes,
        /// Largest.
        to: Bytes,
    },
    /// No record size is left.
    NoRecords {
        /// Smallest.
        from: Bytes,
        /// Largest.
        to: Bytes,
    },
    /// A record does not fit into a file.
    RecordTooLong {
        /// The record.
        record: Bytes,
        /// The file.
        file: Bytes,
    },
    /// More than anybody waits for.
    TooMany,
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoFiles { from, to } => {
                write!(f, "the smallest file (-n, {from}) is larger than the largest (-g, {to})")
            }
            Self::NoRecords { from, to } => {
                write!(f, "the smallest record (-y, {from}) is larger than the largest (-q, {to})")
            }
            Self::RecordTooLong { record, file } => write!(
                f,
                "a record of {record} does not fit into a file of {file}\nhint: ask for larger files (-s, -n) or smaller records (-r)"
            ),
            Self::TooMany => write!(f, "these are more than {MOST_CELLS} cells"),
        }
    }
}

impl std::error::Error for PlanError {}

/// Automatic mode begins with files of this size …
const FIRST_FILE: Bytes = Bytes::kib(64);
/// … and ends with this.
const LAST_FILE: Bytes = Bytes::mib(512);
/// The same of records.
const FIRST_RECORD: Bytes = Bytes::kib(4);
const LAST_RECORD: Bytes = Bytes::mib(16);
/// In files larger than this automatic mode leaves out records smaller than the next.
const CROSSOVER: Bytes = Bytes::mib(16);
const LEAST_RECORD_BEYOND: Bytes = Bytes::kib(64);
/// Where no size is named and there is no automatic mode.
const ONE_FILE: Bytes = Bytes::kib(512);
/// Bounds what a command line can ask for.
const MOST_CELLS: usize = 100_000;

/// Works out the cells.
///
/// # Errors
/// Where there are none.
pub fn plan(options: &Options) -> Result<Plan, PlanError> {
    let columns = columns(options)?;
    let mut cells = Vec::new();
    for file in files(options)? {
        for &record in &records(options, file, &columns) {
            if record > file {
                return Err(PlanError::RecordTooLong { record, file });
            }
            cells.push((file, record));
        }
    }
    let figures = figures(options);
    let workers = options.workers.map_or_else(Vec::new, |(low, high)| (low..=high).collect());
    if cells.len() * figures.len() > MOST_CELLS {
        return Err(PlanError::TooMany);
    }
    Ok(Plan { cells, figures, columns, workers })
}

impl Plan {
    /// Everything that its passes write, and the files that are made for them where test 0 is not among them, counted in whole
    /// units of which every record touches some: pages where it goes through the page cache, single bytes else.
    pub fn written(&self, unit: Bytes) -> Bytes {
        let made = u64::from(!self.figures.contains(&Figure::Write));
        let writing = self.figures.iter().filter(|figure| figure.writes()).count() as u64 + made;
        let workers: u64 = self.workers.iter().map(|workers| u64::from(*workers)).sum();
        let touched = |record: Bytes| match record {
            _ if record.is_multiple_of(unit) => record,
            _ if unit.is_multiple_of(record) => unit,
            _ => record.align_up(unit) + unit,
        };
        let cost = |(file, record): &(Bytes, Bytes)| touched(*record) * (file.get() / record.get().max(1)) * writing;
        self.cells.iter().map(cost).sum::<Bytes>() * workers.max(1)
    }

    /// Everything that its passes move.
    pub fn moved(&self) -> Bytes {
        let workers: u64 = self.workers.iter().map(|workers| u64::from(*workers)).sum();
        self.cells.iter().map(|(file, _)| *file * self.figures.len() as u64).sum::<Bytes>() * workers.max(1)
    }

    /// What must be free: the largest file, for as many workers as there are at most.
    pub fn needed(&self) -> Bytes {
        let workers = self.workers.iter().max().map_or(1, |workers| u64::from(*workers));
        self.cells.iter().map(|(file, _)| *file).max().unwrap_or(Bytes::ZERO) * workers
    }
}

/// The way that records of a figure take.
pub fn way(figure: Figure, options: &Options) -> FileWay {
    match (options.map, options.asynchronous) {
        (true, _) => FileWay::Map,
        (_, Some((depth, copy))) => FileWay::Async { depth, copy },
        _ => match figure {
            Figure::Fwrite | Figure::Refwrite | Figure::Fread | Figure::Refread => FileWay::Stdio,
            Figure::Pwrite | Figure::Repwrite | Figure::Pread | Figure::Repread => FileWay::Positioned,
            Figure::Pwritev | Figure::Repwritev | Figure::Preadv | Figure::Repreadv => FileWay::Vectored,
            _ => FileWay::Plain,
        },
    }
}

fn files(options: &Options) -> Result<Vec<Bytes>, PlanError> {
    if !options.files.is_empty() {
        return Ok(options.files.clone());
    }
    if options.auto == Auto::No {
        return Ok(vec![ONE_FILE]);
    }
    let (from, to) = (options.min_file.unwrap_or(FIRST_FILE), options.max_file.unwrap_or(LAST_FILE));
    let sizes = doubled(from, to);
    if sizes.is_empty() { Err(PlanError::NoFiles { from, to }) } else { Ok(sizes) }
}

fn columns(options: &Options) -> Result<Vec<Bytes>, PlanError> {
    if !options.records.is_empty() {
        return Ok(options.records.clone());
    }
    let (from, to) = (options.min_record.unwrap_or(FIRST_RECORD), options.max_record.unwrap_or(LAST_RECORD));
    let sizes = doubled(from, to);
    if sizes.is_empty() { Err(PlanError::NoRecords { from, to }) } else { Ok(sizes) }
}

/// Small records in large files are left out only where neither file sizes nor bounds of records were named.
fn records(options: &Options, file: Bytes, columns: &[Bytes]) -> Vec<Bytes> {
    if !options.records.is_empty() {
        return options.records.clone();
    }
    if options.auto == Auto::No {
        return vec![columns[0]];
    }
    let bounded = options.min_record.is_some() || options.max_record.is_some();
    let all = options.all_records || options.auto == Auto::Second || bounded || !options.files.is_empty();
    let least = if all || file <= CROSSOVER { Bytes::ZERO } else { LEAST_RECORD_BEYOND };
    columns.iter().copied().filter(|record| (least..=file).contains(record)).collect()
}

fn figures(options: &Options) -> Vec<Figure> {
    // Of the maps and queues there is one kind only, so tests that differ in the call alone are left out, as iozone does.
    let one_way = options.map || options.asynchronous.is_some();
    let wanted = |test: u8| match (options.tests.is_empty(), options.auto) {
        (false, _) => options.tests.contains(&test),
        (true, Auto::Second) => test <= 1,
        (true, _) if one_way => test <= 5,
        (true, _) if options.workers.is_some() => test != 11 && test != 12 || options.extensions,
        (true, _) => test <= 7 || options.extensions,
    };
    let all = Figure::ALL.into_iter().filter(|figure| wanted(figure.test()));
    all.filter(|figure| !(options.once && figure.is_again())).collect()
}

fn doubled(from: Bytes, to: Bytes) -> Vec<Bytes> {
    std::iter::successors(Some(from), |size| size.get().checked_mul(2).map(Bytes))
        .take_while(|size| *size <= to)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::parse;

    fn of(line: &str) -> Result<Plan, PlanError> {
        plan(&parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).expect(line))
    }

    fn cells(line: &str) -> Vec<(u64, u64)> {
        of(line).expect(line).cells.iter().map(|(file, record)| (file.get() >> 10, record.get() >> 10)).collect()
    }

    #[test]
    fn the_matrix_is_that_of_iozone() {
        // 64 KiB … 16 MiB with all records that fit, then 32 … 512 MiB from 64 KiB on.
        assert_eq!(cells("-a").len(), (5 + 6 + 7 + 8 + 9 + 10 + 11 + 12 + 13) + 5 * 9);
        assert_eq!(
            cells("-a -g 128"),
            [(64, 4), (64, 8), (64, 16), (64, 32), (64, 64)]
                .into_iter()
                .chain([4, 8, 16, 32, 64, 128].map(|record| (128, record)))
                .collect::<Vec<_>>()
        );
        let first = |line: &str| cells(line)[0];
        assert_eq!(first("-a -n 20m -g 20m"), (20480, 64));
        assert_eq!(first("-a -n 16m"), (16384, 4));
        assert_eq!(first("-a -y 4 -n 32m"), (32768, 4));
        assert_eq!(first("-a -q 128 -n 32m"), (32768, 4));
        assert_eq!(first("-az -n 32m"), (32768, 4));
        assert_eq!(first("-A -n 32m"), (32768, 4));
        assert_eq!(first("-a -s 64m"), (65536, 4));
        assert_eq!(cells("-a -y 5 -q 100 -s 1m"), [5, 10, 20, 40, 80].map(|record| (1024, record)));
        assert_eq!(cells("-a -r 64 -g 256"), [(64, 64), (128, 64), (256, 64)]);
        assert_eq!(cells("-a -n 100 -g 450").iter().map(|cell| cell.0).max(), Some(400));
        assert_eq!(cells("-s 1m -s 2m -r 64 -r 128"), [(1024, 64), (1024, 128), (2048, 64), (2048, 128)]);
        assert_eq!(cells(""), [(512, 4)]);
        assert_eq!(cells("-s 100 -r 64"), [(100, 64)]);
    }

    #[test]
    fn what_cannot_be_measured_is_said() {
        let check = |line: &str, words: &str| assert!(of(line).unwrap_err().to_string().contains(words), "{line}");
        check("-a -n 3m -g 1m", "-n, 3 MiB");
        check("-a -y 64 -q 32", "-y, 64 KiB");
        check("-s 32 -r 64", "does not fit");
        check("-a -r 512 -g 1m", "does not fit");
    }

    #[test]
    fn small_records_cost_pages() {
        let written = |line: &str| of(line).unwrap().written(Bytes(4096));
        assert_eq!(written("-s 64 -r 1 -i 0 -+n"), Bytes::kib(256));
        assert_eq!(written("-s 64 -r 8 -i 0 -+n"), Bytes::kib(64));
    }

    #[test]
    fn tests_are_chosen_as_iozone_does() {
        let tests = |line: &str| {
            let mut tests: Vec<u8> = of(line).unwrap().figures.iter().map(|figure| figure.test()).collect();
            tests.dedup();
            tests
        };
        assert_eq!(tests("-a"), (0..=7).collect::<Vec<_>>());
        assert_eq!(tests("-a -E"), (0..=12).collect::<Vec<_>>());
        assert_eq!(tests("-A"), [0, 1]);
        assert_eq!(tests("-B"), (0..=5).collect::<Vec<_>>());
        assert_eq!(tests("-i 12 -i 0"), [0, 12]);
        assert_eq!(of("-+n -i 0 -i 2").unwrap().figures, [Figure::Write, Figure::RandomRead, Figure::RandomWrite]);
    }

    #[test]
    fn what_it_costs() {
        let plan = of("-s 1m -r 64 -i 0 -i 1 -l 1 -u 2").unwrap();
        assert_eq!(
            (plan.written(Bytes(1)), plan.moved(), plan.needed()),
            (Bytes::mib(6), Bytes::mib(12), Bytes::mib(2))
        );
    }
}
