//! Limits on confidence that no single family of findings can know of: what was measured may not be one device, or none.

use crate::performance::course::{Key, courses};
use flashscope_model::finding::{Basis, Change, Doubt, Figure, Note, NoteKind};
use flashscope_model::{DeviceFacts, DeviceKind, Direction, Estimate, Finding, Geometry, Observations, Order, Reason};
use flashscope_units::Nanos;

/// Most that can be said from tables that contradict each other.
pub(crate) const CONTRADICTED: f64 = 0.6;

/// Most that can be said from tables of more than one device.
pub(crate) const SEVERAL_DEVICES: f64 = 0.5;

/// Most that can be said of the inside of a card from a file on another disk.
pub(crate) const NO_CARD: f64 = 0.5;

/// Places written in turn that no controller keeps as many logs for.
const MANY_AT_ONCE: u32 = 16;

/// A penalty so low is none.
const NO_PENALTY: f64 = 1.15;

/// A penalty from which on each random write costs a copy.
pub(crate) const COPIES: f64 = 2.5;

/// The warning that belongs before everything else where a file stands in for a device.
pub(crate) fn host_file(device: Option<&DeviceFacts>) -> Option<Note> {
    let what = match device?.kind {
        DeviceKind::File => "this is a file",
        DeviceKind::Loop => "this is a loop device on a file",
        _ => return None,
    };
    let text = format!(
        "{what}: what was measured is the file system, the cache and the disk of this computer, not the card that an image may \
         come from. Boundaries are those of the file's extents; there is no advice to format by"
    );
    Some(Note::new(NoteKind::HostFile, text).with_hint("name the card itself (`flashscope list` shows it)"))
}

/// Trials of one count that differ, of what rests on units that were written in turn.
pub(crate) fn counts_differ(geometry: &mut Geometry) {
    geometry.open_units_linear.doubt(Doubt::CountsDiffer);
    geometry.open_units_random.doubt(Doubt::CountsDiffer);
    geometry.mapping.doubt(Doubt::CountsDiffer);
}

/// Trials that met a cache now empty, now full, of what rests on writes.
pub(crate) fn cache_between(geometry: &mut Geometry) {
    struct OfWrites;
    impl Change for OfWrites {
        fn change<F: Figure>(&mut self, finding: Finding, estimate: &mut Estimate<F>) {
            if finding.basis() == Basis::Writes {
                estimate.doubt(Doubt::CacheBetween);
            }
        }
    }
    geometry.change(&mut OfWrites);
}

/// What rests on writes is no surer than `most`.
pub(crate) fn of_writes(geometry: &mut Geometry, most: f64) {
    geometry.change(&mut Cap { most, of: &[Basis::Writes] });
}

/// No answer that rests on times is surer than `most`.
pub(crate) fn of_everything(geometry: &mut Geometry, most: f64) {
    geometry.change(&mut Cap { most, of: &[Basis::Reads, Basis::Writes] });
}

struct Cap<'a> {
    most: f64,
    of: &'a [Basis],
}

impl Change for Cap<'_> {
    fn change<F: Figure>(&mut self, finding: Finding, estimate: &mut Estimate<F>) {
        if self.of.contains(&finding.basis()) {
            estimate.cap(self.most);
        }
    }
}

/// What tables of writes of two devices say taken together is said of neither.
pub(crate) fn of_tables_taken_together(geometry: &mut Geometry) {
    /// The reason that each such figure is left open.
    const WHY: &str = "the tables of this log are of more than one device, or behind more than one reader";
    fn withdraw<T>(estimate: &mut Estimate<T>) {
        if !estimate.is_unknown() {
            *estimate = Estimate::unknown(Reason::Contradicted, WHY);
        }
    }
    withdraw(&mut geometry.open_units_linear);
    withdraw(&mut geometry.open_units_random);
    withdraw(&mut geometry.random_order_penalty);
    withdraw(&mut geometry.fast_area);
    withdraw(&mut geometry.fast_area_parts);
    withdraw(&mut geometry.small_write_path);
    withdraw(&mut geometry.mapping);
}

/// Whether any number of places may be written in turn in this order, as far as was tried.
fn any_number(count: &Estimate<u32>) -> bool {
    count.least().is_some_and(|least| least >= MANY_AT_ONCE)
}

