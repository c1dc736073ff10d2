//! Stripe and parallel units, from how long sets of reads take that are handed over at once.
//!
//! Every layout of chunks over units says which reads of each set meet in one unit, and with how far apart they reach the
//! units (a controller takes one command after another) when the last of them is done. Times are a straight line over that.
//! The layouts are compared by how well such a line fits, and against a device on which the distance does not matter. What a controller keeps of one read answers those
//! beside it, which looks like smaller chunks to whoever does not reckon with it; so layouts have that as well.

use super::fans::is_pairs;
use super::fans::{Deal, Layout};
use crate::memo::{Memo, Question};
use crate::numbers::median;
use crate::reading::readable;
use crate::situation::Situation;
use crate::{Choice, alignment};
use flashscope_model::observation::{FanTimes, ParallelData};
use flashscope_model::plan::{Fan, Parallel, Span};
use flashscope_model::{Data, DeviceFacts, DeviceKind, Estimate, Experiment, ExperimentName, Observations, Reason};
use flashscope_stats::line::weighted_least_squares;
use flashscope_stats::location::MAD_NORMAL_FACTOR;
use flashscope_units::{Bytes, Nanos};

/// Reads submitted at once in an adaptive run.
const READS: u32 = 8;
/// Rounds in an adaptive run.
const ROUNDS: u32 = 40;

/// Smallest distance of two reads of a set.
const CLOSEST: Bytes = Bytes::kib(4);
/// Largest distance of two reads of a set.
const FARTHEST: Bytes = Bytes::mib(16);

/// Sets that begin at a chunk's start and fill it, up to this size.
const LARGEST_CHUNK: Bytes = Bytes::mib(1);

/// The sets of reads that tell layouts apart, as far as they fit the part that is read.
pub fn plan(facts: &DeviceFacts, reads: u32, rounds: u32, within: Option<Span>) -> Parallel {
    let block = facts.logical_block;
    let reads = reads.min(facts.queue_depth.unwrap_or(1)).max(1);
    fitting(facts, Parallel { block, fans: fans(block, reads).collect(), rounds, within })
}

fn fitting(facts: &DeviceFacts, mut plan: Parallel) -> Parallel {
    let room = plan.within.map_or(facts.capacity, |span| span.length);
    plan.fans.retain(|fan| fan.align + fan.stride * u64::from(fan.reads) + plan.block <= room);
    plan
}

/// Sets at all distances, and within chunks of all sizes.
fn fans(block: Bytes, reads: u32) -> impl Iterator<Item = Fan> {
    let apart =
        ladder(CLOSEST.max(block), FARTHEST).map(move |stride| Fan { reads, stride, align: CLOSEST.max(block) });
    let inside = ladder(CLOSEST, LARGEST_CHUNK)
        .filter(move |chunk| *chunk >= block * u64::from(reads))
        .map(move |chunk| Fan { reads, stride: (chunk / u64::from(reads)).align_down(block), align: chunk });
    apart.chain(inside)
}

/// Sets of which each read is a stripe behind the one before it, and a little more, so that all of them fill a chunk: what the
/// controller keeps of one answers none of the others, and they meet in one unit where the chunk is no smaller.
fn across(block: Bytes, reads: u32, stripe: Bytes) -> impl Iterator<Item = Fan> {
    ladder(CLOSEST, LARGEST_CHUNK.min(stripe))
        .map(move |chunk| chunk / u64::from(reads))
        .filter(move |more| *more >= block && more.is_multiple_of(block))
        .map(move |more| Fan { reads, stride: stripe + more, align: stripe })
}

/// Powers of two and three times powers of two.
fn ladder(from: Bytes, to: Bytes) -> impl Iterator<Item = Bytes> {
    let powers = std::iter::successors(Some(from), |size| Some(*size * 2));
    powers.flat_map(|size| [size, size / 2 * 3]).filter(move |size| *size >= from).take_while(move |size| *size <= to)
}

/// Sets of reads, where more than one request may be outstanding; and others once they tell the stripe.
pub(crate) fn choice(now: &Situation) -> Option<Choice> {
    now.device.queue_depth.filter(|depth| *depth >= 4)?;
    let (plan, least, why) = match runs(now.observations).count() {
        0 => (
            plan(now.device, READS, ROUNDS, readable(now)),
            LEAST_FANS,
            "which reads handed over at once meet in one chip: stripe and parallel units",
        ),
        1 => (
            second_plan(now)?,
            1,
            "how many chips share a stripe: which reads meet where each is a stripe and a little more behind the other",
        ),
        _ => return None,
    };
    (plan.fans.len() >= least).then(|| Choice { experiment: Experiment::Parallel(plan), why: why.to_owned() })
}

