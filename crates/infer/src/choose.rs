//! What to do next: of all subjects the first that still has a question and whose experiment the budget covers.
//!
//! Reads come before writes, cheap before dear, and what others lean on before them. The choice is a pure function of
//! what was observed: there is no state between calls, so that a stored record can be gone on with.

use crate::memo::Memo;
use crate::situation::{Situation, assumed_unit};
use crate::{Choice, drive, memory, reading, writing};
use flashscope_model::finding::{Note, NoteKind};
use flashscope_model::plan::Budget;
use flashscope_model::{DeviceFacts, DeviceKind, Observations, Order};
use flashscope_units::{Bytes, Nanos};

/// What an experiment is about; the order is that of the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Subject {
    Floor,
    Survey,
    Fill,
    Boundaries,
    Interval,
    Reads,
    Parallel,
    MapReach,
    Cells,
    OpenInOrder,
    OpenRandom,
    OneUnit,
    Escape,
    Area,
    OtherBlock,
    Longer,
    ReadCache,
    WriteBuffer,
    Writes,
    SlcCache,
    Collection,
}

const SUBJECTS: [Subject; 21] = [
    Subject::Floor,
    Subject::Survey,
    Subject::Fill,
    Subject::Boundaries,
    Subject::Interval,
    Subject::Reads,
    Subject::Parallel,
    Subject::MapReach,
    Subject::Cells,
    Subject::OpenInOrder,
    Subject::OpenRandom,
    Subject::OneUnit,
    Subject::Escape,
    Subject::Area,
    Subject::OtherBlock,
    Subject::Longer,
    Subject::ReadCache,
    Subject::WriteBuffer,
    Subject::Writes,
    Subject::SlcCache,
    Subject::Collection,
];

/// The experiment that would settle most for least wear, or `None` when nothing is left that the budget covers.
///
/// The memo says nothing; it saves working out again what the last calls of the run worked out.
pub fn next(
    device: &DeviceFacts,
    observations: &Observations,
    memo: &Memo,
    budget: Budget,
    seed: u64,
) -> Option<Choice> {
    if budget.time == Some(Nanos::ZERO) {
        return None;
    }
    let now = Situation::new(device, observations, memo, budget.write, seed);
    // A search for open units may go on to sixty-four of them: what settles more for less comes before its dear end.
    let affordable = |subject: &Subject, kept_back: Bytes| {
        let choice = subject.choice(&now)?;
        (choice.experiment.bytes_written() + kept_back <= budget.write).then_some(choice)
    };
    let first = SUBJECTS.iter().find_map(|subject| {
        // What was kept back and is not wanted any more goes to the searches, before the speed of writes is measured.
        let searches = (*subject == Subject::Writes).then_some([Subject::OpenInOrder, Subject::OpenRandom]);
        let left = drive::slc_cache::left_for_cache(&now);
        let search = searches.and_then(|searches| searches.iter().find_map(|search| affordable(search, left)));
        search.or_else(|| affordable(subject, subject.kept_back(&now)))
    });
    // What that leaves goes to the cheapest question first.
    let cheapest = || {
        let choices = SUBJECTS.iter().filter_map(|subject| subject.choice(&now));
        let costs = choices.map(|choice| (choice.experiment.bytes_written(), choice));
        costs.filter(|(cost, _)| *cost <= budget.write).min_by_key(|(cost, _)| *cost).map(|(_, choice)| choice)
    };
    first.or_else(cheapest)
}

