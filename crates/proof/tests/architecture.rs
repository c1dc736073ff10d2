//! The absences of ARCHITECTURE.md, checked over `cargo metadata` and the sources.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a crate of the workspace may do. A crate without a row here, or without one in the table of ARCHITECTURE.md, fails
/// the tests.
struct Room {
    name: &'static str,
    reach: Reach,
    /// Whether it reads or writes formats of its own by serde. The inner types do not: renaming a field of a format is
    /// then a decision of the crate that holds the format.
    formats: bool,
    /// Crates that it must not depend on, not even through others.
    never_sees: &'static [&'static str],
}

/// How far a crate reaches out of the program.
#[derive(Clone, Copy, PartialEq)]
enum Reach {
    /// No clock, file, thread, process, network or environment, and no terminal.
    Nothing,
    /// All of the world but the terminal.
    World,
    /// The terminal as well.
    Terminal,
}

use Reach::{Nothing, Terminal, World};

/// Crates that no crate but the binary and the tests may depend on.
const AT_THE_END: [&str; 9] = ["cli", "fuzz", "memory", "player", "proof", "serve", "store", "supervisor", "testkit"];
/// Crates that depend on none of the workspace.
const AT_THE_BEGINNING: [&str; 3] = ["units", "stats", "kernels"];
/// Crates that may hold `unsafe`: system calls and the load engines, and loops over memory.
const MAY_BE_UNSAFE: [&str; 2] = ["host", "kernels"];

const ROOMS: [Room; 46] = [
    room("units", Nothing, false, &[]),
    room("stats", Nothing, false, &[]),
    room("model", Nothing, false, &["device"]),
    room("device", Nothing, false, &["sim", "host", "stats"]),
    room("sim", Nothing, true, &["host", "probe", "infer", "twin"]),
    room("registers", Nothing, false, &["sim", "host", "probe", "infer", "load"]),
    room("host", World, false, &["sim", "probe", "infer", "load"]),
    room("emulate", World, true, &["probe", "infer", "load", "record"]),
    room("probe", Nothing, false, &["sim", "host", "infer"]),
    room("load", Nothing, true, &["sim", "host", "infer", "probe"]),
    room("journal", Nothing, true, &["model", "device", "sim", "host"]),
    room("iozone", Nothing, false, &["sim", "host", "infer"]),
    room("state", Nothing, true, &["sim", "host", "probe", "infer"]),
    room("capacity", Nothing, true, &["sim", "host", "probe"]),
    room("endurance", Nothing, true, &["sim", "host", "probe", "record"]),
    room("integrity", Nothing, false, &["sim", "host", "record"]),
    room("stress", Nothing, false, &["sim", "host", "record", "probe", "load"]),
    room("trace", Nothing, false, &["sim", "host", "probe", "infer", "record"]),
    room("suite", Nothing, true, &["sim", "host"]),
    room("app", Nothing, true, &["sim", "host", "infer", "device"]),
    room("infer", Nothing, false, &["sim", "host", "device", "probe", "twin"]),
    room("session", Nothing, false, &["sim", "host", "twin"]),
    room("experiment", Nothing, false, &["sim", "host", "probe", "load", "infer", "device"]),
    room("qualify", Nothing, true, &["sim", "host", "probe", "infer", "record", "report"]),
    room("transcript", Nothing, false, &["infer", "device"]),
    room("record", Nothing, true, &["infer", "device", "sim", "host"]),
    room("view", Nothing, false, &["infer", "device", "record"]),
    room("report", Nothing, true, &["suite", "infer", "probe", "device"]),
    room("twin", Nothing, true, &["host", "transcript", "record"]),
    room("lab", Nothing, true, &["model", "device", "record", "sim", "host"]),
    room("hosts", World, true, &["sim", "host", "probe", "load", "infer", "record", "cli"]),
    room("explain", Nothing, false, &["host", "transcript", "record", "report", "fleet"]),
    room("fleet", Nothing, true, &["host", "emulate", "record", "report"]),
    room("worlds", Nothing, false, &["sim", "host", "probe", "infer", "session", "fleet"]),
    room("testkit", Nothing, false, &["sim", "host"]),
    room("fuzz", Terminal, true, &["host", "emulate", "session", "cli"]),
    room("proof", Nothing, false, &["host", "emulate"]),
    room("kernels", Nothing, false, &[]),
    room("console", Terminal, false, &["sim", "host", "probe", "load", "infer", "record"]),
    room("mem", Nothing, true, &["sim", "host", "record", "kernels"]),
    room("memory", Terminal, true, &["sim", "probe", "load", "cli"]),
    room("store", Terminal, true, &["sim", "probe", "load", "infer", "cli"]),
    room("player", Terminal, true, &["sim", "probe", "load", "infer", "record", "cli"]),
    room("supervisor", Terminal, true, &["probe", "load", "infer", "cli"]),
    room("serve", Terminal, true, &["probe", "load", "infer", "cli"]),
    room("cli", Terminal, true, &["hosts", "kernels", "lab", "memory", "player", "serve", "store", "supervisor"]),
];

