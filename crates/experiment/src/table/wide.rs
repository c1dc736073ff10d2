//! Tables with a column per metric and a row per statistic, as published studies have them.

use super::long::{deviation, no_count};
use super::number::{count, decimal, number};
use super::unit::Unit;
use super::{Group, Metrics, Reader, Rows, TableError, place_of};
use flashscope_model::comparison::{Readings, SummaryRow};

/// One condition while its rows are collected.
struct Condition<'a> {
    factor: String,
    level: String,
    line: u64,
    mean: Option<&'a [String]>,
    stdev: Option<&'a [String]>,
    n: Option<&'a [String]>,
}

pub(super) fn read(reader: &Reader, rows: &Rows) -> Result<Vec<Group>, TableError> {
    let statistic = rows.headings.need("statistic")?;
    let values: Vec<usize> = (statistic + 1..rows.headings.0.len()).collect();
    if statistic == 0 || values.is_empty() {
        return Err(TableError::new(
            "a wide table has a column in front of `statistic` that names the condition, and the metrics behind it",
            "for example `governor,statistic,seq_read_MBps`",
        ));
    }
    let decimal = decimal(rows, &values, reader.decimal)?;
    let mut factors: Vec<String> = Vec::new();
    let conditions = conditions(rows, statistic, &mut factors)?;
    factors
        .iter()
        .map(|factor| {
            let (mut sides, mut metrics, mut summaries) = (Vec::new(), Metrics::default(), Vec::new());
            for condition in conditions.iter().filter(|condition| condition.factor == *factor) {
                let line = condition.line;
                let side = place_of(&mut sides, &condition.level, line)?;
                let missing = |what: &str| {
                    TableError::at(
                        line,
                        format!("`{}` has no row `{what}`", condition.level),
                        "each needs `mean` and `stdev`",
                    )
                };
                let mean = condition.mean.ok_or_else(|| missing("mean"))?;
                let stdev = condition.stdev.ok_or_else(|| missing("stdev"))?;
                for &at in &values {
                    // An empty cell is a figure that this condition does not have.
                    if mean[at].is_empty() {
                        continue;
                    }
                    let heading = &rows.headings.0[at];
                    let (name, unit) = Unit::at_the_end(heading)
                        .map_or((heading.clone(), String::new()), |(rest, unit)| (rest.replace('_', " "), unit.name));
                    let (metric, _) = metrics.place(&name, &unit, "", line)?;
                    let runs = match (condition.n, reader.runs) {
                        (Some(n), _) => count(&n[at], line)?,
                        (None, Some(runs)) => runs,
                        (None, None) => return Err(no_count(line)),
                    };
                    summaries.push(SummaryRow {
                        side,
                        metric,
                        mean: number(&mean[at], decimal, line)?,
                        deviation: deviation(&stdev[at], number(&stdev[at], decimal, line)?, line)?,
                        count: runs,
                    });
                }
            }
            let factor = (statistic >= 2).then(|| factor.clone());
            Ok(Group { factor, readings: Readings { sides, metrics: metrics.metrics(), rows: Vec::new(), summaries } })
        })
        .collect()
}

/// The conditions in the order of their first rows.
fn conditions<'a>(
    rows: &'a Rows,
    statistic: usize,
    factors: &mut Vec<String>,
) -> Result<Vec<Condition<'a>>, TableError> {
    let mut conditions: Vec<Condition<'a>> = Vec::new();
    for (line, cells) in &rows.rows {
        let factor = if statistic >= 2 { cells[0].clone() } else { String::new() };
        let level = cells[usize::from(statistic >= 2)..statistic].join(" ");
        if !factors.contains(&factor) {
            factors.push(factor.clone());
        }
        let at = conditions.iter().position(|condition| condition.factor == factor && condition.level == level);
        let at = at.unwrap_or_else(|| {
            conditions.push(Condition { factor, level: level.clone(), line: *line, mean: None, stdev: None, n: None });
            conditions.len() - 1
        });
        let condition = &mut conditions[at];
        let slot = match cells[statistic].to_lowercase().as_str() {
            "mean" | "average" | "avg" => &mut condition.mean,
            "stdev" | "sd" | "std" | "stddev" => &mut condition.stdev,
            "n" | "runs" | "count" => &mut condition.n,
            other => {
                let what = format!("`{other}` is no statistic that a comparison can use");
                return Err(TableError::at(*line, what, "rows are `mean`, `stdev` and, where it is known, `n`"));
            }
        };
        if slot.replace(cells).is_some() {
            let what = format!("a second row `{}` of `{level}`", cells[statistic]);
            return Err(TableError::at(*line, what, "one row per condition and statistic"));
        }
    }
    Ok(conditions)
}
