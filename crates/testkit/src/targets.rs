//! Targets beside what was found, in the one form that all programs of `scripts/prove` print.

use std::io::{self, Write};

/// Writes a row per target as soon as it is known (`target | wanted | found | met`) and counts them.
///
/// A figure that was not taken is no zero: [`Targets::left_out`] says why, and neither meets nor misses.
#[derive(Debug)]
pub struct Targets<W> {
    out: W,
    met: u32,
    missed: u32,
    left_out: u32,
}

impl<W: Write> Targets<W> {
    /// Begins the table, with a line of headings.
    ///
    /// # Errors
    /// Those of the writer, here as below.
    pub fn begin(mut out: W) -> io::Result<Self> {
        line(&mut out, ["target", "wanted", "found", ""])?;
        Ok(Targets { out, met: 0, missed: 0, left_out: 0 })
    }

    /// One target: what was wanted and found, in words with their units, and whether the one meets the other.
    pub fn row(&mut self, target: &str, wanted: &str, found: &str, met: bool) -> io::Result<()> {
        *(if met { &mut self.met } else { &mut self.missed }) += 1;
        line(&mut self.out, [target, wanted, found, if met { "met" } else { "MISSED" }])
    }

    /// `found` is to be `most` at the most, both in `unit` (`""` for none, `"%"`, `"µs"`). What is no number is missed.
    pub fn at_most(&mut self, target: &str, most: f64, found: f64, unit: &str) -> io::Result<()> {
        self.row(target, &format!("≤ {}", words(most, unit)), &words(found, unit), found <= most)
    }

    /// `found` is to be `least` at the least, both in `unit`. What is no number is missed.
    pub fn at_least(&mut self, target: &str, least: f64, found: f64, unit: &str) -> io::Result<()> {
        self.row(target, &format!("≥ {}", words(least, unit)), &words(found, unit), found >= least)
    }

    /// A target that could not be looked at here, and why.
    pub fn left_out(&mut self, target: &str, why: &str) -> io::Result<()> {
        self.left_out += 1;
        line(&mut self.out, [target, "", &format!("left out: {why}"), "-"])
    }

    /// Ends the table with a count; whether no target was missed.
    pub fn end(mut self) -> io::Result<bool> {
        let Targets { met, missed, left_out, .. } = self;
        writeln!(self.out, "{met} met, {missed} missed, {left_out} left out")?;
        Ok(missed == 0)
    }
}

fn words(value: f64, unit: &str) -> String {
    let digits = match value.abs() {
        size if size >= 1000.0 || value == value.trunc() => 0,
        size if size >= 10.0 => 1,
        size if size >= 1.0 => 2,
        _ => 4,
    };
    let mut number = format!("{value:.digits$}");
    if number.contains('.') {
        number.truncate(number.trim_end_matches('0').trim_end_matches('.').len());
    }
    let space = if unit.is_empty() { "" } else { " " };
    format!("{number}{space}{unit}")
}

fn line(out: &mut impl Write, [target, wanted, found, met]: [&str; 4]) -> io::Result<()> {
    writeln!(out, "{target:<58} | {wanted:>20} | {found:>24} | {met}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_miss_is_said_and_counted() {
        let mut text = Vec::new();
        let mut targets = Targets::begin(&mut text).unwrap();
        targets.at_most("error at p50", 2.5, 2.5, "µs").unwrap();
        targets.at_least("exact", 97.0, 96.94, "%").unwrap();
        targets.at_most("not a number", 1.0, f64::NAN, "").unwrap();
        targets.left_out("against fio", "there is no fio").unwrap();
        assert!(!targets.end().unwrap());
        let text = String::from_utf8(text).unwrap();
        let cells: Vec<Vec<&str>> = text.lines().map(|line| line.split('|').map(str::trim).collect()).collect();
        assert_eq!(cells[1], ["error at p50", "≤ 2.5 µs", "2.5 µs", "met"]);
        assert_eq!(cells[2], ["exact", "≥ 97 %", "96.9 %", "MISSED"]);
        assert_eq!(cells[3][3], "MISSED");
        assert_eq!(cells[4], ["against fio", "", "left out: there is no fio", "-"]);
        assert_eq!(cells[5], ["1 met, 2 missed, 1 left out"]);
    }

    #[test]
    fn what_was_left_out_is_no_miss() {
        let mut targets = Targets::begin(Vec::new()).unwrap();
        targets.left_out("against fio", "there is no fio").unwrap();
        assert!(targets.end().unwrap());
    }
}
