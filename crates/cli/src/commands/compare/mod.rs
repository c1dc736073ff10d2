//! `compare`: sides set against a baseline, figure by figure, with verdicts that hold.
//!
//! What was typed becomes sides ([`sides`]). Those that were measured before become readings ([`readings`]); targets are measured
//! in turns while it decides ([`live`]), by jobs or by apps ([`work`]). Both give the same record.

mod live;
mod readings;
mod sides;
mod work;

use crate::args::Compare as Args;
use crate::args::Required;
use crate::commands::{history, report};
use crate::envelope;
use crate::error::{Failure, Outcome};
use crate::output::{self, Saved};
use anyhow::anyhow;
use flashscope_experiment::Settings;
use flashscope_host::Output;
use flashscope_model::comparison::{ComparisonRecord, Difference, Doubt, Group, Verdict};
use flashscope_model::{AnyRecord, Kind};
use sides::{Form, Side};
use std::path::PathBuf;

pub(crate) fn run(args: Args) -> Result<Outcome, Failure> {
    let settings = args
        .judging
        .settings()
        .map_err(|error| Failure::Cannot(anyhow!("{error}\nhint: --margin 5% and --confidence 95% are usual")))?;
    let sides = sides::parse(&args.sides)?;
    let live = sides.iter().filter(|side| side.is_live()).count();
    let files = sides.iter().flat_map(|side| side.items.iter()).filter_map(|item| item.path());
    let mut door = output::door(args.results.replace.force, files.map(PathBuf::from));
    let outputs = report::outputs(&mut door, None, &args.results.output)?;
    let record = match live {
        0 if !args.words.is_empty() || args.job.is_some() || args.apps.are_said() => {
            return Err(Failure::Cannot(anyhow!(
                "a job or an app was given, and no target to run it on\nhint: name devices or sim:MODEL, or leave the job away to compare what was measured"
            )));
        }
        0 => recorded(&args, &settings, &sides)?,
        live if live < sides.len() => {
            return Err(Failure::Cannot(anyhow!(
                "some sides were measured before and others are targets\nhint: measure these first, as `flashscope bench {} --repeat 10 -o new.json`",
                sides.iter().find(|side| side.is_live()).map_or("TARGET", |side| &side.items[0].typed)
            )));
        }
        _ if sides.len() < 2 => {
            return Err(Failure::Cannot(anyhow!(
                "there is only one side, and a comparison needs two\nhint: name a second target, or measure this one with `flashscope bench`"
            )));
        }
        _ if args.dry_run => {
            output::data(&live::describe(&args, &sides)?)?;
            return Ok(Outcome::Done);
        }
        _ => return live::run(&args, &settings, &sides, &outputs),
    };
    if args.dry_run {
        output::data("nothing would be measured or written: the sides were measured before\n")?;
        return Ok(Outcome::Done);
    }
    finish(&args, &record, &outputs)
}

/// Sides that were measured before.
fn recorded(args: &Args, settings: &Settings, sides: &[Side]) -> Result<ComparisonRecord, Failure> {
    let found = readings::of(args, sides)?;
    allow(args, &found.differences)?;
    let groups = found.groups.into_iter().map(|(factor, readings)| {
        let comparison = flashscope_experiment::compare(&readings, settings);
        Group { factor, readings, comparison }
    });
    let typed: Vec<&str> = args.sides.iter().map(String::as_str).collect();
    Ok(ComparisonRecord {
        envelope: envelope::bare(Kind::Compare, "compare", typed.join(" ")),
        sources: found.sources,
        groups: groups.collect(),
        differences: found.differences,
        campaign: None,
    })
}

/// Refuses what is not comparable, unless the operator asked for it.
fn allow(args: &Args, differences: &[Difference]) -> Result<(), Failure> {
    let decisive: Vec<String> = differences
        .iter()
        .filter(|difference| difference.incomparable)
        .map(|difference| {
            let values = difference.values.iter().map(|(value, sides)| format!("{value} ({sides})"));
            format!("  - {}: {}", difference.what, values.collect::<Vec<_>>().join(", "))
        })
        .collect();
    if args.anyway || decisive.is_empty() {
        return Ok(());
    }
    Err(Failure::Cannot(anyhow!(
        "the sides are not comparable: their figures mean different things\n{}\nhint: measure them in the same way, or add --anyway, which is then said with the result",
        decisive.join("\n")
    )))
}

/// Shows and keeps the record, and says how it ended.
fn finish(args: &Args, record: &ComparisonRecord, outputs: &[Output]) -> Result<Outcome, Failure> {
    let mut saved = Saved::default();
    if !outputs.is_empty() {
        report::save(&mut saved, outputs, &AnyRecord::Comparison(Box::new(record.clone())));
    }
    let text = match args.results.json {
        true => flashscope_record::to_json(record),
        false => flashscope_report::comparison::terminal(record, output::style()),
    };
    history::keep(|| flashscope_record::to_json(record));
    saved.after(output::data(&text))?;
    envelope::exit(&record.envelope.stop)?;
    let rows = || record.groups.iter().flat_map(|group| &group.comparison.rows);
    if rows().next().is_none() || rows().all(|row| row.verdict == Verdict::CannotTell(Doubt::Missing)) {
        return Err(Failure::Cannot(anyhow!(
            "the sides have no figure in common\nhint: figures are matched by their names; --json shows those of each side"
        )));
    }
    let met = |verdict: Verdict| match args.require {
        None => true,
        Some(Required::NotWorse) => matches!(verdict, Verdict::Better | Verdict::Equivalent),
        Some(Required::Better) => verdict == Verdict::Better,
        Some(Required::Equivalent) => verdict == Verdict::Equivalent,
    };
    Ok(if rows().all(|row| met(row.verdict)) { Outcome::Done } else { Outcome::ExpectationFailed })
}

impl Side {
    fn is_live(&self) -> bool {
        self.items.iter().any(|item| matches!(item.form, Form::Target))
    }
}
