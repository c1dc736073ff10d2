//! `report`: a stored record of any kind in every form that makes sense of it.

use crate::args::{Report, ReportFormat};
use crate::error::{Failure, Outcome};
use crate::output::{self, Saved};
use crate::{input, whose};
use anyhow::anyhow;
use flashscope_host::{Output, Outputs};
use flashscope_record::AnyRecord;
use flashscope_report::xlsx::Sheet;
use flashscope_report::{self as report, sheet};
use std::path::{Path, PathBuf};

pub(crate) fn run(args: Report) -> Result<Outcome, Failure> {
    let mut door = output::door(args.replace.force, [&args.file]);
    let output = args.output.as_ref().map(|path| output::plan(&mut door, path)).transpose()?;
    let format = match (args.format, &args.output) {
        (Some(format), _) => format,
        (None, Some(path)) => format_of(path, ReportFormat::Text)?,
        (None, None) => ReportFormat::Text,
    };
    let text = input::text(&args.file, "name a record that flashscope wrote")?;
    let record = flashscope_record::read(&text).map_err(|error| anyhow!("{}: {error}", args.file.display()))?;
    if let Some(output) = &output {
        whose::guard_measurement(record.envelope(), args.replace.force, output)?;
    }
    let form = rendered(&record, format, args.output.is_none())?;
    match &output {
        Some(output) => output::save(output, "Report", in_file(form, format))?,
        None => match std::str::from_utf8(&form) {
            Ok(text) => output::data(text)?,
            Err(_) => {
                return Err(Failure::Cannot(anyhow!(
                    "a spreadsheet cannot be printed\nhint: name a file for it, -o FILE.xlsx"
                )));
            }
        },
    }
    Ok(Outcome::Done)
}

/// The one place that tells which kind of record has which form, and who makes it.
fn rendered(record: &AnyRecord, format: ReportFormat, to_terminal: bool) -> Result<Vec<u8>, Failure> {
    use AnyRecord::{
        App, Bench, Capacity, Comparison, Explanation, Fleet, Integrity, Iozone, Lab, Memory, Qualification, Run,
        Sweep, Trace, Twin,
    };
    use ReportFormat::{Csv, Html, Json, Markdown, Text, Xlsx};
    let style = if to_terminal { output::style() } else { output::file_style() };
    let text = match (format, record) {
        (Json, record) => flashscope_record::any_to_json(record),
        (Text, Run(run)) => report::terminal(run, style),
        (Text, Capacity(capacity)) => report::capacity::terminal(capacity, style),
        (Text, Integrity(integrity)) => report::integrity::terminal(integrity, style),
        (Text, App(app)) => report::app::terminal(app, style),
        (Text, Bench(bench)) => report::bench::terminal(bench, style),
        (Text, Iozone(iozone)) => report::iozone::text(iozone, false, false),
        (Text, Fleet(fleet)) => report::fleet::text(fleet),
        (Text, Twin(twin)) if to_terminal => report::twin::summary(twin),
        (Text, Twin(twin)) => report::twin::text(twin, true),
        (Text, Comparison(comparison)) => report::comparison::terminal(comparison, style),
        (Text, Sweep(sweep)) => report::sweep::terminal(sweep, style),
        (Text, Trace(trace)) => report::trace::terminal(trace, style),
        (Text, Explanation(why)) => report::explanation::terminal(why, style),
        (Text, Qualification(qualification)) => report::qualification::terminal(qualification, style),
        (Text, Memory(memory)) => report::memory::terminal(memory, style),
        (Text, Lab(lab)) => report::lab::terminal(lab, style),
        (Html, record) => report::any_html(record),
        (Markdown, Run(run)) => report::markdown(run),
        (Markdown, Capacity(capacity)) => report::capacity::markdown(capacity),
        (Markdown, Integrity(integrity)) => report::integrity::markdown(integrity),
        (Markdown, App(app)) => report::app::markdown(app),
        (Markdown, Bench(bench)) => report::bench::markdown(bench),
        (Markdown, Iozone(iozone)) => sheet::markdown(&iozone.envelope.command, &report::iozone::sheets(iozone)),
        (Markdown, Fleet(fleet)) => sheet::markdown("Fleet", &report::fleet::sheets(fleet)),
        (Markdown, Twin(twin)) => report::twin::markdown(twin, "Twin"),
        (Markdown, Comparison(comparison)) => report::comparison::markdown(comparison),
        (Markdown, Sweep(sweep)) => report::sweep::markdown(sweep),
        (Markdown, Trace(trace)) => report::trace::markdown(trace),
        (Markdown, Explanation(why)) => report::explanation::markdown(why),
        (Markdown, Qualification(qualification)) => report::qualification::markdown(qualification),
        (Markdown, Memory(memory)) => report::memory::markdown(memory),
        (Markdown, Lab(lab)) => report::lab::markdown(lab),
        (Csv, Run(run)) => report::csv(run),
        (Csv, Capacity(capacity)) => report::capacity::csv(capacity),
        (Csv, Integrity(integrity)) => first(&report::integrity::sheets(integrity)),
        (Csv, App(app)) => first(&report::app::sheets(app)),
        (Csv, Bench(bench)) => report::bench::csv(bench),
        (Csv, Iozone(iozone)) => report::iozone::csv(iozone),
        (Csv, Fleet(fleet)) => first(&report::fleet::sheets(fleet)),
        (Csv, Twin(twin)) => first(&report::twin::sheets(twin)),
        (Csv, Comparison(comparison)) => report::comparison::csv(comparison),
        (Csv, Sweep(sweep)) => report::sweep::csv(sweep),
        (Csv, Trace(trace)) => first(&report::trace::sheets(trace)),
        (Csv, Explanation(why)) => first(&report::explanation::sheets(why)),
        (Csv, Qualification(qualification)) => first(&report::qualification::sheets(qualification)),
        (Xlsx, Qualification(qualification)) => return workbook(&report::qualification::sheets(qualification)),
        (Csv, Memory(memory)) => first(&report::memory::sheets(memory)),
        (Xlsx, Memory(memory)) => return workbook(&report::memory::sheets(memory)),
        (Csv, Lab(lab)) => first(&report::lab::sheets(lab)),
        (Xlsx, Lab(lab)) => return workbook(&report::lab::sheets(lab)),
        (Xlsx, Explanation(why)) => return workbook(&report::explanation::sheets(why)),
        (Xlsx, Trace(trace)) => return workbook(&report::trace::sheets(trace)),
        (Xlsx, Capacity(capacity)) => return workbook(&report::capacity::sheets(capacity)),
        (Xlsx, Integrity(integrity)) => return workbook(&report::integrity::sheets(integrity)),
        (Xlsx, App(app)) => return workbook(&report::app::sheets(app)),
        (Xlsx, Bench(bench)) => return workbook(&report::bench::sheets(bench)),
        (Xlsx, Iozone(iozone)) => return workbook(&report::iozone::sheets(iozone)),
        (Xlsx, Fleet(fleet)) => return workbook(&report::fleet::sheets(fleet)),
        (Xlsx, Twin(twin)) => return workbook(&report::twin::sheets(twin)),
        (Xlsx, Comparison(comparison)) => return workbook(&report::comparison::sheets(comparison)),
        (Xlsx, Sweep(sweep)) => return workbook(&report::sweep::sheets(sweep)),
        (Xlsx, Run(run)) => return workbook(&report::sheets(run)),
    };
    Ok(text.into_bytes())
}

