//! `fleet compare`: how often a comparison is right, on pairs of devices whose true ratio is known.

use super::scored::{Kind, Scoring, in_lots, outputs, scatters};
use crate::args::FleetCompare as Args;
use crate::error::{Failure, Outcome};
use crate::progress::bar;
use flashscope_fleet::differences::{Figures, Plan, differences, rows};
use serde_json::json;

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    let scoring = Scoring {
        command: "fleet compare",
        title: format!("Comparisons of {} pairs, seed {}", args.pairs, args.scoring.scored.seed),
        plan: json!({ "pairs": args.pairs, "seed": args.scoring.scored.seed, "blocks": args.blocks }),
        json: args.scoring.scored.json,
        outputs: outputs(&args.scoring.scored)?,
    };
    let scatters = scatters(&args.scoring);
    let bar = bar(u64::from(args.pairs) * scatters.len() as u64, "pairs");
    let mut found = Vec::new();
    for (number, scatter) in (0..).zip(scatters) {
        let seed = args.scoring.scored.seed.wrapping_add(number);
        let pairs = in_lots(args.pairs, &bar, |first, pairs| {
            let plan = Plan { first, pairs, seed, scatter, most_blocks: args.blocks };
            differences(plan).map_err(|error| anyhow::Error::from(error).into())
        })?;
        if !pairs.is_empty() {
            let rows = rows(&Figures::of(&pairs), scatter, args.blocks);
            found.push(Kind { of: format!("pairs at a scatter of {scatter}"), cases: pairs.len(), rows });
        }
    }
    bar.finish_and_clear();
    scoring.finish(&found)
}
