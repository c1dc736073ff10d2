//! Counting: how often a fault was found, and what else was said.

use super::{Kind, Outcome, Planted};
use crate::calibration;
use crate::differences::{Row, Share, Target};
use flashscope_model::integrity::FaultKind;

/// A fault that happened so rarely, or a device that was cut so rarely, decides nothing.
const OFTEN_ENOUGH: u32 = 3;
const CUTS_ENOUGH: u32 = 20;
/// Expected calibration error.
const CALIBRATION: f64 = 0.02;

/// What was found of one kind of devices.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    kind: Kind,
    /// Cuts of all devices after which something was said to be broken.
    pub broken: Share,
    /// Devices that could be judged.
    pub worked: Share,
    /// Of each fault: devices of which it was said, of those in which it happened and was not hidden.
    pub found: Vec<(Planted, Share)>,
    /// Devices of which the promise was said to be broken, of those whose fault happened.
    pub noticed: Share,
    /// What was named, and is true.
    pub right: Share,
    /// Expected calibration error of what was named; `None` where nothing was.
    pub calibration_error: Option<f64>,
    /// Cuts that a reader accuses who calls any loss a fault.
    pub any_loss: Share,
    /// Devices that a reader accuses who looks only whether they come back.
    pub comes_back: Share,
}

impl Figures {
    /// Counts.
    pub fn of(kind: Kind, outcomes: &[Outcome]) -> Figures {
        let sum = |of: &dyn Fn(&Outcome) -> u32| outcomes.iter().map(of).sum::<u32>();
        let cuts = sum(&|outcome| outcome.verdict.cuts);
        let happened = || outcomes.iter().filter(|outcome| outcome.planted.iter().any(|one| happens(outcome, *one)));
        let claims: Vec<(f64, bool)> = outcomes.iter().flat_map(claims).collect();
        let gone = [FaultKind::Shrunk, FaultKind::Dead, FaultKind::SlowRecovery];
        Figures {
            kind,
            broken: Share { count: sum(&|outcome| outcome.verdict.broken), all: cuts },
            worked: counted(outcomes.iter().map(|outcome| outcome.failed.is_none())),
            found: Planted::ALL.into_iter().map(|planted| (planted, found(planted, outcomes))).collect(),
            noticed: counted(happened().map(|outcome| outcome.verdict.broken > 0)),
            right: counted(claims.iter().map(|(_, right)| *right)),
            calibration_error: calibration(claims.iter().copied()).expected_error,
            any_loss: Share { count: sum(&|outcome| outcome.lossy), all: cuts },
            comes_back: counted(
                outcomes.iter().map(|outcome| outcome.verdict.faults.iter().any(|fault| gone.contains(&fault.kind))),
            ),
        }
    }
}

fn counted(all: impl Iterator<Item = bool>) -> Share {
    all.fold(Share::default(), |share, yes| Share { count: share.count + u32::from(yes), all: share.all + 1 })
}

/// Whether a fault showed itself: of some the device itself knows, of the others enough cuts must have been made.
fn happens(outcome: &Outcome, planted: Planted) -> bool {
    let times = outcome.happened.get(&planted).copied().unwrap_or(0);
    match planted {
        Planted::Shrink | Planted::Dead | Planted::SlowStart => times > 0,
        Planted::Torn | Planted::Shorn | Planted::Neighbours | Planted::Rollback => times >= OFTEN_ENOUGH,
        _ => outcome.verdict.cuts >= CUTS_ENOUGH,
    }
}

fn found(planted: Planted, outcomes: &[Outcome]) -> Share {
    let is_due = |outcome: &&Outcome| {
        outcome.planted.contains(&planted)
            && happens(outcome, planted)
            && !outcome.planted.iter().any(|other| *other != planted && planted.is_hidden_by(*other))
    };
    counted(outcomes.iter().filter(is_due).map(|outcome| names(outcome, planted.due())))
}

fn names(outcome: &Outcome, kind: FaultKind) -> bool {
    outcome.verdict.faults.iter().chain(&outcome.verdict.suspicions).any(|fault| fault.kind == kind)
}

/// What was named of a device, how surely, and whether it is true.
fn claims(outcome: &Outcome) -> Vec<(f64, bool)> {
    let is_true = |kind: FaultKind| outcome.planted.iter().any(|planted| planted.implies().contains(&kind));
    let all = outcome.verdict.faults.iter().chain(&outcome.verdict.suspicions);
    all.filter_map(|fault| Some((fault.confidence?, is_true(fault.kind)))).collect()
}

/// Everything that is wanted of one kind of devices.
pub fn rows(figures: &Figures) -> Vec<Row> {
    let words = |text: &str| text.to_owned();
    let mut rows = vec![Row::of(words("devices that could be judged"), Target::AtLeast(1.0), figures.worked)];
    if figures.kind == Kind::Honest {
        rows.push(Row::of(words("cuts of honest devices accused"), Target::AtMost(0.0), figures.broken));
        rows.push(Row::of(words("accused by one who calls any loss a fault"), Target::Beside, figures.any_loss));
        return rows;
    }
    rows.push(Row::of(words("said to be broken"), Target::AtLeast(1.0), figures.noticed));
    for (planted, share) in &figures.found {
        let row = Row::of(format!("found: {}", planted.words()), Target::AtLeast(1.0), *share);
        rows.push(Row { many: true, ..row });
    }
    rows.push(Row::of(words("right, of what is named"), Target::Beside, figures.right));
    rows.push(Row {
        what: words("calibration error"),
        target: Target::AtMost(CALIBRATION),
        value: figures.calibration_error,
        share: None,
        many: true,
    });
    rows.push(Row::of(words("noticed by one who looks whether it comes back"), Target::Beside, figures.comes_back));
    rows
}

impl Planted {
    /// In a few words.
    fn words(self) -> String {
        match self {
            Planted::LyingReordered => "reordering across a flush".to_owned(),
            Planted::Lying => "lying flush (as a suspicion)".to_owned(),
            other => other.due().label().to_owned(),
        }
    }
}
