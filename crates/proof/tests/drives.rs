//! The inside of a page-mapped drive: probes and inference recover what the simulator was given, and say "cannot tell"
//! where it does not show.

use flashscope_device::{Target, WriteGrant};
use flashscope_model::finding::{MappingKind, SlcKind};
use flashscope_model::plan::{Budget, Cells, SlcCache, Span, Stretch};
use flashscope_model::{Experiment, Geometry};
use flashscope_proof::Nobody;
use flashscope_session::{Options, inspect, single};
use flashscope_sim::SimTarget;
use flashscope_units::{Bytes, Nanos};

/// The catalogue's drive with other lines in its model file.
fn drive(changes: &[(&str, &str)], sections: &str) -> SimTarget {
    let mut text =
        flashscope_sim::show("ssd-consumer", false, |_| Err("no files".to_owned())).expect("in the catalogue");
    for (line, other) in changes {
        assert!(text.contains(line), "{line}");
        text = text.replace(line, other);
    }
    text.push_str(sections);
    let mut target = flashscope_sim::open_with("drive.toml", 3, |_| Ok(text.clone())).expect("a model");
    target.check_always(false);
    target
}

fn found(mut target: SimTarget, experiment: Experiment) -> Geometry {
    let write = Bytes::gib(8);
    let mut grant = WriteGrant::simulated(target.facts(), write).expect("a simulated device");
    let options = Options { seed: 5, budget: Budget { write, time: None } };
    single(experiment, &mut target, Some(&mut grant), options, &mut Nobody).expect("it fits").findings.geometry
}

fn parallel(target: SimTarget) -> Geometry {
    let plan = flashscope_infer::parallel_plan(target.facts(), 8, 40, None);
    found(target, Experiment::Parallel(plan))
}

#[test]
fn stripes_are_those_of_channels_dies_planes_and_pages() {
    let check = |changes: &[(&str, &str)], stripe: Bytes, units: u32| {
        let found = parallel(drive(changes, ""));
        assert_eq!((found.stripe.value(), found.parallel_units.value()), (Some(stripe), Some(units)), "{found:?}");
        assert!(found.stripe.confidence().is_some_and(|sure| sure > 0.9), "{:?}", found.stripe);
    };
    check(&[], Bytes::kib(512), 8);
    check(
        &[("channels = 4", "channels = 3"), ("blocks_per_plane = 228", "blocks_per_plane = 304")],
        Bytes::kib(384),
        6,
    );
    check(
        &[("dies_per_channel = 2", "dies_per_channel = 1"), ("blocks_per_plane = 228", "blocks_per_plane = 456")],
        Bytes::kib(256),
        4,
    );
    check(&[("level = \"bench\"", "level = \"field\"")], Bytes::kib(512), 8);
}

/// Two reads of a chunk at once, which takes 64 KiB.
fn channels(target: SimTarget, units: u32) -> Geometry {
    let all = Span { start: Bytes::ZERO, length: target.facts().capacity };
    let plan = flashscope_infer::channels_plan(Bytes::kib(64), Bytes::kib(64), units, 100, all);
    found(target, Experiment::Parallel(plan))
}

#[test]
fn channels_show_where_they_are_slower_than_the_link() {
    let slow = ("bus_bytes_per_s = 667e6", "bus_bytes_per_s = 300e6");
    let told = channels(drive(&[slow], ""), 8).channels;
    assert_eq!(told.value(), Some(4), "{told:?}");
    let told = channels(drive(&[slow, ("level = \"bench\"", "level = \"field\"")], ""), 8).channels;
    assert_eq!(told.value(), Some(4), "{told:?}");
    let hidden = channels(drive(&[], ""), 8).channels;
    assert!(hidden.is_unknown(), "{hidden:?}");
    // Eight channels of one die each, and eight dies on one: only the product may show.
    for (channels_of, dies) in [("channels = 8", "dies_per_channel = 1"), ("channels = 1", "dies_per_channel = 8")] {
        let changes = [slow, ("channels = 4", channels_of), ("dies_per_channel = 2", dies)];
        let told = channels(drive(&changes, ""), 8).channels;
        assert!(told.is_unknown() || channels_of.ends_with('8'), "{told:?}");
    }
}

