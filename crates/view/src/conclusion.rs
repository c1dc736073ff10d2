//! What one experiment says by itself, in a sentence, and a small plot of it.

mod places;
mod small;

pub use small::{Bar, Profile, Small, small};

use crate::answer::{Answer, answer, answers, percent, state_word};
use flashscope_model::finding::TransferLine;
use flashscope_model::{Data, Finding, Findings, Geometry, Run};
use flashscope_stats::location;

/// Nothing below this probability is a conclusion.
const SETTLED: f64 = 0.5;

/// What an experiment says, given what was concluded from it alone.
pub fn conclusion(run: &Run, findings: &Findings) -> String {
    let seen = match &run.data {
        Data::Slide(data) => places::sentence("reads across", &data.places),
        Data::Scatter(data) => places::sentence("reads at", &data.places),
        Data::Floor(data) => floor(&data.times.iter().map(|time| time.as_f64()).collect::<Vec<f64>>()),
        Data::Survey(_) => state_word(std::slice::from_ref(run)).map(|state| match state {
            "holds data" => "the device holds data".to_owned(),
            blank => format!("the device is {blank}"),
        }),
        Data::Interval(_) => findings.transfer.as_ref().map(transfer),
        _ => None,
    };
    let settled = settled(&findings.geometry);
    match (seen, settled.is_empty()) {
        (Some(seen), true) => seen,
        (Some(seen), false) => format!("{seen}: {}", settled.join(", ")),
        (None, false) => settled.join(", "),
        (None, true) => format!("cannot tell from this experiment alone{}", reason(&run.data, &findings.geometry)),
    }
}

fn floor(times: &[f64]) -> Option<String> {
    let shortest = times.iter().copied().fold(f64::INFINITY, f64::min);
    let median = flashscope_units::Contrast(location::median(times)?);
    Some(format!(
        "no read takes less than {}, half of them no more than {median}",
        flashscope_units::Contrast(shortest)
    ))
}

fn transfer(line: &TransferLine) -> String {
    format!("a read takes {} and its length at {}", line.access, line.rate)
}

/// What was concluded from the experiment, each with its probability.
fn settled(geometry: &Geometry) -> Vec<String> {
    let sentence = |answer: Answer| {
        let (figure, confidence) = (answer.figure?, answer.confidence.filter(|confidence| *confidence >= SETTLED)?);
        Some(format!("{} {figure} ({})", answer.finding.label(), percent(confidence)))
    };
    answers(geometry).into_iter().filter_map(sentence).collect()
}

/// Why the finding that an experiment is about is unknown.
fn reason(data: &Data, geometry: &Geometry) -> String {
    let about = match data {
        Data::Align(_) | Data::Boundaries(_) => Finding::AllocationUnit,
        Data::OpenUnits(_) => Finding::OpenUnitsLinear,
        Data::Fat(_) | Data::FastArea(_) => Finding::FastArea,
        Data::Buffer(_) => Finding::WriteBuffer,
        Data::ReadCache(_) => Finding::ReadBuffer,
        Data::SlcCache(_) => Finding::SlcCache,
        Data::Parallel(_) => Finding::Stripe,
        Data::MapReach(_) => Finding::MapReach,
        Data::Overwrite(_) => Finding::WriteAmplification,
        Data::Cells(_) => Finding::BitsPerCell,
        Data::Discard(_) => Finding::Discard,
        Data::Survey(_) => Finding::NeverWritten,
        Data::Floor(_)
        | Data::Slide(_)
        | Data::Scatter(_)
        | Data::Interval(_)
        | Data::Patterns(_)
        | Data::Program(_)
        | Data::Throughput(_) => return String::new(),
    };
    let answer = answer(about, geometry);
    let leaning = match (&answer.figure, answer.confidence) {
        (Some(figure), Some(confidence)) => format!(" leans to {figure} ({})", percent(confidence)),
        _ => String::new(),
    };
    format!(": {}{leaning}: {}", about.label(), answer.why)
}
