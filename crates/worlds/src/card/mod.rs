//! A card with log blocks: what it does with a request.

mod log;
mod merge;
mod plan;

pub(crate) use log::{Log, SharedLogs};
pub(crate) use plan::{CardPlan, CardTimes, Keeps, Route};

use crate::chance::Chance;
use crate::evict::{Evictor, Used};
use crate::flash::{Controller, Meter, Spread, transfer};
use flashscope_device::Wear;
use flashscope_units::{Instant, Nanos};
use std::collections::{BTreeSet, VecDeque};

/// A card in some state.
#[derive(Clone, Debug)]
pub(crate) struct Card {
    plan: CardPlan,
    spread: Spread,
    evictor: Evictor,
    busy_until: Instant,
    /// Pages that hold data, by unit and page, a bit each.
    holds: Vec<u64>,
    logs: Vec<Log>,
    shared: SharedLogs,
    maps: VecDeque<u64>,
    /// Pages at hand; of one unit, or a single one.
    at_hand: BTreeSet<u64>,
    /// Counts writes, for the rules of eviction.
    tick: u64,
    meter: Meter,
}

/// A part of a request that lies in one page.
#[derive(Clone, Copy)]
struct Piece {
    unit: u64,
    /// Within the unit.
    page: u64,
    /// Within the page.
    from: u64,
    to: u64,
}

impl Card {
    pub(crate) fn new(plan: CardPlan, seed: u64, shape: Option<f64>) -> Card {
        let bits = plan.units() * plan.pages_per_unit();
        let mut card = Card {
            spread: Spread::new(shape, Chance::new(seed, 11)),
            evictor: Evictor::new(plan.rule, Chance::new(seed, 12)),
            busy_until: Instant::ORIGIN,
            holds: vec![0; bits.div_ceil(64) as usize],
            logs: Vec::new(),
            shared: SharedLogs::new(plan.shared, plan.pages_per_unit()),
            maps: VecDeque::new(),
            at_hand: BTreeSet::new(),
            tick: 0,
            meter: Meter::default(),
            plan,
        };
        card.begin_used(&mut Chance::new(seed, 13));
        card
    }

    /// Earlier use: data in the first units, and log blocks of some of them half full.
    fn begin_used(&mut self, chance: &mut Chance) {
        let (units, pages) = (self.plan.units(), self.plan.pages_per_unit());
        let filled = (self.plan.filled * units as f64) as u64;
        for page in 0..filled * pages {
            self.hold(page);
        }
        if !self.plan.used || filled == 0 {
            return;
        }
        for _ in 0..self.plan.logs {
            let unit = chance.below(filled as usize) as u64;
            if self.logs.iter().any(|log| log.unit == unit) {
                continue;
            }
            self.tick += 1;
            let mut log = Log::new(unit, self.tick);
            let written = 1 + chance.below(pages as usize - 1) as u64;
            (0..written).for_each(|page| log.append(page, self.plan.page));
            self.logs.push(log);
        }
    }

    fn hold(&mut self, page: u64) {
        self.holds[(page / 64) as usize] |= 1 << (page % 64);
    }

    fn is_held(&self, page: u64) -> bool {
        self.holds[(page / 64) as usize] >> (page % 64) & 1 == 1
    }

    fn pieces(&self, start: u64, length: u64) -> Vec<Piece> {
        let (page, per_unit) = (self.plan.page, self.plan.pages_per_unit());
        let (mut at, end) = (start + self.plan.hidden, start + self.plan.hidden + length);
        let mut pieces = Vec::with_capacity((length / page + 2) as usize);
        while at < end {
            let (number, from) = (at / page, at % page);
            let to = page.min(from + (end - at));
            pieces.push(Piece { unit: number / per_unit, page: number % per_unit, from, to });
            at += to - from;
        }
        pieces
    }

    /// A time of the flash in this unit.
    fn in_unit(&self, unit: u64, time: Nanos) -> Nanos {
        if unit < self.plan.fast_units { Nanos((time.as_f64() * self.plan.times.fast) as u64) } else { time }
    }

