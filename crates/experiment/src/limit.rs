//! One figure against a limit: is it met, is it missed, and how sure is that?
//!
//! A limit stands by itself ("at least 20 MB/s") or is a multiple of the baseline ("at least 0.95 × the baseline"). It has two
//! one-sided questions, and the answer to neither is evidence for the other: too few runs leave both open.

use crate::control::control;
use crate::levels::{Logs, PARTS_OF_A_MODEL, Setting};
use flashscope_model::comparison::{Better, Centre, Control, Doubt, Level, Ratio, Readings};
use flashscope_stats::Interval;
use flashscope_stats::sequential::NormalSequence;
use flashscope_stats::test::{Alternative, WelchT, one_sample_t, welch_t};
use std::collections::BTreeMap;

/// So many repetitions that do not scatter at all are taken at their word, where they lie further from the limit than figures
/// are rounded.
const SILENT: usize = 4;
/// Further than any figure of a record is rounded, as a logarithm: the buckets of the histograms that percentiles come from
/// are narrower than 1 %.
const ROUNDED: f64 = 0.01;
/// No number of repetitions above this is worth naming as what would settle a question.
const MOST_MORE: u32 = 1000;

/// What a figure must come to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    /// `Higher`: at least; `Lower`: at most.
    pub wanted: Better,
    /// How much.
    pub of: Of,
}

/// What a limit is a multiple of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Of {
    /// Nothing: a value above zero, in the unit of the figure.
    Unit(f64),
    /// The baseline (side 0): a ratio above zero.
    Baseline(f64),
}

/// What the runs say of one figure and its limit.
#[derive(Clone, Debug, PartialEq)]
pub struct Held {
    /// p value of "it is not met": small where it is met.
    pub p_met: f64,
    /// p value of "it is met": small where it is not.
    pub p_missed: f64,
    /// Other side over baseline, or over the limit where it stands by itself, with a two-sided interval.
    pub ratio: Ratio,
    /// What was repeated, and so what is generalised over.
    pub level: Level,
    /// Number of repetitions at this level, of the side that has fewer.
    pub repetitions: u32,
    /// How many more of them would probably settle it; `None` where the scatter gives no number worth naming.
    pub more: Option<u32>,
}

/// Where both sides lie by themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Centres {
    /// Side 0; `None` where it has no such figure.
    pub baseline: Option<Centre>,
    /// The side in question.
    pub other: Option<Centre>,
}

/// Holds one figure of `side` against a limit. The p values of blocks hold at any moment at which one may have stopped, and never
/// rise as blocks come in: what is decided stays so. Those of parts, and of sides that took no turns against each other, hold
/// for a number of runs that was fixed before.
///
/// # Errors
/// Where no number of such runs can tell, or there are too few.
pub fn hold(readings: &Readings, metric: usize, side: usize, limit: Limit, confidence: f64) -> Result<Held, Doubt> {
    let other = Logs::of(readings, side, metric)?;
    let (tested, level, offset) = match limit.of {
        Of::Unit(value) => {
            let (level, values) = alone(&other);
            (Tested::of(&values, level, value.ln())?, level, value.ln())
        }
        Of::Baseline(ratio) => {
            let baseline = Logs::of(readings, 0, metric)?;
            match Setting::of(&baseline, &other) {
                Setting::Paired(_) => {
                    let contrasts = paired(readings, metric, side);
                    (Tested::of(&contrasts, Level::Block, ratio.ln())?, Level::Block, 0.0)
                }
                // Sides that take turns are looked at after every block, which the test for sides apart does not pay for: the
                // first block alone, read as runs of one session, would decide one in a hundred by chance.
                Setting::Apart(Level::Run | Level::Session, ..) if baseline.blocks().min(other.blocks()) > 0 => {
                    return Err(Doubt::TooFew);
                }
                Setting::Apart(level, ours, theirs) => (Tested::apart(&ours, &theirs, ratio.ln())?, level, 0.0),
            }
        }
    };
    Ok(tested.held(level, limit.wanted, offset, confidence))
}

