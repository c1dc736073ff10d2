//! The page: per figure a surface and a heat map of the matrix, where memory ends in both, and all numbers.

use crate::html::{SURFACES, styled_page};
use flashscope_model::iozone::{IozoneRecord, Regions, Whose};
use flashscope_units::Bytes;
use flashscope_view::answer;
use flashscope_view::iozone::{
    Grid, GridCell, STEPS, Scale, kib, size_label, title, together, unit_words, value, whose, whose_word,
};
use flashscope_view::surface::{Side, Surface, surface};
use maud::{Markup, PreEscaped, html as markup};
use serde_json::json;

/// The whole run as one self-contained page.
pub fn page(record: &IozoneRecord) -> String {
    let grids = Grid::all(record);
    let body = markup! {
        (header(record))
        main {
            (answers(record))
            @if let Some(scale) = Scale::of(record) {
                @if !grids.is_empty() { (legend(&grids, &scale)) }
                @for grid in &grids { (figure(grid, &scale.ticks())) }
            }
            (throughput(record))
            (numbers(record))
        }
        footer { "flashscope " (record.envelope.tool.version) ". Every pass stands in the run's JSON record, with what was counted around it." }
    };
    styled_page(
        &format!("iozone's tests on {}", record.envelope.target),
        include_str!("page.css"),
        Some(SURFACES),
        &body,
    )
}

fn header(record: &IozoneRecord) -> Markup {
    let mut facts = vec![("file", record.envelope.target.clone()), ("command", record.envelope.command.clone())];
    if let Some(path) = &record.envelope.path {
        facts.push(("I/O path", path.engine.clone()));
        facts.extend((!path.flags.is_empty()).then(|| ("flags", path.flags.join(", "))));
    }
    facts.extend(record.envelope.when_and_where().map(|place| ("when and where", place)));
    facts.extend(record.envelope.host.as_ref().map(|host| ("kernel", format!("Linux {}", host.kernel))));
    markup! {
        header {
            p.eyebrow { "flashscope bench iozone" }
            h1 { "Speed over file size and record size" }
            dl.facts { @for (name, fact) in facts { div { dt { (name) } dd { (fact) } } } }
            @if let Some(why) = answer::cut_short(&record.envelope.stop) { p.callout { strong { "Cut short" } ": " (why) } }
        }
    }
}

/// Tests of which the same is said stand in one row.
fn answers(record: &IozoneRecord) -> Markup {
    let mut rows: Vec<(Vec<String>, &Regions)> = Vec::new();
    for regions in &record.regions {
        let cliff = |of: &Regions| of.cliff.map(|cliff| cliff.memory_up_to);
        let same =
            |row: &&mut (Vec<String>, &Regions)| cliff(row.1) == cliff(regions) && row.1.sentence == regions.sentence;
        match rows.iter_mut().find(same) {
            Some((names, _)) => names.push(title(regions.figure)),
            None => rows.push((vec![title(regions.figure)], regions)),
        }
    }
    markup! {
        @if !rows.is_empty() {
            section {
                h2 { "Where memory ends" }
                div."card answers regions" {
                    @for (names, regions) in &rows {
                        div {
                            span.name { (names.join(", ")) }
                            @match &regions.cliff {
                                Some(cliff) => { span.figure { (cliff.memory_up_to) } }
                                None => { span."figure unknown" { "no cliff seen" } }
                            }
                            span.why { (regions.sentence) }
                        }
                    }
                }
            }
        }
    }
}

/// The scale of colours, once for all tests.
fn legend(grids: &[Grid], scale: &Scale) -> Markup {
    let seen = |wanted: Whose| grids.iter().any(|grid| grid.rows.contains(&wanted));
    markup! {
        section {
            h2 { "Colours" }
            div."card scale" {
                p { "One scale for all tests, in " (Grid::CELL_UNIT) ", logarithmic" }
                div.ramp { @for step in 0..STEPS { i.{ "heat-" (step) } {} } }
                div.ramp-ticks {
                    @for (place, words) in scale.ticks() { span style={ "left:" (px(place * 100.0)) "%" } { (words) } }
                }
                p.keys {
                    @for whose in [Whose::Memory, Whose::Mixed, Whose::Device, Whose::Unknown] {
                        @if seen(whose) { span.whose.(whose_class(whose)) { (whose_word(whose)) } }
                    }
                    @if grids.iter().any(|grid| grid.cliff.is_some()) {
                        span.rule style="--key:var(--plot-mark)" { "memory ends here" }
                    }
                }
            }
        }
    }
}

