//! The classic seven: positions and orders derived by hand from the definitions, and compared with what flashbench
//! itself was seen to do on a file (system call trace of Debian's build).

use crate::common::{KIB, MIB, ranges, recording, run_on};
use flashscope_device::{Fill, Op};
use flashscope_model::Data;
use flashscope_model::Experiment;
use flashscope_model::observation::{AlignEvidence, RateEvidence};
use flashscope_model::plan::{Align, Fat, Interval, OpenAu, Program, Scatter};
use flashscope_model::{Order, Run};
use flashscope_probe::classic;
use flashscope_testkit::ScriptedTarget;
use flashscope_units::{Bytes, Nanos};

/// Takes one nanosecond per sector of the position: every sample says where it comes from.
fn telling(capacity: Bytes) -> ScriptedTarget {
    ScriptedTarget::new(capacity, |request, _| Nanos(request.offset().get() / 512))
}

fn sorted(mut values: Vec<u64>) -> Vec<u64> {
    values.sort_unstable();
    values
}

#[test]
fn align_visits_odd_multiples_in_flashbench_order() {
    let plan = Align { tries: 2, ..classic::align(Bytes::mib(1)) };
    let got: Vec<f64> = ranges(&Experiment::Align(plan), Bytes::mib(28), 1)
        .into_iter()
        .inspect(|&(_, length)| assert_eq!(length, MIB))
        .map(|(at, _)| at as f64 / MIB as f64)
        .collect();
    // 28 MiB / 7 = 4 MiB; the seventh multiple is the end of the device, which cannot be straddled.
    let pre = [3.0, 7.0, 11.0, 15.0, 19.0, 23.0];
    let on = pre.map(|at| at + 0.5);
    let post = pre.map(|at| at + 1.0);
    let first = [pre, on, post].concat();
    // 2 MiB: 2, 6 … 26, all odd multiples.
    let pre = [1.0, 5.0, 9.0, 13.0, 17.0, 21.0, 25.0];
    let second = [pre, pre.map(|at| at + 0.5), pre.map(|at| at + 1.0)].concat();
    assert_eq!(got, [first.clone(), first, second.clone(), second].concat());
}

#[test]
fn align_positions_wrap_and_come_again() {
    let plan = Align { tries: 1, ..classic::align(Bytes::mib(1)) };
    let run = run_on(&Experiment::Align(plan), &mut telling(Bytes::mib(16)), 1).unwrap();
    let Data::Align(data) = run.data else { panic!() };
    let places = |row: usize| {
        let AlignEvidence::Places(places) = &data.rows[row].evidence else { panic!() };
        places.iter().map(|place| (place.at.get() / MIB, place.on.len())).collect::<Vec<_>>()
    };
    // 16 MiB / 7, rounded up to a power of two: 4 MiB. Multiples 1 … 7; the fourth is the end of the device.
    assert_eq!(places(0), [(4, 2), (8, 2), (12, 2)]);
    assert_eq!(places(1), [(2, 2), (6, 2), (10, 2), (14, 1)]);
}

#[test]
fn align_keeps_each_time_where_it_belongs() {
    let plan = Align { tries: 2, offset: Bytes::kib(64), ..classic::align(Bytes::kib(4)) };
    let run = run_on(&Experiment::Align(plan), &mut telling(Bytes::mib(112)), 1).unwrap();
    let Data::Align(data) = run.data else { panic!() };
    for row in &data.rows {
        let AlignEvidence::Places(places) = &row.evidence else { panic!() };
        for place in places {
            assert!((place.at - plan.offset).is_multiple_of(row.align));
            let odd = !(place.at - plan.offset).is_multiple_of(row.align * 2);
            assert!(odd || row.align == data.rows[0].align);
            let sector = place.at.get() / 512;
            assert_eq!(place.pre, [Nanos(sector - 8); 2]);
            assert_eq!(place.on, [Nanos(sector - 4); 2]);
            assert_eq!(place.post, [Nanos(sector); 2]);
        }
    }
}