    /// Time to have the map of a unit at hand.
    fn find_map(&mut self, unit: u64) -> Nanos {
        let Some(most) = self.plan.maps_at_hand else { return Nanos::ZERO };
        let found = self.maps.iter().position(|&at_hand| at_hand == unit);
        if let Some(place) = found {
            self.maps.remove(place);
        }
        self.maps.push_front(unit);
        self.maps.truncate(most);
        if found.is_some() { Nanos::ZERO } else { self.spread.around(self.plan.times.map) }
    }

    /// Time to have a page in the register; none where it is at hand.
    fn sense(&mut self, piece: Piece) -> Nanos {
        let page = piece.unit * self.plan.pages_per_unit() + piece.page;
        if !self.is_held(page) || self.at_hand.contains(&page) {
            return Nanos::ZERO;
        }
        match self.plan.keeps {
            Keeps::Nothing => {}
            Keeps::Page => self.at_hand = BTreeSet::from([page]),
            Keeps::Unit => {
                let per_unit = self.plan.pages_per_unit();
                if self.at_hand.first().is_some_and(|first| first / per_unit != piece.unit) {
                    self.at_hand.clear();
                }
                self.at_hand.insert(page);
            }
        }
        let time = self.in_unit(piece.unit, self.plan.times.sense);
        self.spread.around(time)
    }

    fn write_piece(&mut self, piece: Piece, length: u64) -> Nanos {
        let (unit, page) = (piece.unit, piece.page);
        let number = unit * self.plan.pages_per_unit() + page;
        self.tick += 1;
        self.at_hand.remove(&number);
        let shared = match self.plan.route {
            Route::Own => false,
            Route::BySize(most) => length <= most,
            Route::ByOrder => !self.begins_or_goes_on(piece),
        };
        let whole = piece.from == 0 && piece.to == self.plan.page;
        let mut time = Nanos::ZERO;
        let goes_on = !shared && self.programs_more_of_last_page(piece);
        if !goes_on {
            time += if shared { self.make_room_in_shared() } else { self.make_room_in_own(unit) };
            // What the write leaves of the page comes along.
            if !whole && self.is_held(number) {
                let sense = self.in_unit(unit, self.plan.times.sense);
                time += self.spread.around(sense);
            }
            self.shared.forget(unit, page);
            if shared {
                self.shared.append(unit, page);
            } else if let Some(log) = self.logs.iter_mut().find(|log| log.unit == unit) {
                log.append(page, piece.to);
            }
        }
        if let Some(log) = self.logs.iter_mut().find(|log| log.unit == unit) {
            if shared {
                log.is_outdated(page);
            }
            log.used.written = self.tick;
            log.used.spared = true;
        }
        self.hold(number);
        self.meter.programmed += self.plan.page;
        let program = self.in_unit(unit, self.plan.times.program);
        time += self.spread.around(program);
        // A full block in order becomes the unit at once, as that costs no copy.
        let pages = self.plan.pages_per_unit();
        let switched = self.logs.iter().position(|log| {
            log.unit == unit
                && log.in_order
                && log.pages() == pages
                && !log.may_go_on(self.plan.partial_programs, self.plan.page)
        });
        time + switched.map_or(Nanos::ZERO, |place| self.merge_own(place))
    }

    /// Whether FAST takes a write into the block for sequential writes.
    fn begins_or_goes_on(&self, piece: Piece) -> bool {
        let log = self.logs.iter().find(|log| log.unit == piece.unit);
        let goes_on = log.is_some_and(|log| {
            log.in_order && (log.pages() == piece.page || (log.pages() == piece.page + 1 && log.last_end == piece.from))
        });
        goes_on || (piece.page == 0 && piece.from == 0)
    }

