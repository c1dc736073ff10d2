//! Loops by the vectors of x86-64.

use super::{Set, portable};

/// The loops by one set of instructions; `$lanes` numbers are in a vector, and four vectors make a block.
macro_rules! loops {
    (
        $set:ident, $feature:literal, $lanes:literal, $vector:ident,
        $zero:ident, $all:ident, $load:ident, $plain:ident, $stream:ident, $plus:ident, $times:ident
    ) => {
        mod $set {
            use super::portable;
            use std::arch::x86_64::*;

            const BLOCK: usize = 4 * $lanes;

            // In all of them: a block has room for four vectors, and begins where a vector may, as the arrays are aligned to the
            // widest vector (`check` of the module above) and the length of a block is a multiple of its vector's.

            #[target_feature(enable = $feature)]
            pub(super) fn read(a: &[f64]) -> f64 {
                let (blocks, rest) = a.as_chunks::<BLOCK>();
                let mut sums = [$zero(); 4];
                for block in blocks {
                    for (at, sum) in sums.iter_mut().enumerate() {
                        // SAFETY: vector `at` of the block, as above.
                        *sum = $plus(*sum, unsafe { $load(block.as_ptr().add(at * $lanes)) });
                    }
                }
                let mut lanes = [0.0; BLOCK];
                for (at, sum) in sums.iter().enumerate() {
                    // SAFETY: as above, but for the alignment, which this store does not ask for on the stack.
                    unsafe { lanes.as_mut_ptr().add(at * $lanes).cast::<$vector>().write_unaligned(*sum) };
                }
                lanes.iter().chain(rest).sum()
            }

            #[target_feature(enable = $feature)]
            pub(super) fn write<const STREAM: bool>(a: &mut [f64], value: f64) {
                let (blocks, rest) = a.as_chunks_mut::<BLOCK>();
                let vector = $all(value);
                for block in blocks {
                    for at in 0..4 {
                        // SAFETY: vector `at` of the block, as above.
                        unsafe { put::<STREAM>(block.as_mut_ptr().add(at * $lanes), vector) };
                    }
                }
                rest.fill(value);
                finish::<STREAM>();
            }

            #[target_feature(enable = $feature)]
            pub(super) fn copy<const STREAM: bool>(a: &mut [f64], b: &[f64]) {
                let ((to, a_rest), (from, b_rest)) = (a.as_chunks_mut::<BLOCK>(), b.as_chunks::<BLOCK>());
                for (to, from) in to.iter_mut().zip(from) {
                    for at in 0..4 {
                        // SAFETY: vector `at` of each block, as above.
                        unsafe {
                            let vector = $load(from.as_ptr().add(at * $lanes));
                            put::<STREAM>(to.as_mut_ptr().add(at * $lanes), vector);
                        }
                    }
                }
                portable::copy(a_rest, b_rest);
                finish::<STREAM>();
            }

            #[target_feature(enable = $feature)]
            pub(super) fn scale<const STREAM: bool>(a: &mut [f64], b: &[f64], q: f64) {
                let ((to, a_rest), (from, b_rest)) = (a.as_chunks_mut::<BLOCK>(), b.as_chunks::<BLOCK>());
                let factor = $all(q);
                for (to, from) in to.iter_mut().zip(from) {
                    for at in 0..4 {
                        // SAFETY: vector `at` of each block, as above.
                        unsafe {
                            let vector = $times(factor, $load(from.as_ptr().add(at * $lanes)));
                            put::<STREAM>(to.as_mut_ptr().add(at * $lanes), vector);
                        }
                    }
                }
                portable::scale(a_rest, b_rest, q);
                finish::<STREAM>();
            }

            #[target_feature(enable = $feature)]
            pub(super) fn add<const STREAM: bool>(a: &mut [f64], b: &[f64], c: &[f64]) {
                let (to, a_rest) = a.as_chunks_mut::<BLOCK>();
                let ((one, b_rest), (two, c_rest)) = (b.as_chunks::<BLOCK>(), c.as_chunks::<BLOCK>());
                for (to, (one, two)) in to.iter_mut().zip(one.iter().zip(two)) {
                    for at in 0..4 {
                        // SAFETY: vector `at` of each block, as above.
                        unsafe {
                            let first = $load(one.as_ptr().add(at * $lanes));
                            let vector = $plus(first, $load(two.as_ptr().add(at * $lanes)));
                            put::<STREAM>(to.as_mut_ptr().add(at * $lanes), vector);
                        }
                    }
                }
                portable::add(a_rest, b_rest, c_rest);
                finish::<STREAM>();
            }

            #[target_feature(enable = $feature)]
            pub(super) fn triad<const STREAM: bool>(a: &mut [f64], b: &[f64], c: &[f64], q: f64) {
                let (to, a_rest) = a.as_chunks_mut::<BLOCK>();
                let ((one, b_rest), (two, c_rest)) = (b.as_chunks::<BLOCK>(), c.as_chunks::<BLOCK>());
                let factor = $all(q);
                for (to, (one, two)) in to.iter_mut().zip(one.iter().zip(two)) {
                    for at in 0..4 {
                        // SAFETY: vector `at` of each block, as above.
                        unsafe {
                            let first = $load(one.as_ptr().add(at * $lanes));
                            let second = $times(factor, $load(two.as_ptr().add(at * $lanes)));
                            put::<STREAM>(to.as_mut_ptr().add(at * $lanes), $plus(first, second));
                        }
                    }
                }
                portable::triad(a_rest, b_rest, c_rest, q);
                finish::<STREAM>();
            }

            /// # Safety
            /// `to` is where a vector may be written, aligned to its size.
            #[target_feature(enable = $feature)]
            unsafe fn put<const STREAM: bool>(to: *mut f64, vector: $vector) {
                // SAFETY: as the caller says.
                unsafe { if STREAM { $stream(to, vector) } else { $plain(to, vector) } }
            }

            /// Stores past the caches are not ordered with others; whoever reads after this sees them.
            #[target_feature(enable = $feature)]
            fn finish<const STREAM: bool>() {
                if STREAM {
                    // SAFETY: it touches no memory by itself; newer versions of Rust call it safe.
                    #[allow(unused_unsafe)]
                    unsafe {
                        _mm_sfence();
                    }
                }
            }
        }
    };
}

