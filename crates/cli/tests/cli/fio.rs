//! fio's job files: what comes of them, beside what fio itself does.

use crate::harness::{Run, flashscope, left_out, scratch};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

const DONE: i32 = 0;
const CANNOT: i32 = 2;
const REFUSED: i32 = 3;

/// Bytes and requests of each job and direction, the sizes of requests with their counts, and the span that they touched.
#[derive(Debug, Default, PartialEq, Eq)]
struct Moved {
    jobs: BTreeMap<String, [u64; 4]>,
    sizes: BTreeMap<(String, u64), u64>,
    span: Option<(u64, u64)>,
}

impl Moved {
    fn request(&mut self, kind: &str, offset: u64, length: u64) {
        *self.sizes.entry((kind.to_owned(), length)).or_default() += 1;
        let (low, high) = self.span.unwrap_or((offset, offset + length));
        self.span = Some((low.min(offset), high.max(offset + length)));
    }
}

/// What fio does, by its own result and its log of requests.
fn theirs(folder: &Path, job: &Path) -> Moved {
    let log = folder.join("iolog");
    let run = Command::new("fio")
        .current_dir(folder)
        .args(["--output-format=json", "--eta=never", &format!("--write_iolog={}", log.display())])
        .arg(job)
        .output()
        .expect("fio runs");
    let text = String::from_utf8_lossy(&run.stdout);
    let start = text.find('{').unwrap_or_else(|| panic!("{text}{}", String::from_utf8_lossy(&run.stderr)));
    let found: Value = serde_json::from_str(&text[start..]).expect("fio's JSON");
    let mut moved = Moved::default();
    for job in found["jobs"].as_array().expect("jobs") {
        let side = |name: &str, field: &str| job[name][field].as_u64().unwrap_or(0);
        let sums = moved.jobs.entry(job["jobname"].as_str().unwrap().to_owned()).or_default();
        let mine = [
            side("read", "io_bytes"),
            side("read", "total_ios"),
            side("write", "io_bytes"),
            side("write", "total_ios"),
        ];
        sums.iter_mut().zip(mine).for_each(|(sum, value)| *sum += value);
    }
    for line in std::fs::read_to_string(&log).expect("fio's log").lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let [.., kind @ ("read" | "write"), offset, length] = words[..] {
            moved.request(kind, offset.parse().unwrap(), length.parse().unwrap());
        }
    }
    moved
}

fn ours(folder: &Path, job: &Path) -> Moved {
    let trace = folder.join("trace");
    let run = flashscope(&[
        "bench",
        "fio",
        job.to_str().unwrap(),
        "--json",
        "--trace",
        "100000",
        "--trace-to",
        trace.to_str().unwrap(),
    ])
    .current_dir(folder)
    .run();
    run.expect(DONE);
    let found: Value = serde_json::from_str(&run.stdout).expect("our JSON");
    let mut moved = Moved::default();
    for phase in found["phases"].as_array().unwrap() {
        for job in phase["runs"][0]["jobs"].as_array().unwrap() {
            let side = |name: &str, field: &str| job[name][field].as_u64().unwrap_or(0);
            // Jobs with a file each are told apart here, and have one name there.
            let name = job["name"].as_str().unwrap().split('.').next().unwrap().to_owned();
            let sums = moved.jobs.entry(name).or_default();
            let mine = [side("read", "bytes"), side("read", "count"), side("write", "bytes"), side("write", "count")];
            sums.iter_mut().zip(mine).for_each(|(sum, value)| *sum += value);
        }
    }
    for line in std::fs::read_to_string(&trace).expect("our trace").lines().skip(1) {
        let words: Vec<&str> = line.split(',').collect();
        if let [_, _, kind @ ("read" | "write"), offset, length, ..] = words[..] {
            moved.request(kind, offset.parse().unwrap(), length.parse().unwrap());
        }
    }
    moved
}

/// What of it is certain.
#[derive(Clone, Copy, PartialEq)]
enum Compare {
    /// All of it.
    Everything,
    /// Bytes and requests of each job and direction (the log of several processes, or of random places, is chance).
    Counts,
    /// Requests of both directions together: which of them read is drawn.
    Sum,
    /// Bytes up to one request, and which sizes there are.
    Sizes,
}

