//! The shares of one pair of models, without what is not known of the models themselves.

use crate::hybrid::{self, Pair, Set};
use crate::players::{self, Players};
use crate::shapley::{self, Game, Sampled};
use crate::workload::{NoTime, Workload};
use crate::{ExplainError, Watch};
use flashscope_stats::Rng;
use flashscope_stats::rng::stream;
use std::collections::HashMap;

/// An exchange that changes the time by less than this part of it changes nothing.
const NO_EFFECT: f64 = 0.0005;
/// So many players are shared out exactly: 256 hybrids.
const EXACT: u32 = 8;

/// How much work there may be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// Seeds that each hybrid is replayed with.
    pub(crate) seeds: u32,
    /// Orders of exchange that are sampled, where the shares are not exact.
    pub(crate) orders: u32,
    /// Hybrids that are replayed at most, about: of more, orders are sampled.
    pub(crate) hybrids: u32,
}

impl Effort {
    /// What is done where nothing limits it, and then less and less, the seeds last.
    const STEPS: [Effort; 6] = [
        Effort { seeds: 6, orders: 64, hybrids: 256 },
        Effort { seeds: 4, orders: 64, hybrids: 256 },
        Effort { seeds: 4, orders: 32, hybrids: 128 },
        Effort { seeds: 3, orders: 16, hybrids: 64 },
        Effort { seeds: 2, orders: 8, hybrids: 32 },
        Effort { seeds: 2, orders: 4, hybrids: 16 },
    ];

    /// The most whose replays of `requests` requests each stay within `work` requests.
    pub(crate) fn within(work: u64, requests: u64) -> Effort {
        let fits = |effort: &&Effort| u64::from(effort.seeds) * u64::from(effort.hybrids) * requests.max(1) <= work;
        *Effort::STEPS.iter().find(fits).unwrap_or(&Effort::STEPS[Effort::STEPS.len() - 1])
    }

    /// The same with one seed: for twins of twins, whose scatter is what is looked for.
    pub(crate) fn once(self) -> Effort {
        Effort { seeds: 1, orders: self.orders.min(16), hybrids: self.hybrids.min(64) }
    }
}

/// What comes of one pair.
#[derive(Clone, Debug)]
pub(crate) struct Shares {
    pub(crate) players: Players,
    /// Share of each player, by seed.
    pub(crate) by_seed: Vec<Vec<f64>>,
    /// Share of each player, by pair of orders; nothing where shares are exact.
    pub(crate) by_pair: Vec<Vec<f64>>,
    /// What each player adds to A by itself.
    pub(crate) alone: Vec<f64>,
    /// Times of A and of B, by seed.
    pub(crate) times: (Vec<f64>, Vec<f64>),
    pub(crate) orders: Option<u32>,
    pub(crate) hybrids: u32,
    pub(crate) replays: u32,
    pub(crate) cut_short: bool,
}

/// Shares out the difference of a pair.
pub(crate) fn of(
    pair: &Pair,
    workload: &Workload,
    effort: Effort,
    seed: u64,
    watch: &mut dyn Watch,
) -> Result<Shares, ExplainError> {
    let mut bench = Bench { pair, workload, seeds: effort.seeds, seed, known: HashMap::new(), replays: 0, watch };
    let differing = pair.differing();
    let side = |side: char| {
        move |error: NoTime| match error {
            NoTime::Stopped => ExplainError::Stopped,
            NoTime::Device(why) => ExplainError::Replay { side, why },
        }
    };
    let a = bench.times(0).map_err(side('A'))?;
    let b = bench.times(differing).map_err(side('B'))?;
    let mut players = players::of(differing);
    loop {
        match shared_out(&mut bench, &players, effort) {
            Ok(found) => {
                return Ok(Shares {
                    times: (a, b),
                    hybrids: bench.known.len() as u32,
                    replays: bench.replays,
                    ..found
                });
            }
            Err(Trouble::Stopped) => return Err(ExplainError::Stopped),
            Err(Trouble::NoModel(set)) => {
                let inside = players.iter().enumerate().filter(|(_, player)| *player & set != 0);
                let mask = inside.fold(0, |mask, (at, _)| mask | 1 << at);
                players = players::repaired(&players, mask, |set| bench.times(set).is_ok());
            }
        }
    }
}

/// Why shares are not known yet.
enum Trouble {
    Stopped,
    /// The hybrid with these groups of B is no model, or one that does not last.
    NoModel(Set),
}

/// Replays hybrids, each once.
struct Bench<'q> {
    pair: &'q Pair,
    workload: &'q Workload,
    seeds: u32,
    seed: u64,
    known: HashMap<Set, Result<Vec<f64>, NoTime>>,
    replays: u32,
    watch: &'q mut dyn Watch,
}