#[test]
fn nothing_lies_side_by_side_in_one_die_or_behind_a_queue_of_one() {
    let one_die = [
        ("channels = 4", "channels = 1"),
        ("dies_per_channel = 2", "dies_per_channel = 1"),
        ("blocks_per_plane = 228", "blocks_per_plane = 1824"),
    ];
    let found = parallel(drive(&one_die, ""));
    assert!(found.stripe.is_unknown() && found.parallel_units.is_unknown(), "{found:?}");
    let card = flashscope_sim::open("sd-4mib", 1).expect("in the catalogue");
    let plan = flashscope_infer::parallel_plan(card.facts(), 8, 4, None);
    assert!(plan.fans.iter().all(|fan| fan.reads == 1), "{plan:?}");
}

fn bursts(length: Bytes, idle: Nanos) -> Experiment {
    let burst = Stretch { idle, span: Span { start: Bytes::gib(1), length } };
    Experiment::SlcCache(SlcCache { block: Bytes::mib(1), bursts: vec![burst; 2] })
}

/// Superblocks of 288 MiB, of which three are written with one bit per cell: 96 MiB each.
const SMALL: [(&str, &str); 3] = [
    ("pages_per_block = 2304", "pages_per_block = 576"),
    ("blocks_per_plane = 228", "blocks_per_plane = 912"),
    ("max_superblocks = 32", "max_superblocks = 3"),
];

#[test]
fn a_cache_of_fast_cells_is_found_with_its_size_and_rates() {
    let found = found(drive(&SMALL, ""), bursts(Bytes::mib(400), Nanos::millis(60_000)));
    let cache = found.slc_cache.value().unwrap_or_else(|| panic!("{:?}", found.slc_cache));
    assert!((cache.size.as_f64() / Bytes::mib(288).as_f64() - 1.0).abs() < 0.03, "{cache:?}");
    assert!(cache.cached.get() > 1.25 * cache.after.get(), "{cache:?}");
    assert!(found.slc_cache.confidence().is_some_and(|sure| sure > 0.95), "{:?}", found.slc_cache);
    assert_eq!(found.slc_cache_recovery.most(), Some(Nanos::millis(60_000)), "{:?}", found.slc_cache_recovery);
}

#[test]
fn a_cache_that_was_not_given_its_rest_is_not_sure() {
    let found = found(drive(&SMALL, ""), bursts(Bytes::mib(400), Nanos::ZERO));
    assert!(found.slc_cache_recovery.most().is_none(), "{:?}", found.slc_cache_recovery);
}

/// 6 GiB in superblocks of 48 MiB, which hold 16 MiB with one bit per cell.
fn inspected(start: &str, cache: &str, times: u64) -> Geometry {
    let mut target = drive(
        &[
            ("240057409536", "6442450944"),
            ("pages_per_block = 2304", "pages_per_block = 96"),
            ("blocks_per_plane = 228", "blocks_per_plane = 154"),
            ("kind = \"dynamic\"\nmax_superblocks = 32\nkeep_free = 8", cache),
            ("start = \"filled\"", start),
        ],
        "",
    );
    let write = target.facts().capacity * times;
    let mut grant = WriteGrant::simulated(target.facts(), write).expect("a simulated device");
    let options = Options { seed: 9, budget: Budget { write, time: None } };
    inspect(&mut target, Some(&mut grant), options, &mut Nobody).findings.geometry
}

