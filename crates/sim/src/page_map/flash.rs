//! The dies and channels, and the work that waits for them.
//!
//! A read is put on its die at once, behind what that die has begun. Programs, copies and erases wait in a queue per die and
//! begin when the die is free and time has come that far ([`Flash::advance`]), so a read does not stand behind a full
//! write buffer but at most behind the operation under way. Who must know when waiting work is done (a flush, a
//! write that finds the buffer full) makes time advance; what has begun is never moved again.

use super::params::{Geometry, PageMapParams};
use super::timeline::Timeline;
use flashscope_units::{Instant, Nanos};
use std::collections::VecDeque;

/// The number of the row of a program that nobody reads before it is done.
const NOT_IN_FLIGHT: u64 = u64::MAX;

/// Waiting work of one die.
#[derive(Clone, Copy, Debug)]
struct Operation {
    ready: Instant,
    /// Bytes over the channel before the die starts.
    transfer: u32,
    busy: Nanos,
    /// Map units of host data that leave the write buffer when it is done.
    host_units: u32,
    /// How many of the die's sources it copies.
    sources: u32,
    /// Which row in flight it programs.
    flight: u64,
}

/// Pages of one row that a collection reads to copy them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source {
    pub(super) die: u32,
    pub(super) superblock: u32,
    pub(super) row: u32,
    pub(super) units: u32,
    pub(super) sense: Nanos,
}

/// A program: slots `first .. end` of a superblock, all of one row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Program {
    pub(super) first: u32,
    pub(super) units: u32,
    pub(super) ready: Instant,
    pub(super) busy: Nanos,
    pub(super) host_units: u32,
}

#[derive(Clone, Debug, Default)]
struct Die {
    free_at: Instant,
    queue: VecDeque<Operation>,
    sources: VecDeque<Source>,
}

/// A row whose data are still in the controller's memory.
#[derive(Clone, Copy, Debug)]
struct InFlight {
    first: u32,
    units: u32,
    /// Absent while the program waits.
    end: Option<Instant>,
}

/// What a superblock still has to do with the flash.
#[derive(Clone, Copy, Debug, Default)]
struct Reach {
    /// Reads of it by copies that wait.
    waiting_reads: u32,
    /// End of the last read by a copy.
    quiet_at: Instant,
    /// Rows of it in flight.
    in_flight: u32,
}

/// All dies and channels.
#[derive(Clone, Debug)]
pub(super) struct Flash {
    geometry: Geometry,
    bus_ns_per_unit: f64,
    dies: Vec<Die>,
    channels: Vec<Timeline>,
    waiting: u32,
    /// When host data leave the write buffer, in order of time.
    releases: VecDeque<(Instant, u32)>,
    in_flight: VecDeque<InFlight>,
    /// Number of the first row in `in_flight`.
    first_flight: u64,
    /// Nothing begins before this any more.
    floor: Instant,
    reach: Vec<Reach>,
    /// When the last begun program of host data ends.
    pub(super) host_end: Instant,
    #[cfg(test)]
    pub(super) trace: Option<Vec<Taken>>,
}

/// For the tests: who was taken, and when.
#[cfg(test)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Taken {
    pub(super) channel: bool,
    pub(super) index: u32,
    pub(super) start: Instant,
    pub(super) end: Instant,
}

impl Flash {
    pub(super) fn new(params: &PageMapParams, geometry: &Geometry) -> Flash {
        Flash {
            geometry: geometry.clone(),
            bus_ns_per_unit: geometry.unit as f64 * 1e9 / params.nand.bus_bytes_per_s,
            dies: vec![Die::default(); geometry.dies as usize],
            channels: vec![Timeline::default(); geometry.channels as usize],
            waiting: 0,
            releases: VecDeque::new(),
            in_flight: VecDeque::new(),
            first_flight: 0,
            floor: Instant::ORIGIN,
            reach: vec![Reach::default(); geometry.superblocks as usize],
            host_end: Instant::ORIGIN,
            #[cfg(test)]
            trace: None,
        }
    }

    /// Begins all waiting work whose turn comes by `until`, in order of its start.
    pub(super) fn advance(&mut self, until: Instant) {
        while let Some((start, die)) = self.next_start()
            && start <= until
        {
            self.begin(die);
        }
    }

    /// Begins all waiting work.
    pub(super) fn advance_through(&mut self) {
        while let Some((_, die)) = self.next_start() {
            self.begin(die);
        }
    }

