//! Buffers and read-ahead: what the findings are sure of becomes a section of the model; what a section needs beyond that
//! is set so that the figures that were measured do not show it.

use crate::card::{Card, Origin};
use crate::measured::Measured;
use crate::shape::is_sure;
use flashscope_model::Estimate;
use flashscope_model::finding::{BufferLimit, WriteBuffer};
use flashscope_model::observation::Observations;
use flashscope_model::{Data, Geometry};
use flashscope_units::{Bytes, Nanos};

/// Fills in the sections of the memory; one that was not found, or is not sure, stays away.
pub(crate) fn fill(card: &mut Card, measured: &Measured, page: Bytes) {
    let geometry = &measured.findings.geometry;
    if let Some(buffer) = sure_value(&geometry.write_buffer) {
        write_buffer(card, geometry, buffer, &measured.observations);
    }
    if let Some(size) = sure_value(&geometry.read_buffer).filter(|size| *size > Bytes::ZERO) {
        card.set_size("read_buffer.size", size, found(&geometry.read_buffer));
        let line = part_of(size, page);
        card.set_size(
            "read_buffer.line",
            line,
            default("what comes in as one does not show; a page where it divides it"),
        );
    }
    if let Some(ahead) = sure_value(&geometry.read_ahead).filter(|ahead| ahead.window > Bytes::ZERO) {
        card.set_size("read_ahead.window", ahead.window, found(&geometry.read_ahead));
        card.set_count("read_ahead.trigger", u64::from(ahead.trigger.max(1)), found(&geometry.read_ahead));
        let step = part_of(ahead.window, page);
        card.set_size("read_ahead.step", step, default("its steps do not show; a page where it divides the window"));
    }
}

/// Whether durable writes end in memory that survives a power cut: then single ones do not say what the flash takes.
pub(crate) fn takes_durable_writes(measured: &Measured) -> bool {
    let geometry = &measured.findings.geometry;
    sure_value(&geometry.write_buffer).is_some() && sure_value(&geometry.write_buffer_volatile) == Some(false)
}

fn write_buffer(card: &mut Card, geometry: &Geometry, buffer: WriteBuffer, observations: &Observations) {
    let told = || found(&geometry.write_buffer);
    match buffer.limit {
        BufferLimit::Bytes | BufferLimit::Unknown => {
            card.set_size("write_buffer.size", buffer.size, told());
            let why =
                if buffer.limit == BufferLimit::Bytes { told() } else { default("one size of writes was tried only") };
            card.set_count("write_buffer.entries", 0, why);
        }
        BufferLimit::Entries => {
            // Bytes must not run out before entries do in any of the writes that were tried.
            let longest = observations.runs.iter().filter_map(|run| match &run.data {
                Data::Buffer(data) => Some(data.block),
                _ => None,
            });
            let longest = longest.max().unwrap_or(buffer.block).max(buffer.block);
            let why = "entries run out first; as many bytes as the longest writes that were tried";
            card.set_size("write_buffer.size", longest * u64::from(buffer.writes), default(why));
            card.set_count("write_buffer.entries", u64::from(buffer.writes), told());
        }
    }
    card.set_text("write_buffer.flush", "whole", default("all at once or bit by bit does not show"));
    let (window, why) = flush_window(&geometry.write_buffer_flush_window);
    card.set_time("write_buffer.window", window, why);
    let by_read = &geometry.write_buffer_flushed_by_read;
    let (value, why) = flag(by_read, false, "not told; a read is not seen to wait");
    card.set_flag("write_buffer.flushed_by_read", value, why);
    // Past a volatile buffer, durable writes take the times that were measured.
    let (value, why) =
        flag(&geometry.write_buffer_volatile, true, "not told; durable writes are fitted as they were measured");
    card.set_flag("write_buffer.volatile", value, why);
}

/// Rest after which the buffer is written out, in nanoseconds: the middle of what was found; 0 where it was not seen to.
fn flush_window(found_window: &Estimate<Nanos>) -> (f64, Origin) {
    let sure = is_sure(found_window.confidence());
    let middle = match (found_window.value(), found_window.least(), found_window.most()) {
        _ if !sure => None,
        (Some(value), ..) => Some(value.as_f64()),
        (None, Some(least), Some(most)) => Some((least.as_f64() + most.as_f64()) / 2.0),
        (None, None, Some(most)) => Some(most.as_f64()),
        (None, _, None) => None,
    };
    match middle {
        Some(ns) => (ns, found(found_window)),
        None if sure => (0.0, found(found_window)),
        None => (0.0, default("not told; it is not seen to be written out by itself")),
    }
}

fn flag(estimate: &Estimate<bool>, otherwise: bool, why: &str) -> (bool, Origin) {
    sure_value(estimate).map_or_else(|| (otherwise, default(why)), |value| (value, found(estimate)))
}

/// A page where it divides the size, or the largest sectors that do.
fn part_of(size: Bytes, page: Bytes) -> Bytes {
    Bytes(gcd(size.get(), page.get().max(1)))
}

/// Greatest common divisor; that of anything and 0 is itself.
pub(crate) const fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

fn sure_value<T: Copy>(estimate: &Estimate<T>) -> Option<T> {
    estimate.value().filter(|_| is_sure(estimate.confidence()))
}

fn found<T>(estimate: &Estimate<T>) -> Origin {
    let sure =
        estimate.confidence().map_or_else(String::new, |confidence| format!(", {:.1} % sure", confidence * 100.0));
    Origin::Found(format!("by inference{sure}"))
}

fn default(why: &str) -> Origin {
    Origin::Default(why.to_owned())
}
