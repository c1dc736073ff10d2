//! The page of a device whose chips read side by side: what stays in one of them.
//!
//! A read across the edge of such a page has two chips at work at once, which costs next to nothing, so that boundaries
//! show it badly. What they show instead are the planes inside, whose second one costs a little, and rows of chips behind
//! each other, as pages of other kinds take another time: sizes of several chips that look like a page and are none.

use super::parallel::Striped;
use flashscope_model::{Estimate, Geometry};
use flashscope_units::{Bytes, Contrast};

/// A chunk that is less sure than this says nothing of the page.
const GOOD_ENOUGH: f64 = 0.9;

/// No page that only chips tell is surer, as chips may as well take turns at parts of a page, or at several.
const SUREST: f64 = 0.98;

/// … and none that boundaries tell as well.
const SUREST_OF_BOTH: f64 = 0.999;

/// An edge that costs this share of another wait for a chip has the chip read twice.
const READ_TWICE: f64 = 0.5;

/// Corrects what boundaries say of the page by how addresses are dealt out to chips. `step` is what a read across the
/// page's edge takes more.
pub(super) fn settle(geometry: &mut Geometry, striped: &Striped, step: Option<Contrast>) {
    let sure = striped.chunk.confidence.unwrap_or(0.0).min(striped.stripe.confidence.unwrap_or(0.0));
    let (Some(chunk), Some(each)) = (striped.chunk.value.filter(|_| sure >= GOOD_ENOUGH), striped.each) else {
        return;
    };
    let of_chips = |words: String| {
        let evidence =
            format!("{chunk} stay in one of the chips that read side by side{words}: {}", striped.stripe.evidence);
        Estimate::known(chunk, sure.min(SUREST), evidence, &["parallel"])
    };
    let seen = geometry.page.value.zip(geometry.page.confidence);
    match seen {
        Some((page, also)) if page == chunk => {
            geometry.page.confidence = Some((1.0 - (1.0 - also) * (1.0 - sure)).min(SUREST_OF_BOTH).max(also));
            geometry.page.evidence.push_str("; as much stays in one of the chips that read side by side");
            geometry.page.method.push("parallel");
        }
        Some((page, _)) if page > chunk => {
            geometry.page = of_chips(format!(
                " (edges at multiples of {page} cost more, as those of several chips and kinds of pages)"
            ));
            nothing_inside(geometry, chunk);
        }
        Some(_) if step.is_some_and(|step| step.get() >= READ_TWICE * each.as_f64()) => {}
        Some((page, also)) => {
            geometry.page_inner = geometry.page.clone();
            geometry.page_inner.confidence = Some(also.min(sure));
            geometry.page_inner.alternatives.clear();
            geometry.page = of_chips(format!(", and edges at multiples of {page} cost less than a second read of it"));
        }
        None => {
            geometry.page = of_chips(String::new());
            nothing_inside(geometry, chunk);
        }
    }
}

/// Takes back a page inside that is no smaller than the page.
fn nothing_inside(geometry: &mut Geometry, page: Bytes) {
    if geometry.page_inner.value.is_none_or(|inner| inner >= page) {
        geometry.page_inner = Estimate::unknown(format!("no level shows inside the {page} page"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_model::Observations;
    use flashscope_units::Nanos;

    /// Boundaries say a page of so many KiB with a step of so many microseconds; chips take turns at 32 KiB, and another
    /// read of one takes 80 µs. Page and page inside, in KiB.
    fn settled(page: Option<u64>, step_us: f64, sure: f64) -> (Option<u64>, Option<u64>) {
        let mut geometry = crate::infer(&Observations::default()).geometry;
        if let Some(page) = page {
            geometry.page = Estimate::known(Bytes::kib(page), 0.99, "a step", &["boundaries"]);
        }
        let of_chips = |size: u64| Estimate::known(Bytes::kib(size), sure, "eight reads at once", &["parallel"]);
        let striped = Striped {
            stripe: of_chips(128),
            units: Estimate::known(4, sure, "eight reads at once", &["parallel"]),
            chunk: of_chips(32),
            each: Some(Nanos::micros(80)),
        };
        settle(&mut geometry, &striped, Some(Contrast(step_us * 1e3)));
        let kib = |size: Option<Bytes>| size.map(|size| size.get() / 1024);
        (kib(geometry.page.value), kib(geometry.page_inner.value))
    }

    #[test]
    fn what_stays_in_one_chip_is_the_page() {
        assert_eq!(settled(None, 0.0, 0.99), (Some(32), None));
        assert_eq!(settled(Some(32), 10.0, 0.99), (Some(32), None));
        // Three rows of four chips, of three kinds of pages.
        assert_eq!(settled(Some(384), 10.0, 0.99), (Some(32), None));
        // The page of a plane.
        assert_eq!(settled(Some(16), 10.0, 0.99), (Some(32), Some(16)));
        // Chips that take turns at two pages each: an edge inside has one chip read twice.
        assert_eq!(settled(Some(16), 75.0, 0.99), (Some(16), None));
        assert_eq!(settled(Some(16), 10.0, 0.7), (Some(16), None));
    }
}
