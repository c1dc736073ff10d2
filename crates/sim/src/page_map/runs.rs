//! A map from dense numbers to numbers that costs next to nothing where it is regular.
//!
//! Both directions of the page map are kept in it. A chunk of [`CHUNK`] entries is a short list of linear runs
//! (`start + i → value + i`) until it has been disturbed in more than [`MAX_RUNS`] places; then it becomes a plain table of
//! four bytes per entry. So a device filled sequentially takes a few bytes per 16 MiB, and a random-written one four bytes
//! per page and direction.

/// No value.
pub(super) const NONE: u32 = u32::MAX;

/// Entries of a chunk, as a power of two: 4096 pages of 4 KiB are 16 MiB.
const CHUNK_BITS: u32 = 12;
/// Entries of a chunk.
const CHUNK: u32 = 1 << CHUNK_BITS;
/// More runs than this in a chunk make it a table: 16 runs take 128 bytes, a table 16 KiB.
const MAX_RUNS: usize = 16;

type Table = Box<[u32]>;

/// Entries `start .. start + length` of a chunk hold `value`, `value + 1`, …
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    start: u16,
    length: u16,
    value: u32,
}

impl Run {
    fn end(self) -> u32 {
        u32::from(self.start) + u32::from(self.length)
    }

    /// The part of the run within `from .. to` of its chunk, where there is one.
    fn part(self, from: u32, to: u32) -> Option<Run> {
        let start = from.max(u32::from(self.start));
        let end = to.min(self.end());
        (start < end).then(|| Run {
            start: start as u16,
            length: (end - start) as u16,
            value: self.value + (start - u32::from(self.start)),
        })
    }

    /// Whether `next` goes on where this one ends.
    fn continues(self, next: Run) -> bool {
        self.end() == u32::from(next.start) && self.value + u32::from(self.length) == next.value
    }
}

#[derive(Clone, Debug)]
enum Chunk {
    /// Sorted, disjoint, none empty, no two of them one.
    Runs(Vec<Run>),
    Table(Table),
}

/// The map. Entries that were never set, or were cleared, have no value.
#[derive(Clone, Debug)]
pub(super) struct RunMap {
    chunks: Vec<Chunk>,
    /// Tables to use again, so that erasing and refilling a block does not go through the allocator.
    pool: Vec<Table>,
}

impl RunMap {
    /// A map of `length` entries without values.
    pub(super) fn new(length: u64) -> RunMap {
        let chunks = length.div_ceil(u64::from(CHUNK)) as usize;
        RunMap { chunks: (0..chunks).map(|_| Chunk::Runs(Vec::new())).collect(), pool: Vec::new() }
    }

    /// The value at `index`, or [`NONE`].
    #[inline]
    pub(super) fn get(&self, index: u32) -> u32 {
        let within = index & (CHUNK - 1);
        match &self.chunks[(index >> CHUNK_BITS) as usize] {
            Chunk::Table(table) => table[within as usize],
            Chunk::Runs(runs) => {
                runs.iter().find_map(|run| run.part(within, within + 1)).map_or(NONE, |part| part.value)
            }
        }
    }

    /// Gives `count` entries from `start` on the values `value`, `value + 1`, …
    pub(super) fn set(&mut self, start: u32, count: u32, value: u32) {
        for (chunk, from, length, done) in pieces(start, count) {
            let run = Run { start: from as u16, length: length as u16, value: value + done };
            match &mut self.chunks[chunk] {
                Chunk::Table(table) if length < CHUNK => {
                    for (i, entry) in table[from as usize..(from + length) as usize].iter_mut().enumerate() {
                        *entry = run.value + i as u32;
                    }
                }
                Chunk::Table(_) => self.replace(chunk, vec![run]),
                Chunk::Runs(runs) => {
                    splice(runs, from, length, Some(run));
                    if runs.len() > MAX_RUNS {
                        self.spread(chunk);
                    }
                }
            }
        }
    }

    /// Takes the values of `count` entries from `start` on away.
    pub(super) fn clear(&mut self, start: u32, count: u32) {
        for (chunk, from, length, _) in pieces(start, count) {
            match &mut self.chunks[chunk] {
                Chunk::Table(table) if length < CHUNK => table[from as usize..(from + length) as usize].fill(NONE),
                Chunk::Table(_) => self.replace(chunk, Vec::new()),
                Chunk::Runs(runs) => {
                    splice(runs, from, length, None);
                    if runs.len() > MAX_RUNS {
                        self.spread(chunk);
                    }
                }
            }
        }
    }

    /// Calls `visit(start, count, value)` for every linear run of values in the range, in order. Neighbouring calls may
    /// be parts of one run.
    pub(super) fn for_each(&self, start: u32, count: u32, mut visit: impl FnMut(u32, u32, u32)) {
        for (chunk, from, length, _) in pieces(start, count) {
            let base = (chunk as u32) << CHUNK_BITS;
            match &self.chunks[chunk] {
                Chunk::Table(table) => {
                    let table = &table[from as usize..(from + length) as usize];
                    let mut at = 0;
                    while at < table.len() {
                        let value = table[at];
                        let mut n = 1;
                        if value != NONE {
                            while at + n < table.len() && table[at + n] == value.wrapping_add(n as u32) {
                                n += 1;
                            }
                            visit(base + from + at as u32, n as u32, value);
                        }
                        at += n;
                    }
                }
                Chunk::Runs(runs) => {
                    for part in runs.iter().filter_map(|run| run.part(from, from + length)) {
                        visit(base + u32::from(part.start), u32::from(part.length), part.value);
                    }
                }
            }
        }
    }

