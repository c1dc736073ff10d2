//! Tables with a row per run, and with a row per summary.

use super::number::{count, decimal, number};
use super::{Group, Metrics, Reader, Rows, TableError, place_of};
use flashscope_model::comparison::{Reading, Readings, SummaryRow};

/// The cells that say what a row is about.
struct Columns {
    label: usize,
    metric: usize,
    unit: Option<usize>,
    better: Option<usize>,
}

impl Columns {
    fn of(rows: &Rows) -> Result<Columns, TableError> {
        let headings = &rows.headings;
        Ok(Columns {
            label: headings.need("label")?,
            metric: headings.need("metric")?,
            unit: headings.find("unit"),
            better: headings.find("better"),
        })
    }
}

fn cell(cells: &[String], at: Option<usize>) -> &str {
    at.and_then(|at| cells.get(at)).map_or("", String::as_str)
}

pub(super) fn runs(reader: &Reader, rows: &Rows) -> Result<Group, TableError> {
    let columns = Columns::of(rows)?;
    let value = rows.headings.need("value")?;
    let [part, session, block] = ["part", "session", "block"].map(|name| rows.headings.find(name));
    let decimal = decimal(rows, &[value], reader.decimal)?;
    let (mut sides, mut metrics, mut readings) = (Vec::new(), Metrics::default(), Vec::new());
    for (line, cells) in &rows.rows {
        let side = place_of(&mut sides, &cells[columns.label], *line)?;
        let (unit, better) = (cell(cells, columns.unit), cell(cells, columns.better));
        let (metric, factor) = metrics.place(&cells[columns.metric], unit, better, *line)?;
        let block = match cell(cells, block) {
            "" => None,
            text => Some(text.parse().map_err(|_| {
                TableError::at(*line, format!("`{text}` is no number of a block"), "blocks are counted: 1, 2, 3")
            })?),
        };
        readings.push(Reading {
            side,
            metric,
            part: cell(cells, part).to_owned(),
            session: cell(cells, session).to_owned(),
            block,
            value: number(&cells[value], decimal, *line)? * factor,
        });
    }
    Ok(Group {
        factor: None,
        readings: Readings { sides, metrics: metrics.metrics(), rows: readings, summaries: Vec::new() },
    })
}

pub(super) fn summaries(reader: &Reader, rows: &Rows) -> Result<Group, TableError> {
    let columns = Columns::of(rows)?;
    let (mean, stdev) = (rows.headings.need("mean")?, rows.headings.need("stdev")?);
    let n = rows.headings.find("n");
    let decimal = decimal(rows, &[mean, stdev], reader.decimal)?;
    let (mut sides, mut metrics, mut summaries) = (Vec::new(), Metrics::default(), Vec::<SummaryRow>::new());
    for (line, cells) in &rows.rows {
        let side = place_of(&mut sides, &cells[columns.label], *line)?;
        let (unit, better) = (cell(cells, columns.unit), cell(cells, columns.better));
        let (metric, factor) = metrics.place(&cells[columns.metric], unit, better, *line)?;
        if summaries.iter().any(|row| row.side == side && row.metric == metric) {
            let what = format!("a second summary of `{}` of `{}`", cells[columns.metric], cells[columns.label]);
            return Err(TableError::at(*line, what, "one row per label and metric"));
        }
        let count = match (cell(cells, n), reader.runs) {
            ("", Some(runs)) => runs,
            ("", None) => return Err(no_count(*line)),
            (text, _) => count(text, *line)?,
        };
        summaries.push(SummaryRow {
            side,
            metric,
            mean: number(&cells[mean], decimal, *line)? * factor,
            deviation: deviation(&cells[stdev], number(&cells[stdev], decimal, *line)? * factor, *line)?,
            count,
        });
    }
    Ok(Group { factor: None, readings: Readings { sides, metrics: metrics.metrics(), rows: Vec::new(), summaries } })
}

/// What to say where nothing tells how many runs a summary is of.
pub(super) fn no_count(line: u64) -> TableError {
    TableError::at(line, "nothing says how many runs this summary is of", "say --runs 3, or give a column or row `n`")
}

/// A standard deviation is none below zero.
pub(super) fn deviation(cell: &str, value: f64, line: u64) -> Result<f64, TableError> {
    if value >= 0.0 {
        Ok(value)
    } else {
        Err(TableError::at(line, format!("`{cell}` is no standard deviation"), "0 or more"))
    }
}