/// Remarks on the questions that the budget left open, each with the flag that would settle it.
pub fn left_open(device: &DeviceFacts, observations: &Observations, memo: &Memo, budget: Budget) -> Vec<Note> {
    let now = Situation::new(device, observations, memo, budget.write, 0);
    let out_of_time = budget.time == Some(Nanos::ZERO);
    let unsettled: Vec<Subject> = SUBJECTS.into_iter().filter(|subject| subject.choice(&now).is_some()).collect();
    let too_dear =
        |subject: &Subject| subject.choice(&now).is_some_and(|choice| choice.experiment.bytes_written() > budget.write);
    let open: Vec<Subject> = unsettled.iter().copied().filter(|subject| out_of_time || too_dear(subject)).collect();
    if open.is_empty() {
        return Vec::new();
    }
    let names: Vec<&str> = open.iter().map(|subject| subject.words()).collect();
    let written = observations.spent().written;
    let (why, hint) = if out_of_time {
        ("the time was used up (--max-time)", "allow more with --max-time".to_owned())
    } else if written == Bytes::ZERO && budget.write == Bytes::ZERO {
        ("they need writes", grant_hint(device).to_owned())
    } else {
        // What an open question leads to is counted as well, so that nobody is asked to raise it twice.
        let leads_on = unsettled.contains(&Subject::OpenInOrder) || unsettled.contains(&Subject::OpenRandom);
        let follows = (leads_on && !unsettled.contains(&Subject::Escape)).then_some(Subject::Escape);
        let needed: Bytes = unsettled.iter().chain(&follows).map(|subject| subject.most_left(&now)).sum();
        let enough = (written + needed).align_up(Bytes::mib(1));
        (
            "they did not fit what may be written (--max-write)",
            format!("--max-write {}M is enough for everything at the worst", enough / Bytes::mib(1)),
        )
    };
    let text = format!("left open, because {why}: {}", names.join("; "));
    vec![Note::new(NoteKind::LeftOpen, text).with_hint(hint)]
}

/// What a full run may write, for the operator's consent before the first write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outlook {
    /// Never more than this.
    pub will_write_at_most: Bytes,
    /// What is overwritten, in words.
    pub regions: Vec<String>,
    /// The experiments that write, each with about how much.
    pub experiments: Vec<String>,
    /// About how much is read.
    pub will_read_about: Bytes,
    /// Device time, the least and the most that is likely.
    pub time: (Nanos, Nanos),
    /// What the time assumes.
    pub time_assumes: String,
    /// What does not fit the budget even where the device needs little, in words.
    pub left_out: Vec<String>,
}

/// Bytes per second of reads and of writes that the estimate of time assumes, at the fast end and at the slow one: a
/// good card, and one that copies a unit for many of the writes.
const ASSUMED_RATES: [(f64, f64); 2] = [(80e6, 10e6), (10e6, 0.5e6)];

/// Of what the writing experiments need at the worst, a device of few open units needs this share.
const USUAL_SHARE: u64 = 8;

/// What a run within this budget would do, said before anything is measured.
pub fn outlook(device: &DeviceFacts, budget: Budget) -> Outlook {
    let unit = assumed_unit(device);
    let mut parts =
        if budget.write == Bytes::ZERO { Vec::new() } else { writing::most_written(device, unit, budget.write) };
    // Only where addresses are mapped by page, which nobody knows yet.
    let all_over = [
        ("all of it, for whether a cache of fast cells shrinks", drive::slc_cache::fill_within(device, budget.write)),
        ("all of it more than once, for spare space", drive::overwritten_within(device, budget.write)),
    ];
    parts.extend(all_over.into_iter().filter_map(|(name, bytes)| Some((name, bytes?))));
    let total: Bytes = parts.iter().map(|(_, bytes)| *bytes).sum();
    let will_read_about = reading::about_read(device);
    let seconds = |written: Bytes, (read_rate, write_rate): (f64, f64)| {
        will_read_about.as_f64() / read_rate + written.as_f64() / write_rate
    };
    let within = |seconds: f64| {
        let time = Nanos((seconds * 1e9) as u64);
        budget.time.map_or(time, |limit| limit.min(time))
    };
    let time = (
        within(seconds((total / USUAL_SHARE).min(budget.write), ASSUMED_RATES[0])),
        within(seconds(total.min(budget.write), ASSUMED_RATES[1])),
    );
    let dear = |(_, bytes): &&(&str, Bytes)| *bytes / USUAL_SHARE > budget.write;
    Outlook {
        will_write_at_most: budget.write,
        regions: if parts.is_empty() { Vec::new() } else { regions(unit) },
        experiments: parts.iter().map(|(name, bytes)| format!("{name}: at most {bytes}")).collect(),
        will_read_about,
        time,
        time_assumes: "reads at 10 to 80 MB/s, writes at 0.5 to 10 MB/s".to_owned(),
        left_out: parts.iter().filter(dear).map(|(name, _)| (*name).to_owned()).collect(),
    }
}

/// What may be overwritten. The unit is only assumed yet, and may turn out several times as large.
fn regions(unit: Bytes) -> Vec<String> {
    vec![
        format!("the first units of the device: 0 B to {}, further if they differ or are larger than {unit}", unit * 4),
        "places picked at random all over the rest: no part of the device is safe".to_owned(),
    ]
}

