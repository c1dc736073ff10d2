//! Channels apart from chips, from how long two reads take that are handed over at once.
//!
//! Two reads of one chip wait for each other's sensing as well, two of one channel for the way of the data alone, and two of
//! different channels for neither: three heights, by how many chunks lie between the two. Where no pair waits, either every
//! chip has a channel of its own or something else hides the wait; what a longer read takes more says whether it could hide.

use super::fans::is_pairs;
use super::other_page::GOOD_ENOUGH;
use super::parallel::{self, Striped};
use crate::Choice;
use crate::numbers::SEEN;
use crate::reading::readable;
use crate::situation::Situation;
use flashscope_model::observation::FanTimes;
use flashscope_model::plan::{Fan, Parallel, Span};
use flashscope_model::{Data, Estimate, Experiment, ExperimentName, Observations, Reason};
use flashscope_units::{Bytes, Nanos};

/// Rounds of an adaptive run: a wait of 20 µs shows in noise of 70 µs a request.
const ROUNDS: u32 = 300;

/// Beyond this many chunks apart only divisors of the number of units are tried.
const NEAR: u32 = 16;

/// Pairs of reads of one block, a chunk to a stripe apart, and single ones for comparison. The first of a pair is at a
/// stripe's start, so that it is known which unit is its own.
pub fn plan(block: Bytes, chunk: Bytes, units: u32, rounds: u32, within: Span) -> Parallel {
    let stripe = chunk * u64::from(units);
    let distances = (1..=units).filter(|distance| *distance <= NEAR || units.is_multiple_of(*distance));
    let pairs = distances.map(|distance| Fan { reads: 2, stride: chunk * u64::from(distance), align: stripe });
    let single = Fan { reads: 1, stride: chunk, align: stripe };
    let fits = |fan: &Fan| fan.align + fan.stride + block <= within.length;
    Parallel { block, fans: pairs.chain([single]).filter(fits).collect(), rounds, within: Some(within) }
}

/// Pairs of chunks; and pairs of blocks where those do not wait for each other, as the way to a device may be slower than
/// a channel for all that is asked for, and faster for the part of a page that one block needs.
pub(super) fn choice(now: &Situation) -> Option<Choice> {
    let Striped { units, chunk, .. } = parallel::estimate(Some(now.device), now.observations, now.memo);
    let sure = units.confidence()?.min(chunk.confidence()?);
    let (units, chunk) = units.value().zip(chunk.value()).filter(|_| sure >= GOOD_ENOUGH)?;
    let done: Vec<Pairs> = now.observations.runs.iter().filter_map(|run| Pairs::of(&run.data)).collect();
    let block = match &done[..] {
        [] => chunk,
        [chunks] if chunks.best_sharing().is_none() && chunk > now.device.logical_block => now.device.logical_block,
        _ => return None,
    };
    let all = Span { start: Bytes::ZERO, length: now.device.capacity };
    let plan = plan(block, chunk, units, ROUNDS, readable(now).unwrap_or(all));
    let fits = plan.fans.iter().filter(|fan| fan.reads == 2).count() as u32 >= units.min(NEAR);
    fits.then(|| Choice {
        experiment: Experiment::Parallel(plan),
        why: format!("which of the {units} units share a channel: pairs of reads of {block}"),
    })
}

/// How many channels lead to the units.
pub(super) fn estimate(striped: &Striped, observations: &Observations) -> Estimate<u32> {
    let runs: Vec<Pairs> = observations.runs.iter().filter_map(|run| Pairs::of(&run.data)).collect();
    let Some(last) = runs.last() else {
        return match &striped.units {
            Estimate::Unknown(why) => Estimate::unknown(why.reason, why.evidence.clone()),
            known => {
                let units = known.value().map_or(String::new(), |units| format!("{units} parallel units; "));
                Estimate::unknown(Reason::NotMeasured, format!("{units}nobody tried how many share a channel"))
            }
        };
    };
    // One cannot be surer of the channels than of what they lead to; pairs that were asked for alone stand for themselves.
    let most = striped.units.confidence().unwrap_or(SEEN);
    if let Some((pairs, shared)) = runs.iter().rev().find_map(|pairs| Some((pairs, pairs.best_sharing()?))) {
        return shared.answer(pairs, most);
    }
    let (chunks, blocks) =
        (runs.iter().find(|pairs| pairs.block == pairs.chunk), runs.iter().find(|pairs| pairs.block < pairs.chunk));
    if let Some(own) = chunks.zip(blocks).and_then(|(chunks, blocks)| own_channels(chunks, blocks, most)) {
        return own;
    }
    Estimate::unknown(
        Reason::NothingShows,
        format!(
            "{} parallel units; how many share a channel does not show: two reads of {} take about {} in any two of them",
            last.units,
            last.block,
            Nanos(last.apart().time.round() as u64)
        ),
    )
}

