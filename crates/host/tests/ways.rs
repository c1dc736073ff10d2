//! What goes into a file in one of the ways that programs have comes out of it in every other. Under `scripts/sanitize` this
//! leads through all the `unsafe` of whole files: streams of the C library, memory maps, asynchronous I/O.

use crate::support::Scratch;
use flashscope_device::{Consent, Durable, FileOpening, FileSpace, FileWay, FileWork, SafetyReport, Step, WriteGrant};
use flashscope_host::load::HostFiles;
use flashscope_host::{MonotonicClock, SysRoot};
use flashscope_model::DeviceKind;
use flashscope_units::Bytes;
use std::sync::atomic::AtomicBool;

const RECORD: Bytes = Bytes::kib(16);
const RECORDS: u64 = 32;

const WAYS: [FileWay; 7] = [
    FileWay::Plain,
    FileWay::Positioned,
    FileWay::Vectored,
    FileWay::Stdio,
    FileWay::Map,
    FileWay::Async { depth: 4, copy: false },
    FileWay::Async { depth: 4, copy: true },
];

#[test]
fn what_is_written_in_one_way_is_read_in_all() {
    let scratch = Scratch::new();
    let path = scratch.0.join("ways");
    let files = HostFiles::new(&SysRoot::live(), MonotonicClock::start(), &[path], false);
    let stop = AtomicBool::new(false);
    // Neither in order nor backwards, so that every way must move to where the record lies.
    let steps = |write| (0..RECORDS).map(move |at| Step { offset: (at * 13 % RECORDS) * RECORD.get(), write });
    for written in WAYS {
        files.make(0, &grant()).expect("it is made");
        let mut file = files.open(0, opening(written, Some(grant()))).expect("it opens");
        let passed = file.pass(steps(true), &stop);
        assert_eq!((passed.records, passed.failed), (RECORDS, None), "written by {written:?}");
        file.flush().expect("it is written out");
        file.close().expect("it closes");
        for read in WAYS {
            let mut file = files.open(0, opening(read, None)).expect("it opens");
            let passed = file.pass(steps(false), &stop);
            let found = (passed.records, passed.mismatched, passed.failed);
            assert_eq!(found, (RECORDS, 0, None), "written by {written:?}, read by {read:?}");
            // Closed by being dropped, as where a pass fails.
        }
    }
}

fn opening(way: FileWay, grant: Option<WriteGrant>) -> FileOpening {
    let length = RECORD * RECORDS;
    FileOpening { way, direct: false, durable: Durable::No, record: RECORD, length, check: true, grant }
}

fn grant() -> WriteGrant {
    let report =
        SafetyReport { identity: None, kind: DeviceKind::File, capacity: RECORD * RECORDS, refusals: Vec::new() };
    let consent = Consent { identity: None, allow_file: true, signatures: false };
    WriteGrant::decide(&report, &consent, RECORD * RECORDS).expect("a plain file of ours")
}
