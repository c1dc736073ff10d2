//! iozone's matrix as a surface: the speed over both sizes, laid out on paper.

use crate::iozone::{Grid, size_label};

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

/// Lays a surface out on paper of this size, with ticks of the scale of speeds (0 to 1, and words). Large files and long records are in front, so that a cliff is seen as one.
pub fn surface(grid: &Grid, ticks: &[(f64, String)], (width, height): (f64, f64)) -> Surface {
    if !grid.has_surface() {
        return Surface::default();
    }
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
        cell.rate?;
        Some((view.point(column as f64 / columns, row as f64 / rows, cell.share), cell.step))
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
    let (lines, labels) = frame(grid, &view, ticks);
    Surface { size: (width, height), patches, grid: lines, labels, edge }
}

type Frame = (Vec<[Point; 2]>, Vec<(Point, String, Side)>);

fn frame(grid: &Grid, view: &View, ticks: &[(f64, String)]) -> Frame {
    let (mut lines, mut labels) = (Vec::new(), Vec::new());
    let places = |count: usize| (0..count).map(move |at| (at, at as f64 / (count as f64 - 1.0)));
    let few = |at: usize, count: usize| (count - 1 - at).is_multiple_of(LABELLED.min(count.div_ceil(3)));
    // The outline of the floor.
    for (from, to) in
        [((0.0, 0.0), (1.0, 0.0)), ((1.0, 0.0), (1.0, 1.0)), ((1.0, 1.0), (0.0, 1.0)), ((0.0, 1.0), (0.0, 0.0))]
    {
        lines.push([view.point(from.0, from.1, 0.0), view.point(to.0, to.1, 0.0)]);
    }
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
    for (share, label) in ticks {
        lines.push([view.point(0.0, 0.0, *share), view.point(0.0, 1.0, *share)]);
        lines.push([view.point(0.0, 0.0, *share), view.point(1.0, 0.0, *share)]);
        let (x, y) = view.point(0.0, 1.0, *share);
        labels.push(((x - 5.0, y), label.clone(), Side::Left));
    }
    for (record, file) in [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)] {
        lines.push([view.point(record, file, 0.0), view.point(record, file, 1.0)]);
    }
    (lines, labels)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::iozone::GridCell;
    use flashscope_model::iozone::{Figure, Whose};
    use flashscope_units::{ByteRate, Bytes};

    #[test]
    fn a_surface_stays_on_its_paper() {
        let (files, records) = ([64, 128, 256], [4, 8, 16]);
        let cell = |row: usize, column: usize| {
            let rate = Some(ByteRate(1e6 * (1 + row * 3 + column) as f64));
            Some(GridCell {
                rate,
                share: (row + column) as f64 / 4.0,
                step: row + column,
                short: String::new(),
                whose: Whose::Memory,
            })
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
        let surface = surface(&grid, &[(0.0, "1".to_owned()), (1.0, "100".to_owned())], (width, height));
        assert_eq!((surface.patches.len(), surface.edge.len()), (4, 3));
        let points = surface.patches.iter().flat_map(|(corners, _)| corners).chain(&surface.edge);
        let lines = surface.grid.iter().flatten();
        for (x, y) in points.chain(lines) {
            assert!((0.0..=width).contains(x) && (0.0..=height).contains(y), "{x} {y}");
        }
    }
}