fn figure(grid: &Grid, ticks: &[(f64, String)]) -> Markup {
    markup! {
        section {
            h2 { (title(grid.figure)) }
            div.plots.matrix {
                @if grid.has_surface() {
                    figure."card plot" {
                        h3 { "Surface: " (title(grid.figure)) }
                        p.what { (Grid::CELL_UNIT) " over file size and record size, all three logarithmic" span.live-only { "; drag or use the arrow keys to turn it" } }
                        @for (class, size) in [("still wide", WIDE), ("still narrow", NARROW)] {
                            div class=(class) { (surface_svg(&surface(grid, ticks, size))) }
                        }
                        script type="application/json" { (PreEscaped(surface_data(grid, ticks))) }
                    }
                }
                figure."card plot" {
                    h3 { "Heat map: " (title(grid.figure)) }
                    p.what { (Grid::CELL_UNIT) "; at the left whose speed a row shows" }
                    div { (heat(grid, true)) (heat(grid, false)) }
                }
            }
        }
    }
}

/// What the script that turns a surface needs of it.
fn surface_data(grid: &Grid, ticks: &[(f64, String)]) -> String {
    let cell = |cell: &Option<GridCell>| match cell {
        Some(GridCell { rate: Some(_), share, step, short, .. }) => json!([(share * 1e4).round() / 1e4, step, short]),
        _ => json!(null),
    };
    let cells: Vec<Vec<_>> = grid.cells.iter().map(|row| row.iter().map(cell).collect()).collect();
    let labels = |sizes: &[Bytes]| sizes.iter().map(|size| size_label(*size)).collect::<Vec<_>>();
    json!({
        "files": labels(&grid.files), "records": labels(&grid.records), "cells": cells, "ticks": ticks,
        "cliff": grid.cliff, "unit": Grid::CELL_UNIT,
    })
    .to_string()
    .replace('<', "\\u003c")
}

const WIDE: (f64, f64) = (560.0, 400.0);
const NARROW: (f64, f64) = (344.0, 300.0);

fn surface_svg(surface: &Surface) -> Markup {
    let (width, height) = surface.size;
    let points = |points: &[(f64, f64)]| points.iter().map(|(x, y)| format!("{x:.1},{y:.1} ")).collect::<String>();
    markup! {
        svg viewBox={ "0 0 " (width) " " (height) } role="img" {
            @for [from, to] in &surface.grid {
                line.faint x1=(px(from.0)) y1=(px(from.1)) x2=(px(to.0)) y2=(px(to.1)) {}
            }
            @for (corners, step) in &surface.patches { polygon.patch.{ "heat-" (step) } points=(points(corners)) {} }
            @if !surface.edge.is_empty() {
                polyline.edge points=(points(&surface.edge)) {}
            }
            @for ((x, y), words, side) in &surface.labels {
                @let (anchor, down) = match side { Side::Left => ("end", 4.0), Side::Below => ("end", 10.0), Side::Right => ("start", 10.0) };
                text.tick x=(px(*x)) y=(px(y + down)) text-anchor=(anchor) { (words) }
            }
            text.title x="2" y="12" { (Grid::CELL_UNIT) }
            text.title x="2" y=(px(height - 6.0)) { "record size" }
            text.title x=(px(width - 2.0)) y=(px(height - 6.0)) text-anchor="end" { "file size" }
        }
    }
}

/// Width of what stands left of the cells, and height of what stands above them.
const MARGIN: (usize, usize) = (62, 44);

