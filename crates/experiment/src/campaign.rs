//! Runs that are done while it decides.

use crate::control::control;
use crate::design::{Block, Design, Slot};
use crate::judge::{Evidence, Question, family_size, judge};
use crate::levels::Logs;
use crate::settings::Settings;
use flashscope_model::comparison::{
    Compared, Comparison, Doubt, Level, Method, Metric, OrderEffect, Ratio, Reading, Readings, Verdict,
};
use flashscope_stats::sequential::NormalSequence;
use flashscope_stats::test::{Alternative, one_sample_t};

/// A live comparison: says which block to run next, takes in what came of it, and knows at any moment what that comes to.
///
/// It may be stopped whenever the caller likes, as its intervals hold at all moments together; [`Campaign::decided`] says when
/// nothing is left to find out. What was measured in a block that was cut short is kept in the readings, and does not count.
#[derive(Clone, Debug)]
pub struct Campaign {
    settings: Settings,
    design: Design,
    readings: Readings,
    blocks: u32,
    /// Per metric: the contrasts of each other side with the baseline, of the baseline with itself, and of later with earlier.
    figures: Vec<Contrasts>,
}

/// Whether nothing is left to find out. A figure that does not scatter at all, as a count of what never happened, is none to wait
/// for once another one is told; alone it is, as it may scatter yet.
pub(crate) fn all_told(verdicts: impl Iterator<Item = Verdict>) -> bool {
    let (mut told, mut still) = (false, false);
    for verdict in verdicts {
        match verdict {
            Verdict::CannotTell(Doubt::Open { .. } | Doubt::TooFew) => return false,
            Verdict::CannotTell(Doubt::NoScatter) => still = true,
            _ => told = true,
        }
    }
    told || !still
}

#[derive(Clone, Debug)]
struct Contrasts {
    sides: Vec<NormalSequence>,
    itself: NormalSequence,
    later: Vec<f64>,
    /// Whether a value came that has no logarithm.
    not_positive: bool,
}

impl Campaign {
    /// Of `sides`, the baseline first, over `metrics`. The same seed draws the same orders.
    ///
    /// # Panics
    /// With fewer than two sides: there is nothing to compare.
    pub fn new(sides: Vec<String>, metrics: Vec<Metric>, settings: Settings, seed: u64) -> Campaign {
        assert!(sides.len() >= 2, "a campaign compares two sides or more");
        let contrasts = Contrasts {
            sides: vec![NormalSequence::default(); sides.len() - 1],
            itself: NormalSequence::default(),
            later: Vec::new(),
            not_positive: false,
        };
        Campaign {
            settings,
            design: Design::new(sides.len(), seed),
            figures: vec![contrasts; metrics.len()],
            readings: Readings { sides, metrics, rows: Vec::new(), summaries: Vec::new() },
            blocks: 0,
        }
    }

    /// The block to run next.
    pub fn next_block(&mut self) -> Block {
        self.design.next()
    }

    /// Takes in a whole block: for each of its slots the values of the metrics, `None` where a run has no such figure.
    pub fn push(&mut self, block: &[Slot], values: &[Vec<Option<f64>>]) {
        let number = self.blocks;
        self.blocks += 1;
        for (slot, values) in block.iter().zip(values) {
            for (metric, value) in values.iter().enumerate().take(self.readings.metrics.len()) {
                let Some(value) = *value else { continue };
                self.readings.rows.push(Reading {
                    side: slot.side,
                    metric,
                    part: String::new(),
                    session: String::new(),
                    block: Some(number),
                    value,
                });
            }
        }
        for (metric, figure) in self.figures.iter_mut().enumerate() {
            figure.push(block, &values.iter().map(|values| values.get(metric).copied().flatten()).collect::<Vec<_>>());
        }
    }

    /// Blocks taken in.
    pub fn blocks(&self) -> u32 {
        self.blocks
    }

    /// Every figure that was taken in.
    pub fn readings(&self) -> &Readings {
        &self.readings
    }

    /// Whether no further block would change a verdict from "cannot tell": all figures are decided, or withheld, or can
    /// never be told.
    pub fn decided(&self) -> bool {
        self.blocks > 0 && all_told(self.comparison().rows.iter().map(|row| row.verdict))
    }

