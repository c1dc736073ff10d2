//! The page of a device whose chips read side by side: what stays in one of them.
//!
//! A read across the edge of such a page has two chips at work at once, which costs next to nothing, so that boundaries
//! show it badly. What they show instead are the planes inside, whose second one costs a little, and rows of chips behind
//! each other, as pages of other kinds take another time: sizes of several chips that look like a page and are none.

use super::other_page::{self, Edges, GOOD_ENOUGH, OtherPage};
use super::parallel::Striped;
use flashscope_model::ExperimentName;
use flashscope_model::Geometry;
use flashscope_units::Contrast;

/// Corrects what boundaries say of the page by how addresses are dealt out to chips. `step` is what a read across the
/// page's edge takes more.
pub(super) fn settle(geometry: &mut Geometry, striped: &Striped, step: Option<Contrast>) {
    let sure = striped.chunk.confidence().unwrap_or(0.0).min(striped.stripe.confidence().unwrap_or(0.0));
    let (Some(chunk), Some(each)) = (striped.chunk.value().filter(|_| sure >= GOOD_ENOUGH), striped.each) else {
        return;
    };
    let evidence = |edges: Edges| {
        let words = match edges {
            Edges::None => String::new(),
            Edges::Larger(seen) => {
                format!(" (edges at multiples of {seen} cost more, as those of several chips and kinds of pages)")
            }
            Edges::Inside(seen) => format!(", and edges at multiples of {seen} cost less than a second read of it"),
        };
        format!("{chunk} stay in one of the chips that read side by side{words}: {}", striped.stripe.evidence())
    };
    let page = OtherPage {
        size: chunk,
        sure,
        again: each.as_f64(),
        method: ExperimentName::Parallel,
        agrees: "as much stays in one of the chips that read side by side".to_owned(),
        evidence: &evidence,
    };
    other_page::settle(geometry, &page, step);
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_model::{Estimate, Observations};
    use flashscope_units::{Bytes, Nanos};

    /// Boundaries say a page of this many KiB with a step of this many microseconds; chips take turns at 32 KiB, and another
    /// read of one takes 80 µs. Page and page inside, in KiB.
    fn settled(page: Option<u64>, step_us: f64, sure: f64) -> (Option<u64>, Option<u64>) {
        let mut geometry = crate::infer(&Observations::default()).geometry;
        if let Some(page) = page {
            geometry.page = Estimate::known(Bytes::kib(page), 0.99, "a step", &[ExperimentName::Boundaries]);
        }
        let of_chips =
            |size: u64| Estimate::known(Bytes::kib(size), sure, "eight reads at once", &[ExperimentName::Parallel]);
        let striped = Striped {
            stripe: of_chips(128),
            units: Estimate::known(4, sure, "eight reads at once", &[ExperimentName::Parallel]),
            chunk: of_chips(32),
            each: Some(Nanos::micros(80)),
        };
        settle(&mut geometry, &striped, Some(Contrast(step_us * 1e3)));
        let kib = |size: Option<Bytes>| size.map(|size| size.get() / 1024);
        (kib(geometry.page.value()), kib(geometry.page_inner.value()))
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
