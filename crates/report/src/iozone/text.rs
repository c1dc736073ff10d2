//! The tables of iozone, laid out as iozone lays them out, so that what was written to read its output reads ours; and after
//! them what iozone does not say: whose speed it was. iozone's own report comes last, as there.

use super::{files, found_pass};
use crate::foreign;
use flashscope_model::iozone::{Figure, IozoneRecord, Pass, Throughput, Unit, Whose};
use flashscope_units::Bytes;
use flashscope_view::iozone::{child_moved, child_rate, kib, title, together, unit_words, value, whose, whose_word};
use std::fmt::Write;

/// All of it: what was done, the table, the workbook-like report where `excel` asks for it, and the regions.
pub fn text(record: &IozoneRecord, excel: bool, each_child: bool) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "\tCommand line used: {}", record.envelope.command);
    let _ = writeln!(text, "\t{}", unit_words(record.unit).1);
    let _ = writeln!(text, "\tFile: {}, through {}", record.envelope.target, path_words(record));
    if record.throughput.is_empty() {
        table(&mut text, record);
    } else {
        throughput(&mut text, record, each_child);
    }
    trouble(&mut text, record);
    findings(&mut text, record);
    if excel && !record.throughput.is_empty() {
        throughput_report(&mut text, record);
    }
    let _ = writeln!(text, "\niozone test {}.", if whole(record) { "complete" } else { "not complete" });
    if excel && !record.passes.is_empty() {
        text.push_str(&report(record));
    }
    foreign::page(&text).into_owned()
}

fn whole(record: &IozoneRecord) -> bool {
    matches!(record.envelope.stop, flashscope_model::StopReason::Complete)
}

fn path_words(record: &IozoneRecord) -> String {
    let Some(path) = &record.envelope.path else { return "an unknown path".to_owned() };
    let flags = path.flags.join(", ");
    let flags = if flags.is_empty() { String::new() } else { format!(" ({flags})") };
    format!("{}{flags}", path.engine)
}

/// A figure, the words above its column and how wide that is.
type Column = (Figure, &'static str, &'static str, usize);

/// Columns that are always there.
const ALWAYS: [Column; 13] = [
    (Figure::Write, "", "write", 9),
    (Figure::Rewrite, "", "rewrite", 9),
    (Figure::Read, "", "read", 9),
    (Figure::Reread, "", "reread", 9),
    (Figure::RandomRead, "random", "read", 9),
    (Figure::RandomWrite, "random", "write", 9),
    (Figure::BackwardRead, "bkwd", "read", 9),
    (Figure::RecordRewrite, "record", "rewrite", 10),
    (Figure::StrideRead, "stride", "read", 10),
    (Figure::Fwrite, "", "fwrite", 9),
    (Figure::Refwrite, "", "frewrite", 9),
    (Figure::Fread, "", "fread", 9),
    (Figure::Refread, "", "freread", 9),
];
/// Columns that are there where they were measured.
const MORE: [Column; 9] = [
    (Figure::RandomMix, "random", "mix", 9),
    (Figure::Pwrite, "", "pwrite", 9),
    (Figure::Repwrite, "", "repwrite", 9),
    (Figure::Pread, "", "pread", 9),
    (Figure::Repread, "", "repread", 9),
    (Figure::Pwritev, "", "pwritev", 9),
    (Figure::Repwritev, "", "repwritev", 10),
    (Figure::Preadv, "", "preadv", 9),
    (Figure::Repreadv, "", "repreadv", 9),
];

fn table(text: &mut String, record: &IozoneRecord) {
    let measured = |(figure, ..): &&Column| record.figures.contains(figure);
    let columns: Vec<_> = ALWAYS.iter().chain(MORE.iter().filter(measured)).collect();
    let line = |pick: &dyn Fn(&Column) -> String| {
        columns.iter().map(|column| format!("{:>1$}", pick(column), column.3)).collect::<String>()
    };
    let _ = writeln!(text, "{:24}{}", "", line(&|column| column.1.to_owned()));
    let _ = writeln!(text, "{:>16}{:>8}{}  whose", "kB", "reclen", line(&|column| column.2.to_owned()));
    let mut letters_used = Vec::new();
    for file in files(record) {
        for (figure, regions) in record.regions.iter().map(|regions| (regions.figure, regions)) {
            if regions.cliff.is_some_and(|cliff| cliff.device_from == file) {
                let _ = writeln!(text, "{:>16} ---- {}: memory ends here ----", "", title(figure));
            }
        }
        let mut sizes: Vec<Bytes> =
            record.passes.iter().filter(|pass| pass.file == file).map(|pass| pass.record).collect();
        sizes.dedup();
        sizes.sort_unstable();
        sizes.dedup();
        for size in sizes {
            let pass = |figure: Figure| found_pass(record, figure, file, size);
            let cells = line(&|column| pass(column.0).map_or_else(String::new, |pass| cell(pass, record.unit)));
            let letters: String = columns.iter().filter_map(|column| pass(column.0)).map(letter).collect();
            letters_used.extend(letters.chars());
            let _ = writeln!(text, "{:>16}{:>8}{cells}  {letters}", kib(file), kib(size));
        }
    }
    let legend: Vec<&str> =
        LETTERS.iter().filter(|(letter, _)| letters_used.contains(letter)).map(|(_, said)| *said).collect();
    let _ = writeln!(text, "{:>16} whose, a letter per figure: {}", "", legend.join(", "));
}

