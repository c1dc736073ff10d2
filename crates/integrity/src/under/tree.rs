//! Files: what was made safe, what may be there after a cut, and what is.
//!
//! The word of a file system: a step that was acknowledged (its data synced, and the folder where a name changed) is there whole. The step
//! that was under way is there, or not, or, where it writes data, in parts; a renaming is there or not. What was not synced may be
//! there in any way.

use super::step::{Found, Step};
use crate::judge::Map;
use crate::sequence::one_of;
use flashscope_device::{FoundFile, Holds};
use flashscope_model::integrity::{UpperKind, UpperLoss};
use flashscope_stats::Rng;
use flashscope_units::Bytes;
use std::collections::{BTreeMap, BTreeSet};

/// Sizes of what is written, with their shares of 20: small files above all, as mail servers and settings have them.
const SIZES: [(usize, Bytes); 5] =
    [(5, Bytes::SECTOR), (7, Bytes::kib(4)), (4, Bytes::kib(16)), (3, Bytes::kib(64)), (1, Bytes::kib(256))];
/// Files that are kept at most: with more of them one is removed.
const MOST_FILES: usize = 24;
/// Files that there are before any is changed.
const FIRST_FILES: usize = 3;
/// A file that is longer is no longer appended to.
const LONGEST: Bytes = Bytes::mib(1);
/// Data are told apart sector by sector: no device tears them finer without breaking its own promise.
const SECTOR: Bytes = Bytes::SECTOR;

/// The files as they were acknowledged.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    /// What each holds, sector by sector: the generation that was written there.
    files: BTreeMap<String, Vec<u32>>,
    /// Names of which nothing is promised.
    free: BTreeSet<String>,
    under_way: Option<Step>,
    /// Number of the next name.
    next: u32,
}

impl Tree {
    /// The next step.
    pub(crate) fn draw(&mut self, rng: &mut Rng, generation: u32) -> Step {
        let length = one_of(rng, &SIZES);
        let name = match self.files.len() {
            0 => None,
            count => self.files.keys().nth(rng.below(count)).cloned(),
        };
        let Some(name) = name.filter(|_| self.files.len() >= FIRST_FILES) else {
            return Step::Create { name: self.new_name(), length, generation };
        };
        if self.files.len() >= MOST_FILES {
            return Step::Remove { name };
        }
        let sectors = self.files[&name].len() as u64;
        match rng.below(20) {
            0..=4 => Step::Create { name: self.new_name(), length, generation },
            5..=9 if SECTOR * sectors < LONGEST => Step::Write { name, at: SECTOR * sectors, length, generation },
            5..=12 => {
                let at = SECTOR * rng.below(sectors.max(1) as usize) as u64;
                let length = length.min(SECTOR * sectors - at).max(SECTOR);
                Step::Write { name, at, length, generation }
            }
            13..=15 => Step::Replace { name, length, generation },
            16..=17 => Step::Rename { name, to: self.new_name() },
            _ => Step::Remove { name },
        }
    }

    /// A new file that is not made safe.
    pub(crate) fn draw_loose(&mut self, rng: &mut Rng, generation: u32) -> Step {
        Step::Loose { name: self.new_name(), length: one_of(rng, &SIZES), generation }
    }

    fn new_name(&mut self) -> String {
        self.next += 1;
        format!("f{}", self.next)
    }

    pub(crate) fn begin(&mut self, step: &Step) {
        self.under_way = Some(step.clone());
    }

    pub(crate) fn under_way(&self) -> Option<&Step> {
        self.under_way.as_ref()
    }

    /// The step that was begun is done.
    pub(crate) fn acknowledge(&mut self) {
        let Some(step) = self.under_way.take() else { return };
        let whole = |length: &Bytes, generation: &u32| vec![*generation; (length.get() / SECTOR.get()) as usize];
        match &step {
            Step::Create { name, length, generation } | Step::Replace { name, length, generation } => {
                self.files.insert(name.clone(), whole(length, generation));
            }
            Step::Loose { name, .. } => drop(self.free.insert(name.clone())),
            Step::Write { name, at, length, generation } => {
                let file = self.files.entry(name.clone()).or_default();
                let (from, count) = ((at.get() / SECTOR.get()) as usize, (length.get() / SECTOR.get()) as usize);
                file.resize(file.len().max(from + count), *generation);
                file[from..from + count].fill(*generation);
            }
            Step::Rename { name, to } => {
                if let Some(file) = self.files.remove(name) {
                    self.files.insert(to.clone(), file);
                }
            }
            Step::Remove { name } => {
                self.files.remove(name);
                self.free.remove(name);
            }
            Step::Commit { .. } | Step::Begin { .. } => {}
        }
    }

    /// Holds what is there against what was acknowledged.
    pub(crate) fn judge(&self, found: &Found) -> Vec<UpperLoss> {
        let there: BTreeMap<&str, &FoundFile> = found.files.iter().map(|file| (file.name.as_str(), file)).collect();
        let mut losses: Vec<UpperLoss> = Vec::new();
        for (name, sectors) in &self.files {
            losses.extend(self.judge_file(name, sectors, &there));
        }
        for file in &found.files {
            if !self.files.contains_key(&file.name) && !self.may_be_there(&file.name) {
                let what = format!("{} of it, though it had been removed or renamed", file.length);
                losses.push(loss(UpperKind::ReturnedFile, &file.name, what));
            }
        }
        losses
    }

