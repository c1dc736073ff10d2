//! What to type: partition start, file-system options, and what not to do with this part. What drives that read on
//! several chips at once are told besides stands in [`drives`].
//!
//! Only from findings that are sure enough to format a device by. A command stands behind the last `: `, or alone. The
//! options' meanings, from the manual pages: ext4
//! `stride` and `stripe-width` count file-system blocks; f2fs segments are 2 MiB, `-s` is segments per section and
//! `active_logs` a mount option of 2, 4 or 6; mkfs.fat `-s` and `-R` count sectors.

mod drives;

use crate::numbers::digits;
use flashscope_model::Estimate;
use flashscope_model::finding::{Advice, AreaKind, FastArea, Geometry};
use flashscope_units::Bytes;

/// A finding of less confidence is shown, but nobody is told to format by it.
const SURE_ENOUGH: f64 = 0.9;

/// Block of ext4 that the advice is for.
const EXT4_BLOCK: Bytes = Bytes::kib(4);

/// Segment of f2fs.
const F2FS_SEGMENT: Bytes = Bytes::mib(2);

/// Cluster of the FAT layout: large enough to be a page anywhere, small enough for small files.
const FAT_CLUSTER: Bytes = Bytes::kib(32);

/// A random-order penalty below this is not worth a warning.
const PENALTY_WORTH_SAYING: f64 = 3.0;

/// Advice from what was found.
pub(crate) fn advise(geometry: &Geometry, capacity: Option<Bytes>) -> Vec<Advice> {
    let unit = sure(&geometry.allocation_unit);
    let page = sure(&geometry.page);
    let first = sure(&geometry.boundary_offset).unwrap_or(Bytes::ZERO);
    let start = unit.map(|unit| partition_start(unit, first, sure(&geometry.fast_area)));
    let room = Room::of(geometry, capacity);
    let capacity = room.size;
    let mut advice = Vec::new();
    if let (Some(unit), Some(start)) = (unit, start) {
        advice.push(partition(start, &room, because_of_unit(unit, sure(&geometry.fast_area))));
        advice.push(ext4(unit, "unit", page));
        advice.push(f2fs(unit, &geometry.open_units_linear));
        advice.extend(fat(unit, start, capacity, sure(&geometry.fast_area)));
        advice.extend(exfat(unit, start, capacity));
    }
    if unit.is_none() {
        advice.extend(drives::layout(geometry, &room));
    }
    advice.extend(streams(&geometry.open_units_linear));
    advice.extend(random_writes(geometry));
    advice.extend(drives::requests(geometry));
    advice.extend(drives::discard(geometry));
    advice.extend(drives::spare(geometry));
    advice
}

/// What a partition may take.
struct Room {
    /// What is there: of a fake, less than it claims.
    size: Option<Bytes>,
    /// Its end, as parted takes it.
    end: String,
}

impl Room {
    fn of(geometry: &Geometry, claimed: Option<Bytes>) -> Room {
        let there = sure(&geometry.true_capacity).filter(|there| claimed.is_none_or(|claimed| *there < claimed));
        let end = there.map_or("100%".to_owned(), |there| format!("{}MiB", there / Bytes::mib(1)));
        Room { size: there.or(claimed), end }
    }
}

/// The value of an estimate that is sure enough.
fn sure<T: Copy>(estimate: &Estimate<T>) -> Option<T> {
    estimate.value().filter(|_| estimate.confidence().is_some_and(|confidence| confidence >= SURE_ENOUGH))
}

fn advice(topic: &str, text: String, because: String) -> Advice {
    Advice { topic: topic.to_owned(), text, because }
}

/// The first whole unit from 1 MiB on, past an area where large writes are slow; units begin at `first`.
fn partition_start(unit: Bytes, first: Bytes, area: Option<FastArea>) -> Bytes {
    let slow = area.filter(|area| matches!(area.kind, AreaKind::Slower | AreaKind::Mixed) && area.ratio < 1.0);
    slow.map_or(Bytes::mib(1), |area| area.end).max(Bytes::mib(1)).saturating_sub(first).align_up(unit) + first
}

