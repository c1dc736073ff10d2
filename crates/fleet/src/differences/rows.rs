//! What was found beside what it is to reach, and beside what others would have said of the same runs.

use super::{Figures, MARGINS, QUIET, Share};

/// One figure, and what it is to be.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What is counted.
    pub what: String,
    /// What it is to be.
    pub target: Target,
    /// What it is; `None` where no pair tells.
    pub value: Option<f64>,
    /// Of how many, where it is a share.
    pub share: Option<Share>,
    /// Whether only many cases tell.
    pub many: bool,
}

/// What a figure is to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// No larger.
    AtMost(f64),
    /// No smaller.
    AtLeast(f64),
    /// Neither below the first nor above the second.
    Between(f64, f64),
    /// Nothing: it stands there to be compared with.
    Beside,
}

impl Row {
    /// A share.
    pub fn of(what: String, target: Target, share: Share) -> Row {
        Row { what, target, value: share.value(), share: Some(share), many: matches!(target, Target::Between(..)) }
    }

    /// Whether the target is met; `None` where there is none, or nothing to hold against it.
    pub fn is_met(&self) -> Option<bool> {
        let value = self.value?;
        match self.target {
            Target::AtMost(most) => Some(value <= most),
            Target::AtLeast(least) => Some(value >= least),
            Target::Between(low, high) => Some((low..=high).contains(&value)),
            Target::Beside => None,
        }
    }

    /// The target in words.
    pub fn wanted(&self) -> String {
        let said = |value: f64| self.said(value);
        match self.target {
            Target::AtMost(most) => format!("≤ {}", said(most)),
            Target::AtLeast(least) => format!("≥ {}", said(least)),
            Target::Between(low, high) => format!("{} to {}", said(low), said(high)),
            Target::Beside => String::new(),
        }
    }

    /// What was found in words.
    pub fn found(&self) -> String {
        let Some(value) = self.value else { return "no such pair".to_owned() };
        let of = self.share.map(|share| format!(" ({} of {})", share.count, share.all));
        format!("{}{}", self.said(value), of.unwrap_or_default())
    }

    fn said(&self, value: f64) -> String {
        if self.share.is_some() { format!("{:.1} %", 100.0 * value) } else { format!("{value:.2}") }
    }
}

/// Everything that is wanted of comparisons at one scatter, then what others would have said.
pub fn rows(figures: &Figures, scatter: f64, most_blocks: u32) -> Vec<Row> {
    let share = Row::of;
    let mut rows =
        vec![share("true nulls called better or worse".to_owned(), Target::AtMost(0.05), figures.false_difference)];
    for (margin, found) in MARGINS.iter().zip(figures.false_equivalence) {
        let what = format!("outside the margin of {:.0} %, called equivalent", 100.0 * (margin - 1.0));
        rows.push(share(what, Target::AtMost(0.05), found));
    }
    // What can be asked depends on the scatter: 5 % of a quiet host, 10 % of a noisy one.
    let size = usize::from(scatter > QUIET);
    let percent = [5, 10][size];
    let within = format!("within {most_blocks} blocks");
    rows.push(share(
        format!("true {percent} % differences found {within}"),
        Target::AtLeast(0.90),
        figures.found[size],
    ));
    rows.push(share("found with the wrong sign".to_owned(), Target::AtMost(0.05), figures.wrong_sign));
    let same = format!("true nulls called equivalent within {percent} %, {within}");
    rows.push(share(same, Target::AtLeast(0.80), figures.nulls_equivalent[size]));
    rows.push(share("95 % intervals of 12 blocks hold".to_owned(), Target::Between(0.93, 0.97), figures.fixed_holds));
    rows.push(share("95 % intervals hold when stopped".to_owned(), Target::AtLeast(0.95), figures.stopped_holds));
    rows.push(share("verdicts withheld by the control".to_owned(), Target::AtMost(0.02), figures.withheld));
    rows.extend(figures.blocks.filter(|_| scatter > QUIET).into_iter().flat_map(|blocks| {
        let at = format!("false alarms {:.1} %, found {:.1} %", 100.0 * blocks.alpha, 100.0 * blocks.power);
        let of = |fixed: Option<u32>| fixed.map_or(f64::from(most_blocks), f64::from);
        let [four, two] = [blocks.fixed, blocks.fixed_pairs].map(of);
        let more = |fixed: Option<u32>| if fixed.is_none() { " or more" } else { "" };
        let ours = blocks.ours;
        let what = format!("blocks at 5 %, {ours:.1} against {four}{} of a fixed number ({at})", more(blocks.fixed));
        let runs = format!("runs at 5 %, A/A counted, against {}{}", 2.0 * two, more(blocks.fixed_pairs));
        [(what, 0.7, ours / four), (runs, 1.0, 4.0 * ours / (2.0 * two))].map(|(what, most, value)| Row {
            what,
            target: Target::AtMost(most),
            value: Some(value),
            share: None,
            many: true,
        })
    }));
    for (reader, name) in ["best of three", "Welch over requests", "a band of 10 %"].iter().enumerate() {
        for (what, found) in [
            ("true nulls called different", figures.readers_false[reader]),
            ("more than 5 % apart, not found", figures.readers_missed[reader]),
            ("more than 5 % apart, called the same", figures.readers_same[reader]),
        ] {
            rows.push(share(format!("{name}: {what}"), Target::Beside, found));
        }
    }
    rows
}