    /// Whether a file of this name may be there of which nothing was acknowledged.
    fn may_be_there(&self, name: &str) -> bool {
        let of_step = match &self.under_way {
            Some(Step::Create { name: new, .. } | Step::Loose { name: new, .. } | Step::Rename { to: new, .. }) => {
                new == name
            }
            Some(Step::Replace { name: new, .. }) => name == new || name == Step::beside(new),
            _ => false,
        };
        of_step || self.free.contains(name)
    }

    fn judge_file(&self, name: &str, sectors: &[u32], there: &BTreeMap<&str, &FoundFile>) -> Option<UpperLoss> {
        match (&self.under_way, there.get(name)) {
            (Some(Step::Remove { name: gone }), None) if gone == name => None,
            (Some(Step::Rename { name: old, to }), None) if old == name => match there.get(to.as_str()) {
                Some(file) => held(file, sectors, None),
                None => Some(loss(UpperKind::HalfRenamed, name, format!("neither {name} nor {to} is there"))),
            },
            (Some(Step::Rename { name: old, to }), Some(_)) if old == name && there.contains_key(to.as_str()) => {
                Some(loss(UpperKind::HalfRenamed, name, format!("{name} and {to} are both there")))
            }
            (_, None) => {
                let what =
                    format!("{} had been made safe with its name, and it is not there", SECTOR * sectors.len() as u64);
                Some(loss(UpperKind::LostFile, name, what))
            }
            (Some(Step::Replace { name: new, length, generation }), Some(file)) if new == name => {
                let fresh = vec![*generation; (length.get() / SECTOR.get()) as usize];
                let (old, new) = (held(file, sectors, None), held(file, &fresh, None));
                old.filter(|_| new.is_some())
            }
            (step, Some(file)) => held(file, sectors, step.as_ref()),
        }
    }

    /// From now on nothing is promised of what was under way; says how to be rid of it and of all else that is free.
    pub(crate) fn settle(&mut self, found: &Found) -> Vec<Step> {
        let touched: Vec<String> = match self.under_way.take() {
            Some(
                Step::Create { name, .. } | Step::Loose { name, .. } | Step::Write { name, .. } | Step::Remove { name },
            ) => vec![name],
            Some(Step::Replace { name, .. }) => vec![Step::beside(&name), name],
            Some(Step::Rename { name, to }) => vec![name, to],
            Some(Step::Commit { .. } | Step::Begin { .. }) | None => Vec::new(),
        };
        touched.iter().for_each(|name| drop(self.files.remove(name)));
        self.free.extend(touched);
        let free = std::mem::take(&mut self.free);
        let is_there = |name: &String| found.files.iter().any(|file| file.name == *name);
        free.into_iter().filter(is_there).map(|name| Step::Remove { name }).collect()
    }
}

/// Whether a file holds what it should, or what the step under way may have left in it.
fn held(file: &FoundFile, sectors: &[u32], step: Option<&Step>) -> Option<UpperLoss> {
    let name = &file.name;
    if let Some(why) = &file.unreadable {
        return Some(loss(UpperKind::Unreadable, name, why.clone()));
    }
    let over = match step {
        Some(Step::Write { name: written, at, length, generation }) if written == name => {
            Some((*at, *at + *length, *generation))
        }
        _ => None,
    };
    let due = SECTOR * sectors.len() as u64;
    let most = over.map_or(due, |(_, end, _)| due.max(end));
    if file.length < due || file.length > most {
        return Some(loss(UpperKind::LostData, name, format!("{} of {due} are there", file.length)));
    }
    let map = Map::new(Bytes::ZERO, file.stretches.clone());
    for (at, due) in (0..).map(|number| SECTOR * number).zip(sectors) {
        let parts: Vec<(Bytes, Holds)> = map.between(at, at + SECTOR).collect();
        let is = |generation: u32| parts == [(at, Holds::Tagged { generation, addressed: at })];
        let may = over.is_some_and(|(from, to, generation)| from <= at && at < to && is(generation));
        if is(*due) || may {
            continue;
        }
        let (kind, holds) = match parts.first() {
            Some((_, Holds::Uniform(byte))) => (UpperKind::LostData, format!("{byte:#04x} throughout")),
            Some((_, Holds::Tagged { generation, addressed })) if *addressed == at && parts.len() == 1 => {
                (UpperKind::LostData, format!("generation {generation}"))
            }
            _ => (UpperKind::ForeignData, "bytes that nobody wrote there".to_owned()),
        };
        return Some(loss(kind, name, format!("at {}: due: generation {due}; found: {holds}", at.get())));
    }
    None
}

