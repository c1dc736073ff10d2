//! The verdict explained: what was written where, what came back, what that excludes and what not.

use super::{MOST_FAILED, shape::Shape};
use flashscope_model::capacity::{Between, Found, Genuineness, Place, Quick, Verdict};
use flashscope_units::Bytes;

/// What was written where, what came back, and what follows.
pub(super) fn evidence(quick: &Quick, shape: &Shape) -> Vec<String> {
    let mut said = vec![format!(
        "written: {} blocks of {} all over the device, at most {} apart, then its first {} in one stretch, and a flush",
        quick.places.len(),
        quick.block,
        quick.gap,
        quick.region
    )];
    said.push(format!("read back, of {} blocks: {}", quick.places.len(), came_back(shape)));
    said.extend(runs(quick));
    if let Some(period) = shape.period {
        let confirmed = quick.checks.iter().filter(|place| matches!(place.found, Found::Elsewhere(_))).count();
        said.push(format!(
            "what stands at an address above {period} was written {period} lower, or a multiple of that; {confirmed} of {} \
             places that were not written confirm it",
            quick.checks.len()
        ));
    }
    let round = |(number, round): (usize, &flashscope_model::capacity::Round)| {
        let kept = round.places.iter().filter(|place| place.found == Found::Kept).count();
        format!(
            "round {}: {kept} of {} blocks between {} and {} kept what was written",
            number + 1,
            round.places.len(),
            round.places.first().map_or(Bytes::ZERO, |place| place.at),
            round.places.last().map_or(Bytes::ZERO, |place| place.at)
        )
    };
    said.extend(quick.rounds.iter().enumerate().map(round));
    match shape.size {
        Some(Between { low, high }) if low < high => {
            said.push(format!("the true size lies between {low} and {high}: more rounds need a larger --max-write"))
        }
        Some(Between { low, .. }) if low < quick.claimed => {
            said.push(format!("the block before byte {} keeps what is written, the one behind it does not", low.get()));
        }
        _ => {}
    }
    if let Some(tail) = shape.tail {
        said.push(format!("the last {} keep what is written, as a fake does that hides", quick.claimed - tail));
    }
    said
}

/// What the finding rests on: what came back, what had been written, and what that does not exclude.
pub(super) fn of_kind(verdict: &Verdict) -> String {
    let told = verdict.evidence.iter().take(2).rev().chain(&verdict.open);
    told.map(String::as_str).collect::<Vec<_>>().join("; ")
}

/// The same of the true size: where it ends.
pub(super) fn of_size(verdict: &Verdict) -> String {
    verdict.evidence.last().cloned().unwrap_or_default()
}

fn came_back(shape: &Shape) -> String {
    let mut said = vec![format!("{} as written", shape.kept)];
    for (count, what) in [
        (shape.lost, "with what was written gone"),
        (shape.elsewhere, "with what was written to another address"),
        (shape.failed, "not at all: the request failed"),
    ] {
        if count > 0 {
            said.push(format!("{count} {what}"));
        }
    }
    said.join(", ")
}

/// Most stretches of like places that are named.
const MOST_RUNS: usize = 6;

/// Stretches of places that came back alike.
fn runs(quick: &Quick) -> Option<String> {
    let word = |place: &Place| match place.found {
        Found::Kept => "kept",
        Found::Elsewhere(_) => "from elsewhere",
        found if found.is_lost() => "lost",
        _ => "failed",
    };
    let mut runs: Vec<(Bytes, &str)> = Vec::new();
    for place in &quick.places {
        if runs.last().is_none_or(|(_, last)| *last != word(place)) {
            runs.push((place.at, word(place)));
        }
    }
    let all_alike = runs.len() < 2;
    let said: Vec<String> = runs.iter().take(MOST_RUNS).map(|(at, what)| format!("from {at} {what}")).collect();
    let more = if runs.len() > MOST_RUNS { " …" } else { "" };
    (!all_alike).then(|| format!("by address: {}{more}", said.join(", ")))
}

/// Fakes that are excluded, and those that are not.
pub(super) fn exclusions(quick: &Quick, shape: &Shape) -> (Vec<String>, Vec<String>) {
    let (mut excluded, mut open) = (Vec::new(), Vec::new());
    if shape.kind == Some(Genuineness::Genuine) {
        match quick.gap <= quick.region {
            true => excluded.push("wrap-around and chain, wherever addresses begin anew".to_owned()),
            false => open.push(format!(
                "wraps that no written block falls behind by less than {}: --max-write {} covers all of them",
                quick.region,
                covering(quick)
            )),
        }
        excluded.push(format!("limbo that loses more than {} in one stretch", quick.gap));
        let answered = (shape.kept + shape.lost + shape.elsewhere).max(1);
        excluded.push(format!("damage of more than {} of the device (95 %)", share(3.0 / answered as f64)));
        open.push(format!(
            "a fake with a cache of more than {} would answer from it: a larger --max-write excludes larger caches",
            quick.region
        ));
    }
    if shape.failed as f64 > MOST_FAILED * quick.places.len() as f64 {
        open.push(format!("{} of {} blocks failed, so that nothing is claimed", shape.failed, quick.places.len()));
    }
    (excluded, open)
}

/// Three significant digits of a small share.
fn share(share: f64) -> String {
    if share < 0.01 { format!("{:.2} %", share * 100.0) } else { format!("{:.1} %", share * 100.0) }
}

/// What must be granted so that every wrap is covered: as much for the region as for the blocks, and the rounds.
fn covering(quick: &Quick) -> Bytes {
    let root = (quick.claimed.as_f64() * quick.block.as_f64()).sqrt();
    Bytes((4.0 * root) as u64).align_up(Bytes::mib(1))
}
