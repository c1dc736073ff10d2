//! Drawing worlds: ranges from data sheets and papers (docs/worlds.md), each figure by itself.

use crate::around::Surroundings;
use crate::card::{CardPlan, CardTimes, Keeps, Route};
use crate::chance::Chance;
use crate::drive::{CachedMap, DrivePlan, DriveTimes, FastCells, Victim};
use crate::evict::Rule;
use crate::world::{Inside, Kind, World};
use flashscope_model::{Claims, DeviceFacts, DeviceKind};
use flashscope_stats::rng::{mix, stream};
use flashscope_units::{Bytes, Nanos};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// The device of this number in the fleet of this seed.
pub fn draw(seed: u64, number: u32) -> World {
    let own = mix(stream(seed, u64::from(number)));
    let mut chance = Chance::new(own, 1);
    let card = chance.happens(0.6);
    let (inside, kind) = if card {
        (Inside::Card(card_plan(&mut chance)), chance.pick(&[DeviceKind::SdCard, DeviceKind::Emmc, DeviceKind::Usb]))
    } else {
        let kinds = [DeviceKind::Nvme, DeviceKind::Scsi, DeviceKind::Ufs, DeviceKind::Emmc];
        (Inside::Drive(drive_plan(&mut chance)), chance.pick(&kinds))
    };
    let deep = match kind {
        DeviceKind::Nvme | DeviceKind::Scsi | DeviceKind::Ufs => chance.pick(&[8, 32, 64]),
        DeviceKind::Emmc => chance.pick(&[1, 16]),
        _ => 1,
    };
    let (capacity, unit) = match &inside {
        Inside::Card(plan) => (plan.capacity, Some(plan.unit)),
        Inside::Drive(plan) => (plan.capacity, None),
    };
    let max_request = chance.pick(&[64 * KIB, 128 * KIB, 256 * KIB, 512 * KIB, MIB]);
    let facts = DeviceFacts {
        name: format!("world {number}"),
        kind,
        simulated: true,
        capacity: Bytes(capacity),
        logical_block: Bytes::SECTOR,
        physical_block: chance.happens(0.3).then_some(Bytes(4 * KIB)),
        max_request: Some(Bytes(max_request)),
        queue_depth: Some(deep),
        claims: claims(unit, &mut chance),
        identity: None,
    };
    World {
        title: title(&inside, kind),
        kinds: kinds(&inside),
        seed: own,
        inside,
        facts,
        max_request,
        flush: Nanos::micros(chance.whole(20, 400)),
        discard_grain: chance.happens(0.7).then(|| chance.pick(&[512, 4 * KIB, 16 * KIB, 64 * KIB, 512 * KIB])),
        erased_byte: chance.pick(&[0x00, 0xff]),
        around: surroundings(kind, &mut chance),
    }
}

fn micros(chance: &mut Chance, low: f64, high: f64) -> Nanos {
    Nanos((chance.log_between(low, high) * 1e3) as u64)
}

/// What a register says of the unit: mostly nothing, else the truth, or any other figure.
fn claims(unit: Option<u64>, chance: &mut Chance) -> Claims {
    let right = unit.filter(|_| chance.happens(0.5));
    let said = chance.happens(0.4).then(|| right.unwrap_or(chance.pick(&[512 * KIB, 4 * MIB, 8 * MIB])));
    Claims { allocation_unit: said.map(Bytes), ..Claims::default() }
}

