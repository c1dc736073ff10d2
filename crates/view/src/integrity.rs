//! What survives power cuts, in words and in tables.

use crate::table::{Cell, Table};
use flashscope_model::integrity::{Blame, Fault, IntegrityRecord, Moment, Under, Verdict};
use flashscope_units::Bytes;

/// Cuts with violations that are told one by one.
const TOLD: usize = 12;

/// What it was done to.
pub fn title(record: &IntegrityRecord) -> String {
    format!("Integrity of {}", record.envelope.subject())
}

/// The verdict in a sentence.
pub fn headline(verdict: &Verdict) -> String {
    let percent = |share: f64| match share * 100.0 {
        percent if percent >= 10.0 => format!("{percent:.0}"),
        percent if percent >= 1.0 => format!("{percent:.1}"),
        percent => format!("{percent:.3}"),
    };
    let (low, high) = (percent(verdict.share.0), percent(verdict.share.1));
    match (verdict.broken, verdict.cuts) {
        (_, 0) => "cannot tell: no power cut could be judged".to_owned(),
        (0, cuts) => {
            format!("kept its promise after all {cuts} power cuts: at most {high} % of cuts break it (3/n, 95 %)")
        }
        (broken, cuts) => {
            format!("BROKE ITS PROMISE after {broken} of {cuts} power cuts ({low} to {high} % of cuts, 95 %)")
        }
    }
}

/// The answer in a sentence: whether the device kept its promise, and where something stood on it, whose fault a loss is.
pub fn answer(record: &IntegrityRecord) -> String {
    let Some(under) = &record.under else { return headline(&record.verdict) };
    let (name, lost) = (name(under), under.cuts.iter().filter(|cut| cut.found > 0).count());
    let alone = under.cuts.iter().filter(|cut| cut.found > 0 && !cut.device_broke).count();
    let cuts = under.cuts.len();
    match under.blame {
        Blame::Nobody => format!("the device {}; so did {name}", headline(&record.verdict)),
        Blame::Device if lost == 0 => {
            let is_seen = under.cuts.iter().any(|cut| cut.device_broke && cut.mounted_after.is_some());
            let what = if is_seen { "lost nothing by it" } else { "could not be looked at" };
            format!("the device {}; {name} {what}", headline(&record.verdict))
        }
        Blame::Device => {
            format!("the device {}; {name} lost acknowledged data after {lost} of them", headline(&record.verdict))
        }
        Blame::Above => format!(
            "the device kept its promise after all {cuts} power cuts, and {name} LOST ACKNOWLEDGED DATA after {lost} of them: a \
             fault of {}",
            at_fault(under)
        ),
        Blame::Both => format!(
            "the device {}; {name} lost acknowledged data after {lost} cuts, of which {alone} are a fault of {}",
            headline(&record.verdict),
            at_fault(under)
        ),
        Blame::CannotTell => "cannot tell: no power cut could be judged".to_owned(),
    }
}

/// What stood on the device, with what it was told.
fn name(under: &Under) -> String {
    let on = if under.subject == under.file_system { String::new() } else { format!(" on {}", under.file_system) };
    let told = if under.options.is_empty() { String::new() } else { format!(" ({})", under.options) };
    format!("{}{on}{told}", under.subject)
}

fn at_fault(under: &Under) -> String {
    match under.options.is_empty() {
        true => under.subject.clone(),
        false => format!("{}, or of its options", under.subject),
    }
}

/// What was lost above the device, a row each; nothing where nothing was.
pub fn losses(record: &IntegrityRecord) -> Option<Table> {
    let under = record.under.as_ref()?;
    let rows = under.faults.iter().map(|fault| {
        vec![
            Cell::Text(fault.kind.label().to_owned()),
            Cell::Count(fault.cuts.into()),
            Cell::Count(fault.beside_device.into()),
            Cell::Count(fault.first.into()),
            Cell::Text(fault.evidence.clone()),
        ]
    });
    let rows: Vec<Vec<Cell>> = rows.collect();
    (!rows.is_empty()).then(|| Table {
        caption: format!("What {} lost", under.subject),
        columns: columns(["loss", "cuts", "with a device fault", "first cut", "the first of them"]),
        rows,
    })
}

/// What was found, a row each; nothing where nothing was.
pub fn faults(record: &IntegrityRecord) -> Option<Table> {
    let verdict = &record.verdict;
    let rows: Vec<Vec<Cell>> = verdict.faults.iter().map(|fault| row(fault, "")).collect();
    let suspected = verdict.suspicions.iter().map(|fault| row(fault, " (suspected)"));
    let rows: Vec<Vec<Cell>> = rows.into_iter().chain(suspected).collect();
    (!rows.is_empty()).then(|| Table {
        caption: "What was found".to_owned(),
        columns: columns(["kind", "sure", "cuts", "first cut", "at", "evidence"]),
        rows,
    })
}

fn row(fault: &Fault, suffix: &str) -> Vec<Cell> {
    let sure = fault.confidence.map_or("-".to_owned(), |sure| format!("{:.0} %", (sure * 100.0).floor()));
    vec![
        Cell::Text(format!("{}{suffix}", fault.kind.label())),
        Cell::Text(sure),
        Cell::Count(fault.cuts.into()),
        Cell::Count(fault.first.into()),
        fault.place.map_or(Cell::Absent, |place| Cell::Text(place.get().to_string())),
        Cell::Text(fault.evidence.clone()),
    ]
}

