//! Requirements of the product: a command that the settings of this host name, or figures that somebody filled in.

use super::child;
use crate::args::QualifyCourse;
use crate::error::Failure;
use crate::input;
use anyhow::anyhow;
use flashscope_experiment::table::Reader;
use flashscope_model::comparison::Readings;
use flashscope_model::qualification::{FigureUnit, FigureValue, KeptRecord, Lacking, Part, RunDone, RunOutcome};
use flashscope_qualify::{Plan, Task, unit};
use flashscope_units::{Bytes, Nanos};
use std::process::Command;

/// The copy of a filled-in table among the records of the runs.
pub(super) const TABLE: &str = "table.csv";

/// Runs the product's command of this name. A plan only names it, so that a plan from elsewhere starts nothing that the host's own
/// settings do not say.
pub(super) fn run(
    name: &str,
    prints: Option<(FigureUnit, f64)>,
    part: &Part,
    seed: u64,
    args: &QualifyCourse,
) -> Result<(RunOutcome, Nanos), Failure> {
    let Some((_, text)) = args.commands.iter().find(|(other, _)| other == name) else {
        let why = format!(
            "nobody says what '{name}' is: qualify.external.{name} = \"COMMAND\" in the settings of this host, or its figures in --table FILE"
        );
        return Ok((RunOutcome::Unsupported { by: Lacking::Host, why }, Nanos::ZERO));
    };
    let words = shlex::split(text).filter(|words| !words.is_empty());
    let words =
        words.ok_or_else(|| anyhow!("qualify.external.{name}: '{text}' is no command\nhint: quotes come in pairs"))?;
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    command.env("FLASHSCOPE_TARGET", &part.target).env("FLASHSCOPE_SIDE", &part.label);
    command.env("FLASHSCOPE_ROLE", part.role.word()).env("FLASHSCOPE_RUN_SEED", seed.to_string());
    let ran = child::watched(command)?;
    let outcome = match (ran.code, prints) {
        (Some(0), None) => done(format!("{name} time"), FigureUnit::Nanoseconds, ran.took.as_f64()),
        (Some(0), Some((unit, factor))) => match number(&ran.stdout) {
            Some(value) => done(name.to_owned(), unit, value * factor),
            None => RunOutcome::Failed { why: format!("'{name}' printed no number") },
        },
        (Some(code), _) => RunOutcome::Failed { why: format!("'{name}' ended with {code}: {}", ran.why()) },
        (None, _) => RunOutcome::Failed { why: format!("'{name}' was ended by a signal") },
    };
    Ok((outcome, ran.took))
}

fn done(name: String, unit: FigureUnit, value: f64) -> RunOutcome {
    let figures = vec![FigureValue { name, unit: unit.word().to_owned(), value }];
    RunOutcome::Done { figures, answers: Vec::new() }
}

/// The last word that is a number: programs print what they do before what it came to.
fn number(text: &str) -> Option<f64> {
    let words = text.split(|c: char| c.is_whitespace() || "=:,;".contains(c));
    words.rev().filter_map(|word| word.parse::<f64>().ok()).find(|value| value.is_finite())
}

/// The runs that a filled-in table tells of, for the external workloads of the plan. Its labels are those of the parts (or
/// `reference` and `candidate`), its metrics the figures of the plan.
///
/// # Errors
/// Where it cannot be read, or speaks of a part or a figure that there is not.
pub(super) fn of_table(
    text: &str,
    name: &str,
    plan: &Plan,
    parts: &[Part],
    hash: &str,
) -> Result<Vec<RunDone>, Failure> {
    let groups = Reader { runs: None, decimal: None }.read(text).map_err(|error| anyhow!("{name}: {error}"))?;
    let mut runs = Vec::new();
    for Readings { sides, metrics, rows, .. } in groups.into_iter().map(|group| group.readings) {
        for row in rows {
            let (label, metric) = (&sides[row.side], &metrics[row.metric]);
            let part = parts.iter().position(|part| part.label == *label).ok_or_else(|| {
                let labels: Vec<&str> = parts.iter().map(|part| part.label.as_str()).collect();
                anyhow!("{name}: there is no side '{label}'\nhint: sides are {}", labels.join(", "))
            })?;
            let workload = workload(plan, &metric.name).ok_or_else(|| {
                anyhow!(
                    "{name}: no requirement of the plan asks for '{}'\nhint: `--explain` prints the plan",
                    metric.name
                )
            })?;
            let (unit, factor) = unit(&metric.unit).ok_or_else(|| {
                anyhow!(
                    "{name}: '{}' is in '{}', which is no unit of a figure\nhint: as s, ms or MB/s",
                    metric.name,
                    metric.unit
                )
            })?;
            let figure = done(metric.name.clone(), unit, row.value * factor);
            let place = runs.iter().filter(|run: &&RunDone| run.workload == workload && run.part == part).count();
            runs.push(RunDone {
                part,
                workload,
                session: if row.session.is_empty() { "table".to_owned() } else { row.session },
                block: None,
                place: u32::try_from(place).unwrap_or(u32::MAX),
                outcome: figure,
                replayed: false,
                record: Some(KeptRecord { file: TABLE.to_owned(), sha256: hash.to_owned() }),
                took: Nanos::ZERO,
                written: Bytes::ZERO,
            });
        }
    }
    Ok(runs)
}

/// The external workload that has this figure.
fn workload(plan: &Plan, figure: &str) -> Option<String> {
    let own = plan.requirements.iter().filter(|requirement| requirement.figure == figure);
    let mut workloads = own.filter_map(|requirement| plan.workload(&requirement.workload));
    workloads.find(|workload| matches!(workload.task, Task::External { .. })).map(|workload| workload.name.clone())
}

/// The text of a table.
pub(super) fn table(args: &QualifyCourse) -> Result<Option<(String, String)>, Failure> {
    let Some(path) = &args.table else { return Ok(None) };
    let text = input::text(path, "a table has the columns label,metric,unit,value")?;
    Ok(Some((path.display().to_string(), text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_number_counts() {
        assert_eq!(number("step 1 of 3\ntotal=12.5 s\n"), Some(12.5));
        assert_eq!(number("took: 7;"), Some(7.0));
        assert_eq!(number("nothing, NaN"), None);
        assert_eq!(number(""), None);
    }
}
