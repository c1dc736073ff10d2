//! `qualify judge`: a verdict over sides that were measured by themselves, each on its board.

use super::{judged, kept, sides, told};
use crate::args::QualifyJudge as Args;
use crate::commands::report;
use crate::error::{Failure, Outcome};
use crate::{envelope, input, output};
use anyhow::anyhow;
use flashscope_model::comparison::Difference;
use flashscope_model::qualification::{Part, QualificationRecord, Role, RunDone};
use flashscope_model::{Envelope, Kind};
use flashscope_qualify::control_difference;
use std::path::Path;

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    let mut door = output::door(args.results.replace.force, &args.sides);
    let outputs = report::outputs(&mut door, None, &args.results.output)?;
    let mut notes = Vec::new();
    let records = args.sides.iter().map(|path| read(path, &mut notes)).collect::<Result<Vec<_>, _>>()?;
    let first = &records[0];
    for (record, path) in records.iter().zip(&args.sides) {
        let same_plan = record.plan.text == first.plan.text && record.plan.quick == first.plan.quick;
        if !same_plan {
            return Err(Failure::Cannot(anyhow!(
                "{} was measured by another plan than {}\nhint: both sides need the same plan, and the same form of it",
                path.display(),
                args.sides[0].display()
            )));
        }
    }
    let names = names(&records)?;
    let (parts, runs) = merged(records.iter(), &names)?;
    let mut differences = sides::differences(&parts);
    differences.extend(control_difference(&parts, &runs));
    differences.extend(versions(&records));
    sides::allow(&differences, args.anyway)?;
    let typed: Vec<String> = args.sides.iter().map(|path| path.display().to_string()).collect();
    let mut record = QualificationRecord {
        envelope: Envelope {
            virtual_time: first.envelope.virtual_time,
            ..envelope::bare(Kind::Qualification, format!("qualify judge {}", first.plan.name), typed.join(" "))
        },
        plan: first.plan.clone(),
        parts,
        runs,
        rows: Vec::new(),
        controls: Vec::new(),
        verdict: None,
        differences,
        anyway: args.anyway,
        causes: Vec::new(),
        notes,
        seal: None,
    };
    if parts_of_both(&record) {
        record.notes.push(
            "the sides took no turns: a drift of rooms, supplies and hosts between their sessions is not cancelled out"
                .to_owned(),
        );
    }
    judged(&mut record);
    super::why::of_records(&mut record, &args.sides);
    kept::seal(&mut record);
    told(&record, args.results.json, &outputs)
}

fn parts_of_both(record: &QualificationRecord) -> bool {
    record.parts_of(Role::Reference).next().is_some()
}

fn read(path: &Path, notes: &mut Vec<String>) -> Result<QualificationRecord, Failure> {
    let shown = path.display();
    let text = input::text(path, "name records of `flashscope qualify run`")?;
    let record: QualificationRecord =
        flashscope_record::from_json(&text).map_err(|error| anyhow!("{shown}: {error}"))?;
    if record.verdict.is_some() || record.parts.len() != 1 {
        return Err(Failure::Cannot(anyhow!(
            "{shown} is no record of one side\nhint: `flashscope qualify run PLAN --side NAME` makes one"
        )));
    }
    if !kept::is_whole(&record) {
        return Err(Failure::Cannot(anyhow!(
            "{shown} was changed after it was made: its hash is not its own\nhint: what was measured cannot be trusted; measure anew"
        )));
    }
    let folder = path.with_extension("runs");
    let absent = kept::check(&record.runs, &folder)?;
    if absent > 0 {
        notes.push(format!(
            "{shown}: {absent} records of runs are not beside it, so that their hashes were not checked"
        ));
    }
    Ok(record)
}

/// The names of the sides, the reference first.
fn names(records: &[QualificationRecord]) -> Result<Vec<String>, Failure> {
    let mut names: Vec<String> = Vec::new();
    for label in records.iter().map(|record| &record.parts[0].label) {
        if !names.contains(label) {
            names.push(label.clone());
        }
    }
    let relative = records[0]
        .plan
        .requirements
        .iter()
        .any(|one| matches!(one.limit, flashscope_model::qualification::Limit::Reference { .. }));
    match (names.len(), relative) {
        (1, false) | (2, _) => Ok(names),
        (1, true) => Err(Failure::Cannot(anyhow!(
            "there is only the side '{}', and the plan has limits against a reference\nhint: name records of both sides, the reference first",
            names[0]
        ))),
        (several, _) => Err(Failure::Cannot(anyhow!(
            "there are {several} sides ({}), and a verdict is on two\nhint: parts of one model are measured with the same --side NAME",
            names.join(", ")
        ))),
    }
}

/// All parts and runs, the reference's first.
fn merged<'a>(
    records: impl Iterator<Item = &'a QualificationRecord> + Clone,
    names: &[String],
) -> Result<(Vec<Part>, Vec<RunDone>), Failure> {
    let (mut parts, mut runs): (Vec<Part>, Vec<RunDone>) = (Vec::new(), Vec::new());
    for (at, name) in names.iter().enumerate() {
        let role = if at == 0 && names.len() == 2 { Role::Reference } else { Role::Candidate };
        for record in records.clone().filter(|record| record.parts[0].label == *name) {
            let own = &record.parts[0];
            let known = |other: &&Part| own.identity.is_some() && other.identity == own.identity && own.host.is_some();
            if let Some(other) = parts.iter().find(known) {
                return Err(Failure::Cannot(anyhow!(
                    "{} and {} are the same part ({})\nhint: each record is of a part of its own; sessions of one part are runs of one record",
                    other.label,
                    own.label,
                    own.identity.clone().unwrap_or_default()
                )));
            }
            let number = parts.iter().filter(|part| part.role == role).count() + 1;
            let label = if number == 1 { name.clone() } else { format!("{name} {number}") };
            let part = parts.len();
            parts.push(Part { role, label, ..own.clone() });
            runs.extend(record.runs.iter().map(|run| RunDone { part, ..run.clone() }));
        }
    }
    Ok((parts, runs))
}

/// Sides that were measured by different versions of this program.
fn versions(records: &[QualificationRecord]) -> Option<Difference> {
    let version = |record: &QualificationRecord| record.envelope.tool.version.clone();
    let others = records.iter().any(|record| version(record) != version(&records[0]));
    let values = || records.iter().map(|record| (version(record), record.parts[0].label.clone())).collect();
    others.then(|| Difference { what: "flashscope".to_owned(), values: values(), incomparable: false })
}