fn heat(grid: &Grid, wide: bool) -> Markup {
    let (cell_width, cell_height) = if wide { (38, 20) } else { (20, 16) };
    let (left, top) = MARGIN;
    let (columns, rows) = (grid.records.len(), grid.files.len());
    let (width, height) = ((left + columns * cell_width + 4).max(120), top + rows * cell_height + 6);
    let every = if wide { 1 } else { columns.div_ceil(5) };
    markup! {
        svg class=(if wide { "wide" } else { "narrow" }) viewBox={ "0 0 " (width) " " (height) } role="img" {
            text.title x="2" y=(top - 8) { "file size" }
            text.title x=(left) y="12" { "record size" }
            @for (column, size) in grid.records.iter().enumerate() {
                @if column.is_multiple_of(every) {
                    text.tick x=(left + column * cell_width + cell_width / 2) y=(top - 8) text-anchor="middle" { (size_label(*size)) }
                }
            }
            @for (row, file) in grid.files.iter().enumerate() {
                @let y = top + row * cell_height;
                text.tick x=(left - 14) y=(y + cell_height / 2 + 4) text-anchor="end" { (size_label(*file)) }
                rect class=(whose_class(grid.rows[row])) x=(left - 9) y=(y + 1) width="5" height=(cell_height - 2) {
                    title { (size_label(*file)) ": " (whose_word(grid.rows[row])) }
                }
                @for (column, cell) in grid.cells[row].iter().enumerate() {
                    @if let Some(cell) = cell {
                        @let x = left + column * cell_width;
                        rect.cell.{ "heat-" (cell.step) } x=(x) y=(y) width=(cell_width - 1) height=(cell_height - 1) {
                            title { (size_label(*file)) " in records of " (size_label(grid.records[column])) ": " (cell.short) " " (Grid::CELL_UNIT) ", " (whose_word(cell.whose)) }
                        }
                        @if wide {
                            text.number.{ "on-" (cell.step) } x=(x + cell_width / 2) y=(y + cell_height / 2 + 4) text-anchor="middle" { (cell.short) }
                        }
                    }
                }
            }
            @if let Some(row) = grid.cliff {
                line.edge x1=(left - 10) x2=(left + columns * cell_width) y1=(top + row * cell_height) y2=(top + row * cell_height) {}
            }
        }
    }
}

fn px(value: f64) -> String {
    format!("{value:.1}")
}

fn whose_class(whose: Whose) -> &'static str {
    match whose {
        Whose::Memory => "of-memory",
        Whose::Mixed => "of-both",
        Whose::Device => "of-device",
        Whose::Unknown => "of-nobody",
    }
}

fn throughput(record: &IozoneRecord) -> Markup {
    let unit = unit_words(record.unit).0;
    markup! {
        @if !record.throughput.is_empty() {
            section {
                h2 { "Several workers at once" }
                div."card scroll" {
                    table {
                        thead { tr {
                            th.words { "figure" } th { "workers" } th { "file" } th { "record" } th { "sum, " (unit) } th { "slowest" }
                            th { "fastest" } th.words { "whose speed" }
                        } }
                        tbody {
                            @for run in &record.throughput {
                                @let found = together(run, record.unit);
                                tr {
                                    td.words { (title(run.figure)) } td { (run.children.len()) } td { (run.file) } td { (run.record) }
                                    td { (format!("{:.0}", found.children)) } td { (format!("{:.0}", found.min)) }
                                    td { (format!("{:.0}", found.max)) } td.words { (whose_word(whose(run.evidence.verdict))) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn numbers(record: &IozoneRecord) -> Markup {
    markup! {
        @if !record.passes.is_empty() {
            section {
                h2 { "All numbers" }
                details {
                    summary { (record.passes.len()) " passes, in " (unit_words(record.unit).0) }
                    div."card scroll" {
                        table {
                            thead { tr {
                                th.words { "figure" } th { "file KiB" } th { "record KiB" } th { (unit_words(record.unit).0) }
                                th.words { "whose speed" } th.words { "why" }
                            } }
                            tbody {
                                @for pass in &record.passes {
                                    tr {
                                        td.words { (title(pass.figure)) } td { (kib(pass.file)) } td { (kib(pass.record)) }
                                        td { (value(pass, record.unit).map_or_else(|| "–".to_owned(), |value| value.to_string())) }
                                        td.words { (whose_word(whose(pass.evidence.verdict))) }
                                        td.words.prose {
                                            (pass.evidence.why)
                                            @if let Some(failure) = &pass.failure { "; failed: " (failure.reason) }
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
