//! The plots of a page, by the question that they answer.

use crate::plot::{self, Hue, Size};
use flashscope_model::{Direction, RunRecord};
use flashscope_view::contrast::ContrastView;
use flashscope_view::rate::{FastAreaView, FatView, OpenUnitsView};
use flashscope_view::table::{order_adverb, works};
use flashscope_view::time::{ScatterView, ServiceTimesView, SurveyView, TransferView};
use flashscope_view::{View, view};
use maud::{Markup, PreEscaped, html as markup};

/// All plots for which there is something to draw.
pub(super) fn sections(run: &RunRecord) -> Markup {
    let view = view(run);
    markup! {
        (section("Boundaries", contrasts(run, &view.contrasts)))
        (section("Open units", open_units(run, &view.open_units)))
        (section("The first units", first_units(run, &view)))
        (section("Read time by size", view.transfer.iter().flat_map(transfer).collect()))
        (section("Read time by position", by_position(&view)))
        (section("Service times", view.service_times.iter().flat_map(service_times).collect()))
    }
}

/// A plot with its words.
pub(crate) struct Figure {
    title: String,
    what: String,
    keys: Vec<Key>,
    wide: Option<String>,
    narrow: Option<String>,
}

/// An entry of a legend.
pub(crate) struct Key {
    hue: Hue,
    words: String,
    /// A line rather than a dot.
    rule: bool,
}

/// Figures of one section that are shown at once; the page would get long with more.
const AT_ONCE: usize = 6;

/// Plots under a title; nothing where none could be drawn.
pub(crate) fn section(title: &str, figures: Vec<Figure>) -> Markup {
    let drawn: Vec<&Figure> = figures.iter().filter(|figure| figure.wide.is_some()).collect();
    let (first, more) = drawn.split_at(drawn.len().min(AT_ONCE));
    markup! {
        @if !first.is_empty() {
            section {
                h2 { (title) }
                div.plots { @for figure in first { (one(figure)) } }
                @if !more.is_empty() {
                    details {
                        summary { (more.len()) " more plots" }
                        div.plots { @for figure in more { (one(figure)) } }
                    }
                }
            }
        }
    }
}

fn one(figure: &Figure) -> Markup {
    markup! {
        figure."card plot" {
            figcaption {
                h3 { (figure.title) }
                p.what { (figure.what) }
                @if !figure.keys.is_empty() {
                    p.keys {
                        @for key in &figure.keys {
                            span class=[key.rule.then_some("rule")] style={ "--key:var(" (key.hue.variable()) ")" } {
                                (key.words)
                            }
                        }
                    }
                }
            }
            @for (class, svg) in [("wide", &figure.wide), ("narrow", &figure.narrow)] {
                @if let Some(svg) = svg {
                    div class=(class) role="img" aria-label=(figure.title) { (PreEscaped(svg)) }
                }
            }
        }
    }
}

/// A plot in both sizes.
pub(crate) fn figure(title: String, what: String, keys: Vec<Key>, draw: impl Fn(Size) -> Option<String>) -> Figure {
    Figure { title, what, keys, wide: draw(Size::Wide), narrow: draw(Size::Narrow) }
}

/// A dot in the legend.
pub(crate) fn dot(hue: Hue, words: impl Into<String>) -> Key {
    Key { hue, words: words.into(), rule: false }
}

/// A line in the legend.
pub(crate) fn rule(hue: Hue, words: impl Into<String>) -> Key {
    Key { hue, words: words.into(), rule: true }
}

fn contrasts(run: &RunRecord, views: &[ContrastView]) -> Vec<Figure> {
    let of_one = |view: &ContrastView| {
        let verb = if view.direction == Direction::Read { "reading" } else { "writing" };
        let block = view.block.map_or("blocks of unknown size".to_owned(), |block| format!("blocks of {block}"));
        let what = match view.name {
            "boundaries" => "at random multiples of each size that are no multiples of a larger one",
            _ => "at odd multiples of powers of two, as flashbench does it",
        };
        let sampled = view.candidates.iter().any(|candidate| !candidate.places.is_empty());
        let mut keys = Vec::new();
        keys.extend(sampled.then(|| dot(Hue::Series(5), "one place")));
        keys.push(dot(Hue::Series(0), if sampled { "centre, 95 % interval" } else { "printed figure" }));
        keys.extend((!view.levels.is_empty()).then(|| rule(Hue::Series(1), "level")));
        figure(format!("What it costs to cross a boundary, {verb} {block}"), what.to_owned(), keys, |size| {
            plot::contrasts(view, &run.findings.geometry, size)
        })
    };
    views.iter().map(of_one).collect()
}

