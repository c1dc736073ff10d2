//! A run of load as one HTML page.

use super::title;
use crate::html::plots::{Figure, Key, figure, rule, sections};
use crate::html::{one_table, page};
use crate::plot::{self, Hue};
use flashscope_model::bench::{BenchRecord, CacheVerdict};
use flashscope_model::preset::{LimitVerdict, PresetRun};
use flashscope_view::answer;
use flashscope_view::bench::plots::{CurvesView, RoundsView, TimesView};
use flashscope_view::bench::{bench, preset_table, results, summary, words};
use flashscope_view::made;
use maud::{Markup, html as markup};

/// Phases whose tables stand open on the page.
const OPEN: usize = 8;

/// The whole report of a run of load as one self-contained page.
pub fn html(record: &BenchRecord) -> String {
    let body = markup! {
        (header(record))
        main {
            @if let Some(preset) = &record.preset {
                (figures(preset, record.envelope.virtual_time))
                (limits(preset))
                (bounds(preset))
            }
            @if record.preset.is_none() { (tables(record, "What was measured")) }
            (evidence(record))
            @if record.preset.is_none() { (host(record)) }
            (plots(record))
            @if record.preset.is_some() { (tables(record, "Every run")) }
            @if let Some(preset) = &record.preset { (definition(preset)) }
        }
        footer { "flashscope " (record.envelope.tool.version) ". Every run, histogram and series stands in the JSON record." }
    };
    page(&title(record), &body)
}

fn header(record: &BenchRecord) -> Markup {
    let device = record.envelope.device.as_ref();
    let preset = record.preset.as_ref();
    let facts = [
        ("target", device.map(|_| record.envelope.target.clone())),
        ("capacity", device.map(|device| device.capacity.to_string())),
        ("identity", device.and_then(|device| device.identity.as_ref()).map(|identity| identity.0.clone())),
        ("brought into a state", made::state(&record.envelope)),
        ("defined by", preset.map(|preset| preset.source.clone())),
        ("when and where", record.envelope.when_and_where()),
        ("kernel", record.envelope.host.as_ref().map(|host| host.kernel.clone())),
    ];
    markup! {
        header {
            p.eyebrow { "flashscope " (record.envelope.command) }
            h1 {
                @match device {
                    Some(device) => { (answer::kind_word(device.kind)) " " (device.name) }
                    None => { (record.envelope.target) }
                }
                @if record.envelope.virtual_time { span.badge { "simulated, virtual time" } }
            }
            dl.facts {
                @for (name, fact) in facts {
                    @if let Some(fact) = fact { div { dt { (name) } dd { (fact) } } }
                }
            }
            @if let Some(preset) = preset {
                p style="margin-top:12px" { (preset.title) }
                @if !preset.changed.is_empty() || !preset.left_out.is_empty() {
                    p.callout { strong { (words::as_defined(preset)) } }
                }
            }
            @if let Some(why) = answer::cut_short(&record.envelope.stop) {
                p.callout { strong { "Cut short" } ": " (why) }
            }
        }
    }
}

fn figures(preset: &PresetRun, simulated: bool) -> Markup {
    markup! {
        section {
            h2 { "What was measured" }
            div."card scroll" { (one_table(&preset_table(preset, simulated))) }
            @if let Some(rounds) = &preset.rounds {
                p.muted style="margin-top:8px" { (rounds.run) " rounds: " (rounds.why) }
            }
        }
    }
}

