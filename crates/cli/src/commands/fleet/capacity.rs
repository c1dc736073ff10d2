//! `fleet capacity`: how often a test of the capacity is right, on devices whose size is known.

use super::scored::{Kind, Scoring, in_lots};
use crate::args::FleetCapacity as Args;
use crate::error::{Failure, Outcome};
use crate::progress::bar;
use flashscope_fleet::capacities::{Depth, Figures, Plan, Which, calibration, rows, tested};
use serde_json::json;

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    let seed = args.scored.seed;
    let (depth, name) = if args.full { (Depth::Full, "Full") } else { (Depth::Quick, "Quick") };
    let title = format!("{name} tests of {} genuine devices and as many fakes, seed {seed}", args.devices);
    let plan = json!({ "devices": args.devices, "seed": seed, "full": args.full });
    let scoring = Scoring::of("fleet capacity", title, plan, &args.scored)?;
    let bar = bar(u64::from(args.devices) * 2, "devices");
    let (mut found, mut all) = (Vec::new(), Vec::new());
    for (which, of) in [(Which::Genuine, "genuine devices"), (Which::Fakes, "fakes")] {
        let outcomes =
            in_lots(args.devices, &bar, |first, devices| tested(Plan { first, devices, seed, which, depth }))?;
        if !outcomes.is_empty() {
            let rows = rows(&Figures::of(&outcomes), which, depth);
            found.push(Kind { of: of.to_owned(), cases: outcomes.len(), rows });
        }
        all.extend(outcomes);
    }
    bar.finish_and_clear();
    if !all.is_empty() {
        found.push(Kind { of: "all of them".to_owned(), cases: all.len(), rows: calibration(&Figures::of(&all)) });
    }
    scoring.finish(&found)
}