/// The sheet that comes first says what was asked; the others are in the spreadsheet.
fn first(sheets: &[Sheet]) -> String {
    sheets.first().map(sheet::csv).unwrap_or_default()
}

pub(crate) fn workbook(sheets: &[Sheet]) -> Result<Vec<u8>, Failure> {
    report::xlsx::workbook(sheets).map_err(|error| Failure::Cannot(anyhow!("{error}")))
}

/// A report in the form that the name of its file asks for; a record where it asks for none.
pub(crate) fn file(record: &AnyRecord, path: &Path) -> Result<Vec<u8>, Failure> {
    let format = format_of(path, ReportFormat::Json)?;
    Ok(in_file(rendered(record, format, false)?, format))
}

/// The files for reports of a command that has --html and --output.
pub(crate) fn outputs<'a>(
    door: &mut Outputs,
    html: Option<&'a Path>,
    other: impl IntoIterator<Item = &'a PathBuf> + Clone,
) -> Result<Vec<Output>, Failure> {
    // What must not be written to is refused whatever its name says.
    let planned = html
        .into_iter()
        .chain(other.clone().into_iter().map(PathBuf::as_path))
        .map(|path| output::plan(door, path))
        .collect::<Result<_, _>>()?;
    if let Some(path) = html.filter(|path| known_format(path).is_some_and(|format| format != ReportFormat::Html)) {
        let path = path.display();
        return Err(Failure::Cannot(anyhow!(
            "{path}: --html writes a page\nhint: -o {path} writes what the ending says"
        )));
    }
    other.into_iter().try_for_each(|path| format_of(path, ReportFormat::Json).map(drop))?;
    Ok(planned)
}

/// Writes a record to each of them, in the form that its name asks for.
pub(crate) fn save(saved: &mut Saved, outputs: &[Output], record: &AnyRecord) {
    for output in outputs {
        saved.add(output, "Report", file(record, output.path()));
    }
}

/// A form that says nowhere who wrote it says so in a file.
fn in_file(form: Vec<u8>, format: ReportFormat) -> Vec<u8> {
    match format {
        ReportFormat::Text | ReportFormat::Markdown => report::signed(&String::from_utf8_lossy(&form)).into_bytes(),
        ReportFormat::Html | ReportFormat::Json | ReportFormat::Csv | ReportFormat::Xlsx => form,
    }
}

/// The endings of files that say which report is wanted.
const ENDINGS: [(&str, ReportFormat); 8] = [
    ("html", ReportFormat::Html),
    ("htm", ReportFormat::Html),
    ("json", ReportFormat::Json),
    ("csv", ReportFormat::Csv),
    ("md", ReportFormat::Markdown),
    ("markdown", ReportFormat::Markdown),
    ("txt", ReportFormat::Text),
    ("xlsx", ReportFormat::Xlsx),
];

/// The form that the ending of a file's name is known for.
pub(crate) fn known_format(path: &Path) -> Option<ReportFormat> {
    let ending = path.extension()?.to_str()?.to_ascii_lowercase();
    ENDINGS.iter().find(|(known, _)| *known == ending).map(|(_, format)| *format)
}

/// The form that a file's name asks for, `otherwise` where it has no ending. A name that asks for what there is not is
/// better refused before hours of measuring than after them.
pub(crate) fn format_of(path: &Path, otherwise: ReportFormat) -> Result<ReportFormat, Failure> {
    match path.extension() {
        None => Ok(otherwise),
        Some(_) => told_format(path),
    }
}

/// The form that a file's name asks for; a name without an ending asks for none.
pub(crate) fn told_format(path: &Path) -> Result<ReportFormat, Failure> {
    known_format(path).ok_or_else(|| {
        let endings: Vec<String> = ENDINGS.iter().map(|(ending, _)| format!(".{ending}")).collect();
        Failure::Cannot(anyhow!(
            "{}: the name does not say which report is wanted\nhint: end it in one of {}",
            path.display(),
            endings.join(", ")
        ))
    })
}
