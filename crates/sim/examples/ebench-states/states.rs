//! A device brought to a state, and what is measured of it there: the published studies' conditions, on virtual time. Shared by
//! the page, the test and the program of `scripts/prove`.

use flashscope_device::{Completion, ExecuteExt, Fill, Outcome, Request, Target, WriteGrant};
use flashscope_sim::truth::state_of;
use flashscope_sim::{SimTarget, open};
use flashscope_stats::Rng;
use flashscope_units::{Bytes, Nanos};

/// How much a device was used in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Age {
    /// New.
    Young,
    /// Thirty capacity-writes, as published.
    Old,
}

/// What it holds when it is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dirt {
    /// Purged.
    Clean,
    /// 1.2 times its capacity was written: once in order, then a fifth of it at random ("19 GB on 16 GB").
    Dirty,
}

/// Capacity-writes of an old device: passes in order, and at random in the mix of sizes.
pub(crate) const SEQUENTIAL_PASSES: u32 = 25;
/// See [`SEQUENTIAL_PASSES`].
pub(crate) const RANDOM_PASSES: u32 = 5;

/// A device with what is needed to write to it.
pub(crate) struct Device {
    /// The device.
    pub(crate) target: SimTarget,
    grant: WriteGrant,
    random: Rng,
    id: u64,
}

/// Simulated devices are copied as they stand; a grant is not, and each copy gets one of its own.
impl Clone for Device {
    fn clone(&self) -> Device {
        Device { target: self.target.clone(), grant: grant(&self.target), random: self.random.clone(), id: self.id }
    }
}

fn grant(target: &SimTarget) -> WriteGrant {
    WriteGrant::simulated(target.facts(), Bytes(u64::MAX)).unwrap_or_else(|| panic!("simulated"))
}

/// Latencies of a job's writes.
pub(crate) struct Latencies {
    /// In the order of issue.
    pub(crate) all: Vec<Nanos>,
    /// Bytes written or read.
    pub(crate) bytes: Bytes,
}

impl Device {
    /// A new one, blank.
    pub(crate) fn new(model: &str, seed: u64) -> Device {
        let spec = format!("{model},state=blank,noise=none");
        let mut target = open(&spec, seed).unwrap_or_else(|error| panic!("{error}"));
        target.check_always(false);
        Device { grant: grant(&target), target, random: Rng::new(seed), id: 0 }
    }

    /// Ages a new device, and leaves it clean.
    pub(crate) fn age(&mut self, age: Age) {
        if age == Age::Young {
            return;
        }
        for pass in 0..SEQUENTIAL_PASSES + RANDOM_PASSES {
            // A random pass behind every five in order.
            if pass % 6 == 5 {
                self.write_mix(self.capacity(), self.capacity())
            } else {
                self.pass()
            };
        }
        self.purge();
    }

    /// From clean to clean or dirty.
    pub(crate) fn soil(&mut self, dirt: Dirt) {
        if dirt == Dirt::Dirty {
            self.pass();
            self.write_mix(self.capacity() / 5, self.capacity());
        }
        self.rest(Nanos::secs(60));
    }

    /// Whole mebibytes of it.
    pub(crate) fn capacity(&self) -> Bytes {
        self.target.facts().capacity.align_down(Bytes::mib(1))
    }

    /// Discards everything.
    fn purge(&mut self) {
        let all = self.target.facts().capacity;
        let request = Request::discard(&mut self.grant, self.id, Bytes::ZERO, all);
        self.target.execute(request.unwrap_or_else(|e| panic!("{e}"))).unwrap_or_else(|e| panic!("{e}"));
        self.rest(Nanos::secs(60));
    }

    fn rest(&mut self, time: Nanos) {
        self.target.wait_until(self.target.now() + time);
    }

    /// The whole capacity in order.
    pub(crate) fn pass(&mut self) -> Latencies {
        let (step, capacity) = (Bytes::kib(512), self.capacity());
        self.job((0..capacity / step).map(|index| (step * index, step, true)).collect::<Vec<_>>())
    }

