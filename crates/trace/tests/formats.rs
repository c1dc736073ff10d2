//! Traces of other programs, as `fixtures/traces/README.md` says how they were made.

use flashscope_model::trace::TraceOp;
use flashscope_trace::export::Exporter;
use flashscope_trace::import::{Options, TimeUnit, Waits};
use flashscope_trace::{Figures, Flags, Format, Imported, Op, TraceError, Traced, import};
use flashscope_units::{Bytes, Instant, Nanos};
use std::io::BufRead;

macro_rules! fixture {
    ($name:literal) => {
        include_bytes!(concat!("../../../fixtures/traces/", $name)).as_slice()
    };
}

fn read_with(files: &[&[u8]], options: &Options) -> Result<Imported, TraceError> {
    let format = Format::of_content(files[0]).expect("the format is recognised");
    let mut files: Vec<&[u8]> = files.to_vec();
    import(format, files.iter_mut().map(|file| file as &mut dyn BufRead).collect(), options)
}

fn read(files: &[&[u8]]) -> Imported {
    read_with(files, &Options::default()).unwrap()
}

/// What a refusal says.
fn refused(file: &str, options: &Options) -> String {
    read_with(&[file.as_bytes()], options).expect_err("it is refused").to_string()
}

fn count(requests: &[Traced], op: Op) -> (usize, u64) {
    let of_it = requests.iter().filter(|request| request.op == op);
    (of_it.clone().count(), of_it.map(|request| u64::from(request.length)).sum())
}

#[test]
fn blktrace_and_blkparse_say_the_same() {
    let binary = read(&[fixture!("mixed.blktrace.0"), fixture!("mixed.blktrace.1")]);
    let text = read(&[fixture!("mixed.blkparse.txt")]);
    assert_eq!(binary.requests.len(), text.requests.len());
    for (one, other) in binary.requests.iter().zip(&text.requests) {
        assert_eq!(one, other);
    }
    // blkparse's own sums: 73 reads of 4012 KiB queued; its 91 dispatched ones hold the flushes, its 75 writes of 2376 KiB
    // the 4 discards of 256 KiB.
    assert_eq!(count(&binary.requests, Op::Read), (73, 4012 * 1024));
    assert_eq!(count(&binary.requests, Op::Discard), (4, 256 * 1024));
    assert_eq!(count(&binary.requests, Op::Write), (71, 2120 * 1024));
    assert_eq!(count(&binary.requests, Op::Flush).0, 91 - 73);
    assert!(binary.requests.iter().all(|request| request.completed.is_some()), "{:?}", binary.notes);
}

#[test]
fn fios_own_log_has_what_the_kernel_saw() {
    let log = read(&[fixture!("mixed.fio3.log")]);
    assert_eq!((count(&log.requests, Op::Read).0, count(&log.requests, Op::Write).0), (57, 63));
    assert_eq!(log.requests[0].offset, Bytes(4_046_848));
    let span = log.requests.last().unwrap().issued;
    assert_eq!(span, Instant((9227 - 466) * 1000), "its times are microseconds: the run took 11 ms");
    let trim = read(&[fixture!("trim.fio3.log")]);
    assert_eq!(count(&trim.requests, Op::Discard), (4, 256 * 1024));
}

#[test]
fn waits_of_fio_are_told_apart() {
    let due = |options: &Options| {
        let found = read_with(&[fixture!("waits.fio2.log")], options).unwrap();
        found.requests.iter().map(|request| request.issued.0 / 1000).collect::<Vec<_>>()
    };
    assert_eq!(due(&Options::default()), [0, 1500, 1500, 1750, 1750]);
    let since_start = Options { waits: Some(Waits::SinceStart), ..Options::default() };
    assert_eq!(due(&since_start), [0, 1_500_000, 1_500_000, 1_500_000, 1_500_000]);
    let rising = "fio version 2 iolog\n/d read 0 512\n/d wait 10 0\n/d read 0 512\n/d wait 20 0\n/d read 0 512\n/d wait 30 0\n/d read 0 512\n";
    assert!(refused(rising, &Options::default()).contains("--waits since-previous"));
    assert!(read_with(&[rising.as_bytes()], &since_start).is_ok());
}