const LETTERS: [(char, &str); 4] =
    [('m', "m memory"), ('x', "x partly memory"), ('D', "D the device"), ('?', "? nobody can tell")];

fn letter(pass: &Pass) -> char {
    match whose(pass.evidence.verdict) {
        Whose::Memory => 'm',
        Whose::Mixed => 'x',
        Whose::Device => 'D',
        Whose::Unknown => '?',
    }
}

/// Numbers always stand apart, however long.
fn cell(pass: &Pass, unit: Unit) -> String {
    value(pass, unit).map_or_else(|| " failed".to_owned(), |value| format!(" {value}"))
}

fn trouble(text: &mut String, record: &IozoneRecord) {
    for pass in &record.passes {
        let what = || format!("{} of {} in records of {}", title(pass.figure), pass.file, pass.record);
        if let Some(failure) = &pass.failure {
            let _ = writeln!(text, "{}: {} at {}", what(), failure.reason, failure.offset.get());
        }
        if pass.mismatched > 0 {
            let _ =
                writeln!(text, "{}: {} records came back with OTHER BYTES than were written", what(), pass.mismatched);
        }
    }
    for run in &record.throughput {
        for (number, child) in run.children.iter().enumerate() {
            let what = || format!("{}, worker {number}", title(run.figure));
            if let Some(failure) = &child.failure {
                let _ = writeln!(text, "{}: {} at {}", what(), failure.reason, failure.offset.get());
            }
            if child.mismatched > 0 {
                let _ = writeln!(
                    text,
                    "{}: {} records came back with OTHER BYTES than were written",
                    what(),
                    child.mismatched
                );
            }
        }
    }
}

fn findings(text: &mut String, record: &IozoneRecord) {
    if !record.regions.is_empty() {
        let _ = writeln!(text, "\nWhere memory ends");
    }
    let mut said: Vec<(&str, Vec<String>)> = Vec::new();
    for regions in &record.regions {
        match said.iter_mut().find(|(sentence, _)| *sentence == regions.sentence) {
            Some((_, figures)) => figures.push(title(regions.figure)),
            None => said.push((&regions.sentence, vec![title(regions.figure)])),
        }
    }
    for (sentence, figures) in said {
        let _ = writeln!(text, "  {}: {sentence}", figures.join(", "));
    }
}

/// The report of `-R`: a block per figure, file sizes down and record sizes across, in quotes. What was left out before the first
/// measured record is 0 there, as scripts know it.
pub fn report(record: &IozoneRecord) -> String {
    let mut text = "Excel output is below:\n".to_owned();
    for &figure in &record.figures {
        if !record.passes.iter().any(|pass| pass.figure == figure) {
            continue;
        }
        let sizes: Vec<String> = record.records.iter().map(|size| format!("\"{}\"", kib(*size))).collect();
        let _ = writeln!(text, "\n\"{}\"\n        {}", report_title(figure), sizes.join("  "));
        for file in files(record) {
            let of = |size: &Bytes| found_pass(record, figure, file, *size);
            let Some(last) = record.records.iter().rposition(|size| of(size).is_some()) else { continue };
            let _ = write!(text, "\"{}\"  ", kib(file));
            for size in &record.records[..=last] {
                let value = of(size).and_then(|pass| value(pass, record.unit)).unwrap_or(0);
                let _ = write!(text, " {value} ");
            }
            text.push('\n');
        }
    }
    text
}

fn report_title(figure: Figure) -> &'static str {
    match figure {
        Figure::Write => "Writer report",
        Figure::Rewrite => "Re-writer report",
        Figure::Read => "Reader report",
        Figure::Reread => "Re-Reader report",
        Figure::RandomRead => "Random read report",
        Figure::RandomWrite => "Random write report",
        Figure::BackwardRead => "Backward read report",
        Figure::RecordRewrite => "Record rewrite report",
        Figure::StrideRead => "Stride read report",
        Figure::Fwrite => "Fwrite report",
        Figure::Refwrite => "Re-Fwrite report",
        Figure::Fread => "Fread report",
        Figure::Refread => "Re-Fread report",
        Figure::RandomMix => "Random mix report",
        Figure::Pwrite => "Pwrite report",
        Figure::Repwrite => "Re-Pwrite report",
        Figure::Pread => "Pread report",
        Figure::Repread => "Re-Pread report",
        Figure::Pwritev => "Pwritev report",
        Figure::Repwritev => "Re-Pwritev report",
        Figure::Preadv => "Preadv report",
        Figure::Repreadv => "Re-Preadv report",
    }
}

