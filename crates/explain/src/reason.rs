//! From two devices and a workload to shares with intervals.

use crate::groups::GROUPS;
use crate::hybrid::{Pair, Set};
use crate::shares::{self, Effort, Shares, mean};
use crate::{ExplainError, Watch, Workload};
use flashscope_model::explanation::{Gap, GroupName, LEAST_SHARE, Method, Screened, Share, Verdict};
use flashscope_stats::test::{Alternative, Summary, one_sample_t};
use flashscope_units::Nanos;

/// Confidence of every interval.
const CONFIDENCE: f64 = 0.95;

/// Half the interval of 95 % in median errors, of what is distributed normally: 1.960 / 0.6745.
const HALF_OF_MEDIAN_ERROR: f64 = 2.906;

/// One device: a model that is known, or a twin and others that the same measurement might have led to.
#[derive(Clone, Debug, Default)]
pub struct Side {
    /// The model file.
    pub model: String,
    /// Twins of the twin: what is not known of it shows in how they differ from it. None of a model that is known.
    pub refits: Vec<String>,
    /// By how much of itself a figure of the twin usually differs from what was measured. Refits do not show it: a twin is what
    /// a twin can be, and the device is not. 0 for a model that is known.
    pub error: f64,
}

/// What is asked.
#[derive(Clone, Debug)]
pub struct Question<'q> {
    /// The first device.
    pub a: &'q Side,
    /// The second one.
    pub b: &'q Side,
    /// What they are to do.
    pub workload: &'q Workload,
    /// What all seeds follow from.
    pub seed: u64,
    /// Requests that may be replayed altogether, on all hybrids.
    pub work: u64,
}

impl Question<'_> {
    /// What takes some half a minute of one processor.
    pub const USUAL_WORK: u64 = 20_000_000;
}

/// What comes of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// How long the workload takes on A and on B, one time for each seed.
    pub times: (Vec<Nanos>, Vec<Nanos>),
    /// How much longer B takes.
    pub difference: Gap,
    /// What comes of that.
    pub verdict: Verdict,
    /// The largest first.
    pub shares: Vec<Share>,
    /// Groups without a share.
    pub screened: Vec<Screened>,
    /// How it was worked out.
    pub method: Method,
}

/// Replays the workload on A, on B and on hybrids of them, and shares the difference of the times out.
///
/// # Errors
/// Where A or B is no model or does not hold the workload out, or the operator stops before there is anything to say.
pub fn explain(question: &Question<'_>, watch: &mut dyn Watch) -> Result<Answer, ExplainError> {
    let Question { a, b, workload, seed, work } = *question;
    shares::check('A', &a.model)?;
    shares::check('B', &b.model)?;
    let requests = workload.requests.len() as u64;
    if requests == 0 {
        return Err(ExplainError::NoRequests);
    }
    let pair = Pair::new(&a.model, &b.model);
    let effort = Effort::within(work, requests);
    let found = shares::of(&pair, workload, effort, seed, watch)?;
    let mut others = Vec::new();
    let mut cut_short = found.cut_short;
    // A side that is known stays what it is; the other one is one twin after the other.
    for number in 0..a.refits.len().max(b.refits.len()) {
        let of = |side: &'_ Side| side.refits.get(number).unwrap_or(&side.model).clone();
        let other = Pair::new(&of(a), &of(b));
        match shares::of(&other, workload, effort.once(), seed, watch) {
            Ok(shares) => others.push(shares),
            // A twin of a twin that does not hold out says nothing; that there are fewer of them is said.
            Err(ExplainError::Stopped) if others.len() > 1 => {
                cut_short = true;
                break;
            }
            Err(ExplainError::Stopped) => return Err(ExplainError::Stopped),
            Err(_) => {}
        }
    }
    let errors = (a.error, b.error);
    Ok(answer(&pair, errors, &found, &others, Method { seed, seeds: effort.seeds, cut_short, ..Method::default() }))
}

