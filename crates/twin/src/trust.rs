//! Whether a twin may be asked for run times: mixtures of requests that it was not fitted to, beside what they took.

use crate::card::Card;
use crate::patterns::figures;
use crate::replay::Replay;
use std::collections::BTreeMap;

/// A mixture is predicted where the twin takes no more than this share longer or shorter.
pub const WITHIN: f64 = 0.2;

/// How near a twin comes to mixtures of requests that were held out.
#[derive(Clone, Debug, PartialEq)]
pub struct Trust {
    /// Of each mixture, the twin's time over the measured one.
    pub ratios: Vec<f64>,
}

impl Trust {
    /// Of a model; nothing where nothing was held out.
    pub(crate) fn of(card: &Card, held_out: &Replay) -> Option<Trust> {
        let cells = figures(card, held_out).filter(|cells| !cells.is_empty())?;
        let mut sums: BTreeMap<(usize, usize), (f64, f64)> = BTreeMap::new();
        for cell in cells.iter().filter(|cell| cell.is_mean()) {
            let sum = sums.entry((cell.run, cell.pattern())).or_default();
            sum.0 += cell.simulated * cell.operations as f64;
            sum.1 += cell.measured * cell.operations as f64;
        }
        Some(Trust { ratios: sums.values().map(|(simulated, measured)| simulated / measured).collect() })
    }

    /// Mixtures that the twin is near enough to.
    pub fn near(&self) -> usize {
        self.ratios.iter().filter(|ratio| (**ratio - 1.0).abs() <= WITHIN).count()
    }

    /// Whether run times may be predicted with the twin.
    pub fn holds(&self) -> bool {
        self.near() == self.ratios.len()
    }

    /// What a reader must know where they may not.
    pub(crate) fn caution(&self) -> Option<String> {
        let (near, all) = (self.near(), self.ratios.len());
        (!self.holds()).then(|| {
            let ratios: Vec<String> = self.ratios.iter().map(|ratio| format!("{ratio:.2}×")).collect();
            format!(
                "no run times are to be predicted with this twin: of {all} mixtures of requests that it was not fitted to, it is within \
                 {:.0} % of {near} (it takes {} as long as the device)",
                WITHIN * 100.0,
                ratios.join(", ")
            )
        })
    }
}