/// No number of units is too many in either order, and yet random order within one costs copies: a log that all units share
/// took what was written to many, and what was written to one filled it.
pub(crate) fn of_logs_that_were_not_full(geometry: &mut Geometry) {
    let copies = geometry.random_order_penalty.value().is_some_and(|penalty| penalty.ratio >= COPIES);
    if copies && any_number(&geometry.open_units_linear) && any_number(&geometry.open_units_random) {
        geometry.open_units_linear.doubt(Doubt::FewRequests);
        geometry.open_units_random.doubt(Doubt::FewRequests);
    }
}

/// No unit shows, no number of places was too many, and yet writes all over the device that go on for long take many times as long
/// at random as in order: logs that all units share took the trials, and were not full.
pub(crate) fn of_logs_that_were_full_at_last(geometry: &mut Geometry, observations: &Observations) {
    if !geometry.allocation_unit.is_unknown() {
        return;
    }
    let Some(times) = times_at_random(observations).filter(|times| *times >= OF_FULL_LOGS) else { return };
    let tried = |count: &Estimate<u32>| count.least().is_some() && count.value().is_none();
    for count in [&mut geometry.open_units_linear, &mut geometry.open_units_random] {
        if tried(count) {
            let why = format!(
                "{}; but long writes all over the device take {times:.0} times as long at random as in order: logs that all units \
                 share may have taken the trials, and not have been full",
                count.evidence()
            );
            *count = Estimate::unknown(Reason::Contradicted, why);
        }
    }
}

/// How many times as long writes to the whole device take at random as in order, at the block size where it is most.
fn times_at_random(observations: &Observations) -> Option<f64> {
    let courses = courses(observations);
    let mean = |times: &[Nanos]| times.iter().map(|time| time.as_f64()).sum::<f64>() / times.len() as f64;
    let ratio = |((direction, order, block), times): (&Key, &Vec<Nanos>)| {
        let in_order = courses.get(&(Direction::Write, Order::InOrder, *block))?;
        let is_random = (*direction, *order) == (Direction::Write, Order::Random);
        (is_random && !times.is_empty() && !in_order.is_empty())
            .then(|| mean(&times[times.len() / 2..]) / mean(in_order))
    };
    courses.iter().filter_map(ratio).max_by(f64::total_cmp)
}

/// Page-mapped devices of the fleets take 1.2 times as long at most, those with logs tens to hundreds.
const OF_FULL_LOGS: f64 = 10.0;

/// A unit that only reads show: where any number of places may be written in turn in any order for nothing, what
/// reads across its edges pay for may as well be the next stretch of the map; and it is, where a part of the map alone is in memory.
pub(crate) fn of_units_without_effect(geometry: &mut Geometry) {
    let limited = |count: &Estimate<u32>| count.value().is_some();
    let written = limited(&geometry.open_units_linear) || limited(&geometry.open_units_random);
    if let Some(reach) = geometry.map_reach.value().filter(|_| !written && !geometry.allocation_unit.is_unknown()) {
        let why = format!(
            "{}; the map of {reach} alone is in memory, and writes show nothing of units: it may be a stretch of the map",
            geometry.allocation_unit.evidence()
        );
        geometry.boundary_offset = Estimate::unknown(Reason::Contradicted, why.clone());
        geometry.allocation_unit = Estimate::unknown(Reason::Contradicted, why);
        return;
    }
    let in_any_order = geometry.random_order_penalty.value().is_some_and(|penalty| penalty.ratio < NO_PENALTY);
    if in_any_order && any_number(&geometry.open_units_linear) && any_number(&geometry.open_units_random) {
        geometry.allocation_unit.doubt(Doubt::NoEffect);
        geometry.boundary_offset.doubt(Doubt::NoEffect);
        if geometry.allocation_unit.value().is_some() {
            geometry.allocation_unit.add_evidence("writes show nothing of it: it may be a stretch of the map");
        }
    }
}