fn second_plan(now: &Situation) -> Option<Parallel> {
    let stripe = estimate(Some(now.device), now.observations, now.memo).stripe.value()?;
    let first = runs(now.observations).next()?;
    let fans = across(first.block, most_reads(first)?, stripe).collect();
    Some(fitting(now.device, Parallel { block: first.block, fans, rounds: ROUNDS, within: readable(now) }))
}

/// Fewer sets than this say nothing.
const LEAST_FANS: usize = 12;

/// Chunks that are tried: powers of two and three times powers of two.
const CHUNKS: (Bytes, Bytes) = (Bytes::kib(2), Bytes::mib(1));

/// Numbers of units that are tried.
const UNITS: [u32; 15] = [2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 128];

/// What may be kept of a read: as pages and the lines of small memories are.
const LINES: [Bytes; 5] = [Bytes::kib(4), Bytes::kib(8), Bytes::kib(16), Bytes::kib(32), Bytes::kib(64)];

/// How far apart reads reach the units, as a share of what one takes there.
const APART: [f64; 8] = [0.0, 0.1, 0.2, 0.3, 0.45, 0.65, 0.9, 1.3];

/// Longest line that is tried, in chunks.
const MOST_CHUNKS_OF_A_LINE: u64 = 8;
/// Longest stripe that is tried.
const LONGEST_STRIPE: Bytes = Bytes::mib(8);

/// No line is exact: this share of a time is never explained.
const UNEXPLAINED: f64 = 0.02;

/// A layout and how well it explains the times.
struct Fit {
    layout: Layout,
    /// −2 ln likelihood with the price of its parameters.
    bic: f64,
    /// What it leaves unexplained of the times, in squared standard deviations.
    left: f64,
    /// What a read more in one unit takes, in nanoseconds.
    each: f64,
}

/// One set and its time.
struct Point {
    fan: Fan,
    time: f64,
    variance: f64,
}

/// The comparison of all layouts on one set of times, for a [`Memo`].
#[derive(Debug)]
pub(crate) struct Striping;

impl Question for Striping {
    type Given = ParallelData;
    type Answer = Striped;
}

/// How addresses are dealt out to units that work side by side.
#[derive(Clone, Debug)]
pub(crate) struct Striped {
    /// After this many bytes the same unit comes again.
    pub(crate) stripe: Estimate<Bytes>,
    /// How many units there are.
    pub(crate) units: Estimate<u32>,
    /// This many bytes stay in one unit.
    pub(crate) chunk: Estimate<Bytes>,
    /// What a read more in one unit takes; `None` where there are no units.
    pub(crate) each: Option<Nanos>,
}

/// Stripe, parallel units and chunk.
pub(crate) fn estimate(device: Option<&DeviceFacts>, observations: &Observations, memo: &Memo) -> Striped {
    let Some(sets) = all_sets(observations) else {
        let one = device.is_some_and(|device| device.queue_depth == Some(1));
        return match one {
            true if device.is_some_and(|device| device.kind == DeviceKind::File) => nothing(
                Reason::Absent,
                "a file is read and written one request at a time here, so nothing can be seen side by side",
            ),
            true => {
                nothing(Reason::Absent, "this device takes one request at a time, so nothing can be seen side by side")
            }
            false => nothing(Reason::NotMeasured, ""),
        };
    };
    if alignment::reads_wait(observations, memo) {
        let seen = "the device reads ahead behind every read, which keeps its units busy with something else";
        return nothing(Reason::TooNoisy, seen);
    }
    memo.answer::<Striping>(&sets, compare)
}

fn runs(observations: &Observations) -> impl Iterator<Item = &ParallelData> {
    observations.runs.iter().filter_map(|run| match &run.data {
        Data::Parallel(data) if !is_pairs(data) => Some(data),
        _ => None,
    })
}

/// What was tried with as many and as large reads as the last time; of what was tried again, the last.
fn all_sets(observations: &Observations) -> Option<ParallelData> {
    let last = runs(observations).last()?;
    let alike = |run: &&ParallelData| run.block == last.block && most_reads(run) == most_reads(last);
    let mut fans: Vec<FanTimes> = Vec::new();
    for new in runs(observations).filter(alike).flat_map(|run| &run.fans) {
        fans.retain(|before| before.fan != new.fan);
        fans.push(new.clone());
    }
    Some(ParallelData { block: last.block, fans })
}

fn most_reads(data: &ParallelData) -> Option<u32> {
    data.fans.iter().map(|fan| fan.fan.reads).max()
}

