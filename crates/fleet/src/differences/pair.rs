//! Two simulated devices whose rates differ by a known ratio.

use super::{Distance, Run};
use crate::DrawError;
use crate::draw::{Generator, Noise, draw};
use flashscope_device::{ExecuteExt, Outcome, Request, Target, WriteGrant};
use flashscope_sim::SimTarget;
use flashscope_stats::Rng;
use flashscope_stats::rng::stream;
use flashscope_stats::test::Summary;
use flashscope_units::{Bytes, Nanos};
use toml::{Table, Value};

/// Two devices and the work that both do.
pub(super) struct Pair {
    sides: [Side; 2],
    truth: f64,
}

struct Side {
    device: SimTarget,
    grant: WriteGrant,
    work: Work,
    rng: Rng,
    next: u64,
}

/// What one run does: one request at a time.
#[derive(Clone, Copy, Debug)]
struct Work {
    write: bool,
    random: bool,
    block: Bytes,
    /// Requests of one run.
    requests: u32,
    /// It keeps to so much of the device, from its middle on.
    extent: Bytes,
}

/// All work but small random writes: what these take on a card is decided by collections of its small-write log, one in
/// hundreds of requests, so that a run of seconds is no measurement of them.
const WORKS: [Work; 3] = [
    Work { write: false, random: false, block: Bytes::kib(128), requests: 48, extent: Bytes::mib(256) },
    Work { write: false, random: true, block: Bytes::kib(4), requests: 128, extent: Bytes::mib(256) },
    Work { write: true, random: false, block: Bytes::kib(128), requests: 96, extent: Bytes::mib(256) },
];

/// The long run that says what is true is so many runs long.
const LONG: u32 = 40;

/// Devices that were drawn and cannot serve (a fake, a bad medium) are passed over; so many in a row there never are.
const MOST_DRAWS: u32 = 100;

impl Pair {
    pub(super) fn draw(seed: u64, index: u32, distance: Distance, rng: &mut Rng) -> Result<Pair, DrawError> {
        let factor = factor(distance, rng);
        let work = WORKS[rng.below(WORKS.len())];
        for attempt in 0..MOST_DRAWS {
            let drawn = draw(Generator::Wide, stream(seed, u64::from(attempt)), index, Some(Noise::None))?;
            let (one, two) = (rng.next_u64(), rng.next_u64());
            let scaled = slower(&drawn.quiet, factor)?;
            let open = |text: &str, seed| Side::open(text, seed, work);
            let (Some(mut a), Some(mut b)) = (open(&drawn.quiet, one), open(&scaled, two)) else { continue };
            let (Some(slow), Some(fast)) = (a.long(), b.long()) else { continue };
            let truth = (fast / slow).ln();
            // The runs themselves begin where the long ones did.
            let (Some(a), Some(b)) = (open(&drawn.quiet, one), open(&scaled, two)) else { continue };
            let mut pair = Pair { sides: [a, b], truth };
            if pair.sides.iter_mut().all(|side| side.run().is_some()) {
                return Ok(pair);
            }
        }
        Err(DrawError::new("no pair of devices serves its requests"))
    }

    /// Logarithm of the ratio of rates, second over first.
    pub(super) fn truth(&self) -> f64 {
        self.truth
    }

    /// One run of one side, without what a host adds.
    pub(super) fn run(&mut self, side: usize) -> Run {
        // A device that served its first runs goes on: nothing here injects faults.
        self.sides[side]
            .run()
            .unwrap_or(Run { rate: f64::NAN, requests: Summary { mean: 0.0, deviation: 0.0, count: 0 } })
    }
}

/// By how much all times of the second device are longer, so that its rates are lower.
fn factor(distance: Distance, rng: &mut Rng) -> f64 {
    let size = match distance {
        Distance::None => return 1.0,
        Distance::Any => 1.02 * (1.3f64 / 1.02).powf(rng.unit()),
        // A hair above, so that it does not lie within the margin of the same size by rounding.
        Distance::Five => 1.0505,
        Distance::Ten => 1.1005,
    };
    if rng.unit() < 0.5 { size } else { 1.0 / size }
}

/// A model file with all times longer by one factor, and all rates lower.
pub(crate) fn slower(text: &str, factor: f64) -> Result<String, DrawError> {
    let mut table: Table = text.parse().map_err(|error| DrawError::new(format!("{error}")))?;
    for section in ["link", "mapping"] {
        if let Some(section) = table.get_mut(section) {
            scale(section, factor);
        }
    }
    toml::to_string(&table).map_err(|error| DrawError::new(error.to_string()))
}

/// All times in a part of a model file, longer by one factor, and all rates lower.
pub(crate) fn scale(value: &mut Value, factor: f64) {
    match value {
        Value::Table(table) => {
            for (key, value) in table.iter_mut() {
                match value {
                    Value::Float(rate) if key.ends_with("bytes_per_s") => *rate /= factor,
                    // Idle time that a device waits for is no service time.
                    Value::String(_) if key.ends_with("_after") => {}
                    value => scale(value, factor),
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| scale(value, factor)),
        Value::String(text) => {
            if let Ok(time) = text.parse::<Nanos>() {
                *text = format!("{}ns", (time.0 as f64 * factor).round());
            }
        }
        _ => {}
    }
}

impl Side {
    fn open(text: &str, seed: u64, work: Work) -> Option<Side> {
        let device = flashscope_sim::open_with("pair.toml", seed, |_| Ok(text.to_owned())).ok()?;
        let grant = WriteGrant::simulated(device.facts(), Bytes(u64::MAX / 2))?;
        (device.facts().capacity >= work.extent * 2).then(|| Side { device, grant, work, rng: Rng::new(seed), next: 0 })
    }

    /// Requests per second of a long run; `None` where one fails.
    fn long(&mut self) -> Option<f64> {
        let runs: Option<Vec<f64>> = (0..LONG).map(|_| Some(self.run()?.rate)).collect();
        let runs = runs?;
        // As many requests in each: the rate of the whole is the harmonic mean.
        Some(runs.len() as f64 / runs.iter().map(|rate| 1.0 / rate).sum::<f64>())
    }

    fn run(&mut self) -> Option<Run> {
        let work = self.work;
        let places = work.extent.0 / work.block.0;
        let start = self.device.facts().capacity.0 / 2 / work.extent.0 * work.extent.0;
        let began = self.device.now();
        let mut logs = Vec::with_capacity(work.requests as usize);
        for id in 0..u64::from(work.requests) {
            let place = if work.random { self.rng.below(places as usize) as u64 } else { self.next % places };
            self.next += 1;
            let offset = Bytes(start + place * work.block.0);
            let request = if work.write {
                Request::write_any(&mut self.grant, id, offset, work.block, false).ok()?
            } else {
                Request::read(id, offset, work.block)
            };
            let done = self.device.execute(request).ok()?;
            if !matches!(done.outcome, Outcome::Success) {
                return None;
            }
            logs.push((done.completed.since(done.issued).0 as f64).max(1.0).ln());
        }
        let elapsed = self.device.now().since(began).as_secs_f64();
        Some(Run { rate: f64::from(work.requests) / elapsed, requests: Summary::of(&logs).ok()? })
    }
}
