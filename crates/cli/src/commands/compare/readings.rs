//! From records and tables to the readings of a comparison, and what else is not the same on all sides.

use super::sides::{Form, Side};
use crate::args::Compare as Args;
use crate::commands::campaign::no_such_figure;
use crate::error::Failure;
use anyhow::anyhow;
use flashscope_experiment::table::{Group as TableGroup, Reader, put_first};
use flashscope_model::AnyRecord;
use flashscope_model::comparison::{Difference, Metric, Reading, Readings, Source};
use flashscope_view::figures::{Figure, Measured, Setting, measured};

/// What was found in the files.
pub(super) struct Found {
    pub(super) sources: Vec<Source>,
    /// Readings, with the name of the factor where a table has several.
    pub(super) groups: Vec<(Option<String>, Readings)>,
    pub(super) differences: Vec<Difference>,
}

pub(super) fn of(args: &Args, sides: &[Side]) -> Result<Found, Failure> {
    let mut found = Found { sources: Vec::new(), groups: Vec::new(), differences: Vec::new() };
    let mut all = Readings::default();
    let mut settings = Settings::default();
    let mut tables: Vec<(String, TableGroup)> = Vec::new();
    for side in sides {
        for item in &side.items {
            match &item.form {
                Form::Record(record) => {
                    let label = add_side(&mut all, &side.label);
                    add_record(&mut all, label, record, &item.typed)?;
                    settings.add(&side.label, &measured(record).settings);
                    source(&mut found.sources, &side.label, &item.typed);
                }
                Form::Table(text) => {
                    let reader = Reader { runs: args.runs, decimal: args.decimal.map(Into::into) };
                    let groups = reader.read(text).map_err(|error| anyhow!("{}: {error}", item.typed))?;
                    for mut group in groups {
                        name_after(side, &item.typed, &mut group)?;
                        tables.push((item.typed.clone(), group));
                    }
                }
                Form::Target => {}
            }
        }
    }
    let several = tables.iter().any(|(_, group)| group.factor.is_some());
    for (file, group) in tables {
        group.readings.sides.iter().for_each(|label| source(&mut found.sources, label, &file));
        if several {
            found.groups.push((group.factor, group.readings));
        } else {
            merge(&mut all, group.readings, &file)?;
        }
    }
    if !all.sides.is_empty() {
        found.groups.insert(0, (None, all));
    }
    for (_, readings) in &mut found.groups {
        keep_figures(readings, |name| args.wants(name))?;
        finished(readings, args.baseline.as_deref())?;
    }
    found.differences = settings.differences();
    Ok(found)
}

/// Leaves out the figures that were not asked for.
fn keep_figures(readings: &mut Readings, wanted: impl Fn(&str) -> bool) -> Result<(), Failure> {
    let mut places = Vec::new();
    let mut kept = 0;
    for metric in &readings.metrics {
        places.push(wanted(&metric.name).then_some(kept));
        kept += usize::from(places.last().is_some_and(Option::is_some));
    }
    if kept == 0 {
        return Err(no_such_figure(&readings.metrics));
    }
    let place = |metric: &mut usize| places[*metric].map(|place| *metric = place).is_some();
    readings.rows.retain_mut(|row| place(&mut row.metric));
    readings.summaries.retain_mut(|row| place(&mut row.metric));
    readings.metrics.retain(|metric| wanted(&metric.name));
    Ok(())
}

/// Brings the baseline to the front and refuses what leaves nothing to compare.
fn finished(readings: &mut Readings, baseline: Option<&str>) -> Result<(), Failure> {
    if let Some(wanted) = baseline {
        put_first(readings, wanted).map_err(|error| anyhow!("{error}"))?;
    }
    match &readings.sides[..] {
        [only] => Err(Failure::Cannot(anyhow!(
            "there is only one side, '{only}', and a comparison needs two\nhint: name a second record, or give the table a second label"
        ))),
        _ => Ok(()),
    }
}

fn source(sources: &mut Vec<Source>, label: &str, from: &str) {
    match sources.iter_mut().find(|source| source.label == label) {
        Some(source) if source.from.iter().any(|other| other == from) => {}
        Some(source) => source.from.push(from.to_owned()),
        None => sources.push(Source { label: label.to_owned(), from: vec![from.to_owned()] }),
    }
}

fn add_side(readings: &mut Readings, label: &str) -> usize {
    readings.sides.iter().position(|side| side == label).unwrap_or_else(|| {
        readings.sides.push(label.to_owned());
        readings.sides.len() - 1
    })
}

