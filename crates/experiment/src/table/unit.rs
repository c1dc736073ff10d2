//! Units that fit, and which direction they are better in.

use flashscope_model::comparison::Better;

/// A unit as a table spells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unit {
    pub(super) name: String,
}

/// Spelling (in lower case), what it measures, and how many of the smallest unit of that it is.
const UNITS: [(&str, Kind, f64); 27] = [
    ("b/s", Kind::Rate, 1.0),
    ("kb/s", Kind::Rate, 1e3),
    ("mb/s", Kind::Rate, 1e6),
    ("gb/s", Kind::Rate, 1e9),
    ("kib/s", Kind::Rate, 1024.0),
    ("mib/s", Kind::Rate, 1_048_576.0),
    ("gib/s", Kind::Rate, 1_073_741_824.0),
    ("kbps", Kind::Rate, 1e3),
    ("mbps", Kind::Rate, 1e6),
    ("gbps", Kind::Rate, 1e9),
    ("iops", Kind::PerSecond, 1.0),
    ("kiops", Kind::PerSecond, 1e3),
    ("tps", Kind::PerSecond, 1.0),
    ("ops/s", Kind::PerSecond, 1.0),
    ("fps", Kind::PerSecond, 1.0),
    ("1/s", Kind::PerSecond, 1.0),
    ("ns", Kind::Time, 1.0),
    ("us", Kind::Time, 1e3),
    ("µs", Kind::Time, 1e3),
    ("μs", Kind::Time, 1e3),
    ("ms", Kind::Time, 1e6),
    ("s", Kind::Time, 1e9),
    ("sec", Kind::Time, 1e9),
    ("min", Kind::Time, 6e10),
    ("h", Kind::Time, 3.6e12),
    ("errors", Kind::Errors, 1.0),
    ("failures", Kind::Errors, 1.0),
];

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Rate,
    PerSecond,
    Time,
    Errors,
}

impl Unit {
    pub(super) fn of(text: &str) -> Unit {
        Unit { name: text.to_owned() }
    }

    /// A metric's unit from its name (`seq_read_MBps`), and the name without it; nothing where the name ends in no unit.
    pub(super) fn at_the_end(name: &str) -> Option<(&str, Unit)> {
        let (rest, unit) = name.rsplit_once('_')?;
        let unit = Unit::of(unit);
        unit.known().map(|_| (rest, unit))
    }

    fn known(&self) -> Option<(Kind, f64)> {
        let name = self.name.to_lowercase();
        UNITS.iter().find(|(unit, ..)| *unit == name).map(|(_, kind, size)| (*kind, *size))
    }

    /// What values in this unit are multiplied by to be in `other`; `None` where they measure other things.
    pub(super) fn factor_to(&self, other: &Unit) -> Option<f64> {
        if self == other {
            return Some(1.0);
        }
        let ((kind, size), (other_kind, other_size)) = (self.known()?, other.known()?);
        (kind == other_kind).then(|| size / other_size)
    }

    pub(super) fn better(&self) -> Option<Better> {
        self.known().map(|(kind, _)| match kind {
            Kind::Rate | Kind::PerSecond => Better::Higher,
            Kind::Time | Kind::Errors => Better::Lower,
        })
    }
}
