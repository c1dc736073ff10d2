//! What was found beside what it is to reach, and beside what a naive prober says.

use super::{Depth, Figures, Which};
use crate::differences::{Row, Target};
use flashscope_capacity::USUAL_BUDGET;

/// Right in kind and size, of fakes whose cache is no larger than what is excluded.
const RIGHT: f64 = 0.995;
/// Expected calibration error.
const CALIBRATION: f64 = 0.02;

/// Everything that is wanted of one kind of devices.
pub fn rows(figures: &Figures, which: Which, depth: Depth) -> Vec<Row> {
    let share = |what: &str, target, share| Row::of(what.to_owned(), target, share);
    let figure = |what: &str, target, value| Row { what: what.to_owned(), target, value, share: None, many: true };
    let may_write = match depth {
        Depth::Quick => Target::AtMost(USUAL_BUDGET.as_f64() / (1 << 20) as f64),
        Depth::Full => Target::Beside,
    };
    let written = figure("MiB written at most", may_write, Some(figures.most_written.as_f64() / (1 << 20) as f64));
    // A full test counts the share that there is; what is drawn is the probability that it came from.
    let damage = match depth {
        Depth::Quick => Target::AtLeast(0.93),
        Depth::Full => Target::Beside,
    };
    match which {
        Which::Genuine => vec![
            share("called something else", Target::AtMost(0.0), figures.accused),
            share("called genuine", Target::Beside, figures.cleared),
            written,
            share("called something else by the naive prober", Target::Beside, figures.naive_accused),
        ],
        Which::Fakes => vec![
            share("right in kind and size, caches up to what is excluded", Target::AtLeast(RIGHT), figures.right),
            share("of these known to the block", Target::Beside, figures.to_the_block),
            share("right where addresses begin anew", Target::AtLeast(RIGHT), figures.wrap),
            share("the interval of the damaged share holds", damage, figures.damage),
            share("with a larger cache, called genuine", Target::Beside, figures.hidden),
            share("wrong, of all verdicts", Target::Beside, figures.wrong),
            written,
            share("right in kind and size by the naive prober", Target::Beside, figures.naive),
        ],
    }
}

/// What is wanted of both together.
pub fn calibration(figures: &Figures) -> Vec<Row> {
    vec![Row {
        what: "calibration error of the kind".to_owned(),
        target: Target::AtMost(CALIBRATION),
        value: figures.calibration_error,
        share: None,
        many: true,
    }]
}