    /// So many bytes in the mix of sizes, anywhere in the first `region` of the device.
    pub(crate) fn write_mix(&mut self, bytes: Bytes, region: Bytes) -> Latencies {
        let mut requests = Vec::new();
        let mut left = bytes.get();
        while left > 0 {
            let size = self.size();
            let at = Bytes::kib(4) * (self.random.below(((region - size) / Bytes::kib(4)) as usize) as u64);
            requests.push((at, size, true));
            left = left.saturating_sub(size.get());
        }
        self.job(requests)
    }

    /// A size of the mix that the published table of a phone's writes comes to: its rates of all sizes and of each class (1157
    /// writes per second of all; 2288, 972 and 173 of up to 8, 64 and 512 KiB; 26.1, 10.1, 33.0 and 35.8 MB/s) leave these
    /// shares.
    fn size(&mut self) -> Bytes {
        let class = self.random.unit();
        let sizes: &[u64] = match class {
            class if class < 0.665 => &[4, 4, 4, 8],
            class if class < 0.952 => &[16, 32, 64],
            _ => &[128, 256],
        };
        Bytes::kib(sizes[self.random.below(sizes.len())])
    }

    /// Records of 4 KiB over a file, in order or at random, written or read.
    pub(crate) fn records(&mut self, start: Bytes, file: Bytes, write: bool, random: bool) -> Latencies {
        let record = Bytes::kib(4);
        let mut order: Vec<u64> = (0..file / record).collect();
        if random {
            for last in (1..order.len()).rev() {
                order.swap(last, self.random.below(last + 1));
            }
        }
        self.job(order.into_iter().map(|index| (start + record * index, record, write)).collect::<Vec<_>>())
    }

    /// Requests one after the other.
    fn job(&mut self, requests: Vec<(Bytes, Bytes, bool)>) -> Latencies {
        let mut latencies = Latencies { all: Vec::with_capacity(requests.len()), bytes: Bytes::ZERO };
        for (at, length, write) in requests {
            let done = self.request(at, length, write);
            assert!(done.outcome == Outcome::Success, "{done:?}");
            latencies.all.push(done.service_time());
            latencies.bytes += length;
        }
        latencies
    }

    fn request(&mut self, at: Bytes, length: Bytes, write: bool) -> Completion {
        self.id += 1;
        let request = if write {
            let fill = Fill::Tagged { generation: 1 };
            Request::write(&mut self.grant, self.id, at, length, fill, false)
        } else {
            Ok(Request::read(self.id, at, length))
        };
        self.target.execute(request.unwrap_or_else(|e| panic!("{e}"))).unwrap_or_else(|e| panic!("{e}"))
    }
}

impl Latencies {
    /// Mean, in milliseconds.
    pub(crate) fn mean_ms(&self) -> f64 {
        mean_ms(&self.all)
    }

    /// MB/s while a request is under way.
    pub(crate) fn rate(&self) -> f64 {
        self.bytes.as_f64() / 1e6 / (self.mean_ms() * self.all.len() as f64 / 1e3)
    }

    /// How many took longer.
    pub(crate) fn above(&self, limit: Nanos) -> usize {
        self.all.iter().filter(|time| **time > limit).count()
    }

    /// Mean of the fastest tenth, in microseconds.
    pub(crate) fn fastest_us(&self) -> f64 {
        let mut sorted = self.all.clone();
        sorted.sort_unstable();
        1e3 * mean_ms(&sorted[..(sorted.len() / 10).max(1)])
    }

    /// Share of the stretches of 100 requests that took more than half as long again as the median stretch.
    pub(crate) fn slow_ratio(&self) -> f64 {
        let mut stretches: Vec<f64> = self.all.chunks(100).map(mean_ms).collect();
        stretches.sort_unstable_by(f64::total_cmp);
        let median = stretches[stretches.len() / 2];
        stretches.iter().filter(|mean| **mean > 1.5 * median).count() as f64 / stretches.len() as f64
    }
}

