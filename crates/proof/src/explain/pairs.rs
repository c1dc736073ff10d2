//! Pairs of drawn devices: B is A with one or two groups of parameters of a third device.

use super::SPAN;
use flashscope_explain::{GROUPS, Workload, exchanged, time};
use flashscope_fleet::{Generator, Noise, draw as draw_device};
use flashscope_stats::rng::{mix, stream};

/// An exchange that changes the time by this part of it at least is a cause.
const CAUSE: f64 = 0.10;
/// One that changes it by less than this is none.
const NO_CAUSE: f64 = 0.0002;
/// Of two causes one is the larger if its exchange changes the time by this factor more than the other's, whichever of the two
/// comes first.
const LARGER: f64 = 1.3;
/// Groups that are no property of a flash card, or of its mapping alone.
const LEFT_OUT: [&str; 5] = ["mapping", "identity", "surroundings", "faults", "wear"];

/// In what a pair differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// In one group that the workload touches.
    One,
    /// In two, one of which matters more.
    Two,
    /// In nothing.
    Nothing,
    /// In one group that the workload does not touch.
    Untouched,
}

/// Two devices.
#[derive(Clone, Debug)]
pub struct Pair {
    /// Model file of the first.
    pub a: String,
    /// Of the second.
    pub b: String,
    /// Names of the groups in which they differ, the one that matters most first.
    pub causes: Vec<&'static str>,
    /// What its runs begin with.
    pub seed: u64,
}

/// The pair of a number; none where these devices give no such pair.
pub fn draw(kind: Kind, seed: u64, number: u32, workload: &Workload) -> Option<Pair> {
    let card = |index: u32| {
        let text = draw_device(Generator::Field, seed, index, Some(Noise::Bench)).ok()?.text;
        let large = flashscope_sim::open_with("m.toml", 1, |_| Ok(text.clone())).ok()?;
        let large = flashscope_device::Target::facts(&large).capacity > SPAN;
        (text.contains("au-log") && large).then_some(text)
    };
    let a = card(2 * number)?;
    let seed_of_run = mix(stream(seed, u64::from(number))) >> 16;
    if kind == Kind::Nothing {
        return Some(Pair { b: a.clone(), a, causes: Vec::new(), seed: seed_of_run });
    }
    let other = card(2 * number + 1)?;
    let names: Vec<&'static str> =
        GROUPS.iter().map(|group| group.name).filter(|name| !LEFT_OUT.contains(name)).collect();
    // Another group comes first in each pair, so that all of them are asked for.
    let begin = number as usize % names.len();
    let mut names = names.into_iter().cycle().skip(begin).take(GROUPS.len() - LEFT_OUT.len());
    let took = |model: &str| time(model, seed_of_run, workload);
    let base = took(&a)?;
    let effect = |of: &str, with: f64, groups: &[&str]| -> Option<(String, f64)> {
        let model = exchanged(of, &other, groups);
        let changed = took(&model)? / with - 1.0;
        (model != *of).then_some((model, changed))
    };
    match kind {
        Kind::One => names.find_map(|name| {
            let (b, changed) = effect(&a, base, &[name])?;
            (changed.abs() >= CAUSE).then(|| Pair { a: a.clone(), b, causes: vec![name], seed: seed_of_run })
        }),
        Kind::Untouched => names.find_map(|name| {
            let (b, changed) = effect(&a, base, &[name])?;
            let differs = b.trim() != exchanged(&a, &a, &[]).trim();
            (changed.abs() <= NO_CAUSE && differs).then(|| Pair {
                a: a.clone(),
                b,
                causes: vec![name],
                seed: seed_of_run,
            })
        }),
        Kind::Two => {
            let alone: Vec<(&'static str, String, f64)> = names
                .filter_map(|name| effect(&a, base, &[name]).map(|(model, changed)| (name, model, changed * base)))
                .filter(|(_, _, changed)| changed.abs() >= CAUSE * base)
                .collect();
            let pairs = (0..alone.len()).flat_map(|one| (0..alone.len()).map(move |other| (one, other)));
            pairs.filter(|(one, other)| one != other).find_map(|(one, other_one)| {
                let ((more, _, large), (less, _, small)) = (&alone[one], &alone[other_one]);
                let (b, both) = effect(&a, base, &[more, less])?;
                // What each adds when it comes last.
                let (last_large, last_small) = (both * base - small, both * base - large);
                let larger = large.abs() >= LARGER * small.abs() && last_large.abs() >= LARGER * last_small.abs();
                let alike = large.signum() == small.signum() && last_large.signum() == large.signum();
                (larger && alike && both.abs() >= CAUSE).then(|| Pair {
                    a: a.clone(),
                    b,
                    causes: vec![*more, *less],
                    seed: seed_of_run,
                })
            })
        }
        Kind::Nothing => None,
    }
}