#[test]
fn several_disks_are_not_mixed() {
    let told = read_with(&[fixture!("example.spc.csv")], &Options::default()).unwrap_err().to_string();
    assert!(told.contains("3 disks: 0, 1, 2") && told.contains("--disk 0"), "{told}");
    let one = Options { disk: Some("1".to_owned()), ..Options::default() };
    let found = read_with(&[fixture!("example.spc.csv")], &one).unwrap();
    assert_eq!(found.requests.len(), 5);
    assert_eq!(found.requests[0].offset, Bytes(3_436_288 * 512));
    assert_eq!(found.requests[1].issued, Instant(359_139_000), "1.609859 s less 1.250720 s");
    let none = Options { disk: Some("7".to_owned()), ..Options::default() };
    assert!(read_with(&[fixture!("example.spc.csv")], &none).unwrap_err().to_string().contains("it has 0, 1, 2"));
}

#[test]
fn msr_counts_in_ticks_of_100_ns() {
    let found = read(&[fixture!("layout.msr.csv")]);
    let times: Vec<_> = found.requests.iter().map(|one| (one.issued.0, one.service_time().unwrap())).collect();
    assert_eq!(times[0], (0, Nanos(133_100)));
    assert_eq!(times[1], (1_332_052_600, Nanos(5_850_000)));
}

#[test]
fn times_in_another_unit_are_refused_until_it_is_named() {
    let lines = |unit_ns: u64| {
        let line = |at: u64| {
            format!(
                "{},{},{},read,{},4096,0\n",
                at * 200_000 / unit_ns,
                "",
                (at * 200_000 + 90_000) / unit_ns,
                at * 4096
            )
        };
        let head = "arrived_ns,done_ns,answered_ns,kind,offset_bytes,length_bytes,failed\n";
        head.to_owned() + &(0..100).map(line).collect::<String>()
    };
    assert!(read_with(&[lines(1).as_bytes()], &Options::default()).is_ok());
    let told = refused(&lines(1000), &Options::default());
    assert!(told.contains("no device does what its times say") && told.contains("--time-unit"), "{told}");
    let named = Options { unit: Some(TimeUnit::Us), ..Options::default() };
    let found = read_with(&[lines(1000).as_bytes()], &named).unwrap();
    assert_eq!(found.requests[1].issued, Instant(200_000));
}

#[test]
fn bad_input_is_told_with_its_place() {
    let check = |file: &str, words: &str| {
        let told = refused(file, &Options::default());
        assert!(told.contains(words), "{told}");
    };
    check("0,8,4096,R,0.5\n0,8,4096,R,-0.5\n", "line 2: the time is below zero");
    check("0,8,4096,R,0.5\n0,8,4096\n", "line 2: it should hold five fields");
    check("fio version 3 iolog\n0 /d add\n", "no request stands in it");
    check("fio version 3 iolog\n5 /d read 0 4096\n6 /d erase 0 4096\n", "line 3: 'erase' is no action");
    check("128166372003061629,hm,0,Read,0,4096,10\n128166372003061629,hm,0,Trim,0,4096,10\n", "line 2: its kind");
    let binary = fixture!("mixed.blktrace.1");
    let cut = read_with(&[&binary[..binary.len() - 20]], &Options::default());
    assert!(matches!(cut, Err(TraceError::Truncated { .. })), "{cut:?}");
    assert_eq!(Format::of_content(b"hello\n"), None);
    assert_eq!(Format::of_content(b""), None);
}

#[test]
fn what_stands_out_of_order_is_put_in_order() {
    let found = read(&[b"0,8,4096,R,2.0\n0,16,4096,R,1.0\n0,24,4096,R,3.0\n".as_slice()]);
    assert_eq!(found.requests.iter().map(|one| one.issued.0).collect::<Vec<_>>(), [0, 1_000_000_000, 2_000_000_000]);
    assert!(found.notes.iter().any(|note| note.contains("1 requests stood behind later ones")), "{:?}", found.notes);
}