/// MBR partition tables end here.
const LARGEST_MBR: Bytes = Bytes::gib(2048);

fn partition(start: Bytes, room: &Room, because: String) -> Advice {
    // Binary units are taken as they are by parted, whatever the device's sectors.
    let place = match start / Bytes::mib(1) {
        mib if start.is_multiple_of(Bytes::mib(1)) => format!("{mib}MiB"),
        _ => format!("{}KiB", start / Bytes::kib(1)),
    };
    let label = if room.size.is_some_and(|size| size > LARGEST_MBR) { "gpt" } else { "msdos" };
    let text = format!(
        "start the first partition at {start} (sector {}): parted -s DEVICE mklabel {label} mkpart primary {place} {}",
        start / Bytes::SECTOR,
        room.end
    );
    advice("partition", text, because)
}

fn because_of_unit(unit: Bytes, area: Option<FastArea>) -> String {
    let mut because = format!("the allocation unit is {unit}");
    if let Some(area) = area.filter(|area| area.kind != AreaKind::None) {
        let way = if area.ratio > 1.0 { "faster" } else { "slower" };
        because.push_str(&format!(", and {} to {} is {way} ({}×)", area.first, area.end, digits(area.ratio)));
    }
    because
}

/// Options of ext4 for rows of `row` bytes, a `what`.
fn ext4(unit: Bytes, what: &str, page: Option<Bytes>) -> Advice {
    let blocks = |size: Bytes| (size / EXT4_BLOCK).max(1);
    let mut because = format!("stripe-width = {unit} {what} / {EXT4_BLOCK}");
    let stride = page.map_or(String::new(), |page| {
        because = format!("stride = {page} page / {EXT4_BLOCK}, {because}");
        format!("stride={},", blocks(page))
    });
    advice("ext4", format!("mkfs.ext4 -b 4096 -E {stride}stripe-width={} PARTITION", blocks(unit)), because)
}

fn f2fs(unit: Bytes, open: &Estimate<u32>) -> Advice {
    let section = common_multiple(unit, F2FS_SEGMENT);
    let segments = section / F2FS_SEGMENT;
    let mut because = format!("a section of {segments} × {F2FS_SEGMENT} is whole units of {unit}");
    let count = open.value().or(open.least()).filter(|_| open.confidence().is_some_and(|c| c >= SURE_ENOUGH));
    let logs = count.map(|count| [6, 4].into_iter().find(|logs| *logs <= count).unwrap_or(2));
    let mount = match (logs, count) {
        (Some(logs), Some(count)) => {
            let least = if open.value().is_none() { "at least " } else { "" };
            because.push_str(&format!("; {least}{count} open units, sequential"));
            format!("; mount -o active_logs={logs} PARTITION DIR")
        }
        _ => String::new(),
    };
    advice("f2fs", format!("mkfs.f2fs -s {segments} PARTITION{mount}"), because)
}

/// The least common multiple of two sizes.
fn common_multiple(one: Bytes, other: Bytes) -> Bytes {
    let (mut a, mut b) = (one.get(), other.get());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    Bytes(one.get() / a * other.get())
}

/// Sectors of a partition from its start to the end of the device. mkfs.fat counts blocks of 1 KiB.
fn partition_sectors(start: Bytes, capacity: Option<Bytes>) -> Option<u64> {
    Some(capacity?.checked_sub(start)?.align_down(Bytes::kib(1)) / Bytes::SECTOR)
}

/// Length of each of two FATs in sectors, as mkfs.fat computes it from the sectors of the partition and those reserved.
fn fat_sectors(sectors: u64, reserved: u64) -> u64 {
    let cluster = FAT_CLUSTER.get();
    let clusters = (sectors.saturating_sub(reserved) * 512 + 2 * 8) / (cluster + 2 * 4);
    // Four bytes per cluster and two reserved entries.
    ((clusters + 2) * 4).div_ceil(512)
}

