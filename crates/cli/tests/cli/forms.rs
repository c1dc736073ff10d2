//! Reports in the form that the name of their file asks for, from every command that writes one.

use crate::harness::{fixture, flashscope, scratch};
use std::path::Path;

const DONE: i32 = 0;
const CANNOT: i32 = 2;

/// What a file of each form begins with, or holds early on.
const FORMS: [(&str, &[u8]); 6] =
    [("html", b"<!DOCTYPE html>"), ("json", b"{"), ("csv", b","), ("md", b"# "), ("txt", b""), ("xlsx", b"PK\x03\x04")];

fn holds(path: &Path, mark: &[u8]) {
    let content = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert!(content.len() > 40, "{} is empty", path.display());
    let early = &content[..content.len().min(400)];
    assert!(mark.is_empty() || early.windows(mark.len()).any(|part| part == mark), "{}", path.display());
    let page = content.starts_with(b"<!DOCTYPE html>");
    assert_eq!(page, path.extension().is_some_and(|ending| ending == "html"), "{}", path.display());
}

/// Calls a command once for each form: `words` with the file's name behind them.
fn every_form(words: &[&str]) {
    let folder = scratch();
    for (ending, mark) in FORMS {
        let name = format!("report.{ending}");
        flashscope(&[words, &[&name]].concat()).current_dir(&folder).run().expect(DONE);
        holds(&folder.join(&name), mark);
    }
    let run = flashscope(&[words, &["report.pdf"]].concat()).current_dir(&folder).run();
    run.expect(CANNOT);
    assert!(run.stderr.contains("hint: end it in one of .html, .htm, .json, .csv, .md,"), "{}", run.stderr);
    assert!(!folder.join("report.pdf").exists());
}

#[test]
fn every_command_writes_what_the_ending_says() {
    let log = fixture("field/card-1-2.txt");
    let folder = scratch();
    let record = folder.join("r.json");
    std::fs::write(&record, flashscope(&["probe", "align", "sim:sd-4mib", "--json"]).run().stdout).unwrap();
    every_form(&["report", record.to_str().unwrap(), "-o"]);
    every_form(&["probe", "floor", "sim:sd-4mib", "-o"]);
    every_form(&["bench", "sim:sd-4mib", "--rw", "read", "--size", "1M", "-o"]);
    every_form(&["bench", "sim:sd-4mib", "--rw", "read", "--size", "1M", "--report"]);
    every_form(&["infer", &log, "-o"]);
    every_form(&["fleet", "-n", "1", "--no-naive", "-o"]);
}

#[test]
fn inspect_keeps_the_record_beside_the_report_that_was_asked_for() {
    for (ending, mark) in FORMS.into_iter().filter(|(ending, _)| *ending != "json") {
        let folder = scratch();
        let name = format!("card.{ending}");
        flashscope(&["inspect", "sim:sd-4mib", "--max-write", "0", "-o", &name])
            .current_dir(&folder)
            .run()
            .expect(DONE);
        holds(&folder.join(&name), mark);
        holds(&folder.join("card.json"), b"flashscope.record");
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 2, "{ending}");
    }
    let folder = scratch();
    flashscope(&["inspect", "sim:sd-4mib", "--max-write", "0", "-o", "card-1.2"])
        .current_dir(&folder)
        .run()
        .expect(DONE);
    holds(&folder.join("card-1.2.html"), b"<!DOCTYPE html>");
}

#[test]
fn a_name_that_asks_for_something_else_is_refused() {
    let log = fixture("field/card-1-2.txt");
    let check = |words: &[&str], says: &str| {
        let run = flashscope(words).run();
        run.expect(CANNOT);
        assert!(run.stderr.contains(says) && run.stderr.contains("\nhint: "), "{}", run.stderr);
    };
    check(&["infer", &log, "--html", "x.csv"], "x.csv: --html writes a page");
    check(&["inspect", "-o", "card.pdf"], "card.pdf: the name does not say which report is wanted");
    check(&["twin", "fit", &log, "-o", "x.html"], "x.html: a model is TOML");
}

#[test]
fn the_title_of_a_page_is_no_temporary_file() {
    let folder = std::env::temp_dir().join(format!("flashscope-title-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let log = folder.join("tmp.x8Ea2.log");
    std::fs::copy(fixture("field/card-1-2.txt"), &log).unwrap();
    let page = scratch().join("card.html");
    flashscope(&["infer", log.to_str().unwrap(), "-o", page.to_str().unwrap()]).run().expect(DONE);
    let page = std::fs::read_to_string(page).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let title = page.split("<title>").nth(1).and_then(|rest| rest.split("</title>").next()).expect("a title");
    assert!(!title.contains("tmp.x8Ea2"), "{title}");
}
