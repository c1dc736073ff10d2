//! `qualify`: may this part replace that one?
//!
//! A plan ([`flashscope_qualify`]) says which run is next; each is a process of this same program ([`child`]) whose record is
//! kept, with its hash, in the directory of the runs ([`course`]). Nothing that is done is done again.

mod child;
mod course;
mod dry_run;
mod external;
mod figures;
mod judge;
mod kept;
mod sides;
mod states;
mod why;
mod work;

use crate::args::{Qualify as Args, QualifyBoth, QualifyCommand, QualifyCourse, QualifySide};
use crate::commands::{history, report};
use crate::error::{Failure, Outcome};
use crate::output::{self, Saved};
use crate::{envelope, input, near};
use anyhow::anyhow;
use flashscope_host::Output;
use flashscope_model::AnyRecord;
use flashscope_model::qualification::{Answer, QualificationRecord, Role};
use flashscope_qualify::schedule::Way;
use flashscope_qualify::{Plan, names, shipped};
use std::path::Path;

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    match &args.command {
        Some(QualifyCommand::List) => list(),
        Some(QualifyCommand::Run(side)) => one_side(side),
        Some(QualifyCommand::Judge(judge)) => judge::run(judge),
        None => both_sides(&args.both),
    }
}

fn list() -> Result<Outcome, Failure> {
    let longest = names().map(str::len).max().unwrap_or(0);
    let lines = names().filter_map(shipped).map(|plan| {
        let quick = plan.quick().map_or(0, |quick| quick.requirements.len());
        let said = format!("{} {} requirements, {quick} in the short form", plan.title, plan.requirements.len());
        output::named(&format!("{:longest$}", plan.name), &said)
    });
    output::data(&lines.collect::<Vec<_>>().join("\n"))?;
    Ok(Outcome::Done)
}

/// A plan by its name or its file.
fn plan(name: &str, quick: bool) -> Result<Plan, Failure> {
    let is_path = name.contains('/') || name.ends_with(".toml");
    let plan = match shipped(name).filter(|_| !is_path) {
        Some(plan) => plan,
        None if is_path || Path::new(name).is_file() => {
            let text = input::text(Path::new(name), "`flashscope qualify list` has the plans that come along")?;
            Plan::parse(&text).map_err(|error| anyhow!("{name}: {error}"))?
        }
        None => {
            return Err(Failure::Cannot(anyhow!("there is no plan '{name}'\n{}", near::hint(name, names()))));
        }
    };
    if !quick {
        return Ok(plan);
    }
    plan.quick()
        .ok_or_else(|| Failure::Cannot(anyhow!("{name} has no short form\nhint: leave --quick away, or add [quick]")))
}

fn both_sides(args: &QualifyBoth) -> Result<Outcome, Failure> {
    let Some(name) = &args.plan else {
        return Err(Failure::Cannot(anyhow!(
            "no plan is named\nhint: `flashscope qualify list` has those that come along"
        )));
    };
    let plan = plan(name, args.course.quick)?;
    if args.explain {
        output::data(&plan.text)?;
        return Ok(Outcome::Done);
    }
    if args.candidate.is_empty() {
        return Err(Failure::Cannot(anyhow!(
            "there is no candidate\nhint: --candidate TARGET, and --reference TARGET"
        )));
    }
    if let Some(relative) = plan.needs_reference().filter(|_| args.reference.is_empty()) {
        return Err(Failure::Cannot(anyhow!(
            "'{}' is held against a reference, and there is none\nhint: --reference TARGET names the part in use",
            relative.title
        )));
    }
    let named =
        |role, typed: &[String]| -> Vec<(Role, String)> { typed.iter().map(|target| (role, target.clone())).collect() };
    let all = [named(Role::Reference, &args.reference), named(Role::Candidate, &args.candidate)].concat();
    let parts = sides::parts(&all, &args.course)?;
    if args.course.dry_run {
        output::data(&dry_run::text(&plan, &parts, &args.course, &Way::Turns)?)?;
        return Ok(Outcome::Done);
    }
    let differences = sides::differences(&parts);
    sides::allow(&differences, args.anyway)?;
    let outputs = outputs(&args.course)?;
    let course = course::Course::begin(&plan, parts, &args.course, &outputs, course::Kind::Both)?;
    let mut done = course.run()?;
    let record = &mut done.record;
    (record.differences, record.anyway) = (differences, args.anyway);
    judged(record);
    if done.failure.is_none() {
        why::add(record, &args.course);
    }
    finish(done, &args.course, &outputs)
}

fn one_side(args: &QualifySide) -> Result<Outcome, Failure> {
    let plan = plan(&args.plan, args.course.quick)?;
    let target = match (&args.target, &args.dir) {
        (Some(target), _) => target.clone(),
        (None, Some(dir)) if dir.is_dir() => dir.display().to_string(),
        (None, dir) => {
            let shown = dir.as_ref().map_or_else(String::new, |dir| dir.display().to_string());
            return Err(Failure::Cannot(anyhow!(
                "{shown} is no directory\nhint: --dir names one that lies on the part"
            )));
        }
    };
    let mut parts = sides::parts(&[(Role::Candidate, target)], &args.course)?;
    parts[0].label.clone_from(&args.side);
    let way = Way::Alone { session: sides::session(&parts[0], args.course.seed) };
    if args.course.dry_run {
        output::data(&dry_run::text(&plan, &parts, &args.course, &way)?)?;
        return Ok(Outcome::Done);
    }
    let outputs = outputs(&args.course)?;
    let course = course::Course::begin(&plan, parts, &args.course, &outputs, course::Kind::Alone)?;
    finish(course.run()?, &args.course, &outputs)
}

fn outputs(args: &QualifyCourse) -> Result<Vec<Output>, Failure> {
    let mut door = output::door(args.results.replace.force, args.table.iter());
    report::outputs(&mut door, None, &args.results.output)
}

/// Judges what was measured.
fn judged(record: &mut QualificationRecord) {
    let judged = flashscope_qualify::judge(&record.plan, &record.parts, &record.runs);
    record.rows = judged.rows;
    record.controls = judged.controls;
    record.verdict = Some(judged.verdict);
}

/// Shows and keeps the record, and says how it ended.
fn finish(mut done: course::Done, args: &QualifyCourse, outputs: &[Output]) -> Result<Outcome, Failure> {
    kept::seal(&mut done.record);
    let shown = told(&done.record, args.results.json, outputs);
    match done.failure {
        Some(failure) => Err(failure),
        None => shown,
    }
}

fn told(record: &QualificationRecord, json: bool, outputs: &[Output]) -> Result<Outcome, Failure> {
    let mut saved = Saved::default();
    report::save(&mut saved, outputs, &AnyRecord::Qualification(Box::new(record.clone())));
    let text = match json {
        true => flashscope_record::to_json(record),
        false => flashscope_report::qualification::terminal(record, output::style()),
    };
    history::keep(|| flashscope_record::to_json(record));
    saved.after(output::data(&text))?;
    envelope::exit(&record.envelope.stop)?;
    match record.verdict.as_ref().map(|verdict| verdict.answer) {
        None | Some(Answer::MayReplace) => Ok(Outcome::Done),
        Some(Answer::MayNot) => Ok(Outcome::ExpectationFailed),
        Some(Answer::NotShown) => Err(Failure::Cannot(anyhow!(
            "it is not shown that the candidate may replace the reference, nor that it may not\nhint: the reasons are above; what \
             was measured is kept, and the same command goes on where more runs may tell"
        ))),
    }
}
