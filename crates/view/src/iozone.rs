//! iozone's matrix as tables are printed and coloured: values, and the scale of colours that all tests of a run share.

use crate::axis::log_ticks;
use flashscope_model::bench::CacheVerdict;
use flashscope_model::iozone::{Child, Figure, IozoneRecord, Pass, Throughput, Unit, Whose};
use flashscope_units::{ByteRate, Bytes, Nanos};

/// What stands in a cell of a table, in the unit that was asked for, rounded down as iozone does; `None` where the pass failed.
pub fn value(pass: &Pass, unit: Unit) -> Option<u64> {
    let rate = pass.rate()?.get();
    Some(match unit {
        Unit::KbPerSecond => rate / 1024.0,
        Unit::OpsPerSecond => rate / pass.record.as_f64(),
        Unit::MicrosPerOp => pass.elapsed.as_f64() / 1e3 / pass.records as f64,
    } as u64)
}

/// Words of a unit, for one cell and as iozone announces it.
pub fn unit_words(unit: Unit) -> (&'static str, &'static str) {
    match unit {
        Unit::KbPerSecond => ("kB/sec", "Output is in kBytes/sec"),
        Unit::OpsPerSecond => ("ops/sec", "OPS Mode. Output is in operations per second."),
        Unit::MicrosPerOp => ("usec/op", "Microseconds/op Mode. Output is in microseconds per operation."),
    }
}

/// What a figure is called.
pub fn title(figure: Figure) -> String {
    let words = match figure {
        Figure::Refwrite => "re-fwrite",
        Figure::Refread => "re-fread",
        Figure::Rewrite => "re-write",
        Figure::Reread => "re-read",
        Figure::Repwrite => "re-pwrite",
        Figure::Repread => "re-pread",
        Figure::Repwritev => "re-pwritev",
        Figure::Repreadv => "re-preadv",
        other => return other.word().replace('_', " "),
    };
    words.to_owned()
}

/// Whose a single pass is.
pub fn whose(verdict: CacheVerdict) -> Whose {
    match verdict {
        CacheVerdict::Device => Whose::Device,
        CacheVerdict::Mixed => Whose::Mixed,
        CacheVerdict::Cache => Whose::Memory,
        CacheVerdict::Unknown => Whose::Unknown,
    }
}

/// The same in a word.
pub fn whose_word(whose: Whose) -> &'static str {
    match whose {
        Whose::Memory => "memory",
        Whose::Mixed => "mixed",
        Whose::Device => "device",
        Whose::Unknown => "unknown",
    }
}

/// A size as iozone's tables have it, in KiB.
pub fn kib(size: Bytes) -> u64 {
    size / Bytes::kib(1)
}

/// What several workers did, in the figures that iozone prints.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Together {
    /// Sum of what each saw.
    pub children: f64,
    /// All that was moved, over the time of all.
    pub parent: f64,
    /// Slowest worker.
    pub min: f64,
    /// Fastest worker.
    pub max: f64,
    /// Their mean.
    pub average: f64,
    /// What the one that moved least had moved, in KiB or records.
    pub least: f64,
}

/// Works these out, in the unit that was asked for; microseconds per record are those of all workers on the mean.
pub fn together(run: &Throughput, unit: Unit) -> Together {
    let each: Vec<f64> = run.children.iter().map(|child| child_rate(child, run.record, unit)).collect();
    let sum: f64 = each.iter().sum();
    let count = each.len().max(1) as f64;
    let moved: Bytes = run.children.iter().map(|child| child.moved).sum();
    let records: u64 = run.children.iter().map(|child| child.records).sum();
    let fold = |start: f64, pick: fn(f64, f64) -> f64| each.iter().copied().fold(start, pick);
    let least = run.children.iter().map(|child| child_moved(child, unit)).fold(f64::INFINITY, f64::min);
    Together {
        children: if unit == Unit::MicrosPerOp { sum / count } else { sum },
        parent: rate(moved, records, run.elapsed, run.record, unit),
        min: fold(f64::INFINITY, f64::min),
        max: fold(0.0, f64::max),
        average: sum / count,
        least,
    }
}

/// What one worker saw.
pub fn child_rate(child: &Child, record: Bytes, unit: Unit) -> f64 {
    rate(child.moved, child.records, child.elapsed, record, unit)
}

/// What one worker moved, in KiB or records.
pub fn child_moved(child: &Child, unit: Unit) -> f64 {
    match unit {
        Unit::KbPerSecond => child.moved.as_f64() / 1024.0,
        _ => child.records as f64,
    }
}

fn rate(moved: Bytes, records: u64, time: Nanos, record: Bytes, unit: Unit) -> f64 {
    let Some(rate) = ByteRate::of(moved, time) else { return 0.0 };
    match unit {
        Unit::KbPerSecond => rate.get() / 1024.0,
        Unit::OpsPerSecond => rate.get() / record.as_f64(),
        Unit::MicrosPerOp => time.as_f64() / 1e3 / (records.max(1) as f64),
    }
}

