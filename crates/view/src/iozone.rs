//! iozone's matrix as tables are printed and surfaces drawn: values, colours by steps, corners on the paper.

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
    /// Which of [`STEPS`] colours it has, from slow to fast over the whole figure, by the logarithm.
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
        record.regions.iter().map(|regions| Grid::of(record, regions.figure)).collect()
    }

    fn of(record: &IozoneRecord, figure: Figure) -> Grid {
        let passes: Vec<&Pass> = record.passes.iter().filter(|pass| pass.figure == figure).collect();
        let mut files: Vec<Bytes> = passes.iter().map(|pass| pass.file).collect();
        files.sort_unstable();
        files.dedup();
        let mut records: Vec<Bytes> = passes.iter().map(|pass| pass.record).collect();
        records.sort_unstable();
        records.dedup();
        let rates: Vec<f64> = passes.iter().filter_map(|pass| pass.rate()).map(ByteRate::get).collect();
        let low = rates.iter().copied().fold(f64::INFINITY, f64::min);
        let high = rates.iter().copied().fold(0.0, f64::max);
        let cell = |file: &Bytes, size: &Bytes| {
            let pass = passes.iter().find(|pass| pass.file == *file && pass.record == *size)?;
            let rate = pass.rate();
            let share = rate.map_or(0.0, |rate| share(rate.get(), low, high));
            Some(GridCell {
                rate,
                step: ((share * STEPS as f64) as usize).min(STEPS - 1),
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

    fn range(&self) -> Option<(f64, f64)> {
        let rates = || self.cells.iter().flatten().flatten().filter_map(|cell| cell.rate).map(ByteRate::get);
        let (low, high) = (rates().fold(f64::INFINITY, f64::min), rates().fold(0.0, f64::max));
        (high > 0.0).then_some((low, high))
    }

    /// The scale of colours: the speed at which each step begins, in short numbers.
    pub fn scale(&self) -> Vec<String> {
        let Some((low, high)) = self.range() else { return Vec::new() };
        let at = |step: usize| low * (high / low).powf(step as f64 / STEPS as f64);
        (0..STEPS).map(|step| short(at(step) / 1e6)).collect()
    }
}

/// Where a speed lies between the slowest and the fastest, by the logarithm.
fn share(rate: f64, low: f64, high: f64) -> f64 {
    if high <= low || rate <= 0.0 { 1.0 } else { (rate / low).ln() / (high / low).ln() }
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

/// A surface on paper: the speed over both sizes, seen from above and in front.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surface {
    /// Width and height of the paper.
    pub size: (f64, f64),
    /// Patches from back to front, and their colours.
    pub patches: Vec<([Point; 4], usize)>,
    /// Lines of the floor and the wall behind it.
    pub grid: Vec<[Point; 2]>,
    /// Labels: where, what, and on which side of the point they stand.
    pub labels: Vec<(Point, String, Side)>,
    /// The cliff's edge across the surface.
    pub edge: Vec<Point>,
}

/// A point on the paper, from its upper left corner.
pub type Point = (f64, f64);

/// On which side of its point a label stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// To the left of it.
    Left,
    /// Below it.
    Below,
    /// To the right of it.
    Right,
}

/// From where a surface is seen: record sizes run to the right and to the front, file sizes to the left and to the front.
struct View {
    origin: Point,
    along: Point,
    across: Point,
    height: f64,
}

impl View {
    fn point(&self, record: f64, file: f64, up: f64) -> Point {
        let x = self.origin.0 + record * self.along.0 + file * self.across.0;
        let y = self.origin.1 + record * self.along.1 + file * self.across.1 - up * self.height;
        (x, y)
    }
}

/// Every so many sizes bear a label.
const LABELLED: usize = 3;

/// Lays a surface out on paper of this size. Large files and long records are in front, so that a cliff is seen as one.
pub fn surface(grid: &Grid, (width, height): (f64, f64)) -> Surface {
    let Some((low, high)) = grid.range().filter(|_| grid.has_surface()) else { return Surface::default() };
    let (left, right, bottom, top) = (56.0, 52.0, 44.0, 34.0);
    let lift = height * 0.30;
    let (span, depth) = (width - left - right, (height - bottom - top - lift) * 0.5);
    let view = View {
        origin: (left + span * 0.5, top + lift),
        along: (span * 0.5, depth),
        across: (-span * 0.5, depth),
        height: lift,
    };
    let (rows, columns) = (grid.files.len() as f64 - 1.0, grid.records.len() as f64 - 1.0);
    let corner = |row: usize, column: usize| {
        let cell = grid.cells[row][column].as_ref()?;
        let up = share(cell.rate?.get(), low, high);
        Some((view.point(column as f64 / columns, row as f64 / rows, up), cell.step))
    };
    let mut patches = Vec::new();
    // By their distance from the corner behind.
    for sum in 0..grid.files.len() + grid.records.len() - 3 {
        for row in 0..grid.files.len() - 1 {
            let Some(column) = sum.checked_sub(row).filter(|column| *column + 1 < grid.records.len()) else { continue };
            let corners = [(row, column), (row, column + 1), (row + 1, column + 1), (row + 1, column)];
            let corners: Option<Vec<(Point, usize)>> =
                corners.into_iter().map(|(row, column)| corner(row, column)).collect();
            let Some(corners) = corners else { continue };
            let step = corners.iter().map(|(_, step)| step).sum::<usize>() / 4;
            patches.push(([corners[0].0, corners[1].0, corners[2].0, corners[3].0], step));
        }
    }
    let edge = grid.cliff.map_or_else(Vec::new, |row| {
        (0..grid.records.len()).filter_map(|column| corner(row - 1, column)).map(|(point, _)| point).collect()
    });
    let (lines, labels) = frame(grid, &view, (low, high));
    Surface { size: (width, height), patches, grid: lines, labels, edge }
}

type Frame = (Vec<[Point; 2]>, Vec<(Point, String, Side)>);

fn frame(grid: &Grid, view: &View, (low, high): (f64, f64)) -> Frame {
    let (mut lines, mut labels) = (Vec::new(), Vec::new());
    let places = |count: usize| (0..count).map(move |at| (at, at as f64 / (count as f64 - 1.0)));
    let few = |at: usize, count: usize| (count - 1 - at).is_multiple_of(LABELLED.min(count.div_ceil(3)));
    // The first would stand where the upright scale begins.
    for (at, place) in places(grid.records.len()).filter(|(at, _)| *at > 0 && few(*at, grid.records.len())) {
        lines.push([view.point(place, 0.0, 0.0), view.point(place, 1.0, 0.0)]);
        let (x, y) = view.point(place, 1.0, 0.0);
        labels.push(((x + 2.0, y + 4.0), size_label(grid.records[at]), Side::Below));
    }
    for (at, place) in places(grid.files.len()).filter(|(at, _)| few(*at, grid.files.len())) {
        lines.push([view.point(0.0, place, 0.0), view.point(1.0, place, 0.0)]);
        let (x, y) = view.point(1.0, place, 0.0);
        labels.push(((x + 5.0, y + 2.0), size_label(grid.files[at]), Side::Right));
    }
    for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
        lines.push([view.point(0.0, 0.0, share), view.point(0.0, 1.0, share)]);
        lines.push([view.point(0.0, 0.0, share), view.point(1.0, 0.0, share)]);
        let (x, y) = view.point(0.0, 1.0, share);
        let rate = low * (high / low).powf(share);
        labels.push(((x - 5.0, y), short(rate / 1e6), Side::Left));
    }
    for (record, file) in [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)] {
        lines.push([view.point(record, file, 0.0), view.point(record, file, 1.0)]);
    }
    (lines, labels)
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
    fn a_surface_stays_on_its_paper() {
        let (files, records) = ([64, 128, 256], [4, 8, 16]);
        let cell = |row: usize, column: usize| {
            let rate = Some(ByteRate(1e6 * (1 + row * 3 + column) as f64));
            Some(GridCell { rate, step: row + column, short: String::new(), whose: Whose::Memory })
        };
        let grid = Grid {
            figure: Figure::Read,
            files: files.map(Bytes::kib).to_vec(),
            records: records.map(Bytes::kib).to_vec(),
            cells: (0..3).map(|row| (0..3).map(|column| cell(row, column)).collect()).collect(),
            rows: vec![Whose::Memory, Whose::Memory, Whose::Device],
            cliff: Some(2),
            sentence: String::new(),
        };
        let (width, height) = (560.0, 400.0);
        let surface = surface(&grid, (width, height));
        assert_eq!((surface.patches.len(), surface.edge.len()), (4, 3));
        let points = surface.patches.iter().flat_map(|(corners, _)| corners).chain(&surface.edge);
        let lines = surface.grid.iter().flatten();
        for (x, y) in points.chain(lines) {
            assert!((0.0..=width).contains(x) && (0.0..=height).contains(y), "{x} {y}");
        }
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
