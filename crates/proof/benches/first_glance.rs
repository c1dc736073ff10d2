//! What the first glance promises: `inspect` and `bench` say the same of speed, probabilities of one question add up to no more
//! than one, nothing is claimed that is less likely than not, and the first command does not keep people waiting. All but
//! the last in virtual time. `scripts/prove first-glance [--quick] [-- --devices N --seed S]`; exit code 1 where a target is missed.
#![allow(clippy::print_stdout, missing_docs)]

use flashscope_fleet::{Generator, draw};
use flashscope_model::finding::{Figure, Visit};
use flashscope_model::{Estimate, Finding, Geometry};
use flashscope_proof::agreement::{MARGIN, speeds};
use flashscope_sim::SimTarget;
use flashscope_testkit::Targets;
use flashscope_view::answer::answer;
use std::error::Error;
use std::io::{self, Stdout};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Instant;

/// The first two commands on two idle cores, and the binary: what the issue asked for.
const SECONDS: f64 = 180.0;
const MEGABYTES: f64 = 20.0;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let words: Vec<String> = std::env::args().collect();
    let after = |name: &str| words.iter().skip_while(|word| *word != name).nth(1);
    let quick = words.iter().any(|word| word == "--quick");
    let devices: u32 = after("--devices").map_or(Ok(if quick { 4 } else { 200 }), |text| text.parse())?;
    let seed: u64 = after("--seed").map_or(Ok(13_001), |text| text.parse())?;
    let mut targets = Targets::begin(io::stdout())?;

    let mut catalogue = Found::default();
    for entry in flashscope_sim::catalogue() {
        let open = |seed| flashscope_sim::open(entry.name, seed).map_err(|error| error.to_string());
        catalogue.add(entry.name, &open, 1);
    }
    catalogue.say("catalogue", &mut targets)?;

    let mut fleet = Found::default();
    for index in 0..devices {
        let drawn = draw(Generator::Wide, seed, index, None)?;
        let open = |seed| {
            flashscope_sim::open_with("drawn.toml", seed, |_| Ok(drawn.text.clone())).map_err(|error| error.to_string())
        };
        fleet.add(&drawn.title, &open, drawn.seed);
    }
    fleet.say(&format!("{devices} devices of the wide fleet"), &mut targets)?;

    if quick {
        targets.left_out("the first command from an empty target directory", "takes minutes; run without --quick")?;
    } else {
        first_command(&mut targets)?;
    }
    Ok(if targets.end()? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What was found on several devices.
#[derive(Default)]
struct Found {
    cells: u32,
    apart: Vec<String>,
    questions: u32,
    /// Highest sum of the probabilities of one question.
    sum: f64,
    too_much: u32,
    claimed: u32,
    without: Vec<String>,
}

impl Found {
    fn add(&mut self, name: &str, open: &dyn Fn(u64) -> Result<SimTarget, String>, seed: u64) {
        match speeds(open, seed) {
            Ok(looked) => {
                let apart = looked.cells.iter().filter(|row| !row.agrees);
                self.apart.extend(apart.map(|row| format!("{name}: {row}")));
                self.cells += looked.cells.len() as u32;
                let geometry = &looked.report.findings.geometry;
                geometry.each(&mut Sums { found: self, geometry });
            }
            Err(why) => self.without.push(format!("{name}: {why}")),
        }
    }

    fn say(&self, what: &str, targets: &mut Targets<Stdout>) -> io::Result<()> {
        for row in self.apart.iter().chain(&self.without) {
            println!("{row}");
        }
        let share = |count: usize, all: u32| {
            format!("{:.2} % ({count} of {all})", 100.0 * count as f64 / f64::from(all.max(1)))
        };
        let percent = (MARGIN - 1.0) * 100.0;
        let apart = self.apart.len();
        let target = format!("{what}: speeds of inspect and bench apart, beyond intervals and {percent:.0} %");
        targets.row(&target, "none", &share(apart, self.cells), apart == 0)?;
        let target = format!("{what}: highest sum of probabilities of one question");
        targets.row(
            &target,
            "≤ 100 %",
            &format!("{:.1} % of {} questions", 100.0 * self.sum, self.questions),
            self.too_much == 0,
        )?;
        let target = format!("{what}: claimed although less likely than not");
        targets.row(&target, "none", &self.claimed.to_string(), self.claimed == 0)?;
        targets.row(
            &format!("{what}: devices without a result"),
            "none",
            &self.without.len().to_string(),
            self.without.is_empty(),
        )
    }
}

struct Sums<'a> {
    found: &'a mut Found,
    geometry: &'a Geometry,
}

impl Visit for Sums<'_> {
    fn visit<F: Figure>(&mut self, finding: Finding, estimate: &Estimate<F>) {
        let Some(confidence) = estimate.confidence() else { return };
        let sum = confidence + estimate.alternatives().iter().map(|(_, share)| share).sum::<f64>();
        self.found.questions += 1;
        self.found.sum = self.found.sum.max(sum);
        self.found.too_much += u32::from(sum > 1.0 + 1e-9);
        let said = answer(finding, self.geometry).verdict();
        self.found.claimed += u32::from(confidence < 0.5 && !said.starts_with("cannot tell"));
    }
}

/// The README's first command as a newcomer types it, but for the target directory, which is empty each time.
fn first_command(targets: &mut Targets<Stdout>) -> Result<(), Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let scratch = std::env::temp_dir().join(format!("flashscope-first-{}", std::process::id()));
    std::fs::create_dir_all(&scratch)?;
    let began = Instant::now();
    let status = Command::new(env!("CARGO"))
        .args(["run", "--release", "--locked", "-q", "--target-dir"])
        .arg(scratch.join("target"))
        .args(["--", "inspect", "-o"])
        .arg(scratch.join("card"))
        .current_dir(root)
        .stdout(std::process::Stdio::null())
        .status()?;
    let took = began.elapsed().as_secs_f64();
    let size = std::fs::metadata(scratch.join("target/release/flashscope")).map(|file| file.len() as f64 / 1e6);
    let _ = std::fs::remove_dir_all(&scratch);
    if !status.success() {
        return Err("the first command fails".into());
    }
    targets.at_most("cargo run --release -- inspect, from nothing", SECONDS, took, "s")?;
    targets.at_most("the binary", MEGABYTES, size?, "MB")?;
    Ok(())
}
