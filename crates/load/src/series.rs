//! What happened when: counts per period of time, and time per stretch of bytes written.
//!
//! Both have a fixed number of entries that is there from the start. When it is used up, neighbours are merged and the
//! period doubles: an hour takes as much memory as a second, and nothing is thrown away but resolution.

use flashscope_units::{Bytes, Instant, Nanos};

/// Entries of a series.
pub const ENTRIES: usize = 2048;

/// Counts of one period, by completion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Period {
    /// Reads that ended.
    pub reads: u64,
    /// Writes that ended.
    pub writes: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Sum of service times in nanoseconds.
    pub service_sum: u64,
    /// Longest service time in nanoseconds.
    pub service_max: u64,
}

impl Period {
    fn merge(self, other: Period) -> Period {
        Period {
            reads: self.reads + other.reads,
            writes: self.writes + other.writes,
            read_bytes: self.read_bytes + other.read_bytes,
            written_bytes: self.written_bytes + other.written_bytes,
            service_sum: self.service_sum + other.service_sum,
            service_max: self.service_max.max(other.service_max),
        }
    }
}

/// Counts per period of time.
#[derive(Clone, Debug)]
pub struct Series {
    origin: Instant,
    period: Nanos,
    /// End of the current period.
    end: Instant,
    current: usize,
    periods: Box<[Period]>,
}

impl Series {
    /// Empty, from `origin` on.
    pub fn new(origin: Instant, period: Nanos) -> Series {
        let period = period.max(Nanos(1));
        Series { origin, period, end: origin + period, current: 0, periods: vec![Period::default(); ENTRIES].into() }
    }

    /// The entry for a request that ended at `at`. A clock that jitters backwards counts for the current period.
    #[inline]
    pub fn entry(&mut self, at: Instant) -> &mut Period {
        if at >= self.end {
            self.advance(at);
        }
        &mut self.periods[self.current]
    }

    #[cold]
    fn advance(&mut self, at: Instant) {
        let mut index = (at.since(self.origin).0 / self.period.0) as usize;
        while index >= ENTRIES {
            self.halve();
            index /= 2;
        }
        self.current = index;
        self.end = self.origin + self.period * (index as u64 + 1);
    }

    /// Merges neighbours.
    fn halve(&mut self) {
        for index in 0..ENTRIES {
            let merged = match self.periods.get(2 * index..2 * index + 2) {
                Some(pair) => pair[0].merge(pair[1]),
                None => Period::default(),
            };
            self.periods[index] = merged;
        }
        self.current /= 2;
        self.period = self.period * 2;
        self.end = self.origin + self.period * (self.current as u64 + 1);
    }

    /// Begins anew at `origin`.
    pub fn restart(&mut self, origin: Instant, period: Nanos) {
        self.periods.fill(Period::default());
        (self.origin, self.period, self.current) = (origin, period.max(Nanos(1)), 0);
        self.end = self.origin + self.period;
    }

    /// Adds another series that began at the same time, whose period is the same times a power of two.
    pub fn add(&mut self, other: &Series) {
        let mut other = other.clone();
        while self.period < other.period {
            self.halve();
        }
        while other.period < self.period {
            other.halve();
        }
        self.periods.iter_mut().zip(&other.periods).for_each(|(mine, theirs)| *mine = mine.merge(*theirs));
        self.current = self.current.max(other.current);
        self.end = self.origin + self.period * (self.current as u64 + 1);
    }

    /// Becomes the same as another one, without new memory.
    pub fn copy_from(&mut self, other: &Series) {
        self.periods.copy_from_slice(&other.periods);
        (self.origin, self.period, self.end, self.current) = (other.origin, other.period, other.end, other.current);
    }

    /// Length of a period.
    pub fn period(&self) -> Nanos {
        self.period
    }

    /// The periods so far; the last one is not full.
    pub fn periods(&self) -> &[Period] {
        &self.periods[..=self.current]
    }
}