#[test]
fn what_is_exported_is_read_again() {
    let traced = read(&[fixture!("mixed.blktrace.0"), fixture!("mixed.blktrace.1")]).requests;
    let exported = |format: Format, requests: &[Traced]| {
        let mut exporter = Exporter::new(Vec::new(), format).unwrap();
        requests.iter().for_each(|request| exporter.add(request).unwrap());
        exporter.finish().unwrap()
    };
    let data: Vec<Traced> = traced.iter().copied().filter(Traced::moves_data).collect();
    for format in [Format::Blktrace, Format::Blkparse] {
        assert_eq!(read(&[&exported(format, &traced)]).requests, traced, "{format:?}");
    }
    let alike = |one: &Traced, other: &Traced, ns: u64| {
        (one.op, one.offset, one.length) == (other.op, other.offset, other.length)
            && one.issued.0.abs_diff(other.issued.0) <= ns
    };
    for (format, requests, ns) in [
        (Format::Iolog2, &traced, 1000),
        (Format::Iolog3, &traced, 1000),
        (Format::Msr, &data, 100),
        (Format::Spc, &data, 0),
    ] {
        let bytes = exported(format, requests);
        let options =
            Options { waits: (format == Format::Iolog2).then_some(Waits::SincePrevious), ..Options::default() };
        let back = read_with(&[&bytes], &options).unwrap().requests;
        assert_eq!(back.len(), requests.len(), "{format:?}");
        let first = requests[0].issued.0;
        for (one, other) in back.iter().zip(requests.iter()) {
            let moved = Traced { issued: Instant(other.issued.0 - first), ..*other };
            assert!(alike(one, &moved, ns), "{format:?}: {one:?} {moved:?}");
        }
    }
    let told =
        Exporter::new(Vec::new(), Format::Msr).unwrap().add(traced.iter().find(|one| one.op == Op::Flush).unwrap());
    assert!(told.unwrap_err().to_string().contains("msr holds no flush"));
}

#[test]
fn figures_are_those_that_were_counted_by_hand() {
    let request = |at: u64, op, offset: u64, length: u32, flags| Traced {
        issued: Instant(at * 1000),
        completed: Some(Instant(at * 1000 + 1500)),
        offset: Bytes(offset),
        length,
        process: None,
        op,
        flags,
    };
    let requests = [
        request(0, Op::Write, 0, 4096, Flags::NONE),
        request(1, Op::Write, 4096, 4096, Flags::SYNC),
        request(2, Op::Flush, 0, 0, Flags::NONE),
        request(3, Op::Write, 8192, 65536, Flags::NONE),
        request(4, Op::Read, 0, 1 << 20, Flags::NONE),
        request(5, Op::Write, 1 << 30, 512, Flags::FUA),
        request(8, Op::Discard, 0, 1 << 20, Flags::NONE),
    ];
    let mut figures = Figures::new();
    requests.iter().for_each(|request| figures.add(request));
    let shown = figures.finish(2);
    assert_eq!((shown.requests, shown.dropped, shown.span), (7, 2, Nanos(9500)));
    assert_eq!(shown.share_of_4k, Some(0.4));
    let classes: Vec<_> =
        shown.classes.iter().map(|one| (one.op, one.class.label(), one.requests, one.bytes.get())).collect();
    let expected = [
        (TraceOp::Read, "above 512 KiB", 1, 1 << 20),
        (TraceOp::Write, "4/8 KiB", 3, 8704),
        (TraceOp::Write, "16/32/64 KiB", 1, 65536),
    ];
    assert_eq!(classes, expected);
    let depth = shown.depth.unwrap();
    assert_eq!((depth.max, depth.shares), (2, vec![(1, 2.0 / 7.0), (2, 5.0 / 7.0)]));
    let streams = shown.streams;
    assert_eq!((streams.sequential_writes, streams.runs, streams.mean_run), (Some(0.5), 1, Some(Bytes(73_728))));
    let syncs = shown.syncs.unwrap();
    assert_eq!((syncs.count, syncs.mean_bytes), (2, Bytes(66_048)));
    let set = shown.working_set;
    assert_eq!((set.read, set.written, set.touched), (Bytes::mib(1), Bytes(18 * 4096 + 4096), Bytes((1 << 20) + 4096)));
    assert_eq!((set.first, set.end), (Bytes::ZERO, Bytes((1 << 30) + 512)));
    let cells: u64 = shown.heat.cells.iter().map(|cell| cell.reads + cell.writes).sum();
    assert_eq!(cells, 5);
}
