//! The figures of a record that a history can be asked for: those that `compare` compares.

use flashscope_model::comparison::Metric;
use flashscope_record::AnyRecord;
use flashscope_stats::location::{median, standard_deviation};
use flashscope_view::figures::measured;
use std::collections::BTreeMap;

/// What a record says of what can be followed over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Readings {
    /// Each figure once.
    pub(crate) figures: Vec<Reading>,
    /// The settings without which figures of the same name mean another thing, one a line.
    pub(crate) setup: String,
}

/// One figure of one record.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reading {
    pub(crate) metric: Metric,
    /// The median of its runs, in the unit of the metric.
    pub(crate) value: f64,
    /// How many there were.
    pub(crate) runs: u32,
    /// Their standard deviation, in the same unit; `None` of one run.
    pub(crate) spread: Option<f64>,
}

/// All figures of a record; empty where its kind has none.
pub(crate) fn of(record: &AnyRecord) -> Readings {
    let measured = measured(record);
    let mut values: BTreeMap<Metric, Vec<f64>> = BTreeMap::new();
    for figure in measured.runs.into_iter().flatten().filter(|figure| figure.value.is_finite()) {
        values.entry(figure.metric).or_default().push(figure.value);
    }
    let reading = |(metric, values): (Metric, Vec<f64>)| {
        let (value, spread) = (median(&values)?, standard_deviation(&values));
        Some(Reading { metric, value, runs: u32::try_from(values.len()).ok()?, spread })
    };
    let decisive = measured.settings.iter().filter(|setting| setting.decisive);
    let setup: Vec<String> = decisive.map(|setting| format!("{} {}", setting.what, setting.value)).collect();
    Readings { figures: values.into_iter().filter_map(reading).collect(), setup: setup.join("\n") }
}
