//! `report`: every form of a report, from a stored record or a stored result of load.

use crate::args::{Report, ReportFormat};
use crate::error::{Failure, Outcome};
use crate::output;
use anyhow::anyhow;
use flashscope_model::RunRecord;
use flashscope_model::bench::BenchRecord;
use flashscope_record::BENCH_SCHEMA;
use flashscope_report::Style;
use std::path::Path;

pub(crate) fn run(args: Report) -> Result<Outcome, Failure> {
    let mut door = output::door(args.replace.force, [&args.file]);
    let output = args.output.as_ref().map(|path| output::plan(&mut door, path)).transpose()?;
    let text = std::fs::read_to_string(&args.file).map_err(|error| {
        anyhow!("cannot read {}: {error}\nhint: name a record that flashscope wrote", args.file.display())
    })?;
    let named = |error: flashscope_record::RecordError| anyhow!("{}: {error}", args.file.display());
    let form = if flashscope_record::schema_of(&text).as_deref() == Some(BENCH_SCHEMA) {
        of_bench(&flashscope_record::bench_from_json(&text).map_err(named)?, args.format)?
    } else {
        of_run(&flashscope_record::from_json(&text).map_err(named)?, args.format, args.output.is_none())?
    };
    match &output {
        Some(output) => output::save(output, "Report", in_file(form, args.format))?,
        None => match std::str::from_utf8(&form) {
            Ok(text) => output::data(text)?,
            Err(_) => {
                return Err(Failure::Cannot(anyhow!("a spreadsheet is no text\nhint: name a file with --output")));
            }
        },
    }
    Ok(Outcome::Done)
}

fn of_run(record: &RunRecord, format: ReportFormat, to_terminal: bool) -> Result<Vec<u8>, Failure> {
    let text = match format {
        ReportFormat::Text => {
            let style = Style { colour: to_terminal && output::colour(), width: output::width() };
            flashscope_report::terminal(record, style)
        }
        ReportFormat::Html => flashscope_report::html(record),
        ReportFormat::Json => flashscope_record::to_json(record),
        ReportFormat::Markdown => flashscope_report::markdown(record),
        ReportFormat::Csv => flashscope_report::csv(record),
        ReportFormat::Xlsx => return Err(absent("a spreadsheet", "a run of inspect", "csv")),
    };
    Ok(text.into_bytes())
}

fn of_bench(record: &BenchRecord, format: ReportFormat) -> Result<Vec<u8>, Failure> {
    let text = match format {
        ReportFormat::Text => flashscope_report::bench::terminal(record),
        ReportFormat::Html => flashscope_report::bench::html(record),
        ReportFormat::Json => flashscope_record::bench_to_json(record),
        ReportFormat::Csv => flashscope_report::bench::csv(record),
        ReportFormat::Xlsx => return workbook(record),
        ReportFormat::Markdown => return Err(absent("Markdown", "a run of bench", "text")),
    };
    Ok(text.into_bytes())
}

fn absent(form: &str, of: &str, instead: &str) -> Failure {
    Failure::Cannot(anyhow!("there is no {form} of {of}\nhint: --format {instead}"))
}

fn workbook(record: &BenchRecord) -> Result<Vec<u8>, Failure> {
    let sheets = flashscope_report::bench::sheets(record);
    flashscope_report::xlsx::workbook(&sheets).map_err(|error| Failure::Cannot(anyhow!("{error}")))
}

/// A report of a run of load in the form that the name of its file asks for.
pub(crate) fn bench_file(record: &BenchRecord, path: &Path) -> Result<Vec<u8>, Failure> {
    let format = format_of(path).ok_or_else(|| formless(path))?;
    Ok(in_file(of_bench(record, format)?, format))
}

/// A form that says nowhere who wrote it says so in a file.
fn in_file(form: Vec<u8>, format: ReportFormat) -> Vec<u8> {
    match format {
        ReportFormat::Text | ReportFormat::Markdown => {
            flashscope_report::signed(&String::from_utf8_lossy(&form)).into_bytes()
        }
        ReportFormat::Html | ReportFormat::Json | ReportFormat::Csv | ReportFormat::Xlsx => form,
    }
}

/// The name of a file does not tell which report is wanted.
pub(crate) fn formless(path: &Path) -> Failure {
    Failure::Cannot(anyhow!(
        "{} does not say which report is wanted\nhint: end it in .html, .csv, .xlsx, .txt or .json",
        path.display()
    ))
}

/// The form that a file's name asks for.
pub(crate) fn format_of(path: &Path) -> Option<ReportFormat> {
    match path.extension()?.to_str()? {
        "html" | "htm" => Some(ReportFormat::Html),
        "csv" => Some(ReportFormat::Csv),
        "xlsx" => Some(ReportFormat::Xlsx),
        "txt" => Some(ReportFormat::Text),
        "json" => Some(ReportFormat::Json),
        _ => None,
    }
}