const JOBS: [(&str, Compare, &str); 18] = [
    ("sequential", Compare::Everything, "rw=write\nbs=4k\nsize=1m"),
    ("uneven", Compare::Everything, "rw=read\nbs=3k\nsize=1m"),
    ("standard units", Compare::Everything, "rw=write\nbs=4kib\nsize=1m"),
    ("offset", Compare::Everything, "rw=write\nbs=8k\noffset=512k\nsize=1m"),
    ("every place once", Compare::Everything, "rw=randread\nbs=4k\nsize=2m"),
    ("independent places", Compare::Counts, "rw=randwrite\nbs=3k\nsize=1m\nnorandommap"),
    ("longer than its span", Compare::Everything, "rw=write\nbs=64k\nsize=1m\nio_size=3m"),
    ("shorter than its span", Compare::Everything, "rw=write\nbs=64k\nsize=1m\nio_size=100k"),
    ("loops", Compare::Everything, "rw=read\nbs=64k\nsize=1m\nloops=3"),
    ("a number", Compare::Everything, "rw=write\nbs=16k\nsize=1m\nnumber_ios=5"),
    ("with holes", Compare::Everything, "rw=write:12k\nbs=4k\nsize=256k"),
    ("with holes from an offset", Compare::Everything, "rw=write:12k\nbs=4k\nsize=256k\noffset=64k"),
    (
        "two sizes",
        Compare::Everything,
        "rw=read\nbs=8k,16k\nsize=1m\n[second]\nstonewall\nrw=write\nbs=8k,16k\nsize=512k",
    ),
    ("shifted", Compare::Counts, "rw=write\nbs=64k\nsize=1m\nnumjobs=3\noffset_increment=1m\ngroup_reporting"),
    ("mixed", Compare::Sum, "rw=randrw\nrwmixread=70\nbs=4k\nsize=4m\nioengine=libaio\niodepth=8\ndirect=0"),
    ("several files", Compare::Counts, "filename=one:two:three\nrw=write\nbs=16k\nsize=1536k"),
    (
        "several files at random",
        Compare::Sizes,
        "filename=one:two\nrw=randread\nbs=4k\nsize=1m\nioengine=posixaio\niodepth=4",
    ),
    ("shares", Compare::Sizes, "rw=write\nbssplit=4k/75:64k/25\nsize=8m"),
];

#[test]
fn what_is_moved_is_what_fio_moves() {
    if Command::new("fio").arg("--version").output().is_err() {
        left_out("fio's job files beside fio itself (there is no fio)");
        return;
    }
    for (name, compare, options) in JOBS {
        let folder = scratch();
        let job = folder.join("job.fio");
        std::fs::write(&job, format!("[global]\nfilename=data\n[first]\n{options}\n")).unwrap();
        let theirs = theirs(&folder, &job);
        // Ours is made anew, and gone afterwards.
        for entry in std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry != job {
                std::fs::remove_file(entry).unwrap();
            }
        }
        let ours = ours(&folder, &job);
        let sum = |moved: &Moved| moved.jobs.values().map(|of| (of[0] + of[2], of[1] + of[3])).collect::<Vec<_>>();
        match compare {
            Compare::Everything => assert_eq!(ours, theirs, "{name}"),
            Compare::Counts => assert_eq!(ours.jobs, theirs.jobs, "{name}"),
            Compare::Sum => assert_eq!(sum(&ours), sum(&theirs), "{name}"),
            Compare::Sizes => {
                let lengths = |moved: &Moved| moved.sizes.keys().cloned().collect::<Vec<_>>();
                assert_eq!(lengths(&ours), lengths(&theirs), "{name}");
                let (mine, other) = (sum(&ours)[0].0, sum(&theirs)[0].0);
                assert!(mine.abs_diff(other) <= 64 << 10, "{name}: {mine}, not {other} bytes");
            }
        }
    }
}