fn mean_ms(times: &[Nanos]) -> f64 {
    times.iter().map(|time| time.as_f64() / 1e6).sum::<f64>() / times.len() as f64
}

/// The patterns of a small benchmark: written or read, at random or in order, in the order in which they are run.
pub(crate) const PATTERNS: [(&str, bool, bool); 5] = [
    ("write", true, false),
    ("rewrite", true, false),
    ("read", false, false),
    ("random write", true, true),
    ("random read", false, true),
];

/// What was measured in one state.
pub(crate) struct Measured {
    /// How much it was used.
    pub(crate) age: Age,
    /// What it held.
    pub(crate) dirt: Dirt,
    /// A quarter of the capacity in the mix of sizes, over the first quarter of the device.
    pub(crate) mix: Latencies,
    /// MB/s of each of [`PATTERNS`] over a file of 16 MiB in 4 KiB records.
    pub(crate) small: Vec<f64>,
    /// The same over a file of 1 GiB, at most a quarter of the device.
    pub(crate) large: Vec<f64>,
    /// Blocks that went bad until then.
    pub(crate) replaced: u64,
}

/// All four states of a model.
pub(crate) fn measure(model: &str, seed: u64) -> Vec<Measured> {
    let mut measured = Vec::new();
    for age in [Age::Young, Age::Old] {
        let mut clean = Device::new(model, seed);
        clean.age(age);
        for dirt in [Dirt::Clean, Dirt::Dirty] {
            let mut device = clean.clone();
            device.soil(dirt);
            let replaced = state_of(&device.target).replaced_blocks;
            let quarter = (device.capacity() / 4).align_down(Bytes::mib(1));
            let patterns = |file: Bytes| {
                let mut device = device.clone();
                PATTERNS.map(|(_, write, random)| device.records(quarter, file, write, random).rate()).to_vec()
            };
            let (small, large) = (patterns(Bytes::mib(16)), patterns(Bytes::gib(1).min(quarter)));
            measured.push(Measured { age, dirt, mix: device.write_mix(quarter, quarter), small, large, replaced });
        }
    }
    measured
}

/// The published relations, of what was measured.
pub(crate) struct Relations {
    /// Mean latency of the mix, dirty over clean, young.
    pub(crate) dirty_over_clean: f64,
    /// The same, old over young, clean.
    pub(crate) old_over_young: f64,
    /// Writes above 100 ms, young and old, clean.
    pub(crate) above_100_ms: [usize; 2],
    /// Latency of the fastest tenth of the writes, old over young, clean.
    pub(crate) fastest: f64,
    /// Share of slow stretches, young and old, clean.
    pub(crate) slow: [f64; 2],
    /// Mean latency of the mix, old and purged over old and dirty: what a purge of an old device wins.
    pub(crate) purged_over_dirty: f64,
    /// The greatest change of any small benchmark's rate, young, from clean to dirty.
    pub(crate) small_change: f64,
}

impl Relations {
    /// Of the four states in the order of [`measure`].
    pub(crate) fn of(measured: &[Measured]) -> Relations {
        let [young, young_dirty, old, old_dirty] = measured else { panic!("four states were measured") };
        let mean = |one: &Measured| one.mix.mean_ms();
        let limit = Nanos::millis(100);
        let changes = young.small.iter().zip(&young_dirty.small).map(|(clean, dirty)| (dirty / clean - 1.0).abs());
        Relations {
            dirty_over_clean: mean(young_dirty) / mean(young),
            old_over_young: mean(old) / mean(young),
            above_100_ms: [young.mix.above(limit), old.mix.above(limit)],
            fastest: old.mix.fastest_us() / young.mix.fastest_us(),
            slow: [young.mix.slow_ratio(), old.mix.slow_ratio()],
            purged_over_dirty: mean(old) / mean(old_dirty),
            small_change: changes.fold(0.0, f64::max),
        }
    }
}
