//! A card of a few rules, to let the choice of experiments run against: not a simulator, only what these tests need.
//!
//! Units are kept open by recency, one list for writes in order and one for others; whoever finds its unit closed pays
//! a copy of the whole unit, a write out of order pays half of one, and small writes may take another way.

use flashscope_model::discard::DiscardData;
use flashscope_model::observation::*;
use flashscope_model::plan::*;
use flashscope_model::{Claims, Data, DeviceFacts, DeviceKind, Direction, Experiment, Order};
use flashscope_stats::Rng;
use flashscope_units::{Bytes, Instant, Nanos};
use std::collections::BTreeMap;

/// The inside of a card, and its state.
#[derive(Clone, Debug)]
pub(crate) struct Card {
    pub(crate) capacity: Bytes,
    pub(crate) unit: Bytes,
    /// Units open in order, and at random.
    pub(crate) open: (usize, usize),
    /// Units from and to which are faster by a factor.
    pub(crate) area: (u64, u64, f64),
    /// Writes up to this size take another way.
    pub(crate) small: Bytes,
    /// Cost of a copy of a whole unit.
    pub(crate) copy: Nanos,
    pub(crate) noise: f64,
    /// Share of requests that wait for a collection of their own.
    pub(crate) spikes: f64,
    pub(crate) written: bool,
    /// Whether writes out of order cost nothing within an open unit.
    pub(crate) in_place: bool,
    next: BTreeMap<u64, u64>,
    recent: [Vec<u64>; 2],
    rng: Rng,
}

impl Card {
    pub(crate) fn new(open: (usize, usize), seed: u64) -> Card {
        Card {
            capacity: Bytes(7_948_206_080),
            unit: Bytes::mib(4),
            open,
            area: (0, 0, 1.0),
            small: Bytes::ZERO,
            copy: Nanos::millis(380),
            noise: 0.05,
            spikes: 0.0,
            written: true,
            in_place: false,
            next: BTreeMap::new(),
            recent: [Vec::new(), Vec::new()],
            rng: Rng::new(seed),
        }
    }

    pub(crate) fn facts(&self) -> DeviceFacts {
        DeviceFacts {
            name: "card".into(),
            kind: DeviceKind::SdCard,
            simulated: true,
            capacity: self.capacity,
            logical_block: Bytes(512),
            physical_block: None,
            max_request: None,
            queue_depth: None,
            claims: Claims::default(),
            identity: None,
        }
    }

    /// Service time of one request.
    fn time(&mut self, direction: Direction, at: Bytes, block: Bytes, order: Order) -> Nanos {
        let unit = at / self.unit;
        let speed = if (self.area.0..self.area.1).contains(&unit) { self.area.2 } else { 1.0 };
        let mut ns = 3e5 / speed + block.as_f64() / (15e6 * speed) * 1e9;
        if direction == Direction::Write && block > self.small {
            let list = usize::from(order == Order::Random);
            let limit = [self.open.0, self.open.1][list];
            let recent = &mut self.recent[list];
            let found = recent.iter().position(|open| *open == unit);
            if let Some(index) = found {
                recent.remove(index);
            }
            let full = recent.len() >= limit;
            recent.push(unit);
            if recent.len() > limit {
                recent.remove(0);
            }
            let closes = found.is_none() && full;
            let in_order = self.next.get(&unit).is_none_or(|next| *next == at.get());
            if closes {
                ns += self.copy.as_f64();
            } else if !in_order && order == Order::Random && !self.in_place {
                ns += self.copy.as_f64() / 2.0;
            }
            self.next.insert(unit, (at + block).get());
        }
        if self.rng.unit() < self.spikes {
            ns += self.copy.as_f64() * self.rng.unit();
        }
        Nanos((ns * (1.0 + self.noise * self.rng.unit())) as u64)
    }

    fn times(
        &mut self,
        direction: Direction,
        order: Order,
        block: Bytes,
        at: impl Iterator<Item = Bytes>,
    ) -> Vec<Nanos> {
        at.map(|at| self.time(direction, at, block, order)).collect()
    }

