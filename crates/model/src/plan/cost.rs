//! What each experiment does in words, and what it writes.

use super::{
    Align, Boundaries, Buffer, Cells, FastArea, Fat, Floor, Interval, MapReach, OpenAu, OpenUnits, Overwrite, Parallel,
    Plan, Program, ReadCache, Scatter, SlcCache, Slide, Survey, Then, Throughput,
};
use crate::{Direction, Order};
use flashscope_units::{Bytes, Nanos};

impl Plan for Floor {
    fn describe(&self) -> String {
        format!("{} reads of {} at {}", self.count, self.block, self.at)
    }

    fn bytes_written(&self) -> Bytes {
        Bytes::ZERO
    }
}

impl Plan for Survey {
    fn describe(&self) -> String {
        format!("{} reads of each of {} random places, {} each", self.repeats, self.places, self.block)
    }

    fn bytes_written(&self) -> Bytes {
        Bytes::ZERO
    }
}

impl Plan for Align {
    fn describe(&self) -> String {
        format!("{} of {}, {} places, {} tries", requests(self.direction), self.block, self.places, self.tries)
    }

    /// Three accesses per place and try, from the largest alignment down; how many alignments there are depends on the
    /// capacity, which a plan does not know: as many as a device of 8 PiB has.
    fn bytes_written(&self) -> Bytes {
        if self.direction == Direction::Read {
            return Bytes::ZERO;
        }
        let largest = self.largest.unwrap_or(Bytes::LARGEST);
        let each = self.block * u64::from(self.access);
        each * (3 * u64::from(self.tries) * u64::from(self.places) * halvings(largest, self.block))
    }
}

impl Plan for Boundaries {
    fn describe(&self) -> String {
        let rest = if self.rest > Nanos::ZERO { format!(", each after {}", self.rest) } else { String::new() };
        format!(
            "{} candidates, {} places each, reads of {}, {} rounds{rest}",
            self.candidates.len(),
            self.places,
            self.block,
            self.rounds
        )
    }

    fn bytes_written(&self) -> Bytes {
        Bytes::ZERO
    }
}

impl Plan for Slide {
    fn describe(&self) -> String {
        format!(
            "reads of {} across every {} of {} {}, {} rounds{}",
            self.block,
            self.step,
            self.starts.len(),
            if self.starts.len() == 1 { "stretch" } else { "stretches" },
            self.rounds,
            if self.descending { ", from the last place to the first" } else { "" }
        )
    }

    fn bytes_written(&self) -> Bytes {
        Bytes::ZERO
    }
}

impl Plan for OpenAu {
    fn describe(&self) -> String {
        format!("{} units of {} {}, blocks down to {}", self.count, self.erase, order(self.order), self.block)
    }

    fn bytes_written(&self) -> Bytes {
        self.erase * (u64::from(self.count) * halvings(self.erase, self.block))
    }
}

impl Plan for OpenUnits {
    fn describe(&self) -> String {
        let (count, unit, order) = (self.units.len(), self.unit, order(self.order));
        format!("{count} units of {unit} {order}, {} rounds of {}", self.rounds, self.block)
    }

    fn bytes_written(&self) -> Bytes {
        self.block * (u64::from(self.rounds) * self.units.len() as u64)
    }
}

impl Plan for Fat {
    fn describe(&self) -> String {
        format!("first {} units of {} {}, blocks down to {}", self.count, self.erase, order(self.order), self.block)
    }

    fn bytes_written(&self) -> Bytes {
        self.erase * (u64::from(self.count) * halvings(self.erase, self.block))
    }
}

impl Plan for FastArea {
    fn describe(&self) -> String {
        format!(
            "{} units against {} others, {} {} of {} {}",
            self.suspects.len(),
            self.controls.len(),
            self.requests,
            requests(self.direction),
            self.block,
            order(self.order)
        )
    }

    fn bytes_written(&self) -> Bytes {
        let units = (self.suspects.len() + self.controls.len()) as u64;
        written(self.direction, self.block * (u64::from(self.requests) * units))
    }
}

impl Plan for Scatter {
    fn describe(&self) -> String {
        format!("2^{} places, {} × {} each, {} passes", self.order, self.span, self.block, self.tries)
    }

