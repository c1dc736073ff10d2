//! The runs of a sequence, one after the other.

use super::cannot;
use super::place::{Place, Witness};
use super::player::Player;
use super::room::{self, Fewer};
use super::witness::Kernel;
use crate::envelope;
use crate::error::Failure;
use crate::{interrupt, progress};
use flashscope_app::definition::{Definition, MAIN};
use flashscope_app::suite::Case;
use flashscope_app::wire::{Play, Room};
use flashscope_app::{Script, catalogue, figures};
use flashscope_host::Output;
use flashscope_model::app::{AppPlace, AppPlan, AppRecord, AppRun};
use flashscope_model::{Kind, StopReason};
use flashscope_stats::rng::{mix, stream};
use flashscope_units::{Bytes, Instant, Nanos};
use indicatif::ProgressBar;
use std::path::Path;
use std::time::Duration;

/// A sequence that is being played.
pub(super) struct Playing {
    plan: AppPlan,
    apps: Vec<(Definition, u64)>,
    where_played: AppPlace,
    runs: Vec<AppRun>,
    /// When each began, on the kernel's monotonic clock.
    began: Vec<Instant>,
    /// The runs whose photos a full case has left.
    albums: Vec<String>,
    bar: ProgressBar,
    done: u64,
    /// Before the place, which may go once nobody plays there.
    player: Player,
    place: Place,
    /// Where all that the device is given goes.
    trace: Option<Output>,
}

