//! How often a mark in a history is right, beside what it is to reach and what others would have marked
//! (docs/differences.md). `scripts/prove trend [--quick] [-- --histories N --seed S]`; exit code 1 where a target is missed.
#![allow(clippy::print_stdout, missing_docs)]

use flashscope_fleet::differences::{NOISY, QUIET, Share};
use flashscope_fleet::histories::{Around, Figures, Plan, histories};
use flashscope_testkit::{Targets, may_be_chance};
use std::error::Error;
use std::io::{self, Stdout};
use std::process::ExitCode;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let words: Vec<String> = std::env::args().collect();
    let after = |name: &str| words.iter().skip_while(|word| *word != name).nth(1);
    let quick = words.iter().any(|word| word == "--quick");
    let count = after("--histories").map_or(Ok(if quick { 900 } else { 18_000 }), |text| text.parse())?;
    let seed: u64 = after("--seed").map_or(Ok(14_101), |text| text.parse())?;
    let mut targets = Targets::begin(io::stdout())?;
    for (number, scatter) in (0..).zip([QUIET, NOISY]) {
        let outcomes = histories(Plan { histories: count, seed: seed + number, scatter });
        for around in Around::ALL {
            judge(&mut targets, &Figures::of(&outcomes, around), scatter, around, quick)?;
        }
    }
    Ok(if targets.end()? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn judge(
    targets: &mut Targets<Stdout>,
    figures: &Figures,
    scatter: f64,
    around: Around,
    quick: bool,
) -> io::Result<()> {
    let kind = match around {
        Around::Independent => "independent",
        Around::Correlated => "neighbours correlated by 0.3",
        Around::Stalls => "3 % of runs stalled",
    };
    let name = |what: &str| format!("scatter {scatter}, {kind}: {what}");
    let marks = figures.false_marks[0];
    let found = format!("{:.2} ({} in {})", marks.value(), marks.marks, marks.points);
    targets.row(&name("false marks per 1000 points"), "≤ 1", &found, marks.value() <= 1.0)?;
    // Correlation makes a change of as many standard deviations harder to see: shown, and no target.
    let late = name("changes of 3 standard deviations found within 10 points");
    match around {
        Around::Correlated => println!("{late} | | {} | beside", words(figures.late[0])),
        _ => at_least(targets, &late, 0.95, figures.late[0], quick)?,
    }
    for (what, share, least) in [("place", figures.holds[0], 0.95), ("size", figures.holds[1], 0.93)] {
        let what = name(&format!("95 % intervals of the {what} that hold the truth"));
        match around {
            Around::Correlated => println!("{what} | | {} | beside", words(share)),
            _ => at_least(targets, &what, least, share, quick)?,
        }
    }
    let f1 = |reader: usize| figures.several[reader].f1().unwrap_or(f64::NAN);
    targets.at_least(&name("F1 of several changes, above both naive readers"), f1(1).max(f1(2)), f1(0), "")?;
    for (reader, words_of) in [(1, "a band of 10 % about the last value"), (2, "Welch's t of ten points against ten")] {
        println!(
            "scatter {scatter}, {kind}: {words_of} | | false marks per 1000 points {:.1}, 3 standard deviations found {}, F1 {:.2} | beside",
            figures.false_marks[reader].value(),
            words(figures.late[reader]),
            f1(reader),
        );
    }
    Ok(())
}

fn at_least(targets: &mut Targets<Stdout>, target: &str, least: f64, share: Share, quick: bool) -> io::Result<()> {
    let Some(value) = share.value() else { return targets.left_out(target, "no such history") };
    let amiss = share.all - share.count;
    let met = if quick { may_be_chance(amiss, share.all, 1.0 - least) } else { value >= least };
    targets.row(target, &format!("≥ {:.0} %", 100.0 * least), &words(share), met)
}

fn words(share: Share) -> String {
    format!("{:.1} % ({} of {})", 100.0 * share.value().unwrap_or(f64::NAN), share.count, share.all)
}
