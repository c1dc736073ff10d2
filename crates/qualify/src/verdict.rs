//! From results to the verdict.

use crate::words;
use flashscope_model::comparison::Level;
use flashscope_model::qualification::{Access, Answer, Part, PlanFacts, Requirement, Row, RowResult, Verdict, Weight};

/// What the results of a plan come to.
pub(crate) fn of(plan: &PlanFacts, parts: &[Part], rows: &[Row]) -> Verdict {
    let of_weight =
        |weight| rows.iter().enumerate().filter(move |(_, row)| plan.requirements[row.requirement].weight == weight);
    let musts: Vec<(usize, &Row)> = of_weight(Weight::Must).collect();
    let those = |is: fn(RowResult) -> bool| -> Vec<usize> {
        musts.iter().filter(|(_, row)| is(row.result)).map(|(at, _)| *at).collect()
    };
    let failed = those(|result| result == RowResult::Fail);
    let open = those(|result| matches!(result, RowResult::Unsupported(_) | RowResult::Undecided(_)));
    let sentence = |at: &usize| sentence(&plan.requirements[rows[*at].requirement], &rows[*at]);
    let (answer, deciding, mut reasons) = match (failed.is_empty(), open.is_empty()) {
        (false, _) => {
            let reasons = failed.iter().map(sentence).collect();
            (Answer::MayNot, failed, reasons)
        }
        (true, false) => {
            let reasons = open.iter().map(sentence).collect();
            (Answer::NotShown, open, reasons)
        }
        (true, true) => {
            let all: Vec<usize> = musts.iter().map(|(at, _)| *at).collect();
            let reasons = vec![match all.len() {
                1 => "the one requirement that must be met is met".to_owned(),
                several => format!("all {several} requirements that must be met are met"),
            }];
            (Answer::MayReplace, all, reasons)
        }
    };
    reasons.extend(
        of_weight(Weight::Should).filter(|(_, row)| row.result == RowResult::Fail).map(|(_, row)| {
            format!("beside the verdict: {}", self::sentence(&plan.requirements[row.requirement], row))
        }),
    );
    if plan.quick && answer != Answer::MayNot {
        reasons.extend(plan.cannot_decide.iter().map(|what| format!("the short form does not decide {what}")));
    }
    let levels = deciding.iter().filter_map(|at| rows[*at].level);
    let level = levels.min_by_key(|level| match level {
        Level::Run => 0,
        Level::Block => 1,
        Level::Session => 2,
        Level::Part => 3,
    });
    let has_boards = parts.iter().any(|part| part.access == Access::Files) || several_hosts(parts);
    Verdict { answer, deciding, reasons, scope: words::scope(parts, level, has_boards) }
}

fn several_hosts(parts: &[Part]) -> bool {
    let names: Vec<&String> = parts.iter().filter_map(|part| part.host.as_ref()).map(|host| &host.name).collect();
    names.windows(2).any(|pair| pair[0] != pair[1])
}

/// `OTA update: fail (41 % above the reference, limit at most 1.1 × the reference)`.
fn sentence(requirement: &Requirement, row: &Row) -> String {
    let result = match row.result {
        RowResult::Unsupported(by) => format!("unsupported by the {}", by.word()),
        other => other.word().to_owned(),
    };
    let replayed = if row.replayed { "; its trace was replayed in virtual time" } else { "" };
    format!("{}: {result} ({}{replayed})", requirement.title, row.reason)
}
