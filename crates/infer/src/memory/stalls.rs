//! Stalls of collection: long writes in order over whole units, of which a few take far longer than the rest.

use super::ns;
use crate::numbers::median;
use flashscope_model::finding::Collection;
use flashscope_model::{Data, Direction, Estimate, Observations, Order};
use flashscope_units::{Bytes, Nanos};

/// Shorter blocks tell more of merges than of collection.
const LEAST_BLOCK: Bytes = Bytes::kib(128);

/// A write is stalled that takes so many times the median of its run …
const FAR_OFF: f64 = 3.0;

/// … and so much more than it.
const LEAST_STALL: f64 = 10e6;

/// Fewer stalls say nothing of their spacing.
const LEAST_STALLS: usize = 3;

/// How long stalls are, and how far apart.
pub(super) fn estimate(observations: &Observations) -> Estimate<Collection> {
    let mut stalls: Vec<f64> = Vec::new();
    let (mut written, mut writes) = (Bytes::ZERO, 0);
    for run in &observations.runs {
        let Data::Throughput(data) = &run.data else { continue };
        let right = (data.direction, data.order) == (Direction::Write, Order::InOrder) && data.block >= LEAST_BLOCK;
        // The first write may have to close what an earlier experiment left open.
        let times = ns(data.times.get(1..).unwrap_or_default());
        let Some(usual) = median(&times).filter(|_| right) else { continue };
        let over = times.iter().map(|time| time - usual);
        stalls.extend(over.filter(|over| *over > LEAST_STALL && *over > (FAR_OFF - 1.0) * usual));
        written += data.block * times.len() as u64;
        writes += times.len();
    }
    if written == Bytes::ZERO {
        return Estimate::unknown("nothing was written in order over whole units");
    }
    if stalls.len() < LEAST_STALLS {
        let seen = if stalls.is_empty() { "no".to_owned() } else { stalls.len().to_string() };
        return Estimate::unknown(format!(
            "{seen} stalls in {written} written in order: too few to tell their spacing"
        ));
    }
    stalls.sort_by(f64::total_cmp);
    let time = |ns: f64| Nanos(ns as u64);
    let stall = time(median(&stalls).unwrap_or_default());
    let found = Collection {
        stall,
        shortest: time(stalls[0]),
        longest: time(stalls[stalls.len() - 1]),
        spacing: written / stalls.len() as u64,
    };
    let evidence = format!("{} of {writes} long writes in order stall, {stall} in the middle", stalls.len());
    // The spacing scatters as one over the square root of their number.
    let confidence = 1.0 - 0.5 / (stalls.len() as f64).sqrt();
    Estimate::known(found, confidence, evidence, &["throughput"])
}
