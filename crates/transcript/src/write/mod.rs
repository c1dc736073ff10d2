//! From observations to the original's layout, line for line.
//!
//! The statistics are the original's: mean over places of the smallest of the tries (whole
//! nanoseconds, fractions dropped at each step), bytes over the time of a whole region, a
//! least-squares line without the three smallest sizes. Found by running it against a clock and a
//! device under our control, and checked against such runs in `tests/original.rs`.

mod number;

use flashscope_model::observation::{
    AlignData, AlignEvidence, AlignRow, FatData, IntervalData, IntervalEvidence, OpenUnitsData, Printed, ProgramData,
    RateEvidence, ScatterData, Straddle,
};
use flashscope_model::{Data, Direction, Form};
use flashscope_units::{Bytes, Contrast, Nanos};
use number::{general, rate, size, time};
use std::fmt::Write;

/// Sizes that the line through the interval test leaves out at the small end.
const OFF_THE_LINE: usize = 3;

/// Prints figures as flashbench prints them, with its tabs, padding and cut-off fields.
///
/// Samples are reduced as the original reduces them; what a log printed is printed again. A row
/// without all the figures that its line needs is left out. `None` for experiments that the original
/// does not have, and where no row can be printed.
pub fn write(data: &Data) -> Option<String> {
    let mut text = String::new();
    let _ = match data {
        Data::Align(align) => write_align(&mut text, align),
        Data::OpenUnits(open) => write_open_units(&mut text, open),
        Data::Fat(fat) => write_fat(&mut text, fat),
        Data::Scatter(scatter) => write_scatter(&mut text, scatter),
        Data::Interval(interval) => write_interval(&mut text, interval),
        Data::Program(program) => write_program(&mut text, program),
        other => {
            debug_assert_eq!(other.name().form(), Form::Ours, "the original has a layout for it");
            return None;
        }
    };
    (!text.is_empty()).then_some(text)
}

fn write_align(text: &mut String, align: &AlignData) -> std::fmt::Result {
    let name = if align.direction == Direction::Write { "write align" } else { "align" };
    for row in &align.rows {
        let Some([pre, on, post, diff]) = align_figures(row) else { continue };
        writeln!(
            text,
            "{name} {}\tpre {}\ton {}\tpost {}\tdiff {}",
            row.align.0,
            time(pre),
            time(on),
            time(post),
            time(diff)
        )?;
    }
    Ok(())
}

/// `pre`, `on`, `post`, `diff` in nanoseconds.
fn align_figures(row: &AlignRow) -> Option<[i64; 4]> {
    match &row.evidence {
        AlignEvidence::Places(places) => {
            let pre = mean_of_minima(places, |place| &place.pre)?;
            let on = mean_of_minima(places, |place| &place.on)?;
            let post = mean_of_minima(places, |place| &place.post)?;
            Some([pre, on, post, on - (pre + post) / 2])
        }
        AlignEvidence::Printed { pre, on, post, diff } => {
            Some([nanos((*pre)?), nanos((*on)?), nanos((*post)?), nanos((*diff)?)])
        }
    }
}

fn mean_of_minima(places: &[Straddle], role: impl Fn(&Straddle) -> &Vec<Nanos>) -> Option<i64> {
    let minima: Option<Vec<i64>> =
        places.iter().map(|place| role(place).iter().min().map(|least| least.0 as i64)).collect();
    let minima = minima.filter(|minima| !minima.is_empty())?;
    Some(minima.iter().sum::<i64>() / minima.len() as i64)
}

fn nanos(printed: Printed<Contrast>) -> i64 {
    printed.value.0.round() as i64
}

fn write_open_units(text: &mut String, open: &OpenUnitsData) -> std::fmt::Result {
    for row in &open.rows {
        if let Some(speed) = bytes_per_second(row.block, &row.rate) {
            writeln!(text, "{:<7} {:<7} ", size(row.block), rate(speed))?;
        }
    }
    Ok(())
}

fn write_fat(text: &mut String, fat: &FatData) -> std::fmt::Result {
    fat.rows.iter().try_for_each(|row| write_columns(text, row.block, &row.units))
}

