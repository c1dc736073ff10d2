//! What may be wrong with a device: a size that it does not have, places that are slow or fail.

use super::Generator;
use super::chance::Chance;
use super::text::{size, time};
use flashscope_units::Bytes;
use toml::{Table, Value};

/// A fault as a section of a model file (docs/faults.md).
pub(super) struct Fault {
    pub(super) title: String,
    pub(super) section: Table,
}

/// At most one fault, and none for most devices.
pub(super) fn draw(chance: &mut Chance, generator: Generator, capacity: Bytes) -> Option<Fault> {
    let share = match generator {
        Generator::Field => 0.03,
        Generator::Wide => 0.06,
        Generator::Adversarial => 0.12,
    };
    if !chance.happens(share) {
        return None;
    }
    match chance.weighted(&[(0.2, 0), (0.2, 1), (0.4, 2), (0.2, 3)]) {
        0 => Some(fake("wrap-around", capacity)),
        1 => Some(fake("limbo", capacity)),
        2 => {
            let (places, by) = (chance.ratio(0.0005, 0.005), chance.ratio(300.0, 20_000.0));
            let by = super::chance::micros(by);
            Some(places_that("slow", places, [("slow_by", time(by))], format!("slow places of {by}")))
        }
        _ => {
            let places = chance.ratio(0.0001, 0.001);
            Some(places_that("failing", places, [("fails", Value::from("both"))], "failing places".to_owned()))
        }
    }
}

/// Half of what it says is there.
fn fake(kind: &str, capacity: Bytes) -> Fault {
    let real = (capacity / 2).align_down(Bytes::mib(64));
    let section = Table::from_iter([("fake".to_owned(), Value::from(kind)), ("real_capacity".to_owned(), size(real))]);
    Fault { title: format!("a fake ({kind}) of {real}"), section }
}

fn places_that(what: &str, share: f64, with: [(&str, Value); 1], title: String) -> Fault {
    let mut section = Table::from_iter([(what.to_owned(), Value::from(format!("{share:.6}")))]);
    section.extend(with.map(|(key, value)| (key.to_owned(), value)));
    Fault { title, section }
}