impl Subject {
    fn choice(self, now: &Situation) -> Option<Choice> {
        match self {
            Self::Floor => reading::floor(now),
            Self::Survey => reading::survey(now),
            Self::Fill => writing::fill(now),
            Self::Boundaries => reading::boundaries(now),
            Self::Interval => reading::interval(now),
            Self::Reads => reading::performance(now),
            Self::OpenInOrder => writing::open_units(now, Order::InOrder),
            Self::OpenRandom => writing::open_units(now, Order::Random),
            Self::OneUnit => writing::one_unit(now),
            Self::Escape => writing::escape(now),
            Self::Area => writing::area(now),
            Self::OtherBlock => writing::other_block(now),
            Self::Longer => writing::longer(now),
            Self::ReadCache => memory::wanted_reads::read_cache(now),
            Self::WriteBuffer => memory::wanted::buffer(now),
            Self::Writes => writing::performance(now),
            Self::Parallel => drive::parallel_choice(now),
            Self::MapReach => drive::map_reach_choice(now),
            Self::Cells => drive::cells_choice(now),
            Self::SlcCache => drive::slc_cache::choice(now),
            Self::Collection => drive::overwrite_choice(now),
        }
    }

    /// What it can still write at the worst.
    fn most_left(self, now: &Situation) -> Bytes {
        match self {
            Self::Floor
            | Self::Survey
            | Self::Boundaries
            | Self::Interval
            | Self::Reads
            | Self::Parallel
            | Self::MapReach
            | Self::Cells
            | Self::ReadCache => Bytes::ZERO,
            Self::Fill => writing::most_fill(now.device, now.unit()),
            Self::OpenInOrder => writing::most_trials(now, Order::InOrder),
            Self::OpenRandom => writing::most_trials(now, Order::Random),
            Self::OneUnit => writing::most_one_unit(now.purse),
            Self::Escape => writing::most_escape(),
            Self::Area => writing::most_area(),
            Self::OtherBlock => writing::most_other_block(now),
            Self::Longer => writing::most_longer(now),
            Self::WriteBuffer => memory::wanted::most_written(),
            Self::Writes => writing::most_cells(),
            Self::SlcCache => drive::slc_cache::most_written(now),
            Self::Collection => drive::most_overwritten(now),
        }
    }

    /// What an experiment of this subject must leave for others, which settle more for less.
    fn kept_back(self, now: &Situation) -> Bytes {
        match self {
            Self::OpenInOrder => {
                writing::left_for_random(now)
                    + writing::left_for_one_unit(now)
                    + writing::left_for_area(now)
                    + inside(now)
            }
            Self::OpenRandom => writing::left_for_one_unit(now) + writing::left_for_area(now) + inside(now),
            Self::Escape | Self::Area | Self::OtherBlock | Self::Longer => inside(now),
            Self::Writes => drive::slc_cache::left_for_cache(now),
            _ => Bytes::ZERO,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Floor => "the floor",
            Self::Survey => "which parts hold data",
            Self::Fill => "the geometry of a device that was never written",
            Self::Boundaries => "allocation unit and page",
            Self::Interval => "access time",
            Self::Reads => "speed of reads",
            Self::OpenInOrder => "open units in order",
            Self::OpenRandom => "open units at random",
            Self::OneUnit => "random-order penalty and small-write path",
            Self::Escape => "small writes beyond the open units",
            Self::Area => "an area at the start that differs",
            Self::OtherBlock => "whether the count of open units depends on the block size",
            Self::Longer => "what order costs small writes when a log is full",
            Self::ReadCache => "read buffer and read-ahead",
            Self::WriteBuffer => "write buffer",
            Self::Writes => "speed of writes",
            Self::Parallel => "stripe and parallel units",
            Self::MapReach => "reach of the map in memory",
            Self::Cells => "bits per cell",
            Self::SlcCache => "a cache of fast cells (SLC)",
            Self::Collection => "spare space and write amplification",
        }
    }
}

/// What the first looks at the inside of the controller take: little, of all that may be written.
fn inside(now: &Situation) -> Bytes {
    memory::wanted::left_for_buffer(now) + drive::slc_cache::left_for_cache(now)
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
