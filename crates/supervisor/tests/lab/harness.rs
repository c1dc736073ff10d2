//! Runs the program in a folder of the test's own.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder that goes with the test.
pub(crate) struct Place(PathBuf);

impl Place {
    pub(crate) fn new() -> Place {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("flashscope-lab-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir(&folder).expect("a new folder");
        Place(folder)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// A plan of this text, called `plan.toml`.
    pub(crate) fn plan(&self, text: &str) {
        std::fs::write(self.path("plan.toml"), text).expect("a plan");
    }

    /// The program with these words, in this folder and without the settings of whoever runs the test.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = self.program(Path::new(env!("CARGO_BIN_EXE_flashscope-lab")));
        command.args(words).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// A program in this folder and without the settings of whoever runs the test.
    pub(crate) fn program(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.0).env("XDG_CONFIG_HOME", &self.0).env("XDG_DATA_HOME", &self.0);
        for name in ["FLASHSCOPE_SEED", "FLASHSCOPE_MAX_WRITE", "FLASHSCOPE_SETTINGS"] {
            command.env_remove(name);
        }
        command
    }

    pub(crate) fn run(&self, words: &[&str]) -> Run {
        let output = self.command(words).output().expect("the program starts");
        Run {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("stdout is text"),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// The record that it prints, where it ends with this code.
    pub(crate) fn record(&self, words: &[&str], code: i32) -> serde_json::Value {
        let run = self.run(&[words, &["--json"]].concat());
        run.expect(code);
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

impl Run {
    #[track_caller]
    pub(crate) fn expect(&self, code: i32) {
        assert_eq!(self.code, Some(code), "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
    }
}

/// The program that measures, built where it is not: it lies beside the one that is tested.
pub(crate) fn flashscope() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let program = Path::new(env!("CARGO_BIN_EXE_flashscope-lab")).with_file_name("flashscope");
        if !program.exists() {
            let words = ["build", "--locked", "-q", "-p", "flashscope-cli"];
            assert!(Command::new(env!("CARGO")).args(words).status().is_ok_and(|status| status.success()));
        }
        program
    })
}
