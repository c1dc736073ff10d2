//! Histories whose changes are known.

use flashscope_stats::Rng;

/// What the points of a history scatter like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Around {
    /// Each by itself.
    Independent,
    /// Neighbours resemble each other.
    Correlated,
    /// Now and then a run is hit by a stall of the host.
    Stalls,
}

impl Around {
    /// All of them.
    pub const ALL: [Around; 3] = [Around::Independent, Around::Correlated, Around::Stalls];

    /// In words.
    pub fn word(self) -> &'static str {
        match self {
            Around::Independent => "independent",
            Around::Correlated => "neighbours correlated by 0.3",
            Around::Stalls => "3 % of runs stalled",
        }
    }
}

/// What is planted in a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Planting {
    /// Nothing.
    Nothing,
    /// One change of three standard deviations, ten points before the end.
    Late,
    /// One to four changes of 2 to 6 standard deviations.
    Several,
}

impl Planting {
    /// All of them.
    pub const ALL: [Planting; 3] = [Planting::Nothing, Planting::Late, Planting::Several];
}

/// A change that is there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Planted {
    /// First point of the new level.
    pub at: usize,
    /// New level less the old one, as logarithms.
    pub size: f64,
}

/// One figure over time.
#[derive(Clone, Debug, PartialEq)]
pub struct History {
    /// Rates in MB/s, in the order of time.
    pub rates: Vec<f64>,
    /// The changes, in the order of time.
    pub planted: Vec<Planted>,
}

/// Correlation of neighbours, where there is any.
const CORRELATION: f64 = 0.3;
/// One run in so many is hit by a stall.
const STALL_CHANCE: f64 = 0.03;
/// Mean loss of such a run, in standard deviations of the scatter, beyond [`LEAST_LOSS`].
const STALL_LOSS: f64 = 5.0;
/// What such a run loses at least, in the same unit.
const LEAST_LOSS: f64 = 3.0;
/// Points of a history without a change: shortest and longest, evenly on a logarithmic scale.
const POINTS: [f64; 2] = [20.0, 1000.0];
/// Points before a late change: shortest and longest, evenly.
const BEFORE: [usize; 2] = [50, 200];
/// Points from a late change to the end.
const AFTER: usize = 10;
/// Size of a late change in standard deviations.
const LATE: f64 = 3.0;
/// Sizes of several changes.
const SIZES: [f64; 2] = [2.0, 6.0];
/// Points between two changes: shortest and longest, evenly.
const BETWEEN: [usize; 2] = [20, 80];
/// Changes in one history, at most.
const MOST: usize = 4;

impl History {
    /// Draws one; `scatter` is the standard deviation of a logarithm.
    pub fn draw(around: Around, planting: Planting, scatter: f64, rng: &mut Rng) -> History {
        let within = |rng: &mut Rng, [low, high]: [usize; 2]| low + rng.below(high - low + 1);
        let sign = |rng: &mut Rng| if rng.unit() < 0.5 { -1.0 } else { 1.0 };
        let mut planted = Vec::new();
        let points = match planting {
            Planting::Nothing => (POINTS[0] * (POINTS[1] / POINTS[0]).powf(rng.unit())) as usize,
            Planting::Late => {
                let at = within(rng, BEFORE);
                planted.push(Planted { at, size: sign(rng) * LATE * scatter });
                at + AFTER
            }
            Planting::Several => {
                let mut at = within(rng, BETWEEN);
                for _ in 0..1 + rng.below(MOST) {
                    let size = SIZES[0] + (SIZES[1] - SIZES[0]) * rng.unit();
                    planted.push(Planted { at, size: sign(rng) * size * scatter });
                    at += within(rng, BETWEEN);
                }
                at
            }
        };
        let mut rates = scattered(around, scatter, points, rng);
        let level = 50.0 + 400.0 * rng.unit();
        for (i, rate) in rates.iter_mut().enumerate() {
            let shift: f64 = planted.iter().filter(|planted| planted.at <= i).map(|planted| planted.size).sum();
            *rate *= level * shift.exp();
        }
        History { rates, planted }
    }

    /// Where the changes are.
    pub fn places(&self) -> Vec<usize> {
        self.planted.iter().map(|planted| planted.at).collect()
    }
}

/// Rates about 1.
fn scattered(around: Around, scatter: f64, points: usize, rng: &mut Rng) -> Vec<f64> {
    let correlation = if around == Around::Correlated { CORRELATION } else { 0.0 };
    let mut last = rng.normal();
    let mut next = || {
        last = correlation * last + (1.0 - correlation * correlation).sqrt() * rng.normal();
        let is_hit = around == Around::Stalls && rng.unit() < STALL_CHANCE;
        let loss = if is_hit { LEAST_LOSS - STALL_LOSS * (1.0 - rng.unit()).ln() } else { 0.0 };
        (scatter * (last - loss)).exp()
    };
    (0..points).map(|_| next()).collect()
}
