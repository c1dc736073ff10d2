//! Which places were touched at all: a bit each for reads and for writes, in pieces that exist once something in them was
//! touched. Of a device so large that the pieces would outgrow memory the unit doubles.

use crate::{Op, Traced};
use flashscope_model::trace::WorkingSet;
use flashscope_units::Bytes;
use std::collections::HashMap;

/// The first unit.
const FIRST_UNIT: Bytes = Bytes::kib(4);
/// Words of a piece, for reads and for writes each: 4096 units, which is 16 MiB of the device with the first unit.
const WORDS: usize = 64;
const UNITS: u64 = WORDS as u64 * 64;
/// Pieces that there may be: 128 MiB.
const MOST: usize = 1 << 17;

type Piece = [[u64; WORDS]; 2];

/// The places.
pub(super) struct Touched {
    unit: u64,
    pieces: HashMap<u64, Box<Piece>>,
    first: u64,
    end: u64,
}

impl Default for Touched {
    fn default() -> Touched {
        Touched { unit: FIRST_UNIT.get(), pieces: HashMap::new(), first: u64::MAX, end: 0 }
    }
}

impl Touched {
    pub(super) fn add(&mut self, request: &Traced) {
        if request.length == 0 {
            return;
        }
        self.first = self.first.min(request.offset.get());
        self.end = self.end.max(request.end());
        let way = usize::from(request.op == Op::Write);
        let mut unit = request.offset.get() / self.unit;
        let last = (request.end() - 1) / self.unit;
        while unit <= last {
            let piece = self.pieces.entry(unit / UNITS).or_insert_with(|| Box::new([[0; WORDS]; 2]));
            let end = (last + 1).min((unit / UNITS + 1) * UNITS);
            for unit in unit..end {
                let place = (unit % UNITS) as usize;
                piece[way][place / 64] |= 1 << (place % 64);
            }
            unit = end;
        }
        while self.pieces.len() > MOST {
            self.coarsen();
        }
    }

    /// Doubles the unit: two neighbours become one.
    fn coarsen(&mut self) {
        self.unit *= 2;
        for (number, piece) in std::mem::take(&mut self.pieces) {
            let into = self.pieces.entry(number / 2).or_insert_with(|| Box::new([[0; WORDS]; 2]));
            let from = (number % 2) as usize * (UNITS as usize / 2);
            for way in 0..2 {
                for place in (0..UNITS as usize).filter(|place| piece[way][place / 64] >> (place % 64) & 1 == 1) {
                    let place = from + place / 2;
                    into[way][place / 64] |= 1 << (place % 64);
                }
            }
        }
    }

    pub(super) fn summary(&self) -> WorkingSet {
        let count = |of: fn(&Piece, usize) -> u64| {
            let units: u64 = self
                .pieces
                .values()
                .map(|piece| (0..WORDS).map(|word| u64::from(of(piece, word).count_ones())).sum::<u64>())
                .sum();
            Bytes(units * self.unit)
        };
        WorkingSet {
            unit: Bytes(self.unit),
            read: count(|piece, word| piece[0][word]),
            written: count(|piece, word| piece[1][word]),
            touched: count(|piece, word| piece[0][word] | piece[1][word]),
            first: Bytes(if self.end > 0 { self.first } else { 0 }),
            end: Bytes(self.end),
        }
    }
}
