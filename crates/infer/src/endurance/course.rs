//! What the registers told over the passes, and what of it leads to a forecast.

use flashscope_model::Health;
use flashscope_model::endurance::{Basis, Pass};
use flashscope_units::Bytes;

/// A register reached a value between two passes.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Step {
    /// Capacity-writes at which it did: in the middle of the pass.
    at: f64,
    /// What it stands for from then on: a share of the rated life, or of the spare.
    share: f64,
    /// By how much that grew.
    grew: f64,
}

/// What the registers told over the passes.
#[derive(Clone, Debug, PartialEq)]
pub struct Course {
    /// Capacity-writes until now.
    written: f64,
    /// Steps of the share of the rated life that is used.
    life: Vec<Step>,
    /// Steps of the share of the spare that is gone, above zero.
    spare: Vec<Step>,
    /// Whether there are registers of wear at all.
    has_registers: bool,
}

/// What leads to a forecast.
#[derive(Clone, Debug, PartialEq)]
pub struct Clue {
    basis: Basis,
    regime: String,
    /// Capacity-writes at the quantile 0: where the scale begins …
    from: f64,
    /// … and what it counts in.
    unit: f64,
    evidence: String,
}

/// The spare of an eMMC is told in three steps: at 80 % used up, and at 90 %.
const WARNED: f64 = 0.8;
const URGENT: f64 = 0.9;
/// How steeply the used spare grows with what is written, as a power, where that cannot be seen: blocks that wear out do so at
/// about the same time.
const USUAL_POWER: f64 = 4.0;
/// Powers that are believed: blocks that fail by chance have 1.
const POWERS: (f64, f64) = (0.7, 12.0);

impl Course {
    /// Of the passes so far; those that were cut short have no registers.
    pub fn of(before: Option<&Health>, passes: &[Pass], claimed: Bytes) -> Course {
        let mut written = 0.0;
        let mut points = vec![(0.0, before.copied())];
        for pass in passes {
            written += pass.written.as_f64() / claimed.as_f64().max(1.0);
            points.push((written, pass.registers));
        }
        let known: Vec<(f64, Health)> = points.iter().filter_map(|(at, health)| Some((*at, (*health)?))).collect();
        let has_registers = known.iter().any(|(_, health)| life_used(health).is_some() || gone(health).is_some());
        Course { written, life: steps(&known, life_used), spare: steps(&known, gone), has_registers }
    }

    /// Capacity-writes until now.
    pub fn written(&self) -> f64 {
        self.written
    }

    /// What leads to a forecast: the spare where some of it is gone, else the life that is used.
    pub fn clue(&self) -> Option<Clue> {
        self.spare_clue().or_else(|| self.life_clue())
    }

    /// Why there is no clue.
    pub fn silence(&self) -> &'static str {
        if self.has_registers { "no register of wear has moved" } else { "the device has no register of wear" }
    }

    /// The share of the rated life that is used grows evenly: from the first step that was seen to the last.
    fn life_clue(&self) -> Option<Clue> {
        let (first, last) = (self.life.first()?, self.life.last()?);
        let rate = self.rate()?;
        let steps = if self.life.len() > 1 { "steps" } else { "step" };
        Some(Clue {
            basis: Basis::Life,
            regime: format!("life_{steps}"),
            from: last.at - last.share / rate,
            unit: 1.0 / rate,
            evidence: format!(
                "{:.0} % of the rated life is used, {} since the test began",
                last.share * 100.0,
                match self.life.len() {
                    1 => format!("one step, at {:.1} capacity-writes", first.at),
                    count => format!(
                        "{count} steps, one per {:.1} capacity-writes",
                        (last.at - first.at) / (count - 1) as f64
                    ),
                }
            ),
        })
    }

    /// Share of the rated life per capacity-write. One step tells little: half of it was used before the test began.
    fn rate(&self) -> Option<f64> {
        let (first, last) = (self.life.first()?, self.life.last()?);
        let rate = match last.at - first.at {
            between if between > 0.0 => (last.share - first.share) / between,
            _ => first.grew / 2.0 / first.at,
        };
        (rate > 0.0 && rate.is_finite()).then_some(rate)
    }

    /// The share of the spare that is gone grows with a power of what was written in all of the device's life.
    fn spare_clue(&self) -> Option<Clue> {
        let (first, last) = (self.spare.first()?, self.spare.last()?);
        let earlier = match (self.life.last(), self.rate()) {
            (Some(step), Some(rate)) => (step.share / rate - step.at).max(0.0),
            _ => 0.0,
        };
        let half = self.spare.iter().find(|step| step.share >= last.share / 2.0).unwrap_or(last);
        let growth = ((last.share / half.share).ln(), ((last.at + earlier) / (half.at + earlier)).ln());
        let power = if growth.1 > 0.0 { (growth.0 / growth.1).clamp(POWERS.0, POWERS.1) } else { USUAL_POWER };
        let end = (last.at + earlier) * (1.0 / last.share).powf(1.0 / power);
        Some(Clue {
            basis: Basis::Spare,
            regime: format!("spare_{}", bin(last.share)),
            from: -earlier,
            unit: end,
            evidence: format!(
                "{:.0} % of the spare is gone, the first of it at {:.1} capacity-writes",
                last.share * 100.0,
                first.at
            ),
        })
    }
}

/// How much of the spare is gone, in steps between which forecasts are of a kind.
fn bin(share: f64) -> &'static str {
    match share {
        share if share < 0.1 => "below_10",
        share if share < 0.3 => "below_30",
        share if share < 0.6 => "below_60",
        _ => "above_60",
    }
}

impl Clue {
    /// What the forecast rests on.
    pub fn basis(&self) -> Basis {
        self.basis
    }

    /// Devices with such a clue are counted together.
    pub fn regime(&self) -> &str {
        &self.regime
    }

    /// Capacity-writes since the test began at this many units of the scale.
    pub fn at(&self, units: f64) -> f64 {
        self.from + units * self.unit
    }

    /// Units of the scale at which the first error came.
    pub fn units(&self, at: f64) -> f64 {
        (at - self.from) / self.unit
    }

    /// In a sentence.
    pub fn evidence(&self) -> String {
        self.evidence.clone()
    }
}

/// Whenever a share grew from one pass to the next.
fn steps(points: &[(f64, Health)], of: fn(&Health) -> Option<f64>) -> Vec<Step> {
    let shares: Vec<(f64, f64)> = points.iter().filter_map(|(at, health)| Some((*at, of(health)?))).collect();
    let grew = |pair: &[(f64, f64)]| match pair {
        [(from, before), (to, after)] if after > before => {
            Some(Step { at: (from + to) / 2.0, share: *after, grew: after - before })
        }
        _ => None,
    };
    shares.windows(2).filter_map(grew).collect()
}

/// Share of the rated life that is used, as far as the registers have it; above 1 past it.
pub fn life_used(health: &Health) -> Option<f64> {
    let tenths = health.life_time_a.into_iter().chain(health.life_time_b).max();
    let tenths = tenths.map(|tenth| f64::from(tenth.saturating_sub(1)) / 10.0);
    health.used_percent.map(|percent| f64::from(percent) / 100.0).or(tenths)
}

/// Share of the spare that is gone.
fn gone(health: &Health) -> Option<f64> {
    let urgency = health.pre_end_of_life.map(|urgency| match urgency {
        0 | 1 => 0.0,
        2 => WARNED,
        _ => URGENT,
    });
    health.spare_percent.map(|percent| 1.0 - f64::from(percent.min(100)) / 100.0).or(urgency)
}
