//! Findings: a figure, or a bound, or the reason why there is neither.
//!
//! What a figure is made of stands in the model ([`Figure`]), so that one function writes and one reads every finding, and
//! a new one needs nothing here. The fields of a figure stand beside what is the same for all:
//!
//! ```json
//! "page": { "bytes": 16384, "confidence": 0.985, "at_least": null, "at_most": null, "alternatives": [],
//!           "evidence": "…", "method": ["boundaries"], "reason_unknown": null, "leans_to": null }
//! ```
//!
//! A figure of one field has its bounds as plain values, one of several fields has them as objects.

#[cfg(test)]
mod schema;

use crate::RecordError;
use flashscope_model::finding::{Bound, Cell, Field, Figure, Kind, Source, Support, Unknown, Visit};
use flashscope_model::{self as model, Estimate, ExperimentName, Finding, Reason};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// How a device is built: every finding under its name.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub struct Geometry(Map<String, Value>);

impl Geometry {
    pub(crate) fn from_model(geometry: &model::Geometry) -> Geometry {
        let mut writer = Writer(Map::new());
        geometry.each(&mut writer);
        Geometry(writer.0)
    }

    pub(crate) fn into_model(self) -> Result<model::Geometry, RecordError> {
        model::Geometry::from_source(&mut Reader(self.0))
    }
}

struct Writer(Map<String, Value>);

impl Visit for Writer {
    fn visit<F: Figure>(&mut self, finding: Finding, estimate: &Estimate<F>) {
        self.0.insert(finding.wire().to_owned(), Value::Object(write(estimate)));
    }
}

fn write<F: Figure>(estimate: &Estimate<F>) -> Map<String, Value> {
    let mut object = Map::new();
    let cells = estimate.figure().map(Figure::cells);
    for (at, field) in F::FIELDS.iter().enumerate() {
        let value = cells.as_ref().map_or(Value::Null, |cells| write_cell(&cells[at], &field.kind));
        object.insert(field.name.to_owned(), value);
    }
    let (least, most) = estimate.bound().map_or((None, None), Bound::ends);
    let alternative = |(figure, confidence): &(F, f64)| {
        let mut object = write_fields(F::FIELDS, &figure.cells());
        object.insert("confidence".to_owned(), number(*confidence));
        Value::Object(object)
    };
    let leaning = match estimate {
        Estimate::Unknown(Unknown { leaning, .. }) => leaning.as_ref(),
        _ => None,
    };
    let plain = |figure: Option<&F>| figure.map_or(Value::Null, write_plain);
    let rest = [
        ("confidence", estimate.confidence().map_or(Value::Null, number)),
        ("at_least", plain(least)),
        ("at_most", plain(most)),
        ("alternatives", estimate.alternatives().iter().map(alternative).collect()),
        ("evidence", estimate.evidence().into()),
        ("method", estimate.method().iter().map(|name| Value::from(name.word())).collect()),
        ("reason_unknown", estimate.reason().map_or(Value::Null, |reason| reason.word().into())),
        ("leans_to", leaning.map_or(Value::Null, alternative)),
    ];
    object.extend(rest.map(|(name, value)| (name.to_owned(), value)));
    object
}

fn write_plain<F: Figure>(figure: &F) -> Value {
    let cells = figure.cells();
    match F::FIELDS {
        [field] => write_cell(&cells[0], &field.kind),
        fields => Value::Object(write_fields(fields, &cells)),
    }
}

fn write_fields(fields: &[Field], cells: &[Cell]) -> Map<String, Value> {
    let field = |(field, cell): (&Field, &Cell)| (field.name.to_owned(), write_cell(cell, &field.kind));
    fields.iter().zip(cells).map(field).collect()
}

fn write_cell(cell: &Cell, kind: &Kind) -> Value {
    match (cell, kind) {
        (Cell::List(rows), Kind::List(fields)) => {
            rows.iter().map(|cells| Value::Object(write_fields(fields, cells))).collect()
        }
        (Cell::Whole(value), _) => (*value).into(),
        (Cell::Number(value), _) => number(*value),
        (Cell::Flag(yes), _) => (*yes).into(),
        (Cell::Word(word), _) => word.as_str().into(),
        (Cell::Absent | Cell::List(_), _) => Value::Null,
    }
}

/// What is no number is nothing.
fn number(value: f64) -> Value {
    serde_json::Number::from_f64(value).map_or(Value::Null, Value::Number)
}

struct Reader(Map<String, Value>);

impl Source for Reader {
    type Error = RecordError;

    /// What is absent was not looked for by the version that wrote the record.
    fn estimate<F: Figure>(&mut self, finding: Finding) -> Result<Estimate<F>, RecordError> {
        match self.0.remove(finding.wire()) {
            None => Ok(Estimate::unknown(Reason::NotLookedFor, "")),
            Some(value) => read(&value).map_err(|what| RecordError::contradiction(path(finding), what)),
        }
    }
}

