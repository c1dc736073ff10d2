//! One cache: sets of ways, and which line of a set makes room.

use flashscope_stats::Rng;

/// Which line of a set makes room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// The one that was used least recently.
    Lru,
    /// Any.
    Random,
    /// Any that was not used since all others were.
    NotRecent,
}

/// Sets of ways.
#[derive(Debug)]
pub(super) struct Cache {
    /// Line numbers, one set after the other; the latest first where that decides.
    lines: Vec<u64>,
    used: Vec<bool>,
    sets: u64,
    ways: usize,
    policy: Policy,
    hashed: bool,
}

/// No line.
const EMPTY: u64 = u64::MAX;
/// Sets from which on a few more or less are nothing.
const MANY: u64 = 256;
/// Neighbouring lines that a hash leaves in neighbouring sets.
const TOGETHER: u64 = 16;

impl Cache {
    pub(super) fn new(lines: u64, ways: u64, policy: Policy, hashed: bool) -> Cache {
        let ways = ways.clamp(1, lines.max(1));
        let sets = (lines / ways).max(1);
        // Sampled rings visit every sixteenth line, which are every sixteenth set only where these are a multiple.
        let sets = if sets >= MANY { sets / TOGETHER * TOGETHER } else { sets };
        let all = (sets * ways) as usize;
        Cache { lines: vec![EMPTY; all], used: vec![false; all], sets, ways: ways as usize, policy, hashed }
    }

    fn set(&self, line: u64) -> usize {
        let set = match self.hashed && self.sets.is_multiple_of(TOGETHER) {
            true => flashscope_stats::rng::mix(line / TOGETHER) % (self.sets / TOGETHER) * TOGETHER + line % TOGETHER,
            false => line % self.sets,
        };
        set as usize * self.ways
    }

    /// Whether a line is there; then it was used.
    pub(super) fn touch(&mut self, line: u64) -> bool {
        let from = self.set(line);
        let Some(at) = self.lines[from..from + self.ways].iter().position(|known| *known == line) else { return false };
        self.use_way(from, at);
        true
    }

    fn use_way(&mut self, from: usize, at: usize) {
        match self.policy {
            Policy::Lru => self.lines[from..=from + at].rotate_right(1),
            Policy::Random => {}
            Policy::NotRecent => {
                self.used[from + at] = true;
                let set = &mut self.used[from..from + self.ways];
                if set.iter().all(|used| *used) {
                    set.fill(false);
                    set[at] = true;
                }
            }
        }
    }

    /// Puts a line in that is not there; the one that made room.
    pub(super) fn put(&mut self, line: u64, rng: &mut Rng) -> Option<u64> {
        let from = self.set(line);
        let set = &self.lines[from..from + self.ways];
        let empty = set.iter().position(|known| *known == EMPTY);
        let at = empty.unwrap_or_else(|| match self.policy {
            Policy::Lru => self.ways - 1,
            Policy::Random => rng.below(self.ways),
            Policy::NotRecent => self.used[from..from + self.ways].iter().position(|used| !used).unwrap_or(0),
        });
        let gone = std::mem::replace(&mut self.lines[from + at], line);
        self.use_way(from, at);
        (gone != EMPTY).then_some(gone)
    }

    /// Takes a line out.
    pub(super) fn take(&mut self, line: u64) {
        let from = self.set(line);
        let set = &mut self.lines[from..from + self.ways];
        if let Some(at) = set.iter().position(|known| *known == line) {
            set[at] = EMPTY;
        }
    }

    /// Some line is taken by somebody else.
    pub(super) fn forget(&mut self, rng: &mut Rng) {
        let at = rng.below(self.lines.len());
        self.lines[at] = EMPTY;
    }
}

/// A single set, visited by itself.
#[derive(Debug)]
pub(crate) struct OneSet {
    cache: Cache,
    rng: Rng,
}

impl OneSet {
    /// Empty.
    pub(crate) fn new(ways: usize, policy: Policy) -> OneSet {
        OneSet { cache: Cache::new(ways as u64, ways as u64, policy, false), rng: Rng::new(ways as u64) }
    }

    /// Whether a line was there; it is afterwards.
    pub(crate) fn visit(&mut self, line: u64) -> bool {
        let found = self.cache.touch(line);
        if !found {
            self.cache.put(line, &mut self.rng);
        }
        found
    }
}
