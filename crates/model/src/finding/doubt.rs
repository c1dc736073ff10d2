//! What makes an answer weaker than another that looks as clear, as a kind that can be counted.
//!
//! A family of findings says which doubts there are, and not what they cost: how often answers with the same doubts were
//! right on devices whose inside is known is counted, and made a probability in one place (`flashscope_infer::claims`).

use super::words;

words! {
    /// A doubt. Their order is that of weight: what is counted of few devices is taken together with what has the first
    /// doubts in common.
    Doubt {
        /// It shows by what another experiment cost, and was not looked for.
        Indirect = "indirect",
        /// Another block size has another limit.
        LimitElsewhere = "limit-elsewhere",
        /// Only larger blocks show it, where smaller ones collapse below it.
        Overruled = "overruled",
        /// It shows by what does not grow with the size of a write.
        ByFixedCost = "by-fixed-cost",
        /// Rates decline, though no count stands out.
        Declines = "declines",
        /// Runs of one kind disagree.
        RunsDisagree = "runs-disagree",
        /// Verdicts do not rise with the count.
        Muddled = "muddled",
        /// Another block size cannot tell.
        HiddenBeside = "hidden-beside",
        /// The allocation unit is not known.
        UnitUnknown = "unit-unknown",
        /// The allocation unit is not known, as nobody read to see it: only who wrote knew what he took for it.
        UnitUnread = "unit-unread",
        /// The allocation unit is not known, and tables were written by where reads rise most, be it by chance.
        UnitByEye = "unit-by-eye",
        /// A least size of the allocation unit is known.
        UnitBounded = "unit-bounded",
        /// The allocation unit is known, but hardly surer than not.
        UnitUnsure = "unit-unsure",
        /// Regions that were taken for units begin amid one.
        RegionsShifted = "regions-shifted",
        /// A later count is as fast as before the fall.
        ComesBack = "comes-back",
        /// Some rows lose a little at an earlier count.
        EarlierLoss = "earlier-loss",
        /// Rows of the largest blocks are missing.
        RowsMissing = "rows-missing",
        /// Tables of another assumed unit say otherwise.
        TablesDisagree = "tables-disagree",
        /// Fewer repeats than confirm it.
        SeenOnce = "seen-once",
        /// No other block size was tried.
        OneBlock = "one-block",
        /// The device was never written.
        Blank = "blank",
        /// An area goes on to the last unit that was compared.
        NoEnd = "no-end",
        /// What lies in front of an area was not compared.
        FrontUnseen = "front-unseen",
        /// Transfers take as long as writes, and may hide what the flash takes.
        WayHides = "way-hides",
        /// Whether a part is mapped otherwise does not show.
        MappingUnseen = "mapping-unseen",
        /// Small writes do not tell.
        SmallUnseen = "small-unseen",
        /// A fall of less than a collapse.
        Slight = "slight",
        /// Larger than such figures usually are.
        Unusual = "unusual",
        /// So few requests that a log may have taken all of them.
        FewRequests = "few-requests",
        /// So few units that regions amid units may be why.
        FewUnits = "few-units",
        /// Written out all the time while it is filled.
        Steady = "steady",
        /// Nothing tells bytes from entries.
        LimitOpen = "limit-open",
        /// What it is said of has no size that shows.
        SizeOpen = "size-open",
        /// A rest does not bring it back.
        NotBack = "not-back",
        /// Its end is not sharp.
        Blurred = "blurred",
        /// It shows by the first read in each unit alone, and not by its edges.
        ByChangesAlone = "by-changes-alone",
        /// Writes show nothing of it.
        NoEffect = "no-effect",
        /// Trials met a cache now empty, now full.
        CacheBetween = "cache-between",
        /// Counts that differ from trial to trial.
        CountsDiffer = "counts-differ",
    }
}
