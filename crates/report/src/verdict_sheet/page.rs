//! The page: one sheet that can be handed on, then everything that it rests on.

use crate::html::plots::{Figure, dot, figure, sections};
use crate::html::{PLOTS, styled_page};
use crate::plot::{self, Hue};
use crate::qualification::sheets;
use crate::sheet;
use flashscope_model::comparison::Better;
use flashscope_model::qualification::{Cause, QualificationRecord, Role};
use flashscope_view::qualification::{answer as verdict, notes};
use flashscope_view::verdict_sheet::{
    Chart, Course, Line, Tone, beside, charts, cost, courses, deciding, lines, not_shown, parts, path, tone,
};
use maud::{Markup, html as markup};

/// Ratios that one chart holds with their names.
const RATIOS: usize = 12;

/// The whole qualification as a page that loads nothing; its first printed page is the sheet.
pub fn html(record: &QualificationRecord) -> String {
    let body = markup! {
        header.sheet { (first_page(record)) }
        main {
            section { h2 { "Every requirement" } (table(&lines(record), true)) }
            (sections(vec![("Ratios and limits", charts(record).iter().flat_map(ratios).collect())]))
            (causes(&record.causes))
            section { h2 { "What it rests on" } ul { @for note in notes(record) { li { (note) } } } }
            (way(record))
            (sections(vec![("Runs in order of time", courses(record).iter().map(course).collect())]))
            (sheet::sections(&sheets(record)[1..]))
        }
        footer {
            "flashscope " (record.envelope.tool.version) ". Every run stands in the JSON record"
            @if let Some(seal) = &record.seal { ", whose seal (SHA-256) is " code { (seal) } } "."
        }
    };
    let plots = body.0.contains("<script type=\"application/json\">");
    styled_page(&capital(&verdict(record)), include_str!("style.css"), plots.then_some(PLOTS), &body)
}

fn class(tone: Tone) -> &'static str {
    match tone {
        Tone::Good => "good",
        Tone::Fair => "fair",
        Tone::Poor => "poor",
    }
}

/// What fits on one sheet of paper.
fn first_page(record: &QualificationRecord) -> Markup {
    let (decide, more) = deciding(record);
    let (open, unnamed) = not_shown(record);
    let beside = beside(record);
    markup! {
        p.eyebrow { "flashscope " (record.envelope.command) ": " (record.plan.title) }
        div class={ "answer " (class(tone(record))) } {
            h1 { (capital(&verdict(record))) "." }
            @if let Some(verdict) = &record.verdict { p { (verdict.scope) "." } }
        }
        div.sides {
            @for role in [Role::Reference, Role::Candidate] { (side(record, role)) }
        }
        @if !decide.is_empty() {
            h3 { "What decides" }
            (table(&decide, false))
            @if more > 0 { p.muted { "and " (more) " more, which lie further from their limits" } }
        }
        @for cause in &record.causes { p.cause { (cause.paradox) @if let Some(because) = &cause.because { ": " (because) } } }
        @if !open.is_empty() {
            h3 { "What was not shown" }
            dl.open { @for (what, why) in &open { div { dt { (what) } dd { (why) } } } }
            @if unnamed > 0 { p.muted { "and " (unnamed) " more, below" } }
        }
        @if !beside.is_empty() {
            h3 { "Beside the verdict" }
            dl.open { @for line in &beside { div { dt { (line.title) " (should)" } dd { (line.reason) } } } }
        }
        h3 { "What it cost" }
        dl.facts { @for (name, said) in cost(record) { div { dt { (name) } dd { (said) } } } }
        p.origin {
            "Plan: " (record.plan.name) @if record.plan.quick { " (short form)" } ", " (record.plan.source)
            @if let Some(when) = record.envelope.when_and_where() { ". " (when) }
            ". Seed " (record.plan.seed) "."
            @if let Some(seal) = &record.seal { " Seal of the record: " code { (seal) } "." }
        }
    }
}