fn write_program(text: &mut String, program: &ProgramData) -> std::fmt::Result {
    program.rows.iter().try_for_each(|row| write_columns(text, row.block, &row.columns))
}

fn write_columns(text: &mut String, block: Bytes, cells: &[RateEvidence]) -> std::fmt::Result {
    let speeds: Option<Vec<u64>> = cells.iter().map(|cell| bytes_per_second(block, cell)).collect();
    let Some(speeds) = speeds.filter(|speeds| !speeds.is_empty()) else { return Ok(()) };
    write!(text, "{:<7} ", size(block))?;
    speeds.iter().try_for_each(|speed| write!(text, "{:<7}  ", rate(*speed)))?;
    writeln!(text)
}

/// Of a whole region, fractions dropped.
fn bytes_per_second(block: Bytes, evidence: &RateEvidence) -> Option<u64> {
    match evidence {
        RateEvidence::Printed(printed) => Some(printed.value.0.round() as u64),
        RateEvidence::Times(times) => {
            let total: u128 = times.iter().map(|time| u128::from(time.0)).sum();
            let bytes = u128::from(block.0) * times.len() as u128;
            (bytes * 1_000_000_000).checked_div(total).map(|speed| u64::try_from(speed).unwrap_or(u64::MAX))
        }
    }
}

fn write_scatter(text: &mut String, scatter: &ScatterData) -> std::fmt::Result {
    for place in &scatter.places {
        if let Some(least) = place.times.iter().min() {
            writeln!(text, "{:.6}\t{:.6}", place.at.as_f64() / f64::from(1 << 20), least.as_f64() / 1e6)?;
        }
    }
    Ok(())
}

/// Smallest, mean and largest time of one size.
struct IntervalFigures {
    size: Bytes,
    min: i64,
    avg: i64,
    max: i64,
}

fn write_interval(text: &mut String, interval: &IntervalData) -> std::fmt::Result {
    let rows: Vec<IntervalFigures> = interval
        .rows
        .iter()
        .filter_map(|row| {
            let (min, avg, max) = match &row.evidence {
                IntervalEvidence::Times(times) => {
                    let sum: i64 = times.iter().map(|time| time.0 as i64).sum();
                    let (min, max) = (times.iter().min()?.0 as i64, times.iter().max()?.0 as i64);
                    (min, sum / times.len() as i64, max)
                }
                IntervalEvidence::Printed { min, avg, max } => (nanos((*min)?), nanos((*avg)?), nanos((*max)?)),
            };
            (min > 0).then_some(IntervalFigures { size: row.size, min, avg, max })
        })
        .collect();
    for IntervalFigures { size, min, avg, max } in &rows {
        let speed = general(size.as_f64() * 1e3 / *min as f64, 6);
        writeln!(text, "{} bytes: min {} avg {} max {}: {speed} MB/s", size.0, time(*min), time(*avg), time(*max))?;
    }
    write_line_through(text, &rows)
}

/// The least-squares line and what each size is off it; nothing where two sizes on it are not left.
fn write_line_through(text: &mut String, rows: &[IntervalFigures]) -> std::fmt::Result {
    let on_line: Vec<(f64, f64)> =
        rows.iter().skip(OFF_THE_LINE).map(|row| (row.size.as_f64(), row.min as f64)).collect();
    let Some((access, slope)) = least_squares(&on_line) else { return Ok(()) };
    writeln!(text, "{} MB/s, {} access time", general(1e3 / slope, 6), time(access.trunc() as i64))?;
    for row in rows {
        // The original keeps the access time in whole nanoseconds. Its slope is coarser than ours by up
        // to 1e-7 of itself, which may show in the last digit or two of large sizes.
        let overhead = row.min as f64 - access.trunc() - row.size.as_f64() * slope;
        writeln!(text, "bytes {}, time {} overhead {}", row.size.0, row.min, general(overhead, 6))?;
    }
    Ok(())
}

/// Intercept and slope.
fn least_squares(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    let count = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (mean_x, mean_y) = (mean(|point| point.0), mean(|point| point.1));
    let across: f64 = points.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    let along: f64 = points.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    (along > 0.0).then(|| (mean_y - across / along * mean_x, across / along))
}
