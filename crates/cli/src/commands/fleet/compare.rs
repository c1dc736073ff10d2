//! `fleet compare`: how often a comparison is right, on pairs of devices whose true ratio is known.

use super::scored::{Kind, Scoring, in_lots, scatters};
use crate::args::FleetCompare as Args;
use crate::error::{Failure, Outcome};
use crate::progress::bar;
use flashscope_fleet::differences::{Figures, Plan, differences, rows};
use serde_json::json;

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    let title = format!("Comparisons of {} pairs, seed {}", args.pairs, args.scoring.scored.seed);
    let plan = json!({ "pairs": args.pairs, "seed": args.scoring.scored.seed, "blocks": args.blocks });
    let scoring = Scoring::of("fleet compare", title, plan, &args.scoring.scored)?;
    let scatters = scatters(&args.scoring);
    let bar = bar(u64::from(args.pairs) * scatters.len() as u64, "pairs");
    let mut found = Vec::new();
    for (number, scatter) in (0..).zip(scatters) {
        let seed = args.scoring.scored.seed.wrapping_add(number);
        let pairs = in_lots(args.pairs, &bar, |first, pairs| {
            let plan = Plan { first, pairs, seed, scatter, most_blocks: args.blocks };
            differences(plan)
        })?;
        if !pairs.is_empty() {
            let rows = rows(&Figures::of(&pairs), scatter, args.blocks);
            found.push(Kind { of: format!("pairs at a scatter of {scatter}"), cases: pairs.len(), rows });
        }
    }
    bar.finish_and_clear();
    scoring.finish(&found)
}
