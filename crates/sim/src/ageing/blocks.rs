//! Blocks that go bad, and what that does. A *unit* is what the mapping erases as one (a superblock of a drive, a block of a
//! card); it has one block or more, each with a life of its own that follows from the seed.
//!
//! A block that goes bad is replaced from a reserve as long as that lasts: its unit stays in use, but the row of pages that it
//! was part of is not programmed as one any more, and the table of replaced blocks is longer by one entry, to be searched
//! by every request and to be kept up. All of that outlives a purge. When the reserve is used up, the next bad block takes
//! its whole unit out of use.

use super::AgeingParams;
use flashscope_stats::rng::{mix, stream};
use flashscope_units::{Instant, Nanos};
use serde::{Deserialize, Serialize};

/// What an erase did to a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It can be used on.
    Usable,
    /// One of its blocks is bad and nothing is left to replace it.
    Bad,
}

/// How far the blocks of a device have aged.
#[derive(Clone, Debug)]
pub(crate) struct Ageing {
    params: AgeingParams,
    seed: u64,
    blocks_per_unit: u32,
    /// For each unit, which of its blocks were replaced.
    replaced: Vec<u64>,
    /// Entries of the table: all replaced blocks.
    entries: u32,
    /// Replacements when new.
    reserve: u32,
    /// Units opened since the table was last brought up to date.
    opened: u32,
    /// When each unit was last opened to be written. Not saved: what a saved device holds counts as just written.
    written_at: Vec<Instant>,
    /// Time of a search in the table as it stands.
    search: Nanos,
}

/// What is saved of [`Ageing`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SavedAgeing {
    replaced: Vec<u64>,
    opened: u32,
}

/// Share of a block's life from which on some of its rows cannot be read: errors come before an erase fails, but where its end is
/// an early one. Assumption.
const NEAR_ITS_END: f64 = 0.9;

/// More blocks of a unit than this age alike, in groups.
const MOST_BLOCKS: u32 = 64;

impl Ageing {
    pub(crate) fn new(params: &AgeingParams, units: u32, blocks_per_unit: u32, seed: u64) -> Ageing {
        let blocks_per_unit = blocks_per_unit.clamp(1, MOST_BLOCKS);
        let blocks = f64::from(units) * f64::from(blocks_per_unit);
        Ageing {
            params: params.clone(),
            seed: mix(seed ^ 0x6167_6569_6e67),
            blocks_per_unit,
            replaced: vec![0; units as usize],
            entries: 0,
            reserve: (blocks * params.reserve_ratio) as u32,
            opened: 0,
            written_at: vec![Instant::ORIGIN; units as usize],
            search: Nanos::ZERO,
        }
    }

    /// A unit was erased for the `erases`th time.
    pub(crate) fn erased(&mut self, unit: u32, erases: u32) -> Fate {
        for block in 0..self.blocks_per_unit {
            if self.is_replaced(unit, block) || self.life(unit, block) > f64::from(erases) {
                continue;
            }
            if self.entries >= self.reserve {
                return Fate::Bad;
            }
            self.replaced[unit as usize] |= 1 << block;
            self.entries += 1;
            self.note_entries();
        }
        Fate::Usable
    }

    /// What a search in the table of replaced blocks adds to a request.
    pub(crate) fn search(&self) -> Nanos {
        self.search
    }

    /// A unit is opened to be written: what bringing the table up to date takes, where it is due.
    pub(crate) fn open(&mut self, unit: u32, now: Instant) -> Nanos {
        self.written_at[unit as usize] = now;
        self.opened += 1;
        if self.params.upkeep_every == 0 || self.opened < self.params.upkeep_every {
            return Nanos::ZERO;
        }
        self.opened = 0;
        self.params.upkeep_entry * u64::from(self.entries)
    }

    /// How many times the time of a new row a program takes of blocks `from..to` of a unit.
    pub(crate) fn program(&self, unit: u32, blocks: std::ops::Range<u32>, erases: u32) -> f64 {
        self.paired(unit, blocks) * (1.0 + self.params.program_change * self.use_of(erases))
    }

    /// The same of a sense, with the retries that it takes.
    pub(crate) fn sense(&self, unit: u32, blocks: std::ops::Range<u32>, erases: u32) -> f64 {
        self.paired(unit, blocks) * (1.0 + self.params.read_retries * self.use_of(erases).powi(2))
    }

    /// The same of an erase.
    pub(crate) fn erase(&self, erases: u32) -> f64 {
        1.0 + self.params.erase_change * self.use_of(erases)
    }

    /// Replacements that are left, and that there were when it was new.
    pub(crate) fn reserve(&self) -> (u64, u64) {
        (u64::from(self.reserve - self.entries.min(self.reserve)), u64::from(self.reserve))
    }

