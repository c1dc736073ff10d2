//! `emulate`: a simulated device as a real block device, until it is told to stop.

use crate::args::Emulate;
use crate::error::{Failure, Outcome};
use crate::output;
use anyhow::{Context, anyhow};
use flashscope_emulate::signals::{self, OperatorRequest};
use flashscope_emulate::{Emulator, LogTo, Options, REGISTRY, Statistics, Stop};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

/// How often it is looked whether the device is still mounted, or is free at last.
const LOOK: Duration = Duration::from_millis(200);

pub(crate) fn run(args: Emulate) -> Result<Outcome, Failure> {
    if args.clean {
        return clean();
    }
    let json = args.json;
    let options = options(args)?;
    let wishes = signals::listen().context("cannot listen to signals")?;
    let mut emulator = Emulator::start(&options).map_err(|error| anyhow!("{error}"))?;
    for remark in emulator.remarks() {
        output::talk(remark);
    }
    // Whoever waits for the path may have gone: the device is there all the same.
    match output::data(&emulator.path().display().to_string()) {
        Ok(()) | Err(Failure::ClosedPipe) => {}
        Err(failure) => return Err(failure),
    }
    let ended = serve(&mut emulator, &wishes, json);
    let statistics = emulator.statistics();
    if json {
        output::data(&statistics.to_json())?;
    } else {
        output::talk(&statistics.to_string());
    }
    ended.map(|()| Outcome::Done)
}

fn options(args: Emulate) -> Result<Options, Failure> {
    let (model, at) = args.model.zip(args.at).context("a model and a directory are needed")?;
    let model = with_noise(model, args.noise.as_deref());
    let state = args.backing.as_ref().map(|backing| PathBuf::from(format!("{}.state", backing.display())));
    let mut door = output::door(args.replace.force, args.backing.iter().chain(&state));
    let log = args.log.as_ref().map(|path| output::plan(&mut door, path)).transpose()?;
    Ok(Options {
        model,
        at: Some(at),
        attach_loop: args.attach_loop,
        backing: args.backing,
        seed: args.seed,
        speed: args.speed,
        log: log.map(|output| LogTo::Output(Arc::new(output))),
        registry: REGISTRY.into(),
    })
}

/// A real machine has noise of its own, so a model brings none unless it is told to.
pub(crate) fn with_noise(model: String, level: Option<&str>) -> String {
    match level {
        Some(level) => format!("{model},noise={level}"),
        None if model.contains(",noise=") => model,
        None => format!("{model},noise=none"),
    }
}

/// Until the operator wants it to stop and nobody uses it any more, or wants it twice.
fn serve(emulator: &mut Emulator, wishes: &Receiver<OperatorRequest>, json: bool) -> Result<(), Failure> {
    let mut stopping = false;
    loop {
        let mut stop = Some(false).filter(|_| stopping);
        match wishes.recv_timeout(LOOK) {
            Ok(OperatorRequest::Show) => show(&emulator.statistics(), json),
            Ok(OperatorRequest::PowerOn) => match emulator.power_on().map_err(|error| anyhow!("{error}"))? {
                Some(why) => output::talk(&format!("the device is switched on again; {why}")),
                None => output::talk("the device is on"),
            },
            Ok(OperatorRequest::PowerCut) => match emulator.cut_power() {
                Ok(()) => output::talk("the power of the device is cut"),
                Err(error) => output::say(&error.to_string()),
            },
            Ok(OperatorRequest::Stop) => stop = Some(stopping),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => stop = Some(true),
        }
        if emulator.has_ended() {
            emulator.stop(true).map_err(|error| anyhow!("{error}"))?;
            return Err(Failure::Cannot(anyhow!("someone else has unmounted the device")));
        }
        let Some(force) = stop else { continue };
        match emulator.stop(force).map_err(|error| anyhow!("{error}"))? {
            Stop::Done => return Ok(()),
            Stop::Busy(what) if !stopping => {
                output::say(&format!(
                    "{what}\nhint: it stops as soon as it is free; again to stop it now, whatever is lost"
                ));
                stopping = true;
            }
            Stop::Busy(_) => {}
        }
    }
}

fn show(statistics: &Statistics, json: bool) {
    output::say(&if json { statistics.to_json() } else { statistics.to_string() });
}

fn clean() -> Result<Outcome, Failure> {
    let removed = flashscope_emulate::clean(Path::new(REGISTRY)).map_err(|error| anyhow!("{error}"))?;
    if removed.is_empty() {
        output::talk("nothing was left by a killed emulator");
    }
    for what in removed {
        output::talk(&what);
    }
    Ok(Outcome::Done)
}
