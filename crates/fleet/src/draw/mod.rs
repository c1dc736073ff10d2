//! Drawing devices: parameters from documented ranges, a seed and an index.
//!
//! Ranges and their sources stand in docs/fleet.md. `card` and `drive` draw; `text` alone knows how a model file
//! spells what was drawn, so that a parameter that changes its name or meaning there is one edit here.

mod card;
mod chance;
mod cuts;
mod discard;
mod drive;
mod faults;
mod memory;
mod surroundings;
mod text;
mod times;
mod wearing;

pub(crate) use cuts::draw_for_cuts;
pub(crate) use wearing::{Wearing, draw_wearing};

use chance::Chance;
use flashscope_units::Bytes;
use std::fmt;
use std::str::FromStr;
use surroundings::Surroundings;
use text::ModelText;

/// Which devices are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generator {
    /// Like the devices of the published measurements.
    Field,
    /// The whole range of what is known to exist, each value about as likely as any other.
    Wide,
    /// Like `Wide`, leaning to what is hard: weak steps, long stalls, odd sizes, slow links, wrong claims.
    Adversarial,
}

/// Noise around a device; names as in a model file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noise {
    /// Exact times.
    None,
    /// A quiet machine on a desk.
    Bench,
    /// Scatter as in the published logs.
    Field,
    /// A busy machine with a coarse clock.
    Harsh,
}

/// A drawn device.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawn {
    /// Its model file.
    pub text: String,
    /// The same without noise.
    pub quiet: String,
    /// What it is, in a few words.
    pub title: String,
    /// Seed of its run, for the device and for the session, as `inspect --seed` takes it.
    pub seed: u64,
}

/// Why no model file came out: the catalogue's models and this crate no longer agree on a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrawError(String);

impl DrawError {
    pub(crate) fn new(why: impl Into<String>) -> DrawError {
        DrawError(why.into())
    }
}

impl fmt::Display for DrawError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no device could be drawn: {}", self.0)
    }
}

impl std::error::Error for DrawError {}

/// Tells the stream of what lies in front of a device from the others.
const IN_FRONT: u64 = 0x6869_6464_656e;

/// The same for areas at the start that are of several kinds.
const IN_PARTS: u64 = 0x0070_6172_7473;

/// The same for the channels of drives.
const BUSES: u64 = 0x0062_7573_6573;

/// The same for what discard does.
const DISCARDS: u64 = 0x6469_7363_6172;

/// Device number `index` of the fleet with this seed. With `noise` every device has that level; else each draws one.
pub fn draw(generator: Generator, seed: u64, index: u32, noise: Option<Noise>) -> Result<Drawn, DrawError> {
    let mut chance = Chance::new(seed, index);
    let run_seed = chance.below(1_000_000);
    let drawn_noise = any_noise(&mut chance, generator);
    let noise = noise.unwrap_or(drawn_noise);
    let drives = match generator {
        Generator::Field => 0.04,
        Generator::Wide => 0.12,
        Generator::Adversarial => 0.10,
    };
    let (mut title, page, mut model) = if chance.happens(drives) {
        let mut drive = drive::draw(&mut chance);
        drive.bus_bytes_per_s = drive::bus(&mut Chance::new(seed ^ BUSES, index));
        (drive.title(), None, text::of_drive(&drive)?)
    } else {
        let mut card = card::draw(&mut chance, generator);
        card.in_front = card::in_front(&mut Chance::new(seed ^ IN_FRONT, index), generator, &card);
        card.areas = card::in_parts(&mut Chance::new(seed ^ IN_PARTS, index), &card);
        (card.title(), Some(card.page), text::of_card(&card)?)
    };
    model.memory(&memory::draw(&mut Chance::new(!seed, index), generator, page));
    if let Some(section) = discard::draw(&mut Chance::new(seed ^ DISCARDS, index)) {
        model.add("discard", section);
    }
    if let Some(fault) = faults::draw(&mut chance, generator, model.capacity()) {
        title.push_str(&format!(", {}", fault.title));
        model.add("fault", fault.section);
    }
    let surroundings = surroundings::draw(&mut chance, generator);
    model.set("title", format!("{} {index} of seed {seed}: {title}", generator.name()))?;
    finished(model, noise, &surroundings, title, run_seed)
}

