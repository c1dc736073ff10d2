//! Plots in a page: a figure with its words, its legend and its drawing, and sections of them.

use crate::plot::{self, Hue, Plot, Size};
use maud::{Markup, PreEscaped, html as markup};

/// A plot with its words.
pub(crate) struct Figure {
    title: String,
    what: String,
    keys: Vec<Key>,
    wide: Option<Plot>,
    narrow: Option<Plot>,
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

/// A plot in both sizes.
pub(crate) fn figure(title: String, what: String, keys: Vec<Key>, draw: impl Fn(Size) -> Option<Plot>) -> Figure {
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

/// Plots under their titles, those left out that could not be drawn; no two of a page have one title.
pub(crate) fn sections(all: Vec<(&str, Vec<Figure>)>) -> Markup {
    let mut seen: Vec<(String, usize)> = Vec::new();
    let mut distinct = |mut figure: Figure| {
        match seen.iter_mut().find(|(title, _)| *title == figure.title) {
            Some((title, count)) => {
                *count += 1;
                figure.title = format!("{title} ({count})");
            }
            None => seen.push((figure.title.clone(), 1)),
        }
        figure
    };
    let drawn = |figures: Vec<Figure>| figures.into_iter().filter(|figure| figure.wide.is_some());
    let all = all.into_iter().map(|(title, figures)| (title, drawn(figures).map(&mut distinct).collect::<Vec<_>>()));
    markup! { @for (title, figures) in all { (section(title, &figures)) } }
}

fn section(title: &str, figures: &[Figure]) -> Markup {
    let (first, more) = figures.split_at(figures.len().min(AT_ONCE));
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
                            span class=[key.rule.then_some("rule")] data-hue=(key.hue.class()) style={ "--key:var(" (key.hue.variable()) ")" } {
                                (key.words)
                            }
                        }
                    }
                }
            }
            @for (class, plot) in [("still wide", &figure.wide), ("still narrow", &figure.narrow)] {
                @if let Some(plot) = plot {
                    div class=(class) role="img" aria-label=(figure.title) { (plot::svg(plot)) }
                }
            }
            @if let Some(plot) = &figure.wide {
                @let names: Vec<(Hue, &str)> = figure.keys.iter().map(|key| (key.hue, key.words.as_str())).collect();
                script type="application/json" { (PreEscaped(plot::data(plot, &names))) }
            }
        }
    }
}