loops!(
    sse2,
    "sse2",
    2,
    __m128d,
    _mm_setzero_pd,
    _mm_set1_pd,
    _mm_load_pd,
    _mm_store_pd,
    _mm_stream_pd,
    _mm_add_pd,
    _mm_mul_pd
);
loops!(
    avx2,
    "avx2",
    4,
    __m256d,
    _mm256_setzero_pd,
    _mm256_set1_pd,
    _mm256_load_pd,
    _mm256_store_pd,
    _mm256_stream_pd,
    _mm256_add_pd,
    _mm256_mul_pd
);
loops!(
    avx512,
    "avx512f",
    8,
    __m512d,
    _mm512_setzero_pd,
    _mm512_set1_pd,
    _mm512_load_pd,
    _mm512_store_pd,
    _mm512_stream_pd,
    _mm512_add_pd,
    _mm512_mul_pd
);

/// Calls the loop of the set.
macro_rules! of_set {
    ($set:expr, $loop:ident $(::<$stream:literal>)? ($($argument:expr),*)) => {
        match $set {
            Set::Portable => unreachable!("the portable loops are another module's"),
            // SAFETY: every x86-64 has SSE2.
            Set::Sse2 => unsafe { sse2::$loop $(::<$stream>)? ($($argument),*) },
            // SAFETY: this variant is only made where the processor says that it has AVX2 (`Instructions::all`).
            Set::Avx2 => unsafe { avx2::$loop $(::<$stream>)? ($($argument),*) },
            // SAFETY: likewise with AVX-512F.
            Set::Avx512 => unsafe { avx512::$loop $(::<$stream>)? ($($argument),*) },
        }
    };
}

pub(super) fn read(set: Set, a: &[f64]) -> f64 {
    of_set!(set, read(a))
}

pub(super) fn write(set: Set, streams: bool, a: &mut [f64], value: f64) {
    if streams { of_set!(set, write::<true>(a, value)) } else { of_set!(set, write::<false>(a, value)) }
}

pub(super) fn copy(set: Set, streams: bool, a: &mut [f64], b: &[f64]) {
    if streams { of_set!(set, copy::<true>(a, b)) } else { of_set!(set, copy::<false>(a, b)) }
}

pub(super) fn scale(set: Set, streams: bool, a: &mut [f64], b: &[f64], q: f64) {
    if streams { of_set!(set, scale::<true>(a, b, q)) } else { of_set!(set, scale::<false>(a, b, q)) }
}

pub(super) fn add(set: Set, streams: bool, a: &mut [f64], b: &[f64], c: &[f64]) {
    if streams { of_set!(set, add::<true>(a, b, c)) } else { of_set!(set, add::<false>(a, b, c)) }
}

pub(super) fn triad(set: Set, streams: bool, a: &mut [f64], b: &[f64], c: &[f64], q: f64) {
    if streams { of_set!(set, triad::<true>(a, b, c, q)) } else { of_set!(set, triad::<false>(a, b, c, q)) }
}
