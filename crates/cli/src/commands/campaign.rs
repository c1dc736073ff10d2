//! What is seen and kept of runs that are done in turns, and what they may take.

use crate::args::{Turns, wanted};
use crate::error::Failure;
use crate::{interrupt, output};
use anyhow::anyhow;
use flashscope_host::Output;
use flashscope_model::app::AppRecord;
use flashscope_model::bench::BenchRecord;
use flashscope_model::comparison::{CampaignEnd, Doubt, Metric, Verdict};
use flashscope_model::{AnyRecord, StopReason};
use flashscope_units::{Bytes, Nanos};
use flashscope_view::figures::{Figure, Setting, measured, measured_in_bytes};
use std::path::Path;
use std::time::{Duration, Instant};

/// How often what was measured so far is kept.
const KEEP_EVERY: Duration = Duration::from_secs(10);

/// Keeps what was measured so far beside the first file that is asked for, so that it outlives a kill.
pub(crate) struct Keep {
    unfinished: Option<Output>,
    kept: Instant,
}

impl Keep {
    pub(crate) fn new(outputs: &[Output], force: bool) -> Keep {
        let path = outputs.first().map(|output| output.path().with_extension("unfinished.json"));
        let unfinished = path.and_then(|path| output::door(force, None::<&Path>).plan(&path).ok());
        Keep { unfinished, kept: Instant::now() }
    }

    /// Keeps it if it is time to.
    pub(crate) fn so_far(&mut self, record: impl FnOnce() -> String) {
        if let Some(unfinished) = self.unfinished.as_ref().filter(|_| self.kept.elapsed() >= KEEP_EVERY) {
            // What cannot be kept now may still be kept at the end, and then it is said.
            drop(unfinished.keep(record().as_bytes()));
            self.kept = Instant::now();
        }
    }

    /// The whole is about to be written.
    pub(crate) fn forget(&self) {
        self.unfinished.iter().for_each(Output::remove);
    }
}

/// What came of one run, of jobs or of apps.
pub(crate) struct Done {
    pub(crate) figures: Vec<Figure>,
    pub(crate) settings: Vec<Setting>,
    pub(crate) written: Bytes,
    pub(crate) stop: StopReason,
    /// Why it does not count: a condition that did not hold throughout, or an app that failed.
    pub(crate) spoiled: Option<String>,
}

impl Done {
    /// Of jobs; every rate in bytes where the size of requests differs from run to run.
    pub(crate) fn of_jobs(record: BenchRecord, in_bytes: bool) -> Done {
        let written = record.envelope.cost.as_ref().map_or(Bytes::ZERO, |cost| cost.written);
        let runs = in_bytes.then(|| measured_in_bytes(&record));
        Done::of(AnyRecord::Bench(Box::new(record)), runs, written, None)
    }

    /// Of apps. An operation that failed took no time that could be compared.
    pub(crate) fn of_apps(record: AppRecord) -> Done {
        let work = record.runs.iter().filter_map(|run| run.device);
        let written = work.map(|work| work.written).sum();
        let spoiled = record.runs.iter().find_map(|run| {
            let failed = || run.failures.first().map(|first| format!("'{}' failed: {}", first.operation, first.what));
            let why = run.ended.as_ref().map(|why| format!("ended early: {why}")).or_else(failed)?;
            Some(format!("{} {why}", run.app))
        });
        Done::of(AnyRecord::App(Box::new(record)), None, written, spoiled)
    }

    fn of(record: AnyRecord, runs: Option<Vec<Vec<Figure>>>, written: Bytes, spoiled: Option<String>) -> Done {
        let (seen, envelope) = (measured(&record), record.envelope());
        let changed = || {
            let conditions = envelope.conditions.changed();
            conditions.first().map(|(what, before, after)| format!("{what} was {before} and then {after}"))
        };
        Done {
            figures: runs.unwrap_or(seen.runs).into_iter().flatten().collect(),
            settings: seen.settings,
            written,
            stop: envelope.stop.clone(),
            spoiled: spoiled.or_else(changed),
        }
    }

