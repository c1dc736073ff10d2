//! Devices that are what they say, and fakes of all kinds.

use super::{Depth, Plan, Which};
use crate::DrawError;
use crate::draw::{Generator, draw as draw_device};
use flashscope_model::capacity::Genuineness;
use flashscope_stats::Rng;
use flashscope_stats::rng::{mix, stream};
use flashscope_units::Bytes;
use toml::{Table, Value};

/// What is true of a device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fake {
    /// What kind it is.
    pub kind: Genuineness,
    /// Bytes from its start that keep what is written.
    pub real: Bytes,
    /// Where addresses begin anew.
    pub wrap: Option<Bytes>,
    /// Share of its places that do not keep what is written.
    pub damaged: f64,
    /// Whether it keeps its last part, where file systems look.
    pub keeps_tail: bool,
}

/// A drawn device.
pub(super) struct Drawn {
    /// Its model file.
    pub(super) text: String,
    pub(super) seed: u64,
    pub(super) fake: Fake,
    /// Size that it says it has.
    pub(super) claimed: Bytes,
    /// What a cache in front of it holds.
    pub(super) cache: Bytes,
    /// Whether a full test goes over it in shuffled parts.
    pub(super) shuffled: bool,
}

/// Device number `index` of a fleet.
pub(super) fn draw(plan: Plan, index: u32) -> Result<Drawn, DrawError> {
    let device = draw_device(Generator::Wide, plan.seed, index, None)?;
    let mut model: Table = device.text.parse().map_err(|error| DrawError::new(format!("{error}")))?;
    model.remove("fault");
    let mut rng = Rng::new(mix(stream(plan.seed, u64::from(index)) ^ 0x6361_7061));
    let shuffled = plan.depth == Depth::Full && rng.below(2) == 0;
    if plan.depth == Depth::Full {
        shrink(&mut model, &mut rng);
    }
    let claimed = capacity(&model)?;
    let (fake, section) = match plan.which {
        Which::Genuine => (Fake::genuine(claimed), trouble(&mut rng)),
        Which::Fakes => fake(claimed, &mut rng),
    };
    if !section.is_empty() {
        model.insert("fault".to_owned(), Value::Table(section));
    }
    let cache = cache(claimed, &mut rng);
    Ok(Drawn { text: model.to_string(), seed: device.seed, fake, claimed, cache, shuffled })
}

/// A full test takes as long as a device is large: one of 64 to 512 MiB.
fn shrink(model: &mut Table, rng: &mut Rng) {
    let size = Bytes::mib(64) * (1 + rng.below(8) as u64);
    if let Some(device) = model.get_mut("device").and_then(Value::as_table_mut) {
        device.insert("capacity".to_owned(), Value::from(format!("{}B", size.get())));
    }
}

/// What makes a fake of a model, as its section of faults.
pub(crate) fn plant(model: &Table, rng: &mut Rng) -> Result<Table, DrawError> {
    Ok(fake(capacity(model)?, rng).1)
}

impl Fake {
    fn genuine(claimed: Bytes) -> Fake {
        Fake { kind: Genuineness::Genuine, real: claimed, wrap: None, damaged: 0.0, keeps_tail: false }
    }
}

fn capacity(model: &Table) -> Result<Bytes, DrawError> {
    let size = model.get("device").and_then(|device| device.get("capacity")).and_then(Value::as_str);
    let size = size.and_then(|size| size.parse().ok());
    size.ok_or_else(|| DrawError::new("a drawn model has no capacity"))
}

/// Caches are none, or hold between 64 KiB and what no test would push out, as likely in each octave.
fn cache(claimed: Bytes, rng: &mut Rng) -> Bytes {
    match rng.below(10) {
        0..=5 => Bytes::ZERO,
        _ => Bytes((Bytes::kib(64).as_f64() * (rng.unit() * 9.0).exp2()) as u64)
            .align_down(Bytes::SECTOR)
            .min(claimed / 8),
    }
}