    /// What the blocks so far come to.
    pub fn comparison(&self) -> Comparison {
        let others = self.readings.sides.len() - 1;
        let pairs: Vec<(usize, usize)> =
            (0..self.figures.len()).flat_map(|metric| (1..=others).map(move |side| (metric, side))).collect();
        let doubts: Vec<Option<Doubt>> =
            pairs.iter().map(|(metric, side)| self.figures[*metric].doubt(*side)).collect();
        let able: Vec<usize> =
            pairs.iter().zip(&doubts).filter(|(_, doubt)| doubt.is_none()).map(|((_, side), _)| *side).collect();
        let comparisons = family_size(&able, self.settings.family);
        let control = control(self.figures.iter().map(|figure| &figure.itself));
        let questions: Vec<Question> = pairs
            .iter()
            .zip(doubts)
            .map(|((metric, side), doubt)| Question {
                side: *side,
                better: self.readings.metrics[*metric].better,
                evidence: doubt.map_or_else(
                    || Ok(Evidence::of_sequence(self.figures[*metric].sides[side - 1], comparisons, &self.settings)),
                    Err,
                ),
            })
            .collect();
        let withheld = control.is_some_and(|control| control.fails());
        let judged = judge(&questions, &self.settings);
        let rows = pairs.iter().zip(questions.iter().zip(judged)).map(|((metric, side), (question, judged))| {
            let evidence = question.evidence.as_ref().ok();
            let blocks = self.figures[*metric].sides[side - 1].count();
            let centre = |side| {
                let logs = Logs::of(&self.readings, side, *metric).ok()?;
                Some(logs.centre(Level::Block, blocks, self.settings.confidence()))
            };
            Compared {
                metric: *metric,
                side: *side,
                baseline: centre(0),
                other: centre(*side),
                ratio: evidence.map(|evidence| Ratio {
                    value: evidence.log_ratio.exp(),
                    interval: evidence.interval.map(|interval| (interval.low.exp(), interval.high.exp())),
                }),
                verdict: if withheld && evidence.is_some() {
                    Verdict::CannotTell(Doubt::Withheld)
                } else {
                    judged.verdict
                },
                level: evidence.map(|_| Level::Block),
                p_difference: judged.p_difference,
                p_equivalence: judged.p_equivalence,
                least_ratio: evidence.and_then(Evidence::least_ratio),
            }
        });
        Comparison {
            confidence: self.settings.confidence(),
            margin: self.settings.margin(),
            method: Method::Sequence,
            family: self.settings.family,
            comparisons: u32::try_from(comparisons).unwrap_or(u32::MAX),
            rows: rows.collect(),
            control,
            order: self.order(),
        }
    }

    fn order(&self) -> Vec<OrderEffect> {
        let of = |(metric, figure): (usize, &Contrasts)| {
            let test = one_sample_t(&figure.later, Alternative::TwoSided).ok()?;
            Some(OrderEffect { metric, ratio: test.difference.exp(), p_value: test.p_value })
        };
        self.figures.iter().enumerate().filter_map(of).collect()
    }
}

impl Contrasts {
    /// Values of the slots of one block, in their order.
    fn push(&mut self, block: &[Slot], values: &[Option<f64>]) {
        let logs: Vec<Option<f64>> = values.iter().map(|value| value.map(f64::ln)).collect();
        if logs.iter().flatten().any(|log| !log.is_finite()) {
            self.not_positive = true;
            return;
        }
        let of = |wanted: usize| -> Vec<(usize, f64)> {
            let own = block.iter().zip(&logs).filter(|(slot, _)| slot.side == wanted);
            own.filter_map(|(slot, log)| Some((slot.replica, (*log)?))).collect()
        };
        // A side that lost a run of the block would be set against others at other places: it does not count.
        let whole =
            |side: usize, runs: &[(usize, f64)]| runs.len() == block.iter().filter(|slot| slot.side == side).count();
        let mean = |runs: &[(usize, f64)]| runs.iter().map(|(_, log)| log).sum::<f64>() / runs.len() as f64;
        let baseline = of(0);
        if baseline.is_empty() || !whole(0, &baseline) {
            return;
        }
        for (side, sequence) in (1..).zip(&mut self.sides) {
            let runs = of(side);
            if !runs.is_empty() && whole(side, &runs) {
                // All values are finite by now.
                let _ = sequence.push(mean(&runs) - mean(&baseline));
            }
        }
        if let [first, second] = baseline[..] {
            let (one, two) = if first.0 == 0 { (first.1, second.1) } else { (second.1, first.1) };
            let _ = self.itself.push(two - one);
            self.later.push(second.1 - first.1);
        }
    }

    fn doubt(&self, side: usize) -> Option<Doubt> {
        let sequence = &self.sides[side - 1];
        match sequence.deviation() {
            _ if self.not_positive => Some(Doubt::NotPositive),
            None => Some(Doubt::TooFew),
            Some(0.0) => Some(Doubt::NoScatter),
            Some(_) => None,
        }
    }
}
