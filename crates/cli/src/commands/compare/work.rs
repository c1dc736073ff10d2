//! What the runs of sides are, of jobs or of apps, and where they are done.

use super::sides::Side;
use crate::args::Compare as Args;
use crate::commands::app::{Program, Venue};
use crate::commands::bench;
use crate::commands::campaign::Done;
use crate::error::Failure;
use crate::making::{Keeper, Order};
use crate::output;
use crate::settings::JobDefaults;
use anyhow::anyhow;
use flashscope_load::file::{JobText, to_toml};
use flashscope_load::job::{JobSet, Phase};
use flashscope_model::envelope::State;
use flashscope_sim::SimTarget;
use flashscope_stats::rng::stream;
use flashscope_units::Nanos;
use std::path::Path;

/// What a run does.
pub(super) enum Work<'a> {
    Jobs(Jobs<'a>),
    /// Apps, and where each side plays them.
    Apps(Program, Vec<Venue>),
}

/// Runs jobs on the sides.
pub(super) struct Jobs<'a> {
    args: &'a Args,
    targets: Vec<&'a str>,
    /// Simulated sides, from their first run on.
    devices: Vec<Option<SimTarget>>,
    /// What keeps each side in the state that was asked for.
    keepers: Vec<Option<Keeper>>,
    runs: u64,
}

/// Each side has a journal of its own.
fn keeper(args: &Args, number: usize, side: &Side) -> Option<Keeper> {
    let target = args.target(&side.items[0].typed, args.seed);
    let place = args.results.output.first().map(|path| path.with_extension(format!("{}.json", number + 1)));
    Order::before(&args.in_state, &target, place.as_deref(), args.results.json).map(Keeper::new)
}

impl<'a> Work<'a> {
    pub(super) fn of(args: &'a Args, sides: &'a [Side]) -> Result<Work<'a>, Failure> {
        if !args.apps.are_said() {
            return Ok(Work::Jobs(Jobs::new(args, sides)));
        }
        let program = Program::of(&args.apps, &args.consent, args.text())?;
        let open = |side: &Side| {
            let typed = &side.items[0].typed;
            let settings = args.apps.settings(&args.target(typed, args.seed), &args.in_state);
            Venue::open("compare", typed, &program, settings)
        };
        let venues = sides.iter().map(open).collect::<Result<_, Failure>>()?;
        Ok(Work::Apps(program, venues))
    }

    /// One run of a side. Apps do the same acts in every run of a block, so that these do not differ by what chance has them write.
    pub(super) fn run(&mut self, args: &Args, side: usize, block: u64) -> Result<Done, Failure> {
        match self {
            Work::Jobs(jobs) => jobs.run(side),
            Work::Apps(_, venues) => venues[side].run(stream(args.seed, block), args.turns.pause).map(Done::of_apps),
        }
    }

    /// The jobs as a job file, or the definitions of the apps.
    pub(super) fn text(&self) -> Result<String, Failure> {
        match self {
            Work::Jobs(jobs) => jobs.text(),
            Work::Apps(program, _) => Ok(program.text()),
        }
    }

    /// The state that the baseline was brought into.
    pub(super) fn state(&self) -> Option<&State> {
        match self {
            Work::Jobs(jobs) => jobs.keepers[0].as_ref()?.state(),
            Work::Apps(_, venues) => venues[0].state(),
        }
    }

    /// A block device that apps are played on.
    pub(super) fn device(&self) -> Option<&Path> {
        match self {
            Work::Jobs(_) => None,
            Work::Apps(_, venues) => venues.iter().find_map(Venue::device),
        }
    }

    /// The end; what was made for the runs goes.
    pub(super) fn close(self) -> Result<(), Failure> {
        if let Work::Apps(_, venues) = self {
            for venue in venues {
                venue.close()?.iter().for_each(|remark| output::talk(remark));
            }
        }
        Ok(())
    }
}

impl<'a> Jobs<'a> {
    pub(super) fn new(args: &'a Args, sides: &'a [Side]) -> Jobs<'a> {
        Jobs {
            args,
            targets: sides.iter().map(|side| side.items[0].typed.as_str()).collect(),
            devices: sides.iter().map(|_| None).collect(),
            keepers: sides.iter().enumerate().map(|(number, side)| keeper(args, number, side)).collect(),
            runs: 0,
        }
    }

    /// The jobs of a run: those that were asked for, else sequential and random reads.
    fn set(&self, seed: u64) -> Result<JobSet, Failure> {
        if self.args.job.is_some() || !self.args.words.is_empty() {
            return bench::jobs(self.args.job.as_deref(), self.args.text(), &JobDefaults::default(), seed);
        }
        let phase = |name: &str, rw: &str, size: &str| {
            let words = JobText {
                rw: Some(rw.to_owned()),
                bs: Some(size.into()),
                runtime: Some("2s".into()),
                ..JobText::default()
            };
            let job = words.job(name).map_err(|error| anyhow!("{error}"))?;
            Ok(Phase { jobs: vec![job], pause: Nanos::ZERO })
        };
        let phases = [("sequential", "read", "1MiB"), ("random", "randread", "4KiB")];
        let phases = phases.into_iter().map(|(name, rw, size)| phase(name, rw, size));
        let mut set = JobSet { phases: phases.collect::<Result<_, Failure>>()? };
        set.phases.iter_mut().flat_map(|phase| &mut phase.jobs).for_each(|job| job.seed = seed);
        Ok(set)
    }

    /// The jobs as a job file.
    pub(super) fn text(&self) -> Result<String, Failure> {
        Ok(to_toml(&self.set(self.args.seed)?))
    }

    /// The next run of a side, with a seed of its own.
    pub(super) fn prepare(&mut self, side: usize) -> Result<bench::Quiet, Failure> {
        let seed = stream(self.args.seed, self.runs);
        self.runs += 1;
        let mut jobs = self.set(seed)?;
        if let (Some(rest), Some(first)) = (self.args.turns.pause, jobs.phases.first_mut()) {
            first.pause = rest;
        }
        bench::quiet(self.args.target(self.targets[side], seed), jobs)
    }

    fn run(&mut self, side: usize) -> Result<Done, Failure> {
        let record = self.prepare(side)?.run_kept(&mut self.devices[side], self.keepers[side].as_mut())?;
        Ok(Done::of_jobs(record, false))
    }
}
