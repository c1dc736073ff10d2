//! A fleet as one self-contained page: the answers, reliability plots over all and per parameter, what it cost,
//! and the worst cases.

use super::text::{COST_HEADS, confidence, cost_rows, heading, how, intervals, percent, remarks, words_of};
use crate::html::page;
use crate::html::plots::{Figure, dot, figure, rule, sections};
use crate::plot::{self, Hue};
use flashscope_model::fleet::{Calibration, FleetRecord, Scoring};
use flashscope_view::calibration::dot as of_bin;
use maud::{Markup, html as markup};

/// Wrong and missing answers on the page.
const CASES: usize = 40;

/// The whole result as a page that loads nothing.
pub fn html(fleet: &FleetRecord) -> String {
    let title = format!("Fleet of {} devices, {}, seed {}", fleet.devices.len(), fleet.generator, fleet.seed);
    let body = markup! {
        header {
            p.eyebrow { "flashscope fleet" }
            h1 { (title) }
            (lines(&heading(fleet)))
        }
        main {
            section {
                h2 { "Answers" }
                (answers(fleet))
                (lines(&remarks(fleet)))
            }
            (sections(vec![("Confidence against truth", plots(fleet))]))
            section {
                details {
                    summary { "Confidence and intervals as tables" }
                    div."card scroll" {
                        pre.definition { (confidence(&fleet.calibration).trim()) "\n" (intervals(fleet).trim()) }
                    }
                }
            }
            section {
                h2 { "Cost of a device" }
                p.muted { "Median and 95th percentile; the ratio is that of the sums over the fleet, geometry over by hand." }
                (costs(fleet))
            }
            section {
                h2 { "Worst cases" }
                (cases(fleet))
            }
        }
        footer { "flashscope " (fleet.envelope.tool.version) ". Every device and every answer stands in the JSON record." }
    };
    page(&title, &body)
}

/// Each line of a text as a paragraph of its own.
fn lines(text: &str) -> Markup {
    markup! { @for line in text.lines().filter(|line| !line.is_empty()) { p.muted { (line) } } }
}

fn costs(fleet: &FleetRecord) -> Markup {
    markup! {
        div."card scroll" { table {
            thead { tr { @for (at, head) in COST_HEADS.iter().enumerate() { th class=[(at == 0).then_some("words")] { (head) } } } }
            tbody { @for row in cost_rows(fleet) { tr { @for (at, cell) in row.into_iter().enumerate() { td class=[(at == 0).then_some("words")] { (cell) } } } } }
        } }
    }
}

fn answers(fleet: &FleetRecord) -> Markup {
    markup! {
        div."card scroll" { table {
            thead { tr {
                th.words { "parameter" }
                @for head in ["can be told", "exact", "beside", "wrong", "wrong at ≥ 0.99", "missed",
                    "rightly silent", "not found", "naive: exact", "naive: beside", "naive: wrong",
                    "log: exact", "log: beside", "log: wrong", "log: wrong at ≥ 0.99"] { th { (head) } }
            } }
            tbody {
                @for scoring in &fleet.parameters { (answer(scoring)) }
            }
        } }
    }
}

fn answer(scoring: &Scoring) -> Markup {
    let row = &scoring.inspect;
    let (naive, log) = (scoring.naive.unwrap_or_default(), scoring.log.unwrap_or_default());
    markup! {
        tr {
            td.words { (scoring.words) }
            td { (row.told) }
            td { (percent(row.share_exact())) }
            td { (row.one_step) }
            td { (row.wrong) }
            td class=[(row.wrong_sure > 0).then_some("bad")] { (row.wrong_sure) }
            td { (row.missed) }
            td { (row.silent) }
            td { (row.unfound) }
            td { (percent(naive.share_exact())) }
            td { (naive.one_step) }
            td { (naive.wrong) }
            td { (percent(log.share_exact())) }
            td { (log.one_step) }
            td { (log.wrong) }
            td class=[(log.wrong_sure > 0).then_some("bad")] { (log.wrong_sure) }
        }
    }
}

fn plots(fleet: &FleetRecord) -> Vec<Figure> {
    let each =
        fleet.parameters.iter().filter_map(|scoring| Some((scoring.words.as_str(), scoring.calibration.as_ref()?)));
    std::iter::once(("all parameters", &fleet.calibration))
        .chain(each)
        .map(|(name, of)| reliability(name, of))
        .collect()
}

/// Stated confidence to the right, share right upwards.
fn reliability(name: &str, calibration: &Calibration) -> Figure {
    let dots: Vec<(f64, f64, f64, f64, u32)> = calibration.bins.iter().filter_map(of_bin).collect();
    let what = calibration.expected_error.map_or("no claims".to_owned(), |error| {
        format!("a dot on the line means what it says; expected calibration error {error:.3}")
    });
    let keys = vec![dot(Hue::Series(0), "share right, 95 % interval"), rule(Hue::Muted, "as stated")];
    figure(format!("Stated and true: {name}"), what, keys, |size| plot::reliability(&dots, size))
}

fn cases(fleet: &FleetRecord) -> Markup {
    markup! {
        div."card scroll" { table {
            thead { tr { @for head in ["parameter", "how", "said", "true", "confidence", "because", "replay"] { th.words { (head) } } } }
            tbody {
                @for case in fleet.worst.iter().take(CASES) {
                    @let judged = &case.finding;
                    tr {
                        td.words { (words_of(fleet, &judged.parameter)) }
                        td.words { (how(judged.verdict)) }
                        td.words { (judged.said) }
                        td.words { (judged.truth) }
                        td { (percent(judged.confidence)) }
                        td."words prose" { (judged.because) }
                        td.words { code { (case.replay) } }
                    }
                }
            }
        } }
    }
}
