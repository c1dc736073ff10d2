//! `fleet qualify`: how often a qualification is right, on pairs of devices where it follows whether one may replace
//! the other.

use super::scored::{Kind, Scoring, in_lots};
use crate::args::FleetQualify as Args;
use crate::error::{Failure, Outcome};
use crate::progress::bar;
use flashscope_fleet::qualify::{Figures, Plan, SETTINGS, Setting, qualified, rows};
use serde_json::json;

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    let scored = &args.scoring.scored;
    let title = format!("Qualifications of {} pairs, seed {}", args.pairs, scored.seed);
    let plan = json!({ "pairs": args.pairs, "seed": scored.seed });
    let scoring = Scoring::of("fleet qualify", title, plan, scored)?;
    let settings: Vec<Setting> = match args.scoring.scatter {
        // Of the two plans the one whose limit such runs can tell.
        Some(scatter) => {
            let quiet = scatter <= SETTINGS[0].scatter;
            vec![Setting { scatter, ..SETTINGS[usize::from(!quiet)] }]
        }
        None => SETTINGS.to_vec(),
    };
    let bar = bar(u64::from(args.pairs) * settings.len() as u64, "pairs");
    let mut found = Vec::new();
    for (number, setting) in (0..).zip(settings) {
        let seed = scored.seed.wrapping_add(number);
        let pairs = in_lots(args.pairs, &bar, |first, pairs| qualified(Plan { first, pairs, seed, setting }))?;
        if !pairs.is_empty() {
            let rows = rows(&Figures::of(&pairs), setting.most_blocks);
            found.push(Kind { of: format!("pairs at {}", setting.words()), cases: pairs.len(), rows });
        }
    }
    bar.finish_and_clear();
    scoring.finish(&found)
}
