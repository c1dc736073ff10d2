//! The requests of each cell of the performance table, without what earlier experiments left behind.
//!
//! Trials of open units and random writes leave units open that hold a little each. The next units that are opened close them, one
//! for one, and a whole unit is copied each time: that is the price of what was written before, not of what is written now. Once as
//! many units were opened in order as the device keeps open, nothing of it is left.

use crate::open_units;
use flashscope_model::observation::ThroughputData;
use flashscope_model::plan::Purpose;
use flashscope_model::{Data, Direction, Observations, Order};
use flashscope_units::{Bytes, Nanos};
use std::collections::BTreeMap;

/// What a cell is of.
pub(crate) type Key = (Direction, Order, Bytes);

/// Service times of each cell in the order of issue, less those of the requests that closed what was left open.
pub(crate) fn courses(observations: &Observations) -> BTreeMap<Key, Vec<Nanos>> {
    let mut cells: BTreeMap<Key, Vec<Nanos>> = BTreeMap::new();
    let mut left = LeftOpen::new(observations);
    for data in cells_of(observations) {
        let times = cells.entry((data.direction, data.order, data.block)).or_default();
        match (data.direction, data.order) {
            (Direction::Write, Order::InOrder) => {
                times.extend(
                    (0u64..).zip(&data.times).filter(|(index, _)| !left.closes(data, *index)).map(|(_, time)| time),
                );
            }
            (Direction::Write, Order::Random) => times.extend(&data.times[left.closed_at_random(data.times.len())..]),
            (Direction::Read, _) => times.extend(&data.times),
        }
    }
    cells
}

/// The runs that were made for the table.
pub(crate) fn cells_of(observations: &Observations) -> impl Iterator<Item = &ThroughputData> {
    observations.runs.iter().filter_map(|run| match &run.data {
        Data::Throughput(data) if data.purpose == Purpose::Performance => Some(data),
        _ => None,
    })
}

/// How many units can be open at once, and how large they are: known, or tried without a limit.
pub(crate) fn open_at_once(observations: &Observations) -> Option<(u64, Bytes)> {
    let unit = open_units::trial_unit(observations)?;
    let found = open_units::estimate(observations, Order::InOrder);
    let count = found.value().or(found.least())?;
    // A record may hold a unit of nothing.
    (unit > Bytes::ZERO).then_some((u64::from(count), unit))
}

/// Random writes beyond those that close what was left open: what is said of the rate rests on them.
pub(crate) const AFTER_CLOSING: usize = 24;

/// Counts the units that writes in order have opened.
struct LeftOpen {
    most: u64,
    unit: Bytes,
    opened: u64,
    last: Option<Bytes>,
    /// Whether random writes have closed all that writes in order, and trials before them, had left open.
    is_scattered: bool,
}

impl LeftOpen {
    fn new(observations: &Observations) -> LeftOpen {
        let (most, unit) = open_at_once(observations).unwrap_or((0, Bytes(u64::MAX)));
        LeftOpen { most, unit, opened: 0, last: None, is_scattered: false }
    }

    /// How many of so many random writes closed what others had left open; none where the run is too short to do without them.
    fn closed_at_random(&mut self, requests: usize) -> usize {
        (self.opened, self.last) = (0, None);
        let most = usize::try_from(self.most).unwrap_or(usize::MAX);
        let closed = if !self.is_scattered && requests >= most.saturating_add(AFTER_CLOSING) { most } else { 0 };
        self.is_scattered |= closed > 0;
        closed
    }

    /// Whether this request opened a unit while others may have been left open.
    fn closes(&mut self, data: &ThroughputData, index: u64) -> bool {
        self.is_scattered = false;
        let blocks = data.length / data.block;
        // Stretches begin where a unit does.
        let at = data.start + (data.block * (index % blocks.max(1))).align_down(self.unit);
        let opens = self.last != Some(at);
        self.last = Some(at);
        self.opened += u64::from(opens);
        opens && self.opened <= self.most
    }
}