/// A quarter of the times are shorter than this.
#[derive(Clone, Copy)]
struct Quarter {
    /// In nanoseconds.
    time: f64,
    variance: f64,
}

/// Sets of less times than this say nothing.
const LEAST_TIMES: usize = 12;

/// What no time is more exact than, as a share of it.
const UNEXPLAINED: f64 = 0.004;

/// Noise only adds to a time, so that its lower part tells most; the variance is by the order of the times beside it.
fn quarter(fan: &FanTimes) -> Option<Quarter> {
    let mut times: Vec<f64> = fan.times.iter().map(|time| time.as_f64()).collect();
    if times.len() < LEAST_TIMES {
        return None;
    }
    times.sort_unstable_by(f64::total_cmp);
    let count = times.len() as f64;
    let off = (count * 0.25 * 0.75).sqrt();
    let at = |rank: f64| times[(rank.round().max(0.0) as usize).min(times.len() - 1)];
    let (time, half) = (at(count * 0.25), (at(count * 0.25 + off) - at(count * 0.25 - off)) / 2.0);
    Some(Quarter { time, variance: half * half + (UNEXPLAINED * time).powi(2) })
}

/// The mean of several, by how exact they are.
fn mean<'a>(quarters: impl Iterator<Item = &'a Quarter>) -> Option<Quarter> {
    let (weight, sum) =
        quarters.fold((0.0, 0.0), |(weight, sum), one| (weight + 1.0 / one.variance, sum + one.time / one.variance));
    (weight > 0.0).then(|| Quarter { time: sum / weight, variance: 1.0 / weight })
}

/// Times of one run.
struct Pairs {
    block: Bytes,
    chunk: Bytes,
    units: u32,
    single: Quarter,
    /// Two reads in one unit.
    same: Quarter,
    /// Two in different ones, by how many chunks lie between them.
    other: Vec<(u32, Quarter)>,
}

/// Which units share a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// Channels take turns, and each time round it is the next unit's turn on each.
    ChannelsFirst,
    /// All units of one channel come one after another.
    ChipsFirst,
}

/// One way to share channels, held against the times.
struct Sharing {
    channels: u32,
    order: Order,
    /// −2 ln likelihood with the price of its parameters.
    bic: f64,
    /// Two reads in different channels, and how much longer two in one take.
    apart: f64,
    wait: f64,
    /// Standard error of the wait.
    error: f64,
}

/// How much better than no shared channel a shared one must explain the times, on the scale of −2 ln likelihood.
const SURELY_BETTER: f64 = 12.0;
/// How many of its standard errors a wait must be.
const SURE_ERRORS: f64 = 4.0;

/// A wait below this share of the time is one that other things than a channel may make.
const LEAST_SHARE_OF_TIME: f64 = 0.02;

/// Divides what speaks for one way to share, as other comparisons of layouts do.
const TEMPER: f64 = 2.0;

/// Squared distances from a sharing's two heights, in variances per distance, above which it is none.
const UNFIT: f64 = 6.0;

/// Below this share no number of channels is named.
const LEAST_SHARE: f64 = 0.7;

impl Pairs {
    fn of(data: &Data) -> Option<Pairs> {
        let Data::Parallel(data) = data else { return None };
        if !is_pairs(data) {
            return None;
        }
        let chunk = data.fans.iter().map(|fan| fan.fan.stride).min().filter(|chunk| *chunk > Bytes::ZERO)?;
        let units = data.fans.iter().map(|fan| fan.fan.stride / chunk).max()? as u32;
        let mut pairs = Vec::new();
        let mut single = None;
        for fan in &data.fans {
            match (fan.fan.reads, quarter(fan)) {
                (2, Some(time)) => pairs.push(((fan.fan.stride / chunk) as u32, time)),
                (_, time) => single = time,
            }
        }
        let same = pairs.iter().find(|(distance, _)| *distance == units)?.1;
        pairs.retain(|(distance, _)| *distance != units);
        Some(Pairs { block: data.block, chunk, units, single: single?, same, other: pairs })
    }

    /// Two reads in different units, whichever.
    fn apart(&self) -> Quarter {
        mean(self.other.iter().map(|(_, time)| time)).unwrap_or(self.single)
    }

