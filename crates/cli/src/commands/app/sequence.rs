//! The runs of a sequence, one after the other.

use super::place::{Place, RunFolder};
use super::{cannot, player};
use crate::envelope;
use crate::error::Failure;
use crate::{interrupt, output, progress};
use flashscope_app::definition::{Definition, MAIN};
use flashscope_app::suite::Case;
use flashscope_app::wire::Order;
use flashscope_app::{Script, catalogue, figures};
use flashscope_host::load::Folder;
use flashscope_host::{Surroundings, SysRoot};
use flashscope_model::app::{AppPlace, AppPlan, AppRecord, AppRun};
use flashscope_model::{Kind, StopReason};
use flashscope_stats::rng::{mix, stream};
use flashscope_units::{Bytes, Nanos};
use indicatif::ProgressBar;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Of a file system, this share is left for its own tables when it is said what has room.
const USABLE: f64 = 0.95;

/// A sequence that is being played.
pub(super) struct Playing {
    plan: AppPlan,
    apps: Vec<(Definition, u64)>,
    where_played: AppPlace,
    runs: Vec<AppRun>,
    /// Where photos lie that a full case has left; before the place, so that it goes first.
    albums: Vec<RunFolder>,
    bar: ProgressBar,
    done: u64,
    place: Place,
}

impl Playing {
    /// Looks whether there is room for each app.
    ///
    /// # Errors
    /// Where there is not, and scaling was not asked for.
    pub(super) fn new(
        place: Place,
        mut plan: AppPlan,
        mut apps: Vec<(Definition, u64)>,
        scale: bool,
        quiet: bool,
    ) -> Result<Playing, Failure> {
        let facts = place.facts()?;
        let room = Bytes((facts.free.as_f64() * USABLE) as u64);
        for ((app, rounds), planned) in apps.iter_mut().zip(&mut plan.apps) {
            if app.room(*rounds) <= room {
                continue;
            }
            let fits = fitting(app, *rounds, room);
            let said = format!(
                "{} in {rounds} rounds needs {}, and {} of {} are free",
                app.name,
                app.room(*rounds),
                facts.free,
                facts.capacity
            );
            match fits {
                0 => return Err(cannot(format!("{said}\nhint: not one round has room; take a larger file system"))),
                fits if !scale => {
                    return Err(cannot(format!("{said}\nhint: --scale plays the {fits} rounds that have room")));
                }
                fits => {
                    output::talk(&format!("{said}: {fits} are played"));
                    (*rounds, planned.rounds) = (fits, fits);
                }
            }
        }
        let where_played = AppPlace {
            directory: place.above.display().to_string(),
            file_system: facts.file_system,
            options: facts.options,
            capacity: facts.capacity,
            free: facts.free,
            device: facts.device,
            sqlite: String::new(),
        };
        let lengths = apps.iter().map(|(app, rounds)| Script::new(app, MAIN, *rounds, plan.seed).length());
        let once: u64 = lengths.fold(0, u64::saturating_add);
        let bar = progress::bar(once.saturating_mul(u64::from(plan.repeat)), "operations");
        if quiet {
            bar.set_draw_target(indicatif::ProgressDrawTarget::hidden());
        }
        interrupt::before_end(place.at_the_end());
        Ok(Playing { place, plan, apps, where_played, runs: Vec::new(), albums: Vec::new(), bar, done: 0 })
    }

    /// Plays all cases, and puts the record together.
    ///
    /// # Errors
    /// Where an app cannot be played at all; what fails within one is part of the record.
    pub(super) fn all(mut self, command: &str, sequence: &[Case]) -> Result<AppRecord, Failure> {
        let here = Surroundings::of(&SysRoot::live(), &self.place.above);
        let mut envelope = envelope::begin(Kind::App, command, &self.where_played.directory, &here);
        for (number, case) in (1..).zip(sequence) {
            match case {
                Case::Main => self.main(number)?,
                Case::Full => self.full(number)?,
            }
        }
        if interrupt::asked() {
            envelope.stop = StopReason::Interrupted;
        }
        envelope::seal(&mut envelope, Some(&here));
        self.bar.finish_and_clear();
        let figures = figures(&self.runs);
        Ok(AppRecord { envelope, plan: self.plan, place: self.where_played, runs: self.runs, figures })
    }

