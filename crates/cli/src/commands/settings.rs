//! `settings`: every setting, its value, and who says so.

use crate::args::{ShowSettings, Source, Value};
use crate::error::{Failure, Outcome};
use crate::output;
use crate::settings::{KNOWN, Kind, Settings};
use serde_json::json;
use std::fmt::Write;

pub(crate) fn run(args: &ShowSettings, settings: &Settings) -> Result<Outcome, Failure> {
    output::data(&if args.json { as_json(&args.values, settings) } else { as_text(&args.values, settings) })?;
    Ok(Outcome::Done)
}

fn as_text(values: &[Value], settings: &Settings) -> String {
    let mut text = match &settings.path {
        Some(path) if settings.found => format!("settings file: {}\n\n", path.display()),
        Some(path) => format!("settings file: none ({} is not there)\n\n", path.display()),
        None => "settings file: none (neither XDG_CONFIG_HOME nor HOME is set)\n\n".to_owned(),
    };
    let names = values.iter().map(|value| value.name.len()).max().unwrap_or(0);
    let widest = values.iter().map(|value| value.text.chars().count()).max().unwrap_or(0);
    for value in values {
        let from = match &value.source {
            Source::Default => "default".to_owned(),
            Source::File(line) => format!("settings file, line {line}"),
            Source::Environment(variable) => format!("environment, {variable}"),
            Source::CommandLine => "command line".to_owned(),
        };
        let _ = writeln!(text, "{:names$}  {:widest$}  {from}", value.name, value.text);
    }
    text
}

fn as_json(values: &[Value], settings: &Settings) -> String {
    let entry = |value: &Value| {
        let kind = KNOWN.iter().find(|setting| setting.name == value.name).map(|setting| setting.kind);
        let is_value = kind.is_some_and(|kind| value.source != Source::Default || kind.check(&value.text).is_ok());
        let shown = match kind {
            _ if !is_value => serde_json::Value::Null,
            Some(Kind::Flag) => json!(value.text == "true"),
            Some(Kind::Number(_)) => value.text.parse::<u64>().map_or(serde_json::Value::Null, |number| json!(number)),
            _ => json!(value.text),
        };
        let (source, line, variable) = match &value.source {
            Source::Default => ("default", None, None),
            Source::File(line) => ("settings file", Some(line), None),
            Source::Environment(variable) => ("environment", None, Some(variable)),
            Source::CommandLine => ("command line", None, None),
        };
        json!({ "name": value.name, "value": shown, "source": source, "line": line, "variable": variable })
    };
    let file = settings.path.as_ref().map(|path| json!({ "path": path.to_string_lossy(), "found": settings.found }));
    let entries: Vec<_> = values.iter().map(entry).collect();
    format!("{:#}", json!({ "file": file, "settings": entries }))
}