impl Playing {
    /// Looks whether there is room for each app.
    ///
    /// # Errors
    /// Where there is not, and scaling was not asked for.
    pub(super) fn new(
        mut place: Place,
        trace: Option<Output>,
        mut plan: AppPlan,
        mut apps: Vec<(Definition, u64)>,
        scale: bool,
        quiet: bool,
    ) -> Result<Playing, Failure> {
        let (player, where_played) = place.enter()?;
        if trace.is_some() && place.witness.is_none() {
            let Some(device) = &where_played.device else {
                return Err(cannot(format!(
                    "{} lies on no block device that could be traced\nhint: leave out --trace",
                    place.target
                )));
            };
            place.witness = Some(Witness::Kernel(Kernel::start(Path::new(device))?));
        }
        let (stop, end) = (player.ender(), place.witness.as_ref().map(Witness::ender));
        interrupt::before_end(move || {
            stop();
            end.into_iter().for_each(|end| end());
        });
        let fewer = if scale { Fewer::Played } else { Fewer::Refused("--scale") };
        for ((app, rounds), planned) in apps.iter_mut().zip(&mut plan.apps) {
            *rounds = room::rounds(app, *rounds, &where_played, &fewer)?;
            planned.rounds = *rounds;
        }
        let lengths = apps.iter().map(|(app, rounds)| Script::new(app, MAIN, *rounds, plan.seed).length());
        let once: u64 = lengths.fold(0, u64::saturating_add);
        let bar = progress::bar(once.saturating_mul(u64::from(plan.repeat)), "operations");
        if quiet {
            bar.set_draw_target(indicatif::ProgressDrawTarget::hidden());
        }
        let (runs, began, albums) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Playing { plan, apps, where_played, runs, began, albums, bar, done: 0, player, place, trace })
    }

    /// Plays all cases, and puts the record together.
    ///
    /// # Errors
    /// Where an app cannot be played at all; what fails within one is part of the record.
    pub(super) fn all(mut self, command: &str, sequence: &[Case]) -> Result<AppRecord, Failure> {
        let mut envelope = envelope::begin(Kind::App, command, &self.place.target, &self.place.here);
        envelope.state = self.place.state.take();
        let played = (1..).zip(sequence).try_for_each(|(number, case)| match case {
            Case::Main => self.main(number),
            Case::Full => self.full(number),
        });
        self.bar.finish_and_clear();
        let Playing { plan, mut where_played, mut runs, began, player, place, trace, .. } = self;
        let written = player.end();
        let told = place.witness.map(Witness::finish).transpose()?.unwrap_or_default();
        if interrupt::asked() {
            envelope.stop = StopReason::Interrupted;
        }
        match played.and(written) {
            // What was played before stands.
            Err(why) if !runs.is_empty() => envelope.stop = StopReason::DeviceLost(why.to_string()),
            other => other?,
        }
        envelope::seal(&mut envelope, Some(&place.here));
        envelope.conditions.after.extend(told.conditions);
        where_played.remarks.extend(told.remarks);
        if let Some(found) = told.trace {
            for (run, began) in runs.iter_mut().zip(began) {
                run.given = Some(found.given(began, run.elapsed));
            }
            if found.dropped > 0 {
                let remark = format!("{} requests of the device had no room to be written down", found.dropped);
                where_played.remarks.push(remark);
            }
            trace.map(|output| found.write(output)).transpose()?;
        }
        let figures = figures(&runs);
        Ok(AppRecord { envelope, plan, place: where_played, runs, figures })
    }

    /// Every app, in turn and again: what drifts meanwhile is spread over all of them.
    fn main(&mut self, case: u32) -> Result<(), Failure> {
        for number in 1..=self.plan.repeat {
            for at in 0..self.apps.len() {
                let (app, rounds) = self.apps[at].clone();
                // What a full case left has to go as far as the app would find no room.
                self.make_room(app.room(rounds))?;
                let name = format!("{case}-{number}-{}", app.name);
                if !self.once(&app, rounds, (case, Case::Main, number), &name)? {
                    return Ok(());
                }
                self.player.remove(&name)?;
            }
        }
        Ok(())
    }

    /// Photos and packages until the file system is full; then photos are deleted, and it goes on. Packages are those of the run
    /// before, installed anew.
    fn full(&mut self, case: u32) -> Result<(), Failure> {
        // Those of the run before go as soon as new ones are there.
        let mut packages: Option<String> = None;
        let left = Bytes((self.where_played.capacity.as_f64() * (1.0 - Case::FULL)) as u64);
        for number in 1..=Case::FULL_RUNS {
            for name in Case::FILLING {
                let app = catalogue::app(name).expect("the apps that fill come along");
                let rounds =
                    self.apps.iter().find(|(other, _)| other.name == name).map_or(app.rounds, |(_, rounds)| *rounds);
                self.make_room(app.room(rounds) + left)?;
                let run = format!("{case}-{number}-{name}");
                if !self.once(&app, rounds, (case, Case::Full, number), &run)? {
                    return Ok(());
                }
                if name == Case::PHOTOS {
                    self.albums.push(run);
                } else if let Some(before) = packages.replace(run) {
                    self.player.remove(&before)?;
                }
            }
        }
        Ok(())
    }

    /// Has a share of the photos deleted that full cases have left, again and again, until so much is free.
    fn make_room(&mut self, wanted: Bytes) -> Result<(), Failure> {
        let share = self.plan.delete_share.unwrap_or_default();
        self.player.make_room(Room { wanted: wanted.get(), share, albums: self.albums.clone() })
    }

    /// Plays an app once; whether it goes on: not where the operator asked to stop.
    fn once(
        &mut self,
        app: &Definition,
        rounds: u64,
        (place, case, number): (u32, Case, u32),
        name: &str,
    ) -> Result<bool, Failure> {
        rest(self.plan.idle);
        if interrupt::asked() {
            return Ok(false);
        }
        let play = Play {
            definition: app.text.clone(),
            name: name.to_owned(),
            rounds,
            // Each run draws sizes of its own, the same for the same run of another device.
            seed: stream(mix(self.plan.seed), u64::from(place) << 32 | u64::from(number)),
            journal: self.plan.journal.clone(),
            synchronous: self.plan.synchronous.clone(),
        };
        let (bar, before) = (&self.bar, self.done);
        let length = Script::new(app, MAIN, rounds, play.seed).length();
        let run = self.player.play(play, |done| bar.set_position(before + done))?;
        self.done += length;
        self.began.push(Instant(run.began));
        self.runs.push(run.into_model(app, case.word(), place, number));
        Ok(true)
    }
}

/// Idle time, ended early by the operator.
pub(super) fn rest(time: Nanos) {
    const STEP: Nanos = Nanos::millis(100);
    let mut left = time;
    while left > Nanos::ZERO && !interrupt::asked() {
        let step = left.min(STEP);
        std::thread::sleep(Duration::from_nanos(step.get()));
        left = left - step;
    }
}
