//! Loops over long arrays: one pass of each, by the widest vectors that this processor has.
//!
//! The four of STREAM (McCalpin, <https://www.cs.virginia.edu/stream/ref.html>) by their published definition, and one that only
//! reads and one that only writes. A plain store reads the line that it writes to; a non-temporal one does not, and leaves the
//! caches alone.

#[cfg(target_arch = "x86_64")]
mod x86;

/// How data is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Store {
    /// Through the caches.
    Plain,
    /// Past the caches.
    NonTemporal,
}

/// The vectors that a loop is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instructions(Set);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Set {
    /// What the compiler makes of plain Rust.
    Portable,
    #[cfg(target_arch = "x86_64")]
    Sse2,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

/// Alignment that the arrays of a loop must have, in bytes: the widest vector, and a cache line almost everywhere.
pub const ALIGNMENT: usize = 64;

impl Instructions {
    /// The widest that this processor has.
    pub fn best() -> Instructions {
        *Instructions::all().last().expect("the portable ones are everywhere")
    }

    /// All that this processor has, the widest last.
    pub fn all() -> Vec<Instructions> {
        #[allow(unused_mut)]
        let mut all = vec![Instructions(Set::Portable)];
        #[cfg(target_arch = "x86_64")]
        {
            // Every x86-64 has SSE2.
            all.push(Instructions(Set::Sse2));
            if std::arch::is_x86_feature_detected!("avx2") {
                all.push(Instructions(Set::Avx2));
            }
            if std::arch::is_x86_feature_detected!("avx512f") {
                all.push(Instructions(Set::Avx512));
            }
        }
        all
    }

    /// Their name.
    pub fn word(self) -> &'static str {
        match self.0 {
            Set::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Set::Sse2 => "sse2",
            #[cfg(target_arch = "x86_64")]
            Set::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Set::Avx512 => "avx512f",
        }
    }

    /// How they can store.
    pub fn stores(self) -> &'static [Store] {
        match self.0 {
            Set::Portable => &[Store::Plain],
            #[cfg(target_arch = "x86_64")]
            _ => &[Store::Plain, Store::NonTemporal],
        }
    }

    /// The sum of an array.
    ///
    /// # Panics
    /// Where the array does not begin at a multiple of [`ALIGNMENT`]; so do all others.
    pub fn read(self, a: &[f64]) -> f64 {
        check(&[a]);
        match self.0 {
            Set::Portable => portable::read(a),
            #[cfg(target_arch = "x86_64")]
            set => x86::read(set, a),
        }
    }

    /// `a[i] = value`.
    ///
    /// # Panics
    /// Also where these instructions cannot store so ([`Instructions::stores`]); so do all that follow.
    pub fn write(self, store: Store, a: &mut [f64], value: f64) {
        check(&[a]);
        match (self.0, self.streams(store)) {
            (Set::Portable, _) => a.fill(value),
            #[cfg(target_arch = "x86_64")]
            (set, streams) => x86::write(set, streams, a, value),
        }
    }

    /// `a[i] = b[i]`.
    ///
    /// # Panics
    /// Also where the arrays are not of one length; so do all that follow.
    pub fn copy(self, store: Store, a: &mut [f64], b: &[f64]) {
        check(&[a, b]);
        match (self.0, self.streams(store)) {
            (Set::Portable, _) => portable::copy(a, b),
            #[cfg(target_arch = "x86_64")]
            (set, streams) => x86::copy(set, streams, a, b),
        }
    }

    /// `a[i] = q * b[i]`.
    ///
    /// # Panics
    /// As [`Instructions::copy`].
    pub fn scale(self, store: Store, a: &mut [f64], b: &[f64], q: f64) {
        check(&[a, b]);
        match (self.0, self.streams(store)) {
            (Set::Portable, _) => portable::scale(a, b, q),
            #[cfg(target_arch = "x86_64")]
            (set, streams) => x86::scale(set, streams, a, b, q),
        }
    }

    /// `a[i] = b[i] + c[i]`.
    ///
    /// # Panics
    /// As [`Instructions::copy`].
    pub fn add(self, store: Store, a: &mut [f64], b: &[f64], c: &[f64]) {
        check(&[a, b, c]);
        match (self.0, self.streams(store)) {
            (Set::Portable, _) => portable::add(a, b, c),
            #[cfg(target_arch = "x86_64")]
            (set, streams) => x86::add(set, streams, a, b, c),
        }
    }

    /// `a[i] = b[i] + q * c[i]`.
    ///
    /// # Panics
    /// As [`Instructions::copy`].
    pub fn triad(self, store: Store, a: &mut [f64], b: &[f64], c: &[f64], q: f64) {
        check(&[a, b, c]);
        match (self.0, self.streams(store)) {
            (Set::Portable, _) => portable::triad(a, b, c, q),
            #[cfg(target_arch = "x86_64")]
            (set, streams) => x86::triad(set, streams, a, b, c, q),
        }
    }

    /// Whether such a store goes past the caches.
    fn streams(self, store: Store) -> bool {
        assert!(self.stores().contains(&store), "{} cannot store so", self.word());
        store == Store::NonTemporal
    }
}

