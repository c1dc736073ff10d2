//! All cuts together: what the device does, how likely each answer is, and how often it happens.
//!
//! What one cut shows is ambiguous: that something flushed is gone may be a lost write, a flush that was answered too soon, or
//! an older mapping. What tells them apart is how often it happens and how far it goes back. Each [`Signal`] is a question with
//! a regime and a score; a table that was counted on simulated devices whose faults are known turns them into probabilities
//! (`flashscope_infer::calibrated`, docs/calibration.md).

use crate::run::{Ended, Report, Seen};
use flashscope_infer::calibrated::Table;
use flashscope_model::integrity::{Fault, FaultKind, Verdict};
use flashscope_stats::interval::wilson_interval;
use flashscope_units::{Bytes, Nanos};
use std::sync::OnceLock;

/// The question which loss it is.
pub const LOSS: &str = "loss";
/// Its answers.
pub const LOSSES: [FaultKind; 3] = [FaultKind::LostFlushed, FaultKind::LateLoss, FaultKind::Rollback];
/// Its answer where none of them is true: damage to what had been damaged and written anew looks like a loss.
pub const NO_LOSS: &str = "none";
/// The answers of all other questions: the device has such a fault, or what was seen comes from another.
pub const YES_NO: [&str; 2] = ["yes", "no"];

/// What comes later than this after a flush is no late loss (the surveys of power faults saw it within a second).
const LATE: Nanos = Nanos::secs(1);
/// A flush that had something to do takes longer than one that had not by this factor …
const SLOWER: f64 = 1.5;
/// … and this much: what clocks and buses scatter by.
const SCATTER: Nanos = Nanos::micros(20);
/// A loss is one of the tail where nothing newer survived in so large a share of the cuts that lost something.
const MOSTLY: f64 = 0.8;
/// Right after something was covered: sooner than caches drain by themselves.
const FRESH: Nanos = Nanos::millis(200);
/// Fewer cuts say nothing of what is lost after a while.
const ENOUGH: usize = 3;
/// An answer that is less likely is none.
const LEAST: f64 = 0.5;

/// One question about a device, as the table takes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Signal {
    /// [`LOSS`], or the word of a kind of fault.
    pub question: &'static str,
    /// What kind of evidence there is.
    pub regime: String,
    /// Share of the cuts that show it.
    pub score: f64,
    /// Places of the cuts in the report.
    pub cuts: Vec<usize>,
}

/// The table that goes with this version.
///
/// # Panics
/// Where the file in the repository is damaged, which a test looks at.
pub fn shipped() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| Table::parse(include_str!("table.csv")).expect("the table in the repository is well-formed"))
}

/// What there is to ask about what was seen.
pub fn signals(report: &Report) -> Vec<Signal> {
    let seen = &report.seen;
    let with = |which: &dyn Fn(&Seen) -> bool| -> Vec<usize> {
        (0..seen.len()).filter(|index| which(&seen[*index])).collect()
    };
    let shows = |kind: FaultKind| {
        with(&|seen| seen.judged.violations.iter().any(|one| one.kind == kind) || seen.whole == Some(kind))
    };
    let share = |cuts: &[usize]| cuts.len() as f64 / seen.len().max(1) as f64;
    let mut list = Vec::new();
    let mut ask = |question: &'static str, regime: String, score: f64, cuts: Vec<usize>| {
        if !cuts.is_empty() {
            list.push(Signal { question, regime, score, cuts });
        }
    };
    let losses = with(&|seen| seen.judged.loss.is_some());
    let loss = Losses::of(report, &losses);
    ask(LOSS, format!("{} {} {}", loss.tail(), loss.age(), loss.flush()), loss.fresh, losses.clone());
    if loss.is_quick == Some(true) {
        ask(FaultKind::LyingFlush.word(), loss.tail().to_owned(), loss.share, losses);
    }
    let overtaken = with(&|seen| seen.judged.loss.as_ref().is_some_and(|loss| loss.overtaken));
    ask(FaultKind::Reordered.word(), loss.tail().to_owned(), share(&overtaken), overtaken);
    let (corrupted, neighbour) = (shows(FaultKind::Corrupted), shows(FaultKind::Neighbour));
    // Either may look like the other, at fewer places: what counts is which of them is the rule.
    let regime = |other: &[usize]| if other.is_empty() { "alone" } else { "beside the other" };
    let part = |own: &[usize], other: &[usize]| own.len() as f64 / (own.len() + other.len()).max(1) as f64;
    let of = [regime(&neighbour), regime(&corrupted)].map(str::to_owned);
    let parts = [part(&corrupted, &neighbour), part(&neighbour, &corrupted)];
    let [of_corrupted, of_neighbour] = of;
    ask(FaultKind::Corrupted.word(), of_corrupted, parts[0], corrupted);
    ask(FaultKind::Neighbour.word(), of_neighbour, parts[1], neighbour);
    let whole = [FaultKind::Shrunk, FaultKind::ReadOnly, FaultKind::Dead, FaultKind::SlowRecovery];
    for kind in [FaultKind::Shorn, FaultKind::Flying].into_iter().chain(whole) {
        let mut cuts = shows(kind);
        if kind == FaultKind::Flying && cuts.is_empty() && !report.strays.is_empty() {
            // Found at the end only, so that it may have been any cut: the last.
            cuts.extend(seen.len().checked_sub(1));
        }
        ask(kind.word(), "seen".to_owned(), share(&cuts), cuts);
    }
    list
}

