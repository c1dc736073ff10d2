//! Why what the product does with a part and the figures of its disk disagree.

use super::child;
use super::course::write;
use crate::args::QualifyCourse;
use crate::interrupt;
use flashscope_host::Folder;
use flashscope_model::AnyRecord;
use flashscope_model::qualification::{
    Access, Area, Cause, Part, QualificationRecord, Requirement, Role, Row, RowResult, Weight, Work,
};
use flashscope_view::explanation::answer;
use std::ffi::OsString;
use std::path::PathBuf;

/// Adds the causes to a qualification of both sides.
pub(super) fn add(record: &mut QualificationRecord, args: &QualifyCourse) {
    let inspect = |part: &Part, folder: &Folder| match part.access {
        Access::Simulated => Ok(part.target.clone()),
        Access::Raw => inspected(part, folder, args),
        Access::Files => Err("a part that is reached through files cannot be inspected".to_owned()),
    };
    causes(record, inspect);
}

/// The same of sides that were measured by themselves: their parts are not here, but simulated ones are anywhere.
pub(super) fn of_records(record: &mut QualificationRecord, _: &[PathBuf]) {
    causes(record, |part, _| match part.access {
        Access::Simulated => Ok(part.target.clone()),
        _ => Err("the parts are not here; `flashscope explain` tells it from records of inspect".to_owned()),
    });
}

fn causes(record: &mut QualificationRecord, named: impl Fn(&Part, &Folder) -> Result<String, String>) {
    let found: Vec<usize> = paradoxes(record);
    for row in found {
        if interrupt::asked() {
            return;
        }
        let requirement = &record.plan.requirements[record.rows[row].requirement];
        let paradox =
            format!("{} fails, and no figure of the disk does ({})", requirement.title, record.rows[row].reason);
        let because = because(record, requirement, &named);
        record.causes.push(Cause { row, paradox, because: because.as_ref().ok().cloned(), unknown: because.err() });
    }
}

/// Functional requirements that fail although the disk passes whatever was decided of it.
fn paradoxes(record: &QualificationRecord) -> Vec<usize> {
    let of = |area: Area| {
        record.rows.iter().enumerate().filter(move |(_, row)| record.plan.requirements[row.requirement].area == area)
    };
    let is_must = |row: &Row| record.plan.requirements[row.requirement].weight == Weight::Must;
    let disk: Vec<RowResult> = of(Area::Disk).filter(|(_, row)| is_must(row)).map(|(_, row)| row.result).collect();
    let wins = disk.contains(&RowResult::Pass) && !disk.contains(&RowResult::Fail);
    let failing = of(Area::Functional).filter(|(_, row)| row.result == RowResult::Fail && is_must(row));
    failing.map(|(at, _)| at).filter(|_| wins).collect()
}

fn because(
    record: &QualificationRecord,
    requirement: &Requirement,
    named: &impl Fn(&Part, &Folder) -> Result<String, String>,
) -> Result<String, String> {
    let app = requirement.figure.strip_suffix(" run time").filter(|_| requirement.work == Work::App);
    let trace = app.and_then(flashscope_qualify::trace).ok_or("no trace of it comes along")?;
    let folder = Folder::for_a_while("qualify-why").map_err(|error| error.to_string())?;
    let part = |role| record.parts_of(role).next().ok_or("a side is missing");
    let (a, b) = (named(part(Role::Reference)?, &folder)?, named(part(Role::Candidate)?, &folder)?);
    write(&folder, "why.fstrace", trace).map_err(|failure| failure.to_string())?;
    let (file, output) = (folder.path().join("why.fstrace"), folder.path().join("why.json"));
    let words: Vec<OsString> = [
        "explain".into(),
        a.into(),
        b.into(),
        "--trace".into(),
        file.into(),
        "--seed".into(),
        record.plan.seed.to_string().into(),
        "-o".into(),
        output.clone().into(),
    ]
    .into();
    let ran = child::run(&words).map_err(|failure| failure.to_string())?;
    let text = std::fs::read_to_string(&output).map_err(|_| ran.why())?;
    match flashscope_record::read(&text) {
        Ok(AnyRecord::Explanation(explanation)) => {
            Ok(answer(&explanation).replace("on B", "on the candidate").replace("B takes", "the candidate takes"))
        }
        _ => Err(ran.why()),
    }
}

/// A record of `inspect`, from which a twin is fitted. Only reads.
fn inspected(part: &Part, folder: &Folder, args: &QualifyCourse) -> Result<String, String> {
    let output = folder.path().join(format!("{}.json", part.role.word()));
    let words: Vec<OsString> = [
        "inspect".into(),
        OsString::from(&part.target),
        "--read-only".into(),
        "--seed".into(),
        args.seed.to_string().into(),
        "-o".into(),
        output.clone().into(),
    ]
    .into();
    let ran = child::run(&words).map_err(|failure| failure.to_string())?;
    if output.is_file() { Ok(output.display().to_string()) } else { Err(ran.why()) }
}
