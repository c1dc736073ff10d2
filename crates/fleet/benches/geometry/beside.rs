//! An earlier version beside this one: the same devices in turns, and the size of what infers.

use crate::program::found_by;
use crate::silent::Silent;
use flashscope_fleet::paired::{AT_A_TIME, Sailed, ratios, rows};
use flashscope_fleet::{Fleet, Plan, sail};
use flashscope_testkit::Targets;
use std::error::Error;
use std::io::Stdout;
use std::path::Path;

/// Processor time of a device may be no more than this part of the earlier version's.
const WORK: f64 = 0.6;

/// The earlier version.
pub(crate) struct Before {
    /// Its program.
    pub(crate) program: Option<String>,
    /// Its checkout, or its source of `flashscope-infer` alone.
    pub(crate) source: Option<String>,
}

impl Before {
    /// A fleet as this version finds it, and as the earlier one does, some devices of the one and then of the other.
    pub(crate) fn fleets(&self, plan: Plan) -> Result<(Fleet, Option<Sailed>), Box<dyn Error>> {
        let Some(program) = &self.program else { return Ok((sail(plan, &Silent)?, None)) };
        let mut fleet = Fleet { plan, devices: Vec::new() };
        let mut earlier: Option<Sailed> = None;
        for first in (0..plan.devices).step_by(AT_A_TIME as usize) {
            let part = Plan { first, devices: AT_A_TIME.min(plan.devices - first), ..plan };
            let found = found_by(program, &options(part))?;
            match &mut earlier {
                Some(earlier) => earlier.join(found)?,
                None => earlier = Some(found),
            }
            fleet.devices.extend(sail(part, &Silent)?.devices);
        }
        Ok((fleet, earlier))
    }

    /// No row is to be worse, beyond chance; and what a run takes.
    pub(crate) fn judge(
        &self,
        targets: &mut Targets<Stdout>,
        fleet: &Fleet,
        earlier: Option<Sailed>,
    ) -> Result<(), Box<dyn Error>> {
        let name = fleet.plan.generator.name();
        let Some(earlier) = earlier else {
            let why = "no --before PROGRAM";
            return Ok(targets.left_out(&format!("{name}: beside an earlier version"), why)?);
        };
        let now = Sailed::of(fleet);
        for row in rows(&earlier, &now)? {
            let found = format!("{} -> {} of {}", row.before, row.after, row.devices);
            let target = format!("{name}: {}, {}, beside before", row.parameter, row.counted);
            targets.row(&target, "no worse", &found, !row.is_worse())?;
        }
        for (what, ratio) in ratios(&earlier, &now)? {
            let most = if what == "processor time" { WORK } else { 1.0 };
            targets.at_most(&format!("{name}: {what}, beside before"), most, ratio, "times")?;
        }
        Ok(())
    }

    /// There is to be less of what infers, and fewer constants in it.
    pub(crate) fn source(&self, targets: &mut Targets<Stdout>) -> Result<(), Box<dyn Error>> {
        let Some(source) = &self.source else {
            return Ok(targets.left_out("infer: lines and constants, beside before", "no --before-source DIR")?);
        };
        let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../infer/src");
        let within = Path::new(source).join("crates/infer/src");
        let before = if within.is_dir() { within } else { source.into() };
        let (before, now) = (size(&before)?, size(&own)?);
        for (what, before, now) in [("lines", before.0, now.0), ("constants", before.1, now.1)] {
            targets.at_most(&format!("infer: {what}"), before as f64, now as f64, "")?;
        }
        Ok(())
    }
}

/// A part of a fleet as options of `flashscope fleet`.
fn options(part: Plan) -> Vec<String> {
    let Plan { devices, first, seed, generator, noise, limits } = part;
    let mut words = format!("--devices {devices} --first {first} --seed {seed} --generator {}", generator.name());
    words.extend(noise.map(|noise| format!(" --noise {}", noise.name())));
    words.push_str(if limits.by_hand { "" } else { " --no-naive" });
    words.split(' ').map(str::to_owned).collect()
}

/// Lines of Rust in a folder, tests in the files included, and constants among them.
fn size(folder: &Path) -> std::io::Result<(usize, usize)> {
    let (mut lines, mut constants) = (0, 0);
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            let (more, further) = size(&path)?;
            (lines, constants) = (lines + more, constants + further);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path)?;
            lines += text.lines().count();
            constants += text.lines().filter(|line| is_constant(line)).count();
        }
    }
    Ok((lines, constants))
}

/// Whether a line declares a constant, and no function that is one.
fn is_constant(line: &str) -> bool {
    line.split_whitespace().skip_while(|word| *word != "const").nth(1).is_some_and(|name| name.ends_with(':'))
}
