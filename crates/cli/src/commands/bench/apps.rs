//! The applications of a preset: played after its jobs, by the same code as `app`.

use crate::args::{Bench, InState, TargetArgs};
use crate::commands::app;
use crate::error::Failure;
use crate::output;
use flashscope_model::StopReason;
use flashscope_model::bench::BenchRecord;
use flashscope_model::preset::Played;
use flashscope_suite::{Definition, add_played};
use std::path::Path;

/// Looks whether the definition's apps are there.
///
/// # Errors
/// One is not, or has no such operation.
pub(super) fn check(definition: &Definition) -> Result<(), Failure> {
    definition.apps().try_for_each(|name| app::look(name, &definition.operations(name)))
}

/// Plays them so often, and adds what they came to; what cannot be played is left out with the reason, the jobs' figures stand.
pub(super) fn play(definition: &Definition, args: &Bench, repeat: u32, record: &mut BenchRecord) {
    let target = &args.target;
    let names: Vec<&str> = definition.apps().collect();
    if names.is_empty() {
        return;
    }
    let played = match hindrance(target, record) {
        Some(why) => Err(why),
        None => app::beside(target, state_for(args), &names, repeat, args.around.json).map_err(|why| why.to_string()),
    };
    if let Err(why) = &played {
        output::talk(&format!("left out: {}: {why}", names.join(", ")));
    }
    let played = played.map(|played| {
        record.envelope.stop = played.envelope.stop;
        Played { plan: played.plan, place: played.place, runs: played.runs, figures: played.figures }
    });
    if let Some(preset) = &mut record.preset {
        add_played(definition, preset, played);
    }
}

/// A simulated device is emulated as its model begins, and is brought into the state again; one of this machine is in it.
fn state_for(args: &Bench) -> InState {
    let simulated = args.target.target.starts_with("sim:");
    InState { state: args.in_state.state.filter(|_| simulated), ..args.in_state.clone() }
}

/// Why they are not to be played there, and what to do.
fn hindrance(target: &TargetArgs, record: &BenchRecord) -> Option<String> {
    let simulated = target.target.starts_with("sim:");
    if record.envelope.stop != StopReason::Complete {
        return Some("the jobs before them were cut short".to_owned());
    }
    if !simulated && target.consent.read_only {
        return Some("they write, and --read-only forbids that\nhint: leave out --read-only".to_owned());
    }
    if !simulated && target.consent.max_write.is_some() {
        let why = "how much a file system writes nobody can say beforehand, and --max-write asks for that";
        return Some(format!("{why}\nhint: leave out --max-write, or play them by `flashscope app`"));
    }
    if Path::new(&target.target).is_file() {
        let why = format!("{} is a file, which has no file system in it", target.target);
        return Some(format!("{why}\nhint: name its directory, and they are played beside it"));
    }
    None
}