fn limits(preset: &PresetRun) -> Markup {
    let level = |verdict| match verdict {
        LimitVerdict::Met => "good",
        LimitVerdict::Missed => "poor",
        LimitVerdict::CannotTell => "fair",
    };
    let all = || preset.figures.iter().filter(|figure| !figure.limits.is_empty());
    markup! {
        @if all().next().is_some() {
            section {
                h2 { "Against its limits" }
                div."card verdicts" {
                    @for figure in all() {
                        @for limit in &figure.limits {
                            div {
                                span.name { (figure.name) }
                                span.figure { (figure.value.map_or("–".to_owned(), |value| words::figure(value, figure.unit))) }
                                span.limit { (limit.name) ": " @if limit.at_least { "≥ " } @else { "≤ " } (words::figure(limit.limit, figure.unit)) }
                                span class={ "verdict " (level(limit.verdict)) } { (words::verdict(limit.verdict)) }
                                span.why { (limit.why) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn bounds(preset: &PresetRun) -> Markup {
    markup! {
        section {
            h2 { "What bounds these figures" }
            dl."card facts boxed" {
                @for (name, value) in &preset.bounds { div { dt { (name) } dd { (value) } } }
            }
            @if !preset.notes.is_empty() || !preset.left_out.is_empty() {
                ul."card notes" style="margin-top:12px" {
                    @for (job, why) in &preset.left_out { li { strong { "Left out" } ": " (job) ": " (why) } }
                    @for note in &preset.notes { li { (note) } }
                }
            }
        }
    }
}

/// What about the host changes results.
fn host(record: &BenchRecord) -> Markup {
    let conditions = record.envelope.conditions.before.iter();
    markup! {
        @if conditions.clone().next().is_some() {
            section {
                h2 { "Where it ran" }
                dl."card facts boxed" {
                    @for (name, value) in conditions { div { dt { (name.replace('_', " ")) } dd { (value) } } }
                }
            }
        }
    }
}

fn evidence(record: &BenchRecord) -> Markup {
    let level = |verdict| match verdict {
        CacheVerdict::Device => "good",
        CacheVerdict::Mixed | CacheVerdict::Unknown => "fair",
        CacheVerdict::Cache => "poor",
    };
    // Runs of one phase with the same verdict stand once, with what is said of the first of them.
    let of = |phase: &flashscope_model::bench::BenchPhase| {
        let mut seen: Vec<(CacheVerdict, String, usize)> = Vec::new();
        for run in &phase.runs {
            match seen.iter_mut().find(|(verdict, ..)| *verdict == run.evidence.verdict) {
                Some((.., count)) => *count += 1,
                None => seen.push((run.evidence.verdict, run.evidence.why.clone(), 1)),
            }
        }
        seen
    };
    let names = |phase: &flashscope_model::bench::BenchPhase| {
        let jobs = phase.runs.first().map(|run| &run.jobs);
        jobs.into_iter().flatten().map(|job| job.name.as_str()).collect::<Vec<_>>().join(", ")
    };
    let rows: Vec<_> = record
        .phases
        .iter()
        .flat_map(|phase| of(phase).into_iter().map(move |(verdict, why, count)| (phase, verdict, why, count)))
        .collect();
    let all_alike = rows.len() > 1 && rows.windows(2).all(|pair| pair[0].1 == pair[1].1 && pair[0].2 == pair[1].2);
    markup! {
        section {
            h2 { "Device or cache?" }
            div."card verdicts evidence" {
                @for (phase, verdict, why, count) in rows.iter().take(if all_alike { 1 } else { rows.len() }) {
                    div {
                        span.name {
                            @if all_alike { "all jobs" } @else { (names(phase)) }
                            @if !all_alike && phase.runs.len() > 1 { " (" (count) " of " (phase.runs.len()) " runs)" }
                        }
                        span class={ "verdict " (level(*verdict)) } { (words::whose(*verdict)) }
                        span.why { (why) }
                    }
                }
            }
        }
    }
}

fn plots(record: &BenchRecord) -> Markup {
    let view = bench(record);
    let laid_out = sections(vec![
        ("Round by round", view.rounds.iter().flat_map(rounds).collect()),
        ("Rate by bytes written", view.written.iter().map(written).collect()),
        ("Rate over time", view.series.iter().map(series).collect()),
        ("Latency", view.times.iter().flat_map(times).collect()),
    ]);
    markup! {
        (laid_out)
        @if view.left_out > 0 {
            p.muted { (view.left_out) " more jobs have no plots here; their series and histograms are in the record." }
        }
    }
}

fn rounds(view: &RoundsView) -> Vec<Figure> {
    let what = match view.window {
        Some((first, last)) => format!("steady in rounds {first} to {last}, which are tinted"),
        None => "no steady state".to_owned(),
    };
    let mut found =
        vec![figure(format!("{}, by round", view.title), what, Vec::new(), |size| plot::rounds(view, size))];
    if !view.by_written.is_empty() {
        let what = "against all bytes that the job had written".to_owned();
        found.push(figure(format!("{}, by bytes written", view.title), what, Vec::new(), |size| {
            plot::by_written(view, size)
        }));
    }
    found
}

fn runs(view: &CurvesView) -> Vec<Key> {
    let keys = view.curves.iter().enumerate();
    let keys = keys.map(|(at, (number, _))| rule(Hue::Series(at), format!("run {number}")));
    if view.curves.len() > 1 { keys.collect() } else { Vec::new() }
}

fn written(view: &CurvesView) -> Figure {
    let what = format!("points of {} requests and more", view.requests);
    figure(view.title.clone(), what, runs(view), |size| plot::curves_by_written(view, size))
}

fn series(view: &CurvesView) -> Figure {
    let points = format!("reads and writes together, points of {} requests and more", view.requests);
    let what = match view.stall {
        Some((time, from)) => format!("{points}; longest gap between completions {time}, at {from}"),
        None => points,
    };
    figure(view.title.clone(), what, runs(view), |size| plot::curves_by_time(view, size))
}

fn times(view: &TimesView) -> Vec<Figure> {
    let what = format!("{} requests, all runs: median {}, longest {}", view.requests, view.median, view.longest);
    vec![
        figure(format!("{}: {}", view.title, view.what), what, Vec::new(), |size| plot::times(view, size)),
        figure(
            format!("{}: {} at percentile", view.title, view.what),
            "the tail is cut where fewer than 10 samples remain".to_owned(),
            Vec::new(),
            |size| plot::percentiles(view, size),
        ),
    ]
}

fn tables(record: &BenchRecord, title: &str) -> Markup {
    let one = |phase: &flashscope_model::bench::BenchPhase| {
        let summary = summary(phase);
        markup! {
            @if !summary.rows.is_empty() {
                p.muted style="margin:12px 0 6px" { (summary.caption) }
                div."card scroll" style="margin-bottom:12px" { (one_table(&summary)) }
            }
            div."card scroll" { (one_table(&results(phase))) }
            @for job in phase.runs.first().map(|run| &run.jobs).into_iter().flatten() {
                p.muted style="font-size:13px;margin:6px 0 14px" { strong { (job.name) } ": " (words::job(job)) }
            }
        }
    };
    markup! {
        section {
            h2 { (title) }
            @for phase in record.phases.iter().take(OPEN) { (one(phase)) }
            @if record.phases.len() > OPEN {
                details {
                    summary { (record.phases.len() - OPEN) " more" }
                    @for phase in record.phases.iter().skip(OPEN) { (one(phase)) }
                }
            }
        }
    }
}

fn definition(preset: &PresetRun) -> Markup {
    markup! {
        section {
            details {
                summary { "The definition, as it was run" }
                div."card scroll" { pre.definition { code { (preset.definition) } } }
            }
        }
    }
}