fn open_units(run: &RunRecord, views: &[OpenUnitsView]) -> Vec<Figure> {
    let of_one = |view: &OpenUnitsView| {
        let sampled = view.curves.iter().flat_map(|curve| &curve.points).any(|(_, rate)| rate.range.is_some());
        let what = if sampled {
            "rate of the middle round, with the slowest and the fastest one, by block size"
        } else {
            "rate as printed, by block size"
        };
        let keys = view.curves.iter().enumerate();
        let keys = keys.map(|(at, curve)| rule(Hue::Series(at), curve.block.to_string())).collect();
        figure(format!("Units written in turn, each {}", order_adverb(view.order)), what.to_owned(), keys, |size| {
            plot::open_units(view, &run.findings.geometry, size)
        })
    };
    views.iter().map(of_one).collect()
}

fn first_units(run: &RunRecord, view: &View) -> Vec<Figure> {
    let found = run.findings.geometry.fast_area.value();
    let against = |view: &FastAreaView| {
        figure(
            format!("The first units against others, {} {}", view.block, works(view.direction, view.order)),
            "rate of the middle request in each unit, and the range of eight in ten".to_owned(),
            vec![dot(Hue::Series(0), "units at the start"), dot(Hue::Series(5), "controls from elsewhere")],
            |size| plot::fast_area(view, found, size),
        )
    };
    let fat = |view: &FatView| {
        let order = view.order.map_or(String::new(), |order| format!(", each {}", order_adverb(order)));
        let keys = view.rows.iter().enumerate().map(|(at, (block, _))| rule(Hue::Series(at), block.to_string()));
        figure(
            format!("Writes to each of the first units{order}"),
            "rate in each unit by block size".to_owned(),
            keys.collect(),
            |size| plot::fat(view, size),
        )
    };
    view.fast_areas.iter().map(against).chain(view.fats.iter().map(fat)).collect()
}

fn transfer(view: &TransferView) -> Vec<Figure> {
    let line = format!("{} and then {}", view.access, view.rate);
    vec![
        figure(
            "Shortest read time by size".to_owned(),
            "with the straight line through it".to_owned(),
            vec![dot(Hue::Series(0), "measured"), rule(Hue::Series(1), line)],
            |size| plot::transfer(view, size),
        ),
        figure(
            "What the line leaves over".to_owned(),
            "sizes that another mechanism serves lie off the line".to_owned(),
            Vec::new(),
            |size| plot::transfer_residuals(view, size),
        ),
    ]
}

fn by_position(view: &View) -> Vec<Figure> {
    let survey = |view: &SurveyView| {
        let uniform = view.places.iter().any(|(_, _, byte)| byte.is_some());
        let mut keys = vec![dot(Hue::Series(0), "data")];
        keys.extend(uniform.then(|| dot(Hue::Series(1), "one byte throughout: perhaps never written")));
        figure(
            format!("Reads of {} all over the device", view.block),
            "areas that were never written may answer without touching the flash".to_owned(),
            keys,
            |size| plot::survey(view, size),
        )
    };
    let scatter = |view: &ScatterView| {
        let length = view.length.map_or(String::new(), |length| format!(" of {length}"));
        figure(
            format!("Reads{length} at each of {} positions", view.positions),
            "shortest of several tries".to_owned(),
            Vec::new(),
            |size| plot::scatter(view, size),
        )
    };
    view.surveys.iter().map(survey).chain(view.scatters.iter().map(scatter)).collect()
}

fn service_times(view: &ServiceTimesView) -> Vec<Figure> {
    let what = format!("{} {}", view.block, works(view.direction, view.order));
    let summary = &view.summary;
    let tail = summary.p99.map_or(String::new(), |p99| format!(", 99 in 100 within {p99}"));
    let numbers = format!("{} requests: median {}{tail}, longest {}", summary.requests, summary.median, summary.max);
    vec![
        figure(format!("{what}: how long they took"), numbers, Vec::new(), |size| plot::histogram(view, size)),
        figure(format!("{what}: one after the other"), "in the order of issue".to_owned(), Vec::new(), |size| {
            plot::course(view, size)
        }),
    ]
}
