//! Plots of rates: of several units written in turn, and of the first units of a device.

use super::Hue;
use super::marks::{Mark, Plot, Size, dots, guide, line};
use flashscope_model::finding::{AreaKind, FastArea};
use flashscope_model::{Geometry, Order};
use flashscope_units::{ByteRate, Bytes};
use flashscope_view::axis::Axis;
use flashscope_view::rate::{FastAreaView, FatView, OpenUnitsView, Rate, UnitRate};

/// Rate against number of units, one curve per block size, and the limit that was found; on the axes of `all` the views.
pub(crate) fn open_units(view: &OpenUnitsView, all: &[OpenUnitsView], geometry: &Geometry, size: Size) -> Option<Plot> {
    let points = all.iter().flat_map(|view| &view.curves).flat_map(|curve| &curve.points);
    let x = Axis::counts("units written in turn", points.clone().map(|(count, _)| *count), size.across())?;
    let y = Axis::log_rates("rate", points.flat_map(|(_, rate)| reach(rate)), size.up())?;
    let limit = match view.order {
        Order::InOrder => geometry.open_units_linear.value(),
        Order::Random => geometry.open_units_random.value(),
    };
    let limit = limit.map(|limit| guide(f64::from(limit), format!("{limit} open units")));
    let curves = view.curves.iter().enumerate().flat_map(|(at, curve)| {
        let hue = Hue::Series(at);
        let course = curve.course.iter().map(|(count, rate)| (f64::from(*count), rate.get())).collect();
        let medians = curve.points.iter().map(|(count, rate)| (f64::from(*count), rate.median.get())).collect();
        let ends = curve.points.iter().filter_map(|(count, rate)| whisker(f64::from(*count), rate)).collect();
        [line(course, hue, 1.0), Mark::Whiskers { ends, hue }, dots(medians, hue, 4.0, 1.0)]
    });
    Some(Plot::new(size, x, y).with_all(limit).with_all(curves))
}

/// Rate of each suspect and, after a gap, of each control.
pub(crate) fn fast_area(view: &FastAreaView, found: Option<FastArea>, size: Size) -> Option<Plot> {
    let gap = view.suspects.len();
    let name = |unit: &UnitRate| unit.number.to_string();
    let mut names: Vec<String> = view.suspects.iter().map(name).collect();
    names.push(String::new());
    names.extend(view.controls.iter().map(name));
    let all = view.suspects.iter().chain(&view.controls);
    let every = every(names.len(), size);
    let x = Axis::places(&format!("number of the unit of {}", view.unit), names, every);
    let y = Axis::rates("rate", all.flat_map(|unit| reach(&unit.rate)), size.up())?;
    let inside = |at: Bytes| found.is_some_and(|area| area.kind != AreaKind::None && at >= area.first && at < area.end);
    let bands = view.suspects.iter().enumerate().filter(|(_, unit)| inside(unit.at)).map(|(place, _)| {
        let place = place as f64;
        Mark::Band { low: place - 0.5, high: place + 0.5, hue: Hue::Mark }
    });
    let some = |units: &[UnitRate], from: usize, hue: Hue| {
        let places = || (from..).map(|place| place as f64).zip(units);
        let ends = places().filter_map(|(place, unit)| whisker(place, &unit.rate)).collect();
        let medians = places().map(|(place, unit)| (place, unit.rate.median.get())).collect();
        [Mark::Whiskers { ends, hue }, dots(medians, hue, 4.0, 1.0)]
    };
    let plot = Plot::new(size, x, y).with_all(bands).with_all(some(&view.suspects, 0, Hue::Series(0)));
    Some(plot.with_all(some(&view.controls, gap + 1, Hue::Series(5))))
}

/// Rate of each of the first units, one curve per block size.
pub(crate) fn fat(view: &FatView, size: Size) -> Option<Plot> {
    let units = view.rows.iter().map(|(_, rates)| rates.len()).max()?;
    let names = (0..units).map(|at| at.to_string()).collect();
    let x = Axis::places(&format!("number of the unit of {}", view.unit), names, every(units, size));
    let y = Axis::rates("rate", view.rows.iter().flat_map(|(_, rates)| rates.iter().flatten().copied()), size.up())?;
    let curves = view.rows.iter().enumerate().flat_map(|(at, (_, rates))| {
        let rate = |(unit, rate): (usize, &Option<ByteRate>)| Some((unit as f64, (*rate)?.get()));
        let points: Vec<(f64, f64)> = rates.iter().enumerate().filter_map(rate).collect();
        [line(points.clone(), Hue::Series(at), 1.0), dots(points, Hue::Series(at), 3.0, 1.0)]
    });
    Some(Plot::new(size, x, y).with_all(curves))
}

fn whisker(x: f64, rate: &Rate) -> Option<(f64, f64, f64)> {
    rate.range.map(|(slowest, fastest)| (x, slowest.get(), fastest.get()))
}

/// Every how many of so many units there is room for a number.
fn every(units: usize, size: Size) -> usize {
    units.div_ceil(2 * size.across())
}

/// All that a rate reaches.
fn reach(rate: &Rate) -> impl Iterator<Item = ByteRate> + use<> {
    let (slowest, fastest) = rate.range.unwrap_or((rate.median, rate.median));
    [rate.median, slowest, fastest].into_iter()
}