fn nothing(reason: Reason, seen: &str) -> Striped {
    Striped {
        stripe: Estimate::unknown(reason, seen),
        units: Estimate::unknown(reason, seen),
        chunk: Estimate::unknown(reason, seen),
        each: None,
    }
}

fn compare(data: &ParallelData) -> Striped {
    let points = points(data);
    if points.len() < LEAST_FANS {
        return nothing(Reason::TooFew, "too few sets of reads went well");
    }
    let differences = differences(&points);
    // One parameter is its price.
    let price = (points.len() as f64).ln();
    let flat = differences + price;
    // No layout is better than one that explains all.
    let can_be_better = PARAMETERS * price + SURELY_BETTER < flat;
    let mut fits: Vec<Fit> = if can_be_better { fits(&points) } else { Vec::new() };
    fits.sort_by(|a, b| a.bic.total_cmp(&b.bic));
    match fits.first() {
        Some(best) if best.bic + SURELY_BETTER < flat && best.layout.units > 1 => found(&points, &fits, differences),
        Some(best) if best.bic + SURELY_BETTER < flat => nothing(
            Reason::NothingShows,
            &format!(
                "{} reads take less time only where they lie in the same {}, of which one read brings all: one unit, or the way \
             to it hides more",
                points[0].fan.reads, best.layout.chunk
            ),
        ),
        _ => nothing(
            Reason::NothingShows,
            &format!(
                "{} reads take the same time at every distance from {CLOSEST} to {}: one unit, or the way to it hides more",
                points[0].fan.reads,
                points.iter().map(|point| point.fan.stride).max().unwrap_or(FARTHEST)
            ),
        ),
    }
}

/// A layout must be better than none by this much on the scale of −2 ln likelihood.
const SURELY_BETTER: f64 = 20.0;

/// What the best layout says; `differences` as [`differences`].
fn found(points: &[Point], fits: &[Fit], differences: f64) -> Striped {
    let best = &fits[0];
    let shortest = points.iter().map(|point| point.time).fold(f64::INFINITY, f64::min);
    if best.each > MOST_OF_A_SET * shortest {
        return nothing(
            Reason::TooNoisy,
            &format!(
                "a read more takes {} where {} take {} at some distances: something else than units is busy",
                Nanos(best.each.round() as u64),
                points[0].fan.reads,
                Nanos(shortest.round() as u64)
            ),
        );
    }
    let together = together(points, best);
    if best.layout.is_dealt() && together.is_none() {
        return nothing(
            Reason::Ambiguous,
            &format!(
                "of the layouts that were assumed, units that repeat after {} explain the times best, but no reads lay a multiple of \
                 that apart",
                best.layout.period()
            ),
        );
    }
    let evidence = evidence(points, best, together.unwrap_or(shortest), shortest);
    let explained = 1.0 - best.left / differences;
    if explained < LEAST_EXPLAINED {
        return nothing(
            Reason::Ambiguous,
            &format!(
                "of the layouts that were assumed, none explains how times differ; the best says {:.0} %: {evidence}",
                100.0 * explained
            ),
        );
    }
    let units = format!("{evidence}; {} stay in one unit", best.layout.chunk);
    Striped {
        stripe: most_likely(fits, |layout| layout.is_dealt().then(|| layout.row()), evidence),
        units: most_likely(fits, |layout| layout.is_dealt().then_some(layout.units), units.clone()),
        chunk: most_likely(fits, |layout| Some(layout.chunk), units),
        each: Some(Nanos(best.each.round() as u64)),
    }
}

/// What the best layout says of one figure, with the next-best answer.
fn most_likely<T: PartialEq + Copy>(fits: &[Fit], of: impl Fn(Layout) -> Option<T>, evidence: String) -> Estimate<T> {
    // Tempered: the errors of neighbouring sets go together, as they share what the line leaves out.
    let weight = |fit: &Fit| (-(fit.bic - fits[0].bic) / 2.0 / TEMPER).exp();
    let total: f64 = fits.iter().map(weight).sum();
    let share = |value: T| fits.iter().filter(|fit| of(fit.layout) == Some(value)).map(weight).sum::<f64>() / total;
    let Some(best) = of(fits[0].layout) else {
        return Estimate::unknown(
            Reason::NothingShows,
            format!("chunks lie on the units in no order, as after writes at random: {evidence}"),
        );
    };
    if share(best) < LEAST_SHARE {
        return Estimate::unknown(
            Reason::Ambiguous,
            format!("more than one layout of units explains the times: {evidence}"),
        );
    }
    let next = fits.iter().filter_map(|fit| of(fit.layout)).find(|value| *value != best);
    let others = next.map(|next| (next, share(next))).into_iter().collect();
    Estimate::known(best, share(best), evidence, &[ExperimentName::Parallel]).with_alternatives(others)
}

