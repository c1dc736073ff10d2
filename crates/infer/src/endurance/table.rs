//! How much later or earlier than its scale says the first error came, on simulated devices whose end is known.

use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Quantiles of a regime: at 0, 1/STEPS, … 1.
pub const STEPS: usize = 40;

/// The quantiles of each regime, rising.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Quantiles(BTreeMap<String, Vec<f64>>);

impl Quantiles {
    /// Of cases: a regime, and how many units of its scale had passed at the first error.
    pub fn count(cases: &[(String, f64)]) -> Quantiles {
        let mut by_regime: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for (regime, units) in cases {
            by_regime.entry(regime).or_default().push(*units);
        }
        let of = |units: Vec<f64>| -> Vec<f64> {
            let at = |step: usize| flashscope_stats::location::quantile(&units, step as f64 / STEPS as f64);
            (0..=STEPS).filter_map(at).collect()
        };
        Quantiles(by_regime.into_iter().map(|(regime, units)| (regime.to_owned(), of(units))).collect())
    }

    /// Those of a regime; none where no such device was seen.
    pub fn of(&self, regime: &str) -> &[f64] {
        self.0.get(regime).map_or(&[], Vec::as_slice)
    }

    /// As a file: remarks, and a line for each regime.
    pub fn to_text(&self, remarks: &str) -> String {
        let line = |(regime, units): (&String, &Vec<f64>)| {
            let units: Vec<String> = units.iter().map(|unit| format!("{unit:.4}")).collect();
            format!("{regime},{}\n", units.join(","))
        };
        std::iter::once(crate::counts::remarks(remarks)).chain(self.0.iter().map(line)).collect()
    }

    /// Reads a file; a line that is none is left out.
    pub fn read(text: &str) -> Quantiles {
        let line = |line: &str| {
            let (regime, units) = line.split_once(',')?;
            let units: Option<Vec<f64>> = units.split(',').map(|unit| unit.parse().ok()).collect();
            Some((regime.to_owned(), units?))
        };
        Quantiles(text.lines().filter(|line| !line.starts_with('#')).filter_map(line).collect())
    }
}

/// The table that conclusions go by.
pub fn quantiles() -> &'static Quantiles {
    static TABLE: OnceLock<Quantiles> = OnceLock::new();
    TABLE.get_or_init(|| Quantiles::read(include_str!("table.csv")))
}
