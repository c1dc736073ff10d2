//! `fleet integrity`: how often a verdict about power cuts is right, on devices whose faults are known.

use super::scored::{Kind as Scored, Scoring, in_lots};
use crate::args::FleetIntegrity as Args;
use crate::error::{Failure, Outcome};
use crate::progress::bar;
use flashscope_fleet::integrity::{Figures, Kind, Plan, judged, rows};
use serde_json::json;

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    let (seed, cuts) = (args.scored.seed, args.cuts);
    let title = format!("Power cuts of {} devices of each kind, seed {seed}", args.devices);
    let plan = json!({ "devices": args.devices, "cuts": cuts, "seed": seed });
    let scoring = Scoring::of("fleet integrity", title, plan, &args.scored)?;
    let bar = bar(u64::from(args.devices) * Kind::ALL.len() as u64, "devices");
    let mut found = Vec::new();
    for kind in Kind::ALL {
        let outcomes = in_lots(args.devices, &bar, |first, devices| judged(Plan { first, devices, seed, kind, cuts }))?;
        if !outcomes.is_empty() {
            let rows = rows(&Figures::of(kind, &outcomes));
            found.push(Scored { of: kind.words().to_owned(), cases: outcomes.len(), rows });
        }
    }
    bar.finish_and_clear();
    scoring.finish(&found)
}