/// Where the sides lie, at the level at which they are repeated.
pub fn centres(readings: &Readings, metric: usize, side: usize, confidence: f64) -> Centres {
    let of = |side| {
        let logs = Logs::of(readings, side, metric).ok()?;
        let blocks = u32::try_from(logs.blocks()).unwrap_or(u32::MAX);
        Some(logs.centre(alone(&logs).0, blocks, confidence))
    };
    Centres { baseline: of(0), other: of(side) }
}

/// The baseline against itself within its blocks, over all figures together; `None` without blocks that hold it twice.
///
/// Which of its two runs counts as the first changes every second block, so that a steady drift cancels out over four.
pub fn itself(readings: &Readings) -> Option<Control> {
    let sequences: Vec<NormalSequence> = (0..readings.metrics.len())
        .map(|metric| {
            let mut sequence = NormalSequence::default();
            for (block, runs) in by_block(readings, 0, metric) {
                if let [first, second] = runs[..] {
                    let sign = if (block / 2) % 2 == 0 { 1.0 } else { -1.0 };
                    // What has no logarithm is refused, and changes nothing.
                    let _ = sequence.push(sign * (second - first));
                }
            }
            sequence
        })
        .collect();
    control(sequences.iter())
}

/// What is repeated of one side by itself. Two sessions give no scatter worth the name, so that it takes three; blocks and runs
/// are then those of these sessions.
fn alone(logs: &Logs<'_>) -> (Level, Vec<f64>) {
    let level = match () {
        () if logs.part_count() >= PARTS_OF_A_MODEL => Level::Part,
        () if logs.session_count() >= 3 => Level::Session,
        () if logs.blocks() >= 2 => Level::Block,
        () => Level::Run,
    };
    (level, logs.repetitions(level))
}

/// The logarithms of one side's runs, by block, in their order.
fn by_block(readings: &Readings, side: usize, metric: usize) -> BTreeMap<u32, Vec<f64>> {
    let mut blocks: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for row in readings.rows.iter().filter(|row| row.side == side && row.metric == metric) {
        if let Some(block) = row.block {
            blocks.entry(block).or_default().push(row.value.ln());
        }
    }
    blocks
}

/// One contrast per block in which both sides have as many runs: one that lost a run would be set against others at other places.
fn paired(readings: &Readings, metric: usize, side: usize) -> Vec<f64> {
    let mean = |runs: &[f64]| runs.iter().sum::<f64>() / runs.len() as f64;
    let baseline = by_block(readings, 0, metric);
    let whole = by_block(readings, side, metric).into_iter().filter_map(|(block, runs)| {
        let ours = baseline.get(&block).filter(|ours| ours.len() == runs.len())?;
        Some(mean(&runs) - mean(ours))
    });
    whole.collect()
}

/// The distance from the limit, in logarithms, and how sure it is.
enum Tested {
    /// Repetitions that came in one by one.
    Sequence { sequence: NormalSequence, null: f64, above: f64, below: f64 },
    /// A number that was fixed before.
    Fixed { test: WelchT, null: f64, repetitions: u32 },
    /// They do not scatter, and are taken at their word.
    Silent { value: f64, null: f64, repetitions: u32 },
}

impl Tested {
    fn of(values: &[f64], level: Level, null: f64) -> Result<Tested, Doubt> {
        if values.len() < 2 {
            return Err(Doubt::TooFew);
        }
        let mut sequence = NormalSequence::default();
        let (mut above, mut below) = (1.0_f64, 1.0_f64);
        for value in values {
            sequence.push(*value).map_err(|_| Doubt::NotPositive)?;
            if sequence.deviation().is_some_and(|deviation| deviation > 0.0) {
                above = above.max(sequence.evidence_above(null));
                below = below.max(sequence.evidence_below(null));
            }
        }
        if sequence.deviation() == Some(0.0) {
            return Tested::silent(sequence.mean(), null, values.len());
        }
        if level == Level::Part {
            let test = one_sample_t(values, Alternative::TwoSided).map_err(|_| Doubt::NoScatter)?;
            return Ok(Tested::Fixed { test, null, repetitions: count(values.len()) });
        }
        Ok(Tested::Sequence { sequence, null, above, below })
    }