    /// Where the write goes on in the page that its log block ended with, and that page may be programmed again, it is.
    fn programs_more_of_last_page(&mut self, piece: Piece) -> bool {
        let most = self.plan.partial_programs;
        let Some(log) = self.logs.iter_mut().find(|log| log.unit == piece.unit) else { return false };
        if log.last_page() != Some(piece.page) || log.last_end != piece.from || log.last_programs >= most {
            return false;
        }
        log.last_end = piece.to;
        log.last_programs += 1;
        true
    }

    /// A log block of this unit with room for a page.
    fn make_room_in_own(&mut self, unit: u64) -> Nanos {
        let mut time = Nanos::ZERO;
        let full = self.logs.iter().position(|log| log.unit == unit && log.pages() == self.plan.pages_per_unit());
        // FAST begins anew with each write to the start of a unit.
        let begins = || self.logs.iter().position(|log| log.unit == unit && self.plan.route == Route::ByOrder);
        let restarted = begins().filter(|&place| !self.logs[place].in_order);
        if let Some(place) = full.or(restarted) {
            time += self.merge_own(place);
        }
        if self.logs.iter().all(|log| log.unit != unit) {
            if self.logs.len() >= self.plan.logs {
                let mut used: Vec<Used> = self.logs.iter().map(|log| log.used).collect();
                let place = self.evictor.choose(&mut used);
                self.logs.iter_mut().zip(used).for_each(|(log, used)| log.used = used);
                time += self.merge_own(place);
            }
            self.logs.push(Log::new(unit, self.tick));
        }
        time
    }
}

impl Controller for Card {
    fn read(&mut self, now: Instant, start: u64, length: u64) -> Instant {
        let begin = now.max(self.busy_until) + self.plan.times.command;
        let (mut sensed, mut sent) = (begin, begin);
        let mut last_unit = None;
        for piece in self.pieces(start, length) {
            if last_unit != Some(piece.unit) {
                sensed += self.find_map(piece.unit);
                last_unit = Some(piece.unit);
            }
            sensed += self.sense(piece);
            let words = piece.to.div_ceil(self.plan.codeword) - piece.from / self.plan.codeword;
            let wire = transfer(piece.to - piece.from, self.plan.times.wire);
            sent = sent.max(sensed) + self.plan.times.codeword * words + wire;
        }
        self.busy_until = sent;
        sent
    }

    fn write(&mut self, now: Instant, start: u64, length: u64) -> Instant {
        let begin = now.max(self.busy_until) + self.plan.times.command;
        let (mut arrived, mut done) = (begin, begin);
        let mut last_unit = None;
        for piece in self.pieces(start, length) {
            if last_unit != Some(piece.unit) {
                done += self.find_map(piece.unit);
                last_unit = Some(piece.unit);
            }
            arrived += transfer(piece.to - piece.from, self.plan.times.wire);
            done = done.max(arrived) + self.write_piece(piece, length);
        }
        self.busy_until = done;
        done
    }

    fn forget(&mut self, start: u64, end: u64) {
        let page = self.plan.page;
        let (first, behind) = ((start + self.plan.hidden).div_ceil(page), (end + self.plan.hidden) / page);
        for number in first..behind {
            self.holds[(number / 64) as usize] &= !(1 << (number % 64));
        }
    }

    /// Nothing: a card without power to spare rests as well.
    fn rest(&mut self, _from: Instant, _until: Instant) {}

    fn wear(&self) -> Wear {
        self.meter.wear()
    }

    fn check(&self) -> Result<(), String> {
        let pages = self.plan.pages_per_unit();
        let units: BTreeSet<u64> = self.logs.iter().map(|log| log.unit).collect();
        if units.len() != self.logs.len() || self.logs.len() > self.plan.logs {
            return Err(format!("{} log blocks of {} units, {} there", self.logs.len(), units.len(), self.plan.logs));
        }
        match self.logs.iter().find(|log| log.pages() > pages) {
            Some(log) => Err(format!("the log block of unit {} holds {} pages of {pages}", log.unit, log.pages())),
            None => self.shared.check(),
        }
    }
}

#[cfg(test)]
mod tests;
