//! The plots of a run's page, by the question that they answer.

use super::plots::{Figure, dot, figure, rule, sections as laid_out};
use crate::plot::{self, Hue};
use flashscope_model::run::Step;
use flashscope_model::{Direction, RunRecord};
use flashscope_view::axis::shared_tops;
use flashscope_view::contrast::ContrastView;
use flashscope_view::rate::{FastAreaView, FatView, OpenUnitsView};
use flashscope_view::table::{order_adverb, works};
use flashscope_view::time::{ScatterView, ServiceTimesView, SurveyView, TransferView};
use flashscope_view::{View, view};
use maud::Markup;

/// All plots for which there is something to draw.
pub(super) fn sections(run: &RunRecord) -> Markup {
    let view = view(run);
    let all = &view.service_times;
    laid_out(vec![
        ("Boundaries", contrasts(run, &view.contrasts)),
        ("Open units", open_units(run, &view.open_units)),
        ("The first units", first_units(run, &view)),
        ("Read time by size", view.transfer.iter().flat_map(transfer).collect()),
        ("Read time by position", by_position(run, &view)),
        ("Latency", all.iter().flat_map(|one| service_times(run, one, all)).collect()),
    ])
}

fn contrasts(run: &RunRecord, views: &[ContrastView]) -> Vec<Figure> {
    let tops = shared_tops(&views.iter().map(|view| view.reach().fold(0.0, f64::max)).collect::<Vec<_>>());
    let of_one = |(view, top): (&ContrastView, f64)| {
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
        let how = if view.name == "boundaries" { "" } else { ", flashbench's way" };
        let title = format!("Extra time across a boundary, {verb} {block}{how}");
        figure(title, what.to_owned(), keys, |size| plot::contrasts(view, &run.findings.geometry, top, size))
    };
    views.iter().zip(tops).map(of_one).collect()
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
            plot::open_units(view, views, &run.findings.geometry, size)
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
            "Distance from the straight line, by size".to_owned(),
            "sizes that another mechanism serves lie off the line".to_owned(),
            Vec::new(),
            |size| plot::transfer_residuals(view, size),
        ),
    ]
}

fn by_position(run: &RunRecord, view: &View) -> Vec<Figure> {
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
    // Runs of the same positions differ in what they were to tell.
    let is_scatter = |step: &&Step| matches!(step.experiment.as_str(), "slide" | "scatter");
    let asked: Vec<&str> = run.plan.steps.iter().filter(is_scatter).map(|step| step.why.as_str()).collect();
    let why = |number: usize| match asked.get(number) {
        Some(why) if asked.len() == view.scatters.len() && why.starts_with("whether") => format!(": {why}"),
        _ => String::new(),
    };
    let scatter = |(number, view): (usize, &ScatterView)| {
        let length = view.length.map_or(String::new(), |length| format!(" of {length}"));
        let first = view.points.first().map_or(String::new(), |(at, _)| format!(" from {at}"));
        figure(
            format!("Reads{length} at each of {} positions{first}{}", view.positions, why(number)),
            "shortest of several tries".to_owned(),
            Vec::new(),
            |size| plot::scatter(view, size),
        )
    };
    view.surveys.iter().map(survey).chain(view.scatters.iter().enumerate().map(scatter)).collect()
}

fn service_times(run: &RunRecord, view: &ServiceTimesView, all: &[ServiceTimesView]) -> Vec<Figure> {
    let what = format!("{} {}", view.block, works(view.direction, view.order));
    let summary = &view.summary;
    let tail = summary.p99.map_or(String::new(), |p99| format!(", p99 {p99}"));
    let cells = run.findings.performance.iter();
    let mut cells =
        cells.filter(|cell| (cell.direction, cell.order, cell.block) == (view.direction, view.order, view.block));
    let in_table = cells.next().map(|cell| cell.requests as usize).filter(|requests| *requests < summary.requests);
    let beside = in_table.map_or(String::new(), |requests| {
        format!("; the table above is of the last {requests}, once the rate had settled")
    });
    let all_of = if in_table.is_some() { "all " } else { "" };
    let (requests, median, longest) = (summary.requests, summary.median, summary.max);
    let numbers = format!("{all_of}{requests} requests: median {median}{tail}, longest {longest}{beside}");
    vec![
        figure(format!("{what}: latency"), numbers, Vec::new(), |size| plot::histogram(view, all, size)),
        figure(format!("{what}: latency request by request"), "in the order of issue".to_owned(), Vec::new(), |size| {
            plot::course(view, all, size)
        }),
    ]
}
