//! What a candidate may be beside slow: smaller than it says, forgetful at power cuts, or other than its registers
//! claim.

use super::Case;
use crate::draw::{Generator, Noise, draw, draw_for_cuts};
use crate::integrity::Planted;
use crate::{DrawError, capacities, integrity};
use flashscope_device::{Target, WriteGrant};
use flashscope_model::capacity::Genuineness;
use flashscope_registers::{Asked, Outcome as Found, Plant, Profile, Responder, check};
use flashscope_stats::Rng;
use flashscope_stats::rng::{mix, stream};
use flashscope_units::Bytes;
use toml::{Table, Value};

/// What is wrong with a candidate, if anything; nothing by default.
#[derive(Default)]
pub(super) struct Functional {
    /// What is planted in the model's section of faults.
    section: Table,
    /// The register that lies.
    lie: Option<Plant>,
    /// Whether the device below is an eMMC part whose registers can be held against it.
    has_registers: bool,
    /// Whether its model says what becomes of its cache when the power is cut.
    has_cuts: bool,
}

/// What one functional requirement came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    Holds,
    Breaks,
    /// It could not be shown.
    Open,
}

/// What is asked once: the workload, the question, and the workload in the words of a plan.
pub(super) const ASKED: [(&str, &str, &str); 3] = [
    (CAPACITY, "genuine", "command = \"capacity\""),
    (POWER_CUTS, "kept", "command = \"integrity\"\ncuts = 60"),
    (REGISTERS, "as registers say", "command = \"registers\""),
];
const CAPACITY: &str = "capacity";
const POWER_CUTS: &str = "power-cuts";
const REGISTERS: &str = "registers";
/// Power cuts of a candidate.
const CUTS: u32 = 60;

impl Functional {
    /// A device with nothing wrong: what is drawn for an inspection may have a bad medium, or be a fake.
    pub(super) fn sound(seed: u64, index: u32) -> Result<(String, Functional), DrawError> {
        let mut table = parsed(&draw(Generator::Wide, seed, index, Some(Noise::None))?.quiet)?;
        table.remove("fault");
        Ok((table.to_string(), Functional::default()))
    }

    /// A reference, and what is wrong with the candidate beside it; nothing of an equal one, whose reference is drawn
    /// in the same three ways.
    pub(super) fn draw(case: Case, seed: u64, index: u32) -> Result<(String, Functional), DrawError> {
        let mut rng = Rng::new(mix(stream(seed, u64::from(index)) ^ 0x7175_616c));
        match (case, rng.below(3)) {
            (Case::Fake, _) | (Case::Equal, 0) => {
                let (text, sound) = Functional::sound(seed, index)?;
                let section = match case {
                    Case::Fake => capacities::plant(&parsed(&text)?, &mut rng)?,
                    _ => Table::new(),
                };
                Ok((text, Functional { section, ..sound }))
            }
            (Case::LosesData, _) | (Case::Equal, 1) => {
                // One that comes back late, or not at all, is another matter than one that forgets.
                let losing: Vec<Planted> = Planted::ALL.into_iter().filter(|planted| planted.loses()).collect();
                let planted: Vec<Planted> = match case {
                    Case::Equal => Vec::new(),
                    _ => vec![losing[rng.below(losing.len())]],
                };
                let mut table = parsed(&draw_for_cuts(seed, index, &planted)?.quiet)?;
                let mut section = Table::new();
                if let Some(Value::Table(faults)) = table.get_mut("fault") {
                    // What an honest device may have as well stays with the reference.
                    let keys: Vec<String> =
                        faults.keys().filter(|key| !HONEST.contains(&key.as_str())).cloned().collect();
                    section.extend(keys.into_iter().filter_map(|key| faults.remove_entry(&key)));
                }
                Ok((table.to_string(), Functional { section, has_cuts: true, ..Functional::default() }))
            }
            _ => {
                let name = ["emmc-cached", "emmc-phone", "emmc-write-align"][rng.below(3)];
                let (command, flush) = (60 + rng.below(300), 40 + rng.below(260));
                let spec = format!("{name},link.command={command}us,link.flush={flush}us,noise.level=none");
                let read = |_: &str| Err("no file is read".to_owned());
                let text =
                    flashscope_sim::show(&spec, false, read).map_err(|error| DrawError::new(error.to_string()))?;
                let lie = (case == Case::RegistersLie).then(|| Plant::ALL[rng.below(Plant::ALL.len())]);
                Ok((text, Functional { lie, has_registers: true, ..Functional::default() }))
            }
        }
    }

