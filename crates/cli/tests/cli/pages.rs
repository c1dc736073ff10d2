//! Manual pages, and what shells complete: made from the help texts, understood by those who read them.

use crate::harness::{flashscope, left_out, scratch};
use std::path::Path;
use std::process::Command;

const DONE: i32 = 0;
const CANNOT: i32 = 2;
const REFUSED: i32 = 3;

/// What a shell is given.
fn script(shell: &str) -> String {
    let run = flashscope(&["completions", shell]).run();
    run.expect(DONE);
    run.stdout
}

/// What bash offers at the end of these words, which it splits at spaces and colons.
fn completed(script: &Path, words: &[&str]) -> Vec<String> {
    let line = words.join(" ").replace(" : ", ":").replace(" :", ":");
    let (last, before) = (words[words.len() - 1], words[words.len() - 2]);
    let ask = format!(
        "source '{}'; COMP_LINE='{line}'; COMP_POINT=${{#COMP_LINE}}; COMP_WORDS=({}); COMP_CWORD={}; \
         COMP_WORDBREAKS=$' \\t\\n\"><=;|&(:'; \
         $(complete -p flashscope | sed 's/.*-F \\([^ ]*\\).*/\\1/') flashscope '{last}' '{before}'; \
         printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        script.display(),
        words.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" "),
        words.len() - 1,
    );
    let output = Command::new("bash").args(["-c", &ask]).output().expect("bash runs");
    // Outside a line editor there is nothing whose options could be changed, which bash says.
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.lines().all(|line| line.contains("compopt")), "{said}");
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn bash_completes_commands_options_and_models() {
    let path = scratch().join("flashscope.bash");
    std::fs::write(&path, script("bash")).unwrap();
    let sound = Command::new("bash").arg("-n").arg(&path).output().expect("bash runs");
    assert!(sound.status.success() && sound.stderr.is_empty(), "{}", String::from_utf8_lossy(&sound.stderr));
    let check = |words: &[&str], expect: &[&str]| assert_eq!(completed(&path, words), expect, "{words:?}");
    check(&["flashscope", "insp"], &["inspect"]);
    check(&["flashscope", "probe", "al"], &["align"]);
    check(&["flashscope", "inspect", "--max-t"], &["--max-time"]);
    check(&["flashscope", "report", "--format", "ma"], &["markdown"]);
    check(&["flashscope", "bench", "--preset", "crystal"], &["crystaldiskmark"]);
    check(&["flashscope", "inspect", "sim", ":", "sd-2"], &["sd-24mib"]);
    check(&["flashscope", "bench", "fio", "--target", "sim", ":", "sd-2"], &["sd-24mib"]);
    check(&["flashscope", "sim", "show", "sd-2"], &["sd-24mib"]);
    check(&["flashscope", "inspect", "zzz"], &[""]);
}

#[test]
fn every_shell_has_a_script_and_none_other() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let text = script(shell);
        assert!(text.contains("map-reach") && text.contains("destroy-data"), "{shell}");
        assert_eq!(text, script(shell), "{shell}: the same each time");
    }
    flashscope(&["completions", "tcsh"]).run().expect(CANNOT);
}

#[test]
fn every_command_has_a_manual_page_that_groff_takes_without_a_warning() {
    let folder = scratch();
    let write = |words: &[&str]| {
        let run = flashscope(&[&["man", "--dir", folder.to_str().unwrap()], words].concat()).run();
        (run.code, run.stderr)
    };
    assert_eq!(write(&[]).0, Some(DONE));
    assert_eq!(write(&[]).0, Some(DONE), "its own are replaced without a word");
    let mut pages: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    pages.sort();
    for page in ["flashscope.1", "flashscope-probe-align.1", "flashscope-bench-iozone.1", "flashscope-twin-fit.1"] {
        assert!(pages.contains(&folder.join(page)), "{page} in {pages:?}");
    }
    let groff = |page: &Path| Command::new("groff").args(["-man", "-ww", "-Tutf8"]).arg(page).output();
    if groff(&pages[0]).is_err() {
        left_out("manual pages in groff (it is not installed)");
        return;
    }
    for page in &pages {
        let output = groff(page).expect("groff runs");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{}", page.display());
        let text = std::fs::read_to_string(page).unwrap();
        assert!(text.contains(".SH EXAMPLES") && text.contains(".SH \"EXIT STATUS\""), "{}:\n{text}", page.display());
    }
    let other = folder.join("flashscope.1");
    std::fs::write(&other, ".TH mine 1\n").unwrap();
    let (code, said) = write(&[]);
    assert_eq!(code, Some(REFUSED), "{said}");
    assert!(said.contains("flashscope.1") && said.contains("--force"), "{said}");
    assert_eq!(write(&["--force"]).0, Some(DONE));
}

#[test]
fn a_page_is_found_by_the_words_of_its_command() {
    let page = flashscope(&["man", "probe", "align"]).run();
    page.expect(DONE);
    assert!(page.stdout.contains(".TH flashscope-probe-align 1"), "{}", page.stdout);
    assert_eq!(page.stdout, flashscope(&["man", "probe", "align"]).run().stdout);
    assert!(flashscope(&["man"]).run().stdout.contains(".TH flashscope 1"));
    let wrong = flashscope(&["man", "inspct"]).run();
    wrong.expect(CANNOT);
    assert!(wrong.stderr.contains("did you mean inspect?"), "{}", wrong.stderr);
    let nowhere = flashscope(&["man", "--dir", "/no/such/folder"]).run();
    nowhere.expect(CANNOT);
    assert!(nowhere.stderr.contains("/no/such/folder"), "{}", nowhere.stderr);
}