/// A label that was typed is the name of a table's only side.
fn name_after(side: &Side, file: &str, group: &mut TableGroup) -> Result<(), Failure> {
    if !side.named {
        return Ok(());
    }
    match &mut group.readings.sides[..] {
        [only] => *only = side.label.clone(),
        several => {
            return Err(Failure::Cannot(anyhow!(
                "{file} has {} labels of its own, so '{}' can be the name of none\nhint: leave the label away",
                several.len(),
                side.label
            )));
        }
    }
    Ok(())
}

/// Each run of a record, in a session of its own unless it says which.
fn add_record(readings: &mut Readings, side: usize, record: &AnyRecord, file: &str) -> Result<(), Failure> {
    let Measured { runs, .. } = measured(record);
    if runs.is_empty() {
        return Err(Failure::Cannot(anyhow!(
            "{file}: a record of {} has no figures of runs\nhint: records of bench, app, inspect, probe, iozone, trace and explain have some",
            record.envelope().kind.word()
        )));
    }
    let envelope = record.envelope();
    let part = envelope.device.as_ref().map_or_else(
        || envelope.target.clone(),
        |device| device.identity.as_ref().map_or_else(|| device.name.clone(), |identity| identity.0.clone()),
    );
    let session = envelope.session.clone().unwrap_or_else(|| file.to_owned());
    for figures in runs {
        for Figure { metric, value } in figures {
            let metric = place(&mut readings.metrics, metric, file)?;
            let (part, session) = (part.clone(), session.clone());
            readings.rows.push(Reading { side, metric, part, session, block: None, value });
        }
    }
    Ok(())
}

/// The place of a metric among those that are there.
fn place(metrics: &mut Vec<Metric>, metric: Metric, file: &str) -> Result<usize, Failure> {
    match metrics.iter().position(|other| other.name == metric.name) {
        None => {
            metrics.push(metric);
            Ok(metrics.len() - 1)
        }
        Some(at) if metrics[at] == metric => Ok(at),
        Some(at) => Err(Failure::Cannot(anyhow!(
            "{file}: `{}` is in `{}` here and in `{}` before\nhint: give both one unit",
            metric.name,
            metric.unit,
            metrics[at].unit
        ))),
    }
}

/// Adds the readings of a table.
fn merge(all: &mut Readings, table: Readings, file: &str) -> Result<(), Failure> {
    let sides: Vec<usize> = table.sides.iter().map(|label| add_side(all, label)).collect();
    let metrics = table.metrics.into_iter().map(|metric| place(&mut all.metrics, metric, file));
    let metrics: Vec<usize> = metrics.collect::<Result<_, _>>()?;
    all.rows.extend(table.rows.into_iter().map(|row| Reading {
        side: sides[row.side],
        metric: metrics[row.metric],
        ..row
    }));
    all.summaries.extend(table.summaries.into_iter().map(|mut row| {
        (row.side, row.metric) = (sides[row.side], metrics[row.metric]);
        row
    }));
    Ok(())
}

/// What was set on each side.
#[derive(Default)]
pub(super) struct Settings(Vec<Compared>);

/// A setting: its name, whether figures mean another thing without it, and its values with the labels that have them.
type Compared = (String, bool, Vec<(String, Vec<String>)>);

impl Settings {
    pub(super) fn add(&mut self, label: &str, settings: &[Setting]) {
        for setting in settings {
            let at = self.0.iter().position(|(what, ..)| *what == setting.what).unwrap_or_else(|| {
                self.0.push((setting.what.clone(), setting.decisive, Vec::new()));
                self.0.len() - 1
            });
            let values = &mut self.0[at].2;
            match values.iter_mut().find(|(value, _)| *value == setting.value) {
                Some((_, labels)) if labels.iter().any(|other| other == label) => {}
                Some((_, labels)) => labels.push(label.to_owned()),
                None => values.push((setting.value.clone(), vec![label.to_owned()])),
            }
        }
    }

    /// Those that are not the same everywhere.
    pub(super) fn differences(self) -> Vec<Difference> {
        let several = self.0.into_iter().filter(|(.., values)| values.len() > 1);
        let difference = |(what, incomparable, values): Compared| Difference {
            what,
            values: values.into_iter().map(|(value, labels)| (value, labels.join(", "))).collect(),
            incomparable,
        };
        several.map(difference).collect()
    }
}
