//! Counts, row by row, beside what is wanted.

use crate::Met;
use flashscope_fleet::{Judged, Parameter, Scored, Verdict, calibration};
use flashscope_testkit::{Targets, exact_interval, may_be_chance};
use flashscope_worlds::Kind;
use std::io::{self, Write};

/// Share of the answers that are to be right.
const RIGHT: f64 = 0.95;
/// From this confidence on an answer is called sure.
const SURE: f64 = 0.9;
/// Share of the findings that may be sure and wrong.
const SURE_AND_WRONG: f64 = 0.005;
/// Of fewer answers nothing is asked: one wrong one of nineteen is below 95 % already.
const FEWEST: u32 = 20;

/// How a finding of many devices stands.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    judged: u32,
    told: u32,
    told_and_answered: u32,
    answered: u32,
    right: u32,
    sure_and_wrong: u32,
}

impl Row {
    fn add(&mut self, scored: &Scored) {
        let (verdict, judged) = (scored.judged.verdict, &scored.judged);
        let answered = matches!(verdict, Verdict::Exact | Verdict::OneStep | Verdict::Wrong);
        self.judged += 1;
        self.told += u32::from(scored.can_be_told);
        self.told_and_answered += u32::from(scored.can_be_told && answered);
        self.answered += u32::from(answered);
        self.right += u32::from(verdict == Verdict::Exact);
        self.sure_and_wrong += u32::from(is_sure_and_wrong(judged));
    }
}

fn is_sure_and_wrong(judged: &Judged) -> bool {
    judged.claim.is_some_and(|(stated, right)| stated >= SURE && !right)
}

/// All rows, of `inspect` and of who reads tables by rule of thumb, and what was claimed.
pub(crate) struct Judgements {
    rows: Vec<(Parameter, Row, Row)>,
    by_kind: Vec<(Kind, u32, Row)>,
    claims: Vec<(f64, bool)>,
    failures: Vec<String>,
}

fn findings<'a>(met: &'a Met, of: &'a [Scored]) -> impl Iterator<Item = &'a Scored> {
    of.iter().filter(|scored| match scored.judged.parameter {
        Parameter::Of(finding) => !met.not_judged.contains(&finding),
        Parameter::SlcKind => true,
    })
}

impl Judgements {
    pub(crate) fn of(all: &[Met]) -> Judgements {
        let row = |parameter: Parameter, pick: fn(&Met) -> &[Scored]| {
            let mut row = Row::default();
            let scored = all.iter().flat_map(|met| findings(met, pick(met)));
            scored.filter(|scored| scored.judged.parameter == parameter).for_each(|scored| row.add(scored));
            row
        };
        let by_kind = Kind::ALL.map(|kind| {
            let mut row = Row::default();
            let those = || all.iter().filter(|met| met.kinds.contains(&kind));
            those().flat_map(|met| findings(met, &met.run.findings)).for_each(|scored| row.add(scored));
            (kind, those().count() as u32, row)
        });
        Judgements {
            rows: Parameter::all()
                .into_iter()
                .map(|one| (one, row(one, |met| &met.run.findings), row(one, |met| &met.run.naive)))
                .collect(),
            by_kind: by_kind.into(),
            claims: all
                .iter()
                .flat_map(|met| findings(met, &met.run.findings))
                .filter_map(|scored| scored.judged.claim)
                .collect(),
            failures: all
                .iter()
                .filter_map(|met| met.run.failure.as_ref().map(|why| format!("device {}: {why}", met.run.index)))
                .collect(),
        }
    }

    /// In the quick part a share counts as missed only where chance explains it once in a thousand times.
    pub(crate) fn print(&self, targets: &mut Targets<impl Write>, quick: bool) -> io::Result<()> {
        targets.at_most("devices without a result", 0.0, self.failures.len() as f64, "")?;
        self.failures.iter().for_each(|why| println!("  {why}"));
        let mut all = Row::default();
        for (parameter, row, naive) in &self.rows {
            let name = parameter.words();
            println!("{name}: answered {}", share(row.told_and_answered, row.told));
            if naive.answered > 0 {
                println!("{name}: a reader by rule of thumb, right of answered {}", share(naive.right, naive.answered));
            }
            let what = format!("{name}: right of answered");
            match row.answered {
                0..FEWEST => {
                    targets.left_out(&what, &format!("few answers, {} of {} right", row.right, row.answered))?
                }
                answered => at_least(targets, &what, RIGHT, (row.right, answered), quick)?,
            }
            if row.sure_and_wrong > 0 {
                println!("{name}: sure and wrong {}", share(row.sure_and_wrong, row.judged));
            }
            all.judged += row.judged;
            all.sure_and_wrong += row.sure_and_wrong;
            all.answered += row.answered;
            all.right += row.right;
        }
        for (kind, devices, row) in &self.by_kind {
            let (right, sure) = (share(row.right, row.answered), share(row.sure_and_wrong, row.judged));
            println!("{} ({devices} devices): right of answered {right}; sure and wrong {sure}", kind.words());
        }
        at_least(targets, "all findings: right of answered", RIGHT, (all.right, all.answered), quick)?;
        let not = (all.judged - all.sure_and_wrong, all.judged);
        at_least(targets, "all findings: not sure and wrong", 1.0 - SURE_AND_WRONG, not, quick)?;
        let found = calibration(self.claims.iter().copied());
        for bin in found.bins.iter().filter(|bin| bin.claims > 0) {
            println!("claims at {:.3} to {:.3}: true {}", bin.low, bin.high, share(bin.right, bin.claims));
        }
        println!(
            "pooled calibration error: {:.4} of {} claims",
            found.expected_error.unwrap_or(f64::NAN),
            self.claims.len()
        );
        Ok(())
    }
}

fn share(count: u32, all: u32) -> String {
    if all == 0 {
        return "none".to_owned();
    }
    let [low, high] = exact_interval(count, all).map(|end| 100.0 * end);
    format!("{:.1} % ({count} of {all}; {low:.1} to {high:.1})", 100.0 * f64::from(count) / f64::from(all))
}

fn at_least(
    targets: &mut Targets<impl Write>,
    what: &str,
    least: f64,
    (good, all): (u32, u32),
    quick: bool,
) -> io::Result<()> {
    let enough = f64::from(good) >= least * f64::from(all);
    let met = enough || (quick && may_be_chance(all - good, all, 1.0 - least));
    targets.row(what, &format!("≥ {:.1} %", 100.0 * least), &share(good, all), met)
}

/// Every claim that is sure and wrong, and every device without a result.
pub(crate) fn print_failures(all: &[Met]) {
    for met in all {
        let wrong = findings(met, &met.run.findings).filter(|scored| is_sure_and_wrong(&scored.judged));
        for Scored { judged, can_be_told } in wrong {
            println!(
                "\n{}: {} | said {} ({:.3}) | true {} | could be told {can_be_told}\n  {}\n  because {}",
                met.run.index,
                judged.parameter.words(),
                judged.said,
                judged.claim.map_or(0.0, |(stated, _)| stated),
                judged.truth,
                met.run.title,
                judged.because
            );
        }
    }
}
