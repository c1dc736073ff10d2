//! In which order the records of a file are visited.

use flashscope_device::Step;
use flashscope_load::pattern::Permutation;
use flashscope_model::iozone::Figure;
use flashscope_stats::Rng;

/// The records of one pass, in order.
#[derive(Clone, Debug)]
pub struct Steps {
    order: Order,
    record: u64,
    count: u64,
    done: u64,
    write: bool,
}

#[derive(Clone, Debug)]
enum Order {
    Rising,
    Falling,
    /// The first record again and again.
    Same,
    /// By strides, beginning one record further on at each turn through the file. That the last two records are left out
    /// unless a turn begins there, and a stride longer than the file stays at its start, is what iozone does.
    Stride {
        stride: u64,
        at: u64,
        turn: u64,
    },
    Random(Permutation),
    /// Reads below this share of 2^32, writes else.
    Mix(Permutation, Rng, f64),
}

impl Steps {
    /// Of a file of `count` records of `record` bytes. `stride` is in records; `reads` is the share of reads of the mix;
    /// random orders come from `seed`.
    pub fn new(figure: Figure, record: u64, count: u64, stride: u64, reads: f64, seed: u64) -> Steps {
        let order = match figure {
            Figure::BackwardRead => Order::Falling,
            Figure::RecordRewrite => Order::Same,
            Figure::StrideRead => Order::Stride { stride, at: 0, turn: 0 },
            Figure::RandomRead | Figure::RandomWrite => Order::Random(Permutation::new(count, seed)),
            Figure::RandomMix => Order::Mix(Permutation::new(count, seed), Rng::new(seed), reads),
            _ => Order::Rising,
        };
        Steps { order, record, count, done: 0, write: figure.writes() }
    }
}

impl Iterator for Steps {
    type Item = Step;

    #[inline]
    fn next(&mut self) -> Option<Step> {
        if self.done == self.count {
            return None;
        }
        let mut write = self.write;
        let record = match &mut self.order {
            Order::Rising => self.done,
            Order::Falling => self.count - 1 - self.done,
            Order::Same => 0,
            Order::Stride { stride, at, turn } => {
                let here = *at;
                *at += *stride;
                if *at + 2 >= self.count {
                    *turn += 1;
                    *at = if *stride < self.count { *turn % self.count } else { 0 };
                }
                here
            }
            Order::Random(order) => order.next(),
            Order::Mix(order, rng, reads) => {
                write = rng.unit() >= *reads;
                order.next()
            }
        };
        self.done += 1;
        Some(Step { offset: record * self.record, write })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = (self.count - self.done) as usize;
        (left, Some(left))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(figure: Figure, count: u64, stride: u64) -> Vec<u64> {
        Steps::new(figure, 16, count, stride, 0.5, 7).map(|step| step.offset / 16).collect()
    }

    #[test]
    fn orders_are_those_of_iozone() {
        assert_eq!(places(Figure::Write, 4, 17), [0, 1, 2, 3]);
        assert_eq!(places(Figure::BackwardRead, 4, 17), [3, 2, 1, 0]);
        assert_eq!(places(Figure::RecordRewrite, 4, 17), [0, 0, 0, 0]);
        // As its system calls show: `-s 128 -r 16 -j N` and `-s 512 -r 16 -j 3`.
        assert_eq!(places(Figure::StrideRead, 8, 1), [0, 1, 2, 3, 4, 5, 1, 2]);
        assert_eq!(places(Figure::StrideRead, 8, 3), [0, 3, 1, 4, 2, 5, 3, 4]);
        assert_eq!(places(Figure::StrideRead, 8, 7), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(places(Figure::StrideRead, 8, 8), [0; 8]);
        assert_eq!(places(Figure::StrideRead, 32, 3)[..13], [0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 1, 4, 7]);
    }

    #[test]
    fn random_orders_visit_every_record_once_and_reads_follow_writes() {
        let read = places(Figure::RandomRead, 1000, 17);
        let mut sorted = read.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..1000).collect::<Vec<_>>());
        assert_ne!(read, sorted);
        assert_eq!(read, places(Figure::RandomWrite, 1000, 17));
        let writes = Steps::new(Figure::RandomMix, 16, 10_000, 1, 0.7, 7).filter(|step| step.write).count();
        assert!((2800..3200).contains(&writes), "{writes}");
    }
}
