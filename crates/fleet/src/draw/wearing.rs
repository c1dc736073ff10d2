//! Devices that wear out: how long their blocks last, how many are kept to replace them, how raw bit errors grow.

use super::chance::Chance;
use flashscope_units::Bytes;

/// A drawn device.
pub(crate) struct Wearing {
    /// What is opened.
    pub(crate) spec: String,
    pub(crate) seed: u64,
    /// Capacity-writes that it has behind it when it is first looked at.
    pub(crate) passes_before: u32,
}

/// Small enough that it can be written over a hundred times: what wears a device is counted in capacity-writes.
const CAPACITY: Bytes = Bytes::mib(32);
/// A drive with superblocks of 2 MiB, eight blocks each; the class of device says which registers it has.
const DRIVE: &str = "emmc-phone,mapping.nand.pages_per_block=16,mapping.nand.bad_blocks=0";
/// A card, which has none.
const CARD: &str = "sd-4mib";

/// Device number `index` of a fleet.
pub(crate) fn draw_wearing(seed: u64, index: u32) -> Wearing {
    let mut chance = Chance::new(seed, index);
    let kind = chance.weighted(&[(0.45, Some("nvme")), (0.15, Some("scsi")), (0.25, Some("emmc")), (0.15, None)]);
    let rated = chance.count(10, 40);
    let mut spec = match kind {
        Some(kind) => format!("{DRIVE},device.kind={kind},mapping.nand.blocks_per_plane={}", chance.whole(22, 30)),
        None => CARD.to_owned(),
    };
    let mut put = |key: &str, value: f64| spec.push_str(&format!(",ageing.{key}={value:.6}"));
    put("lasts", chance.ratio(0.6, 4.0));
    put("lasts_spread", chance.between(0.05, 0.3));
    // Over the rated life a few percent of the blocks, up to a quarter.
    let early = chance.ratio(0.02, 0.25) / f64::from(rated);
    put("early_failures", if chance.happens(0.5) { early } else { 0.0 });
    put("reserve_ratio", chance.ratio(0.03, 0.3));
    let unreadable = chance.ratio(1e-4, 0.02);
    put("unreadable", if chance.happens(0.3) { unreadable } else { 0.0 });
    let raw_errors = chance.ratio(1e-4, 0.05);
    put("raw_errors", if chance.happens(0.4) { raw_errors } else { 0.0 });
    put("raw_errors_power", chance.between(2.0, 6.0));
    put("raw_errors_spread", chance.between(0.3, 0.7));
    let spec = format!("{spec},ageing.rated_erases={rated},capacity={},noise=none", CAPACITY.get());
    let passes_before = (f64::from(rated) * chance.between(0.0, 0.5)) as u32;
    Wearing { spec, seed: chance.below(1_000_000), passes_before }
}
