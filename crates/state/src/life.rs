//! What share of its life a device gives for a state.

use flashscope_units::Bytes;

/// No more than this share of the rated life is spent without a word of the operator's: one part in a hundred, of which a
/// device has no more than a hundred.
pub const MOST_SHARE: f64 = 0.01;
/// Where nobody tells what is rated, no more than this many times the capacity: a thousandth of the cycles that dense cells
/// are commonly given (3000), as whoever makes a device dirty writes 2.2 times its capacity.
pub const MOST_SPANS_UNRATED: f64 = 3.0;

/// What a device is rated for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Life {
    /// Bytes that it may be given in its life, as its data sheet says (TBW); `None` where nobody told.
    pub rated: Option<Bytes>,
}

impl Life {
    /// The share that these writes take.
    pub fn share(self, written: Bytes) -> Option<f64> {
        self.rated.filter(|rated| *rated > Bytes::ZERO).map(|rated| written.as_f64() / rated.as_f64())
    }

    /// Who says so.
    pub const fn source(self) -> &'static str {
        match self.rated {
            Some(_) => "the rated writes that were given (--rated-writes)",
            None => "unknown: no source for the rated writes of this device",
        }
    }

    /// Why these writes need the operator's word, where they do.
    pub fn refusal(self, written: Bytes, capacity: Bytes) -> Option<String> {
        match self.share(written) {
            Some(share) => (share > MOST_SHARE).then(|| {
                format!(
                    "it takes {:.1} % of the rated life, and {:.0} % is the most",
                    share * 100.0,
                    MOST_SHARE * 100.0
                )
            }),
            None => {
                let spans = written.as_f64() / capacity.as_f64().max(1.0);
                (spans > MOST_SPANS_UNRATED).then(|| {
                    format!(
                        "it writes up to {spans:.1} × the capacity of a device whose rated life is unknown, and \
                         {MOST_SPANS_UNRATED} × is the most"
                    )
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_rated_decides_where_it_is_known() {
        let gib = Bytes::gib;
        let rated = Life { rated: Some(gib(10_000)) };
        assert_eq!(rated.share(gib(50)), Some(0.005));
        assert!(rated.refusal(gib(100), gib(1)).is_none());
        assert!(rated.refusal(gib(101), gib(100)).is_some());
        let unknown = Life::default();
        assert_eq!(unknown.share(gib(1)), None);
        assert!(unknown.refusal(gib(3), gib(1)).is_none());
        assert!(unknown.refusal(gib(4), gib(1)).is_some_and(|why| why.contains("4.0 ×")));
    }
}
