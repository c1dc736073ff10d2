//! What a perfect observer would report of a page-mapped drive. Only scoring may read it.

use super::PageMap;
use crate::model::{Model, Start};
use crate::page_map::{PageMapParams, SlcCache};
use crate::truth::{AreaTruth, Fact, PenaltyTruth, SizeTruth, Truth, penalties};
use flashscope_model::finding::AreaKind;
use flashscope_units::{Bytes, Nanos};

/// What is true of a drive and has no counterpart in a card.
#[derive(Clone, Debug, PartialEq)]
pub struct DriveTruth {
    /// Data that one row of pages over all dies holds.
    pub stripe: Fact<Bytes>,
    /// Host data that the SLC cache takes in the start state; no value: there is none.
    pub slc_cache: Fact<Bytes>,
    /// Bytes of the write buffer.
    pub write_buffer: Fact<Bytes>,
    /// Physical over user capacity, bad superblocks left out.
    pub physical_over_user: Fact<f64>,
    /// How much of the device the map in memory stands for; no value: all of it.
    pub map_reach: Fact<Bytes>,
}

/// The truth of a page-mapped drive.
pub(crate) fn of(model: &Model, params: &PageMapParams) -> Truth {
    Truth {
        mapping: "page-map",
        capacity: Fact::known(model.device.capacity),
        size: SizeTruth::genuine(model.device.capacity),
        allocation_unit: allocation_unit(model, params),
        page: page(params),
        page_inner: Fact::hidden(None, "there is none; short reads may show the unit of the map").or(vec![params.unit]),
        open_units_linear: no_limit(),
        open_units_random: no_limit(),
        random_order_penalty: random_order_penalty(model),
        small_write_path: Fact::hidden(None, "there is none"),
        fast_area: Fact::known(AreaTruth { first: Bytes::ZERO, end: Bytes::ZERO, kind: AreaKind::None, ratio: 1.0 })
            .noted("there is none"),
        never_written: Fact::known(if model.state.start == Start::Blank { 1.0 } else { 0.0 }),
        drive: drive(model, params),
    }
}

/// No read and no write pays for a superblock's edge: the next row is on another die either way.
fn allocation_unit(model: &Model, params: &PageMapParams) -> Fact<Bytes> {
    let superblock = PageMap::of_model(params, model, 0).ok().map(|drive| drive.superblock());
    Fact::hidden(superblock, "a superblock, whose edge no request pays for")
}

fn page(params: &PageMapParams) -> Fact<Bytes> {
    let page = params.nand.page;
    if params.nand.multi_plane_read == Nanos::ZERO && params.issue == Nanos::ZERO {
        return Fact::hidden(Some(page), "reading a second page costs nothing that shows");
    }
    Fact::known(page)
}

/// Every write goes to the same row, wherever it belongs: whatever number of units an observer tried, he is right to say "at least that".
fn no_limit() -> Fact<u32> {
    let mut fact = Fact::hidden(None, "no limit: any lower bound is right");
    fact.at_least = Some(u32::MAX);
    fact.can_be_told = true;
    fact
}

fn random_order_penalty(model: &Model) -> Vec<PenaltyTruth> {
    let region = Bytes::mib(4);
    let start = Bytes(model.device.capacity.get() / 2).align_down(region);
    penalties(model, start, region)
}

fn drive(model: &Model, params: &PageMapParams) -> Option<DriveTruth> {
    let drive = PageMap::of_model(params, model, 0).ok()?;
    let room = drive.slc_room();
    let slc_cache = match params.slc {
        SlcCache::None => Fact::hidden(None, "there is none"),
        _ if params.nand.slc_program >= params.nand.program.iter().copied().max()? => {
            Fact::hidden(Some(room), "it is no faster than the rest")
        }
        _ if room == Bytes::ZERO => Fact::hidden(Some(room), "no superblock is free for it"),
        _ => Fact::known(room),
    };
    Some(DriveTruth {
        stripe: Fact::known(drive.stripe()),
        slc_cache,
        write_buffer: Fact::known(params.buffer.size),
        physical_over_user: Fact::known(drive.physical_over_user()).noted("trades against the policy of collection"),
        map_reach: match &params.map_cache {
            Some(cache) => Fact::known(cache.reach),
            None => Fact::hidden(None, "all of the map is in memory"),
        },
    })
}