    /// No memory at all: every read touches the flash.
    fn read_cache(&mut self, plan: &ReadCache) -> Data {
        let (block, at, rounds) = (plan.block, plan.regions[0], u64::from(plan.rounds));
        let mut reads = |count: u64| {
            let places = (0..count).map(|index| at + block * index);
            self.times(Direction::Read, Order::InOrder, block, places)
        };
        let spans =
            plan.spans.iter().map(|&span| Reread { span, again: reads(rounds), fresh: reads(rounds) }).collect();
        let rising = (0..rounds).map(|_| reads(plan.run.into())).collect();
        let falling = (0..rounds).map(|_| reads(plan.run.into())).collect();
        let ahead = plan.distances.iter().map(|&distance| Ahead { distance, times: reads(rounds) }).collect();
        Data::ReadCache(ReadCacheData { block, spans, rising, falling, ahead })
    }

    /// No memory at all: every write waits for the flash.
    fn buffer(&mut self, plan: &Buffer) -> Data {
        let mut bursts = Vec::new();
        for burst in &plan.bursts {
            let places = (0..u64::from(burst.writes)).map(|index| plan.start + plan.block * index);
            let writes = self.times(Direction::Write, Order::InOrder, plan.block, places);
            bursts.push(BurstTimes { writes, pause: burst.pause, then: burst.then, after: None });
        }
        let Buffer { block, start, length, rest, .. } = *plan;
        Data::Buffer(BufferData { block, start, length, rest, bursts })
    }

    fn offsets(&mut self, order: Order, region: Bytes, block: Bytes, count: u32) -> Vec<Bytes> {
        let blocks = (region / block) as usize;
        (0..count as usize)
            .map(|i| if order == Order::InOrder { i % blocks } else { self.rng.below(blocks) })
            .map(|index| block * index as u64)
            .collect()
    }

    /// Does what an experiment says; `None` for those that these tests do not answer.
    pub(crate) fn run(&mut self, experiment: &Experiment) -> Option<Run> {
        let data = match experiment {
            Experiment::Floor(plan) => Data::Floor(FloorData {
                block: plan.block,
                at: plan.at,
                times: self.times(Direction::Read, Order::InOrder, plan.block, (0..plan.count).map(|_| plan.at)),
            }),
            Experiment::Survey(plan) => Data::Survey(SurveyData { block: plan.block, places: self.survey(*plan) }),
            Experiment::Interval(plan) => Data::Interval(IntervalData {
                rows: (0..plan.order)
                    .map(|k| {
                        let size = Bytes(512 << k);
                        let at = (0..u64::from(plan.places)).map(|place| size * (9 * place));
                        let times = self.times(Direction::Read, Order::InOrder, size, at);
                        IntervalRow { size, evidence: IntervalEvidence::Times(times) }
                    })
                    .collect(),
            }),
            Experiment::OpenUnits(plan) => self.open_units(plan),
            Experiment::FastArea(plan) => self.fast_area(plan),
            Experiment::Throughput(plan) => {
                let offsets = self.offsets(plan.order, plan.length, plan.block, plan.requests);
                let at = offsets.into_iter().map(|offset| plan.start + offset);
                Data::Throughput(ThroughputData {
                    direction: plan.direction,
                    order: plan.order,
                    block: plan.block,
                    start: plan.start,
                    length: plan.length,
                    purpose: plan.purpose,
                    times: self.times(plan.direction, plan.order, plan.block, at),
                })
            }
            Experiment::Boundaries(plan) => self.boundaries(plan),
            Experiment::Slide(plan) if plan.descending => self.slide(plan),
            Experiment::Fat(plan) => self.fat(*plan),
            Experiment::ReadCache(plan) => self.read_cache(plan),
            Experiment::Buffer(plan) => self.buffer(plan),
            // It has no such command.
            Experiment::Discard(plan) => Data::Discard(DiscardData {
                block: plan.block,
                rewrite_block: plan.rewrite_block,
                supported: false,
                trials: Vec::new(),
                behind: Vec::new(),
                control: Vec::new(),
            }),
            Experiment::SlcCache(plan) => self.long_writes(plan),
            Experiment::MapReach(plan) => self.ranges(plan),
            _ => return None,
        };
        let spent = Spent { written: written(experiment), ..Spent::default() };
        let source = Source::Probe { started: Instant::ORIGIN };
        Some(Run { source, state: AreaState::Unknown, complete: true, spent, failures: Vec::new(), data })
    }

