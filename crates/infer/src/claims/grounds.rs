//! What an answer rests on, in words that can be counted under.

use super::Table;
use flashscope_model::finding::{Bound, Cell, Doubt, Figure, Visit};
use flashscope_model::{Estimate, ExperimentName, Finding, Geometry};

/// An answer before it is a probability.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// Of which finding.
    pub finding: Finding,
    /// What it rests on.
    pub grounds: Grounds,
    /// How clear it is, 0…1.
    pub score: f64,
}

/// What an answer rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grounds {
    /// Probes of ours, or tables that another tool prints.
    source: &'static str,
    /// A value, or which ends of it.
    kind: &'static str,
    /// What kind of value it is, where there are kinds.
    said: String,
    /// What makes it weaker, heaviest first.
    doubts: Vec<Doubt>,
}

/// Scores nearer to 0 or 1 than this many powers of e are all the same.
const CLEAREST: f64 = 20.0;

/// The experiments that other tools do as well, whose figures are means over places, or printed.
const TABLES: [ExperimentName; 7] = [
    ExperimentName::Align,
    ExperimentName::WriteAlign,
    ExperimentName::OpenAu,
    ExperimentName::Fat,
    ExperimentName::Scatter,
    ExperimentName::Interval,
    ExperimentName::Program,
];

impl Claim {
    /// The claim of an estimate; `None` where it is unknown.
    pub fn of<F: Figure>(finding: Finding, estimate: &Estimate<F>) -> Option<Claim> {
        let support = estimate.support()?;
        let (kind, said) = match estimate {
            Estimate::Value(value, _) => ("value", said(finding, value)),
            Estimate::Bound(Bound::AtLeast(_), _) => ("at-least", String::new()),
            Estimate::Bound(Bound::AtMost(_), _) => ("at-most", String::new()),
            Estimate::Bound(Bound::Between(..), _) => ("between", String::new()),
            Estimate::Unknown(_) => return None,
        };
        let source = if support.method.iter().any(|method| TABLES.contains(method)) { "tables" } else { "probes" };
        let grounds = Grounds { source, kind, said, doubts: support.doubts.clone() };
        Some(Claim { finding, grounds, score: support.confidence })
    }

    /// The claims of the sizes that a bound leaves open, one for each alternative; of what else has bounds, alternatives are
    /// other answers.
    pub fn odds<F: Figure>(finding: Finding, estimate: &Estimate<F>) -> Vec<Claim> {
        let open = matches!(finding, Finding::AllocationUnit | Finding::Page) && estimate.bound().is_some();
        let Some(bound) = Claim::of(finding, estimate).filter(|_| open) else { return Vec::new() };
        let odds = Grounds { kind: "odds", ..bound.grounds };
        let claim = |(_, share): &(F, f64)| Claim { finding, grounds: odds.clone(), score: *share };
        estimate.alternatives().iter().map(claim).collect()
    }

    /// Those of all findings that say something.
    pub fn all(geometry: &Geometry) -> Vec<Claim> {
        struct Gather(Vec<Claim>);
        impl Visit for Gather {
            fn visit<F: Figure>(&mut self, finding: Finding, estimate: &Estimate<F>) {
                self.0.extend(Claim::of(finding, estimate));
            }
        }
        let mut gather = Gather(Vec::new());
        geometry.each(&mut gather);
        gather.0
    }

    /// The score as odds, on a scale without ends: their natural logarithm, to a hundredth.
    pub fn clearness(&self) -> f64 {
        let odds = (self.score / (1.0 - self.score)).ln();
        let finite = if odds.is_nan() { 0.0 } else { odds.clamp(-CLEAREST, CLEAREST) };
        (finite * 100.0).round() / 100.0
    }

    /// For each doubt that was never counted beside the heavier ones: the claim with that doubt alone.
    pub(super) fn uncounted(&self, table: &Table) -> Vec<Claim> {
        let counted = |doubts: &[Doubt]| {
            let grounds = Grounds { doubts: doubts.to_vec(), ..self.grounds.clone() };
            table.has(self, &grounds.name())
        };
        let doubts = &self.grounds.doubts;
        let together = (1..=doubts.len()).take_while(|count| counted(&doubts[..*count])).count();
        let alone = |doubt: &Doubt| {
            let grounds = Grounds { doubts: vec![*doubt], ..self.grounds.clone() };
            Claim { grounds, ..self.clone() }
        };
        doubts[together..].iter().map(alone).collect()
    }
}

impl Grounds {
    /// Names from the coarsest on, each of the one before and something more; the last of what has nothing more ("only").
    /// What is read off tables says nothing of what probes of ours find, so that the source comes first.
    pub fn coarse_to_fine(&self) -> Vec<String> {
        let said = Some(self.said.as_str()).filter(|said| !said.is_empty());
        let doubts = self.doubts.iter().map(|doubt| doubt.word());
        let mut name = self.source.to_owned();
        let mut names = vec![name.clone()];
        for part in [self.kind].into_iter().chain(said).chain(doubts) {
            name = format!("{name} {part}");
            names.push(name.clone());
        }
        names.push(format!("{name} only"));
        names
    }

    /// The finest of them, with whatever else there is.
    pub fn name(&self) -> String {
        self.coarse_to_fine().into_iter().rev().nth(1).unwrap_or_default()
    }

    /// What makes the answer weaker, heaviest first.
    pub(super) fn doubts(&self) -> &[Doubt] {
        &self.doubts
    }
}

/// The kind of a value: "none" where it says that there is no such thing, else its words.
fn said<F: Figure>(finding: Finding, value: &F) -> String {
    let cells = value.cells();
    let is_none = match (finding, cells.first()) {
        (Finding::ReadAhead, Some(Cell::Whole(bytes))) => *bytes == 0,
        (Finding::RandomOrderPenalty, Some(Cell::Number(ratio))) => *ratio <= 1.0,
        _ => false,
    };
    if is_none {
        return "none".to_owned();
    }
    let words = cells.iter().filter_map(|cell| match cell {
        Cell::Word(word) => Some(word.replace('_', "-")),
        Cell::Flag(yes) => Some(if *yes { "yes" } else { "no" }.to_owned()),
        _ => None,
    });
    words.collect::<Vec<String>>().join("-")
}