    fn apart(ours: &[f64], theirs: &[f64], null: f64) -> Result<Tested, Doubt> {
        let fewer = ours.len().min(theirs.len());
        if fewer < 2 {
            return Err(Doubt::TooFew);
        }
        match welch_t(theirs, ours, Alternative::TwoSided) {
            Ok(test) => Ok(Tested::Fixed { test, null, repetitions: count(fewer) }),
            Err(_) => Tested::silent(theirs[0] - ours[0], null, fewer),
        }
    }

    fn silent(value: f64, null: f64, repetitions: usize) -> Result<Tested, Doubt> {
        if !value.is_finite() {
            return Err(Doubt::NotPositive);
        }
        if repetitions < SILENT {
            return Err(Doubt::TooFew);
        }
        if (value - null).abs() < ROUNDED {
            return Err(Doubt::NoScatter);
        }
        Ok(Tested::Silent { value, null, repetitions: count(repetitions) })
    }

    /// `offset` is taken away from what is told as the ratio.
    fn held(self, level: Level, wanted: Better, offset: f64, confidence: f64) -> Held {
        let (p_above, p_below) = self.p_values();
        let (p_met, p_missed) = match wanted {
            Better::Higher => (p_above, p_below),
            Better::Lower => (p_below, p_above),
        };
        let (value, interval, repetitions) = match &self {
            Tested::Sequence { sequence, .. } => (sequence.mean(), sequence.interval(confidence), sequence.count()),
            Tested::Fixed { test, repetitions, .. } => (test.difference, test.interval(confidence).ok(), *repetitions),
            Tested::Silent { value, repetitions, .. } => (*value, None, *repetitions),
        };
        let ends = |interval: Interval| ((interval.low - offset).exp(), (interval.high - offset).exp());
        Held {
            p_met,
            p_missed,
            ratio: Ratio { value: (value - offset).exp(), interval: interval.map(ends) },
            level,
            repetitions,
            more: self.more(confidence),
        }
    }

    /// Of "it does not lie above the limit" and of "it does not lie below".
    fn p_values(&self) -> (f64, f64) {
        match self {
            Tested::Sequence { above, below, .. } => (above.recip().min(1.0), below.recip().min(1.0)),
            Tested::Fixed { test, null, .. } => {
                let half = 0.5 * test.p_value_against(*null);
                if test.difference > *null { (half, 1.0 - half) } else { (1.0 - half, half) }
            }
            Tested::Silent { value, null, .. } => {
                if value > null {
                    (0.0, 1.0)
                } else {
                    (1.0, 0.0)
                }
            }
        }
    }

    /// Until half the width of the interval is less than the distance from the limit that was seen. A one-sided question at
    /// this confidence has the interval of twice the chance.
    fn more(&self, confidence: f64) -> Option<u32> {
        let one_sided = (1.0 - 2.0 * (1.0 - confidence)).max(0.5);
        let (have, needed) = match self {
            Tested::Silent { .. } => return None,
            Tested::Fixed { test, null, repetitions } => {
                let half = 0.5 * test.interval(one_sided).ok()?.width();
                let needed = f64::from(*repetitions) * (half / (test.difference - null)).powi(2);
                (*repetitions, (needed < f64::from(u32::MAX)).then(|| needed.ceil() as u32)?)
            }
            Tested::Sequence { sequence, null, .. } => {
                let (have, goal) = (sequence.count(), (sequence.mean() - null).abs());
                let enough = |n: &u32| sequence.half_width_after(*n, one_sided).is_some_and(|half| half < goal);
                (have, (have + 1..=have + MOST_MORE).find(enough)?)
            }
        };
        Some(needed.saturating_sub(have).max(1)).filter(|more| *more <= MOST_MORE)
    }
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_model::comparison::{Metric, Reading};
    use flashscope_stats::Rng;

