//! A figure with its confidence, an end of it, or why there is neither.

use super::{Doubt, Reason};
use crate::ExperimentName;

/// An inferred figure. One of three, so that a contradiction cannot be built.
#[derive(Clone, Debug, PartialEq)]
pub enum Estimate<T> {
    /// The figure.
    Value(T, Support<T>),
    /// An end of it: the experiment ended too early to see more, or could not see less.
    Bound(Bound<T>, Support<T>),
    /// No answer.
    Unknown(Unknown<T>),
}

/// Where a figure lies that itself is not known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound<T> {
    /// Not below this.
    AtLeast(T),
    /// Not above this.
    AtMost(T),
    /// Not below the first and not above the second.
    Between(T, T),
}

/// What a figure or a bound rests on.
#[derive(Clone, Debug, PartialEq)]
pub struct Support<T> {
    /// Probability that it is right, 0…1.
    pub confidence: f64,
    /// Other figures with their probabilities, likeliest first.
    pub alternatives: Vec<(T, f64)>,
    /// One sentence that a person can check against the samples.
    pub evidence: String,
    /// The experiments that it rests on.
    pub method: Vec<ExperimentName>,
    /// What makes it weaker than it looks, heaviest first; only until a probability is made of it.
    pub doubts: Vec<Doubt>,
}

/// Why there is neither a figure nor a bound.
#[derive(Clone, Debug, PartialEq)]
pub struct Unknown<T> {
    /// The kind of reason.
    pub reason: Reason,
    /// What was seen instead, in one sentence; empty where the reason says all.
    pub evidence: String,
    /// The figure that fits best, and its probability, where one was tried and is not likely enough to be named.
    pub leaning: Option<(T, f64)>,
}

impl<T> Estimate<T> {
    /// A figure with its probability.
    pub fn known(value: T, confidence: f64, evidence: impl Into<String>, method: &[ExperimentName]) -> Self {
        Estimate::Value(value, Support::new(confidence, evidence, method))
    }

    /// A lower bound with its probability.
    pub fn at_least(bound: T, confidence: f64, evidence: impl Into<String>, method: &[ExperimentName]) -> Self {
        Estimate::Bound(Bound::AtLeast(bound), Support::new(confidence, evidence, method))
    }

    /// An upper bound with its probability.
    pub fn at_most(bound: T, confidence: f64, evidence: impl Into<String>, method: &[ExperimentName]) -> Self {
        Estimate::Bound(Bound::AtMost(bound), Support::new(confidence, evidence, method))
    }

    /// A lower and an upper bound with the probability that the figure lies between them.
    pub fn between(low: T, high: T, confidence: f64, evidence: impl Into<String>, method: &[ExperimentName]) -> Self {
        Estimate::Bound(Bound::Between(low, high), Support::new(confidence, evidence, method))
    }

    /// No answer, why, and what was seen instead (empty where the reason says all).
    pub fn unknown(reason: Reason, evidence: impl Into<String>) -> Self {
        Estimate::Unknown(Unknown { reason, evidence: evidence.into(), leaning: None })
    }

    /// Nobody did the experiment.
    pub fn not_measured() -> Self {
        Estimate::unknown(Reason::NotMeasured, "")
    }

    /// The same with other figures beside it, likeliest first. What is unknown leans to the first of them.
    pub fn with_alternatives(mut self, alternatives: Vec<(T, f64)>) -> Self {
        match &mut self {
            Estimate::Value(_, support) | Estimate::Bound(_, support) => support.alternatives = alternatives,
            Estimate::Unknown(unknown) => unknown.leaning = alternatives.into_iter().next(),
        }
        self
    }

    /// The same, leaning to a figure that is not likely enough to be named. Where there is an answer, nothing leans.
    pub fn leaning_to(mut self, figure: T, probability: f64) -> Self {
        if let Estimate::Unknown(unknown) = &mut self {
            unknown.leaning = Some((figure, probability));
        }
        self
    }

    /// Whether there is neither a figure nor a bound.
    pub fn is_unknown(&self) -> bool {
        matches!(self, Estimate::Unknown(_))
    }

    /// The figure, by reference.
    pub fn figure(&self) -> Option<&T> {
        match self {
            Estimate::Value(value, _) => Some(value),
            _ => None,
        }
    }

    /// The bound.
    pub fn bound(&self) -> Option<&Bound<T>> {
        match self {
            Estimate::Bound(bound, _) => Some(bound),
            _ => None,
        }
    }

    /// What a figure or a bound rests on.
    pub fn support(&self) -> Option<&Support<T>> {
        match self {
            Estimate::Value(_, support) | Estimate::Bound(_, support) => Some(support),
            Estimate::Unknown(_) => None,
        }
    }

    /// The same, to be changed.
    pub fn support_mut(&mut self) -> Option<&mut Support<T>> {
        match self {
            Estimate::Value(_, support) | Estimate::Bound(_, support) => Some(support),
            Estimate::Unknown(_) => None,
        }
    }

    /// Probability that the figure, or the bound, is right.
    pub fn confidence(&self) -> Option<f64> {
        self.support().map(|support| support.confidence)
    }

    /// Whether there is a figure or a bound, and it is at least so sure.
    pub fn is_sure(&self, least: f64) -> bool {
        self.confidence().is_some_and(|confidence| confidence >= least)
    }

    /// The sentence that a person can check, of an answer or of what was seen instead of one.
    pub fn evidence(&self) -> &str {
        match self {
            Estimate::Value(_, support) | Estimate::Bound(_, support) => &support.evidence,
            Estimate::Unknown(unknown) => &unknown.evidence,
        }
    }

