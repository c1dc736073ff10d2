//! Tells the program which commit it was built from and for which machine, so that every record can say so.

use std::path::Path;
use std::process::Command;

fn main() {
    let target = std::env::var("TARGET").unwrap_or_default();
    println!("cargo:rustc-env=FLASHSCOPE_TARGET={target}");
    // Outside a checkout (a source package) there is no commit, and records say null.
    let ours = is_our_checkout();
    let commit = ours.then(|| git(&["rev-parse", "--short=12", "HEAD"])).flatten();
    if let Some(commit) = &commit {
        println!("cargo:rustc-env=FLASHSCOPE_COMMIT={commit}");
    }
    let commit = commit.map_or_else(|| "commit unknown".to_owned(), |commit| format!("commit {commit}"));
    println!("cargo:rustc-env=FLASHSCOPE_BUILD={commit}, {target}");
    for file in ["HEAD", "logs/HEAD"].iter().filter(|_| ours) {
        let path = git(&["rev-parse", "--path-format=absolute", "--git-path", file]);
        // A path that is not there counts as changed each time, and a checkout need not keep a log.
        if let Some(path) = path.filter(|path| Path::new(path).exists()) {
            println!("cargo:rerun-if-changed={path}");
        }
    }
    println!("cargo:rerun-if-changed=build.rs");
    if links_by_lld(&target) {
        // What people download is a twelfth smaller: functions that came out alike are one, and addresses that are known but for
        // where the program lies are packed (glibc 2.36 and later).
        println!("cargo:rustc-link-arg-bins=-Wl,--icf=all,-z,pack-relative-relocs");
    }
}

/// Whether the checkout around this crate is flashscope's own: sources that were unpacked inside another one must not take
/// its commit for theirs.
fn is_our_checkout() -> bool {
    let top = git(&["rev-parse", "--show-toplevel"]).and_then(|top| Path::new(&top).canonicalize().ok());
    let folder = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let root = Path::new(&folder).join("../..").canonicalize().ok();
    top.is_some() && top == root
}

/// Whether this compiler links by its own lld, which knows both: from Rust 1.90 on for this machine.
fn links_by_lld(target: &str) -> bool {
    let compiler = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let told = Command::new(compiler).arg("--version").output();
    let version = told.ok().and_then(|told| String::from_utf8(told.stdout).ok()).unwrap_or_default();
    let minor = version.strip_prefix("rustc 1.").and_then(|rest| rest.split('.').next()?.parse::<u32>().ok());
    target == "x86_64-unknown-linux-gnu" && minor.is_some_and(|minor| minor >= 90)
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    String::from_utf8(output.stdout).ok().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}