/// Divides what speaks for a layout.
const TEMPER: f64 = 4.0;
/// Below this share no layout is named.
const LEAST_SHARE: f64 = 0.6;

/// A read that waits for another takes a part of what a set takes that need not wait at all: there the way of all reads
/// comes on top. What takes longer is nothing that a single read asks for.
const MOST_OF_A_SET: f64 = 0.7;

/// Layouts that are those of a device explain most of how times differ (8 of 10 parts and more on nearly all devices of fleets).
/// One that is merely the best of many wrong ones explains about half.
const LEAST_EXPLAINED: f64 = 0.65;

/// After this many bytes reads meet in one unit again.
fn meeting(best: &Fit) -> Bytes {
    if best.layout.is_dealt() { best.layout.period() } else { FARTHEST }
}

/// What sets take that should meet in one unit as a whole; `None` where there are none: then nobody saw whether they do.
fn together(points: &[Point], best: &Fit) -> Option<f64> {
    let stripe = meeting(best);
    let times = points.iter().filter(|point| point.fan.stride.is_multiple_of(stripe)).map(|point| point.time);
    median(&times.collect::<Vec<f64>>())
}

fn evidence(points: &[Point], best: &Fit, together: f64, shortest: f64) -> String {
    let stripe = meeting(best);
    let turning = match best.layout.deal {
        Deal::Turning(channels) => format!("; each row begins with the next of {channels} channels"),
        Deal::InTurn | Deal::Anywhere => String::new(),
    };
    format!(
        "{} reads at once take {} where they lie a multiple of {stripe} apart, {} where they lie best ({} for each that \
         waits){turning}",
        points[0].fan.reads,
        Nanos(together.round() as u64),
        Nanos(shortest.round() as u64),
        Nanos(best.each.round() as u64),
    )
}

fn points(data: &ParallelData) -> Vec<Point> {
    data.fans
        .iter()
        .filter(|fan| fan.fan.reads > 1)
        .filter_map(|fan| {
            let times: Vec<f64> = fan.times.iter().map(|time| time.as_f64()).collect();
            let time = median(&times).filter(|_| times.len() >= 4)?;
            let off: Vec<f64> = times.iter().map(|one| (one - time).abs()).collect();
            // The median's variance: π/2 times that of the mean; the factor makes a standard deviation of the spread.
            let sd = MAD_NORMAL_FACTOR * median(&off)?;
            let variance = 1.57 * sd * sd / times.len() as f64 + (UNEXPLAINED * time).powi(2);
            Some(Point { fan: fan.fan, time, variance })
        })
        .collect()
}

fn layouts() -> impl Iterator<Item = Layout> {
    let rows = || ladder(CHUNKS.0, CHUNKS.1).flat_map(|chunk| UNITS.map(|units| (chunk, units)));
    let in_turn = rows().flat_map(|(chunk, units)| {
        let lines = LINES.into_iter().map(Some).chain([None]);
        lines.map(move |line| Layout { deal: Deal::InTurn, chunk, units, line })
    });
    let otherwise = rows().flat_map(|(chunk, units)| {
        let channels = UNITS.into_iter().filter(move |channels| units.is_multiple_of(*channels));
        let deals = channels.map(Deal::Turning).chain([Deal::Anywhere]);
        deals.map(move |deal| Layout { deal, chunk, units, line: None })
    });
    let likely = |layout: &Layout| {
        layout.row() <= LONGEST_STRIPE && layout.line.is_none_or(|line| line <= layout.chunk * MOST_CHUNKS_OF_A_LINE)
    };
    let many = in_turn.chain(otherwise).filter(likely);
    // One unit, and what a read brings along for those beside it: a page, a part of the map, or one within the other.
    let one = |chunk: Bytes| {
        let lines = LINES.into_iter().filter(move |line| *line < chunk).chain([chunk]).map(Some).chain([None]);
        lines.map(move |line| Layout { deal: Deal::InTurn, chunk, units: 1, line })
    };
    many.chain(ladder(LINES[0], FARTHEST).flat_map(one))
}

/// What one time for all sets leaves unexplained, in squared standard deviations.
fn differences(points: &[Point]) -> f64 {
    let weight: f64 = points.iter().map(|point| 1.0 / point.variance).sum();
    let mean = points.iter().map(|point| point.time / point.variance).sum::<f64>() / weight;
    points.iter().map(|point| robust((point.time - mean).powi(2) / point.variance)).sum()
}