fn path(finding: Finding) -> String {
    format!("geometry.{}", finding.wire())
}

fn read<F: Figure>(value: &Value) -> Result<Estimate<F>, String> {
    let object = value.as_object().ok_or("it is no object")?;
    let field = |name: &str| object.get(name).filter(|value| !value.is_null());
    let is_there = |known: &Field| field(known.name).is_some();
    let may_be_absent = |known: &Field| matches!(known.kind, Kind::Maybe(_));
    let figure = match F::FIELDS.iter().any(is_there) {
        false => None,
        true if F::FIELDS.iter().all(|known| is_there(known) || may_be_absent(known)) => Some(read_fields::<F>(value)?),
        true => return Err("some of its figures are null and some are not".to_owned()),
    };
    let bound = |name: &str| field(name).map(|value| read_plain::<F>(value)).transpose();
    let bound = Bound::from_ends(bound("at_least")?, bound("at_most")?);
    let reason = field("reason_unknown").map(read_reason).transpose()?;
    let evidence = field("evidence").and_then(Value::as_str).unwrap_or_default().to_owned();
    let support = || -> Result<Support<F>, String> {
        let confidence = field("confidence").and_then(Value::as_f64).ok_or("an answer without a confidence")?;
        let alternatives = list(field("alternatives"), read_alternative)?;
        let method = list(field("method"), |name| {
            let name = name.as_str().unwrap_or_default();
            ExperimentName::from_word(name).ok_or_else(|| format!("no experiment is named '{name}'"))
        })?;
        Ok(Support { confidence, alternatives, evidence: evidence.clone(), method, doubts: Vec::new() })
    };
    match (figure, bound, reason) {
        (Some(figure), None, None) => Ok(Estimate::Value(figure, support()?)),
        (None, Some(bound), None) => Ok(Estimate::Bound(bound, support()?)),
        (None, None, Some(reason)) => {
            let leaning = field("leans_to").map(read_alternative).transpose()?;
            Ok(Estimate::Unknown(Unknown { reason, evidence, leaning }))
        }
        (Some(_), Some(_), _) => Err("a figure, and a bound of it".to_owned()),
        (None, None, None) => Err("neither a figure, nor a bound, nor a reason".to_owned()),
        (_, _, Some(_)) => Err("a figure, and a reason why it is unknown".to_owned()),
    }
}

fn read_reason(word: &Value) -> Result<Reason, String> {
    let word = word.as_str().unwrap_or_default();
    Reason::from_word(word).ok_or_else(|| format!("no reason is named '{word}'"))
}

fn list<T>(value: Option<&Value>, read: impl Fn(&Value) -> Result<T, String>) -> Result<Vec<T>, String> {
    value.and_then(Value::as_array).into_iter().flatten().map(read).collect()
}

fn read_alternative<F: Figure>(value: &Value) -> Result<(F, f64), String> {
    let confidence = value.get("confidence").and_then(Value::as_f64).ok_or("an alternative without a confidence")?;
    Ok((read_fields(value)?, confidence))
}

fn read_plain<F: Figure>(value: &Value) -> Result<F, String> {
    match F::FIELDS {
        [field] => of_cells(&[read_cell(value, field)?]),
        _ => read_fields(value),
    }
}

fn read_fields<F: Figure>(value: &Value) -> Result<F, String> {
    of_cells(&cells(value, F::FIELDS)?)
}

fn of_cells<F: Figure>(cells: &[Cell]) -> Result<F, String> {
    F::from_cells(cells).ok_or_else(|| "one of its figures is out of range".to_owned())
}

fn cells(value: &Value, fields: &[Field]) -> Result<Vec<Cell>, String> {
    fields.iter().map(|field| read_cell(value.get(field.name).unwrap_or(&Value::Null), field)).collect()
}

fn read_cell(value: &Value, field: &Field) -> Result<Cell, String> {
    let cell = match (&field.kind, value) {
        (Kind::Maybe(_), Value::Null) => Some(Cell::Absent),
        (Kind::Maybe(kind), value) => read_kind(value, kind)?,
        (kind, value) => read_kind(value, kind)?,
    };
    cell.ok_or_else(|| format!("'{}' is of another type than it should be", field.name))
}

fn read_kind(value: &Value, kind: &Kind) -> Result<Option<Cell>, String> {
    Ok(match kind {
        Kind::Whole => value.as_u64().map(Cell::Whole),
        Kind::Number => value.as_f64().map(Cell::Number),
        Kind::Flag => value.as_bool().map(Cell::Flag),
        Kind::Word(words) => value.as_str().filter(|word| words.contains(word)).map(|word| Cell::Word(word.to_owned())),
        Kind::List(fields) => match value.as_array() {
            Some(rows) => Some(Cell::List(rows.iter().map(|row| cells(row, fields)).collect::<Result<_, _>>()?)),
            None => None,
        },
        Kind::Maybe(kind) => read_kind(value, kind)?,
    })
}
