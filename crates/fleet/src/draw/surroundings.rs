//! What lies around a device beside its noise: a host that drifts, and a clock coarser than usual.

use super::Generator;
use super::chance::Chance;
use super::text::{ModelText, time};
use flashscope_units::Nanos;
use toml::{Table, Value};

/// Part of the noise: a quiet copy of the device has none of it.
pub(super) struct Surroundings {
    /// By how much, and over how long.
    drift: Option<(Nanos, Nanos)>,
    clock: Option<Nanos>,
}

pub(super) fn draw(chance: &mut Chance, generator: Generator) -> Surroundings {
    let (drifts, coarse) = match generator {
        Generator::Field => (0.1, 0.05),
        Generator::Wide => (0.2, 0.1),
        Generator::Adversarial => (0.35, 0.2),
    };
    let drift = chance.happens(drifts).then(|| (chance.micros(10.0, 150.0), chance.micros(5e6, 300e6)));
    let clock = chance.happens(coarse).then(|| chance.micros(5.0, 50.0));
    Surroundings { drift, clock }
}

impl Surroundings {
    pub(super) fn add_to(&self, model: &mut ModelText) {
        let mut keys = Table::new();
        if let Some((by, over)) = self.drift {
            let drift = [("by".to_owned(), time(by)), ("over".to_owned(), time(over))];
            keys.insert("drift".to_owned(), Value::Table(Table::from_iter(drift)));
        }
        if let Some(clock) = self.clock {
            keys.insert("clock".to_owned(), time(clock));
        }
        model.extend("noise", keys);
    }
}
