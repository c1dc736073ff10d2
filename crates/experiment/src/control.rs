//! The baseline against itself.

use flashscope_model::comparison::Control;
use flashscope_stats::sequential::NormalSequence;

/// Chance of withholding the verdicts of a campaign whose host does nothing.
const LEVEL: f64 = 0.01;

/// Pools the figures' contrasts of the baseline with itself. The mean of likelihood ratios is one again, however the figures
/// depend on each other (Vovk and Wang, "E-values: calibration, combination and applications", Annals of Statistics 49, 2021),
/// so that one test covers them all, whenever it is looked at.
pub(crate) fn control<'a>(figures: impl Iterator<Item = &'a NormalSequence>) -> Option<Control> {
    // Without scatter there is nothing to hold a difference against.
    let figures: Vec<&NormalSequence> =
        figures.filter(|sequence| sequence.deviation().is_some_and(|deviation| deviation > 0.0)).collect();
    let blocks = figures.iter().map(|sequence| sequence.count()).max()?;
    let evidence: f64 = figures.iter().map(|sequence| sequence.evidence_against(0.0)).sum();
    let p_value = (figures.len() as f64 / evidence).min(1.0);
    Some(Control { p_value, blocks, level: LEVEL })
}
