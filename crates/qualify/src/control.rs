//! Whether the boards are alike: a job that needs no part, run on each.

use flashscope_model::comparison::Difference;
use flashscope_model::qualification::{Part, Role, RunDone, RunOutcome};

/// The name of the control job, as a workload and as its figure.
pub const CONTROL: &str = "control job";

/// Hosts that differ by more than this, as a ratio, are not taken for alike: the usual margin of a requirement.
const ALIKE: f64 = 1.05;

/// Says how long the control job took on both sides, where that differs by more than 5 %; the middle one of its runs on each side
/// counts, as the host does other things now and then. `None` where the sides are alike, or one did not run it.
pub fn control_difference(parts: &[Part], runs: &[RunDone]) -> Option<Difference> {
    let middle = |role| {
        let own = runs.iter().filter(|run| run.workload == CONTROL && parts[run.part].role == role);
        let mut times: Vec<f64> = own
            .filter_map(|run| match &run.outcome {
                RunOutcome::Done { figures, .. } => figures.first().map(|figure| figure.value),
                _ => None,
            })
            .collect();
        times.sort_by(f64::total_cmp);
        (!times.is_empty()).then(|| times[times.len() / 2])
    };
    let (reference, candidate) = (middle(Role::Reference)?, middle(Role::Candidate)?);
    let ratio = candidate / reference;
    let said = |time: f64, role: Role| (format!("{:.2} s", time / 1e9), role.word().to_owned());
    (ratio.max(1.0 / ratio) > ALIKE).then(|| Difference {
        what: "control job (the host alone)".to_owned(),
        values: vec![said(reference, Role::Reference), said(candidate, Role::Candidate)],
        incomparable: true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_model::qualification::{Access, FigureValue};
    use flashscope_units::{Bytes, Nanos};

    #[test]
    fn a_slower_board_shows_and_one_slow_run_does_not() {
        let part = |role| Part {
            role,
            label: String::new(),
            target: String::new(),
            identity: None,
            device: None,
            capacity: None,
            access: Access::Raw,
            host: None,
            bus_capability: None,
        };
        let parts = [part(Role::Reference), part(Role::Candidate)];
        let run = |part: usize, seconds: f64| RunDone {
            part,
            workload: CONTROL.to_owned(),
            session: String::new(),
            block: None,
            place: 0,
            outcome: RunOutcome::Done {
                figures: vec![FigureValue { name: CONTROL.to_owned(), unit: "ns".to_owned(), value: seconds * 1e9 }],
                answers: Vec::new(),
            },
            replayed: false,
            record: None,
            took: Nanos::ZERO,
            written: Bytes::ZERO,
        };
        let of = |theirs: [f64; 3]| {
            let runs: Vec<RunDone> =
                [1.0, 1.01, 1.02].map(|time| run(0, time)).into_iter().chain(theirs.map(|time| run(1, time))).collect();
            control_difference(&parts, &runs)
        };
        assert_eq!(of([1.0, 1.02, 3.0]), None);
        assert!(of([1.2, 1.21, 1.0]).is_some_and(|difference| difference.incomparable));
        assert_eq!(control_difference(&parts, &[run(0, 1.0)]), None);
    }
}