    fn long_writes(&mut self, plan: &SlcCache) -> Data {
        let burst = |burst: &Stretch| {
            let blocks = burst.span.length / plan.block;
            let at = (0..blocks).map(|index| burst.span.start + plan.block * index);
            StretchTimes { burst: *burst, times: self.times(Direction::Write, Order::InOrder, plan.block, at) }
        };
        Data::SlcCache(SlcCacheData { block: plan.block, bursts: plan.bursts.iter().map(burst).collect() })
    }

    fn ranges(&mut self, plan: &MapReach) -> Data {
        let range = |length: &Bytes| {
            let offsets = self.offsets(Order::Random, *length, plan.block, plan.requests);
            let at = offsets.into_iter().map(|offset| plan.start + offset);
            RangeTimes { length: *length, times: self.times(Direction::Read, Order::Random, plan.block, at) }
        };
        let ranges = plan.ranges.iter().map(range).collect();
        Data::MapReach(MapReachData { block: plan.block, start: plan.start, ranges })
    }

    fn survey(&mut self, plan: Survey) -> Vec<SurveyPlace> {
        let step = self.capacity / u64::from(plan.places);
        (0..u64::from(plan.places))
            .map(|place| SurveyPlace {
                at: (step * place).align_down(plan.block),
                uniform: (!self.written).then_some(0),
                times: vec![Nanos::micros(500); plan.repeats as usize],
            })
            .collect()
    }

    /// Reads around random multiples of the candidates: a straddled page costs a little, a straddled unit more.
    fn boundaries(&mut self, plan: &Boundaries) -> Data {
        let span = plan.within.unwrap_or(Span { start: Bytes::ZERO, length: self.capacity });
        let candidates = plan
            .candidates
            .iter()
            .map(|size| {
                let excluded: Vec<Bytes> = plan.exclude.iter().copied().filter(|e| !size.is_multiple_of(*e)).collect();
                let first = (span.start + plan.block).align_up(*size);
                let room = (span.start + span.length).saturating_sub(first + plan.block) / *size;
                let places = (0..plan.places * 20)
                    .map(|_| first + *size * self.rng.below(room.max(1) as usize) as u64)
                    .filter(|at| *at + plan.block <= self.capacity && !excluded.iter().any(|e| at.is_multiple_of(*e)))
                    .take(plan.places as usize)
                    .collect::<Vec<Bytes>>();
                let places = places.into_iter().map(|at| self.straddle(at, plan)).collect();
                CandidateData { size: *size, excluded, places }
            })
            .collect();
        Data::Boundaries(BoundariesData { block: plan.block, offset: plan.offset, rest: plan.rest, candidates }.into())
    }

    /// The first read in a unit takes no longer than others here.
    fn slide(&mut self, plan: &Slide) -> Data {
        let places = plan.starts.iter().flat_map(|start| (0..u64::from(plan.places)).map(|at| *start + plan.step * at));
        let mut times = |at| self.times(Direction::Read, Order::Random, plan.block, (0..plan.rounds).map(|_| at));
        let places = places.map(|at| ScatterPlace { at, times: times(at) }).collect();
        Data::Slide(SlideData { block: plan.block, step: plan.step, descending: true, places }.into())
    }

