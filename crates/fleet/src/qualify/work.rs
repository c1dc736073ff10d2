//! What the measured requirements do on a device, run after run, in virtual time: three jobs, durable writes, and an
//! update of a system as an app replays it.

use flashscope_device::{ExecuteExt, Outcome, Request, Target, WriteGrant};
use flashscope_model::comparison::Better;
use flashscope_sim::SimTarget;
use flashscope_stats::Rng;
use flashscope_trace::filter::Addresses;
use flashscope_trace::replay::{Mode, Plan, Player, in_virtual_time};
use flashscope_trace::{Flags, Op, TraceError, Traced};
use flashscope_units::{Bytes, Instant, Nanos};

/// One measured requirement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measured {
    /// As the plan names it.
    pub(super) name: &'static str,
    /// The figure of a run, as the plan names it.
    pub(super) figure: &'static str,
    /// The workload in the words of a plan.
    pub(super) command: &'static str,
    /// Of the figure.
    pub(super) better: Better,
    work: Work,
}

#[derive(Clone, Copy, Debug)]
enum Work {
    /// Requests of one size, one at a time.
    Job { write: bool, durable: bool, random: bool, block: Bytes, requests: u32 },
    /// An update: a package is written, blocks are read here and written there, and all is read back.
    Update,
}

/// All of them. Small random writes that nobody waits for are left out, as in `differences`: a collection in hundreds
/// of them decides what they take, so that a run of seconds is no measurement of them.
pub(super) const MEASURED: [Measured; 5] = [
    Measured {
        name: "sequential-read",
        figure: "job read",
        command: "command = \"bench\"\njob = [{ name = \"job\", rw = \"read\", bs = \"128KiB\", count = 48 }]",
        better: Better::Higher,
        work: job(false, false, false, Bytes::kib(128), 48),
    },
    Measured {
        name: "random-read",
        figure: "job read",
        command: "command = \"bench\"\njob = [{ name = \"job\", rw = \"randread\", bs = \"4KiB\", count = 128 }]",
        better: Better::Higher,
        work: job(false, false, true, Bytes::kib(4), 128),
    },
    Measured {
        name: "sequential-write",
        figure: "job write",
        command: "command = \"bench\"\njob = [{ name = \"job\", rw = \"write\", bs = \"128KiB\", count = 192 }]",
        better: Better::Higher,
        work: job(true, false, false, Bytes::kib(128), 192),
    },
    Measured {
        name: "durable-write",
        figure: "job write",
        command: "command = \"bench\"\njob = [{ name = \"job\", rw = \"write\", bs = \"16KiB\", count = 384, mode = \"dsync\" }]",
        better: Better::Higher,
        work: job(true, true, false, Bytes::kib(16), 384),
    },
    Measured {
        name: "update",
        figure: "total",
        command: "command = \"replay\"\ntrace = \"update\"",
        better: Better::Lower,
        work: Work::Update,
    },
];

const fn job(write: bool, durable: bool, random: bool, block: Bytes, requests: u32) -> Work {
    Work::Job { write, durable, random, block, requests }
}

/// All work keeps to so much of the device, from its middle on.
const EXTENT: Bytes = Bytes::mib(256);
/// An update's package, and each of its two slots, are parts of that.
const SLOT: Bytes = Bytes::mib(64);
/// Pieces of an update of 128 KiB.
const PIECES: u64 = 64;
/// The long run that says what is true is so many runs long.
const LONG: u32 = 30;
/// Runs before those that count: the first time over a stretch a device may do what it never does again.
const WARM_UP: u32 = 6;
/// What each request of the update took where it was recorded, and how long its program thought in between.
const TOOK: Nanos = Nanos::micros(400);
const THINKS: Nanos = Nanos::micros(20);

/// One device, at one work.
pub(super) struct Worker {
    device: SimTarget,
    grant: WriteGrant,
    work: Work,
    start: Bytes,
    rng: Rng,
    next: u64,
}

