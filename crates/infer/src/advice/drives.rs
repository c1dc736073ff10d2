//! Advice from what lies behind the controller: rows over chips, requests side by side, discard, spare space.

use super::{EXT4_BLOCK, Room, advice, ext4, partition, sure};
use crate::numbers::digits;
use flashscope_model::discard::DiscardReads;
use flashscope_model::finding::{Advice, Geometry, MappingKind};
use flashscope_units::Bytes;

/// Random order that costs no more than this leaves a scheduler nothing to gain.
const ORDER_MATTERS_NOT: f64 = 1.2;

/// From this write amplification on, spare space is worth its price.
const AMPLIFIED: f64 = 2.0;

/// Random writes this many times as fast behind a discard are worth the command.
const FASTER: f64 = 1.15;

/// Flash beyond the capacity, as a ratio, from which on leaving more of it unused gains little.
const SPARE_ALREADY: f64 = 1.2;

/// Where no allocation unit shows, a row over all chips (or else the page) is what partitions and files are laid out by.
pub(super) fn layout(geometry: &Geometry, room: &Room) -> Vec<Advice> {
    let page = sure(&geometry.page);
    let by_page = sure(&geometry.mapping) == Some(MappingKind::Page);
    // On a device that is mapped by units, one that is only likely is no reason to lay anything out by pages.
    if geometry.allocation_unit.figure().is_some() || !by_page {
        return Vec::new();
    }
    let row = sure(&geometry.stripe).map(|stripe| (stripe, "row over all chips"));
    let Some((row, what)) = row.or(page.map(|page| (page, "page"))).filter(|(row, _)| *row >= EXT4_BLOCK) else {
        return Vec::new();
    };
    let start = Bytes::mib(1).align_up(row);
    let because = format!("{start} is a multiple of the {what} ({row})");
    vec![partition(start, room, because), ext4(row, what, page)]
}

/// Queue depth and scheduler of a drive that reads on several chips at once.
pub(super) fn requests(geometry: &Geometry) -> Vec<Advice> {
    let Some(units) = sure(&geometry.parallel_units).filter(|units| *units > 1) else { return Vec::new() };
    let queue = advice(
        "queue depth",
        format!("keep {units} or more requests outstanding where throughput matters"),
        format!("{units} chips read side by side"),
    );
    let any_order = sure(&geometry.random_order_penalty).filter(|found| found.ratio <= ORDER_MATTERS_NOT);
    let by_page = sure(&geometry.mapping) == Some(MappingKind::Page);
    let scheduler = any_order.filter(|_| by_page).map(|found| {
        advice(
            "scheduler",
            "let the device order requests: echo none > /sys/block/NAME/queue/scheduler".to_owned(),
            format!("it is page-mapped, and random order costs {}×: sorting gains nothing", digits(found.ratio)),
        )
    });
    [Some(queue), scheduler].into_iter().flatten().collect()
}

/// Telling the device what is not needed any more, where it is known that it listens.
pub(super) fn discard(geometry: &Geometry) -> Option<Advice> {
    let found = sure(&geometry.discard)?;
    if matches!(found.reads, DiscardReads::Absent | DiscardReads::Kept) {
        return None;
    }
    let faster = found.rewrite_ratio.filter(|ratio| *ratio >= FASTER);
    if faster.is_none() && sure(&geometry.mapping) != Some(MappingKind::Page) {
        return None;
    }
    let from = found.granularity.map_or(String::new(), |size| format!(" of {size} and more"));
    let cost = found.smallest.map_or(String::new(), |time| format!(", {time} each"));
    Some(advice(
        "discard",
        "discard what was deleted, once a week: systemctl enable --now fstrim.timer".to_owned(),
        match faster {
            Some(ratio) => {
                format!("discards{from} take effect{cost}, and random writes behind one are {}× as fast", digits(ratio))
            }
            None => {
                format!("discards{from} take effect{cost}, and a page-mapped device has to move what is not discarded")
            }
        },
    ))
}

/// Space to leave unused, where random overwriting is known to cost a multiple and discards tell the device of it.
pub(super) fn spare(geometry: &Geometry) -> Option<Advice> {
    let amplified = sure(&geometry.write_amplification).filter(|ratio| *ratio >= AMPLIFIED)?;
    let spare = sure(&geometry.physical_over_user).filter(|ratio| *ratio < SPARE_ALREADY)?;
    discard(geometry)?;
    Some(advice(
        "over-provisioning",
        "for much random writing, leave 10 % of the device discarded and without a partition".to_owned(),
        format!(
            "write amplification is {}× under random overwriting, over-provisioning {:.0} %",
            digits(amplified),
            100.0 * (spare - 1.0)
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_model::discard::DiscardFound;
    use flashscope_model::finding::Penalty;
    use flashscope_model::{Estimate, ExperimentName, Reason};
    use flashscope_units::ByteRate;

    fn known<T>(value: T) -> Estimate<T> {
        Estimate::known(value, 0.99, "e", &[ExperimentName::Parallel])
    }

    fn drive() -> Geometry {
        let rate = ByteRate(1e8);
        Geometry {
            page: known(Bytes::kib(64)),
            stripe: known(Bytes::kib(512)),
            parallel_units: known(8),
            mapping: known(MappingKind::Page),
            random_order_penalty: known(Penalty { ratio: 1.0, block: Bytes::kib(4), in_order: rate, random: rate }),
            ..Geometry::unknown(Reason::NotMeasured)
        }
    }

    fn texts(geometry: &Geometry) -> Vec<String> {
        super::super::advise(geometry, Some(Bytes::gib(223))).into_iter().map(|advice| advice.text).collect()
    }

    #[test]
    fn a_drive_is_laid_out_by_its_rows() {
        let texts = texts(&drive());
        assert!(texts[0].ends_with("mklabel msdos mkpart primary 1MiB 100%"), "{}", texts[0]);
        assert_eq!(texts[1], "mkfs.ext4 -b 4096 -E stride=16,stripe-width=128 PARTITION");
        assert!(texts[2].starts_with("keep 8 or more requests outstanding"), "{}", texts[2]);
        assert!(texts[3].ends_with("echo none > /sys/block/NAME/queue/scheduler"), "{}", texts[3]);
        assert_eq!(texts.len(), 4, "nothing is known of discard or spare space");
    }

    #[test]
    fn spare_space_is_advised_only_where_it_is_known_to_help() {
        let found = |reads| DiscardFound {
            reads,
            granularity: Some(Bytes::kib(4)),
            smallest: None,
            largest: None,
            largest_time: None,
            rewrite_ratio: None,
        };
        let mut geometry = drive();
        geometry.write_amplification = known(3.4);
        geometry.physical_over_user = known(1.07);
        geometry.discard = known(found(DiscardReads::Kept));
        assert!(!texts(&geometry).iter().any(|text| text.contains("10 %") || text.contains("fstrim")));
        geometry.discard = known(found(DiscardReads::Zeros));
        let said = texts(&geometry);
        assert!(said.iter().any(|text| text.contains("fstrim.timer")));
        assert!(said.iter().any(|text| text.contains("leave 10 % of the device")));
        geometry.write_amplification = Estimate::known(3.4, 0.7, "e", &[]);
        assert!(!texts(&geometry).iter().any(|text| text.contains("10 %")), "too unsure to give space away for");
    }
}
