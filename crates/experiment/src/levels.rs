//! What was repeated: runs in sessions of parts, and blocks that hold both sides.

use flashscope_model::comparison::{Centre, Counts, Doubt, Level, Reading, Readings};
use flashscope_stats::test::Summary;
use flashscope_stats::{Interval, StatsError};
use std::collections::{BTreeMap, BTreeSet};

/// A statement on models needs so many parts of each.
pub(crate) const PARTS_OF_A_MODEL: usize = 3;

/// The runs of one side with one figure, in logarithms.
pub(crate) struct Logs<'a> {
    rows: Vec<(&'a Reading, f64)>,
}

impl<'a> Logs<'a> {
    /// # Errors
    /// Where there is none, or a value has no logarithm.
    pub(crate) fn of(readings: &'a Readings, side: usize, metric: usize) -> Result<Logs<'a>, Doubt> {
        let rows = readings.rows.iter().filter(|row| row.side == side && row.metric == metric);
        let rows: Vec<(&Reading, f64)> = rows.map(|row| (row, row.value.ln())).collect();
        if rows.is_empty() {
            return Err(Doubt::Missing);
        }
        if rows.iter().any(|(_, log)| !log.is_finite()) {
            return Err(Doubt::NotPositive);
        }
        Ok(Logs { rows })
    }

    fn parts(&self) -> BTreeSet<&str> {
        self.rows.iter().map(|(row, _)| row.part.as_str()).collect()
    }

    fn sessions(&self) -> BTreeSet<(&str, &str)> {
        self.rows.iter().map(|(row, _)| (row.part.as_str(), row.session.as_str())).collect()
    }

    /// Means of the runs that `key` puts together, by it; rows without a key are left out.
    fn means<K: Ord>(&self, key: impl Fn(&'a Reading) -> Option<K>) -> BTreeMap<K, f64> {
        let mut sums: BTreeMap<K, (f64, f64)> = BTreeMap::new();
        for (row, log) in &self.rows {
            if let Some(key) = key(row) {
                let sum = sums.entry(key).or_default();
                *sum = (sum.0 + log, sum.1 + 1.0);
            }
        }
        sums.into_iter().map(|(key, (sum, count))| (key, sum / count)).collect()
    }

    pub(crate) fn part_count(&self) -> usize {
        self.parts().len()
    }

    pub(crate) fn session_count(&self) -> usize {
        self.sessions().len()
    }

    /// Number of blocks that hold it.
    pub(crate) fn blocks(&self) -> usize {
        self.rows.iter().filter_map(|(row, _)| row.block).collect::<BTreeSet<_>>().len()
    }

    pub(crate) fn repetitions(&self, level: Level) -> Vec<f64> {
        match level {
            Level::Run => self.rows.iter().map(|(_, log)| *log).collect(),
            Level::Block => self.means(|row| row.block).into_values().collect(),
            Level::Session => self.means(|row| Some((row.part.as_str(), row.session.as_str()))).into_values().collect(),
            // The mean of a part is that of its sessions, however many runs each has.
            Level::Part => {
                let mut parts: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
                for ((part, _), mean) in self.means(|row| Some((row.part.as_str(), row.session.as_str()))) {
                    parts.entry(part).or_default().push(mean);
                }
                parts.into_values().map(|means| means.iter().sum::<f64>() / means.len() as f64).collect()
            }
        }
    }

    fn counts(&self, blocks: u32) -> Counts {
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Counts {
            parts: count(self.parts().len()),
            sessions: count(self.sessions().len()),
            blocks,
            runs: count(self.rows.len()),
        }
    }

    /// Geometric mean over what was repeated at `level`, with its own interval.
    pub(crate) fn centre(&self, level: Level, blocks: u32, confidence: f64) -> Centre {
        let values = self.repetitions(level);
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let interval = Summary::of(&values).and_then(|summary| summary.interval(confidence));
        Centre { value: mean.exp(), interval: ends(interval), counts: self.counts(blocks) }
    }
}

/// The ends of an interval of logarithms, as values; `None` where there is none.
pub(crate) fn ends(interval: Result<Interval, StatsError>) -> Option<(f64, f64)> {
    interval.ok().map(|interval| (interval.low.exp(), interval.high.exp()))
}

/// How two sides are to be set against each other.
pub(crate) enum Setting {
    /// By what they share: one contrast (other − baseline, in logarithms) per block.
    Paired(Vec<f64>),
    /// Each side's repetitions at this level.
    Apart(Level, Vec<f64>, Vec<f64>),
}

impl Setting {
    /// The highest level that both sides repeat: the interval holds as far as that, and no further. Blocks come before
    /// sessions, as what the sides of a block share cancels out; several parts of each side come before all.
    pub(crate) fn of(baseline: &Logs<'_>, other: &Logs<'_>) -> Setting {
        let apart = |level| Setting::Apart(level, baseline.repetitions(level), other.repetitions(level));
        if baseline.parts().len().min(other.parts().len()) >= PARTS_OF_A_MODEL {
            return apart(Level::Part);
        }
        let contrasts = contrasts(baseline, other);
        if contrasts.len() >= 2 {
            return Setting::Paired(contrasts);
        }
        let several = |logs: &Logs<'_>| logs.sessions().len() >= 2;
        apart(if several(baseline) && several(other) { Level::Session } else { Level::Run })
    }
}

/// One contrast per block that holds both sides. A number of a block counts within its session where the sides share sessions.
fn contrasts(baseline: &Logs<'_>, other: &Logs<'_>) -> Vec<f64> {
    let sessions =
        |logs: &Logs<'_>| -> BTreeSet<String> { logs.rows.iter().map(|(row, _)| row.session.clone()).collect() };
    let shared = sessions(baseline) == sessions(other);
    let means = |logs: &Logs<'_>| {
        logs.means(|row| row.block.map(|block| (if shared { row.session.clone() } else { String::new() }, block)))
    };
    let ours = means(baseline);
    means(other).into_iter().filter_map(|(block, mean)| Some(mean - ours.get(&block)?)).collect()
}