impl Bench<'_> {
    /// How long the hybrid takes, with every seed.
    fn times(&mut self, set: Set) -> Result<Vec<f64>, NoTime> {
        if let Some(known) = self.known.get(&set) {
            return known.clone();
        }
        if self.watch.stop() {
            return Err(NoTime::Stopped);
        }
        let model = self.pair.hybrid(set);
        let mut times = Vec::new();
        let mut outcome = Ok(());
        for number in 0..self.seeds {
            match self.workload.time(&model, stream(self.seed, u64::from(number)), self.watch) {
                Ok(time) => times.push(time),
                Err(error) => {
                    outcome = Err(error);
                    break;
                }
            }
            self.replays += 1;
        }
        let found = outcome.map(|()| times);
        if found != Err(NoTime::Stopped) {
            self.known.insert(set, found.clone());
        }
        found
    }
}

fn shared_out(bench: &mut Bench<'_>, all: &Players, effort: Effort) -> Result<Shares, Trouble> {
    let every = (1u32 << all.len()) - 1;
    let mut round = Round { bench, players: all, total: 0, done: 0 };
    let (a, b) = (round.value(0)?, round.value(every)?);
    let least = NO_EFFECT * mean(&a).max(mean(&b));
    let mut alone = Vec::new();
    let mut kept: Players = Vec::new();
    let mut without = 0;
    for (at, player) in all.iter().enumerate() {
        let (first, last) = (round.value(1 << at)?, round.value(every & !(1 << at))?);
        let changes = first.iter().zip(&a).chain(b.iter().zip(&last));
        if changes.map(|(with, without)| (with - without).abs()).all(|change| change <= least) {
            without |= player;
        } else {
            kept.push(*player);
            alone.push(mean(&first) - mean(&a));
        }
    }
    // What changes nothing first nor last may do so in between: if it does, all of it together is a player as well.
    let rest =
        all.iter().enumerate().filter(|(_, player)| without & **player == 0).fold(0, |mask, (at, _)| mask | 1 << at);
    let without_rest = round.value(rest)?;
    if without != 0 && without_rest.iter().zip(&b).any(|(some, all)| (some - all).abs() > least) {
        kept.push(without);
        alone.push(0.0);
    }
    let count = kept.len() as u32;
    let is_exact = count <= EXACT && 1u32 << count <= effort.hybrids;
    // Each order is looked at with its reverse, and has as many hybrids as there are players.
    let orders = effort.orders.min(effort.hybrids / count.max(1)).max(4);
    let total = if is_exact { 1 << count } else { orders * count };
    // The groups that are left out stay those of A: that the rest of B takes as long as B was just seen.
    let mut round = Round { bench: round.bench, players: &kept, total, done: 0 };
    let mut shares = Shares {
        players: Vec::new(),
        by_seed: Vec::new(),
        by_pair: Vec::new(),
        alone,
        times: (Vec::new(), Vec::new()),
        orders: None,
        hybrids: 0,
        replays: 0,
        cut_short: false,
    };
    if is_exact {
        shares.by_seed = shapley::exact(count, &mut round)?;
    } else {
        let mut rng = Rng::new(round.bench.seed);
        let Sampled { by_repetition, by_pair, orders: done } = shapley::sampled(count, orders, &mut rng, &mut round)?;
        (shares.by_seed, shares.by_pair, shares.orders) = (by_repetition, by_pair, Some(done));
        shares.cut_short = done < orders;
    }
    shares.players = kept;
    Ok(shares)
}

/// One way of making players of the groups.
struct Round<'r, 'q> {
    bench: &'r mut Bench<'q>,
    players: &'r Players,
    total: u32,
    done: u32,
}

impl Game for Round<'_, '_> {
    type Error = Trouble;

    fn value(&mut self, mask: u32) -> Result<Vec<f64>, Trouble> {
        self.done += 1;
        self.bench.watch.progress("hybrids", self.done, self.total.max(self.done));
        let set: Set = players::groups(self.players, mask);
        match self.bench.times(set) {
            Ok(times) => Ok(times),
            Err(NoTime::Stopped) => Err(Trouble::Stopped),
            Err(NoTime::Device(_)) => Err(Trouble::NoModel(set)),
        }
    }

    fn enough(&mut self) -> bool {
        self.bench.watch.stop()
    }
}

/// Of no values 0.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Whether a model file can be opened: what is said of one that cannot names the side.
pub(crate) fn check(side: char, model: &str) -> Result<(), ExplainError> {
    hybrid::open(model, 1).map(drop).map_err(|why| ExplainError::Model { side, why })
}