/// Parameters of a layout whose controller keeps nothing: chunk, units, how far apart reads reach them, and what one takes.
const PARAMETERS: f64 = 4.0;

/// Every layout with the straight line of times that fits best, however far apart reads reach the units.
fn fits(points: &[Point]) -> Vec<Fit> {
    let times: Vec<f64> = points.iter().map(|point| point.time).collect();
    let weights: Vec<f64> = points.iter().map(|point| 1.0 / point.variance).collect();
    layouts().filter_map(|layout| best_line(layout, points, &times, &weights)).collect()
}

/// One of [`fits`].
fn best_line(layout: Layout, points: &[Point], times: &[f64], weights: &[f64]) -> Option<Fit> {
    let done: Vec<[f64; APART.len()]> = points.iter().map(|point| layout.meetings(point.fan).done(APART)).collect();
    let fit = |apart: usize| {
        let done: Vec<f64> = done.iter().map(|done| done[apart]).collect();
        let line = weighted_least_squares(&done, times, weights).ok().filter(|line| line.slope > 0.0)?;
        let chi: f64 = line.residuals.iter().zip(points).map(|(off, point)| robust(off * off / point.variance)).sum();
        let parameters = if layout.line.is_some() { PARAMETERS + 1.0 } else { PARAMETERS };
        // What is unusual must be surely better than what is usual, as it may come to much the same.
        let unusual = if layout.deal == Deal::InTurn { 0.0 } else { SURELY_BETTER };
        let bic = chi + parameters * (points.len() as f64).ln() + unusual;
        Some(Fit { layout, bic, left: chi, each: line.slope })
    };
    (0..APART.len()).filter_map(fit).min_by(|a, b| a.bic.total_cmp(&b.bic))
}

/// A single set that is far off speaks with a limited voice.
fn robust(square: f64) -> f64 {
    square.min(FARTHEST_OFF)
}

/// Squared distance, in standard deviations, beyond which a set says no more.
const FARTHEST_OFF: f64 = 25.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::run;
    use flashscope_model::observation::Run;
    use flashscope_stats::Rng;

    /// Sets on units, where one takes `other` µs more for what is no layout's.
    fn timed(units: Layout, fans: impl Iterator<Item = Fan>, other: impl Fn(Fan) -> f64) -> ParallelData {
        let mut rng = Rng::new(7);
        let timed = fans.map(|fan| {
            let us = 150.0 + 60.0 * units.meetings(fan).done([0.2])[0] + other(fan);
            let times = (0..ROUNDS).map(|_| Nanos(((us + 10.0 * rng.unit()) * 1e3) as u64)).collect();
            FanTimes { fan, times }
        });
        ParallelData { block: Bytes::SECTOR, fans: timed.collect() }
    }

    #[test]
    fn the_best_of_layouts_that_explain_little_is_none() {
        let four = Layout { deal: Deal::InTurn, chunk: Bytes::kib(16), units: 4, line: None };
        let striped = |other: &dyn Fn(Fan) -> f64| compare(&timed(four, fans(Bytes::SECTOR, READS), other));
        assert_eq!(striped(&|_| 0.0).units.value(), Some(4));
        // The farther apart, the longer: the edges of a map, say.
        let found = striped(&|fan| 70.0 * (fan.stride.as_f64() / 4096.0).log2().abs());
        assert_eq!((found.units.reason(), found.chunk.reason()), (Some(Reason::Ambiguous), Some(Reason::Ambiguous)));
    }

    #[test]
    fn sets_across_a_stripe_tell_what_is_kept_of_a_read_from_small_chunks() {
        let kept = Layout { deal: Deal::InTurn, chunk: Bytes::kib(16), units: 8, line: Some(Bytes::kib(16)) };
        let at_all_distances = run(Data::Parallel(timed(kept, fans(Bytes::SECTOR, READS), |_| 0.0)));
        let across = run(Data::Parallel(timed(kept, across(Bytes::SECTOR, READS, kept.row()), |_| 0.0)));
        let told = |runs: &[&Run]| {
            let runs = runs.iter().map(|run| (*run).clone()).collect();
            let found = estimate(None, &Observations { runs, ..Observations::default() }, &Memo::default());
            (found.stripe.value(), found.units.value(), found.units.confidence())
        };
        let (first, both) = (told(&[&at_all_distances]), told(&[&at_all_distances, &across]));
        assert_eq!(first, (Some(kept.row()), None, None));
        assert_eq!(both.1, Some(8));
    }
}
