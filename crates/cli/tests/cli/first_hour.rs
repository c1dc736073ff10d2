//! What the pages of `docs/first-hour` show is what the tool prints: each command is run, and its first lines are looked at.
//! `FLASHSCOPE_UPDATE=1 cargo test -p flashscope-cli first_hour` writes as many lines anew as stand there.
//!
//! In a block of the kind `console` a line that begins with `$ ` is a command of a shell. Its first lines follow, and `…` where
//! there are more. A command that ends with another code than 0 says so: `# ends with 1`.

use crate::harness::{flashscope, scratch};
use std::path::{Path, PathBuf};
use std::process::Command;

const BLOCK: &str = "```console";
const MORE: &str = "…";

#[test]
fn first_hour_of_who_qualifies_a_second_source() {
    check("second-source.md");
}

#[test]
fn first_hour_of_who_writes_for_a_kernel() {
    check("kernel.md");
}

#[test]
fn first_hour_of_who_owns_a_board() {
    check("owner.md");
}

#[test]
fn first_hour_of_who_bought_a_card() {
    check("buyer.md");
}

#[test]
fn first_hour_of_who_does_research() {
    check("research.md");
}

/// Runs the commands of a page one after the other, in one folder.
fn check(name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/first-hour").join(name);
    let page = std::fs::read_to_string(&path).expect("the page");
    let folder = scratch();
    let mut shown = String::new();
    let mut lines = page.lines().peekable();
    let mut inside = false;
    let mut commands = 0;
    while let Some(line) = lines.next() {
        shown += &format!("{line}\n");
        inside = line == BLOCK || inside && line != "```";
        let Some(command) = line.strip_prefix("$ ").filter(|_| inside) else { continue };
        let mut told = Vec::new();
        while let Some(line) = lines.next_if(|line| !line.starts_with("$ ") && *line != "```") {
            told.push(line);
        }
        shown += &first_lines(&run(command, &folder), &told);
        commands += 1;
    }
    assert!(commands >= 3, "{name} has hardly a command");
    if std::env::var_os("FLASHSCOPE_UPDATE").is_some() {
        std::fs::write(&path, shown).expect("the page can be written");
        return;
    }
    for (at, (stands, printed)) in page.lines().zip(shown.lines()).enumerate() {
        assert_eq!(stands, printed, "{name}:{}: run with FLASHSCOPE_UPDATE=1 and look at the difference", at + 1);
    }
    assert_eq!(page.lines().count(), shown.lines().count(), "{name}: lines");
}

/// What a command prints, as a reader's shell would run it.
fn run(command: &str, folder: &Path) -> String {
    let code = command.split_once("# ends with ").map_or(0, |(_, code)| code.trim().parse().expect("an exit code"));
    let own = flashscope(&[]).command();
    let mut shell = Command::new("bash");
    shell.args(["-o", "pipefail", "-c", command]).current_dir(folder);
    for (name, value) in own.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    let programs: PathBuf = Path::new(own.get_program()).parent().expect("it lies in a folder").to_owned();
    let path = std::env::join_paths(
        std::iter::once(programs).chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    );
    let output = shell.env("PATH", path.expect("folders")).output().expect("bash starts");
    let talk = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{command}\n{talk}");
    String::from_utf8(output.stdout).expect("stdout is text")
}

/// As many lines as were told; a page that shows none of a command shows none of it.
fn first_lines(printed: &str, told: &[&str]) -> String {
    let cut = told.last() == Some(&MORE);
    let count = told.len() - usize::from(cut);
    let printed: Vec<&str> = printed.lines().map(str::trim_end).collect();
    if count == 0 {
        return String::new();
    }
    let shown = if cut { &printed[..count.min(printed.len())] } else { &printed[..] };
    let more = if cut { &[MORE][..] } else { &[] };
    shown.iter().chain(more).map(|line| format!("{line}\n")).collect()
}
