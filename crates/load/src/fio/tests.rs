use super::*;
use crate::job::{Arrivals, EngineChoice, Job, Mix, Mode, Pattern, Payload, Sharing, Sizes, Spacing, Verify, Zones};
use flashscope_units::Nanos;
use proptest::prelude::*;

fn world(run: impl FnOnce(&World<'_>) -> Result<Jobs, FioError>) -> Result<Jobs, FioError> {
    let file = |path: &str| match path {
        "jobs/common.fio" => Ok("bs=8k\n".to_owned()),
        "loop.fio" => Ok("include loop.fio\n".to_owned()),
        _ => Err("no such file".to_owned()),
    };
    let variable = |name: &str| (name == "DISK").then(|| "/dev/disk".to_owned());
    let size = |name: &str| (name == "/dev/disk").then_some(Bytes::gib(1));
    run(&World { file: &file, variable: &variable, size: &size })
}

fn file(text: &str) -> Result<Jobs, FioError> {
    let input = Input::File { name: "jobs/a.fio".to_owned(), text: text.to_owned() };
    world(|world| read(&[input], &[], world))
}

fn words(line: &str) -> Result<Jobs, FioError> {
    let words = line.split_whitespace().map(str::to_owned).collect();
    world(|world| read(&[Input::Words(words)], &[], world))
}

/// The one job that these options make, on a disk of 1 GiB.
fn job(options: &str) -> Job {
    let jobs = file(&format!("[a]\nfilename=/dev/disk\n{}", options.replace(' ', "\n"))).expect(options);
    jobs.set.phases[0].jobs[0].clone()
}

fn complaint(options: &str) -> String {
    file(&format!("[a]\nfilename=/dev/disk\n{}", options.replace(' ', "\n"))).expect_err(options).to_string()
}

#[test]
fn a_file_becomes_phases_with_what_global_said_before() {
    let text = "; a comment\n[global]\nfilename=${DISK}   # and another\nrw = randread\nsize=1m\n\n[one]\n[two]\nbs=8k\n\
                [global]\nrw=write\n[three]\nstonewall\n[four]\nnew_group\n";
    let jobs = file(text).unwrap();
    let names: Vec<Vec<&str>> =
        jobs.set.phases.iter().map(|phase| phase.jobs.iter().map(|job| job.name.as_str()).collect()).collect();
    assert_eq!(names, [vec!["one", "two"], vec!["three", "four"]]);
    let [one, two] = &jobs.set.phases[0].jobs[..] else { panic!("two jobs") };
    assert_eq!((one.mix, two.largest()), (Mix::READ, Bytes::kib(8)));
    assert_eq!(one.target.as_deref(), Some("/dev/disk"));
    assert_eq!(jobs.set.phases[1].jobs[0].mix, Mix::WRITE);
    assert_eq!(jobs.without_effect, ["new_group"]);
}

#[test]
fn sizes_and_times_are_fios() {
    let check =
        |options: &str, pick: &dyn Fn(&Job) -> u64, expect: u64| assert_eq!(pick(&job(options)), expect, "{options}");
    let block = |job: &Job| job.largest().get();
    check("bs=4k", &block, 4096);
    check("bs=4KB", &block, 4096);
    check("bs=4kib", &block, 4000);
    check("kb_base=1000 bs=4k", &block, 4000);
    check("bs=4kib kb_base=1000", &block, 4096);
    check("bs=512", &block, 512);
    check("bs=0x1000", &block, 4096);
    let span = |job: &Job| job.span.length.unwrap().get();
    check("", &span, 1 << 30);
    check("size=10%", &span, 107_372_544);
    check("size=1m offset=50%", &|job| job.span.start.get(), 1 << 29);
    check("offset=1g size=4k", &span, 4096);
    let time = |job: &Job| job.stop.time.map_or(0, Nanos::get);
    check("runtime=30", &time, 30_000_000_000);
    check("runtime=2m time_based", &time, 120_000_000_000);
    check("runtime=500ms", &time, 500_000_000);
    check("ramp_time=2", &|job| job.warm_up.get(), 2_000_000_000);
    let bytes = |job: &Job| job.stop.bytes.map_or(0, Bytes::get);
    check("size=1m bs=3k", &bytes, 341 * 3072);
    check("size=1m bs=3k rw=randread", &bytes, 341 * 3072);
    check("size=1m bs=3k rw=randread norandommap", &bytes, 1 << 20);
    check("size=1m io_size=300k", &bytes, 300 << 10);
    check("size=1m io_size=50%", &bytes, 512 << 10);
    check("size=1m loops=3", &bytes, 3 << 20);
    check("runtime=5 time_based size=1m", &bytes, 0);
}

#[test]
fn block_sizes_may_differ_and_mix() {
    let both = |options: &str| {
        let job = job(options);
        (job.read_sizes, job.write_sizes)
    };
    let of = |parts: &[(u64, u32)]| Sizes(parts.iter().map(|(kib, weight)| (Bytes::kib(*kib), *weight)).collect());
    assert_eq!(both("bs=4k,64k"), (of(&[(4, 1)]), of(&[(64, 1)])));
    assert_eq!(both("bs=,8k"), (of(&[(4, 1)]), of(&[(8, 1)])));
    assert_eq!(both("bs=16k,"), (of(&[(16, 1)]), of(&[(4, 1)])));
    assert_eq!(both("bssplit=4k/50:64k/50").0, of(&[(4, 50), (64, 50)]));
    assert_eq!(both("bssplit=4k/10:64k/20:8k/").0, of(&[(4, 10), (64, 20), (8, 70)]));
    assert_eq!(both("bssplit=4k/10:64k/20").0, of(&[(4, 10), (64, 90)]));
    assert_eq!(both("bsrange=4k-16k").1, of(&[(4, 1), (8, 1), (12, 1), (16, 1)]));
    assert_eq!(both("bs=64k bssplit=4k/100 bs=8k").0, of(&[(8, 1)]));
}

#[test]
fn patterns_engines_and_modes_are_mapped() {
    let pattern = |options: &str| job(options).pattern;
    assert_eq!(pattern("rw=randread"), Pattern::RandomOnce);
    assert_eq!(pattern("rw=randread norandommap"), Pattern::Random);
    assert_eq!(pattern("rw=randread bsrange=4k-8k"), Pattern::Random);
    assert_eq!(pattern("rw=read:4k"), Pattern::Skipping { stride: Bytes::kib(8) });
    assert_eq!(pattern("rw=read:-8k"), Pattern::Backward);
    assert_eq!(pattern("rw=randwrite random_distribution=zipf:1.2"), Pattern::Zipf { theta: 1.2 });
    assert_eq!(
        pattern("rw=randwrite random_distribution=zoned:90/10:10/90"),
        Pattern::Zoned(Zones::new(&[(0.9, 0.1), (0.1, 0.9)]).unwrap())
    );
    let Pattern::Zoned(zones) = pattern("rw=randread random_distribution=zoned:50/5:30/15:20/") else {
        panic!("zones")
    };
    assert_eq!(zones.shares().len(), 3);
    assert_eq!(pattern("rw=randread random_distribution=pareto:0.9"), Pattern::Pareto { h: 0.9 });
    assert_eq!(job("rw=randrw rwmixread=70").mix.reads, 0.7);
    assert_eq!(job("rw=randrw rwmixwrite=70").mix.reads, 1.0 - 0.7);
    let engine = |options: &str| (job(options).engine, job(options).queue_depth);
    assert_eq!(engine("iodepth=8"), (EngineChoice::Sync, 1));
    assert_eq!(engine("ioengine=libaio iodepth=8"), (EngineChoice::Uring, 8));
    let deep = job("ioengine=io_uring iodepth=32 iodepth_batch=8 iodepth_batch_complete_min=4");
    assert_eq!((deep.batch, deep.reap), (Some(8), Some(4)));
    assert_eq!(job("ioengine=io_uring iodepth=32 iodepth_low=24").batch, Some(8));
    for (options, mode) in [
        ("", Mode::Cached),
        ("direct=1", Mode::Direct),
        ("direct=1 sync=1", Mode::Dsync),
        ("sync=dsync", Mode::WriteThrough),
        ("direct=1 buffered=1", Mode::Cached),
        ("buffered=0", Mode::Direct),
    ] {
        assert_eq!(job(options).mode, mode, "{options}");
    }
}

#[test]
fn rates_rests_flushes_and_payloads_are_mapped() {
    let rate = |per_second, spacing| Arrivals::Rate { per_second, spacing };
    assert_eq!(job("rate_iops=100").arrivals, rate(100.0, Spacing::Even));
    assert_eq!(job("rate=4m bs=4k rate_process=poisson").arrivals, rate(1024.0, Spacing::Poisson));
    assert_eq!(job("rw=randrw rate_iops=100,100").arrivals, rate(200.0, Spacing::Even));
    assert_eq!(job("rw=randrw rate_iops=100").arrivals, rate(200.0, Spacing::Even));
    // Watched in fio: each direction keeps its rate, whatever rwmixread says.
    let mixed = job("rw=randrw rwmixread=70 rate_iops=300,100");
    assert_eq!((mixed.arrivals, mixed.mix), (rate(400.0, Spacing::Even), Mix { reads: 0.75 }));
    let mixed = job("rw=randrw rwmixread=70 rate=4m,12m bs=4k,64k");
    assert_eq!((mixed.arrivals, mixed.mix.reads), (rate(1024.0 + 192.0, Spacing::Even), 1024.0 / 1216.0));
    assert_eq!(job("thinktime=50 thinktime_blocks=4").arrivals, Arrivals::Think { time: Nanos::micros(50), every: 4 });
    let flush = job("rw=write fdatasync=8 end_fsync=1").flush;
    assert_eq!((flush.every, flush.at_end), (Some(8), true));
    assert_eq!(job("rw=write buffer_compress_percentage=40").payload, Payload::Compressible(0.4));
    assert_eq!(job("rw=write zero_buffers").payload, Payload::Byte(0));
    assert_eq!(job("rw=write buffer_pattern=0x5a").payload, Payload::Byte(0x5a));
    assert_eq!(job("rw=write verify=crc32c").verify, Verify::Written);
    assert_eq!(job("rw=read verify=md5").verify, Verify::Generation(1));
    assert_eq!(job("rw=write verify=md5 do_verify=0").payload, Payload::Tagged { generation: 1 });
}

#[test]
fn several_jobs_share_a_file_or_have_their_own() {
    let shared = job("numjobs=4 offset_increment=1m size=1m");
    assert_eq!((shared.workers, shared.sharing), (4, Sharing::Shifted(Bytes::mib(1))));
    let jobs = file("[own]\ndirectory=/mnt/card\nsize=1m\nnumjobs=2\n").unwrap();
    let targets: Vec<&str> = jobs.set.phases[0].jobs.iter().filter_map(|job| job.target.as_deref()).collect();
    assert_eq!(targets, ["/mnt/card/own.0.0", "/mnt/card/own.1.0"]);
    let several = file("[many]\nfilesize=64k\nnrfiles=8\nrw=randread\n").unwrap();
    let many = &several.set.phases[0].jobs[0];
    assert_eq!((many.files, many.span.length), (Some(8), Some(Bytes::kib(512))));
}

#[test]
fn command_lines_come_in_all_of_fios_forms() {
    let jobs = words(
        "-filename=/dev/disk -direct=1 -iodepth 1 -thread -rw=randread -ioengine=psync -bs=16k -size=200M \
                      -numjobs=10 -runtime=1000 -group_reporting -name=mytest",
    )
    .unwrap();
    let job = &jobs.set.phases[0].jobs[0];
    assert_eq!((job.name.as_str(), job.workers, job.mode), ("mytest", 10, Mode::Direct));
    assert_eq!(job.largest(), Bytes::kib(16));
    assert_eq!(jobs.without_effect, ["group_reporting", "thread"]);
    let jobs = words("fio --output-format=json --filename=/dev/disk --name=a --rw=write --name=b --stonewall --bs 8k")
        .unwrap();
    assert_eq!(jobs.set.phases.len(), 2);
    assert_eq!(jobs.set.phases[1].jobs[0].mix, Mix::READ);
    let nameless = words("-filename=/dev/disk -rw=read").unwrap();
    assert!(nameless.notes[0].contains("no --name"), "{:?}", nameless.notes);
    assert!(
        words("--readonly --name=a --filename=/dev/disk --rw=write").unwrap_err().to_string().contains("--readonly")
    );
}

#[test]
fn sections_are_chosen_by_name() {
    let input =
        Input::File { name: "x".to_owned(), text: "[a]\nfilename=/dev/disk\n[b]\nfilename=/dev/disk\n".to_owned() };
    let chosen = |name: &str| world(|world| read(std::slice::from_ref(&input), &[name.to_owned()], world));
    assert_eq!(chosen("b").unwrap().set.phases[0].jobs.len(), 1);
    assert!(chosen("c").unwrap_err().to_string().contains("there are a, b"));
}

#[test]
fn files_are_included_from_beside() {
    let jobs = file("[a]\nfilename=/dev/disk\ninclude common.fio\n").unwrap();
    assert_eq!(jobs.set.phases[0].jobs[0].largest(), Bytes::kib(8));
    assert!(file("[a]\ninclude nothing.fio\n").unwrap_err().to_string().contains("jobs/a.fio, line 2: cannot include"));
    let round = Input::File { name: "loop.fio".to_owned(), text: "[a]\ninclude loop.fio\n".to_owned() };
    assert!(world(|world| read(&[round], &[], world)).unwrap_err().to_string().contains("more than 16 deep"));
}

#[test]
fn several_files_processors_and_who_ends_whom() {
    let of = |options: &str| {
        let jobs = file(&format!("[a]\nfilename=/dev/disk\n{}\n", options.replace(' ', "\n"))).unwrap();
        jobs.set.phases[0].jobs[0].clone()
    };
    let several = of("filename=x\\:y:z size=1m directory=/d cpus_allowed=0,2-3 exitall");
    assert_eq!((several.target.as_deref(), &several.more[..]), (Some("/d/x:y"), &["/d/z".to_owned()][..]));
    assert_eq!((several.processors, several.ends_all), (Some(vec![0, 2, 3]), true));
    assert_eq!(of("cpumask=5").processors, Some(vec![0, 2]));
    let whole = of("fill_device=1 rw=write");
    assert_eq!(whole.stop.bytes, whole.span.length);
    assert!(
        words("--name=a --filename=/dev/disk --name=b --filename=/dev/disk --wait_for=a").unwrap().set.phases.len()
            == 2
    );
    let named = file("[a]\nsize=1m\nnumjobs=2\nfilename_format=f.$jobnum.$jobname\n").unwrap();
    let targets: Vec<_> = named.set.phases[0].jobs.iter().map(|job| job.target.clone().unwrap()).collect();
    assert_eq!(targets, ["f.0.a", "f.1.a"]);
}

#[test]
fn what_cannot_be_done_is_named_with_its_line() {
    let check = |options: &str, words: &[&str]| {
        let said = complaint(options);
        words.iter().for_each(|word| assert!(said.contains(word), "'{word}' is missing from: {said}"));
    };
    check("iodpeth=4", &["jobs/a.fio, line 3", "no option 'iodpeth'", "did you mean iodepth?"]);
    check("zoneskip=4k", &["zoneskip is not supported", "hint"]);
    check("rw=trim", &["line 3", "rw of job 'a'", "nothing is discarded"]);
    check("rw=reed", &["there is no 'reed'", "randread"]);
    check("ioengine=splice", &["no engine 'splice'", "libaio"]);
    check("bs=4q", &["'q' is no unit"]);
    check("size=(4*8k)", &["arithmetic"]);
    check("nrfiles=4", &["nrfiles", "filename"]);
    check("filename=a::b", &["between two colons", "\\:"]);
    check("fill_device=1 size=1m", &["fill_device", "block device"]);
    check("wait_for=b", &["wait_for", "stonewall"]);
    check("cpus_allowed=3-1", &["no range of processors"]);
    check("cpus_allowed_policy=split", &["share its processors"]);
    check("exitall exit_what=all", &["run all the same"]);
    check("exitall new_group", &["groups", "exit_what=stonewall"]);
    check("filename=${NOSUCH}", &["NOSUCH is not set"]);
    check("random_distribution=normal:0.9 rw=randread", &["normal", "zipf"]);
    check("filename=/no/such/file", &["size", "add size=1g"]);
    check("time_based", &["needs a runtime"]);
    check("size=100", &["less than one block"]);
    check("rate_iops=5 thinktime=5", &["exclude"]);
    check("bs", &["bs needs a value"]);
    check("rw=randrw rate_iops=100,", &["one flow", "rate_iops=300,100"]);
    check("exitall_on_error", &["exitall_on_error is not supported"]);
    // Switched off they say what holds here anyway.
    assert_eq!(
        job("sqthread_poll=0 force_async=0 hipri=0 fixedbufs=0 zonemode=none").target.as_deref(),
        Some("/dev/disk")
    );
    assert_eq!(job("name=other").name, "other");
    assert!(file("rw=read\n").unwrap_err().to_string().contains("before any [section]"));
    assert!(file("[a\n").unwrap_err().to_string().contains("no [section]"));
    let refused = |line: &str| words(line).unwrap_err().to_string();
    assert!(refused("--name=a --exitall_on_error").contains("exitall_on_error is not supported"));
    assert!(refused("--parse-only --name=a").contains("--dry-run"));
    assert!(words("--name=a --rw").unwrap_err().to_string().contains("needs a value"));
}

proptest! {
    /// Whatever stands in a file, it is read or refused.
    #[test]
    fn no_text_panics(text in "\\PC{0,200}", lines in proptest::collection::vec(line(), 0..12)) {
        let _ = file(&text);
        let _ = file(&format!("[a]\nfilename=/dev/disk\n{}", lines.join("\n")));
        let _ = words(&lines.iter().map(|line| format!("--{line}")).collect::<Vec<_>>().join(" "));
    }
}

/// A known option with a value that may fit it.
fn line() -> impl Strategy<Value = String> {
    let names = [
        "bs",
        "bssplit",
        "bsrange",
        "size",
        "io_size",
        "offset",
        "rw",
        "runtime",
        "loops",
        "numjobs",
        "iodepth",
        "rate",
        "rate_iops",
        "thinktime",
        "random_distribution",
        "offset_increment",
        "iodepth_low",
        "verify",
        "name",
        "sync",
    ];
    let values = "[0-9]{0,20}[kmgtp%i/:,b-]{0,4}[0-9]{0,3}|randrw|write:4k|zipf:[0-9.]{1,4}|zoned:[0-9/:]{0,9}";
    (proptest::sample::select(names.to_vec()), values).prop_map(|(name, value)| format!("{name}={value}"))
}