/// What the losses have in common.
struct Losses {
    /// Share of the cuts that lost something, of those that could have.
    rate: f64,
    /// The same of cuts right after something had been covered: what is lost at each of them was not safe yet.
    fresh: f64,
    /// Share of covered writes that were lost, over the same cuts.
    share: f64,
    is_tail: bool,
    oldest: Nanos,
    /// Cuts that came so long after the last acknowledgement that no late loss could show.
    late_cuts: usize,
    is_quick: Option<bool>,
}

impl Losses {
    fn of(report: &Report, losses: &[usize]) -> Losses {
        let exposed = report.seen.iter().filter(|seen| seen.since_covered.is_some()).count();
        let all = || losses.iter().filter_map(|index| report.seen[*index].judged.loss.as_ref());
        let tails = all().filter(|loss| loss.is_tail).count();
        let is_quick =
            report.flush_times.map(|(busy, idle)| busy.as_f64() <= idle.as_f64() * SLOWER + SCATTER.as_f64());
        let is_fresh = |seen: &Seen| seen.since_covered.is_some_and(|since| since <= FRESH);
        let fresh = report.seen.iter().filter(|seen| is_fresh(seen)).count();
        let fresh_losses = losses.iter().filter(|index| is_fresh(&report.seen[**index])).count();
        Losses {
            rate: losses.len() as f64 / exposed.max(1) as f64,
            fresh: fresh_losses as f64 / fresh.max(1) as f64,
            share: all().map(|loss| loss.share).sum::<f64>() / exposed.max(1) as f64,
            late_cuts: report.seen.iter().filter(|seen| seen.since_covered.is_some_and(|since| since > LATE)).count(),
            is_tail: tails as f64 >= MOSTLY * losses.len() as f64,
            oldest: all().map(|loss| loss.oldest).max().unwrap_or(Nanos::ZERO),
            is_quick,
        }
    }

    fn tail(&self) -> &'static str {
        if self.is_tail { "all since a moment" } else { "some" }
    }

    fn age(&self) -> &'static str {
        match self.oldest <= LATE {
            true if self.late_cuts >= ENOUGH => "young",
            true => "perhaps old",
            false => "old",
        }
    }

    fn flush(&self) -> &'static str {
        match self.is_quick {
            Some(true) => "quick flushes",
            Some(false) => "slow flushes",
            None => "no flushes",
        }
    }
}

/// What all cuts together come to, with probabilities from a table.
pub fn verdict(report: &Report, table: &Table) -> Verdict {
    let is_broken = |seen: &&Seen| seen.whole.is_some() || !seen.judged.violations.is_empty();
    let cuts = report.seen.len() as u32;
    let broken = report.seen.iter().filter(is_broken).count() as u32;
    let mut verdict = Verdict { cuts, broken, share: share(broken, cuts), ..Verdict::default() };
    let mut unlikely = Vec::new();
    for signal in signals(report) {
        let (kind, confidence) = answered(&signal, table);
        let list = match confidence {
            Some(confidence) if confidence < LEAST => &mut unlikely,
            _ if kind == FaultKind::LyingFlush => &mut verdict.suspicions,
            _ => &mut verdict.faults,
        };
        list.push(fault(kind, confidence, &signal, report));
    }
    // Something is wrong, so something is named.
    if verdict.faults.is_empty() {
        unlikely.retain(|fault| fault.kind != FaultKind::LyingFlush);
        unlikely.sort_by(|a, b| b.confidence.unwrap_or(0.0).total_cmp(&a.confidence.unwrap_or(0.0)));
        verdict.faults.extend(unlikely.into_iter().next());
    }
    verdict.faults.sort_by_key(|fault| std::cmp::Reverse(fault.cuts));
    verdict.ended = match &report.ended {
        Some(Ended::Device(why) | Ended::Harness(why)) => Some(why.clone()),
        Some(Ended::Stopped) | None => None,
    };
    verdict
}