#[test]
fn a_cache_that_shrinks_as_the_device_fills_is_dynamic() {
    let blank = "start = \"blank\"";
    let check = |start, cache, times, expect| {
        let found = inspected(start, cache, times).slc_cache;
        assert_eq!(found.value().map(|cache| cache.kind), Some(expect), "{found:?}");
    };
    check(blank, "kind = \"dynamic\"\nmax_superblocks = 14\nkeep_free = 20", 4, SlcKind::Dynamic);
    check(blank, "kind = \"static\"\nsuperblocks = 12", 4, SlcKind::Static);
    // One that is full, and one that may not be filled.
    check("start = \"filled\"", "kind = \"static\"\nsuperblocks = 12", 4, SlcKind::Untested);
    check(blank, "kind = \"static\"\nsuperblocks = 12", 1, SlcKind::Untested);
}

#[test]
fn without_a_fall_of_the_rate_there_is_a_bound() {
    let found = found(drive(&[], ""), bursts(Bytes::mib(256), Nanos::millis(1000)));
    assert!(found.slc_cache.value().is_none(), "{:?}", found.slc_cache);
    assert!(found.slc_cache.least().is_some_and(|bound| bound.size >= Bytes::mib(200)), "{:?}", found.slc_cache);
}

#[test]
fn a_map_in_memory_reaches_as_far_as_it_was_given() {
    let plan = |target: &SimTarget| {
        let capacity = target.facts().capacity;
        Experiment::MapReach(flashscope_infer::map_reach_plan(
            Bytes::kib(4),
            Bytes::ZERO,
            capacity.min(Bytes::gib(8)),
            400,
        ))
    };
    for (reach, noise) in [("1GiB", "bench"), ("512MiB", "field"), ("3GiB", "bench")] {
        let level = format!("level = \"{noise}\"");
        let target = drive(
            &[("level = \"bench\"", &level)],
            &format!("\n[mapping.map_cache]\nreach = \"{reach}\"\npage = \"4KiB\"\n"),
        );
        let plan = plan(&target);
        let found = found(target, plan).map_reach;
        let right = reach.parse::<Bytes>().expect("a size").as_f64();
        let off = found.value().map(|value| (value.as_f64() / right).ln().abs());
        assert!(off.is_some_and(|off| off < 1.25f64.ln()), "{reach}: {found:?}");
    }
    let whole = drive(&[], "");
    let plan = plan(&whole);
    let found = found(whole, plan).map_reach;
    assert_eq!((found.value(), found.least()), (None, Some(Bytes::gib(8))), "{found:?}");
}

#[test]
fn cells_hold_as_many_bits_as_there_are_kinds_of_pages() {
    let step = Cells { block: Bytes::kib(4), start: Bytes::gib(2), step: Bytes::kib(512), places: 72, repeats: 16 };
    let check = |read: &str, bits: Option<u32>| {
        let found = found(drive(&[("read = [\"74us\"]", read)], ""), Experiment::Cells(step)).bits_per_cell;
        assert_eq!(found.value(), bits, "{read}: {found:?}");
    };
    check("read = [\"74us\"]", None);
    check("read = [\"60us\", \"90us\"]", Some(2));
    check("read = [\"56us\", \"78us\", \"106us\"]", Some(3));
    check("read = [\"80us\", \"95us\", \"110us\", \"125us\"]", Some(4));
}

#[test]
fn the_mapping_is_told_by_what_order_and_number_cost() {
    let mapping = |spec: &str| {
        let mut target = flashscope_sim::open(spec, 2).expect("in the catalogue");
        target.check_always(false);
        let write = Bytes::gib(2).min(target.facts().capacity / 10);
        let mut grant = WriteGrant::simulated(target.facts(), write).expect("a simulated device");
        let options = Options { seed: 2, budget: Budget { write, time: None } };
        inspect(&mut target, Some(&mut grant), options, &mut Nobody).findings.geometry.mapping
    };
    for (spec, kind) in [
        ("sd-4mib", MappingKind::UnitInOrder),
        ("sd-4mib,mapping.logs_random=5,mapping.logs_in_order=5", MappingKind::UnitLog),
        ("ssd-consumer", MappingKind::Page),
    ] {
        let found = mapping(spec);
        assert_eq!(found.value(), Some(kind), "{spec}: {found:?}");
    }
}