#[test]
fn jobs_have_files_of_their_own_side_by_side_and_in_turn() {
    let folder = scratch();
    let job = folder.join("job.fio");
    let text = "[global]\nsize=256k\nbs=64k\n[fill]\nrw=write\nnumjobs=2\nfilename=shared\n[own]\nrw=write\nnumjobs=2\n[after]\nstonewall\nfilename=shared\n";
    std::fs::write(&job, text).unwrap();
    let run = flashscope(&["bench", "fio", job.to_str().unwrap(), "--json"]).current_dir(&folder).run();
    run.expect(DONE);
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    let names = |phase: usize| {
        let jobs = found["phases"][phase]["runs"][0]["jobs"].as_array().unwrap();
        jobs.iter().map(|job| job["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!((names(0), names(1)), (vec!["fill".into(), "own.0".into(), "own.1".into()], vec!["after".to_owned()]));
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "all but the job file is gone");
}

#[test]
fn one_job_ends_all_where_it_is_asked_to() {
    let check = |more: &[&str]| {
        let job =
            "-size=1m -bs=16k -filename=data -name=short -number_ios=20 -exitall -name=long -runtime=1h -time_based";
        let run = fio_words(job, &[&["--json"], more].concat());
        run.expect(DONE);
        let found: Value = serde_json::from_str(&run.stdout).unwrap();
        let jobs = &found["phases"][0]["runs"][0]["jobs"];
        assert_eq!((&jobs[0]["read"]["count"], &jobs[0]["ended"]["how"]), (&20.into(), &"complete".into()));
        assert_eq!(jobs[1]["ended"]["how"], "stopped");
    };
    check(&[]);
    check(&["--target", "sim:sd-4mib"]);
}

#[test]
fn processors_that_there_are_not_are_named() {
    let job = "-filename=data -size=64k -name=a -cpus_allowed=";
    fio_words(&format!("{job}0"), &[]).expect(DONE);
    let run = fio_words(&format!("{job}0,4000"), &[]);
    run.expect(CANNOT);
    assert!(run.stderr.contains("no processor 4000") && run.stderr.contains("hint"), "{}", run.stderr);
}

#[test]
fn what_fio_verifies_is_verified() {
    let job = "-filename=data -size=256k -bs=16k -rw=randwrite -verify=crc32c -name=checked";
    let run = fio_words(job, &["--json"]);
    run.expect(DONE);
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    let job = &found["phases"][0]["runs"][0]["jobs"][0];
    assert_eq!((&job["write"]["count"], &job["read_back"]["count"]), (&16.into(), &16.into()));
    assert!(run.stderr.contains("note: checked: verify=crc32c"), "{}", run.stderr);
}

fn fio_words(words: &str, extra: &[&str]) -> Run {
    let mut arguments = vec!["bench", "fio"];
    arguments.extend(extra);
    arguments.push("--");
    arguments.extend(words.split_whitespace());
    flashscope(&arguments).run()
}

#[test]
fn a_command_line_is_run_and_what_has_no_effect_is_said() {
    let run = fio_words("-filename=data -size=1m -rw=randread -bs=4k -thread -group_reporting -name=a", &[]);
    run.expect(DONE);
    assert!(run.stderr.contains("without effect here: group_reporting, thread"), "{}", run.stderr);
    let simulated = fio_words(
        "-size=1m -rw=randwrite -bs=16k -ioengine=libaio -iodepth=4 -direct=1 -name=a",
        &["--target", "sim:sd-4mib"],
    );
    simulated.expect(DONE);
    assert!(simulated.stdout.contains("virtual time"), "{}", simulated.stdout);
    assert!(simulated.stderr.contains("ioengine=libaio: requests go through io_uring"), "{}", simulated.stderr);
}

#[test]
fn a_dry_run_prints_a_job_file_of_ours() {
    let run = fio_words(
        "-filename=data -size=1m -rw=randrw -rwmixread=70 -bs=4k -name=a -name=b -stonewall -rw=read",
        &["--dry-run"],
    );
    run.expect(DONE);
    let job = scratch().join("job.toml");
    std::fs::write(&job, &run.stdout).unwrap();
    let again = flashscope(&["bench", "--job", job.to_str().unwrap(), "--dry-run"]).run();
    assert_eq!(again.stdout, run.stdout);
}

#[test]
fn what_cannot_be_run_is_refused_before_anything_happens() {
    let check = |words: &str, code: i32, said: &[&str]| {
        let run = fio_words(words, &[]);
        run.expect(code);
        said.iter().for_each(|word| assert!(run.stderr.contains(word), "'{word}' is missing from: {}", run.stderr));
    };
    check("-name=a -rw=read -nosuch=1", CANNOT, &["no option 'nosuch'"]);
    check("-name=a -size=1m -rw=read -zoneskip=4k", CANNOT, &["zoneskip is not supported", "hint"]);
    check("-name=a -rw=read -filename=/no/such/folder/f -size=1m", CANNOT, &["/no/such/folder/f"]);
    let file = scratch().join("precious");
    std::fs::write(&file, vec![7; 1 << 20]).unwrap();
    check(&format!("-name=a -rw=write -filename={}", file.display()), REFUSED, &["--allow-write"]);
    assert!(std::fs::read(&file).unwrap() == vec![7; 1 << 20], "not one byte may change");
    check(
        &format!("-name=a -rw=read -filename={} -size=1g", file.display()),
        CANNOT,
        &["the target has 1 MiB", "hint"],
    );
}
