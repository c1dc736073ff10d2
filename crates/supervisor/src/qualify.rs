//! Qualifications: what their requirements ask of this host, the files that their workers read, and what came of them.
//!
//! What requirements mean is known to `flashscope` alone, which prints them (`qualify PLAN --explain`) where they make sense.

use anyhow::{Result, anyhow};
use flashscope_lab::{Asked, FIGURES, HostFile, Plan, Qualification, REQUIREMENTS, Work};
use flashscope_supervisor::worker;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

/// The settings that a worker is told, in the folder of its run.
const SETTINGS: &str = "settings.toml";

/// What the works of a plan that qualify ask of this host, by their places.
///
/// # Errors
/// One makes no sense.
pub(crate) fn asked(plan: &Plan) -> Result<BTreeMap<usize, Asked>> {
    let qualifies =
        plan.works.iter().enumerate().filter_map(|(place, work)| Some((place, work, work.qualification.as_ref()?)));
    qualifies.map(|(place, work, held)| Ok((place, Asked::of(&explained(work, held)?, is_quick(work))))).collect()
}

fn is_quick(work: &Work) -> bool {
    work.words().iter().any(|word| word == "--quick")
}

/// A sentence for each command of the product that is asked for and that nobody says.
pub(crate) fn missing(plan: &Plan, asked: &BTreeMap<usize, Asked>, host: &HostFile) -> Vec<String> {
    let mut all = Vec::new();
    for (place, asked) in asked {
        let work = &plan.works[*place];
        let told = work.qualification.as_ref().is_some_and(|held| held.figures.is_some());
        for name in asked.commands.iter().filter(|name| !told && !host.external.contains_key(*name)) {
            all.push(format!(
                "{}: nobody says what '{name}' is, so that its requirement stays open: [external] with {name} = \"COMMAND\" in \
                 this host's own file (--host), or figures in the plan",
                work.name
            ));
        }
    }
    all
}

/// The text of the requirements, as the program that runs them has understood them.
fn explained(work: &Work, qualification: &Qualification) -> Result<String> {
    let words = work.words();
    let held = qualification.requirements.as_deref().unwrap_or_default();
    let name = if held.is_empty() { words[1].as_str() } else { "/dev/stdin" };
    let mut command = std::process::Command::new(worker::program()?);
    command.args(["--settings", "/dev/null", "qualify", name, "--explain"]);
    command.args(is_quick(work).then_some("--quick"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // Whoever does not read them says why.
        let _ = stdin.write_all(held.as_bytes());
    }
    let output = child.wait_with_output()?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.trim().trim_start_matches("error: ").replace("/dev/stdin", "its requirements");
    let said = if said.is_empty() { format!("flashscope ended with {}", output.status) } else { said };
    Err(anyhow!("work '{}': {said}", work.name))
}

/// Writes what a worker reads into the folder of its run, and says the words that name it.
///
/// # Errors
/// A file cannot be written.
pub(crate) fn files(folder: &Path, qualification: &Qualification, host: &HostFile) -> std::io::Result<Vec<OsString>> {
    std::fs::create_dir_all(folder)?;
    let asked = [(REQUIREMENTS, &qualification.requirements), (FIGURES, &qualification.figures)];
    for (name, text) in asked {
        if let Some(text) = text {
            std::fs::write(folder.join(name), text)?;
        }
    }
    // What the settings of this host say of other runs is none of its business.
    let commands: BTreeMap<&String, &String> = host.external.iter().collect();
    let settings = BTreeMap::from([("qualify", BTreeMap::from([("external", commands)]))]);
    let text = toml::to_string(&settings).map_err(std::io::Error::other)?;
    std::fs::write(folder.join(SETTINGS), text)?;
    Ok(vec![format!("--settings={SETTINGS}").into(), "--runs=runs".into()])
}