fn answer(pair: &Pair, errors: (f64, f64), found: &Shares, others: &[Shares], method: Method) -> Answer {
    let (a, b) = (&found.times.0, &found.times.1);
    let by_seed: Vec<f64> = b.iter().zip(a).map(|(b, a)| b - a).collect();
    let between: Vec<f64> = others.iter().map(|other| mean(&other.times.1) - mean(&other.times.0)).collect();
    let of_fits = HALF_OF_MEDIAN_ERROR * (errors.0 * mean(a)).hypot(errors.1 * mean(b));
    let difference = wider(gap(&by_seed, &[], &between), of_fits);
    let least = LEAST_SHARE * mean(a);
    let mut shares: Vec<Share> = Vec::new();
    for (at, player) in found.players.iter().enumerate() {
        let between: Vec<f64> = others.iter().map(|other| share_in(other, &found.players, at)).collect();
        let pairs = found.by_pair.get(at).map_or(&[][..], Vec::as_slice);
        let gap = gap(&found.by_seed[at], pairs, &between);
        let told = gap.leaves_out_zero() && gap.time_ns.abs() >= least;
        let changes = members(*player).flat_map(|group| pair.changes(group)).collect();
        let groups = members(*player).map(name).collect();
        shares.push(Share { groups, gap, alone_ns: found.alone[at], told, changes });
    }
    shares.sort_by(|one, other| other.gap.time_ns.abs().total_cmp(&one.gap.time_ns.abs()));
    let differing = found.players.iter().fold(0, |set, player| set | player);
    let screened = (0..GROUPS.len()).filter(|group| differing >> group & 1 == 0);
    let screened = screened.map(|group| Screened { group: name(group), changes: pair.changes(group) }).collect();
    let verdict = match difference {
        gap if gap.leaves_out_zero() && gap.time_ns >= least => Verdict::Longer,
        gap if gap.leaves_out_zero() && gap.time_ns <= -least => Verdict::Shorter,
        gap if gap.low_ns > -least && gap.high_ns < least => Verdict::Same,
        _ => Verdict::CannotTell,
    };
    let method = Method {
        orders: found.orders,
        hybrids: found.hybrids,
        replays: found.replays + others.iter().map(|other| other.replays).sum::<u32>(),
        refits: others.len() as u32,
        ..method
    };
    let nanos = |times: &[f64]| times.iter().map(|time| Nanos(time.round() as u64)).collect();
    Answer { times: (nanos(a), nanos(b)), difference, verdict, shares, screened, method }
}

fn members(set: Set) -> impl Iterator<Item = usize> {
    (0..GROUPS.len()).filter(move |group| set >> group & 1 == 1)
}

fn name(group: usize) -> GroupName {
    GroupName { name: GROUPS[group].name.to_owned(), words: GROUPS[group].words.to_owned() }
}

/// The share of a player of this explanation in another one, whose players may be joined in other ways: each of them counts for
/// the first player here that it meets.
fn share_in(other: &Shares, players: &[Set], at: usize) -> f64 {
    let meets = |player: Set| players.iter().position(|own| own & player != 0);
    let theirs = other.players.iter().enumerate().filter(|(_, player)| meets(**player) == Some(at));
    theirs.map(|(number, _)| mean(&other.by_seed[number])).sum()
}

/// A figure with its interval: from the scatter over seeds, over pairs of sampled orders, and over twins.
fn gap(by_seed: &[f64], by_pair: &[f64], others: &[f64]) -> Gap {
    let time_ns = mean(by_seed);
    let halves = [half(by_seed), half(by_pair), half_of_twins(time_ns, others)];
    let half = halves.iter().map(|half| half * half).sum::<f64>().sqrt();
    Gap { time_ns, low_ns: time_ns - half, high_ns: time_ns + half }
}

/// The same where it may be off by as much for another reason as well, which has nothing to do with the first ones.
fn wider(gap: Gap, by: f64) -> Gap {
    let half = (gap.high_ns - gap.time_ns).hypot(by);
    Gap { low_ns: gap.time_ns - half, high_ns: gap.time_ns + half, ..gap }
}

/// Half the interval of a mean; of values that do not scatter, or are none, nothing.
fn half(values: &[f64]) -> f64 {
    let test = one_sample_t(values, Alternative::TwoSided).and_then(|test| test.interval(CONFIDENCE));
    test.map_or(0.0, |interval| interval.width() / 2.0)
}

/// Half the interval of a figure that other twins put elsewhere. They are held against the figure itself and not against their
/// mean, so that a fit which always errs to one side counts as well.
fn half_of_twins(figure: f64, others: &[f64]) -> f64 {
    let Ok(count) = u32::try_from(others.len()) else { return 0.0 };
    if count == 0 {
        return 0.0;
    }
    let square = others.iter().map(|other| (other - figure).powi(2)).sum::<f64>() / f64::from(count);
    // Student's interval with as many degrees of freedom as there are twins, of one value.
    let summary = Summary { mean: 0.0, deviation: (square * f64::from(count + 1)).sqrt(), count: count + 1 };
    summary.interval(CONFIDENCE).map_or(0.0, |interval| interval.width() / 2.0)
}
