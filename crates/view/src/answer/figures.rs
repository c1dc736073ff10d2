//! The figures of findings in words.

use flashscope_model::discard::{DiscardFound, DiscardReads};
use flashscope_model::finding::{AreaKind, AreaPart, FastArea, MappingKind, Penalty, SlcCache, SlcKind};
use flashscope_model::state::DataShare;
use flashscope_units::Bytes;

/// `zeros from 64 KiB, 412 µs`.
pub(super) fn discard(found: &DiscardFound) -> String {
    let from = found.granularity.map_or(String::new(), |size| format!(" from {size}"));
    let time = found.smallest.map_or(String::new(), |time| format!(", {time}"));
    match found.reads {
        DiscardReads::Absent => "none".to_owned(),
        DiscardReads::Kept => format!("changes nothing{time}"),
        DiscardReads::Other => format!("mixed{from}{time}"),
        reads => format!("{}{from}{time}", reads.word()),
    }
}

/// `62 % of it (57 … 67 %)`.
pub(super) fn data_share(found: &DataShare) -> String {
    let whole = |share: f64| format!("{:.0}", share * 100.0);
    match (found.low, found.share, found.high) {
        (_, 0.0, high) => format!("none of it (≤ {} %)", whole(high)),
        (low, 1.0, _) => format!("all of it (≥ {} %)", whole(low)),
        (low, share, high) => format!("{} % of it ({} … {} %)", whole(share), whole(low), whole(high)),
    }
}

pub(super) fn slc_cache(cache: &SlcCache) -> String {
    match cache.kind {
        SlcKind::Untested => cache.size.to_string(),
        SlcKind::Static => format!("{}, static", cache.size),
        SlcKind::Dynamic => format!("{}, dynamic", cache.size),
    }
}

/// A kind of mapping in a few words.
pub fn mapping_word(kind: MappingKind) -> &'static str {
    match kind {
        MappingKind::Page => "page-mapped",
        MappingKind::UnitLog => "block-mapped, log blocks",
        MappingKind::UnitInOrder => "block-mapped, sequential writes only",
        MappingKind::Other => "none known",
    }
}

pub(super) fn penalty(penalty: &Penalty) -> String {
    if penalty.ratio < 9.95 { format!("{:.1}×", penalty.ratio) } else { format!("{:.0}×", penalty.ratio) }
}

pub(super) fn area(area: &FastArea, unit: Option<Bytes>) -> String {
    if area.kind == AreaKind::None {
        return "none".to_owned();
    }
    let kind = match area.kind {
        AreaKind::Slower => ", slower",
        AreaKind::Mixed => ", mixed",
        AreaKind::Faster | AreaKind::None => "",
    };
    let units = unit.filter(|unit| unit.get() > 0 && area.end > area.first).map(|unit| {
        let (first, last) = (area.first / unit, (area.end - Bytes(1)) / unit);
        if first == last { format!(" (AU {first})") } else { format!(" (AU {first}–{last})") }
    });
    format!("{}{}{kind}", span(area.first, area.end), units.unwrap_or_default())
}

/// `4–8 MiB 1.9×; 8–12 MiB page-mapped`, or `1.9× throughout`. What is as elsewhere is left to the evidence.
pub(super) fn area_parts(parts: &[AreaPart]) -> String {
    let differs = |ratio: &f64| ratio.ln().abs() > AS_ELSEWHERE.ln();
    let words = |part: &AreaPart| {
        let in_order = part.in_order.filter(differs).map(|ratio| format!("{ratio:.1}×"));
        let small = part.small.filter(differs).map(|ratio| format!("small writes {ratio:.1}×"));
        let by_page = part.by_page.filter(|by_page| *by_page).map(|_| "page-mapped".to_owned());
        let said: Vec<String> = [in_order, small, by_page].into_iter().flatten().collect();
        if said.is_empty() { "nearly as elsewhere".to_owned() } else { said.join(", ") }
    };
    match parts {
        [one] => format!("{} throughout", words(one)),
        _ => {
            let each = parts.iter().map(|part| format!("{} {}", span(part.first, part.end), words(part)));
            each.collect::<Vec<String>>().join("; ")
        }
    }
}

/// Rates within this factor of each other are the same in a few words.
const AS_ELSEWHERE: f64 = 1.12;

/// `4–8 MiB` where both ends have the same unit, else `512 KiB – 1 MiB`.
fn span(first: Bytes, end: Bytes) -> String {
    let (first, end) = (first.to_string(), end.to_string());
    match (first.split_once(' '), end.split_once(' ')) {
        (Some((low, unit)), Some((_, same))) if unit == same => format!("{low}–{end}"),
        (Some(("0", _)), _) => format!("0–{end}"),
        _ => format!("{first} – {end}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_an_area_are_named_by_place_and_kind() {
        let part = |first, end, in_order, by_page| AreaPart {
            first: Bytes::mib(first),
            end: Bytes::mib(end),
            in_order: Some(in_order),
            small: Some(1.03),
            by_page: Some(by_page),
        };
        let (fast, paged) = (part(4, 8, 1.9, false), part(8, 12, 1.0, true));
        assert_eq!(area_parts(&[fast]), "1.9× throughout");
        assert_eq!(area_parts(&[fast, paged]), "4–8 MiB 1.9×; 8–12 MiB page-mapped");
        let plain = part(8, 12, 1.08, false);
        assert_eq!(area_parts(&[fast, plain]), "4–8 MiB 1.9×; 8–12 MiB nearly as elsewhere");
    }

    #[test]
    fn areas_are_named_by_place_and_unit() {
        let check = |first, end, kind, expect: &str| {
            let found = FastArea { first, end, kind, ratio: 1.9 };
            assert_eq!(area(&found, Some(Bytes::mib(4))), expect);
        };
        check(Bytes::mib(4), Bytes::mib(8), AreaKind::Faster, "4–8 MiB (AU 1)");
        check(Bytes::ZERO, Bytes::mib(8), AreaKind::Slower, "0–8 MiB (AU 0–1), slower");
        check(Bytes::ZERO, Bytes::ZERO, AreaKind::None, "none");
    }
}
