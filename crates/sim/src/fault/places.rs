//! Places on the medium: ranges that were named, and a share of all grains that a seed picks.

use flashscope_stats::rng::{GOLDEN_RATIO, mix, stream};
use flashscope_units::Bytes;
use serde::{Deserialize, Deserializer, de::Error};
use std::ops::Range;

/// Which places of the medium have a fault.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Places {
    ranges: Vec<Range<u64>>,
    share: f64,
}

/// What picks the grains of a share: the same grains whatever is asked, in whatever order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pick {
    pub(crate) seed: u64,
    pub(crate) grain: Bytes,
}

impl Places {
    pub(crate) fn is_none(&self) -> bool {
        self.ranges.is_empty() && self.share == 0.0
    }

    /// What share of a medium they are, on average over all seeds.
    pub(crate) fn ratio(&self, medium: Bytes) -> f64 {
        let mut covered = 0;
        let mut ranges = self.ranges.clone();
        ranges.sort_by_key(|range| range.start);
        let mut from = 0;
        for range in ranges {
            let end = range.end.min(medium.get());
            covered += end.saturating_sub(range.start.max(from));
            from = from.max(end);
        }
        let named = covered as f64 / medium.as_f64();
        named + (1.0 - named) * self.share
    }

    /// Whether any of `length` bytes from `start` on is such a place.
    pub(crate) fn touch(&self, pick: Pick, start: Bytes, length: Bytes) -> bool {
        let (start, end) = (start.get(), (start + length).get());
        self.ranges.iter().any(|range| range.start < end && start < range.end)
            || (self.share > 0.0 && grains(pick, start, end).any(|grain| self.picks(pick, grain)))
    }

    /// The range cut into stretches that are such places (`true`) and stretches that are not, in order.
    pub(crate) fn cut(&self, pick: Pick, start: Bytes, length: Bytes) -> Vec<(Bytes, Bytes, bool)> {
        let (start, end) = (start.get(), (start + length).get());
        if self.is_none() {
            return vec![(Bytes(start), length, false)];
        }
        let mut edges = vec![start, end];
        edges.extend(self.ranges.iter().flat_map(|range| [range.start, range.end]));
        if self.share > 0.0 {
            edges.extend(grains(pick, start, end).map(|grain| grain * pick.grain.get()));
        }
        edges.retain(|edge| (start..=end).contains(edge));
        edges.sort_unstable();
        edges.dedup();
        let mut stretches: Vec<(Bytes, Bytes, bool)> = Vec::new();
        for edge in edges.windows(2) {
            let (from, length) = (Bytes(edge[0]), Bytes(edge[1] - edge[0]));
            let inside = self.touch(pick, from, length);
            match stretches.last_mut() {
                Some(last) if last.2 == inside => last.1 += length,
                _ => stretches.push((from, length, inside)),
            }
        }
        stretches
    }

    fn picks(&self, pick: Pick, grain: u64) -> bool {
        ((scatter(pick.seed, grain) >> 11) as f64) < self.share * (1u64 << 53) as f64
    }
}

impl<'de> Deserialize<'de> for Places {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Places, D::Error> {
        parse(&String::deserialize(from)?).map_err(D::Error::custom)
    }
}

fn parse(text: &str) -> Result<Places, String> {
    let mut places = Places::default();
    for part in text.split('+').map(str::trim).filter(|part| *part != "none") {
        if let Some((start, end)) = part.split_once('-') {
            let size = |text: &str| {
                let parsed: Result<Bytes, _> = text.trim().parse();
                parsed.map_err(|error| error.to_string().lines().next().unwrap_or_default().to_owned())
            };
            let (start, end) = (size(start)?, size(end)?);
            if start >= end {
                return Err(format!("'{part}' ends before it begins"));
            }
            places.ranges.push(start.get()..end.get());
        } else {
            let share: f64 =
                part.parse().map_err(|_| format!("'{part}' is neither a share nor a range like 1MiB-2MiB"))?;
            if !(0.0..=1.0).contains(&share) {
                return Err(format!("a share ({part}) must lie between 0 and 1"));
            }
            places.share += share;
        }
    }
    Ok(places)
}

fn grains(pick: Pick, start: u64, end: u64) -> Range<u64> {
    start / pick.grain.get()..end.div_ceil(pick.grain.get())
}

/// A number that looks random and is the same for the same seed and number.
fn scatter(seed: u64, number: u64) -> u64 {
    // `mix` adds what is taken away here.
    mix((seed ^ stream(0, number.wrapping_add(1))).wrapping_sub(GOLDEN_RATIO))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PICK: Pick = Pick { seed: 7, grain: Bytes(4096) };

    #[test]
    fn ranges_and_shares_are_read() {
        let check = |text: &str, expect: Result<Places, &str>| match (parse(text), expect) {
            (Ok(got), Ok(expect)) => assert_eq!(got, expect, "{text}"),
            (Err(got), Err(expect)) => assert!(got.contains(expect), "{text}: {got}"),
            (got, expect) => panic!("{text}: {got:?}, not {expect:?}"),
        };
        check("none", Ok(Places::default()));
        check("0.25", Ok(Places { ranges: vec![], share: 0.25 }));
        check("4KiB-8KiB+1MiB-2MiB+0.5", Ok(Places { ranges: vec![4096..8192, 1 << 20..2 << 20], share: 0.5 }));
        check("2MiB-1MiB", Err("ends before"));
        check("often", Err("neither a share"));
        check("1.5", Err("between 0 and 1"));
        check("4KB-8KiB", Err("1000 or 1024"));
    }

    #[test]
    fn a_ratio_counts_nothing_twice() {
        let ratio = |text: &str| parse(text).unwrap().ratio(Bytes::mib(4));
        assert_eq!(ratio("none"), 0.0);
        assert_eq!(ratio("1MiB-2MiB+1MiB-3MiB+3584KiB-9MiB"), 0.625);
        assert_eq!(ratio("0.5+0-2MiB"), 0.75);
    }

    #[test]
    fn a_share_is_a_share_and_cutting_agrees_with_touching() {
        let places = parse("5000-9000+0.2").unwrap();
        let length = Bytes::mib(64);
        let stretches = places.cut(PICK, Bytes::ZERO, length);
        assert_eq!(stretches.iter().map(|(_, length, _)| *length).sum::<Bytes>(), length);
        assert!(stretches.windows(2).all(|pair| pair[0].0 + pair[0].1 == pair[1].0 && pair[0].2 != pair[1].2));
        let inside: Bytes = stretches.iter().filter(|one| one.2).map(|one| one.1).sum();
        let share = inside.as_f64() / length.as_f64();
        assert!((0.18..0.22).contains(&share), "{share}");
        for &(start, length, inside) in stretches.iter().take(500) {
            assert_eq!(places.touch(PICK, start, length), inside);
        }
        assert!(places.touch(PICK, Bytes(8999), Bytes(1)));
    }
}
