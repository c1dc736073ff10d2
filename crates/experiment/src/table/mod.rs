//! Figures of runs as people keep them: CSV with a row per run, or with summaries.
//!
//! Three forms, told by their headings:
//!
//! | form | columns |
//! |---|---|
//! | runs | `label,metric,value` and, where known, `unit`, `better`, `part`, `session`, `block` |
//! | summaries | `label,metric,mean,stdev,n` and, where known, `unit`, `better` |
//! | wide summaries | columns that name a condition, `statistic` (`mean`, `stdev`, `n`), then a column per metric, its unit behind the last `_` |
//!
//! The first label is the baseline. In a wide table with two columns or more in front of `statistic`, the first names a factor, and each
//! factor is a comparison of its own. What cannot be read in one way only is refused with the line and what to do.

mod error;
mod long;
mod number;
mod unit;
mod wide;

pub use error::TableError;
pub use number::Decimal;

use flashscope_model::comparison::{Better, Metric, Readings};
use unit::Unit;

/// What a file does not say of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reader {
    /// Runs behind each summary, where the file has no `n`.
    pub runs: Option<u32>,
    /// How fractions are written, where the file can be read in both ways.
    pub decimal: Option<Decimal>,
}

/// Readings of one comparison, with the name of its factor where the table has several.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Name of the factor.
    pub factor: Option<String>,
    /// What was measured.
    pub readings: Readings,
}

/// Values beyond this are no measurement, and no record holds them.
const LARGEST: f64 = (1u64 << 48) as f64;
/// A table with more sides or metrics than this is read wrongly.
const MOST_NAMES: usize = 1000;

impl Reader {
    /// Reads a whole table.
    ///
    /// # Errors
    /// Where the text is no such table, a column is missing, or a value can be read in no way or in two; with the line.
    pub fn read(&self, text: &str) -> Result<Vec<Group>, TableError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let rows = rows(text)?;
        let headings = &rows.headings;
        if headings.has("statistic") {
            wide::read(self, &rows)
        } else if headings.has("value") {
            Ok(vec![long::runs(self, &rows)?])
        } else if headings.has("mean") {
            Ok(vec![long::summaries(self, &rows)?])
        } else {
            Err(TableError::new(
                format!("no column `value`, `mean` or `statistic` among {}", headings.list()),
                "a table of runs begins `label,metric,unit,value`, one of summaries `label,metric,mean,stdev,n`",
            ))
        }
    }
}

/// Makes the side of this label the baseline.
///
/// # Errors
/// Where there is none; says which there are.
pub fn put_first(readings: &mut Readings, label: &str) -> Result<(), TableError> {
    let Some(at) = readings.sides.iter().position(|side| side == label) else {
        let there = readings.sides.join("`, `");
        return Err(TableError::new(format!("there is no label `{label}`"), format!("the labels are `{there}`")));
    };
    let place = |side: usize| match side {
        side if side == at => 0,
        side if side < at => side + 1,
        side => side,
    };
    readings.sides[..=at].rotate_right(1);
    readings.rows.iter_mut().for_each(|row| row.side = place(row.side));
    readings.summaries.iter_mut().for_each(|row| row.side = place(row.side));
    Ok(())
}

/// The rows of a table under their headings.
struct Rows {
    headings: Headings,
    /// Line and cells.
    rows: Vec<(u64, Vec<String>)>,
}

struct Headings(Vec<String>);

impl Headings {
    fn find(&self, name: &str) -> Option<usize> {
        self.0.iter().position(|heading| heading.eq_ignore_ascii_case(name))
    }

    fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    fn need(&self, name: &str) -> Result<usize, TableError> {
        self.find(name).ok_or_else(|| {
            let what = format!("there is no column `{name}` among {}", self.list());
            TableError::new(what, "headings are matched in lower case, whatever their order")
        })
    }

    fn list(&self) -> String {
        format!("`{}`", self.0.join("`, `"))
    }
}