/// The rows of the published table of a card of 7.4 GiB: 2 GiB down to twice the block.
#[test]
fn align_rows_are_those_of_the_published_card() {
    let plan = Align { tries: 1, ..classic::align(Bytes::kib(1)) };
    let run = run_on(&Experiment::Align(plan), &mut recording(Bytes(7_948_206_080)), 1).unwrap();
    let Data::Align(data) = run.data else { panic!() };
    let aligns: Vec<u64> = data.rows.iter().map(|row| row.align.get()).collect();
    assert_eq!(aligns, (11..=31).rev().map(|k| 1 << k).collect::<Vec<u64>>());
}

#[test]
fn write_align_writes_twice_the_block_at_eight_places() {
    let plan = Align { tries: 1, largest: Some(Bytes::kib(64)), ..classic::write_align(Bytes::kib(16)) };
    let mut target = recording(Bytes::mib(8));
    run_on(&Experiment::Align(plan), &mut target, 1).unwrap();
    assert!(target.log().iter().all(|request| request.op == Op::Write { durable: true }));
    let row = |align: u64| {
        [32, 16, 0].into_iter().flat_map(move |back| (0..8).map(move |i| ((align + 64 * i - back) * KIB, 32 * KIB)))
    };
    assert_eq!(target.ranges(), row(64).chain(row(32)).collect::<Vec<_>>());
}

#[test]
fn open_au_writes_one_block_to_each_unit_at_each_offset() {
    let plan = OpenAu {
        count: 5,
        order: Order::InOrder,
        erase: Bytes::kib(64),
        block: Bytes::kib(16),
        offset: classic::WRITE_OFFSET,
    };
    let mut target = recording(Bytes::mib(64));
    let run = run_on(&Experiment::OpenAu(plan), &mut target, 1).unwrap();
    let requests: Vec<(u64, u64, u64)> = target
        .ranges()
        .into_iter()
        .map(|(at, length)| ((at - 16 * MIB) / (12 * 64 * KIB), (at - 16 * MIB) % (12 * 64 * KIB), length))
        .collect();
    let turn: Vec<u64> = requests[..5].iter().map(|request| request.0).collect();
    assert_eq!(sorted(turn.clone()), [0, 1, 2, 3, 4]);
    let mut expect = Vec::new();
    for block in [64 * KIB, 32 * KIB, 16 * KIB] {
        for offset in (0..64 * KIB).step_by(block as usize) {
            expect.extend(turn.iter().map(|&unit| (unit, offset, block)));
        }
    }
    assert_eq!(requests, expect);
    let Data::OpenUnits(data) = run.data else { panic!() };
    assert_eq!(data.units, [0, 1, 2, 3, 4].map(|i| Bytes(16 * MIB + i * 12 * 64 * KIB)));
    assert_eq!(data.rows.iter().map(|row| row.block.get() / KIB).collect::<Vec<_>>(), [64, 32, 16]);
    let lengths = data.rows.iter().map(|row| times(&row.rate).len()).collect::<Vec<_>>();
    assert_eq!(lengths, [5, 10, 20]);
}

