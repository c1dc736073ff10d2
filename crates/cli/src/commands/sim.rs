//! `sim list` and `sim show`.

use crate::args::{Sim, SimCommand};
use crate::error::{Failure, Outcome};
use crate::output;
use crate::target::open_model;
use anyhow::anyhow;

/// What a device starts as does not depend on it, but for chances that no figure of its state shows.
const SEED: u64 = 1;

pub(crate) fn run(args: Sim) -> Result<Outcome, Failure> {
    match args.command {
        SimCommand::List { json } => list(json)?,
        SimCommand::Show { model, truth } => show(&model, truth)?,
    }
    Ok(Outcome::Done)
}

fn list(json: bool) -> Result<(), Failure> {
    let models = flashscope_sim::catalogue();
    if json {
        let entries: Vec<_> =
            models.iter().map(|model| serde_json::json!({ "name": model.name, "title": model.title })).collect();
        return output::data(&format!("{:#}", serde_json::Value::from(entries)));
    }
    let width = models.iter().map(|model| model.name.len()).max().unwrap_or(0);
    let lines = models.iter().map(|model| output::named(&format!("sim:{:width$}", model.name), model.title));
    output::data(&lines.collect::<Vec<_>>().join("\n"))
}

fn show(model: &str, truth: bool) -> Result<(), Failure> {
    let read = |path: &str| std::fs::read_to_string(path).map_err(|error| error.to_string());
    let spec = model.strip_prefix("sim:").unwrap_or(model);
    let mut text = flashscope_sim::show(spec, truth, read).map_err(|error| anyhow!("{error}"))?;
    if truth {
        // Of the file that its state is saved in, where it is named with one.
        let state = flashscope_sim::truth::state_of(&open_model(spec, SEED)?).to_string();
        text.push_str("\n# Its state now:\n");
        text.extend(state.lines().map(|line| format!("#   {line}\n")));
    }
    output::data(&text)
}