/// A FAT layout whose data area begins on a unit, for partitions to which FAT32 applies.
fn fat(unit: Bytes, start: Bytes, capacity: Option<Bytes>, area: Option<FastArea>) -> Option<Advice> {
    let partition = partition_sectors(start, capacity)?;
    let clusters = partition * 512 / FAT_CLUSTER.get();
    // Below 65525 clusters it is no FAT32; above 2 TiB no FAT at all.
    if !(65_525..=1 << 26).contains(&clusters) {
        return None;
    }
    // The FATs get shorter as more is reserved: near the first guess they fit each other.
    let whole = unit / Bytes::SECTOR;
    let least = (2 * fat_sectors(partition, 0) + 32).div_ceil(whole);
    let reserved = (least..least + 3).find_map(|units| {
        let before_data = whole * units;
        let fits = |reserved: &u64| *reserved >= 32 && reserved + 2 * fat_sectors(partition, *reserved) == before_data;
        let guess = before_data.checked_sub(2 * fat_sectors(partition, before_data))?;
        (guess.saturating_sub(64)..=guess + 64).find(fits)
    })?;
    let before_data = Bytes(512 * (reserved + 2 * fat_sectors(partition, reserved)));
    let sectors = FAT_CLUSTER / Bytes::SECTOR;
    let layout = format!("clusters of {FAT_CLUSTER}, and reserved sectors and both FATs together {before_data}");
    let command = (reserved <= 65_535).then(|| format!(": mkfs.fat -F 32 -a -s {sectors} -R {reserved} PARTITION"));
    let mut because = format!(
        "clusters and data area then lie within units of {unit}, if the partition starts at {start} and has {partition} \
         sectors, to the end of the device"
    );
    let small = area
        .filter(|area| matches!(area.kind, AreaKind::Faster) && start < area.end && area.first < start + before_data);
    if small.is_some() {
        because.push_str("; the FATs are in the fast area");
    }
    Some(advice("FAT", layout + &command.unwrap_or_default(), because))
}

/// SDXC cards are larger than this, and come with exFAT.
const LARGEST_SDHC: Bytes = Bytes::gib(32);

/// An exFAT layout with its FAT and its clusters on units of the device: mkfs.exfat counts from the start of the device.
fn exfat(unit: Bytes, start: Bytes, capacity: Option<Bytes>) -> Option<Advice> {
    // Its boundary alignment is a power of two.
    let fits = capacity? > LARGEST_SDHC && unit.get().is_power_of_two() && unit >= Bytes::mib(1);
    fits.then(|| {
        let kib = unit / Bytes::kib(1);
        let text = format!("mkfs.exfat -b {kib}K -c 128K PARTITION");
        advice(
            "exFAT",
            text,
            format!("FAT and clusters then begin on units of {unit}, if the partition starts at {start}"),
        )
    })
}

fn streams(open: &Estimate<u32>) -> Option<Advice> {
    let count = sure(open)?;
    Some(advice(
        "use",
        format!("write no more than {count} streams at once; a file system's metadata is one of them"),
        format!("{} (open units, sequential)", open.evidence()),
    ))
}