/// What every loop relies on.
fn check(arrays: &[&[f64]]) {
    for array in arrays {
        assert!(array.as_ptr().addr().is_multiple_of(ALIGNMENT), "an array is not aligned");
        assert!(array.len() == arrays[0].len(), "arrays are not of one length");
    }
}

/// One line of each 64 bytes is read, and `delay` empty steps are made before the next: load for a chase beside it. Gives back
/// the sum, so that the reading is not left out.
pub fn read_slowly(words: &[u64], delay: u32) -> u64 {
    let mut sum = 0u64;
    for line in words.chunks(ALIGNMENT / size_of::<u64>()) {
        sum = sum.wrapping_add(line[0]);
        for step in 0..delay {
            std::hint::black_box(step);
        }
    }
    std::hint::black_box(sum)
}

/// The same by what the compiler makes of it; also what the vectors of other modules leave at the end of an array.
mod portable {
    /// Sums kept apart, so that one addition does not wait for the other.
    const SUMS: usize = 16;

    pub(super) fn read(a: &[f64]) -> f64 {
        let (blocks, rest) = a.as_chunks::<SUMS>();
        let mut sums = [0.0; SUMS];
        for block in blocks {
            sums.iter_mut().zip(block).for_each(|(sum, value)| *sum += value);
        }
        sums.iter().chain(rest).sum()
    }

    pub(super) fn copy(a: &mut [f64], b: &[f64]) {
        a.copy_from_slice(b);
    }

    pub(super) fn scale(a: &mut [f64], b: &[f64], q: f64) {
        a.iter_mut().zip(b).for_each(|(a, b)| *a = q * b);
    }

    pub(super) fn add(a: &mut [f64], b: &[f64], c: &[f64]) {
        a.iter_mut().zip(b.iter().zip(c)).for_each(|(a, (b, c))| *a = b + c);
    }

    pub(super) fn triad(a: &mut [f64], b: &[f64], c: &[f64], q: f64) {
        a.iter_mut().zip(b.iter().zip(c)).for_each(|(a, (b, c))| *a = b + q * c);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Buffer, Pages};

    /// Three arrays of one length, their content by index.
    fn arrays(len: usize) -> [Buffer; 3] {
        [0, 1, 2].map(|which| {
            let mut buffer = Buffer::new(len * 8, Pages::Small).unwrap();
            for (at, value) in buffer.numbers_mut().iter_mut().enumerate() {
                *value = (at * 3 + which) as f64 * 0.5;
            }
            buffer
        })
    }

    #[test]
    fn every_set_does_what_the_definition_says() {
        // Whole blocks of every set, ends that are none, and nothing.
        for len in [0usize, 1, 7, 32, 33, 64, 1000, 1027] {
            let [mut a, b, c] = arrays(1027);
            let (b, c) = (&b.numbers()[..len], &c.numbers()[..len]);
            for set in Instructions::all() {
                assert_eq!(set.read(b), b.iter().sum::<f64>(), "{set:?} {len}");
                for &store in set.stores() {
                    let context = format!("{set:?} {store:?} {len}");
                    let a = &mut a.numbers_mut()[..len + 1];
                    a[len] = -1.0;
                    let all = |a: &[f64], is: &dyn Fn(usize) -> f64| {
                        assert!(a.iter().enumerate().all(|(at, value)| *value == is(at)), "{context}");
                    };
                    set.write(store, &mut a[..len], 7.0);
                    all(&a[..len], &|_| 7.0);
                    set.copy(store, &mut a[..len], b);
                    all(&a[..len], &|at| b[at]);
                    set.scale(store, &mut a[..len], b, 3.0);
                    all(&a[..len], &|at| 3.0 * b[at]);
                    set.add(store, &mut a[..len], b, c);
                    all(&a[..len], &|at| b[at] + c[at]);
                    set.triad(store, &mut a[..len], b, c, 3.0);
                    all(&a[..len], &|at| b[at] + 3.0 * c[at]);
                    assert_eq!(a[len], -1.0, "{context}: nothing behind the end");
                }
            }
        }
    }

    #[test]
    fn what_loops_rely_on_is_checked() {
        let [mut a, b, _] = arrays(64);
        let set = Instructions::best();
        let panics = |act: &mut dyn FnMut()| std::panic::catch_unwind(std::panic::AssertUnwindSafe(act)).is_err();
        assert!(panics(&mut || {
            set.read(&b.numbers()[1..]);
        }));
        assert!(panics(&mut || set.copy(Store::Plain, &mut a.numbers_mut()[..32], &b.numbers()[..40])));
        let portable = Instructions::all()[0];
        assert!(panics(&mut || portable.write(Store::NonTemporal, a.numbers_mut(), 1.0)));
    }

    #[test]
    fn a_slow_reader_reads_the_first_word_of_each_line() {
        let words: Vec<u64> = (0..24).collect();
        assert_eq!(read_slowly(&words, 3), 8 + 16);
    }
}