    /// Every app, in turn and again: what drifts meanwhile is spread over all of them.
    fn main(&mut self, case: u32) -> Result<(), Failure> {
        for number in 1..=self.plan.repeat {
            for at in 0..self.apps.len() {
                let (app, rounds) = self.apps[at].clone();
                // What a full case left has to go as far as the app would find no room.
                self.make_room(app.room(rounds))?;
                let name = format!("{case}-{number}-{}", app.name);
                if self.once(&app, rounds, (case, Case::Main, number), &name)?.is_none() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Photos and packages until the file system is full; then photos are deleted, and it goes on. Packages are those of the run
    /// before, installed anew.
    fn full(&mut self, case: u32) -> Result<(), Failure> {
        // Those of the run before go as soon as new ones are there.
        let mut packages = None;
        let left = Bytes((self.where_played.capacity.as_f64() * (1.0 - Case::FULL)) as u64);
        for number in 1..=Case::FULL_RUNS {
            for name in Case::FILLING {
                let app = catalogue::app(name).expect("the apps that fill come along");
                let rounds =
                    self.apps.iter().find(|(other, _)| other.name == name).map_or(app.rounds, |(_, rounds)| *rounds);
                self.make_room(app.room(rounds) + left)?;
                let folder = format!("{case}-{number}-{name}");
                let Some(folder) = self.once(&app, rounds, (case, Case::Full, number), &folder)? else { return Ok(()) };
                match folder.path.join("DCIM").is_dir() {
                    true => self.albums.push(folder),
                    false => drop(packages.replace(folder)),
                }
            }
        }
        Ok(())
    }

    /// Deletes a share of the photos that full cases have left, again and again, until so much is free. Where no photo is left
    /// it is for the app to find no room.
    fn make_room(&self, wanted: Bytes) -> Result<(), Failure> {
        let share = self.plan.delete_share.unwrap_or_default();
        while self.place.free()? < wanted {
            let mut photos: Vec<PathBuf> =
                self.albums.iter().flat_map(|folder| files(&folder.path.join("DCIM"))).collect();
            let count = (photos.len() as f64 * share).ceil() as usize;
            if count == 0 {
                return Ok(());
            }
            photos.sort();
            photos.truncate(count);
            for photo in photos {
                let (Some(folder), Some(name)) = (photo.parent(), photo.file_name().and_then(|name| name.to_str()))
                else {
                    continue;
                };
                let removed = Folder::open(folder).and_then(|mut folder| folder.remove(name));
                removed.map_err(|error| cannot(error.to_string()))?;
            }
        }
        Ok(())
    }

    /// Plays an app once; `None` where the operator asked to stop.
    fn once(
        &mut self,
        app: &Definition,
        rounds: u64,
        (place, case, number): (u32, Case, u32),
        folder: &str,
    ) -> Result<Option<RunFolder>, Failure> {
        if interrupt::asked() {
            return Ok(None);
        }
        rest(self.plan.idle);
        let directory = self.place.of_run(folder)?;
        let order = Order {
            definition: app.text.clone(),
            directory: directory.path.display().to_string(),
            rounds,
            // Each run draws sizes of its own, the same for the same run of another device.
            seed: stream(mix(self.plan.seed), u64::from(place) << 32 | u64::from(number)),
            journal: self.plan.journal.clone(),
            synchronous: self.plan.synchronous.clone(),
        };
        let (bar, before) = (&self.bar, self.done);
        let answer = player::play(&order, |done| bar.set_position(before + done))?;
        self.done += Script::new(app, MAIN, rounds, order.seed).length();
        self.where_played.sqlite = answer.sqlite;
        self.runs.push(answer.run.into_model(app, case.word(), place, number));
        Ok(Some(directory))
    }
}

/// The rounds of an app that have room.
fn fitting(app: &Definition, most: u64, room: Bytes) -> u64 {
    let (mut low, mut high) = (0, most);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if app.room(middle) <= room { low = middle } else { high = middle - 1 }
    }
    low
}

/// Idle time, ended early by the operator.
fn rest(time: Nanos) {
    const STEP: Nanos = Nanos::millis(100);
    let mut left = time;
    while left > Nanos::ZERO && !interrupt::asked() {
        let step = left.min(STEP);
        std::thread::sleep(Duration::from_nanos(step.get()));
        left = left - step;
    }
}

/// All files below a directory; none where there is none.
fn files(below: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(below).into_iter().flatten().filter_map(Result::ok);
    entries
        .flat_map(|entry| match entry.file_type() {
            Ok(kind) if kind.is_dir() => files(&entry.path()),
            Ok(kind) if kind.is_file() => vec![entry.path()],
            _ => Vec::new(),
        })
        .collect()
}