#[test]
fn open_au_at_random_permutes_the_offsets_anew_for_each_block_size() {
    let plan = OpenAu {
        count: 3,
        order: Order::Random,
        erase: Bytes::kib(256),
        block: Bytes::kib(4),
        offset: classic::WRITE_OFFSET,
    };
    let got = ranges(&Experiment::OpenAu(plan), Bytes::mib(64), 1);
    let mut orders = Vec::new();
    let mut rest = &got[..];
    for blocks in [1u64, 2, 4, 8, 16, 32, 64] {
        let (row, more) = rest.split_at(3 * blocks as usize);
        rest = more;
        let length = 256 * KIB / blocks;
        assert!(row.iter().all(|request| request.1 == length));
        let offsets: Vec<u64> = row.iter().map(|request| (request.0 - 16 * MIB) % (12 * 256 * KIB) / length).collect();
        assert!(offsets.chunks(3).all(|round| round.iter().all(|&offset| offset == round[0])), "{offsets:?}");
        let order: Vec<u64> = offsets.iter().step_by(3).copied().collect();
        assert_eq!(sorted(order.clone()), (0..blocks).collect::<Vec<_>>());
        orders.push(order);
    }
    assert!(rest.is_empty());
    let coarse: Vec<u64> = orders[6].iter().filter(|&&offset| offset < 32).copied().collect();
    assert_ne!(coarse, orders[5], "one block size must not foretell the other");
    assert_ne!(orders[6], sorted(orders[6].clone()));
}

/// flashbench computes these positions in 32 bits.
#[test]
fn open_au_reaches_beyond_four_gibibytes() {
    let plan = OpenAu { block: Bytes::mib(4), ..classic::open_au(100, Order::InOrder) };
    let got = ranges(&Experiment::OpenAu(plan), Bytes::gib(8), 1);
    let positions = sorted(got.into_iter().map(|(at, _)| at).collect());
    assert_eq!(positions, (0..100).map(|i| (16 + 48 * i) * MIB).collect::<Vec<_>>());
    assert!(positions[99] > 1 << 32);
}

#[test]
fn fat_goes_through_the_units_one_by_one() {
    let plan =
        Fat { count: 2, order: Order::InOrder, erase: Bytes::kib(64), block: Bytes::kib(16), offset: Bytes::mib(1) };
    let got = ranges(&Experiment::Fat(plan), Bytes::mib(2), 1);
    let kib: Vec<(u64, u64)> = got.into_iter().map(|(at, length)| ((at - MIB) / KIB, length / KIB)).collect();
    let row = |block: u64| (0..128 / block).map(move |i| (i * block, block));
    assert_eq!(kib, row(64).chain(row(32)).chain(row(16)).collect::<Vec<_>>());

    let plan = Fat { order: Order::Random, ..plan };
    let mut target = recording(Bytes::mib(2));
    let run = run_on(&Experiment::Fat(plan), &mut target, 1).unwrap();
    let smallest: Vec<u64> = target.ranges()[6..].iter().map(|request| (request.0 - MIB) / (16 * KIB)).collect();
    let (first, second) = smallest.split_at(4);
    assert_eq!(sorted(first.to_vec()), [0, 1, 2, 3]);
    assert_eq!(second, first.iter().map(|block| block + 4).collect::<Vec<_>>(), "units are visited alike");
    let Data::Fat(data) = run.data else { panic!() };
    let counts = data.rows.iter().map(|row| row.units.iter().map(|unit| times(unit).len()).collect::<Vec<_>>());
    assert_eq!(counts.collect::<Vec<_>>(), [[1, 1], [2, 2], [4, 4]]);
}

#[test]
fn scatter_reads_every_position_once_per_pass() {
    let plan = Scatter { order: 8, span: 2, block: Bytes::kib(8), tries: 3, offset: Bytes::mib(1) };
    let mut target = recording(Bytes::mib(4));
    let run = run_on(&Experiment::Scatter(plan), &mut target, 1).unwrap();
    let got = target.ranges();
    let passes: Vec<Vec<u64>> = got
        .chunks(256)
        .map(|pass| {
            pass.iter()
                .map(|&(at, length)| ((at - MIB) / (8 * KIB), length))
                .map(|(i, l)| {
                    assert_eq!(l, 16 * KIB);
                    i
                })
                .collect()
        })
        .collect();
    assert_eq!(passes.len(), 3);
    assert!(passes.iter().all(|pass| sorted(pass.clone()) == (0..256).collect::<Vec<_>>()));
    assert_ne!(passes[0], passes[1]);
    let Data::Scatter(data) = run.data else { panic!() };
    assert_eq!(data.length, Some(Bytes::kib(16)));
    assert!(
        data.places
            .iter()
            .enumerate()
            .all(|(i, place)| { place.at == Bytes(MIB + i as u64 * 8 * KIB) && place.times.len() == 3 })
    );
}

