//! What is said while a run goes on: answers as they settle, and which experiment runs, in lines that fit the terminal.

use crate::terminal::wrap;
use flashscope_model::finding::Figure;
use flashscope_model::run::Step;
use flashscope_model::{Estimate, Finding, Geometry, finding::Visit};
use flashscope_view::answer::{Answer, answers, percent};

/// Nothing below this probability counts as settled.
const SETTLED: f64 = 0.5;

/// An answer is said again where its probability passes one of these, since a guess has become an answer, or the reverse.
const GRADES: [f64; 2] = [0.9, 0.99];

/// Columns of the names of findings, so that figures stand below each other.
const NAME: usize = 22;

/// What lines of a terminal that is narrower than any are broken at, in columns.
const NARROWEST: usize = 20;

/// The answers that were said, so that each is said once.
#[derive(Debug, Default)]
pub struct Settled(Vec<Said>);

#[derive(Debug)]
struct Said {
    finding: Finding,
    figure: String,
    grade: usize,
}

impl Settled {
    /// The answers that have settled since, or have changed, in lines of at most `width` columns. What is only bounded may still
    /// become an answer, and is left to the report.
    pub fn news(&mut self, geometry: &Geometry, width: usize) -> Vec<String> {
        let mut values = Values(Vec::new());
        geometry.each(&mut values);
        let all = answers(geometry);
        let mut lines = Vec::new();
        for answer in &all {
            let (Some(figure), Some(confidence)) = (&answer.figure, answer.confidence) else { continue };
            if confidence < SETTLED || !values.0.contains(&answer.finding) {
                continue;
            }
            let grade = GRADES.iter().filter(|grade| confidence >= **grade).count();
            let said = Said { finding: answer.finding, figure: figure.clone(), grade };
            let sure = percent(confidence);
            match self.0.iter_mut().find(|said| said.finding == answer.finding) {
                None => {
                    lines.extend(line(answer.name, &format!("{figure}  {sure}"), width));
                    self.0.push(said);
                }
                Some(before) if before.figure != said.figure => {
                    let what = format!("{figure}  {sure} (not {})", before.figure);
                    lines.extend(line(answer.name, &what, width));
                    *before = said;
                }
                Some(before) if before.grade != said.grade => {
                    lines.extend(line(answer.name, &format!("{figure}  {sure}"), width));
                    *before = said;
                }
                Some(_) => {}
            }
        }
        let stands = |said: &Said, answer: &Answer| {
            answer.finding == said.finding && answer.confidence.is_some_and(|confidence| confidence >= SETTLED)
        };
        self.0.retain(|said| {
            let holds = all.iter().any(|answer| stands(said, answer));
            if !holds {
                let what = format!("cannot tell any more (said {} before)", said.figure);
                lines.extend(line(said.finding.label(), &what, width));
            }
            holds
        });
        lines
    }
}

/// The findings that have a figure, not a bound.
struct Values(Vec<Finding>);

impl Visit for Values {
    fn visit<F: Figure>(&mut self, finding: Finding, estimate: &Estimate<F>) {
        if estimate.figure().is_some() {
            self.0.push(finding);
        }
    }
}

/// One answer, on more lines where it is too long for one.
fn line(name: &str, what: &str, width: usize) -> Vec<String> {
    let whole = format!("{:<NAME$}  {what}", name.trim());
    if whole.chars().count() <= width {
        return vec![whole];
    }
    let mut lines = wrap(&format!("{} {what}", name.trim()), width.max(NARROWEST) - 2);
    lines.iter_mut().skip(1).for_each(|line| line.insert_str(0, "  "));
    lines
}

/// Which experiment runs, of how many, and what for, in lines of at most `width` columns.
pub fn step(number: u32, (steps, exact): (u32, bool), step: &Step, width: usize) -> String {
    let text = match (number, steps) {
        (1, 1) => format!("{}: {}", step.experiment, step.parameters),
        _ => {
            let about = if exact { "" } else { "about " };
            format!("step {number} of {about}{}, {}: {}", steps.max(number), step.experiment, step.why)
        }
    };
    wrap(&text, width.max(NARROWEST)).join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_model::Reason;
    use flashscope_units::Bytes;

    fn geometry(unit: Option<(u64, f64)>) -> Geometry {
        let mut geometry = Geometry::unknown(Reason::NotMeasured);
        if let Some((mib, confidence)) = unit {
            geometry.allocation_unit = Estimate::known(Bytes::mib(mib), confidence, "seen", &[]);
        }
        geometry
    }

    #[test]
    fn an_answer_is_said_once_and_again_where_it_changes() {
        let mut settled = Settled::default();
        let mut news = |unit| settled.news(&geometry(unit), 80).join("\n");
        assert_eq!(news(Some((4, 0.41))), "", "below half nothing is claimed");
        assert_eq!(news(Some((4, 0.6))), "allocation unit         4 MiB  60.0 %");
        assert_eq!(news(Some((4, 0.7))), "");
        assert_eq!(news(Some((4, 0.999))), "allocation unit         4 MiB  99.9 %");
        assert_eq!(news(Some((8, 0.999))), "allocation unit         8 MiB  99.9 % (not 4 MiB)");
        assert_eq!(news(None), "allocation unit         cannot tell any more (said 8 MiB before)");
        assert_eq!(news(None), "");
    }

    #[test]
    fn a_bound_is_left_to_the_report() {
        let mut bounded = geometry(None);
        bounded.open_units_linear = Estimate::at_least(4, 0.99, "no fall yet", &[]);
        assert!(Settled::default().news(&bounded, 80).is_empty());
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        let why = "whether the first read in a unit takes longer than others, which shows where units begin".to_owned();
        let said = Step { experiment: "slide".to_owned(), parameters: String::new(), why };
        for width in [40, 80] {
            let text = step(7, (70, false), &said, width);
            assert!(text.starts_with("step 7 of about 70, slide: whether"), "{text}");
            assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
            let mut settled = Settled::default();
            settled.news(&geometry(Some((4, 0.999))), width);
            let lines = settled.news(&geometry(None), width);
            assert!(lines.iter().all(|line| line.chars().count() <= width), "{lines:?}");
        }
    }

    #[test]
    fn one_experiment_alone_is_no_step() {
        let step_of =
            Step { experiment: "floor".to_owned(), parameters: "200 reads".to_owned(), why: "asked for".to_owned() };
        assert_eq!(step(1, (1, true), &step_of, 80), "floor: 200 reads");
        assert!(step(9, (8, true), &step_of, 80).starts_with("step 9 of 9, "), "no step beyond the last one");
    }
}
