//! A page that something else than its edges tells: set against what edges say of the page.

use flashscope_model::{Estimate, ExperimentName, Geometry, Reason};
use flashscope_units::{Bytes, Contrast};

/// What is less sure than this says nothing of the page.
pub(super) const GOOD_ENOUGH: f64 = 0.9;

/// An edge that costs this share of a second read of the chip has the chip read twice.
const READ_TWICE: f64 = 0.5;

/// A page that something else than its edges tells.
pub(super) struct OtherPage<'a> {
    pub(super) size: Bytes,
    /// Probability.
    pub(super) sure: f64,
    /// What a second read of the chip takes, in nanoseconds.
    pub(super) again: f64,
    /// The experiment that tells it.
    pub(super) method: ExperimentName,
    /// What is said where edges tell the same page.
    pub(super) agrees: String,
    /// The evidence, given what edges say.
    pub(super) evidence: &'a dyn Fn(Edges) -> String,
}

/// What edges say beside another page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edges {
    /// Nothing.
    None,
    /// A page of several such pages.
    Larger(Bytes),
    /// A page inside: reads across its edges take less than a second read of the chip.
    Inside(Bytes),
}

/// Corrects what edges say of the page. `step` is what a read across the page's edge takes more.
pub(super) fn settle(geometry: &mut Geometry, other: &OtherPage<'_>, step: Option<Contrast>) {
    let page = |edges: Edges| Estimate::known(other.size, other.sure, (other.evidence)(edges), &[other.method]);
    match geometry.page.value().zip(geometry.page.confidence()) {
        Some((seen, also)) if seen == other.size => {
            let both = 1.0 - (1.0 - also) * (1.0 - other.sure);
            geometry.page.change_confidence(|_| both);
            geometry.page.add_evidence(&other.agrees);
            geometry.page.add_method(other.method);
        }
        Some((seen, _)) if seen > other.size => {
            geometry.page = page(Edges::Larger(seen));
            nothing_inside(geometry, other.size);
        }
        Some(_) if step.is_some_and(|step| step.get() >= READ_TWICE * other.again) => {}
        Some((seen, also)) => {
            geometry.page_inner = geometry.page.clone().with_alternatives(Vec::new());
            geometry.page_inner.change_confidence(|_| also.min(other.sure));
            geometry.page = page(Edges::Inside(seen));
        }
        None => {
            geometry.page = page(Edges::None);
            nothing_inside(geometry, other.size);
        }
    }
}

/// Takes back a page inside that is no smaller than the page.
fn nothing_inside(geometry: &mut Geometry, page: Bytes) {
    if geometry.page_inner.value().is_none_or(|inner| inner >= page) {
        geometry.page_inner = Estimate::unknown(Reason::NothingShows, format!("no level shows inside the {page} page"));
    }
}
