//! Apps that take turns with others: a place whose file system and player stay from run to run, for `sweep` and `compare`.

use super::place::{self, Place};
use super::player::{self, Player};
use super::room::{self, Fewer};
use super::sequence::rest;
use super::{cannot, definition, plan};
use crate::args::{AppSettings, AppWords, Consent};
use crate::error::Failure;
use crate::{envelope, interrupt};
use flashscope_app::definition::{Definition, Journal, Synchronous};
use flashscope_app::figures;
use flashscope_app::suite::Case;
use flashscope_app::wire::Play;
use flashscope_load::file::JobText;
use flashscope_model::app::{AppPlace, AppRecord};
use flashscope_model::envelope::State;
use flashscope_model::{Kind, StopReason};
use flashscope_units::Nanos;
use std::path::Path;

/// What is played in each run: apps with their rounds.
#[derive(Clone)]
pub(crate) struct Program(Vec<(Definition, u64)>);

impl Program {
    /// Of the apps that were said, beside the words of a job, of which there must be none.
    ///
    /// # Errors
    /// There is no such app, or no player; a job is said as well; nothing may be written.
    pub(crate) fn of(words: &AppWords, consent: &Consent, job: &JobText) -> Result<Program, Failure> {
        if *job != JobText::default() {
            return Err(cannot(
                "apps and a job are both said\nhint: leave out --app, or the options of the job".to_owned(),
            ));
        }
        if consent.read_only {
            return Err(cannot("apps write, and --read-only forbids it\nhint: leave --read-only away".to_owned()));
        }
        // Before a device is given a file system for nothing.
        player::program()?;
        let one = |name: &String| {
            let app = definition(name)?;
            let rounds = words.rounds.map_or(app.rounds, u64::from);
            Ok((app, rounds))
        };
        let apps: Vec<(Definition, u64)> = words.app.iter().map(one).collect::<Result<_, Failure>>()?;
        let names: Vec<&str> = apps.iter().map(|(app, _)| app.name.as_str()).collect();
        match names.iter().enumerate().find(|(at, name)| names[..*at].contains(name)) {
            Some((_, twice)) => Err(cannot(format!("the app {twice} is named twice\nhint: --rounds plays more of it"))),
            None => Ok(Program(apps)),
        }
    }

    /// The definitions as they are played.
    pub(crate) fn text(&self) -> String {
        let one =
            |(app, rounds): &(Definition, u64)| format!("# {}, {rounds} rounds\n{}", app.name, app.text.trim_end());
        self.0.iter().map(one).collect::<Vec<_>>().join("\n\n") + "\n"
    }

    /// The apps with their rounds, in a line.
    pub(crate) fn line(&self) -> String {
        let one = |(app, rounds): &(Definition, u64)| format!("{} ({rounds} rounds)", app.name);
        self.0.iter().map(one).collect::<Vec<_>>().join(", ")
    }
}

/// A place with its player. When it is dropped nothing is left of what was made for it, but for the file system of a device.
pub(crate) struct Venue {
    program: Program,
    command: &'static str,
    settings: AppSettings,
    /// File system and options that stand there; `None` where the last change failed.
    stands: Option<(Option<String>, Option<String>)>,
    /// Before the place, as a device goes once nobody plays on it any more.
    player: Option<Player>,
    facts: AppPlace,
    place: Place,
    runs: u64,
}

impl Venue {
    /// Finds the place, gives a device its state and its file system, and starts a player there.
    ///
    /// # Errors
    /// There is no such place, or nothing can be played there; refused for safety.
    pub(crate) fn open(
        command: &'static str,
        target: &str,
        program: &Program,
        settings: AppSettings,
    ) -> Result<Venue, Failure> {
        let mut place = place::find(target, &settings)?;
        let (player, facts) = entered(&mut place, program)?;
        Ok(Venue {
            program: program.clone(),
            command,
            stands: Some((settings.fs.clone(), settings.fs_options.clone())),
            settings,
            player: Some(player),
            facts,
            place,
            runs: 0,
        })
    }

    /// The device that was given a file system; `None` of a directory.
    pub(crate) fn device(&self) -> Option<&Path> {
        self.place.device()
    }

    /// The state that the device was brought into before it was given its file system.
    pub(crate) fn state(&self) -> Option<&State> {
        self.place.state.as_ref()
    }

    /// Has the next run under other settings: another file system is made anew, and other options are mounted anew.
    ///
    /// # Errors
    /// The file system cannot be made, or not be mounted so.
    pub(crate) fn change(&mut self, settings: AppSettings) -> Result<(), Failure> {
        let wanted = (settings.fs.clone(), settings.fs_options.clone());
        if self.stands.as_ref() != Some(&wanted) {
            self.player = None;
            let has_it = self.stands.take().is_some_and(|(file_system, _)| file_system == wanted.0);
            self.place.change(&settings, has_it)?;
            let (player, facts) = entered(&mut self.place, &self.program)?;
            (self.player, self.facts, self.stands) = (Some(player), facts, Some(wanted));
        }
        self.settings = settings;
        Ok(())
    }

    /// Plays all apps once. The same seed does the same acts.
    ///
    /// # Errors
    /// An app cannot be played at all; what fails within one is part of the record.
    pub(crate) fn run(&mut self, seed: u64, pause: Option<Nanos>) -> Result<AppRecord, Failure> {
        rest(pause.unwrap_or(Nanos::ZERO));
        self.runs += 1;
        let mut envelope = envelope::begin(Kind::App, self.command, &self.place.target, &self.place.here);
        envelope.state = self.place.state.clone();
        let plan = plan(&self.settings, None, &self.program.0, &[Case::Main]);
        let Some(player) = &mut self.player else {
            return Err(cannot(format!("nothing can be played on {} since its last change failed", self.place.target)));
        };
        let mut runs = Vec::new();
        for (app, rounds) in self.program.0.iter().filter(|_| !interrupt::asked()) {
            let name = format!("{}-{}", self.runs, app.name);
            let play = Play {
                definition: app.text.clone(),
                name: name.clone(),
                rounds: *rounds,
                seed,
                journal: self.settings.journal.map(|word| Journal::from(word).word().to_owned()),
                synchronous: self.settings.synchronous.map(|word| Synchronous::from(word).word().to_owned()),
            };
            let run = player.play(play, |_| {})?;
            runs.push(run.into_model(app, Case::Main.word(), 1, 1));
            player.remove(&name)?;
        }
        if interrupt::asked() {
            envelope.stop = StopReason::Interrupted;
        }
        envelope::seal(&mut envelope, Some(&self.place.here));
        let figures = figures(&runs);
        Ok(AppRecord { envelope, plan, place: self.facts.clone(), runs, figures })
    }

    /// The end; what must be known of the runs, in sentences.
    ///
    /// # Errors
    /// The device did not take what was written.
    pub(crate) fn close(self) -> Result<Vec<String>, Failure> {
        let Venue { player, facts, place, .. } = self;
        let ended = player.map_or(Ok(()), Player::end);
        let told = place.witness.map(place::Witness::finish).transpose()?.unwrap_or_default();
        ended.map(|()| facts.remarks.into_iter().chain(told.remarks).collect())
    }
}

/// A player in the place, which has room for all.
fn entered(place: &mut Place, program: &Program) -> Result<(Player, AppPlace), Failure> {
    let (player, facts) = place.enter()?;
    interrupt::also_before_end(player.ender());
    for (app, rounds) in &program.0 {
        room::rounds(app, *rounds, &facts, &Fewer::Refused("--rounds"))?;
    }
    Ok((player, facts))
}