fn rows(text: &str) -> Result<Rows, TableError> {
    let first = text.lines().next().unwrap_or_default();
    let count = |separator: char| first.matches(separator).count();
    let separator = [',', ';', '\t'].into_iter().max_by_key(|separator| count(*separator)).unwrap_or(',');
    if count(separator) == 0 {
        return Err(TableError::new(
            "the first line is no row of headings",
            "headings and values are separated by commas, semicolons or tabs",
        ));
    }
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(separator as u8)
        .trim(csv::Trim::All)
        .comment(Some(b'#'))
        .from_reader(text.as_bytes());
    let headings: Vec<String> = reader.headers().map_err(TableError::of_csv)?.iter().map(str::to_owned).collect();
    if let Some(twice) = headings
        .iter()
        .enumerate()
        .find(|(at, name)| headings[..*at].iter().any(|other| other.eq_ignore_ascii_case(name)))
    {
        return Err(TableError::new(
            format!("two columns are called `{}`", twice.1),
            "give each column a name of its own",
        ));
    }
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(TableError::of_csv)?;
        let line = record.position().map_or(0, csv::Position::line);
        rows.push((line, record.iter().map(str::to_owned).collect()));
    }
    if rows.is_empty() {
        return Err(TableError::new("the table has headings and no rows", "a row per run, or per summary"));
    }
    Ok(Rows { headings: Headings(headings), rows })
}

/// The place of `name` in `names`, where it is added if it is new.
fn place_of(names: &mut Vec<String>, name: &str, line: u64) -> Result<usize, TableError> {
    if name.is_empty() {
        return Err(TableError::at(line, "an empty name", "each row names its label and its metric"));
    }
    if let Some(at) = names.iter().position(|other| other == name) {
        return Ok(at);
    }
    if names.len() >= MOST_NAMES {
        return Err(TableError::at(
            line,
            format!("more than {MOST_NAMES} names in one column"),
            "is this column a value?",
        ));
    }
    names.push(name.to_owned());
    Ok(names.len() - 1)
}

/// Metrics while they are collected: each with the unit of its first row.
#[derive(Default)]
struct Metrics {
    names: Vec<String>,
    found: Vec<(Unit, Metric)>,
}

impl Metrics {
    /// The place of a metric, and what its values are multiplied by to be in the unit of its first row.
    fn place(&mut self, name: &str, unit: &str, better: &str, line: u64) -> Result<(usize, f64), TableError> {
        let at = place_of(&mut self.names, name, line)?;
        let unit = Unit::of(unit);
        if at == self.found.len() {
            let better = direction(name, &unit, better, line)?;
            self.found.push((unit.clone(), Metric { name: name.to_owned(), unit: unit.name.clone(), better }));
        }
        let (first, _) = &self.found[at];
        let factor = unit.factor_to(first).ok_or_else(|| {
            let what = format!("`{name}` is in `{}` here and in `{}` further up", unit.name, first.name);
            TableError::at(line, what, "units that fit (MB/s and MiB/s, ms and us) are converted; give these one unit")
        })?;
        Ok((at, factor))
    }

    fn metrics(self) -> Vec<Metric> {
        self.found.into_iter().map(|(_, metric)| metric).collect()
    }
}

/// Which direction is better: as the table says, else as the unit does.
fn direction(name: &str, unit: &Unit, better: &str, line: u64) -> Result<Better, TableError> {
    match better {
        "higher" => Ok(Better::Higher),
        "lower" => Ok(Better::Lower),
        "" => unit.better().ok_or_else(|| {
            let what = format!("nothing tells whether a higher or a lower `{name}` is better");
            TableError::at(
                line,
                what,
                "add a column `better` with `higher` or `lower`, or a unit (`MB/s`, `IOPS`, `ms`)",
            )
        }),
        other => Err(TableError::at(line, format!("`{other}` is no direction"), "`better` is `higher` or `lower`")),
    }
}
