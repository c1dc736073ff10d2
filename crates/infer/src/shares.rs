//! The probabilities of one question: together no more than one.
//!
//! A figure's own probability may have been changed after its alternatives were weighed: by a caution, or by what such answers
//! were found to be worth. What is left beside it is theirs, in the proportions in which they were weighed; the sizes that a
//! bound leaves open share what the bound has.

use flashscope_model::finding::{Change, Figure};
use flashscope_model::{Estimate, Finding, Geometry};
use flashscope_units::Bytes;

/// Takes from the alternatives of every finding what is more than the figure leaves; the figure's own confidence stays.
pub(crate) fn fit(geometry: &mut Geometry) {
    geometry.change(&mut Fit);
    name_odds(&mut geometry.allocation_unit);
    name_odds(&mut geometry.page);
}

struct Fit;

impl Change for Fit {
    fn change<F: Figure>(&mut self, finding: Finding, estimate: &mut Estimate<F>) {
        let is_bound = matches!(finding, Finding::AllocationUnit | Finding::Page) && estimate.bound().is_some();
        let Some(support) = estimate.support_mut() else { return };
        let others: f64 = support.alternatives.iter().map(|(_, share)| share).sum();
        let left = if is_bound { support.confidence } else { (1.0 - support.confidence).max(0.0) };
        if others > left {
            support.alternatives.iter_mut().for_each(|(_, share)| *share *= left / others);
        }
    }
}

/// A size that is less likely is not worth naming.
const WORTH_NAMING: f64 = 0.02;

/// Says beside a bound how likely each of the sizes is that it leaves open, where there are several.
fn name_odds(found: &mut Estimate<Bytes>) {
    let likely = |(_, share): &&(Bytes, f64)| *share >= WORTH_NAMING;
    let open: Vec<String> =
        found.alternatives().iter().filter(likely).map(|(size, share)| in_words(*size, *share)).collect();
    if found.bound().is_some() && open.len() > 1 {
        found.add_evidence(&open.join(", "));
    }
}

fn in_words(size: Bytes, share: f64) -> String {
    format!("{size} {:.0} %", 100.0 * share)
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

    #[test]
    fn sizes_that_a_bound_leaves_open_share_what_it_has_and_are_named() {
        let mut geometry = Geometry::unknown(Reason::NotMeasured);
        let open = vec![(Bytes::mib(4), 0.62), (Bytes::mib(12), 0.36), (Bytes::mib(20), 0.01)];
        geometry.allocation_unit = Estimate::at_least(Bytes::mib(4), 0.9, "a step", &[]).with_alternatives(open);
        fit(&mut geometry);
        let shares: f64 = geometry.allocation_unit.alternatives().iter().map(|(_, share)| share).sum();
        assert!((shares - 0.9).abs() < 1e-9, "{shares}");
        assert_eq!(geometry.allocation_unit.evidence(), "a step; 4 MiB 56 %, 12 MiB 33 %");
    }
}
