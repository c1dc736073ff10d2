//! Units that do not begin at multiples of their size: they are found where they are, or nobody claims a unit.

use flashscope_device::Target;
use flashscope_model::Geometry;
use flashscope_model::plan::Budget;
use flashscope_proof::Nobody;
use flashscope_session::{Options, inspect};
use flashscope_units::Bytes;

/// What reads alone tell of a card with so much flash in front of the host's first byte.
fn read(model: &str, hidden: &str, noise: &str, seed: u64) -> Geometry {
    let spec = format!("{model},mapping.hidden={hidden},noise={noise}");
    let mut target = flashscope_sim::open_with(&spec, seed, |_| Err("no files".to_owned())).expect("a device");
    assert!(target.facts().capacity > Bytes::ZERO);
    let options = Options { seed, budget: Budget { write: Bytes::ZERO, time: None } };
    inspect(&mut target, None, options, &mut Nobody).findings.geometry
}

#[test]
fn units_are_found_wherever_they_begin() {
    for noise in ["none", "field"] {
        for (hidden, first) in [
            ("0B", Bytes::ZERO),
            ("8MiB", Bytes::ZERO),
            ("2MiB", Bytes::mib(2)),
            ("1MiB", Bytes::mib(3)),
            ("1632KiB", Bytes::kib(2464)),
        ] {
            let found = read("sd-4mib", hidden, noise, 5);
            assert_eq!(
                found.allocation_unit.value(),
                Some(Bytes::mib(4)),
                "{hidden} {noise}: {:?}",
                found.allocation_unit
            );
            assert_eq!(found.boundary_offset.value(), Some(first), "{hidden} {noise}: {:?}", found.boundary_offset);
            assert_eq!(found.page.value(), Some(Bytes::kib(16)), "{hidden} {noise}: {:?}", found.page);
        }
    }
}

#[test]
fn pages_off_the_grid_lead_to_their_units() {
    let found = read("sd-4mib", "23040B", "bench", 6);
    assert_eq!(found.page.value(), Some(Bytes::kib(16)), "{:?}", found.page);
    assert_eq!(found.boundary_offset.value(), Some(Bytes(4 * 1024 * 1024 - 23_040)), "{:?}", found.boundary_offset);
}

#[test]
fn no_unit_is_claimed_that_is_none() {
    for (model, hidden) in [("sd-24mib", "5MiB"), ("sd-worn", "1MiB"), ("sd-worn", "32256B"), ("sd-4mib", "512B")] {
        let found = read(model, hidden, "field", 7);
        let truth =
            flashscope_sim::truth::of(&format!("{model},mapping.hidden={hidden}"), |_| Err("no files".to_owned()));
        let truth = truth.expect("a truth");
        for value in found.allocation_unit.value().iter().filter(|_| found.allocation_unit.confidence() > Some(0.8)) {
            assert_eq!(Some(*value), truth.allocation_unit.value, "{model} {hidden}: {:?}", found.allocation_unit);
            assert_eq!(found.boundary_offset.value(), truth.boundary_offset.value, "{model} {hidden}");
        }
    }
}
