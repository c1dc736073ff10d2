//! `fleet`: how often `inspect` is right on devices it has never seen.

use crate::args::Fleet as Args;
use crate::error::{Failure, Outcome};
use crate::{interrupt, output};
use anyhow::anyhow;
use flashscope_fleet::{Limits, Plan, Summary, Watch};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

pub(crate) fn run(args: Args) -> Result<Outcome, Failure> {
    let plan = Plan {
        devices: args.devices,
        seed: args.seed,
        generator: args.generator,
        noise: args.noise,
        limits: Limits { max_write: args.max_write, max_time: args.max_time, by_hand: !args.no_naive },
    };
    if let Some(index) = args.show {
        let drawn =
            flashscope_fleet::draw(plan.generator, plan.seed, index, plan.noise).map_err(anyhow::Error::from)?;
        output::talk(&format!("inspect it as the fleet did with --seed {}", drawn.seed));
        output::data(&drawn.text)?;
        return Ok(Outcome::Done);
    }

    let progress = Progress::new(plan.devices);
    let fleet = flashscope_fleet::sail(plan, &progress).map_err(anyhow::Error::from)?;
    progress.bar.finish_and_clear();
    if fleet.devices.is_empty() {
        return Err(Failure::Cannot(anyhow!("no device was done before the stop")));
    }
    let summary = Summary::of(&fleet);
    let text =
        if args.json { flashscope_fleet::json(&fleet, &summary) } else { flashscope_fleet::text(&fleet, &summary) };
    output::data(&text)?;
    if let Some(path) = &args.html {
        output::save_all(&[(path, "Page", &flashscope_fleet::html(&fleet, &summary))])?;
    }
    Ok(Outcome::Done)
}

/// Draws how many devices are done; silent where stderr is no terminal.
struct Progress {
    bar: ProgressBar,
}

impl Progress {
    fn new(devices: u32) -> Progress {
        interrupt::arm();
        let bar = ProgressBar::new(u64::from(devices));
        bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(5));
        let style = ProgressStyle::with_template("{pos} of {len} devices {bar:30} {elapsed} so far, {eta} left");
        bar.set_style(style.expect("the template is a constant"));
        Progress { bar }
    }
}

impl Watch for Progress {
    fn done(&self) {
        self.bar.inc(1);
    }

    fn stop(&self) -> bool {
        interrupt::asked()
    }
}