/// A block that is at hand whatever was read since, where a part of the map alone is in memory: it may be the map of it that is.
pub(crate) fn of_maps_at_hand(geometry: &mut Geometry) {
    let endless = geometry.read_buffer.least().is_some() && geometry.read_buffer.most().is_none();
    // Reads that lie far apart wait for something, and it is not known for what: misses of the map look like that.
    let unclear = geometry.map_reach.reason() == Some(Reason::Ambiguous);
    if endless && (geometry.map_reach.value().is_some() || unclear) {
        let why = format!(
            "{}, and a part of the map alone is in memory, or may be: what is at hand may be the map of the block",
            geometry.read_buffer.evidence()
        );
        geometry.read_buffer = Estimate::unknown(Reason::Contradicted, why);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::run;
    use flashscope_model::Data;
    use flashscope_model::observation::ThroughputData;
    use flashscope_model::plan::Purpose;
    use flashscope_units::Bytes;

    fn geometry(unit: Option<Bytes>) -> Geometry {
        let mut geometry = Geometry::unknown(Reason::NothingShows);
        if let Some(unit) = unit {
            geometry.allocation_unit = Estimate::known(unit, 0.99, "reads", &[]);
        }
        geometry.open_units_linear = Estimate::at_least(53, 0.99, "no fall", &[]);
        geometry
    }

    #[test]
    fn what_reads_alone_show_is_no_unit_where_a_part_of_the_map_is_in_memory() {
        let check = |reach: Option<Bytes>, limit: Option<u32>| {
            let mut geometry = geometry(Some(Bytes::mib(18)));
            if let Some(reach) = reach {
                geometry.map_reach = Estimate::known(reach, 0.99, "reads", &[]);
            }
            if let Some(limit) = limit {
                geometry.open_units_linear = Estimate::known(limit, 0.99, "a fall", &[]);
            }
            of_units_without_effect(&mut geometry);
            geometry.allocation_unit.value().is_some()
        };
        let reach = Some(Bytes::mib(106));
        assert_eq!([check(None, None), check(reach, None), check(reach, Some(5))], [true, false, true]);
    }

    #[test]
    fn a_block_that_stays_at_hand_says_nothing_where_the_map_does_not() {
        let check = |reach: Estimate<Bytes>, most: Option<Bytes>| {
            let mut geometry = geometry(None);
            geometry.map_reach = reach;
            let least = Bytes::kib(512);
            geometry.read_buffer = match most {
                Some(most) => Estimate::between(least, most, 0.95, "reads", &[]),
                None => Estimate::at_least(least, 0.95, "reads", &[]),
            };
            of_maps_at_hand(&mut geometry);
            geometry.read_buffer.least()
        };
        let (all, unclear) = (Estimate::at_least(Bytes::gib(8), 0.99, "reads", &[]), Reason::Ambiguous);
        assert_eq!(check(all, None), Some(Bytes::kib(512)));
        assert_eq!(check(Estimate::known(Bytes::mib(64), 0.99, "reads", &[]), None), None);
        assert_eq!(check(Estimate::unknown(unclear, "misses in any range"), None), None);
        assert_eq!(
            check(Estimate::unknown(unclear, "misses in any range"), Some(Bytes::mib(1))),
            Some(Bytes::kib(512))
        );
    }

    /// Long writes in order of 5 ms, and at random so many times as long once logs are full.
    fn long_writes(times: u64) -> Observations {
        let written = |order, slow: u64| {
            let times = [Nanos::millis(5); 20].into_iter().chain([Nanos::millis(5 * slow); 20]).collect();
            let data = ThroughputData {
                direction: Direction::Write,
                order,
                block: Bytes::kib(128),
                start: Bytes::ZERO,
                length: Bytes::gib(4),
                purpose: Purpose::Performance,
                times,
            };
            run(Data::Throughput(data))
        };
        let runs = vec![written(Order::InOrder, 1), written(Order::Random, times)];
        Observations { runs, ..Observations::default() }
    }

    #[test]
    fn no_number_of_places_is_too_many_but_for_logs_that_were_full_at_last() {
        let check = |unit: Option<Bytes>, times: u64| {
            let mut geometry = geometry(unit);
            of_logs_that_were_full_at_last(&mut geometry, &long_writes(times));
            geometry.open_units_linear.least()
        };
        assert_eq!([check(None, 1), check(None, 40), check(Some(Bytes::mib(4)), 40)], [Some(53), None, Some(53)]);
    }
}
