//! Sizes of random writes, each with its share of the requests, and where each write goes.

use flashscope_stats::rng::{mix, stream};
use flashscope_units::Bytes;
use std::fmt;
use std::str::FromStr;

/// Sizes with their weights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mix {
    sizes: Vec<(Bytes, u32)>,
}

/// The largest size: a request of more says nothing of a mapping that less would not.
const LARGEST: Bytes = Bytes::mib(16);
/// Sizes of a mix.
const MOST_SIZES: usize = 16;
/// The largest weight.
const MOST_WEIGHT: u32 = 1000;

impl Default for Mix {
    /// The classes of size that phones' traffic is reported in (4 and 8, 16 to 64, 128 to 512 KiB), small ones most often. Their
    /// weights are an assumption.
    fn default() -> Mix {
        let weighted = [(4, 4), (16, 2), (64, 1), (256, 1)];
        Mix { sizes: weighted.map(|(kib, weight)| (Bytes::kib(kib), weight)).to_vec() }
    }
}

impl Mix {
    /// One size only.
    pub fn one(size: Bytes) -> Mix {
        Mix { sizes: vec![(size, 1)] }
    }

    /// The largest size.
    pub fn largest(&self) -> Bytes {
        self.sizes.iter().map(|(size, _)| *size).max().unwrap_or(Bytes::ZERO)
    }

    /// All sizes are multiples of this: the greatest common divisor.
    fn unit(&self) -> u64 {
        let gcd = |mut a: u64, mut b: u64| {
            while b != 0 {
                (a, b) = (b, a % b);
            }
            a
        };
        self.sizes.iter().fold(0, |unit, (size, _)| gcd(unit, size.get()))
    }

    /// Whether a device takes such requests: whole blocks, all of them within its capacity.
    pub(crate) fn fits(&self, block: Bytes, capacity: Bytes) -> bool {
        self.sizes.iter().all(|(size, _)| size.is_multiple_of(block) && *size <= capacity)
    }

    /// Place and size of the write of this number, at multiples of the common divisor of all sizes.
    pub(crate) fn write(&self, seed: u64, number: u64, capacity: Bytes) -> (Bytes, Bytes) {
        let all: u64 = self.sizes.iter().map(|(_, weight)| u64::from(*weight)).sum();
        let draw = mix(stream(seed, number));
        let mut left = below(draw, all);
        let of = |(size, weight): &(Bytes, u32)| {
            let hit = left < u64::from(*weight);
            left = left.saturating_sub(u64::from(*weight));
            hit.then_some(*size)
        };
        let size = self.sizes.iter().find_map(of).unwrap_or(self.largest());
        let unit = self.unit().max(1);
        let places = (capacity.get() - size.get()) / unit + 1;
        (Bytes(below(mix(draw), places) * unit), size)
    }
}

/// A number below `bound` out of 64 random bits.
fn below(bits: u64, bound: u64) -> u64 {
    ((u128::from(bits) * u128::from(bound)) >> 64) as u64
}

impl fmt::Display for Mix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = self.sizes.iter().map(|(size, weight)| format!("{}:{weight}", size.to_string().replace(' ', "")));
        f.write_str(&parts.collect::<Vec<_>>().join(","))
    }
}

impl FromStr for Mix {
    type Err = String;

    /// `4KiB:6,64KiB:1`; a size without a weight counts once.
    fn from_str(text: &str) -> Result<Mix, String> {
        let one = |part: &str| {
            let (size, weight) = part.split_once(':').unwrap_or((part, "1"));
            let size: Bytes = size.trim().parse().map_err(|error| format!("{error}"))?;
            let weight: u32 = weight.trim().parse().map_err(|_| format!("'{weight}' is no weight"))?;
            if !(1..=MOST_WEIGHT).contains(&weight) {
                return Err(format!("a weight is from 1 to {MOST_WEIGHT}"));
            }
            if size < Bytes::SECTOR || size > LARGEST {
                return Err(format!("a size is from {} to {LARGEST}", Bytes::SECTOR));
            }
            Ok((size, weight))
        };
        let sizes: Vec<(Bytes, u32)> = text.split(',').map(one).collect::<Result<_, String>>()?;
        if sizes.len() > MOST_SIZES {
            return Err(format!("a mix has up to {MOST_SIZES} sizes"));
        }
        Ok(Mix { sizes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mix_is_read_as_it_is_printed() {
        let mix: Mix = "4KiB:6, 64k".parse().unwrap();
        assert_eq!(mix.to_string(), "4KiB:6,64KiB:1");
        assert_eq!(mix.to_string().parse::<Mix>(), Ok(mix));
        assert_eq!(Mix::default().to_string().parse::<Mix>(), Ok(Mix::default()));
        for wrong in ["", "4KiB:0", "4KiB:1001", "256", "17MiB", "4KiB:x", "4KiB,,"] {
            assert!(wrong.parse::<Mix>().is_err(), "{wrong}");
        }
        assert!(vec!["4KiB"; 17].join(",").parse::<Mix>().is_err());
    }

    #[test]
    fn writes_lie_within_and_everywhere_and_come_as_often_as_they_weigh() {
        let mix: Mix = "4KiB:3,12KiB:1".parse().unwrap();
        let capacity = Bytes::kib(64) + Bytes::SECTOR;
        let mut small = 0;
        let mut touched = [false; 16];
        for number in 0..4000 {
            let (at, size) = mix.write(7, number, capacity);
            assert!(at + size <= capacity && at.is_multiple_of(Bytes::kib(4)), "{at} {size}");
            small += u32::from(size == Bytes::kib(4));
            (at.get() / 4096..(at + size).get() / 4096).for_each(|page| touched[page as usize] = true);
            assert_eq!(mix.write(7, number, capacity), (at, size));
        }
        assert!((2860..3140).contains(&small), "three of four of 4000, five standard deviations: {small}");
        assert!(touched.iter().all(|touched| *touched));
    }
}
