//! Sizes that are drawn anew at each use.

use flashscope_stats::Rng;
use flashscope_units::Bytes;
use serde::Deserialize;

/// How large something is: one size, or a distribution of sizes.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub enum Size {
    /// Always this (`64KiB`).
    Fixed(Bytes),
    /// Uniform from the first to the second (`2MiB-5MiB`).
    Uniform(Bytes, Bytes),
    /// Uniform in its logarithm (`4KiB~512KiB`): small ones are as frequent as large ones are large, as in caches.
    Log(Bytes, Bytes),
    /// What `[sizes]` says of this name.
    Named(String),
}

/// Drawn sizes are whole ones of these bytes where they are larger than one: no program writes photos to the bit, and
/// whoever reads at random finds whole blocks.
const WHOLE: Bytes = Bytes(512);

impl TryFrom<String> for Size {
    type Error = String;

    fn try_from(text: String) -> Result<Size, String> {
        let one = |text: &str| text.trim().parse::<Bytes>().map_err(|error| error.to_string());
        let pair = |(low, high): (&str, &str)| {
            let (low, high) = (one(low)?, one(high)?);
            if low == Bytes::ZERO || low > high {
                return Err(format!("'{text}' does not run from a smaller size to a larger one"));
            }
            Ok((low, high))
        };
        if let Some(ends) = text.split_once('~') {
            return pair(ends).map(|(low, high)| Size::Log(low, high));
        }
        if let Some(ends) = text.split_once('-').filter(|_| text.starts_with(|first: char| first.is_ascii_digit())) {
            return pair(ends).map(|(low, high)| Size::Uniform(low, high));
        }
        if text.starts_with(|first: char| first.is_ascii_alphabetic()) {
            return Ok(Size::Named(text));
        }
        one(&text).map(Size::Fixed)
    }
}

impl Size {
    /// Draws one; a named one was resolved before.
    pub(crate) fn draw(&self, rng: &mut Rng) -> Bytes {
        let whole = |size: f64| {
            let size = Bytes(size as u64);
            if size > WHOLE { size.align_down(WHOLE) } else { size.max(Bytes(1)) }
        };
        match self {
            Size::Fixed(size) => *size,
            Size::Uniform(low, high) => whole(low.as_f64() + rng.unit() * (high.as_f64() - low.as_f64())),
            Size::Log(low, high) => whole(low.as_f64() * (high.as_f64() / low.as_f64()).powf(rng.unit())),
            Size::Named(_) => Bytes::ZERO,
        }
    }

    /// The mean of what is drawn, bytes; 0 of a name.
    pub(crate) fn mean(&self) -> f64 {
        match self {
            Size::Fixed(size) => size.as_f64(),
            Size::Uniform(low, high) => f64::midpoint(low.as_f64(), high.as_f64()),
            Size::Log(low, high) if low == high => low.as_f64(),
            Size::Log(low, high) => (high.as_f64() - low.as_f64()) / (high.as_f64() / low.as_f64()).ln(),
            Size::Named(_) => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_and_drawn_within_their_ends() {
        let read = |text: &str| Size::try_from(text.to_owned());
        assert_eq!(read("64KiB"), Ok(Size::Fixed(Bytes::kib(64))));
        assert_eq!(read("2MiB-5MiB"), Ok(Size::Uniform(Bytes::mib(2), Bytes::mib(5))));
        assert_eq!(read("4KiB~512KiB"), Ok(Size::Log(Bytes::kib(4), Bytes::kib(512))));
        assert_eq!(read("photo-of-a-cat"), Ok(Size::Named("photo-of-a-cat".to_owned())));
        for bad in ["5MiB-2MiB", "0~4KiB", "4KB", "", "1MiB-"] {
            assert!(read(bad).is_err(), "{bad}");
        }
        let mut rng = Rng::new(1);
        for text in ["2MiB-5MiB", "4KiB~512KiB", "700-700"] {
            let size = read(text).expect("a size");
            let (Size::Uniform(low, high) | Size::Log(low, high)) = &size else { panic!("{size:?}") };
            let drawn: Vec<Bytes> = (0..4000).map(|_| size.draw(&mut rng)).collect();
            assert!(drawn.iter().all(|drawn| (low.align_down(WHOLE)..=*high).contains(drawn)), "{text}");
            let mean = drawn.iter().map(|drawn| drawn.as_f64()).sum::<f64>() / 4000.0;
            assert!((mean / size.mean() - 1.0).abs() < 0.3, "{text}: {mean} against {}", size.mean());
        }
    }
}
