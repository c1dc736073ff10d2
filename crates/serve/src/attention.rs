//! What needs attention, found beside all requests: changes of level on devices with new records, and runs that ended early.
//!
//! A thread of its own looks whenever something was kept, at the newest records alone, so that a page never waits for it and a long
//! history costs no more than a short one.

use crate::trends;
use flashscope_store::{Access, Entry, Search, Store, StoreError, Trend};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

/// Newest records whose devices are looked at.
const NEWEST: usize = 300;
/// Devices that are looked at, at most.
const DEVICES: usize = 24;
/// Newest records of each.
const RECORDS: usize = 200;
/// Newest records that are asked how they ended.
const ENDINGS: usize = 40;
/// How often it is asked whether something was kept.
const EVERY: Duration = Duration::from_secs(2);

/// A change of level.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) part: String,
    pub(crate) device: String,
    pub(crate) figure: String,
    pub(crate) change: String,
    pub(crate) is_better: bool,
    pub(crate) record: i64,
    pub(crate) at: String,
}

impl Seen {
    pub(crate) fn json(&self) -> Value {
        json!({
            "part": self.part, "device": self.device, "figure": self.figure, "change": self.change,
            "better": self.is_better, "record": self.record, "at": self.at,
        })
    }
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    /// The last change of each figure, worse ones first.
    pub(crate) marks: Vec<Seen>,
    /// Runs that ended early, and how.
    pub(crate) early: Vec<(Entry, String)>,
    /// Devices that were looked at.
    devices: usize,
}

impl Found {
    /// What was found in trends, in a sentence.
    pub(crate) fn sentence(&self) -> String {
        let worse = self.marks.iter().filter(|mark| !mark.is_better).count();
        let looked = format!("on the {} with the newest records", crate::page::counted(self.devices, "device"));
        match (self.devices, worse, self.marks.len() - worse) {
            (0, ..) => "No device has a record yet.".to_owned(),
            (_, 0, 0) => format!("No level changed {looked}."),
            (_, worse, better) => format!("{worse} for the worse and {better} for the better, {looked}."),
        }
    }
}

/// The thread that looks.
#[derive(Clone, Debug)]
pub(crate) struct Watch(Arc<RwLock<Option<Arc<Found>>>>);

impl Watch {
    /// Begins to look.
    pub(crate) fn start(store: PathBuf) -> Watch {
        let watch = Watch(Arc::default());
        let found = watch.0.clone();
        std::thread::spawn(move || {
            let mut newest = None;
            // It goes on for as long as somebody may ask.
            while Arc::strong_count(&found) > 1 {
                let size = Store::open(&store, Access::Read).and_then(|store| store.size()).unwrap_or_default();
                if newest != Some(size) {
                    let now = look(&store).unwrap_or_default();
                    *found.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(now));
                    newest = Some(size);
                }
                std::thread::sleep(EVERY);
            }
        });
        watch
    }

    /// What was found last; `None` before anything was.
    pub(crate) fn found(&self) -> Option<Arc<Found>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn look(path: &Path) -> Result<Found, StoreError> {
    let store = Store::open(path, Access::Read)?;
    let newest = store.page(&Search::default(), NEWEST)?.entries;
    let mut known = BTreeSet::new();
    let parts: Vec<&str> =
        newest.iter().map(|(_, entry)| entry.part.as_str()).filter(|part| known.insert(*part)).collect();
    let mut found = Found::default();
    for part in parts.into_iter().take(DEVICES) {
        found.devices += 1;
        for trend in trends::of_part(&store, part, None, RECORDS)? {
            found.marks.extend(last_change(&trend));
        }
    }
    found.marks.sort_by(|a, b| (a.is_better, &b.at).cmp(&(b.is_better, &a.at)));
    for (_, entry) in newest.into_iter().take(ENDINGS) {
        if let Some(how) = ended_early(&store.record(entry.id)?) {
            found.early.push((entry, how));
        }
    }
    Ok(found)
}

fn last_change(trend: &Trend) -> Option<Seen> {
    let mark = trend.marks.as_ref()?.last()?;
    let (series, point) = (&trend.series, trend.series.points.get(mark.at)?);
    Some(Seen {
        part: series.part.clone(),
        device: series.device.clone(),
        figure: series.metric.name.clone(),
        change: format!(
            "{} [{}, {}]",
            trends::percent(mark.ratio),
            trends::percent(mark.low),
            trends::percent(mark.high)
        ),
        is_better: mark.is_better,
        record: point.record,
        at: point.at.clone(),
    })
}

/// How a record ended, of which the rest is only passed over.
#[derive(Deserialize)]
struct Head {
    ended: Option<Ended>,
}

#[derive(Deserialize)]
struct Ended {
    how: String,
}

/// In words; `None` where it did what it set out to do, or was stopped by a limit that somebody set.
fn ended_early(text: &str) -> Option<String> {
    let head: Head = serde_json::from_str(text).ok()?;
    let said = match head.ended?.how.as_str() {
        "complete" | "budget_spent" | "stopped" => return None,
        "interrupted" => "stopped by the operator",
        "failing" => "so many requests failed that it gave up",
        "device_lost" => "the device went away or did not answer",
        "internal_error" => "a fault of flashscope itself",
        _ => "it ended early",
    };
    Some(said.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_early_end_is_told_from_a_whole_run() {
        let of = |how: &str| ended_early(&format!("{{\"ended\": {{\"how\": \"{how}\"}}, \"other\": [1, 2]}}"));
        assert_eq!((of("complete"), of("budget_spent")), (None, None));
        assert!(of("device_lost").is_some_and(|said| said.contains("went away")) && of("interrupted").is_some());
        assert_eq!(ended_early("no record"), None);
    }
}
