//! Real recording and real replay on a loop device over a file in memory: what recording costs what is recorded, how near a replay
//! comes, and how near fio's replay of the same trace comes, in the same run.
//!
//! Needs root, fio and a kernel that traces; says so where they are missing. Exit code 1 where a target is missed.
//! `cargo bench -p flashscope-cli --bench traces [-- --pairs N]` (a part of `scripts/prove traces`).
#![allow(clippy::print_stdout, missing_docs)]

use flashscope_testkit::Targets;
use serde_json::Value;
use std::error::Error;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

type Res<T> = Result<T, Box<dyn Error>>;

/// What is traced: as many requests a second as small cards serve, at random, for long enough that starts do not count.
const PACED: [&str; 6] =
    ["--rw=randrw", "--bs=4k", "--iodepth=8", "--rate_iops=1000,1000", "--number_ios=12000", "--norandommap"];
/// The same, as fast as the device does it.
const UNPACED: [&str; 5] = ["--rw=randrw", "--bs=4k", "--iodepth=1", "--number_ios=100000", "--norandommap"];

fn main() -> Res<ExitCode> {
    let arguments: Vec<String> = std::env::args().collect();
    let after =
        |name: &str| arguments.iter().skip_while(|word| *word != name).nth(1).and_then(|text| text.parse().ok());
    let pairs: usize = after("--pairs").unwrap_or(15);
    let mut targets = Targets::begin(io::stdout())?;
    let rig = match Rig::new() {
        Ok(rig) => rig,
        Err(error) => {
            for name in [COST, LATENESS, TOTAL, NEAR] {
                targets.left_out(name, &format!("no loop device, no fio or no tracing: {error}"))?;
            }
            return Ok(if targets.end()? { ExitCode::SUCCESS } else { ExitCode::FAILURE });
        }
    };

    let cost = pairs_of(pairs, |trace| rig.app(trace))?;
    targets.at_most(COST, 3.0, cost, "%")?;
    let cost = pairs_of(pairs.min(5), |trace| rig.fio(&UNPACED, trace))?;
    println!("the same of requests that follow each other as fast as memory answers: {cost:.1} %");

    rig.fio(&PACED, Some("paced.trace"))?;
    let replayed = rig.flashscope(&["trace", "replay", "paced.trace", &rig.node, "--json", &rig.consent()])?;
    let replay = &serde_json::from_str::<Value>(&replayed)?["replay"];
    let figure = |value: &Value| value.as_f64().ok_or_else(|| format!("no figure in {replay}"));
    let late = figure(&replay["lateness"]["service_time_ns_p99"])? / 1e3;
    targets.at_most(LATENESS, 50.0, late, "µs")?;
    let (time, wanted) = (figure(&replay["total_ns"])?, figure(&replay["original_ns"])?);
    let off = (time / wanted - 1.0).abs() * 100.0;
    targets.at_most(TOTAL, 0.5, off, "%")?;
    rig.flashscope(&["trace", "export", "paced.trace", "--as", "fio3", "-o", "paced.iolog", "--force"])?;
    let theirs = rig.fio_replays("paced.iolog")?;
    let off_theirs = (theirs * 1e9 / wanted - 1.0).abs() * 100.0;
    println!("fio's replay of the same trace: {theirs:.3} s, off by {off_theirs:.2} %");
    targets.at_most(NEAR, 1.0, off / off_theirs, "")?;
    Ok(if targets.end()? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// How much longer it takes where it is recorded, in percent. Others on the machine only ever make a run longer: the quickest of
/// each tells what it takes by itself.
fn pairs_of(pairs: usize, mut took: impl FnMut(Option<&str>) -> Res<f64>) -> Res<f64> {
    let mut quickest = [f64::MAX; 2];
    for pair in 0..pairs {
        let mut times = [0.0; 2];
        for of in [pair % 2, 1 - pair % 2] {
            times[of] = took((of == 1).then_some("cost.trace"))?;
            quickest[of] = quickest[of].min(times[of]);
        }
        println!("pair {}: bare {:.3} s, recorded {:.3} s", pair + 1, times[0], times[1]);
    }
    Ok((quickest[1] / quickest[0] - 1.0) * 100.0)
}

const COST: &str = "recording costs an app on a device as quick as memory, of its time";
const LATENESS: &str = "requests of an open replay are handed over late, p99";
const TOTAL: &str = "total time of a replay is off by";
const NEAR: &str = "the same, times what fio's replay of the trace is off by";

/// A loop device over a file in memory, and a folder beside it.
struct Rig {
    folder: PathBuf,
    node: String,
}

impl Rig {
    fn new() -> Res<Rig> {
        said(Command::new("fio").arg("--version"))?;
        said(Command::new(env!("CARGO")).args(["build", "--locked", "-q", "--release", "-p", "flashscope-player"]))?;
        let folder = PathBuf::from(format!("/dev/shm/flashscope-traces-{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        let image = folder.join("card.img");
        File::create(&image)?.set_len(256 << 20)?;
        let node = said(Command::new("losetup").args(["--find", "--show"]).arg(&image));
        let rig = Rig { node: node.as_deref().unwrap_or_default().trim().to_owned(), folder };
        node?;
        rig.flashscope(&["trace", "record", "--device", &rig.node, "-o", "try.trace", "--", "true"])?;
        Ok(rig)
    }

    fn consent(&self) -> String {
        format!("--destroy-data=loop:{}", self.folder.join("card.img").display())
    }

    fn flashscope(&self, words: &[&str]) -> Res<String> {
        said(Command::new(env!("CARGO_BIN_EXE_flashscope")).current_dir(&self.folder).args(words))
    }

    /// Seconds that an app takes in which every row of a database waits for the device, recorded where a trace is named.
    fn app(&self, trace: Option<&str>) -> Res<f64> {
        let consent = self.consent();
        let mut words =
            vec!["app", "androbench-sqlite", &self.node, &consent, "--destroy-signatures", "--repeat", "1", "--json"];
        words.extend(trace.iter().flat_map(|trace| ["--trace", trace, "--force"]));
        let record: Value = serde_json::from_str(&self.flashscope(&words)?)?;
        let time = record["app_runs"][0]["elapsed_ns"].as_f64();
        time.map(|time| time / 1e9).ok_or_else(|| format!("no time in {record}").into())
    }

    /// Seconds that fio's job takes by its own account, recorded where a trace is named.
    fn fio(&self, job: &[&str], trace: Option<&str>) -> Res<f64> {
        let file = format!("--filename={}", self.node);
        let fixed =
            ["fio", "--name=it", &file, "--direct=1", "--ioengine=libaio", "--output-format=json", "--output=fio.json"];
        let job = [&fixed[..], job].concat();
        match trace {
            Some(trace) => {
                let record = ["trace", "record", "--device", &self.node, "-o", trace, "--force", "--"];
                self.flashscope(&[&record[..], &job].concat())?;
            }
            None => drop(said(Command::new(job[0]).current_dir(&self.folder).args(&job[1..]))?),
        }
        self.took()
    }

    /// Seconds that fio takes to replay a log.
    fn fio_replays(&self, log: &str) -> Res<f64> {
        let words = [
            "--name=it",
            "--direct=1",
            "--ioengine=libaio",
            "--iodepth=64",
            "--output-format=json",
            "--output=fio.json",
            &format!("--read_iolog={log}"),
            &format!("--replay_redirect={}", self.node),
        ];
        said(Command::new("fio").current_dir(&self.folder).args(words))?;
        self.took()
    }

    fn took(&self) -> Res<f64> {
        let told: Value = serde_json::from_slice(&std::fs::read(self.folder.join("fio.json"))?)?;
        let job = &told["jobs"][0];
        let runtime = |kind: &str| job[kind]["runtime"].as_f64();
        let most = runtime("read").into_iter().chain(runtime("write")).fold(0.0, f64::max);
        Ok(most / 1e3)
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        if !self.node.is_empty() {
            let _ = Command::new("losetup").args(["--detach", &self.node]).status();
        }
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn said(command: &mut Command) -> Res<String> {
    let output = command.output()?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(format!("{command:?}: {} {}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
        .into())
}