    /// Blocks that were replaced.
    pub(crate) fn entries(&self) -> u32 {
        self.entries
    }

    /// Whether a row of a unit cannot be read, as one of its blocks is near its end, or as it has more raw bit errors than can
    /// be corrected.
    pub(crate) fn is_unreadable(&self, unit: u32, row: u32, erases: u32, now: Instant) -> bool {
        self.is_near_its_end(unit, row, erases) || self.is_uncorrectable(unit, row, erases, now)
    }

    fn is_uncorrectable(&self, unit: u32, row: u32, erases: u32, now: Instant) -> bool {
        if self.params.raw_errors == 0.0 {
            return false;
        }
        let used = self.use_of(erases);
        let kept = now.since(self.written_at[unit as usize].min(now));
        let lost = match self.params.retention {
            Nanos::ZERO => 0.0,
            time => used * kept.as_f64() / time.as_f64(),
        };
        let median = self.params.raw_errors * used.powf(self.params.raw_errors_power) * (1.0 + lost);
        // No row is further off than a draw of 53 bits can be, so that most need no draw.
        let draw = |of: u64| self.draw(unit, (1 + of) << 24 | u64::from(row));
        median * (self.params.raw_errors_spread * FURTHEST).exp() > 1.0
            && median * (self.params.raw_errors_spread * normal(draw(0), draw(1))).exp() > 1.0
    }

    fn is_near_its_end(&self, unit: u32, row: u32, erases: u32) -> bool {
        if self.params.unreadable == 0.0 {
            return false;
        }
        let erases = f64::from(erases);
        let near = |block| !self.is_replaced(unit, block) && self.wears_out_at(unit, block) * NEAR_ITS_END <= erases;
        (0..self.blocks_per_unit).any(near)
            && uniform(self.draw(unit, 1 << 16 | u64::from(row))) < self.params.unreadable
    }

    pub(crate) fn saved(&self) -> SavedAgeing {
        SavedAgeing { replaced: self.replaced.clone(), opened: self.opened }
    }

    /// Puts the blocks of a new device into a saved state.
    pub(crate) fn restore(&mut self, saved: SavedAgeing) -> Result<(), String> {
        if saved.replaced.len() != self.replaced.len() {
            return Err(format!("it has {} units that age, not {}", saved.replaced.len(), self.replaced.len()));
        }
        (self.replaced, self.opened) = (saved.replaced, saved.opened);
        self.entries = self.replaced.iter().map(|blocks| blocks.count_ones()).sum();
        self.note_entries();
        self.check()
    }

    fn note_entries(&mut self) {
        let doublings = (f64::from(self.entries) + 1.0).log2();
        self.search = Nanos((self.params.search.as_f64() * doublings).round() as u64);
    }

    /// Whether the count of entries is that of the blocks.
    pub(crate) fn check(&self) -> Result<(), String> {
        let replaced: u32 = self.replaced.iter().map(|blocks| blocks.count_ones()).sum();
        if replaced != self.entries || self.entries > self.reserve {
            let (entries, reserve) = (self.entries, self.reserve);
            return Err(format!("{replaced} blocks were replaced, {entries} of a reserve of {reserve} were counted"));
        }
        Ok(())
    }

    /// Bytes held beside the object itself.
    pub(crate) fn bytes(&self) -> usize {
        self.replaced.capacity() * size_of::<u64>() + self.written_at.capacity() * size_of::<Instant>()
    }

    fn paired(&self, unit: u32, blocks: std::ops::Range<u32>) -> f64 {
        let broken = blocks.into_iter().any(|block| self.is_replaced(unit, block));
        if broken { self.params.unpaired } else { 1.0 }
    }

    fn is_replaced(&self, unit: u32, block: u32) -> bool {
        self.replaced[unit as usize] >> (block % self.blocks_per_unit) & 1 == 1
    }

    fn use_of(&self, erases: u32) -> f64 {
        f64::from(erases) / f64::from(self.params.rated_erases)
    }

    /// Erases that a block stands: the end of its life, or an early end.
    fn life(&self, unit: u32, block: u32) -> f64 {
        let early = match self.params.early_failures {
            0.0 => f64::INFINITY,
            // The first success of tosses with this probability.
            chance => ((1.0 - uniform(self.draw(unit, u64::from(block) << 8 | 4))).ln() / (1.0 - chance).ln()).ceil(),
        };
        self.wears_out_at(unit, block).min(early).max(1.0)
    }

    fn wears_out_at(&self, unit: u32, block: u32) -> f64 {
        // The sum of four uniform numbers is as good as normal for what is wanted here: mean 2, variance 1/3.
        let sum: f64 = (0..4).map(|part| uniform(self.draw(unit, u64::from(block) << 8 | part))).sum();
        let mean = f64::from(self.params.rated_erases) * self.params.lasts;
        mean * (1.0 + self.params.lasts_spread * (sum - 2.0) * 3.0f64.sqrt())
    }