    /// `blocks` blocks of both sides twice, with the logarithm of their true ratio, the scatter of a run and that of a block.
    fn blocks(blocks: u32, ratio: f64, (run, block): (f64, f64), rng: &mut Rng) -> Readings {
        let mut readings = readings();
        for number in 0..blocks {
            let common = block * rng.normal();
            for side in [0, 1, 1, 0] {
                let log = common + run * rng.normal() + if side == 1 { ratio } else { 0.0 };
                readings.rows.push(reading(side, "", "s", Some(number), 100.0 * log.exp()));
            }
        }
        readings
    }

    fn readings() -> Readings {
        let metric = Metric { name: "read".to_owned(), unit: "B/s".to_owned(), better: Better::Higher };
        Readings {
            sides: ["reference", "candidate"].map(str::to_owned).to_vec(),
            metrics: vec![metric],
            ..Readings::default()
        }
    }

    fn reading(side: usize, part: &str, session: &str, block: Option<u32>, value: f64) -> Reading {
        Reading { side, metric: 0, part: part.to_owned(), session: session.to_owned(), block, value }
    }

    fn at_least(of: Of) -> Limit {
        Limit { wanted: Better::Higher, of }
    }

    #[test]
    fn one_block_decides_nothing() {
        let mut rng = Rng::new(7);
        let limit = at_least(Of::Baseline(0.95));
        assert_eq!(hold(&blocks(1, 0.3, (0.001, 0.0), &mut rng), 0, 1, limit, 0.99), Err(Doubt::TooFew));
        assert_eq!(hold(&blocks(2, 0.3, (0.001, 0.0), &mut rng), 0, 1, limit, 0.99).unwrap().level, Level::Block);
    }

    #[test]
    fn a_limit_is_met_missed_or_open() {
        let mut rng = Rng::new(1);
        let held =
            |ratio: f64, limit| hold(&blocks(20, ratio, (0.02, 0.3), &mut rng.clone()), 0, 1, limit, 0.99).unwrap();
        let limit = at_least(Of::Baseline(0.95));
        let good = held(0.0, limit);
        assert!(good.p_met < 1e-4 && good.p_missed > 0.5, "{good:?}");
        assert_eq!((good.level, good.repetitions), (Level::Block, 20));
        assert!((good.ratio.value - 1.0).abs() < 0.03, "{good:?}");
        let bad = held(-0.1, limit);
        assert!(bad.p_missed < 1e-4 && bad.p_met > 0.5, "{bad:?}");
        let at = held(0.95_f64.ln(), limit);
        assert!(at.p_met > 0.01 && at.p_missed > 0.01, "{at:?}");
        // A time is good where it is low.
        let time = held(-0.1, Limit { wanted: Better::Lower, of: Of::Baseline(1.0) });
        assert!(time.p_met < 1e-4, "{time:?}");
        rng.below(2);
    }

    #[test]
    fn what_the_block_does_to_both_is_no_scatter_of_their_ratio_but_of_each_by_itself() {
        let readings = blocks(20, 0.0, (0.02, 0.3), &mut Rng::new(2));
        let ratio = hold(&readings, 0, 1, at_least(Of::Baseline(0.95)), 0.99).unwrap();
        let value = hold(&readings, 0, 1, at_least(Of::Unit(95.0)), 0.99).unwrap();
        assert!(ratio.p_met < 0.01 && value.p_met > 0.01, "{ratio:?} {value:?}");
        let far = hold(&readings, 0, 1, at_least(Of::Unit(30.0)), 0.99).unwrap();
        assert!(far.p_met < 0.01 && far.ratio.value > 2.5, "{far:?}");
    }