/// The likeliest answer to a question, and how likely it is.
fn answered(signal: &Signal, table: &Table) -> (FaultKind, Option<f64>) {
    let shares = |answers: &[&'static str]| table.shares(signal.question, &signal.regime, signal.score, answers);
    if signal.question == LOSS {
        let [lost, late, rollback] = LOSSES.map(FaultKind::word);
        let known = shares(&[lost, late, rollback, NO_LOSS]);
        let best = known.and_then(|shares| shares.into_iter().find(|(word, _)| *word != NO_LOSS));
        let kind = |word: &str| LOSSES.into_iter().find(|kind| kind.word() == word);
        return best
            .and_then(|(word, share)| Some((kind(word)?, Some(share))))
            .unwrap_or((FaultKind::LostFlushed, None));
    }
    let kind = FaultKind::ALL.into_iter().find(|kind| kind.word() == signal.question).unwrap_or(FaultKind::Corrupted);
    let yes = shares(&YES_NO).and_then(|shares| shares.into_iter().find(|(word, _)| *word == "yes"));
    (kind, yes.map(|(_, share)| share))
}

/// The interval of a share at 95 %; without one case its upper end is the rule of three.
fn share(count: u32, all: u32) -> (f64, f64) {
    match (count, all) {
        (_, 0) => (0.0, 1.0),
        (0, all) => (0.0, (3.0 / f64::from(all)).min(1.0)),
        _ => wilson_interval(u64::from(count), u64::from(all), 0.95)
            .map_or((0.0, 1.0), |interval| (interval.low, interval.high)),
    }
}

fn fault(kind: FaultKind, confidence: Option<f64>, signal: &Signal, report: &Report) -> Fault {
    let first = signal.cuts.first().copied().unwrap_or(0);
    let seen = &report.seen[first];
    let of_kind = seen.judged.violations.iter().find(|one| one.kind == kind);
    let of_loss = seen.judged.violations.iter().find(|one| one.kind == FaultKind::LostFlushed);
    let place = match kind {
        FaultKind::Shrunk | FaultKind::ReadOnly | FaultKind::Dead | FaultKind::SlowRecovery => None,
        FaultKind::Flying => of_kind.map(|one| one.at).or(report.strays.first().map(|(at, _)| *at)),
        _ => of_kind.or(of_loss).map(|one| one.at),
    };
    Fault {
        kind,
        confidence,
        cuts: signal.cuts.len() as u32,
        first: report.cuts[first].number,
        place,
        evidence: evidence(kind, signal, report),
    }
}

/// The evidence in a sentence.
fn evidence(kind: FaultKind, signal: &Signal, report: &Report) -> String {
    let losses = Losses::of(report, &signal.cuts);
    let of_kind = || {
        let all = signal.cuts.iter().flat_map(|index| &report.seen[*index].judged.violations);
        all.filter(|one| one.kind == kind).map(|one| one.length).sum::<Bytes>()
    };
    let times = report
        .flush_times
        .map_or(String::new(), |(busy, idle)| format!(": {busy} with something to cover, {idle} with nothing to do"));
    let percent = losses.rate * 100.0;
    match kind {
        FaultKind::LostFlushed => format!("covered data gone up to {} after they were covered", losses.oldest),
        FaultKind::LateLoss => {
            format!("covered data gone, none of which had been covered for more than {}", losses.oldest)
        }
        FaultKind::Rollback => format!("all that was written in the last {} is gone, flushes included", losses.oldest),
        FaultKind::Reordered => "a write survived that was issued after the flush that covered a lost one".to_owned(),
        FaultKind::LyingFlush => {
            format!("{percent:.0} % of cuts lose what a flush had covered, and flushes are quick{times}")
        }
        FaultKind::Shorn => format!("{} hold parts of two writes each", of_kind()),
        FaultKind::Corrupted => format!("{} hold what nobody wrote where a write was under way", of_kind()),
        FaultKind::Neighbour => format!("{} hold what nobody wrote where no write was under way", of_kind()),
        FaultKind::Flying => {
            format!("{} stretches lie where they were not addressed to", report.strays.len().max(signal.cuts.len()))
        }
        FaultKind::Shrunk | FaultKind::ReadOnly | FaultKind::Dead | FaultKind::SlowRecovery => {
            let of = |index: &usize| report.cuts[*index].violations.iter().find(|one| one.kind == kind);
            signal.cuts.iter().find_map(of).map_or(kind.label().to_owned(), |one| one.what.clone())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_table_can_be_read() {
        assert_eq!(Table::parse(&shipped().to_text("")), Ok(shipped().clone()));
    }

    #[test]
    fn no_fault_in_n_cuts_is_at_most_three_in_n() {
        assert_eq!(share(0, 300), (0.0, 0.01));
        assert_eq!(share(0, 2), (0.0, 1.0));
        assert_eq!(share(0, 0), (0.0, 1.0));
        let (low, high) = share(5, 100);
        assert!(low > 0.0 && low < 0.05 && high > 0.05 && high < 0.15);
    }
}
