//! Figures of replayed traces, and of what an explanation replayed.

use super::{Figure, Measured, Setting, time};
use crate::trace::plural;
use flashscope_model::comparison::{Better, Metric};
use flashscope_model::explanation::ExplanationRecord;
use flashscope_model::trace::{TraceFigures, TraceRecord};
use flashscope_units::Nanos;

/// Of a replay its time, and of a trace, replayed or as it was recorded, mean and 99th percentile of latency by kind.
pub(super) fn of_trace(record: &TraceRecord) -> Measured {
    let asked = &record.figures;
    let set = |what: &str, value: String, decisive| Setting { what: what.to_owned(), value, decisive };
    let mut settings: Vec<Setting> = asked
        .kinds
        .iter()
        .map(|kind| set(&format!("trace: {}", plural(kind.op)), format!("{} of {}", kind.requests, kind.bytes), true))
        .collect();
    let Some(replay) = &record.replay else {
        return Measured { runs: vec![latencies(asked)], settings };
    };
    settings.push(set("mode", replay.mode.clone(), true));
    // What the filters of a replay do is what is compared.
    settings.push(set("changes", join(&replay.changes), false));
    // A request that failed took no part of the time that it would have taken.
    if !replay.failures.is_empty() {
        return Measured { runs: Vec::new(), settings };
    }
    let total = time("replay time".to_owned(), replay.total);
    Measured { runs: vec![std::iter::once(total).chain(latencies(&replay.figures)).collect()], settings }
}

/// How long the workload takes on either device, and how many times as long on B, one run for each seed.
pub(super) fn of_explanation(record: &ExplanationRecord) -> Measured {
    let set = |what: &str, value: String, decisive| Setting { what: what.to_owned(), value, decisive };
    let workload = &record.workload;
    let settings = vec![
        set("trace: requests", workload.requests.to_string(), true),
        set("trace: data", format!("{} read, {} written", workload.read, workload.written), true),
        set("changes", join(&workload.changes), false),
        set("A", record.a.name.clone(), false),
        set("B", record.b.name.clone(), false),
    ];
    let run = |(a, b): (&Nanos, &Nanos)| {
        let metric = Metric { name: "B over A".to_owned(), unit: String::new(), better: Better::Lower };
        let over = (*a > Nanos::ZERO).then(|| Figure { metric, value: b.as_f64() / a.as_f64() });
        [time("time on A".to_owned(), *a), time("time on B".to_owned(), *b)].into_iter().chain(over).collect()
    };
    Measured { runs: record.a.times.iter().zip(&record.b.times).map(run).collect(), settings }
}

fn latencies(figures: &TraceFigures) -> Vec<Figure> {
    let of = figures.kinds.iter().filter_map(|kind| Some((plural(kind.op), kind.times?)));
    of.flat_map(|(name, times)| {
        let p99 = times.p99.map(|p99| time(format!("{name} p99"), p99));
        std::iter::once(time(name.to_owned(), times.mean)).chain(p99)
    })
    .collect()
}

fn join(changes: &[String]) -> String {
    if changes.is_empty() { "none".to_owned() } else { changes.join("; ") }
}