/// The colours of all tests of a run: from one round speed to another, by the logarithm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    low: f64,
    high: f64,
}

/// Ticks of a scale of colours, at most.
const SCALE_TICKS: usize = 6;

impl Scale {
    /// The scale that holds every speed of a run; `None` where no pass has one.
    pub fn of(record: &IozoneRecord) -> Option<Scale> {
        let rates = || record.passes.iter().filter_map(Pass::rate).map(ByteRate::get).filter(|rate| *rate > 0.0);
        Scale::around(rates().reduce(f64::min)?, rates().reduce(f64::max)?)
    }

    /// From the nearest 1, 2 or 5 times a power of ten below the slowest to the nearest above the fastest.
    fn around(slowest: f64, fastest: f64) -> Option<Scale> {
        let round = |power: i32| [1.0, 2.0, 5.0].map(|factor| factor * 10f64.powi(power));
        let powers = (slowest.log10().floor() as i32)..=(fastest.log10().ceil() as i32);
        let all: Vec<f64> = powers.flat_map(round).collect();
        let low = all.iter().copied().rfind(|value| *value <= slowest)?;
        let high = all.iter().copied().find(|value| *value >= fastest && *value > low)?;
        Some(Scale { low, high })
    }

    /// Where a speed lies: 0 at the low end, 1 at the high end.
    pub fn share(&self, rate: ByteRate) -> f64 {
        ((rate.get() / self.low).ln() / (self.high / self.low).ln()).clamp(0.0, 1.0)
    }

    /// Which of [`STEPS`] colours a speed has.
    pub fn step(&self, rate: ByteRate) -> usize {
        ((self.share(rate) * STEPS as f64) as usize).min(STEPS - 1)
    }

    /// Round speeds on it, each with its place from 0 to 1, in short numbers of [`Grid::CELL_UNIT`].
    pub fn ticks(&self) -> Vec<(f64, String)> {
        let ticks = log_ticks(self.low, self.high, SCALE_TICKS);
        ticks.into_iter().map(|rate| (self.share(ByteRate(rate)), tick(rate / 1e6))).collect()
    }
}

/// A round number without zeros that say nothing.
fn tick(value: f64) -> String {
    let text = short(value);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// The slowest, the middle (by the logarithm) and the fastest of all numbers in tables, for colours of cells.
pub fn cell_scale(record: &IozoneRecord, unit: Unit) -> Option<[f64; 3]> {
    let values = || record.passes.iter().filter_map(|pass| value(pass, unit)).filter(|value| *value > 0);
    let (low, high) = (values().min()? as f64, values().max()? as f64);
    Some([low, (low * high).sqrt(), high])
}

/// The matrix of one figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// The figure.
    pub figure: Figure,
    /// Sizes of files, in ascending order.
    pub files: Vec<Bytes>,
    /// Sizes of records.
    pub records: Vec<Bytes>,
    /// By file, then by record; `None` where nothing was measured.
    pub cells: Vec<Vec<Option<GridCell>>>,
    /// Whose speed the rows show.
    pub rows: Vec<Whose>,
    /// The row that is the device's first, where there is a cliff.
    pub cliff: Option<usize>,
    /// What was found, as a sentence.
    pub sentence: String,
}

/// One cell.
#[derive(Clone, Debug, PartialEq)]
pub struct GridCell {
    /// Speed; `None` where the pass failed.
    pub rate: Option<ByteRate>,
    /// Where its speed lies on the [`Scale`] of the run, from 0 to 1.
    pub share: f64,
    /// Which of [`STEPS`] colours it has.
    pub step: usize,
    /// A number short enough for a cell, in the unit that the figure names.
    pub short: String,
    /// Whose speed it is.
    pub whose: Whose,
}

/// Colours of heat maps and surfaces.
pub const STEPS: usize = 10;

impl Grid {
    /// What the short numbers of cells mean.
    pub const CELL_UNIT: &'static str = "MB/s";

    /// The grids of a record, one per figure that has passes.
    pub fn all(record: &IozoneRecord) -> Vec<Grid> {
        let Some(scale) = Scale::of(record) else { return Vec::new() };
        record.regions.iter().map(|regions| Grid::of(record, regions.figure, scale)).collect()
    }