    /// What the distance leaves unexplained if no two units share a channel, or all of them one.
    fn flat(&self) -> f64 {
        let apart = self.apart().time;
        let chi: f64 = self.other.iter().map(|(_, one)| (one.time - apart).powi(2) / one.variance).sum();
        chi + (self.other.len() as f64).ln()
    }

    fn sharings(&self) -> Vec<Sharing> {
        let numbers = (2..self.units).filter(|channels| self.units.is_multiple_of(*channels));
        let orders = numbers.flat_map(|channels| [(channels, Order::ChannelsFirst), (channels, Order::ChipsFirst)]);
        let mut all: Vec<Sharing> = orders.filter_map(|(channels, order)| self.sharing(channels, order)).collect();
        all.sort_by(|a, b| a.bic.total_cmp(&b.bic));
        all
    }

    fn sharing(&self, channels: u32, order: Order) -> Option<Sharing> {
        let shares = |distance: u32| match order {
            Order::ChannelsFirst => distance.is_multiple_of(channels),
            Order::ChipsFirst => distance < self.units / channels,
        };
        let height = |which: bool| mean(self.other.iter().filter(|(at, _)| shares(*at) == which).map(|(_, one)| one));
        let (apart, shared) = (height(false)?, height(true)?);
        let off = |(at, one): &(u32, Quarter)| {
            let expect = if shares(*at) { shared.time } else { apart.time };
            (one.time - expect).powi(2) / one.variance
        };
        let chi: f64 = self.other.iter().map(off).sum();
        let count = self.other.len() as f64;
        let wait = shared.time - apart.time;
        let fits = wait > 0.0 && chi <= UNFIT * count;
        fits.then_some(Sharing {
            channels,
            order,
            bic: chi + 2.0 * count.ln(),
            apart: apart.time,
            wait,
            error: (apart.variance + shared.variance).sqrt(),
        })
    }

    /// What explains the times surely better than no sharing; two reads of one unit must wait longer still.
    fn best_sharing(&self) -> Option<Sharing> {
        let best = self.sharings().into_iter().next()?;
        let least = (SURE_ERRORS * best.error).max(LEAST_SHARE_OF_TIME * best.apart);
        let shows = best.bic + SURELY_BETTER < self.flat() && best.wait > least;
        let in_one_unit = self.same.time - best.apart - best.wait;
        (shows && in_one_unit > SURE_ERRORS * (best.error.powi(2) + self.same.variance).sqrt()).then_some(best)
    }
}

impl Sharing {
    fn answer(&self, pairs: &Pairs, most: f64) -> Estimate<u32> {
        let weight = |bic: f64| (-(bic - self.bic) / 2.0 / TEMPER).exp();
        let others = pairs.sharings();
        let of = |channels: u32| {
            others.iter().filter(|one| one.channels == channels).map(|one| weight(one.bic)).sum::<f64>()
        };
        let total = others.iter().map(|one| weight(one.bic)).sum::<f64>() + weight(pairs.flat());
        let share = of(self.channels) / total;
        let time = |ns: f64| Nanos(ns.round() as u64);
        let evidence = format!(
            "two reads of {} take {} in different channels, {} in one ({}) and {} in one of the {} units",
            pairs.block,
            time(self.apart),
            time(self.apart + self.wait),
            match self.order {
                Order::ChannelsFirst => format!("a multiple of {} apart", pairs.chunk * u64::from(self.channels)),
                Order::ChipsFirst => format!("within {}", pairs.chunk * u64::from(pairs.units / self.channels)),
            },
            time(pairs.same.time),
            pairs.units,
        );
        if share < LEAST_SHARE {
            return Estimate::unknown(
                Reason::Ambiguous,
                format!("more than one number of channels explains the times: {evidence}"),
            );
        }
        let next =
            others.iter().find(|one| one.channels != self.channels).map(|one| (one.channels, of(one.channels) / total));
        Estimate::known(self.channels, share.min(most), evidence, &[ExperimentName::Parallel])
            .with_alternatives(next.into_iter().collect())
    }
}

/// A wait below this is one that other things than a channel make.
const LEAST_WAIT: f64 = 30e3;

