//! A fit as a page: how good it is first, with what each figure is held to, then what was carried over and what was not.

use super::text::{clauses, difference, headline, lost, mark, percent, show, unknown_findings, words};
use super::{WORST, sheets, title, worst};
use crate::html::page;
use crate::sheet::sections;
use flashscope_model::twin::{Origin, Outcome, TwinRecord};
use maud::{Markup, html as markup};

/// What figures are held to, in the words of docs/twin.md.
const CRITERIA: &str = "(a) figures over 16 and more requests, minima and the times around a boundary: 95 % within 15 %, \
                        median error at most 7 %. (b) the levels of what straddling costs. (c) rows of fewer requests, which are \
                        chance: the measured figure lies within what 200 seeds give. (d) models that are wrong on purpose fit worse.";

/// The whole fit as one self-contained page.
pub fn html(record: &TwinRecord) -> String {
    let title = title(record);
    let (words, trusted) = headline(record);
    let body = markup! {
        header {
            p.eyebrow { "flashscope twin fit" }
            h1 { (title) }
            p style="margin-top:12px" { @if trusted { (words) } @else { strong { (words) } } }
            @if let Some(caution) = &record.caution { p.callout { strong { "Caution" } ": " (caution) } }
        }
        main {
            (goodness(record))
            (farthest_off(record))
            (carried_over(record))
            (not_carried_over(record))
            section {
                h2 { "The model file" }
                details { summary { "As it can be changed and run" } div."card scroll" { pre.definition { (record.model) } } }
            }
            (sections(&sheets(record)))
        }
        footer { "flashscope " (record.envelope.tool.version) }
    };
    page(&title, &body)
}

fn goodness(record: &TwinRecord) -> Markup {
    markup! {
        section {
            h2 { "How good it is" }
            div."card scroll" { table {
                thead { tr { th.words { "test" } th { "figures" } th { "within 15 %" } th { "median error" } th { "held to (a)" } } }
                tbody { @for pool in &record.goodness.tests {
                    tr {
                        td.words { (pool.test) }
                        td { (pool.all.cells) }
                        td { (percent(pool.all.within)) }
                        td { (percent(pool.all.median)) }
                        td { (pool.close.as_ref().map_or("–", |close| mark(close.holds))) }
                    }
                } }
            } }
            ul."card notes" style="margin-top:12px" {
                @for sentence in clauses(&record.goodness) { li { (sentence) } }
                @for what in &record.left_out { li { "left out: " (what) } }
            }
            p.muted style="margin-top:8px;font-size:13px" { (CRITERIA) }
        }
    }
}

fn farthest_off(record: &TwinRecord) -> Markup {
    let cells = worst(record);
    markup! {
        @if !cells.is_empty() {
            section {
                h2 { "Where it is farthest off" }
                div."card scroll" { table {
                    thead { tr {
                        th.words { "test" } th { "row" } th.words { "column" } th { "measured" } th { "simulated" } th { "difference" }
                    } }
                    tbody { @for cell in cells.iter().take(WORST) {
                        tr {
                            td.words { (cell.test) }
                            td { (cell.row) }
                            td.words { (cell.column) }
                            td { (show(cell, cell.measured)) }
                            td { (show(cell, cell.simulated)) }
                            td { (difference(cell)) }
                        }
                    } }
                } }
            }
        }
    }
}

fn carried_over(record: &TwinRecord) -> Markup {
    let held = || record.findings.iter().filter(|finding| finding.outcome == Outcome::Held);
    let fitted = || record.parameters.iter().filter(|parameter| parameter.origin == Origin::Fitted);
    markup! {
        section {
            h2 { "What the twin has of the device" }
            div."card answers" {
                @for finding in held() {
                    div {
                        span.name { (words(finding)) }
                        span.figure { (finding.figure.as_deref().unwrap_or_default()) }
                        span.sure { @if let Some(sure) = finding.confidence { (percent(sure)) } }
                        span.why { "found" }
                    }
                }
                @for parameter in fitted() {
                    div {
                        span.name { (parameter.path) }
                        span.figure { (parameter.value) }
                        span {}
                        span.why { (parameter.why) }
                    }
                }
            }
        }
    }
}

fn not_carried_over(record: &TwinRecord) -> Markup {
    let unknown = unknown_findings(record);
    let defaults = || record.parameters.iter().filter(|parameter| parameter.origin == Origin::Default);
    markup! {
        section {
            h2 { "What it does not have" }
            ul."card notes" {
                @for (finding, what) in lost(record) { li { strong { (words(finding)) } " was found, and could not be carried over: " (what) } }
                @for (why, names) in unknown { li { strong { (names.join(", ")) } " not found: " (why) } }
                @for parameter in defaults() { li { code { (parameter.path) " = " (parameter.value) } ", a default: " (parameter.why) } }
                li { "everything else stands as in the catalogue's card that shows nothing (" code { "sim show sd-flat" } ")" }
            }
        }
    }
}