    /// The experiments that it rests on; none where it is unknown.
    pub fn method(&self) -> &[ExperimentName] {
        self.support().map_or(&[], |support| &support.method)
    }

    /// Other figures with their probabilities; none where it is unknown.
    pub fn alternatives(&self) -> &[(T, f64)] {
        self.support().map_or(&[], |support| &support.alternatives)
    }

    /// Why there is neither a figure nor a bound.
    pub fn reason(&self) -> Option<Reason> {
        match self {
            Estimate::Unknown(unknown) => Some(unknown.reason),
            _ => None,
        }
    }

    /// Changes how sure it is; what is unknown stays as it is.
    pub fn change_confidence(&mut self, change: impl FnOnce(f64) -> f64) {
        if let Some(support) = self.support_mut() {
            support.confidence = change(support.confidence);
        }
    }

    /// One more clause of evidence, behind what there is.
    pub fn add_evidence(&mut self, clause: &str) {
        let evidence = match self {
            Estimate::Value(_, support) | Estimate::Bound(_, support) => &mut support.evidence,
            Estimate::Unknown(unknown) => &mut unknown.evidence,
        };
        if !evidence.is_empty() {
            evidence.push_str("; ");
        }
        evidence.push_str(clause);
    }

    /// One more experiment that an answer rests on.
    pub fn add_method(&mut self, method: ExperimentName) {
        if let Some(support) = self.support_mut()
            && !support.method.contains(&method)
        {
            support.method.push(method);
        }
    }

    /// The same with one more doubt; what is unknown has none.
    #[must_use]
    pub fn but(mut self, doubt: Doubt) -> Self {
        self.doubt(doubt);
        self
    }

    /// The same with all of these doubts.
    #[must_use]
    pub fn with_doubts(self, doubts: impl IntoIterator<Item = Doubt>) -> Self {
        doubts.into_iter().fold(self, Self::but)
    }

    /// Adds a doubt, once.
    pub fn doubt(&mut self, doubt: Doubt) {
        let Some(support) = self.support_mut() else { return };
        if let Err(place) = support.doubts.binary_search(&doubt) {
            support.doubts.insert(place, doubt);
        }
    }

    /// Whether an answer has this doubt.
    pub fn has_doubt(&self, doubt: Doubt) -> bool {
        self.support().is_some_and(|support| support.doubts.contains(&doubt))
    }

    /// No surer than `most`.
    pub fn cap(&mut self, most: f64) {
        self.change_confidence(|confidence| confidence.min(most));
    }

    /// The same in another unit or kind, on the same grounds.
    pub fn map<U>(self, change: impl Fn(T) -> U) -> Estimate<U> {
        match self {
            Estimate::Value(value, support) => Estimate::Value(change(value), support.map(change)),
            Estimate::Bound(bound, support) => Estimate::Bound(bound.map(&change), support.map(change)),
            Estimate::Unknown(Unknown { reason, evidence, leaning }) => Estimate::Unknown(Unknown {
                reason,
                evidence,
                leaning: leaning.map(|(figure, probability)| (change(figure), probability)),
            }),
        }
    }
}

impl<T: Copy> Estimate<T> {
    /// The figure.
    pub fn value(&self) -> Option<T> {
        self.figure().copied()
    }

    /// The lower end of a bound.
    pub fn least(&self) -> Option<T> {
        match self.bound()? {
            Bound::AtLeast(least) | Bound::Between(least, _) => Some(*least),
            Bound::AtMost(_) => None,
        }
    }

    /// The upper end of a bound.
    pub fn most(&self) -> Option<T> {
        match self.bound()? {
            Bound::AtMost(most) | Bound::Between(_, most) => Some(*most),
            Bound::AtLeast(_) => None,
        }
    }
}

impl<T> Bound<T> {
    /// A bound from its ends; `None` where there is neither.
    pub fn from_ends(least: Option<T>, most: Option<T>) -> Option<Bound<T>> {
        match (least, most) {
            (Some(least), Some(most)) => Some(Bound::Between(least, most)),
            (Some(least), None) => Some(Bound::AtLeast(least)),
            (None, Some(most)) => Some(Bound::AtMost(most)),
            (None, None) => None,
        }
    }

    /// The lower and the upper end.
    pub fn ends(&self) -> (Option<&T>, Option<&T>) {
        match self {
            Bound::AtLeast(least) => (Some(least), None),
            Bound::AtMost(most) => (None, Some(most)),
            Bound::Between(least, most) => (Some(least), Some(most)),
        }
    }

    fn map<U>(self, change: impl Fn(T) -> U) -> Bound<U> {
        match self {
            Bound::AtLeast(least) => Bound::AtLeast(change(least)),
            Bound::AtMost(most) => Bound::AtMost(change(most)),
            Bound::Between(least, most) => Bound::Between(change(least), change(most)),
        }
    }
}

impl<T> Support<T> {
    /// Grounds without alternatives.
    pub fn new(confidence: f64, evidence: impl Into<String>, method: &[ExperimentName]) -> Support<T> {
        Support {
            confidence,
            alternatives: Vec::new(),
            evidence: evidence.into(),
            method: method.to_vec(),
            doubts: Vec::new(),
        }
    }

    fn map<U>(self, change: impl Fn(T) -> U) -> Support<U> {
        let alternatives = self.alternatives.into_iter().map(|(figure, share)| (change(figure), share)).collect();
        Support {
            confidence: self.confidence,
            alternatives,
            evidence: self.evidence,
            method: self.method,
            doubts: self.doubts,
        }
    }
}