/// Every unit has a channel of its own where two reads that share one would surely wait, and none do.
///
/// A chunk takes longer than a block by its way over the channel and over the link, one after the other. Two chunks in
/// units of their own are apart by what the second one cannot do beside the first, which is no less than its way over the
/// link: so the way over the channel is at least the one less the other, and a wait for it that less the other once more.
fn own_channels(chunks: &Pairs, blocks: &Pairs, most: f64) -> Option<Estimate<u32>> {
    let both_ways = chunks.single.time - blocks.single.time;
    let apart = chunks.apart();
    let second = apart.time - chunks.single.time;
    let wait = both_ways - 2.0 * second;
    let error = (4.0 * apart.variance + 9.0 * chunks.single.variance + blocks.single.variance).sqrt();
    let sure = wait > LEAST_WAIT && wait > 1.5 * SURE_ERRORS * error;
    let time = |ns: f64| Nanos(ns.round() as u64);
    sure.then(|| {
        let evidence = format!(
            "two reads of {} take {} in any two of the {} units, only {} longer than one alone: its way over a channel takes at \
             least {}, and nobody waits for it",
            chunks.block,
            time(apart.time),
            chunks.units,
            time(second.max(0.0)),
            time(both_ways - second),
        );
        Estimate::known(chunks.units, most, evidence, &[ExperimentName::Parallel])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::run;
    use flashscope_model::observation::ParallelData;

    const CHUNK: Bytes = Bytes::kib(16);

    /// Times of a device on which a chunk takes 60 µs to sense, `channel` µs over a channel and `link` µs over the link; a
    /// read comes 10 µs after the one before it. A block takes a quarter of the channel's time and nothing of the link's.
    fn pairs(units: u32, share: impl Fn(u32) -> bool, channel: f64, link: f64, block: Bytes) -> Data {
        let room = Span { start: Bytes::ZERO, length: Bytes::gib(8) };
        let plan = plan(block, CHUNK, units, 40, room);
        let (channel, link) = if block < CHUNK { (channel / 4.0, 0.0) } else { (channel, link) };
        let time = |fan: &Fan| {
            let distance = (fan.stride / CHUNK) as u32;
            let first = 60.0 + channel;
            let second = match fan.reads {
                1 => return first + link,
                _ if distance == units => first + 60.0 + channel,
                _ if share(distance) => (10.0 + 60.0f64).max(first) + channel,
                _ => 10.0 + first,
            };
            second.max(first + link) + link
        };
        let fans = plan.fans.iter().map(|fan| {
            // Noise of a few microseconds that only adds.
            let times = (0..40u64).map(|round| Nanos(((100.0 + time(fan)) * 1e3) as u64 + round * round * 7 % 6000));
            FanTimes { fan: *fan, times: times.collect() }
        });
        Data::Parallel(ParallelData { block, fans: fans.collect() })
    }

    fn striped(units: u32) -> Striped {
        let of = |size: Bytes| Estimate::known(size, 0.99, "eight reads at once", &[ExperimentName::Parallel]);
        Striped {
            stripe: of(CHUNK * u64::from(units)),
            units: Estimate::known(units, 0.99, "eight reads at once", &[ExperimentName::Parallel]),
            chunk: of(CHUNK),
            each: Some(Nanos::micros(60)),
        }
    }

    fn told(units: u32, share: impl Fn(u32) -> bool + Copy, channel: f64, link: f64) -> Estimate<u32> {
        let runs = [CHUNK, Bytes(512)].map(|block| pairs(units, share, channel, link, block)).map(run);
        estimate(&striped(units), &Observations { runs: runs.into(), ..Observations::default() })
    }

    #[test]
    fn channels_take_turns_or_chips_do() {
        assert_eq!(told(8, |distance| distance % 4 == 0, 80.0, 30.0).value(), Some(4));
        assert_eq!(told(8, |distance| distance % 2 == 0, 80.0, 30.0).value(), Some(2));
        assert_eq!(told(8, |distance| distance < 4, 80.0, 30.0).value(), Some(2));
        assert_eq!(told(6, |distance| distance % 3 == 0, 80.0, 30.0).value(), Some(3));
    }

    #[test]
    fn a_slow_link_hides_chunks_but_not_blocks() {
        assert_eq!(told(8, |distance| distance % 4 == 0, 80.0, 300.0).value(), Some(4));
    }

    #[test]
    fn a_channel_each_is_told_where_sharing_would_show() {
        assert_eq!(told(4, |_| false, 120.0, 30.0).value(), Some(4));
        // The link takes as long: two on one channel would not wait either.
        let hidden = told(4, |_| false, 40.0, 40.0);
        assert!(hidden.is_unknown() && hidden.evidence().contains("4 parallel units"));
    }

    #[test]
    fn one_channel_for_all_looks_like_a_slow_link() {
        assert!(told(4, |_| true, 80.0, 30.0).is_unknown());
    }
}