impl Worker {
    /// A device of a model file after a few runs that count for nothing, as a plan brings parts into a state first;
    /// `None` where it is no model, too small, or does not serve.
    pub(super) fn open(text: &str, seed: u64, measured: Measured) -> Option<Worker> {
        let mut device = flashscope_sim::open_with("side.toml", seed, |_| Ok(text.to_owned())).ok()?;
        // A fleet looks at answers; what a device must never do is looked at by the simulator's own tests.
        device.check_always(false);
        let grant = WriteGrant::simulated(device.facts(), Bytes(u64::MAX / 2))?;
        let capacity = device.facts().capacity;
        let start = (capacity / 2).align_down(EXTENT);
        let fits = capacity >= start + EXTENT;
        let mut worker = Worker { device, grant, work: measured.work, start, rng: Rng::new(seed), next: 0 };
        (0..if fits { WARM_UP } else { 0 }).all(|_| worker.run().is_some()).then_some(worker).filter(|_| fits)
    }

    /// Figure of one run without what a host adds: requests a second, or seconds; `None` where a request fails.
    pub(super) fn run(&mut self) -> Option<f64> {
        match self.work {
            Work::Job { write, durable, random, block, requests } => self.job(write, durable, random, block, requests),
            Work::Update => self.update(),
        }
    }

    /// What is true in the long run: of as many requests in each run, the rate of the whole is that of the summed
    /// times.
    pub(super) fn long(&mut self) -> Option<f64> {
        let runs: Vec<f64> = (0..LONG).map(|_| self.run()).collect::<Option<_>>()?;
        let count = runs.len() as f64;
        Some(match self.work {
            Work::Job { .. } => count / runs.iter().map(|rate| 1.0 / rate).sum::<f64>(),
            Work::Update => runs.iter().sum::<f64>() / count,
        })
    }

    fn job(&mut self, write: bool, durable: bool, random: bool, block: Bytes, requests: u32) -> Option<f64> {
        let places = EXTENT.0 / block.0;
        let began = self.device.now();
        for id in 0..u64::from(requests) {
            let place = if random { self.rng.below(places as usize) as u64 } else { self.next % places };
            self.next += 1;
            let offset = self.start + block * place;
            let request = if write {
                Request::write_any(&mut self.grant, id, offset, block, durable).ok()?
            } else {
                Request::read(id, offset, block)
            };
            let done = self.device.execute(request).ok()?;
            if !matches!(done.outcome, Outcome::Success) {
                return None;
            }
        }
        Some(f64::from(requests) / self.device.now().since(began).as_secs_f64())
    }

    fn update(&mut self) -> Option<f64> {
        // The slots take turns, as those of a phone do.
        let requests = update(self.start, self.next % 2);
        self.next += 1;
        let can = self.device.capabilities();
        let plan = Plan {
            mode: Mode::Dependent,
            addresses: Addresses::Refuse,
            capacity: self.device.facts().capacity,
            block: can.granularity,
            room: 64,
            discard: can.discard,
        };
        let grant = WriteGrant::simulated(self.device.facts(), Bytes::gib(1))?;
        let mut player = Player::new(requests.into_iter().map(Ok::<_, TraceError>), plan, Some(grant));
        let outcome = in_virtual_time(&mut player, &mut self.device, |_| false);
        let (replay, error) = player.finish(Vec::new());
        (outcome.is_ok() && error.is_none()).then(|| replay.total.as_secs_f64())
    }
}

/// The requests of an update into one of two slots: the package comes and is written, each piece of the other slot is
/// read, and written with its hash to this one, durably, and all of it is read back.
fn update(start: Bytes, slot: u64) -> Vec<Traced> {
    let piece = Bytes::kib(128);
    let (package, source, target) = (start, start + SLOT * (1 + (slot ^ 1)), start + SLOT * (1 + slot));
    let journal = start + SLOT * 3;
    let mut requests = Vec::new();
    let mut now = Nanos::ZERO;
    let mut add = |op: Op, offset: Bytes, length: Bytes| {
        let issued = Instant(now.get());
        now += TOOK + THINKS;
        requests.push(Traced {
            issued,
            completed: Some(issued + TOOK),
            offset,
            length: length.get() as u32,
            process: None,
            op,
            flags: Flags::NONE,
        });
    };
    for at in 0..PIECES {
        add(Op::Write, package + piece * at, piece);
    }
    add(Op::Flush, Bytes::ZERO, Bytes::ZERO);
    for at in 0..PIECES {
        add(Op::Read, source + piece * at, piece);
        add(Op::Write, target + piece * at, piece);
        add(Op::Write, journal + Bytes::kib(4) * at, Bytes::kib(4));
        add(Op::Flush, Bytes::ZERO, Bytes::ZERO);
    }
    for at in 0..PIECES {
        add(Op::Read, target + piece * at, piece);
    }
    requests
}