    fn of(record: &IozoneRecord, figure: Figure, scale: Scale) -> Grid {
        let passes: Vec<&Pass> = record.passes.iter().filter(|pass| pass.figure == figure).collect();
        let mut files: Vec<Bytes> = passes.iter().map(|pass| pass.file).collect();
        files.sort_unstable();
        files.dedup();
        let mut records: Vec<Bytes> = passes.iter().map(|pass| pass.record).collect();
        records.sort_unstable();
        records.dedup();
        let cell = |file: &Bytes, size: &Bytes| {
            let pass = passes.iter().find(|pass| pass.file == *file && pass.record == *size)?;
            let rate = pass.rate();
            Some(GridCell {
                rate,
                share: rate.map_or(0.0, |rate| scale.share(rate)),
                step: rate.map_or(0, |rate| scale.step(rate)),
                short: rate.map_or_else(|| "×".to_owned(), |rate| short(rate.get() / 1e6)),
                whose: whose(pass.evidence.verdict),
            })
        };
        let cells = files.iter().map(|file| records.iter().map(|size| cell(file, size)).collect()).collect();
        let found = record.regions.iter().find(|regions| regions.figure == figure);
        let row = |file: &Bytes| {
            let known = found.and_then(|found| found.sizes.iter().find(|(size, _)| size == file));
            known.map_or(Whose::Unknown, |(_, whose)| *whose)
        };
        let rows = files.iter().map(row).collect();
        let cliff = found
            .and_then(|found| found.cliff)
            .and_then(|cliff| files.iter().position(|file| *file == cliff.device_from));
        let sentence = found.map_or_else(String::new, |found| found.sentence.clone());
        Grid { figure, files, records, cells, rows, cliff, sentence }
    }

    /// Whether there is enough of it for a surface.
    pub fn has_surface(&self) -> bool {
        self.files.len() > 1 && self.records.len() > 1
    }
}

/// Three digits at most, as far as they go.
fn short(value: f64) -> String {
    match value {
        value if value < 0.995 => format!("{value:.2}"),
        value if value < 9.95 => format!("{value:.1}"),
        value if value < 9999.5 => format!("{value:.0}"),
        value => format!("{:.0}k", value / 1e3),
    }
}

/// A size in as few letters as it takes.
pub fn size_label(size: Bytes) -> String {
    let kib = kib(size);
    match kib {
        kib if kib >= 1 << 20 && kib.is_multiple_of(1 << 20) => format!("{}G", kib >> 20),
        kib if kib >= 1 << 10 && kib.is_multiple_of(1 << 10) => format!("{}M", kib >> 10),
        kib => format!("{kib}K"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_model::bench::Evidence;

    fn pass(moved: Bytes, elapsed: Nanos) -> Pass {
        let verdict = CacheVerdict::Cache;
        let evidence = Evidence { verdict, device_share: None, why: String::new(), counters: vec![] };
        let record = Bytes::kib(4);
        Pass {
            figure: Figure::Read,
            file: moved,
            record,
            records: moved / record,
            moved,
            elapsed,
            mismatched: 0,
            failure: None,
            evidence,
        }
    }

    #[test]
    fn units_are_those_of_iozone() {
        let pass = pass(Bytes::mib(1), Nanos::millis(2));
        assert_eq!(value(&pass, Unit::KbPerSecond), Some(512_000));
        assert_eq!(value(&pass, Unit::OpsPerSecond), Some(128_000));
        assert_eq!(value(&pass, Unit::MicrosPerOp), Some(7));
    }

    #[test]
    fn several_workers_add_up() {
        let child = |records, millis| Child {
            records,
            moved: Bytes::kib(4) * records,
            elapsed: Nanos::millis(millis),
            mismatched: 0,
            failure: None,
        };
        let evidence = pass(Bytes::mib(1), Nanos(1)).evidence;
        let (file, record) = (Bytes::mib(1), Bytes::kib(4));
        let children = vec![child(256, 500), child(128, 500)];
        let run = Throughput { figure: Figure::Read, file, record, children, elapsed: Nanos::secs(1), evidence };
        let found = together(&run, Unit::KbPerSecond);
        assert_eq!((found.children, found.parent), (3072.0, 1536.0));
        assert_eq!((found.min, found.max, found.average, found.least), (1024.0, 2048.0, 1536.0, 512.0));
    }

    #[test]
    fn a_scale_has_round_ends_and_round_ticks() {
        let scale = Scale::around(87e6, 4.1e9).unwrap();
        assert_eq!((scale.low, scale.high), (50e6, 5e9));
        let ticks: Vec<String> = scale.ticks().into_iter().map(|tick| tick.1).collect();
        assert_eq!(ticks, ["100", "300", "1000", "3000"]);
        assert_eq!((scale.step(ByteRate(50e6)), scale.step(ByteRate(5e9))), (0, STEPS - 1));
        assert!(Scale::around(2e6, 2e6).is_some(), "a single speed has a scale too");
    }

    #[test]
    fn sizes_have_short_names() {
        let check = |size, expect: &str| assert_eq!(size_label(size), expect);
        check(Bytes::kib(64), "64K");
        check(Bytes::mib(16), "16M");
        check(Bytes::gib(2), "2G");
        check(Bytes::kib(1536), "1536K");
    }
}
