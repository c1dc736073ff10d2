//! `fleet trend`: how often a mark in a history is right, on simulated histories whose changes are known.

use super::scored::{Kind, Scoring, in_lots, scatters};
use crate::args::FleetTrend as Args;
use crate::error::{Failure, Outcome};
use crate::progress::bar;
use flashscope_fleet::histories::{Around, Figures, Plan, histories, rows};
use serde_json::json;

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    let title = format!("Marks in {} histories, seed {}", args.histories, args.scoring.scored.seed);
    let plan = json!({ "histories": args.histories, "seed": args.scoring.scored.seed });
    let scoring = Scoring::of("fleet trend", title, plan, &args.scoring.scored)?;
    let scatters = scatters(&args.scoring);
    let bar = bar(u64::from(args.histories) * scatters.len() as u64, "histories");
    let mut found = Vec::new();
    for (number, scatter) in (0..).zip(scatters) {
        let seed = args.scoring.scored.seed.wrapping_add(number);
        let lot = |first, histories_of| Ok(histories(Plan { first, histories: histories_of, seed, scatter }));
        let all = in_lots(args.histories, &bar, lot)?;
        for around in Around::ALL {
            let cases = all.iter().filter(|outcome| outcome.around == around).count();
            if cases > 0 {
                let of = format!("histories at a scatter of {scatter}, {}", around.word());
                found.push(Kind { of, cases, rows: rows(&Figures::of(&all, around), around) });
            }
        }
    }
    bar.finish_and_clear();
    scoring.finish(&found)
}
