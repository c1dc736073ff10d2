//! Limits on confidence that no single family of findings can know of: what was measured may not be one device, or none.

use flashscope_model::finding::{Note, Severity};
use flashscope_model::{DeviceFacts, DeviceKind, Estimate, Geometry};

/// Most that can be said from tables that contradict each other.
pub(crate) const CONTRADICTED: f64 = 0.6;

/// Most that can be said from tables of more than one device.
pub(crate) const SEVERAL_DEVICES: f64 = 0.5;

/// Most that can be said of the inside of a card from a file on another disk.
pub(crate) const NO_CARD: f64 = 0.5;

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

/// What rests on writes is no surer than `most`.
pub(crate) fn of_writes(geometry: &mut Geometry, most: f64) {
    cap(&mut geometry.open_units_linear, most);
    cap(&mut geometry.open_units_random, most);
    cap(&mut geometry.random_order_penalty, most);
    cap(&mut geometry.small_write_path, most);
    cap(&mut geometry.fast_area, most);
    cap(&mut geometry.memory.write_buffer, most);
    cap(&mut geometry.memory.write_buffer_volatile, most);
    cap(&mut geometry.memory.write_buffer_flushed_by_read, most);
    cap(&mut geometry.memory.write_buffer_flush_window, most);
    cap(&mut geometry.memory.collection, most);
}

/// No answer at all is surer than `most`.
pub(crate) fn of_everything(geometry: &mut Geometry, most: f64) {
    of_writes(geometry, most);
    cap(&mut geometry.allocation_unit, most);
    cap(&mut geometry.page, most);
    cap(&mut geometry.boundary_offset, most);
    cap(&mut geometry.page_inner, most);
    cap(&mut geometry.memory.read_buffer, most);
    cap(&mut geometry.memory.read_ahead, most);
}