    /// Bytes held: chunk headers, run lists, tables and spare tables.
    pub(super) fn bytes(&self) -> usize {
        let table = CHUNK as usize * size_of::<u32>();
        let inside = |chunk: &Chunk| match chunk {
            Chunk::Runs(runs) => runs.capacity() * size_of::<Run>(),
            Chunk::Table(_) => table,
        };
        self.chunks.capacity() * size_of::<Chunk>()
            + self.chunks.iter().map(inside).sum::<usize>()
            + self.pool.len() * table
    }

    /// Turns a list of runs into a table.
    fn spread(&mut self, chunk: usize) {
        let mut table = self.pool.pop().unwrap_or_else(|| vec![NONE; CHUNK as usize].into_boxed_slice());
        if let Chunk::Runs(runs) = &self.chunks[chunk] {
            table.fill(NONE);
            for run in runs {
                for i in 0..u32::from(run.length) {
                    table[(u32::from(run.start) + i) as usize] = run.value + i;
                }
            }
        }
        self.chunks[chunk] = Chunk::Table(table);
    }

    /// Puts runs in the place of a table, which goes to the spare ones.
    fn replace(&mut self, chunk: usize, runs: Vec<Run>) {
        if let Chunk::Table(table) = std::mem::replace(&mut self.chunks[chunk], Chunk::Runs(runs)) {
            self.pool.push(table);
        }
    }
}

/// A range cut at chunk borders: chunk, first entry within it, entries, entries before it in the range.
fn pieces(start: u32, count: u32) -> impl Iterator<Item = (usize, u32, u32, u32)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        if done == count {
            return None;
        }
        let at = start + done;
        let from = at & (CHUNK - 1);
        let length = (count - done).min(CHUNK - from);
        let piece = ((at >> CHUNK_BITS) as usize, from, length, done);
        done += length;
        Some(piece)
    })
}

/// Replaces `from .. from + length` of a list of runs by `new`, or by nothing.
fn splice(runs: &mut Vec<Run>, from: u32, length: u32, new: Option<Run>) {
    // Appending is what a sequential write does, so it comes without the copy.
    if runs.last().is_none_or(|last| last.end() <= from) {
        if let Some(new) = new {
            push(runs, new);
        }
        return;
    }
    let old = std::mem::replace(runs, Vec::with_capacity(runs.len() + 2));
    let end = from + length;
    for run in old.iter().filter_map(|run| run.part(0, from)) {
        push(runs, run);
    }
    if let Some(new) = new {
        push(runs, new);
    }
    for run in old.iter().filter_map(|run| run.part(end, CHUNK)) {
        push(runs, run);
    }
}

/// Appends a run, or lengthens the last one by it.
fn push(runs: &mut Vec<Run>, run: Run) {
    match runs.last_mut() {
        Some(last) if last.continues(run) => last.length += run.length,
        _ => runs.push(run),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn regular_content_is_small_and_random_content_is_four_bytes() {
        let entries = 1u32 << 20;
        let mut map = RunMap::new(u64::from(entries));
        for start in (0..entries).step_by(128) {
            map.set(start, 128, start + 7);
        }
        assert_eq!(map.get(entries - 1), entries + 6);
        assert!(map.bytes() < 64 * (entries / CHUNK) as usize, "{} bytes", map.bytes());
        for i in 0..entries {
            map.set(i, 1, i ^ 0x5555);
        }
        let per_entry = map.bytes() as f64 / f64::from(entries);
        assert!(per_entry < 4.02, "{per_entry} bytes per entry");
        map.clear(0, entries);
        assert_eq!(map.get(77), NONE);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn is_a_plain_array(steps in prop::collection::vec((0u32..3 * CHUNK, 1u32..5000, 0u32..1_000_000, 0u8..4, any::<bool>()), 1..80)) {
            let size = 3 * CHUNK;
            let mut map = RunMap::new(u64::from(size));
            let mut naive = vec![NONE; size as usize];
            for (start, count, value, what, short) in steps {
                let count = if short { count % 9 + 1 } else { count }.min(size - start);
                let range = start as usize..(start + count) as usize;
                if what == 0 {
                    map.clear(start, count);
                    naive[range].fill(NONE);
                } else {
                    map.set(start, count, value);
                    for (i, entry) in naive[range].iter_mut().enumerate() {
                        *entry = value + i as u32;
                    }
                }
            }
            let mut seen = vec![NONE; size as usize];
            map.for_each(0, size, |start, count, value| {
                for i in 0..count {
                    seen[(start + i) as usize] = value + i;
                }
            });
            prop_assert_eq!(&seen, &naive);
            for i in (0..size).step_by(7) {
                prop_assert_eq!(map.get(i), naive[i as usize]);
            }
        }
    }
}
