//! Random memories: what machines from a phone to a server have, and what a guest of a virtual machine sees.

use super::{CacheModel, Model, Policy, TlbModel};
use flashscope_stats::Rng;

/// One of these.
fn one<T: Copy>(rng: &mut Rng, of: &[T]) -> T {
    of[rng.below(of.len())]
}

/// A number between two, evenly on a logarithmic scale.
fn between(rng: &mut Rng, low: f64, high: f64) -> f64 {
    low * (high / low).powf(rng.unit())
}

/// A memory; the same seed draws the same one.
pub fn draw(seed: u64) -> Model {
    let mut rng = Rng::new(seed);
    let rng = &mut rng;
    const KIB: u64 = 1 << 10;
    const MIB: u64 = 1 << 20;
    let cycle = between(rng, 0.2, 0.7);
    let policies = [Policy::Lru, Policy::Lru, Policy::NotRecent, Policy::Random];
    let line = one(rng, &[64, 64, 64, 64, 64, 32, 128]);
    let l1 = one(rng, &[16 * KIB, 32 * KIB, 32 * KIB, 48 * KIB, 64 * KIB]);
    let mut latency = between(rng, 3.0, 5.0) * cycle;
    let mut caches = vec![CacheModel {
        size: l1,
        ways: one(rng, &[4, 8, 8]).max(l1 / (4 * KIB) / 4 * 4).max(4),
        latency_ns: latency,
        policy: one(rng, &policies),
        is_victim: false,
        hashed: false,
    }];
    latency *= between(rng, 2.5, 4.5);
    let l2 = one(rng, &[128 * KIB, 256 * KIB, 512 * KIB, 512 * KIB, MIB, 5 * MIB / 4, 2 * MIB]);
    caches.push(CacheModel {
        size: l2.max(4 * l1),
        ways: one(rng, &[8, 8, 16]),
        latency_ns: latency,
        policy: one(rng, &policies),
        is_victim: false,
        hashed: false,
    });
    if rng.unit() < 0.7 {
        latency *= between(rng, 2.2, 4.5);
        let l3 = one(rng, &[2 * MIB, 4 * MIB, 6 * MIB, 8 * MIB, 12 * MIB, 16 * MIB, 32 * MIB, 36 * MIB]);
        caches.push(CacheModel {
            size: l3.max(3 * caches[1].size / MIB.min(caches[1].size) * MIB.min(caches[1].size)),
            ways: one(rng, &[12, 16, 16]),
            latency_ns: latency,
            policy: one(rng, &policies),
            is_victim: rng.unit() < 0.3,
            hashed: rng.unit() < 0.6,
        });
    }
    let first = one(rng, &[16, 32, 48, 64, 64, 96]);
    let second = one(rng, &[512, 1024, 1536, 2048, 3072]);
    let tlb = vec![
        TlbModel { entries: first, huge_entries: 32.min(first), ways: first, miss_ns: between(rng, 5.0, 9.0) * cycle },
        TlbModel {
            entries: second,
            huge_entries: one(rng, &[512, 1024]),
            ways: 8,
            miss_ns: between(rng, 20.0, 60.0) * cycle,
        },
    ];
    let noisy = rng.unit() < 0.4;
    Model {
        memory_ns: (latency * between(rng, 2.0, 6.0)).max(50.0),
        caches,
        line,
        tlb,
        page: 4096,
        huge: rng.unit() < 0.75,
        pairs: rng.unit() < 0.4,
        noise: if noisy { between(rng, 0.02, 0.08) } else { between(rng, 0.002, 0.02) },
        disturbed: if noisy { between(rng, 0.02, 0.3) } else { 0.0 },
        neighbours: if rng.unit() < 0.3 { between(rng, 0.001, 0.05) } else { 0.0 },
    }
}