fn card_plan(chance: &mut Chance) -> CardPlan {
    let unit = chance.pick(&[1, 2, 3, 4, 4, 4, 6, 8, 8, 12, 16, 24]) * MIB;
    let page = chance.pick(&[4, 8, 8, 16, 16, 32, 64]) * KIB;
    let hidden = if chance.happens(0.35) { shift(unit, page, chance) } else { 0 };
    let size = (chance.log_between(1.0, 16.0) * 1024.0) as u64 * MIB;
    // Most devices are whole units for the host; one in four counts in 512 KiB.
    let grain = if chance.happens(0.75) { unit } else { 512 * KIB };
    let capacity = size.next_multiple_of(grain);
    let route = match chance.below(4) {
        0 | 1 => Route::Own,
        2 => Route::BySize(chance.pick(&[4, 8, 16]) * KIB),
        _ => Route::ByOrder,
    };
    let (logs, shared) = match route {
        Route::Own => (chance.log_between(1.0, 17.0) as usize, 0),
        Route::BySize(_) => (chance.log_between(2.0, 13.0) as usize, chance.whole(1, 6) as usize),
        Route::ByOrder => (chance.whole(1, 4) as usize, chance.whole(1, 8) as usize),
    };
    let sense = micros(chance, 25.0, 110.0);
    let program = micros(chance, 250.0, 2200.0);
    let codeword = chance.pick(&[512, 1024, 2048]);
    CardPlan {
        capacity,
        unit,
        page,
        hidden,
        logs,
        rule: chance.pick(&[Rule::LeastRecent, Rule::LeastRecent, Rule::Oldest, Rule::Clock, Rule::Random]),
        shared,
        route,
        maps_at_hand: chance.happens(0.7).then(|| chance.whole(1, 4) as usize),
        keeps: chance.pick(&[Keeps::Nothing, Keeps::Nothing, Keeps::Page, Keeps::Page, Keeps::Unit]),
        codeword,
        partial_programs: chance.pick(&[1, 4]),
        fast_units: if chance.happens(0.25) { chance.whole(1, 3) } else { 0 },
        filled: chance.pick(&[1.0, 1.0, 0.5, 0.0]),
        used: chance.happens(0.5),
        times: CardTimes {
            command: micros(chance, 60.0, 600.0),
            wire: chance.pick(&[11e6, 21e6, 23e6, 45e6, 90e6, 170e6]),
            sense,
            program,
            fast: chance.log_between(0.3, 0.7),
            erase: micros(chance, 1500.0, 8000.0),
            copy: Nanos(((sense + program).as_f64() * chance.log_between(0.5, 1.1)) as u64),
            map: micros(chance, 50.0, 500.0),
            codeword: Nanos((codeword as f64 / 1024.0 * chance.log_between(2e3, 12e3)) as u64),
        },
    }
}

/// Where a grid begins that is not the host's: behind a partition table's first track, a hidden header, or anywhere.
fn shift(unit: u64, page: u64, chance: &mut Chance) -> u64 {
    let any_page = chance.whole(1, unit / page - 1) * page;
    let any_sector = chance.whole(1, unit / 512 - 1) * 512;
    chance.pick(&[63 * 512, 4 * KIB, 64 * KIB, 512 * KIB, any_page, any_page, any_sector])
}

fn drive_plan(chance: &mut Chance) -> DrivePlan {
    let capacity = (chance.log_between(1.0, 8.0) * 256.0) as u64 * 4 * MIB;
    let channels = chance.pick(&[1, 2, 2, 4, 4, 8]);
    let ways = chance.pick(&[1, 2, 4]);
    let page = chance.pick(&[8, 16, 16, 32]) * KIB;
    let most = capacity / 24 / (channels * ways) as u64 / page;
    let pages_per_block = chance.pick(&[64, 128, 256]).min(most.max(16) as usize);
    let superblock = (channels * ways * pages_per_block) as u64 * page;
    let cached_map = chance.happens(0.4).then(|| CachedMap {
        entries: (capacity as f64 / page as f64 * chance.log_between(1.0 / 64.0, 0.25)) as usize,
        per_page: chance.pick(&[512, 1024, 2048]),
        fetched: chance.pick(&[1, 8, 64]),
    });
    let program = micros(chance, 400.0, 2500.0);
    let bits = chance.pick(&[2, 3, 4]);
    let fast = chance.happens(0.4).then(|| FastCells {
        superblocks: (chance.log_between(1.0, 10.0) / 100.0 * capacity as f64 * bits as f64 / superblock as f64).ceil()
            as usize,
        bits,
        program: Nanos((program.as_f64() * chance.log_between(0.1, 0.35)) as u64),
        after: Nanos::millis(chance.whole(20, 2000)),
    });
    DrivePlan {
        capacity,
        hidden: if chance.happens(0.2) { chance.pick(&[63 * 512, 4 * KIB, MIB]) } else { 0 },
        channels,
        ways,
        page,
        codeword: chance.pick(&[1024, 2048, 4096]),
        pages_per_block,
        spare: chance.log_between(1.07, 1.3),
        rotates: chance.happens(0.6),
        victim: chance.pick(&[Victim::Greedy, Victim::BestOf(2), Victim::BestOf(5), Victim::Oldest]),
        cached_map,
        fast,
        filled: chance.pick(&[1.0, 1.0, 0.5, 0.0]),
        aged: chance.pick(&[0.0, 0.0, 0.3, 1.0]),
        times: DriveTimes {
            command: micros(chance, 8.0, 80.0),
            wire: chance.pick(&[250e6, 500e6, 1e9, 2e9]),
            issue: micros(chance, 0.5, 5.0),
            sense: micros(chance, 40.0, 110.0),
            program,
            erase: micros(chance, 3000.0, 15_000.0),
            codeword: micros(chance, 1.5, 8.0),
        },
    }
}

