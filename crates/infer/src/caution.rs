//! Limits on confidence that no single family of findings can know of: what was measured may not be one device, or none.

use flashscope_model::finding::{Memory, Note, Severity};
use flashscope_model::{DeviceFacts, DeviceKind, DriveFindings, Estimate, Geometry};

/// Most that can be said from tables that contradict each other.
pub(crate) const CONTRADICTED: f64 = 0.6;

/// Most that can be said from tables of more than one device.
pub(crate) const SEVERAL_DEVICES: f64 = 0.5;

/// Most that can be said of the inside of a card from a file on another disk.
pub(crate) const NO_CARD: f64 = 0.5;

/// Most that can be said from trials that met a cache now empty, now full: of the answers of such devices in fleets about
/// one in twenty is wrong.
pub(crate) const CACHE_IN_BETWEEN: f64 = 0.95;

/// Most that can be said of a unit that writes show nothing of: one in seven in fleets is none. Where such units begin is
/// right all the same.
const WITHOUT_EFFECT: f64 = 0.85;
const WHERE_WITHOUT_EFFECT: f64 = 0.97;

/// Places written in turn that no controller keeps as many logs for.
const MANY_AT_ONCE: u32 = 16;

/// A penalty so low is none.
const NO_PENALTY: f64 = 1.15;

/// The warning that belongs before everything else where a file stands in for a device.
pub(crate) fn host_file(device: Option<&DeviceFacts>) -> Option<Note> {
    let what = match device?.kind {
        DeviceKind::File => "this is a file",
        DeviceKind::Loop => "this is a loop device on a file",
        _ => return None,
    };
    Some(Note {
        severity: Severity::Warning,
        text: format!(
            "{what}: what was measured is the file system, the cache and the disk of this computer, not the card that an \
             image may come from. Boundaries are those of the file's extents; there is no advice to format by"
        ),
        hint: Some("name the card itself (`flashscope list` shows it)".into()),
    })
}

/// No answer is surer than `most`.
pub(crate) fn cap<T>(estimate: &mut Estimate<T>, most: f64) {
    estimate.confidence = estimate.confidence.map(|confidence| confidence.min(most));
}

/// What rests on units that were written in turn is no surer than `most`.
pub(crate) fn of_counts(geometry: &mut Geometry, most: f64) {
    cap(&mut geometry.open_units_linear, most);
    cap(&mut geometry.open_units_random, most);
    cap(&mut geometry.drive.mapping, most);
}

/// What rests on writes is no surer than `most`.
pub(crate) fn of_writes(geometry: &mut Geometry, most: f64) {
    cap_all(geometry, most, Basis::Writes);
}

/// No answer at all is surer than `most`.
pub(crate) fn of_everything(geometry: &mut Geometry, most: f64) {
    cap_all(geometry, most, Basis::Anything);
}

/// What tables of writes of two devices say taken together is said of neither.
pub(crate) fn of_tables_taken_together(geometry: &mut Geometry) {
    const WHY: &str = "the tables of this log are of more than one device, or behind more than one reader";
    fn withdraw<T>(estimate: &mut Estimate<T>) {
        if !estimate.is_unknown() {
            *estimate = Estimate::unknown(WHY);
        }
    }
    withdraw(&mut geometry.open_units_linear);
    withdraw(&mut geometry.open_units_random);
    withdraw(&mut geometry.random_order_penalty);
    withdraw(&mut geometry.fast_area);
    withdraw(&mut geometry.fast_area_parts);
    withdraw(&mut geometry.small_write_path);
    withdraw(&mut geometry.drive.mapping);
}

/// A unit that only reads show: where any number of places may be written in turn in any order for nothing, what
/// reads across its edges pay for may as well be the next stretch of the map.
pub(crate) fn of_units_without_effect(geometry: &mut Geometry) {
    let any_number = |count: &Estimate<u32>| count.at_least.is_some_and(|least| least >= MANY_AT_ONCE);
    let in_any_order = geometry.random_order_penalty.value.is_some_and(|penalty| penalty.ratio < NO_PENALTY);
    if in_any_order && any_number(&geometry.open_units_linear) && any_number(&geometry.open_units_random) {
        cap(&mut geometry.allocation_unit, WITHOUT_EFFECT);
        cap(&mut geometry.boundary_offset, WHERE_WITHOUT_EFFECT);
        if geometry.allocation_unit.value.is_some() {
            geometry.allocation_unit.evidence.push_str("; writes show nothing of it: it may be a stretch of the map");
        }
    }
}

/// What a finding must rest on to be capped.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Basis {
    Writes,
    Anything,
}

/// Every finding is named, so that a new one cannot be forgotten.
fn cap_all(geometry: &mut Geometry, most: f64, basis: Basis) {
    let Geometry {
        allocation_unit,
        boundary_offset,
        page,
        page_inner,
        open_units_linear,
        open_units_random,
        random_order_penalty,
        fast_area,
        fast_area_parts,
        small_write_path,
        never_written: _,
        memory,
        drive,
    } = geometry;
    let Memory {
        write_buffer,
        write_buffer_volatile,
        write_buffer_flushed_by_read,
        write_buffer_flush_window,
        read_buffer,
        read_ahead,
        collection,
    } = memory;
    let DriveFindings {
        mapping,
        stripe,
        parallel_units,
        channels,
        slc_cache,
        slc_cache_recovery,
        map_reach,
        bits_per_cell,
        write_amplification,
        physical_over_user,
    } = drive;
    cap(open_units_linear, most);
    cap(open_units_random, most);
    cap(random_order_penalty, most);
    cap(fast_area, most);
    cap(fast_area_parts, most);
    cap(small_write_path, most);
    cap(write_buffer, most);
    cap(write_buffer_volatile, most);
    cap(write_buffer_flushed_by_read, most);
    cap(write_buffer_flush_window, most);
    cap(collection, most);
    cap(mapping, most);
    cap(slc_cache, most);
    cap(slc_cache_recovery, most);
    cap(write_amplification, most);
    cap(physical_over_user, most);
    if basis == Basis::Anything {
        cap(allocation_unit, most);
        cap(boundary_offset, most);
        cap(page, most);
        cap(page_inner, most);
        cap(read_buffer, most);
        cap(read_ahead, most);
        cap(stripe, most);
        cap(parallel_units, most);
        cap(channels, most);
        cap(map_reach, most);
        cap(bits_per_cell, most);
    }
}
