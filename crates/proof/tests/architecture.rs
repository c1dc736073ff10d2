//! The absences of ARCHITECTURE.md, checked over `cargo metadata` and the sources.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Normal (not dev) dependencies of each workspace crate, transitively, by short name.
fn reachable() -> BTreeMap<String, BTreeSet<String>> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root())
        .output()
        .expect("cargo metadata runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("metadata is JSON");
    let mut direct: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for package in metadata["packages"].as_array().expect("packages") {
        let needed = package["dependencies"].as_array().expect("dependencies").iter();
        let normal = needed.filter(|dependency| dependency["kind"].is_null());
        let names = normal.filter_map(|dependency| short(&dependency["name"])).collect();
        direct.insert(short(&package["name"]).expect("every member bears the prefix"), names);
    }
    assert!(direct.len() >= 14, "the workspace was not read whole: {direct:?}");
    direct.keys().map(|name| (name.clone(), closure(name, &direct))).collect()
}

fn closure(name: &str, direct: &BTreeMap<String, BTreeSet<String>>) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    let mut open = vec![name.to_owned()];
    while let Some(next) = open.pop() {
        for needed in direct.get(&next).into_iter().flatten() {
            if seen.insert(needed.clone()) {
                open.push(needed.clone());
            }
        }
    }
    seen
}

fn short(name: &serde_json::Value) -> Option<String> {
    name.as_str()?.strip_prefix("flashscope-").map(str::to_owned)
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace root exists")
}

#[test]
fn arrows_run_one_way() {
    let reachable = reachable();
    let never = |from: &str, to: &str| {
        assert!(!reachable[from].contains(to), "{from} must not see {to}, but does");
    };
    for (from, to) in [
        ("probe", "sim"),
        ("probe", "host"),
        ("probe", "infer"),
        ("load", "sim"),
        ("load", "host"),
        ("load", "infer"),
        ("load", "probe"),
        ("iozone", "sim"),
        ("iozone", "host"),
        ("iozone", "infer"),
        ("suite", "sim"),
        ("suite", "host"),
        ("report", "suite"),
        ("infer", "sim"),
        ("infer", "host"),
        ("infer", "device"),
        ("infer", "probe"),
        ("sim", "host"),
        ("host", "sim"),
        ("sim", "probe"),
        ("sim", "infer"),
        ("session", "sim"),
        ("session", "host"),
        ("report", "infer"),
        ("report", "probe"),
        ("report", "device"),
        ("record", "infer"),
        ("view", "infer"),
        ("view", "device"),
        ("transcript", "infer"),
        ("transcript", "device"),
        ("twin", "host"),
        ("twin", "transcript"),
        ("twin", "record"),
        ("sim", "twin"),
        ("infer", "twin"),
        ("session", "twin"),
    ] {
        never(from, to);
    }
    for crate_name in reachable.keys().filter(|name| !["proof", "testkit"].contains(&name.as_str())) {
        never(crate_name, "proof");
        never(crate_name, "testkit");
        if crate_name != "cli" {
            never(crate_name, "cli");
        }
    }
}

/// Every `.rs` file below `crates/<name>/src`, with its text.
fn sources(name: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut open = vec![root().join("crates").join(name).join("src")];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).expect("a source folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                // Tests know more than the product.
                open.extend((!path.ends_with("tests")).then_some(path));
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).expect("a source file");
                found.push((path, text));
            }
        }
    }
    assert!(!found.is_empty(), "no sources of {name}");
    found
}

/// The code of a line, without what follows a comment.
fn code(line: &str) -> &str {
    line.split("//").next().unwrap_or_default()
}

fn must_not_say(name: &str, words: &[&str]) {
    for (path, text) in sources(name) {
        for (number, line) in text.lines().enumerate() {
            for word in words {
                let place = format!("{}:{}", path.display(), number + 1);
                assert!(!code(line).contains(word), "{place} says `{word}`, which {name} must not");
            }
        }
    }
}

const WORLD: [&str; 11] = [
    "std::fs",
    "std::net",
    "std::thread",
    "std::env::",
    "SystemTime",
    "std::time::Instant",
    "std::process",
    "std::{fs",
    "std::{env",
    "std::{net",
    "std::{thread",
];

