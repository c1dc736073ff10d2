//! `twin fit`: a simulated device like the measured one.

use crate::args::{Twin, TwinCommand, TwinFit};
use crate::commands::{infer, report};
use crate::error::{Failure, Outcome};
use crate::output::{self, Saved};
use crate::{envelope, interrupt};
use anyhow::anyhow;
use flashscope_model::run::Cost;
use flashscope_model::{Envelope, Kind};
use flashscope_record::AnyRecord;
use flashscope_transcript::Parsed;
use flashscope_twin::{FitError, Measured, Part, Watch};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::path::Path;

pub(crate) fn run(args: Twin) -> Result<Outcome, Failure> {
    match args.command {
        TwinCommand::Fit(args) => fit(&args),
    }
}

fn fit(args: &TwinFit) -> Result<Outcome, Failure> {
    let mut door = output::door(args.replace.force, &args.files);
    let output = output::plan(&mut door, &args.output)?;
    if report::known_format(&args.output).is_some() {
        let path = args.output.display();
        return Err(anyhow!(
            "{path}: a model is TOML\nhint: end the name in .toml; --report {path} writes a report of the fit"
        )
        .into());
    }
    let reports = report::outputs(&mut door, None, args.report.as_ref())?;
    let mut parts = Vec::new();
    for file in &args.files {
        parts.extend(parts_of(file)?);
    }
    let measured = Measured::of(parts).map_err(anyhow::Error::from)?;
    let title = args.title.clone().unwrap_or_else(|| format!("twin of {}", measured.sources.join(", ")));
    let mut progress = Progress::new();
    let fit = flashscope_twin::fit(&measured, &title, &mut progress);
    progress.bar.finish_and_clear();
    let mut fit = fit.map_err(anyhow::Error::from)?;
    fit.model = flashscope_report::signed_model(&fit.model);
    let mut saved = Saved::default();
    saved.add(&output, "Model", Ok(&fit.model));
    let envelope =
        Envelope { cost: Some(Cost::default()), ..envelope::bare(Kind::Twin, "twin fit", fit.sources.join(", ")) };
    let twin = fit.told(envelope);
    let text = if args.json {
        flashscope_record::to_json(&twin)
    } else if args.cells {
        flashscope_report::twin::text(&twin, true)
    } else {
        flashscope_report::twin::summary(&twin)
    };
    if !reports.is_empty() {
        report::save(&mut saved, &reports, &AnyRecord::Twin(Box::new(twin)));
    }
    saved.after(output::data(&text))?;
    Ok(Outcome::Done)
}

/// What one file holds: one log, or as many records as it has.
fn parts_of(path: &Path) -> anyhow::Result<Vec<Part>> {
    let bytes = infer::read(path)?;
    let name = path.display().to_string();
    match infer::stored(&bytes, path)? {
        Some(records) => Ok(records.into_iter().map(|record| Part::of_record(name.clone(), record)).collect()),
        None => Ok(vec![part_of_log(flashscope_transcript::parse_bytes(&bytes), name)?]),
    }
}

fn part_of_log(parsed: Parsed, name: String) -> anyhow::Result<Part> {
    if parsed.several_devices {
        let why = parsed.notes.iter().find(|note| note.starts_with(flashscope_transcript::SEVERAL_DEVICES));
        let why = format!("{name}: {}", why.map_or("it says so", String::as_str));
        return Err(anyhow!(FitError::TwoDevices { why }));
    }
    let identity = parsed.device.and_then(|device| device.cid.or(device.serial));
    Ok(Part { name, facts: None, identity, observations: parsed.observations, seeds: Vec::new() })
}

/// Draws how far the fit is; silent where stderr is no terminal.
struct Progress {
    bar: ProgressBar,
}

impl Progress {
    fn new() -> Progress {
        interrupt::arm();
        let bar = ProgressBar::new(0);
        bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(5));
        let style = ProgressStyle::with_template("{msg} {pos} of {len} {wide_bar} {eta} left");
        bar.set_style(style.expect("the template is a constant"));
        Progress { bar }
    }
}

impl Watch for Progress {
    fn progress(&mut self, what: &str, done: u32, total: u32) {
        if self.bar.message() != what {
            self.bar.set_message(what.to_owned());
            self.bar.reset_eta();
        }
        self.bar.set_length(u64::from(total));
        self.bar.set_position(u64::from(done));
    }

    fn stop(&mut self) -> bool {
        interrupt::asked()
    }
}
