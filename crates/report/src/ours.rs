//! How a file that flashscope wrote is known again: by what it says of itself.
//!
//! | form | mark |
//! |---|---|
//! | record | its first key is `schema`, and names a schema of flashscope's |
//! | page | `<meta name="generator" content="flashscope">`; older pages by their title |
//! | table, trace, log | its line of headings |
//! | workbook | its author |
//! | text, Markdown | its last line ([`signed`]) |
//! | journal of what stood on a device | its first line |
//! | model | its first line ([`signed_model`]) |
//! | manual page | its first line ([`man_mark`]) |

use std::io::{Read, Seek, SeekFrom};

/// What a generator's mark in a page says.
pub(crate) const GENERATOR: &str = "flashscope";

/// Lines of headings begin like this: of a run, a load, a test of the capacity, iozone's tests, a fleet, a twin, a comparison, a sweep, a trace,
/// an emulator's log, an explanation, a lab and a history.
const HEADINGS: [&str; 14] = [
    "section,item,figure,value\n",
    "phase,run,job,direction,count,bytes,elapsed_ns,",
    "pass,round,address_bytes,found,",
    "address_bytes,length_bytes,write_time_ns,read_time_ns,",
    "figure,file_bytes,record_bytes,records,moved_bytes,elapsed_ns,",
    "parameter,reader,devices,",
    "test,table,run,row_bytes,",
    "factor,figure,unit,better,baseline,side,",
    "condition,figure,unit,runs,void_runs,mean,",
    "phase,worker,kind,offset_bytes,length_bytes,",
    "arrived_ns,done_ns,answered_ns,kind,offset_bytes,",
    "group,share_ns,share_ns_low,",
    "id,device,work,state,attempts,",
    "record,time,measured,kind,command,target,device,",
];

/// What the saved state of a simulated device begins with, whatever its version.
const SIM_STATE: &str = "flashscope sim state ";
/// What a journal of what stood on a device begins with.
const UNDO: &str = "flashscope undo ";
/// What a block trace of ours begins with.
const TRACE: &str = "fstrace\n";
const MODEL: &str = "# made by flashscope ";
const MAN: &str = ".\\\" made by flashscope ";

/// What is looked at of a file's beginning; all marks but those of a text's end and a workbook are in there.
const HEAD: u64 = 4096;

/// Whether flashscope wrote this file. What cannot be read is not ours.
pub fn is_ours(file: &mut (impl Read + Seek)) -> bool {
    let mut head = Vec::new();
    if Read::take(&mut *file, HEAD).read_to_end(&mut head).is_err() {
        return false;
    }
    if head.starts_with(b"PK\x03\x04") {
        return is_our_workbook(file);
    }
    let head = String::from_utf8_lossy(&head);
    is_our_record(&head)
        || head.contains(&format!("<meta name=\"generator\" content=\"{GENERATOR}\">"))
        || head.contains(" – flashscope</title>")
        || head.starts_with(MODEL)
        || head.starts_with(SIM_STATE)
        || head.starts_with(UNDO)
        || head.starts_with(TRACE)
        || head.starts_with(MAN)
        || HEADINGS.iter().any(|headings| head.starts_with(headings))
        || is_signed(file)
}

/// A text that goes to a file, with a last line that says who wrote it.
pub fn signed(text: &str) -> String {
    format!("{}\n\n{SIGNATURE}{}\n", text.trim_end(), env!("CARGO_PKG_VERSION"))
}

/// A model that goes to a file, with a first line that says who wrote it.
pub fn signed_model(text: &str) -> String {
    format!("{MODEL}{}\n{text}", env!("CARGO_PKG_VERSION"))
}

/// The first line of a manual page, a comment that says who made it.
pub fn man_mark() -> String {
    format!("{MAN}{}\n", env!("CARGO_PKG_VERSION"))
}

const SIGNATURE: &str = "flashscope ";

fn is_our_record(head: &str) -> bool {
    let after = |text: &'_ str, mark: &str| text.trim_start().strip_prefix(mark).map(str::to_owned);
    let value = after(head, "{").and_then(|rest| after(&rest, "\"schema\"")).and_then(|rest| after(&rest, ":"));
    value.is_some_and(|value| value.trim_start().starts_with("\"flashscope."))
}

/// Whether the last line is our name and a version.
fn is_signed(file: &mut (impl Read + Seek)) -> bool {
    let mut tail = Vec::new();
    let length = file.seek(SeekFrom::End(0)).unwrap_or(0);
    let read = file
        .seek(SeekFrom::Start(length.saturating_sub(64)))
        .and_then(|_| Read::take(&mut *file, 64).read_to_end(&mut tail));
    let tail = String::from_utf8_lossy(&tail);
    let last = tail.trim_end().rsplit('\n').next().unwrap_or_default();
    let version = last.strip_prefix(SIGNATURE).unwrap_or_default();
    let is_version = version.split('.').count() >= 3 && version.starts_with(|first: char| first.is_ascii_digit());
    read.is_ok() && is_version && !version.contains(' ')
}

fn is_our_workbook(file: &mut (impl Read + Seek)) -> bool {
    let mut text = String::new();
    let Ok(mut archive) = zip::ZipArchive::new(file) else { return false };
    let Ok(entry) = archive.by_name("docProps/core.xml") else { return false };
    let read = entry.take(HEAD).read_to_string(&mut text);
    read.is_ok() && text.contains("<dc:creator>flashscope</dc:creator>")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    #[test]
    fn only_what_says_that_it_is_ours_is_ours() {
        let check = |content: &str, expect: bool| {
            assert_eq!(is_ours(&mut Cursor::new(content.as_bytes())), expect, "{content}");
        };
        check("{\n  \"schema\": \"flashscope.record/1\", ", true);
        check("{\"schema\":\"flashscope.bench/7\"}", true);
        check("{\"name\": \"flashscope\", \"schema\": \"other\"}", false);
        check("{\"schema\": \"other/1\", \"of\": \"flashscope.record\"}", false);
        check("#!/bin/sh\nflashscope inspect card.img\n", false);
        check(&signed("Geometry\n"), true);
        check("how to use\nflashscope 0.1.0 beta\n", false);
        check("my notes on\nflashscope\n", false);
        check(&signed_model("[device]\n"), true);
        check("# a model for flashscope\n[device]\n", false);
        check(&format!("{}.TH flashscope 1\n", man_mark()), true);
        check(".TH flashscope 1\n.\\\" made by flashscope\n", false);
        check("section,item,figure,value\nrun,tool,version,0.1.0\n", true);
        check("section,item\n", false);
        check("", false);
    }

    #[test]
    fn a_workbook_is_known_by_its_author() {
        let sheet = crate::xlsx::Sheet::new("a", vec!["b".into()], Vec::new());
        assert!(is_ours(&mut Cursor::new(crate::xlsx::workbook(&[sheet]).unwrap())));
        let mut other = rust_xlsxwriter::Workbook::new();
        other.add_worksheet();
        assert!(!is_ours(&mut Cursor::new(other.save_to_buffer().unwrap())));
        assert!(!is_ours(&mut Cursor::new(b"PK\x03\x04 flashscope")));
    }
}