const fn room(name: &'static str, reach: Reach, formats: bool, never_sees: &'static [&'static str]) -> Room {
    Room { name, reach, formats, never_sees }
}

#[test]
fn every_crate_has_its_rules_and_its_line_in_the_map() {
    let reachable = reachable();
    let members: BTreeSet<&str> = reachable.keys().map(String::as_str).collect();
    let ruled: BTreeSet<&str> = ROOMS.iter().map(|room| room.name).collect();
    assert_eq!(ruled, members, "ROOMS in this file (left) must hold each crate of the workspace (right) once");
    assert_eq!(ruled.len(), ROOMS.len(), "a crate has two rows in ROOMS");
    let named = ROOMS.iter().flat_map(|room| room.never_sees);
    for name in named.chain(&AT_THE_END).chain(&AT_THE_BEGINNING) {
        assert!(members.contains(name), "a rule is about `{name}`, which is no crate of the workspace");
    }
    let page = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let map = page.split("## Where things are").nth(1).and_then(|rest| rest.split("\n## ").next()).expect("the map");
    let rows = map.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    let listed: Vec<&str> = rows.map(|(name, _)| name).collect();
    assert_eq!(listed.iter().copied().collect::<BTreeSet<_>>(), members, "the table of ARCHITECTURE.md (left)");
    assert_eq!(listed.len(), members.len(), "a crate has two rows in ARCHITECTURE.md");
}

/// The packages of this workspace, as cargo knows them.
fn packages() -> Vec<serde_json::Value> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root())
        .output()
        .expect("cargo metadata runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("metadata is JSON");
    metadata["packages"].as_array().expect("packages").clone()
}

/// Normal (not dev) dependencies of each workspace crate, transitively, by short name.
fn reachable() -> BTreeMap<String, BTreeSet<String>> {
    let mut direct: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for package in packages() {
        let needed = package["dependencies"].as_array().expect("dependencies").iter();
        let normal = needed.filter(|dependency| dependency["kind"].is_null());
        let names = normal.filter_map(|dependency| short(&dependency["name"])).collect();
        direct.insert(short(&package["name"]).expect("every member bears the prefix"), names);
    }
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
    for room in &ROOMS {
        room.never_sees.iter().for_each(|other| never(room.name, other));
        if !AT_THE_END.contains(&room.name) {
            AT_THE_END.iter().for_each(|other| never(room.name, other));
        }
    }
    for name in AT_THE_BEGINNING {
        assert!(reachable[name].is_empty(), "{name} must see no other crate of the workspace: {:?}", reachable[name]);
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
    for room in &ROOMS {
        if room.reach == Nothing {
            must_not_say(room.name, &WORLD);
        }
        if room.reach != Terminal {
            must_not_say(room.name, &["println!", "print!(", "eprintln!", "dbg!"]);
        }
    }
}

#[test]
fn unsafe_stays_in_its_room() {
    for room in ROOMS.iter().filter(|room| !MAY_BE_UNSAFE.contains(&room.name)) {
        must_not_say(room.name, &["unsafe {", "unsafe fn", "unsafe impl"]);
    }
}

#[test]
fn the_inner_types_are_not_the_wire_format() {
    for room in ROOMS.iter().filter(|room| !room.formats) {
        must_not_say(room.name, &["Serialize", "Deserialize", "serde"]);
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
fn a_page_starts_two_things_and_no_third() {
    // What a browser sends reaches a process as a simulated device or as numbers of records, and in no other way.
    let starts = |word: &str| -> Vec<String> {
        let lines = sources("serve").into_iter().flat_map(|(path, text)| {
            let file = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            text.lines().filter(|line| code(line).contains(word)).map(|_| file.clone()).collect::<Vec<_>>()
        });
        lines.collect()
    };
    assert_eq!(starts("Command::new("), ["compare.rs"], "comparisons of records");
    assert_eq!(starts("worker::start("), ["runs.rs"], "runs on simulated devices");
    assert_eq!(starts("Simulated("), vec!["simulated.rs"; 2], "made in one place, by the parser of simulated devices");
    must_not_say("serve", &["WriteGrant", "open_for_writing", "HostTarget", "destroy_data", "allow_write", "Consent"]);
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
fn every_file_of_tests_is_run() {
    // A crate's tests are one program, whose parts cargo does not find by itself: a file that it does not name would never run.
    let mut seen = 0;
    for package in packages() {
        let manifest = Path::new(package["manifest_path"].as_str().expect("a path"));
        let folder = manifest.with_file_name("tests");
        let targets = package["targets"].as_array().expect("targets");
        let main = std::fs::read_to_string(folder.join("main.rs")).unwrap_or_default();
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let inner = path.join("main.rs");
            let file = if path.is_dir() { &inner } else { &path };
            if !file.is_file() || file.extension().is_none_or(|extension| extension != "rs") {
                continue;
            }
            let is_target = targets.iter().any(|target| target["src_path"].as_str().map(Path::new) == Some(file));
            let name = path.file_stem().expect("a name").to_string_lossy();
            let is_part = main.lines().any(|line| line == format!("mod {name};"));
            assert!(
                is_target != is_part,
                "{} is run by {} programs",
                file.display(),
                if is_part { "two" } else { "no" }
            );
            seen += 1;
        }
    }
    assert!(seen > 90, "only {seen} files of tests");
}

#[test]
fn every_example_in_documentation_is_run() {
    // rustdoc takes seconds for a crate, so one without examples is not asked.
    let mut asked = 0;
    for package in packages() {
        let name = short(&package["name"]).expect("every member bears the prefix");
        let mut libraries = package["targets"].as_array().expect("targets").iter();
        let library = libraries.find(|target| target["kind"][0] == "lib");
        let Some(library) = library else { continue };
        let documented = |line: &str| line.trim_start().starts_with("//!") || line.trim_start().starts_with("///");
        let fences = sources(&name).into_iter().flat_map(|(_, text)| {
            let lines = text.lines().filter(|line| documented(line) && line.contains("```"));
            // Fences open and close; one that opens with another language holds no Rust.
            lines.map(|line| line.trim_end().ends_with("```")).step_by(2).collect::<Vec<_>>()
        });
        let has_examples = fences.filter(|is_rust| *is_rust).count() > 0;
        assert_eq!(library["doctest"], has_examples, "`doctest` in {name}'s Cargo.toml");
        asked += u32::from(has_examples);
    }
    assert!(asked > 3, "only {asked} crates have examples");
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
