//! What a sweep says: which knobs were varied, under which conditions runs were made, and what each knob does.

use crate::comparison::{ComparisonRecord, Doubt, Ratio, Verdict};

/// Everything about one sweep: a comparison whose sides are conditions, and what they say of the knobs.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepRecord {
    /// The conditions compared with the baseline; who and when.
    pub comparison: ComparisonRecord,
    /// What was varied, and what it does.
    pub sweep: Sweep,
}

/// What was varied, and what it does.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
    /// The knobs, as they were asked for.
    pub knobs: Vec<Knob>,
    /// How their values were put together.
    pub layout: Layout,
    /// The conditions, the baseline first: the sides of the comparison, in its order, then those that were never measured.
    pub conditions: Vec<Condition>,
    /// What each value of each knob does, and of a factorial what values do together.
    pub effects: Vec<Effect>,
    /// What each knob does, in one word per figure.
    pub answers: Vec<Answer>,
}

/// Something that was varied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Knob {
    /// Its name, as it was asked for.
    pub name: String,
    /// Whose setting it is.
    pub place: KnobPlace,
    /// Its values.
    pub values: Vec<String>,
    /// Which value the others are compared with.
    pub baseline: usize,
    /// Its value before the sweep; `None` where it had none, or several.
    pub before: Option<String>,
    /// The files that it stands for; empty for what is no setting of the kernel.
    pub paths: Vec<String>,
}

/// Whose setting a knob is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnobPlace {
    /// The kernel's, on this machine.
    Host,
    /// The job's.
    Job,
    /// The simulated device's.
    Model,
}

/// How the values of several knobs are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// One knob at a time is off its baseline.
    OneAtATime,
    /// Every value with every other.
    Factorial,
}

/// One setting of all knobs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// What it is called (`read_ahead_kb=128`).
    pub label: String,
    /// Which value each knob has.
    pub values: Vec<usize>,
    /// Runs that count.
    pub runs: u32,
    /// Runs that do not count, each with the reason.
    pub void: Vec<String>,
    /// Why it was given up; `None` where it was not.
    pub ended: Option<String>,
}

/// What values do to a figure: one value against the baseline, or what several do together beyond what each does alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Effect {
    /// The values: each a knob and one of its values. One: a main effect. Several: an interaction.
    pub terms: Vec<Term>,
    /// An index into the metrics of the comparison.
    pub metric: usize,
    /// As a ratio to the baseline; of an interaction, to the product of what the values do alone.
    pub ratio: Option<Ratio>,
    /// Blocks that it rests on.
    pub blocks: u32,
    /// What it comes to.
    pub verdict: Verdict,
    /// p value of "it does nothing", adjusted for its family (main effects, or interactions).
    pub p_difference: Option<f64>,
    /// p value of "it does something that matters", likewise.
    pub p_equivalence: Option<f64>,
}

/// One value of one knob.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Term {
    /// An index into [`Sweep::knobs`].
    pub knob: usize,
    /// An index into its values.
    pub value: usize,
}

/// What a knob does to a figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// An index into [`Sweep::knobs`].
    pub knob: usize,
    /// An index into the metrics of the comparison.
    pub metric: usize,
    /// What it comes to.
    pub finding: KnobFinding,
}

/// What a knob comes to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum KnobFinding {
    /// This value is better than the baseline; of several that are, the one that gains most.
    Better {
        /// An index into the values of the knob.
        value: usize,
        /// Value over baseline.
        ratio: Ratio,
    },
    /// No value is shown to be better than the baseline, and this one is worse; of several, the one that loses most.
    Worse {
        /// An index into the values of the knob.
        value: usize,
        /// Value over baseline.
        ratio: Ratio,
    },
    /// All values are within the margin of the baseline.
    NoDifference,
    /// Neither is shown.
    CannotTell(Doubt),
}