fn loss(kind: UpperKind, name: &str, what: String) -> UpperLoss {
    UpperLoss { kind, name: name.to_owned(), what }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_device::Stretch;

    /// A tree in which these steps were acknowledged, but for the last one where it is under way.
    fn after(steps: &[&str], is_under_way: bool) -> Tree {
        let mut tree = Tree::default();
        for (number, line) in steps.iter().enumerate() {
            tree.begin(&line.parse().expect("a step"));
            if !is_under_way || number + 1 < steps.len() {
                tree.acknowledge();
            }
        }
        tree
    }

    /// A file, by the generation of each sector; 0 is a sector of zeros, 99 one of nobody's.
    fn file(name: &str, sectors: &[u32]) -> FoundFile {
        let holds = |(number, generation): (u64, &u32)| match generation {
            0 => Holds::Uniform(0),
            99 => Holds::Foreign,
            generation => Holds::Tagged { generation: *generation, addressed: SECTOR * number },
        };
        let stretches = (0..).zip(sectors).map(|one| Stretch { length: SECTOR, holds: holds(one) }).collect();
        FoundFile { name: name.to_owned(), length: SECTOR * sectors.len() as u64, stretches, unreadable: None }
    }

    fn kinds(tree: &Tree, files: &[FoundFile]) -> Vec<UpperKind> {
        let found = Found { files: files.to_vec(), ..Found::default() };
        tree.judge(&found).into_iter().map(|loss| loss.kind).collect()
    }

    #[test]
    fn what_was_acknowledged_must_be_there() {
        use UpperKind::{ForeignData, LostData, LostFile, ReturnedFile};
        let tree =
            after(&["create a 1024 1", "write a 1024 512 2", "create b 512 3", "rename b c", "loose d 512 4"], false);
        let good = [file("a", &[1, 1, 2]), file("c", &[3])];
        let check = |files: &[FoundFile], expect: &[UpperKind]| assert_eq!(kinds(&tree, files), expect, "{files:?}");
        check(&good, &[]);
        check(&[good[0].clone(), good[1].clone(), file("d", &[99])], &[]);
        check(&good[..1], &[LostFile]);
        check(&[file("a", &[1, 1]), good[1].clone()], &[LostData]);
        check(&[file("a", &[1, 1, 0]), good[1].clone()], &[LostData]);
        check(&[file("a", &[1, 99, 2]), good[1].clone()], &[ForeignData]);
        check(&[good[0].clone(), good[1].clone(), file("b", &[3])], &[ReturnedFile]);
        let mut unreadable = good[0].clone();
        unreadable.unreadable = Some("EIO".to_owned());
        check(&[unreadable, good[1].clone()], &[UpperKind::Unreadable]);
    }

    #[test]
    fn what_was_under_way_may_be_there_or_not() {
        use UpperKind::{HalfRenamed, LostData, LostFile};
        let check = |steps: &[&str], files: &[FoundFile], expect: &[UpperKind]| {
            assert_eq!(kinds(&after(steps, true), files), expect, "{steps:?}, {files:?}");
        };
        let create = ["create a 512 1", "create b 1024 2"];
        check(&create, &[file("a", &[1])], &[]);
        check(&create, &[file("a", &[1]), file("b", &[0])], &[]);
        let append = ["create a 512 1", "write a 512 512 2"];
        check(&append, &[file("a", &[1])], &[]);
        check(&append, &[file("a", &[1, 0])], &[]);
        check(&append, &[file("a", &[0, 2])], &[LostData]);
        let over = ["create a 1024 1", "write a 0 512 2"];
        check(&over, &[file("a", &[2, 1])], &[]);
        check(&over, &[file("a", &[1, 2])], &[LostData]);
        let replace = ["create a 512 1", "replace a 1024 2"];
        check(&replace, &[file("a", &[1]), file("a.new", &[0])], &[]);
        check(&replace, &[file("a", &[2, 2])], &[]);
        check(&replace, &[file("a", &[2, 0])], &[LostData]);
        check(&replace, &[file("a.new", &[2, 2])], &[LostFile]);
        let rename = ["create a 512 1", "rename a b"];
        check(&rename, &[file("a", &[1])], &[]);
        check(&rename, &[file("b", &[1])], &[]);
        check(&rename, &[file("b", &[0])], &[LostData]);
        check(&rename, &[], &[HalfRenamed]);
        check(&rename, &[file("a", &[1]), file("b", &[1])], &[HalfRenamed]);
        let remove = ["create a 512 1", "remove a"];
        check(&remove, &[], &[]);
        check(&remove, &[file("a", &[1])], &[]);
        check(&remove, &[file("a", &[0])], &[LostData]);
    }

    #[test]
    fn what_was_drawn_can_be_done() {
        let (mut tree, mut rng) = (Tree::default(), Rng::new(5));
        for generation in 1..2000 {
            let step = tree.draw(&mut rng, generation);
            if let Step::Write { name, at, length, .. } = &step {
                assert!(length.get() > 0 && at.get() <= SECTOR.get() * tree.files[name].len() as u64, "{step}");
            }
            if let Step::Rename { to, .. } | Step::Create { name: to, .. } = &step {
                assert!(!tree.files.contains_key(to), "{step}");
            }
            tree.begin(&step);
            tree.acknowledge();
            assert!(tree.files.len() <= MOST_FILES);
        }
    }
}
