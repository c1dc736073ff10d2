//! No engine allocates between the first request and the last, whatever its depth, writing and verifying: counted by the
//! allocator itself. What drives them is checked in the same way in the crate `load`.
#![allow(clippy::print_stderr)]

mod counting;

use counting::allocated;
use flashscope_device::{Consent, Fill, Lane, Request, Status, Wait, WriteGrant};
use flashscope_host::load::{AnyLane, LaneError, LaneKind, LaneOptions, LoadFile, Opening, SlotFill};
use flashscope_host::{MonotonicClock, OpenOptions, SysRoot, open_for_writing, safety};
use flashscope_units::{Bytes, Nanos};

const BLOCK: Bytes = Bytes::kib(4);
const BLOCKS: u64 = 512;
const PASSES: u32 = 8;

#[test]
fn no_engine_allocates_while_it_measures() {
    for (kind, depth, hang_after) in [
        (LaneKind::Sync, 1, None),
        (LaneKind::Map, 1, None),
        (LaneKind::Aio, 4, None),
        (LaneKind::Null, 32, None),
        (LaneKind::Uring, 1, None),
        (LaneKind::Uring, 32, None),
        (LaneKind::Uring, 32, Some(Nanos::secs(30))),
    ] {
        let (mut lane, mut grant, path) = match made(kind, depth, hang_after) {
            Ok(made) => made,
            Err(LaneError::UringUnavailable { said }) => {
                eprintln!("LEFT OUT: io_uring ({said})");
                continue;
            }
            Err(error) => panic!("{error}"),
        };
        let mut free: Vec<u32> = (0..depth).collect();
        let before = allocated();
        let mut done = 0;
        for generation in 1..=PASSES {
            done += pass(&mut lane, &mut free, |slot, at| {
                Request::write(&mut grant, slot, at, BLOCK, Fill::Tagged { generation }, false).expect("granted")
            });
            done +=
                pass(&mut lane, &mut free, |slot, at| Request::verify(slot, at, BLOCK, Fill::Tagged { generation }));
        }
        let during = allocated() - before;
        std::fs::remove_file(path).expect("it was there");
        assert_eq!((during, done), (0, 2 * BLOCKS * u64::from(PASSES)), "{kind:?} at a depth of {depth}");
    }
}

/// The counter counts: a test that cannot fail proves nothing.
#[test]
fn allocations_are_seen() {
    let before = allocated();
    drop(std::hint::black_box(vec![1u8; 100]));
    assert_eq!(allocated() - before, 1);
}

/// Every block once, with the queue kept full; how many went well.
fn pass(lane: &mut AnyLane, free: &mut Vec<u32>, mut request: impl FnMut(u64, Bytes) -> Request) -> u64 {
    let (depth, mut next, mut done) = (free.len(), 0, 0);
    while next < BLOCKS || free.len() < depth {
        while let Some(slot) = if next < BLOCKS { free.pop() } else { None } {
            lane.push(&request(u64::from(slot), BLOCK * next));
            next += 1;
        }
        let turn = lane.turn(Wait::For(1), |completion| {
            done += u64::from(completion.status == Status::Success);
            free.push(completion.slot);
        });
        turn.expect("it goes on");
    }
    done
}

fn made(
    kind: LaneKind,
    depth: u32,
    hang_after: Option<Nanos>,
) -> Result<(AnyLane, WriteGrant, std::path::PathBuf), LaneError> {
    let path = std::env::temp_dir().join(format!("flashscope-allocation-{}-{kind:?}{depth}", std::process::id()));
    std::fs::write(&path, vec![0; (BLOCK * BLOCKS).get() as usize]).expect("room for a file");
    let (sys, plain) = (SysRoot::live(), OpenOptions { read_in_use: false, allow_buffered: true, hang_after: None });
    let checked = safety(&sys, &path, Bytes::ZERO).expect("it can be looked at");
    let consent = Consent { identity: checked.report.identity.clone(), allow_file: true, signatures: false };
    let (target, grant) = open_for_writing(&sys, &checked, &consent, Bytes::gib(1), &plain).expect("it is ours");
    let opening = Opening { direct: false, durable: false, write: true };
    let file = LoadFile::of(&sys, &[target], None, opening).expect("it opens");
    let clock = MonotonicClock::start();
    let fill = SlotFill::Incompressible;
    let lane = file.lane(&LaneOptions { kind, depth, largest: BLOCK, fill, polled: false, hang_after, clock })?;
    Ok((lane, grant, path))
}