    fn fat(&mut self, plan: Fat) -> Data {
        let blocks = std::iter::successors(Some(plan.erase), |block| Some(*block / 2));
        let rows = blocks
            .take_while(|block| *block >= plan.block)
            .map(|block| {
                let units = (0..u64::from(plan.count))
                    .map(|unit| {
                        let start = plan.offset + plan.erase * unit;
                        let at = (0..plan.erase / block).map(|index| start + block * index);
                        RateEvidence::Times(self.times(Direction::Write, plan.order, block, at))
                    })
                    .collect();
                FatRow { block, units }
            })
            .collect();
        Data::Fat(FatData { order: Some(plan.order), unit: Some(plan.erase), offset: Some(plan.offset), rows })
    }

    fn straddle(&mut self, at: Bytes, plan: &Boundaries) -> Straddle {
        let read = |card: &mut Card, extra: u64| -> Vec<Nanos> {
            let time = |_| card.time(Direction::Read, at, plan.block, Order::Random) + Nanos::micros(extra);
            (0..plan.rounds).map(time).collect()
        };
        let edge = u64::from(at.is_multiple_of(Bytes::kib(16))) * 80 + u64::from(at.is_multiple_of(self.unit)) * 250;
        Straddle { at, pre: read(self, 0), on: read(self, edge), post: read(self, 0) }
    }

    fn open_units(&mut self, plan: &OpenUnits) -> Data {
        let offsets: Vec<Vec<Bytes>> =
            plan.units.iter().map(|_| self.offsets(plan.order, plan.unit, plan.block, plan.rounds)).collect();
        let at: Vec<Bytes> = (0..plan.rounds as usize)
            .flat_map(|round| plan.units.iter().zip(&offsets).map(move |(unit, offsets)| *unit + offsets[round]))
            .collect();
        let times = self.times(Direction::Write, plan.order, plan.block, at.into_iter());
        Data::OpenUnits(OpenUnitsData {
            order: plan.order,
            count: Some(plan.units.len() as u32),
            unit: Some(plan.unit),
            units: plan.units.clone(),
            rows: vec![OpenUnitsRow { block: plan.block, rate: RateEvidence::Times(times) }],
        })
    }

    fn fast_area(&mut self, plan: &FastArea) -> Data {
        let starts: Vec<Bytes> = plan.suspects.iter().chain(&plan.controls).copied().collect();
        let mut units: Vec<UnitTimes> = starts.iter().map(|at| UnitTimes { at: *at, times: Vec::new() }).collect();
        for request in 0..u64::from(plan.requests) {
            for unit in &mut units {
                let offset = match plan.order {
                    Order::InOrder => plan.block * request,
                    Order::Random => plan.block * self.rng.below((plan.unit / plan.block) as usize) as u64,
                };
                unit.times.push(self.time(plan.direction, unit.at + offset, plan.block, plan.order));
            }
        }
        let controls = units.split_off(plan.suspects.len());
        Data::FastArea(FastAreaData {
            unit: plan.unit,
            reach: plan.reach,
            direction: plan.direction,
            order: plan.order,
            block: plan.block,
            suspects: units,
            controls,
        })
    }
}

/// Bytes that an experiment writes.
pub(crate) fn written(experiment: &Experiment) -> Bytes {
    match experiment {
        Experiment::OpenUnits(plan) => plan.block * (u64::from(plan.rounds) * plan.units.len() as u64),
        Experiment::Fat(plan) => {
            plan.erase * (u64::from(plan.count) * u64::from((plan.erase / plan.block).ilog2() + 1))
        }
        Experiment::FastArea(plan) => {
            plan.block * (u64::from(plan.requests) * (plan.suspects.len() + plan.controls.len()) as u64)
        }
        Experiment::Throughput(plan) if plan.direction == Direction::Write => plan.block * u64::from(plan.requests),
        Experiment::Buffer(plan) => {
            let behind = plan.bursts.iter().filter(|burst| burst.then == Then::Write).count() as u64;
            plan.block * (plan.bursts.iter().map(|burst| u64::from(burst.writes)).sum::<u64>() + behind)
        }
        Experiment::SlcCache(plan) => plan.bursts.iter().map(|burst| burst.span.length).sum(),
        _ => Bytes::ZERO,
    }
}
