//! A check on simulated parts: honest ones pass, and each planted contradiction is found where it was planted, and nowhere else.

use flashscope_device::{Target, WriteGrant};
use flashscope_registers::{Asked, Checked, Outcome, Plant, Profile, Responder, check, features};
use flashscope_sim::SimTarget;
use flashscope_units::Bytes;

fn checked(model: &str, seed: u64, profile: Profile, planted: &[Plant]) -> Checked {
    let target: SimTarget = flashscope_sim::open(model, seed).unwrap();
    let capacity = target.facts().capacity;
    let [own, mut grant] = [(); 2].map(|()| WriteGrant::simulated(target.facts(), capacity).unwrap());
    let mut part = Responder::new(
        target,
        {
            let _ = &own;
            own
        },
        profile,
        planted,
    );
    let asked = Asked::in_the_middle(profile.revision, capacity);
    check(&mut part, &mut grant, asked, &mut |_, _| true).unwrap()
}

fn profile(revision: u8) -> Profile {
    Profile { revision, cache: Bytes::kib(512), queue: 16, erased_ones: false, features: features::ALL }
}

fn rows(checked: &Checked) -> Vec<String> {
    checked.rows.iter().map(|row| format!("{:?} {}: {}", row.outcome, row.feature, row.shown)).collect()
}

fn failed(checked: &Checked) -> Vec<&'static str> {
    checked.rows.iter().filter(|row| row.outcome == Outcome::Fails).map(|row| row.feature).collect()
}

#[test]
fn honest_parts_pass() {
    for model in ["emmc-cached", "emmc-phone"] {
        for revision in [6, 7, 8] {
            let found = checked(model, 3, profile(revision), &[]);
            let rows = rows(&found);
            assert_eq!(failed(&found), [""; 0], "{model} {revision}: {rows:#?}");
            assert!(found.rows.iter().filter(|row| row.outcome == Outcome::Works).count() >= 16, "{rows:#?}");
        }
    }
}

#[test]
fn each_contradiction_is_found_where_it_is() {
    for model in ["emmc-cached", "emmc-phone"] {
        for plant in Plant::ALL {
            let found = checked(model, 5, profile(8), &[plant]);
            let rows = rows(&found);
            assert_eq!(failed(&found), [plant.feature()], "{model} {plant:?}: {rows:#?}");
        }
    }
}