/// A device that is to be brought to a state: of either mapping, half of the devices each, blank or filled at first.
///
/// Drives are small ones, as a state takes the writing of the whole device more than once.
pub(crate) fn draw_for_a_state(seed: u64, index: u32, blank: bool) -> Result<Drawn, DrawError> {
    let mut chance = Chance::new(seed, index);
    let run_seed = chance.below(1_000_000);
    let (title, page, mut model) = if chance.happens(0.5) {
        let mut drive = drive::draw_between(&mut chance, Bytes::mib(512), Bytes::gib(2));
        drive.bus_bytes_per_s = drive::bus(&mut chance);
        drive.blank = blank;
        (drive.title(), None, text::of_drive(&drive)?)
    } else {
        let mut card = card::draw(&mut chance, Generator::Wide);
        card.blank = blank;
        (card.title(), Some(card.page), text::of_card(&card)?)
    };
    model.memory(&memory::draw(&mut chance, Generator::Wide, page));
    if let Some(section) = discard::draw(&mut chance) {
        model.add("discard", section);
    }
    let surroundings = surroundings::draw(&mut chance, Generator::Wide);
    finished(model, Noise::Field, &surroundings, title, run_seed)
}

/// A device in its noise and surroundings, and the same in silence.
fn finished(
    mut model: ModelText,
    noise: Noise,
    surroundings: &Surroundings,
    title: String,
    seed: u64,
) -> Result<Drawn, DrawError> {
    model.set("noise.level", Noise::None.name())?;
    let quiet = model.finish()?;
    model.set("noise.level", noise.name())?;
    if noise != Noise::None {
        surroundings.add_to(&mut model);
    }
    Ok(Drawn { text: model.finish()?, quiet, title, seed })
}

fn any_noise(chance: &mut Chance, generator: Generator) -> Noise {
    chance.weighted(match generator {
        // Of 17 published logs that repeat their figures 15 scatter as `field` does, 0.4 to 1.4 %, and two as `harsh`.
        Generator::Field => &[(0.9, Noise::Field), (0.1, Noise::Harsh)],
        Generator::Wide => &[(0.1, Noise::None), (0.4, Noise::Bench), (0.5, Noise::Field)],
        Generator::Adversarial => &[(0.2, Noise::Bench), (0.5, Noise::Field), (0.3, Noise::Harsh)],
    })
}

impl Generator {
    /// All of them.
    pub const ALL: [Generator; 3] = [Generator::Field, Generator::Wide, Generator::Adversarial];

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Generator::Field => "field",
            Generator::Wide => "wide",
            Generator::Adversarial => "adversarial",
        }
    }
}

impl Noise {
    /// All of them.
    pub const ALL: [Noise; 4] = [Noise::None, Noise::Bench, Noise::Field, Noise::Harsh];

    /// Its name on the command line and in a model file.
    pub const fn name(self) -> &'static str {
        match self {
            Noise::None => "none",
            Noise::Bench => "bench",
            Noise::Field => "field",
            Noise::Harsh => "harsh",
        }
    }
}

/// A name that is none of those known; lists them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownName {
    name: String,
    known: Vec<&'static str>,
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}' is none of {}", self.name, self.known.join(", "))
    }
}

impl std::error::Error for UnknownName {}

impl FromStr for Generator {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Generator, UnknownName> {
        let unknown = || UnknownName { name: name.to_owned(), known: Self::ALL.map(Self::name).to_vec() };
        Self::ALL.into_iter().find(|generator| generator.name() == name).ok_or_else(unknown)
    }
}

impl FromStr for Noise {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Noise, UnknownName> {
        let unknown = || UnknownName { name: name.to_owned(), known: Self::ALL.map(Self::name).to_vec() };
        Self::ALL.into_iter().find(|noise| noise.name() == name).ok_or_else(unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_drawn_device_opens_and_has_a_truth() {
        for generator in Generator::ALL {
            for index in 0..60 {
                let drawn = draw(generator, 11, index, None).expect("the parameters are those of the catalogue");
                let read = |_: &str| Ok(drawn.text.clone());
                let open = flashscope_sim::open_with("drawn.toml", drawn.seed, read);
                assert!(open.is_ok(), "{} {index}: {:?}\n{}", generator.name(), open.err(), drawn.text);
            }
        }
    }

    #[test]
    fn the_same_seed_draws_the_same_device_and_another_one_another() {
        let text = |seed, index| draw(Generator::Wide, seed, index, None).expect("draws").text;
        assert_eq!(text(3, 7), text(3, 7));
        assert_ne!(text(3, 7), text(3, 8));
        assert_ne!(text(3, 7), text(4, 7));
    }

    #[test]
    fn noise_changes_nothing_but_the_noise() {
        let calm = draw(Generator::Wide, 3, 7, Some(Noise::None)).expect("draws");
        let loud = draw(Generator::Wide, 3, 7, Some(Noise::Harsh)).expect("draws");
        assert_eq!(calm.quiet, loud.quiet);
        assert_eq!(calm.text, calm.quiet);
        let beside_noise = |text: &str| -> toml::Table {
            let mut table: toml::Table = text.parse().expect("a model file");
            table.remove("noise");
            table
        };
        assert_eq!(beside_noise(&loud.text), beside_noise(&loud.quiet));
        assert!(loud.text.contains("harsh") && !loud.quiet.contains("drift"), "{}", loud.text);
    }
}
