//! The probabilities of one question: together no more than one.
//!
//! A figure's own probability may have been changed after its alternatives were weighed: by a cap, a caution, or another
//! finding that speaks for it. What is left beside it is theirs, in the proportions in which they were weighed.

use flashscope_model::finding::{Change, Figure};
use flashscope_model::{Estimate, Finding, Geometry};

/// Takes from the alternatives of every finding what is more than the figure leaves; the figure's own confidence stays.
pub(crate) fn fit(geometry: &mut Geometry) {
    geometry.change(&mut Fit);
}

struct Fit;

impl Change for Fit {
    fn change<F: Figure>(&mut self, _: Finding, estimate: &mut Estimate<F>) {
        let Some(support) = estimate.support_mut() else { return };
        let others: f64 = support.alternatives.iter().map(|(_, share)| share).sum();
        let left = (1.0 - support.confidence).max(0.0);
        if others > left {
            support.alternatives.iter_mut().for_each(|(_, share)| *share *= left / others);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_model::Reason;
    use flashscope_units::Bytes;

    #[test]
    fn alternatives_get_what_the_figure_leaves() {
        let mut geometry = Geometry::unknown(Reason::NotMeasured);
        let others = vec![(Bytes::kib(16), 0.03), (Bytes::kib(32), 0.01)];
        geometry.page = Estimate::known(Bytes::kib(64), 0.98, "e", &[]).with_alternatives(others.clone());
        geometry.allocation_unit = Estimate::known(Bytes::mib(4), 0.9, "e", &[]).with_alternatives(others.clone());
        fit(&mut geometry);
        assert_eq!(geometry.page.confidence(), Some(0.98));
        let shares: Vec<f64> = geometry.page.alternatives().iter().map(|(_, share)| *share).collect();
        assert!((shares[0] - 0.015).abs() < 1e-9 && (shares[1] - 0.005).abs() < 1e-9, "{shares:?}");
        assert_eq!(geometry.allocation_unit.alternatives(), others, "what fits stays");
    }
}
