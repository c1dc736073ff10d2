//! A fleet as one self-contained page: the answers, reliability plots over all and per parameter, what it cost,
//! and the worst cases.

use super::text::{COST_HEADS, confidence, cost_rows, heading, how, intervals, percent, remarks, words_of};
use flashscope_model::fleet::{Calibration, FleetRecord, Scoring};
use flashscope_view::calibration::dot;
use maud::{DOCTYPE, Markup, PreEscaped, html as markup};

const STYLE: &str = "
:root{color-scheme:light dark;--ink:#1d2433;--dim:#667;--line:#ccd;--mark:#2563a8;--bad:#b3261e;--paper:#fff}
@media(prefers-color-scheme:dark){:root{--ink:#e6e9f0;--dim:#99a;--line:#445;--mark:#7ab8ff;--bad:#ff8a80;--paper:#14171f}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:70rem;margin:2rem auto;padding:0 1rem}
.scroll{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{padding:.25rem .6rem;border-bottom:1px solid var(--line);text-align:right}th:first-child,td:first-child,.cases td,.cases th{text-align:left}.figures td{white-space:nowrap}pre{font-size:.8rem;overflow-x:auto}
.plots{display:flex;flex-wrap:wrap;gap:1rem}figure{margin:0}figcaption{font-size:.85rem;color:var(--dim)}
code{font-size:.8rem;overflow-wrap:anywhere}.dim{color:var(--dim)}.bad{color:var(--bad)}svg text{fill:var(--dim);font-size:9px}
";

/// Wrong and missing answers on the page.
const CASES: usize = 40;

/// The whole result as a page that loads nothing.
pub fn html(fleet: &FleetRecord) -> String {
    let title = format!("Fleet of {} devices, {}, seed {}", fleet.devices.len(), fleet.generator, fleet.seed);
    let page = markup! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="generator" content="flashscope";
                meta name="viewport" content="width=device-width, initial-scale=1";
                link rel="icon" href="data:,";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { (title) }
                (lines(&heading(fleet)))
                h2 { "Answers" }
                (answers(fleet))
                (lines(&remarks(fleet)))
                h2 { "Confidence against truth" }
                p.dim { "A dot on the diagonal means what it says; its bar is the 95 % interval of the share that is right." }
                div.plots {
                    (plot("all parameters", &fleet.calibration, 260.0))
                    @for scoring in &fleet.parameters {
                        @if let Some(calibration) = &scoring.calibration { (plot(&scoring.words, calibration, 180.0)) }
                    }
                }
                pre { (confidence(&fleet.calibration).trim()) "\n" (intervals(fleet).trim()) }
                h2 { "Cost of a device" }
                p.dim { "Median and 95th percentile; the ratio is that of the sums over the fleet, geometry over by hand." }
                (costs(fleet))
                h2 { "Worst cases" }
                (cases(fleet))
            }
        }
    };
    page.into_string()
}

/// Each line of a text as a paragraph of its own.
fn lines(text: &str) -> Markup {
    markup! { @for line in text.lines().filter(|line| !line.is_empty()) { p.dim { (line) } } }
}

fn costs(fleet: &FleetRecord) -> Markup {
    markup! {
        div.scroll { table.figures {
            thead { tr { @for head in COST_HEADS { th { (head) } } } }
            tbody { @for row in cost_rows(fleet) { tr { @for cell in row { td { (cell) } } } } }
        } }
    }
}

fn answers(fleet: &FleetRecord) -> Markup {
    markup! {
        div.scroll { table.figures {
            thead { tr {
                @for head in ["parameter", "can be told", "exact", "beside", "wrong", "wrong at ≥ 0.99", "missed",
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
            td { (scoring.words) }
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

/// Stated confidence to the right, share right upwards.
fn plot(name: &str, calibration: &Calibration, size: f64) -> Markup {
    let (pad, room) = (24.0, size - 32.0);
    let x = |share: f64| pad + share * room;
    let y = |share: f64| 8.0 + (1.0 - share) * room;
    let dots: Vec<(f64, f64, f64, f64, u32)> = calibration.bins.iter().filter_map(dot).collect();
    let error = calibration.expected_error.map_or("no claims".to_owned(), |error| format!("error {error:.3}"));
    markup! {
        figure {
            svg width=(size) height=(size) viewBox={ "0 0 " (size) " " (size) } role="img" aria-label={ (name) ", " (error) } {
                rect x=(pad) y="8" width=(room) height=(room) fill="none" stroke="var(--line)" {}
                line x1=(x(0.0)) y1=(y(0.0)) x2=(x(1.0)) y2=(y(1.0)) stroke="var(--line)" stroke-dasharray="3" {}
                @for (stated, right, low, high, claims) in dots {
                    line x1=(x(stated)) x2=(x(stated)) y1=(y(low)) y2=(y(high)) stroke="var(--mark)" {}
                    circle cx=(x(stated)) cy=(y(right)) r=(2.0 + f64::from(claims).log10()) fill="var(--mark)" {
                        title { "stated " (percent(Some(stated))) ", right " (percent(Some(right))) " of " (claims) }
                    }
                }
                text x="2" y="14" { "1" }
                text x="2" y=(y(0.0)) { "0" }
                text x=(x(1.0) - 6.0) y=(size - 8.0) { "1" }
            }
            figcaption { (name) ": " (error) }
        }
    }
}

fn cases(fleet: &FleetRecord) -> Markup {
    markup! {
        div.scroll { table.cases {
            thead { tr { @for head in ["parameter", "how", "said", "true", "confidence", "because", "replay"] { th { (head) } } } }
            tbody {
                @for case in fleet.worst.iter().take(CASES) {
                    @let judged = &case.finding;
                    tr {
                        td { (words_of(fleet, &judged.parameter)) }
                        td { (how(judged.verdict)) }
                        td { (judged.said) }
                        td { (judged.truth) }
                        td { (percent(judged.confidence)) }
                        td { (judged.because) }
                        td { code { (case.replay) } }
                    }
                }
            }
        } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_model::fleet::Bin;

    /// Inside a drawing nothing is closed of itself: what is left open swallows all that follows, and nothing of it shows.
    #[test]
    fn every_shape_of_a_plot_is_closed() {
        let bin = Bin { low: 0.9, high: 0.95, claims: 2, right: 1, stated: Some(0.9) };
        let calibration = Calibration { bins: vec![bin], expected_error: Some(0.4), log_score: None };
        let page = plot("one", &calibration, 180.0).into_string();
        for shape in ["rect", "line", "circle", "text"] {
            let (opened, closed) =
                (page.matches(&format!("<{shape} ")).count(), page.matches(&format!("</{shape}>")).count());
            assert!(opened > 0 && opened == closed, "{shape}: {opened} opened, {closed} closed");
        }
    }
}