/// When so many bytes were written.
#[derive(Clone, Debug)]
pub struct WrittenSeries {
    step: Bytes,
    written: u64,
    next: u64,
    used: usize,
    /// Time at which (index + 1) steps were written.
    times: Box<[Instant]>,
}

impl WrittenSeries {
    /// Empty, with an entry per `step`.
    pub fn new(step: Bytes) -> WrittenSeries {
        let step = step.max(Bytes(1));
        WrittenSeries { step, written: 0, next: step.0, used: 0, times: vec![Instant::ORIGIN; ENTRIES].into() }
    }

    /// So many more bytes were written at `at`.
    #[inline]
    pub fn record(&mut self, at: Instant, bytes: u64) {
        self.written += bytes;
        if self.written >= self.next {
            self.advance(at);
        }
    }

    #[cold]
    fn advance(&mut self, at: Instant) {
        while self.written >= self.next {
            if self.used == ENTRIES {
                for index in 0..ENTRIES / 2 {
                    self.times[index] = self.times[2 * index + 1];
                }
                self.used = ENTRIES / 2;
                self.step = self.step * 2;
                self.next = self.step.0 * (self.used as u64 + 1);
                continue;
            }
            self.times[self.used] = at;
            self.used += 1;
            self.next += self.step.0;
        }
    }

    /// Begins anew.
    pub fn restart(&mut self, step: Bytes) {
        (self.step, self.written, self.next, self.used) = (step.max(Bytes(1)), 0, step.0.max(1), 0);
    }

    /// Becomes the same as another one, without new memory.
    pub fn copy_from(&mut self, other: &WrittenSeries) {
        self.times.copy_from_slice(&other.times);
        (self.step, self.written, self.next, self.used) = (other.step, other.written, other.next, other.used);
    }

    /// Bytes per entry.
    pub fn step(&self) -> Bytes {
        self.step
    }

    /// The times at which one, two, three … steps were written.
    pub fn times(&self) -> &[Instant] {
        &self.times[..self.used]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merging_periods_keeps_every_count() {
        let mut series = Series::new(Instant(1000), Nanos(10));
        for index in 0..100_000u64 {
            let entry = series.entry(Instant(1000 + index * 7));
            entry.reads += 1;
            entry.service_max = entry.service_max.max(index % 77);
        }
        assert_eq!(series.periods().iter().map(|period| period.reads).sum::<u64>(), 100_000);
        assert_eq!(series.period(), Nanos(640));
        assert_eq!(series.periods().iter().map(|period| period.service_max).max(), Some(76));
        let full = &series.periods()[..series.periods().len() - 1];
        assert!(full.iter().all(|period| (91..=92).contains(&period.reads)), "640 ns hold 91 or 92 of every 7 ns");
    }

    #[test]
    fn a_silent_stretch_stays_empty() {
        let mut series = Series::new(Instant(0), Nanos(10));
        series.entry(Instant(5)).reads += 1;
        series.entry(Instant(95)).reads += 1;
        let reads: Vec<u64> = series.periods().iter().map(|period| period.reads).collect();
        assert_eq!(reads, [1, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    }

    #[test]
    fn series_of_different_lengths_add_up() {
        let mut short = Series::new(Instant(0), Nanos(10));
        let mut long = short.clone();
        (0..50u64).for_each(|index| short.entry(Instant(index * 10)).writes += 1);
        (0..5000u64).for_each(|index| long.entry(Instant(index * 10)).writes += 1);
        short.add(&long);
        assert_eq!(short.period(), Nanos(40));
        assert_eq!(short.periods()[0].writes, 8);
        assert_eq!(short.periods().iter().map(|period| period.writes).sum::<u64>(), 5050);
    }

    #[test]
    fn written_stretches_keep_their_times() {
        let mut series = WrittenSeries::new(Bytes(100));
        (1..=10_000u64).for_each(|index| series.record(Instant(index), 50));
        assert_eq!(series.step(), Bytes(400));
        assert_eq!(series.times().len(), 1250);
        assert!(series.times().iter().zip(1u64..).all(|(time, steps)| time.0 == steps * 8));
    }
}
