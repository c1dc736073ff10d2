//! The schema of findings, from what the model says that figures are made of.

use super::Geometry;
use flashscope_model::finding::{Field, Kind};
use flashscope_model::{ExperimentName, Finding, Reason};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};
use std::borrow::Cow;

impl JsonSchema for Geometry {
    fn schema_name() -> Cow<'static, str> {
        "Geometry".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut properties = Map::new();
        for finding in Finding::ALL {
            let name = format!("{}Estimate", finding.figure());
            let definitions = generator.definitions_mut();
            definitions.entry(name.clone()).or_insert_with(|| estimate_schema(finding.fields()));
            let place = format!("#/$defs/{name}");
            properties.insert(
                finding.wire().to_owned(),
                schema([("description", finding.doc().into()), ("$ref", place.into())]),
            );
        }
        let required: Vec<&str> = Finding::ALL.iter().map(|finding| finding.wire()).collect();
        json_schema!({
            "description": "How a device is built: every finding under its name.",
            "type": "object",
            "properties": properties,
            "required": required,
        })
    }
}

fn estimate_schema(fields: &[Field]) -> Value {
    let probability = serde_json::json!({ "type": "number", "minimum": 0, "maximum": 1 });
    let plain = match fields {
        [field] => kind_schema(&field.kind),
        fields => object_schema(fields, &[]),
    };
    let other = object_schema(fields, &[("confidence", "Its probability.", probability.clone())]);
    let mut all: Map<String, Value> = fields
        .iter()
        .map(|field| (field.name.to_owned(), described(field.doc, or_null(kind_schema(&field.kind)))))
        .collect();
    let rest = [
        (
            "confidence",
            "Probability that the figure, or the bound, is right; null where unknown.",
            or_null(probability),
        ),
        (
            "at_least",
            "The experiment ended too early to see more: the figure is not below this.",
            or_null(plain.clone()),
        ),
        ("at_most", "The figure is not above this.", or_null(plain)),
        (
            "alternatives",
            "Other figures with their probabilities, likeliest first.",
            schema([("type", "array".into()), ("items", other.clone())]),
        ),
        (
            "evidence",
            "One sentence that a person can check against the samples; of what is unknown, what was seen instead.",
            schema([("type", "string".into())]),
        ),
        (
            "method",
            "Names of the experiments that it rests on.",
            schema([("type", "array".into()), ("items", words(ExperimentName::WORDS))]),
        ),
        (
            "reason_unknown",
            "Why there is neither a figure nor a bound; null where there is one.",
            or_null(words(Reason::WORDS)),
        ),
        (
            "leans_to",
            "What an unknown figure leans to, where one fits best and is not likely enough to be named.",
            or_null(other),
        ),
    ];
    let required: Vec<Value> =
        fields.iter().map(|field| field.name).chain(rest.iter().map(|(name, ..)| *name)).map(Value::from).collect();
    all.extend(rest.map(|(name, doc, value)| (name.to_owned(), described(doc, value))));
    schema([("type", "object".into()), ("properties", Value::Object(all)), ("required", required.into())])
}

fn object_schema(fields: &[Field], more: &[(&str, &str, Value)]) -> Value {
    let field = |field: &Field| (field.name.to_owned(), described(field.doc, kind_schema(&field.kind)));
    let mut properties: Map<String, Value> = fields.iter().map(field).collect();
    properties.extend(more.iter().map(|(name, doc, value)| ((*name).to_owned(), described(doc, value.clone()))));
    let required: Vec<Value> = properties.keys().map(|name| name.as_str().into()).collect();
    schema([("type", "object".into()), ("properties", Value::Object(properties)), ("required", required.into())])
}

fn kind_schema(kind: &Kind) -> Value {
    match kind {
        Kind::Whole => schema([("type", "integer".into()), ("minimum", 0.into())]),
        Kind::Number => schema([("type", "number".into())]),
        Kind::Flag => schema([("type", "boolean".into())]),
        Kind::Word(of) => words(of),
        Kind::Maybe(kind) => or_null(kind_schema(kind)),
        Kind::List(fields) => schema([("type", "array".into()), ("items", object_schema(fields, &[]))]),
    }
}

fn words(words: &[&str]) -> Value {
    schema([("type", "string".into()), ("enum", words.to_vec().into())])
}

fn or_null(of: Value) -> Value {
    schema([("anyOf", vec![of, schema([("type", "null".into())])].into())])
}

fn described(doc: &str, mut of: Value) -> Value {
    of["description"] = doc.into();
    of
}

fn schema<const N: usize>(of: [(&str, Value); N]) -> Value {
    Value::Object(of.map(|(name, value)| (name.to_owned(), value)).into_iter().collect())
}
