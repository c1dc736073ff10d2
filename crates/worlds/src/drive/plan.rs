//! What a drive that maps pages is built of.

use flashscope_units::Nanos;

/// A drive that maps each page by itself, with rows of pages over channels and ways. All sizes in bytes.
///
/// Rows whose channels rotate are the dynamic allocation of Hu, Jiang, Feng, Tian, Luo and Zhang, "Performance impact and
/// interplay of SSD parallelism through advanced commands, allocation strategy and data granularity", ICS 2011.
#[derive(Clone, Debug)]
pub(crate) struct DrivePlan {
    pub(crate) capacity: u64,
    /// What lies before the host's first byte.
    pub(crate) hidden: u64,
    pub(crate) channels: usize,
    pub(crate) ways: usize,
    /// What one die programs at once, and one entry of the map stands for: the pages of its planes.
    pub(crate) page: u64,
    pub(crate) codeword: u64,
    pub(crate) pages_per_block: usize,
    /// Physical over host capacity.
    pub(crate) spare: f64,
    /// Whether each row begins with another channel.
    pub(crate) rotates: bool,
    pub(crate) victim: Victim,
    pub(crate) cached_map: Option<CachedMap>,
    pub(crate) fast: Option<FastCells>,
    pub(crate) filled: f64,
    /// Random overwrites before the start, as a share of the data.
    pub(crate) aged: f64,
    pub(crate) times: DriveTimes,
}

/// Which superblock is collected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Victim {
    /// The one with the least data.
    Greedy,
    /// The one with the least data of some that are looked at (Van Houdt, "A mean field model for a class of garbage
    /// collection algorithms in flash-based solid state drives", SIGMETRICS 2013).
    BestOf(usize),
    /// The one that was filled first.
    Oldest,
}

/// A map of which a part is in memory, entry by entry, as in DFTL (Gupta, Kim and Urgaonkar, "DFTL: a flash translation layer
/// employing demand-based selective caching of page-level address mappings", ASPLOS 2009).
#[derive(Clone, Debug)]
pub(crate) struct CachedMap {
    /// Entries in memory.
    pub(crate) entries: usize,
    /// Entries of one page of the map in flash.
    pub(crate) per_page: u64,
    /// Entries fetched with one that misses (spatial locality, as in CDFTL and S-FTL).
    pub(crate) fetched: u64,
}

/// Blocks whose cells hold one bit at first, and are copied to others at rest.
#[derive(Clone, Debug)]
pub(crate) struct FastCells {
    /// Superblocks used so.
    pub(crate) superblocks: usize,
    /// Bits that a cell holds else.
    pub(crate) bits: usize,
    pub(crate) program: Nanos,
    /// Rest after which they are copied.
    pub(crate) after: Nanos,
}

/// How long it takes.
#[derive(Clone, Debug)]
pub(crate) struct DriveTimes {
    pub(crate) command: Nanos,
    /// Queue depth that the link has.
    pub(crate) wire: f64,
    /// The controller's work for each page of a request.
    pub(crate) issue: Nanos,
    pub(crate) sense: Nanos,
    pub(crate) program: Nanos,
    pub(crate) erase: Nanos,
    /// A codeword over a channel.
    pub(crate) codeword: Nanos,
}

impl DrivePlan {
    pub(crate) fn dies(&self) -> usize {
        self.channels * self.ways
    }

    /// Pages of one superblock.
    pub(crate) fn superblock(&self) -> usize {
        self.dies() * self.pages_per_block
    }

    /// Pages that the host sees, a partial one at either end counted.
    pub(crate) fn pages(&self) -> usize {
        (self.hidden + self.capacity).div_ceil(self.page) as usize
    }

    /// Superblocks of the drive, those of fast cells left out.
    pub(crate) fn superblocks(&self) -> usize {
        let needed = (self.pages() as f64 * self.spare / self.superblock() as f64).ceil() as usize;
        // Two that are being written, and two to be free.
        needed.max(self.pages().div_ceil(self.superblock()) + 5)
    }
}