#[test]
fn the_core_never_touches_the_world() {
    for name in [
        "units",
        "stats",
        "model",
        "device",
        "sim",
        "probe",
        "load",
        "infer",
        "session",
        "transcript",
        "record",
        "view",
        "report",
        "iozone",
        "suite",
        "twin",
    ] {
        must_not_say(name, &WORLD);
        must_not_say(name, &["println!", "print!(", "eprintln!", "dbg!"]);
    }
}

#[test]
fn unsafe_stays_in_its_room() {
    for name in reachable().keys().filter(|name| *name != "host" && *name != "proof") {
        must_not_say(name, &["unsafe {", "unsafe fn", "unsafe impl"]);
    }
}

#[test]
fn the_inner_types_are_not_the_wire_format() {
    for name in ["units", "model", "device", "stats", "infer", "probe", "session", "view"] {
        must_not_say(name, &["Serialize", "Deserialize", "serde"]);
    }
}

#[test]
fn files_beside_a_target_go_through_one_door() {
    must_not_say(
        "cli",
        &["File::create", "File::options", "fs::write", "fs::rename", "fs::remove", "create_dir", "OpenOptions::new"],
    );
}

#[test]
fn report_computes_nothing() {
    // Statistics belong before the report: none of their names may appear in it.
    must_not_say("report", &["flashscope_stats", ".powf(", ".sqrt(", ".ln(", "median(", "quantile("]);
}

#[test]
fn inference_is_never_told_the_truth() {
    must_not_say("infer", &["truth", "Truth", "sim:"]);
    // Whether a device is simulated decides over one word of advice (how writing is allowed), and over nothing else.
    let lines = sources("infer").into_iter().flat_map(|(_, text)| text.lines().map(str::to_owned).collect::<Vec<_>>());
    let told: Vec<String> = lines.filter(|line| code(line).contains("simulated")).collect();
    assert!(told.len() <= 1 && told.iter().all(|line| line.contains("--read-only")), "{told:#?}");
}

#[test]
fn every_dependency_is_explained_and_freely_licensed() {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--offline", "--filter-platform", "x86_64-unknown-linux-gnu"])
        .current_dir(root())
        .output()
        .expect("cargo metadata runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("metadata is JSON");
    let explained = std::fs::read_to_string(root().join("docs/dependencies.md")).expect("docs/dependencies.md");
    let free = [
        "MIT",
        "MIT-0",
        "Apache-2.0",
        "BSD-2-Clause",
        "BSD-3-Clause",
        "ISC",
        "Unicode-3.0",
        "Zlib",
        "Unlicense",
        "CC0-1.0",
        "0BSD",
    ];
    for package in metadata["packages"].as_array().expect("packages") {
        let name = package["name"].as_str().expect("a name");
        if short(&package["name"]).is_some() {
            for dependency in package["dependencies"].as_array().expect("dependencies") {
                let needed = dependency["name"].as_str().expect("a name");
                let told = needed.starts_with("flashscope-") || explained.contains(&format!("`{needed}`"));
                assert!(told, "{name} depends on {needed}, which docs/dependencies.md does not explain");
            }
        }
        let licence = package["license"].as_str().unwrap_or_default();
        assert!(is_free(licence, &free), "{name} is licensed '{licence}'");
    }
}

/// Whether some alternative of an SPDX expression asks for nothing but these licences.
fn is_free(licence: &str, free: &[&str]) -> bool {
    let flat = licence.replace(['(', ')'], " ").replace('/', " OR ");
    flat.split(" OR ").any(|choice| {
        let mut parts = choice.split(" AND ").map(|part| part.split(" WITH ").next().unwrap_or_default().trim());
        parts.all(|part| free.contains(&part))
    })
}

#[test]
fn a_licence_that_adds_a_duty_is_not_free() {
    let free = ["MIT", "Apache-2.0"];
    assert!(is_free("MIT OR GPL-3.0", &free) && is_free("Apache-2.0 WITH LLVM-exception OR MIT", &free));
    assert!(!is_free("MIT AND GPL-3.0", &free) && !is_free("GPL-3.0", &free) && !is_free("", &free));
}
