//! `history` is answered by a program of its own beside this one.

use crate::harness::{Run, left_out, scratch};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The binary in a folder where nothing else is.
fn alone() -> (PathBuf, PathBuf) {
    let folder = scratch();
    let own = folder.join("flashscope");
    // A copy that another test's child still holds open for writing cannot be started.
    let built = env!("CARGO_BIN_EXE_flashscope");
    std::fs::hard_link(built, &own)
        .or_else(|_| std::fs::copy(built, &own).map(drop))
        .expect("the binary can be put there");
    (folder, own)
}

fn run(program: &Path, words: &[&str]) -> Run {
    Run::from(Command::new(program).args(words).output().expect("the binary starts"))
}

#[test]
fn without_its_program_it_says_how_to_build_it() {
    let (_folder, own) = alone();
    for words in [&["history"][..], &["history", "list"]] {
        let run = run(&own, words);
        run.expect(2);
        assert!(run.stderr.contains("there is no ") && run.stderr.contains("flashscope-history"), "{}", run.stderr);
        assert!(
            run.stderr.contains("\nhint: build it with `cargo build --release -p flashscope-store`"),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn its_help_needs_no_other_program() {
    let (_folder, own) = alone();
    for words in [&["history", "--help"][..], &["history", "help"], &["history", "-h"]] {
        let run = run(&own, words);
        run.expect(0);
        for said in ["trend", "cargo build --release -p flashscope-store", "Exit codes"] {
            assert!(run.stdout.contains(said), "{words:?} does not say {said}: {}", run.stdout);
        }
    }
}

#[test]
fn every_word_and_the_exit_code_pass_through() {
    let (folder, own) = alone();
    let program = folder.join("flashscope-history");
    std::fs::write(&program, "#!/bin/sh\nprintf '%s|' \"$@\"\nexit 7\n").unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let check = |words: &[&str], expect: &str| {
        let run = run(&own, words);
        assert_eq!((run.code, run.stdout.as_str()), (Some(7), expect), "{}", run.stderr);
    };
    check(&["history", "show", "12", "-o", "a b.html"], "show|12|-o|a b.html|");
    check(&["history", "--help"], "--help|");
    check(&["--color=never", "-q", "history", "list", "--json"], "--color=never|--quiet|list|--json|");
    check(&["--verbose", "history", "list", "-q"], "--verbose|list|-q|");
    check(&["history", "add", "--", "-"], "add|--|-|");
}

#[test]
fn a_record_that_was_kept_is_shown_as_report_shows_it() {
    let beside = Path::new(env!("CARGO_BIN_EXE_flashscope")).with_file_name("flashscope-history");
    if !beside.is_file() {
        left_out("history with its own program (it is built by `cargo test --workspace`)");
        return;
    }
    let folder = scratch();
    let flashscope = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_flashscope"));
        command.args(words).current_dir(&folder).env("COLUMNS", "100").env("XDG_DATA_HOME", &folder);
        let run = Run::from(command.output().unwrap());
        run.expect(0);
        run
    };
    let record = flashscope(&["bench", "sim:sd-4mib", "--rw", "randread", "--size", "1M", "--json"]).stdout;
    std::fs::write(folder.join("bench.json"), &record).unwrap();
    flashscope(&["history", "add", "bench.json"]);
    assert_eq!(flashscope(&["history", "show", "1"]).stdout, flashscope(&["report", "bench.json"]).stdout);
    assert_eq!(flashscope(&["history", "show", "1", "--json"]).stdout, record);
    flashscope(&["history", "show", "1", "-o", "card.html"]);
    assert!(std::fs::read_to_string(folder.join("card.html")).unwrap().contains("<svg"));
    // Two records of one card and two of a slower one: sides of two sessions each.
    for (number, model) in (2..).zip(["sim:sd-4mib,noise=field", "sim:sd-4mib,noise=field,mapping.read.sense=300us"]) {
        for seed in ["1", "2"] {
            let name = format!("{number}-{seed}.json");
            flashscope(&[
                "bench",
                model,
                "--rw",
                "randread",
                "--runtime",
                "1",
                "--repeat",
                "3",
                "--seed",
                seed,
                "-o",
                &name,
            ]);
            flashscope(&["history", "add", &name]);
        }
    }
    let compared = flashscope(&["history", "compare", "A=2", "A=3", "B=4", "B=5", "--figure", "read"]).stdout;
    assert!(compared.starts_with("B against A") && compared.contains("1 worse"), "{compared}");
    // With the setting, the record of a run is kept by itself; a history that takes none costs the run nothing.
    std::fs::write(folder.join("settings.toml"), "[history]\nkeep = true\n").unwrap();
    let listed = || flashscope(&["history", "list", "--json"]).stdout.matches("\"id\"").count();
    let before = listed();
    let run = ["probe", "floor", "sim:sd-flat", "--count", "20", "--settings", "settings.toml"];
    flashscope(&run);
    assert_eq!(listed(), before + 1);
    std::fs::write(folder.join("flashscope/history.db"), "no database").unwrap();
    let kept = flashscope(&run);
    assert!(kept.stderr.contains("warning: the record is not kept in the history"), "{}", kept.stderr);
}