    fn bytes_written(&self) -> Bytes {
        Bytes::ZERO
    }
}

impl Plan for Interval {
    fn describe(&self) -> String {
        format!("{} sizes from 512 B, {} places each", self.order, self.places)
    }

    fn bytes_written(&self) -> Bytes {
        Bytes::ZERO
    }
}

impl Plan for Program {
    fn describe(&self) -> String {
        format!("{} at {}, blocks {} to {}", self.region, self.offset, self.largest, self.smallest)
    }

    fn bytes_written(&self) -> Bytes {
        self.region * (6 * halvings(self.largest, self.smallest))
    }
}

impl Plan for Throughput {
    fn describe(&self) -> String {
        let within = self.most_time.map_or(String::new(), |time| format!(", {time} at most"));
        format!(
            "{} {} of {} {} over {} at {}{within}",
            self.requests,
            requests(self.direction),
            self.block,
            order(self.order),
            self.length,
            self.start
        )
    }

    fn bytes_written(&self) -> Bytes {
        written(self.direction, self.block * u64::from(self.requests))
    }
}

impl Plan for Buffer {
    fn describe(&self) -> String {
        let writes: u32 = self.bursts.iter().map(|burst| burst.writes).sum();
        let (bursts, block) = (self.bursts.len(), self.block);
        format!("{bursts} bursts, {writes} writes of {block} in all over {} at {}", self.length, self.start)
    }

    fn bytes_written(&self) -> Bytes {
        let behind = self.bursts.iter().filter(|burst| burst.then == Then::Write).count() as u64;
        self.block * (self.bursts.iter().map(|burst| u64::from(burst.writes)).sum::<u64>() + behind)
    }
}

impl Plan for ReadCache {
    fn describe(&self) -> String {
        format!(
            "{} rounds of {} spans, {} distances and runs of {}, reads of {}",
            self.rounds,
            self.spans.len(),
            self.distances.len(),
            self.run,
            self.block
        )
    }

    fn bytes_written(&self) -> Bytes {
        Bytes::ZERO
    }
}

impl Plan for SlcCache {
    fn describe(&self) -> String {
        let bursts = self.bursts.iter().map(|burst| format!("{} after {} of rest", burst.span.length, burst.idle));
        format!("sequential writes of {}: {}", self.block, bursts.collect::<Vec<_>>().join(", then "))
    }

    fn bytes_written(&self) -> Bytes {
        self.bursts.iter().map(|burst| burst.span.length).sum()
    }
}

impl Plan for Parallel {
    fn describe(&self) -> String {
        format!("{} sets of reads of {} submitted together, {} rounds", self.fans.len(), self.block, self.rounds)
    }

    fn bytes_written(&self) -> Bytes {
        Bytes::ZERO
    }
}

impl Plan for MapReach {
    fn describe(&self) -> String {
        format!("{} reads of {} in each of {} ranges", self.requests, self.block, self.ranges.len())
    }

    fn bytes_written(&self) -> Bytes {
        Bytes::ZERO
    }
}

impl Plan for Overwrite {
    fn describe(&self) -> String {
        format!(
            "{} sequential writes of {}, then {} random ones over {} at {}",
            self.in_order, self.block, self.random, self.span.length, self.span.start
        )
    }

    fn bytes_written(&self) -> Bytes {
        self.block * (self.in_order + self.random)
    }
}

impl Plan for Cells {
    fn describe(&self) -> String {
        format!("{} reads of each of {} places, {} apart", self.repeats, self.places, self.step)
    }

    fn bytes_written(&self) -> Bytes {
        Bytes::ZERO
    }
}

fn written(direction: Direction, all: Bytes) -> Bytes {
    match direction {
        Direction::Read => Bytes::ZERO,
        Direction::Write => all,
    }
}

/// Sizes from the largest down to the smallest by halves.
fn halvings(largest: Bytes, smallest: Bytes) -> u64 {
    u64::from((largest / smallest.max(Bytes(1))).max(1).ilog2() + 1)
}

fn requests(direction: Direction) -> &'static str {
    match direction {
        Direction::Read => "reads",
        Direction::Write => "writes",
    }
}

fn order(order: Order) -> &'static str {
    match order {
        Order::InOrder => "sequential",
        Order::Random => "random",
    }
}