    /// Nobody will ask for times before `floor`, which has been advanced to.
    pub(super) fn forget(&mut self, floor: Instant) {
        self.floor = floor;
        for channel in &mut self.channels {
            channel.forget(floor);
        }
        while let Some(row) = self.in_flight.front()
            && row.end.is_some_and(|end| end <= floor)
        {
            self.reach[self.geometry.superblock(row.first) as usize].in_flight -= 1;
            self.in_flight.pop_front();
            self.first_flight += 1;
        }
    }

    /// When the next waiting work begins, if nothing comes between.
    pub(super) fn next(&self) -> Option<Instant> {
        self.next_start().map(|(start, _)| start)
    }

    /// Operations that wait.
    pub(super) fn waiting(&self) -> u32 {
        self.waiting
    }

    /// Reads from one row: sensing, then the channel. Says when the data are in the controller.
    pub(super) fn read(&mut self, die: u32, at: Instant, sense: Nanos, units: u32) -> Instant {
        let start = at.max(self.dies[die as usize].free_at);
        let length = self.bus(units);
        let channel = (die % self.geometry.channels) as usize;
        let (from, end) = self.channels[channel].reserve(start + sense, length);
        self.occupy(die, start, end);
        self.note_channel(channel, from, end);
        end
    }

    /// Queues a program; it copies from `sources` where there are any.
    pub(super) fn program(&mut self, program: Program, sources: &mut Vec<Source>) {
        let superblock = self.geometry.superblock(program.first);
        let die = self.geometry.die(self.geometry.row(self.geometry.slot(program.first)));
        self.reach[superblock as usize].in_flight += 1;
        let flight = self.first_flight + self.in_flight.len() as u64;
        self.in_flight.push_back(InFlight { first: program.first, units: program.units, end: None });
        self.wait(
            die,
            Operation {
                ready: program.ready,
                transfer: program.units,
                busy: program.busy,
                host_units: program.host_units,
                sources: sources.len() as u32,
                flight,
            },
        );
        self.dies[die as usize].sources.extend(sources.drain(..));
    }

    /// Queues an erase of a superblock on every die, after the last read from it.
    pub(super) fn erase(&mut self, superblock: u32, at: Instant, busy: Nanos) {
        let ready = at.max(self.reach[superblock as usize].quiet_at);
        for die in 0..self.geometry.dies {
            self.wait(die, Operation { ready, transfer: 0, busy, host_units: 0, sources: 0, flight: NOT_IN_FLIGHT });
        }
    }

    /// Queues a program of `units` that nobody waits for and nobody reads: a page of the map.
    pub(super) fn program_aside(&mut self, die: u32, ready: Instant, busy: Nanos, units: u32) {
        self.wait(die, Operation { ready, transfer: units, busy, host_units: 0, sources: 0, flight: NOT_IN_FLIGHT });
    }

    /// A copy from this superblock has been planned.
    pub(super) fn note_source(&mut self, superblock: u32) {
        self.reach[superblock as usize].waiting_reads += 1;
    }

    /// Whether planned copies still have to read the superblock.
    pub(super) fn is_still_read(&self, superblock: u32) -> bool {
        self.reach[superblock as usize].waiting_reads > 0
    }

    /// Whether programs of the superblock are not known to be done.
    pub(super) fn is_still_written(&self, superblock: u32) -> bool {
        self.reach[superblock as usize].in_flight > 0
    }

    /// Whether a slot's data are still in the controller's memory at `at`.
    pub(super) fn holds(&self, address: u32, at: Instant) -> bool {
        self.is_still_written(self.geometry.superblock(address))
            && self
                .in_flight
                .iter()
                .any(|row| (row.first..row.first + row.units).contains(&address) && row.end.is_none_or(|end| end > at))
    }

    /// When host data that have begun to be programmed next leave the write buffer.
    pub(super) fn next_release(&self) -> Option<Instant> {
        self.releases.front().map(|(end, _)| *end)
    }

    /// Map units that have left the write buffer by `at`.
    pub(super) fn release(&mut self, at: Instant) -> u32 {
        let mut units = 0;
        while let Some(&(end, released)) = self.releases.front()
            && end <= at
        {
            units += released;
            self.releases.pop_front();
        }
        units
    }

