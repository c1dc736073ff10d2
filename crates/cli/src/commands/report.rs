//! `report`: every form of a report, from a stored record.

use crate::args::{Report, ReportFormat};
use crate::error::{Failure, Outcome};
use crate::output;
use anyhow::anyhow;
use flashscope_report::Style;

pub(crate) fn run(args: Report) -> Result<Outcome, Failure> {
    let text = std::fs::read_to_string(&args.file).map_err(|error| {
        anyhow!("cannot read {}: {error}\nhint: name a record that flashscope wrote", args.file.display())
    })?;
    let record = flashscope_record::from_json(&text).map_err(|error| anyhow!("{}: {error}", args.file.display()))?;
    let to_terminal = args.output.is_none();
    let form = match args.format {
        ReportFormat::Text => {
            let style = Style { colour: to_terminal && output::colour(), width: output::width() };
            flashscope_report::terminal(&record, style)
        }
        ReportFormat::Html => flashscope_report::html(&record),
        ReportFormat::Json => flashscope_record::to_json(&record),
        ReportFormat::Markdown => flashscope_report::markdown(&record),
        ReportFormat::Csv => flashscope_report::csv(&record),
    };
    match &args.output {
        Some(path) => output::save_all(&[(path, "Report", &form)])?,
        None => output::data(&form)?,
    }
    Ok(Outcome::Done)
}