fn surroundings(kind: DeviceKind, chance: &mut Chance) -> Surroundings {
    let frames = kind == DeviceKind::Usb && chance.happens(0.6);
    Surroundings {
        host: micros(chance, 4.0, 80.0),
        host_shape: chance.pick(&[1.0, 2.0, 5.0]),
        tick: if frames { Nanos::micros(125) } else { chance.pick(&[Nanos(1), Nanos::micros(1), Nanos::micros(10)]) },
        stall_chance: chance.pick(&[0.0, 1e-4, 1e-3, 4e-3]),
        stall: micros(chance, 3e3, 50e3),
        flash_shape: chance.log_between(100.0, 2500.0),
    }
}

fn kinds(inside: &Inside) -> Vec<Kind> {
    let all = match inside {
        Inside::Card(plan) => vec![
            (plan.route == Route::Own, Kind::OwnLogs),
            (plan.route != Route::Own, Kind::SharedLogs),
            (plan.keeps == Keeps::Unit, Kind::UnitCache),
            (plan.hidden > 0, Kind::ShiftedGrid),
            (plan.rule != Rule::LeastRecent, Kind::OtherEviction),
        ],
        Inside::Drive(plan) => vec![
            (plan.cached_map.is_some(), Kind::CachedMap),
            (plan.rotates, Kind::RotatingRows),
            (plan.fast.is_some(), Kind::FoldedCells),
            (plan.hidden > 0, Kind::ShiftedGrid),
        ],
    };
    all.into_iter().filter(|(is, _)| *is).map(|(_, kind)| kind).collect()
}

fn title(inside: &Inside, kind: DeviceKind) -> String {
    match inside {
        Inside::Card(plan) => {
            let CardPlan { unit, page, hidden, logs, shared, route, rule, keeps, maps_at_hand, .. } = plan;
            format!(
                "{kind:?}, {route:?}, unit {}, page {}, grid at {hidden}, {logs}+{shared} logs ({}), keeps {keeps:?}, maps {maps_at_hand:?}, fast {}, filled {}, used {}",
                Bytes(*unit),
                Bytes(*page),
                rule.words(),
                plan.fast_units,
                plan.filled,
                plan.used
            )
        }
        Inside::Drive(plan) => {
            let DrivePlan { channels, ways, page, hidden, rotates, .. } = plan;
            format!(
                "{kind:?}, {channels}×{ways} dies, page {}, grid at {hidden}, rotates {rotates}, map {:?}, fast cells {:?}, filled {}, aged {}",
                Bytes(*page),
                plan.cached_map.as_ref().map(|map| Bytes(map.entries as u64 * page)),
                plan.fast.as_ref().map(|fast| fast.superblocks),
                plan.filled,
                plan.aged
            )
        }
    }
}
