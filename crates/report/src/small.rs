//! Plots of a few lines for the terminal, out of block elements.

use flashscope_units::Contrast;
use flashscope_view::conclusion::{Bar, Profile, Small};

/// Lines of a profile; one where the longest time is no more than so many times the shortest.
const ROWS: usize = 5;
const FLAT: f64 = 1.1;
/// Columns of what is written left of a profile, and beside bars.
const SCALE: usize = 9;
const LABEL: usize = 14;
/// Blocks that are filled from below, and from the left, by eighths.
const UP: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const RIGHT: [char; 8] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/// Columns that a profile has for its times, of so many of the terminal.
pub(crate) fn columns(width: usize) -> usize {
    width.saturating_sub(SCALE + 4).clamp(10, 100)
}

/// The lines of a plot, none wider than `width`.
pub(crate) fn lines(small: &Small, width: usize) -> Vec<String> {
    match small {
        Small::Profile(profile) => self::profile(profile),
        Small::Bars(name, bars) => self::bars(name, bars, width),
    }
}

/// Zero is the bottom, so that heights compare. Where they hardly differ, a line of them is enough.
fn profile(profile: &Profile) -> Vec<String> {
    let times = || profile.columns.iter().flatten().copied();
    let (least, most) = (times().fold(f64::INFINITY, f64::min), times().fold(0.0, f64::max));
    let rows = if most <= least * FLAT { 1 } else { ROWS };
    let eighths = |time: f64| if most > 0.0 { (time / most * (rows * 8) as f64).round() as usize } else { 0 };
    let row = |row: usize| {
        let below = (rows - 1 - row) * 8;
        let cell = |column: &Option<f64>| column.map_or(' ', |time| UP[eighths(time).saturating_sub(below).min(8)]);
        let scale = match row {
            0 => Contrast(most).to_string(),
            row if row == rows - 1 => "0".to_owned(),
            _ => String::new(),
        };
        format!("  {scale:>SCALE$} {}", profile.columns.iter().map(cell).collect::<String>().trim_end())
    };
    let (first, last) = (profile.positions.0.to_string(), profile.positions.1.to_string());
    let room = profile.columns.len().saturating_sub(first.chars().count());
    let axis = format!("  {:SCALE$} {first}{last:>room$}", "");
    (0..rows).map(row).chain([axis]).collect()
}

fn bars(name: &str, bars: &[Bar], width: usize) -> Vec<String> {
    let most = bars.iter().map(|bar| bar.value).fold(0.0, f64::max);
    let shown = bars.iter().map(|bar| bar.shown.chars().count()).max().unwrap_or(0);
    let room = width.saturating_sub(2 + LABEL + 2 + shown + 1).clamp(4, 50);
    let line = |bar: &Bar| {
        // What is negative has no bar; its figure stands beside it.
        let eighths = if most > 0.0 { (bar.value.max(0.0) / most * (room * 8) as f64).round() as usize } else { 0 };
        let mut drawn = "█".repeat(eighths / 8);
        drawn.extend(RIGHT.get(eighths % 8).filter(|_| eighths % 8 > 0));
        let label: String = bar.label.chars().take(LABEL).collect();
        format!("  {label:>LABEL$} {:>shown$} {drawn}", bar.shown).trim_end().to_owned()
    };
    std::iter::once(format!("  {name}")).chain(bars.iter().map(line)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_units::Bytes;

    #[test]
    fn heights_begin_at_zero() {
        let columns = vec![Some(100.0), Some(200.0), None];
        let lines = profile(&Profile { columns, positions: (Bytes::ZERO, Bytes::mib(1)) });
        assert_eq!(lines[0], "     200 ns  █");
        assert_eq!(lines[2], "            ▄█");
        assert_eq!(lines[4], "          0 ██");
        let flat = vec![Some(100.0), Some(104.0)];
        assert_eq!(profile(&Profile { columns: flat, positions: (Bytes::ZERO, Bytes::mib(1)) }).len(), 2);
    }

    #[test]
    fn bars_fit_the_width() {
        let bar = |value: f64| Bar { label: "16 KiB".to_owned(), value, shown: format!("{value} MB/s") };
        for width in [40, 80] {
            let lines = bars("rate", &[bar(10.0), bar(5.0), bar(-1.0)], width);
            assert!(lines.iter().all(|line| line.chars().count() <= width), "{lines:#?}");
            let blocks = |line: &str| line.chars().filter(|c| *c == '█').count();
            assert_eq!(blocks(&lines[1]), 2 * blocks(&lines[2]));
            assert_eq!(blocks(&lines[3]), 0);
        }
    }
}