fn side(record: &QualificationRecord, role: Role) -> Markup {
    let all = parts(record, role);
    markup! {
        div.card {
            h3 { (capital(role.word())) @if all.len() > 1 { ": " (all.len()) " parts" } }
            @if all.is_empty() { p.muted { "not measured: all limits stand by themselves" } }
            @for part in &all { dl { @for (name, said) in part { dt { (name) } dd { (said) } } } }
        }
    }
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Requirements with their results; with all of their columns only where there is room for a reason of every row.
fn table(lines: &[Line], whole: bool) -> Markup {
    markup! {
        div."card scroll" { table.requirements {
            thead { tr {
                @for head in ["requirement", "limit", "reference", "candidate", "ratio", "result"] {
                    th class=[matches!(head, "requirement" | "limit" | "result").then_some("words")] { (head) }
                }
                @if whole { th.words { "why" } }
            } }
            tbody { @for line in lines { tr {
                td."words prose" { (line.title) @if !line.must { span.badge { "should" } } }
                td.words { (line.limit) }
                @for figure in [&line.reference, &line.candidate, &line.ratio] { td { (dash(figure)) } }
                td.words { span class={ "verdict " (class(line.tone)) } { (line.result) } }
                @if whole { td."words prose" { (line.reason) } }
            } } }
        } }
    }
}

fn dash(text: &str) -> &str {
    if text.is_empty() { "–" } else { text }
}

fn ratios(chart: &Chart) -> Vec<Figure> {
    // A legend names what is there.
    let keys = |some: &[flashscope_view::comparison::Bar]| {
        let kinds = [(Hue::Series(2), "pass"), (Hue::Mark, "fail"), (Hue::Muted, "undecided")];
        let drawn = |hue: Hue| some.iter().any(|bar| plot::verdict_hue(bar.verdict) == hue);
        kinds.into_iter().filter(|(hue, _)| drawn(*hue)).map(|(hue, word)| dot(hue, word)).collect()
    };
    let of = |some: &[flashscope_view::comparison::Bar]| {
        let what = "candidate over reference, or over the limit, with its interval; the band is what the plan allows"
            .to_owned();
        figure(format!("Limit: {}", chart.title), what, keys(some), |size| {
            plot::limits(some, &chart.bars, (chart.bound, chart.at), size)
        })
    };
    chart.bars.chunks(RATIOS).map(of).collect()
}

fn course(course: &Course) -> Figure {
    let keys =
        [Role::Reference, Role::Candidate].iter().enumerate().map(|(at, role)| dot(Hue::Series(at), role.word()));
    let better = match course.better {
        Better::Higher => "more is better",
        Better::Lower => "less is better",
    };
    let what = format!("each run, in the order in which they were done; {better}");
    figure(course.title.clone(), what, keys.collect(), |size| plot::runs(&course.sides, &course.unit, size))
}

fn causes(causes: &[Cause]) -> Markup {
    markup! {
        @if !causes.is_empty() {
            section {
                h2 { "Where the product and the disk disagree" }
                ul { @for cause in causes {
                    li {
                        (cause.paradox)
                        @if let Some(because) = &cause.because { ": " strong { (because) } }
                        @if let Some(unknown) = &cause.unknown { ". The cause is not known: " (unknown) }
                    }
                } }
            }
        }
    }
}

/// The path taken: every workload, and the plan as it stands in its file.
fn way(record: &QualificationRecord) -> Markup {
    markup! {
        section {
            h2 { "Path taken" }
            div.card { dl."facts boxed" {
                @for (name, said) in path(record) { div { dt { (name) } dd { (said) } } }
                @for part in &record.parts { div { dt { (part.label) } dd { (part.target) } } }
            } }
            details { summary { "The plan" } div."card scroll" { pre.definition { (record.plan.text) } } }
        }
    }
}