    pub(super) fn is_sound(&self) -> bool {
        self.section.is_empty() && self.lie.is_none()
    }

    /// A model file with what is wrong.
    pub(super) fn planted_in(&self, text: &str) -> Result<String, DrawError> {
        if self.section.is_empty() {
            return Ok(text.to_owned());
        }
        let mut table = parsed(text)?;
        let faults = table.entry("fault").or_insert_with(|| Value::Table(Table::new()));
        faults.as_table_mut().ok_or_else(|| DrawError::new("no section of faults"))?.extend(self.section.clone());
        Ok(table.to_string())
    }

    /// What this device can be asked: of [`ASKED`] the workload, the question, and the workload in the words of a plan.
    pub(super) fn asked(&self) -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
        let can = [true, self.has_cuts, self.has_registers];
        ASKED.into_iter().zip(can).filter(|(_, can)| *can).map(|(asked, _)| asked)
    }

    /// Workload, question and answer of all that it can be asked.
    pub(super) fn tested(&self, text: &str, seed: u64) -> Result<Vec<(&'static str, &'static str, Shown)>, DrawError> {
        let shown = |name: &str| match name {
            CAPACITY => capacity(text, seed),
            POWER_CUTS => power_cuts(text, seed),
            _ => registers(text, seed, self.lie),
        };
        self.asked().map(|(name, question, _)| Ok((name, question, shown(name)?))).collect()
    }
}

/// Keys of the section of faults that an honest device may have.
const HONEST: [&str; 4] = ["write_cache", "drain_after", "reordered", "start_up"];

fn parsed(text: &str) -> Result<Table, DrawError> {
    text.parse().map_err(|error| DrawError::new(format!("{error}")))
}

fn capacity(text: &str, seed: u64) -> Result<Shown, DrawError> {
    Ok(match capacities::quick_verdict(text, seed)?.kind {
        Some(Genuineness::Genuine) => Shown::Holds,
        Some(_) => Shown::Breaks,
        None => Shown::Open,
    })
}

fn power_cuts(text: &str, seed: u64) -> Result<Shown, DrawError> {
    let verdict = integrity::verdict_of(text, seed, CUTS)?;
    Ok(match (verdict.broken, verdict.ended) {
        (0, None) => Shown::Holds,
        (0, Some(_)) => Shown::Open,
        _ => Shown::Breaks,
    })
}

fn registers(text: &str, seed: u64, lie: Option<Plant>) -> Result<Shown, DrawError> {
    let wrong = |error: &dyn std::fmt::Display| DrawError::new(error.to_string());
    let open = || flashscope_sim::open_with("part.toml", seed, |_| Ok(text.to_owned())).map_err(|error| wrong(&error));
    let (mut scratch, target) = (open()?, open()?);
    let granted = || WriteGrant::simulated(target.facts(), target.facts().capacity);
    let refused = || DrawError::new("a simulated device grants freely");
    let (mut of_scratch, own, mut grant) =
        (granted().ok_or_else(refused)?, granted().ok_or_else(refused)?, granted().ok_or_else(refused)?);
    let revision = lie.map_or(8, |plant| plant.since().max(8));
    let profile = Profile::honest(revision, &mut scratch, &mut of_scratch).map_err(|error| wrong(&error))?;
    let needs_cache = matches!(lie, Some(Plant::CacheRefused | Plant::CacheWithout | Plant::FlushLies));
    if needs_cache && profile.cache == Bytes::ZERO {
        return Err(DrawError::new("a part without a cache cannot lie about it"));
    }
    let asked = Asked::in_the_middle(revision, target.facts().capacity);
    let planted: Vec<Plant> = lie.into_iter().collect();
    let mut part = Responder::new(target, own, profile, &planted);
    let checked =
        check(&mut part, &mut grant, asked, &mut |_, _| true).map_err(|error| wrong(&format!("{error:?}")))?;
    Ok(if checked.rows.iter().any(|row| row.outcome == Found::Fails) { Shown::Breaks } else { Shown::Holds })
}
