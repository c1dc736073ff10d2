//! `report`: a stored record of any kind in every form that makes sense of it.

use crate::args::{Report, ReportFormat};
use crate::error::{Failure, Outcome};
use crate::output;
use anyhow::anyhow;
use flashscope_record::AnyRecord;
use flashscope_report::xlsx::Sheet;
use flashscope_report::{self as report, sheet};
use std::path::Path;

pub(crate) fn run(args: Report) -> Result<Outcome, Failure> {
    let mut door = output::door(args.replace.force, [&args.file]);
    let output = args.output.as_ref().map(|path| output::plan(&mut door, path)).transpose()?;
    let text = std::fs::read_to_string(&args.file).map_err(|error| {
        anyhow!("cannot read {}: {error}\nhint: name a record that flashscope wrote", args.file.display())
    })?;
    let record = flashscope_record::read(&text).map_err(|error| anyhow!("{}: {error}", args.file.display()))?;
    let form = rendered(&record, args.format, args.output.is_none())?;
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

/// The one place that tells which kind of record has which form, and who makes it.
fn rendered(record: &AnyRecord, format: ReportFormat, to_terminal: bool) -> Result<Vec<u8>, Failure> {
    use AnyRecord::{Bench, Fleet, Iozone, Run, Twin};
    use ReportFormat::{Csv, Html, Json, Markdown, Text, Xlsx};
    let style = if to_terminal { output::style() } else { output::file_style() };
    let text = match (format, record) {
        (Json, record) => record.to_json(),
        (Text, Run(run)) => report::terminal(run, style),
        (Text, Bench(bench)) => report::bench::terminal(bench, style),
        (Text, Iozone(iozone)) => report::iozone::text(iozone, false, false),
        (Text, Fleet(fleet)) => report::fleet::text(fleet),
        (Text, Twin(twin)) => report::twin::text(twin, true),
        (Html, Run(run)) => report::html(run),
        (Html, Bench(bench)) => report::bench::html(bench),
        (Html, Iozone(iozone)) => report::iozone::page(iozone),
        (Html, Fleet(fleet)) => report::fleet::html(fleet),
        (Html, Twin(twin)) => report::twin::html(twin),
        (Markdown, Run(run)) => report::markdown(run),
        (Markdown, Bench(bench)) => report::bench::markdown(bench),
        (Markdown, Iozone(iozone)) => sheet::markdown(&iozone.envelope.command, &report::iozone::sheets(iozone)),
        (Markdown, Fleet(fleet)) => sheet::markdown("Fleet", &report::fleet::sheets(fleet)),
        (Markdown, Twin(twin)) => report::twin::markdown(twin, "Twin"),
        (Csv, Run(run)) => report::csv(run),
        (Csv, Bench(bench)) => report::bench::csv(bench),
        (Csv, Iozone(iozone)) => report::iozone::csv(iozone),
        (Csv, Fleet(fleet)) => first(&report::fleet::sheets(fleet)),
        (Csv, Twin(twin)) => first(&report::twin::sheets(twin)),
        (Xlsx, Bench(bench)) => return workbook(&report::bench::sheets(bench)),
        (Xlsx, Iozone(iozone)) => return workbook(&report::iozone::sheets(iozone)),
        (Xlsx, Fleet(fleet)) => return workbook(&report::fleet::sheets(fleet)),
        (Xlsx, Twin(twin)) => return workbook(&report::twin::sheets(twin)),
        (Xlsx, Run(run)) => {
            let kind = run.envelope.kind.word();
            return Err(Failure::Cannot(anyhow!("there is no spreadsheet of a record of {kind}\nhint: --format csv")));
        }
    };
    Ok(text.into_bytes())
}

/// The sheet that comes first says what was asked; the others are in the spreadsheet.
fn first(sheets: &[Sheet]) -> String {
    sheets.first().map(sheet::csv).unwrap_or_default()
}

fn workbook(sheets: &[Sheet]) -> Result<Vec<u8>, Failure> {
    report::xlsx::workbook(sheets).map_err(|error| Failure::Cannot(anyhow!("{error}")))
}

/// A report in the form that the name of its file asks for.
pub(crate) fn file(record: &AnyRecord, path: &Path) -> Result<Vec<u8>, Failure> {
    let format = format_of(path).ok_or_else(|| formless(path))?;
    Ok(in_file(rendered(record, format, false)?, format))
}

/// A form that says nowhere who wrote it says so in a file.
fn in_file(form: Vec<u8>, format: ReportFormat) -> Vec<u8> {
    match format {
        ReportFormat::Text | ReportFormat::Markdown => report::signed(&String::from_utf8_lossy(&form)).into_bytes(),
        ReportFormat::Html | ReportFormat::Json | ReportFormat::Csv | ReportFormat::Xlsx => form,
    }
}

/// The name of a file does not tell which report is wanted.
pub(crate) fn formless(path: &Path) -> Failure {
    Failure::Cannot(anyhow!(
        "{} does not say which report is wanted\nhint: end it in .html, .csv, .xlsx, .md, .txt or .json",
        path.display()
    ))
}

/// The form that a file's name asks for.
pub(crate) fn format_of(path: &Path) -> Option<ReportFormat> {
    match path.extension()?.to_str()? {
        "html" | "htm" => Some(ReportFormat::Html),
        "csv" => Some(ReportFormat::Csv),
        "xlsx" => Some(ReportFormat::Xlsx),
        "md" => Some(ReportFormat::Markdown),
        "txt" => Some(ReportFormat::Text),
        "json" => Some(ReportFormat::Json),
        _ => None,
    }
}
