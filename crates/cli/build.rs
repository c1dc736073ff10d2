//! Tells the program which commit it was built from and for which machine, so that every record can say so.

use std::process::Command;

fn main() {
    let target = std::env::var("TARGET").unwrap_or_default();
    println!("cargo:rustc-env=FLASHSCOPE_TARGET={target}");
    // Outside a checkout (a source package) there is no commit, and records say null.
    let commit = git(&["rev-parse", "--short=12", "HEAD"]);
    if let Some(commit) = &commit {
        println!("cargo:rustc-env=FLASHSCOPE_COMMIT={commit}");
    }
    let commit = commit.map_or_else(|| "commit unknown".to_owned(), |commit| format!("commit {commit}"));
    println!("cargo:rustc-env=FLASHSCOPE_BUILD={commit}, {target}");
    for file in ["HEAD", "logs/HEAD"] {
        if let Some(path) = git(&["rev-parse", "--path-format=absolute", "--git-path", file]) {
            println!("cargo:rerun-if-changed={path}");
        }
    }
    println!("cargo:rerun-if-changed=build.rs");
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    String::from_utf8(output.stdout).ok().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}
