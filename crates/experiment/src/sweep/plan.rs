//! From knobs to conditions.

use flashscope_model::sweep::{Condition, Knob, Layout};
use std::fmt;

/// A sweep of more conditions than this would take days, and none of its blocks would be like another.
const MOST_CONDITIONS: usize = 64;
/// Values of one knob.
const MOST_VALUES: usize = 32;

/// Why knobs make no sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SweepError {
    /// A knob has fewer than two values that differ.
    TooFewValues {
        /// Its name.
        knob: String,
    },
    /// A knob has a value twice, or too many.
    Values {
        /// Its name.
        knob: String,
        /// What is wrong.
        what: String,
    },
    /// A knob is named twice.
    Twice {
        /// Its name.
        knob: String,
    },
    /// Too many conditions.
    TooMany {
        /// How many.
        conditions: usize,
    },
}

impl fmt::Display for SweepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFewValues { knob } => {
                write!(
                    f,
                    "{knob} has one value, and nothing to compare it with\nhint: give it several: --vary {knob}=A,B"
                )
            }
            Self::Values { knob, what } => write!(f, "{knob} {what}\nhint: name each value once"),
            Self::Twice { knob } => {
                write!(f, "{knob} is varied twice\nhint: give all its values at once: {knob}=A,B,C")
            }
            Self::TooMany { conditions } => write!(
                f,
                "these values make {conditions} conditions, and {MOST_CONDITIONS} is the most\nhint: vary fewer values, or \
                 leave --full away to vary one knob at a time"
            ),
        }
    }
}

impl std::error::Error for SweepError {}

/// Whether knobs and their values can be swept, whatever they mean.
///
/// # Errors
/// Which is wrong.
pub fn check(knobs: &[Knob]) -> Result<(), SweepError> {
    for (place, knob) in knobs.iter().enumerate() {
        let name = || knob.name.clone();
        if knobs[..place].iter().any(|other| other.name == knob.name) {
            return Err(SweepError::Twice { knob: name() });
        }
        if knob.values.len() < 2 {
            return Err(SweepError::TooFewValues { knob: name() });
        }
        if knob.values.len() > MOST_VALUES {
            let what = format!("has {} values, and {MOST_VALUES} is the most", knob.values.len());
            return Err(SweepError::Values { knob: name(), what });
        }
        let twice = (1..knob.values.len()).find(|at| knob.values[..*at].contains(&knob.values[*at]));
        if let Some(at) = twice {
            return Err(SweepError::Values { knob: name(), what: format!("has the value {} twice", knob.values[at]) });
        }
    }
    Ok(())
}

/// The conditions that these knobs make, the baseline first.
///
/// # Errors
/// There are too many.
pub fn conditions(knobs: &[Knob], layout: Layout) -> Result<Vec<Condition>, SweepError> {
    let count = match layout {
        Layout::OneAtATime => knobs.iter().fold(1, |count: usize, knob| count.saturating_add(knob.values.len() - 1)),
        Layout::Factorial => knobs.iter().fold(1, |count: usize, knob| count.saturating_mul(knob.values.len())),
    };
    if count > MOST_CONDITIONS {
        return Err(SweepError::TooMany { conditions: count });
    }
    let baseline: Vec<usize> = knobs.iter().map(|knob| knob.baseline).collect();
    let mut all = vec![baseline.clone()];
    for (at, knob) in knobs.iter().enumerate() {
        // One at a time leaves from the baseline, a factorial from everything that there is so far.
        let from = if layout == Layout::Factorial { all.clone() } else { vec![baseline.clone()] };
        for value in (0..knob.values.len()).filter(|value| *value != knob.baseline) {
            all.extend(from.iter().map(|one| {
                let mut one = one.clone();
                one[at] = value;
                one
            }));
        }
    }
    let condition = |values: Vec<usize>| Condition {
        label: label(knobs, layout, &values),
        values,
        runs: 0,
        void: Vec::new(),
        ended: None,
    };
    Ok(all.into_iter().map(condition).collect())
}

/// What a condition is called: every knob with its value, or one at a time only what is off the baseline.
fn label(knobs: &[Knob], layout: Layout, values: &[usize]) -> String {
    let is_baseline = knobs.iter().zip(values).all(|(knob, value)| *value == knob.baseline);
    let told = knobs
        .iter()
        .zip(values)
        .filter(|(knob, value)| layout == Layout::Factorial || is_baseline || **value != knob.baseline);
    told.map(|(knob, value)| format!("{}={}", knob.name, knob.values[*value])).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_model::sweep::KnobPlace;

    fn knob(name: &str, values: &[&str], baseline: usize) -> Knob {
        Knob {
            name: name.to_owned(),
            place: KnobPlace::Job,
            values: values.iter().map(|value| (*value).to_owned()).collect(),
            baseline,
            before: None,
            paths: Vec::new(),
        }
    }

    #[test]
    fn one_at_a_time_and_all_together() {
        let knobs = [knob("a", &["1", "2", "3"], 1), knob("b", &["x", "y"], 0)];
        let labels = |layout| -> Vec<String> {
            conditions(&knobs, layout).unwrap().into_iter().map(|condition| condition.label).collect()
        };
        assert_eq!(labels(Layout::OneAtATime), ["a=2, b=x", "a=1", "a=3", "b=y"]);
        assert_eq!(labels(Layout::Factorial), ["a=2, b=x", "a=1, b=x", "a=3, b=x", "a=2, b=y", "a=1, b=y", "a=3, b=y"]);
    }

    #[test]
    fn what_cannot_be_swept() {
        let check = |knobs: &[Knob], part: &str| {
            let said = super::check(knobs).and_then(|()| conditions(knobs, Layout::Factorial).map(drop)).unwrap_err();
            assert!(said.to_string().contains(part), "{said}");
        };
        check(&[knob("a", &["1"], 0)], "a has one value");
        check(&[knob("a", &["1", "2", "1"], 0)], "a has the value 1 twice");
        check(&[knob("a", &["1", "2"], 0), knob("a", &["3", "4"], 0)], "a is varied twice");
        let many: Vec<String> = (0..9).map(|value| value.to_string()).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        check(&[knob("a", &many, 0), knob("b", &many, 0)], "81 conditions");
    }
}