    fn draw(&self, unit: u32, purpose: u64) -> u64 {
        mix(stream(self.seed, u64::from(unit) << 32 | purpose))
    }
}

/// No standard normal number of [`normal`] is larger: √(2 · 53 · ln 2).
const FURTHEST: f64 = 8.58;

/// Standard normal, by the transform of Box and Muller.
fn normal(one: u64, other: u64) -> f64 {
    (-2.0 * (1.0 - uniform(one)).ln()).sqrt() * (std::f64::consts::TAU * uniform(other)).cos()
}

/// Uniform on [0, 1).
fn uniform(word: u64) -> f64 {
    (word >> 11) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ageing(changes: impl FnOnce(&mut AgeingParams)) -> Ageing {
        let mut params: AgeingParams = super::super::defaults().try_into().unwrap();
        changes(&mut params);
        Ageing::new(&params, 1000, 4, 7)
    }

    /// Erases all units up to `erases` times; how many went bad for good.
    fn wear(ageing: &mut Ageing, erases: u32) -> usize {
        (0..1000).filter(|&unit| (1..=erases).any(|erase| ageing.erased(unit, erase) == Fate::Bad)).count()
    }

    #[test]
    fn early_failures_come_at_their_rate_and_fill_the_table() {
        let mut young = ageing(|params| params.early_failures = 5e-4);
        let mut old = young.clone();
        assert_eq!((wear(&mut young, 2), wear(&mut old, 30)), (0, 0));
        // 4000 blocks × 5e-4 per erase: 4 and 60, each ± 3 standard deviations.
        assert!(young.entries <= 10, "{}", young.entries);
        assert!((37..=83).contains(&old.entries), "{}", old.entries);
        assert_eq!(old.check(), Ok(()));
    }

    #[test]
    fn a_block_lasts_as_long_as_the_mean_says_and_then_the_reserve_ends() {
        let mut used = ageing(|params| (params.rated_erases, params.lasts) = (100, 2.0));
        assert_eq!(wear(&mut used, 100), 0);
        let early = used.entries;
        assert!(wear(&mut used, 300) > 900 && early < 80, "{early}");
        assert_eq!(used.reserve(), (0, 80));
        assert_eq!(used.check(), Ok(()));
    }

    #[test]
    fn the_table_costs_what_its_entries_cost() {
        let mut used = ageing(|params| {
            (params.early_failures, params.search, params.unpaired) = (0.01, Nanos::micros(10), 2.0);
            (params.upkeep_entry, params.upkeep_every) = (Nanos::millis(1), 2);
        });
        let open = |used: &mut Ageing| used.open(0, Instant::ORIGIN);
        assert_eq!((used.search(), open(&mut used), open(&mut used)), (Nanos::ZERO, Nanos::ZERO, Nanos::ZERO));
        assert_eq!(used.program(3, 0..4, 0), 1.0);
        wear(&mut used, 1);
        let entries = used.entries;
        assert!(used.search() >= Nanos::micros(40) && used.search() < Nanos::micros(70), "{}", used.search());
        assert_eq!((open(&mut used), open(&mut used)), (Nanos::ZERO, Nanos::millis(u64::from(entries))));
        let slow = (0..1000).filter(|&unit| used.program(unit, 0..4, 1) > 1.5).count();
        assert!(slow > 0 && slow <= entries as usize);
    }

    #[test]
    fn raw_errors_grow_with_wear_and_with_time() {
        let params = |params: &mut AgeingParams| {
            (params.rated_erases, params.raw_errors, params.raw_errors_power) = (100, 0.1, 3.0);
            (params.raw_errors_spread, params.retention) = (0.5, Nanos::secs(1000));
        };
        let worn = ageing(params);
        let unreadable = |erases: u32, after: Nanos| {
            let now = Instant::ORIGIN + after;
            (0..20_000).filter(|&row| worn.is_unreadable(row % 1000, row / 1000, erases, now)).count()
        };
        assert_eq!(unreadable(20, Nanos::ZERO), 0);
        // At (1/0.1)^(1/3) times the rated erases half of the rows have more errors than can be corrected.
        let half = unreadable(215, Nanos::ZERO);
        assert!((9_000..11_000).contains(&half), "{half}");
        // Twice the errors at the rated erases: Φ(ln 5 / 0.5) leaves 0.06 % of the rows.
        let (fresh, kept) = (unreadable(100, Nanos::ZERO), unreadable(100, Nanos::secs(1000)));
        assert!(fresh == 0 && (2..40).contains(&kept), "{fresh} {kept}");
        assert!(!ageing(|_| {}).is_unreadable(0, 0, 1_000_000, Instant::ORIGIN));
    }
}