/// The positions in flashbench's own trace of `-i -c 2 --interval-order=5`.
#[test]
fn interval_reads_nine_sizes_apart() {
    let plan = Interval { order: 5, places: 2, offset: Bytes::ZERO };
    let expect = [
        (0, 512),
        (4608, 512),
        (0, 1024),
        (9216, 1024),
        (0, 2048),
        (18432, 2048),
        (0, 4096),
        (36864, 4096),
        (0, 8192),
        (73728, 8192),
    ];
    assert_eq!(ranges(&Experiment::Interval(plan), Bytes::mib(1), 1), expect);
}

#[test]
fn interval_leaves_out_what_the_device_cannot_read() {
    let mut target = ScriptedTarget::steady(Bytes::mib(64), Nanos(1)).with_logical_block(Bytes::kib(4));
    let run = run_on(&Experiment::Interval(Interval { order: 5, ..classic::interval() }), &mut target, 1).unwrap();
    let Data::Interval(data) = run.data else { panic!() };
    assert_eq!(data.rows.iter().map(|row| row.size.get()).collect::<Vec<_>>(), [4096, 8192]);
}

#[test]
fn program_writes_three_contents_and_reads_in_both_orders() {
    let plan =
        Program { region: Bytes::kib(64), offset: Bytes::mib(16), largest: Bytes::kib(32), smallest: Bytes::kib(4) };
    let mut target = recording(Bytes::mib(32));
    let run = run_on(&Experiment::Program(plan), &mut target, 1).unwrap();
    let mut rest = target.log();
    for blocks in [2usize, 4, 8, 16] {
        let block = 64 * KIB / blocks as u64;
        let (row, more) = rest.split_at(8 * blocks);
        rest = more;
        let columns: Vec<_> = row.chunks(blocks).collect();
        let order = |column: usize| -> Vec<u64> {
            columns[column].iter().map(|request| (request.offset.get() - 16 * MIB) / block).collect()
        };
        for (column, requests) in columns.iter().enumerate() {
            let fill = [Some(Fill::Byte(0)), Some(Fill::Byte(0xff)), Some(Fill::Byte(0x5a)), None][column % 4];
            assert!(requests.iter().all(|request| request.fill == fill && request.length.get() == block));
            assert_eq!(sorted(order(column)), (0..blocks as u64).collect::<Vec<_>>());
            assert_eq!(order(column), order(column - column % 4), "the four columns go the same way");
        }
        assert_eq!(order(0), sorted(order(0)));
        assert!(blocks < 16 || order(4) != order(0));
    }
    assert!(rest.is_empty());
    let Data::Program(data) = run.data else { panic!() };
    assert!(data.rows.iter().all(|row| row.columns.len() == 8));
}

#[test]
fn program_never_goes_below_the_logical_block() {
    let mut target = ScriptedTarget::steady(Bytes::mib(32), Nanos(1)).with_logical_block(Bytes::kib(4));
    let Run { data, .. } = run_on(&Experiment::Program(classic::program()), &mut target, 1).unwrap();
    let Data::Program(data) = data else { panic!() };
    let blocks: Vec<u64> = data.rows.iter().map(|row| row.block.get() / KIB).collect();
    assert_eq!(blocks, [2048, 1024, 512, 256, 128, 64, 32, 16, 8, 4]);
}

fn times(rate: &RateEvidence) -> &[Nanos] {
    match rate {
        RateEvidence::Times(times) => times,
        RateEvidence::Printed(_) => panic!("a live run holds samples"),
    }
}