/// How often the power went at which moment, and what came of it.
pub fn moments(record: &IntegrityRecord) -> Table {
    let rows = Moment::ALL.into_iter().filter_map(|moment| {
        let cuts = || record.cuts.iter().filter(|cut| cut.moment == moment);
        let dropped: Bytes = cuts().map(|cut| cut.dropped).sum();
        (cuts().count() > 0).then(|| {
            vec![
                Cell::Text(moment.label().to_owned()),
                Cell::Count(cuts().count() as u64),
                Cell::Count(cuts().filter(|cut| cut.found > 0).count() as u64),
                Cell::Size(dropped),
                cuts().filter_map(|cut| cut.recovery).max().map_or(Cell::Absent, Cell::Time),
            ]
        })
    });
    Table {
        caption: "When the power went".to_owned(),
        columns: columns(["moment", "cuts", "broken", "unflushed and gone", "slowest start"]),
        rows: rows.collect(),
    }
}

/// The first cuts after which something was not as promised, with the first place of each.
pub fn broken(record: &IntegrityRecord) -> Option<Table> {
    let cuts = record.cuts.iter().filter(|cut| !cut.violations.is_empty());
    let rows: Vec<Vec<Cell>> = cuts
        .take(TOLD)
        .flat_map(|cut| cut.violations.first().map(|one| (cut, one)))
        .map(|(cut, one)| {
            vec![
                Cell::Count(cut.number.into()),
                Cell::Text(cut.moment.label().to_owned()),
                Cell::Count(cut.found.into()),
                Cell::Text(one.at.get().to_string()),
                Cell::Size(one.length),
                Cell::Text(format!("{}; {}", one.kind.label(), one.what)),
            ]
        })
        .collect();
    (!rows.is_empty()).then(|| Table {
        caption: "The first cuts that broke it".to_owned(),
        columns: columns(["cut", "moment", "places", "at", "length", "the first of them"]),
        rows,
    })
}

/// What was asked for before the cut that was replayed.
pub fn requests(record: &IntegrityRecord) -> Option<Table> {
    let row = |asked: &flashscope_model::integrity::Asked| {
        vec![
            Cell::Count(asked.turn.into()),
            Cell::Text(asked.what.label().to_owned()),
            Cell::Text(asked.at.get().to_string()),
            Cell::Size(asked.length),
            asked.done.map_or(Cell::Text("never".to_owned()), |turn| Cell::Count(turn.into())),
            asked.covered.map_or(Cell::Absent, Cell::Time),
        ]
    };
    (!record.requests.is_empty()).then(|| Table {
        caption: format!("Before cut {}", record.cuts.last().map_or(0, |cut| cut.number)),
        columns: columns(["turn", "request", "at", "length", "done in turn", "covered before the cut"]),
        rows: record.requests.iter().map(row).collect(),
    })
}

/// What must be known of it.
pub fn notes(record: &IntegrityRecord) -> Vec<String> {
    let plan = &record.plan;
    let mut notes = match &record.under {
        Some(under) => of_under(record, under),
        None => vec![format!(
            "seed {}; {} from {} on was written; losing what no flush covered is no fault",
            plan.seed,
            plan.length,
            plan.offset.get()
        )],
    };
    notes.push(match plan.searched {
        Bytes::ZERO => "not looked for: writes that went far away".to_owned(),
        searched => format!("{searched} were looked through at the end for writes that went elsewhere"),
    });
    if let Some(by) = &plan.switched_by {
        notes.push(format!(
            "{} cut the power (off {} later), {} brought it back (answering {} later): the moment of a cut is known to the \
             request, not better",
            by.off, by.off_after, by.on, by.on_after
        ));
    }
    if record.verdict.broken == 0 && record.verdict.cuts > 0 {
        notes.push("more cuts make the bound tighter; none proves that it cannot break".to_owned());
    }
    notes
}

/// How the two were told apart.
fn of_under(record: &IntegrityRecord, under: &Under) -> Vec<String> {
    let (plan, steps) = (&record.plan, under.acknowledged);
    vec![
        format!(
            "seed {}; {} on {} from {} on ({}); {steps} steps were acknowledged; losing what was not synced is no fault",
            plan.seed,
            name(under),
            plan.length,
            plan.offset.get(),
            under.programs.join(", ")
        ),
        "every request to the device was noted, one at a time, and after each cut each sector that was ever written or read was compared; \
         through a loop device, so a durable write (FUA) is a write and a flush"
            .to_owned(),
    ]
}

/// How to see the first broken cut again; `None` on a real device, whose chance no seed decides.
pub fn replay(record: &IntegrityRecord) -> Option<String> {
    let first = record.cuts.iter().find(|cut| cut.found > 0).filter(|_| record.envelope.virtual_time)?;
    let (target, seed) = (&record.envelope.target, record.plan.seed);
    Some(format!("flashscope integrity {target} --seed {seed} --replay {}", first.number))
}

fn columns<const N: usize>(names: [&str; N]) -> Vec<String> {
    names.map(str::to_owned).into()
}
