//! The truth of another world in the words that the fleet scores by.

use flashscope_model::finding::AreaKind;
use flashscope_sim::FakeKind;
use flashscope_sim::truth::{
    AreaPartTruth, AreaTruth, DiscardTruth, DriveTruth, Fact, MemoryTruth, PenaltyTruth, SizeTruth, StallTruth, Truth,
};
use flashscope_units::{Bytes, Nanos};
use flashscope_worlds as worlds;

/// The same in the fleet's words.
pub(crate) fn in_their_words(own: worlds::Truth) -> Truth {
    let area = area(own.fast_area.as_ref());
    Truth {
        mapping: "another world",
        mapping_kind: fact(own.mapping),
        capacity: known(Some(own.capacity)),
        size: SizeTruth { kind: FakeKind::Genuine, claimed: own.capacity, real: own.capacity, damaged_ratio: 0.0 },
        allocation_unit: fact(own.allocation_unit),
        boundary_offset: fact(own.boundary_offset),
        page: fact(own.page),
        page_inner: fact(own.page_inner),
        // What its noise hides is not worked out here: all that is found without it counts as told.
        inner_step: Nanos::ZERO,
        noise: Nanos::ZERO,
        open_units_linear: fact(own.open_units_linear),
        open_units_random: fact(own.open_units_random),
        random_order_penalty: own
            .penalties
            .iter()
            .map(|one| PenaltyTruth { ratio: one.long, at_first: one.at_first, block: one.block })
            .collect(),
        small_write_path: fact(own.small_write_path),
        fast_area: known(Some(area.0)),
        fast_area_parts: match area.1 {
            Some(part) => Fact { at_least: Some(vec![part]), ..known(Some(vec![part])) },
            None => Fact::none(),
        },
        never_written: Fact::none(),
        drive: own.inner.map(drive),
        stalls: fact(own.stalls).map(|(time, spacing)| StallTruth { shortest: time, longest: time, spacing }),
        memory: MemoryTruth {
            write_buffer: known(None),
            volatile: Fact::none(),
            flushed_by_read: Fact::none(),
            flush_window: Fact::none(),
            read_buffer: fact(own.read_buffer),
            read_ahead: known(None),
        },
        discard: known(own.discard.map(|one| DiscardTruth { reads: Some(one.byte), granularity: one.grain })),
    }
}

fn fact<T>(own: worlds::Fact<T>) -> Fact<T> {
    let worlds::Fact { value, aliases, at_least, shows } = own;
    Fact { value, aliases, at_least, can_be_told: shows, note: String::new() }
}

/// What is known for certain, be it that there is none.
fn known<T>(value: Option<T>) -> Fact<T> {
    Fact { value, can_be_told: true, ..Fact::none() }
}

/// What differs by less is not told apart by the fleet's own truth either.
const LEAST_CONTRAST: f64 = 1.1;

fn area(own: Option<&worlds::Area>) -> (AreaTruth, Option<AreaPartTruth>) {
    let shown = own.filter(|area| area.long.max(area.small) > LEAST_CONTRAST);
    let Some(area) = shown else {
        return (AreaTruth { first: Bytes::ZERO, end: Bytes::ZERO, kind: AreaKind::None, ratio: 1.0 }, None);
    };
    let part = AreaPartTruth {
        first: Bytes::ZERO,
        end: area.end,
        in_order: [area.middle, area.long],
        small: Some(area.small),
        by_page: false,
    };
    (AreaTruth { first: Bytes::ZERO, end: area.end, kind: AreaKind::Faster, ratio: area.long }, Some(part))
}

fn drive(own: worlds::Inner) -> DriveTruth {
    DriveTruth {
        stripe: fact(own.stripe),
        parallel_units: fact(own.parallel_units),
        channels: fact(own.channels),
        bits_per_cell: fact(own.bits_per_cell),
        slc_cache: fact(own.slc_cache),
        slc_kind: fact(own.slc_kind),
        physical_over_user: fact(own.physical_over_user),
        map_reach: fact(own.map_reach),
    }
}
