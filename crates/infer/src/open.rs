//! What a run left open, and what would settle it: a budget that was used up never leaves anything "not measured" without a
//! word.

use crate::Choice;
use crate::Want;
use crate::choose::{Role, SUBJECTS, Subject};
use crate::drive::slc_cache;
use crate::memo::Memo;
use crate::situation::Situation;
use crate::worth::{self, Aim};
use flashscope_model::finding::{Note, NoteKind};
use flashscope_model::plan::Budget;
use flashscope_model::{DeviceFacts, DeviceKind, Observations};
use flashscope_units::{Bytes, Nanos};

/// Time that is shown as a bare number of seconds ends here.
const A_SECOND: Nanos = Nanos::secs(1);

/// Remarks on the questions that the budget left open, each with the flag that would settle it: all questions, of a run whose
/// time is not limited.
pub fn left_open(device: &DeviceFacts, observations: &Observations, memo: &Memo, budget: Budget) -> Vec<Note> {
    left_open_for(&Aim { want: Want::All, time_of: &|_| Nanos::ZERO }, device, observations, memo, budget)
}

/// The same of what was wanted, with what more time would bring where that was limited.
pub fn left_open_for(
    aim: &Aim<'_>,
    device: &DeviceFacts,
    observations: &Observations,
    memo: &Memo,
    budget: Budget,
) -> Vec<Note> {
    let now = Situation::new(device, observations, memo, budget.write, 0);
    let wanted = SUBJECTS.iter().filter(|subject| aim.want.needs(subject));
    let open: Vec<(&Subject, Choice)> = wanted.filter_map(|subject| Some((subject, (subject.choice)(&now)?))).collect();
    let too_dear = |choice: &Choice| choice.experiment.bytes_written() > budget.write;
    let (dear, late): (Vec<_>, Vec<_>) = open.iter().partition(|(_, choice)| too_dear(choice));
    let mut notes = Vec::new();
    if budget.time.is_some() && !late.is_empty() {
        notes.push(for_want_of_time(&now, &late, aim));
    }
    if !dear.is_empty() {
        notes.push(for_want_of_bytes(&now, &open, &dear, budget));
    }
    notes.extend(without_room(&now, aim.want));
    notes
}

/// What more time would bring: each question with about how long it takes.
fn for_want_of_time(now: &Situation, late: &[&(&Subject, Choice)], aim: &Aim) -> Note {
    let times = late.iter().map(|(subject, choice)| {
        let time = worth::time_to_settle(now, subject, &choice.experiment, aim);
        (subject.words, time)
    });
    let times: Vec<(&str, Nanos)> = times.collect();
    let all: Nanos = times.iter().map(|(_, time)| *time).sum();
    let names: Vec<String> = times.iter().map(|(words, time)| format!("{words} (about {})", about(*time))).collect();
    let enough = now.observations.spent().time + all + all / 4;
    let text = format!("left open, because the time was used up (--max-time): {}", names.join("; "));
    Note::new(NoteKind::LeftOpen, text)
        .with_hint(format!("--max-time {} is enough for all of that, as far as can be told", as_option(enough)))
}

/// A length of time to one or two digits.
fn about(time: Nanos) -> String {
    let seconds = time.max(A_SECOND).as_secs_f64();
    match seconds {
        ..90.0 => format!("{seconds:.0} s"),
        ..5400.0 => format!("{:.0} min", seconds / 60.0),
        _ => format!("{:.0} h", seconds / 3600.0),
    }
}

/// As `--max-time` takes it, rounded up.
fn as_option(time: Nanos) -> String {
    let seconds = time.as_secs_f64().ceil();
    match seconds {
        ..90.0 => format!("{seconds}s"),
        ..5400.0 => format!("{}min", (seconds / 60.0).ceil()),
        _ => format!("{}h", (seconds / 3600.0).ceil()),
    }
}

fn for_want_of_bytes(
    now: &Situation,
    open: &[(&Subject, Choice)],
    dear: &[&(&Subject, Choice)],
    budget: Budget,
) -> Note {
    let written = now.observations.spent().written;
    let names: Vec<&str> = dear.iter().map(|(subject, _)| subject.words).collect();
    let (why, hint) = if written == Bytes::ZERO && budget.write == Bytes::ZERO {
        ("they need writes", grant_hint(now.device).to_owned())
    } else {
        // What an open question leads to is counted as well, so that nobody is asked to raise it twice.
        let is_open = |role: Role| open.iter().any(|(subject, _)| subject.role == role);
        let leads_on = is_open(Role::Search) && !is_open(Role::BeyondALimit);
        let follows = SUBJECTS.iter().filter(|subject| leads_on && subject.role == Role::BeyondALimit);
        let left = open.iter().map(|(subject, _)| *subject).chain(follows);
        let needed: Bytes = left.map(|subject| (subject.most_left)(now)).sum();
        let enough = (written + needed).align_up(Bytes::mib(1));
        (
            "they did not fit what may be written (--max-write)",
            format!("--max-write {}M is enough for everything at the worst", enough / Bytes::mib(1)),
        )
    };
    let text = format!("left open, because {why}: {}", names.join("; "));
    Note::new(NoteKind::LeftOpen, text).with_hint(hint)
}

/// Questions that were not asked at all, because the device or the write budget is too small for any experiment on them.
fn without_room(now: &Situation, want: Want) -> Vec<Note> {
    let may_write = now.write_budget > Bytes::ZERO;
    let asked = |key: &str| SUBJECTS.iter().any(|subject| subject.key == key && want.asks(subject));
    let mut notes = Vec::new();
    if asked("slc-cache")
        && may_write
        && let Some((why, hint)) = slc_cache::without_room(now)
    {
        notes.push(Note::new(NoteKind::LeftOpen, format!("left open, because {why}: SLC cache")).with_hint(hint));
    }
    notes
}

/// How writing is allowed. The identity itself is never spelled out: naming it is the operator's part of the consent, and
/// what can be copied from a screen is no consent.
fn grant_hint(device: &DeviceFacts) -> &'static str {
    match device.kind {
        _ if device.simulated => "leave out --read-only",
        DeviceKind::File => "--allow-write allows it, and overwrites what is there",
        _ => {
            "look the identity up with `flashscope list`, then allow it with --destroy-data=IDENTITY; what is there is \
             overwritten"
        }
    }
}
