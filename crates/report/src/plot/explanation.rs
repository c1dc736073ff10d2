//! A waterfall: from the time on A over what each exchange adds to the time on B.

use super::Hue;
use super::marks::{Mark, Plot, Size};
use flashscope_view::axis::Axis;
use flashscope_view::explanation::Step;

/// A and B are bars from the axis, the steps between them lines from where they begin to where they end.
pub(crate) fn waterfall(steps: &[Step], size: Size) -> Option<Plot> {
    let ends = steps.iter().flat_map(|step| [step.from_ns, step.to_ns]);
    let x = Axis::places("", steps.iter().map(|step| step.name.clone()).collect(), 1);
    let y = Axis::times("time", ends, true, size.up())?;
    let (mut bars, mut lines, mut words) = (Vec::new(), Vec::new(), Vec::new());
    let last = steps.len().checked_sub(1)?;
    for (at, step) in steps.iter().enumerate() {
        let place = at as f64;
        if at == 0 || at == last {
            bars.push((place - 0.3, place + 0.3, step.to_ns));
            continue;
        }
        let (low, high) = (step.from_ns.min(step.to_ns), step.from_ns.max(step.to_ns));
        lines.push((place, low, high));
        let sign = if step.to_ns < step.from_ns { "−" } else { "+" };
        let words_of = flashscope_units::Nanos((high - low).round() as u64);
        words.push(Mark::Words { at: (place, high), words: format!("{sign}{words_of}"), hue: Hue::Series(1) });
    }
    let plot = Plot::new(size, x, y).with(Mark::Bars { bars, hue: Hue::Series(0) });
    Some(plot.with(Mark::Whiskers { ends: lines, hue: Hue::Series(1) }).with_all(words))
}
