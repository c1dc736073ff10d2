//! What a card with log blocks is built of.

use crate::evict::Rule;
use flashscope_units::Nanos;

/// A card that maps units as wholes and takes writes in log blocks: all sizes in bytes.
///
/// The mechanisms are those of BAST (Kim, Kim, Noh, Min and Cho, "A space-efficient flash translation layer for CompactFlash
/// systems", IEEE TCE 48, 2002), FAST (Lee, Park, Chung, Lee, Park and Song, "A log buffer-based flash translation layer using
/// fully-associative sector translation", ACM TECS 6, 2007) and LAST (Lee, Shin, Kim and Kim, "LAST: locality-aware sector
/// translation for NAND flash memory-based storage systems", SIGOPS OSR 42, 2008).
#[derive(Clone, Debug)]
pub(crate) struct CardPlan {
    pub(crate) capacity: u64,
    pub(crate) unit: u64,
    pub(crate) page: u64,
    /// What lies before the host's first byte, as before a partition: the grid of units and pages begins there.
    pub(crate) hidden: u64,
    /// Log blocks that each belong to one unit.
    pub(crate) logs: usize,
    pub(crate) rule: Rule,
    /// Log blocks that all units share; 0: none.
    pub(crate) shared: usize,
    pub(crate) route: Route,
    /// Units whose map is at hand; absent where all of it is in memory.
    pub(crate) maps_at_hand: Option<usize>,
    /// What is kept of what was read last.
    pub(crate) keeps: Keeps,
    /// What is read and corrected as one.
    pub(crate) codeword: u64,
    /// Times that a page may be programmed before it is erased (NOP of a data sheet).
    pub(crate) partial_programs: u32,
    /// Units at the start whose cells hold one bit.
    pub(crate) fast_units: u64,
    /// Share of the units that hold data from the start.
    pub(crate) filled: f64,
    /// Whether the log blocks hold earlier writes from the start.
    pub(crate) used: bool,
    pub(crate) times: CardTimes,
}

/// Which writes go to the shared log blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// None (BAST).
    Own,
    /// Those of this number of bytes at most (LAST).
    BySize(u64),
    /// All but those that begin a unit or go on where its log block ends (FAST).
    ByOrder,
}

/// What is kept of what was read last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keeps {
    /// Nothing.
    Nothing,
    /// The page in the register of the flash (cache read of data sheets).
    Page,
    /// All pages that were read of one unit, until another unit is read.
    Unit,
}

/// How long it takes.
#[derive(Clone, Debug)]
pub(crate) struct CardTimes {
    pub(crate) command: Nanos,
    /// Bytes per second on the wire.
    pub(crate) wire: f64,
    pub(crate) sense: Nanos,
    pub(crate) program: Nanos,
    /// Over the times of the others, in a fast unit.
    pub(crate) fast: f64,
    pub(crate) erase: Nanos,
    /// A page copied to another place.
    pub(crate) copy: Nanos,
    /// The map of a unit fetched from flash.
    pub(crate) map: Nanos,
    /// A codeword over the bus and through the decoder.
    pub(crate) codeword: Nanos,
}

impl CardPlan {
    pub(crate) fn pages_per_unit(&self) -> u64 {
        self.unit / self.page
    }

    pub(crate) fn units(&self) -> u64 {
        (self.hidden + self.capacity).div_ceil(self.unit)
    }
}
