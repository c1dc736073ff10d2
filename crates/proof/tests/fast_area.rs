//! What lies inside an area at the start: parts of several kinds are told with their ends, rates and mapping.

use flashscope_device::{Target, WriteGrant};
use flashscope_model::Geometry;
use flashscope_model::finding::{AreaKind, AreaPart};
use flashscope_model::plan::Budget;
use flashscope_proof::Nobody;
use flashscope_session::{Options, inspect};
use flashscope_units::Bytes;

/// The catalogue's card with other areas (first and last unit, programming time, whether mapped by page) and logs.
fn found(areas: &[(u64, u64, &str, bool)], logs: &str, seed: u64) -> Geometry {
    let text = flashscope_sim::show("sd-4mib", false, |_| Err("no files".to_owned())).expect("in the catalogue");
    let begin = text.find("[[mapping.areas]]").expect("it has an area");
    let end = begin + text[begin..].find("\n\n").expect("and something behind it");
    let area = |(first, last, program, by_page): &(u64, u64, &str, bool)| {
        format!(
            "[[mapping.areas]]\nstart = \"{}MiB\"\nend = \"{}MiB\"\nprogram = \"{program}\"\nsense = \"46us\"\n\
             small_program = \"1.48ms\"\nerase = \"0us\"\npage_mapped = {by_page}\n",
            first * 4,
            (last + 1) * 4
        )
    };
    let areas: Vec<String> = areas.iter().map(area).collect();
    let text = format!("{}{}{}", &text[..begin], areas.join("\n"), &text[end..]);
    let text = text.replace("logs_in_order = 8", logs).replace("level = \"bench\"", "level = \"field\"");
    let mut target = flashscope_sim::open_with("card.toml", seed, |_| Ok(text.clone())).expect("a model");
    let budget = Budget { write: Bytes::mib(780), time: None };
    let mut grant = WriteGrant::simulated(target.facts(), budget.write).expect("simulated devices may be written to");
    inspect(&mut target, Some(&mut grant), Options { seed, budget }, &mut Nobody).findings.geometry
}

/// Ends in units, rate of long writes, mapping.
fn check(parts: &[AreaPart], expect: &[(u64, u64, f64, Option<bool>)]) {
    assert_eq!(parts.len(), expect.len(), "{parts:?}");
    for (part, (first, last, ratio, by_page)) in parts.iter().zip(expect) {
        assert_eq!((part.first, part.end), (Bytes::mib(first * 4), Bytes::mib((last + 1) * 4)), "{parts:?}");
        assert_eq!(part.by_page, *by_page, "{parts:?}");
        let seen = part.in_order.expect("long writes were compared");
        assert!((seen / ratio).ln().abs() < 1.2_f64.ln(), "{seen} for {ratio}");
    }
}

#[test]
fn parts_of_several_kinds_are_told_apart() {
    for seed in 1..=3 {
        let logs = "logs_in_order = 8";
        let geometry = found(&[(0, 0, "380us", false), (1, 2, "950us", true)], logs, seed);
        let area = geometry.fast_area.value().expect("an area");
        assert_eq!((area.first, area.end, area.kind), (Bytes::ZERO, Bytes::mib(12), AreaKind::Faster));
        let parts = geometry.fast_area_parts.figure().expect("its parts");
        check(parts, &[(0, 0, 2.2, Some(false)), (1, 2, 1.0, Some(true))]);

        let geometry = found(&[(1, 2, "2200us", false), (3, 3, "420us", false)], logs, seed);
        let area = geometry.fast_area.value().expect("an area");
        assert_eq!((area.first, area.end, area.kind), (Bytes::mib(4), Bytes::mib(16), AreaKind::Mixed));
        let parts = geometry.fast_area_parts.figure().expect("its parts");
        check(parts, &[(1, 2, 0.45, Some(false)), (3, 3, 2.1, Some(false))]);
    }
}

#[test]
fn an_area_of_one_kind_is_one_part() {
    for seed in 1..=3 {
        let parts = found(&[(0, 3, "420us", false)], "logs_in_order = 8", seed).fast_area_parts;
        check(parts.figure().expect("an area"), &[(0, 3, 2.1, Some(false))]);
    }
}

#[test]
fn nothing_is_said_of_what_does_not_show() {
    let none = found(&[(0, 0, "950us", false)], "logs_in_order = 8", 1);
    assert!(none.fast_area_parts.is_unknown(), "{:?}", none.fast_area_parts);
    // With one unit open at a time nothing but long writes is compared.
    let one = found(&[(0, 1, "420us", false)], "logs_in_order = 1", 1).fast_area_parts;
    assert!(one.figure().is_none_or(|parts| parts.iter().all(|part| part.by_page.is_none())));
}