fn random_writes(geometry: &Geometry) -> Option<Advice> {
    // The confidence is that of the figure within its tolerance; that it is far from none at all is much surer.
    let penalty = &geometry.random_order_penalty;
    let far = penalty.value().filter(|found| found.ratio >= 2.0 * PENALTY_WORTH_SAYING);
    let far = far.filter(|_| penalty.confidence().is_some_and(|confidence| confidence >= 0.5));
    let penalty = sure(penalty).or(far).filter(|penalty| penalty.ratio >= PENALTY_WORTH_SAYING)?;
    // Where the penalty is that of writes as small as those, they may fare better than others, but not well.
    let escape = sure(&geometry.small_write_path)
        .map(|path| path.size)
        .filter(|size| *size < penalty.block)
        .map_or(String::new(), |size| format!("; writes ≤ {size} take a separate path and fare better"));
    Some(advice(
        "use",
        format!(
            "write sequentially: random writes of {} are about {}× slower{escape}",
            penalty.block,
            digits(penalty.ratio)
        ),
        format!("{} sequential and {} random within one unit", penalty.in_order, penalty.random),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_model::{ExperimentName, Reason};

    fn known<T>(value: T) -> Estimate<T> {
        Estimate::known(value, 0.99, "e", &[ExperimentName::Boundaries])
    }

    fn texts(unit: Bytes, page: Bytes, open: Estimate<u32>, area: Option<FastArea>) -> Vec<String> {
        let geometry = Geometry {
            allocation_unit: known(unit),
            boundary_offset: known(Bytes::ZERO),
            page: known(page),
            open_units_linear: open,
            fast_area: area.map_or(Estimate::not_measured(), known),
            ..Geometry::unknown(Reason::NotMeasured)
        };
        advise(&geometry, Some(Bytes(7_948_206_080))).into_iter().map(|advice| advice.text).collect()
    }

    #[test]
    fn options_follow_the_geometry() {
        let fast = FastArea { first: Bytes::mib(4), end: Bytes::mib(8), kind: AreaKind::Faster, ratio: 1.9 };
        let sd = texts(Bytes::mib(4), Bytes::kib(16), known(8), Some(fast));
        let table = "parted -s DEVICE mklabel msdos mkpart primary 4MiB 100%";
        assert_eq!(sd[0], format!("start the first partition at 4 MiB (sector 8192): {table}"));
        assert_eq!(sd[1], "mkfs.ext4 -b 4096 -E stride=4,stripe-width=1024 PARTITION");
        assert_eq!(sd[2], "mkfs.f2fs -s 2 PARTITION; mount -o active_logs=6 PARTITION DIR");
        assert!(sd[3].contains("mkfs.fat -F 32 -a -s 64 -R "), "{}", sd[3]);
        assert!(sd[4].starts_with("write no more than 8 streams"), "{}", sd[4]);
        let odd =
            texts(Bytes::mib(3), Bytes::kib(2), Estimate::at_least(4, 0.95, "e", &[ExperimentName::Boundaries]), None);
        assert!(odd[0].starts_with("start the first partition at 3 MiB (sector 6144): "), "{}", odd[0]);
        assert_eq!(odd[1], "mkfs.ext4 -b 4096 -E stride=1,stripe-width=768 PARTITION");
        assert_eq!(odd[2], "mkfs.f2fs -s 3 PARTITION; mount -o active_logs=4 PARTITION DIR");
        let small = texts(Bytes::kib(512), Bytes::kib(4), known(1), None);
        assert!(small[0].starts_with("start the first partition at 1 MiB (sector 2048): "), "{}", small[0]);
        assert_eq!(small[2], "mkfs.f2fs -s 1 PARTITION; mount -o active_logs=2 PARTITION DIR");
    }

    #[test]
    fn a_slow_start_is_left_alone() {
        let slow = FastArea { first: Bytes::ZERO, end: Bytes::mib(12), kind: AreaKind::Slower, ratio: 0.2 };
        let texts = texts(Bytes::mib(4), Bytes::kib(8), known(4), Some(slow));
        assert!(texts[0].ends_with(" mkpart primary 12MiB 100%"), "{}", texts[0]);
    }

    #[test]
    fn nobody_formats_by_a_guess() {
        let geometry = Geometry {
            allocation_unit: Estimate::known(Bytes::mib(4), 0.7, "e", &[ExperimentName::Boundaries]),
            boundary_offset: Estimate::known(Bytes::ZERO, 0.7, "e", &[ExperimentName::Boundaries]),
            open_units_linear: Estimate::known(8, 0.6, "e", &[ExperimentName::Boundaries]),
            ..Geometry::unknown(Reason::NotMeasured)
        };
        assert_eq!(advise(&geometry, Some(Bytes::gib(8))), Vec::new());
    }
}