/// What iozone calls those that do it, and how its short report names it.
fn workers_words(figure: Figure) -> (&'static str, &'static str) {
    match figure {
        Figure::Write => (" initial writers ", "Initial write"),
        Figure::Rewrite => (" rewriters ", "Rewrite"),
        Figure::Read => (" readers \t", "Read"),
        Figure::Reread => ("re-readers ", "Re-read"),
        Figure::RandomRead => ("random readers ", "Random read"),
        Figure::RandomWrite => ("random writers ", "Random write"),
        Figure::BackwardRead => ("reverse readers ", "Reverse Read"),
        Figure::RecordRewrite => ("record rewriters ", "Record rewrite"),
        Figure::StrideRead => ("stride readers ", "Stride read"),
        Figure::Fwrite => ("fwriters ", "Fwrite"),
        Figure::Refwrite => ("re-fwriters ", "Re-Fwrite"),
        Figure::Fread => ("freaders ", "Fread"),
        Figure::Refread => ("re-freaders ", "Re-Fread"),
        Figure::RandomMix => ("mixed workload ", "Mixed workload"),
        Figure::Pwrite => ("pwrite writers ", "Pwrite"),
        Figure::Repwrite => ("re-pwrite writers ", "Re-Pwrite"),
        Figure::Pread => ("pread readers ", "Pread"),
        Figure::Repread => ("re-pread readers ", "Re-Pread"),
        Figure::Pwritev => ("pwritev writers ", "Pwritev"),
        Figure::Repwritev => ("re-pwritev writers ", "Re-Pwritev"),
        Figure::Preadv => ("preadv readers ", "Preadv"),
        Figure::Repreadv => ("re-preadv readers ", "Re-Preadv"),
    }
}

fn throughput(text: &mut String, record: &IozoneRecord, each_child: bool) {
    let unit = unit_words(record.unit).0;
    let moved = if record.unit == Unit::KbPerSecond { "kB" } else { "ops" };
    let mut before = None;
    for run in &record.throughput {
        let setting = (run.children.len(), run.file, run.record);
        if before != Some(setting) {
            let workers = if setting.0 == 1 { "thread" } else { "threads" };
            let _ = writeln!(text, "\tThroughput test with {} {workers}", setting.0);
            let _ = writeln!(
                text,
                "\tEach thread writes a {} kByte file in {} kByte records",
                kib(run.file),
                kib(run.record)
            );
            before = Some(setting);
        }
        one_throughput(text, run, record.unit, (unit, moved));
        if each_child {
            for (number, child) in run.children.iter().enumerate() {
                let _ = writeln!(
                    text,
                    "\tChild[{number}] xfer count = {:10.2} {moved}, Throughput = {:10.2} {unit}",
                    child_moved(child, record.unit),
                    child_rate(child, run.record, record.unit),
                );
            }
        }
    }
}

fn one_throughput(text: &mut String, run: &Throughput, unit: Unit, (per, moved): (&str, &str)) {
    let found = together(run, unit);
    let (words, count) = (workers_words(run.figure).0, run.children.len());
    let _ = writeln!(text, "\n\tChildren see throughput for {count:>2} {words}\t= {:10.2} {per}", found.children);
    let _ = writeln!(text, "\tParent sees throughput for {count:>2} {words}\t= {:10.2} {per}", found.parent);
    let _ = writeln!(text, "\tMin throughput per thread \t\t\t= {:10.2} {per} ", found.min);
    let _ = writeln!(text, "\tMax throughput per thread \t\t\t= {:10.2} {per}", found.max);
    let _ = writeln!(text, "\tAvg throughput per thread \t\t\t= {:10.2} {per}", found.average);
    let _ = writeln!(text, "\tMin xfer \t\t\t\t\t= {:10.2} {moved}", found.least);
    let whose = whose_word(whose(run.evidence.verdict));
    let _ = writeln!(text, "\tWhose speed this is: {whose} ({})", run.evidence.why);
}

fn throughput_report(text: &mut String, record: &IozoneRecord) {
    let mut sizes: Vec<Bytes> = record.throughput.iter().map(|run| run.record).collect();
    sizes.dedup();
    for size in sizes {
        let _ = writeln!(text, "\n\"Throughput report Y-axis is type of test X-axis is number of processes\"");
        let _ = writeln!(text, "\"Record size = {} kBytes \"\n\"{}\"", kib(size), unit_words(record.unit).1);
        for &figure in &record.figures {
            let runs = record.throughput.iter().filter(|run| run.figure == figure && run.record == size);
            let values: String = runs.map(|run| format!(" {:.2} ", together(run, record.unit).children)).collect();
            if !values.is_empty() {
                let _ = writeln!(text, "\n\"{:>15} \"{values}", workers_words(figure).1);
            }
        }
    }
}
