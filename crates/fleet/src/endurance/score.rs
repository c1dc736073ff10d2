//! Counting: how often the interval of a forecast holds, how wide it is, and what a naive reader says.

use super::Said;
use crate::differences::{Row, Share, Target};
use flashscope_infer::endurance::COVERAGE;
use flashscope_model::endurance::Basis;
use flashscope_stats::location::median;

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    /// Forecasts whose 90 % interval holds, of those that were given.
    pub holds: Share,
    /// The same of those that rest on the spare.
    pub by_spare: Share,
    /// The same of those that rest on the life that is used.
    pub by_life: Share,
    /// Forecasts that were given, of all moments of devices with registers.
    pub answered: Share,
    /// Forecasts that were given of devices without registers.
    pub guessed: Share,
    /// Moments without a forecast at which less was said to have passed without an error than really had.
    pub bounds: Share,
    /// Upper end of the interval over its lower one, median.
    pub width: Option<f64>,
    /// How far the first error is from the middle of the forecast, as a ratio above 1, median.
    pub off: Option<f64>,
    /// The same of the naive reader, at the same moments.
    pub naive_off: Option<f64>,
    /// Moments at which the naive reader is within a quarter of the truth.
    pub naive_holds: Share,
}

impl Figures {
    /// Counts.
    pub fn of(said: &[Said]) -> Figures {
        let given = || said.iter().filter(|one| one.forecast.high.is_some());
        let by = |basis: Basis| counted(given().filter(|one| one.forecast.basis == basis).map(holds));
        let middle = |one: &Said| (one.first_error.0 + one.first_error.1) / 2.0;
        let ratio = |one: f64, other: f64| (one / other).max(other / one);
        let off: Vec<f64> = given().filter_map(|one| Some(ratio(one.forecast.capacity_writes?, middle(one)))).collect();
        let naive: Vec<f64> = given().filter_map(|one| Some(ratio(one.naive?, middle(one)))).collect();
        let widths: Vec<f64> = given().filter_map(|one| Some(one.forecast.high? / one.forecast.low)).collect();
        Figures {
            holds: counted(given().map(holds)),
            by_spare: by(Basis::Spare),
            by_life: by(Basis::Life),
            answered: counted(said.iter().filter(|one| one.has_registers).map(|one| one.forecast.high.is_some())),
            guessed: counted(said.iter().filter(|one| !one.has_registers).map(|one| one.forecast.high.is_some())),
            bounds: counted(
                said.iter().filter(|one| one.forecast.high.is_none()).map(|one| one.forecast.low <= one.first_error.1),
            ),
            width: median(&widths),
            off: median(&off),
            naive_off: median(&naive),
            naive_holds: counted(naive.iter().map(|ratio| *ratio <= 1.25)),
        }
    }
}

/// Whether the first error came within the interval: in a pass that overlaps it.
fn holds(said: &Said) -> bool {
    said.forecast.low <= said.first_error.1 && said.forecast.high.is_some_and(|high| high >= said.first_error.0)
}

fn counted(all: impl Iterator<Item = bool>) -> Share {
    all.fold(Share::default(), |share, yes| Share { count: share.count + u32::from(yes), all: share.all + 1 })
}

/// How far the coverage may be off.
const MARGIN: f64 = 0.03;

/// Everything that is wanted.
pub fn rows(figures: &Figures) -> Vec<Row> {
    let coverage = Target::Between(COVERAGE - MARGIN, COVERAGE + MARGIN);
    let figure =
        |what: &str, value| Row { what: what.to_owned(), target: Target::Beside, value, share: None, many: true };
    let share = |what: &str, target, share| Row::of(what.to_owned(), target, share);
    vec![
        share("the 90 % interval of the first error holds", coverage, figures.holds),
        share("of these by the spare", Target::Beside, figures.by_spare),
        share("of these by the life used", Target::Beside, figures.by_life),
        share("a forecast is given, of devices with registers", Target::Beside, figures.answered),
        share("a forecast is given, of devices without registers", Target::AtMost(0.0), figures.guessed),
        share("without a forecast, the bound holds", Target::AtLeast(1.0), figures.bounds),
        figure("upper over lower end of the interval, median", figures.width),
        figure("first error over the forecast or the other way round, median", figures.off),
        figure("the same by a line through the first step of a register", figures.naive_off),
        share("within 25 % by a line through the first step", Target::Beside, figures.naive_holds),
    ]
}
