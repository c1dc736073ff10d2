//! Plots of rates: of several units written in turn, and of the first units of a device.

use super::Hue;
use super::frame::{Size, draw};
use flashscope_model::finding::{AreaKind, FastArea};
use flashscope_model::{Geometry, Order};
use flashscope_units::{ByteRate, Bytes};
use flashscope_view::axis::Axis;
use flashscope_view::rate::{FastAreaView, FatView, OpenUnitsView, Rate};

/// Rate against number of units, one curve per block size, and the limit that was found.
pub(crate) fn open_units(view: &OpenUnitsView, geometry: &Geometry, size: Size) -> Option<String> {
    let points = view.curves.iter().flat_map(|curve| &curve.points);
    let x = Axis::counts("units written in turn", points.clone().map(|(count, _)| *count), size.across())?;
    let y = Axis::log_rates("rate", points.flat_map(|(_, rate)| reach(rate)), size.up())?;
    let limit = match view.order {
        Order::InOrder => geometry.open_units_linear.value(),
        Order::Random => geometry.open_units_random.value(),
    };
    draw(size, &x, &y, |frame| {
        if let Some(limit) = limit {
            frame.guide(f64::from(limit), 0, &format!("{limit} open units"), Hue::Mark)?;
        }
        for (at, curve) in view.curves.iter().enumerate() {
            let hue = Hue::Series(at);
            let course: Vec<(f64, f64)> =
                curve.course.iter().map(|(count, rate)| (f64::from(*count), rate.get())).collect();
            let medians: Vec<(f64, f64)> =
                curve.points.iter().map(|(count, rate)| (f64::from(*count), rate.median.get())).collect();
            frame.line(&course, hue, 1)?;
            for (count, rate) in &curve.points {
                if let Some((slowest, fastest)) = rate.range {
                    frame.whisker(f64::from(*count), slowest.get(), fastest.get(), hue)?;
                }
            }
            frame.dots(&medians, hue, 4, 1.0)?;
        }
        Ok(())
    })
}

/// Rate of each suspect and, after a gap, of each control.
pub(crate) fn fast_area(view: &FastAreaView, found: Option<FastArea>, size: Size) -> Option<String> {
    let gap = view.suspects.len();
    let step = every(gap + view.controls.len(), size);
    let mut labels: Vec<String> =
        view.suspects.iter().enumerate().map(|(at, unit)| label(unit.number, at, step)).collect();
    labels.push(String::new());
    labels.extend(view.controls.iter().enumerate().map(|(at, unit)| label(unit.number, at, step)));
    let all = view.suspects.iter().chain(&view.controls);
    let x = Axis::places(&format!("number of the unit of {}", view.unit), &labels);
    let y = Axis::rates("rate", all.flat_map(|unit| reach(&unit.rate)), size.up())?;
    let inside = |at: Bytes| found.is_some_and(|area| area.kind != AreaKind::None && at >= area.first && at < area.end);
    draw(size, &x, &y, |frame| {
        for (place, unit) in view.suspects.iter().enumerate() {
            let place = place as f64;
            if inside(unit.at) {
                frame.band(place - 0.5, place + 0.5, Hue::Mark)?;
            }
            one(frame, place, &unit.rate, Hue::Series(0))?;
        }
        for (place, unit) in view.controls.iter().enumerate() {
            one(frame, (gap + 1 + place) as f64, &unit.rate, Hue::Series(5))?;
        }
        Ok(())
    })
}

/// Rate of each of the first units, one curve per block size.
pub(crate) fn fat(view: &FatView, size: Size) -> Option<String> {
    let units = view.rows.iter().map(|(_, rates)| rates.len()).max()?;
    let step = every(units, size);
    let labels: Vec<String> = (0..units).map(|at| label(at as u64, at, step)).collect();
    let x = Axis::places(&format!("number of the unit of {}", view.unit), &labels);
    let y = Axis::rates("rate", view.rows.iter().flat_map(|(_, rates)| rates.iter().flatten().copied()), size.up())?;
    draw(size, &x, &y, |frame| {
        for (at, (_, rates)) in view.rows.iter().enumerate() {
            let points: Vec<(f64, f64)> =
                rates.iter().enumerate().filter_map(|(unit, rate)| Some((unit as f64, (*rate)?.get()))).collect();
            frame.line(&points, Hue::Series(at), 1)?;
            frame.dots(&points, Hue::Series(at), 3, 1.0)?;
        }
        Ok(())
    })
}

fn one(frame: &mut super::frame::Frame, place: f64, rate: &Rate, hue: Hue) -> super::frame::Drawn {
    if let Some((slowest, fastest)) = rate.range {
        frame.whisker(place, slowest.get(), fastest.get(), hue)?;
    }
    frame.dots(&[(place, rate.median.get())], hue, 4, 1.0)
}

/// Every how many of so many units there is room for a number.
fn every(units: usize, size: Size) -> usize {
    units.div_ceil(2 * size.across())
}

fn label(number: u64, at: usize, step: usize) -> String {
    if at.is_multiple_of(step) { number.to_string() } else { String::new() }
}

/// All that a rate reaches.
fn reach(rate: &Rate) -> impl Iterator<Item = ByteRate> + use<> {
    let (slowest, fastest) = rate.range.unwrap_or((rate.median, rate.median));
    [rate.median, slowest, fastest].into_iter()
}