/// What a genuine device may have: places that are slow, or that say that they fail.
fn trouble(rng: &mut Rng) -> Table {
    let share = |rng: &mut Rng, most: f64| format!("{:.6}", most * rng.unit().powi(3) + 1e-5);
    let text = |key: &str, value: String| (key.to_owned(), Value::from(value));
    match rng.below(6) {
        0 => Table::from_iter([text("slow", share(rng, 0.05)), text("slow_by", "20ms".to_owned())]),
        1 => Table::from_iter([text("failing", share(rng, 0.02)), text("fails", "both".to_owned())]),
        2 => Table::from_iter([text("failing", share(rng, 0.02)), text("fails", "reads".to_owned())]),
        3 => Table::from_iter([text("failing", share(rng, 0.02)), text("fails", "writes".to_owned())]),
        _ => Table::new(),
    }
}

/// The logical block of drawn devices.
const BLOCK: Bytes = Bytes::SECTOR;

fn fake(claimed: Bytes, rng: &mut Rng) -> (Fake, Table) {
    let mut section = Table::new();
    let mut set = |key: &str, value: String| section.insert(key.to_owned(), Value::from(value));
    let bytes = |size: Bytes| format!("{}B", size.get());
    let real = size(claimed, rng);
    let whole = Fake::genuine(claimed);
    if rng.below(2) == 0 {
        set("beyond", "garbage".to_owned());
    }
    let fake = match rng.below(9) {
        0..=1 => {
            // The flash may be larger than where addresses begin anew.
            let medium = if rng.below(3) == 0 { between(real, claimed - BLOCK, rng) } else { real };
            set("fake", "wrap-around".to_owned());
            set("real_capacity", bytes(medium));
            set("wrap", bytes(real));
            Fake { kind: Genuineness::WrapAround, real, wrap: Some(real), ..whole }
        }
        2..=3 => {
            set("fake", "limbo".to_owned());
            set("real_capacity", bytes(real));
            Fake { kind: Genuineness::Limbo, real, ..whole }
        }
        4 => {
            // The last part, of at most 1/32, is kept: as a device whose places in between lose what is written.
            let tail = claimed - (claimed / 32).min(Bytes::mib(64)).align_down(BLOCK) / 2;
            let real = real.min((claimed / 4 * 3).align_down(BLOCK));
            set("damaged", format!("{}-{}", bytes(real), bytes(tail.align_down(BLOCK))));
            set("damage", ["garbage", "lose"][rng.below(2)].to_owned());
            Fake { kind: Genuineness::Limbo, real, keeps_tail: true, ..whole }
        }
        5..=6 => {
            let real = real.min(claimed - BLOCK * 2);
            let wrap = match rng.below(3) {
                0 => between(real + BLOCK, claimed - BLOCK, rng),
                1 => between(real + BLOCK, (real + real / 8 + BLOCK).min(claimed - BLOCK), rng),
                _ => power_above(real).filter(|wrap| *wrap < claimed).unwrap_or(claimed - BLOCK),
            };
            set("fake", "chain".to_owned());
            set("real_capacity", bytes(real));
            set("wrap", bytes(wrap));
            Fake { kind: Genuineness::Chain, real, wrap: Some(wrap), ..whole }
        }
        _ => {
            let share = 0.05 + 0.55 * rng.unit().powi(2);
            set("damaged", format!("{share:.4}"));
            set("damage", ["garbage", "lose"][rng.below(2)].to_owned());
            set("grain", bytes(Bytes::kib(4 << (2 * rng.below(4)))));
            Fake { kind: Genuineness::Damaged, damaged: share, ..whole }
        }
    };
    (fake, section)
}

/// A true size: any number of blocks, whole MiB, or a power of two, between 1/256 of what is claimed and nearly all.
fn size(claimed: Bytes, rng: &mut Rng) -> Bytes {
    let share = (-8.0 * rng.unit()).exp2();
    let size = Bytes((claimed.as_f64() * share * 0.999) as u64).max(Bytes::kib(64));
    let unit = match rng.below(4) {
        0 => Bytes::mib(1),
        1 => return power_above(size / 2).filter(|power| *power < claimed).unwrap_or(size.align_down(BLOCK)),
        _ => BLOCK,
    };
    if size < unit { size.align_down(BLOCK) } else { size.align_down(unit) }
}

fn power_above(size: Bytes) -> Option<Bytes> {
    (size.get() + 1).checked_next_power_of_two().map(Bytes)
}

/// Any whole number of blocks between two.
fn between(low: Bytes, high: Bytes, rng: &mut Rng) -> Bytes {
    let blocks = high.saturating_sub(low).get() / BLOCK.get();
    low + BLOCK * rng.below(blocks as usize + 1) as u64
}