    /// The values of these figures; `None` of one that the run does not have.
    pub(crate) fn values(&self, metrics: &[Metric]) -> Vec<Option<f64>> {
        let value = |metric: &Metric| self.figures.iter().find(|one| one.metric == *metric).map(|one| one.value);
        metrics.iter().map(value).collect()
    }
}

/// Adds the metrics of figures that are not there yet.
pub(crate) fn add_metrics(metrics: &mut Vec<Metric>, figures: &[Figure]) {
    for Figure { metric, .. } in figures {
        if !metrics.iter().any(|other| other.name == metric.name) {
            metrics.push(metric.clone());
        }
    }
}

/// Those of the metrics that were asked for.
///
/// # Errors
/// None was.
pub(crate) fn asked_for(metrics: &[Metric], words: &[String]) -> Result<Vec<Metric>, Failure> {
    let kept: Vec<Metric> = metrics.iter().filter(|metric| wanted(words, &metric.name)).cloned().collect();
    if kept.is_empty() { Err(no_such_figure(metrics)) } else { Ok(kept) }
}

/// Nothing was asked for that there is.
pub(crate) fn no_such_figure(there: &[Metric]) -> Failure {
    let names: Vec<&str> = there.iter().map(|metric| metric.name.as_str()).collect();
    Failure::Cannot(anyhow!("no figure has the words of --figure\nhint: the figures are {}", names.join(", ")))
}

/// What runs have taken so far.
pub(crate) struct Meter {
    turns: Turns,
    /// No block begins that could write more.
    max_write: Option<Bytes>,
    began: Instant,
    written: Bytes,
    /// What was written before the block that is being run.
    before: Bytes,
    /// The most that one block has written.
    block: Bytes,
}

impl Meter {
    pub(crate) fn new(turns: Turns, max_write: Option<Bytes>) -> Meter {
        let [written, before, block] = [Bytes::ZERO; 3];
        Meter { turns, max_write, began: Instant::now(), written, before, block }
    }

    /// A run was done.
    pub(crate) fn count(&mut self, run: &Done) {
        self.written += run.written;
    }

    /// A block was done.
    pub(crate) fn block_done(&mut self) {
        self.block = self.block.max(self.written - self.before);
        self.before = self.written;
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// Why no further block may begin after so many, if none may.
    pub(crate) fn end_before_block(&self, blocks: u32) -> Option<CampaignEnd> {
        let spent = Nanos(u64::try_from(self.elapsed().as_nanos()).unwrap_or(u64::MAX));
        match () {
            () if interrupt::asked() => Some(CampaignEnd::Interrupted),
            () if blocks >= self.turns.blocks => Some(CampaignEnd::Blocks),
            () if self.turns.max_time.is_some_and(|most| spent >= most) => Some(CampaignEnd::Time),
            () if self.max_write.is_some_and(|most| self.written + self.block > most) => Some(CampaignEnd::Written),
            () => None,
        }
    }
}

/// Time that is probably left: the blocks that the question furthest from a verdict still needs, at the pace so far.
pub(crate) fn left(
    elapsed: Duration,
    (blocks, most): (u32, u32),
    verdicts: impl Iterator<Item = Verdict>,
) -> Option<Nanos> {
    if blocks == 0 {
        return None;
    }
    let more = verdicts.filter_map(|verdict| match verdict {
        Verdict::CannotTell(Doubt::Open { more }) => Some(more.unwrap_or(most)),
        Verdict::CannotTell(Doubt::TooFew) => Some(1),
        _ => None,
    });
    let more = more.max().unwrap_or(most).min(most.saturating_sub(blocks));
    let left = elapsed.as_nanos() / u128::from(blocks) * u128::from(more);
    u64::try_from(left).ok().map(Nanos)
}