    #[test]
    fn what_is_decided_stays_so() {
        let readings = blocks(40, 0.0, (0.05, 0.0), &mut Rng::new(3));
        let mut last = 1.0;
        for blocks in 2..40 {
            let rows = readings.rows[..4 * blocks].to_vec();
            let held = hold(&Readings { rows, ..readings.clone() }, 0, 1, at_least(Of::Baseline(0.9)), 0.99).unwrap();
            assert!(held.p_met <= last, "{blocks}");
            last = held.p_met;
        }
        assert!(last < 0.01);
    }

    #[test]
    fn false_answers_at_the_limit_are_as_rare_as_promised() {
        let (campaigns, mut met, mut missed, mut rng) = (600, 0, 0, Rng::new(4));
        for _ in 0..campaigns {
            let readings = blocks(30, 0.95_f64.ln(), (0.03, 0.15), &mut rng);
            let held = hold(&readings, 0, 1, at_least(Of::Baseline(0.95)), 0.95).unwrap();
            met += u32::from(held.p_met <= 0.05);
            missed += u32::from(held.p_missed <= 0.05);
        }
        assert!(met <= 36 && missed <= 36, "{met} and {missed} of {campaigns}");
        assert!(met + missed >= 10, "looked at all the time, it is sometimes wrong: {met} and {missed}");
    }

    #[test]
    fn several_parts_speak_for_their_models() {
        let mut apart = readings();
        let mut rng = Rng::new(5);
        for (side, centre) in [(0, 100.0), (1, 100.0)] {
            for part in ["a", "b", "c", "d"] {
                let own = 0.01 * rng.normal();
                for _ in 0..5 {
                    apart.rows.push(reading(side, part, "s", None, centre * (own + 0.001 * rng.normal()).exp()));
                }
            }
        }
        let held = hold(&apart, 0, 1, at_least(Of::Baseline(0.9)), 0.99).unwrap();
        assert_eq!((held.level, held.repetitions), (Level::Part, 4));
        assert!(held.p_met < 0.01, "{held:?}");
        apart.rows.retain(|row| row.part == "a");
        assert_eq!(hold(&apart, 0, 1, at_least(Of::Baseline(0.9)), 0.99).unwrap().level, Level::Run);
    }

    #[test]
    fn values_that_do_not_scatter_are_believed_once_there_are_enough() {
        let flat = |blocks: u32, value: f64| {
            let mut readings = readings();
            for block in 0..blocks {
                for (side, value) in [(0, 100.0), (1, value), (1, value), (0, 100.0)] {
                    readings.rows.push(reading(side, "", "s", Some(block), value));
                }
            }
            hold(&readings, 0, 1, at_least(Of::Baseline(0.95)), 0.99)
        };
        assert_eq!(flat(3, 100.0), Err(Doubt::TooFew));
        assert_eq!(flat(4, 100.0).unwrap().p_met, 0.0);
        assert_eq!(flat(4, 90.0).unwrap().p_missed, 0.0);
        assert_eq!(flat(4, 95.1), Err(Doubt::NoScatter));
        assert_eq!(flat(4, 0.0), Err(Doubt::NotPositive));
    }

    #[test]
    fn a_baseline_that_differs_from_itself_shows() {
        let mut readings = blocks(20, 0.0, (0.02, 0.1), &mut Rng::new(6));
        assert!(!itself(&readings).unwrap().fails());
        // A daemon slows down whatever runs first in the first two of four blocks, and last in the others.
        for block in 0..20 {
            let late = (block / 2) % 2 == 1;
            let mut own = readings.rows.iter_mut().filter(|row| row.block == Some(block) && row.side == 0);
            let run = if late { own.next_back() } else { own.next() };
            run.unwrap().value *= 0.9;
        }
        assert!(itself(&readings).unwrap().fails());
    }
}
