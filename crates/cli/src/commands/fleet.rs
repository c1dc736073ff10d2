//! `fleet`: how often `inspect` is right on devices it has never seen.

use crate::args::{Fleet as Args, FleetKind};
use crate::commands::report as reports;
use crate::error::{Failure, Outcome};
use crate::output::{self, Saved};
use crate::{envelope, interrupt};
use anyhow::anyhow;
use flashscope_fleet::{DeviceRun, Inspection, Limits, MaxWrite, Plan, Summary, Watch};
use flashscope_host::Output;
use flashscope_host::load::usage::CpuTime;
use flashscope_model::Kind;
use flashscope_record::AnyRecord;
use flashscope_report as report;
use flashscope_units::Nanos;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

mod capacity;
mod compare;
mod hosts;
mod integrity;
mod qualify;
mod records;
mod scored;
mod state;
mod trend;

pub(crate) fn run(args: Args) -> Result<Outcome, Failure> {
    match &args.kind {
        Some(FleetKind::Capacity(args)) => return capacity::run(args),
        Some(FleetKind::Compare(args)) => return compare::run(args),
        Some(FleetKind::Integrity(args)) => return integrity::run(args),
        Some(FleetKind::Qualify(args)) => return qualify::run(args),
        Some(FleetKind::State(args)) => return state::run(args),
        Some(FleetKind::Trend(args)) => return trend::run(args),
        None => {}
    }
    let plan = Plan {
        devices: args.devices,
        first: args.first,
        seed: args.seed,
        generator: args.generator,
        noise: args.noise,
        limits: Limits {
            max_write: match (args.max_write, args.overwrite) {
                (Some(size), _) => MaxWrite::Size(size),
                (None, Some(times)) => MaxWrite::Times(times),
                (None, None) => MaxWrite::Usual,
            },
            max_time: args.max_time,
            by_hand: !args.no_naive,
            most_work: args.max_work.unwrap_or(Limits::USUAL_WORK),
        },
    };
    if let Some(index) = args.show {
        let drawn =
            flashscope_fleet::draw(plan.generator, plan.seed, index, plan.noise).map_err(anyhow::Error::from)?;
        output::talk(&format!("inspect it as the fleet did with --seed {}", drawn.seed));
        output::data(&drawn.text)?;
        return Ok(Outcome::Done);
    }

    let mut door = output::door(args.replace.force, None::<PathBuf>);
    if let Some(path) = &args.part {
        return part(plan, &output::plan(&mut door, path)?);
    }
    let outputs = reports::outputs(&mut door, args.html.as_deref(), args.output.as_ref())?;
    let records = args.records.as_deref().map(|folder| records::Records::new(folder, plan, args.replace.force));
    let progress = Progress::new(plan.devices);
    let (fleet, left) = match &args.server {
        Some(server) => hosts::sail(plan, server, &progress)?,
        None => {
            let see = |found: Inspection<'_>| records.iter().for_each(|records| records.keep(&found));
            (flashscope_fleet::sail_seen(plan, &progress, &see).map_err(anyhow::Error::from)?, None)
        }
    };
    progress.bar.finish_and_clear();
    if fleet.devices.is_empty() {
        return Err(Failure::Cannot(anyhow!("no device was done before the stop")));
    }
    let summary = Summary::of(&fleet);
    let envelope = envelope::simulated(Kind::Fleet, "fleet", format!("{} devices", plan.devices), plan.seed);
    let record = flashscope_fleet::record(envelope, &fleet, &summary);
    let text = if args.json { flashscope_record::to_json(&record) } else { report::fleet::text(&record) };
    let mut saved = Saved::default();
    if let Some(why) = records.and_then(records::Records::failure) {
        saved.failed(why);
    }
    if !outputs.is_empty() {
        reports::save(&mut saved, &outputs, &AnyRecord::Fleet(Box::new(record.clone())));
    }
    saved.after(output::data(&text))?;
    match left {
        Some(why) => Err(Failure::Cannot(why)),
        None => Ok(Outcome::Done),
    }
}

/// Finds some devices of a fleet for whoever joins them. Fewer than were asked for would be taken for all of them.
fn part(plan: Plan, to: &Output) -> Result<Outcome, Failure> {
    let fleet = flashscope_fleet::sail_alone(plan, &Progress::new(plan.devices)).map_err(anyhow::Error::from)?;
    if fleet.devices.len() < plan.devices as usize {
        return Err(Failure::Cannot(anyhow!("stopped before all devices were done; nothing was written")));
    }
    output::save(to, "Part", flashscope_fleet::part(&hosts::version(), &fleet))?;
    Ok(Outcome::Done)
}

/// Says how many devices are done and what is left: drawn on a terminal, else a line now and then.
struct Progress {
    bar: ProgressBar,
    /// When the last line was written where nothing is drawn.
    said: Mutex<Instant>,
}

/// Time between two lines where nothing is drawn.
const BETWEEN_LINES: Duration = Duration::from_secs(10);

impl Progress {
    fn new(devices: u32) -> Progress {
        interrupt::arm();
        let bar = ProgressBar::new(u64::from(devices));
        bar.set_draw_target(if output::quiet() {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr_with_hz(5)
        });
        let style = ProgressStyle::with_template("{pos} of {len} devices {wide_bar} {eta} left");
        bar.set_style(style.expect("the template is a constant"));
        Progress { bar, said: Mutex::new(Instant::now()) }
    }
}

impl Watch for Progress {
    fn clock(&self) -> Nanos {
        let spent = CpuTime::of_this_thread();
        spent.user + spent.system
    }

    fn done(&self, device: &DeviceRun) {
        self.bar.inc(1);
        if let Some(why) = &device.failure {
            self.bar.suspend(|| output::talk(&format!("no result for device {}: {why}", device.index)));
        }
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        if self.bar.is_hidden() && said.elapsed() >= BETWEEN_LINES {
            *said = Instant::now();
            let (done, all) = (self.bar.position(), self.bar.length().unwrap_or_default());
            let left = self.bar.elapsed().as_secs_f64() * (all - done) as f64 / done as f64;
            output::talk(&format!("{done} of {all} devices, about {left:.0} s left"));
        }
    }

    fn stop(&self) -> bool {
        interrupt::asked()
    }
}
