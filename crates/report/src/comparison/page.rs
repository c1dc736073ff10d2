//! A comparison as one page: the answer, the chart of all ratios, the table, and every run in order of time.

use super::{cut_short, sheets, title};
use crate::html::plots::{Figure, dot, figure, sections};
use crate::html::{one_table, page};
use crate::plot::{self, Hue};
use crate::sheet;
use flashscope_model::comparison::{ComparisonRecord, Group, Metric, Verdict};
use flashscope_view::Room;
use flashscope_view::comparison::{Bar, bars, course, doubts, how, notes, percent, sentences, table, word};
use maud::{Markup, html as markup};

/// Ratios that one chart holds with their names.
const RATIOS: usize = 12;

/// The whole comparison as a page that loads nothing.
pub fn html(record: &ComparisonRecord) -> String {
    let title = title(record);
    let body = markup! {
        header {
            p.eyebrow { "flashscope " (record.envelope.command) }
            h1 { (title) }
            dl.facts {
                @for source in &record.sources { div { dt { (source.label) } dd { (source.from.join(", ")) } } }
                @if let Some(when) = record.envelope.when_and_where() { div { dt { "when and where" } dd { (when) } } }
            }
            @if let Some(why) = cut_short(record) { p.callout { strong { "Cut short" } ": " (why) } }
        }
        main {
            section {
                h2 { "The answer" }
                @for group in &record.groups {
                    @if let Some(factor) = &group.factor { h3 { (factor) } }
                    ul { @for sentence in sentences(group) { li { (sentence) } } }
                }
            }
            (sections(vec![("Ratios", record.groups.iter().flat_map(ratio_figures).collect())]))
            @for group in &record.groups { (figures(group)) }
            section {
                h2 { "What it rests on" }
                ul { @for note in notes(record) { li { (note) } } }
                @if let Some(campaign) = &record.campaign {
                    details { summary { "The jobs of each run" } div."card scroll" { pre.definition { (campaign.job) } } }
                }
            }
            (sections(vec![("Runs in order of time", record.groups.iter().flat_map(run_figures).collect())]))
            (sheet::sections(&sheets(record)[1..]))
        }
        footer { "flashscope " (record.envelope.tool.version) ". Every run stands in the JSON record." }
    };
    page(&title, &body)
}

fn figures(group: &Group) -> Markup {
    markup! {
        section {
            h2 { "Figures" @if let Some(factor) = &group.factor { ": " (factor) } }
            div."card scroll" { (one_table(&table(group, Room::Wide))) }
            p.muted { (how(&group.comparison)) }
            @for doubt in doubts(group) { p.muted { (doubt) } }
        }
    }
}

pub(crate) fn ratio_figures(group: &Group) -> Vec<Figure> {
    let all = bars(group);
    let margin = group.comparison.margin;
    let keys = || {
        [Verdict::Better, Verdict::Worse, Verdict::Equivalent]
            .map(|verdict| dot(plot::verdict_hue(verdict), word(verdict)))
            .into_iter()
            .chain([dot(Hue::Muted, "cannot tell")])
            .collect()
    };
    let of = |some: &[Bar]| {
        let title = match &group.factor {
            Some(factor) => format!("Ratios to the baseline, {factor}"),
            None => format!("Ratios to {}", group.readings.sides[0]),
        };
        let what = format!(
            "with {} % intervals; the band is the margin of {}",
            group.comparison.confidence * 100.0,
            percent(margin)
        );
        figure(title, what, keys(), |size| plot::ratios(some, &all, margin, size))
    };
    all.chunks(RATIOS).map(of).collect()
}

pub(crate) fn run_figures(group: &Group) -> Vec<Figure> {
    let of = |(at, metric): (usize, &Metric)| {
        let sides = course(group, at);
        if sides.iter().all(Vec::is_empty) {
            return None;
        }
        let keys = group.readings.sides.iter().enumerate().map(|(side, name)| dot(Hue::Series(side), name.clone()));
        let title = group.factor.as_ref().map_or(metric.name.clone(), |factor| format!("{}, {factor}", metric.name));
        Some(figure(title, "each run, in the order in which they were done".to_owned(), keys.collect(), |size| {
            plot::runs(&sides, &metric.unit, size)
        }))
    };
    group.readings.metrics.iter().enumerate().filter_map(of).collect()
}
