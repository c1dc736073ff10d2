//! What is shown and kept while a state is made.

use crate::commands::bench::bar;
use crate::interrupt;
use crate::progress::{Turn, whole};
use crate::smart;
use flashscope_device::Target;
use flashscope_host::{Output, SysRoot, disk_under};
use flashscope_journal::Journal as _;
use flashscope_model::envelope::ConditionList;
use flashscope_model::{DeviceFacts, Health};
use flashscope_report::foreign;
use flashscope_state::{Journal, Progress, Watch};
use flashscope_units::{ByteRate, Bytes, Nanos};
use indicatif::ProgressBar;
use std::path::Path;
use std::time::{Duration, Instant};

/// How often the progress is drawn.
const DRAW_EVERY: Duration = Duration::from_millis(200);

/// Draws the progress, and keeps the journal every other second.
pub(super) struct Watcher<'a> {
    bar: ProgressBar,
    kept: Option<&'a Output>,
    turn: Turn,
    path: &'a Path,
    drawn: Option<Instant>,
    begun: Instant,
    /// Bytes that had been moved when this session began.
    from: Option<Bytes>,
}

impl<'a> Watcher<'a> {
    pub(super) fn new(target: &'a str, quiet: bool, kept: Option<&'a Output>) -> Watcher<'a> {
        Watcher {
            bar: bar("state", quiet),
            kept,
            turn: Turn::now(),
            path: Path::new(target),
            drawn: None,
            begun: Instant::now(),
            from: None,
        }
    }

    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl<T: Target> Watch<T> for Watcher<'_> {
    fn progress(&mut self, progress: &Progress<'_>) {
        let from = *self.from.get_or_insert(progress.moved);
        if self.bar.is_hidden() || self.drawn.is_some_and(|drawn| drawn.elapsed() < DRAW_EVERY) {
            return;
        }
        self.drawn = Some(Instant::now());
        let share = progress.moved.as_f64() / progress.most.as_f64().max(1.0);
        let rate = ByteRate::of(progress.moved, progress.time).map_or_else(String::new, |rate| format!("  {rate}"));
        // By this machine's clock, as virtual time passes by the second between two pictures of it.
        let pace = ByteRate::of(progress.moved - from, Nanos(self.begun.elapsed().as_nanos() as u64));
        let left = pace
            .filter(|pace| pace.get() > 0.0)
            .map(|pace| pace.time_for(progress.most.saturating_sub(progress.moved)));
        let left = left.map_or_else(String::new, |left| format!(", at most {} left", whole(left)));
        let what = foreign::line(&progress.what.describe()).into_owned();
        self.bar.set_message(format!(
            "{}/{} {:.0} %{rate}{left}  {what}",
            progress.step,
            progress.steps,
            share * 100.0
        ));
        self.bar.tick();
    }

    fn keep(&mut self, _: &T, journal: &Journal, must: bool) {
        let Some(kept) = self.kept else { return };
        // What cannot be kept now may still be kept later; without a journal it begins anew, and nothing is lost.
        let keep = || drop(journal.text().map(|text| kept.keep(text.as_bytes())));
        if must { keep() } else { self.turn.take(keep) }
    }

    fn stop(&mut self) -> bool {
        interrupt::asked()
    }

    fn registers(&mut self, target: &T) -> ConditionList {
        let health = health(self.path, target.facts());
        let counted = target.wear().map(|wear| [("erases", wear.erases), ("programmed_bytes", wear.programmed.get())]);
        let counted = counted.into_iter().flatten().map(|(name, value)| (name.to_owned(), value.to_string()));
        health.iter().flat_map(told).chain(counted).collect()
    }
}

/// What the registers of wear say now: what the kernel shows of a part may have changed since it was opened; a simulated one
/// keeps its facts current.
pub(crate) fn health(path: &Path, facts: &DeviceFacts) -> Option<Health> {
    let disk = disk_under(&SysRoot::live(), path).filter(|_| facts.identity.is_some());
    disk.map_or(facts.claims.health, |disk| smart::health(&disk))
}

/// The registers of wear that a device has.
pub(crate) fn told(health: &Health) -> Vec<(String, String)> {
    let small = [
        ("life_time_a", health.life_time_a),
        ("life_time_b", health.life_time_b),
        ("pre_end_of_life", health.pre_end_of_life),
        ("used_percent", health.used_percent),
        ("spare_percent", health.spare_percent),
    ];
    let small = small.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.to_string())));
    let written = health.written.map(|bytes| ("written_bytes".to_owned(), bytes.get().to_string()));
    small.chain(written).collect()
}
