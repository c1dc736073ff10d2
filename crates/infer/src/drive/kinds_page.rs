//! The page of a device whose reads show kinds of pages in turn: a row of one kind, where one chip holds them all. Where
//! chips side by side hold them, edges between kinds look like those of a page and are none.

use super::other_page::{self, Edges, GOOD_ENOUGH, OtherPage};
use crate::alignment::Kinds;
use flashscope_model::{Estimate, ExperimentName, Geometry, Reason};
use flashscope_units::Contrast;

/// Corrects what edges say of the page by kinds of pages. `step` is what a read across the page's edge takes more.
pub(super) fn settle(geometry: &mut Geometry, kinds: &Kinds, step: Option<Contrast>) {
    if kinds.sure < GOOD_ENOUGH {
        return;
    }
    match kinds.in_one_chip() {
        Some(true) => row_is_page(geometry, kinds, step),
        Some(false) => no_page_of_rows(geometry, kinds),
        None => {}
    }
}

fn row_is_page(geometry: &mut Geometry, kinds: &Kinds, step: Option<Contrast>) {
    let turns = format!("{} kinds of pages take turns every {}", kinds.count, kinds.row);
    let evidence = |edges: Edges| {
        let words = match edges {
            Edges::Larger(seen) => format!(", and {seen} are several rows"),
            Edges::Inside(_) | Edges::None => String::new(),
        };
        format!(
            "{turns}{words}; the slowest takes {} more to read, and a read across an edge {} more than that",
            kinds.apart, kinds.across
        )
    };
    let page = OtherPage {
        size: kinds.row,
        sure: kinds.sure,
        again: kinds.across.get(),
        method: ExperimentName::Boundaries,
        agrees: turns.clone(),
        evidence: &evidence,
    };
    other_page::settle(geometry, &page, step);
}

fn no_page_of_rows(geometry: &mut Geometry, kinds: &Kinds) {
    let Some(seen) = geometry.page.value().filter(|page| *page >= kinds.row) else { return };
    let why = format!(
        "a read across an edge of {seen} takes no more than the slower of its halves: {} kinds of pages take turns there, in \
         chips side by side",
        kinds.count
    );
    let inside = std::mem::replace(
        &mut geometry.page_inner,
        Estimate::unknown(Reason::NothingShows, "no level shows inside the page"),
    );
    geometry.page = match inside.value().filter(|inner| *inner < kinds.row) {
        Some(_) => {
            let mut inside = inside.with_alternatives(Vec::new());
            inside.add_evidence(&why);
            inside
        }
        None => Estimate::unknown(Reason::NothingShows, why),
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_model::Observations;
    use flashscope_units::Bytes;

    /// Boundaries say a page, and one inside, of this many KiB with a step of this many microseconds; rows of 16 KiB take turns
    /// at three kinds. Page and page inside, in KiB.
    fn settled(page: Option<u64>, inner: Option<u64>, step_us: f64, one_chip: bool) -> (Option<u64>, Option<u64>) {
        let mut geometry = crate::infer(&Observations::default()).geometry;
        let shown = |kib: u64| Estimate::known(Bytes::kib(kib), 0.99, "a step", &[ExperimentName::Boundaries]);
        if let Some(page) = page {
            geometry.page = shown(page);
        }
        if let Some(inner) = inner {
            geometry.page_inner = shown(inner);
        }
        let across = Contrast(if one_chip { 60e3 } else { 0.0 });
        let kinds = Kinds { row: Bytes::kib(16), count: 3, apart: Contrast(50e3), across, sure: 0.98, edges: 200 };
        settle(&mut geometry, &kinds, Some(Contrast(step_us * 1e3)));
        let kib = |size: Option<Bytes>| size.map(|size| size.get() / 1024);
        (kib(geometry.page.value()), kib(geometry.page_inner.value()))
    }

    #[test]
    fn a_row_in_one_chip_is_the_page() {
        assert_eq!(settled(Some(16), Some(4), 80.0, true), (Some(16), Some(4)));
        assert_eq!(settled(Some(48), Some(16), 90.0, true), (Some(16), None));
        assert_eq!(settled(Some(48), Some(4), 90.0, true), (Some(16), Some(4)));
        assert_eq!(settled(Some(4), None, 5.0, true), (Some(16), Some(4)));
        assert_eq!(settled(None, None, 0.0, true), (Some(16), None));
        // A second read of the chip at each edge: two pages are of one kind.
        assert_eq!(settled(Some(8), None, 60.0, true), (Some(8), None));
    }

    #[test]
    fn rows_of_chips_side_by_side_are_none() {
        assert_eq!(settled(Some(48), None, 25.0, false), (None, None));
        assert_eq!(settled(Some(48), Some(4), 25.0, false), (Some(4), None));
        assert_eq!(settled(Some(48), Some(16), 25.0, false), (None, None));
        assert_eq!(settled(Some(8), None, 60.0, false), (Some(8), None));
    }
}
