//! Runs the program on a history of the test's own.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder that goes with the test, and the history in it.
pub(crate) struct Place(PathBuf);

impl Place {
    pub(crate) fn new() -> Place {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("flashscope-history-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir(&folder).expect("a new folder");
        Place(folder)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.path("history.db")
    }

    /// A file with this text.
    pub(crate) fn file(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        std::fs::write(&path, text).expect("a file");
        path.to_str().expect("a plain name").to_owned()
    }

    /// The program on this history; it has not run yet.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_flashscope-history"));
        command.args(words).arg("--store").arg(self.store()).current_dir(&self.0);
        command
    }

    pub(crate) fn run(&self, words: &[&str]) -> Run {
        Run::from(self.command(words).output().expect("the program starts"))
    }

    /// The program on a history that lies elsewhere.
    pub(crate) fn run_on(&self, store: &str, words: &[&str]) -> Run {
        let mut command = Command::new(env!("CARGO_BIN_EXE_flashscope-history"));
        Run::from(
            command.args(words).args(["--store", store]).current_dir(&self.0).output().expect("the program starts"),
        )
    }

    /// What it says in JSON.
    pub(crate) fn json(&self, words: &[&str]) -> serde_json::Value {
        let run = self.run(words);
        run.expect(0);
        serde_json::from_str(&run.stdout).expect("JSON")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Run {
    fn from(output: Output) -> Run {
        Run {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("stdout is text"),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Run {
    #[track_caller]
    pub(crate) fn expect(&self, code: i32) {
        assert_eq!(self.code, Some(code), "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
    }

    /// That it ends with code 2, says this, and what to do.
    #[track_caller]
    pub(crate) fn refused(&self, why: &str) {
        self.expect(2);
        assert!(self.stderr.contains(why) && self.stderr.contains("\nhint: "), "{}", self.stderr);
    }
}

/// A record of an earlier version, as it was published.
pub(crate) fn old(kind: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/records/v1").join(format!("{kind}.json"))
}

/// A bench record of this version, one of its own for each number.
pub(crate) fn bench(number: u32) -> String {
    bench_of(number, 1.0 + f64::from(number % 7) / 100.0)
}

/// The same record, of a device that calls itself so.
pub(crate) fn names_device(record: &str, name: &str) -> String {
    let mut record = flashscope_record::read(record).expect("a record");
    let flashscope_record::AnyRecord::Bench(bench) = &mut record else { panic!("another kind") };
    let device = bench.envelope.device.as_mut().expect("a device");
    device.name = name.to_owned();
    device.kind = flashscope_model::DeviceKind::SdCard;
    flashscope_record::any_to_json(&record)
}

/// One that was begun `hours` after the beginning of March 2026, with all its reads at a multiple of the fixture's speed.
pub(crate) fn bench_of(hours: u32, speed: f64) -> String {
    use flashscope_record::AnyRecord;
    let text = std::fs::read_to_string(old("bench")).expect("the fixture");
    let mut record = flashscope_record::read(&text).expect("a record");
    let AnyRecord::Bench(bench) = &mut record else { panic!("another kind") };
    let (day, hour) = (hours / 24, hours % 24);
    let (month, day) = if day < 31 { (3, day + 1) } else { (4, day - 30) };
    bench.envelope.started = Some(format!("2026-{month:02}-{day:02}T{hour:02}:00:00Z"));
    for job in bench.phases.iter_mut().flat_map(|phase| &mut phase.runs).flat_map(|run| &mut run.jobs) {
        if let Some(read) = &mut job.read {
            read.bytes_per_s *= speed;
            read.requests_per_s *= speed;
        }
    }
    flashscope_record::any_to_json(&record)
}