    /// Map units of host data in queued and begun programs.
    pub(super) fn host_units(&self) -> u32 {
        let waiting = self.dies.iter().flat_map(|die| &die.queue).map(|operation| operation.host_units);
        waiting.sum::<u32>() + self.releases.iter().map(|(_, units)| units).sum::<u32>()
    }

    /// Whether the channels' intervals are in order and the counts are right.
    pub(super) fn check(&self) -> Result<(), String> {
        if let Some(channel) = self.channels.iter().position(|channel| !channel.is_sound()) {
            return Err(format!("channel {channel} is used twice at once"));
        }
        let queued: usize = self.dies.iter().map(|die| die.queue.len()).sum();
        if queued != self.waiting as usize {
            return Err(format!("{queued} operations wait, {} were counted", self.waiting));
        }
        Ok(())
    }

    /// Bytes held beside the object itself.
    pub(super) fn bytes(&self) -> usize {
        let die =
            |die: &Die| die.queue.capacity() * size_of::<Operation>() + die.sources.capacity() * size_of::<Source>();
        self.dies.capacity() * size_of::<Die>()
            + self.dies.iter().map(die).sum::<usize>()
            + self.channels.iter().map(|channel| channel.bytes() + size_of::<Timeline>()).sum::<usize>()
            + self.releases.capacity() * size_of::<(Instant, u32)>()
            + self.in_flight.capacity() * size_of::<InFlight>()
            + self.reach.capacity() * size_of::<Reach>()
    }

    fn bus(&self, units: u32) -> Nanos {
        // Adding a half and cutting off is rounding here, without the call.
        Nanos((u64::from(units) as f64 * self.bus_ns_per_unit + 0.5) as u64)
    }

    fn wait(&mut self, die: u32, operation: Operation) {
        self.dies[die as usize].queue.push_back(operation);
        self.waiting += 1;
    }

    /// The waiting work that begins first; the lower die where two begin together.
    fn next_start(&self) -> Option<(Instant, usize)> {
        if self.waiting == 0 {
            return None;
        }
        let start = |(index, die): (usize, &Die)| die.queue.front().map(|next| (die.free_at.max(next.ready), index));
        self.dies.iter().enumerate().filter_map(start).min()
    }

    /// Begins the first waiting operation of a die.
    fn begin(&mut self, index: usize) {
        let Some(operation) = self.dies[index].queue.pop_front() else { return };
        self.waiting -= 1;
        let turn = operation.ready.max(self.dies[index].free_at);
        let mut ready = turn;
        for _ in 0..operation.sources {
            ready = ready.max(self.read_source(index, turn));
        }
        let start = ready.max(self.dies[index].free_at);
        let channel = index % self.channels.len();
        let length = self.bus(operation.transfer);
        let (from, arrived) = self.channels[channel].reserve(start, length);
        let end = arrived + operation.busy;
        self.occupy(index as u32, from, end);
        self.note_channel(channel, from, arrived);
        if operation.host_units > 0 {
            self.host_end = self.host_end.max(end);
            let place = self.releases.partition_point(|(other, _)| *other <= end);
            self.releases.insert(place, (end, operation.host_units));
        }
        if operation.flight != NOT_IN_FLIGHT {
            self.in_flight[(operation.flight - self.first_flight) as usize].end = Some(end);
        }
    }

    /// Reads the next source of a copy that waits at `die`.
    fn read_source(&mut self, die: usize, at: Instant) -> Instant {
        let Some(source) = self.dies[die].sources.pop_front() else { return at };
        let end = self.read(source.die, at, source.sense, source.units);
        let reach = &mut self.reach[source.superblock as usize];
        reach.waiting_reads -= 1;
        reach.quiet_at = reach.quiet_at.max(end);
        end
    }

    fn occupy(&mut self, die: u32, start: Instant, end: Instant) {
        debug_assert!(start >= self.dies[die as usize].free_at, "die {die} used twice at once");
        debug_assert!(start >= self.floor, "die {die} begins in the past");
        self.dies[die as usize].free_at = end;
        #[cfg(test)]
        if let Some(trace) = &mut self.trace {
            trace.push(Taken { channel: false, index: die, start, end });
        }
    }

    #[cfg_attr(not(test), allow(clippy::unused_self, unused_variables))]
    fn note_channel(&mut self, channel: usize, start: Instant, end: Instant) {
        #[cfg(test)]
        if let Some(trace) = &mut self.trace {
            trace.push(Taken { channel: true, index: channel as u32, start, end });
        }
    }
}
