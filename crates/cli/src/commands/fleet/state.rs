//! `fleet state`: how often a diagnosis of the state is right, on devices whose state is known.

use super::scored::{Kind, Scoring, in_lots};
use crate::args::FleetState as Args;
use crate::error::{Failure, Outcome};
use crate::progress::bar;
use flashscope_fleet::states::{Figures, Plan, Question, diagnosed, rows};
use serde_json::json;

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    let seed = args.scored.seed;
    let title = format!("Diagnoses of {} devices, seed {seed}", args.devices);
    let plan = json!({ "devices": args.devices, "seed": seed });
    let scoring = Scoring::of("fleet state", title, plan, &args.scored)?;
    let bar = bar(u64::from(args.devices) * 2, "diagnoses");
    let mut found = Vec::new();
    for (writes, of) in [(true, "diagnoses with up to 64 MiB of writes"), (false, "diagnoses by reading only")] {
        let outcomes = in_lots(args.devices, &bar, |first, devices| diagnosed(Plan { first, devices, seed, writes }))?;
        if !outcomes.is_empty() {
            let rows = Question::ALL.iter().flat_map(|question| rows(&Figures::of(*question, &outcomes)));
            found.push(Kind { of: of.to_owned(), cases: outcomes.len(), rows: rows.collect() });
        }
    }
    bar.finish_and_clear();
    scoring.finish(&found)
}
